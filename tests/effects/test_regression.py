import numpy as np
import pytest
from scipy.stats import t as student

from anchorless._effects.regression import COMMON_DOCUMENTS, Clusters, combine_freedom, pool_variances

RNG = np.random.default_rng(0)
X = np.column_stack([np.ones(40), RNG.standard_normal(40), RNG.integers(2, size=40)])
E = RNG.standard_normal((40, 2))
E -= X @ np.linalg.lstsq(X, E, rcond=None)[0]
CODES = np.repeat(np.arange(8), 5)[RNG.permutation(40)]


def compute_by_hand(codes):
    """Return CR2 covariances and the matrix over clusters, with N × N matrices."""
    inverse = np.linalg.inv(X.T @ X)
    H = X @ inverse @ X.T
    meat, vectors = np.zeros((2, 3, 3)), []
    for g in np.unique(codes):
        rows = codes == g
        values, U = np.linalg.eigh(np.eye(rows.sum()) - H[np.ix_(rows, rows)])
        A = U @ np.diag(values**-0.5) @ U.T
        for t in range(2):
            score = X[rows].T @ A @ E[rows, t]
            meat[t] += np.outer(score, score)
        vectors.append((np.eye(40) - H)[:, rows] @ A @ X[rows] @ inverse)
    return inverse @ meat @ inverse, vectors


@pytest.mark.parametrize("codes", [np.arange(40), CODES], ids=["documents", "clusters"])
def test_covariance_and_freedom_agree_with_matrices_over_all_documents(codes):
    clusters = Clusters(X, None if codes.max() == 39 else codes)
    expected, vectors = compute_by_hand(codes)
    np.testing.assert_allclose(clusters.compute_covariance(E), expected, rtol=1e-9)
    contrasts = np.array([[0.0, 1.0, 0.0], [1.0, 0.5, -2.0]])
    for c, freedom in zip(contrasts, clusters.compute_freedom(contrasts), strict=True):
        P = np.column_stack([vector @ c for vector in vectors])
        omega = P.T @ P
        np.testing.assert_allclose(freedom, np.trace(omega) ** 2 / (omega**2).sum(), rtol=1e-9)


@pytest.mark.parametrize("codes", [np.arange(40), CODES], ids=["documents", "clusters"])
def test_joint_freedom_is_that_of_a_wishart_with_the_same_total_variance(codes):
    clusters = Clusters(X, None if codes.max() == 39 else codes)
    _, vectors = compute_by_hand(codes)
    contrasts = np.array([[0.0, 1.0, 0.0], [1.0, 0.5, -2.0]])
    for some in (contrasts[:1], contrasts[1:]):
        np.testing.assert_allclose(clusters.compute_joint_freedom(some), clusters.compute_freedom(some)[0], rtol=1e-9)
    root = np.linalg.inv(np.linalg.cholesky(contrasts @ clusters.inverse @ contrasts.T))
    Q = np.stack([vector @ (root @ contrasts).T for vector in vectors])  # (clusters, documents, contrasts)
    C = np.einsum("gns,hnt->ghst", Q, Q)
    variance = (np.einsum("ghss->gh", C) ** 2).sum() + np.einsum("ghst,ghts->", C, C)
    np.testing.assert_allclose(clusters.compute_joint_freedom(contrasts), 6.0 / variance, rtol=1e-9)


def test_one_rare_column_does_not_take_the_freedom_of_a_whole_term():
    rare = np.arange(500) < 6
    columns = np.random.default_rng(1).standard_normal((500, 4))
    clusters = Clusters(np.column_stack([np.ones(500), columns, rare]))
    one_by_one = clusters.compute_freedom(np.eye(6)[1:])
    assert one_by_one.min() < 6
    assert 3 * one_by_one.min() < clusters.compute_joint_freedom(np.eye(6)[1:]) < one_by_one.max()


def test_small_pieces_give_the_same(monkeypatch):
    whole = Clusters(X, CODES)
    expected = whole.compute_covariance(E), whole.compute_freedom(np.eye(3))
    joint = whole.compute_joint_freedom(np.eye(3))
    monkeypatch.setattr("anchorless._effects.regression.ENTRIES_AT_A_TIME", 9 * 7)
    np.testing.assert_allclose(whole.compute_covariance(E), expected[0], rtol=1e-12)
    np.testing.assert_allclose(whole.compute_freedom(np.eye(3)), expected[1], rtol=1e-12)
    np.testing.assert_allclose(whole.compute_joint_freedom(np.eye(3)), joint, rtol=1e-12)


