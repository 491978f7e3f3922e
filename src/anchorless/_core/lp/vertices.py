"""Vertices of {x : Gx ≥ h, s·x = total}, the edges at a vertex, and primal pivots from one vertex to the next.

A vertex is given by F − 1 tight rows and s·x = total. The columns of the F × F inverse of these rows are the edges: a
pivot leaves one tight row along its edge until another row becomes tight. A fit makes up to several hundred thousand
pivots, and most of their cost is the calls from Python: so buffers are allocated once, and BLAS updates in place.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg.blas import daxpy, dger, saxpy

from anchorless._core.lp.polytope import FEASIBILITY_TOLERANCE, Positions
from anchorless._corpus.documents import Array

Floats = npt.NDArray[np.floating[Any]]

#: How far a row may be violated to reach a larger pivot: a tenth of what counts as feasible.
STEP_TOLERANCE = 0.1 * FEASIBILITY_TOLERANCE
#: For an objective of length one, an edge that gains no more than this per length does not rise.
GAIN_TOLERANCE = 1e-11
#: A pivot smaller than this, for rows of length one, is rounding error.
MIN_PIVOT = 1e-9
#: The same limits in single precision. A stage that ends outside the polytope is repeated in double precision.
STEP_TOLERANCE_SINGLE = 1e-8
MIN_PIVOT_SINGLE = 1e-5
#: A row whose pivot is smaller than this, for rows and edges of length one, gives way to a near row with a larger one.
MIN_ANGLE = 1e-3
#: An inverse with an error of at most this is improved by one step of Newton's method; a worse one is recomputed.
NEWTON_LIMIT = 1e-7


class PivotingError(Exception):
    """A pivot is rounding error, or the pivots do not end; the program is solved from another start."""


class SimplexVertex:
    """A vertex over the working set: its tight rows, their inverse and the point x (F,)."""

    def __init__(self, tight: Positions, X: Array, x: Array, n_updates: int = 0) -> None:
        self.tight = tight  # (F,), positions in the rows of Gx ≥ h; tight[0] stands for s·x = total
        self.X = X  # (F, F), in Fortran order, the inverse of these rows: column j is the edge that leaves row j alone
        self.x, self.n_updates = x, n_updates  # pivots since the inverse was computed
        self.infeasibility = np.nan  # the largest violation of a row, known once the vertex has answered a program
        self.slack: Array | None = None  # Gx − h, if known

    def fork(self) -> SimplexVertex:
        """Return a vertex to pivot from while this one stays: primal pivots copy the arrays that they change."""
        vertex = SimplexVertex(self.tight, self.X, self.x, self.n_updates)
        vertex.slack = self.slack
        return vertex

    def recompute_inverse(self, T: Array) -> None:
        """Compute the inverse of the tight rows T, by one step of Newton's method where that suffices."""
        if self.X.shape == T.shape:
            error = T @ self.X
            error.ravel()[:: len(T) + 1] -= 1.0
            if abs(error).max() <= NEWTON_LIMIT:
                self.X, self.n_updates = np.asfortranarray(self.X - self.X @ error), 0
                return
        self.X, self.n_updates = np.asfortranarray(np.linalg.inv(T)), 0

    def is_optimal(self, a: Array) -> bool:
        """Tell whether no edge rises for an objective a of length one."""
        gain = a.dot(self.X)
        gain[0] = -1.0
        j = int(gain.argmax())
        # Along an edge its own row, of length one, changes at a rate of one; so the edge has at least length one.
        if gain[j] <= GAIN_TOLERANCE:
            return True
        if gain[j] > GAIN_TOLERANCE * np.linalg.norm(self.X[:, j]):
            return False
        return bool((gain <= GAIN_TOLERANCE * np.linalg.norm(self.X, axis=0)).all())

    def pivot(self, i: int, j: int, edge: Array, multiples: Array) -> None:
        """Replace the tight row in position j by row i; `multiples` come from `compute_pivot_multiples`."""
        dger(-1.0, edge, multiples, a=self.X, overwrite_a=1)
        self.tight[j] = i
        self.n_updates += 1
        self.slack = None


