"""The nearest point of a simplex: certificate, brute force over all faces, and the planted model of Bayes' rule."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls

from anchorless._core import nnls as weights
from anchorless._core import recover
from anchorless._core.recover import find_nearest_in_simplex, recover_topics
from anchorless.errors import SolverError
from tests.helpers.tolerances import ROUNDING

#: Inner products of points and corners round at 1e-16; the weights differ by the condition of the corners, here < 1e6.
WEIGHTS = 1e-9


def fit(A, X):
    """Give points X (n, d) and corners A (d, k) to the solver, which sees inner products only."""
    h, distance = find_nearest_in_simplex(A.T @ A, X @ A, (X**2).sum(axis=1))
    return SimpleNamespace(h=h, distance=distance)


def brute_force(A, x):
    """Return the weights of the nearest point: the best feasible least squares over all faces."""
    best, weights_of_best = np.inf, None
    for size in range(1, A.shape[1] + 1):
        for face in map(list, itertools.combinations(range(A.shape[1]), size)):
            edges = A[:, face[1:]] - A[:, [face[0]]]
            z = np.linalg.lstsq(edges, x - A[:, face[0]], rcond=None)[0]
            h = np.zeros(A.shape[1])
            h[face] = [1 - z.sum(), *z]
            distance = ((x - A @ h) ** 2).sum()
            if h.min() >= -1e-12 and distance < best - 1e-15:
                best, weights_of_best = distance, h
    return weights_of_best, best


@pytest.fixture
def simplex():
    """Return corners A (d, k) in general position and points X (n, d) all around them, near and far."""

    def make(k, seed, n=40, d=None):
        rng = np.random.default_rng([k, seed])
        d = d or k + 2
        A = rng.standard_normal((d, k)) + 2.0 * rng.standard_normal((d, 1))
        inside = rng.dirichlet(np.full(k, 0.7), n) @ A.T
        return A, inside + rng.choice([0.0, 0.1, 1.0, 10.0], (n, 1)) * rng.standard_normal((n, d))

    return make


@pytest.mark.parametrize(("k", "d"), [(1, 2), (2, 2), (3, 2), (3, 3), (3, 6), (4, 3), (4, 6)])
def test_nearest_points_are_those_of_brute_force(simplex, k, d):
    for seed in range(5):
        A, X = simplex(k, seed, d=d)
        found = fit(A, X)
        for x, h, distance in zip(X, found.h, found.distance, strict=True):
            h_best, best = brute_force(A, x)
            assert_allclose(h, h_best, atol=WEIGHTS)
            assert_allclose(distance, best, atol=ROUNDING * (1 + x @ x))


@pytest.mark.parametrize("k", [2, 5, 12, 30])
def test_solutions_carry_a_certificate(simplex, k):
    """For all h' in the simplex, ‖x − Ah'‖² ≥ ‖x − Ah‖² − 2·gap, with gap = ⟨∇, h⟩ − min ∇."""
    for seed in range(3):
        A, X = simplex(k, seed, n=200)
        found = fit(A, X)
        assert found.h.min() >= 0
        assert_allclose(found.h.sum(axis=1), 1.0, rtol=ROUNDING)
        gradient = (found.h @ A.T - X) @ A
        gap = (gradient * found.h).sum(axis=1) - gradient.min(axis=1)
        size = (X**2).sum(axis=1) + (A**2).sum(axis=0).mean()
        assert (gap / size).max() <= 1e-10
        assert_allclose(found.distance, ((X - found.h @ A.T) ** 2).sum(axis=1), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("k", [3, 10])
def test_nearest_points_are_those_of_an_equality_as_a_penalty(simplex, k):
    """Lawson and Hanson: least squares with h ≥ 0 and a row 1·h = 1 of large weight."""
    A, X = simplex(k, 7)
    penalty = 1e5
    stacked = np.vstack([A, np.full((1, k), penalty)])
    expected = np.array([nnls(stacked, [*x, penalty])[0] for x in X])
    assert_allclose(fit(A, X).h, expected, atol=1e-6)  # the penalty leaves an error of about |x|²/penalty²


@pytest.mark.parametrize("k", [1, 2, 4, 9])
def test_points_of_the_simplex_are_their_own_nearest(simplex, k):
    A, _ = simplex(k, 0)
    rng = np.random.default_rng(k)
    inside = rng.dirichlet(np.ones(k), 20)
    faces = rng.dirichlet(np.ones(k), 20) * (rng.random((20, k)) < 0.5)
    faces = faces[faces.sum(axis=1) > 0]
    faces /= faces.sum(axis=1, keepdims=True)
    for h in (inside, faces, np.eye(k)):  # within, on the boundary, the corners themselves
        found = fit(A, h @ A.T)
        assert_allclose(found.h, h, atol=WEIGHTS)
        assert_allclose(found.distance, 0.0, atol=1e-11)
        assert found.distance.min() >= 0


def test_a_point_beyond_a_corner_or_an_edge_goes_to_it():
    A = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    found = fit(A, np.array([[5.0, 0.0, 0.0], [3.0, 3.0, -1.0], [-1.0, -1.0, -1.0], [0.0, 0.0, 0.0]]))
    assert_allclose(found.h, [[1, 0, 0], [0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3], [1 / 3, 1 / 3, 1 / 3]], atol=ROUNDING)
    assert_allclose(found.distance, [16, 2 * 2.5**2 + 1, 16 / 3, 1 / 3], rtol=ROUNDING)


def test_the_origin_may_be_a_corner():
    """As in SNPA, where the sum of the anchors' weights is at most one."""
    A = np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    found = fit(A, np.array([[1.0, 0.25], [-1.0, -1.0], [0.0, 0.0], [2.0, 2.0]]))
    assert_allclose(found.h, [[0.25, 0.5, 0.25], [1, 0, 0], [1, 0, 0], [0, 0.6, 0.4]], atol=ROUNDING)
    assert_allclose(found.distance, [0, 2, 0, 3.2], atol=ROUNDING)


