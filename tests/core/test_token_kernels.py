"""Compiled loops against the same formulas in NumPy and SciPy, and draws against the distributions they come from."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats
from scipy.special import gamma, gammaln

from anchorless._core import token_kernels
from anchorless._core.token_kernels import count_topics, count_topics_of_others
from anchorless._core.token_mixtures import count_document_topics, mix_document_topics, sum_entries
from tests.helpers.tolerances import ROUNDING

#: Sampling error allowed in means of 20,000 draws.
SAMPLING = 0.05


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def documents(rng):
    X = sp.csr_matrix(rng.poisson(0.6, (12, 30)).astype(float))
    return X, np.ascontiguousarray(rng.dirichlet(np.ones(30), 4).T), rng.uniform(0.1, 2.0, 4)


def test_expected_tokens_are_those_of_expectation_maximization(documents):
    X, phi, alpha = documents
    dense, found = X.toarray(), np.zeros((12, 4))
    for _ in range(7):
        weights = found + alpha
        found = weights * ((dense / (weights @ phi.T)) @ phi)
    np.testing.assert_allclose(count_document_topics(X, phi, alpha, 7), found, rtol=1e-10)
    np.testing.assert_allclose(found.sum(axis=1), dense.sum(axis=1), rtol=ROUNDING)


def test_a_word_that_no_topic_has_tells_nothing(documents):
    X, phi, alpha = documents
    without = X.copy()
    phi[X.indices[0]] = 0.0
    without.data[X.indices == X.indices[0]] = 0.0
    np.testing.assert_array_equal(count_document_topics(X, phi, alpha), count_document_topics(without, phi, alpha))


def test_documents_alone_and_together_give_the_same_bits(documents):
    X, phi, alpha = documents
    together = count_document_topics(X, phi, alpha)
    alone = np.vstack([count_document_topics(X[i], phi, alpha) for i in range(12)])
    np.testing.assert_array_equal(together, alone)


def test_entries_have_the_probability_of_their_word_and_how_sure_its_topic_is(documents, rng):
    X, phi, _ = documents
    shares = rng.dirichlet(np.ones(4), 12)
    mixed, squares = mix_document_topics(X, shares, phi)
    rows, columns = X.nonzero()
    parts = shares[rows] * phi[columns]
    np.testing.assert_allclose(mixed, parts.sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(squares, (parts**2).sum(axis=1) / parts.sum(axis=1) ** 2, rtol=1e-12)
    np.testing.assert_allclose(sum_entries(X, mixed), (X.toarray() * (shares @ phi.T)).sum(axis=1), rtol=1e-12)


def test_topics_of_tokens_are_drawn_in_proportion_to_mixture_times_topic(rng):
    theta, phi = np.array([[0.7, 0.2, 0.1]]), np.array([[0.1, 0.5, 0.0]])
    X, counts, words = sp.csr_matrix([[20_000.0]]), np.empty((1, 3)), np.zeros((1, 3))
    token_kernels.draw_topics(X.indptr, X.indices, X.data, theta, phi, rng, counts, words)
    expected = (theta * phi).ravel() / (theta * phi).sum()
    np.testing.assert_allclose(counts[0] / 20_000, expected, atol=SAMPLING / 2)
    np.testing.assert_array_equal(counts, words)
    assert counts[0, 2] == 0


def test_scores_are_those_of_scipy(rng):
    n, logits = rng.poisson(4.0, (6, 3)).astype(float), rng.standard_normal((6, 3))
    n[0, 0] = 50  # by the gamma function, not as a product
    n[n.sum(axis=1) == 0] = 1.0  # older versions of SciPy refuse documents without a token
    exact = [stats.dirichlet_multinomial.logpmf(x, np.exp(e), int(x.sum())) for x, e in zip(n, logits, strict=True)]
    other = [stats.multinomial.logpmf(x, int(x.sum()), np.full(3, 1 / 3)) + x.sum() * np.log(3) for x in n]
    found = [token_kernels.score_logits(*pair) for pair in zip(n, logits, strict=True)]
    np.testing.assert_allclose(found, np.array(exact) - other, atol=1e-10)
    assert token_kernels.score_logits(np.zeros(3), logits[0]) == 0.0
    gain = sum(
        token_kernels.score_logits(x, e + 0.3) - token_kernels.score_logits(x, e)
        for x, e in zip(n, logits, strict=True)
    )
    assert token_kernels.compare_logits(n, logits, 0.3) == pytest.approx(gain, rel=1e-10)


@pytest.mark.parametrize("n", [*range(30), 500])
@pytest.mark.parametrize("a", [1e-12, 0.3, 40.0])
def test_ratios_of_gamma_functions(a, n):
    assert token_kernels.log_rising(a, n) == pytest.approx(gammaln(a + n) - gammaln(a), rel=1e-9, abs=1e-9)


def test_the_shape_of_the_words_has_the_score_of_negative_binomial_counts(rng):
    words, p = rng.poisson(3.0, (5, 2)).astype(float), np.full(5, 0.2)
    size = words.sum(axis=0)

    def log_probability(shape):
        rate = (shape / p)[:, None]
        return stats.nbinom.logpmf(words, shape, rate / (rate + size)).sum()

    found = token_kernels.score_shape(words, size, p, 0.7) - token_kernels.score_shape(words, size, p, 0.2)
    np.testing.assert_allclose(found, log_probability(0.7) - log_probability(0.2), atol=1e-10)


def test_logits_have_their_posterior_distribution(rng):
    """With two topics the posterior can be integrated on a grid."""
    mean, covariance = np.array([0.5, -1.0]), np.array([[1.0, 0.6], [0.6, 2.0]])
    n, N, root = np.array([1.0, 4.0]), 20_000, np.linalg.cholesky(covariance)
    logits = np.tile(mean, (N, 1))
    for _ in range(12):
        token_kernels.draw_logits(np.tile(n, (N, 1)), logits, mean, rng.standard_normal((N, 2)) @ root.T, rng)
    axis = np.linspace(-8, 8, 200)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    weight = stats.multivariate_normal(mean, covariance).pdf(grid)
    weight *= np.exp([token_kernels.score_logits(n, point) for point in grid])
    weight /= weight.sum()
    expected = weight @ grid
    np.testing.assert_allclose(logits.mean(axis=0), expected, atol=SAMPLING)
    np.testing.assert_allclose(np.cov(logits.T), (grid - expected).T @ ((grid - expected) * weight[:, None]), atol=0.08)


def average_exactly(words, phi, alpha):
    """Return the posterior mean of a mixture by going through all topics of all tokens."""
    total, mean = 0.0, np.zeros(len(alpha))
    for topics in itertools.product(range(len(alpha)), repeat=len(words)):
        n = np.bincount(topics, minlength=len(alpha))
        probability = np.prod(gamma(n + alpha) / gamma(alpha)) * np.prod(phi[words, topics])
        total, mean = total + probability, mean + probability * (n + alpha)
    return mean / (total * (len(words) + alpha.sum()))


def test_short_documents_are_nearer_to_the_posterior_mean_if_no_token_confirms_itself():
    rng = np.random.default_rng(3)
    alpha, errors = np.array([0.1, 0.2, 0.3]), []
    for _ in range(20):
        phi = rng.dirichlet(np.full(8, 0.5), 3).T
        words = rng.integers(0, 8, 4)
        X = sp.csr_matrix((np.ones(4), (np.zeros(4, int), words)), shape=(1, 8))
        exact = average_exactly(words, phi, alpha)
        found = np.empty((2, 1, 3))
        for loop, counts in zip((count_topics_of_others, count_topics), found, strict=True):
            loop(X.indptr, X.indices, X.data, np.ascontiguousarray(phi), alpha[None], 30, counts)
        assert found.sum(axis=2) == pytest.approx(4.0)
        errors.append(abs((found[:, 0] + alpha) / (4 + alpha.sum()) - exact).sum(axis=1))
    of_others, of_all = np.mean(errors, axis=0)
    assert of_others < 0.75 * of_all


def test_a_single_token_belongs_to_topics_as_the_prior_and_the_word_say():
    phi, alpha = np.array([[0.5, 0.1], [0.5, 0.9]]), np.array([0.4, 1.2])
    X, found = sp.csr_matrix([[0.0, 1.0], [3.0, 0.0], [0.0, 0.0]]), np.empty((3, 2))
    count_topics_of_others(X.indptr, X.indices, X.data, phi, alpha[None], 5, found)
    expected = alpha * phi[1]
    np.testing.assert_allclose(found[0], expected / expected.sum())
    assert found[1].sum() == pytest.approx(3.0)
    assert not found[2].any()
