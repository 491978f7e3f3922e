import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from anchorless._core.lp.polytope import Polytope, Vertex
from anchorless._core.lp.simplex import SimplexSolver
from anchorless._core.volume import (
    check_convergence,
    compute_lower_bounds,
    make_starting_points,
    maximize_abs,
    maximize_volume,
    run_sweeps,
    sweep,
    update_inverse,
)
from anchorless.datasets import planted_topics
from anchorless.errors import RankError
from anchorless.metrics import recovery_error

TOL, SWEEPS = 1e-8, 100


@pytest.fixture
def planted():
    """Orthonormal U (V, F) whose span contains the planted topics C (V, F)."""

    def make(n_topics, seed, n_words=400):
        C = planted_topics(n_topics, n_words, random_state=seed).components.T
        return np.linalg.qr(C)[0], C

    return make


@pytest.mark.parametrize("n_topics", [2, 3, 5, 8])
@pytest.mark.parametrize("seed", range(3))
def test_planted_topics_are_found(planted, n_topics, seed):
    U, C = planted(n_topics, seed)
    volume = run_sweeps(Polytope(U, U.sum(axis=0)), np.eye(n_topics), TOL, SWEEPS)
    assert volume.converged
    assert recovery_error((U @ volume.M).T, C.T) < 1e-18
    assert_allclose(volume.log_volume, np.linalg.slogdet(U.T @ C)[1], atol=1e-8)


def test_inverse_follows_a_change_of_one_column():
    rng = np.random.default_rng(0)
    M, x = rng.standard_normal((5, 5)), rng.standard_normal(5)
    for f in range(5):
        changed = M.copy()
        changed[:, f] = x
        assert_allclose(update_inverse(np.linalg.inv(M), f, x), np.linalg.inv(changed), rtol=1e-9, atol=1e-12)


def test_stretch_takes_the_larger_sign(planted):
    U, _ = planted(4, 0)
    polytope = Polytope(U, U.sum(axis=0))
    for a in np.random.default_rng(1).standard_normal((6, 4)):
        vertex = maximize_abs(polytope, a)
        assert_allclose(abs(vertex.value), max(polytope.maximize(a).value, polytope.maximize(-a).value), rtol=1e-12)
        assert_allclose(vertex.value, a @ vertex.x, rtol=1e-9)


class Triangle:
    """The vertices of a triangle as a polytope that has found some of them."""

    vertices = np.array([[1.0, 0.0], [-0.4, 0.0], [-1.2, 1.0]])

    def __init__(self, *met):
        self.met = np.array(met)

    def maximize(self, a, *, certified=True):
        x = self.vertices[(self.vertices @ a).argmax()]
        return Vertex(x, float(a @ x), 0.0, 0.0)

    def best_known_value(self, a):
        return float((self.met @ a).max(initial=-np.inf))


@pytest.mark.parametrize(
    ("met", "both_signs", "value"),
    [((-0.6, 0.1), False, -1.2), ((-0.4, 0.0), False, 1.0), ((-0.4, 0.0), True, -1.2)],
)
def test_the_other_sign_is_asked_where_a_known_vertex_nearly_wins(met, both_signs, value):
    assert maximize_abs(Triangle(met), np.array([1.0, 0.0]), both_signs=both_signs).value == pytest.approx(value)


@pytest.mark.parametrize("solver", [Polytope, SimplexSolver])
def test_reached_is_the_best_of_the_vertices_met(planted, solver):
    U, _ = planted(4, 0)
    polytope, rng = solver(U, U.sum(axis=0)), np.random.default_rng(0)
    a = rng.standard_normal(4)
    assert polytope.best_known_value(a) == -np.inf
    met = [polytope.maximize(b).x for b in rng.standard_normal((5, 4))]
    assert polytope.best_known_value(a) == pytest.approx(max(x @ a for x in met))


@pytest.mark.parametrize("solver", [Polytope, SimplexSolver])
def test_sweeps_that_do_not_converge_have_an_accuracy_too(planted, solver):
    U, _ = planted(4, 0)
    for n_sweeps in (1, 2):
        volume = run_sweeps(solver(U, U.sum(axis=0)), np.eye(4), TOL, n_sweeps)
        assert not volume.converged
        assert 0.0 <= volume.infeasibility <= 1e-9
        assert -1e-9 <= volume.gap <= 1e-8


def test_volume_never_falls_after_the_first_sweep():
    """On sampled rows, where several sweeps are needed."""
    rng = np.random.default_rng(3)
    U = np.linalg.qr(rng.gamma(0.3, size=(600, 12)))[0]
    polytope = Polytope(U, U.sum(axis=0))
    volume = run_sweeps(polytope, np.eye(12), 1e-12, SWEEPS)
    assert len(volume.history) > 2
    assert np.all(np.diff(volume.history) >= -1e-12)
    M = volume.M
    again, _ = sweep(polytope, M, feasible=True)
    assert_allclose(np.linalg.slogdet(again)[1], volume.log_volume, atol=1e-9)


