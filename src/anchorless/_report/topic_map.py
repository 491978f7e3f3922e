"""The layout of the map of topics: topics that are often together lie close together. Nothing is random.

`association` is (F, F), symmetric, with entries in [−1, 1]; NaN and infinity count as 0. Ties are broken by the order
of the topics, so the same associations always give the same map.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse.csgraph import minimum_spanning_tree, shortest_path
from scipy.spatial.distance import cdist

Array = npt.NDArray[np.float64]

N_STEPS = 400  # after these, 50 topics move by less than a thousandth of the map
MIN_LINK = 0.01  # weaker associations are neither drawn as links nor listed (LEAST_ASSOCIATION in state.js)
MAX_ROW_TOPICS = 12  # of so many topics, unrelated ones stand in rows: names of more would have no room (map.js)
MAX_UNCROWDED_TOPICS = 60  # with more, the map has room for few names and lines, and the page can zoom it
N_LISTED = 4  # the page draws so many associations of either sign of the chosen topic (findAssociated in state.js)
N_PATH_NEIGHBORS = 3
GROUP_PULL = 0.6  # by which part of the strongest association topics of a group attract each other
MIN_STRONGEST = 0.1  # if all associations are weaker, they are not drawn as large as if one of them were strong
MIN_DISTANCE = 1e-6  # prevents a division by zero where two topics have the same position


def to_association(association: Any) -> Array:
    """Return a finite, symmetric copy with entries in [−1, 1] and ones on the diagonal."""
    R = np.clip(np.nan_to_num(np.array(association, dtype=float), nan=0.0, posinf=0.0, neginf=0.0), -1.0, 1.0)
    R = (R + R.T) / 2
    np.fill_diagonal(R, 1.0)
    return R


def order_topics(association: Any) -> list[int]:
    """Order the topics so that neighbors are often together: each one is followed by the closest that remains."""
    R = to_association(association)
    order, waiting = [0], list(range(1, len(R)))
    while waiting:
        order.append(max(waiting, key=lambda f: R[order[-1], f]))  # on ties, max takes the first
        waiting.remove(order[-1])
    return order


def place_topics(association: Any, groups: Sequence[Sequence[int]] = ()) -> Array:
    """Place the topics in the unit square, (F, 2): by their associations and groups; few unrelated ones in rows."""
    if len(association) <= MAX_ROW_TOPICS and not groups and not select_links(association):
        return place_in_rows(len(association))
    return compute_layout(attract_groups(association, groups))


def place_in_rows(n_topics: int) -> Array:
    """Place topics in rows, from the upper left, in a square."""
    n_columns = int(np.ceil(np.sqrt(n_topics)))
    n_rows = -(-n_topics // n_columns)
    row, column = np.divmod(np.arange(n_topics), n_columns)
    return np.column_stack(
        [column / max(n_columns - 1, 1), row / (n_rows - 1) if n_rows > 1 else np.full(n_topics, 0.5)]
    )


def compute_layout(association: Any) -> Array:
    """Place the topics in the unit square, (F, 2), so that distances approximate 1 − association / strongest.

    Minimize the stress Σ w_fg (‖x_f − x_g‖ − d_fg)² with w = 1/d², so that small distances d count most. Associations
    are small numbers: without the division by the strongest, all distances would be nearly equal. The
    starting point is not random: it is the order of `order_topics`, on a circle.
    """
    R = to_association(association)
    F = len(R)
    if F == 1:
        return np.full((1, 2), 0.5)
    strongest = max(MIN_STRONGEST, float(abs(R[np.triu_indices(F, 1)]).max()))
    distance = np.maximum(1 - R / strongest, 0.1)  # the strongest pair must not coincide
    if F > MAX_UNCROWDED_TOPICS:
        distance = measure_paths(distance)
    angle = np.empty(F)
    angle[order_topics(R)] = 2 * np.pi * np.arange(F) / F
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    for _ in range(N_STEPS):
        X = majorize_stress(X, distance)
    X = rotate_to_horizontal(X)
    extent = np.ptp(X, axis=0)
    flat = extent < MIN_DISTANCE  # a direction without extent is centered
    return np.where(flat, 0.5, (X - X.min(axis=0)) / np.where(flat, 1.0, extent))


def attract_groups(association: Any, groups: Sequence[Sequence[int]]) -> Array:
    """Return associations (F, F) that are larger between topics of a group, so that the map shows the groups."""
    R = to_association(association)
    strongest = max(MIN_STRONGEST, float(abs(R[np.triu_indices(len(R), 1)]).max(initial=0.0)))
    for topics in groups:
        R[np.ix_(topics, topics)] += GROUP_PULL * strongest
    return R


def measure_paths(distance: Array) -> Array:
    """Return the lengths (F, F) of the shortest paths along each topic's shortest distances.

    Nearly all of many topics are unrelated and thus equally far from each other: they would fill a disk evenly, and
    neighborhoods could not be seen. A path leads from topic to topic within a neighborhood, and on to the next.
    """
    F = len(distance)
    near = np.argsort(distance + np.diag(np.full(F, np.inf)), axis=1, kind="stable")[:, :N_PATH_NEIGHBORS]
    tree = minimum_spanning_tree(distance).toarray()  # no topic may be out of reach
    edges = (tree > 0) | (tree.T > 0)
    edges[np.arange(F)[:, None], near] = True
    paths = np.asarray(shortest_path(np.where(edges | edges.T, distance, 0.0), directed=False))
    np.fill_diagonal(paths, 1.0)  # not used, but divided by
    return paths


def majorize_stress(X: Array, distance: Array) -> Array:
    """Return X (F, 2) after one relaxed majorization (SMACOF) step, which never increases the weighted stress."""
    w = 1 / distance**2
    np.fill_diagonal(w, 0.0)
    # The target of f is Σ_g w_fg (x_g + d_fg (x_f − x_g) / ‖x_f − x_g‖) / Σ_g w_fg. Products of matrices: arrays of
    # (F, F, 2) would take 10 s for 500 topics.
    pull = w * distance / np.maximum(cdist(X, X), MIN_DISTANCE)
    target = w @ X + pull.sum(axis=1)[:, None] * X - pull @ X
    return (X + target / w.sum(axis=1)[:, None]) / 2


def rotate_to_horizontal(X: Array) -> Array:
    """Rotate the points so that their largest variance is horizontal: pages are wide."""
    X = X - X.mean(axis=0)
    xx, yy, xy = (X[:, 0] ** 2).sum(), (X[:, 1] ** 2).sum(), (X[:, 0] * X[:, 1]).sum()
    angle = 0.5 * np.arctan2(2 * xy, xx - yy)
    cos, sin = np.cos(angle), np.sin(angle)
    return np.column_stack([cos * X[:, 0] + sin * X[:, 1], cos * X[:, 1] - sin * X[:, 0]])


def select_links(association: Any) -> list[tuple[int, int]]:
    """Return the pairs (f, g), f < g, to draw: each topic's two strongest positive associations and its most negative.

    Of a crowded map, each topic's strongest positive association alone: more lines would cover the circles.
    """
    crowded = len(association) > MAX_UNCROWDED_TOPICS
    return sorted(select_strongest(association, *((1, 0) if crowded else (2, 1))))


def select_drawn_pairs(association: Any) -> set[tuple[int, int]]:
    """Return all pairs (f, g), f < g, that the page ever draws: the links, and those of each topic if it is chosen."""
    return select_strongest(association, N_LISTED, N_LISTED)


def select_strongest(association: Any, n_positive: int, n_negative: int) -> set[tuple[int, int]]:
    """Return the pairs (f, g), f < g, of each topic and those with which it is associated most, of either sign."""
    R = to_association(association)
    pairs: set[tuple[int, int]] = set()
    for f, row in enumerate(R):
        order = [int(g) for g in np.argsort(-row, kind="stable") if g != f]
        positive = [g for g in order if row[g] >= MIN_LINK][:n_positive]
        negative = [g for g in sorted(order, key=row.__getitem__) if row[g] <= -MIN_LINK][:n_negative]
        pairs.update((min(f, g), max(f, g)) for g in positive + negative)
    return pairs
