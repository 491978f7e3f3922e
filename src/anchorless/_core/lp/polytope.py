"""Maximize linear functions over {x : Ux ≥ 0, s·x = 1} with HiGHS; `SimplexSolver` is faster and falls back to it.

Only the objective differs between the programs of a fit. Each program is solved in its dual form, with F rows and one
column per word, over a working set of words that grows on demand: a new objective is a new right-hand side, so the
basis of any vertex found before is a warm start. Rows of U and s are scaled to length one.
"""

from __future__ import annotations

from typing import NamedTuple

import highspy
import numpy as np
import numpy.typing as npt

from anchorless._corpus.documents import Array
from anchorless.errors import InputError, SolverError

#: A row of U shorter than this share of the longest is rounding error: scaled up, it would be a random constraint.
ROW_FLOOR = 1e-12
#: How far a row of length one may be violated before it joins the working set.
FEASIBILITY_TOLERANCE = 1e-10
#: Violated rows that join the working set at once, in multiples of F.
ROWS_PER_ROUND = 4
#: Vertices kept as warm starts, in multiples of F.
KEPT_VERTICES = 4

Status = highspy.HighsBasisStatus
OPTIMAL = highspy.HighsModelStatus.kOptimal

Positions = npt.NDArray[np.intp]


class Vertex(NamedTuple):
    """A point x that maximizes a·x over the polytope, with its certificate."""

    x: Array
    value: float  # a·x
    infeasibility: float  # the largest violation of a unit-length row, 0 when none
    gap: float  # an upper bound on a·x* − a·x from the multipliers, relative to |a|; NaN if not asked for
    variance: float = 0.0  # of a·x, from the errors of the rows that are tight, as far as the solver was told of them


class SolverCounts(NamedTuple):
    """What the programs over a polytope have cost so far."""

    n_programs: int
    n_pivots: int
    n_rows: int  # words that ever joined the working set
    n_fallbacks: int = 0  # programs that pivots of our own could not solve, so that HiGHS did, at many times the cost


