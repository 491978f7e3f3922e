"""What noise could change: a verdict, computed again for perturbed topics, and whether topics can be told apart."""

from __future__ import annotations

from bisect import bisect_left
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from scipy.special import i0e, i1e

from anchorless._corpus.documents import Array
from anchorless._diagnostics.identifiability.cone import Cone
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
#: Topics with this share of their probability on the same words are close, and so are topics that have this share of
#: the overlap that two samples of one topic would have.
LARGE_OVERLAP = 0.8
#: Topics are not told apart if their overlap is within this many standard deviations of that of two samples.
STANDARD_DEVIATIONS = 2.0
#: Sizes of samples for which the overlap of two samples is bounded, per factor of two.
STEPS_PER_OCTAVE = 2
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


def find_close_pairs(C: Array, shares: Array, correlation: Array, documents: Array | None) -> list[ClosePair]:
    """Return the pairs of topics of C (V, F) that are hard to tell apart, the closest first.

    `shares` (F,) of the topics and `documents` (V,) of the words tell how large the samples are that topics come from.
    """
    noise = None if documents is None else SamplingNoise(C, shares, documents)
    found = []
    for f, g in select_candidates(C, correlation, noise):
        overlap, together = float(np.minimum(C[:, f], C[:, g]).sum()), float(correlation[f, g])
        null = None if noise is None else noise.compute_distance(f, g)
        reasons = {
            "nearly the same words": overlap >= LARGE_OVERLAP,
            "words that differ hardly more than two samples of one topic would": (
                null is not None and overlap >= find_least_overlap(1.0 - null.mean, null.deviation)
            ),
            "nearly always in the same documents": together >= LARGE_CORRELATION,
        }
        if any(reasons.values()):
            reason = "; ".join(text for text, holds in reasons.items() if holds)
            found.append(ClosePair(f, g, overlap, None if null is None else null.mean, together, reason))
    return sorted(found, key=lambda pair: (-pair.overlap, pair.first, pair.second))


def find_least_overlap(expected: Any, deviation: Any) -> Any:
    """Return the overlap from which topics are close, given mean and deviation of that of two samples of one topic."""
    return expected - np.maximum((1.0 - LARGE_OVERLAP) * expected, STANDARD_DEVIATIONS * deviation)


def select_candidates(C: Array, correlation: Array, noise: SamplingNoise | None) -> list[tuple[int, int]]:
    """Return the pairs of topics (f, g), f < g, of C (V, F) that bounds do not exclude from the close ones.

    Σ min(p, q) ≤ Σ √(pq) needs one product for all pairs; 500 topics have 125,000 of them.
    """
    root = np.sqrt(C)
    least = np.full_like(correlation, LARGE_OVERLAP) if noise is None else noise.bound_least_overlap()
    close = (root.T @ root + 1e-9 >= least) | (correlation >= LARGE_CORRELATION)
    pairs = np.argwhere(np.triu(close, 1))
    known = [
        correlation[f, g] >= LARGE_CORRELATION or np.minimum(C[:, f], C[:, g]).sum() >= least[f, g] for f, g in pairs
    ]
    return [(f, g) for f, g in pairs[np.array(known, dtype=bool)].tolist()]


class NoiseDistance(NamedTuple):
    """Mean and standard deviation of 1 − overlap of two samples of one topic."""

    mean: float
    deviation: float


class SamplingNoise:
    """How far apart two samples of one topic would be, as large as two topics of C (V, F) with shares (F,).

    A word is in as many documents of a topic as the topic has of the word's tokens, X, a Poisson number, and its
    estimated probability is u·X. A rare word has X = 0 in most samples, so that two samples of one topic share few of
    the rare words: at hundreds of topics, most words are rare in each.
    """

    def __init__(self, C: Array, shares: Array, documents: Array) -> None:
        self._C, self._shares = C, np.maximum(shares, 1e-12)
        self._rate = (C @ self._shares) / np.maximum(documents, 1.0)  # u of a topic with a share of one

    def compute_distance(self, f: int, g: int) -> NoiseDistance:
        """Return the distance of two samples of the topic that f and g are together, as large as these."""
        w = self._shares[[f, g]]
        p = self._C[:, [f, g]] @ (w / w.sum())
        used = p > 0
        p, u = p[used], self._rate[used] * np.mean(1.0 / w)
        change = compute_mean_difference(p, u)
        variance = np.maximum(2.0 * p * u - change**2, 0.0)
        return NoiseDistance(0.5 * float(change.sum()), 0.5 * float(variance.sum()) ** 0.5)

    def bound_least_overlap(self) -> Array:
        """Return a lower bound (F, F) of the overlap from which two topics are close.

        Of two topics, the larger has at least half of their tokens, so that the topic that they are together has p / 2
        at least, where p is that of the larger. E min(X, Y) ≥ p − √(pu / π) and the variance is at most 2pu.
        """
        w = self._shares
        sizes = 0.5 * np.add.outer(1.0 / w, 1.0 / w)
        expected, large = np.zeros_like(sizes), 1.0 / w
        for f in range(len(w)):
            half = 0.5 * self._C[self._C[:, f] > 0, f]
            root = np.sqrt(half * self._rate[self._C[:, f] > 0] / np.pi)
            smaller = np.flatnonzero(w <= w[f])
            # On a grid of sizes, each pair at the next larger one.
            level = np.ceil(np.log2(sizes[f, smaller] / large[f]) * STEPS_PER_OCTAVE - 1e-9)
            for step in np.unique(level):
                bound = np.maximum(half - root * (large[f] * 2.0 ** (step / STEPS_PER_OCTAVE)) ** 0.5, 0.0).sum()
                at = smaller[level == step]
                expected[f, at] = np.maximum(expected[f, at], bound)
                expected[at, f] = np.maximum(expected[at, f], bound)
        tokens = w * (self._rate @ self._C)
        variance = 0.5 * sizes * np.add.outer(tokens, tokens) / np.add.outer(w, w)
        return np.asarray(find_least_overlap(expected, np.sqrt(variance)), dtype=np.float64)


def compute_mean_difference(p: Array, u: Array) -> Array:
    """Return E|uX − uY| of independent Poisson numbers of mean p / u: 2p for p ≪ u, and √(4pu / π) for p ≫ u."""
    n = 2.0 * p / u
    return np.asarray(2.0 * p * (i0e(n) + i1e(n)), dtype=np.float64)


def find_weakest_direction(C: Array) -> WeakestDirection:
    """Return the unit combination of the topics C (V, F), each scaled to length one, with the shortest sum."""
    R = np.linalg.qr(C / np.linalg.norm(C, axis=0), mode="r")  # few rows: the full decomposition fits in memory
    _, sizes, directions = np.linalg.svd(R, full_matrices=True)
    size = float(sizes[-1] / sizes[0]) if len(sizes) == C.shape[1] else 0.0
    weights = directions[-1] * np.sign(directions[-1][abs(directions[-1]).argmax()])
    order = np.argsort(-abs(weights), kind="stable")[:3]
    return WeakestDirection(size, [(int(f), float(weights[f])) for f in order])
