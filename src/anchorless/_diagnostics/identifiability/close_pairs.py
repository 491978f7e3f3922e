"""Topics that the data can hardly tell apart: nearly the same words, or always in the same documents."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from anchorless._corpus.documents import Array
from anchorless._diagnostics.identifiability.robustness import compute_relative_errors

#: Topics with this share of their probability on the same words are close, whatever their errors.
LARGE_OVERLAP = 0.8
#: Topics are told apart if their distance is this many times that of two samples of one topic.
MIN_NOISE_RATIO = 2.0
#: Correlation over the documents from which the documents cannot tell two topics apart.
LARGE_CORRELATION = 0.95


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


def find_close_pairs(C: Array, correlation: Array, documents: Array | None) -> list[ClosePair]:
    """Return the pairs of topics of C (V, F) that are hard to tell apart, the closest first."""
    errors = None if documents is None else C * compute_relative_errors(C, documents)
    found = []
    for f, g in combinations(range(C.shape[1]), 2):
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