class VertexCache:
    """Vertices that answered programs, as starts for later ones; a new one replaces the least recently used."""

    def __init__(self, capacity: int, n_dims: int) -> None:
        self.vertices: list[SimplexVertex] = []
        self._points = np.zeros((capacity, n_dims))
        self._last_use = np.zeros(capacity, dtype=np.int64)

    def best_known_value(self, a: Array) -> float:
        """Return the largest a·x, −∞ if the cache is empty."""
        return float(np.dot(self._points[: len(self.vertices)], a).max(initial=-np.inf))

    def find_best(self, a: Array) -> int | None:
        """Return the place of the vertex with the largest a·x."""
        return int(np.dot(self._points[: len(self.vertices)], a).argmax()) if self.vertices else None

    def rank(self, a: Array) -> list[int]:
        """Return the places of all vertices, those with the largest a·x first."""
        return [int(place) for place in np.argsort(-(self._points[: len(self.vertices)] @ a), kind="stable")]

    def keep(self, vertex: SimplexVertex, place: int | None, program: int) -> None:
        """Store the answer of a program, or note the use of the one stored at `place`."""
        if place is None:
            place = len(self.vertices)
            if place < len(self._points):
                self.vertices.append(vertex)
            else:
                place = int(self._last_use.argmin())
                self.vertices[place] = vertex
            self._points[place] = vertex.x
        self._last_use[place] = program


class RatioTestRows(NamedTuple):
    """Rows among which a stage looks for the one that blocks a step."""

    rows: Floats  # (m, F), in double or single precision
    slack: Array  # (m,), at the start of the stage
    positions: Positions | None = None  # (m,), in the working set; None if they are all of it


def run_primal_pivots(
    a: Array, vertex: SimplexVertex, G: Array, tested: RatioTestRows, n_pivots: int
) -> tuple[bool, SimplexVertex]:
    """Pivot along steepest edges until `tested` rows of G block; return whether none rises, and the last vertex."""
    # The point x of the returned vertex is still that of the start: its tight rows tell where it is.
    pivots = PrimalPivots(a, vertex, tested)
    tight, positions = vertex.tight.tolist(), tested.positions
    at_optimum, n = False, 0
    while n < n_pivots:
        j = pivots.find_steepest_edge()
        if j is None:
            at_optimum = True
            break
        edge = pivots.X[:, j].copy()
        i = pivots.step_along(edge, pivots.squares.item(j) ** 0.5)
        tight[j] = i = i if positions is None else positions.item(i)
        pivots.replace_row(j, edge, G[i])
        n += 1
    return at_optimum, SimplexVertex(np.array(tight, dtype=np.intp), pivots.X, vertex.x, vertex.n_updates + n)


