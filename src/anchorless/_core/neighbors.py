"""Nearest neighbors of documents by the cosine of their embeddings.

Matrix products in float32 find candidates, then cosines in float64, each computed by itself, choose among them: a
document has the same neighbors alone and in a batch, for any number of threads and on every processor. Where products
cannot tell whether a reference that is no candidate is nearer, all that may be are compared. Neighbors are searched
among *references*, embeddings that differ from each other: the same text tells nothing new, so a document is no
neighbor of itself or of its copies.

Up to `MAX_EXACT` references every pair is compared. Beyond, references are put into groups around centers, and a
document is compared with the references of the groups whose centers are nearest to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anchorless._core.neighbor_kernels import rank_candidates, select_largest, select_largest_pairs
from anchorless._corpus.sparse import split_range
from anchorless._corpus.threads import map_in_threads

Vectors = npt.NDArray[np.float32]
Positions = npt.NDArray[np.int32]

#: Up to so many references, the search is exact.
MAX_EXACT = 50_000
#: Cosines above this are of the same text: encoders give it slightly different numbers in different batches.
SAME_COSINE = 1.0 - 1e-5
#: Candidates beyond the number of neighbors: so many that it is rarely necessary to search again.
N_SPARE = 8
#: Cosines that exist at the same time, in each thread.
MAX_COSINES = 2**23
#: Products of float32 vectors of length one are right to this.
ROUNDING = 1e-6
#: Rows that are normalized at the same time.
ROWS_AT_A_TIME = 2**11
#: Queries whose candidates are compared at the same time, and references that are compared with all those after them.
QUERIES_AT_A_TIME, REFERENCES_AT_A_TIME = 256, 512
#: Beyond `MAX_EXACT`: references per group, groups that are searched, and rounds in which the centers are found.
GROUP_SIZE, N_SEARCHED, CENTER_ROUNDS = 1000, 24, 6
#: References per center from which the centers are found.
SAMPLED_PER_GROUP = 32


class Neighbors(NamedTuple):
    """The neighbors of documents among references, nearest first."""

    positions: Positions  # (n, k), of references; −1 where there are fewer
    cosines: npt.NDArray[np.float64]  # (n, k); zero where there are fewer


class References(NamedTuple):
    """Embeddings among which neighbors are searched, and groups of them if there are many."""

    vectors: Vectors  # (M, d), of length one
    centers: Vectors | None = None  # (G, d)
    members: tuple[Positions, ...] = ()  # positions of the references of each group


def round_vectors(vectors: npt.NDArray[Any]) -> npt.NDArray[np.float16]:
    """Return vectors (n, d), none of them zero, scaled to length one, in half precision.

    That is what a model file keeps: neighbors must be the same after loading.
    """
    found = np.empty(vectors.shape, dtype=np.float16)
    for rows in split_range(len(vectors), ROWS_AT_A_TIME):
        part = vectors[rows].astype(np.float64)
        if vectors.dtype.itemsize == 8:  # squares of large numbers would overflow
            part /= abs(part).max(axis=1, keepdims=True)
        found[rows] = scale_rows(part)
    return found


def scale_rows(rows: Any) -> Any:
    """Return rows (n, d) scaled to length one, in place; none of them is zero."""
    rows /= np.sqrt((rows**2).sum(axis=1, keepdims=True))
    return rows


def normalize_vectors(rounded: npt.NDArray[np.float16]) -> Vectors:
    """Return rounded vectors (n, d), scaled to length one again."""
    found = np.empty(rounded.shape, dtype=np.float32)
    for rows in split_range(len(rounded), ROWS_AT_A_TIME):
        found[rows] = scale_rows(rounded[rows].astype(np.float64))
    return found


def build_references(vectors: Vectors, n_threads: int) -> References:
    """Return references (M, d), in groups if there are more than `MAX_EXACT`."""
    if len(vectors) <= MAX_EXACT:
        return References(vectors)
    centers = find_centers(vectors, n_threads)
    return References(vectors, centers, list_members(assign_centers(vectors, centers, n_threads), len(centers)))


def find_centers(vectors: Vectors, n_threads: int) -> Vectors:
    """Return centers (G, d) of groups of references (M, d): k-means on evenly spaced ones, from evenly spaced ones."""
    n_centers = len(vectors) // GROUP_SIZE
    sample = vectors[np.linspace(0, len(vectors) - 1, n_centers * SAMPLED_PER_GROUP).astype(np.intp)]
    centers = sample[:: len(sample) // n_centers][:n_centers].copy()
    for _ in range(CENTER_ROUNDS):
        for g, rows in enumerate(list_members(assign_centers(sample, centers, n_threads), n_centers)):
            mean = sample[rows].sum(axis=0, dtype=np.float64)
            length = np.sqrt((mean**2).sum())
            if length > 0:
                centers[g] = mean / length
    return centers


def assign_centers(vectors: Vectors, centers: Vectors, n_threads: int) -> Positions:
    """Return the center that is nearest to each vector (n,)."""
    found = search_all(vectors, centers, 1, n_threads, above=np.inf)
    return found.positions[:, 0]


def list_members(group: Positions, n_groups: int) -> tuple[Positions, ...]:
    """Return the positions of the members of each group, in order."""
    order = np.argsort(group, kind="stable").astype(np.int32)
    return tuple(np.split(order, np.searchsorted(group[order], np.arange(1, n_groups))))


def find_neighbors(queries: Vectors, references: References, n_neighbors: int, n_threads: int) -> Neighbors:
    """Return the nearest references of each query (n, d) that are not the same text."""
    if references.centers is None:
        return search_all(queries, references.vectors, n_neighbors, n_threads)
    vectors, members = references.vectors, references.members
    near = search_all(queries, references.centers, N_SEARCHED, n_threads, above=np.inf).positions
    order = np.argsort(near.ravel(), kind="stable")
    bounds = np.searchsorted(near.ravel()[order], np.arange(len(members) + 1))
    n_candidates, limit = n_neighbors + N_SPARE, np.float32(SAME_COSINE + ROUNDING)
    candidates = np.full((len(queries), n_candidates), -1, dtype=np.int32)
    best = np.full(candidates.shape, -np.inf, dtype=np.float32)

    def multiply(task: tuple[int, Positions]) -> tuple[Vectors, int, Positions]:
        return queries[task[1]] @ vectors[members[task[0]]].T, *task

    # The products are computed in threads, and compared in a fixed order.
    for rough, group, rows in map_in_threads(multiply, list_tasks(order, bounds, near.shape[1], members), n_threads):
        select_largest(rough, limit, members[group], rows, best, candidates)
    return rank_all(
        lambda rows: rank_part(queries[rows], vectors, candidates[rows], n_neighbors, SAME_COSINE),
        *(len(queries), n_neighbors, n_threads),
    )


def rank_all(rank: Callable[[slice], Neighbors], n_queries: int, n_neighbors: int, n_threads: int) -> Neighbors:
    """Return the neighbors of all queries, given a function that ranks the candidates of some."""
    parts = split_range(n_queries, QUERIES_AT_A_TIME)
    return stack_neighbors(map_in_threads(rank, parts, n_threads), n_neighbors)


def find_mutual_neighbors(references: References, n_neighbors: int, n_threads: int) -> Neighbors:
    """Return what `find_neighbors` returns for the references themselves; each product is computed once."""
    if references.centers is not None:
        return find_neighbors(references.vectors, references, n_neighbors, n_threads)
    vectors, limit = references.vectors, np.float32(SAME_COSINE + ROUNDING)
    candidates = np.full((len(vectors), n_neighbors + N_SPARE), -1, dtype=np.int32)
    best = np.full(candidates.shape, -np.inf, dtype=np.float32)
    least = best[:, -1].copy()

    size = max(1, min(REFERENCES_AT_A_TIME, MAX_COSINES // max(1, len(vectors))))
    free: list[Vectors] = []  # a new array for each product would be cleared by the system first

    def multiply(rows: slice) -> tuple[Vectors, Vectors, int]:
        try:
            room = free.pop()
        except IndexError:
            room = np.empty(size * len(vectors), dtype=np.float32)
        shape = rows.stop - rows.start, len(vectors) - rows.start
        rough = room[: shape[0] * shape[1]].reshape(shape)
        np.matmul(vectors[rows], vectors[rows.start :].T, out=rough)
        return room, rough, rows.start

    # The products are computed in threads, and compared in a fixed order.
    for room, rough, start in map_in_threads(multiply, split_range(len(vectors), size), n_threads):
        select_largest_pairs(rough, limit, start, least, best, candidates)
        free.append(room)
    return rank_all(
        lambda rows: rank_exactly(vectors[rows], vectors, candidates[rows], least[rows], n_neighbors, SAME_COSINE),
        *(len(vectors), n_neighbors, n_threads),
    )


def list_tasks(order: Any, bounds: Any, n_searched: int, members: tuple[Positions, ...]) -> list[tuple[int, Positions]]:
    """Return groups, each with some of the queries that search it."""
    tasks = []
    for group in range(len(members)):
        rows = order[bounds[group] : bounds[group + 1]] // n_searched
        size = max(1, MAX_COSINES // max(1, len(members[group])))
        tasks += [(group, rows[part]) for part in split_range(len(rows), size)]
    return tasks


def stack_neighbors(parts: Iterator[Neighbors], n_neighbors: int) -> Neighbors:
    """Stack the neighbors of parts of the queries."""
    empty = Neighbors(np.empty((0, n_neighbors), np.int32), np.empty((0, n_neighbors)))
    positions, cosines = zip(empty, *parts, strict=True)
    return Neighbors(np.concatenate(positions), np.concatenate(cosines))


def search_all(
    queries: Vectors, vectors: Vectors, n_neighbors: int, n_threads: int, above: float = SAME_COSINE
) -> Neighbors:
    """Return the nearest vectors (M, d) of each query (n, d), apart from those whose cosine is larger than `above`."""
    return stack_neighbors(search_parts(queries, vectors, n_neighbors, above, n_threads), n_neighbors)


def search_parts(
    queries: Vectors, vectors: Vectors, n_neighbors: int, above: float, n_threads: int
) -> Iterator[Neighbors]:
    """Yield the neighbors of parts of the queries, in order."""
    size = max(1, min(QUERIES_AT_A_TIME, MAX_COSINES // max(1, len(vectors))))
    parts = [queries[rows] for rows in split_range(len(queries), size)]
    return map_in_threads(lambda part: search_part(part, vectors, n_neighbors, above), parts, n_threads)


def search_part(queries: Vectors, vectors: Vectors, n_neighbors: int, above: float) -> Neighbors:
    """Return the neighbors of a few queries."""
    candidates = np.full((len(queries), min(n_neighbors + N_SPARE, len(vectors))), -1, dtype=np.int32)
    best = np.full(candidates.shape, -np.inf, dtype=np.float32)
    places, rows = np.arange(len(vectors), dtype=np.int32), np.arange(len(queries), dtype=np.int64)
    select_largest(queries @ vectors.T, np.float32(above + ROUNDING), places, rows, best, candidates)
    return rank_exactly(queries, vectors, candidates, best[:, -1], n_neighbors, above)


def rank_exactly(
    queries: Vectors, vectors: Vectors, candidates: Positions, least: Vectors, n_neighbors: int, above: float
) -> Neighbors:
    """Return the nearest vectors (M, d) of a few queries, given candidates (n, k): those with the largest products.

    `least` (n,) is the smallest product of a candidate. If the last neighbor may be as far away as a vector that is no
    candidate, all vectors are compared that may be as near as that neighbor.
    """
    found = rank_part(queries, vectors, candidates, n_neighbors, above)
    last = np.where(found.positions[:, -1] >= 0, found.cosines[:, -1], -np.inf)
    unsure = np.flatnonzero(least + ROUNDING >= last)
    rough = queries[unsure] @ vectors.T
    for row, products in zip(unsure, rough, strict=True):
        near = np.flatnonzero(products >= last[row] - ROUNDING).astype(np.int32)
        exact = rank_part(queries[row : row + 1], vectors, near[None], n_neighbors, above)
        found.positions[row], found.cosines[row] = exact.positions[0], exact.cosines[0]
    return found


def rank_part(queries: Vectors, vectors: Vectors, candidates: Positions, n_neighbors: int, above: float) -> Neighbors:
    """Return the nearest of the candidates (n, k) of a few queries."""
    shape = len(queries), n_neighbors
    found = Neighbors(np.empty(shape, np.int32), np.empty(shape))
    rank_candidates(queries, vectors, candidates, above, *found)
    return found
