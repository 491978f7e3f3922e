import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog

from anchorless._core.lp import simplex, vertices
from anchorless._core.lp.polytope import FEASIBILITY_TOLERANCE, Polytope
from anchorless._core.lp.simplex import SimplexSolver
from anchorless._core.volume import run_sweeps
from anchorless.datasets import planted_topics
from anchorless.errors import InputError

SETS = {
    "rows on demand": ["FULL_SET_ROWS_PER_DIM"],
    "single precision": ["DOUBLE_ENTRIES"],
    "nearest rows": ["DOUBLE_ENTRIES", "FEW_ENTRIES"],
    "nearest rows on demand": ["DOUBLE_ENTRIES", "FEW_ENTRIES", "FULL_SET_ROWS_PER_DIM"],
}


@pytest.fixture(params=SETS.values(), ids=SETS)
def _small_sets(request, monkeypatch):
    """Test few rows at a time or in single precision, as with large vocabularies and many topics."""
    for limit in request.param:
        monkeypatch.setattr(simplex, limit, 0)


def orthonormal_rows(n_words, n_dims, seed):
    """An orthonormal basis of the span of random topics: what the spectrum returns on exact data."""
    rng = np.random.default_rng(seed)
    C = rng.exponential(size=(n_words, n_dims)) * (rng.random((n_words, n_dims)) < 0.5)
    return np.linalg.qr(C)[0], rng


def noisy_rows(n_words, n_dims, seed):
    """Rows without topics behind them: every word cuts the polytope in a direction of its own."""
    rng = np.random.default_rng(seed)
    return np.linalg.qr(rng.gamma(0.3, size=(n_words, n_dims)))[0], rng


ROWS = [orthonormal_rows, noisy_rows]
SIZES = [(20, 2), (50, 3), (300, 6), (1000, 12), (600, 30)]


def check(U, rng, n_programs):
    """Compare programs with HiGHS, the later ones from vertices found before, and check their certificates."""
    s = U.sum(axis=0)
    solver, referee = SimplexSolver(U, s), Polytope(U, s)
    for _ in range(n_programs):
        a = rng.standard_normal(U.shape[1])
        vertex = solver.maximize(a)
        assert_allclose(vertex.value, referee.maximize(a).value, rtol=1e-9, atol=1e-12)
        assert_allclose(vertex.value, a @ vertex.x, rtol=1e-12)
        assert_allclose(s @ vertex.x, 1.0, rtol=1e-12)
        assert (U @ vertex.x).min() >= -1e-9
        assert 0 <= vertex.infeasibility <= 1e-9
        assert -1e-9 <= vertex.gap <= 1e-8
    assert solver._fallback.solver_counts.n_programs == 0  # the answers are our own
    return solver


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize(("n_words", "n_dims"), SIZES)
def test_maximum_is_that_of_highs(rows, n_words, n_dims):
    check(*rows(n_words, n_dims, n_dims), n_programs=8)


@pytest.mark.usefixtures("_small_sets")
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize(("n_words", "n_dims"), SIZES)
def test_few_rows_at_a_time_lead_to_the_same_maximum(rows, n_words, n_dims):
    check(*rows(n_words, n_dims, n_dims), n_programs=8)


@pytest.mark.parametrize("seed", range(3))
def test_maximum_is_scipys(seed):
    U, rng = noisy_rows(200, 5, seed)
    s = U.sum(axis=0)
    a = rng.standard_normal(5)
    result = linprog(-a, A_ub=-U, b_ub=np.zeros(len(U)), A_eq=s[None], b_eq=[1.0], bounds=(-1, 1), method="highs")
    assert_allclose(SimplexSolver(U, s).maximize(a).value, -result.fun, rtol=1e-7)


def test_repeated_rows_do_not_stop_the_pivots():
    """Words in the same proportions: every vertex is degenerate."""
    U, rng = orthonormal_rows(40, 6, 0)
    check(np.linalg.qr(np.vstack([U] * 8 + [2 * U] * 8))[0], rng, n_programs=6)


@pytest.mark.parametrize("n_topics", [3, 10, 20])
def test_sweeps_agree_with_highs(n_topics):
    C = planted_topics(n_topics, 400, random_state=n_topics).components.T
    noise = np.random.default_rng(0).exponential(size=C.shape)
    U = np.linalg.qr(C + 0.1 * noise * C.max())[0]
    s = U.sum(axis=0)
    ours = run_sweeps(SimplexSolver(U, s), np.eye(n_topics), 1e-9, 100)
    theirs = run_sweeps(Polytope(U, s), np.eye(n_topics), 1e-9, 100)
    assert_allclose(ours.history, theirs.history, rtol=1e-8)
    assert_allclose(ours.M, theirs.M, atol=1e-8)


