"""The cone of the identifiability theorem, cut at sum one: {x : Cx ≥ 0, 1·x = 1} for topics C (V, F).

A point x of it is a mixture of topics, weights of either sign, that is again a probability mass function: Cx. The
unit vectors are the topics themselves. The columns of C must sum to one, since the paper's condition and its volume
are stated for such; scaling words (rows) changes nothing, scaling topics (columns) does.
"""

from __future__ import annotations

import numpy as np

from anchorless._core.lp.simplex import SimplexSolver
from anchorless._corpus.documents import Array

#: A word whose probabilities add up to less than this share of the most frequent word's is rounding error.
ROW_FLOOR = 1e-12
#: A probability below this share of the word's largest is a zero with rounding error.
ZERO_TOLERANCE = 1e-9
#: Topics whose smallest singular value is below this share of the largest are linearly dependent.
RANK_TOLERANCE = 1e-9
#: How far linear programs look.
MAX_RADIUS = 1e3
#: How far a norm may be from one, or a point from another, and still be called the same.
NORM_TOLERANCE = 1e-9


class Cone:
    """{x : Cx ≥ 0, 1·x = 1}, with linear programs over it.

    `C` (V, F) are the topics as given, columns of sum one; `words` (n, F) its rows that count, without rounding errors
    in place of zeros; `rows` the same, each scaled to sum one.
    """

    def __init__(self, C: Array) -> None:
        total = C.sum(axis=1)
        self.kept = total > ROW_FLOOR * total.max()
        self.C = C
        rows = C[self.kept]
        rows = np.where(rows > ZERO_TOLERANCE * rows.max(axis=1, keepdims=True), rows, 0.0)
        self.words = rows
        self.rows = np.ascontiguousarray(rows / rows.sum(axis=1, keepdims=True))
        self.n_topics = C.shape[1]
        self.centre = np.full(self.n_topics, 1.0 / self.n_topics)
        _, sizes, directions = np.linalg.svd(np.linalg.qr(C, mode="r"), full_matrices=True)
        n_found = int(np.count_nonzero(sizes > RANK_TOLERANCE * sizes[0]))
        self.null_vector = None if n_found == self.n_topics else orient_null_vector(directions[-1])
        # Cx ≥ 0 with sum one has a length of at most one, so x has at most the length 1/σ and the box does not bind.
        # Topics that are nearly dependent reach further, where rounding errors would be larger than solvers'
        # tolerances; the box cuts them off where they are far too long already.
        self.radius = max(min(2.0 / max(float(sizes[-1]), 1e-300), MAX_RADIUS), float(self.n_topics))
        self._programs: SimplexSolver | None = None

    @property
    def solver(self) -> SimplexSolver:
        """Return the solver of linear programs over the cut, which has an end where the topics are independent."""
        if self._programs is None:
            self._programs = SimplexSolver(self.rows, np.ones(self.n_topics), self.radius)
        return self._programs

    def move_inside(self, x: Array) -> Array:
        """Return x (F,) moved to the centre by as little as makes Cx ≥ 0: solvers have tolerances, witnesses none."""
        return move_inside(self.C[self.kept], x / x.sum())

    def is_unit_vector(self, x: Array) -> bool:
        """Tell whether x is a unit vector, that is, one of the topics."""
        f = int(x.argmax())
        return float(abs(x - np.eye(self.n_topics)[f]).max()) <= 1e-7


def orient_null_vector(last: Array) -> Array:
    """Return the direction (F,) along which a point moves without any change of Cx; its largest entry is positive."""
    last = last - last.mean()  # 1·x = 1ᵀCx, so the sum is zero but for rounding
    return last if last.max() >= -last.min() else -last


def move_inside(C: Array, x: Array) -> Array:
    """Return (1 − η)x + η/F with the least η for which C times it is nonnegative; C ≥ 0 (V, F) has no zero rows."""
    eta = 0.0
    centre = np.full(len(x), 1.0 / len(x))
    middle = C @ centre
    while eta < 1.0:
        moved = (1.0 - eta) * x + eta * centre
        values = C @ moved
        if values.min() >= 0.0:
            return moved
        # The product has a rounding error of its own, so the least step alone might never do.
        out = np.maximum(-values, 0.0)
        eta = max(eta + float((out / (middle + out)).max()), 2.0 * eta, 1e-16)
    return centre
