import numpy as np

from anchorless import TopicModel
from anchorless._diagnostics.token_intervals import (
    Posterior,
    add_bias,
    compute_dependence,
    compute_posterior_interval,
    summarize_draws,
)
from anchorless.datasets import draw_counts, planted_topics
from anchorless.metrics import match_topics


def fit_gamma(seed, shared):
    """Fit topics whose proportions are normalized independent gamma variables; two may share a part."""
    rng = np.random.default_rng(seed)
    C = planted_topics(5, 200, random_state=seed).components
    g = rng.gamma([0.3, 0.4, 0.5, 0.3, 0.3] if shared else [0.3, 0.4, 0.5, 0.6, 0.6], size=(1500, 5))
    if shared:
        g[:, 3:] += rng.gamma(0.6, size=(1500, 1))
    counts = draw_counts(C, g / g.sum(axis=1, keepdims=True), np.full(1500, 80), rng)
    model = TopicModel(5).fit_counts(counts, [f"w{v:03d}" for v in range(200)])
    return model, np.argsort(match_topics(model.topic_word_, C)[1])


def test_unrelated_topics_are_rarely_called_associated_and_related_ones_are():
    false = 0
    for seed in range(3):
        model, _ = fit_gamma(seed, shared=False)
        false += int((model.stability(10).association_p[np.triu_indices(5, 1)] < 0.05).sum())
    assert false <= 2  # of 30 pairs
    model, at = fit_gamma(9, shared=True)
    assert model.stability(10).association_p[at[3], at[4]] < 0.05
    edges = model.correlation_edges()
    assert {edges["topic_a"][0], edges["topic_b"][0]} == {at[3], at[4]}


def test_an_interval_is_around_the_posterior_and_contains_the_estimate():
    posterior = Posterior(np.array([0.4, 0.5, 0.4]), np.array([0.01, 0.3, 0.01]))
    found = compute_posterior_interval(np.array([0.5, 0.5, 0.3]), posterior, 200, 0.9, 0.0)
    np.testing.assert_allclose(found.low, [0.4 - 0.0165, 0.0042, 0.3], atol=0.001)
    np.testing.assert_allclose(found.high, [0.5, 0.9958, 0.4 + 0.0165], atol=0.001)


def test_a_chain_that_drifts_or_is_far_from_the_fit_has_wider_intervals():
    draws = np.random.default_rng(0).standard_normal((400, 50))
    steady = summarize_draws(draws, draws)
    np.testing.assert_allclose(steady.spread.mean(), 1.0, atol=0.05)
    drifting = draws + np.linspace(-3, 3, 400)[:, None]
    # Its draws have variance 4, and its halves differ by 3.
    np.testing.assert_allclose(summarize_draws(drifting, drifting).spread.mean(), np.sqrt(4 + 2 * 9 / 4), rtol=0.05)
    sampled = draws + 2 * np.random.default_rng(1).standard_normal(draws.shape)
    np.testing.assert_allclose(summarize_draws(draws, sampled).spread.mean(), np.sqrt(5), rtol=0.05)
    near, far = (add_bias(np.full(50, value), steady).spread.mean() for value in (0.0, 5.0))
    assert far > 1.5 * near


def test_dependence_is_that_of_the_logarithms_whatever_all_have_in_common():
    covariance = np.diag([1.0, 2.0, 3.0, 1.0, 2.0, 1.5])
    covariance[0, 1] = covariance[1, 0] = 0.75 * np.sqrt(2)
    covariance[2, 3] = covariance[3, 2] = -0.5 * np.sqrt(3)
    expected = np.zeros((6, 6))
    expected[0, 1] = expected[1, 0] = 0.75
    expected[2, 3] = expected[3, 2] = -0.5
    common = np.array([0.3, -0.2, 0.5, 0.1, 0.0, 0.4])
    for shifted in (covariance, covariance + common + common[:, None]):
        np.testing.assert_allclose(compute_dependence(shifted), expected, atol=0.02)
    np.testing.assert_array_equal(compute_dependence(covariance[:3, :3]), 0.0)


def test_threads_change_no_bit_of_the_intervals():
    model, _ = fit_gamma(1, shared=True)
    steps = []
    one, two = (model.stability(10, n_jobs=n, progress=lambda *step: steps.append(step)) for n in (1, 2))
    assert steps[-1] == (40, 40)
    assert len(steps) > 100  # every sweep is reported: the first draw comes after nearly half of them
    for name in ("probabilities", "shares", "correlation", "association"):
        for a, b in zip(getattr(one, name), getattr(two, name), strict=True):
            np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(one.association_p, two.association_p)
