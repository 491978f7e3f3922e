"""Topics that the data can hardly tell apart: nearly the same words, or always in the same documents."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anchorless._corpus.documents import Array

#: Topics with this share of their probability on the same words are close, whatever their errors.
LARGE_OVERLAP = 0.8
#: Topics are told apart where their distance is this many times that of two samples of one topic.
MIN_NOISE_RATIO = 2.0
#: Correlation over the documents from which two topics are one for all that the documents say.
LARGE_CORRELATION = 0.95


class ClosePair(NamedTuple):
    """Two topics that are hard to tell apart."""

    first: int
    second: int
    overlap: float  # Σ min over the words: the share of their probability on the same words
    by_chance: float | None  # 1 − overlap of two samples of one topic; None where documents are not known
    correlation: float  # over the documents
    reason: str


class WeakestDirection(NamedTuple):
    """The combination of topics that leaves least trace in the words."""

    size: float  # smallest over largest singular value of C: 0 where topics are linearly dependent
    topics: list[tuple[int, float]]  # the topics that it combines, by their weights, largest first


def close_pairs(C: Array, correlation: Array, documents: Array | None) -> list[ClosePair]:
    """Return the pairs of topics of C (V, F) that can hardly be told apart, the closest first."""
    errors = None if documents is None else C * compute_relative_errors(C, documents)
    found = []
    for f in range(C.shape[1]):
        for g in range(f + 1, C.shape[1]):
            overlap = float(np.minimum(C[:, f], C[:, g]).sum())
            by_chance = None if errors is None else compute_noise_distance(errors[:, f], errors[:, g])
            reason = explain_closeness(overlap, by_chance, float(correlation[f, g]))
            if reason:
                found.append(ClosePair(f, g, overlap, by_chance, float(correlation[f, g]), reason))
    return sorted(found, key=lambda pair: (-pair.overlap, pair.first, pair.second))


def explain_closeness(overlap: float, by_chance: float | None, correlation: float) -> str:
    """Return why two topics are hard to tell apart, "" where they are not."""
    reasons = []
    if overlap >= LARGE_OVERLAP:
        reasons.append("nearly the same words")
    if by_chance is not None and 1.0 - overlap < MIN_NOISE_RATIO * by_chance:
        reasons.append("words that differ hardly more than two samples of one topic would")
    if correlation >= LARGE_CORRELATION:
        reasons.append("nearly always in the same documents")
    return "; ".join(reasons)


def compute_noise_distance(first: Array, second: Array) -> float:
    """Return the mean of ½Σ|difference| of two normal errors, given the standard errors of each word (V,)."""
    return float(np.hypot(first, second).sum() / np.sqrt(2.0 * np.pi))


def compute_relative_errors(C: Array, documents: Array) -> Array:
    """Return the relative standard error of each probability (V, F): 1/√n for the n documents behind it, at most 1.

    Behind a probability are the documents that hold the word, in the part that the topic has in the word.
    """
    total = C.sum(axis=1, keepdims=True)
    part = np.divide(C, total, out=np.zeros_like(C), where=total > 0)
    return np.asarray(1.0 / np.sqrt(np.maximum(part * documents[:, None], 1.0)))


def find_weakest_direction(C: Array) -> WeakestDirection:
    """Return the unit combination of topics, each scaled to length one, of which least is left in the words."""
    R = np.linalg.qr(C / np.linalg.norm(C, axis=0), mode="r")  # few rows, so that all directions can be had
    _, sizes, directions = np.linalg.svd(R, full_matrices=True)
    size = float(sizes[-1] / sizes[0]) if len(sizes) == C.shape[1] else 0.0
    weights = directions[-1] * np.sign(directions[-1][abs(directions[-1]).argmax()])
    order = np.argsort(-abs(weights), kind="stable")[:3]
    return WeakestDirection(size, [(int(f), float(weights[f])) for f in order])
