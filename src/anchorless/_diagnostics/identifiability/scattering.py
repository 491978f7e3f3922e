"""The sufficiently scattered condition (Assumption 2 of the paper): proved, refuted, or neither, and why.

(i) Every x with Cx ≥ 0 has |x| ≤ 1·x, and (ii) |x| = 1·x only for multiples of the unit vectors. Cut at 1·x = 1: every
vertex of the polytope other than the unit vectors is shorter than one. A longer vertex refutes the condition. Proofs
may leave out constraints, because that makes the polytope larger.
"""

from __future__ import annotations

from time import monotonic
from typing import NamedTuple

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from anchorless._core.lp.polytope import Vertex
from anchorless._core.lp.simplex import SimplexSolver
from anchorless._corpus.documents import Array
from anchorless._corpus.threads import call_interruptibly
from anchorless._diagnostics.identifiability.cone import NORM_TOLERANCE, Cone, find_unit_vectors, is_exact_witness
from anchorless._diagnostics.identifiability.subtraction import subtract_topics
from anchorless.errors import AnchorlessError

PROVED, REFUTED, NOT_REFUTED = "proved", "refuted", "not refuted"
#: Size of the random change of an objective that shows whether a topic is the only maximizer.
PERTURBATION = 1e-6
#: Largest number of topics for which vertices are enumerated; the cost grows exponentially with it.
MAX_ENUMERATED_TOPICS = 10
#: Largest number of topics for which linear programs are solved: for 200 topics of 20,000 words one takes seconds, and
#: the search solves hundreds. With more, topics are only subtracted from each other.
MAX_SEARCHED_TOPICS = 100
#: Number of vertices at which the enumeration stops without a result.
MAX_VERTICES = 30_000
#: Words that are added to the enumeration at a time, per topic.
WORDS_PER_ROUND = 2
#: Box of the linear programs at a unit vector; a solution at its boundary counts as unbounded.
VERTEX_RADIUS = 1e3
#: Words per topic that are used in the linear programs at another topic's unit vector, the purest first.
WORDS_PER_VERTEX = 16


class Scattering(NamedTuple):
    """The verdict on the sufficiently scattered condition, and its evidence."""

    verdict: str  # "proved", "refuted" or "not refuted"
    reason: str  # the proof, the refutation or the extent of the search, in words
    # A point that refutes the condition: weights of the topics that sum to one, with a norm of at least one, whose
    # mixture of topics is a distribution over words.
    witness: list[float] | None
    norm: float | None  # of the witness
    # NaN for topics that were not searched: there are too many, or the time was up.
    stretch: list[float]  # for each topic, the largest weight that a mixture has in it: 1 if the condition can hold
    lowest: list[float]  # for each topic, the smallest such weight: 0 if the topic has an anchor word
    n_starts: int  # number of points from which a witness was searched for
    # 1 minus the length of the longest vertex that is no topic: at least this if proved, at most this if refuted; 1 if
    # every topic has an anchor word. None if not known.
    margin: float | None = None


def check_scattering(
    cone: Cone, n_starts: int, rng: np.random.Generator, deadline: float, *, prove: bool = True
) -> Scattering:
    """Prove or refute the condition, with `n_starts` random starts; with `prove=False`, only try to refute it."""
    n, unit = cone.n_topics, np.eye(cone.n_topics)
    if cone.null_vector is not None:
        return refute_dependent_topics(cone.null_vector)
    if n == 1 or has_anchor_words(cone):
        reason = "there is only one topic" if n == 1 else "every topic has an anchor word"
        return Scattering(PROVED, reason, None, None, [1.0] * n, [0.0] * n, 0, 1.0)
    unknown = [float("nan")] * n
    if n > MAX_SEARCHED_TOPICS:
        points = subtract_topics(cone, deadline)
        reason = f"not refuted by subtracting topics from each other, {len(points)} of {n} topics"
        found = Scattering(NOT_REFUTED, reason, None, None, unknown, unknown, len(points))
        witness = find_longest_witness(cone, [*points])
        return found if witness is None else add_witness(found, witness, describe_subtraction(witness))
    highest = maximize_each(cone, unit, deadline)
    least = maximize_each(cone, -unit, deadline)
    stretch = [max(1.0, vertex.value) for vertex in highest] + unknown[len(highest) :]
    lowest = [min(0.0, -vertex.value) for vertex in least] + unknown[len(least) :]
    found = Scattering(NOT_REFUTED, "", None, None, stretch, lowest, 0)
    witness = find_longest_witness(cone, [vertex.x for vertex in highest])
    if witness is not None:
        return add_witness(found, witness, describe_subtraction(witness))
    perturbed = [e + PERTURBATION * rng.standard_normal(n) for e in unit]
    for objective in [*perturbed, *(vertex.x for vertex in least), *rng.standard_normal((n_starts, n))]:
        if monotonic() > deadline:
            break
        found = found._replace(n_starts=found.n_starts + 1)
        witness = find_longest_witness(cone, [maximize_norm(cone, objective)])
        if witness is not None:
            return add_witness(found, witness, "a mixture with weights of both signs is a distribution too far out")
    found = found._replace(reason=f"not refuted in {found.n_starts} starts")
    if not prove or len(least) < n:
        return found
    bounds = np.array([-vertex.value - vertex.gap - NORM_TOLERANCE for vertex in least])
    return prove_or_refute(cone, found, bounds, deadline)


