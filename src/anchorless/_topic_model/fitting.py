"""How `TopicModel` fits: counts, weights, topics from co-occurrences, the token model, and what is kept of them."""

from __future__ import annotations

import glob
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeGuard

import numpy as np
from threadpoolctl import threadpool_limits

from anchorless._choices import CONSTRAINT_SYNONYMS, WEIGHTINGS
from anchorless._core.proportions import compute_projection, estimate_proportions
from anchorless._core.seed_matches import SeedMatch
from anchorless._core.seeds import FirstFit, find_homes, fit_seeded_topics, separate_words
from anchorless._core.token_model import TokenTopics, TrialTopics, estimate_topics, fit_token_topics
from anchorless._core.token_sweeps import Sweeps, TopicCounts
from anchorless._core.topics import argsort_descending
from anchorless._core.weighting import (
    WeightedDocuments,
    check_whole_counts,
    compute_other_idf,
    weight_documents,
)
from anchorless._corpus.corpus import DIVIDE_ONE, Corpus
from anchorless._corpus.counting import batch_texts
from anchorless._corpus.documents import Array, Documents
from anchorless._corpus.given_counts import validate_documents
from anchorless._corpus.io.readers import TextSource
from anchorless._corpus.memory import release_freed_memory
from anchorless._corpus.metadata import Metadata, validate_metadata
from anchorless._corpus.settings import CountSettings
from anchorless._corpus.snippets import SnippetFile
from anchorless._corpus.sparse import find_fraction
from anchorless._corpus.vectorizer import vectorize_texts
from anchorless._diagnostics.search_k import AUTO, Choice, choose_number
from anchorless._effects.topic_draws import project_blocks
from anchorless._estimators.anchorfree import AnchorFree
from anchorless._estimators.base import resolve_n_jobs
from anchorless._files import PathLike
from anchorless._topic_model.covariates import collect_covariates
from anchorless._topic_model.curation import CURATION_ATTRIBUTES
from anchorless._topic_model.document_summary import MixtureAccumulator
from anchorless._topic_model.embeddings import Embeddings, TrainingGraph, compute_priors, validate_embeddings
from anchorless._topic_model.fitted import (
    FitNotes,
    ModelRecord,
    TokenRecord,
    add_word_weights,
    build_model_record,
    build_token_inference,
    fit_estimator,
    remove_word_weights,
    reorder_estimator,
)
from anchorless._topic_model.hierarchy import nest_groups, validate_levels
from anchorless._topic_model.mixtures import Mixtures, collect_mixtures, iter_mixtures, make_compute
from anchorless._topic_model.seeds import (
    describe_pairs,
    describe_seeds,
    name_seeded_topics,
    place_seeded_first,
    renumber,
    validate_pairs,
    validate_seeds,
)
from anchorless._validation import check_choice, check_whole, resolve_constraint
from anchorless.errors import InputError, RankError, render_message
from anchorless.progress import report_progress, track

#: Longer texts are not asked whether they name a file.
MAX_PATH_LENGTH = 1000
#: What a fit sets; an earlier fit is forgotten when the next one begins.
FIT_ATTRIBUTES = (
    *("_record", "_metadata", "_weighted", "_counts", "_order", "_is_new", "_lengths", "_text_statistics"),
    *("_estimator", "_covariates", "_drawn", "_mixtures", "_bootstrapped", "effects_", "vectorizer_", "seeds_"),
    *("separated_words_", "_settings", "_document_map", "_embeddings", "_whole_ids", *CURATION_ATTRIBUTES),
)
#: Topics of a start from which the best are chosen, as a multiple of those of the model.
MORE_TOPICS = 1.4


