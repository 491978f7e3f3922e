"""A second solution: other topics and moments with the same co-occurrences, C̃ = CA and Ẽ = A⁻¹EA⁻ᵀ.

It is as good by the paper's criterion if CA ≥ 0, 1ᵀA = 1ᵀ and |det A| ≥ 1, and it differs from the first if A is no
permutation. The sufficiently scattered condition excludes it. If the condition fails, there may or may not be one, so
it is searched for by Algorithm 2 with C in place of U, from several starts.
"""

from __future__ import annotations

from time import monotonic
from typing import Any, NamedTuple, cast

import numpy as np
from scipy.optimize import linear_sum_assignment

from anchorless._core.lp.simplex import SimplexSolver
from anchorless._core.topics import to_pmf
from anchorless._core.volume import make_starting_points, run_sweeps
from anchorless._corpus.documents import Array
from anchorless._diagnostics.identifiability.cone import Cone
from anchorless._diagnostics.identifiability.scattering import MAX_SEARCHED_TOPICS, PROVED, Scattering
from anchorless._diagnostics.identifiability.subtraction import subtract_topics
from anchorless.errors import AnchorlessError

UNIQUE, ANOTHER, NONE_FOUND = "unique", "another solution", "none found"
#: Of topics of documents only: no other solution within the errors moves as much as `SMALL_LEEWAY` of a topic; or the
#: topics do not stand out from those of the same tokens in random order, so that the question has no meaning.
NEARLY_UNIQUE, NOT_SUPPORTED = "nearly unique", "not supported"
#: Share of a topic's probability. Topics of shuffled tokens exceed it.
SMALL_LEEWAY = 0.1
#: Sweeps and tolerance of a search from one start.
MAX_SWEEPS, TOLERANCE = 100, 1e-9
#: A matrix that moves less than this share of any topic's probability is a permutation with rounding errors.
MIN_CHANGE = 1e-7
#: Largest difference between the topics of the second solution and CA, relative to their size.
SAME_COOCCURRENCE = 1e-11
#: Numbers of other topics and of words that are named for a topic that changes.
NAMED_TOPICS, NAMED_WORDS = 3, 5
#: Smallest part of another topic that is named.
MIN_PART = 0.01


class TopicChange(NamedTuple):
    """How a topic of the second solution differs from the fitted topic nearest to it."""

    topic: int  # number of the fitted topic
    change: float  # share of its probability that moves to other words
    parts: list[tuple[int, float]]  # topics that are added (> 0) or subtracted (< 0), with their weights, largest first
    gained: list[int]  # columns of the words that gain most
    lost: list[int]  # columns of the words that lose most


class SecondSolution(NamedTuple):
    """Other topics with the same co-occurrences, in the order of the fitted topics they are nearest to."""

    components: Array  # (F, V)
    moments: Array | None  # (F, F), if those of the fitted topics are known
    mixing: Array  # A (F, F) with components.T = fitted.T @ A
    log_volume: float  # log|det A|; above 0, the second solution is better than the fitted one by the paper's criterion
    trades: list[TopicChange]  # how each topic changes, most changed first


class Uniqueness(NamedTuple):
    """Whether the topics are the only ones with their co-occurrences."""

    verdict: str  # "unique" (proved), "nearly unique", "another solution" (found), "none found" or "not supported"
    second: SecondSolution | None  # the other solution with the largest volume, if one was found
    n_starts: int  # number of starts of the search


class TimedSolver:
    """A solver that gives up when the time is up: one start of the search solves thousands of programs."""

    def __init__(self, solver: SimplexSolver, deadline: float) -> None:
        self._solver, self._deadline = solver, deadline

    def __getattr__(self, name: str) -> Any:
        if monotonic() > self._deadline:
            raise AnchorlessError("the time is up")
        return getattr(self._solver, name)


def check_uniqueness(
    cone: Cone, E: Array | None, known: Scattering, n_starts: int, rng: np.random.Generator, deadline: float
) -> Uniqueness:
    """Return the verdict on the topics of a cone with moments E (F, F), given that on the condition.

    Search from the witness in place of a topic, from the topics and from random matrices for the largest volume.
    """
    if known.verdict == PROVED:
        return Uniqueness(UNIQUE, None, 0)
    single = []
    if known.witness is not None:
        x = np.array(known.witness)
        for f in np.flatnonzero(abs(x) >= 1.0 - 1e-9) if cone.null_vector is None else [int(x.argmax())]:
            A = np.eye(cone.n_topics)
            A[:, f] = x
            single.append(build_second_solution(cone, E, A))
    best = max((other for other in single if other), key=lambda other: other.log_volume, default=None)
    if cone.null_vector is not None:  # the polytope is unbounded
        return Uniqueness(ANOTHER if best else NONE_FOUND, best, 1)
    if cone.n_topics > MAX_SEARCHED_TOPICS:
        best = combine_subtractions(cone, E, deadline) or best
        return Uniqueness(ANOTHER if best else NONE_FOUND, best, known.n_starts)
    done = 0
    solver = TimedSolver(cone.solver, deadline)
    for start in make_starting_points(cone.n_topics, n_starts, rng):
        if monotonic() > deadline:
            break
        done += 1
        try:
            other = build_second_solution(
                cone, E, run_sweeps(cast(SimplexSolver, solver), start, TOLERANCE, MAX_SWEEPS).M
            )
        except (AnchorlessError, np.linalg.LinAlgError):
            continue
        if other and (best is None or other.log_volume > best.log_volume + TOLERANCE):
            best = other
    return Uniqueness(ANOTHER if best else NONE_FOUND, best, done)