def maximize_each(cone: Cone, objectives: Array, deadline: float) -> list[Vertex]:
    """Return the vertices that maximize the objectives (n, F), only the first ones if the time is up."""
    found = []
    for objective in objectives:
        if monotonic() > deadline:
            break
        found.append(cone.solver.maximize(objective))
    return found


def refute_dependent_topics(null_vector: Array) -> Scattering:
    """Refute the condition for linearly dependent topics (Lemma 1 of the paper): the polytope is unbounded."""
    f = int(null_vector.argmax())
    x = np.eye(len(null_vector))[f] + null_vector / null_vector[f]
    infinite = np.where(abs(null_vector) > 1e-6, np.inf, 1.0)
    reason = f"topics are linearly dependent: topic {f} is a combination of others"
    witness, norm = (x / x.sum()).tolist(), float(np.linalg.norm(x))
    return Scattering(REFUTED, reason, witness, norm, infinite.tolist(), (-infinite).tolist(), 0, 1.0 - norm)


def find_longest_witness(cone: Cone, points: list[Array]) -> Array | None:
    """Return the longest of the points that refute the condition, moved inside; None if none does."""
    best, length = None, 1.0 + NORM_TOLERANCE
    for x in points:
        if x @ x > length**2:
            moved = cone.move_inside(x)
            norm = float(np.linalg.norm(moved))
            if norm > length:
                best, length = moved, norm
    if best is not None:
        return best
    touching = [x for x in points if abs(x @ x - 1.0) <= 4 * NORM_TOLERANCE]
    touching = [x for x in touching if not find_unit_vectors(x[None])[0]]
    return next((x for x in touching if is_exact_witness(cone.words, x)), None)


def describe_subtraction(witness: Array) -> str:
    """Return why the condition fails, for a witness (F,) with a weight above one."""
    f = int(witness.argmax())
    return f"other topics can be subtracted from topic {f}: the words without it are too few or too similar"


def add_witness(found: Scattering, witness: Array, reason: str) -> Scattering:
    """Return a refutation by this witness (F,)."""
    norm = float(np.linalg.norm(witness))
    if norm <= 1.0 + NORM_TOLERANCE:
        reason = "a mixture with weights of both signs is exactly as far out as the topics: part (ii) fails"
    return found._replace(verdict=REFUTED, reason=reason, witness=witness.tolist(), norm=norm, margin=1.0 - norm)


def maximize_norm(cone: Cone, objective: Array) -> Array:
    """Return a local maximum of the norm: repeat x ← argmax x·y over y, which never shortens x."""
    x = cone.solver.maximize(objective).x
    while True:
        further = cone.solver.maximize(x).x
        if further @ further <= x @ x + NORM_TOLERANCE:
            return x
        x = further


def prove_or_refute(cone: Cone, found: Scattering, bounds: Array, deadline: float) -> Scattering:
    """Prove or refute the condition by enumeration, or prove it at the vertices; otherwise it is not refuted."""
    if cone.n_topics == 2:  # the polytope is the segment between the topics
        reason = "neither of the two topics can be subtracted from the other"
        return found._replace(verdict=PROVED, reason=reason, margin=1.0)
    if cone.n_topics <= MAX_ENUMERATED_TOPICS:
        largest_norm, candidate = enumerate_vertices(cone, deadline)
        if largest_norm is not None:
            reason = f"the longest of all other vertices has length {largest_norm:.4f}"
            return found._replace(verdict=PROVED, reason=reason, margin=1.0 - largest_norm)
        if candidate is not None:
            witness = find_longest_witness(cone, [candidate, maximize_norm(cone, candidate)])
            if witness is not None:
                return add_witness(found, witness, "the enumeration of the vertices found one that is too far out")
    if is_proved_at_vertices(cone, bounds, deadline):
        return found._replace(verdict=PROVED, reason="bounds at each topic exclude longer vertices")
    return found


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
    chosen: dict[int, None] = {}  # words of the hull, in the order in which they were added
    try:
        while monotonic() < deadline:
            # Built anew in every round: on a rounding error, `add_points` of an incremental hull ends the process
            # (Qhull calls exit; scipy issue 4974), but building one raises QhullError.
            points = np.vstack([facet_centers, cone.rows[list(chosen)]]) @ basis
            hull = call_interruptibly(ConvexHull, points)
            if len(hull.equations) > MAX_VERTICES:
                break
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
            violated = dict.fromkeys(values.argmin(axis=0).tolist())
            added = [v for v in violated if v not in chosen][: WORDS_PER_ROUND * n]
            if not added:  # a word of the hull is outside of it by more than the tolerance
                break
            chosen |= dict.fromkeys(added)
    except QhullError:  # rounding errors in the hull
        pass
    return None, None
