"""A summary of the mixtures of all documents: the documents that represent each topic, and means by label and period.

It is accumulated in one pass over the blocks, in memory that does not grow with the documents.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow.compute as pc

from anchorless._corpus.documents import Array
from anchorless._corpus.metadata import Metadata, parse_dates
from anchorless._report.html import LabelTable, PeriodTable
from anchorless._topic_model.mixtures import Mixtures
from anchorless._topic_model.summary import Positions, interleave

MAX_KEPT_DOCUMENTS = 10_000  # for the report
MAX_LABELS, MAX_TRACKED_LABELS = 100, 1000  # the most frequent ones: in the table, and during the pass
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
        for groups in (self._labels, self._periods):
            if groups is not None:
                groups.add(shares, known, rows)
        self._n, self._n_known = rows.stop, self._n_known + int(known.sum())
        self._explained += float(explained[known].sum())

    def result(self, mixtures: Mixtures) -> MixtureSummary:
        """Return the summary, given the mixtures of all documents."""
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
            None if self._labels is None else tabulate_labels(self._labels),
            None if self._periods is None else tabulate_periods(self._periods),
        )


class GroupSums:
    """Documents by group, and sums (groups, F) of shares and numbers (groups,) of documents of each."""

    def __init__(self, names: Any, codes: Any, n_topics: int) -> None:
        self.names, self._codes = names, codes  # (groups,), and (N,), the group of each document, −1 for none
        self.sums, self.counts = np.zeros((len(names), n_topics)), np.zeros(len(names), dtype=np.intp)

    def add(self, shares: Array, known: Any, rows: slice) -> None:
        """Add the shares of the documents at `rows`; those without a known word do not count."""
        codes = self._codes[rows]
        counted = known & (codes >= 0)
        np.add.at(self.sums, codes[counted], shares[counted])
        np.add.at(self.counts, codes[counted], 1)


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


def tabulate_labels(groups: GroupSums) -> LabelTable | None:
    """Return mean shares per label, the most frequent label first."""
    order = sorted(np.flatnonzero(groups.counts), key=lambda i: (-groups.counts[i], groups.names[i]))[:MAX_LABELS]
    if not order:
        return None
    means = groups.sums[order] / groups.counts[order, None]
    return LabelTable([groups.names[i] for i in order], means.tolist(), groups.counts[order].tolist())


def group_by_period(dates: Any, n_topics: int) -> GroupSums:
    """Return the documents by day; by month or year where there are too many days."""
    moments = parse_dates(dates)
    there = ~np.isnat(moments)
    codes = np.full(len(moments), -1)
    periods, codes[there] = find_periods(moments[there], MAX_TRACKED_DAYS)
    return GroupSums(periods, codes, n_topics)


def tabulate_periods(groups: GroupSums) -> PeriodTable | None:
    """Return mean shares per day, month or year."""
    there = np.flatnonzero(groups.counts)
    periods, codes = find_periods(groups.names[there], MAX_PERIODS)
    if len(periods) < 2:
        return None
    total, number = np.zeros((len(periods), groups.sums.shape[1])), np.zeros(len(periods), dtype=np.intp)
    np.add.at(total, codes, groups.sums[there])
    np.add.at(number, codes, groups.counts[there])
    return PeriodTable([str(period) for period in periods], (total / number[:, None]).T.tolist(), number.tolist())


def find_periods(moments: Any, limit: int) -> tuple[Any, Any]:
    """Return the different days, months or years, the finest of at most `limit`, and the period of each moment."""
    units = ("D", "M", "Y")
    finest = np.datetime_data(moments.dtype)[0]
    for unit in units[units.index(finest) :] if finest in units else units:
        periods, codes = np.unique(moments.astype(f"datetime64[{unit}]"), return_inverse=True)
        if len(periods) <= limit:
            break
    return periods, codes
