"""How far the numbers of the token model can be trusted: the fit repeated on corpora that it generates itself.

For each resample documents are drawn with replacement, mixtures from their posteriors, and as many tokens as they have
from the fitted topics; the token model is fitted again. In such a corpus the truth is known, so that the differences
contain everything that separates an estimate from the truth: the sample of documents, the sample of tokens, and the
bias of the method. An interval is the estimate minus the mean difference, plus and minus t times their spread.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import t as student

from anchorless._core.proportions import combine_moments, compute_posterior_moments, estimate_proportions
from anchorless._core.token_mixtures import count_document_topics
from anchorless._core.token_model import TokenTopics, refit_token_topics
from anchorless._corpus.documents import Array, Documents
from anchorless._corpus.sampling import sample_counts
from anchorless._diagnostics.stability import (
    BootstrapSettings,
    Interval,
    Positions,
    Stability,
    adjust_pairs,
    map_resamples,
)
from anchorless.progress import ProgressCallback

#: Generated corpora fit the model exactly, real ones do not: mixtures have another distribution than the prior, and
#: the first topics are not those that generated the text. On planted corpora (`python -m experiments coverage`) the
#: errors are so many times the spread of the generated ones.
WIDENING = {"probabilities": 1.7, "shares": 2.0, "correlation": 2.0, "association": 2.0}
#: The part of an association that a fit finds again is not assumed to be smaller than this.
MIN_FOUND = 0.4


class TokenFit(NamedTuple):
    """A fitted token model and its documents."""

    topics: TokenTopics
    mixtures: Array  # (N, F), posterior means
    lengths: Array  # (N,), tokens
    correlation: Array  # (F, F)
    association: Array  # (F, F)


class TokenEstimates(NamedTuple):
    """Shares (F,), correlations and associations (F, F), and probabilities of words (F, n)."""

    shares: Array
    correlation: Array
    association: Array
    probabilities: Array


def add_token_intervals(
    found: Stability, fit: TokenFit, settings: BootstrapSettings, progress: ProgressCallback | None
) -> Stability:
    """Return the stability with estimates and intervals of the token model."""
    words, level = found.words, found.level
    estimate = TokenEstimates(
        fit.topics.shares, fit.correlation, fit.association, np.take_along_axis(fit.topics.topic_word, words, axis=1)
    )
    truth = describe_generator(fit, estimate)
    known = np.flatnonzero(fit.lengths > 0)

    def measure(rng: np.random.Generator) -> TokenEstimates:
        again = estimate_again(fit, known[rng.integers(len(known), size=len(known))], words, rng)
        return TokenEstimates(*(a - b for a, b in zip(again, truth, strict=True)))

    errors = TokenEstimates(*(np.array(e) for e in zip(*map_resamples(measure, settings, progress), strict=True)))
    part = measure_found_part(truth.association, errors.association)
    association = estimate.association / part
    missing, error = association - estimate.association, errors.association / part
    # Errors of the correlations apart from those of the associations, which are larger where there is more to find.
    rest = (errors.correlation - errors.association).mean(axis=0)
    errors = errors._replace(correlation=(errors.correlation - errors.correlation.mean(axis=0)) / part + rest - missing)
    errors = errors._replace(association=error - error.mean(axis=0) - missing)
    least = {"shares": 0.0, "correlation": -1.0, "association": -1.0, "probabilities": 0.0}
    intervals: dict[str, Any] = {
        name: compute_error_interval(getattr(estimate, name), getattr(errors, name), WIDENING[name], level, least[name])
        for name in TokenEstimates._fields
    }
    spread = WIDENING["association"] * errors.association.std(axis=0, ddof=1)
    return found._replace(
        corrected=True, association_p=adjust_pairs(association, spread, len(errors.association)), **intervals
    )


def measure_found_part(truth: Array, errors: Array) -> float:
    """Return which part of the associations (F, F) of the generated corpora a fit finds, from its errors (n, F, F)."""
    above = np.triu_indices(len(truth), 1)
    size = float((truth[above] ** 2).sum())
    part = 1.0 + float((truth[above] * errors.mean(axis=0)[above]).sum()) / size if size > 0 else 1.0
    return float(np.clip(part, MIN_FOUND, 1.0))


def describe_generator(fit: TokenFit, estimate: TokenEstimates) -> TokenEstimates:
    """Return what is true of the corpora that `estimate_again` generates."""
    known = fit.lengths > 0
    mean, covariance = compute_posterior_moments(fit.mixtures, fit.lengths, known, fit.topics.alpha.sum())
    about = combine_moments(mean, covariance, None)
    tokens = fit.lengths @ fit.mixtures
    return TokenEstimates(tokens / tokens.sum(), about.correlation, about.association, estimate.probabilities)


def estimate_again(fit: TokenFit, drawn: Positions, words: Positions, rng: np.random.Generator) -> TokenEstimates:
    """Return the estimates of one corpus, generated from the posteriors of the documents `drawn`."""
    topics, lengths = fit.topics, fit.lengths[drawn].astype(np.int64)
    size = topics.alpha.sum()
    theta = rng.standard_gamma(fit.mixtures[drawn] * (lengths + size)[:, None]) + 1e-300
    theta /= theta.sum(axis=1, keepdims=True)
    counts = Documents.from_matrix(sample_counts(topics.topic_word, theta, lengths, rng))
    again = refit_token_topics(counts, topics.topic_word, topics.alpha, 12)
    phi = np.ascontiguousarray(again.topic_word.T)
    found = np.vstack([*counts.map_blocks(lambda X: count_document_topics(X, phi, again.alpha), 1)]) + again.alpha
    found /= found.sum(axis=1, keepdims=True)
    about = estimate_proportions(counts, found, lengths.astype(np.float64), again.topic_word, size, 1)
    probabilities = np.take_along_axis(again.topic_word, words, axis=1)
    return TokenEstimates(again.shares, about.correlation, about.association, probabilities)


def compute_error_interval(estimate: Array, errors: Array, widening: float, level: float, least: float) -> Interval:
    """Return an interval from errors (n, …) of resamples, their spread widened; the estimate is always inside."""
    center, spread = estimate - errors.mean(axis=0), widening * errors.std(axis=0, ddof=1)
    reach = student.ppf((1 + level) / 2, len(errors) - 1) * spread
    low, high = np.minimum(center - reach, estimate), np.maximum(center + reach, estimate)
    return Interval(estimate, np.clip(low, least, 1.0), np.clip(high, least, 1.0))
