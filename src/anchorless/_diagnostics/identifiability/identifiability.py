"""Are these topics the only ones that their co-occurrences allow? The paper's theorem, applied to a fitted model.

The topics C (V, F) of P = CECᵀ are unique, by the criterion of smallest |det E|, if they are sufficiently scattered.
Checking that is NP-hard in general, so a verdict says no more than was shown: proved, refuted with a point that anyone
can check, or not refuted from a number of starts. Topics of documents have errors: their verdict is that of the words
and zeros with enough evidence, if the fit stands out from one of the same tokens in random order. See docs/trust.md.
"""

from __future__ import annotations

from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from anchorless._core.topics import compute_topic_correlation, compute_topic_shares, to_pmf
from anchorless._corpus.documents import Array
from anchorless._diagnostics.identifiability.anchor_words import TopicAnchors, find_anchor_candidates, find_common_words
from anchorless._diagnostics.identifiability.cone import Cone
from anchorless._diagnostics.identifiability.known_part import KnownPart, select_known_part
from anchorless._diagnostics.identifiability.noise import (
    ClosePair,
    Robustness,
    WeakestDirection,
    find_close_pairs,
    find_weakest_direction,
    measure_robustness,
)
from anchorless._diagnostics.identifiability.scattering import PROVED, Scattering, check_scattering
from anchorless._diagnostics.identifiability.shuffled import Margins, ShuffledComparison, compare_with_shuffled
from anchorless._diagnostics.identifiability.uniqueness import (
    NOT_SUPPORTED,
    Uniqueness,
    check_uniqueness,
    extend_to_all_words,
    judge_leeway,
    measure_leeway,
)
from anchorless._validation import check_positive, check_whole
from anchorless.errors import InputError

#: Candidates for anchor words that are listed for each topic.
N_CANDIDATES = 5
#: Longest search for a refutation in a comparison of several numbers of topics.
SUMMARY_SECONDS = 30.0


class Evidence(NamedTuple):
    """What is known of a fit besides its topics; None for what is not known."""

    document_frequency: Array | None = None  # (V,), number of documents that contain each word
    eigengap: float | None = None  # (λ_F − λ_F+1) / λ_F
    clipped_mass: Array | None = None  # (F,), negative probability that was clipped from each topic
    word_noise: Array | None = None  # (V,), mean square of what is unexplained of a word, over the documents
    eigenvalues: Array | None = None  # (F,), those of the fit
    margins: Margins | None = None  # what is needed to shuffle the tokens


class Identifiability(NamedTuple):
    """How far topics are determined by their co-occurrences. Topics and words are given by number.

    Attributes
    ----------
    n_topics : int
        Number of topics. With more than 100, a counterexample and other topics are searched for only by subtracting
        topics from each other, which finds less: `scattering`, `known` and `uniqueness` then have as many starts as
        topics from which others were subtracted.
    n_words : int
        Number of words with a probability above rounding error.
    anchors : list of TopicAnchors
        For each topic, the words that come nearest to belonging to it alone.
    scattering : Scattering
        Verdict on the sufficiently scattered condition, under which the topics are unique.
    n_known_words : int
        Number of words in enough documents.
    known : Scattering
        The same verdict for these words alone, with zeros only where the documents can tell them from a small
        probability.
    uniqueness : Uniqueness
        Whether other topics have the same co-occurrences, with an example if one was found. Topics of documents have
        errors: "unique" or "nearly unique" means that these allow little change; "not supported", that the topics do
        not stand out from those of tokens in random order.
    leeway : list of float or None
        For each topic, the share of its probability that lies on other words in the solution with the largest volume,
        if every probability that may be zero is as large as its error allows. None for exact topics.
    shuffled : ShuffledComparison or None
        The comparison with the same tokens in random order. None if there was none: for topics or co-occurrences that
        were given, and if the number of tokens of each document is not known.
    survival : Robustness
        Largest random errors that do not change the verdict of `known`.
    close_pairs : list of ClosePair
        Pairs of topics that the data can hardly tell apart.
    weakest : WeakestDirection
        The combination of topics that changes the word probabilities least.
    eigengap : float or None
        Relative gap between the last eigenvalue used and the next one, if known.
    clipped_mass : list of float or None
        For each topic, the negative probability that the fit clipped to zero, if known.
    time_is_up : bool
        Whether the time limit was reached. The result may then differ from run to run.
    """

    n_topics: int
    n_words: int
    anchors: list[TopicAnchors]
    scattering: Scattering
    n_known_words: int
    known: Scattering
    uniqueness: Uniqueness
    leeway: list[float] | None
    shuffled: ShuffledComparison | None
    survival: Robustness
    close_pairs: list[ClosePair]
    weakest: WeakestDirection
    eigengap: float | None
    clipped_mass: list[float] | None
    time_is_up: bool

    def __repr__(self) -> str:
        verdict = f"{self.n_topics} topics, {self.uniqueness.verdict!r}"
        return f"<identifiability of {verdict}: its attributes and as_dict() have the numbers>"

    def as_dict(self) -> dict[str, Any]:
        """Return the record as dictionaries, lists, numbers and strings, for JSON.

        Returns
        -------
        dict
            The fields by name; NaN and infinity become None. The topics of a second solution are left out: they are
            the transposed `mixing` times the fitted topics.
        """
        return to_json_record(self)


