"""Places of documents on a map: documents with similar topics, or similar embeddings, lie near each other.

Each document is connected with its nearest neighbors. From the two main directions of the vectors, connected documents
attract each other, and each is pushed away from a few others at a time, as UMAP does (McInnes, Healy and Melville,
arXiv 1802.03426). Nothing is random: the others are chosen by a generator with a fixed start, documents move one after
another, and all that enters is rounded, so that neither threads nor the last bits of products matter.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from anchorless._core.layout_kernels import move_documents, spread_documents
from anchorless._core.neighbors import ROUNDING, search_all
from anchorless._corpus.documents import Array
from anchorless._corpus.threads import call_interruptibly

#: Neighbors of a document; passes over the pairs.
N_NEIGHBORS, N_EPOCHS = 15, 200
#: Steps in which the radius of a document's neighborhood is found.
N_HALVINGS = 40
#: The extent of the start, and the part of the documents at each end that does not set the scale.
START_EXTENT, TAIL = 10.0, 0.002
#: Documents are moved apart until their distance is this part of that on a full grid, in so many rounds at most.
SPACING, N_ROUNDS = 0.55, 60
#: Documents with equal vectors start next to each other, on a spiral of this radius.
SPREAD, GOLDEN_ANGLE = 0.2, np.pi * (3 - np.sqrt(5))
#: Cosines above this are of equal vectors: so small that the rounded products of equal ones are larger, too, and these
#: are no candidates. Otherwise each of many copies would be compared with all documents again.
SAME = 1.0 - 2.0 * ROUNDING
#: Digits of the start and of the weights that are kept.
START_DIGITS, WEIGHT_DIGITS = 3, 5

Positions = npt.NDArray[Any]


def lay_out_documents(vectors: npt.NDArray[Any], n_threads: int = 1) -> Array:
    """Return places (n, 2) in the unit square of documents with vectors (n, d), none of them zero.

    The distance of two documents is that of their vectors, scaled to length one.
    """
    if not len(vectors):
        return np.zeros((0, 2))
    X = np.asarray(vectors, dtype=np.float64)
    X = X / np.sqrt((X**2).sum(axis=1, keepdims=True))
    n = len(X)
    places = find_start(X)
    if n > 2:
        with threadpool_limits(1, user_api="blas"):
            pairs = connect_neighbors(*find_nearest(X, min(N_NEIGHBORS, n - 1), n_threads))
        if len(pairs[0]):  # none if all documents are equal
            call_interruptibly(move_documents, places, *pairs, N_EPOCHS)
    places = scale_to_square(places)
    call_interruptibly(spread_documents, places, SPACING / np.sqrt(n), N_ROUNDS)
    return scale_to_square(places)


def find_start(X: Array) -> Array:
    """Return the rows of X (n, d) along the two directions of largest variance, (n, 2)."""
    centered = X - X.mean(axis=0)
    with threadpool_limits(1, user_api="blas"):
        _, directions = np.linalg.eigh(centered.T @ centered)
        directions = directions[:, ::-1][:, :2]
        directions = directions * np.sign(directions[abs(directions).argmax(axis=0), np.arange(directions.shape[1])])
        found = centered @ directions
    places = np.zeros((len(X), 2))
    places[:, : found.shape[1]] = found
    places *= START_EXTENT / max(float(abs(places).max()), 1e-9)
    angle, radius = GOLDEN_ANGLE * np.arange(len(X)), SPREAD * np.sqrt(np.arange(len(X)) / len(X))
    places += radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return np.asarray(np.round(places, START_DIGITS))


def find_nearest(X: Array, n_neighbors: int, n_threads: int) -> tuple[Positions, Array]:
    """Return the nearest other rows of each row of X (n, d) of length one, and their distances, (n, k).

    The position is −1 where there are fewer: rows that are equal to rounding are not neighbors of each other.
    """
    vectors = X.astype(np.float32)
    near, cosines = search_all(vectors, vectors, n_neighbors, n_threads, above=SAME)
    return near, np.sqrt(np.maximum(2.0 - 2.0 * cosines, 0.0))


def connect_neighbors(near: Positions, distance: Array) -> tuple[Positions, Positions, Array]:
    """Return pairs of documents and their weights in (0, 1]: how much either is a neighbor of the other.

    Within a document, weights fall with the distance beyond the nearest neighbor, and sum to log2(k): each document has
    about the same number of neighbors, whether documents are dense or rare where it lies.
    """
    n, k = near.shape
    known = near >= 0
    mean = max(float(distance[known].mean()) if known.any() else 0.0, 1e-9)
    beyond = np.where(known, distance - distance[:, :1], np.inf)
    low, high, radius = np.zeros(n), np.full(n, np.inf), np.full(n, mean)
    for _ in range(N_HALVINGS):
        is_wide = np.exp(-beyond / radius[:, None]).sum(axis=1) > np.log2(max(k, 2))
        low, high = np.where(is_wide, low, radius), np.where(is_wide, radius, high)
        radius = np.where(np.isinf(high), 2 * radius, (low + high) / 2)
    weights = np.exp(-beyond / np.maximum(radius, 1e-3 * mean)[:, None])
    rows = np.repeat(np.arange(n), k).reshape(n, k)
    one_way = sp.csr_array((weights[known], (rows[known], near[known])), shape=(n, n))
    both = one_way + one_way.T - one_way * one_way.T
    pairs = sp.triu(both, 1).tocoo()
    order = np.lexsort((pairs.col, pairs.row))
    rounded = np.maximum(np.round(pairs.data[order], WEIGHT_DIGITS), 10.0**-WEIGHT_DIGITS)
    return pairs.row[order].astype(np.int64), pairs.col[order].astype(np.int64), rounded


def scale_to_square(places: Array) -> Array:
    """Return the places (n, 2) in the unit square, with equal scales in both directions.

    A few documents far from all others would make the rest small: they are moved to the edge.
    """
    low, high = np.quantile(places, TAIL, axis=0), np.quantile(places, 1 - TAIL, axis=0)
    margin = 0.1 * (high - low)
    inside = np.clip(places, low - margin, high + margin)
    center, extent = (inside.max(axis=0) + inside.min(axis=0)) / 2, float(np.ptp(inside, axis=0).max())
    return np.asarray(np.clip(0.5 + (inside - center) / max(extent, 1e-300), 0.0, 1.0))
