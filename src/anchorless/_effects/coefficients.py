"""Coefficients of shares of topics on columns of a design, under draws of the topics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anchorless._core.proportions import compute_projection
from anchorless._core.token_model import TokenTopics
from anchorless._corpus.documents import Array, Documents
from anchorless._effects.topic_draws import TopicDraws, iter_projections, sum_frequencies


class Sample(NamedTuple):
    """The documents of a regression, the fitted topics, and draws of them."""

    counts: Documents
    topics: TokenTopics
    draws: TopicDraws
    n_threads: int
    selection: Array | None = None  # (F, G), adds up the topics that are shown; None: they are those of the fit

    @property
    def shown(self) -> Array:
        """The matrix (F, G) that adds up the topics that are shown."""
        return np.eye(len(self.topics.topic_word)) if self.selection is None else self.selection


class Coefficients(NamedTuple):
    """Coefficients of T targets and P columns, and the covariances of their errors by source."""

    estimate: Array  # (T, P)
    of_documents: Array  # (T, P, P)
    of_topics: Array  # (T, P, P)


class DrawnCoefficients(NamedTuple):
    """Coefficients (P, F) under the fitted topics, and under each draw of them (n, P, F)."""

    fitted: Array
    drawn: Array

    def summarize(self, S: Array) -> tuple[Array, Array]:
        """Return the means (T, P) of the targets S (F, T) over the draws, and their covariances (T, P, P).

        The chain is slow: a quarter of the squared difference between its halves is the variance of its mean, and so
        much the variance of the draws is too small. And the fit, with other assumptions about the mixtures, is another
        estimate: its distance counts as an error, too.
        """
        mean = self.drawn.mean(axis=0)
        drawn = np.einsum("npf,ft->ntp", self.drawn - mean, S)
        covariance = np.einsum("ntp,ntq->tpq", drawn, drawn) / (len(drawn) - 1.0)
        distance = ((mean - self.fitted) @ S).T
        slow = 1.0 + 2.0 * self.compute_slowness()
        return (mean @ S).T, slow * covariance + distance[:, :, None] * distance[:, None, :]

    def compute_slowness(self) -> float:
        """Return the variance of the mean of the chain, relative to that of the draws, from all topics."""
        half, variance = len(self.drawn) // 2, self.drawn.var(axis=0, ddof=1)
        of_mean = (self.drawn[:half].mean(axis=0) - self.drawn[-half:].mean(axis=0)) ** 2 / 4
        # Columns of the design have units of their own.
        ratios = of_mean.sum(axis=1) / np.maximum(variance.sum(axis=1), 1e-300)
        return float(ratios.mean())


def compare_topics(sample: Sample, S: Array) -> Array:
    """Return how much the fit and the draws agree on the words of each target S (F, T): the cosine (T,).

    Several topics are taken together in proportion to their shares. The cosine is small where other topics explain
    the documents as well.
    """
    weights = (S * sample.topics.shares[:, None]).T
    fitted, drawn = weights @ sample.draws.fitted, weights @ sample.draws.mean
    lengths = np.linalg.norm(fitted, axis=1) * np.linalg.norm(drawn, axis=1)
    products = (fitted * drawn).sum(axis=1)
    return np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)


def estimate_by_draw(sample: Sample, weights: Array) -> DrawnCoefficients:
    """Return Σ_d weights_d θ_d, the coefficients, for weights (N, P), under each draw of the topics.

    The documents enter by one pass: sums of their word frequencies, (P, V), times the projection of each draw.
    """
    sums = sum_frequencies(sample.counts, weights, sample.n_threads)
    drawn = np.array([sums @ solve for solve in iter_projections(sample.draws)])
    return DrawnCoefficients(sums @ compute_projection(sample.draws.fitted), drawn)
