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
import numpy.typing as npt
from scipy.special import gammaln

from anchorless._core.token_mixtures import BATCH_SIZE, count_document_topics
from anchorless._core.token_model import WORD_SHAPE, TokenTopics
from anchorless._corpus.documents import Array, Documents, TreeSum
from anchorless._corpus.threads import map_in_threads

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

Indices = npt.NDArray[np.int32]


class TokenBlock(NamedTuple):
    """The tokens of some documents: the rows of these, and for each token its document (within them) and word."""

    rows: slice
    document: Indices
    word: Indices


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
        self._blocks = list_tokens(tokens)
        frequency = tokens.sum_blocks(lambda X: np.asarray(X.sum(axis=0)).ravel(), n_threads)
        self.lengths = np.concatenate([np.bincount(b.document, minlength=count_rows(b)) for b in self._blocks])
        self._known, self._p = frequency > 0, np.maximum(frequency, TINY) / frequency.sum()
        self._phi = np.ascontiguousarray(topics.topic_word.T)
        found = [*tokens.map_blocks(lambda X: count_document_topics(X, self._phi, topics.alpha), n_threads)]
        self._counts = np.vstack(found)
        self.mixtures = self._counts + topics.alpha
        self.mixtures /= self.mixtures.sum(axis=1, keepdims=True)
        self._logits = np.log(self.mixtures * max(1.0, self.lengths.mean()))
        self._mean = self._logits.mean(axis=0)
        self.covariance: Array = np.cov(self._logits.T).reshape(F, F) + np.eye(F) / len(self._logits)
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
        phi = (rng.standard_gamma(words + self._shape) + TINY) / (words.sum(axis=0) + (self._shape / self._p)[:, None])
        phi[~self._known] = 0.0
        self._phi = phi / phi.sum(axis=0)

    def _draw_documents(self) -> Array:
        """Draw what belongs to the documents, and return the tokens of each word in each topic (V, F)."""
        root = np.asarray(np.linalg.cholesky(self.covariance), dtype=np.float64)
        total = TreeSum()
        phi = self._phi.astype(np.float32)

        def draw(numbered: tuple[int, TokenBlock]) -> DocumentDraw:
            number, block = numbered
            rng = np.random.default_rng([self._seed, self._n_sweeps, number])
            topics = draw_topics(block, self.mixtures[block.rows].astype(np.float32), phi, rng)
            F = phi.shape[1]
            n = np.bincount(block.document * F + topics, minlength=count_rows(block) * F).reshape(-1, F).astype(float)
            words = np.bincount(block.word * F + topics, minlength=phi.size).reshape(-1, F).astype(float)
            score = partial(score_logits, n)
            logits = self._logits[block.rows]
            for _ in range(LOGIT_DRAWS):
                logits = draw_logits(logits, score, self._mean, root, rng)
            gamma = rng.standard_gamma(n + np.exp(logits)) + TINY
            return DocumentDraw(n, logits, gamma / gamma.sum(axis=1, keepdims=True), words)

        drawn = map_in_threads(draw, list(enumerate(self._blocks)), self._n_threads)
        for block, new in zip(self._blocks, drawn, strict=True):
            self._counts[block.rows], self._logits[block.rows], self.mixtures[block.rows] = new[:3]
            total.add(new.words, fresh=True)
        return total.total()

    def _shift_logits(self, rng: np.random.Generator) -> None:
        """Add a number to all η and μ, with Metropolis' rule: otherwise their level moves very slowly."""
        shift = self._shift_step * rng.standard_normal()
        every = np.arange(len(self._logits))
        gain = score_logits(self._counts, self._logits + shift, every) - score_logits(self._counts, self._logits, every)
        within = np.exp(self._mean + shift).sum() < MAX_CONCENTRATION * max(1.0, self.lengths.mean()) or shift < 0
        accepted = bool(np.log(rng.random()) < gain.sum()) and within
        if accepted:
            self._logits += shift
            self._mean = self._mean + shift
        self._shift_step *= np.exp(STEP_RATE * (accepted - ACCEPTED))

    def _draw_shape(self, words: Array, rng: np.random.Generator) -> None:
        """Draw the shape of the prior of the words, by two steps of Metropolis' rule on its logarithm."""
        score = score_shape(words[self._known], self._p[self._known], self._shape)
        for _ in range(2):
            shape = self._shape * np.exp(self._shape_step * rng.standard_normal())
            proposed = score_shape(words[self._known], self._p[self._known], shape)
            accepted = bool(np.log(rng.random()) < proposed - score)
            if accepted:
                self._shape, score = shape, proposed
            self._shape_step *= np.exp(STEP_RATE * (accepted - ACCEPTED))


