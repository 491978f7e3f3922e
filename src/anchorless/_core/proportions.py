"""The population of mixtures: shares of the topics, how their proportions correlate, and what their sizes imply.

Estimated mixtures vary less than the true ones, because the prior pulls them to the mean, and part of their variation
is chance. The posterior second moments account for the chance, and keep the pattern of the correlations. The prior says
that topics are independent and weakens this pattern, so only a part of it counts for the moments. How strong the
correlations are comes from moments without bias: pairs of *different* tokens of a document, projected on the topics.
Two numbers are taken from these, one for the variances and one for the associations, since single pairs are noisy;
where they still differ by more than their noise, the associations are moved towards them. At last what is noise is
taken away, as far as all pairs suggest that it is (`anchorless._core.shrinkage`).

Proportions sum to one, so topics are correlated even if they have nothing to do with each other. The closure null is
the covariance of θ_k = g_k / Σg for independent g_k, to first order (I − m1ᵀ) Diag(b) (I − 1mᵀ), where m are the mean
proportions and b is such that every topic has its own variance; it is exact for a Dirichlet distribution. Association
is what a covariance has beyond it, divided by the standard deviations.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import nnls

from anchorless._core.recover import find_nearest_in_simplex
from anchorless._core.shrinkage import shrink_excess
from anchorless._core.token_mixtures import mix_document_topics
from anchorless._core.topics import project_semidefinite
from anchorless._core.word_prior import WORDS_AT_A_TIME
from anchorless._corpus.documents import Array, Documents
from anchorless._corpus.sparse import build_csr, split_range
from anchorless._corpus.threads import call_interruptibly

#: Part of the prior that mixtures have where their moments are computed, and the steps in which they are found.
PRIOR_PART, PRIOR_PART_STEPS = 0.25, 10
#: Limits of the two numbers by which the posterior moments are scaled.
SCALE_LIMITS = (0.5, 4.0)
#: Topics that mix weaken associations by this factor, at most.
MAX_BLUR = 2.0
#: Eigenvalues of the topics' products below this part of the largest are rounding errors.
LEAST_EIGENVALUE = 1e-10
#: What is added to the diagonal of these products, relative to its mean, where the nearest mixture is searched.
LEAST_RIDGE = 1e-8
#: The noise of associations, in standard errors of the moments of pairs. Between halves of the documents of planted
#: corpora it was 0.9 to 1.55 of them.
NOISE_FACTOR = 1.25
#: With fewer documents of two tokens or more, the moments without bias are noise, and nothing is scaled.
MIN_PAIRED_DOCUMENTS = 100
#: Topics whose squares exist at the same time.
TOPICS_AT_A_TIME = 32


class Proportions(NamedTuple):
    """How the topics' proportions vary over documents, and what of it their sizes do not explain."""

    covariance: Array  # (F, F)
    correlation: Array  # (F, F)
    association: Array  # (F, F), zero on the diagonal
    mean: Array  # (F,)


class PairMoments(NamedTuple):
    """Covariance of the proportions (F, F) from pairs of different tokens, and its standard errors."""

    covariance: Array
    error: Array


def estimate_proportions(
    counts: Documents, mixtures: Array, lengths: Array, topic_word: Array, alpha: Array, n_threads: int
) -> Proportions:
    """Return the covariances of the population from posterior means (N, F) of documents of `lengths` (N,) tokens.

    The posterior is that of a Dirichlet prior alpha (F,).
    """
    known, pairs = lengths > 0, compute_pair_moments(counts, topic_word, n_threads)
    before = compute_posterior_moments(mixtures, lengths, known, alpha.sum())
    blur = None if pairs is None else min(max(compare_moments(*before, pairs).scale, 1.0), MAX_BLUR)
    found = weaken_prior(counts, mixtures, topic_word, alpha, n_threads)
    return combine_moments(*compute_posterior_moments(found, lengths, known, PRIOR_PART * alpha.sum()), pairs, blur)


