"""The sufficiently scattered condition (Assumption 2 of the paper): proved, refuted, or neither, and by what.

(i) every x with Cx ≥ 0 has |x| ≤ 1·x, and (ii) |x| = 1·x only for multiples of the unit vectors. Cut at 1·x = 1: every
vertex of the polytope is shorter than one, but for the unit vectors. A longer one refutes the condition.
"""

from __future__ import annotations

from time import monotonic
from typing import NamedTuple

import numpy as np

from anchorless._corpus.documents import Array
from anchorless._diagnostics.identifiability.cone import NORM_TOLERANCE, Cone
from anchorless._diagnostics.identifiability.exact import is_exact_witness
from anchorless._diagnostics.identifiability.proofs import (
    MAX_ENUMERATED_TOPICS,
    enumerate_vertices,
    has_anchor_words,
    is_proved_at_vertices,
)

PROVED, REFUTED, NOT_REFUTED = "proved", "refuted", "not refuted"
#: How far the objective is turned away from a topic to see whether the topic is the only point with its value.
PERTURBATION = 1e-6


class Scattering(NamedTuple):
    """The verdict on the condition, and what it rests on."""

    verdict: str  # "proved", "refuted" or "not refuted"
    reason: str  # by what, in words
    witness: list[float] | None  # x (F,) with Cx ≥ 0 and 1·x = 1 that refutes it
    norm: float | None  # of the witness
    stretch: list[float]  # for each topic f the largest x_f over the polytope: 1 where the condition can hold
    lowest: list[float]  # for each topic f the least x_f: 0 where it has an anchor word
    n_starts: int  # from where longer points were searched


def scattering(
    cone: Cone, n_starts: int, rng: np.random.Generator, deadline: float, *, prove: bool = True
) -> Scattering:
    """Return the verdict on the condition for a cone; `n_starts` random ones beside those that the topics give.

    Without `prove` it is only tried to refute it, by the linear programs.
    """
    if cone.null_vector is not None:
        return refute_dependent_topics(cone)
    unit = np.eye(cone.n_topics)
    if cone.n_topics == 1 or has_anchor_words(cone):
        reason = "there is one topic only" if cone.n_topics == 1 else "every topic has an anchor word"
        return Scattering(PROVED, reason, None, None, [1.0] * len(unit), [0.0] * len(unit), 0)
    highest = [cone.solver.maximize(e) for e in unit]
    least = [cone.solver.maximize(-e) for e in unit]
    found = Scattering(
        NOT_REFUTED,
        "",
        None,
        None,
        [max(1.0, vertex.value) for vertex in highest],
        [min(0.0, -vertex.value) for vertex in least],
        0,
    )
    witness = find_longest_witness(cone, [vertex.x for vertex in highest])
    if witness is not None:
        reason = f"topic {int(witness.argmax())} can be stretched: the words without it are too few or too much alike"
        return add_witness(found, witness, reason)
    found, witness = search_longer_point(cone, found, [vertex.x for vertex in least], n_starts, rng, deadline)
    if witness is not None:
        return add_witness(
            found, witness, "a mixture of topics with weights of both signs is a distribution too far out"
        )
    if not prove:
        return found._replace(reason=f"not refuted in {found.n_starts} starts")
    bounds = np.array([-vertex.value - vertex.gap - NORM_TOLERANCE for vertex in least])
    return prove_or_refute(cone, found, bounds, deadline)


def refute_dependent_topics(cone: Cone) -> Scattering:
    """Return the refutation for topics that are linearly dependent (Lemma 1 of the paper): x can go on for ever."""
    assert cone.null_vector is not None
    f = int(cone.null_vector.argmax())
    x = np.eye(cone.n_topics)[f] + cone.null_vector / cone.null_vector[f]
    infinite = np.where(abs(cone.null_vector) > 1e-6, np.inf, 1.0)
    reason = f"topics are linearly dependent: topic {f} is a combination of others"
    witness = (x / x.sum()).tolist()
    return Scattering(REFUTED, reason, witness, float(np.linalg.norm(x)), infinite.tolist(), (-infinite).tolist(), 0)


def find_longest_witness(cone: Cone, points: list[Array]) -> Array | None:
    """Return the longest of the points that refute the condition, moved inside; None if none does."""
    best, length = None, 1.0 + NORM_TOLERANCE
    for x in points:
        if x @ x > length**2:
            moved = cone.move_inside(x)
            norm = float(np.linalg.norm(moved))
            if norm > length:
                best, length = moved, norm
    if best is None:
        touching = [x for x in points if abs(x @ x - 1.0) <= 4 * NORM_TOLERANCE and not cone.is_unit_vector(x)]
        best = next((x for x in touching if is_exact_witness(cone.words, x)), None)
    return best


def add_witness(found: Scattering, witness: Array, reason: str) -> Scattering:
    """Return the verdict with its witness."""
    norm = float(np.linalg.norm(witness))
    if norm <= 1.0 + NORM_TOLERANCE:
        reason = "a mixture of topics with weights of both signs is exactly as far out as the topics: part (ii) fails"
    return found._replace(verdict=REFUTED, reason=reason, witness=witness.tolist(), norm=norm)


def search_longer_point(
    cone: Cone, found: Scattering, starts: list[Array], n_starts: int, rng: np.random.Generator, deadline: float
) -> tuple[Scattering, Array | None]:
    """Look for a longer point: near each topic, from the least of each, and from random directions.

    From x, the point furthest in the direction of x is no shorter; where it is no longer either, the search ends.
    """
    n = cone.n_topics
    turned = [e + PERTURBATION * rng.standard_normal(n) for e in np.eye(n)]
    random = list(rng.standard_normal((n_starts, n)))
    done = 0
    for objective in [*turned, *starts, *random]:
        if monotonic() > deadline:
            break
        done += 1
        witness = find_longest_witness(cone, [maximize_norm(cone, objective)])
        if witness is not None:
            return found._replace(n_starts=done), witness
    return found._replace(n_starts=done), None


def maximize_norm(cone: Cone, objective: Array) -> Array:
    """Return a point than which no point in its own direction is longer."""
    x = cone.solver.maximize(objective).x
    while True:
        further = cone.solver.maximize(x).x
        if further @ further <= x @ x + NORM_TOLERANCE:
            return x
        x = further


def prove_or_refute(cone: Cone, found: Scattering, bounds: Array, deadline: float) -> Scattering:
    """Prove the condition, or refute it after all, or say that it was not refuted."""
    if cone.n_topics == 2:  # the polytope is the segment between the topics
        return found._replace(verdict=PROVED, reason="neither of two topics can be stretched")
    if cone.n_topics <= MAX_ENUMERATED_TOPICS:
        every = enumerate_vertices(cone, deadline)
        if every.proved:
            text = f"the largest of all other vertices has length {every.largest_norm:.4f}"
            return found._replace(verdict=PROVED, reason=text)
        if every.candidate is not None:
            witness = find_longest_witness(cone, [every.candidate, maximize_norm(cone, every.candidate)])
            if witness is not None:
                return add_witness(found, witness, "one of all vertices is too far out")
    if is_proved_at_vertices(cone, bounds, deadline):
        return found._replace(verdict=PROVED, reason="the words near each topic leave too little room")
    return found._replace(reason=f"not refuted in {found.n_starts} starts")
