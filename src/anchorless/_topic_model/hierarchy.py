"""Levels of topics: which fine topic belongs to which broad one, with shares that add up.

A group has topics that documents have together (`_core/topic_groups.py`). The groups of a level are sums of topics, so
shares and mixtures add up exactly; a still broader level groups these groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from anchorless._core.topic_groups import group_topics
from anchorless._corpus.documents import Array
from anchorless._topic_model.summary import TopicFacts, choose_topic_labels, find_leading_words
from anchorless._validation import check_whole
from anchorless.errors import InputError

if TYPE_CHECKING:
    from pandas import DataFrame

#: Without a number of broad topics there are this many times the square root of the number of topics.
LEVEL_FACTOR = 1.3


class Level(NamedTuple):
    """Groups of the topics of a fit.

    Attributes
    ----------
    groups : list of list of int
        The numbers of the topics of each group; group 0 has the largest share.
    labels : list of str
        The most distinctive words of each group, joined by spaces.
    words : list of list of str
        The leading words of each group.
    shares : ndarray of shape (n_groups,)
        The share of each group in all tokens: the sum of the shares of its topics.
    """

    groups: list[list[int]]
    labels: list[str]
    words: list[list[str]]
    shares: Array


class Hierarchy(NamedTuple):
    """Levels of topics, from the topics of the fit to the broadest groups.

    Attributes
    ----------
    levels : list of Level
        The first level has a group for each topic of the fit; each further one has fewer groups, which are unions of
        groups of the level before.
    """

    levels: list[Level]

    def __repr__(self) -> str:
        sizes = [len(level.groups) for level in self.levels]
        groups = "".join(f", {size} groups" for size in sizes[1:])
        return f"<hierarchy of {sizes[0]} topics{groups}: levels has them, model.plot.hierarchy() draws them>"

    def parent(self, level: int, group: int) -> int | None:
        """Find the group of the next level to which a group belongs.

        Parameters
        ----------
        level, group : int
            The number of the level, and of the group in it.

        Returns
        -------
        int or None
            The number of the group in the next level; None on the last level.
        """
        if level + 1 >= len(self.levels):
            return None
        first = self.levels[level].groups[group][0]
        return next(i for i, topics in enumerate(self.levels[level + 1].groups) if first in topics)

    def aggregate(self, mixtures: Any, level: int = -1) -> Array:
        """Add up the mixtures of documents.

        Parameters
        ----------
        mixtures : array-like of shape (n_documents, n_topics)
            Such as `document_topics_`, or what `transform` returns.
        level : int, default=-1
            The number of the level; −1 is the broadest.

        Returns
        -------
        ndarray of shape (n_documents, n_groups)
        """
        return sum_groups(np.asarray(mixtures, dtype=np.float64), self.levels[level].groups)

    def frame(self) -> DataFrame:
        """Return a table with one row per group.

        Returns
        -------
        pandas.DataFrame
            ``level`` (0 for the topics of the fit), ``group``, ``label``, ``share``, ``parent`` (the group on the next
            level, missing on the last one), ``topics`` and ``words``.
        """
        rows = [(i, j, level) for i, level in enumerate(self.levels) for j in range(len(level.groups))]
        columns = {
            "level": [i for i, _, _ in rows],
            "group": [j for _, j, _ in rows],
            "label": [level.labels[j] for _, j, level in rows],
            "share": [float(level.shares[j]) for _, j, level in rows],
            "parent": pa.array([self.parent(i, j) for i, j, _ in rows], type=pa.int64()),
            "topics": [", ".join(map(str, level.groups[j])) for _, j, level in rows],
            "words": [", ".join(level.words[j]) for _, j, level in rows],
        }
        frame = pa.table(columns).to_pandas()
        return frame.astype({"parent": "Int64"})

    def as_dict(self) -> list[dict[str, Any]]:
        """Return the tree as plain records: the broadest groups, each with its parts.

        Returns
        -------
        list of dict
            ``label``, ``share``, ``topics``, and ``children`` with the same keys.
        """
        return [self._describe(len(self.levels) - 1, j) for j in range(len(self.levels[-1].groups))]

    def _describe(self, i: int, j: int) -> dict[str, Any]:
        level = self.levels[i]
        parts = [] if i == 0 else [k for k, part in enumerate(self.levels[i - 1].groups) if part[0] in level.groups[j]]
        return {
            "label": level.labels[j],
            "share": float(level.shares[j]),
            "topics": level.groups[j],
            "children": [self._describe(i - 1, k) for k in parts],
        }


def validate_levels(levels: Any, n_topics: int) -> list[int]:
    """Return the numbers of groups, largest first; None stands for none."""
    given = [] if levels is None else levels if isinstance(levels, Iterable) else [levels]
    found = sorted({int(check_whole("levels", number, 2)) for number in given}, reverse=True)
    if found and found[0] >= n_topics:
        problem = f"a level of {found[0]} groups cannot be made of {n_topics} topics"
        raise InputError(problem, parameter="levels", value=found[0], limit=n_topics - 1, remedy="lower {levels}")
    return found


def choose_levels(n_topics: int) -> list[int]:
    """Return the number of groups if none is given; none for topics that are few enough to read."""
    number = round(LEVEL_FACTOR * np.sqrt(n_topics))
    return [number] if 2 <= number < n_topics else []


def nest_groups(numbers: Sequence[int], mixtures: Array) -> list[list[list[int]]]:
    """Return groups of topics with mixtures (N, F) for each level, of so many groups."""
    groupings: list[list[list[int]]] = []
    current = [[k] for k in range(mixtures.shape[1])]
    for number in numbers:
        theta = mixtures if not groupings else sum_groups(mixtures, current)
        current = [sorted(topic for part in parts for topic in current[part]) for parts in group_topics(theta, number)]
        groupings.append(current)
    return groupings


def sum_groups(mixtures: Array, groups: Sequence[Sequence[int]]) -> Array:
    """Return the mixtures (N, n) of groups of topics."""
    return np.column_stack([mixtures[:, topics].sum(axis=1) for topics in groups])


def build_hierarchy(
    groupings: Sequence[Sequence[Sequence[int]]],
    facts: TopicFacts,
    relevance: Array,
    vocabulary: Sequence[str],
    n_words: int,
) -> Hierarchy:
    """Return the levels of groups of topics with relevance (F, V)."""
    shares = facts.shares
    single = [[k] for k in range(len(shares))]
    levels = []
    for groups in [single, *groupings]:
        ordered = sorted(([*group] for group in groups), key=lambda topics: -float(shares[topics].sum()))
        merged = np.vstack([shares[topics] @ relevance[topics] for topics in ordered])
        labels = choose_topic_labels(merged, vocabulary)
        # A topic keeps its label: it may be a name that was given.
        labels = [
            facts.labels[topics[0]] if len(topics) == 1 else label
            for topics, label in zip(ordered, labels, strict=True)
        ]
        words = [[vocabulary[w] for w in find_leading_words(row, n_words)] for row in merged]
        levels.append(Level(ordered, labels, words, np.array([shares[topics].sum() for topics in ordered])))
    return Hierarchy(levels)
