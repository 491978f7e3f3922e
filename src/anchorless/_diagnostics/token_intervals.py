"""How far the numbers of the token model can be trusted: intervals from draws of its posterior.

A chain of draws starts at the fit and leaves it: the fit is biased, the chain is not (`token_posterior`). After some
sweeps each of the kept draws is a set of topics and mixtures that could have generated the corpus. Documents get random
weights in each (the Bayesian bootstrap), so that shares and correlations are those of the population. An interval is
the mean of the draws plus and minus t times their spread, and contains the estimate of the fit.

Where topics overlap, the chain is slow: its draws differ less than they should, and their mean has an error of its own.
The difference between the halves of the chain measures both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import t as student

from anchorless._core.proportions import combine_moments
from anchorless._core.token_model import TokenTopics
from anchorless._core.token_posterior import TokenPosterior
from anchorless._corpus.documents import Array, Documents
from anchorless._corpus.threads import call_interruptibly
from anchorless._diagnostics.stability import BootstrapSettings, Interval, Positions, Stability, adjust_pairs
from anchorless.metrics import leading_words
from anchorless.progress import ProgressCallback

#: Sweeps from the fit before the first draw is kept, for each draw: on planted corpora most of the bias of the fit is
#: gone after 100 to 300 sweeps, so that 50 draws are enough.
FIRST_SWEEPS = 5
#: Sweeps from one kept draw to the next: those of neighboring sweeps are almost the same.
SWEEPS_PER_DRAW = 6
#: Part of the distance between fit and posterior that may still be left. Chosen on planted corpora, as the sweeps.
REMAINING = 0.5
#: Steps in which the variances of the logarithms are found, and the least residual, relative to the value.
VARIANCE_STEPS, LEAST_RESIDUAL = 20, 0.01
#: Smallest possible values.
LEAST = {"shares": 0.0, "correlation": -1.0, "association": -1.0, "probabilities": 0.0}


class TokenFit(NamedTuple):
    """A fitted token model and its documents."""

    topics: TokenTopics
    counts: Documents
    correlation: Array  # (F, F)
    association: Array  # (F, F)
    is_new: Any  # (F,), topics that are not those of the co-occurrences, which are resampled
    ranking: Array  # (V,), by which probabilities are multiplied to rank the words of a topic


class TokenEstimates(NamedTuple):
    """Shares (F,), correlations and associations (F, F), and probabilities of words (F, n)."""

    shares: Array
    correlation: Array
    association: Array
    probabilities: Array


class DrawnMoments(NamedTuple):
    """Shares of tokens (n, F), and means (n, F) and covariances (n, F, F) of proportions in n draws."""

    shares: Any
    mean: Any
    covariance: Any


class TopicDraws(NamedTuple):
    """What intervals of merged topics need, in single precision, with the number of the draw as first axis."""

    corpus: DrawnMoments
    population: DrawnMoments
    words: Positions  # (U,), the leading words of all topics
    probabilities: Any  # (n, F, U)


class Draws(NamedTuple):
    """Draws, with their number as first axis: of the corpus, of the population, and of dependences (n, F, F)."""

    corpus: TokenEstimates
    population: TokenEstimates
    dependence: Array
    is_leading: Array  # (n, F, n_words), whether words are among the leading ones; of new topics only
    topics: TopicDraws


class Posterior(NamedTuple):
    """Means of a quantity, and its standard deviations."""

    mean: Array
    spread: Array


def add_token_intervals(
    found: Stability, fit: TokenFit, settings: BootstrapSettings, progress: ProgressCallback | None
) -> Stability:
    """Return the stability with estimates and intervals of the token model."""
    words, level, n = found.words.copy(), found.level, settings.n_resamples
    for k in np.flatnonzero(fit.is_new):
        words[k] = rank_words(fit.topics.topic_word[k], fit, words.shape[1])
    probabilities = np.take_along_axis(fit.topics.topic_word, words, axis=1)
    estimate = TokenEstimates(fit.topics.shares, fit.correlation, fit.association, probabilities)
    draws = draw_estimates(fit, words, settings, progress)
    intervals: dict[str, Any] = {}
    for name, value, corpus, population in zip(TokenEstimates._fields, estimate, *draws[:2], strict=True):
        posterior = add_bias(value, summarize_draws(corpus, population))
        intervals[name] = compute_posterior_interval(value, posterior, n, level, LEAST[name])
    p = adjust_pairs(*summarize_draws(draws.dependence, draws.dependence), n)
    stability = np.where(fit.is_new[:, None], draws.is_leading.mean(axis=0), found.word_stability)
    of_words = {"words": words, "word_stability": stability, "topic_stability": stability.mean(axis=1)}
    return found._replace(corrected=True, association_p=p, draws=draws.topics, **of_words, **intervals)


def estimate_draw_cost(n_topics: int) -> int:
    """Return how many times as long a draw takes as a resample of the co-occurrences, roughly, for the progress.

    Measured: 3.4 times at 10 topics, 1.25 at 50, about 1.1 at 200, where a resample has many eigenvectors.
    """
    return min(3, round(1 + 24 / n_topics))


def draw_estimates(
    fit: TokenFit, words: Positions, settings: BootstrapSettings, progress: ProgressCallback | None
) -> Draws:
    """Return draws of all quantities."""
    chain, n = TokenPosterior(fit.counts, fit.topics, settings.seed, settings.n_threads), settings.n_resamples
    n_first, n_sweeps = FIRST_SWEEPS * n, (FIRST_SWEEPS + SWEEPS_PER_DRAW) * n
    draws: list[Any] = []
    searched = np.unique(words)
    for done in range(1, n_sweeps + 1):
        chain.sweep()
        if progress is not None:
            progress(done * n // n_sweeps, n)
        if done <= n_first or (done - n_first) % SWEEPS_PER_DRAW:
            continue
        known = (chain.lengths > 0).astype(np.float64)
        rng = np.random.default_rng([settings.seed, 0, len(draws)])
        weights = known, known * rng.standard_exponential(len(known))
        described, moments = zip(*(describe_draw(chain, words, w) for w in weights), strict=True)
        others = compute_dependence(chain.covariance), find_leading(chain.topic_word, fit, words)
        draws.append((*described, *others, *moments, chain.topic_word[:, searched]))
    corpus, population, dependence, is_leading, of_corpus, of_population, probabilities = zip(*draws, strict=True)
    moments = stack_moments(of_corpus), stack_moments(of_population)
    kept = TopicDraws(*moments, searched, np.array(probabilities, dtype=np.float32))
    return Draws(stack_estimates(corpus), stack_estimates(population), np.array(dependence), np.array(is_leading), kept)


def stack_moments(draws: Sequence[DrawnMoments]) -> DrawnMoments:
    """Return moments with the number of the draw as first axis."""
    return DrawnMoments(*(np.array(values, dtype=np.float32) for values in zip(*draws, strict=True)))


def find_leading(topic_word: Array, fit: TokenFit, words: Positions) -> Array:
    """Return whether words (F, n) are among the n leading ones of the new topics in a draw; 0 for other topics."""
    found = np.zeros(words.shape)
    for k in np.flatnonzero(fit.is_new):
        found[k] = np.isin(words[k], rank_words(topic_word[k], fit, words.shape[1]))
    return found


def rank_words(probabilities: Array, fit: TokenFit, n_words: int) -> Positions:
    """Return the leading words of a topic with these probabilities (V,)."""
    return leading_words((probabilities * fit.ranking)[None], n_words)[0]


def stack_estimates(draws: Sequence[TokenEstimates]) -> TokenEstimates:
    """Return each quantity with the number of the draw as first axis."""
    return TokenEstimates(*(np.array(values) for values in zip(*draws, strict=True)))


def describe_draw(chain: TokenPosterior, words: Positions, weights: Array) -> tuple[TokenEstimates, DrawnMoments]:
    """Return the quantities of one draw, for documents with these weights (N,), and the moments behind them."""
    weights = weights / weights.sum()
    mean = weights @ chain.mixtures
    centered = chain.mixtures - mean
    covariance = call_interruptibly(np.matmul, (centered * weights[:, None]).T, centered)
    about = combine_moments(mean, covariance, None)
    tokens = (weights * chain.lengths) @ chain.mixtures
    probabilities = np.take_along_axis(chain.topic_word, words, axis=1)
    shares = tokens / tokens.sum()
    found = TokenEstimates(shares, about.correlation, about.association, probabilities)
    return found, DrawnMoments(shares, mean, covariance)


def compute_dependence(covariance: Array) -> Array:
    """Return the correlations (F, F) of logarithms of proportions that are known only up to a common factor.

    Only T_kl = var(η_k − η_l) is known. If most pairs are independent, T_kl = D_k + D_l for most, with D the variances;
    these D minimize Σ|T_kl − D_k − D_l|, by least squares with weights W_kl = 1/|residual|: (W + diag(W1))·D = (W∘T)·1.
    """
    F, variance = len(covariance), np.diag(covariance)
    if F < 4:  # as many variances as pairs: nothing is left to tell
        return np.zeros((F, F))
    others = 1.0 - np.eye(F)
    T, W = others * (variance[:, None] + variance - 2 * covariance), others
    for _ in range(VARIANCE_STEPS):
        D = np.linalg.solve(W + np.diag(W.sum(axis=1)), (W * T).sum(axis=1))
        W = others / np.maximum(abs(T - D[:, None] - D), LEAST_RESIDUAL * T + np.eye(F))
    D = np.maximum(D, LEAST_RESIDUAL * T.sum() / others.sum())
    return np.asarray(others * (D[:, None] + D - T) / (2 * np.sqrt(np.outer(D, D))))


def summarize_draws(corpus: Array, population: Array) -> Posterior:
    """Return mean and spread of a quantity from a chain of draws (n, …), of the corpus and of the population.

    The variance of the mean of a chain is a quarter of the mean squared difference between its halves. So much the
    variance of the draws is too small, and so much is the error of the mean; relative to the variance of the draws it
    is taken as the same for all entries, since one difference is not enough for each.
    """
    half, variance = len(corpus) // 2, corpus.var(axis=0, ddof=1)
    of_mean = (corpus[:half].mean(axis=0) - corpus[-half:].mean(axis=0)) ** 2 / 4
    part = of_mean.sum() / variance.sum() if variance.sum() > 0 else 0.0
    of_sample = (population - corpus).var(axis=0, ddof=1)
    return Posterior(corpus.mean(axis=0), np.sqrt(variance * (1.0 + 2.0 * part) + of_sample))


def add_bias(estimate: Array, posterior: Posterior) -> Posterior:
    """Widen the posterior by a part of its distance from the fit: where the chain had far to go, it has some way left.

    The distance is relative to the spread, and taken as the same for all entries.
    """
    spread = np.maximum(posterior.spread, 1e-12)
    distance = np.sqrt((((posterior.mean - estimate) / spread) ** 2).mean())
    return posterior._replace(spread=posterior.spread * np.sqrt(1.0 + (REMAINING * distance) ** 2))


def compute_posterior_interval(
    estimate: Array, posterior: Posterior, n_draws: int, level: float, least: float
) -> Interval:
    """Return an interval from the posterior; the estimate is always inside."""
    reach = student.ppf((1 + level) / 2, n_draws - 1) * posterior.spread
    low, high = np.minimum(posterior.mean - reach, estimate), np.maximum(posterior.mean + reach, estimate)
    return Interval(estimate, np.clip(low, least, 1.0), np.clip(high, least, 1.0))
