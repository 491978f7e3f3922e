import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls

from anchorless._core import proportions
from anchorless._core.proportions import (
    combine_excess,
    combine_moments,
    compute_null_covariance,
    compute_pair_moments,
)
from anchorless._core.token_mixtures import count_document_topics
from anchorless._corpus.documents import Documents
from anchorless.datasets import draw_counts, planted_topics
from tests.helpers.tolerances import ROUNDING


@pytest.mark.parametrize("alpha", [[0.2, 0.5, 1.0, 3.0], [1.0, 1.0], [0.05] * 10])
def test_a_dirichlet_distribution_has_no_association(alpha):
    alpha = np.array(alpha)
    m, size = alpha / alpha.sum(), alpha.sum()
    covariance = (np.diag(m) - np.outer(m, m)) / (size + 1)
    np.testing.assert_allclose(compute_null_covariance(np.diag(covariance), m), covariance, atol=1e-12)
    found = combine_moments(m, covariance, None)
    np.testing.assert_allclose(found.association, 0.0, atol=1e-9)
    scale = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(found.correlation, covariance / np.outer(scale, scale), atol=1e-9)


def test_topics_that_share_a_part_have_a_positive_association_though_they_correlate_negatively():
    rng = np.random.default_rng(0)
    g = rng.gamma(1.0, size=(20000, 4))
    g[:, 1] += 0.3 * g[:, 0]
    theta = g / g.sum(axis=1, keepdims=True)
    found = combine_moments(theta.mean(axis=0), np.cov(theta.T), None)
    assert found.correlation[0, 1] < 0
    assert found.association[0, 1] == found.association.max() > 0.05


def test_pairs_of_tokens_give_the_covariance_without_bias():
    rng = np.random.default_rng(1)
    C = planted_topics(3, 60, random_state=1).components
    theta = rng.dirichlet([0.3, 0.4, 0.5], 40000)
    counts = draw_counts(C, theta, rng.integers(2, 9, 40000), rng)
    found = compute_pair_moments(Documents.from_matrix(counts), C, 2)
    assert np.all(abs(found.covariance - np.cov(theta.T)) < 4 * found.error)


def test_errors_of_the_pair_moments_are_those_of_repeated_corpora():
    C = planted_topics(3, 60, random_state=1).components
    samples, errors = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        counts = draw_counts(C, rng.dirichlet([0.3, 0.4, 0.5], 400), np.full(400, 12), rng)
        found = compute_pair_moments(Documents.from_matrix(counts), C, 1)
        samples.append(found.covariance)
        errors.append(found.error)
    ratio = np.std(samples, axis=0) / np.mean(errors, axis=0)
    assert np.all((ratio > 0.7) & (ratio < 1.4))


def test_few_documents_of_two_tokens_scale_nothing():
    assert compute_pair_moments(Documents([np.eye(5)] * 3), np.full((2, 5), 0.2), 1) is None


def test_results_are_symmetric_within_one_and_defined_without_variance():
    found = combine_moments(np.array([1.0, 0.0]), np.zeros((2, 2)), None)
    np.testing.assert_array_equal(found.correlation, np.eye(2))
    np.testing.assert_array_equal(found.association, np.zeros((2, 2)))
    found = combine_moments(np.array([1.0]), np.zeros((1, 1)), None)
    np.testing.assert_allclose(found.correlation, [[1.0]], rtol=ROUNDING)


def test_scales_stay_within_their_limits():
    values, errors = np.ones(4), np.ones(4)
    assert proportions.fit_scale(10 * values, values, errors) == proportions.SCALE_LIMITS[1]
    assert proportions.fit_scale(-values, values, errors) == proportions.SCALE_LIMITS[0]
    assert proportions.fit_scale(values, 0 * values, errors) == 1.0
    assert proportions.fit_scale(2 * values, values, 0 * errors) == pytest.approx(2.0)


def test_documents_of_one_topic_each_have_moments_without_errors():
    X = Documents.from_matrix(np.repeat([[3.0, 2.0, 0.0, 0.0], [0.0, 0.0, 2.0, 3.0]], 60, axis=0))
    topics = np.array([[0.6, 0.4, 0.0, 0.0], [0.0, 0.0, 0.4, 0.6]])
    of_one, alpha = np.repeat(np.eye(2), 60, axis=0), np.full(2, 0.05)
    found = proportions.estimate_proportions(X, of_one, np.full(120, 5.0), topics, alpha, 1)
    np.testing.assert_allclose(found.correlation, [[1, -1], [-1, 1]], atol=1e-6)


def test_a_pair_is_moved_towards_pairs_of_tokens_as_far_as_their_noise_allows():
    rng = np.random.default_rng(3)
    posterior = rng.normal(size=(6, 6))
    posterior = posterior + posterior.T
    other = 0.8 * posterior
    other[0, 1] = other[1, 0] = other[0, 1] + 5.0
    both = proportions.Comparison(np.ones(6), posterior, other, 0.8)
    sure, unsure = (combine_excess(both, np.full((6, 6), error), 1.0) for error in (1e-6, 10.0))
    np.testing.assert_allclose(sure[0, 1], other[0, 1], rtol=1e-3)
    ratio = unsure[np.triu_indices(6, 1)] / posterior[np.triu_indices(6, 1)]
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)  # scaled only: no pair differs by more than the noise