def combine_subtractions(cone: Cone, E: Array | None, deadline: float) -> SecondSolution | None:
    """Return the solution in which other topics are subtracted from each topic, as far as that was tried."""
    A = np.eye(cone.n_topics)
    points = subtract_topics(cone, deadline)
    A[:, : len(points)] = points.T
    return build_second_solution(cone, E, A)


def build_second_solution(cone: Cone, E: Array | None, A: Array) -> SecondSolution | None:
    """Return the solution that A (F, F) gives; None if it is no solution or the same as the first.

    Solvers have tolerances, so columns are first moved inside the polytope. If that makes the volume smaller than one,
    negative rounding errors are set to zero instead.
    """
    A = np.take(A, linear_sum_assignment(-abs(A))[1], axis=1)  # columns in the order of the topics nearest to them
    moved = np.column_stack([cone.move_inside(column) for column in A.T])
    for mixing, least in ((moved, 0.0), (A / A.sum(axis=0), -1e-12)):
        log_volume = float(np.linalg.slogdet(mixing)[1])
        exact = cone.C @ mixing
        C = to_pmf(exact)
        is_same = (abs(exact - C) <= SAME_COOCCURRENCE * abs(exact).max(axis=0)).all()
        change = 0.5 * abs(C - cone.C).sum(axis=0)
        moves = 0.5 * abs(mixing - np.eye(len(mixing))).sum(axis=0)
        if log_volume >= least and is_same and max(change.max(), moves.max()) >= MIN_CHANGE:
            moments = None
            if E is not None:
                moments = np.linalg.solve(mixing, np.linalg.solve(mixing, E).T)
                moments = (moments + moments.T) / 2
            trades = compare_topics(cone.C, C, mixing, change)
            return SecondSolution(np.ascontiguousarray(C.T), moments, mixing, log_volume, trades)
    return None


def judge_leeway(known: Scattering, found: Uniqueness, leeway: list[float]) -> Uniqueness:
    """Return the verdict on topics of documents: the condition for known zeros, and a search with no zero certain.

    Subtracting topics from each other finds only a part of what could change, so a small change says nothing.
    """
    if found.second is not None and max(leeway) >= SMALL_LEEWAY:
        return found
    if known.verdict == PROVED:
        return Uniqueness(UNIQUE, None, found.n_starts)
    if len(leeway) > MAX_SEARCHED_TOPICS:
        return Uniqueness(NONE_FOUND, None, found.n_starts)
    return found if found.second is None else found._replace(verdict=NEARLY_UNIQUE)


def measure_leeway(found: Uniqueness, n_topics: int) -> list[float]:
    """Return for each topic the share of its probability that lies on other words in the second solution."""
    leeway = [0.0] * n_topics
    for trade in [] if found.second is None else found.second.trades:
        leeway[trade.topic] = trade.change
    return leeway


def extend_to_all_words(found: Uniqueness, C: Array, E: Array | None, mass: Array) -> Uniqueness:
    """Return the verdict with its second solution over all words of C (V, F), found for some that have `mass` (F,).

    The other words have too little evidence to exclude the solution: their negative probabilities become zero.
    """
    if found.second is None:
        return found
    mixing = found.second.mixing / mass[:, None]
    mixing /= mixing.sum(axis=0)
    other = to_pmf(C @ mixing)
    moments = None
    if E is not None:
        moments = np.linalg.solve(mixing, np.linalg.solve(mixing, E).T)
        moments = (moments + moments.T) / 2
    trades = compare_topics(C, other, mixing, 0.5 * abs(other - C).sum(axis=0))
    log_volume = float(np.linalg.slogdet(mixing)[1])
    second = SecondSolution(np.ascontiguousarray(other.T), moments, mixing, log_volume, trades)
    return found._replace(second=second)


def compare_topics(C: Array, other: Array, A: Array, change: Array) -> list[TopicChange]:
    """Return how the topics of C (V, F) differ from those of the second solution, the most changed first."""
    found = []
    for f in np.argsort(-change, kind="stable"):
        if change[f] < MIN_CHANGE:
            continue
        part = A[:, f].copy()
        part[f] = 0.0
        named = [int(g) for g in np.argsort(-abs(part), kind="stable")[:NAMED_TOPICS] if abs(part[g]) >= MIN_PART]
        order = np.argsort(C[:, f] - other[:, f], kind="stable")
        gained = [int(v) for v in order[:NAMED_WORDS] if other[v, f] > C[v, f]]
        lost = [int(v) for v in order[::-1][:NAMED_WORDS] if other[v, f] < C[v, f]]
        found.append(TopicChange(int(f), float(change[f]), [(g, float(part[g])) for g in named], gained, lost))
    return found