def list_tokens(counts: Documents) -> list[TokenBlock]:
    """Return the tokens of each block of counts."""
    found, first = [], 0
    for X in counts.blocks:
        n = X.data.astype(np.int64)
        document = np.repeat(np.arange(X.shape[0], dtype=np.int32), np.diff(X.indptr))
        rows = slice(first, first + X.shape[0])
        found.append(TokenBlock(rows, np.repeat(document, n), np.repeat(X.indices.astype(np.int32), n)))
        first = rows.stop
    return found


def count_rows(block: TokenBlock) -> int:
    """Return the number of documents of a block."""
    return int(block.rows.stop - block.rows.start)


def draw_topics(block: TokenBlock, mixtures: Any, phi: Any, rng: np.random.Generator) -> Any:
    """Draw the topic of each token, for mixtures (n, F) and topics phi (V, F) in single precision."""
    size = max(1, BATCH_SIZE // phi.shape[1])
    topics = np.empty(len(block.word), dtype=np.int64)
    for start in range(0, len(topics), size):
        some = slice(start, start + size)
        weights = mixtures[block.document[some]]
        weights *= phi[block.word[some]]
        np.cumsum(weights, axis=1, out=weights)
        limit = rng.random(len(weights), dtype=np.float32) * weights[:, -1]
        topics[some] = (weights < limit[:, None]).sum(axis=1)
    return topics


def score_logits(counts: Array, logits: Array, at: Any) -> Array:
    """Return log p(tokens of each topic | η), up to a constant, of the documents `at`, whose η are `logits`."""
    n, a = counts[at], np.exp(logits)
    some = np.flatnonzero(n)  # few topics are in a document, and the others add nothing
    terms = np.zeros(n.shape)
    terms.ravel()[some] = gammaln(n.ravel()[some] + a.ravel()[some]) - gammaln(a.ravel()[some])
    total = a.sum(axis=1)
    return np.asarray(terms.sum(axis=1) + gammaln(total) - gammaln(total + n.sum(axis=1)))


def draw_logits(logits: Array, score: Any, mean: Array, root: Array, rng: np.random.Generator) -> Array:
    """Draw η (n, F) of documents by elliptical slice sampling; `score` gives their log-likelihoods.

    On the ellipse through η and another draw from the prior, try angles in a bracket that shrinks towards η.
    """
    active, found = np.arange(len(logits)), logits.copy()
    limit = score(logits, active) + np.log(1.0 - rng.random(len(logits)))
    old, other = logits - mean, rng.standard_normal(logits.shape) @ root.T
    angle = 2 * np.pi * rng.random(len(logits))
    low, high = angle - 2 * np.pi, angle.copy()
    while len(active):
        tried = angle[active]
        new = mean + old[active] * np.cos(tried)[:, None] + other[active] * np.sin(tried)[:, None]
        # An angle of zero is η itself: rounding must not go on for ever.
        accepted = (score(new, active) > limit[active]) | (abs(tried) < 1e-9)
        found[active[accepted]] = new[accepted]
        active, tried = active[~accepted], tried[~accepted]
        low[active], high[active] = np.where(tried < 0, tried, low[active]), np.where(tried < 0, high[active], tried)
        angle[active] = low[active] + (high[active] - low[active]) * rng.random(len(active))
    return found


def draw_population(logits: Array, covariance: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw the mean (F,) and the covariance (F, F) of η (N, F): a normal and an inverse Wishart distribution."""
    N, F = logits.shape
    mean = logits.mean(axis=0) + np.linalg.cholesky(covariance / N) @ rng.standard_normal(F)
    centered = logits - mean
    precision = np.linalg.inv(centered.T @ centered + PRIOR_DOCUMENTS * np.eye(F))
    root = np.tril(rng.standard_normal((F, F)), -1)
    root[np.diag_indices(F)] = np.sqrt(rng.chisquare(N + F + PRIOR_DOCUMENTS - np.arange(F)))
    root = np.linalg.cholesky((precision + precision.T) / 2) @ root
    drawn = np.linalg.inv(root @ root.T)
    return mean, (drawn + drawn.T) / 2


def score_shape(words: Array, p: Array, shape: float) -> float:
    """Return log p(word counts (V, F) | shape), up to a constant: they are negative binomial."""
    n, rate = words.ravel(), (shape / p)[:, None]
    n = n[n > 0]
    size = rate + words.sum(axis=0)
    return float(
        (gammaln(n + shape) - gammaln(shape)).sum() + (shape * np.log(rate) - (shape + words) * np.log(size)).sum()
    )
