import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from anchorless._core import topics
from anchorless._core.cooccurrence import MatrixCooccurrence
from anchorless._core.topics import (
    argsort_descending,
    assemble_topics,
    compute_moments,
    compute_negative_mass,
    compute_topic_correlation,
    compute_topic_shares,
    to_pmf,
)
from anchorless.datasets import planted_topics


def proportions(n, n_topics, seed):
    rng = np.random.default_rng(seed)
    W = np.exp(rng.standard_normal((n, n_topics)) @ rng.standard_normal((n_topics, n_topics)))
    return W / W.sum(axis=1, keepdims=True)


def test_to_pmf_clips_and_normalizes():
    C = np.array([[0.5, 1.2], [0.6, -0.3], [-0.1, 0.1]])
    P = to_pmf(C)
    assert_allclose(P, [[5 / 11, 12 / 13], [6 / 11, 0], [0, 1 / 13]])
    assert_allclose(compute_negative_mass(C), [0.1, 0.3])
    assert C[2, 0] == -0.1
    assert_allclose(to_pmf(P), P)
    assert_array_equal(compute_negative_mass(P), 0)


def test_negative_mass_is_that_of_all_words():
    C = np.random.default_rng(0).standard_normal((topics.ROWS_AT_A_TIME + 5, 3))
    assert_allclose(compute_negative_mass(C), -np.where(C < 0, C, 0).sum(axis=0))


@pytest.mark.parametrize("design", ["gaussian", "nonnegative"])
def test_moments_invert_the_model(design):
    truth = planted_topics(6, 200, moments=design, random_state=1)
    E = compute_moments(MatrixCooccurrence(truth.cooccurrence), truth.components.T)
    assert_allclose(E, truth.moments, atol=1e-9)
    assert_array_equal(E, E.T)


def test_moments_are_the_papers_formula():
    rng = np.random.default_rng(0)
    C, A = rng.random((40, 3)), rng.standard_normal((40, 40))
    P = A + A.T
    inverse = np.linalg.inv(C.T @ C)
    assert_allclose(compute_moments(MatrixCooccurrence(P), C), inverse @ C.T @ P @ C @ inverse, rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_correlation_of_proportions(seed):
    W = proportions(5000, 5, seed)
    assert_allclose(compute_topic_correlation(W.T @ W / len(W)), np.corrcoef(W.T), atol=1e-10)


def test_correlation_weighs_documents_by_their_squared_size():
    W = proportions(3000, 4, 0)
    size = np.random.default_rng(1).gamma(2.0, size=len(W))
    weights = size[:, None] * W
    covariance = np.cov(W.T, aweights=size**2, ddof=0)
    deviation = np.sqrt(np.diag(covariance))
    expected = covariance / np.outer(deviation, deviation)
    assert_allclose(compute_topic_correlation(weights.T @ weights / len(W)), expected, atol=1e-10)


@pytest.mark.parametrize("seed", range(10))
def test_correlation_is_a_correlation_matrix_for_any_symmetric_moments(seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((6, 6))
    R = compute_topic_correlation(A + A.T)
    assert_array_equal(R, R.T)
    assert_array_equal(np.diag(R), 1.0)
    assert abs(R).max() <= 1.0
    assert np.linalg.eigvalsh(R).min() > -1e-12


def test_a_topic_of_hardly_any_variance_leaves_the_matrix_semidefinite():
    rng = np.random.default_rng(0)
    for _ in range(50):
        scale = 10.0 ** rng.uniform(-5, 0, 5)
        A = rng.random((5, 5)) * scale
        assert np.linalg.eigvalsh(compute_topic_correlation(A.T @ A)).min() > -1e-12


@pytest.mark.parametrize(
    ("E", "expected"),
    [([[2.0]], [[1.0]]), ([[1.0, 0.2], [0.2, 0.5]], [[1, -1], [-1, 1]]), (np.zeros((3, 3)), np.eye(3))],
)
def test_correlation_of_few_or_no_topics(E, expected):
    assert_allclose(compute_topic_correlation(np.array(E)), expected, atol=1e-12)


def test_shares_are_mean_proportions():
    W = proportions(2000, 4, 2)
    assert_allclose(compute_topic_shares(W.T @ W / len(W)), W.mean(axis=0), rtol=1e-12)


def test_shares_without_weight_are_equal():
    assert_allclose(compute_topic_shares(-np.eye(4)), 0.25)


def test_topics_come_by_share_with_everything_reordered():
    truth = planted_topics(5, 300, moments="nonnegative", random_state=3)
    topics = assemble_topics(MatrixCooccurrence(truth.cooccurrence), truth.components.T)
    order = argsort_descending(truth.moments.sum(axis=1))
    assert np.all(np.diff(topics.shares) <= 0)
    assert_allclose(topics.C, truth.components.T[:, order], atol=1e-12)
    assert_allclose(topics.E, truth.moments[np.ix_(order, order)], atol=1e-9)
    assert_allclose(topics.correlation, compute_topic_correlation(topics.E))


def test_rounding_noise_is_not_a_probability():
    """A word whose probability is rounding noise on one processor and zero on another is published as zero."""
    truth = planted_topics(4, 60, random_state=0)
    C, P = truth.components.T.copy(), MatrixCooccurrence(truth.cooccurrence)
    noisy = C + np.where(C == 0.0, 1e-17, 0.0)
    clean, found = assemble_topics(P, C), assemble_topics(P, noisy)
    assert_array_equal(found.C == 0.0, clean.C == 0.0)
    assert_allclose(found.C, clean.C, rtol=1e-14)
    assert_allclose(found.C.sum(axis=0), 1.0, rtol=1e-14)
    assert (C[:, clean.order] > 0.0).sum() == (clean.C > 0.0).sum()  # what is above rounding stays
