"""Groups of topics that documents have together.

The groups are those for which the correlations of the topics' proportions, summed over all pairs within the groups, are
largest, as far as a greedy search finds them: the pair of groups with the largest sum of correlations is merged until
there are as many as asked for; then single topics move as long as the sum grows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anchorless._corpus.documents import Array
from anchorless._corpus.sparse import split_range

#: Documents whose mixtures are multiplied at a time.
DOCUMENTS_AT_A_TIME = 2**14
#: Passes over the topics in which they may move to other groups.
MAX_PASSES = 50
#: A topic moves if the sum of correlations grows by more than this, which is more than rounding.
LEAST_GROWTH = 1e-9


def group_topics(mixtures: Array, n_groups: int) -> list[list[int]]:
    """Return the topics of mixtures (N, F) of each group, by their first topic; no group is empty."""
    R = correlate_topics(mixtures)
    groups = move_topics(R, merge_groups(R, n_groups))
    return sorted(np.flatnonzero(groups == group).tolist() for group in range(n_groups))


def correlate_topics(mixtures: Array) -> Array:
    """Return the correlations (F, F) of the columns of mixtures (N, F); zero for a column without variation."""
    n, F = mixtures.shape
    sums, products = np.zeros(F), np.zeros((F, F))
    for rows in split_range(n, DOCUMENTS_AT_A_TIME):
        part = np.asarray(mixtures[rows], dtype=np.float64)
        sums += part.sum(axis=0)
        products += part.T @ part
    covariance = products / n - np.outer(sums, sums) / n**2
    deviations = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    scale = np.outer(deviations, deviations)
    return np.divide(covariance, scale, out=np.zeros((F, F)), where=scale > 1e-300)


def merge_groups(R: Array, n_groups: int) -> Any:
    """Return the group of each topic (F,) after merges of the groups with the largest sum of correlations R (F, F)."""
    sums, members = R.copy(), [[k] for k in range(len(R))]
    np.fill_diagonal(sums, -np.inf)
    while len(members) > n_groups:
        i, j = sorted(int(place) for place in np.unravel_index(sums.argmax(), sums.shape))
        sums[i] += sums[j]
        sums[:, i] += sums[:, j]
        sums = np.delete(np.delete(sums, j, axis=0), j, axis=1)
        sums[i, i] = -np.inf
        members[i] += members.pop(j)
    groups = np.empty(len(R), dtype=np.intp)
    for group, topics in enumerate(members):
        groups[topics] = group
    return groups


def move_topics(R: Array, groups: Any) -> Any:
    """Return the groups (F,) after single topics moved to where their correlations R (F, F) sum to most."""
    groups, sizes = groups.copy(), np.bincount(groups)
    links = np.column_stack([R[:, groups == group].sum(axis=1) for group in range(len(sizes))])
    for _ in range(MAX_PASSES):
        before = groups.copy()
        for topic, old in enumerate(before):
            own = links[topic].copy()
            own[old] -= R[topic, topic]
            new = int(own.argmax())
            if sizes[old] > 1 and own[new] > own[old] + LEAST_GROWTH:
                groups[topic] = new
                links[:, old] -= R[:, topic]
                links[:, new] += R[:, topic]
                sizes[old], sizes[new] = sizes[old] - 1, sizes[new] + 1
        if (groups == before).all():
            break
    return groups
