"""Maximize linear functions over {x : Ux ≥ 0, s·x = 1} by the simplex method, with HiGHS as fallback.

Every vertex found before is a feasible start for a new objective. Primal pivots follow the edge that gains most per
length, over a working set of rows; rows that the result violates join it, and dual pivots lead back into the polytope.
Rows that block a step are chosen in single precision; the inverse and the check of all rows are in double precision.
Compiled pivots took about a quarter less processor time at 100 topics and nothing less at 25 (TDT2).
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from anchorless._core.lp.polytope import (
    FEASIBILITY_TOLERANCE,
    KEPT_VERTICES,
    Polytope,
    Positions,
    SolverCounts,
    Vertex,
    select_violated,
)
from anchorless._core.lp.vertices import (
    STEP_TOLERANCE,
    PivotingError,
    RatioTestRows,
    SimplexVertex,
    VertexCache,
    choose_dual_edge,
    compute_pivot_multiples,
    run_primal_pivots,
)
from anchorless._corpus.documents import Array

#: Up to this many rows per dimension, all rows are in the working set from the start.
FULL_SET_ROWS_PER_DIM = 64
#: Pivots after which the inverse is recomputed: rounding errors grow with every update.
PIVOTS_PER_INVERSE = 100
#: Pivots of a stage that tests all rows, of a stage that tests the nearest rows, and the share of rows that are near.
FULL_STAGE_PIVOTS = 50
NEAR_STAGE_PIVOTS = 15
NEAR_SHARE = 0.2
#: How often a stage is repeated with the rows that it violated before all rows are tested.
NEAR_TRIALS = 3
#: Up to this many entries, the working set stays in the cache, and single precision saves no time.
DOUBLE_ENTRIES = 30_000
#: Up to this many entries, testing all rows costs less than selecting the nearest.
FEW_ENTRIES = 150_000
#: Stored vertices from which a program that was lost to rounding errors is tried again.
RECOVERY_STARTS = 4
#: Stages and dual pivots per dimension after which pivoting is considered to cycle.
STAGE_LIMIT = 10
PIVOT_LIMIT = 200


#: The end of a stage of pivots: whether no edge rises, the vertex, and the slack of the working set there.
StageResult = tuple[bool, SimplexVertex, Array]


class SimplexSolver:
    """Programs over {x : Ux ≥ 0, s·x = 1, |x| ≤ radius}, U (V, F) and s (F,); the same answers as `Polytope`.

    `variance` (V,) is that of each entry of a row's error, for rows scaled to length one.
    """

    def __init__(self, U: Array, s: Array, radius: float = 1.0, variance: Array | None = None) -> None:
        self._fallback = Polytope(U, s, radius)
        self.rows = self._fallback.rows
        self.n_dims = U.shape[1]
        self.radius = radius
        self._total = 1.0 / float(np.linalg.norm(s))
        self._s = s * self._total
        unit = np.eye(self.n_dims)
        self._G, self._h = np.vstack([unit, -unit]), np.full(2 * self.n_dims, -radius)
        self._G_single = self._G.astype(np.float32)
        self._row_variance = np.zeros(len(self.rows)) if variance is None else variance[self._fallback.kept]
        self._variance = np.zeros(2 * self.n_dims)  # of the rows of G
        self._working = np.zeros(len(self.rows), dtype=bool)
        self._has_all_rows = False
        self._cache = VertexCache(KEPT_VERTICES * self.n_dims, self.n_dims)
        self._n_programs = self._n_pivots = self._n_fallbacks = 0
        if len(self.rows) <= FULL_SET_ROWS_PER_DIM * self.n_dims:
            self._enlarge(np.arange(len(self.rows)))

    @property
    def solver_counts(self) -> SolverCounts:
        """Return the cost of all programs so far, those of the fallback included."""
        other = self._fallback.solver_counts
        n_rows = max(int(self._working.sum()), other.n_rows)
        n_programs, n_pivots = self._n_programs + other.n_programs, self._n_pivots + other.n_pivots
        return SolverCounts(n_programs, n_pivots, n_rows, self._n_fallbacks)

    def maximize(self, a: Array, *, certified: bool = True) -> Vertex:
        """Maximize a·x over the polytope; without `certified` the gap is NaN."""
        self._n_programs += 1
        direction = a / a.dot(a) ** 0.5
        found = self._try(direction, self._cache.find_best(direction)) or self._recover(direction)
        if found is None:
            self._n_fallbacks += 1
            return self._fallback.maximize(a)
        vertex, place = found
        self._cache.keep(vertex, place, self._n_programs)
        gap = self._compute_gap(direction, vertex) if certified else np.nan
        return Vertex(vertex.x, float(a @ vertex.x), vertex.infeasibility, gap, self._compute_variance(a, vertex))

    def best_known_value(self, a: Array) -> float:
        """Return the largest a·x of the stored vertices, −∞ if there is none."""
        return self._cache.best_known_value(a)

    def _recover(self, a: Array) -> tuple[SimplexVertex, int | None] | None:
        """Solve a program that was lost to rounding errors from other starts; None if that is in vain.

        A start is a stored vertex, which is feasible, with its inverse computed anew: the best, then the next best,
        whose path is another. The box comes last, since from there the dual pivots are as many as in a first program.
        """
        for place in self._cache.rank(a)[:RECOVERY_STARTS]:
            found = self._try(a, place, afresh=True)
            if found is not None:
                return found
        return self._try(a, None) if self._cache.vertices else None

    def _try(self, a: Array, place: int | None, *, afresh: bool = False) -> tuple[SimplexVertex, int | None] | None:
        """Return the solution from a stored vertex, or from the box, and its place; None if rounding errors prevail."""
        # A product in single precision can set the flag for invalid values though its results are finite. Real NaNs
        # fail the checks of a stage.
        with suppress(PivotingError, np.linalg.LinAlgError), np.errstate(invalid="ignore"):
            return self._solve(a, place, afresh=afresh)
        return None

    def _solve(self, a: Array, place: int | None, *, afresh: bool = False) -> tuple[SimplexVertex, int | None]:
        """Return the optimal vertex for an objective of length one, and its place in the cache, None if it is new.

        Pivots start from the stored vertex at `place`, None for the box; `afresh` computes its inverse anew.
        """
        if place is None:
            vertex = self._find_box_vertex(a)
            self._run_dual(a, vertex)
        elif not afresh and self._cache.vertices[place].is_optimal(a):
            return self._cache.vertices[place], place
        else:
            vertex = self._cache.vertices[place].fork()
            if afresh:
                vertex.X, vertex.slack = np.empty(0), None  # so that it is not improved, but computed
                self._recompute(vertex)
        for _ in range(PIVOT_LIMIT * self.n_dims):
            vertex, least_slack = self._run_primal(a, vertex)
            # A row of length one changes by no more than the point moves, so the slack need not be computed again.
            vertex.infeasibility = max(0.0, self._refine_point(vertex) - least_slack)
            if vertex.infeasibility > FEASIBILITY_TOLERANCE or not self._has_all_rows:
                slack = np.dot(self.rows, vertex.x)
                vertex.infeasibility = max(0.0, -float(slack.min(initial=0.0)))
                if vertex.infeasibility > FEASIBILITY_TOLERANCE:
                    self._enlarge(select_violated(slack, self._working, self.n_dims))
            if vertex.infeasibility <= FEASIBILITY_TOLERANCE:
                return vertex, None
            self._run_dual(a, vertex)
        raise PivotingError  # rounding keeps the point outside

    def _enlarge(self, new: Positions) -> None:
        """Add rows to the working set."""
        if len(new) == 0:
            return
        self._working[new] = True
        self._has_all_rows = bool(self._working.all())
        self._G = np.vstack([self._G, self.rows[new]])
        self._h = np.concatenate([self._h, np.zeros(len(new))])
        self._G_single = self._G.astype(np.float32)
        self._variance = np.concatenate([self._variance, self._row_variance[new]])

    def _find_box_vertex(self, a: Array) -> SimplexVertex:
        """Return the best vertex of {s·x = total, |x| ≤ radius}: entries rise in the order of gain per share of s."""
        s, r = self._s, self.radius
        used = np.flatnonzero(abs(s) > 1e-12)
        x = np.where(a < 0, -r, r)
        x[used] = -r * np.sign(s[used])
        order = used[np.argsort(-a[used] / s[used], kind="stable")]
        reached = np.cumsum(2 * r * abs(s[order]))
        missing = self._total - s @ x
        n_raised = int(np.searchsorted(reached, missing))
        if not missing > 0 or n_raised == len(order):
            raise PivotingError  # the box and s·x = total do not meet
        x[order[:n_raised]] *= -1.0
        tight = np.where(x > 0, np.arange(self.n_dims) + self.n_dims, np.arange(self.n_dims))
        tight = np.concatenate([[0], np.delete(tight, order[n_raised])])
        vertex = SimplexVertex(tight, np.empty(0), x)
        self._recompute(vertex)
        return vertex

    def _get_tight_rows(self, vertex: SimplexVertex) -> tuple[Array, Array]:
        """Return the tight rows (F, F) and their levels (F,)."""
        T, level = self._G.take(vertex.tight, axis=0), self._h.take(vertex.tight)
        T[0], level[0] = self._s, self._total
        return T, level

    def _recompute(self, vertex: SimplexVertex) -> None:
        """Compute inverse and point from the tight rows."""
        T, level = self._get_tight_rows(vertex)
        vertex.recompute_inverse(T)
        vertex.x = vertex.X @ level

    def _refine_point(self, vertex: SimplexVertex) -> float:
        """Compute the point to full precision and return how far it has moved."""
        T, level = self._get_tight_rows(vertex)
        if vertex.n_updates > PIVOTS_PER_INVERSE // 2:
            vertex.recompute_inverse(T)
        before, x = vertex.x, vertex.X @ level
        vertex.x = x + vertex.X @ (level - T @ x)
        return float(np.linalg.norm(vertex.x - before))

    def _compute_gap(self, a: Array, vertex: SimplexVertex) -> float:
        """Bound a·x* − a·x: multipliers y ≤ 0 of rows Gx ≥ h give a·x* ≤ y₀·total + y·h + ‖a − yᵀT‖·‖x*‖."""
        T, level = self._get_tight_rows(vertex)
        y = a @ vertex.X
        y += (a - y @ T) @ vertex.X
        y[1:] = np.minimum(y[1:], 0.0)
        missed = a - y @ T
        return float(level @ y + (missed @ missed * self.n_dims) ** 0.5 * self.radius - a @ vertex.x)

    def _compute_variance(self, a: Array, vertex: SimplexVertex) -> float:
        """Return the variance of a·x from the errors δ of the tight rows: a·x changes by Σ y·(δ·x), y = aX."""
        y = np.dot(a, vertex.X)[1:]
        return float(vertex.x.dot(vertex.x) * (y * y).dot(self._variance.take(vertex.tight[1:])))

    def _update_slack(self, vertex: SimplexVertex) -> Array:
        """Move the point to where its rows are tight, and return the slack of the working set."""
        level = self._h.take(vertex.tight)
        level[0] = self._total
        vertex.x = np.dot(vertex.X, level)
        vertex.slack = np.dot(self._G, vertex.x)
        vertex.slack -= self._h
        return vertex.slack

    def _run_primal(self, a: Array, vertex: SimplexVertex) -> tuple[SimplexVertex, float]:
        """Pivot until no edge rises, in stages; return the last vertex and the least slack."""
        slack = vertex.slack
        if slack is None or len(slack) < len(self._h):  # unknown, or rows have joined the working set since
            slack = self._update_slack(vertex)
        distance = slack
        for _ in range(STAGE_LIMIT * self.n_dims):
            if vertex.n_updates >= PIVOTS_PER_INVERSE:
                self._recompute(vertex)
            stage = self._run_single_stage(a, vertex, slack, distance)
            if stage is None:
                stage = self._run_stage(a, vertex, RatioTestRows(self._G, slack), FULL_STAGE_PIVOTS)
            before = slack
            at_optimum, vertex, slack = stage
            if at_optimum:
                return vertex, float(slack.min())
            # Rows that came nearer in this stage are likely to come nearer by as much in the next.
            distance = slack + np.minimum(slack - before, 0.0)
        raise PivotingError

    def _run_stage(self, a: Array, vertex: SimplexVertex, tested: RatioTestRows, n_pivots: int) -> StageResult:
        """Make up to `n_pivots` pivots and check the end against all rows of the working set."""
        at_optimum, end = run_primal_pivots(a, vertex, self._G, tested, n_pivots)
        self._n_pivots += end.n_updates - vertex.n_updates
        return at_optimum, end, self._update_slack(end)

    def _run_single_stage(self, a: Array, vertex: SimplexVertex, slack: Array, distance: Array) -> StageResult | None:
        """Run a stage in single precision, with the rows at the least distance; return None if it ends outside."""
        # Most rows are too far away to block a step within a few pivots. If the end violates other rows, these join.
        if self._G.size <= DOUBLE_ENTRIES:
            return None
        n_pivots, near, tested = FULL_STAGE_PIVOTS, None, RatioTestRows(self._G_single, slack)
        n_near = max(self.n_dims, int(NEAR_SHARE * len(slack)))
        if self._G.size > FEW_ENTRIES and n_near < len(slack):
            n_pivots, near = NEAR_STAGE_PIVOTS, np.argpartition(distance, n_near)[:n_near]
        for _ in range(NEAR_TRIALS):
            if near is not None:
                tested = RatioTestRows(self._G_single.take(near, axis=0), slack.take(near), near)
            try:
                stage = self._run_stage(a, vertex, tested, n_pivots)
            except PivotingError:  # none of these rows blocks the step, or single precision cannot tell which
                return None
            if stage[2].min() >= -FEASIBILITY_TOLERANCE:
                return stage
            if near is None:
                return None
            near = np.union1d(near, np.flatnonzero(stage[2] < 0.0))
        return None

    def _run_dual(self, a: Array, vertex: SimplexVertex) -> None:
        """Make dual pivots until no row is violated: the vertex stays optimal on its way back into the polytope."""
        G = self._G
        for n in range(PIVOT_LIMIT * self.n_dims):
            if n == 0 or vertex.n_updates >= PIVOTS_PER_INVERSE:
                if n:
                    self._recompute(vertex)
                X = vertex.X
                gain = np.minimum(a @ X, 0.0)
                slack = self._update_slack(vertex)
                slack[vertex.tight[1:]] = 0.0
            i = int(slack.argmin())
            if slack[i] >= -STEP_TOLERANCE:
                return
            row = np.dot(G[i], X)
            j = choose_dual_edge(gain, row)
            edge = X[:, j].copy()
            slack += (-slack[i] / row[j]) * np.dot(G, edge)
            slack[i] = 0.0
            multiples = compute_pivot_multiples(row, j)
            gain = np.minimum(gain - gain[j] * multiples, 0.0)
            vertex.pivot(i, j, edge, multiples)
            self._n_pivots += 1
        raise PivotingError