def assess_identifiability(
    components: Any,
    moments: Any = None,
    evidence: Evidence | None = None,
    *,
    n_starts: int = 10,
    time_limit: float = 60.0,
    random_state: int = 0,
) -> Identifiability:
    """Return how far topics (F, V), scaled to sum one, with moments (F, F) are determined by their co-occurrences."""
    evidence = Evidence() if evidence is None else evidence
    C, E, documents = validate_topics(components, moments, evidence.document_frequency)
    n_starts, seed = check_whole("n_starts", n_starts), check_whole("random_state", random_state, least=0)
    deadline = monotonic() + check_positive("time_limit", time_limit)
    streams = [np.random.default_rng([seed, k]) for k in range(5)]
    n_topics = C.shape[1]
    with threadpool_limits(1, user_api="blas"):  # the rounding of BLAS depends on its number of threads
        cone = Cone(C)
        found = check_scattering(cone, n_starts, streams[0], deadline)
        shuffled = None
        if n_topics > 1 and evidence.margins is not None and evidence.eigenvalues is not None:
            proved = found.verdict == PROVED  # is that more than chance gives?
            given = (evidence.eigenvalues, evidence.margins, streams[4], deadline)
            shuffled = compare_with_shuffled(*given, with_topics=proved)
        shares = np.full(n_topics, 1.0 / n_topics) if E is None else compute_topic_shares(E)
        correlation = np.eye(n_topics) if E is None else compute_topic_correlation(E)
        noise = 0.0 if shuffled is None else shuffled.noise
        part = select_known_part(C, E, documents, evidence.word_noise, noise)
        if part is None:
            known, unique, leeway = found, check_uniqueness(cone, E, found, n_starts, streams[2], deadline), None
        else:
            known = check_scattering(Cone(part.C), n_starts, streams[1], deadline)
            other = search_within_errors(C, E, part, n_starts, streams[2], deadline)
            leeway = measure_leeway(other, n_topics)
            unique = judge_leeway(known, other, leeway)
        if shuffled is not None and shuffled.n_supported < n_topics:
            unique = Uniqueness(NOT_SUPPORTED, None, unique.n_starts)
        topics, errors = (C, None) if part is None else (part.C, part.errors)
        return Identifiability(
            n_topics=n_topics,
            n_words=int(cone.used_words.sum()),
            anchors=find_anchor_candidates(C, shares, documents, N_CANDIDATES),
            scattering=found,
            n_known_words=int((cone.used_words if part is None else part.words).sum()),
            known=known,
            uniqueness=unique,
            leeway=leeway,
            shuffled=shuffled,
            survival=measure_robustness(topics, errors, known, streams[3], deadline),
            close_pairs=find_close_pairs(C, shares, correlation, documents),
            weakest=find_weakest_direction(C),
            eigengap=evidence.eigengap,
            clipped_mass=None if evidence.clipped_mass is None else evidence.clipped_mass.tolist(),
            time_is_up=monotonic() > deadline,
        )


def search_within_errors(
    C: Array, E: Array | None, part: KnownPart, n_starts: int, rng: np.random.Generator, deadline: float
) -> Uniqueness:
    """Return another solution for topics C (V, F) with moments E (F, F) in which no zero is certain."""
    cone = Cone(part.loosest)
    found = check_scattering(cone, n_starts, rng, deadline, prove=False)
    return extend_to_all_words(check_uniqueness(cone, None, found, n_starts, rng, deadline), C, E, part.mass)


def summarize_identifiability(C: Array, shares: Array, documents: Array) -> tuple[float, str]:
    """Return `anchor` and `scattered` of a `SearchRow`, for topics C (V, F), shares (F,) and document frequencies (V,).

    The only proof that is tried is that by anchor words: the time of the others is unbounded. A refutation is searched
    for during `SUMMARY_SECONDS`.
    """
    anchors = find_anchor_candidates(C, shares, documents, 1)
    nearest = [topic.candidates[0].share for topic in anchors if topic.candidates]
    words = find_common_words(C, documents)
    if not C[words].any(axis=0).all():  # a topic has only rare words
        words = np.asarray(C.any(axis=1))
    found = check_scattering(
        Cone(to_pmf(C[words])), 0, np.random.default_rng(0), monotonic() + SUMMARY_SECONDS, prove=False
    )
    return min(nearest, default=0.0), found.verdict


def validate_topics(components: Any, moments: Any, documents: Any) -> tuple[Array, Array | None, Array | None]:
    """Return C (V, F) with columns of sum one, symmetric E (F, F) and the document frequencies (V,), or raise."""
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
        raise InputError(f"the probabilities of topic {f} sum to {total[f]}; drop the topic, or fit fewer topics")
    n_topics, n_words = given.shape
    E = None if moments is None else to_float_array("moments", moments)
    if E is not None:
        if E.shape != (n_topics, n_topics):
            raise InputError(f"moments has shape {E.shape}, but components has {n_topics} topics")
        if not np.isfinite(E).all() or not np.allclose(E, E.T, rtol=1e-8, atol=1e-12 * abs(E).max()):
            raise InputError("moments must be finite and symmetric")
        E = (E + E.T) / 2
    frequency = None if documents is None else to_float_array("document_frequency", documents)
    if frequency is not None and (
        frequency.shape != (n_words,) or not (np.isfinite(frequency) & (frequency >= 0)).all()
    ):
        raise InputError(f"document_frequency must be one number of at least 0 for each of the {n_words} words")
    return np.ascontiguousarray((given / total[:, None]).T), E, frequency


def to_float_array(name: str, value: Any) -> Array:
    """Return an array of floats, or raise."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be an array of numbers, but it is a {type(value).__name__}") from None


def to_json_record(value: Any) -> Any:
    """Return records as dictionaries and arrays as lists; NaN and infinity become None."""
    if hasattr(value, "_asdict"):
        return {name: to_json_record(item) for name, item in value._asdict().items() if name != "components"}
    if isinstance(value, np.ndarray):
        return to_json_record(value.tolist())
    if isinstance(value, list | tuple):
        return [to_json_record(item) for item in value]
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value