@pytest.mark.parametrize("scale", [1e-60, 1e-3, 1e6, 1e60])
def test_scale_does_not_matter(simplex, scale):
    A, X = simplex(5, 1)
    one, scaled = fit(A, X), fit(scale * A, scale * X)
    assert_allclose(scaled.h, one.h, atol=WEIGHTS)
    assert_allclose(scaled.distance, scale**2 * one.distance, rtol=1e-9, atol=1e-11 * scale**2)


def test_moving_points_and_corners_together_changes_nothing(simplex):
    A, X = simplex(5, 2)
    away = np.random.default_rng(0).standard_normal(A.shape[0]) * 10
    one, moved = fit(A, X), fit(A + away[:, None], X + away)
    assert_allclose(moved.h, one.h, atol=1e-8)
    assert_allclose(moved.distance, one.distance, atol=1e-9)


def test_permuting_corners_permutes_weights(simplex):
    A, X = simplex(6, 3)
    order = np.random.default_rng(0).permutation(6)
    assert_allclose(fit(A[:, order], X).h, fit(A, X).h[:, order], atol=WEIGHTS)


def test_each_point_has_the_bits_it_has_alone(simplex, monkeypatch):
    A, X = simplex(6, 4, n=300)
    gram, inner, squares = A.T @ A, X @ A, (X**2).sum(axis=1)
    h, distance = find_nearest_in_simplex(gram, inner, squares)
    alone = [find_nearest_in_simplex(gram, inner[i : i + 1], squares[i : i + 1])[0] for i in range(300)]
    assert_array_equal(h, np.vstack(alone))
    monkeypatch.setattr(weights, "ENTRIES_PER_BATCH", 500)  # 13 rows
    h_batched, distance_batched = find_nearest_in_simplex(gram, inner, squares)
    assert_array_equal(h, h_batched)
    assert_array_equal(distance, distance_batched)


def test_no_point_is_no_work(simplex):
    A, X = simplex(3, 0)
    found = fit(A, X[:0])
    assert found.h.shape == (0, 3)
    assert found.distance.shape == (0,)