class PrimalPivots:
    """What a stage of pivots updates: edges X (F, F), their gains and squared lengths (F,), and the slack (m,)."""

    def __init__(self, a: Array, vertex: SimplexVertex, tested: RatioTestRows) -> None:
        n_dims, precision = len(a), tested.rows.dtype
        self.X = vertex.X.copy(order="F")
        self.gain, self.squares = a.dot(self.X), np.einsum("ij,ij->j", self.X, self.X)
        self.squares[0] = np.inf  # the edge that leaves s·x = total is never the steepest
        self._rows = tested.rows
        double = precision == np.float64
        self._tolerance, self._axpy = (STEP_TOLERANCE, daxpy) if double else (STEP_TOLERANCE_SINGLE, saxpy)
        # The slack includes the step tolerance, so that none is zero.
        self._slack = (np.maximum(tested.slack, 0.0) + self._tolerance).astype(precision)
        self._change, self._ratio = np.empty_like(self._slack), np.empty_like(self._slack)
        self._least = np.full_like(self._slack, self._tolerance)
        self._score, self._row, self._cosines, self._ones = (*np.empty((3, n_dims)), np.ones(n_dims))

    def find_steepest_edge(self) -> int | None:
        """Return the edge that gains most per length, None if none rises."""
        np.sqrt(self.squares, self._score)
        np.divide(self.gain, self._score, self._score)
        j = int(self._score.argmax())
        return j if self._score.item(j) > GAIN_TOLERANCE else None

    def step_along(self, edge: Array, length: float) -> int:
        """Move along an edge of this length until a row blocks the step; return the row."""
        slack, change, ratio = self._slack, self._change, self._ratio
        self._rows.dot(edge.astype(slack.dtype), change)
        np.divide(change, slack, ratio)
        i = int(ratio.argmin())
        if change.item(i) > -MIN_ANGLE * length:
            i = choose_blocking_row(slack, change, ratio, length)
        step = (self._tolerance - slack.item(i)) / change.item(i)
        if step > 0.0:
            self._axpy(change, slack, a=step)
            np.maximum(slack, self._least, out=slack)
        return i

    def replace_row(self, j: int, edge: Array, new: Array) -> None:
        """Update edges, gains and squared lengths for row `new` (F,) in place of the one that edge j leaves."""
        X, row, cosines, square = self.X, self._row, self._cosines, self.squares.item(j)
        new.dot(X, row)
        edge.dot(X, cosines)
        pivot = row.item(j)
        row[j] = pivot - 1.0  # row / pivot is now what `compute_pivot_multiples` returns
        daxpy(row, self.gain, a=-self.gain.item(j) / pivot)
        daxpy(row, cosines, a=-0.5 * square / pivot)
        cosines *= row
        daxpy(cosines, self.squares, a=-2.0 / pivot)
        self.squares[j] = square / pivot**2
        # An edge has at least length one (see `is_optimal`), but updates can round below that.
        np.maximum(self.squares, self._ones, out=self.squares)
        dger(-1.0 / pivot, edge, row, a=X, overwrite_a=1)


def choose_blocking_row(slack: Floats, change: Floats, ratio: Floats, length: float) -> int:
    """Return the row with the largest pivot of those that block a step within the tolerance of the first."""
    # `slack` > 0 includes the tolerance; `ratio` is change / slack, and is overwritten.
    single = slack.dtype == np.float32
    tolerance, min_pivot = (STEP_TOLERANCE_SINGLE, MIN_PIVOT_SINGLE) if single else (STEP_TOLERANCE, MIN_PIVOT)
    i = int(ratio.argmin())
    steepest = ratio.item(i)
    if not steepest < 0.0:
        raise PivotingError  # no row blocks the step, although the box is among the rows
    np.multiply(change, -1.0 / steepest, out=ratio)
    ratio += slack
    reached = (ratio <= tolerance).nonzero()[0]
    i = int(reached[change[reached].argmin()]) if len(reached) else i
    if change[i] > -min_pivot * length:
        raise PivotingError
    return i


def choose_dual_edge(gain: Array, row: Array) -> int:
    """Return the edge that reduces a violation at the least loss; of those that tie, the one with the largest pivot."""
    usable = row > MIN_PIVOT
    usable[0] = False
    if not usable.any():
        raise PivotingError  # the polytope is empty, or looks so because of rounding
    loss = np.where(usable, -gain, np.inf)
    bound = float(((loss + GAIN_TOLERANCE) / np.where(usable, row, 1.0)).min())
    tied = (loss <= bound * row).nonzero()[0]
    if len(tied) == 0:
        raise PivotingError  # the losses are NaN, or so large that the bound rounds below them
    return int(tied[row[tied].argmax()])


def compute_pivot_multiples(row: Array, j: int) -> Array:
    """Return (row − eⱼ) / rowⱼ, in place: the multiples of edge j to subtract from each edge for a new tight row."""
    pivot = row.item(j)
    row[j] = pivot - 1.0
    row /= pivot
    return row
