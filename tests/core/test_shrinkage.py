import numpy as np

from anchorless._core.proportions import combine_moments
from anchorless._core.shrinkage import PRIOR_SPREADS, fit_prior, shrink_excess

PARTS = np.full(len(PRIOR_SPREADS), 1.0 / len(PRIOR_SPREADS))


def shrink_numbers(values, errors, most=1.0):
    """Return numbers as expected under a prior that has been fitted until nothing changes."""
    parts = PARTS
    for _ in range(30):
        parts, expected = fit_prior(values, errors, parts, most)
    return expected


def test_noise_is_shrunk_and_large_values_stay():
    rng = np.random.default_rng(4)
    truth = np.zeros(500)
    truth[:20] = 0.4
    errors = rng.uniform(0.02, 0.05, 500)
    values = truth + errors * rng.standard_normal(500)
    found = shrink_numbers(values, errors)
    assert np.sqrt(np.mean((found - truth) ** 2)) < 0.5 * np.sqrt(np.mean((values - truth) ** 2))
    np.testing.assert_allclose(found[:20], values[:20], rtol=0.1)
    assert (abs(found) <= abs(values)).all()
    assert (found * values >= 0).all()


def test_values_that_are_all_large_are_not_shrunk():
    values = np.random.default_rng(5).normal(0.0, 3.0, 300)
    np.testing.assert_allclose(shrink_numbers(values, np.full(300, 0.05)), values, rtol=0.02, atol=0.01)


def test_errors_are_larger_than_said_only_if_half_of_the_values_say_so_and_up_to_a_limit():
    rng = np.random.default_rng(6)
    values, truth = 0.06 * rng.standard_normal(2000), np.zeros(2000)
    values[:40] = truth[:40] = 0.5
    said, too_large = np.full(2000, 0.03), np.full(2000, 0.08)
    errors = [np.sqrt(np.mean((shrink_numbers(values, said, most) - truth) ** 2)) for most in (1.0, 2.0)]
    assert errors[1] < 0.4 * errors[0]
    as_they_say = shrink_numbers(values, said, 4.0)
    np.testing.assert_array_equal(shrink_numbers(values, said, 100.0), as_they_say)
    np.testing.assert_array_equal(shrink_numbers(values, too_large, 2.0), shrink_numbers(values, too_large))


def draw_related(seed, n_topics=12):
    """Return proportions (N, F) of which the first two are related, and their mean, variance and excess (F, F)."""
    rng = np.random.default_rng(seed)
    g = rng.gamma(0.3, size=(50_000, n_topics)) * rng.uniform(0.5, 2.0, n_topics)
    g[:, 1] += g[:, 0]
    theta = g / g.sum(axis=1, keepdims=True)
    mean, covariance = theta.mean(axis=0), np.cov(theta.T)
    variance = np.diag(covariance)
    return mean, variance, combine_moments(mean, covariance, None).association * np.sqrt(np.outer(variance, variance))


def measure_errors(seed):
    """Return the errors of noisy associations shrunk as relations, shrunk as they are, and not shrunk."""
    mean, variance, excess = draw_related(seed)
    rng, scale, above = np.random.default_rng([seed, 1]), np.sqrt(np.outer(variance, variance)), np.triu_indices(12, 1)
    truth = excess / scale
    assert truth[0, 1] > 0.2
    assert truth[0, 2:].max() < 0  # of topics that are not related to it
    noise = np.triu(0.03 * rng.standard_normal((12, 12)), 1)
    values, errors = truth + noise + noise.T, np.full((12, 12), 0.03)
    found = shrink_excess(scale * values, scale * errors, mean, variance) / scale
    np.testing.assert_allclose(found, found.T, atol=1e-12)
    np.testing.assert_allclose((scale * found).sum(axis=1), 0.0, atol=1e-9)  # proportions sum to one
    plain = shrink_numbers(values[above], errors[above])
    return [np.sqrt(np.mean((some - truth[above]) ** 2)) for some in (found[above], plain, values[above])]


def test_a_related_pair_takes_from_the_others_and_only_noise_is_taken_away():
    found, plain, values = np.array([measure_errors(seed) for seed in range(8)]).T
    assert (found < 0.95 * plain).all()
    assert found.mean() < 0.65 * plain.mean()
    assert found.mean() < 0.5 * values.mean()


def test_shrinkage_depends_neither_on_the_unit_nor_on_the_order_of_the_topics():
    mean, variance, excess = draw_related(3)
    error = np.full((12, 12), 0.05 * variance.mean())
    found = shrink_excess(excess, error, mean, variance)
    np.testing.assert_allclose(shrink_excess(7 * excess, 7 * error, mean, 7 * variance), 7 * found, rtol=1e-9)
    order = np.random.default_rng(0).permutation(12)
    some = np.ix_(order, order)
    other = shrink_excess(excess[some], error[some], mean[order], variance[order])
    np.testing.assert_allclose(other, found[some], atol=1e-12)
    np.testing.assert_array_equal(shrink_excess(excess, error, mean, np.zeros(12)), 0.0)


def test_two_topics_have_no_association():
    """All that is left of a relation of two topics is the one proportion, and the equations are the same twice."""
    for mean in ([0.5, 0.5], [0.7, 0.3]):
        excess = np.array([[0.0, 0.3], [0.3, 0.0]])
        found = shrink_excess(excess, np.full((2, 2), 0.01), np.array(mean), np.ones(2))
        np.testing.assert_allclose(found, 0.0, atol=1e-5)


def test_topics_without_a_variance_and_associations_without_an_error_stay_as_they_are():
    rng = np.random.default_rng(7)
    excess = rng.uniform(-0.5, 0.5, size=(4, 4))
    excess, mean, variance = excess + excess.T, np.full(4, 0.25), np.array([1.0, 0.0, 1.0, 1.0])
    found = shrink_excess(excess, np.zeros((4, 4)), mean, variance)
    known = np.ix_([0, 2, 3], [0, 2, 3])
    np.testing.assert_allclose(found[known], np.where(np.eye(3), 0.0, excess[known]))
    np.testing.assert_array_equal(found[1], 0.0)
    np.testing.assert_array_equal(shrink_excess(excess[:1, :1], np.ones((1, 1)), mean[:1], variance[:1]), 0.0)


def test_impossible_associations_of_a_topic_with_hardly_any_variance_are_noise():
    """Of 40 topics one has a variance a million times too small; its associations were 1.00 before."""
    rng, sizes, mean = np.random.default_rng(0), np.full(40, 0.1), np.full(40, 1 / 40)
    noise = np.triu(0.05 * rng.standard_normal((40, 40)), 1)
    excess, error = 0.01 * (noise + noise.T), np.full((40, 40), 0.0005)
    excess[0, 1] = excess[1, 0] = 0.006
    sizes[-1], mean[-1] = 1e-4, 1e-4  # few tokens
    excess[-1] = excess[:, -1] = 0.0002
    excess[-1, -1], error[-1], error[:, -1] = 0.0, 0.00003, 0.00003  # associations of 20 ± 3
    found = shrink_excess(excess, error, mean, sizes**2) / np.outer(sizes, sizes)
    assert found[0, 1] > 0.5
    assert abs(found[-1, :-1]).max() < 0.2