class FittingMixin:
    """The steps of a fit."""

    if TYPE_CHECKING:  # what `TopicModel` has
        n_topics: int | str
        weighting: str
        constraint: str
        likelihood: bool
        levels: Any
        seed_words: Any
        separate_words: Any
        vectorizer: Any
        email: bool
        html: bool
        random_state: Any
        _record: ModelRecord
        _counts: Documents
        _metadata: Metadata
        _mixtures: Mixtures
        _weighted: WeightedDocuments
        vectorizer_: Any

        @property
        def n_topics_(self) -> int: ...
        @property
        def document_topics_(self) -> Array: ...
        def counting_settings(self) -> CountSettings: ...

    def _open_corpus(
        self, documents: Any, metadata: dict[str, Any], memory: int | str | None
    ) -> AbstractContextManager[Corpus]:
        """Return the corpus of texts, of a file, or the one that was given, which stays open."""
        counting, n_jobs = self.counting_settings(), resolve_n_jobs(self)
        if is_path(documents) or isinstance(documents, Corpus | TextSource):
            is_corpus = isinstance(documents, Corpus)
            refused = metadata | {"vectorizer": self.vectorizer} | ({"memory": memory} if is_corpus else {})
            given = next((name for name, value in refused.items() if value is not None), None)
            if given is not None:
                what = "a corpus, which is counted" if is_corpus else "a file, which is read by `Corpus.read`"
                raise InputError(f"{given} can be given only with texts, but documents is {what}")
            if isinstance(documents, Corpus):
                return nullcontext(documents)
            corpus = Corpus.read(documents, counting=counting, memory=memory, n_jobs=n_jobs)
            for note in corpus.notes:  # nothing is skipped in silence
                warnings.warn(note, stacklevel=3)
            return corpus
        if self.vectorizer is not None:
            return self._vectorize(documents, metadata)
        corpus = Corpus.from_texts(documents, counting=counting, memory=memory, n_jobs=n_jobs, **metadata)
        for note in corpus._problems:
            warnings.warn(render_message(note), stacklevel=3)
        return corpus

    def _vectorize(self, documents: Iterable[str], metadata: dict[str, Any]) -> Corpus:
        """Count texts by the vectorizer."""
        for name in ("split", "drop_boilerplate", "deduplicate"):
            if (value := getattr(self, name)) not in (None, False):
                problem = "a vectorizer counts the texts as they are"
                raise InputError(
                    problem, parameter=name, value=value, remedy="do it before, or count without a vectorizer"
                )
        with ExitStack() as stack:
            snippets = stack.enter_context(closing(SnippetFile(email=self.email, html=self.html)))
            texts = (text for batch in snippets.tee(batch_texts(documents)) for text in batch.to_pylist())
            counted = vectorize_texts(self.vectorizer, texts)
            name = type(counted.vectorizer).__name__
            counts = validate_documents(counted.counts, name)
            check_whole_counts(counts, self.weighting, f"what {name} counted")
            kept = validate_metadata(counts.shape[0], **metadata)
            corpus = Corpus(counts, counted.vocabulary, metadata=kept, snippets=snippets)
            corpus.own(stack.pop_all().close)
        self.vectorizer_ = counted.vectorizer
        return corpus

    def _reset(self) -> None:
        """Check the parameters and forget an earlier fit, so that a failed one leaves no mixture of two."""
        if self.n_topics != AUTO:
            if isinstance(self.n_topics, str):
                problem = f"it must be a whole number, or {AUTO!r} to find one"
                raise InputError(problem, parameter="n_topics", value=self.n_topics)
            validate_levels(self.levels, check_whole("n_topics", self.n_topics))
        validate_seeds(self.seed_words, None)
        validate_pairs(self.separate_words, None)
        check_choice("weighting", self.weighting, WEIGHTINGS)
        resolve_constraint(self.constraint)
        resolve_n_jobs(self)
        for name in FIT_ATTRIBUTES:
            self.__dict__.pop(name, None)

    def _fit(self, corpus: Corpus, metadata: Any = None, embeddings: Any = None) -> Self:
        """Find the topics of a corpus."""
        if embeddings is not None:
            embeddings = validate_embeddings(embeddings, corpus.n_documents)
        covariates = collect_covariates(corpus, metadata)
        n_threads, chosen = resolve_n_jobs(self), self._choose_number(corpus)
        weighted = weight_documents(corpus.documents, self.weighting, n_threads)
        report_progress("weighting", 1, 1)
        release_freed_memory()
        found, warned = fit_estimator(self._make_estimator(chosen.n_topics), weighted.documents)
        release_freed_memory()
        graph = None if embeddings is None else self._find_neighbors(embeddings, weighted.lengths, n_threads)
        tokens = self._fit_tokens(weighted, found, corpus, n_threads, graph)
        release_freed_memory()
        mixtures, summary = self._summarize(weighted, found, corpus, tokens)
        kept = self._describe_population(weighted, found, corpus, mixtures, tokens)
        neighbors = None
        if graph is not None and tokens is not None:
            with threadpool_limits(1, user_api="blas"):
                neighbors = graph.record(mixtures.shares, corpus.documents, tokens, n_threads)
            if neighbors.choice.n_tokens:
                added = compute_priors(neighbors, graph.graph.positions, on_disk=not corpus.documents.in_memory)
                mixtures, summary = self._summarize(weighted, found, corpus, tokens, added, neighbors.topic_word)
        record = build_model_record(found, weighted, corpus, summary, FitNotes(warned, chosen.reason), kept)
        facts = name_seeded_topics(record.facts, getattr(self, "seeds_", []))
        self._record = record._replace(facts=facts, neighbors=neighbors)
        self._embeddings = None if embeddings is None else embeddings.vectors
        self._keep_documents(mixtures, weighted, corpus.metadata)
        self._whole_ids = corpus.whole_ids
        self._covariates = covariates
        if kept is not None and corpus.documents.in_memory:
            self._counts = corpus.documents  # for intervals
        if numbers := validate_levels(self.levels, self.n_topics_):
            self._record = self._record._replace(groupings=self._group_topics(numbers))
        report_progress("summary", 1, 1)
        return self

    def _choose_number(self, corpus: Corpus) -> Choice:
        """Return the number of topics, found from the documents if none is given; refuse more than they can have."""
        if corpus.n_documents < 2:
            problem = f"{corpus.n_documents} document: topics are what documents share, so give at least 2"
            raise InputError(problem, remedy=DIVIDE_ONE if corpus.counting is not None else None)
        if not isinstance(self.n_topics, str) and self.n_topics > corpus.n_words:
            n, most = self.n_topics, corpus.n_words
            problem = f"the vocabulary has only {most} {'word' if most == 1 else 'words'}"
            remedy = "lower {n_topics}" + ("" if corpus.counting is None else " or {min_df}, or raise {max_df}")
            raise RankError(problem, parameter="n_topics", value=n, limit=most, remedy=remedy)
        if corpus.counting is None:
            check_whole_counts(corpus.documents, self.weighting, "X")
        if not isinstance(self.n_topics, str):
            return Choice(self.n_topics, "")
        constraint = CONSTRAINT_SYNONYMS.get(self.constraint, self.constraint)
        return choose_number(corpus.documents, self.weighting, constraint, resolve_n_jobs(self), self.random_state)

    def _find_neighbors(self, embeddings: Embeddings, lengths: Array, n_threads: int) -> TrainingGraph:
        """Return the neighbors of the training documents."""
        if not self.likelihood:
            problem = "embeddings need the token model, which is turned off ({likelihood})"
            raise InputError(problem, remedy="leave {embeddings} or {likelihood} out")
        with threadpool_limits(1, user_api="blas"):
            return TrainingGraph(embeddings, lengths, n_threads)

    def _group_topics(self, numbers: Sequence[int]) -> list[list[list[int]]]:
        """Return the topics of each group, for each level."""
        if not hasattr(self, "document_topics_"):
            problem = "other levels need the mixtures of the training documents, which are not in a model file"
            raise InputError(problem, remedy="give levels to the fit: the model file keeps them")
        with threadpool_limits(1, user_api="blas"):  # the rounding of BLAS depends on its number of threads
            return nest_groups(numbers, self.document_topics_)

    def _fit_tokens(
        self,
        weighted: WeightedDocuments,
        found: AnchorFree,
        corpus: Corpus,
        n_threads: int,
        graph: TrainingGraph | None = None,
    ) -> TokenTopics | None:
        """Fit the token model to counts and order the topics by their shares of tokens; None where there is none."""
        self._order, self.seeds_, self.separated_words_ = np.arange(len(found.components_)), [], []
        columns = validate_seeds(self.seed_words, corpus.vocabulary)
        pairs = validate_pairs(self.separate_words, corpus.vocabulary)
        whole = self.weighting != "counts" or all(x is None for x in corpus.documents.map_blocks(find_fraction, 1))
        if not self.likelihood or not whole:
            if graph is not None:
                problem = "embeddings need whole counts of words, and these are weights"
                raise InputError(problem, remedy="leave {embeddings} out, or give counts")
            if columns or pairs:
                name = "seed_words" if columns else "separate_words"
                problem = f"{{{name}}} needs whole counts of words and the token model, which {{likelihood}} turns off"
                raise InputError(problem, remedy=f"leave {{{name}}} out, or give counts and keep the token model")
            return None
        matches: list[SeedMatch] = []
        homes: list[tuple[int, int]] = []
        with threadpool_limits(1, user_api="blas"):  # the rounding of BLAS depends on its number of threads
            unseen: list[Array] = []
            is_sharp = True

            def use_trial(sweeps: Sweeps, state: TopicCounts, trial: TrialTopics) -> None:
                nonlocal is_sharp
                is_sharp = trial.is_sharp
                if columns:
                    unseen.append(estimate_topics(trial.words, trial.p, trial.concentration, trial.shape).topic_word)
                if graph is not None:  # topics that are fitted again below are not those that neighbors would guide
                    graph.guide(sweeps, state, trial, refit=not (pairs or columns))

            # No name for the start: it is large at hundreds of topics, and is freed after the first step.
            tokens, is_new, shown = fit_token_topics(
                corpus.documents,
                remove_word_weights(found.components_, weighted.weights),
                n_threads,
                use_trial,
                partial(self._find_other_starts, corpus.documents, weighted, len(found.components_), n_threads),
            )
            if pairs:
                tokens, is_new, homes = separate_words(corpus.documents, tokens, is_new, pairs, n_threads)
            if columns:
                first = FirstFit(tokens, is_new, unseen[0] if unseen and not pairs else tokens.topic_word, is_sharp)
                tokens, is_new, matches = fit_seeded_topics(corpus.documents, first, columns, n_threads)
                homes = find_homes(tokens, pairs)
        if pairs or columns:  # topics that were fitted again
            shown = tokens.topic_word
        found.components_[is_new] = add_word_weights(shown[is_new], weighted.weights)
        self._order = place_seeded_first(argsort_descending(tokens.shares), matches)
        self._is_new = is_new[self._order]
        reorder_estimator(found, self._order)
        if graph is not None:
            graph.reorder(self._order)
        tokens = TokenTopics(*(values[self._order] for values in tokens))
        self.separated_words_ = describe_pairs(pairs, homes, self._order, corpus.vocabulary)
        if columns:
            about = renumber(matches, self._order), tokens, corpus.documents, corpus.vocabulary
            self.seeds_ = describe_seeds(self.seed_words or {}, columns, *about, n_threads)
        return tokens

    def _find_other_starts(
        self, counts: Documents, weighted: WeightedDocuments, n_topics: int, n_threads: int
    ) -> Iterator[Array]:
        """Yield topics (F, V) of other word weights than the default ones, and more topics of the default ones."""
        if self.weighting != "chi2-ncw":
            return
        other = weight_documents(counts, self.weighting, n_threads, compute_weights=compute_other_idf)
        for documents, n in ((other, n_topics), (weighted, int(MORE_TOPICS * n_topics))):
            try:
                found, _ = fit_estimator(self._make_estimator(n), documents.documents)
            except RankError:  # the documents have fewer topics
                continue
            yield remove_word_weights(found.components_, documents.weights)

    def _describe_population(
        self,
        weighted: WeightedDocuments,
        found: AnchorFree,
        corpus: Corpus,
        mixtures: Mixtures,
        tokens: TokenTopics | None,
    ) -> TokenRecord | None:
        """Return what the token model says of the population, and give its shares and correlations to `found`."""
        if tokens is None:
            return None
        phi, alpha, n_threads = tokens.topic_word, tokens.alpha, resolve_n_jobs(self)
        with threadpool_limits(1, user_api="blas"):
            about = estimate_proportions(corpus.documents, mixtures.shares, weighted.lengths, phi, alpha, n_threads)
        found.topic_shares_, found.topic_correlation_ = tokens.shares, about.correlation
        return TokenRecord(tokens.topic_word, tokens.alpha, about.association, about.mean, about.covariance)

    def _summarize(
        self,
        weighted: WeightedDocuments,
        found: AnchorFree,
        corpus: Corpus,
        tokens: TokenTopics | None = None,
        added: Array | None = None,
        guided: Array | None = None,
    ) -> tuple[Mixtures, Any]:
        """Return the mixtures of the training documents, and their summary, in one pass.

        `added` is for the priors, and `guided` are the topics of documents with neighbors.
        """
        n_topics, inference, documents = len(found.components_), None, weighted.documents
        if tokens is not None:
            documents = corpus.documents
            word_counts = weighted.statistics.word_counts
            inference = build_token_inference(tokens.topic_word, tokens.alpha, word_counts, guided)
        # Documents without labels are compared by their languages, if they are in several.
        by_language = {} if corpus.metadata.labels is not None else {"labels": corpus.languages}
        metadata = corpus.metadata._replace(**by_language)
        accumulator = MixtureAccumulator(documents.shape[0], n_topics, metadata)
        # At hundreds of topics a large block takes many seconds, in which there is neither progress nor Ctrl-C.
        documents = documents.refine_blocks()
        parts = iter_mixtures(documents, make_compute(found.components_, None, inference), resolve_n_jobs(self), added)
        tracked, shape = track("documents", parts, documents.n_blocks), (documents.shape[0], n_topics)
        mixtures = collect_mixtures(tracked, shape, on_disk=not documents.in_memory, add=accumulator.add)
        if tokens is None:
            return mixtures, accumulator.result(mixtures)
        with threadpool_limits(1, user_api="blas"):
            solve = compute_projection(tokens.topic_word)
            projected = project_blocks(corpus.documents, solve, resolve_n_jobs(self))
            return mixtures, accumulator.result(mixtures, projected, tokens.topic_word)

    def _keep_documents(self, mixtures: Mixtures, weighted: WeightedDocuments, metadata: Metadata) -> None:
        """Keep what is known of the training documents; documents on disk go with their corpus."""
        self._mixtures = mixtures
        self._metadata, self._lengths = metadata, weighted.lengths
        if weighted.documents.in_memory:
            self._weighted = weighted

    def _make_estimator(self, n_topics: int) -> AnchorFree:
        constraint, n_jobs = CONSTRAINT_SYNONYMS.get(self.constraint, self.constraint), resolve_n_jobs(self)
        return AnchorFree(n_topics, constraint=constraint, n_jobs=n_jobs, random_state=self.random_state)


