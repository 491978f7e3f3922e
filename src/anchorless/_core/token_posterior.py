"""Draws from the posterior of the token model, by Gibbs sampling: topics, mixtures, and how mixtures are distributed.

The fit assumes mixtures from one Dirichlet distribution. Where topics are correlated this is wrong, and the topics are
biased by several times their standard error. Here the parameters of the Dirichlet distribution differ by document:
θ_d ~ Dirichlet(exp η_d), η_d ~ Normal(μ, Σ). A Dirichlet distribution is the case Σ = 0; with large exp η the mixtures
are logistic-normal. μ, Σ and the shape of the prior of the words are drawn as well: nothing is fixed in advance.

One sweep draws the topic of every token, then η (elliptical slice sampling, with θ integrated out), θ, μ, Σ and the
topics φ, with the prior of `token_model`: φ_kw ~ Gamma(s, rate s / p_w).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from anchorless._core.token_kernels import compare_logits, draw_logits, draw_topics, score_shape
from anchorless._core.token_mixtures import count_document_topics
from anchorless._core.token_model import TokenTopics
from anchorless._core.word_prior import WORD_SHAPE, WORDS_AT_A_TIME
from anchorless._corpus.documents import Array, Documents, TreeSum
from anchorless._corpus.sparse import split_range
from anchorless._corpus.threads import call_interruptibly, map_in_threads

#: Draws of η for given topics of the tokens, in each sweep.
LOGIT_DRAWS = 2
#: The sum of exp μ is at most this many times the mean length of a document. Beyond it nothing changes: mixtures are
#: logistic-normal, and without a limit the sum drifts to infinity.
MAX_CONCENTRATION = 2.0
#: Prior of Σ: as many documents, beyond the number of topics, with covariance one.
PRIOR_DOCUMENTS = 2
#: First standard deviation of proposals, how fast it adapts, and the part that should be accepted.
STEP, STEP_RATE, ACCEPTED = 0.05, 0.1, 0.35
#: Added to gamma variables, of which none may be zero.
TINY = 1e-300


class DocumentDraw(NamedTuple):
    """What a sweep draws for the documents of a block."""

    counts: Array  # (n, F), tokens of each topic
    logits: Array  # (n, F), η
    mixtures: Array  # (n, F), θ
    words: Array  # (V, F), tokens of each word in each topic


class TokenPosterior:
    """A chain of draws. The same seed gives the same bits for any number of threads.

    Attributes: `topic_word` (F, V), `mixtures` (N, F), `lengths` (N,), tokens of each document, and `covariance`
    (F, F), Σ. It is known up to what is added to all of a row and a column, since mixtures sum to one.
    """

    def __init__(self, counts: Documents, topics: TokenTopics, seed: int, n_threads: int) -> None:
        self._seed, self._n_threads, self._n_sweeps = seed, n_threads, 0
        tokens, F = counts.refine_blocks(), len(topics.alpha)
        stops = np.cumsum([X.shape[0] for X in tokens.blocks]).tolist()
        self._blocks = [(slice(stop - X.shape[0], stop), X) for X, stop in zip(tokens.blocks, stops, strict=True)]
        frequency = tokens.sum_blocks(lambda X: np.asarray(X.sum(axis=0)).ravel(), n_threads)
        self.lengths = np.concatenate([np.asarray(X.sum(axis=1)).ravel() for X in tokens.blocks])
        self._known, self._p = frequency > 0, np.maximum(frequency, TINY) / frequency.sum()
        self._phi = np.ascontiguousarray(topics.topic_word.T)
        found = [*tokens.map_blocks(lambda X: count_document_topics(X, self._phi, topics.alpha), n_threads)]
        self._counts = np.vstack(found)
        self.mixtures = self._counts + topics.alpha
        self.mixtures /= self.mixtures.sum(axis=1, keepdims=True)
        self._logits = np.log(self.mixtures * max(1.0, self.lengths.mean()))
        self._mean = self._logits.mean(axis=0)
        covariance = call_interruptibly(np.cov, self._logits.T)
        self.covariance: Array = covariance.reshape(F, F) + np.eye(F) / len(self._logits)
        self._shape, self._shift_step, self._shape_step = WORD_SHAPE, STEP, STEP

    @property
    def topic_word(self) -> Array:
        """Return p(word | topic), (F, V)."""
        return self._phi.T

    def sweep(self) -> None:
        """Draw everything once."""
        self._n_sweeps += 1
        words = self._draw_documents()
        rng = np.random.default_rng([self._seed, self._n_sweeps])
        self._mean, self.covariance = draw_population(self._logits, self.covariance, rng)
        self._shift_logits(rng)
        self._draw_shape(words, rng)
        self._phi = self._draw_words(words)

    def _draw_words(self, words: Array) -> Array:
        """Draw the topics (V, F), given the tokens of each word in each topic."""
        rate = words.sum(axis=0) + (self._shape / self._p)[:, None]
        parts = [*split_range(len(words), WORDS_AT_A_TIME)]

        def draw(number: int) -> Array:
            rng = np.random.default_rng([self._seed, self._n_sweeps, number, 1])
            return rng.standard_gamma(words[parts[number]] + self._shape) + TINY

        phi = np.concatenate([*map_in_threads(draw, range(len(parts)), self._n_threads)])
        phi /= rate
        phi[~self._known] = 0.0
        phi /= phi.sum(axis=0)
        return phi

    def _draw_documents(self) -> Array:
        """Draw what belongs to the documents, and return the tokens of each word in each topic (V, F)."""
        root = np.linalg.cholesky(self.covariance)
        total = TreeSum()

        def draw(number: int) -> DocumentDraw:
            rows, X = self._blocks[number]
            rng = np.random.default_rng([self._seed, self._n_sweeps, number])
            n, words, logits = np.empty_like(self._logits[rows]), np.zeros_like(self._phi), self._logits[rows].copy()
            draw_topics(X.indptr, X.indices, X.data, self.mixtures[rows], self._phi, rng, n, words)
            for _ in range(LOGIT_DRAWS):
                draw_logits(n, logits, self._mean, rng.standard_normal(logits.shape) @ root.T, rng)
            gamma = rng.standard_gamma(n + np.exp(logits)) + TINY
            return DocumentDraw(n, logits, gamma / gamma.sum(axis=1, keepdims=True), words)

        drawn = map_in_threads(draw, range(len(self._blocks)), self._n_threads)
        for (rows, _), new in zip(self._blocks, drawn, strict=True):
            self._counts[rows], self._logits[rows], self.mixtures[rows] = new[:3]
            total.add(new.words, fresh=True)
        return total.total()

    def _shift_logits(self, rng: np.random.Generator) -> None:
        """Add a number to all η and μ, with Metropolis' rule: otherwise their level moves very slowly."""
        shift = self._shift_step * rng.standard_normal()

        def compare(block: tuple[slice, Any]) -> float:
            return float(compare_logits(self._counts[block[0]], self._logits[block[0]], shift))

        gain = sum(map_in_threads(compare, self._blocks, self._n_threads))
        within = np.exp(self._mean + shift).sum() < MAX_CONCENTRATION * max(1.0, self.lengths.mean()) or shift < 0
        accepted = bool(np.log(rng.random()) < gain) and within
        if accepted:
            self._logits += shift
            self._mean = self._mean + shift
        self._shift_step *= np.exp(STEP_RATE * (accepted - ACCEPTED))

    def _draw_shape(self, words: Array, rng: np.random.Generator) -> None:
        """Draw the shape of the prior of the words, by two steps of Metropolis' rule on its logarithm."""
        words, p, totals = words[self._known], self._p[self._known], words.sum(axis=0)
        parts = split_range(len(words), WORDS_AT_A_TIME)

        def score_all(shape: float) -> float:
            scores = map_in_threads(lambda w: score_shape(words[w], totals, p[w], shape), parts, self._n_threads)
            return float(sum(scores))

        score = score_all(self._shape)
        for _ in range(2):
            shape = self._shape * np.exp(self._shape_step * rng.standard_normal())
            proposed = score_all(shape)
            accepted = bool(np.log(rng.random()) < proposed - score)
            if accepted:
                self._shape, score = shape, proposed
            self._shape_step *= np.exp(STEP_RATE * (accepted - ACCEPTED))


def draw_population(logits: Array, covariance: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw the mean (F,) and the covariance (F, F) of η (N, F): a normal and an inverse Wishart distribution."""
    N, F = logits.shape
    mean = logits.mean(axis=0) + np.linalg.cholesky(covariance / N) @ rng.standard_normal(F)
    centered = logits - mean
    squares = call_interruptibly(np.matmul, centered.T, centered)  # seconds at hundreds of topics
    precision = np.linalg.inv(squares + PRIOR_DOCUMENTS * np.eye(F))
    root = np.tril(rng.standard_normal((F, F)), -1)
    root[np.diag_indices(F)] = np.sqrt(rng.chisquare(N + F + PRIOR_DOCUMENTS - np.arange(F)))
    root = np.linalg.cholesky((precision + precision.T) / 2) @ root
    drawn = np.linalg.inv(root @ root.T)
    return mean, (drawn + drawn.T) / 2