def weaken_prior(counts: Documents, mixtures: Array, topic_word: Array, alpha: Array, n_threads: int) -> Array:
    """Return the mixtures (N, F) under a part of the prior alpha (F,), from those under all of it."""
    found, start = counts.allocate_rows(len(alpha)), 0
    update = partial(mix_block, phi=np.ascontiguousarray(topic_word.T), alpha=PRIOR_PART * alpha)
    for new in counts.map_rows(update, mixtures, n_threads):
        found[start : start + len(new)] = new
        start += len(new)
    return found


def mix_block(X: Any, mixtures: Array, phi: Array, alpha: Array) -> Array:
    """Return the mixtures (n, F) of a block for topics phi (V, F) and a prior alpha (F,), by some steps of EM."""
    found, n = mixtures, np.asarray(X.sum(axis=1))
    for _ in range(PRIOR_PART_STEPS):
        mixed = mix_document_topics(X, found, phi)[0]
        parts = np.divide(X.data, mixed, out=np.zeros_like(mixed), where=mixed > 0)
        found = found * (build_csr(parts, X.indices, X.indptr, X.shape[1]) @ phi) + alpha
        found /= n + alpha.sum()
    return found


def compute_posterior_moments(mixtures: Array, lengths: Array, known: Any, concentration: float) -> tuple[Array, Array]:
    """Return mean (F,) and covariance (F, F) of proportions with Dirichlet posteriors of these means."""
    size = (lengths + concentration)[:, None]
    theta = mixtures[known]
    scaled = theta * np.sqrt(size[known] / (size[known] + 1.0))
    second = call_interruptibly(np.matmul, scaled.T, scaled) + np.diag((theta / (size[known] + 1.0)).sum(axis=0))
    n = max(1, int(known.sum()))
    mean = theta.sum(axis=0) / n
    return mean, second / n - np.outer(mean, mean)


class TokenProjection(NamedTuple):
    """The matrix (V, F) with which words become topics, θ ≈ xᵀ(solve) / n, and the moments of pairs of tokens."""

    solve: Array
    n: float  # documents of two tokens or more
    mean: Array  # (F,)
    covariance: Array  # (F, F)


def compute_projection(topic_word: Array) -> Array:
    """Return the matrix (V, F) that turns word frequencies into shares of topics (F, V) without bias.

    Least squares with the variances of the words: a document's frequencies times this matrix are its shares, up to the
    noise of its tokens. Nothing pulls them to the mean, so short documents do not weaken effects.
    """
    scaled, gram = compute_gram(topic_word)
    values, vectors = np.linalg.eigh(gram)
    # Topics that are the same leave directions of which nothing is known. (`lstsq` takes seconds at 200 topics.)
    known = values > LEAST_EIGENVALUE * values[-1]
    inverse = (vectors[:, known] / values[known]) @ vectors[:, known].T
    return np.asarray(call_interruptibly(np.matmul, scaled.T, inverse))


def compute_gram(topic_word: Array) -> tuple[Array, Array]:
    """Return the topics (F, V) divided by the variances of the words, and their products (F, F) with the topics."""
    weights = topic_word.mean(axis=0)
    scaled = np.divide(topic_word, weights, out=np.zeros_like(topic_word), where=weights > 0)
    return scaled, np.asarray(call_interruptibly(np.matmul, scaled, topic_word.T))


def find_nearest_mixtures(estimates: Array, topic_word: Array) -> Array:
    """Return the mixtures (n, F) whose words are nearest to those of estimates (n, F) without bias, of sum one.

    Noise takes means of few tokens below zero; setting these to zero would leave sums above one. Distances are those of
    `compute_projection` between frequencies of words, so that topics with the same words make up for each other. Rows
    without negative numbers stay as they are, to the last bit.
    """
    result, outside = estimates.copy(), np.flatnonzero((estimates < 0).any(axis=1))
    gram = compute_gram(topic_word)[1]
    gram += LEAST_RIDGE * np.diag(gram).mean() * np.eye(len(gram))  # topics that are the same
    inner = estimates[outside] @ gram
    result[outside] = find_nearest_in_simplex(gram, inner, (inner * estimates[outside]).sum(axis=1))[0]
    return result


