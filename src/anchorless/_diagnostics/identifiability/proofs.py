"""Proofs that topics are sufficiently scattered: anchor words, bounds at unit vectors, enumeration for few topics.

The condition is that every vertex of {x : Cx ≥ 0, 1·x = 1} other than the unit vectors is shorter than one. All three
proofs may leave out constraints, because that makes the polytope larger.
"""

from __future__ import annotations

from time import monotonic

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from anchorless._core.lp.simplex import SimplexSolver
from anchorless._corpus.documents import Array
from anchorless._diagnostics.identifiability.cone import NORM_TOLERANCE, Cone, find_unit_vectors
from anchorless.errors import AnchorlessError

#: Largest number of topics for which vertices are enumerated; the cost grows exponentially with it.
MAX_ENUMERATED_TOPICS = 10
#: Number of vertices at which the enumeration stops without a result.
MAX_VERTICES = 30_000
#: Words that are added to the enumeration at a time, per topic.
WORDS_PER_ROUND = 2
#: Box of the linear programs at a unit vector; a solution at its boundary counts as unbounded.
VERTEX_RADIUS = 1e3
#: Words per topic that are used in the linear programs at another topic's unit vector, the purest first.
WORDS_PER_VERTEX = 16


def has_anchor_words(cone: Cone) -> bool:
    """Tell whether each topic has a word of its own; then the polytope is the simplex of the unit vectors."""
    own = cone.rows[np.count_nonzero(cone.rows, axis=1) == 1]
    return bool(own.any(axis=0).all())


def is_proved_at_vertices(cone: Cone, lowest: Array, deadline: float) -> bool:
    """Tell whether bounds at the unit vectors prove the condition; they do if topics are nearly separable.

    A point x ≠ e of the polytope is e + τd with τ = 1 − x_f, d_f = −1, and the other entries of d in a polytope of
    the same kind: that of the words without topic f. Bounds d ≥ b imply |d|² ≤ N, and |x|² = 1 − 2τ + τ²|d|² is
    below one for x_f > 1 − 2/N. All other points have x_f ≤ 1 − 2/N for all f, and `lowest` ≤ x (F,).
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
    """Return the x_f above which every point but the unit vector is shorter than one, given bounds on d (F − 1,)."""
    return 1.0 - 2.0 / (1.0 + bound_squared_norm(bounds, np.full(len(bounds), np.inf)))


def compute_vertex_bounds(cone: Cone, f: int) -> Array | None:
    """Return lower bounds on the other entries of d at unit vector f (F − 1,), F > 2; None if they are unbounded."""
    n_dims = cone.n_topics - 1
    rows = np.delete(cone.rows[cone.rows[:, f] == 0.0], f, axis=1)
    if len(rows) < n_dims:
        return None
    n_words = min(len(rows), WORDS_PER_VERTEX)  # the purest of each topic; the others hardly change the bounds
    rows = rows[np.unique(np.argpartition(-rows, n_words - 1, axis=0)[:n_words])]
    if len(rows) < n_dims or not rows.any(axis=0).all():
        return None
    solver = SimplexSolver(rows, np.ones(n_dims), VERTEX_RADIUS)
    bounds = np.empty(n_dims)
    for g, unit in enumerate(np.eye(n_dims)):
        try:
            vertex = solver.maximize(-unit)
        except AnchorlessError:
            return None
        if abs(vertex.x).max() > 0.99 * VERTEX_RADIUS:
            return None
        bounds[g] = -vertex.value - vertex.gap - NORM_TOLERANCE
    return bounds


def bound_squared_norm(lower: Array, upper: Array) -> float:
    """Bound |x|² from above over lower ≤ x ≤ upper with sum one; −1 if there is no such x.

    For infinite `upper` the bound is exact: all but one entry are at their lower bounds. Otherwise each square is
    replaced by its chord, (l + u)x − lu, and the sum goes to the entries with the steepest chords.
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


def enumerate_vertices(cone: Cone, deadline: float) -> tuple[float | None, Array | None]:
    """Return the norm of the longest vertex but the unit vectors if that is a proof; and one that may be too long.

    A vertex of the polytope is a facet of the convex hull of the words, as points of the simplex. The hull starts with
    the centers of the simplex' facets, which the linear programs at the unit vectors have shown to be in the cone, and
    adds a word that a too long vertex violates, until no vertex is too long or one violates no word.
    """
    n = cone.n_topics
    basis = np.linalg.svd(np.ones((1, n)))[2][1:].T  # (F, F − 1): orthonormal, sums zero
    facet_centers = (1.0 - np.eye(n)) / (n - 1)
    try:
        hull = ConvexHull(facet_centers @ basis, incremental=True)
        while monotonic() < deadline and len(hull.equations) <= MAX_VERTICES:
            X = 1.0 / n + (hull.equations[:, :-1] @ basis.T) / (n * hull.equations[:, -1:])
            norms, other = np.linalg.norm(X, axis=1), ~find_unit_vectors(X, NORM_TOLERANCE)
            long = np.flatnonzero((norms >= 1.0 - NORM_TOLERANCE) & other)
            if len(long) == 0:
                return (float(norms[other].max(initial=0.0)) if (hull.neighbors >= 0).all() else None), None
            long = long[np.argsort(-norms[long], kind="stable")][: 50 * n]
            values = cone.rows @ X[long].T
            within = np.flatnonzero(values.min(axis=0) >= -NORM_TOLERANCE)
            if len(within):
                return None, X[long[within[0]]]
            chosen = dict.fromkeys(values.argmin(axis=0).tolist())
            hull.add_points(cone.rows[list(chosen)[: WORDS_PER_ROUND * n]] @ basis)
    except QhullError:  # rounding errors in the hull
        pass
    return None, None
