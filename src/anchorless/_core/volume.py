"""Algorithm 2 of the paper: maximize |det M| over {M : UM ≥ 0, columns of UM sum to one}, column by column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dger

from anchorless._core.lp.polytope import Polytope, SolverCounts, Vertex
from anchorless._core.lp.simplex import SimplexSolver
from anchorless._core.lp.vertices import compute_pivot_multiples
from anchorless._corpus.documents import Array
from anchorless.errors import RankError
from anchorless.progress import report_progress

Solver = SimplexSolver | Polytope

#: A column is replaced only if the volume grows by more than this share: vertices that tie would alternate for ever.
MIN_RELATIVE_GAIN = 1e-12
#: After the first sweep, −a is maximized only if a stored vertex reaches this share of the maximum for a.
SIGN_CHECK_RATIO = 0.5
#: A sign is changed at convergence only if the volume grows by more than this share: exact ties are the same volume.
SIGN_CHANGE_GAIN = 1e-9
#: Sweeps end at the noise when one gains less than this share of the standard error of log|det M|: gains fall slowly,
#: by about a tenth from sweep to sweep, so ten times the last gain may follow.
NOISE_SHARE = 0.1
#: Steps of the progress that is reported.
PROGRESS_STEPS = 1 << 20


class Volume(NamedTuple):
    """A maximizer M (F, F), how it was found, and how accurate the linear programs of the last sweep were."""

    M: Array
    log_volume: float  # log|det M|
    history: tuple[float, ...]  # log|det M| after each sweep
    stopped_by: str  # "tolerance", "noise", "pivots" (as many as one topic may have), or "max_iter"
    infeasibility: float
    gap: float  # NaN if the last sweep was not certified
    solver_counts: SolverCounts

    @property
    def converged(self) -> bool:
        """Tell whether a stopping rule ended the search, not the limit on the sweeps."""
        return self.stopped_by != "max_iter"


def maximize_volume(polytope: Solver, starts: Sequence[Array], tol: float, max_sweeps: int) -> Volume:
    """Run Algorithm 2 from each start (F, F) and return the largest volume; of those that tie, the first."""
    best = run_sweeps(polytope, starts[0], tol, max_sweeps)
    for start in starts[1:]:
        other = run_sweeps(polytope, start, tol, max_sweeps)
        if other.log_volume > best.log_volume + tol * max(1.0, abs(best.log_volume)):
            best = other
    return best._replace(solver_counts=polytope.solver_counts)


def run_sweeps(
    polytope: Solver, M: Array, tol: float, max_sweeps: int, *, feasible: bool = False, until_noise: bool = False
) -> Volume:
    """Sweep over the columns until two sweeps in a row change log|det M| by no more than `tol`, relatively.

    `feasible` says that the columns of M are points of the polytope. With `until_noise`, sweeps end as soon as what is
    left to gain is less than the standard error that the noise of the rows gives to log|det M|; otherwise they go on,
    and only their limit is no failure then.
    """
    # The maximum of |a·x| can be at −a, but hardly is once every column is a vertex: so both signs are tried in the
    # first sweep, later only where a stored vertex comes near, and once more before convergence is declared.
    history: list[float] = [float(np.linalg.slogdet(M)[1])] if feasible else []
    n_before, stopped_by, level = len(history), "max_iter", False
    both_signs = not feasible
    vertices: list[Vertex] = []
    while stopped_by == "max_iter" and len(history) < n_before + max_sweeps:
        # Without convergence, the accuracy that is returned comes from the last sweep.
        last = len(history) + 1 == n_before + max_sweeps
        M, vertices = sweep(
            polytope, M, feasible=bool(history), both_signs=both_signs, certified=last, n_sweeps=len(history)
        )
        history.append(float(np.linalg.slogdet(M)[1]))
        report_progress("volume", len(history), None)
        was_level, both_signs = level, False
        gain = history[-1] - history[-2] if len(history) > 1 else np.inf
        level = gain <= tol * max(1.0, abs(history[-1]))
        if was_level and level:
            vertices, both_signs = check_convergence(polytope, M)
            stopped_by = "max_iter" if both_signs else "tolerance"
        elif (until_noise or last) and gain < NOISE_SHARE * compute_log_volume_error(vertices):
            stopped_by = "noise"
    infeasibility = max(vertex.infeasibility for vertex in vertices)
    gap = max(vertex.gap for vertex in vertices)
    return Volume(M, history[-1], tuple(history[n_before:]), stopped_by, infeasibility, gap, polytope.solver_counts)


def compute_log_volume_error(vertices: Sequence[Vertex]) -> float:
    """Return the standard error of log|det M| from the noise in the rows, to first order, by the programs of a sweep.

    A row that is tight at the vertex x with multiplier y moves the maximum a·x by y·(δ·x) if its error is δ. Errors of
    rows are independent, so the variances add; log|det M| changes by the relative change of a·x.
    """
    return float(sum(vertex.variance / vertex.value**2 for vertex in vertices) ** 0.5)


def check_convergence(polytope: Solver, M: Array) -> tuple[list[Vertex], bool]:
    """Return the certified programs at M, and whether changing the sign of a column would gain after all."""
    inverse = np.asarray(np.linalg.inv(M), dtype=np.float64)
    vertices = [polytope.maximize(a) for a in inverse]
    values = np.array([vertex.value for vertex in vertices])
    highest = values + np.array([vertex.gap for vertex in vertices]) * np.linalg.norm(inverse, axis=1)
    doubtful = np.flatnonzero(-compute_lower_bounds(polytope.rows @ M, highest) > np.maximum(values, 1.0))
    opposite = [polytope.maximize(-inverse[f]) for f in doubtful]
    limits = values[doubtful] * (1.0 + SIGN_CHANGE_GAIN)
    gains = any(vertex.value > limit for vertex, limit in zip(opposite, limits, strict=True))
    return vertices + opposite, gains


def compute_lower_bounds(C: Array, highest: Array) -> Array:
    """Return a lower bound (F,) of each coordinate of b, over the points Mb of the polytope.

    `C` (m, F) is the rows of the polytope times M, `highest` (F,) are upper bounds of the coordinates. These sum to
    one, and Σ C[i, g]·b[g] ≥ 0 for each word i, so a word that belongs mostly to topic f bounds b[f] from below:
    C[i, f]·b[f] ≥ −Σ C[i, g]·b[g] over g ≠ f. A word with half of its row in the topic suffices for b[f] ≥ −1.
    """
    fall = max(1.0, float(highest.sum()))  # b[g] = 1 − Σ of the others ≥ −fall, for entries of C that round below zero
    weight = np.maximum(C, 0.0) * highest + np.maximum(-C, 0.0) * fall
    others = weight.sum(axis=1, keepdims=True) - weight
    depth = np.divide(others, C, out=np.full_like(C, np.inf), where=C > 0.0)
    return np.asarray(-depth.min(axis=0, initial=fall), dtype=np.float64)


def sweep(
    polytope: Solver,
    M: Array,
    *,
    feasible: bool,
    both_signs: bool = True,
    certified: bool = True,
    n_sweeps: int = 0,
) -> tuple[Array, list[Vertex]]:
    """Replace each column in turn by the point of the polytope that increases the volume most, after `n_sweeps`."""
    M, inverse = M.copy(), np.asarray(np.linalg.inv(M), dtype=np.float64)
    vertices = []
    for f in range(M.shape[1]):
        a = inverse[f].copy()  # a·x = det(M with column f replaced by x) / det M
        vertex = maximize_abs(polytope, a, both_signs=both_signs, certified=certified)
        if abs(vertex.value) <= MIN_RELATIVE_GAIN * a.dot(a) ** 0.5:
            raise RankError(
                "the words distinguish fewer topics",
                parameter="n_components",
                value=M.shape[1],
                limit=M.shape[1] - 1,
                remedy="lower {n_components}",
            )
        # Until every column has been replaced once, M holds columns of the start, which may be infeasible.
        if not feasible or abs(vertex.value) > 1.0 + MIN_RELATIVE_GAIN:
            M[:, f] = vertex.x
            inverse = update_inverse(inverse, f, vertex.x)
        vertices.append(vertex)
        report_part_of_sweeps(n_sweeps, f + 1, M.shape[1])
    return M, vertices


def report_part_of_sweeps(n_sweeps: int, done: int, total: int) -> None:
    """Report the columns done after so many sweeps: how many follow is unknown, so as long as one more on average.

    The first sweeps take longest: at 100 topics of TDT2, of which there are nine, the first takes as long as the last
    seven.
    """
    n = n_sweeps + done / total
    report_progress("volume", round(PROGRESS_STEPS * n / (n + 1.0)), PROGRESS_STEPS)


def update_inverse(inverse: Array, f: int, x: Array) -> Array:
    """Return the inverse (F, F) of a matrix whose column f has been replaced by x."""
    multiples = compute_pivot_multiples(inverse @ x, f)
    return np.asarray(dger(-1.0, inverse[f], multiples, a=inverse.T).T, dtype=np.float64)


def maximize_abs(polytope: Solver, a: Array, *, both_signs: bool = True, certified: bool = True) -> Vertex:
    """Maximize |a·x|; unless both signs are asked for, −a is tried only if a stored vertex comes near."""
    up = polytope.maximize(a, certified=certified)
    if not both_signs and polytope.best_known_value(-a) < SIGN_CHECK_RATIO * up.value:
        return up
    down = polytope.maximize(-a, certified=certified)
    return up if up.value >= down.value else down._replace(value=-down.value)


def make_starting_points(n_dims: int, n_starts: int, rng: np.random.Generator) -> list[Array]:
    """Return the identity, then random orthogonal matrices."""
    random = [np.linalg.qr(rng.standard_normal((n_dims, n_dims)))[0] for _ in range(n_starts - 1)]
    return [np.eye(n_dims), *random]