def test_result_is_feasible_with_its_certificate(planted):
    U, _ = planted(6, 1)
    volume = run_sweeps(Polytope(U, U.sum(axis=0)), np.eye(6), TOL, SWEEPS)
    C = U @ volume.M
    assert C.min() > -1e-9
    assert_allclose(C.sum(axis=0), 1.0, rtol=1e-10)
    assert volume.infeasibility <= 1e-9
    assert volume.gap <= 1e-8


def test_tiny_case_by_brute_force():
    """Three dimensions, eight words: the best of all triples of vertices."""
    rng = np.random.default_rng(5)
    U = np.linalg.qr(rng.exponential(size=(8, 3)) * (rng.random((8, 3)) < 0.6))[0]
    s = U.sum(axis=0)
    vertices = []
    for pair in itertools.combinations(range(8), 2):
        A = np.vstack([s, U[list(pair)]])
        if abs(np.linalg.det(A)) > 1e-10:
            x = np.linalg.solve(A, [1.0, 0.0, 0.0])
            if (U @ x).min() > -1e-10:
                vertices.append(x)
    best = max(abs(np.linalg.det(np.array(triple))) for triple in itertools.combinations(vertices, 3))
    starts = make_starting_points(3, 5, np.random.default_rng(0))
    found = maximize_volume(Polytope(U, s), starts, TOL, SWEEPS)
    assert_allclose(found.log_volume, np.log(best), atol=1e-8)


def test_best_start_wins_and_ties_go_to_the_first(planted):
    U, _ = planted(4, 2)
    polytope = Polytope(U, U.sum(axis=0))
    starts = make_starting_points(4, 3, np.random.default_rng(0))
    best = maximize_volume(polytope, starts, TOL, SWEEPS)
    first = run_sweeps(Polytope(U, U.sum(axis=0)), np.eye(4), TOL, SWEEPS)
    assert_array_equal(best.M, first.M)
    assert best.solver_counts.n_programs > first.solver_counts.n_programs


def test_starts_are_the_identity_then_rotations():
    first, *others = make_starting_points(4, 3, np.random.default_rng(0))
    assert_array_equal(first, np.eye(4))
    assert len(others) == 2
    for start in others:
        assert_allclose(start.T @ start, np.eye(4), atol=1e-12)


def test_too_few_sweeps_are_not_called_converged(planted):
    U, _ = planted(4, 0)
    volume = run_sweeps(Polytope(U, U.sum(axis=0)), np.eye(4), TOL, 1)
    assert not volume.converged
    assert len(volume.history) == 1


def test_a_flat_polytope_is_an_error():
    """x₂ ≥ 0 and −x₂ ≥ 0 leave a single point: no second topic has any volume."""
    flat = Polytope(np.array([[0.0, 1.0], [0.0, -1.0]]), np.array([1.0, 0.0]))
    with pytest.raises(RankError, match="n_components=2, but the words distinguish fewer topics; lower n_components"):
        run_sweeps(flat, np.eye(2), TOL, SWEEPS)


@pytest.mark.parametrize("seed", range(4))
def test_no_coordinate_falls_below_its_bound(seed):
    """HiGHS finds the deepest point of each coordinate, which the bound must not exceed."""
    rng = np.random.default_rng(seed)
    n_dims = 4 + seed
    U = np.linalg.qr(rng.gamma(0.1, size=(40 * n_dims, n_dims)))[0]
    polytope = Polytope(U, U.sum(axis=0))
    M = run_sweeps(polytope, np.eye(n_dims), TOL, SWEEPS).M
    inverse = np.linalg.inv(M)
    highest = np.array([polytope.maximize(a).value for a in inverse]) + 1e-9
    bounds = compute_lower_bounds(polytope.rows @ M, highest)
    truth = np.array([-polytope.maximize(-a).value for a in inverse])
    assert np.all(bounds <= truth + 1e-9)
    assert (bounds > -1.0).any()  # some signs are ruled out without a program


def test_a_word_of_one_topic_alone_keeps_its_coordinate_above_zero():
    C = np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 1.0], [0.0, 1.0, 1.0]])
    assert_allclose(compute_lower_bounds(C, np.ones(3)), [0.0, -0.5, -1.0], atol=1e-12)


def test_a_sign_that_gains_is_found_at_the_end():
    """Points (1, t) with −3 ≤ t ≤ 1: from columns t = 0 and 1, the way through zero is three times as long."""
    segment = Polytope(np.array([[1.0, -1.0], [3.0, 1.0]]), np.array([1.0, 0.0]), radius=5.0)
    assert check_convergence(segment, np.array([[1.0, 1.0], [0.0, 1.0]]))[1]
    assert not check_convergence(segment, np.array([[1.0, 1.0], [-3.0, 1.0]]))[1]


@pytest.mark.parametrize("seed", range(3))
def test_no_sign_gains_after_convergence(seed):
    """Second implementation: both signs of every column by HiGHS."""
    U = np.linalg.qr(np.random.default_rng(seed).gamma(0.3, size=(200, 7)))[0]
    polytope = Polytope(U, U.sum(axis=0))
    volume = run_sweeps(polytope, np.eye(7), TOL, SWEEPS)
    assert volume.converged
    for a in np.linalg.inv(volume.M):
        assert abs(maximize_abs(polytope, a).value) <= 1.0 + 1e-6
