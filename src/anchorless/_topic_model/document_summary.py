"""A summary of the mixtures of all documents: the documents that represent each topic, and means by label and period.

It is accumulated in one pass over the blocks, in memory that does not grow with the documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow.compute as pc
from scipy.stats import t as student

from anchorless._core.proportions import find_nearest_mixtures
from anchorless._corpus.documents import Array
from anchorless._corpus.metadata import Metadata, parse_dates
from anchorless._corpus.sparse import split_range
from anchorless._effects.regression import pool_variances
from anchorless._report.html import LabelTable, PeriodTable
from anchorless._topic_model.mixtures import Mixtures
from anchorless._topic_model.summary import Positions, interleave

MAX_KEPT_DOCUMENTS = 10_000  # for the report
MAX_LABELS, MAX_TRACKED_LABELS = 100, 1000  # the most frequent ones: in the table, and during the pass
LEVEL = 0.9  # of the intervals of means by label and period
DOCUMENTS_AT_A_TIME = 2**14  # whose mixtures are added to the groups at a time
MAX_PERIODS, MAX_TRACKED_DAYS = 60, 10_000  # the same; periods are days, months or years, the finest that are not more


class MixtureSummary(NamedTuple):
    """A summary of the mixtures of all documents."""

    n_documents: int
    n_with_words: int  # documents with a word of the vocabulary
    mean_explained: float  # over these
    positions: Positions  # of the documents to show
    mixtures: Mixtures  # of these, in their order
    by_label: LabelTable | None
    by_period: PeriodTable | None


class MixtureAccumulator:
    """Accumulate the summary from mixtures in the order of the documents."""

    def __init__(self, n_documents: int, n_topics: int, metadata: Metadata, limit: int = MAX_KEPT_DOCUMENTS) -> None:
        self._limit, self._per_topic = limit, min(n_documents, -(-limit // n_topics))
        # For each topic the documents of largest share · explained so far, of equal ones the first.
        self._best: list[Positions] = [np.zeros(0, dtype=np.intp)] * n_topics
        self._scores: list[Array] = [np.zeros(0)] * n_topics
        self._labels = None if metadata.labels is None else group_by_label(metadata.labels, n_topics)
        self._periods = None if metadata.dates is None else group_by_period(metadata.dates, n_topics)
        self._n = self._n_known = 0
        self._explained = 0.0

    def add(self, mixtures: Mixtures) -> None:
        """Add the mixtures of the next documents."""
        shares, explained = mixtures
        known = shares.any(axis=1)
        rows = slice(self._n, self._n + len(shares))
        for f, score in enumerate((shares * explained[:, None]).T):
            least = self._scores[f][-1] if len(self._scores[f]) == self._per_topic else 0.0
            new = np.flatnonzero(score > least)
            both = np.concatenate([self._scores[f], score[new]])
            order = np.argsort(-both, kind="stable")[: self._per_topic]
            self._scores[f], self._best[f] = both[order], np.concatenate([self._best[f], new + self._n])[order]
        self._n, self._n_known = rows.stop, self._n_known + int(known.sum())
        self._explained += float(explained[known].sum())

    def result(
        self,
        mixtures: Mixtures,
        projected: Iterable[tuple[Array, Any]] | None = None,
        topic_word: Array | None = None,
    ) -> MixtureSummary:
        """Return the summary, given the mixtures of all documents.

        Means by label and period are those of `projected`: estimates of the shares without bias, block by block, and
        which documents have words (`topic_draws.project_blocks`), by the topics `topic_word` (F, V). Without them they
        are means of mixtures.
        """
        self._add_groups(iter_rows(mixtures.shares) if projected is None else projected)
        few = self._n <= self._limit
        positions = interleave(self._best, self._limit if few else self._limit // 2)
        others = np.setdiff1d(np.arange(self._n), positions)
        spaced = np.linspace(0, len(others) - 1, min(len(others), self._limit - len(positions)))
        positions = np.concatenate([positions, others[spaced.astype(np.intp)]])
        return MixtureSummary(
            self._n,
            self._n_known,
            self._explained / self._n_known if self._n_known else 0.0,
            positions,
            Mixtures(*(np.asarray(values[positions]) for values in mixtures)),
            None if self._labels is None else tabulate_labels(self._labels, topic_word),
            None if self._periods is None else tabulate_periods(self._periods, topic_word),
        )

    def _add_groups(self, parts: Iterable[tuple[Array, Any]]) -> None:
        """Add the shares of all documents to their groups."""
        kinds, start = [groups for groups in (self._labels, self._periods) if groups is not None], 0
        for shares, known in parts if kinds else ():
            rows = slice(start, start + len(shares))
            start = rows.stop
            for groups in kinds:
                groups.add(shares, known, rows)


def iter_rows(shares: Array) -> Iterator[tuple[Array, Any]]:
    """Yield some rows of mixtures (N, F) at a time, and which documents have words."""
    for rows in split_range(len(shares), DOCUMENTS_AT_A_TIME):
        yield shares[rows], shares[rows].any(axis=1)


class GroupSums:
    """Documents by group; sums (groups, F) of shares and of their squares, and numbers (groups,) of documents."""

    def __init__(self, names: Any, codes: Any, n_topics: int) -> None:
        self.names, self._codes = names, codes  # (groups,), and (N,), the group of each document, −1 for none
        self.sums, self.squares = np.zeros((len(names), n_topics)), np.zeros((len(names), n_topics))
        self.counts = np.zeros(len(names), dtype=np.intp)

    def add(self, shares: Array, known: Any, rows: slice) -> None:
        """Add the shares of the documents at `rows`; those without a known word do not count."""
        codes = self._codes[rows]
        counted = known & (codes >= 0)
        np.add.at(self.sums, codes[counted], shares[counted])
        np.add.at(self.squares, codes[counted], shares[counted] ** 2)
        np.add.at(self.counts, codes[counted], 1)

    def merge(self, names: Any, codes: Any) -> GroupSums:
        """Return the sums of larger groups, given the larger group (groups,) of each."""
        merged = GroupSums(names, None, self.sums.shape[1])
        for name in ("sums", "squares", "counts"):
            np.add.at(getattr(merged, name), codes, getattr(self, name))
        return merged

    def compute_means(self, topic_word: Array | None) -> tuple[Array, Array, Array]:
        """Return the mean shares (groups, F) and the ends of their intervals; a part of their spread is the common one.

        The shares of a group are the mixture of the topics (F, V) that is nearest to the means, if they are given. The
        intervals are about which documents were collected; the topics are taken as they are.
        """
        n, every = np.maximum(self.counts, 1)[:, None], max(int(self.counts.sum()), 2)
        means = self.sums / n
        within = np.maximum(self.squares / n - means**2, 0.0) * n / np.maximum(n - 1, 1)
        common = np.maximum(self.squares.sum(axis=0) - self.sums.sum(axis=0) ** 2 / every, 0.0) / (every - 1)
        variance, freedom = pool_variances(within / n, n - 1.0, common / n)
        reach = student.ppf((1 + LEVEL) / 2, freedom) * np.sqrt(variance)
        shares = means if topic_word is None else find_nearest_mixtures(means, topic_word)
        return shares, np.minimum(means - reach, shares), np.maximum(means + reach, shares)


def group_by_label(labels: Any, n_topics: int) -> GroupSums:
    """Return the documents by label, those of the most frequent labels."""
    coded = pc.dictionary_encode(labels)
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    names = coded.dictionary.to_pylist()
    if len(names) > MAX_TRACKED_LABELS:
        often = np.argsort(-np.bincount(codes[codes >= 0], minlength=len(names)), kind="stable")[:MAX_TRACKED_LABELS]
        place = np.full(len(names) + 1, -1)
        place[often] = np.arange(len(often))
        codes, names = place[codes], [names[i] for i in often]
    return GroupSums(names, codes, n_topics)


def tabulate_labels(groups: GroupSums, topic_word: Array | None) -> LabelTable | None:
    """Return mean shares per label, the most frequent label first; with intervals if the topics (F, V) are given."""
    order = sorted(np.flatnonzero(groups.counts), key=lambda i: (-groups.counts[i], groups.names[i]))[:MAX_LABELS]
    if not order:
        return None
    place = np.full(len(groups.names), len(order))  # labels that are not in the table come last
    place[order] = np.arange(len(order))
    names = [groups.names[i] for i in order]
    found = groups.merge([*names, None], place).compute_means(topic_word)
    means, low, high = (rows[: len(order)].tolist() for rows in found)
    table = LabelTable(names, means, groups.counts[order].tolist())
    return table._replace(low=low, high=high) if topic_word is not None else table


def group_by_period(dates: Any, n_topics: int) -> GroupSums:
    """Return the documents by day; by month or year where there are too many days."""
    moments = parse_dates(dates)
    there = ~np.isnat(moments)
    codes = np.full(len(moments), -1)
    periods, codes[there] = find_periods(moments[there], MAX_TRACKED_DAYS)
    return GroupSums(periods, codes, n_topics)


def tabulate_periods(groups: GroupSums, topic_word: Array | None) -> PeriodTable | None:
    """Return mean shares per day, month or year; with intervals if the topics (F, V) are given."""
    there = np.flatnonzero(groups.counts)
    periods, found = find_periods(groups.names[there], MAX_PERIODS)
    if len(periods) < 2:
        return None
    codes = np.zeros(len(groups.names), dtype=np.intp)  # days without documents add nothing
    codes[there] = found
    merged = groups.merge(periods, codes)
    means, low, high = (rows.T.tolist() for rows in merged.compute_means(topic_word))
    table = PeriodTable([str(period) for period in periods], means, merged.counts.tolist())
    return table._replace(low=low, high=high) if topic_word is not None else table


def find_periods(moments: Any, limit: int) -> tuple[Any, Any]:
    """Return the different days, months or years, the finest of at most `limit`, and the period of each moment."""
    units = ("D", "M", "Y")
    finest = np.datetime_data(moments.dtype)[0]
    for unit in units[units.index(finest) :] if finest in units else units:
        periods, codes = np.unique(moments.astype(f"datetime64[{unit}]"), return_inverse=True)
        if len(periods) <= limit:
            break
    return periods, codes
