"""Draws from the posterior of the token model, by Gibbs sampling: topics, mixtures, and how mixtures are distributed.

The fit assumes mixtures from one Dirichlet distribution. Where topics are correlated this is wrong, and the topics are
biased by several times their standard error. Here the parameters of the Dirichlet distribution differ by document:
θ_d ~ Dirichlet(exp η_d), η_d ~ Normal(μ, Σ). A Dirichlet distribution is the case Σ = 0; with large exp η the mixtures
are logistic-normal. μ, Σ and the shape of the prior of the words are drawn as well: nothing is fixed in advance.

One sweep draws the topic of every token, then η (elliptical slice sampling, with θ integrated out), θ, μ, Σ and the
topics φ, with the prior of `token_model`: φ_kw ~ Gamma(s, rate s / p_w).
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from anchorless._core.token_kernels import compare_logits, draw_logits, draw_topics, score_shape
from anchorless._core.token_mixtures import count_document_topics
from anchorless._core.token_model import TokenTopics
from anchorless._core.word_prior import WORD_SHAPE, WORDS_AT_A_TIME
from anchorless._corpus.documents import Array, Documents
from anchorless._corpus.sparse import split_range
from anchorless._corpus.threads import map_in_threads

#: Draws of η for given topics of the tokens, in each sweep.
LOGIT_DRAWS = 2
#: The sum of exp μ is at most this many times the mean length of a document. Beyond it nothing changes: mixtures are
#: logistic-normal, and without a limit the sum drifts to infinity.
MAX_CONCENTRATION = 2.0
#: Shape of the prior of the words at most: all topics are the same then, as they may be in a handful of words.
MAX_SHAPE = 1e3
#: Prior of Σ: as many documents, beyond the number of topics, with covariance one.
PRIOR_DOCUMENTS = 2
#: First standard deviation of proposals, how fast it adapts, and the part that should be accepted.
STEP, STEP_RATE, ACCEPTED = 0.05, 0.1, 0.35
#: Added to gamma variables, of which none may be zero.
TINY = 1e-300


class Population(NamedTuple):
    """The η of all documents: their number, mean (F,), and the products of what differs from it."""

    n: int
    mean: Array
    squares: Array  # (F, F)


class SweepState(NamedTuple):
    """What a sweep needs to draw what belongs to the documents of a block."""

    seed: tuple[int, int]  # of the chain, and the number of the sweep
    phi: Array  # (V, F)
    mean: Array  # (F,), μ
    root: Array  # (F, F), factor of Σ
    moved: float  # was added to μ after the last sweep, and is still to be added to η
    shift: float  # is proposed to be added to μ and η


class TokenPosterior:
    """A chain of draws. The same seed gives the same bits for any number of threads.

    A sweep is one pass over the blocks; what belongs to the documents is stored as they are, in memory or on disk.

    Attributes: `topic_word` (F, V), `mixtures` (N, F), `lengths` (N,), tokens of each document, and `covariance`
    (F, F), Σ. It is known up to what is added to all of a row and a column, since mixtures sum to one.
    """

    def __init__(self, counts: Documents, topics: TokenTopics, seed: int, n_threads: int) -> None:
        self._seed, self._n_threads, self._n_sweeps = seed, n_threads, 0
        self._tokens, F = counts.refine_blocks(), len(topics.alpha)
        frequency = self._tokens.sum_blocks(sum_words, n_threads)
        lengths = [*self._tokens.map_blocks(sum_rows, n_threads)]
        self.lengths = np.concatenate(lengths)
        self._known, self._p = frequency > 0, np.maximum(frequency, TINY) / frequency.sum()
        self._phi = np.ascontiguousarray(topics.topic_word.T)
        self._rows = self._tokens.allocate_rows(2 * F + 1)  # θ, η, and the number of the block
        self._rows[:, -1] = np.repeat(np.arange(len(lengths)), [*map(len, lengths)])
        start = partial(start_block, phi=self._phi, alpha=topics.alpha, size=max(1.0, self.lengths.mean()))
        population = self._summarize(self._tokens.update_rows(start, self._rows, n_threads), np.zeros(F))
        self._mean = population.mean
        self.covariance: Array = population.squares / max(1, population.n - 1) + np.eye(F) / population.n
        self._shape, self._shift_step, self._shape_step, self._moved = WORD_SHAPE, STEP, STEP, 0.0

    @property
    def topic_word(self) -> Array:
        """Return p(word | topic), (F, V)."""
        return self._phi.T

    @property
    def mixtures(self) -> Array:
        """Return the mixtures of the documents (N, F)."""
        return self._rows[:, : self._phi.shape[1]]

    def sweep(self) -> None:
        """Draw everything once."""
        self._n_sweeps += 1
        rng = np.random.default_rng([self._seed, self._n_sweeps])
        shift, V = self._shift_step * rng.standard_normal(), len(self._phi)
        root = np.asarray(np.linalg.cholesky(self.covariance), dtype=np.float64)
        state = SweepState((self._seed, self._n_sweeps), self._phi, self._mean, root, self._moved, shift)
        sums = self._tokens.update_rows(partial(draw_block, state=state), self._rows, self._n_threads)
        words, gain = sums[:V], float(sums[-1, 0])
        population = self._summarize(sums[V:-1], self._mean)
        self._mean, self.covariance = draw_population(population, self.covariance, rng)
        self._shift_logits(shift, gain, rng)
        self._draw_shape(words, rng)
        self._phi = self._draw_words(words)

    def _summarize(self, sums: Array, center: Array) -> Population:
        """Return the population of η from sums (F + 1, F) of products and values, both around a center (F,)."""
        n = len(self.lengths)
        mean = sums[-1] / n
        return Population(n, center + mean, sums[:-1] - n * np.outer(mean, mean))

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

    def _shift_logits(self, shift: float, gain: float, rng: np.random.Generator) -> None:
        """Add a number to all η and μ, with Metropolis' rule: otherwise their level moves very slowly."""
        limit = np.log(MAX_CONCENTRATION * max(1.0, self.lengths.mean()))
        within = float(np.logaddexp.reduce(self._mean + shift)) < limit or shift < 0
        accepted = bool(np.log(rng.random()) < gain) and within
        self._moved = shift if accepted else 0.0  # the next pass adds it to η
        self._mean = self._mean + self._moved
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
            accepted = bool(np.log(rng.random()) < proposed - score) and shape < MAX_SHAPE
            if accepted:
                self._shape, score = shape, proposed
            self._shape_step *= np.exp(STEP_RATE * (accepted - ACCEPTED))


