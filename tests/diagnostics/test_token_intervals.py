import numpy as np

from anchorless import TopicModel
from anchorless._diagnostics.token_bootstrap import compute_error_interval, measure_found_part
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


def test_an_interval_corrects_the_bias_and_contains_the_estimate():
    rng = np.random.default_rng(0)
    errors = 0.1 + 0.01 * rng.standard_normal((200, 3))
    found = compute_error_interval(np.full(3, 0.5), errors, 1.0, 0.9, 0.0)
    np.testing.assert_allclose(found.low, 0.4 - 0.0165, atol=0.005)
    np.testing.assert_array_equal(found.high, 0.5)
    wide = compute_error_interval(np.full(3, 0.5), errors - 0.1, 2.0, 0.9, 0.0)
    np.testing.assert_allclose(wide.high - wide.low, 0.066, atol=0.01)


def test_the_part_of_the_associations_that_is_found():
    truth = np.array([[0.0, 0.4, -0.2], [0.4, 0.0, 0.1], [-0.2, 0.1, 0.0]])
    errors = np.tile(-0.3 * truth, (5, 1, 1))
    np.testing.assert_allclose(measure_found_part(truth, errors), 0.7)
    assert measure_found_part(0 * truth, errors) == 1.0
