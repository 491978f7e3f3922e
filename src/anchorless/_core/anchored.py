"""Start the volume near its maximum, from anchor rows: rows of U that other rows do not come near.

The rows of F anchor words bound a cone whose F edges, the columns of their inverse, are topics that have one anchor
word each. On exact data with anchor words that is the maximum. On other data further rows cut the edges off, and each
topic has to take in some of the other edges: a linear program per topic, in which F anchor rows are tight at the start.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt

from anchorless._core.lp.polytope import ROW_FLOOR, Polytope, SolverCounts
from anchorless._core.lp.simplex import SimplexSolver
from anchorless._core.volume import PROGRESS_STEPS, Volume, report_part_of_sweeps
from anchorless._corpus.documents import Array
from anchorless._corpus.threads import call_interruptibly
from anchorless.progress import report_progress

#: A row with less than this share of the longest one's square outside the span of the anchors before is rounding error.
ANCHOR_FLOOR = 1e-13
#: A start is used if the condition number of its columns is at most this.
MAX_CONDITION = 1e10
#: A row is violated if it is negative by more than this many standard errors of the row.
STANDARD_ERRORS = 2.0
#: Dual pivots of a topic. On TDT2 at 50 to 500 topics more of them change no measure of the refined topics.
PIVOTS_PER_TOPIC = 40
#: For the progress: at this many topics the start takes as long as the programs, and this share of it is the anchors.
EVEN_START_TOPICS, ANCHORS_SHARE = 600, 0.85
#: A pivot smaller than this, for rows of length one, is rounding error.
MIN_PIVOT = 1e-7
#: Without noise, a row is violated if it is below this, for rows of length one.
ROUNDING = 1e-9

Positions = npt.NDArray[np.intp]


def select_anchor_rows(R: Array, report: Callable[[float], None] = lambda part: None) -> Positions:
    """Return F rows of R (m, F) by successive projection: the longest, then the longest outside the span of these.

    `report` is called with the part of the work that is done.
    """
    n_dims = R.shape[1]
    rest = np.einsum("ij,ij->i", R, R)
    floor = ANCHOR_FLOOR * float(rest.max(initial=0.0))
    coordinates = np.zeros((len(R), n_dims), order="F")
    anchors: list[int] = []
    while len(anchors) < n_dims and len(R):
        k, i = len(anchors), int(rest.argmax())
        report((k / n_dims) ** 1.25)  # the products become longer
        if rest[i] <= floor:
            break
        coordinates[:, k] = (R @ R[i] - coordinates[:, :k] @ coordinates[i, :k]) / rest[i] ** 0.5
        rest -= coordinates[:, k] ** 2
        rest[i] = -1.0  # rounding must not choose it again
        anchors.append(i)
    return np.array(anchors, dtype=np.intp)


def find_anchored_start(polytope: SimplexSolver | Polytope, R: Array) -> Array | None:
    """Return the points of the polytope (F, F) with the most of each anchor row of R (m, F), None if two are alike."""
    anchors, n_dims = select_anchor_rows(R), R.shape[1]
    if len(anchors) < n_dims:
        return None
    M = np.empty((n_dims, n_dims))
    for f, i in enumerate(anchors):
        M[:, f] = polytope.maximize(R[i], certified=False).x
        report_part_of_sweeps(0, f + 1, n_dims)
    return M if np.linalg.cond(M) <= MAX_CONDITION else None


def relax_volume(R: Array, s: Array, variance: Array) -> Volume | None:
    """Return topics in which no row of R (m, F) is negative beyond its noise, after a bounded number of pivots.

    `variance` (m,) is that of the entries of a row's error, for rows of length one. Columns are scaled to s·x = 1. None
    if R has fewer than F anchor rows.
    """
    n_dims = R.shape[1]
    of_start = n_dims**2 / (n_dims**2 + EVEN_START_TOPICS**2)  # the share of the work before the first program
    report_part = partial(report_relaxation, of_start)
    anchors = select_anchor_rows(R, lambda part: report_part(ANCHORS_SHARE * part, 0.0))
    if len(anchors) < n_dims:
        return None
    lengths = np.linalg.norm(R, axis=1)
    lengths[lengths <= ROW_FLOOR * lengths.max()] = np.inf  # rounding error: a row of zeros constrains nothing
    rows = R / lengths[:, None]
    edges = np.linalg.inv(rows[anchors])
    B = np.asfortranarray(call_interruptibly(np.matmul, rows, edges))
    B[anchors] = np.eye(n_dims)
    report_part(1.0, 0.0)
    error = STANDARD_ERRORS * np.sqrt(variance)
    gram, M, n_pivots = edges.T @ edges, np.empty((n_dims, n_dims)), 0
    for f in range(n_dims):
        program = AnchoredProgram(B, error, gram, f)
        n_pivots += program.run(PIVOTS_PER_TOPIC)
        M[:, f] = edges[:, [f, *program.raised]] @ [1.0, *program.weights]
        report_part(1.0, (f + 1) / n_dims)
    M /= s @ M
    slack = call_interruptibly(np.matmul, rows, M)
    infeasibility = max(0.0, -float(slack.min(initial=0.0)))
    log_volume = float(np.linalg.slogdet(M)[1])
    counts = SolverCounts(n_dims, n_pivots, len(R))
    return Volume(M, log_volume, (log_volume,), "pivots", infeasibility, np.nan, counts)


def report_relaxation(of_start: float, started: float, solved: float) -> None:
    """Report how far a relaxation is, by the parts of its start and of its programs that are done."""
    done = of_start * started + (1.0 - of_start) * solved
    report_progress("volume", round(PROGRESS_STEPS * done), PROGRESS_STEPS)


class AnchoredProgram:
    """The least sum of other edges, c ≥ 0, that makes edge f feasible: Bc ≥ 0 with c[f] = 1, by dual pivots.

    `B` (m, F) is the rows of length one times the edges, in Fortran order, `error` (m,) how negative a row may be for a
    point of length one, `gram` (F, F) the inner products of the edges. Only `raised` edges have a weight, as many as
    rows are `tight`: a pivot with p of them costs m·p + F·p, not F² + m·F, as long as p is small.
    """

    def __init__(self, B: Array, error: Array, gram: Array, f: int) -> None:
        self._B, self._error, self._gram, self._f = B, error, gram, f
        self.raised: list[int] = []
        self.tight: list[int] = []
        self.weights: Array = np.zeros(0)
        self._inverse: Array = np.zeros((0, 0))
        self._slack, self._cost = B[:, f].copy(), np.ones(B.shape[1])
        self._given_up = np.zeros(len(B), dtype=bool)  # rows that no edge can repair: they are noise

    def run(self, max_pivots: int) -> int:
        """Pivot until no row is violated, at most so often; return the number of pivots."""
        for n in range(max_pivots):
            leaving, row = self._find_violation()
            if row is None:
                return n
            if not self._pivot(leaving, row):
                return n
        return max_pivots

    def _find_violation(self) -> tuple[int | None, int | None]:
        """Return the negative weight and row to repair: (place in `raised`, −1), (None, row), or (None, None)."""
        if len(self.weights) and self.weights.min() < -ROUNDING:
            return int(self.weights.argmin()), -1
        c, used = np.array([1.0, *self.weights]), [self._f, *self.raised]
        length = max(float(c @ self._gram[np.ix_(used, used)] @ c), 0.0) ** 0.5
        violation = self._slack + (self._error + ROUNDING) * length
        violation[self.tight] = 0.0
        violation[self._given_up] = 0.0
        i = int(violation.argmin())
        return None, i if violation[i] < 0.0 else None

    def _pivot(self, leaving: int | None, i: int) -> bool:
        """Exchange the edge or row that repairs the violation at the least cost; return whether pivoting can go on."""
        old = self._inverse[leaving] if leaving is not None else self._B[i, self.raised] @ self._inverse
        of_edges = -(old @ self._B[self.tight])
        if leaving is None:
            of_edges += self._B[i]
        of_edges[[self._f, *self.raised]] = 0.0
        rates = np.concatenate([of_edges, old])
        usable = rates > MIN_PIVOT
        if not usable.any():
            if leaving is not None:
                return False
            self._given_up[i] = True
            return True
        costs = np.concatenate([self._cost, np.ones(len(self.raised)) @ self._inverse])
        ratios = np.divide(np.maximum(costs, 0.0), rates, out=np.full(len(rates), np.inf), where=usable)
        before = self.raised.copy(), self.tight.copy()
        self._exchange(leaving, i, int(ratios.argmin()))
        if not self._update():
            self.raised, self.tight = before
            return False
        return True

    def _exchange(self, leaving: int | None, i: int, entering: int) -> None:
        """Update the raised edges and tight rows; `entering` is an edge, or F plus the place of a tight row."""
        place = entering - self._B.shape[1]
        if leaving is None:
            if place < 0:
                self.raised.append(entering)
                self.tight.append(i)
            else:
                self.tight[place] = i
        elif place < 0:
            self.raised[leaving] = entering
        else:
            del self.raised[leaving], self.tight[place]

    def _update(self) -> bool:
        """Compute weights, slack and the cost of each edge anew; return False if the tight rows are dependent."""
        square = self._B[np.ix_(self.tight, self.raised)]
        try:
            inverse = np.asarray(np.linalg.inv(square), dtype=np.float64)
        except np.linalg.LinAlgError:
            return False
        weights = -(inverse @ self._B[self.tight, self._f])
        if not np.isfinite(weights).all():
            return False
        self._inverse, self.weights = inverse, weights
        self._slack = self._B[:, self._f] + self._B[:, self.raised] @ weights
        self._cost = 1.0 - inverse.sum(axis=0) @ self._B[self.tight]
        return True