@pytest.mark.parametrize("apart", [0.0, 1e-8, 1e-6, 1e-4, 1e-2])
def test_corners_close_together_give_the_nearest_points_or_an_error(simplex, apart):
    """At zero two corners are one: the weights are not unique, but the nearest point is."""
    A, X = simplex(4, 0)
    A[:, 2] = A[:, 0] + apart * np.random.default_rng(0).standard_normal(len(A))
    try:
        found = fit(A, X)
    except SolverError:
        assert apart < 1e-5
        return
    best = [brute_force(A, x)[1] for x in X]
    assert_allclose(found.distance, best, rtol=1e-6, atol=1e-8)
    assert_allclose(((X - found.h @ A.T) ** 2).sum(axis=1), best, rtol=1e-6, atol=1e-8)


def test_a_gap_is_an_error(simplex, monkeypatch):
    monkeypatch.setattr(recover, "GAP_TOLERANCE", -1.0)
    with pytest.raises(SolverError, match=r"two of these words are too alike; lower n_components(?s:.*)duality gap of"):
        fit(*simplex(3, 0))


# Topics -------------------------------------------------------------------------------------------------------


@pytest.fixture
def planted():
    """Return topics C (V, F) with anchors at words 0 … F−1, and moments E of their weights."""

    def make(n_topics, seed, n_words=50):
        rng = np.random.default_rng([n_topics, seed])
        C = rng.uniform(0.05, 1.0, (n_words, n_topics))
        C[:n_topics] = np.diag(rng.uniform(0.05, 1.0, n_topics))
        C /= C.sum(axis=0)
        W = rng.dirichlet(rng.uniform(0.1, 1.0, n_topics), 200)
        return C, W.T @ W / 200

    return make


def recovered(P, n_topics):
    weight = P.sum(axis=1)
    X = P / weight[:, None]
    inner = X @ X[:n_topics].T
    return recover_topics(inner[:n_topics], inner, (X**2).sum(axis=1), weight, np.arange(n_topics))


@pytest.mark.parametrize("n_topics", [1, 2, 4, 8])
def test_topics_follow_from_bayes_rule(planted, n_topics):
    """p(word, topic) = p(topic | word) p(word): the columns are the topics times their shares E1."""
    for seed in range(5):
        C, E = planted(n_topics, seed)
        assert_allclose(recovered(C @ E @ C.T, n_topics), C * E.sum(axis=1), atol=WEIGHTS)


@pytest.mark.parametrize("n_topics", [2, 5])
def test_rows_are_topics_given_the_word(planted, n_topics):
    C, E = planted(n_topics, 9)
    joint = C * E.sum(axis=1)
    P = C @ E @ C.T
    mass = recovered(P, n_topics)
    assert_allclose(mass / P.sum(axis=1, keepdims=True), joint / joint.sum(axis=1, keepdims=True), atol=WEIGHTS)
    assert_allclose(mass.sum(axis=1), P.sum(axis=1), rtol=ROUNDING)


@pytest.fixture
def geometry(planted):
    """Return what recover_topics needs but for the weights of the words, those weights, and p(word, topic)."""
    C, E = planted(3, 0)
    P = C @ E @ C.T
    X = P / P.sum(axis=1, keepdims=True)
    inner = X @ X[:3].T
    return (inner[:3], inner, (X**2).sum(axis=1)), P.sum(axis=1), C * E.sum(axis=1)


def test_words_of_the_other_sign_than_their_topic_count_as_zero(geometry):
    inner_products, weight, joint = geometry
    weight[10] *= -1
    for sign in (1, -1):
        mass = recover_topics(*inner_products, sign * weight, np.arange(3))
        assert_array_equal(mass[10], 0)
        assert_allclose(np.delete(mass, 10, axis=0), np.delete(joint, 10, axis=0), atol=WEIGHTS)


def test_a_topic_of_nothing_is_its_anchor_word(geometry):
    inner_products, weight, _ = geometry
    assert_array_equal(recover_topics(*inner_products, 0 * weight, np.arange(3)), np.eye(len(weight), 3))
