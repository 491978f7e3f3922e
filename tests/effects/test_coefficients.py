import numpy as np

from anchorless._effects.coefficients import DrawnCoefficients


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
