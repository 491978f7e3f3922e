"""Text in, topics out: counting, weighting, AnchorFree and what one wants to see, behind one estimator."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from anchorless._core.weighting import WEIGHTINGS, check_whole_counts, weight_counts
from anchorless._corpus.counting import Counts, batch_texts, count_texts
from anchorless._corpus.disk.store import StoredCounts
from anchorless._corpus.documents import Array, Documents
from anchorless._corpus.metadata import validate_metadata
from anchorless._corpus.settings import COUNTING_PARAMETERS, CountSettings
from anchorless._corpus.snippets import SnippetFile
from anchorless._corpus.threads import resolve_n_threads
from anchorless._corpus.user_counts import match_vectorizer, validate_blocks, validate_vocabulary, vectorize_texts
from anchorless._diagnostics.search_k import AUTO, resolve_number
from anchorless._topic_model.applied import InferenceMixin
from anchorless._topic_model.assembly import FitInput, SnippetLookup, build_model_record, count_documents
from anchorless._topic_model.document_summary import MixtureAccumulator, accumulate_mixtures, summarize_mixtures
from anchorless._topic_model.file import load_model, save_model
from anchorless._topic_model.finding import fit_estimator
from anchorless._topic_model.fitted import from_file, restore_parameters, to_file, to_json_value
from anchorless._topic_model.mixtures import Mixtures, iter_document_mixtures, stack_mixtures
from anchorless._topic_model.resampled import StabilityMixin
from anchorless._topic_model.updating import EMPTY_STATISTICS, add_texts, remove_frequency_limits
from anchorless._validation import check_choice, check_whole
from anchorless.errors import InputError, RankError
from anchorless.progress import report_progress, track

PathLike = str | os.PathLike[str]


class TopicModel(StabilityMixin, InferenceMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Topics of texts: which there are, how they go together, and what share each has in every document.

    Every document is a mixture of all topics (mixed membership); none is left over. Same documents, same
    parameters, same bits, however many threads and in whatever portions the documents come.

    Parameters
    ----------
    n_topics : int or "auto", default=20
        Number of topics. "auto" takes the number that `anchorless._diagnostics.search_k` suggests, from 2 to 40; where the documents
        do not tell, it says so, and takes the number after which held-out documents are hardly predicted better.
    stop_words, extra_stop_words, ngram_range, min_df, max_df, max_features, email, html
        How texts are counted: see `anchorless._corpus.counting.Counting`.
    vectorizer : object or None, default=None
        A scikit-learn vectoriser that counts instead: anything with `fit_transform`, `transform` and
        `get_feature_names_out`. One that knows its words already is used as it is; otherwise a copy is fitted.
    weighting : {"tfidf-ncw", "tfidf", "counts"}, default="tfidf-ncw"
        tf-idf then normalised-cut weighting, tf-idf alone, or the numbers as they were counted.
    constraint : {"explained", "hard"}, default="explained"
        As in `AnchorFree`.
    n_threads : int or None, default=None
        Threads; None for every core. The result does not depend on it.
    random_state : int, RandomState instance or None, default=0
        Seed of the estimator.

    Attributes
    ----------
    components_, topic_moments_, topic_correlation_, topic_shares_, eigenvalues_
        As in `AnchorFree`.
    vocabulary_ : list of str
        The word of each column of `components_`.
    topic_labels_ : list of str
        The most distinctive words of each topic.
    coherence_, exclusivity_ : ndarray of shape (n_topics,)
        Mean NPMI and exclusivity of each topic's 10 leading words, on the training documents.
    diagnostics_ : Diagnostics
        Numbers about the fit: documents, tokens, convergence, warnings.
    document_topics_ : ndarray of shape (n_documents, n_topics)
        What `transform` gives for the training documents. Not in a model file.
    document_explained_ : ndarray of shape (n_documents,)
        The part of each document that topics explain, in [0, 1]: low where it is about something else. Not in a
        model file.

    Examples
    --------
    >>> from anchorless import TopicModel
    >>> texts = ["the cat chased a mouse", "a mouse fears the cat", "the rocket reached orbit", "orbit by rocket"]
    >>> model = TopicModel(n_topics=2).fit(texts)
    >>> [sorted(topic.words) for topic in model.topics()]
    [['cat', 'chased', 'fears', 'mouse'], ['orbit', 'reached', 'rocket']]
    >>> model.transform(["a mouse", "into orbit", "a mouse in orbit"]).round(1)
    array([[1. , 0. ],
           [0. , 1. ],
           [0.5, 0.5]])
    """

    def __init__(
        self,
        n_topics: int | str = 20,
        *,
        stop_words: str | Sequence[str] | None = "english",
        extra_stop_words: Sequence[str] = (),
        ngram_range: tuple[int, int] = (1, 1),
        min_df: int | float | None = None,
        max_df: int | float = 0.5,
        max_features: int | None = None,
        email: bool = False,
        html: bool = False,
        vectorizer: Any = None,
        weighting: str = "tfidf-ncw",
        constraint: str = "explained",
        n_threads: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_topics = n_topics
        self.stop_words = stop_words
        self.extra_stop_words = extra_stop_words
        self.ngram_range = ngram_range
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.email = email
        self.html = html
        self.vectorizer = vectorizer
        self.weighting = weighting
        self.constraint = constraint
        self.n_threads = n_threads
        self.random_state = random_state

    def fit(
        self, documents: Iterable[str], y: Any = None, *, ids: Any = None, labels: Any = None, dates: Any = None
    ) -> Self:
        """Find the topics of texts, read once and not kept; ids, labels and dates have one entry per document."""
        self._reset()
        with SnippetFile(email=self.email, html=self.html) as spool:
            batches = spool.tee(batch_texts(documents))
            if self.vectorizer is None:
                counts = count_texts(batches, self.counting_settings(), resolve_n_threads(self.n_threads))
                return self.fit_counted(counts, ids=ids, labels=labels, dates=dates, snippets=spool.take)
            counted = vectorize_texts(self.vectorizer, (text for batch in batches for text in batch.to_pylist()))
            check_whole_counts(counted.blocks, self.weighting, f"what {type(counted.vectorizer).__name__} counted")
            metadata = validate_metadata(count_documents(counted.blocks), ids, labels, dates)
            self._fit(FitInput(counted.blocks, counted.vocabulary, None, metadata, spool.take))
            self.vectorizer_ = counted.vectorizer
        return self

    def fit_counted(
        self,
        counts: Counts | StoredCounts,
        *,
        ids: Any = None,
        labels: Any = None,
        dates: Any = None,
        snippets: SnippetLookup | None = None,
        each: Callable[[Mixtures], None] | None = None,
    ) -> Self:
        """Find the topics of texts that `anchorless._corpus.counting` counted; `counts.blocks` is emptied on the way.

        `snippets` returns the beginnings of the documents at given positions, for the report. Of counts on disk
        (`anchorless._corpus.disk.store.StoredCounts`) the same topics are found, but no `document_topics_` is kept: `each`
        is given the mixtures of some documents after the other, in their order.
        """
        self._reset()
        metadata = validate_metadata(counts.n_documents, ids, labels, dates)
        blocks = counts.documents if isinstance(counts, StoredCounts) else counts.blocks
        return self._fit(FitInput(blocks, list(counts.vocabulary), counts.settings, metadata, snippets, each))

    def fit_counts(
        self,
        X: Any,
        vocabulary: Any,
        *,
        ids: Any = None,
        labels: Any = None,
        dates: Any = None,
        each: Callable[[Mixtures], None] | None = None,
    ) -> Self:
        """Find the topics of your own counts, documents × words, with the word of each column; `each` as above."""
        self._reset()
        blocks = validate_blocks(X, "X")
        words = validate_vocabulary(vocabulary, (blocks if isinstance(blocks, Documents) else blocks[0]).shape[1])
        check_whole_counts(blocks, self.weighting, "X")
        metadata = validate_metadata(count_documents(blocks), ids, labels, dates)
        return self._fit(FitInput(blocks, words, None, metadata, None, each))

    def partial_fit(
        self, documents: Iterable[str], y: Any = None, *, ids: Any = None, labels: Any = None, dates: Any = None
    ) -> Self:
        """Take in further texts and update the topics; a topic keeps its number, a word its column, from call to call.

        New words join, see `anchorless._topic_model.updating`. Memory does not grow with the texts. Representative
        documents, coherence, and what is said of single documents are those of the texts of this call. A model from a
        file cannot be updated: the statistics of its texts are not in it.
        """
        if isinstance(self.n_topics, str):
            raise InputError(
                f"n_topics={self.n_topics!r}, but texts that come in pieces are not searched; give a number"
            )
        if self.vectorizer is not None:
            raise InputError("partial_fit counts texts by itself, so that new words can join; use vectorizer=None")
        if not hasattr(self, "texts_"):
            if hasattr(self, "fitted_"):
                raise InputError("this model was fitted or loaded, so it cannot be updated; begin with partial_fit")
            self._reset()
        settings, threads = self.counting_settings(), resolve_n_threads(self.n_threads)
        with SnippetFile(email=self.email, html=self.html) as spool:
            counts = count_texts(spool.tee(batch_texts(documents)), remove_frequency_limits(settings), threads)
            metadata = validate_metadata(counts.n_documents, ids, labels, dates)
            texts, weighed = add_texts(getattr(self, "texts_", EMPTY_STATISTICS), counts, settings, self.weighting)
            earlier = getattr(self, "updated_", None)
            found, warned = fit_estimator(self._make_estimator(self.n_topics), weighed.documents, earlier, partial=True)
            mixtures = stack_mixtures(
                iter_document_mixtures(weighed.documents, found.components_, threads), self.n_topics
            )
            corpus = FitInput([], texts.vocabulary, settings, metadata, spool.take)
            gathered = summarize_mixtures(mixtures, metadata)._replace(n_documents=texts.n_documents)
            gathered = gathered._replace(n_with_words=texts.n_documents - int((~mixtures.shares.any(axis=1)).sum()))
            self.fitted_ = build_model_record(found, weighed, corpus, gathered, warned)
        self.texts_, self.updated_ = texts, found
        self._store_documents(mixtures, weighed, metadata)
        return self

    def fit_transform(self, documents: Iterable[str], y: Any = None, **metadata: Any) -> Array:
        """Return `fit(documents).document_topics_`; the documents are read once."""
        return self.fit(documents, **metadata).document_topics_

    def transform(self, documents: Iterable[str]) -> Array:
        """Return the share of each topic in each text, (n_documents, n_topics).

        Each row sums to one and depends on its own text only: a text alone gets the same bits as in a crowd. It
        is zero for a text without a word that the model knows. A share is the part that the topic has in the
        weights with which the topics add up to the document best (nonnegative least squares).
        """
        return stack_mixtures(
            (applied.mixtures for applied in self.transform_batches(batch_texts(documents))), self._n_features_out
        ).shares

    def save(self, path: PathLike, *, force: bool = False) -> None:
        """Write the model to one file, without the texts; an existing file is replaced only with `force`.

        Ids and snippets of the documents that stand for the topics are in it, document weights are not.
        """
        save_model(path, *to_file(self._get_fitted(), self._get_settings()), force=force)

    @classmethod
    def load(cls, path: PathLike, *, vectorizer: Any = None) -> Self:
        """Return a saved model, which transforms to the same bits.

        A model that was fitted with a vectoriser knows its words but not how to find them in a text: give it the
        vectoriser again to transform texts.
        """
        arrays, header = load_model(path)
        try:
            fitted, settings = from_file(arrays, header), restore_parameters(header["settings"])
            model = cls(**settings, vectorizer=vectorizer)
        except (KeyError, TypeError) as error:
            raise InputError(f"{path} lacks parts that a model of anchorless has ({error}); fit again") from error
        model.fitted_ = fitted
        if vectorizer is not None:
            model.vectorizer_ = match_vectorizer(vectorizer, fitted.vocabulary)
        return model

    def counting_settings(self) -> CountSettings:
        """Return how texts are counted, by the parameters."""
        return CountSettings(**{name: getattr(self, name) for name in COUNTING_PARAMETERS})

    def _reset(self) -> None:
        """Check the parameters and forget an earlier fit, so that a failed one leaves no mixture of two."""
        if self.n_topics != AUTO:
            check_whole("n_topics", self.n_topics)
        check_choice("weighting", self.weighting, WEIGHTINGS)
        check_choice("constraint", self.constraint, ("explained", "hard", "reliable", "all"))
        resolve_n_threads(self.n_threads)
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    def _fit(self, corpus: FitInput) -> Self:
        n_documents, n_words = count_documents(corpus.blocks), len(corpus.vocabulary)
        if n_documents < 2:
            raise InputError(f"{n_documents} document: topics are what documents share, so give at least 2")
        if not isinstance(self.n_topics, str) and self.n_topics > n_words:
            raise RankError(
                f"n_topics={self.n_topics}, but the vocabulary has only {n_words} words; lower n_topics or min_df"
            )
        threads = resolve_n_threads(self.n_threads)
        how = (self.weighting, self.constraint, self.n_threads, self.random_state)
        chosen = resolve_number(self.n_topics, corpus.blocks, *how)
        weighed = weight_counts(corpus.blocks, self.weighting, threads)
        report_progress("weighing", 1, 1)
        found, warned = fit_estimator(self._make_estimator(chosen.n_topics), weighed.documents)
        of_blocks = iter_document_mixtures(weighed.documents, found.components_, threads)
        parts = track("documents", of_blocks, weighed.documents.n_blocks)
        if weighed.lengths is None:
            gathering = MixtureAccumulator(n_documents, chosen.n_topics, corpus.metadata)
            passed = accumulate_mixtures(parts, gathering, corpus.each)
            self.fitted_ = build_model_record(found, weighed, corpus, passed, warned, chosen.reason)
        else:
            mixtures = stack_mixtures(parts, chosen.n_topics)
            gathered = summarize_mixtures(mixtures, corpus.metadata)
            self.fitted_ = build_model_record(found, weighed, corpus, gathered, warned, chosen.reason)
            self._store_documents(mixtures, weighed, corpus.metadata)
        if weighed.documents.in_memory:
            self.documents_ = weighed.documents
        report_progress("summary", 1, 1)
        return self

    def _get_settings(self) -> dict[str, Any]:
        """Return the parameters that are saved: those that say what was fitted, not where."""
        given = self.get_params(deep=False)
        return {name: to_json_value(value) for name, value in given.items() if name not in ("vectorizer", "n_threads")}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        return tags
