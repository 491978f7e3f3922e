"""The sufficiently scattered condition (Assumption 2 of the paper): proved, refuted, or neither, and why.

(i) Every x with Cx ≥ 0 has |x| ≤ 1·x, and (ii) |x| = 1·x only for multiples of the unit vectors. Cut at 1·x = 1: every
vertex of the polytope other than the unit vectors is shorter than one. A longer vertex refutes the condition.
"""

from __future__ import annotations

from time import monotonic
from typing import NamedTuple

import numpy as np

from anchorless._corpus.documents import Array
from anchorless._diagnostics.identifiability.cone import NORM_TOLERANCE, Cone, is_exact_witness
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
    """The verdict on the sufficiently scattered condition, and its evidence.

    Attributes
    ----------
    verdict : str
        "proved", "refuted" or "not refuted".
    reason : str
        The proof, the refutation or the extent of the search, in words.
    witness : list of float or None
        A point x, one weight per topic, that refutes the condition: the mixture of topics with these weights is a
        distribution over words, the weights sum to one, and their norm is at least one.
    norm : float or None
        Norm of the witness.
    stretch : list of float
        For each topic, the largest weight that a mixture can have in it: 1 if the condition can hold.
    lowest : list of float
        For each topic, the smallest such weight: 0 if the topic has an anchor word.
    n_starts : int
        Number of points from which a witness was searched for.
    """

    verdict: str
    reason: str
    witness: list[float] | None
    norm: float | None
    stretch: list[float]
    lowest: list[float]
    n_starts: int


def check_scattering(
    cone: Cone, n_starts: int, rng: np.random.Generator, deadline: float, *, prove: bool = True
) -> Scattering:
    """Prove or refute the condition for a cone, with `n_starts` random starts in addition to those at the topics.

    With `prove=False`, only try to refute it, by linear programs.
    """
    if cone.null_vector is not None:
        return refute_dependent_topics(cone)
    unit = np.eye(cone.n_topics)
    if cone.n_topics == 1 or has_anchor_words(cone):
        reason = "there is only one topic" if cone.n_topics == 1 else "every topic has an anchor word"
        return Scattering(PROVED, reason, None, None, [1.0] * len(unit), [0.0] * len(unit), 0)
    highest = [cone.solver.maximize(e) for e in unit]
    least = [cone.solver.maximize(-e) for e in unit]
    found = Scattering(
        verdict=NOT_REFUTED,
        reason="",
        witness=None,
        norm=None,
        stretch=[max(1.0, vertex.value) for vertex in highest],
        lowest=[min(0.0, -vertex.value) for vertex in least],
        n_starts=0,
    )
    witness = find_longest_witness(cone, [vertex.x for vertex in highest])
    if witness is not None:
        f = int(witness.argmax())
        reason = f"other topics can be subtracted from topic {f}: the words without it are too few or too similar"
        return add_witness(found, witness, reason)
    found, witness = search_longer_point(cone, found, [vertex.x for vertex in least], n_starts, rng, deadline)
    if witness is not None:
        return add_witness(found, witness, "a mixture with weights of both signs is a distribution too far out")
    if not prove:
        return found._replace(reason=f"not refuted in {found.n_starts} starts")
    bounds = np.array([-vertex.value - vertex.gap - NORM_TOLERANCE for vertex in least])
    return prove_or_refute(cone, found, bounds, deadline)


def refute_dependent_topics(cone: Cone) -> Scattering:
    """Refute the condition for linearly dependent topics (Lemma 1 of the paper): the polytope is unbounded."""
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
    """Return a refutation by this witness (F,)."""
    norm = float(np.linalg.norm(witness))
    if norm <= 1.0 + NORM_TOLERANCE:
        reason = "a mixture with weights of both signs is exactly as far out as the topics: part (ii) fails"
    return found._replace(verdict=REFUTED, reason=reason, witness=witness.tolist(), norm=norm)


def search_longer_point(
    cone: Cone, found: Scattering, starts: list[Array], n_starts: int, rng: np.random.Generator, deadline: float
) -> tuple[Scattering, Array | None]:
    """Search for a longer point: near each topic, from the points in `starts`, and from random directions."""
    n = cone.n_topics
    perturbed = [e + PERTURBATION * rng.standard_normal(n) for e in np.eye(n)]
    random = list(rng.standard_normal((n_starts, n)))
    done = 0
    for objective in [*perturbed, *starts, *random]:
        if monotonic() > deadline:
            break
        done += 1
        witness = find_longest_witness(cone, [maximize_norm(cone, objective)])
        if witness is not None:
            return found._replace(n_starts=done), witness
    return found._replace(n_starts=done), None


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
        every = enumerate_vertices(cone, deadline)
        if every.proved:
            text = f"the longest of all other vertices has length {every.largest_norm:.4f}"
            return found._replace(verdict=PROVED, reason=text)
        if every.candidate is not None:
            witness = find_longest_witness(cone, [every.candidate, maximize_norm(cone, every.candidate)])
            if witness is not None:
                return add_witness(found, witness, "the enumeration of the vertices found one that is too far out")
    if is_proved_at_vertices(cone, bounds, deadline):
        return found._replace(verdict=PROVED, reason="bounds at each topic exclude longer vertices")
    return found._replace(reason=f"not refuted in {found.n_starts} starts")