def project_tokens(counts: Documents, topic_word: Array, n_threads: int) -> TokenProjection:
    """Return the covariance of the proportions without bias, given that the topics (F, V) are right."""
    solve = compute_projection(topic_word)
    first = counts.sum_blocks(partial(sum_pairs, solve=solve), n_threads)
    n = max(first[-1, 0], 1.0)
    mean = first[-2] / n
    covariance = first[:-2] / n - np.outer(mean, mean)
    return TokenProjection(solve, first[-1, 0], mean, (covariance + covariance.T) / 2)


def compute_pair_moments(counts: Documents, topic_word: Array, n_threads: int) -> PairMoments | None:
    """Return moments without bias, given that the topics (F, V) are right.

    None with too few documents, or with a single topic, which makes up every document.
    """
    if len(topic_word) < 2:
        return None
    solve, n, mean, covariance = project_tokens(counts, topic_word, n_threads)
    if n < MIN_PAIRED_DOCUMENTS:
        return None
    second = counts.sum_blocks(partial(sum_squared_pairs, solve=solve, mean=mean), n_threads) / n
    return PairMoments(covariance, np.sqrt(np.maximum(second - covariance**2, 0.0) / n))


def sum_pairs(X: Any, solve: Array) -> Array:
    """Return sums over the documents of a block (F + 2, F): products of pairs of tokens, means, and their number."""
    n = np.asarray(X.sum(axis=1)).ravel()
    paired = n >= 2
    weight = np.divide(1.0, n * (n - 1.0), out=np.zeros_like(n), where=paired)
    Y = X @ solve
    of_words = X.T @ weight
    # Some words at a time: at hundreds of topics, every thread would have a copy of `solve`.
    own = sum((solve[w].T * of_words[w]) @ solve[w] for w in split_range(len(solve), WORDS_AT_A_TIME))
    products = (Y * weight[:, None]).T @ Y - own
    means = np.divide(1.0, n, out=np.zeros_like(n), where=paired) @ Y
    return np.vstack([products, means, np.full(len(means), paired.sum())])


def sum_squared_pairs(X: Any, solve: Array, mean: Array) -> Array:
    """Return the sum over documents of the squares of the centered products (F, F)."""
    n = np.asarray(X.sum(axis=1)).ravel()
    weight = np.divide(1.0, n * (n - 1.0), out=np.zeros_like(n), where=n >= 2)
    Y = X @ solve - np.outer(n, mean)
    squares = np.square(Y, out=Y)
    total = (squares * weight[:, None] ** 2).T @ squares
    for k in split_range(len(mean), TOPICS_AT_A_TIME):
        own = squares[:, k] - X @ solve[:, k] ** 2
        total[k, k][np.diag_indices(own.shape[1])] = ((own * weight[:, None]) ** 2).sum(axis=0)
    return np.asarray(total)


def combine_moments(
    mean: Array, covariance: Array, pairs: PairMoments | None, blur: float | None = None
) -> Proportions:
    """Scale the posterior covariance (F, F) to the moments without bias, and separate what the sizes imply.

    Topics that mix weaken associations by `blur` ≥ 1 in both; None for the scale that these moments need.
    """
    if pairs is None:
        variance = np.maximum(np.diag(covariance), 0.0)
        return assemble_proportions(mean, variance, covariance - compute_null_covariance(variance, mean))
    found = compare_moments(mean, covariance, pairs)
    blur = max(found.scale, 1.0) if blur is None else blur
    excess = combine_excess(found, pairs.error, blur)
    excess = shrink_excess(excess, NOISE_FACTOR * pairs.error, mean, found.variance, most=blur)  # noise is scaled, too
    return assemble_proportions(mean, found.variance, excess)


class Comparison(NamedTuple):
    """Posterior moments beside those of pairs of tokens: variances (F,), and covariances beyond the null (F, F)."""

    variance: Array  # of the posterior, scaled to fit the pairs
    excess: Array  # of the posterior, as they are
    without_bias: Array  # of the pairs
    scale: float  # by which those of the posterior must be multiplied to fit the pairs


