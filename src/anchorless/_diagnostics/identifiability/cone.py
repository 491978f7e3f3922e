"""The cone of the identifiability theorem, cut at sum one: {x : Cx ≥ 0, 1·x = 1} for topics C (V, F).

A point x of this polytope is a mixture of topics, with weights of either sign, that is again a distribution: Cx. The
unit vectors are the topics. The paper states its condition for columns of C that sum to one. Scaling a word (row) does
not change the cone; scaling a topic (column) does.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from anchorless._core.lp.simplex import SimplexSolver
from anchorless._corpus.documents import Array

#: A word whose probabilities add up to less than this share of the most frequent word's is rounding error.
ROW_FLOOR = 1e-12
#: A probability below this share of the word's largest is a zero with rounding error.
ZERO_TOLERANCE = 1e-9
#: Topics whose smallest singular value is below this share of the largest are linearly dependent.
RANK_TOLERANCE = 1e-9
#: Largest box in which linear programs are solved.
MAX_RADIUS = 1e3
#: Largest rounding error in the norm of a vertex, or in the distance of two points.
NORM_TOLERANCE = 1e-9
#: Largest distance from a unit vector of a vertex that a linear program returned.
UNIT_TOLERANCE = 1e-7
#: Largest number of entries in the rows for which a vertex is computed in fractions; more would take minutes.
MAX_EXACT_ENTRIES = 100_000


class Cone:
    """{x : Cx ≥ 0, 1·x = 1}, with linear programs over it.

    `C` (V, F) are the topics as given, with columns of sum one. `words` (n, F) are the rows of the words that are more
    than rounding error, with rounding errors in place of zeros removed; `rows` are the same rows, each of sum one.
    """

    def __init__(self, C: Array) -> None:
        total = C.sum(axis=1)
        self.used_words = total > ROW_FLOOR * total.max()
        self.C, self.n_topics = C, C.shape[1]
        rows = C[self.used_words]
        self.words = np.where(rows > ZERO_TOLERANCE * rows.max(axis=1, keepdims=True), rows, 0.0)
        self.rows = np.ascontiguousarray(self.words / self.words.sum(axis=1, keepdims=True))
        _, sizes, directions = np.linalg.svd(np.linalg.qr(C, mode="r"), full_matrices=True)
        self.null_vector: Array | None = None  # along which Cx does not change, with a positive largest entry
        if np.count_nonzero(sizes > RANK_TOLERANCE * sizes[0]) < self.n_topics:
            direction = directions[-1] - directions[-1].mean()  # 1·x = 1ᵀCx, so the sum is zero but for rounding
            self.null_vector = direction if direction.max() >= -direction.min() else -direction
        # |Cx| ≤ 1 for Cx ≥ 0 with sum one, so |x| ≤ 1/σ and the box does not bind. For nearly dependent topics, whose
        # rounding errors exceed the solver's tolerances, it cuts off points that are much too long anyway.
        self.radius = max(min(2.0 / max(float(sizes[-1]), 1e-300), MAX_RADIUS), float(self.n_topics))

    @cached_property
    def solver(self) -> SimplexSolver:
        """The solver of linear programs over the polytope, which is bounded if the topics are independent."""
        return SimplexSolver(self.rows, np.ones(self.n_topics), self.radius)

    def move_inside(self, x: Array) -> Array:
        """Move x (F,) toward the center until Cx ≥ 0 holds exactly: solvers have tolerances, witnesses none."""
        C, x = self.C[self.used_words], x / x.sum()
        eta, center = 0.0, np.full(len(x), 1.0 / len(x))
        middle = C @ center
        while eta < 1.0:
            moved = (1.0 - eta) * x + eta * center
            values = C @ moved
            if values.min() >= 0.0:
                return moved
            # The product has a rounding error of its own, so the least step alone might never be enough.
            outside = np.maximum(-values, 0.0)
            eta = max(eta + float((outside / (middle + outside)).max()), 2.0 * eta, 1e-16)
        return center


def find_unit_vectors(X: Array, tolerance: float = UNIT_TOLERANCE) -> npt.NDArray[np.bool_]:
    """Tell which rows of X (n, F) are unit vectors."""
    return np.asarray(abs(X - np.eye(X.shape[1])[X.argmax(axis=1)]).max(axis=1) <= tolerance)


def is_exact_witness(rows: Array, x: Array) -> bool:
    """Tell whether the vertex at x (F,) of {rows·x ≥ 0, 1·x = 1} lies in it and has a norm of at least one, exactly.

    Floats are fractions. The vertex is where the rows (n, F) are tight that are tight at x within rounding. Return
    False also if this cannot be decided: these rows do not determine a point, or there are too many entries.
    """
    if rows.size > MAX_EXACT_ENTRIES:
        return False
    to_fractions = np.vectorize(Fraction, otypes=[object])
    point = solve_exactly(to_fractions(rows[abs(rows @ x) <= 10 * NORM_TOLERANCE * rows.sum(axis=1)]))
    return point is not None and bool(point @ point >= 1 and (to_fractions(rows) @ point >= 0).all())


def solve_exactly(rows: npt.NDArray[np.object_]) -> npt.NDArray[np.object_] | None:
    """Solve 1·x = 1 and rows·x = 0, for fractions (n, F), by elimination. None if x is not unique."""
    n_dims = rows.shape[1]
    basis: dict[int, npt.NDArray[np.object_]] = {}  # equations with their right sides, by the entry they determine
    for equation in [np.full(n_dims + 1, Fraction(1)), *np.pad(rows, ((0, 0), (0, 1)))]:
        for k, other in basis.items():
            equation = equation - equation[k] * other
        new = next((k for k in range(n_dims) if equation[k]), None)
        if new is not None:
            equation = equation / equation[new]
            basis = {k: other - other[new] * equation for k, other in basis.items()} | {new: equation}
        elif equation[-1]:
            return None  # rows that are not tight together after all
    return np.array([basis[k][-1] for k in range(n_dims)]) if len(basis) == n_dims else None