@pytest.mark.usefixtures("_small_sets")
@pytest.mark.parametrize("seed", range(4))
def test_volume_on_noisy_rows_is_that_of_highs(seed):
    """Every word cuts the polytope in a direction of its own: many sweeps and warm starts are needed."""
    n_dims = 6 + 3 * seed
    U, _ = noisy_rows(60 * n_dims, n_dims, seed)
    s = U.sum(axis=0)
    ours, theirs = (run_sweeps(kind(U, s), np.eye(n_dims), 1e-9, 200) for kind in (SimplexSolver, Polytope))
    assert ours.converged
    assert_allclose(ours.log_volume, theirs.log_volume, rtol=0, atol=1e-8)
    assert ours.infeasibility <= 1e-9
    assert ours.gap <= 1e-8


@pytest.mark.usefixtures("_small_sets")
@pytest.mark.parametrize("seed", range(3))
def test_volume_on_repeated_rows_is_that_of_highs(seed):
    """Words in the same proportions, some of them nearly so: vertices with more tight rows than dimensions."""
    U, rng = orthonormal_rows(50, 5, seed)
    nearly = U * (1.0 + 1e-13 * rng.standard_normal(U.shape))
    U = np.linalg.qr(np.vstack([U, U, 3.0 * U, nearly]))[0]
    s = U.sum(axis=0)
    ours, theirs = (run_sweeps(kind(U, s), np.eye(5), 1e-9, 200) for kind in (SimplexSolver, Polytope))
    assert ours.converged
    assert_allclose(ours.log_volume, theirs.log_volume, rtol=0, atol=1e-8)


@pytest.mark.usefixtures("_small_sets")
@pytest.mark.parametrize("seed", range(3))
def test_points_far_from_the_origin_are_inside_all_rows(seed):
    """As in the proofs of identifiability: with few rows the box ends the last step, a thousand away."""
    U, rng = noisy_rows(40, 12, seed)
    s = U.sum(axis=0)
    solver, referee = SimplexSolver(U[:9], s, radius=1e3), Polytope(U[:9], s, radius=1e3)
    for a in rng.standard_normal((6, 12)):
        vertex = solver.maximize(a)
        assert_allclose(vertex.value, referee.maximize(a).value, rtol=1e-9)
        assert (U[:9] @ vertex.x).min() >= -1e-8
        assert vertex.infeasibility <= 1e-9


def test_the_sweeps_keep_within_their_budget_of_pivots():
    """4,372 when this was written: times are noisy, counts are not."""
    U, _ = noisy_rows(900, 24, 0)
    solver = SimplexSolver(U, U.sum(axis=0))
    assert run_sweeps(solver, np.eye(24), 1e-7, 200).converged
    assert solver._fallback.solver_counts.n_programs == 0
    assert solver.solver_counts.n_pivots < 5000


def test_a_known_best_vertex_costs_no_pivot():
    U, rng = noisy_rows(300, 6, 0)
    solver = SimplexSolver(U, U.sum(axis=0))
    a = rng.standard_normal(6)
    first = solver.maximize(a)
    n_pivots = solver.solver_counts.n_pivots
    assert n_pivots > 0
    assert_array_equal(solver.maximize(2 * a).x, first.x)
    assert solver.solver_counts == (2, n_pivots, 300, 0)


def test_a_vertex_that_keeps_answering_is_kept(monkeypatch):
    """The cache holds six: a topic that has converged must cost no pivot because others have not."""
    monkeypatch.setattr(simplex, "KEPT_VERTICES", 1)
    U, rng = noisy_rows(300, 6, 0)
    solver = SimplexSolver(U, U.sum(axis=0))
    a = rng.standard_normal(6)
    solver.maximize(a)
    for _ in range(10):
        solver.maximize(rng.standard_normal(6))
        n_pivots = solver.solver_counts.n_pivots
        solver.maximize(a)
        assert solver.solver_counts.n_pivots == n_pivots


@pytest.mark.parametrize("seed", range(5))
def test_rows_that_single_precision_cannot_tell_apart(seed, monkeypatch):
    """Every word has a twin that differs in the seventh digit: which of the two blocks a step is decided in double."""
    monkeypatch.setattr(simplex, "DOUBLE_ENTRIES", 0)
    U, rng = noisy_rows(200, 5, seed)
    U = np.vstack([U, U + 1e-7 * rng.standard_normal(U.shape)])
    check(np.linalg.qr(U)[0], rng, n_programs=8)