def names_file(text: Any) -> bool:
    """Say whether a text is the name of a file that exists."""
    return isinstance(text, str) and len(text) <= MAX_PATH_LENGTH and "\0" not in text and os.path.isfile(text)


def is_path(documents: Any) -> TypeGuard[PathLike]:
    """Say whether documents are names of files; refuse a string that names none, such as a single text.

    A list of strings is a list of texts, and is refused if all of them name files; files are a list of paths, or a
    pattern such as "texts/*.txt".
    """
    if isinstance(documents, list | tuple) and documents and all(isinstance(one, os.PathLike) for one in documents):
        return True
    if isinstance(documents, list | tuple) and documents and all(map(names_file, documents)):
        problem = f"documents are {len(documents)} strings, each the name of a file, such as {documents[0]!r}"
        remedy = "to read the files, give paths: [pathlib.Path(name) for name in documents]"
        raise InputError(problem, remedy=remedy)
    if isinstance(documents, str) and glob.has_magic(documents) and glob.glob(documents, recursive=True):
        return True
    if isinstance(documents, str) and not os.path.exists(documents):
        problem = f"documents is the string {documents!r:.60}, and there is no such file"
        raise InputError(problem, remedy="give a list or an iterable of strings, or the name of a file")
    return isinstance(documents, str | os.PathLike)
