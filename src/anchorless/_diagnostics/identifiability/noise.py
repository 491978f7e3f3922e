"""What noise could change: a verdict, computed again for perturbed topics, and whether topics can be told apart."""

from __future__ import annotations

from bisect import bisect_left
from time import monotonic
from typing import NamedTuple

import numpy as np

from anchorless._corpus.documents import Array
from anchorless._diagnostics.identifiability.cone import Cone
from anchorless._diagnostics.identifiability.known_part import compute_sampling_errors
from anchorless._diagnostics.identifiability.scattering import (
    MAX_ENUMERATED_TOPICS,
    NOT_REFUTED,
    PROVED,
    Scattering,
    check_scattering,
)

#: Sizes of the errors that are tried, by bisection.
ERROR_LEVELS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
#: Random perturbations of each size for few topics; many topics get one, because each takes long.
N_DRAWS = 3
#: Random starts of the search for each perturbation.
N_STARTS = 5
#: Topics with this share of their probability on the same words are close, whatever their errors.
LARGE_OVERLAP = 0.8
#: Topics are told apart if their distance is this many times that of two samples of one topic.
MIN_NOISE_RATIO = 2.0
#: Correlation over the documents from which the documents cannot tell two topics apart.
LARGE_CORRELATION = 0.95


class Robustness(NamedTuple):
    """The largest errors, of those that were tried, that do not change the verdict."""

    verdict: str  # without errors
    level: float | None  # 0 if the smallest errors change it; None if the time was up or there was no verdict
    unit: str  # of `level`: "standard errors", or "relative" if document frequencies are not known
    n_draws: int  # random perturbations of each size


class ClosePair(NamedTuple):
    """Two topics that are hard to tell apart."""

    first: int
    second: int
    overlap: float  # share of their probability on the same words: the sum of the smaller of both over the words
    by_chance: float | None  # expected 1 − overlap of two samples of one topic; None without document frequencies
    correlation: float  # over the documents
    reason: str


class WeakestDirection(NamedTuple):
    """The combination of topics that changes the word probabilities least."""

    size: float  # smallest over largest singular value of the topics, each scaled to length one
    topics: list[tuple[int, float]]  # topics of the combination with their weights, largest first; at most three


def measure_robustness(
    C: Array, errors: Array | None, found: Scattering, rng: np.random.Generator, deadline: float
) -> Robustness:
    """Check C (V, F) again with random errors of several multiples of `errors` (V, F).

    Zeros are drawn like other probabilities: half of them become positive. Without `errors` C is exact, errors are
    relative, and zeros stay zeros.
    """
    unit = "relative" if errors is None else "standard errors"
    if found.verdict == NOT_REFUTED:
        return Robustness(found.verdict, None, unit, 0)
    sizes = C if errors is None else np.minimum(errors, 1.0)  # an error may be unbounded
    n_draws = N_DRAWS if C.shape[1] <= MAX_ENUMERATED_TOPICS else 1
    draws = [sizes * rng.standard_normal(C.shape) for _ in range(n_draws)]

    def is_verdict_changed(level: float) -> bool:
        changes = (level * draw for draw in draws)
        return monotonic() > deadline or not all(has_verdict(C, x, found.verdict, rng, deadline) for x in changes)

    n_kept = bisect_left(ERROR_LEVELS, True, key=is_verdict_changed)
    level = ERROR_LEVELS[n_kept - 1] if n_kept else 0.0
    return Robustness(found.verdict, None if monotonic() > deadline else level, unit, n_draws)


def has_verdict(C: Array, change: Array, verdict: str, rng: np.random.Generator, deadline: float) -> bool:
    """Tell whether topics C (V, F) with changes (V, F) have this verdict."""
    changed = np.maximum(C + change, 0.0)
    total = changed.sum(axis=0)
    if not total.all():
        return False
    again = check_scattering(Cone(changed / total), N_STARTS, rng, deadline, prove=verdict == PROVED)
    return again.verdict == verdict


def find_close_pairs(C: Array, correlation: Array, documents: Array | None) -> list[ClosePair]:
    """Return the pairs of topics of C (V, F) that are hard to tell apart, the closest first."""
    errors = None if documents is None else np.where(C > 0, compute_sampling_errors(C, documents), 0.0)
    found = []
    for f, g in select_candidates(C, correlation, errors):
        overlap, together = float(np.minimum(C[:, f], C[:, g]).sum()), float(correlation[f, g])
        by_chance = None if errors is None else compute_noise_distance(errors[:, f], errors[:, g])
        reasons = {
            "nearly the same words": overlap >= LARGE_OVERLAP,
            "words that differ hardly more than two samples of one topic would": (
                by_chance is not None and 1.0 - overlap < MIN_NOISE_RATIO * by_chance
            ),
            "nearly always in the same documents": together >= LARGE_CORRELATION,
        }
        if any(reasons.values()):
            reason = "; ".join(text for text, holds in reasons.items() if holds)
            found.append(ClosePair(f, g, overlap, by_chance, together, reason))
    return sorted(found, key=lambda pair: (-pair.overlap, pair.first, pair.second))


def select_candidates(C: Array, correlation: Array, errors: Array | None) -> list[tuple[int, int]]:
    """Return the pairs of topics (f, g), f < g, of C (V, F) that bounds do not exclude from the close ones.

    Σ min(p, q) ≤ Σ √(pq) and hypot(a, b) ≤ a + b need one product for all pairs; 500 topics have 125,000 of them.
    """
    root = np.sqrt(C)
    most_overlap = root.T @ root + 1e-9
    size = np.zeros(C.shape[1]) if errors is None else errors.sum(axis=0) / np.sqrt(2.0 * np.pi)
    close = (most_overlap >= LARGE_OVERLAP) | (1.0 - most_overlap < MIN_NOISE_RATIO * np.add.outer(size, size))
    close |= correlation >= LARGE_CORRELATION
    return [(f, g) for f, g in np.argwhere(np.triu(close, 1)).tolist()]


def compute_noise_distance(first: Array, second: Array) -> float:
    """Return the mean of ½Σ|difference| of two normal errors, given the standard error of each word (V,)."""
    return float(np.hypot(first, second).sum() / np.sqrt(2.0 * np.pi))


def find_weakest_direction(C: Array) -> WeakestDirection:
    """Return the unit combination of the topics C (V, F), each scaled to length one, with the shortest sum."""
    R = np.linalg.qr(C / np.linalg.norm(C, axis=0), mode="r")  # few rows: the full decomposition fits in memory
    _, sizes, directions = np.linalg.svd(R, full_matrices=True)
    size = float(sizes[-1] / sizes[0]) if len(sizes) == C.shape[1] else 0.0
    weights = directions[-1] * np.sign(directions[-1][abs(directions[-1]).argmax()])
    order = np.argsort(-abs(weights), kind="stable")[:3]
    return WeakestDirection(size, [(int(f), float(weights[f])) for f in order])
