"""Are these topics the only ones that their co-occurrences allow? The paper's theorem, asked of a fitted model.

The topics C (V, F) of P = CECᵀ are unique, by the criterion of smallest |det E|, if they are sufficiently scattered.
Checking that is NP-hard in general, so a verdict says no more than was shown: proved, refuted with a point that anyone
can check, or not refuted in so many starts. See docs/trust.md.
"""

from __future__ import annotations

from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from anchorless._core.topics import compute_topic_correlation, compute_topic_shares
from anchorless._corpus.documents import Array
from anchorless._diagnostics.identifiability.candidates import TopicAnchors, find_anchor_candidates, find_common_words
from anchorless._diagnostics.identifiability.close_pairs import (
    ClosePair,
    WeakestDirection,
    close_pairs,
    find_weakest_direction,
)
from anchorless._diagnostics.identifiability.cone import Cone
from anchorless._diagnostics.identifiability.noise import Robustness, survival
from anchorless._diagnostics.identifiability.scattering import Scattering, scattering
from anchorless._diagnostics.identifiability.uniqueness import Uniqueness, uniqueness
from anchorless._validation import check_positive, check_whole
from anchorless.errors import InputError

#: Candidates for anchor words that are kept of each topic.
N_CANDIDATES = 5


class Evidence(NamedTuple):
    """What is known of a fit beside its result; None for what is not."""

    document_frequency: Array | None = None  # (V,), documents that hold each word
    eigengap: float | None = None  # (λ_F − λ_F+1) / λ_F
    clipped_mass: Array | None = None  # (F,), negative probability that was cut off from each topic


class Identifiability(NamedTuple):
    """All that was found out; topics and words by their numbers."""

    n_topics: int
    n_words: int
    anchors: list[TopicAnchors]  # one per topic
    scattering: Scattering  # of the topics as they are
    n_known_words: int  # words in enough documents
    known: Scattering  # the same for these words alone
    uniqueness: Uniqueness
    survival: Robustness  # of the verdict on the known words
    close_pairs: list[ClosePair]
    weakest: WeakestDirection
    eigengap: float | None
    clipped_mass: list[float] | None
    time_is_up: bool  # whether the time limit stopped something: then the result may differ from run to run

    def as_dict(self) -> dict[str, Any]:
        """Return everything as dictionaries, lists, numbers and texts, for JSON.

        Of a second solution the topics are left out: they are `components` times the transposed `mixing`.
        """
        return to_json_record(self)


def identifiability(
    components: Any,
    moments: Any = None,
    evidence: Evidence | None = None,
    *,
    n_starts: int = 10,
    time_limit: float = 60.0,
    random_state: int = 0,
) -> Identifiability:
    """Return how far topics are determined by their co-occurrences.

    `components` is (F, V), topics × words, scaled here to sum one in each topic, as the theorem has it; `moments` is E,
    (F, F). Searches start from `n_starts` random points beside those that the topics give. The same input gives the
    same result as long as `time_limit` (seconds) stops nothing.
    """
    evidence = Evidence() if evidence is None else evidence
    C, E, documents = validate_topics(components, moments, evidence.document_frequency)
    n_starts, seed = check_whole("n_starts", n_starts), check_whole("random_state", random_state, least=0)
    deadline = monotonic() + check_positive("time_limit", time_limit)
    with threadpool_limits(1, user_api="blas"):  # its rounding depends on the number of threads
        return assess_topics(C, E, documents, evidence, (n_starts, seed, deadline))


def assess_topics(
    C: Array, E: Array | None, documents: Array | None, evidence: Evidence, search: tuple[int, int, float]
) -> Identifiability:
    """Return the record for checked input; `search` holds the number of starts, the seed and the deadline."""
    n_starts, seed, deadline = search
    streams = [np.random.default_rng([seed, k]) for k in range(4)]
    n_topics = C.shape[1]
    cone = Cone(C)
    found = scattering(cone, n_starts, streams[0], deadline)
    words = find_common_words(C, documents)
    known, part = found, C
    if not words[cone.kept].all() and C[words].any(axis=0).all():
        part = C[words] / C[words].sum(axis=0)
        known = scattering(Cone(part), n_starts, streams[1], deadline)
    part_documents = None if documents is None else documents[words] if part is not C else documents
    shares = np.full(n_topics, 1.0 / n_topics) if E is None else compute_topic_shares(E)
    correlation = np.eye(n_topics) if E is None else compute_topic_correlation(E)
    return Identifiability(
        n_topics=n_topics,
        n_words=int(cone.kept.sum()),
        anchors=find_anchor_candidates(C, shares, documents, N_CANDIDATES),
        scattering=found,
        n_known_words=int(words.sum()),
        known=known,
        uniqueness=uniqueness(cone, E, found, n_starts, streams[2], deadline),
        survival=survival(part, part_documents, known, streams[3], deadline),
        close_pairs=close_pairs(C, correlation, documents),
        weakest=find_weakest_direction(C),
        eigengap=evidence.eigengap,
        clipped_mass=None if evidence.clipped_mass is None else evidence.clipped_mass.tolist(),
        time_is_up=monotonic() > deadline,
    )


def validate_topics(components: Any, moments: Any, documents: Any) -> tuple[Array, Array | None, Array | None]:
    """Return C (V, F) with columns of sum one, E and the document frequencies; else say what is wrong."""
    given = to_float_array("components", components)
    if given.ndim != 2 or given.size == 0:
        raise InputError(f"components has shape {given.shape}, but it must be topics × words, at least one of each")
    bad = np.argwhere(~(np.isfinite(given) & (given >= 0)))
    if len(bad):
        f, v = bad[0]
        raise InputError(f"components[{f}, {v}] is {given[f, v]}, but probabilities are finite and at least 0")
    total = given.sum(axis=1)
    if not total.all() or not np.isfinite(total).all():
        f = int(np.argmin((total > 0) & np.isfinite(total)))
        raise InputError(f"topic {f} has probabilities of sum {total[f]}; leave it out, or fit fewer topics")
    C = np.ascontiguousarray((given / total[:, None]).T)
    n_words, n_topics = C.shape
    E = None if moments is None else validate_moments(moments, n_topics)
    if documents is None:
        return C, E, None
    frequency = to_float_array("document_frequency", documents)
    if frequency.shape != (n_words,) or not (np.isfinite(frequency) & (frequency >= 0)).all():
        raise InputError(f"document_frequency must be one number of at least 0 for each of the {n_words} words")
    return C, E, frequency


def validate_moments(moments: Any, n_topics: int) -> Array:
    """Return E (F, F), symmetric and finite."""
    E = to_float_array("moments", moments)
    if E.shape != (n_topics, n_topics):
        raise InputError(f"moments has shape {E.shape}, but components has {n_topics} topics")
    if not np.isfinite(E).all() or not np.allclose(E, E.T, rtol=1e-8, atol=1e-12 * abs(E).max()):
        raise InputError("moments must be finite and symmetric")
    return (E + E.T) / 2


def to_float_array(name: str, value: Any) -> Array:
    """Return an array of floats."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be an array of numbers, but it is a {type(value).__name__}") from None


def to_json_record(value: Any) -> Any:
    """Return records as dictionaries and arrays as lists; numbers that JSON does not have become None."""
    if hasattr(value, "_asdict"):
        return {name: to_json_record(item) for name, item in value._asdict().items() if name != "components"}
    if isinstance(value, np.ndarray):
        return to_json_record(value.tolist())
    if isinstance(value, list | tuple):
        return [to_json_record(item) for item in value]
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value
