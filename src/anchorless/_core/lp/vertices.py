"""Vertices of {x : Gx ≥ h, s·x = total} and the steps between them: what a walk is made of.

A vertex is F − 1 tight rows and s·x = total with the F × F inverse of these: its columns are the edges. A step
leaves one tight row along its edge until it meets another row. Steps are called from Python a hundred thousand
times in a fit, so that a call saved here is time saved: what can be updated is not computed, what is needed only
at the end of a stage is left until then.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg.blas import daxpy, dger, saxpy

from anchorless._core.lp.polytope import FEASIBILITY_TOLERANCE
from anchorless._corpus.documents import Array

Positions = npt.NDArray[np.intp]
Floats = npt.NDArray[np.floating[Any]]

#: How far a row may be overstepped to reach a better pivot: a tenth of what is called feasible.
STEP_TOLERANCE = 0.1 * FEASIBILITY_TOLERANCE
#: An edge that gains no more than this per length, for an objective of length one, is level.
GAIN_TOLERANCE = 1e-11
#: A pivot smaller than this, for rows of length one, is rounding error.
MIN_PIVOT = 1e-9
#: The same in single precision, where an end of the walk that lies outside is found and walked again in double.
STEP_TOLERANCE_SINGLE = 1e-8
MIN_PIVOT_SINGLE = 1e-5
#: A row met at less than this, for rows and edges of length one, is left for one met more squarely if there is one.
MIN_ANGLE = 1e-3
#: An inverse no further off than this is improved by a product; a worse one is computed afresh.
NEWTON_LIMIT = 1e-7


class PivotingError(Exception):
    """A walk met a pivot that is rounding error, or did not end: HiGHS shall decide."""


class SimplexVertex:
    """A vertex of the working set: its tight rows, the inverse of these and the point.

    `tight` (F,) are positions in the rows G x ≥ h; tight[0] stands for s·x = total. `X` (F, F) is the inverse
    of the tight rows, stored by columns: column j is the edge along which row j alone comes loose. `age` counts
    the pivots since the inverse was exact. `infeasibility` is the largest violation of a row that x was found to
    have, and `slack` how far x is inside each row of the working set, None where no one has looked.
    """

    def __init__(self, tight: Positions, X: Array, x: Array, age: int = 0) -> None:
        self.tight, self.X, self.x, self.n_updates = tight, X, x, age
        self.infeasibility: float | None = None
        self.slack: Array | None = None

    def start(self) -> SimplexVertex:
        """Return a corner that can walk on while this one stays: a walk leaves the arrays of its start as they are."""
        corner = SimplexVertex(self.tight, self.X, self.x, self.n_updates)
        corner.slack = self.slack
        return corner

    def assign_from(self, other: SimplexVertex) -> None:
        """Take the place of another corner."""
        self.tight, self.X, self.x, self.n_updates, self.slack = (
            other.tight,
            other.X,
            other.x,
            other.n_updates,
            other.slack,
        )

    def recompute_inverse(self, T: Array) -> None:
        """Compute the inverse of the tight rows T afresh, by a step of Newton's method where that suffices."""
        if self.X.shape == T.shape:
            missed = T @ self.X
            missed.ravel()[:: len(T) + 1] -= 1.0
            if abs(missed).max() <= NEWTON_LIMIT:
                self.X, self.n_updates = np.asfortranarray(self.X - self.X @ missed), 0
                return
        self.X, self.n_updates = np.asfortranarray(np.linalg.inv(T)), 0

    def is_optimal(self, a: Array) -> bool:
        """Tell whether no edge rises towards a, for an objective of length one."""
        gain = a.dot(self.X)
        gain[0] = -1.0
        j = int(gain.argmax())
        # An edge meets its own row of length one at a rate of one, so it is no shorter than that.
        if gain[j] <= GAIN_TOLERANCE:
            return True
        if gain[j] > GAIN_TOLERANCE * np.linalg.norm(self.X[:, j]):
            return False
        return bool((gain <= GAIN_TOLERANCE * np.linalg.norm(self.X, axis=0)).all())

    def pivot(self, i: int, j: int, edge: Array, row: Array) -> None:
        """Let row i be tight in place of the row in position j; `row` as from `compute_pivot_multiples`."""
        dger(-1.0, edge, row, a=self.X, overwrite_a=1)
        self.tight[j] = i
        self.n_updates += 1
        self.slack = None


class VertexCache:
    """Corners that were answers, as starts for later programs: the one not used for longest makes room for a new."""

    def __init__(self, room: int, n_dims: int) -> None:
        self.corners: list[SimplexVertex] = []
        self._points = np.zeros((room, n_dims))
        self._last_use = np.zeros(room, dtype=np.int64)

    def reached(self, a: Array) -> float:
        """Return the largest a·x, −∞ if there is no corner."""
        return float(np.dot(self._points[: len(self.corners)], a).max(initial=-np.inf))

    def find_best(self, a: Array) -> int | None:
        """Return the place of the corner with the largest a·x."""
        return int(np.dot(self._points[: len(self.corners)], a).argmax()) if self.corners else None

    def keep(self, corner: SimplexVertex, place: int | None, now: int) -> None:
        """Note that the corner was the answer of program `now`; its place, if it has one."""
        if place is None:
            place = len(self.corners)
            if place < len(self._points):
                self.corners.append(corner)
            else:
                place = int(self._last_use.argmin())
                self.corners[place] = corner
            self._points[place] = corner.x
        self._last_use[place] = now