def test_mixtures_under_a_part_of_the_prior_are_those_of_its_posterior(monkeypatch):
    rng = np.random.default_rng(8)
    corpus = planted_topics(4, 80, random_state=2)
    counts = draw_counts(corpus.components, rng.dirichlet(np.full(4, 0.5), 60), rng.integers(0, 40, 60), rng)
    X, phi, alpha = sp.csr_matrix(counts, dtype=np.float64), np.ascontiguousarray(corpus.components.T), np.full(4, 0.6)
    n = np.asarray(X.sum(axis=1)).ravel()
    full, part = (count_document_topics(X, phi, a, 4000) for a in (alpha, proportions.PRIOR_PART * alpha))
    before, expected = ((c + a) / (n + a.sum())[:, None] for c, a in ((full, alpha), (part, alpha / 4)))
    monkeypatch.setattr(proportions, "PRIOR_PART_STEPS", 4000)
    blocks = Documents.from_matrix(X, block_size=7)
    found = [proportions.weaken_prior(blocks, before, corpus.components, alpha, threads) for threads in (1, 2)]
    np.testing.assert_allclose(found[0], expected, atol=1e-6)
    np.testing.assert_array_equal(*found)


def correlate_with_truth(seed):
    """Return r of the associations found in 1,000 documents of 10 tokens with those of their mixtures."""
    rng, n, above = np.random.default_rng(seed), 1000, np.triu_indices(10, 1)
    C = planted_topics(10, 300, random_state=3).components
    g = rng.gamma(0.4, size=(n, 10))
    g[:, [1, 3]] += 0.8 * g[:, [0, 2]]
    theta = g / g.sum(axis=1, keepdims=True)
    X = sp.csr_matrix(draw_counts(C, theta, np.full(n, 10), rng), dtype=np.float64)
    alpha = 12.0 * theta.mean(axis=0)  # believes in documents with all topics
    mixtures = count_document_topics(X, np.ascontiguousarray(C.T), alpha) + alpha
    mixtures /= mixtures.sum(axis=1, keepdims=True)
    found = proportions.estimate_proportions(Documents.from_matrix(X), mixtures, np.full(n, 10.0), C, alpha, 1)
    truth = combine_moments(theta.mean(axis=0), np.cov(theta.T), None).association
    return np.corrcoef(truth[above], found.association[above])[0, 1]


def test_a_prior_of_independent_topics_does_not_hide_their_associations(monkeypatch):
    of_part = np.mean([correlate_with_truth(seed) for seed in range(4)])
    monkeypatch.setattr(proportions, "PRIOR_PART", 1.0)
    of_all = np.mean([correlate_with_truth(seed) for seed in range(4)])
    assert of_part > of_all + 0.05


def test_the_nearest_mixture_is_the_one_of_a_general_solver_and_estimates_are_better():
    rng = np.random.default_rng(7)
    topics, truth = planted_topics(6, 80, random_state=7).components, rng.dirichlet(np.full(6, 0.3), 40)
    topics = 0.5 * topics + 0.5 * topics.mean(axis=0)  # with words in common
    words = np.array([rng.multinomial(25, theta @ topics) / 25 for theta in truth])
    estimates = words @ proportions.compute_projection(topics)
    found = proportions.find_nearest_mixtures(estimates, topics)
    assert (estimates < 0).any(axis=1).sum() > 20
    assert found.min() >= 0
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    # Constrained least squares of the frequencies, with the same variances of the words; the last row is the sum.
    A = (topics / np.sqrt(topics.mean(axis=0))).T
    for row, frequency in zip(found, words, strict=True):
        scaled = np.append(frequency / np.sqrt(topics.mean(axis=0)), 1e4)
        expected = nnls(np.vstack([A, np.full(6, 1e4)]), scaled)[0]
        np.testing.assert_allclose(row, expected, atol=1e-5)
    errors = [np.sqrt(np.mean((rows - truth) ** 2)) for rows in (found, np.clip(estimates, 0, 1), estimates)]
    assert errors[0] < 0.9 * errors[1] < errors[2]


def test_mixtures_are_their_own_nearest_ones_to_the_last_bit():
    topics, mixtures = np.random.default_rng(8).dirichlet(np.full(50, 0.3), 7), np.full((3, 7), 1 / 7)
    np.testing.assert_array_equal(proportions.find_nearest_mixtures(mixtures, topics), mixtures)


def test_topics_that_are_the_same_share_what_is_theirs():
    topics = np.random.default_rng(9).dirichlet(np.full(50, 0.3), 3)[[0, 1, 1, 2]]
    found = proportions.find_nearest_mixtures(np.array([[0.5, 0.9, -0.4, 0.0]]), topics)
    assert found.min() >= 0
    np.testing.assert_allclose([found[0, 0], found[0, 1] + found[0, 2], found[0, 3]], [0.5, 0.5, 0.0], atol=1e-4)


def test_a_single_topic_has_nothing_to_be_associated_with():
    X = Documents.from_matrix(np.tile([[3.0, 2.0], [1.0, 4.0]], (60, 1)))
    topic, alpha = np.full((1, 2), 0.5), np.ones(1)
    found = proportions.estimate_proportions(X, np.ones((120, 1)), np.full(120, 5.0), topic, alpha, 1)
    for values, expected in zip(found, (0.0, 1.0, 0.0, 1.0), strict=True):
        np.testing.assert_allclose(values, expected, atol=ROUNDING)