def compare_moments(mean: Array, covariance: Array, pairs: PairMoments) -> Comparison:
    """Return what the posterior covariance (F, F) and the pairs of tokens say beyond the null."""
    variance, target = np.maximum(np.diag(covariance), 0.0), np.diag(pairs.covariance)
    scaled = fit_scale(target, variance, np.diag(pairs.error)) * variance
    without_bias = pairs.covariance - compute_null_covariance(np.maximum(target, SCALE_LIMITS[0] * scaled), mean)
    excess, above = covariance - compute_null_covariance(variance, mean), np.triu_indices(len(mean), 1)
    scale = fit_scale(without_bias[above], excess[above], pairs.error[above])
    return Comparison(scaled, excess, without_bias, scale)


def combine_excess(found: Comparison, error: Array, blur: float) -> Array:
    """Return covariances beyond the null (F, F) from those of the posterior and those of pairs of tokens.

    The posterior has the less noise and is scaled to fit the pairs. Where single pairs differ from it by more than
    their standard errors explain, they are moved towards what pairs of tokens show, by the usual rule of shrinkage.
    """
    above = np.triu_indices(len(error), 1)
    fitted = found.scale * found.excess
    beyond = max(0.0, float(np.mean((found.without_bias - fitted)[above] ** 2 - error[above] ** 2)))
    # Tokens that are given to the wrong topic blur the mixtures, which the scale measures, and the topics, by which it
    # is measured, alike.
    scaled = blur * fitted
    weight = np.divide(beyond, beyond + error**2, out=np.zeros_like(error), where=error > 0)
    return np.asarray(scaled + weight * (found.without_bias - scaled))


def compute_moment_association(E: Array) -> Array:
    """Return the association (F, F) that second moments of topic weights imply, noise included."""
    E = project_semidefinite(E)
    weight = E.sum(axis=1)
    if weight.sum() <= 0:
        return np.zeros_like(E)
    mean, scale = weight / weight.sum(), 1.0 / weight.sum()
    return combine_moments(mean, scale * E - np.outer(mean, mean), None).association


def assemble_proportions(mean: Array, variance: Array, excess: Array) -> Proportions:
    """Return covariance, correlation and association for variances (F,) and covariances beyond the null (F, F)."""
    covariance = compute_null_covariance(variance, mean) + excess
    np.fill_diagonal(covariance, variance)
    known = variance > 1e-12 * variance.max(initial=0.0)
    scale = np.where(known, 1.0 / np.sqrt(np.where(known, variance, 1.0)), 0.0)
    correlation = project_semidefinite(covariance * np.outer(scale, scale))
    length = np.sqrt(np.maximum(np.diag(correlation), 1e-12))
    correlation = np.clip(correlation / np.outer(length, length), -1.0, 1.0)
    association = np.clip(excess * np.outer(scale, scale), -1.0, 1.0)
    np.fill_diagonal(correlation, 1.0)
    np.fill_diagonal(association, 0.0)
    return Proportions(covariance, (correlation + correlation.T) / 2, (association + association.T) / 2, mean)


def compute_null_covariance(variance: Array, mean: Array) -> Array:
    """Return the covariance (F, F) of unrelated topics with these means and variances (F,)."""
    b = nnls(np.diag(1.0 - 2.0 * mean) + np.outer(mean**2, np.ones(len(mean))), variance)[0]
    null = np.diag(b) - np.outer(mean, b) - np.outer(b, mean) + np.outer(mean, mean) * b.sum()
    np.fill_diagonal(null, variance)
    return null


def fit_scale(target: Array, values: Array, errors: Array) -> float:
    """Return the number by which values must be multiplied to fit the target best, within `SCALE_LIMITS`."""
    least = 1e-3 * float(np.median(errors) or errors.max(initial=0.0))
    # In documents of one topic each, nothing varies: all errors may be exactly zero.
    weight = 1.0 / np.maximum(errors, least) ** 2 if least > 0 else np.ones_like(errors)
    size = float((weight * values**2).sum())
    return float(np.clip((weight * values * target).sum() / size, *SCALE_LIMITS)) if size > 0 else 1.0
