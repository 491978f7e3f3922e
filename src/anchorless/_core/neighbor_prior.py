"""Neighbors as a prior of mixtures: a document whose neighbors are about a topic is likely to be about it.

The prior of document d is a Dirichlet distribution with parameters α + τ·m_d, where m_d is the mean of the mixtures of
its neighbors, each by its own words alone: neighbors count as τ tokens. The topics do not depend on the neighbors.

The numbers of neighbors and tokens are those that predict words: on documents that the topics have not seen, half the
tokens and the neighbors predict the other half. Beyond the best τ documents are put into clearer groups for a while, so
the largest τ is used that keeps most of the gain. If the neighbors do not predict clearly better than the neighbors of
other documents, τ is zero.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from anchorless._core.neighbors import Neighbors
from anchorless._core.token_mixtures import count_document_topics, predict_halves
from anchorless._core.token_model import BACKGROUND_PARTS, TRIAL_STEPS, TrialTopics, compute_alpha
from anchorless._core.word_prior import WordPrior
from anchorless._corpus.documents import Array, Documents

#: Numbers of neighbors, and of tokens that they count as, that are tried.
NEIGHBOR_NUMBERS = (10, 20)
NEIGHBOR_TOKENS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
#: Part of the gain in the prediction that is kept.
KEPT_GAIN = 2 / 3
#: By so many standard errors, neighbors must predict better than those of other documents.
LEAST_ERRORS = 3.0


class NeighborChoice(NamedTuple):
    """How neighbors are used."""

    n_neighbors: int
    n_tokens: float  # τ; zero: not at all
    gain: float = 0.0  # of log p(token), per token, by the best τ


UNUSED = NeighborChoice(0, 0.0)


def average_mixtures(mixtures: Any, positions: Any, n_neighbors: int) -> Array:
    """Return the mean of the mixtures (M, F) of the first neighbors of each document (n, k); zero without any."""
    nearest = positions[:, :n_neighbors]
    total, number = np.zeros((len(nearest), mixtures.shape[1])), np.zeros(len(nearest))
    for column in nearest.T:  # one neighbor of all documents at a time, in a fixed order
        there = column >= 0
        total[there] += mixtures[column[there]]
        number += there
    return np.divide(total, number[:, None], out=total, where=number[:, None] > 0)


def choose_neighbor_prior(topics: TrialTopics, counts: Documents, neighbors: Neighbors, members: Any) -> NeighborChoice:
    """Choose the number of neighbors and of tokens on documents that the topics have not seen.

    `neighbors` are those of all documents, and row r of `members` (M, N) averages over the documents of reference r.
    """
    phi = WordPrior(topics.words, topics.p).compute_phi()
    alpha = compute_alpha(topics.words, topics.concentration)
    near = neighbors.positions[topics.positions]
    used = np.unique(near[near >= 0])
    if not len(used):
        return UNUSED
    place = np.full(members.shape[0] + 1, -1)  # the last entry is for neighbors that there are not
    place[used] = np.arange(len(used))
    mixtures = infer_references(counts, members[used], phi, alpha)
    without = predict(topics, phi, alpha)
    scores: dict[tuple[int, float], Array] = {}
    for k in NEIGHBOR_NUMBERS:
        means = average_mixtures(mixtures, place[near], k)
        scores |= {(k, tau): predict(topics, phi, alpha + tau * means) for tau in NEIGHBOR_TOKENS}
    gains = {at: float((score - without).sum()) for at, score in scores.items()}
    k, tau = max(gains, key=lambda at: (gains[at], -at[0], -at[1]))
    others = np.roll(average_mixtures(mixtures, place[near], k), len(near) // 2, axis=0)
    control = predict(topics, phi, alpha + tau * others)
    if not is_clear(scores[k, tau] - without) or not is_clear(scores[k, tau] - control):
        return UNUSED
    kept = max(other for other in NEIGHBOR_TOKENS if gains[k, other] >= KEPT_GAIN * gains[k, tau])
    return NeighborChoice(k, kept, float(2.0 * gains[k, tau] / topics.trial.documents.sum()))


def is_clear(gain: Array) -> bool:
    """Tell whether the mean of gains (n,) is above zero by `LEAST_ERRORS` standard errors."""
    return bool(gain.mean() > LEAST_ERRORS * gain.std() / np.sqrt(len(gain)))


def infer_references(counts: Documents, members: Any, phi: Array, alpha: Array) -> Array:
    """Return the mixtures of references (n, F), by words alone; `members` (n, N) averages over documents."""
    documents, inverse = np.unique(members.indices, return_inverse=True)
    found = count_document_topics(counts.take_rows(documents), phi, alpha, TRIAL_STEPS) + alpha
    found /= found.sum(axis=1, keepdims=True)
    total = np.zeros((members.shape[0], len(alpha)))
    row = np.repeat(np.arange(members.shape[0]), np.diff(members.indptr))
    np.add.at(total, row, members.data[:, None] * found[inverse])
    return total


def predict(topics: TrialTopics, phi: Array, prior: Array) -> Array:
    """Return log-probabilities of one half of each trial document (n,), for the best part of the words' frequencies."""
    documents, n_threads = topics.trial
    scores = predict_halves(documents, phi, prior, TRIAL_STEPS, n_threads=n_threads)
    for part in BACKGROUND_PARTS:
        mixed = phi + part * (topics.p[:, None] - phi)
        other = predict_halves(documents, mixed, prior, TRIAL_STEPS, n_threads=n_threads)
        if other.sum() <= scores.sum():
            break
        scores = other
    return scores