@pytest.mark.parametrize("seed", range(3))
def test_a_stage_ends_inside_the_rows_it_did_not_test(seed, monkeypatch):
    for name, value in {"DOUBLE_ENTRIES": 0, "FEW_ENTRIES": 0, "NEAR_SHARE": 0.05}.items():
        monkeypatch.setattr(simplex, name, value)
    run, kept = [], []
    stage, single_stage = SimplexSolver._run_stage, SimplexSolver._run_single_stage
    monkeypatch.setattr(SimplexSolver, "_run_stage", lambda *args: run.append(stage(*args)) or run[-1])
    monkeypatch.setattr(SimplexSolver, "_run_single_stage", lambda *args: kept.append(single_stage(*args)) or kept[-1])
    U, rng = noisy_rows(500, 12, seed)
    check(U, rng, n_programs=8)
    assert min(each[2].min() for each in run) < -FEASIBILITY_TOLERANCE  # some did not, and were repeated
    assert min(each[2].min() for each in kept if each is not None) >= -FEASIBILITY_TOLERANCE


def test_working_set_stays_small():
    U, rng = orthonormal_rows(3000, 6, 0)
    solver = SimplexSolver(U, U.sum(axis=0))
    for _ in range(4):
        solver.maximize(rng.standard_normal(6))
    assert 0 < solver.solver_counts.n_rows < 1000


def test_rows_of_rounding_error_are_no_constraints():
    U, rng = orthonormal_rows(100, 4, 0)
    s = U.sum(axis=0)
    noise = 1e-17 * rng.standard_normal((30, 4))
    a = rng.standard_normal(4)
    clean, dirty = SimplexSolver(U, s).maximize(a), SimplexSolver(np.vstack([U, noise]), s).maximize(a)
    assert_allclose(dirty.x, clean.x, atol=1e-12)


def test_the_box_bounds_what_the_rows_leave_open():
    vertex = SimplexSolver(np.eye(4)[:2], np.ones(4), radius=2.0).maximize(np.array([0.0, 0.0, 1.0, -1.0]))
    assert_allclose(abs(vertex.x).max(), 2.0)


def test_an_entry_outside_the_sum_is_moved_freely():
    """s has a zero: that entry of x is bounded by the box alone."""
    U = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    for sign in (1.0, -1.0):
        vertex = SimplexSolver(U, np.array([1.0, 1.0, 0.0])).maximize(np.array([0.1, 0.0, sign]))
        assert_allclose(vertex.x, [1.0, 0.0, sign], atol=1e-12)


def test_an_empty_polytope_is_an_error():
    """x₁ ≥ 0 and −x₁ ≥ 0 where the sum asks for x₁ = 1."""
    with pytest.raises(InputError, match="no topics in them; change n_components; if you gave co-occurrences"):
        SimplexSolver(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, 0.0])).maximize(np.ones(2))


def test_a_sum_outside_the_box_is_an_error():
    with pytest.raises(InputError, match="no topics in them; change n_components; if you gave co-occurrences"):
        SimplexSolver(np.eye(2), np.array([0.1, 0.1])).maximize(np.ones(2))


@pytest.mark.parametrize("limit", ["STAGE_LIMIT", "PIVOT_LIMIT"])
def test_pivots_that_do_not_end_are_left_to_highs(limit, monkeypatch):
    U, rng = noisy_rows(300, 6, 0)
    s = U.sum(axis=0)
    solver, a = SimplexSolver(U, s), rng.standard_normal(6)
    if limit == "STAGE_LIMIT":
        solver.maximize(-a)  # so that the next program starts from a vertex
    monkeypatch.setattr(simplex, limit, 0)
    vertex = solver.maximize(a)
    assert solver._fallback.solver_counts.n_programs > 0
    assert_allclose(vertex.value, Polytope(U, s).maximize(a).value, rtol=1e-12)
    assert solver.solver_counts.n_fallbacks == 1


def fail_first(n_failures):
    """Return a `_run_primal` that loses its accuracy the first times."""
    original, left = SimplexSolver._run_primal, iter(range(n_failures))

    def run(self, a, vertex):
        if next(left, None) is not None:
            raise vertices.PivotingError
        return original(self, a, vertex)

    return run


@pytest.mark.parametrize("n_failures", [1, 2, 3])
def test_a_program_that_is_lost_is_recovered_from_stored_vertices(n_failures, monkeypatch):
    U, rng = noisy_rows(300, 6, 0)
    s = U.sum(axis=0)
    solver = SimplexSolver(U, s)
    for _ in range(4):
        solver.maximize(rng.standard_normal(6))
    a, n_pivots = rng.standard_normal(6), solver.solver_counts.n_pivots
    monkeypatch.setattr(SimplexSolver, "_run_primal", fail_first(n_failures))
    monkeypatch.setattr(SimplexSolver, "_run_dual", None)  # neither the box nor HiGHS is needed
    vertex = solver.maximize(a)
    assert_allclose(vertex.value, Polytope(U, s).maximize(a).value, rtol=1e-12)
    assert vertex.infeasibility <= FEASIBILITY_TOLERANCE
    assert vertex.gap <= 1e-9
    assert solver.solver_counts.n_fallbacks == 0
    assert solver.solver_counts.n_pivots > n_pivots
