"""Linear programs over {x : Ux ≥ 0, s·x = 1} by walking from vertex to vertex, HiGHS as fallback.

The polytope is the same for every program of a fit and only the objective changes, so every vertex met
before is a feasible start. A vertex is F − 1 tight rows and s·x = 1 with the F × F inverse of these: its
columns are the edges. A walk follows the edge that gains most per length (primal pivots) over a working set
of rows; rows found violated at its end join the set, and dual pivots lead back to the polytope.

A pivot costs one product of the working set with a vector; called from Python, that is still several times
less than a pivot of a general solver that knows nothing of the polytope.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.linalg.blas import dger

from anchorless.documents import Array
from anchorless.polytope import FEASIBILITY_TOLERANCE, KEPT_VERTICES, ROWS_PER_ROUND, Polytope, Tally, Vertex

Positions = npt.NDArray[np.intp]

#: Up to this many rows per dimension all of them are in the working set from the start.
WHOLE_SET = 64
#: Pivots after which the inverse is computed afresh: rounding grows with every update.
PIVOTS_PER_INVERSE = 100
#: Pivots of a stage that looks at all rows, of one that looks at the nearest, and the share of these.
ALL_STAGE = 50
NEAR_STAGE = 15
NEAR_SHARE = 0.3
#: Entries of the working set up to which looking at all of them costs less than choosing.
FEW_ENTRIES = 150_000
#: Stages per dimension in one walk before it is given up as going round in circles.
STAGE_LIMIT = 10
#: Dual pivots per dimension in one walk before it is given up as going round in circles.
PIVOT_LIMIT = 200
#: How far a row may be overstepped to reach a better pivot: a tenth of what is called feasible.
OVERSTEP = 0.1 * FEASIBILITY_TOLERANCE
#: An edge that gains no more than this per length, for an objective of length one, is level.
LEVEL = 1e-11
#: A pivot smaller than this, for rows of length one, is rounding error.
SMALLEST_PIVOT = 1e-9


class LostWayError(Exception):
    """A walk met a pivot that is rounding error, or did not end: HiGHS shall decide."""


class Corner:
    """A vertex of the working set: its tight rows, the inverse of these and the point.

    `tight` (F,) are positions in the rows G x ≥ h; tight[0] stands for s·x = total. `X` (F, F) is the inverse
    of the tight rows: column j is the edge along which row j alone comes loose.
    """

    def __init__(self, tight: Positions, X: Array, x: Array, age: int) -> None:
        self.tight, self.X, self.x, self.age = tight, X, x, age

    def copy(self) -> Corner:
        """Return a corner that can walk on while this one stays."""
        return Corner(self.tight.copy(), self.X.copy(order="F"), self.x, self.age)

    def become(self, other: Corner) -> None:
        """Take the place of another corner."""
        self.tight, self.X, self.x, self.age = other.tight, other.X, other.x, other.age


class Walker:
    """{x : Ux ≥ 0, s·x = 1, |x| ≤ radius}: the same polytope and answers as `Polytope`."""

    def __init__(self, U: Array, s: Array, radius: float = 1.0) -> None:
        self._referee = Polytope(U, s, radius)
        self._rows = self._referee.rows
        self.n_dims = U.shape[1]
        self.radius = radius
        self._total = 1.0 / float(np.linalg.norm(s))
        self._s = s * self._total
        unit = np.eye(self.n_dims)
        self._G, self._h = np.vstack([unit, -unit]), np.full(2 * self.n_dims, -radius)
        self._working = np.zeros(len(self._rows), dtype=bool)
        self._corners: list[Corner] = []
        self._points = np.empty((0, self.n_dims))
        self._n_programs = self._n_pivots = 0
        if len(self._rows) <= WHOLE_SET * self.n_dims:
            self._enlarge(np.arange(len(self._rows)))

    @property
    def tally(self) -> Tally:
        """Return the cost of all programs so far, those of the fallback included."""
        other = self._referee.tally
        n_rows = max(int(self._working.sum()), other.n_rows)
        return Tally(self._n_programs + other.n_programs, self._n_pivots + other.n_pivots, n_rows)

    def maximise(self, a: Array) -> Vertex:
        """Maximise a·x over the polytope."""
        size = float(np.linalg.norm(a))
        try:
            corner, infeasibility = self._solve(a / size)
        except (LostWayError, np.linalg.LinAlgError):
            return self._referee.maximise(a)
        gap = self._gap(a / size, corner)
        return Vertex(corner.x, float(a @ corner.x), infeasibility, gap)

    def _solve(self, a: Array) -> tuple[Corner, float]:
        self._n_programs += 1
        known = self._best_corner(a)
        if known is not None and self._is_best(a, known):
            return known, self._violation(known.x)[0]
        corner = self._box_corner(a) if known is None else known.copy()
        if known is not None:
            self._climb(a, corner)
        else:
            self._repair(a, corner)
        while True:
            self._settle(corner)
            infeasibility, rows = self._violation(corner.x)
            if infeasibility <= FEASIBILITY_TOLERANCE:
                break
            if len(rows) == 0:
                raise LostWayError  # what is violated is in the working set already: walking on would never end
            self._enlarge(rows)
            self._repair(a, corner)
            self._climb(a, corner)
        self._remember(corner)
        return corner, infeasibility

    def _best_corner(self, a: Array) -> Corner | None:
        return self._corners[int((self._points @ a).argmax())] if self._corners else None

    def _is_best(self, a: Array, corner: Corner) -> bool:
        gain = a @ corner.X
        gain[0] = -1.0
        return bool((gain * abs(gain) <= LEVEL**2 * (corner.X * corner.X).sum(axis=0)).all())

    def _violation(self, x: Array) -> tuple[float, Positions]:
        """Return the largest violation of all rows, and the most violated that are not in the working set."""
        slack = self._rows @ x
        new = np.flatnonzero((slack < -FEASIBILITY_TOLERANCE) & ~self._working)
        new = new[np.argsort(slack[new], kind="stable")[: ROWS_PER_ROUND * self.n_dims]]
        return max(0.0, -float(slack.min(initial=0.0))), new

    def _enlarge(self, new: Positions) -> None:
        self._working[new] = True
        self._G = np.vstack([self._G, self._rows[new]])
        self._h = np.concatenate([self._h, np.zeros(len(new))])

    def _remember(self, corner: Corner) -> None:
        limit = KEPT_VERTICES * self.n_dims
        self._corners = [*self._corners, corner][-limit:]
        self._points = np.vstack([self._points, corner.x])[-limit:]

    def _box_corner(self, a: Array) -> Corner:
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
            raise LostWayError  # the box and the sum do not meet
        x[order[:turn]] *= -1.0
        free = order[turn]
        tight = np.where(x > 0, np.arange(self.n_dims) + self.n_dims, np.arange(self.n_dims))
        tight = np.concatenate([[0], np.delete(tight, free)])
        corner = Corner(tight, np.empty(0), x, 0)
        self._invert(corner)
        return corner

    def _tight_rows(self, corner: Corner) -> tuple[Array, Array]:
        T, level = self._G[corner.tight], self._h[corner.tight]
        T[0], level[0] = self._s, self._total
        return T, level

    def _invert(self, corner: Corner) -> None:
        T, level = self._tight_rows(corner)
        corner.X, corner.age = np.asfortranarray(np.linalg.inv(T)), 0
        corner.x = corner.X @ level

    def _settle(self, corner: Corner) -> None:
        """Bring the point to full precision."""
        T, level = self._tight_rows(corner)
        if corner.age > PIVOTS_PER_INVERSE // 2:
            self._invert(corner)
        x = corner.X @ level
        corner.x = x + corner.X @ (level - T @ x)

    def _gap(self, a: Array, corner: Corner) -> float:
        """Bound a·x* − a·x: multipliers y ≤ 0 of rows Gx ≥ h give a·x* ≤ y₀·total + y·h + ‖a − yᵀT‖·‖x*‖."""
        T, level = self._tight_rows(corner)
        y = a @ corner.X
        y += (a - y @ T) @ corner.X
        y[1:] = np.minimum(y[1:], 0.0)
        missed = float(np.linalg.norm(a - y @ T)) * self.radius * np.sqrt(self.n_dims)
        return float(level @ y + missed - a @ corner.x)

    def _climb(self, a: Array, corner: Corner) -> None:
        """Walk along rising edges until none is left: primal pivots, the steepest edge first.

        Most rows are too far away to be met within a few pivots: a stage looks at the near ones alone. Where
        its end lies outside one of the others after all, it is walked again with all rows.
        """
        slack = self._G @ corner.x - self._h
        for _ in range(STAGE_LIMIT * self.n_dims):
            if corner.age >= PIVOTS_PER_INVERSE:
                self._invert(corner)
            arrived = self._near_stage(a, corner, slack) if self._G.size > FEW_ENTRIES else None
            if arrived is None:
                arrived = self._stage(a, corner, self._G, slack, None)
            if arrived:
                return
            slack = self._G @ corner.x - self._h
        raise LostWayError

    def _near_stage(self, a: Array, corner: Corner, slack: Array) -> bool | None:
        """Walk with regard to the nearest rows; None, and the corner as it was, if that led outside the others."""
        n_near = int(NEAR_SHARE * len(slack))
        near = np.argpartition(slack, n_near)[:n_near]
        before = corner.copy()
        try:
            arrived = self._stage(a, corner, self._G[near], slack[near], near)
        except LostWayError:  # none of these rows stops the step
            arrived = None
        if arrived is None or (self._G @ corner.x - self._h).min() < -FEASIBILITY_TOLERANCE:
            corner.become(before)
            return None
        return arrived

    def _stage(self, a: Array, corner: Corner, G: Array, slack: Array, positions: Positions | None) -> bool:
        """Walk a few pivots with regard to the rows G and tell whether no rising edge is left."""
        X = corner.X
        gain, squares = a @ X, (X * X).sum(axis=0)
        # Slacks are kept with the overstep added, so that none is zero.
        slack = np.maximum(slack, 0.0) + OVERSTEP
        ratio = np.empty_like(slack)
        for _ in range(ALL_STAGE if positions is None else NEAR_STAGE):
            gain[0] = -1.0
            j = int((gain * abs(gain) / squares).argmax())
            length = float(np.sqrt(squares[j]))
            if gain[j] <= LEVEL * length:
                return True
            edge = X[:, j].copy()
            change = G @ edge
            i = first_row_met(slack, change, ratio, SMALLEST_PIVOT * length)
            step = max(0.0, (slack[i] - OVERSTEP) / -change[i])
            corner.x = corner.x + step * edge
            change *= step
            slack += change
            np.maximum(slack, OVERSTEP, out=slack)
            row = exchanged(G[i] @ X, j)
            squares += row * (row * squares[j] - 2.0 * (edge @ X))
            gain -= gain[j] * row
            self._pivot(corner, i if positions is None else int(positions[i]), j, edge, row)
            squares[j] = X[:, j] @ X[:, j]
            # An edge meets its row of length one at a rate of one, so it is no shorter; updates can round below that.
            np.maximum(squares, 1.0, out=squares)
        return False

    def _repair(self, a: Array, corner: Corner) -> None:
        """Walk back to the rows that are violated without loss of optimality: dual pivots."""
        G = self._G
        for n in range(PIVOT_LIMIT * self.n_dims):
            if n == 0 or corner.age >= PIVOTS_PER_INVERSE:
                if n:
                    self._invert(corner)
                X = corner.X
                gain = np.minimum(a @ X, 0.0)
                slack = G @ corner.x - self._h
                slack[corner.tight[1:]] = 0.0
            i = int(slack.argmin())
            if slack[i] >= -OVERSTEP:
                return
            row = G[i] @ X
            j = least_loss(gain, row)
            edge = X[:, j].copy()
            step = -slack[i] / row[j]
            corner.x = corner.x + step * edge
            slack += step * (G @ edge)
            slack[i] = 0.0
            row = exchanged(row, j)
            gain = np.minimum(gain - gain[j] * row, 0.0)
            self._pivot(corner, i, j, edge, row)
        raise LostWayError

    def _pivot(self, corner: Corner, i: int, j: int, edge: Array, row: Array) -> None:
        """Let row i be tight in place of the row in position j."""
        dger(-1.0, edge, row, a=corner.X, overwrite_a=1)
        corner.tight[j] = i
        corner.age += 1
        self._n_pivots += 1


def first_row_met(slack: Array, change: Array, ratio: Array, smallest: float) -> int:
    """Return the row that stops a step: among those within the overstep of the first, the one met most squarely.

    `slack` > 0 includes the overstep; `ratio` is scratch space.
    """
    np.divide(change, slack, out=ratio)
    steepest = float(ratio.min())
    if steepest >= 0.0:
        raise LostWayError  # the box stops every step
    np.multiply(change, -1.0 / steepest, out=ratio)
    ratio += slack
    met = (ratio <= OVERSTEP).nonzero()[0]
    i = int(met[change[met].argmin()])
    if change[i] > -smallest:
        raise LostWayError
    return i


def least_loss(gain: Array, row: Array) -> int:
    """Return the edge that leads back to a violated row at the least loss per progress, ties to the larger pivot."""
    usable = row > SMALLEST_PIVOT
    usable[0] = False
    if not usable.any():
        raise LostWayError  # the polytope is empty, or rounding says so
    loss = np.where(usable, -gain, np.inf)
    bound = float(((loss + LEVEL) / np.where(usable, row, 1.0)).min())
    tied = (loss <= bound * row).nonzero()[0]
    return int(tied[row[tied].argmax()])


def exchanged(row: Array, j: int) -> Array:
    """Return (row − eⱼ) / rowⱼ: the multiples of edge j that are taken from each edge when `row` becomes tight."""
    pivot = row[j]
    row[j] -= 1.0
    return row / pivot
