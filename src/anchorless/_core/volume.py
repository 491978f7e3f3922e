"""Algorithm 2 of the paper: maximise |det M| over {M : UM ≥ 0, columns of UM sum to one}, column by column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dger

from anchorless._core.lp.polytope import LinearProgramSolver, SolverCounts, Vertex
from anchorless._corpus.documents import Array
from anchorless.errors import RankError
from anchorless.progress import report_progress

#: A column is replaced only if that gains more than this share: ties would go round in circles.
MIN_RELATIVE_GAIN = 1e-12
#: After the first sweep the losing sign is asked where a vertex met before reaches this share of the winner's value.
SIGN_CHECK_RATIO = 0.5
#: A sign is turned at the end only if that gains more than this share: exact ties are the same volume.
SIGN_CHANGE_GAIN = 1e-9


class Volume(NamedTuple):
    """A maximiser M (F, F), how it was reached, and how far the last sweep's programs were from exact."""

    M: Array
    log_volume: float  # log|det M|
    history: tuple[float, ...]  # log|det M| after each sweep
    converged: bool
    infeasibility: float
    gap: float
    solver_counts: SolverCounts


def maximize_volume(polytope: LinearProgramSolver, starts: Sequence[Array], tol: float, max_sweeps: int) -> Volume:
    """Run Algorithm 2 from each start (F, F) and return the largest volume, the first start's where they tie."""
    best = run_sweeps(polytope, starts[0], tol, max_sweeps)
    for start in starts[1:]:
        other = run_sweeps(polytope, start, tol, max_sweeps)
        if other.log_volume > best.log_volume + tol * max(1.0, abs(best.log_volume)):
            best = other
    return best._replace(solver_counts=polytope.solver_counts)


def run_sweeps(polytope: LinearProgramSolver, M: Array, tol: float, max_sweeps: int) -> Volume:
    """Sweep over the columns until two full sweeps change log|det M| by no more than `tol` each, relatively.

    The sign that shrinks the volume through zero hardly ever wins once every column is a vertex: it is asked in the
    first sweep, later only where a vertex is known that comes near, and ruled out before the climb is called converged.
    """
    history: list[float] = []
    converged = level = False
    both_signs = True
    vertices: list[Vertex] = []
    while not converged and len(history) < max_sweeps:
        # What a climb that does not converge tells of its accuracy comes from its last sweep.
        last = len(history) + 1 == max_sweeps
        M, vertices = sweep(polytope, M, feasible=bool(history), both_signs=both_signs, certified=last)
        history.append(float(np.linalg.slogdet(M)[1]))
        report_progress("volume", len(history), None)
        was_level = level
        level = len(history) > 1 and history[-1] - history[-2] <= tol * max(1.0, abs(history[-1]))
        both_signs = False
        if was_level and level:
            vertices, both_signs = check_convergence(polytope, M)
            converged = not both_signs
    infeasibility = max(vertex.infeasibility for vertex in vertices)
    gap = max(vertex.gap for vertex in vertices)
    return Volume(M, history[-1], tuple(history), converged, infeasibility, gap, polytope.solver_counts)


def check_convergence(polytope: LinearProgramSolver, M: Array) -> tuple[list[Vertex], bool]:
    """Return the programs that close a climb at M, and whether turning a column's sign would gain after all.

    The programs of the losing sign are solved only for columns where `compute_lower_bounds` does not rule it out.
    """
    inverse = np.asarray(np.linalg.inv(M), dtype=np.float64)
    vertices = polytope.maximize_all([*inverse])
    values = np.array([vertex.value for vertex in vertices])
    highest = values + np.array([vertex.gap for vertex in vertices]) * np.linalg.norm(inverse, axis=1)
    doubtful = np.flatnonzero(-compute_lower_bounds(polytope.rows @ M, highest) > np.maximum(values, 1.0))
    turned = polytope.maximize_all([-inverse[f] for f in doubtful])
    gains = any(vertex.value > values[f] * (1.0 + SIGN_CHANGE_GAIN) for f, vertex in zip(doubtful, turned, strict=True))
    return vertices + turned, gains


def compute_lower_bounds(C: Array, highest: Array) -> Array:
    """Return a lower bound (F,) of each of the coordinates b of the points Mb of the polytope.

    `C` (m, F) are the rows of the polytope times M, `highest` (F,) upper bounds of the coordinates. These sum to
    one, and Σ C[i, g]·b[g] ≥ 0 for each word i, so a word that belongs mostly to topic f keeps b[f] from falling:
    C[i, f]·b[f] ≥ −Σ C[i, g]·b[g] over g ≠ f. A word with half of its row in the topic suffices for b[f] ≥ −1.
    """
    fall = max(1.0, float(highest.sum()))  # b[g] = 1 − Σ of the others ≥ −fall, for entries of C that round below zero
    weight = np.maximum(C, 0.0) * highest + np.maximum(-C, 0.0) * fall
    others = weight.sum(axis=1, keepdims=True) - weight
    depth = np.divide(others, C, out=np.full_like(C, np.inf), where=C > 0.0)
    return np.asarray(-depth.min(axis=0, initial=fall), dtype=np.float64)


def sweep(
    polytope: LinearProgramSolver, M: Array, *, feasible: bool, both_signs: bool = True, certified: bool = True
) -> tuple[Array, list[Vertex]]:
    """Replace each column in turn by the point of the polytope that stretches the volume most."""
    M, inverse = M.copy(), np.asarray(np.linalg.inv(M), dtype=np.float64)
    vertices = []
    for f in range(M.shape[1]):
        a = inverse[f].copy()  # a·x = det(M with column f replaced by x) / det M
        vertex = maximize_abs(polytope, a, both_signs=both_signs, certified=certified)
        if abs(vertex.value) <= MIN_RELATIVE_GAIN * a.dot(a) ** 0.5:
            raise RankError(
                "the words support fewer topics",
                parameter="n_components",
                value=M.shape[1],
                limit=M.shape[1] - 1,
                remedy="lower {n_components}",
            )
        # Until every column has been replaced once, M holds columns of the start that may be infeasible.
        if not feasible or abs(vertex.value) > 1.0 + MIN_RELATIVE_GAIN:
            M[:, f] = vertex.x
            inverse = update_inverse(inverse, f, vertex.x)
        vertices.append(vertex)
    return M, vertices


def update_inverse(inverse: Array, f: int, x: Array) -> Array:
    """Return the inverse of a matrix whose column f has been replaced by x."""
    v = inverse @ x
    pivot = v[f]
    v[f] -= 1.0
    return np.asarray(dger(-1.0 / pivot, inverse[f], v, a=inverse.T).T, dtype=np.float64)


def maximize_abs(polytope: LinearProgramSolver, a: Array, *, both_signs: bool = True, certified: bool = True) -> Vertex:
    """Maximise |a·x|: the larger of both signs; unless both are asked for, of −a only where it nearly wins already."""
    if both_signs:
        up, down = polytope.maximize_all([a, -a], certified=certified)
    else:
        up = polytope.maximize(a, certified=certified)
        if polytope.reached(-a) < SIGN_CHECK_RATIO * up.value:
            return up
        down = polytope.maximize(-a, certified=certified)
    return up if up.value >= down.value else down._replace(value=-down.value)


def make_starting_points(n_dims: int, n_starts: int, rng: np.random.Generator) -> list[Array]:
    """Return the identity, then random orthogonal matrices."""
    random = [np.linalg.qr(rng.standard_normal((n_dims, n_dims)))[0] for _ in range(n_starts - 1)]
    return [np.eye(n_dims), *random]
