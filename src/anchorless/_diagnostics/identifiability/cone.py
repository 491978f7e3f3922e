"""The cone of the identifiability theorem, cut at sum one: {x : Cx ≥ 0, 1·x = 1} for topics C (V, F).

A point x of this polytope is a mixture of topics, with weights of either sign, that is again a probability mass
function: Cx. The unit vectors are the topics themselves. The columns of C must sum to one, because the paper states
its condition and its volume for such columns. Scaling a word (row) does not change the cone; scaling a topic (column)
does.
"""

from __future__ import annotations

from fractions import Fraction

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
        self.C = C
        rows = C[self.used_words]
        rows = np.where(rows > ZERO_TOLERANCE * rows.max(axis=1, keepdims=True), rows, 0.0)
        self.words = rows
        self.rows = np.ascontiguousarray(rows / rows.sum(axis=1, keepdims=True))
        self.n_topics = C.shape[1]
        _, sizes, directions = np.linalg.svd(np.linalg.qr(C, mode="r"), full_matrices=True)
        rank = int(np.count_nonzero(sizes > RANK_TOLERANCE * sizes[0]))
        self.null_vector = None if rank == self.n_topics else orient_null_vector(directions[-1])
        # |Cx| ≤ 1 for Cx ≥ 0 with sum one, so |x| ≤ 1/σ and the box does not bind. Nearly dependent topics reach
        # further, where rounding errors exceed the solver's tolerances: there the box cuts off points that are much
        # too long anyway.
        self.radius = max(min(2.0 / max(float(sizes[-1]), 1e-300), MAX_RADIUS), float(self.n_topics))
        self._solver: SimplexSolver | None = None

    @property
    def solver(self) -> SimplexSolver:
        """The solver of linear programs over the polytope, which is bounded if the topics are independent."""
        if self._solver is None:
            self._solver = SimplexSolver(self.rows, np.ones(self.n_topics), self.radius)
        return self._solver

    def move_inside(self, x: Array) -> Array:
        """Move x (F,) toward the center until Cx ≥ 0 holds exactly: solvers have tolerances, witnesses none."""
        return move_inside(self.C[self.used_words], x / x.sum())

    def is_unit_vector(self, x: Array) -> bool:
        """Tell whether x (F,) is a unit vector, that is, one of the topics."""
        return bool(find_unit_vectors(x[None, :], UNIT_TOLERANCE)[0])


def orient_null_vector(direction: Array) -> Array:
    """Return a direction (F,) along which Cx does not change, with a positive largest entry."""
    direction = direction - direction.mean()  # 1·x = 1ᵀCx, so the sum is zero but for rounding
    return direction if direction.max() >= -direction.min() else -direction


def find_unit_vectors(X: Array, tolerance: float) -> npt.NDArray[np.bool_]:
    """Tell which rows of X (n, F) are unit vectors."""
    nearest = np.zeros_like(X)
    nearest[np.arange(len(X)), X.argmax(axis=1)] = 1.0
    return np.asarray(abs(X - nearest).max(axis=1) <= tolerance)


def move_inside(C: Array, x: Array) -> Array:
    """Return (1 − η)x + η/F with the least η for which C times it is nonnegative; C ≥ 0 (V, F) has no zero rows."""
    eta = 0.0
    center = np.full(len(x), 1.0 / len(x))
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


# A vertex whose norm is one within rounding: floats are fractions, so exact arithmetic can decide.


def is_exact_witness(rows: Array, x: Array) -> bool:
    """Tell whether the vertex at x (F,) of {rows·x ≥ 0, 1·x = 1} lies in it and has a norm of at least one.

    The vertex is where the rows (n, F) are tight that are tight at x within rounding. Return False also if this cannot
    be decided: these rows do not determine a point, or there are too many entries.
    """
    if rows.size > MAX_EXACT_ENTRIES:
        return False
    tight = rows[abs(rows @ x) <= 10 * NORM_TOLERANCE * rows.sum(axis=1)]
    point = solve_exactly([[*to_fractions(row), Fraction(0)] for row in tight], len(x))
    if point is None or sum(value * value for value in point) < 1:
        return False
    return all(sum(a * b for a, b in zip(to_fractions(row), point, strict=True)) >= 0 for row in rows)


def to_fractions(row: Array) -> list[Fraction]:
    """Return the numbers of a row as fractions, exactly."""
    return [Fraction(float(value)) for value in row]


def solve_exactly(equations: list[list[Fraction]], n_dims: int) -> list[Fraction] | None:
    """Solve 1·x = 1 and row·x = 0 by elimination; each row ends with its right side. None if x is not unique."""
    basis: list[tuple[int, list[Fraction]]] = []
    for equation in [[Fraction(1)] * (n_dims + 1), *equations]:
        row = equation
        for lead, pivot in basis:
            if row[lead]:
                row = [a - row[lead] * b for a, b in zip(row, pivot, strict=True)]
        lead = next((k for k in range(n_dims) if row[k]), -1)
        if lead < 0:
            if row[-1]:
                return None  # rows that are not tight together after all
            continue
        row = [a / row[lead] for a in row]
        basis = [(k, [a - other[lead] * b for a, b in zip(other, row, strict=True)]) for k, other in basis]
        basis.append((lead, row))
    if len(basis) < n_dims:
        return None
    values = {lead: row[-1] for lead, row in basis}
    return [values[k] for k in range(n_dims)]
