"""Another pair of topics and moments with the same co-occurrences: C̃ = CA and Ẽ = A⁻¹EA⁻ᵀ.

Such a pair is as good for the paper's criterion where CA ≥ 0, 1ᵀA = 1ᵀ and |det A| ≥ 1, and it is another one where A
is no permutation. The sufficiently scattered condition excludes it; where the condition fails, there may or may not
be one, so it is searched for: Algorithm 2 with C in place of U, from many starts.
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
#: Sweeps and tolerance of a climb.
SWEEPS, TOLERANCE = 100, 1e-9
#: A matrix that moves less than this share of any topic's probability is a permutation with rounding errors.
MIN_CHANGE = 1e-7
#: How far the co-occurrences of the second solution may be from those of the first, relative to their size.
SAME_COOCCURRENCE = 1e-11
#: Parts of other topics, and words, that are named for a topic that changes.
NAMED_TOPICS, NAMED_WORDS = 3, 5
#: The least part of another topic that is named.
MIN_PART = 0.01


class TopicChange(NamedTuple):
    """How a topic of the second solution differs from the one nearest to it."""

    topic: int
    change: float  # share of its probability that lies on other words
    parts: list[tuple[int, float]]  # other topics that are added (> 0) or taken away (< 0), largest first
    gained: list[int]  # words, most gained first
    lost: list[int]


class SecondSolution(NamedTuple):
    """Another pair with the same co-occurrences, topics in the order of those they are nearest to."""

    components: Array  # C̃ᵀ (F, V)
    moments: Array | None  # Ẽ (F, F)
    mixing: Array  # A (F, F)
    log_volume: float  # log|det A|; above 0 it is better by the paper's criterion than the first
    trades: list[TopicChange]  # most changed first


class Uniqueness(NamedTuple):
    """Whether the topics are the only ones that their co-occurrences allow."""

    verdict: str  # "unique", "another solution" or "none found"
    second: SecondSolution | None
    n_starts: int


def uniqueness(
    cone: Cone, E: Array | None, known: Scattering, n_starts: int, rng: np.random.Generator, deadline: float
) -> Uniqueness:
    """Return the verdict on the pair (C, E), given what is known of the condition."""
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
    """Search from the topics themselves, from the witness, and from random matrices; the largest volume wins."""
    n = cone.n_topics
    single = [] if known.witness is None else make_candidate_matrices(np.array(known.witness))
    best = max((build_second_solution(cone, E, A) for A in single), key=get_log_volume, default=None)
    done = 0
    for start in make_starting_points(n, n_starts, rng):
        if monotonic() > deadline:
            break
        done += 1
        try:
            A = run_sweeps(cone.solver, start, TOLERANCE, SWEEPS).M
        except (AnchorlessError, np.linalg.LinAlgError):
            continue
        other = build_second_solution(cone, E, A)
        if get_log_volume(other) > get_log_volume(best) + TOLERANCE:
            best = other
    return Uniqueness(NONE_FOUND if best is None else ANOTHER, best, done)


def get_log_volume(solution: SecondSolution | None) -> float:
    """Return log|det A|, minus infinity for no solution."""
    return -np.inf if solution is None else solution.log_volume


def make_candidate_matrices(x: Array) -> list[Array]:
    """Return the unit matrices with one column replaced by x whose volume is no smaller."""
    return [replace_identity_column(len(x), int(f), x) for f in np.flatnonzero(abs(x) >= 1.0 - 1e-9)]


def replace_identity_column(n: int, f: int, x: Array) -> Array:
    """Return the unit matrix with column f replaced."""
    A = np.eye(n)
    A[:, f] = x
    return A


def build_second_solution(cone: Cone, E: Array | None, A: Array) -> SecondSolution | None:
    """Return the pair of A (F, F) after making sure that it is one, and another one; else None.

    Columns are moved inside the polytope by what solvers' tolerances left outside. Where that makes the volume smaller
    than one, negative rounding errors are set to zero instead.
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
        return SecondSolution(np.ascontiguousarray(C.T), moments, mixing, log_volume, trades(cone.C, C, mixing, change))
    return None


def match_columns_to_topics(A: Array) -> Array:
    """Return A with its columns in the order in which they are nearest to the topics."""
    rows, columns = linear_sum_assignment(-abs(A))
    return np.ascontiguousarray(A[:, columns[np.argsort(rows)]])


def has_same_cooccurrence(exact: Array, shown: Array) -> bool:
    """Tell whether setting rounding errors to zero left the topics as they were, so that P is the same."""
    return bool((abs(exact - shown) <= SAME_COOCCURRENCE * abs(exact).max(axis=0)).all())


def transform_moments(E: Array, A: Array) -> Array:
    """Return A⁻¹EA⁻ᵀ, symmetric."""
    left = np.linalg.solve(A, E)
    moved = np.linalg.solve(A, left.T)
    return np.asarray((moved + moved.T) / 2, dtype=np.float64)


def trades(C: Array, other: Array, A: Array, change: Array) -> list[TopicChange]:
    """Return what topics of C (V, F) and those of the second solution differ in, the most changed first."""
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
