"""Proofs that topics are sufficiently scattered: anchor words, corners, and all vertices for few topics.

The condition asks that every vertex of {x : Cx ≥ 0, 1·x = 1} but the unit vectors is shorter than one. All three
proofs may use fewer constraints than there are, since that makes the polytope larger.
"""

from __future__ import annotations

from time import monotonic
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial import ConvexHull, QhullError

from anchorless._core.lp.simplex import SimplexSolver
from anchorless._corpus.documents import Array
from anchorless._diagnostics.identifiability.cone import NORM_TOLERANCE, Cone
from anchorless.errors import AnchorlessError

#: The most topics for which vertices are enumerated; the cost grows exponentially with them.
MAX_ENUMERATED_TOPICS = 10
#: Vertices at which the enumeration is given up, and words that join it at a time, per topic.
MAX_VERTICES = 30_000
WORDS_PER_ROUND = 2
#: The box of the programs at a corner: beyond it, a corner is taken to be open.
VERTEX_RADIUS = 1e3
#: Words that are looked at for each topic at the corner of another, the purest first.
WORDS_PER_VERTEX = 16


class Enumeration(NamedTuple):
    """What the enumeration of the vertices showed."""

    proved: bool
    candidate: Array | None  # a point of the polytope, no unit vector, with a norm of at least one within rounding
    n_vertices: int
    largest_norm: float  # of the vertices that are no unit vectors, where proved


def has_anchor_words(cone: Cone) -> bool:
    """Tell whether every topic has a word of its own alone: then the polytope is the simplex of the unit vectors."""
    own = cone.rows[np.count_nonzero(cone.rows, axis=1) == 1]
    return bool(own.any(axis=0).all())


def is_proved_at_vertices(cone: Cone, lowest: Array, deadline: float) -> bool:
    """Tell whether bounds at the corners show the condition; they do where topics are nearly separable.

    A point x ≠ e of the polytope is e + τd with τ = 1 − x_f, d_f = −1, and the other entries of d in a polytope of
    the same kind: that of the words without topic f. From bounds d ≥ b follows |d|² ≤ N, and |x|² = 1 − 2τ + τ²|d|² is
    below one where x_f > 1 − 2/N. What is left has x_f ≤ 1 − 2/N for all f, and `lowest` ≤ x (F,).
    """
    limits = np.empty(cone.n_topics)
    for f in range(cone.n_topics):
        if monotonic() > deadline:
            return False
        bounds = compute_vertex_bounds(cone, f)
        if bounds is None:
            return False
        limits[f] = compute_vertex_limit(bounds)
    return bound_squared_norm(lowest, np.maximum(limits + NORM_TOLERANCE, lowest)) < 1.0 - NORM_TOLERANCE


def compute_vertex_limit(bounds: Array) -> float:
    """Return the x_f above which every point but the corner is shorter than one, from bounds on the other entries of d.

    The largest |d|² is 1 for d_f, and that of the others, which sum to one.
    """
    return 1.0 - 2.0 / (1.0 + bound_squared_norm(bounds, np.full(len(bounds), np.inf)))


def compute_vertex_bounds(cone: Cone, f: int) -> Array | None:
    """Return the least value of each other entry of d at corner f (F − 1,); None where the corner is open."""
    n_dims = cone.n_topics - 1
    rows = select_purest_rows(np.delete(cone.rows[cone.rows[:, f] == 0.0], f, axis=1))
    if len(rows) < n_dims or not rows.any(axis=0).all():
        return None
    if n_dims == 1:
        return np.ones(1)
    programs = SimplexSolver(rows, np.ones(n_dims), VERTEX_RADIUS)
    bounds = np.empty(n_dims)
    for g, unit in enumerate(np.eye(n_dims)):
        try:
            vertex = programs.maximize(-unit)
        except AnchorlessError:
            return None
        if abs(vertex.x).max() > 0.99 * VERTEX_RADIUS:
            return None
        bounds[g] = -vertex.value - vertex.gap - NORM_TOLERANCE
    return bounds


def select_purest_rows(rows: Array) -> Array:
    """Return the rows (n, F) that come nearest to each unit vector: the others hardly change the bounds."""
    n_words = min(len(rows), WORDS_PER_VERTEX)
    chosen = np.argpartition(-rows, n_words - 1, axis=0)[:n_words] if n_words else np.empty(0, dtype=np.intp)
    return rows[np.unique(chosen)]


def bound_squared_norm(lower: Array, upper: Array) -> float:
    """Bound |x|² from above over lower ≤ x ≤ upper with sum one; −1 where there is no such x.

    Where `upper` is infinite this is exact: all but one entry are at their lower bounds. Else each square is replaced
    by its chord, (l + u)x − lu, and the sum goes to the entries with the largest chords.
    """
    free = 1.0 - lower.sum()
    if free < 0 or upper.sum() < 1.0:
        return -1.0
    if np.isinf(upper).all():
        squares = lower**2
        return float(squares.sum() + ((lower + free) ** 2 - squares).max())
    total = float((lower**2).sum())
    for g in np.argsort(-(lower + upper), kind="stable"):
        step = min(free, float(upper[g] - lower[g]))
        total += step * float(lower[g] + upper[g])
        free -= step
    return total


def enumerate_vertices(cone: Cone, deadline: float) -> Enumeration:
    """Look at all vertices that could be too long, by adding words only where a vertex is.

    A vertex of the polytope is a facet of the convex hull of the words, as points of the simplex. The hull starts
    with the centres of the simplex' facets, which the linear programs at the corners have shown to be in the cone,
    and takes in a word where a vertex that is too long violates it, until no vertex is too long.
    """
    n = cone.n_topics
    basis = np.linalg.svd(np.ones((1, n)))[2][1:].T  # (F, F − 1): orthonormal, sums zero
    facet_centres = (1.0 - np.eye(n)) / (n - 1)
    try:
        hull = ConvexHull(facet_centres @ basis, incremental=True)
        while monotonic() < deadline and len(hull.equations) <= MAX_VERTICES:
            X = 1.0 / n + (hull.equations[:, :-1] @ basis.T) / (n * hull.equations[:, -1:])
            long = np.flatnonzero((np.linalg.norm(X, axis=1) >= 1.0 - NORM_TOLERANCE) & ~find_unit_vectors(X))
            if len(long) == 0:
                proved = bool((hull.neighbors >= 0).all())
                norms = np.linalg.norm(X[~find_unit_vectors(X)], axis=1)
                return Enumeration(proved, None, len(X), float(norms.max(initial=0.0)))
            long = long[np.argsort(-np.linalg.norm(X[long], axis=1), kind="stable")][: 50 * n]
            values = cone.rows @ X[long].T
            met = values.argmin(axis=0)
            least = values[met, np.arange(len(long))]
            within = np.flatnonzero(least >= -NORM_TOLERANCE)
            if len(within):
                return Enumeration(False, X[long[within[0]]], len(X), float("nan"))
            chosen = dict.fromkeys(met.tolist())
            hull.add_points(cone.rows[list(chosen)[: WORDS_PER_ROUND * n]] @ basis)
        return Enumeration(False, None, len(hull.equations), float("nan"))
    except QhullError:  # rounding got the better of it
        return Enumeration(False, None, 0, float("nan"))


def find_unit_vectors(X: Array) -> npt.NDArray[np.bool_]:
    """Tell which rows of X (n, F) are unit vectors, within rounding."""
    ones = np.zeros_like(X)
    ones[np.arange(len(X)), X.argmax(axis=1)] = 1.0
    return np.asarray(abs(X - ones).max(axis=1) <= NORM_TOLERANCE)
