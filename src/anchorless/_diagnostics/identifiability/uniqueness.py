"""A second solution: other topics and moments with the same co-occurrences, C̃ = CA and Ẽ = A⁻¹EA⁻ᵀ.

It is as good by the paper's criterion if CA ≥ 0, 1ᵀA = 1ᵀ and |det A| ≥ 1, and it differs from the first if A is no
permutation. The sufficiently scattered condition excludes it. If the condition fails, there may or may not be one, so
it is searched for by Algorithm 2 with C in place of U, from several starts.
"""

from __future__ import annotations

from time import monotonic
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from anchorless._core.topics import to_pmf
from anchorless._core.volume import make_starting_points, run_sweeps
from anchorless._corpus.documents import Array
from anchorless._diagnostics.identifiability.cone import Cone
from anchorless._diagnostics.identifiability.scattering import PROVED, Scattering
from anchorless.errors import AnchorlessError

UNIQUE, ANOTHER, NONE_FOUND = "unique", "another solution", "none found"
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
    """How a topic of the second solution differs from the fitted topic nearest to it.

    Attributes
    ----------
    topic : int
        Number of the fitted topic.
    change : float
        Share of its probability that moves to other words.
    parts : list of (int, float)
        Other topics that are added (> 0) or subtracted (< 0), with their weights, largest first.
    gained, lost : list of int
        Columns of the words that gain or lose most.
    """

    topic: int
    change: float
    parts: list[tuple[int, float]]
    gained: list[int]
    lost: list[int]


class SecondSolution(NamedTuple):
    """Other topics with the same co-occurrences, in the order of the fitted topics they are nearest to.

    Attributes
    ----------
    components : ndarray of shape (n_topics, n_words)
        The other topics.
    moments : ndarray of shape (n_topics, n_topics) or None
        Their moments, if those of the fitted topics are known.
    mixing : ndarray of shape (n_topics, n_topics)
        A with ``components.T == fitted.T @ A``.
    log_volume : float
        log|det A|; above 0, the second solution is better than the fitted one by the paper's criterion.
    trades : list of TopicChange
        How each topic changes, most changed first.
    """

    components: Array
    moments: Array | None
    mixing: Array
    log_volume: float
    trades: list[TopicChange]


class Uniqueness(NamedTuple):
    """Whether the topics are the only ones with their co-occurrences.

    Attributes
    ----------
    verdict : str
        "unique" (proved), "another solution" (found) or "none found".
    second : SecondSolution or None
        The other solution with the largest volume, if one was found.
    n_starts : int
        Number of starts of the search.
    """

    verdict: str
    second: SecondSolution | None
    n_starts: int


def check_uniqueness(
    cone: Cone, E: Array | None, known: Scattering, n_starts: int, rng: np.random.Generator, deadline: float
) -> Uniqueness:
    """Return the verdict on the topics C of a cone and their moments E (F, F), given that on the condition."""
    if known.verdict == PROVED:
        return Uniqueness(UNIQUE, None, 0)
    if cone.null_vector is not None:
        assert known.witness is not None
        x = np.array(known.witness)
        A = replace_identity_column(cone.n_topics, int(x.argmax()), x)
        second = build_second_solution(cone, E, A)
        return Uniqueness(NONE_FOUND if second is None else ANOTHER, second, 1)
    return search_second_solution(cone, E, known, n_starts, rng, deadline)


def search_second_solution(
    cone: Cone, E: Array | None, known: Scattering, n_starts: int, rng: np.random.Generator, deadline: float
) -> Uniqueness:
    """Search from the witness, from the topics and from random matrices; return the solution of largest volume."""
    n = cone.n_topics
    single = [] if known.witness is None else make_candidate_matrices(np.array(known.witness))
    best = max((build_second_solution(cone, E, A) for A in single), key=get_log_volume, default=None)
    done = 0
    for start in make_starting_points(n, n_starts, rng):
        if monotonic() > deadline:
            break
        done += 1
        try:
            A = run_sweeps(cone.solver, start, TOLERANCE, MAX_SWEEPS).M
        except (AnchorlessError, np.linalg.LinAlgError):
            continue
        other = build_second_solution(cone, E, A)
        if get_log_volume(other) > get_log_volume(best) + TOLERANCE:
            best = other
    return Uniqueness(NONE_FOUND if best is None else ANOTHER, best, done)


def get_log_volume(solution: SecondSolution | None) -> float:
    """Return log|det A|, or minus infinity for no solution."""
    return -np.inf if solution is None else solution.log_volume


def make_candidate_matrices(x: Array) -> list[Array]:
    """Return the identity matrices with one column replaced by x (F,) whose volume is no smaller."""
    return [replace_identity_column(len(x), int(f), x) for f in np.flatnonzero(abs(x) >= 1.0 - 1e-9)]


def replace_identity_column(n: int, f: int, x: Array) -> Array:
    """Return the identity matrix (n, n) with column f replaced by x."""
    A = np.eye(n)
    A[:, f] = x
    return A


def build_second_solution(cone: Cone, E: Array | None, A: Array) -> SecondSolution | None:
    """Return the solution that A (F, F) gives; None if it is no solution or the same as the first.

    Solvers have tolerances, so columns are first moved inside the polytope. If that makes the volume smaller than one,
    negative rounding errors are set to zero instead.
    """
    A = match_columns_to_topics(A)
    moved = np.column_stack([cone.move_inside(column) for column in A.T])
    for mixing in (moved, A / A.sum(axis=0)):
        log_volume = float(np.linalg.slogdet(mixing)[1])
        C = to_pmf(cone.C @ mixing)
        if log_volume < 0.0 and not (mixing is not moved and log_volume > -1e-12):
            continue
        change = 0.5 * abs(C - cone.C).sum(axis=0)
        moves = 0.5 * abs(mixing - np.eye(len(mixing))).sum(axis=0)
        if max(change.max(), moves.max()) < MIN_CHANGE or not has_same_cooccurrence(cone.C @ mixing, C):
            continue
        moments = None if E is None else transform_moments(E, mixing)
        return SecondSolution(
            np.ascontiguousarray(C.T), moments, mixing, log_volume, compare_topics(cone.C, C, mixing, change)
        )
    return None


def match_columns_to_topics(A: Array) -> Array:
    """Return A (F, F) with its columns in the order of the topics that they are nearest to."""
    rows, columns = linear_sum_assignment(-abs(A))
    return np.ascontiguousarray(A[:, columns[np.argsort(rows)]])


def has_same_cooccurrence(exact: Array, clipped: Array) -> bool:
    """Tell whether clipping rounding errors left the topics (V, F) unchanged, so that P is the same."""
    return bool((abs(exact - clipped) <= SAME_COOCCURRENCE * abs(exact).max(axis=0)).all())


def transform_moments(E: Array, A: Array) -> Array:
    """Return A⁻¹EA⁻ᵀ (F, F), symmetric."""
    result = np.linalg.solve(A, np.linalg.solve(A, E).T)
    return np.asarray((result + result.T) / 2, dtype=np.float64)


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
        found.append(
            TopicChange(
                topic=int(f),
                change=float(change[f]),
                parts=[(g, float(part[g])) for g in named],
                gained=[int(v) for v in order[:NAMED_WORDS] if other[v, f] > C[v, f]],
                lost=[int(v) for v in order[::-1][:NAMED_WORDS] if other[v, f] < C[v, f]],
            )
        )
    return found
