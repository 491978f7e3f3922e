import highspy
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog

from anchorless._core.lp import polytope as polytope_module
from anchorless._core.lp.polytope import Polytope
from anchorless.errors import SolverError


def orthonormal_rows(n_words, n_dims, seed):
    """An orthonormal basis of the span of random topics: what the spectrum hands over on exact data."""
    rng = np.random.default_rng(seed)
    C = rng.exponential(size=(n_words, n_dims)) * (rng.random((n_words, n_dims)) < 0.5)
    return np.linalg.qr(C)[0], rng


def referee(U, s, a):
    """SciPy's solver on the program as the paper writes it."""
    result = linprog(-a, A_ub=-U, b_ub=np.zeros(len(U)), A_eq=s[None], b_eq=[1.0], bounds=(None, None), method="highs")
    assert result.status == 0
    return -result.fun


@pytest.mark.parametrize(("n_words", "n_dims"), [(20, 2), (50, 3), (300, 6), (1000, 12)])
@pytest.mark.parametrize("seed", [0, 1])
def test_maximum_is_the_referees(n_words, n_dims, seed):
    U, rng = orthonormal_rows(n_words, n_dims, seed)
    s = U.sum(axis=0)
    polytope = Polytope(U, s)
    for _ in range(6):  # the later ones start hot
        a = rng.standard_normal(n_dims)
        assert_allclose(polytope.maximize(a).value, referee(U, s, a), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_certificate_holds(seed):
    U, rng = orthonormal_rows(400, 8, seed)
    s = U.sum(axis=0)
    polytope = Polytope(U, s)
    for _ in range(5):
        a = rng.standard_normal(8)
        vertex = polytope.maximize(a)
        assert_allclose(s @ vertex.x, 1.0, rtol=1e-12)
        assert (U @ vertex.x).min() >= -1e-9
        assert 0 <= vertex.infeasibility <= 1e-9
        assert -1e-9 <= vertex.gap <= 1e-8
        assert_allclose(vertex.value, a @ vertex.x, rtol=1e-12)


def test_gap_bounds_how_far_a_wrong_basis_is(monkeypatch):
    U, rng = orthonormal_rows(200, 4, 0)
    s = U.sum(axis=0)
    a, b = rng.standard_normal((2, 4))
    best = Polytope(U, s).maximize(a)
    other = Polytope(U, s)
    other.maximize(b)
    basis = other._bases[0]
    x = other._vertices[0]
    missed = (best.value - a @ x) / np.linalg.norm(a)
    assert missed > 1e-3  # another vertex than the best
    assert other._compute_gap(a / np.linalg.norm(a), x, basis) >= missed


def test_tiny_case_by_brute_force():
    """In the plane s·x = 1 of two dimensions the polytope is a segment between two vertices."""
    U = np.linalg.qr(np.array([[3.0, 1.0], [1.0, 1.0], [1.0, 2.0]]))[0]
    s = U.sum(axis=0)
    candidates = [np.linalg.solve(np.vstack([s, u]), [1.0, 0.0]) for u in U]
    vertices = [x for x in candidates if (U @ x).min() > -1e-12]
    for a in np.random.default_rng(0).standard_normal((8, 2)):
        assert_allclose(Polytope(U, s).maximize(a).value, max(a @ x for x in vertices), rtol=1e-10)


def test_objective_may_be_scaled():
    U, rng = orthonormal_rows(100, 5, 3)
    a = rng.standard_normal(5)
    polytope = Polytope(U, U.sum(axis=0))
    one, many = polytope.maximize(a), polytope.maximize(1e9 * a)
    assert_allclose(many.value, 1e9 * one.value, rtol=1e-9)
    assert_allclose(many.x, one.x, atol=1e-9)


def test_rows_of_rounding_error_are_no_constraints():
    U, rng = orthonormal_rows(100, 4, 0)
    s = U.sum(axis=0)
    noise = 1e-17 * rng.standard_normal((30, 4))
    a = rng.standard_normal(4)
    clean, dirty = Polytope(U, s).maximize(a), Polytope(np.vstack([U, noise]), s).maximize(a)
    assert_allclose(dirty.x, clean.x, atol=1e-12)


def test_box_stops_what_the_rows_leave_open():
    """Two rows in four dimensions leave directions unbounded; the box keeps the program solvable."""
    U = np.eye(4)[:2]
    vertex = Polytope(U, np.ones(4), radius=2.0).maximize(np.array([0.0, 0.0, 1.0, -1.0]))
    assert_allclose(abs(vertex.x).max(), 2.0)


def test_tally_counts_and_working_set_stays_small():
    U, rng = orthonormal_rows(3000, 6, 0)
    polytope = Polytope(U, U.sum(axis=0))
    assert polytope.solver_counts == (0, 0, 0, 0)
    for _ in range(4):
        polytope.maximize(rng.standard_normal(6))
    tally = polytope.solver_counts
    assert tally.n_programs >= 4
    assert tally.n_pivots > 0
    assert 0 < tally.n_rows < 1000


def test_a_failed_warm_start_is_solved_from_scratch(monkeypatch):
    U, rng = orthonormal_rows(200, 5, 1)
    s = U.sum(axis=0)
    a = rng.standard_normal(5)
    expected = Polytope(U, s).maximize(a).value
    polytope = Polytope(U, s)
    polytope.maximize(rng.standard_normal(5))
    failures = iter([highspy.HighsModelStatus.kSolveError])
    broken = polytope._solver

    class Failing:
        def __getattr__(self, name):
            return getattr(broken, name)

        def getModelStatus(self):
            return next(failures)

    polytope._solver = Failing()
    assert_allclose(polytope.maximize(a).value, expected, rtol=1e-9)
    assert next(failures, None) is None


def test_a_program_that_stays_unsolved_is_an_error(monkeypatch):
    U, _ = orthonormal_rows(50, 3, 0)
    polytope = Polytope(U, U.sum(axis=0))
    monkeypatch.setattr(polytope_module, "OPTIMAL", highspy.HighsModelStatus.kInfeasible)
    with pytest.raises(SolverError, match="ended as Optimal"):
        polytope.maximize(np.ones(3))
