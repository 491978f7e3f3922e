"""Pairs of topics that often appear together.

A Dirichlet prior says that topics have nothing to do with each other. In short documents it is believed: sweeps mix two
topics that often appear together until they do not. So pairs with a clearly positive association get a prior of their
own (`PairPrior`): a Dirichlet tree, with the two topics as one, and then a Beta distribution of the part of each.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from anchorless._core.proportions import (
    NOISE_FACTOR,
    PairMoments,
    combine_moments,
    compute_pair_moments,
    compute_posterior_moments,
)
from anchorless._corpus.documents import Array, Documents

#: Topics are paired if their association is so many times its noise,
MIN_ERRORS = 2.0
#: and if a document with one of them has the other so many times as surely as the Dirichlet prior says.
MIN_SIZE_RATIO = 1.5
#: Limits of the part of a pair's tokens that belongs to one topic, and of how alike the parts are in all documents.
PART_LIMITS, MAX_LIKENESS = (0.05, 0.95), 0.97


class PairPrior(NamedTuple):
    """A prior of mixtures in which some topics come in pairs.

    The share of a pair in a document has the prior that the two topics have together. Which part of it belongs to each
    has a Beta prior with these sizes: the larger they are, the more surely a document with one topic has the other.
    """

    topics: Any  # (P, 2), no topic is in two pairs
    sizes: Array  # (P, 2)


NO_PAIRS = PairPrior(np.zeros((0, 2), dtype=np.int64), np.zeros((0, 2)))


def find_pairs(counts: Documents, tokens: Array, topic_word: Array, alpha: Array, n_threads: int) -> PairPrior:
    """Return the pairs of topics (F, V) that appear together, those with the largest associations first.

    `tokens` (N, F) are expected tokens of the topics in documents, alpha (F,) is the Dirichlet prior.
    """
    pairs = compute_pair_moments(counts, topic_word, n_threads)
    if pairs is None:
        return NO_PAIRS
    lengths = tokens.sum(axis=1)
    mixtures = (tokens + alpha) / (lengths + alpha.sum())[:, None]
    mean, covariance = compute_posterior_moments(mixtures, lengths, lengths > 0, alpha.sum())
    found = combine_moments(mean, covariance, pairs)
    deviation = np.sqrt(np.diag(found.covariance))
    noise = NOISE_FACTOR * pairs.error / np.outer(deviation, deviation)
    sizes = compute_sizes(mean, pairs)
    is_pair = (found.association > MIN_ERRORS * noise) & (sizes > MIN_SIZE_RATIO * np.add.outer(alpha, alpha))
    chosen = choose_pairs(np.where(is_pair, found.association, 0.0))
    parts = np.clip(mean[chosen] / mean[chosen].sum(axis=1, keepdims=True), *PART_LIMITS)
    return PairPrior(chosen, parts * sizes[chosen[:, 0], chosen[:, 1]][:, None])


def compute_sizes(mean: Array, pairs: PairMoments) -> Array:
    """Return the size c of the Beta distribution of the parts of each two topics (F, F); zero where there is none.

    With parts q and 1 − q of the mean, E[θ_j θ_k] = q(1 − q) c / (c + 1) · E[(θ_j + θ_k)²].
    """
    second = pairs.covariance + np.outer(mean, mean)
    squares = np.diag(second)
    both = np.add.outer(squares, squares) + 2.0 * second
    part = np.clip(mean[:, None] / np.add.outer(mean, mean), *PART_LIMITS)
    likeness = np.divide(second, both * part * (1.0 - part), out=np.zeros_like(second), where=both > 0)
    likeness = np.clip(likeness, 0.0, MAX_LIKENESS)
    return likeness / (1.0 - likeness)


def choose_pairs(strength: Array) -> Any:
    """Return pairs (P, 2) with a positive strength (F, F), the strongest first; no topic is in two of them."""
    chosen: list[tuple[int, int]] = []
    free = np.ones(len(strength), dtype=bool)
    rows, columns = np.triu_indices(len(strength), 1)
    for i in np.argsort(-strength[rows, columns], kind="stable"):
        j, k = int(rows[i]), int(columns[i])
        if strength[j, k] <= 0:
            break
        if free[j] and free[k]:
            chosen.append((j, k))
            free[[j, k]] = False
    return np.array(chosen, dtype=np.int64).reshape(-1, 2)
