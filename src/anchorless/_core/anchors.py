"""Anchor words: words whose co-occurrence vectors span those of all other words by convex combinations.

Every rule is a greedy search that needs only inner products between the words' co-occurrence vectors x_v; those with
one word cost two products with P. P itself, V × V, is never stored.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy

import numpy as np
import numpy.typing as npt

from anchorless._core.cooccurrence import Cooccurrence
from anchorless._core.nnls import solve_nnls
from anchorless._core.recover import find_nearest_in_simplex
from anchorless._corpus.documents import Array
from anchorless.errors import RankError

Mask = npt.NDArray[np.bool_]

#: A word is in the span of the anchors if less than this share of its square is left.
DISTANCE_FLOOR = 1e-13
#: A row of P whose sum is less than this share of its length is neither an anchor nor explained by any.
MIN_ROW_SUM = 1e-3


class WordVectors:
    """The words' co-occurrence vectors x_v, the rows of P scaled to sum to one, by their inner products."""

    def __init__(self, P: Cooccurrence) -> None:
        self.P = P
        self.weight = P.product(np.ones((P.n_words, 1)))[:, 0]  # row sums of P
        squares = P.compute_row_squares()
        # A row whose entries cancel, which a nonnegative P has not, cannot be scaled to sum to one.
        known = (squares > 0) & (abs(self.weight) > MIN_ROW_SUM * np.sqrt(squares))
        self.scale = np.divide(1.0, self.weight, out=np.zeros_like(self.weight), where=known)
        self.squares = squares * self.scale**2

    def to_unscaled(self) -> WordVectors:
        """Return the vectors without scaling, the rows of P."""
        plain = copy(self)
        plain.scale = (self.scale != 0).astype(np.float64)
        plain.squares = self.squares * self.weight**2
        return plain

    def inner(self, v: int) -> Array:
        """Return ⟨x_u, x_v⟩ for every word u (V,)."""
        unit = np.zeros((self.P.n_words, 1))
        unit[v] = self.scale[v]
        return self.scale * self.P.product(self.P.product(unit))[:, 0]


AnchorRule = Callable[[WordVectors, int, Mask], list[int]]


def find_farthest(distance: Array, candidates: Mask, found: list[int], n_anchors: int) -> int:
    """Return the candidate at the largest distance (V,) that is not among those found."""
    left = candidates.copy()
    left[found] = False
    if not left.any():
        raise RankError(
            f"only {len(found)} anchor words can be found",
            parameter="n_components",
            value=n_anchors,
            limit=len(found),
            remedy="lower {n_components} or {min_df}",
        )
    return int(np.argmax(np.where(left, distance, -np.inf)))


def successive_projection(words: WordVectors, n_anchors: int, candidates: Mask) -> list[int]:
    """SPA (Algorithm 1 of the paper): select the longest vector, project all vectors away from it, and repeat."""
    anchors: list[int] = []
    coordinates = np.zeros((len(words.squares), n_anchors))
    rest = words.squares
    for k in range(n_anchors):
        v = find_farthest(rest, candidates & (rest > DISTANCE_FLOOR * words.squares), anchors, n_anchors)
        # In this recursive form, squared lengths fall by the square of one new coordinate per anchor.
        new = words.inner(v) - coordinates[:, :k] @ coordinates[v, :k]
        coordinates[:, k] = new / np.sqrt(rest[v])
        rest = rest - coordinates[:, k] ** 2
        anchors.append(v)
    return anchors


def fast_anchor(words: WordVectors, n_anchors: int, candidates: Mask) -> list[int]:
    """FastAnchorWords (Arora et al. 2013), without the random projection: SPA, then each anchor is replaced in turn."""
    anchors = successive_projection(words, n_anchors, candidates)
    inner = np.column_stack([words.inner(v) for v in anchors])
    for k in range(n_anchors):
        others = [j for j in range(n_anchors) if j != k]
        kept, b = [anchors[j] for j in others], inner[:, others]
        # The squared distance of each word to the span of the others is ‖x‖² − bᵀG⁻¹b.
        distance = np.maximum(words.squares - (np.linalg.solve(b[kept], b.T).T * b).sum(axis=1), 0.0)
        v = find_farthest(distance, candidates, kept, n_anchors)
        if v != anchors[k]:
            anchors[k] = v
            inner[:, k] = words.inner(v)
    return anchors


def successive_nonnegative_projection(words: WordVectors, n_anchors: int, candidates: Mask) -> list[int]:
    """SNPA (Gillis 2014): as SPA, but the distance is to the convex hull of the anchors and the origin."""
    anchors: list[int] = []
    inner = np.zeros((len(words.squares), 1))  # the origin is the first vertex
    h = np.ones((len(words.squares), 1))
    distance = words.squares.copy()
    for k in range(1, n_anchors + 1):
        v = find_farthest(distance, candidates & (distance > DISTANCE_FLOOR * words.squares), anchors, n_anchors)
        anchors.append(v)
        inner = np.column_stack([inner, words.inner(v)])
        gram = np.zeros((k + 1, k + 1))
        gram[1:, 1:] = (inner[anchors, 1:] + inner[anchors, 1:].T) / 2
        h = np.column_stack([h, np.zeros(len(h))])
        # Words that the new vertex is not closer to keep their nearest point.
        gradient = h @ gram - inner
        closer = gradient[:, -1] < (gradient * h).sum(axis=1)
        h[closer], distance[closer] = find_nearest_in_simplex(gram, inner[closer], words.squares[closer])
    return anchors


def extreme_ray(words: WordVectors, n_anchors: int, candidates: Mask) -> list[int]:
    """XRAY (Kumar et al. 2013), selection rule "max", on the rows of P without scaling."""
    words = words.to_unscaled()
    anchors: list[int] = []
    inner = h = np.empty((len(words.squares), 0))
    sums = np.where(words.weight > 0, words.weight, np.inf)
    rest = words.squares.copy()
    for _ in range(n_anchors):
        # The word i with the largest residual r to the cone of the anchors points to the next: max ⟨r, x_v⟩ / (1·x_v).
        i = find_farthest(rest, rest > DISTANCE_FLOOR * words.squares, anchors, n_anchors)
        v = find_farthest((words.inner(i) - inner @ h[i]) / sums, candidates, anchors, n_anchors)
        anchors.append(v)
        inner = np.column_stack([inner, words.inner(v)])
        gram = inner[anchors]
        h = solve_nnls((gram + gram.T) / 2, inner)
        rest = np.maximum(words.squares - (h * inner).sum(axis=1), 0.0)
    return anchors