class Polytope:
    """{x : Ux ≥ 0, s·x = 1, |x| ≤ radius}: U is (V, F), s (F,).

    With orthonormal U, s = Uᵀ1 and all words among the rows, ‖x‖ ≤ ‖Ux‖₁ = 1 holds by itself: the box
    never binds, and it keeps every program bounded while only part of the rows are in the working set.
    """

    def __init__(self, U: Array, s: Array, radius: float = 1.0) -> None:
        lengths = np.linalg.norm(U, axis=1)
        self.kept = kept = lengths > ROW_FLOOR * lengths.max(initial=0.0)  # (V,)
        self.n_dims = U.shape[1]
        self.radius = radius
        self.rows = np.ascontiguousarray(U[kept] / lengths[kept, None])
        if np.linalg.norm(s) <= ROW_FLOOR * np.sqrt(len(U)):
            raise make_empty_error()
        self._total = 1.0 / np.linalg.norm(s)
        # The rows that a basis can make tight: first x = 0, for a row that the solver keeps basic at a degenerate
        # start; then the solver's columns: s, x ≤ r, −x ≤ r, and the working set.
        unit = np.eye(self.n_dims)
        self._tight = np.vstack([unit, s * self._total, unit, -unit])
        self._level = np.concatenate([np.zeros(self.n_dims), [self._total], np.full(2 * self.n_dims, radius)])
        self._working = np.zeros(len(self.rows), dtype=bool)
        self._bases: list[Positions] = []
        self._vertices = np.empty((0, self.n_dims))
        self._solver = self._create_solver()
        self.solver_counts = SolverCounts(0, 0, 0)

    def maximize(self, a: Array, *, certified: bool = True) -> Vertex:
        """Maximize a·x over the polytope."""
        size = np.linalg.norm(a)
        a = a / size
        self._set_objective(a)
        self._start_from_best_vertex(a)
        while True:
            basis = self._solve(a)
            # To full precision: the solver stops at its tolerance.
            A, b = self._tight[basis], self._level[basis]
            x = np.linalg.solve(A, b)
            x += np.linalg.solve(A, b - A @ x)
            slack = self.rows @ x
            new = select_violated(slack, self._working, self.n_dims)
            if len(new) == 0:
                break
            self._enlarge(new)
        kept = KEPT_VERTICES * self.n_dims
        self._bases, self._vertices = [*self._bases, basis][-kept:], np.vstack([self._vertices, x])[-kept:]
        infeasibility = max(0.0, -float(slack.min(initial=0.0)))
        return Vertex(x, float(size * (a @ x)), infeasibility, self._compute_gap(a, x, basis))

    def best_known_value(self, a: Array) -> float:
        """Return the largest a·x of the stored vertices, −∞ if there is none."""
        return float((self._vertices @ a).max(initial=-np.inf))

    def _create_solver(self) -> highspy.Highs:
        solver = highspy.Highs()  # type: ignore[no-untyped-call]
        solver.silent()
        for option in ("presolve", "parallel"):
            solver.setOptionValue(option, "off")
        for option in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
            solver.setOptionValue(option, FEASIBILITY_TOLERANCE)
        for _ in range(self.n_dims):
            solver.addRow(0.0, 0.0, 0, np.empty(0, dtype=np.int32), np.empty(0))
        add_columns(solver, self._tight[self.n_dims :], self._level[self.n_dims :], n_free=1)
        return solver

    def _set_objective(self, a: Array) -> None:
        for row, value in enumerate(a.tolist()):
            self._solver.changeRowBounds(row, value, value)

    def _start_from_best_vertex(self, a: Array) -> None:
        if not self._bases:
            return
        basis = self._bases[int(np.argmax(self._vertices @ a))]
        status = [Status.kLower] * len(self._level)
        status[self.n_dims] = Status.kZero  # the multiplier of s·x = 1 is free
        for position in basis:
            status[position] = Status.kBasic
        start = highspy.HighsBasis()
        start.row_status, start.col_status, start.valid = status[: self.n_dims], status[self.n_dims :], True
        self._solver.setBasis(start)

    def _solve(self, a: Array) -> Positions:
        """Run the solver over the working set and return its optimal basis: F positions in `_tight`."""
        for solver_is_new in (False, True):
            if solver_is_new:  # a warm start can fail where the same program from scratch does not
                self._solver = self._create_solver()
                self._set_objective(a)
            self._solver.run()
            counts = self.solver_counts
            n_pivots = counts.n_pivots + max(0, self._solver.getInfo().simplex_iteration_count)
            self.solver_counts = SolverCounts(counts.n_programs + 1, n_pivots, int(self._working.sum()))
            status = self._solver.getModelStatus()
            if status == OPTIMAL:
                found = self._solver.getBasis()
                return np.flatnonzero([state == Status.kBasic for state in (*found.row_status, *found.col_status)])
        if status == highspy.HighsModelStatus.kUnbounded:
            raise make_empty_error()
        raise SolverError(
            "a step of the fit could not be computed",
            remedy="change {n_components}, or remove documents that are nearly the same",
            details=f"a linear program ended as {self._solver.modelStatusToString(status)}",
        )

    def _enlarge(self, new: Positions) -> None:
        self._working[new] = True
        columns, costs = -self.rows[new], np.zeros(len(new))
        add_columns(self._solver, columns, costs, n_free=0)
        self._tight = np.vstack([self._tight, columns])
        self._level = np.concatenate([self._level, costs])

    def _compute_gap(self, a: Array, x: Array, basis: Positions) -> float:
        """Bound a·x* − a·x: any multipliers y ≥ 0 give a·x* ≤ level·y + ‖a − yᵀA‖·‖x*‖."""
        y = np.linalg.solve(self._tight[basis].T, a)
        y = np.where(basis == self.n_dims, y, np.maximum(y, 0.0))
        y[basis < self.n_dims] = 0.0
        missed = np.linalg.norm(a - y @ self._tight[basis]) * self.radius * np.sqrt(self.n_dims)
        return float(self._level[basis] @ y + missed - a @ x)


def select_violated(slack: Array, working: npt.NDArray[np.bool_], n_dims: int) -> Positions:
    """Return the most violated rows, by their slack (m,), of those that are not in the working set yet."""
    new = np.flatnonzero((slack < -FEASIBILITY_TOLERANCE) & ~working)
    return new[np.argsort(slack[new], kind="stable")[: ROWS_PER_ROUND * n_dims]]


def make_empty_error() -> InputError:
    """Return the error for an empty polytope: UM has no column that is a probability mass function."""
    return InputError(
        "no probabilities of words fit the co-occurrences, so there are no topics in them",
        remedy="change {n_components}; if you gave co-occurrences, check that they are not covariances",
        details="no combination of their leading eigenvectors is a probability mass function",
    )


def add_columns(solver: highspy.Highs, columns: Array, costs: Array, n_free: int) -> None:
    """Add dual variables: one per row of `columns` (m, F), the first `n_free` of any sign, the rest ≥ 0."""
    m, n_dims = columns.shape
    lower = np.zeros(m)
    lower[:n_free] = -highspy.kHighsInf
    starts = np.arange(0, m * n_dims, n_dims, dtype=np.int32)
    rows = np.tile(np.arange(n_dims, dtype=np.int32), m)
    solver.addCols(m, costs, lower, np.full(m, highspy.kHighsInf), m * n_dims, starts, rows, columns.ravel())
