"""Neighbors as a prior of mixtures: a document whose neighbors are about a topic is likely to be about it.

The prior of document d is a Dirichlet distribution with parameters α + τ·m_d, where m_d is the mean of the mixtures of
its neighbors, each by its own words alone: neighbors count as τ tokens. Before the mean the mixtures are sharpened. The
mixture of a short document has much of the prior, which says nothing about it; without sharpening neighbors predict
words less well.

The number of tokens is the one that predicts words best: on documents that the topics have not seen, half the tokens
and the neighbors predict the other half. If the neighbors do not predict better than the half alone, and clearly better
than the neighbors of other documents, τ is zero. The second comparison is the one that refuses random vectors. How much
is gained over the half alone depends on how few documents were set aside, and says little about the embeddings.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from anchorless._core.token_mixtures import predict_halves
from anchorless._core.token_model import TrialTopics
from anchorless._core.token_trials import BACKGROUND_PARTS, TRIAL_STEPS, compute_alpha
from anchorless._core.word_prior import WordPrior
from anchorless._corpus.documents import Array

#: Neighbors of a document.
N_NEIGHBORS = 30
#: Shares of a neighbor are raised to this power: what it is mostly about counts, not the prior in its mixture.
SHARPNESS = 3
#: Numbers of tokens that they count as, which are tried in this order until one predicts no better.
NEIGHBOR_TOKENS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
#: By so many standard errors, neighbors must predict better than those of other documents: random ones do not.
LEAST_ERRORS = 4.0


class NeighborChoice(NamedTuple):
    """How neighbors are used."""

    n_neighbors: int
    n_tokens: float  # τ; zero: not at all
    gain: float = (
        0.0  # of log p(token), per token, by the best τ, in the topics or groups that neighbors were tried in first
    )


UNUSED = NeighborChoice(0, 0.0)


def sharpen_mixtures(mixtures: Any) -> Array:
    """Return mixtures (n, F) with larger leading shares; rows sum to one, or are zero."""
    found = mixtures
    for _ in range(SHARPNESS - 1):  # ** takes ten times as long
        found = found * mixtures
    return normalize_rows(found)


def normalize_rows(values: Any) -> Array:
    """Return rows that sum to one; those without anything stay zero."""
    total = values.sum(axis=1, keepdims=True)
    return np.divide(values, total, out=np.zeros(values.shape), where=total > 0)


def average_mixtures(mixtures: Any, positions: Any, n_neighbors: int) -> Array:
    """Return the mean of the mixtures (M, F) of the first neighbors of each document (n, k); zero without any."""
    nearest = positions[:, :n_neighbors]
    total, number = np.zeros((len(nearest), mixtures.shape[1])), np.zeros(len(nearest))
    for column in nearest.T:  # one neighbor of all documents at a time, in a fixed order
        there = column >= 0
        if there.all():  # the usual case, in a third of the time
            total += mixtures[column]
        else:
            total[there] += mixtures[column[there]]
        number += there
    return np.divide(total, number[:, None], out=total, where=number[:, None] > 0)


class HalfPrediction:
    """Predictions of one half of each trial document from the other half and the neighbors.

    Topics may have a part of the frequencies of the words: the part with which they predict best without neighbors.
    """

    def __init__(self, topics: TrialTopics) -> None:
        prior = WordPrior(topics.words, topics.p, topics.shape)
        self.trial, self.phi = topics.trial, prior.compute_phi()
        self.alpha = compute_alpha(topics.words, topics.concentration)
        self.mixed, self.without = self.phi, self.predict(self.phi, self.alpha)
        for part in BACKGROUND_PARTS:
            mixed = prior.compute_phi(part)
            scores = self.predict(mixed, self.alpha)
            if scores.sum() <= self.without.sum():
                break
            self.mixed, self.without = mixed, scores

    def predict(self, phi: Array, prior: Array) -> Array:
        """Return log-probabilities of one half of each document (n,)."""
        documents, n_threads = self.trial
        return predict_halves(documents, phi, prior, TRIAL_STEPS, n_threads=n_threads)

    def score(self, means: Array, n_tokens: float) -> Array:
        """Return log-probabilities (n,) where neighbors with mean mixtures (n, F) count as tokens."""
        return self.predict(self.mixed, self.alpha + n_tokens * means)

    def search_tokens(self, means: Array) -> tuple[float, Array]:
        """Return the τ with which neighbors with mean mixtures (n, F) predict best, and the scores (n,)."""
        best, scores = 0.0, self.without
        for tau in NEIGHBOR_TOKENS:
            found = self.score(means, tau)
            if found.sum() <= scores.sum():
                break
            best, scores = tau, found
        return best, scores

    def choose(self, means: Array, without: Array) -> NeighborChoice:
        """Return with how many tokens neighbors with mean mixtures (n, F) predict best, and the gain.

        The gain is over the scores `without` them (n,).
        """
        best, scores = self.search_tokens(means)
        if not best:
            return UNUSED
        return NeighborChoice(N_NEIGHBORS, best, float(2.0 * (scores - without).sum() / self.trial.documents.sum()))

    def choose_clearly(self, means: Array, without: Array) -> NeighborChoice:
        """Return what `choose` returns if there is a gain, and a clear one over the neighbors of other documents."""
        choice = self.choose(means, without)
        return choice if choice.gain > 0.0 and self.tell_apart(means, choice.n_tokens) else UNUSED

    def tell_apart(self, means: Array, n_tokens: float) -> bool:
        """Tell whether neighbors predict clearly better than those of other documents do."""
        others = np.roll(means, len(means) // 2, axis=0)
        return is_clear(self.score(means, n_tokens) - self.score(others, n_tokens))


def is_clear(gain: Array, least_errors: float = LEAST_ERRORS) -> bool:
    """Tell whether the mean of gains (n,) is above zero, by so many standard errors."""
    return bool(gain.mean() > least_errors * gain.std() / np.sqrt(len(gain)))
