"""The methods of `TopicModel` that say how topics depend on what is known of the documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from threadpoolctl import threadpool_limits

from anchorless._core.token_model import TokenTopics
from anchorless._corpus.covariates import to_table
from anchorless._corpus.documents import Documents
from anchorless._effects.coefficients import Sample
from anchorless._effects.design import build_design
from anchorless._effects.effects import Effects, estimate_effects, list_targets
from anchorless._effects.levels import tabulate_levels
from anchorless._effects.topic_draws import TopicDraws, count_lengths, draw_topics
from anchorless._effects.words import compare_words
from anchorless._estimators.base import resolve_n_jobs
from anchorless._topic_model.covariates import (
    build_levels,
    build_periods,
    choose_time_column,
    count_documents,
    find_level,
    hold_in_memory,
)
from anchorless._topic_model.edits import Layout, build_selection
from anchorless._topic_model.fitted import FIT_TOKEN_MODEL, ModelRecord, TokenRecord
from anchorless._topic_model.mixtures import Inference
from anchorless._topic_model.output import follow_output
from anchorless._topic_model.plots import TopicPlots
from anchorless._validation import check_choice, check_whole, resolve_job_count
from anchorless.errors import InputError

if TYPE_CHECKING:
    from pandas import DataFrame

#: Draws of the topics for `topics_by` and `topics_over_time`, the default of `effects`.
N_DRAWS = 20


class EffectsMixin:
    """Effects of metadata on topics, means by group and period, and the words of a topic by group."""

    effects_: Effects

    @property
    def plot(self) -> TopicPlots:
        """Figures of the model, with matplotlib: `plot.over_time()`, `plot.effects()`."""
        return TopicPlots(self)

    if TYPE_CHECKING:  # what `TopicModel` has
        topic_labels_: list[str]
        vocabulary_: list[str]
        _counts: Documents

        @property
        def n_topics_(self) -> int: ...
        def _get_record(self) -> ModelRecord: ...
        def _get_leaves(self) -> ModelRecord: ...
        def _get_layout(self) -> Layout: ...
        def _compute_topic_tokens(self, counts: Documents, topic: int, *, is_training: bool) -> Any: ...
        def _get_inference(self) -> Inference: ...
        def _draw_seed(self) -> int: ...

    def effects(
        self,
        formula: str,
        data: Any = None,
        *,
        topics: Any = None,
        groups: str | None = None,
        level: float = 0.9,
        documents: Any = None,
        n_draws: int = N_DRAWS,
        n_jobs: int | None = None,
    ) -> Effects:
        """Estimate how the shares of topics depend on what is known of the documents.

        The mean share of each topic over documents is linear in the terms of the formula; each document counts once.
        Documents enter by estimates of their shares without bias, so that short ones do not weaken the effects.
        Intervals contain which documents were collected, documents of one group being correlated, and how well the
        topics are known: topics are drawn from their posterior, in this call for the first time, which takes a while.
        The result is kept for figures and the report.

        Parameters
        ----------
        formula : str
            Terms as in R and in formulaic, such as ``"~ party + s(year)"``: columns of the metadata, ``C(year)`` for
            categories, ``s(year)`` for a smooth curve, ``a:b`` and ``a*b`` for interactions. Dates are days.
        data : table or None, default=None
            Columns, with one row per document, as in `fit`; None for the `metadata` of the fit.
        topics : int, list or None, default=None
            Topics, all by default. A list in the list stands for topics taken together: ``[0, 3, [1, 4]]``.
        groups : str or None, default=None
            A column of groups of documents, such as their authors, that were collected together.
        level : float, default=0.9
            Level of the intervals.
        documents : iterable of str, Corpus, matrix of counts or None, default=None
            The documents; None for those of the fit. A model file has no documents.
        n_draws : int, default=20
            Draws of the topics.
        n_jobs : int or None, default=None
            Threads; None for those of the model. The result does not depend on it.

        Returns
        -------
        effects : Effects

        Raises
        ------
        InputError
            If a column does not exist, is constant or empty, if terms are collinear, or if the formula has an error.
        """
        counts = self._get_counts(documents, n_jobs)
        table = self._get_covariates(data, counts)
        targets = list_targets(topics, self.topic_labels_)
        design = build_design(formula, table, groups, count_lengths(counts, 1) > 0)
        sample = self._draw_sample(counts, n_draws, n_jobs, documents)
        with threadpool_limits(1, user_api="blas"):
            self.effects_ = estimate_effects(sample, design, targets, level)
        return self.effects_

    @follow_output
    def topics_by(
        self, column: str, data: Any = None, *, groups: str | None = None, level: float = 0.9, documents: Any = None
    ) -> DataFrame:
        """Tabulate the mean share of each topic in the documents of each value of a column.

        Parameters
        ----------
        column : str
            A column of the metadata.
        data, groups, level, documents
            As in `effects`.

        Returns
        -------
        frame : pandas.DataFrame
            One row per value and topic: the column (``input_label`` for ``"label"``, and the like for other names that
            are taken), topic, label, share, low, high, n_documents. The shares of a value sum to one (less those of
            dropped topics).
        """
        counts = self._get_counts(documents, None)
        known = count_lengths(counts, 1) > 0
        levels = build_levels(self._get_covariates(data, counts), column, groups, known)
        return self._tabulate(levels, counts, level, documents)

    @follow_output
    def topics_over_time(
        self,
        column: str | None = None,
        data: Any = None,
        *,
        period: str | None = None,
        groups: str | None = None,
        level: float = 0.9,
        documents: Any = None,
    ) -> DataFrame:
        """Tabulate the mean share of each topic in the documents of each period.

        Parameters
        ----------
        column : str or None, default=None
            A column of dates; None for ``"date"``, else the first column of dates, else ``"year"``.
        data
            As in `effects`.
        period : {"day", "month", "year"} or None, default=None
            The periods; None for the finest of which there are at most 60.
        groups, level, documents
            As in `effects`.

        Returns
        -------
        frame : pandas.DataFrame
            As `topics_by`, with the periods in order in the column.
        """
        counts = self._get_counts(documents, None)
        table, known = self._get_covariates(data, counts), count_lengths(counts, 1) > 0
        name = choose_time_column(table) if column is None else column
        return self._tabulate(build_periods(table, name, period, groups, known), counts, level, documents)

    @follow_output
    def topic_words_by(
        self,
        column: str,
        topic: int,
        first: Any,
        second: Any = None,
        data: Any = None,
        *,
        groups: str | None = None,
        documents: Any = None,
    ) -> DataFrame:
        """Compare the words that groups of documents use for the same topic.

        Parameters
        ----------
        column : str
            A column of the metadata.
        topic : int
            Number of the topic.
        first, second : value
            Values of the column to compare; None for all others instead of a second one.
        data, groups, documents
            As in `effects`.

        Returns
        -------
        frame : pandas.DataFrame
            One row per word that is frequent enough, the most certain difference first: word, first and second
            (p(word | topic) in both groups), difference, low, high (90%), p, and p_adjusted, with which the share of
            false discoveries is controlled (Benjamini and Hochberg). If no p_adjusted is small, nothing differs beyond
            chance.
        """
        check_choice("topic", topic, range(self.n_topics_))
        counts = self._get_counts(documents, None)
        table, known = self._get_covariates(data, counts), count_lengths(counts, 1) > 0
        levels = build_levels(table, column, groups, known)
        places = [None if v is None else find_level(levels, v, n) for n, v in (("first", first), ("second", second))]
        Y = self._compute_topic_tokens(hold_in_memory(counts), topic, is_training=documents is None)
        return compare_words(Y, levels, cast(int, places[0]), places[1], self.vocabulary_)

    def _get_counts(self, documents: Any, n_jobs: int | None) -> Documents:
        """Return the counts of given documents, or of those of the fit."""
        if self._get_record().tokens is None:
            problem = "effects need the token model, which this model does not have"
            raise InputError(problem, remedy=FIT_TOKEN_MODEL)
        if documents is not None:
            earlier = getattr(self, "_drawn", None)
            if earlier is not None and earlier[0] is documents:
                return cast(Documents, earlier[1])
            n_threads = resolve_n_jobs(self) if n_jobs is None else resolve_job_count(n_jobs)
            return count_documents(documents, self._get_inference(), n_threads)
        if not hasattr(self, "_counts"):
            problem = "a model file, and a model of documents on disk, have no documents in memory"
            raise InputError(problem, remedy="give them again with {documents}")
        return self._counts

    def _get_covariates(self, data: Any, counts: Documents | None) -> Any:
        """Return the given table, or that of the fit."""
        if data is not None and counts is not None:
            return to_table(data, counts.shape[0], "data")
        table = getattr(self, "_covariates", None)
        if table is None or not table.num_columns:
            problem = "the model was fitted without columns such as party or year"
            also = "or keep columns when the model is fitted: fit(…, metadata=…)"
            raise InputError(problem, remedy=f"give a table with a row per document as {{data}}, {also}")
        if counts is not None and len(table) != counts.shape[0]:
            problem = f"the metadata of the fit has {len(table):,} rows, but documents has {counts.shape[0]:,}"
            raise InputError(problem, remedy="give the documents of the fit, or their own table with {data}")
        return table

    def _draw_sample(self, counts: Documents, n_draws: int, n_jobs: int | None, documents: Any = None) -> Sample:
        """Return the documents with draws of the topics; those of the last documents are kept."""
        check_whole("n_draws", n_draws, least=4)
        n_threads = resolve_n_jobs(self) if n_jobs is None else resolve_job_count(n_jobs)
        record, layout = self._get_leaves(), self._get_layout()
        tokens = cast(TokenRecord, record.tokens)
        topics = TokenTopics(tokens.topic_word, tokens.alpha, record.facts.shares)
        earlier = getattr(self, "_drawn", None)
        is_same = earlier is not None and earlier[1] is counts and earlier[2].fitted is topics.topic_word
        if earlier is not None and is_same and len(earlier[2].drawn) == n_draws:
            draws: TopicDraws = earlier[2]
        else:
            with threadpool_limits(1, user_api="blas"):
                draws = draw_topics(counts, topics, n_draws, self._draw_seed(), n_threads)
            self._drawn = (documents, counts, draws)
        selection = None if layout.is_plain else build_selection(layout.nodes, layout.n_leaves)
        return Sample(counts, topics, draws, n_threads, selection)

    def _tabulate(self, levels: Any, counts: Documents, level: float, documents: Any) -> DataFrame:
        """Return the mean shares by level."""
        with threadpool_limits(1, user_api="blas"):
            sample = self._draw_sample(counts, N_DRAWS, None, documents)
            return tabulate_levels(sample, levels, self.topic_labels_, level)
