"""`TopicModel`: text in, topics out. Counting, weighting, AnchorFree and the results, behind one estimator."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, Self, cast

import numpy as np
from scipy.stats import beta
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state, estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from anchorless._choices import CONSTRAINT_SYNONYMS
from anchorless._core.neighbor_prior import NeighborChoice
from anchorless._corpus.corpus import Corpus, PathLike
from anchorless._corpus.counting import batch_texts
from anchorless._corpus.documents import Array, Documents
from anchorless._corpus.given_counts import validate_documents
from anchorless._corpus.io.readers import TextSource, open_texts
from anchorless._corpus.metadata import Metadata
from anchorless._corpus.settings import COUNTING_PARAMETERS, CountSettings
from anchorless._corpus.storage import SELECTION_SETTINGS
from anchorless._corpus.vectorizer import match_vectorizer
from anchorless._diagnostics.identifiability.identifiability import Identifiability
from anchorless._diagnostics.search_k import SearchK, search_k
from anchorless._diagnostics.stability import Interval
from anchorless._effects.words import compute_topic_tokens
from anchorless._estimators.base import resolve_n_jobs
from anchorless._locks import FileState
from anchorless._report.html import ReportData, render_report, write_page
from anchorless._topic_model.annotation import AnnotationMixin
from anchorless._topic_model.covariates import decode_table, encode_table
from anchorless._topic_model.diagnosing import DiagnosticsMixin
from anchorless._topic_model.document_map import DocumentMap, map_documents
from anchorless._topic_model.edits import list_leaves, sum_columns
from anchorless._topic_model.effects import EffectsMixin
from anchorless._topic_model.exporting import ExportMixin
from anchorless._topic_model.file import load_model, save_model
from anchorless._topic_model.fitted import (
    Diagnostics,
    FitNotes,
    ModelRecord,
    build_model_record,
    fit_estimator,
    from_file,
    list_saved_documents,
    restore_parameters,
    to_file,
)
from anchorless._topic_model.fitting import FittingMixin, is_path
from anchorless._topic_model.hierarchy import (
    Hierarchy,
    build_hierarchy,
    choose_levels,
    validate_levels,
)
from anchorless._topic_model.mixtures import (
    BatchMixtures,
    Inference,
    Mixtures,
    stack_mixtures,
)
from anchorless._topic_model.notebook import InlineReport, render_topics
from anchorless._topic_model.output import is_any_polars
from anchorless._topic_model.pyldavis import prepare_pyldavis
from anchorless._topic_model.report_data import add_document_map, build_report_data
from anchorless._topic_model.schema import check_schema
from anchorless._topic_model.seeds import (
    Seed,
    SeparatedWords,
)
from anchorless._topic_model.tables import TablesMixin
from anchorless._topic_model.updating import EMPTY_STATISTICS, add_texts
from anchorless._validation import check_whole
from anchorless.errors import InputError, render_message

#: Parameters that say where a fit runs or what counts, not what was fitted: they are not saved.
UNSAVED_PARAMETERS = ("vectorizer", "n_jobs", "n_threads")


#: Part of the effective tokens of a document that its interval counts: the topics are estimates, too.
KNOWN_PART = 2.0 / 3.0
#: However long a document is, its mixture is known no better than by so many tokens for each training document per
#: topic: what topics get wrong is wrong in all of its tokens.
TOKENS_PER_TRAINING_DOCUMENT = 4.0
#: Leading words of each topic in a notebook.
NOTEBOOK_WORDS = 8


def _read(path: str, doc: str) -> Any:
    """Make a property that reads the record of the fit."""
    get = attrgetter(path)
    return property(lambda self: get(self._get_record()), doc=doc)


class TopicModel(
    FittingMixin,
    TablesMixin,
    DiagnosticsMixin,
    ExportMixin,
    AnnotationMixin,
    EffectsMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
):
    """Find the topics in texts, how they correlate, and the mixture of topics in each document.

    Every document is a mixture of all topics (mixed membership); there is no bin of outliers. The same documents and
    parameters give the same bits, for any number of threads and in whatever batches the documents come.

    Parameters
    ----------
    n_topics : int or "auto", default=20
        Number of topics. "auto" uses the number that `search_k` suggests, from 2 to 40. Where the documents do not
        tell, it says so and uses the number after which held-out documents are hardly predicted better.
    stop_words, extra_stop_words, ngram_range, min_df, max_df, max_features, email, html
        How texts are counted, as in `CountSettings`: words to leave out, the number of words in a term, the documents
        that must and may contain a term, the number of terms, and whether to read mail and web pages.
    language, segmenter, phrases, lemmatizer
        As in `CountSettings`: the language of the texts, how to find words where there are no spaces between them,
        whether to count pairs such as "climate change" as one word, and the form in which a word is counted.
    split, drop_boilerplate, deduplicate
        Whether to divide long documents into parts, and to leave out lines that stand in many documents and near-copies
        of documents, as in `CountSettings`.
    vectorizer : object or None, default=None
        A scikit-learn vectorizer that counts instead: anything with `fit_transform`, `transform` and
        `get_feature_names_out`. One that knows its words already is used as it is; otherwise a copy is fitted.
    weighting : {"chi2-ncw", "tfidf-ncw", "tfidf", "counts"}, default="chi2-ncw"
        How documents are weighted before topics are found: words near the chi-square distance, then normalized cuts;
        words by tf-idf, then the same; tf-idf alone; or the numbers as they are.
    constraint
        As in `AnchorFree`.
    likelihood : bool, default=True
        Whether to fit the token model, from which probabilities, shares, mixtures, correlations and associations come.
        Without it they are those of weighted words. Weights that are no counts have no token model.
    levels : sequence of int, default=()
        Numbers of broader groups of topics, for `hierarchy`.
    seed_words : dict of str to list of str, or None, default=None
        Words by which you know topics that you expect, such as ``{"economy": ["bank", "inflation"]}``. The topics that
        they indicate come first, in this order, and get these names; `seeds_` tells how far the documents support
        them. Words that no topic may use are `extra_stop_words`.
    separate_words : sequence of (str, str), default=()
        Pairs of words that should belong to different topics; `separated_words_` tells which do.
    n_jobs, random_state, n_threads
        As in `AnchorFree`.

    Attributes
    ----------
    components_ : ndarray of shape (n_topics, n_words)
        Relevance: topics of weighted words, which rank the words. Each row sums to one.
    topic_word_ : ndarray of shape (n_topics, n_words)
        p(word | topic) of tokens. Each row sums to one.
    topic_shares_ : ndarray of shape (n_topics,)
        Share of each topic in all tokens.
    topic_correlation_, topic_association_ : ndarray of shape (n_topics, n_topics)
        Correlations of the topics' proportions over documents, without the noise of tokens; and what they have beyond
        what the sizes of the topics explain.
    topic_moments_, eigenvalues_ : ndarray
        As in `AnchorFree`.
    vocabulary_, topic_labels_ : list of str
        The word of each column of `components_`; the given name of each topic, or its most distinctive words.
    coherence_, exclusivity_ : ndarray of shape (n_topics,)
        Mean NPMI and exclusivity of each topic's 10 leading words, on the training documents.
    n_topics_, diagnostics_ : int and Diagnostics
        The number of topics, and numbers about the fit: documents, tokens, convergence, warnings.
    fitted_counting_ : CountSettings or None
        How the training texts were counted; None for counts made elsewhere.
    document_topics_, document_explained_ : ndarray of shape (n_documents, n_topics) and (n_documents,)
        What `transform` gives for the training documents, and the part of each that the topics explain, in [0, 1]. Not
        in a model file.
    seeds_ : list of Seed
        What became of each of the `seed_words`.
    separated_words_ : list of SeparatedWords
        What became of each of the `separate_words`.
    stability_, effects_, vectorizer_
        The last results of `stability` and `effects`; the fitted vectorizer, where one was given.
    topic_names_, topic_notes_ : list
        Names and notes that were given to the topics; None and empty where there is none.
    rest_share_, fingerprint_ : float and str
        Share of tokens in topics that were dropped; a short name of the fit and of the topics that are shown.
    neighbors_ : NeighborChoice or None
        How neighbors by the embeddings are used: `n_neighbors` of them count as `n_tokens` words of a document (0: not
        used), and predict words that were held out better by `gain` (log-probability per word).

    See Also
    --------
    AnchorFree : The same method for a matrix of counts or weights.
    Corpus : Counted documents, in memory or on disk.

    Examples
    --------
    >>> from anchorless import TopicModel
    >>> texts = ["the cat chased a mouse", "a mouse fears the cat", "the rocket reached orbit", "orbit by rocket"]
    >>> model = TopicModel(n_topics=2).fit(texts)
    >>> [sorted(topic.words) for topic in model.topics()]
    [['cat', 'chased', 'fears', 'mouse'], ['orbit', 'reached', 'rocket']]
    >>> model.transform(["the cat chased the mouse", "a rocket in orbit"]).argmax(axis=1)
    array([0, 1])
    """

    def __init__(
        self,
        n_topics: int | str = 20,
        *,
        stop_words: str | Sequence[str] | None = "auto",
        extra_stop_words: Sequence[str] = (),
        ngram_range: tuple[int, int] = (1, 1),
        min_df: int | float | None = None,
        max_df: int | float = 0.5,
        max_features: int | None = None,
        email: bool = False,
        html: bool = False,
        language: str | None = "auto",
        segmenter: str = "auto",
        phrases: bool = False,
        lemmatizer: Any = None,
        split: str | int | None = None,
        drop_boilerplate: bool = False,
        deduplicate: bool = False,
        vectorizer: Any = None,
        weighting: str = "chi2-ncw",
        constraint: str = "reliable",
        likelihood: bool = True,
        levels: Sequence[int] = (),
        seed_words: Mapping[str, Sequence[str]] | None = None,
        separate_words: Sequence[tuple[str, str]] = (),
        n_jobs: int | None = None,
        random_state: Any = 0,
        n_threads: Any = "deprecated",
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
        self.language = language
        self.segmenter = segmenter
        self.phrases = phrases
        self.lemmatizer = lemmatizer
        self.split = split
        self.drop_boilerplate = drop_boilerplate
        self.deduplicate = deduplicate
        self.vectorizer = vectorizer
        self.weighting = weighting
        self.constraint = constraint
        self.likelihood = likelihood
        self.levels = levels
        self.seed_words = seed_words
        self.separate_words = separate_words
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.n_threads = n_threads

    def fit(
        self,
        documents: Iterable[str] | Corpus | PathLike | TextSource,
        y: Any = None,
        *,
        ids: Any = None,
        labels: Any = None,
        dates: Any = None,
        metadata: Any = None,
        memory: int | str | None = None,
        embeddings: Any = None,
    ) -> Self:
        """Find the topics of documents.

        Parameters
        ----------
        documents : iterable of str, Corpus, path or TextSource
            Texts, which are read once and not kept; a corpus; or a file that `Corpus.read` can read, a pattern such as
            "texts/*.txt", or a list of `pathlib.Path`.
        y : ignored
        ids, labels, dates
            As in `Corpus.from_texts`.
        metadata : table, list of str or None, default=None
            What `effects` can use: a data frame of pandas or polars, an Arrow table or a dict of columns, with one row
            per document; for a file or a corpus that was read from one also names of its columns. The topics do not
            depend on it.
        memory
            As in `Corpus.from_texts`.
        embeddings : array of shape (n_documents, n_dimensions) or None, default=None
            Floating-point vectors of the documents from any encoder, which improve the mixtures of short documents:
            documents with similar embeddings get similar mixtures, as far as words that were held out show that this is
            right. The topics do not depend on them. Rows of a masked array (`numpy.ma`) that are masked as a whole are
            of documents without an embedding.

        Returns
        -------
        self : TopicModel
        """
        self._reset()
        self._is_given_polars = is_any_polars(documents, ids, labels, dates, metadata)
        with self._open_corpus(documents, {"ids": ids, "labels": labels, "dates": dates}, memory) as corpus:
            return self._fit(corpus, metadata, embeddings)

    def fit_counts(
        self,
        X: Any,
        vocabulary: Any,
        *,
        ids: Any = None,
        labels: Any = None,
        dates: Any = None,
        metadata: Any = None,
        embeddings: Any = None,
    ) -> Self:
        """Find the topics of counts that were made elsewhere.

        Parameters
        ----------
        X, vocabulary, ids, labels, dates, metadata
            As in `Corpus.from_counts`.
        embeddings
            As in `fit`.

        Returns
        -------
        self : TopicModel
        """
        self._reset()
        self._is_given_polars = is_any_polars(ids, labels, dates, metadata)
        corpus = Corpus.from_counts(X, vocabulary, ids=ids, labels=labels, dates=dates, metadata=metadata)
        return self._fit(corpus, embeddings=embeddings)

    def partial_fit(
        self, documents: Iterable[str], y: Any = None, *, ids: Any = None, labels: Any = None, dates: Any = None
    ) -> Self:
        """Add further texts and update the topics.

        A topic keeps its number and a word its column from call to call; new words join. Memory does not grow with the
        texts. Representative documents, coherence, and what is known of single documents are those of the texts of this
        call. A model from a file cannot be updated: the statistics of its texts are not in it.

        Parameters
        ----------
        documents, y, ids, labels, dates
            As in `fit`, but texts only.

        Returns
        -------
        self : TopicModel
        """
        if isinstance(self.n_topics, str):
            problem = "`partial_fit` cannot choose the number of topics"
            raise InputError(problem, parameter="n_topics", value=self.n_topics, remedy="give a number")
        if self.drop_boilerplate:
            raise InputError("lines that stand in many documents are not known before all are read; use `fit`")
        if self.vectorizer is not None:
            raise InputError("partial_fit counts texts by itself, so that new words can join; use vectorizer=None")
        if self.phrases:
            problem = "`partial_fit` cannot find phrases, which need all texts at once"
            raise InputError(problem, parameter="phrases", value=True, remedy="use `fit`, or {ngram_range} (1, 2)")
        if not hasattr(self, "_text_statistics"):
            if hasattr(self, "_record"):
                raise InputError("this model was fitted or loaded, so it cannot be updated; begin with partial_fit")
            self._reset()
        settings, n_threads = getattr(self, "_settings", self.counting_settings()), resolve_n_jobs(self)
        every_word = replace(settings, min_df=1, max_df=1.0, max_features=None)  # `add_texts` selects among them
        earlier = getattr(self, "_text_statistics", EMPTY_STATISTICS)
        with Corpus.from_texts(
            documents, counting=every_word, ids=ids, labels=labels, dates=dates, n_jobs=n_threads
        ) as piece:
            for note in piece._problems if earlier is EMPTY_STATISTICS else ():
                warnings.warn(render_message(note), stacklevel=2)
            if piece.counting is not None:  # the language of the first piece is that of all
                kept = {name: getattr(settings, name) for name in SELECTION_SETTINGS}
                settings = self._settings = replace(piece.counting, **kept)
            texts, weighted = add_texts(earlier, piece, settings, self.weighting, n_threads)
            estimator, before = self._make_estimator(self.n_topics), getattr(self, "_estimator", None)
            found, warned = fit_estimator(estimator, weighted.documents, before, partial=True)
            piece.vocabulary, piece.counting = texts.vocabulary, settings
            mixtures, summary = self._summarize(weighted, found, piece)
            n_all, n_known = (earlier.words.n_documents + n for n in (summary.n_documents, summary.n_with_words))
            summary = summary._replace(n_documents=n_all, n_with_words=n_known)
            self._record = build_model_record(found, weighted, piece, summary, FitNotes(warned, ""))
        self._text_statistics, self._estimator = texts, found
        self._keep_documents(mixtures, weighted, piece.metadata)
        return self

    def fit_transform(self, documents: Iterable[str] | Corpus | PathLike, y: Any = None, **parameters: Any) -> Array:
        """Fit, and return the mixtures of the training documents; the documents are read once.

        Parameters
        ----------
        documents, y, **parameters
            As in `fit`.

        Returns
        -------
        shares : ndarray of shape (n_documents, n_topics)
        """
        return self.fit(documents, **parameters).document_topics_

    def transform(self, documents: Iterable[str] | Corpus | PathLike, *, embeddings: Any = None) -> Array:
        """Compute the share of each topic in each text.

        Each row sums to one and depends on its own text only: a text alone gets the same bits as in a batch. It is zero
        for a text without a word that the model knows. The shares are the posterior mean of the mixture, by the
        likelihood of the tokens; without a token model, the weights with which the topics add up to the document best
        (nonnegative least squares), divided by their sum.

        Parameters
        ----------
        documents : iterable of str, Corpus or path
            Texts; a corpus, whose words are matched by their names; or a file that `Corpus.read` can read.
        embeddings : array of shape (n_documents, n_dimensions) or None, default=None
            Vectors of the documents, from the encoder of the training documents, if the model was fitted with some. The
            neighbors of a document are searched among the training documents only.

        Returns
        -------
        shares : ndarray of shape (n_documents, n_topics)
        """
        if isinstance(documents, Corpus):
            return self.transform_counts(documents.align(self.vocabulary_).documents, embeddings=embeddings)
        if is_path(documents):
            with open_texts(documents) as source:
                found = self.transform_batches((batch.texts for batch in source), embeddings)
                return stack_mixtures((batch.mixtures for batch in found), self._n_features_out).shares
        batches = self.transform_batches(batch_texts(cast(Iterable[str], documents)), embeddings)
        return stack_mixtures((batch.mixtures for batch in batches), self._n_features_out).shares

    def transform_batches(self, batches: Iterable[Any], embeddings: Any = None) -> Iterator[BatchMixtures]:
        """Compute the topics of batches of texts as they come; memory does not grow with their number.

        Parameters
        ----------
        batches : iterable of Arrow string arrays
            Batches of texts, such as those of a file that is read piece by piece.
        embeddings : as in `transform`
            Those of the documents of all batches.

        Yields
        ------
        batch : BatchMixtures
            Mixtures of the texts of one batch, its number of tokens, and how many of them the model does not know.
        """
        return self._get_inference().transform_batches(batches, resolve_n_jobs(self), embeddings)

    def transform_counts(self, X: Any, *, embeddings: Any = None) -> Array:
        """Compute the share of each topic in documents that are counted already.

        Parameters
        ----------
        X : sparse or dense matrix, Documents, or list of matrices
            Counts, documents × words, with the words of `vocabulary_` as columns.
        embeddings
            As in `transform`.

        Returns
        -------
        shares : ndarray of shape (n_documents, n_topics)
        """
        return self._infer(X, embeddings).shares

    def mixture_intervals(self, X: Any, *, level: float = 0.9, embeddings: Any = None) -> Interval:
        """Compute how far the share of each topic in each document is known.

        A document says as much about its mixture as a number of tokens whose topics were known, fewer than it has:
        the interval is that of a beta distribution of this size. It covers the true share of the leading topic of
        planted documents at about its level, with fewer than twenty training documents per topic less often; see
        `docs/model.md`.

        Parameters
        ----------
        X : as in `transform_counts`, or Corpus
            Counts of documents.
        level : float, default=0.9
            Level of the intervals.
        embeddings
            As in `transform`. Neighbors change the estimate; they do not make the interval narrower.

        Returns
        -------
        Interval
            `estimate`, which `transform_counts` returns, `low` and `high`, each of shape (n_documents, n_topics). All
            are zero for a document without a word that the model knows.
        """
        record = self._get_record()
        tokens = self._get_leaves().token_inference
        if tokens is None:
            problem = "this model was fitted without the token model, which tells how certain a mixture is"
            raise InputError(problem, remedy="fit it again with likelihood=True, on whole counts")
        if not 0 < level < 1:
            problem = "a confidence level is above 0 and below 1"
            raise InputError(problem, parameter="level", value=level, remedy="try 0.9")
        X = X.align(self.vocabulary_).documents if isinstance(X, Corpus) else X
        fitted, counts = self._infer_leaves(X, embeddings), validate_documents(X, "X")
        blocks, start, size = counts.map_blocks(lambda block: block, 1), 0, np.zeros(len(fitted))
        for block in blocks:
            rows = slice(start, start + block.shape[0])
            size[rows] = KNOWN_PART * tokens.count_effective_tokens(block, fitted[rows])
            start = rows.stop
        n_known = record.diagnostics.n_documents - record.diagnostics.n_without_words
        size /= 1.0 + size * fitted.shape[1] / (TOKENS_PER_TRAINING_DOCUMENT * n_known)
        size += tokens.alpha.sum()
        shares = sum_columns(fitted, self._get_layout().nodes)
        inside = (shares > 0) & (shares < 1)
        p, n = np.where(inside, shares, 0.5), size[:, None]
        low, high = (beta.ppf((1 + sign * level) / 2, p * n, (1 - p) * n) for sign in (-1, 1))
        return Interval(shares, np.where(inside, low, shares), np.where(inside, high, shares))

    def hierarchy(self, levels: Sequence[int] | int | None = None, *, n_words: int = 10) -> Hierarchy:
        """Group the topics into broader ones, with shares that add up at every level.

        Parameters
        ----------
        levels : sequence of int, int or None, default=None
            Numbers of groups, each smaller than the number of topics. None for those of the parameter `levels`, or else
            1.3 times the square root of the number of topics. Numbers other than those of the fit need its documents'
            mixtures in memory.
        n_words : int, default=10
            Number of leading words of each group.

        Returns
        -------
        hierarchy : Hierarchy

        Examples
        --------
        >>> from anchorless import TopicModel, datasets
        >>> corpus = datasets.sampled_corpus(600, n_topics=6, n_words=60, length=40, random_state=0)
        >>> model = TopicModel(6, levels=[2]).fit_counts(corpus.counts, [f"word{i}" for i in range(60)])
        >>> [len(level.groups) for level in model.hierarchy().levels]
        [6, 2]
        """
        record = self._get_record()
        n_words = check_whole("n_words", n_words)
        groupings = record.groupings
        known = [] if groupings is None else [len(groups) for groups in groupings]
        asked = known or choose_levels(self.n_topics_) if levels is None else validate_levels(levels, self.n_topics_)
        if asked != known:
            groupings = self._group_topics(asked)
        return build_hierarchy(groupings or [], record.facts, record.relevance, record.vocabulary, n_words)

    def report(
        self,
        path: PathLike | None = None,
        *,
        title: str = "Topics",
        force: bool = False,
        trust: Identifiability | None = None,
        texts: Mapping[str, str] | None = None,
    ) -> InlineReport | None:
        """Write the report, one HTML file that opens without a network; or show it in a notebook.

        It contains the last results of `stability` and `effects`, if they were called.

        Parameters
        ----------
        path : path or None, default=None
            The file; None to write none, and return an object that a notebook displays.
        title : str, default="Topics"
            The title of the page.
        force : bool, default=False
            Replace an existing file.
        trust : Identifiability or None, default=None
            What `identifiability` returned, to be described in the report.
        texts : mapping of str to str or None, default=None
            Whole texts by the ids of documents, which the page shows on a click: of the documents that it contains,
            20 MB at most. None for the beginnings of the texts only.

        Returns
        -------
        InlineReport or None
            Without a path, the report, whose `html` is the page; None where a file was written.
        """
        data = self._build_report_data(title, trust)
        if path is None:
            return InlineReport(render_report(data, texts))
        write_page(path, render_report(data, texts), force=force)
        return None

    def _build_report_data(self, title: str, trust: Identifiability | None = None) -> ReportData:
        """Return what the report shows."""
        record = self._get_record()._replace(diagnostics=self.diagnostics_)
        fitted = None if self._get_layout().is_plain else self._record.facts.labels
        found = self._get_stability(), getattr(self, "effects_", None)
        data = build_report_data(record, title, trust, *found, fitted_labels=fitted, notes=self.topic_notes_)
        data = data._replace(fingerprint=self.fingerprint_)
        return add_document_map(data, self._get_document_map())

    def to_pyldavis(self) -> Any:
        """Prepare the data for pyLDAvis, which must be installed.

        Returns
        -------
        prepared : pyLDAvis.PreparedData, for `pyLDAvis.save_html` and `pyLDAvis.display`
        """
        _, mixtures = self._get_training_documents()
        return prepare_pyldavis(self._get_record(), mixtures, self._lengths)

    def save(self, path: PathLike, *, force: bool = False, metadata: bool = False, embeddings: bool = True) -> None:
        """Write the model to one file, without the texts.

        Ids and snippets of representative documents are in it, and the last result of `stability`; mixtures of the
        training documents are not, unless the model was fitted with embeddings.

        Parameters
        ----------
        path, force
            As in `report`.
        metadata : bool, default=False
            Write the columns of `metadata` that were given to `fit`, too: a row per document.
        embeddings : bool, default=True
            Write the embeddings and mixtures of the training documents, if the model was fitted with embeddings: 2
            bytes per dimension and 4 per topic for each document. Without them, the loaded model transforms by words
            alone.
        """
        self._save(path, force=force, metadata=metadata, embeddings=embeddings)

    def _save(
        self,
        path: PathLike,
        *,
        force: bool,
        metadata: bool,
        embeddings: bool = True,
        made_from: FileState | None = None,
    ) -> None:
        """Write the model as `save` does, unless the file that it was made from has changed."""
        given = self.get_params(deep=False)
        settings = {name: value for name, value in given.items() if name not in UNSAVED_PARAMETERS}
        used = list_saved_documents([record.kept for record in self._list_records()])
        record = self._record if embeddings else self._record._replace(neighbors=None)
        arrays, header = to_file(record, settings, used)
        self._add_edits(arrays, header, used)
        if seeds := getattr(self, "seeds_", []):
            header["seeds"] = [seed._asdict() for seed in seeds]
        if pairs := getattr(self, "separated_words_", []):
            header["separated_words"] = [pair._asdict() for pair in pairs]
        self._write_stability(arrays, header)
        if metadata:
            arrays["covariates"] = encode_table(self._get_covariates(None, None))
        save_model(path, arrays, header, force=force, made_from=made_from)

    @classmethod
    def load(cls, path: PathLike, *, vectorizer: Any = None, lemmatizer: Any = None) -> Self:
        """Read a saved model, which transforms to the same bits.

        Parameters
        ----------
        path : path of the file
        vectorizer : object or None, default=None
            The vectorizer that the model was fitted with, if any: the file knows only its words.
        lemmatizer : callable or None, default=None
            The lemmatizer that the model was fitted with, if it was a function: the file knows only its name.

        Returns
        -------
        model : TopicModel
        """
        arrays, header = load_model(path)
        check_schema(arrays, header, os.fspath(path))
        try:
            record, settings = from_file(arrays, header), restore_parameters(header["settings"])
            model = cls(**settings, vectorizer=vectorizer)
            covariates = None if "covariates" not in arrays else decode_table(arrays["covariates"])
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, OSError) as error:
            raise InputError(f"{path} lacks parts that a model of anchorless has ({error}); fit again") from error
        if lemmatizer is not None and record.counting is not None:
            model.lemmatizer = lemmatizer
            record = record._replace(counting=replace(record.counting, lemmatizer=lemmatizer))
        model._record = record
        model.seeds_ = [Seed(**seed) for seed in header.get("seeds", [])]
        model.separated_words_ = [
            SeparatedWords(tuple(pair["words"]), tuple(pair["topics"]), pair["separated"])
            for pair in header.get("separated_words", [])
        ]
        if model.seeds_:  # in their order, which JSON does not keep
            model.seed_words = {seed.name: seed.words for seed in model.seeds_}
        model._read_edits(arrays, header, path)
        model._read_stability(arrays, header, path)
        if covariates is not None:
            model._covariates = covariates
        if vectorizer is not None:
            model.vectorizer_ = match_vectorizer(vectorizer, record.vocabulary)
        return model

    def counting_settings(self) -> CountSettings:
        """Return how texts are counted, by the parameters of the model.

        Returns
        -------
        settings : CountSettings
        """
        return CountSettings(**{name: getattr(self, name) for name in COUNTING_PARAMETERS})

    #: Embeddings of the training documents (N, d), of length one, zero where there is none; None without embeddings.
    _embeddings: Any = None

    components_: Any = _read("relevance", "Relevance of the words, topics × words; each row sums to one.")
    topic_moments_: Any = _read("moments", "Second moments of the topic weights, topics × topics.")
    topic_correlation_: Any = _read("correlation", "Correlations of the topics' proportions, topics × topics.")
    topic_shares_: Any = _read("facts.shares", "Share of each topic in all tokens.")
    topic_word_: Any = _read("topic_word", "p(word | topic) of tokens, topics × words; each row sums to one.")
    topic_association_: Any = _read("association", "Association of topics beyond what their shares imply.")
    eigenvalues_: Any = _read("eigenvalues", "Leading eigenvalues of the co-occurrences.")
    vocabulary_: Any = _read("vocabulary", "The word of each column of `components_`.")
    topic_labels_: Any = _read("facts.labels", "The most distinctive words of each topic.")
    coherence_: Any = _read("facts.coherence", "Mean NPMI of each topic's leading words.")
    exclusivity_: Any = _read("facts.exclusivity", "Exclusivity of each topic's leading words.")
    fitted_counting_: Any = _read("counting", "How the training texts were counted; None for counts made elsewhere.")

    @property
    def document_topics_(self) -> Array:
        """Shares of the topics in the training documents, documents × topics."""
        return self._get_training_mixtures().shares

    @property
    def document_explained_(self) -> Array:
        """The part of each training document that the topics explain, in [0, 1]."""
        return self._get_training_mixtures().explained

    @property
    def diagnostics_(self) -> Diagnostics:
        """Numbers about the fit."""
        return self._get_record().diagnostics.render(str)

    @property
    def neighbors_(self) -> NeighborChoice | None:
        """How neighbors by the embeddings are used; None for a fit without embeddings."""
        neighbors = self._get_record().neighbors
        return None if neighbors is None else neighbors.choice

    @property
    def n_topics_(self) -> int:
        """The number of topics, also where it was not given."""
        return self._n_features_out

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def _search_numbers(self, numbers: Iterable[int]) -> SearchK:
        """Compare numbers of topics on the training documents."""
        if not hasattr(self, "_counts"):
            problem = "to compare numbers of topics, the training documents must be in memory"
            raise InputError(problem, remedy="call anchorless.search_k with the counts, and give its result")
        return search_k(
            self._counts,
            numbers,
            weighting=self.weighting,
            constraint=CONSTRAINT_SYNONYMS.get(self.constraint, self.constraint),
            n_jobs=resolve_n_jobs(self),
            random_state=self._draw_seed(),
        )

    def _infer(self, X: Any, embeddings: Any = None) -> Mixtures:
        """Compute the mixtures of counts with the words of `vocabulary_` as columns."""
        counts, n_words = validate_documents(X, "X"), len(self.vocabulary_)
        if counts.shape[1] != n_words:
            problem = f"X has {counts.shape[1]} words, but the model knows {n_words}"
            raise InputError(problem, remedy="count with vocabulary_")
        parts = self._get_inference().transform_documents(counts, resolve_n_jobs(self), embeddings)
        return stack_mixtures(parts, self._n_features_out)

    def _infer_leaves(self, X: Any, embeddings: Any = None) -> Array:
        """Compute the mixtures of the topics before they were merged, dropped or put into another order."""
        inference = self._get_inference()._replace(nodes=None)
        parts = inference.transform_documents(validate_documents(X, "X"), resolve_n_jobs(self), embeddings)
        return stack_mixtures(parts, self._get_layout().n_leaves).shares

    def _compute_topic_tokens(self, counts: Documents, topic: int, *, is_training: bool) -> Any:
        """Return the expected tokens of a topic in documents, sparse, (N, V)."""
        layout, topic_word, n_threads = self._get_layout(), self._get_leaves().topic_word, resolve_n_jobs(self)
        mixtures = self._get_leaf_mixtures().shares if is_training else self._infer_leaves(counts)
        leaves = list_leaves(layout.topics[topic].node)
        return sum(compute_topic_tokens(counts, topic_word, mixtures, leaf, n_threads) for leaf in leaves)

    def _draw_seed(self) -> int:
        """Draw a seed from `random_state`."""
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _get_inference(self) -> Inference:
        record, layout = self._get_leaves(), self._get_layout()
        vectorizer = getattr(self, "vectorizer_", None)
        fitted = record.components, record.weights, record.vocabulary, record.counting
        nodes = None if layout.is_plain else layout.nodes
        return Inference(*fitted, vectorizer, record.token_inference, nodes, record.neighbors)

    def _get_record(self) -> ModelRecord:
        check_is_fitted(self, "_record")
        return self._get_view()

    def _get_training_documents(self) -> tuple[Metadata, Mixtures]:
        self._get_record()
        if not hasattr(self, "_metadata"):
            raise InputError("a model file keeps no document weights; transform the documents, or fit again")
        return self._metadata, Mixtures(self.document_topics_, self.document_explained_)

    def _get_document_map(self) -> DocumentMap | None:
        """Return the places of the kept documents on a map; edits of topics do not move them."""
        kept = self._record.kept
        if kept.mixtures is None or not len(kept.documents):
            return None
        if not hasattr(self, "_document_map"):
            vectors = None if self._embeddings is None else self._embeddings[kept.positions]
            self._document_map = map_documents(kept.mixtures, vectors, resolve_n_jobs(self))
        return self._document_map

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_record")

    def _repr_html_(self) -> str:
        """Return the topics as a table for a notebook; before the fit, the parameters as scikit-learn shows them."""
        if not hasattr(self, "_record"):
            return cast(str, estimator_html_repr(self))
        return render_topics(self.topics(NOTEBOOK_WORDS), self.diagnostics_.n_documents)

    def _repr_mimebundle_(self, **parameters: Any) -> dict[str, str]:
        """Return what notebooks display; that of scikit-learn would hide the topics."""
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        return tags
