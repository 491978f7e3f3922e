import numpy as np

from anchorless._core.token_model import TokenTopics
from anchorless._effects.coefficients import DrawnCoefficients, Sample, compare_topics
from anchorless._effects.topic_draws import TopicDraws


def test_the_distance_from_the_fit_and_a_drifting_chain_count_as_errors():
    rng = np.random.default_rng(0)
    drawn = rng.standard_normal((40, 3, 4))
    near, far = (DrawnCoefficients(np.full((3, 4), value), drawn).summarize(np.eye(4)) for value in (0.0, 5.0))
    np.testing.assert_array_equal(near[0], far[0])
    np.testing.assert_allclose(np.einsum("tpp->tp", far[1]) - np.einsum("tpp->tp", near[1]), 25.0, atol=6.0)
    drift = np.linspace(-3, 3, 40)[:, None, None]
    steady, drifting = (DrawnCoefficients(d.mean(axis=0), d).summarize(np.eye(4))[1] for d in (drawn, drawn + drift))
    # Draws of variance 4, whose halves differ by 3.
    np.testing.assert_allclose(np.einsum("tpp->tp", drifting).mean(), 4 + 2 * 9 / 4, rtol=0.15)
    np.testing.assert_allclose(np.einsum("tpp->tp", steady).mean(), 1.0, rtol=0.2)


def test_topics_agree_if_the_draws_are_around_the_fit_alone_and_together():
    fitted = np.array([[0.8, 0.2, 0.0], [0.0, 0.3, 0.7], [0.1, 0.1, 0.8]])
    drawn = np.tile(fitted, (4, 1, 1)).astype(np.float32)
    drawn[:, 0] = [[0.7, 0.3, 0.0], [0.9, 0.1, 0.0]] * 2  # their mean is the fit
    drawn[:, 2] = [0.8, 0.1, 0.1]
    topics = TokenTopics(fitted, np.ones(3), np.array([0.5, 0.3, 0.2]))
    sample = Sample(None, topics, TopicDraws(fitted, drawn), 1)
    together = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]]).T
    found = compare_topics(sample, together)
    np.testing.assert_allclose(found[[0, 1, 3]], 1.0, atol=1e-6)
    np.testing.assert_allclose(found[2], (0.08 + 0.01 + 0.08) / (0.01 + 0.01 + 0.64), atol=1e-6)