def sum_words(X: Any) -> Array:
    """Return the number of tokens of each word (V,) in a block."""
    return np.asarray(X.sum(axis=0)).ravel()


def sum_rows(X: Any) -> Array:
    """Return the number of tokens of each document (n,) of a block."""
    return np.asarray(X.sum(axis=1)).ravel()


def start_block(X: Any, rows: Array, phi: Array, alpha: Array, size: float) -> tuple[Array, Array]:
    """Return the first θ and η of the documents of a block, in rows (n, 2F + 1), and the sums of η (F + 1, F)."""
    mixtures = count_document_topics(X, phi, alpha) + alpha
    mixtures /= mixtures.sum(axis=1, keepdims=True)
    logits = np.log(mixtures * size)
    return np.column_stack([mixtures, logits, rows[:, -1:]]), np.vstack([logits.T @ logits, logits.sum(axis=0)])


def draw_block(X: Any, rows: Array, state: SweepState) -> tuple[Array, Array]:
    """Draw θ and η of the documents of a block, in rows (n, 2F + 1), and return the sums (V + F + 2, F).

    They are the tokens of each word in each topic (V, F); products (F, F) and sums (F,) of η − μ; and how much more
    probable the topics of the tokens are if the shift is added to η.
    """
    V, F = state.phi.shape
    rng = np.random.default_rng([*state.seed, int(rows[0, -1]) if len(rows) else 0])
    mixtures, logits = np.array(rows[:, :F], order="C"), rows[:, F:-1] + state.moved
    n, sums = np.empty_like(logits), np.zeros((V + F + 2, F))
    draw_topics(X.indptr, X.indices, X.data, mixtures, state.phi, rng, n, sums[:V])
    for _ in range(LOGIT_DRAWS):
        draw_logits(n, logits, state.mean, rng.standard_normal(logits.shape) @ state.root.T, rng)
    gamma = rng.standard_gamma(n + np.exp(logits)) + TINY
    gamma /= gamma.sum(axis=1, keepdims=True)
    centered = logits - state.mean
    sums[V : V + F], sums[-2] = centered.T @ centered, centered.sum(axis=0)
    sums[-1] = compare_logits(n, logits, state.shift)
    return np.column_stack([gamma, logits, rows[:, -1:]]), sums


def draw_population(population: Population, covariance: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw the mean (F,) and the covariance (F, F) of η: a normal and an inverse Wishart distribution."""
    N, F = population.n, len(population.mean)
    mean = population.mean + np.linalg.cholesky(covariance / N) @ rng.standard_normal(F)
    squares = population.squares + N * np.outer(population.mean - mean, population.mean - mean)
    precision = np.linalg.inv(squares + PRIOR_DOCUMENTS * np.eye(F))
    root = np.tril(rng.standard_normal((F, F)), -1)
    root[np.diag_indices(F)] = np.sqrt(rng.chisquare(N + F + PRIOR_DOCUMENTS - np.arange(F)))
    root = np.linalg.cholesky((precision + precision.T) / 2) @ root
    drawn = np.linalg.inv(root @ root.T)
    return mean, (drawn + drawn.T) / 2
