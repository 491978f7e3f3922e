"""Anchor words: words whose co-occurrence vectors span those of all other words by convex combinations.

Every rule is a greedy search that needs only inner products between the words' co-occurrence vectors x_v; those with
one word cost two products with P. P itself, V × V, is never stored.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anchorless._core.cooccurrence import Cooccurrence
from anchorless._core.nnls import solve_nnls
from anchorless._core.recover import find_nearest_in_simplex
from anchorless._corpus.documents import Array
from anchorless.errors import RankError

Indices = npt.NDArray[np.int64]
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


class AnchorSearch(NamedTuple):
    """The words that a greedy search may select, and when it must stop."""

    candidates: Mask
    floor: Array  # (V,), the largest distance of each word that can be rounding error
    n_anchors: int

    def find_farthest(self, distance: Array, found: list[int]) -> int:
        """Return the candidate at the largest distance (V,) that is not among those found."""
        outside = self.candidates & (distance > self.floor)
        outside[found] = False
        if not outside.any():
            raise RankError(
                f"only {len(found)} anchor words can be found",
                parameter="n_components",
                value=self.n_anchors,
                limit=len(found),
                remedy="lower {n_components} or {min_df}",
            )
        return int(np.argmax(np.where(outside, distance, -np.inf)))


def create_search(words: WordVectors, candidates: Mask, n_anchors: int) -> AnchorSearch:
    """Return a search over distances that start at the words' squares."""
    return AnchorSearch(candidates, DISTANCE_FLOOR * words.squares, n_anchors)


def successive_projection(words: WordVectors, n_anchors: int, candidates: Mask) -> list[int]:
    """SPA (Algorithm 1 of the paper): select the longest vector, project all vectors away from it, and repeat.

    In this recursive form, squared lengths fall by the square of one new coordinate per anchor.
    """
    anchors: list[int] = []
    coordinates = np.zeros((len(words.squares), n_anchors))
    rest = words.squares
    search = create_search(words, candidates, n_anchors)
    for k in range(n_anchors):
        v = search.find_farthest(rest, anchors)
        new = words.inner(v) - coordinates[:, :k] @ coordinates[v, :k]
        coordinates[:, k] = new / np.sqrt(rest[v])
        rest = rest - coordinates[:, k] ** 2
        anchors.append(v)
    return anchors


def fast_anchor(words: WordVectors, n_anchors: int, candidates: Mask) -> list[int]:
    """FastAnchorWords (Arora et al. 2013), without the random projection: SPA, then a second round.

    In the second round every anchor is replaced by the word farthest from the span of the other anchors.
    """
    anchors = successive_projection(words, n_anchors, candidates)
    any_distance = AnchorSearch(candidates, np.full(len(candidates), -np.inf), n_anchors)
    inner = np.column_stack([words.inner(v) for v in anchors])
    for k in range(n_anchors):
        others = [j for j in range(n_anchors) if j != k]
        distance = compute_span_distance(
            words.squares, inner[:, others], inner[np.ix_([anchors[j] for j in others], others)]
        )
        v = any_distance.find_farthest(distance, [anchors[j] for j in others])
        if v != anchors[k]:
            anchors[k] = v
            inner[:, k] = words.inner(v)
    return anchors


def compute_span_distance(squares: Array, inner: Array, gram: Array) -> Array:
    """Return the squared distance of every word to the span of the anchors (V,): ‖x‖² − bᵀG⁻¹b."""
    if inner.shape[1] == 0:
        return squares
    return np.maximum(squares - (np.linalg.solve(gram, inner.T).T * inner).sum(axis=1), 0.0)


def successive_nonnegative_projection(words: WordVectors, n_anchors: int, candidates: Mask) -> list[int]:
    """SNPA (Gillis 2014): as SPA, but the distance is to the convex hull of the anchors and the origin."""
    anchors: list[int] = []
    inner = np.zeros((len(words.squares), 1))  # the origin is the first corner
    h = np.ones((len(words.squares), 1))
    distance = words.squares.copy()
    search = create_search(words, candidates, n_anchors)
    for _ in range(n_anchors):
        v = search.find_farthest(distance, anchors)
        anchors.append(v)
        inner = np.column_stack([inner, words.inner(v)])
        gram = compute_hull_gram(inner, anchors)
        h = np.column_stack([h, np.zeros(len(h))])
        # Words that the new corner is not closer to keep their nearest point.
        gradient = h @ gram - inner
        closer = gradient[:, -1] < (gradient * h).sum(axis=1)
        fit = find_nearest_in_simplex(gram, inner[closer], words.squares[closer])
        h[closer], distance[closer] = fit.h, fit.distance
    return anchors


def compute_hull_gram(inner: Array, anchors: list[int]) -> Array:
    """Return the inner products of the origin and the anchors."""
    gram = np.zeros((len(anchors) + 1, len(anchors) + 1))
    gram[1:, 1:] = inner[anchors, 1:]
    return (gram + gram.T) / 2


def extreme_ray(words: WordVectors, n_anchors: int, candidates: Mask) -> list[int]:
    """XRAY (Kumar et al. 2013), selection rule "max", on the rows of P without scaling.

    Residuals are to the cone of the anchors. The word i with the largest residual r_i points to the anchor:
    the word v with the largest ⟨r_i, x_v⟩ / (1·x_v).
    """
    words = words.to_unscaled()
    anchors: list[int] = []
    inner = np.empty((len(words.squares), 0))
    sums = np.where(words.weight > 0, words.weight, np.inf)
    rest, h = words.squares.copy(), np.empty((len(words.squares), 0))
    all_words = create_search(words, words.squares > 0, n_anchors)
    any_distance = AnchorSearch(candidates, np.full(len(candidates), -np.inf), n_anchors)
    for _ in range(n_anchors):
        i = all_words.find_farthest(rest, anchors)
        along = words.inner(i) - inner @ h[i]
        v = any_distance.find_farthest(along / sums, anchors)
        anchors.append(v)
        inner = np.column_stack([inner, words.inner(v)])
        gram = inner[anchors]
        h = solve_nnls((gram + gram.T) / 2, inner)
        rest = np.maximum(words.squares - (h * inner).sum(axis=1), 0.0)
    return anchors