def test_freedom_of_means_is_that_of_the_textbook():
    np.testing.assert_allclose(Clusters(np.ones((12, 1))).compute_freedom(np.ones((1, 1))), 11.0)
    two = np.column_stack([np.ones(12), np.repeat([0.0, 1.0], 6)])
    np.testing.assert_allclose(Clusters(two).compute_freedom(np.array([[0.0, 1.0]])), 10.0)


def test_order_of_documents_and_units_of_columns_do_not_matter():
    expected = Clusters(X, CODES)
    order, units = RNG.permutation(40), np.array([1.0, 1000.0, 0.01])
    found = Clusters(X[order] * units, CODES[order])
    covariance = found.compute_covariance(E[order]) * np.outer(units, units)
    np.testing.assert_allclose(covariance, expected.compute_covariance(E), rtol=1e-8)
    np.testing.assert_allclose(found.compute_freedom(np.eye(3)), expected.compute_freedom(np.eye(3)), rtol=1e-8)


def test_a_coefficient_that_one_cluster_determines_is_found():
    assert Clusters(X, CODES).find_determined() is None
    alone = np.column_stack([X, CODES == 3])
    found = Clusters(alone, CODES).find_determined()
    assert abs(found[3]) == pytest.approx(abs(found).max())


def test_intervals_of_correlated_documents_cover_with_groups_and_not_without():
    """Twelve clusters, a column that differs between them: intervals of independent documents are far too narrow."""
    from scipy.stats import t

    rng, covered = np.random.default_rng(1), np.zeros(2)
    for _ in range(300):
        codes = np.repeat(np.arange(12), 10)
        D = np.column_stack([np.ones(120), rng.permutation(np.repeat([0.0, 1.0], 6))[codes]])
        y = rng.standard_normal(12)[codes] + rng.standard_normal(120)
        b = np.linalg.lstsq(D, y, rcond=None)[0]
        for i, some in enumerate((codes, None)):
            clusters, c = Clusters(D, some), np.array([[0.0, 1.0]])
            error = np.sqrt(clusters.compute_covariance((y - D @ b)[:, None])[0, 1, 1])
            covered[i] += abs(b[1]) < t.ppf(0.95, clusters.compute_freedom(c)[0]) * error
    assert 0.86 < covered[0] / 300 < 0.94
    assert covered[1] / 300 < 0.7


def test_freedom_of_a_sum_is_between_those_of_its_parts():
    variances, freedom = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([[10.0, 10.0], [4.0, 4.0]])
    np.testing.assert_allclose(combine_freedom(variances, freedom), [10.0, 4 / (0.1 + 0.25)])


@pytest.mark.parametrize("n", [2, 3, 5])
def test_intervals_of_small_groups_contain_their_means(n):
    """Most documents have nothing of a topic and some are about it: those of a small group are often all alike."""
    rng = np.random.default_rng(n)
    means = rng.uniform(0.05, 0.4, 2000)
    shares = (rng.random((2000, n)) < means[:, None]) * rng.beta(8, 1, (2000, n))
    own, common = shares.var(axis=1, ddof=1) / n, np.full(2000, shares.var() / n)
    distance, covered = abs(shares.mean(axis=1) - means * 8 / 9), []
    for variance, freedom in ((own, np.full(2000, n - 1.0)), pool_variances(own, np.full(2000, n - 1.0), common)):
        covered.append((distance <= student.ppf(0.95, freedom) * np.sqrt(variance)).mean())
    assert covered[0] < 0.75
    assert 0.85 < covered[1] < 0.99


def test_groups_of_one_have_the_common_variance_and_large_ones_their_own():
    variances, freedom = pool_variances(np.array([0.0, 2.0]), np.array([0.0, 1e9]), np.array([5.0, 5.0]))
    np.testing.assert_allclose(variances, [5.0, 2.0], rtol=1e-7)
    assert freedom[0] == COMMON_DOCUMENTS
