"""Planted corpora: topics without anchor words, and proportions whose correlations are known.

A population says how the topics and the proportions of the documents are drawn; a corpus is a sample from it. Three
kinds of populations:

* `sparse`: Zipf frequencies times Bernoulli(q) · Exponential(1) + 0.01; logistic-normal proportions.
* `dirichlet`: Dirichlet topics and Dirichlet proportions.
* `dense`: Zipf frequencies times lognormal multipliers; logistic-normal proportions.

Every topic gives every word a positive probability. In a logistic-normal population some pairs of topics have
correlated logarithms, half of these pairs positively and half negatively; all other pairs are independent.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.optimize import nnls
from scipy.special import softmax

from anchorless import datasets

Array = npt.NDArray[np.float64]

#: Offset of Zipf's law: word r has a frequency proportional to 1 / (r + ZIPF_OFFSET).
ZIPF_OFFSET = 2.7
#: Least multiplier of a word's frequency in a topic: there are no anchor words, and no exact zeros.
LEAST_MULTIPLIER = 0.01
#: Spread of the topics' mean logarithms, and correlation of the logarithms of a pair.
SIZE_SPREAD, PAIR_CORRELATION = 0.3, 0.75
#: Of this many topics, one pair is correlated positively and one negatively.
TOPICS_PER_PAIR = 5
#: Parameters of the Dirichlet population: of topics over words and of proportions, and the least probability.
TOPIC_CONCENTRATION, MIXTURE_CONCENTRATION, LEAST_PROBABILITY = 0.05, 0.2, 1e-9
#: Spread of the logarithms of the dense multipliers.
MULTIPLIER_SPREAD = 1.5
#: Words in fewer documents are left out, for every method.
MIN_DOCUMENTS = 5


class Design(NamedTuple):
    """What corpora are drawn: the kind of the population and the sizes."""

    n_topics: int
    n_words: int
    n_documents: int
    length: int
    share: float = 0.2  # q, the share of the words that a sparse topic prefers
    spread: float = 2.0  # standard deviation of the logarithms of the proportions
    kind: str = "sparse"


class Population(NamedTuple):
    """Planted topics, the distribution of the proportions, and the pairs of topics that are correlated."""

    topic_word: Array  # (K, V), p(word | topic)
    mean: Array  # (K,), of the logarithms, or the parameter of the Dirichlet distribution
    root: Array | None  # (K, K), factor of the covariance of the logarithms; None for a Dirichlet distribution
    positive: Array  # (n, 2), pairs
    negative: Array

    def draw_mixtures(self, n: int, rng: np.random.Generator) -> Array:
        """Draw the proportions (n, K) of documents."""
        if self.root is None:
            return rng.dirichlet(self.mean, n)
        return np.asarray(softmax(self.mean + rng.standard_normal((n, len(self.mean))) @ self.root.T, axis=1))


class Corpus(NamedTuple):
    """A sample of documents, with the truth for its words."""

    counts: Any  # (N, V'), sparse
    words: list[str]  # (V',)
    topic_word: Array  # (K, V'), rows sum to one
    mixtures: Array  # (N, K)

    @property
    def lengths(self) -> Array:
        """Tokens of each document (N,)."""
        return np.asarray(self.counts.sum(axis=1), dtype=np.float64).ravel()

    @property
    def shares(self) -> Array:
        """Share of each topic in all tokens (K,): the mean proportions, weighted by the documents' lengths."""
        return self.lengths @ self.mixtures / self.lengths.sum()


def draw_population(design: Design, rng: np.random.Generator) -> Population:
    """Draw topics and the distribution of the proportions."""
    K = design.n_topics
    topic_word = draw_topics(design, rng)
    if design.kind == "dirichlet":
        none = np.zeros((0, 2), dtype=np.intp)
        return Population(topic_word, np.full(K, MIXTURE_CONCENTRATION), None, none, none)
    n_pairs = K // TOPICS_PER_PAIR
    pairs = rng.permutation(K)[: 4 * n_pairs].reshape(2, n_pairs, 2)
    correlation = np.eye(K)
    for sign, some in zip((1, -1), pairs, strict=True):
        correlation[some[:, 0], some[:, 1]] = correlation[some[:, 1], some[:, 0]] = sign * PAIR_CORRELATION
    root = design.spread * np.linalg.cholesky(correlation)
    return Population(topic_word, SIZE_SPREAD * rng.standard_normal(K), root, *pairs)


def draw_topics(design: Design, rng: np.random.Generator) -> Array:
    """Draw p(word | topic), topics × words."""
    shape = design.n_topics, design.n_words
    if design.kind == "dirichlet":
        C = rng.gamma(TOPIC_CONCENTRATION, size=shape)
        C = C / C.sum(axis=1, keepdims=True) + LEAST_PROBABILITY
    elif design.kind == "dense":
        C = draw_zipf(design.n_words, rng) * np.exp(MULTIPLIER_SPREAD * rng.standard_normal(shape))
    else:
        preferred = rng.random(shape) < design.share
        C = draw_zipf(design.n_words, rng) * (preferred * rng.exponential(size=shape) + LEAST_MULTIPLIER)
    return np.asarray(C / C.sum(axis=1, keepdims=True))


def draw_zipf(n_words: int, rng: np.random.Generator) -> Array:
    """Return frequencies by Zipf's law, in random order."""
    return rng.permutation(1.0 / (np.arange(n_words) + ZIPF_OFFSET))


def draw_corpus(population: Population, design: Design, rng: np.random.Generator) -> Corpus:
    """Draw documents of Poisson lengths, and keep the words that are in enough of them."""
    W = population.draw_mixtures(design.n_documents, rng)
    lengths = np.maximum(rng.poisson(design.length, design.n_documents), 2)
    counts = datasets.draw_counts(population.topic_word, W, lengths, rng)
    used = np.flatnonzero(np.asarray((counts > 0).sum(axis=0)).ravel() >= MIN_DOCUMENTS)
    C = population.topic_word[:, used]
    return Corpus(sp.csr_matrix(counts)[:, used], [f"w{v}" for v in used], C / C.sum(axis=1, keepdims=True), W)


def compute_association(mixtures: Array) -> Array:
    """Return the association of proportions (N, K): the covariance beyond that of unrelated topics, in units of sd.

    Unrelated topics have the covariance (I − m1ᵀ) Diag(b) (I − 1mᵀ), m their means and b ≥ 0 such that each has its
    own variance, as in the documentation of `topic_association_`.
    """
    covariance, m = np.cov(mixtures.T), mixtures.mean(axis=0)
    center = np.eye(len(m)) - np.outer(m, np.ones(len(m)))
    b = nnls(center**2, np.diag(covariance))[0]
    deviations = np.sqrt(np.diag(covariance))
    association = (covariance - center @ np.diag(b) @ center.T) / np.outer(deviations, deviations)
    np.fill_diagonal(association, 0.0)
    return np.asarray(association)
