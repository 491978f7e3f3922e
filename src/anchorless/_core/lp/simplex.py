"""Linear programs over {x : Ux ≥ 0, s·x = 1} by walking from vertex to vertex, HiGHS as fallback.

The polytope is the same for every program of a fit and only the objective changes, so every vertex met
before is a feasible start. A walk follows the edge that gains most per length (primal pivots) over a working
set of rows; rows found violated at its end join the set, and dual pivots lead back to the polytope.

A pivot costs one product of the nearest rows with a vector; called from Python, that is still several times
less than a pivot of a general solver that knows nothing of the polytope. Single precision is enough to choose
which row stops a step: the inverse is kept in double, the end of every stage is checked against all rows in
double, and a stage that single precision led astray is walked again in double. With many topics, stages are walked in
`compiled` loops where numba is there, and programs that do not wait for each other in threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from anchorless._core.lp.polytope import (
    FEASIBILITY_TOLERANCE,
    KEPT_VERTICES,
    ROWS_PER_ROUND,
    Polytope,
    SolverCounts,
    Vertex,
)
from anchorless._core.lp.vertices import (
    GAIN_TOLERANCE,
    MIN_ANGLE,
    MIN_PIVOT_SINGLE,
    STEP_TOLERANCE,
    STEP_TOLERANCE_SINGLE,
    PivotingError,
    Positions,
    RatioTestRows,
    SimplexVertex,
    VertexCache,
    choose_dual_edge,
    compute_pivot_multiples,
    run_primal_pivots,
)
from anchorless._corpus.documents import Array
from anchorless._corpus.threads import ThreadTeam

#: Up to this many rows per dimension all of them are in the working set from the start.
FULL_SET_ROWS_PER_DIM = 64
#: Pivots after which the inverse is computed afresh: rounding grows with every update.
PIVOTS_PER_INVERSE = 100
#: Pivots of a stage that looks at all rows, of one that looks at the nearest, and the share of these.
FULL_STAGE_PIVOTS = 50
NEAR_STAGE_PIVOTS = 15
NEAR_SHARE = 0.2
#: How often a stage is walked again with the rows that it missed before all rows are looked at.
NEAR_TRIALS = 3
#: Entries of the working set up to which single precision saves nothing, as they are near the processor anyway.
DOUBLE_ENTRIES = 30_000
#: Entries of the working set up to which looking at all of them costs less than choosing.
FEW_ENTRIES = 150_000
#: Topics from which on compiled loops pay for the time that it takes to load them.
MIN_COMPILED_DIMS = 60
#: Stages per dimension, or calls of compiled loops, in one walk before it is given up as going round in circles.
STAGE_LIMIT = 10
#: Dual pivots per dimension in one walk before it is given up as going round in circles.
PIVOT_LIMIT = 200


class StageResult(NamedTuple):
    """A part of a walk: whether no edge rises at its end, where that is, and how far inside each row."""

    at_optimum: bool
    end: SimplexVertex
    slack: Array


class Solution(NamedTuple):
    """The corner where a program ends, and its place among those that are kept, None if it is new."""

    corner: SimplexVertex
    infeasibility: float
    place: int | None


class SimplexSolver:
    """{x : Ux ≥ 0, s·x = 1, |x| ≤ radius}: the same polytope and answers as `Polytope`."""

    def __init__(self, U: Array, s: Array, radius: float = 1.0, team: ThreadTeam | None = None) -> None:
        self._fallback = Polytope(U, s, radius)
        self.rows = self._fallback.rows
        self.n_dims = U.shape[1]
        self.radius = radius
        self._total = 1.0 / float(np.linalg.norm(s))
        self._s = s * self._total
        unit = np.eye(self.n_dims)
        self._G, self._h = np.vstack([unit, -unit]), np.full(2 * self.n_dims, -radius)
        self._G_single = self._G.astype(np.float32)
        self._working = np.zeros(len(self.rows), dtype=bool)
        self._kept = VertexCache(KEPT_VERTICES * self.n_dims, self.n_dims)
        self._n_programs = self._n_pivots = 0
        self._count_lock = Lock()
        self._team = ThreadTeam(1) if team is None else team
        self._compiled = load_compiled() if self.n_dims >= MIN_COMPILED_DIMS else None
        if self._compiled is not None:
            single = np.array([STEP_TOLERANCE_SINGLE, MIN_PIVOT_SINGLE, MIN_ANGLE], dtype=np.float32)
            self._limits = self._compiled.Limits(GAIN_TOLERANCE, FEASIBILITY_TOLERANCE, *single)
        self._whole = False
        if len(self.rows) <= FULL_SET_ROWS_PER_DIM * self.n_dims:
            self._enlarge(np.arange(len(self.rows)))

    @property
    def solver_counts(self) -> SolverCounts:
        """Return the cost of all programs so far, those of the fallback included."""
        other = self._fallback.solver_counts
        n_rows = max(int(self._working.sum()), other.n_rows)
        return SolverCounts(self._n_programs + other.n_programs, self._n_pivots + other.n_pivots, n_rows)

    def maximize(self, a: Array, *, certified: bool = True) -> Vertex:
        """Maximise a·x over the polytope."""
        return self._make_vertex(a, self._try_solve(a), certified)

    def maximize_all(self, objectives: Sequence[Array], *, certified: bool = True) -> list[Vertex]:
        """Maximise each a·x, in threads where loops are compiled: none of these programs starts from another's end."""
        if self._compiled is None or not self._whole:
            return [self.maximize(a, certified=certified) for a in objectives]
        solutions = self._team.map(self._try_solve, objectives)
        return [self._make_vertex(a, solution, certified) for a, solution in zip(objectives, solutions, strict=True)]

    def reached(self, a: Array) -> float:
        """Return the largest a·x of the vertices that are kept, −∞ if there is none."""
        return self._kept.reached(a)

    def _try_solve(self, a: Array) -> Solution | None:
        """Return the end of a program, None if the walk has lost its way."""
        try:
            return self._solve(a / a.dot(a) ** 0.5)
        except (PivotingError, np.linalg.LinAlgError):
            return None

    def _make_vertex(self, a: Array, solution: Solution | None, certified: bool) -> Vertex:
        """Return a solution as a vertex, and keep it."""
        self._n_programs += 1
        if solution is None:
            return self._fallback.maximize(a)
        corner, infeasibility, place = solution
        corner.infeasibility = infeasibility
        self._kept.keep(corner, place, self._n_programs)
        gap = self._compute_gap(a / a.dot(a) ** 0.5, corner) if certified else np.nan
        return Vertex(corner.x, float(a @ corner.x), infeasibility, gap)

    def _solve(self, a: Array) -> Solution:
        best = self._kept.find_best(a)
        known = None if best is None else self._kept.corners[best]
        if known is not None and known.infeasibility is not None and known.is_optimal(a):
            return Solution(known, known.infeasibility, best)
        corner = self._find_box_vertex(a) if known is None else known.start()
        if known is None:
            self._run_dual(a, corner)
        for _ in range(PIVOT_LIMIT * self.n_dims):
            least = self._run_primal(a, corner)
            shift = self._refine_point(corner)
            # A row of length one changes by no more than the point: another product would tell nothing new.
            infeasibility, rows = max(0.0, shift - least), np.empty(0, dtype=np.intp)
            if infeasibility > FEASIBILITY_TOLERANCE or not self._whole:
                infeasibility, rows = self._find_violations(corner.x)
            if infeasibility <= FEASIBILITY_TOLERANCE:
                return Solution(corner, infeasibility, None)
            if len(rows):
                self._enlarge(rows)
            self._run_dual(a, corner)
        raise PivotingError  # rounding keeps the point outside

    def _find_violations(self, x: Array) -> tuple[float, Positions]:
        """Return the largest violation of all rows, and the most violated that are not in the working set."""
        slack = np.dot(self.rows, x)
        infeasibility = max(0.0, -float(slack.min(initial=0.0)))
        if infeasibility <= FEASIBILITY_TOLERANCE:
            return infeasibility, np.empty(0, dtype=np.intp)
        new = np.flatnonzero((slack < -FEASIBILITY_TOLERANCE) & ~self._working)
        new = new[np.argsort(slack[new], kind="stable")[: ROWS_PER_ROUND * self.n_dims]]
        return infeasibility, new

    def _enlarge(self, new: Positions) -> None:
        self._working[new] = True
        self._whole = bool(self._working.all())
        self._G = np.vstack([self._G, self.rows[new]])
        self._h = np.concatenate([self._h, np.zeros(len(new))])
        self._G_single = self._G.astype(np.float32)

    def _find_box_vertex(self, a: Array) -> SimplexVertex:
        """Return the best corner of {s·x = total, |x| ≤ radius}: entries rise in the order of gain per share of s."""
        s, r = self._s, self.radius
        used = np.flatnonzero(abs(s) > 1e-12)
        x = np.where(a < 0, -r, r)
        x[used] = -r * np.sign(s[used])
        order = used[np.argsort(-a[used] / s[used], kind="stable")]
        reached = np.cumsum(2 * r * abs(s[order]))
        missing = self._total - s @ x
        turn = int(np.searchsorted(reached, missing))
        if not missing > 0 or turn == len(order):
            raise PivotingError  # the box and the sum do not meet
        x[order[:turn]] *= -1.0
        free = order[turn]
        tight = np.where(x > 0, np.arange(self.n_dims) + self.n_dims, np.arange(self.n_dims))
        tight = np.concatenate([[0], np.delete(tight, free)])
        corner = SimplexVertex(tight, np.empty(0), x)
        self._renew(corner)
        return corner

    def _get_tight_rows(self, corner: SimplexVertex) -> tuple[Array, Array]:
        T, level = self._G.take(corner.tight, axis=0), self._h.take(corner.tight)
        T[0], level[0] = self._s, self._total
        return T, level

    def _renew(self, corner: SimplexVertex) -> None:
        T, level = self._get_tight_rows(corner)
        corner.recompute_inverse(T)
        corner.x = corner.X @ level

    def _refine_point(self, corner: SimplexVertex) -> float:
        """Bring the point to full precision and return how far that has moved it."""
        T, level = self._get_tight_rows(corner)
        if corner.n_updates > PIVOTS_PER_INVERSE // 2:
            corner.recompute_inverse(T)
        before, x = corner.x, corner.X @ level
        corner.x = x + corner.X @ (level - T @ x)
        return float(np.linalg.norm(corner.x - before))

    def _compute_gap(self, a: Array, corner: SimplexVertex) -> float:
        """Bound a·x* − a·x: multipliers y ≤ 0 of rows Gx ≥ h give a·x* ≤ y₀·total + y·h + ‖a − yᵀT‖·‖x*‖."""
        T, level = self._get_tight_rows(corner)
        y = a @ corner.X
        y += (a - y @ T) @ corner.X
        y[1:] = np.minimum(y[1:], 0.0)
        missed = a - y @ T
        return float(level @ y + (missed @ missed * self.n_dims) ** 0.5 * self.radius - a @ corner.x)

    def _compute_vertex_point(self, corner: SimplexVertex) -> Array:
        """Return the point where the rows of a corner are tight."""
        level = self._h.take(corner.tight)
        level[0] = self._total
        return np.dot(corner.X, level)

    def _compute_slack(self, corner: SimplexVertex) -> Array:
        """Return how far the corner is inside each row, after it has been moved to where its rows are tight."""
        corner.x = self._compute_vertex_point(corner)
        slack = np.dot(self._G, corner.x)
        slack -= self._h
        return slack

    def _run_primal(self, a: Array, corner: SimplexVertex) -> float:
        """Walk along rising edges until none is left, the steepest first, and return the least slack at the end.

        Most rows are too far away to be met within a few pivots: a stage looks at the near ones alone, in single
        precision. Where its end lies outside some of the others after all, it is walked again with regard to these.
        """
        slack = corner.slack
        if slack is None or len(slack) < len(self._h):  # no one has looked, or rows have joined the working set since
            slack = self._compute_slack(corner)
        distance = slack
        for _ in range(STAGE_LIMIT * self.n_dims):
            if corner.n_updates >= PIVOTS_PER_INVERSE:
                self._renew(corner)
            stage = self._run_single_stages(a, corner, slack, distance)
            if stage is None:
                # Compiled loops know far rows in single precision alone.
                exactly = slack if self._compiled is None else self._compute_slack(corner)
                stage = self._run_stage(a, corner, RatioTestRows(self._G, exactly), FULL_STAGE_PIVOTS)
            corner.assign_from(stage.end)
            before, slack = slack, stage.slack
            if stage.at_optimum:
                return float(slack.min())
            # Rows that came nearer in the last stage are likely to come nearer by as much in the next.
            distance = slack + np.minimum(slack - before, 0.0)
        raise PivotingError

    def _run_stage(self, a: Array, corner: SimplexVertex, sight: RatioTestRows, n_pivots: int) -> StageResult:
        """Walk with regard to the rows in sight."""
        arrived, end = run_primal_pivots(a, corner, self._G, sight, n_pivots)
        self._count_pivots(end.n_updates - corner.n_updates)
        end.slack = self._compute_slack(end)
        return StageResult(arrived, end, end.slack)

    def _count_pivots(self, n_pivots: int) -> None:
        with self._count_lock:
            self._n_pivots += n_pivots

    def _choose_stage_size(self) -> tuple[int, int]:
        """Return the pivots of a stage and the rows that it looks at."""
        if self._G.size <= FEW_ENTRIES:
            return FULL_STAGE_PIVOTS, len(self._h)
        return NEAR_STAGE_PIVOTS, max(self.n_dims, int(NEAR_SHARE * len(self._h)))

    def _run_single_stages(self, a: Array, corner: SimplexVertex, slack: Array, distance: Array) -> StageResult | None:
        """Walk in single precision, one stage or, where that is compiled, many; None if that led outside."""
        if self._G.size <= DOUBLE_ENTRIES:
            return None
        if self._compiled is None:
            return self._run_single_stage(a, corner, slack, distance)
        loops, inside = self._compiled, self._compiled.Polyhedron(self._G, self._G_single, self._h, self._total)
        n_pivots, n_near = self._choose_stage_size()
        pace = loops.Pace(n_pivots, n_near, NEAR_TRIALS, PIVOTS_PER_INVERSE)
        E, tight, slack = corner.X.T.copy(order="C"), corner.tight.copy(), slack.copy()
        try:
            how, made, age = loops.stages(
                a, E, tight, corner.n_updates, slack, distance.copy(), inside, pace, self._limits
            )
        except OSError:  # what was compiled cannot be kept: no room on the disk
            self._compiled = None
            return None
        self._count_pivots(made)
        if how == loops.LOST and age == corner.n_updates:
            return None
        end = SimplexVertex(tight, E.T, corner.x, age)
        end.x, end.slack = self._compute_vertex_point(end), slack
        return StageResult(how == loops.ARRIVED, end, slack)

    def _run_single_stage(self, a: Array, corner: SimplexVertex, slack: Array, distance: Array) -> StageResult | None:
        """Walk with regard to the rows at the least distance, in single precision; None if that led outside."""
        near, sight = None, RatioTestRows(self._G_single, slack)
        n_pivots, n_near = self._choose_stage_size()
        if n_near < len(slack):
            near = np.argpartition(distance, n_near)[:n_near]
        for _ in range(NEAR_TRIALS):
            if near is not None:
                sight = RatioTestRows(self._G_single.take(near, axis=0), slack.take(near), near)
            try:
                stage = self._run_stage(a, corner, sight, n_pivots)
            except PivotingError:  # none of these rows stops the step, or none that single precision can tell
                return None
            if stage.slack.min() >= -FEASIBILITY_TOLERANCE:
                return stage
            if near is None:
                return None
            near = np.union1d(near, np.flatnonzero(stage.slack < 0.0))
        return None

    def _run_dual(self, a: Array, corner: SimplexVertex) -> None:
        """Walk back to the rows that are violated without loss of optimality: dual pivots."""
        G = self._G
        for n in range(PIVOT_LIMIT * self.n_dims):
            if n == 0 or corner.n_updates >= PIVOTS_PER_INVERSE:
                if n:
                    self._renew(corner)
                X = corner.X
                gain = np.minimum(a @ X, 0.0)
                slack = self._compute_slack(corner)
                slack[corner.tight[1:]] = 0.0
            i = int(slack.argmin())
            if slack[i] >= -STEP_TOLERANCE:
                return
            row = np.dot(G[i], X)
            j = choose_dual_edge(gain, row)
            edge = X[:, j].copy()
            slack += (-slack[i] / row[j]) * np.dot(G, edge)
            slack[i] = 0.0
            row = compute_pivot_multiples(row, j)
            gain = np.minimum(gain - gain[j] * row, 0.0)
            corner.pivot(i, j, edge, row)
            self._count_pivots(1)
        raise PivotingError


def load_compiled() -> Any:
    """Return the module `compiled`, None where numba is not there."""
    try:
        from anchorless._core.lp import compiled
    except (ImportError, OSError):  # not there, or its libraries cannot be loaded
        return None
    return compiled
