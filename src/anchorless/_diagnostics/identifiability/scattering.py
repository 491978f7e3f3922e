"""The sufficiently scattered condition (Assumption 2 of the paper): proved, refuted, or neither, and why.

(i) Every x with Cx ≥ 0 has |x| ≤ 1·x, and (ii) |x| = 1·x only for multiples of the unit vectors. Cut at 1·x = 1: every
vertex of the polytope other than the unit vectors is shorter than one. A longer vertex refutes the condition.
"""

from __future__ import annotations

from time import monotonic
from typing import NamedTuple

import numpy as np

from anchorless._corpus.documents import Array
from anchorless._diagnostics.identifiability.cone import NORM_TOLERANCE, Cone, find_unit_vectors, is_exact_witness
from anchorless._diagnostics.identifiability.proofs import (
    MAX_ENUMERATED_TOPICS,
    enumerate_vertices,
    has_anchor_words,
    is_proved_at_vertices,
)

PROVED, REFUTED, NOT_REFUTED = "proved", "refuted", "not refuted"
#: Size of the random change of an objective that shows whether a topic is the only maximizer.
PERTURBATION = 1e-6


class Scattering(NamedTuple):
    """The verdict on the sufficiently scattered condition, and its evidence."""

    verdict: str  # "proved", "refuted" or "not refuted"
    reason: str  # the proof, the refutation or the extent of the search, in words
    # A point that refutes the condition: weights of the topics that sum to one, with a norm of at least one, whose
    # mixture of topics is a distribution over words.
    witness: list[float] | None
    norm: float | None  # of the witness
    stretch: list[float]  # for each topic, the largest weight that a mixture has in it: 1 if the condition can hold
    lowest: list[float]  # for each topic, the smallest such weight: 0 if the topic has an anchor word
    n_starts: int  # number of points from which a witness was searched for


def check_scattering(
    cone: Cone, n_starts: int, rng: np.random.Generator, deadline: float, *, prove: bool = True
) -> Scattering:
    """Prove or refute the condition, with `n_starts` random starts; with `prove=False`, only try to refute it."""
    n, unit = cone.n_topics, np.eye(cone.n_topics)
    if cone.null_vector is not None:
        return refute_dependent_topics(cone.null_vector)
    if n == 1 or has_anchor_words(cone):
        reason = "there is only one topic" if n == 1 else "every topic has an anchor word"
        return Scattering(PROVED, reason, None, None, [1.0] * n, [0.0] * n, 0)
    highest = [cone.solver.maximize(e) for e in unit]
    least = [cone.solver.maximize(-e) for e in unit]
    stretch = [max(1.0, vertex.value) for vertex in highest]
    lowest = [min(0.0, -vertex.value) for vertex in least]
    found = Scattering(NOT_REFUTED, "", None, None, stretch, lowest, 0)
    witness = find_longest_witness(cone, [vertex.x for vertex in highest])
    if witness is not None:
        f = int(witness.argmax())
        reason = f"other topics can be subtracted from topic {f}: the words without it are too few or too similar"
        return add_witness(found, witness, reason)
    perturbed = [e + PERTURBATION * rng.standard_normal(n) for e in unit]
    for objective in [*perturbed, *(vertex.x for vertex in least), *rng.standard_normal((n_starts, n))]:
        if monotonic() > deadline:
            break
        found = found._replace(n_starts=found.n_starts + 1)
        witness = find_longest_witness(cone, [maximize_norm(cone, objective)])
        if witness is not None:
            return add_witness(found, witness, "a mixture with weights of both signs is a distribution too far out")
    found = found._replace(reason=f"not refuted in {found.n_starts} starts")
    if not prove:
        return found
    bounds = np.array([-vertex.value - vertex.gap - NORM_TOLERANCE for vertex in least])
    return prove_or_refute(cone, found, bounds, deadline)


def refute_dependent_topics(null_vector: Array) -> Scattering:
    """Refute the condition for linearly dependent topics (Lemma 1 of the paper): the polytope is unbounded."""
    f = int(null_vector.argmax())
    x = np.eye(len(null_vector))[f] + null_vector / null_vector[f]
    infinite = np.where(abs(null_vector) > 1e-6, np.inf, 1.0)
    reason = f"topics are linearly dependent: topic {f} is a combination of others"
    witness, norm = (x / x.sum()).tolist(), float(np.linalg.norm(x))
    return Scattering(REFUTED, reason, witness, norm, infinite.tolist(), (-infinite).tolist(), 0)


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


def add_witness(found: Scattering, witness: Array, reason: str) -> Scattering:
    """Return a refutation by this witness (F,)."""
    norm = float(np.linalg.norm(witness))
    if norm <= 1.0 + NORM_TOLERANCE:
        reason = "a mixture with weights of both signs is exactly as far out as the topics: part (ii) fails"
    return found._replace(verdict=REFUTED, reason=reason, witness=witness.tolist(), norm=norm)


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
        return found._replace(verdict=PROVED, reason="neither of the two topics can be subtracted from the other")
    if cone.n_topics <= MAX_ENUMERATED_TOPICS:
        largest_norm, candidate = enumerate_vertices(cone, deadline)
        if largest_norm is not None:
            reason = f"the longest of all other vertices has length {largest_norm:.4f}"
            return found._replace(verdict=PROVED, reason=reason)
        if candidate is not None:
            witness = find_longest_witness(cone, [candidate, maximize_norm(cone, candidate)])
            if witness is not None:
                return add_witness(found, witness, "the enumeration of the vertices found one that is too far out")
    if is_proved_at_vertices(cone, bounds, deadline):
        return found._replace(verdict=PROVED, reason="bounds at each topic exclude longer vertices")
    return found