class RatioTestRows(NamedTuple):
    """The rows that a walk looks at: all of the working set, or the nearest; in double precision, or in single."""

    rows: Floats  # (m, F)
    slack: Array  # (m,): how far inside each of them the walk starts
    positions: Positions | None = None  # (m,) in the working set, None for all of it


def run_primal_pivots(
    a: Array, corner: SimplexVertex, G: Array, sight: RatioTestRows, n_pivots: int
) -> tuple[bool, SimplexVertex]:
    """Walk up to n_pivots along the steepest edges, with regard to the rows in sight of the working set G.

    Return whether no edge rises any more, and the corner at the end, but for its point: its tight rows say where it is.
    """
    n_dims = len(a)
    X = corner.X.copy(order="F")
    gain, squares = a.dot(X), np.einsum("ij,ij->j", X, X)
    squares[0] = np.inf  # the edge that leaves s·x = total is never the steepest
    score, row, turn, one = np.empty(n_dims), np.empty(n_dims), np.empty(n_dims), np.ones(n_dims)
    rows, positions, kind = sight.rows, sight.positions, sight.rows.dtype
    overstep, axpy = (STEP_TOLERANCE, daxpy) if kind == np.float64 else (STEP_TOLERANCE_SINGLE, saxpy)
    # Slacks are kept with the overstep added, so that none is zero.
    slack = (np.maximum(sight.slack, 0.0) + overstep).astype(kind)
    change, ratio, least = np.empty_like(slack), np.empty_like(slack), np.full_like(slack, overstep)
    tight, n = corner.tight.tolist(), 0
    arrived = False
    while n < n_pivots:
        np.sqrt(squares, score)
        np.divide(gain, score, score)
        j = int(score.argmax())
        if score.item(j) <= GAIN_TOLERANCE:
            arrived = True
            break
        square = squares.item(j)
        edge = X[:, j].copy()
        rows.dot(edge.astype(kind), change)
        np.divide(change, slack, ratio)
        i = int(ratio.argmin())
        if change.item(i) > -MIN_ANGLE * square**0.5:
            i = choose_blocking_row(slack, change, ratio, square**0.5)
        step = (overstep - slack.item(i)) / change.item(i)
        if step > 0.0:
            axpy(change, slack, a=step)
            np.maximum(slack, least, out=slack)
        tight[j] = i = i if positions is None else positions.item(i)
        G[i].dot(X, row)
        edge.dot(X, turn)
        pivot = row.item(j)
        row[j] = (
            pivot - 1.0
        )  # row / pivot is as from `compute_pivot_multiples`: the division is left to the factors of what follows
        daxpy(row, gain, a=-gain.item(j) / pivot)
        daxpy(row, turn, a=-0.5 * square / pivot)
        turn *= row
        daxpy(turn, squares, a=-2.0 / pivot)
        squares[j] = square / pivot**2
        # An edge meets its row of length one at a rate of one, so it is no shorter; updates can round below that.
        np.maximum(squares, one, out=squares)
        dger(-1.0 / pivot, edge, row, a=X, overwrite_a=1)
        n += 1
    return arrived, SimplexVertex(np.array(tight, dtype=np.intp), X, corner.x, corner.n_updates + n)


def choose_blocking_row(slack: Floats, change: Floats, ratio: Floats, length: float) -> int:
    """Return the row that stops a step along an edge of this length, where the first one is met at a small angle.

    It is that met most squarely of those within the overstep of the first. `slack` > 0 includes the overstep,
    `ratio` is change / slack, and scratch space.
    """
    single = slack.dtype == np.float32
    overstep, smallest = (STEP_TOLERANCE_SINGLE, MIN_PIVOT_SINGLE) if single else (STEP_TOLERANCE, MIN_PIVOT)
    i = int(ratio.argmin())
    steepest = ratio.item(i)
    if not steepest < 0.0:
        raise PivotingError  # the box stops every step
    np.multiply(change, -1.0 / steepest, out=ratio)
    ratio += slack
    met = (ratio <= overstep).nonzero()[0]
    i = int(met[change[met].argmin()]) if len(met) else i
    if change[i] > -smallest * length:
        raise PivotingError
    return i


def choose_dual_edge(gain: Array, row: Array) -> int:
    """Return the edge that leads back to a violated row at the least loss per progress, ties to the larger pivot."""
    usable = row > MIN_PIVOT
    usable[0] = False
    if not usable.any():
        raise PivotingError  # the polytope is empty, or rounding says so
    loss = np.where(usable, -gain, np.inf)
    bound = float(((loss + GAIN_TOLERANCE) / np.where(usable, row, 1.0)).min())
    tied = (loss <= bound * row).nonzero()[0]
    if len(tied) == 0:
        raise PivotingError  # the losses are not numbers, or so large that the bound rounds below them
    return int(tied[row[tied].argmax()])


def compute_pivot_multiples(row: Array, j: int) -> Array:
    """Return (row − eⱼ) / rowⱼ: the multiples of edge j that are taken from each edge when `row` becomes tight."""
    pivot = row.item(j)
    row[j] = pivot - 1.0
    row /= pivot
    return row
