"""The start from anchor rows, the bounded pivots, and the rule that stops the sweeps at the noise of U."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog

from anchorless._core import anchored
from anchorless._core.anchored import (
    EVEN_START_TOPICS,
    AnchoredProgram,
    find_anchored_start,
    relax_volume,
    select_anchor_rows,
)
from anchorless._core.anchorfree import find_volume
from anchorless._core.constraints import compute_error_variance
from anchorless._core.lp.simplex import SimplexSolver
from anchorless._core.lp.vertices import PivotingError
from anchorless._core.volume import compute_log_volume_error, run_sweeps, sweep
from anchorless.datasets import planted_topics
from anchorless.metrics import recovery_error
from anchorless.progress import listen
from tests.helpers.tolerances import ROUNDING

#: A linear program by two solvers, each to its own tolerance of about 1e-9.
LP_AGREEMENT = 1e-6
#: The standard error is of first order, and 60 draws know their own standard deviation to 9%.
FIRST_ORDER = 0.35


@pytest.fixture
def separable():
    """Orthonormal U (V, F) and topics C (V, F); the first F words are anchor words, one per topic."""
    rng = np.random.default_rng(3)
    C = rng.exponential(size=(300, 20))
    C[:20] = 8.0 * np.eye(20)
    C /= C.sum(axis=0)
    return np.linalg.qr(C)[0], C


@pytest.fixture
def noisy():
    """Rows of U (V, F) with errors, and their signal-to-noise ratios (V,)."""

    def make(n_topics, ratio=1e4, seed=0, n_words=400):
        C = planted_topics(n_topics, n_words, random_state=seed).components.T
        U = np.linalg.qr(C[C.sum(axis=1) > 0])[0]
        ratios = np.full(len(U), ratio)
        return add_noise(U, ratios, np.random.default_rng(seed)), ratios

    return make


def add_noise(U, ratio, rng):
    """Return rows with errors whose square is that of the row over its ratio, in expectation."""
    size = np.linalg.norm(U, axis=1) / np.sqrt(ratio * U.shape[1])
    return U + size[:, None] * rng.standard_normal(U.shape)


def sort_columns(M):
    return M[:, np.lexsort(np.round(M, 9))]


def test_anchor_words_are_found(separable):
    U, _ = separable
    assert set(select_anchor_rows(np.vstack([50.0 * U[:20], U[20:]]))) == set(range(20))


def test_rows_of_lower_rank_have_fewer_anchors():
    R = np.outer(np.arange(1.0, 9.0), [1.0, 2.0, 0.0]) + np.outer(np.ones(8), [0.0, 0.0, 1.0])
    assert len(select_anchor_rows(R)) == 2
    assert find_anchored_start(SimplexSolver(np.eye(3), np.ones(3)), R) is None
    assert relax_volume(R, np.ones(3), np.full(8, 0.01)) is None


def test_the_start_is_the_maximum_where_every_topic_has_an_anchor_word(separable):
    U, C = separable
    R = np.vstack([50.0 * U[:20], U[20:]])  # anchor words that stand out are the ones that are found
    start = find_anchored_start(SimplexSolver(U, U.sum(axis=0)), R)
    assert recovery_error((U @ start).T, C.T) < 1e-18
    relaxed = relax_volume(R, U.sum(axis=0), np.zeros(300))
    assert recovery_error((U @ relaxed.M).T, C.T) < 1e-18


@pytest.mark.parametrize("seed", range(4))
def test_programs_agree_with_another_solver(noisy, seed):
    U, _ = noisy(8, seed=seed)
    rows = U / np.linalg.norm(U, axis=1, keepdims=True)
    chosen = select_anchor_rows(U)
    edges = np.linalg.inv(rows[chosen])
    B = np.asfortranarray(rows @ edges)
    for f in range(8):
        program = AnchoredProgram(B, np.zeros(len(B)), edges.T @ edges, f)
        assert program.run(2_000) < 2_000
        others = np.delete(np.arange(8), f)
        reference = linprog(np.ones(7), A_ub=-B[:, others], b_ub=B[:, f])
        assert_allclose(program.weights.sum(), reference.fun, rtol=LP_AGREEMENT, atol=LP_AGREEMENT)
        c = np.zeros(8)
        c[f], c[program.raised] = 1.0, program.weights
        assert (B @ c).min() >= -1e-7


def test_no_row_is_violated_beyond_its_noise_if_pivots_are_not_bounded(noisy, monkeypatch):
    U, ratio = noisy(20, ratio=300.0)
    bounded = relax_volume(U, U.sum(axis=0), compute_error_variance(ratio, U.shape[1]))
    monkeypatch.setattr(anchored, "PIVOTS_PER_TOPIC", 5_000)
    relaxed = relax_volume(U, U.sum(axis=0), compute_error_variance(ratio, U.shape[1]))
    assert relaxed.solver_counts.n_pivots > bounded.solver_counts.n_pivots

    def worst(M):
        slack = (U / np.linalg.norm(U, axis=1, keepdims=True)) @ (M / np.linalg.norm(M, axis=0))
        return (slack + anchored.STANDARD_ERRORS / np.sqrt(ratio * 20)[:, None]).min()

    assert worst(relaxed.M) >= -1e-6 > worst(bounded.M)
    assert_allclose(U.sum(axis=0) @ relaxed.M, 1.0)


def test_the_order_of_the_words_does_not_matter(noisy):
    U, ratio = noisy(15, ratio=100.0)
    order = np.random.default_rng(1).permutation(len(U))
    solvers = [SimplexSolver(R, U.sum(axis=0), variance=compute_error_variance(ratio, 15)) for R in (U, U[order])]
    starts = [find_anchored_start(solver, R) for solver, R in zip(solvers, (U, U[order]), strict=True)]
    one, other = (
        run_sweeps(solver, M, 1e-8, 100, feasible=True, until_noise=True).M
        for solver, M in zip(solvers, starts, strict=True)
    )
    assert_allclose(sort_columns(other), sort_columns(one), atol=1e-8)
    one, other = (relax_volume(R, U.sum(axis=0), compute_error_variance(ratio, 15)) for R in (U, U[order]))
    assert_allclose(sort_columns(other.M), sort_columns(one.M), atol=1e-8)


def test_the_standard_error_is_the_spread_of_the_volume_over_draws_of_the_noise():
    n_topics, ratio = 6, 3e4
    U = np.linalg.qr(planted_topics(n_topics, 300, random_state=1).components.T)[0]
    ratios, s = np.full(300, ratio), U.sum(axis=0)
    rng = np.random.default_rng(0)
    base = add_noise(U, ratios, rng)  # a generic polytope: tight rows of exact data are degenerate
    solver = SimplexSolver(base, s, variance=compute_error_variance(ratios, n_topics))
    M = run_sweeps(solver, np.eye(n_topics), 1e-9, 200).M
    predicted = compute_log_volume_error(sweep(solver, M, feasible=True)[1])
    small = 1e-2  # of the noise: first order
    volumes = [
        run_sweeps(SimplexSolver(add_noise(base, ratios / small**2, rng), s), M, 1e-10, 200).log_volume
        for _ in range(60)
    ]
    assert_allclose(np.std(volumes) / small, predicted, rtol=FIRST_ORDER)


def test_sweeps_stop_at_the_noise_and_go_on_with_a_tolerance(noisy):
    U, ratio = noisy(60, ratio=5.0, n_words=900)
    variance = compute_error_variance(ratio, 60)
    stopped, converged = (
        find_volume(U, U.sum(axis=0), v, [np.eye(60)], tol, 200) for v, tol in ((variance, None), (0 * variance, 1e-8))
    )
    assert (stopped.stopped_by, converged.stopped_by) == ("noise", "tolerance")
    assert stopped.converged
    assert len(stopped.history) < len(converged.history)
    assert converged.gap < 1e-8
    assert converged.infeasibility <= 1e-10


@pytest.mark.parametrize(("ratio", "stopped_by"), [(2.0, "noise"), (np.inf, "max_iter")])
def test_the_limit_of_the_sweeps_is_a_failure_only_if_more_than_the_noise_is_left_to_gain(noisy, ratio, stopped_by):
    U, _ = noisy(20, ratio=50.0)
    solver = SimplexSolver(U, U.sum(axis=0), variance=compute_error_variance(np.full(len(U), ratio), 20))
    n_sweeps = len(run_sweeps(solver, np.eye(20), 1e-12, 200).history) - 3
    volume = run_sweeps(solver, np.eye(20), 1e-12, n_sweeps)
    assert volume.stopped_by == stopped_by
    assert volume.converged is (stopped_by == "noise")


@pytest.mark.parametrize("n_topics", [15, 25, 60])
def test_without_noise_the_sweeps_end_at_the_maximum(n_topics):
    C = planted_topics(n_topics, 600, random_state=0).components.T
    U = np.linalg.qr(C)[0]
    volume = find_volume(U, U.sum(axis=0), np.zeros(len(U)), [np.eye(n_topics)], None, 200)
    assert volume.stopped_by == "tolerance"
    assert recovery_error((U @ volume.M).T, C.T) < 1e-16


def test_a_program_that_fails_is_solved_again_without_the_stored_vertices(noisy, monkeypatch):
    U, _ = noisy(10)
    s, objectives = U.sum(axis=0), np.random.default_rng(2).standard_normal((5, 10))
    expected = [SimplexSolver(U, s).maximize(a) for a in objectives]
    solve = SimplexSolver._solve

    def fail_from_stored(self, a, place, *, afresh=False):
        if place is not None:
            raise PivotingError
        return solve(self, a, place, afresh=afresh)

    monkeypatch.setattr(SimplexSolver, "_solve", fail_from_stored)
    solver = SimplexSolver(U, s)
    for a, vertex in zip(objectives, expected, strict=True):
        found = solver.maximize(a)
        assert_allclose(found.value, vertex.value, rtol=1e-9)
        assert found.gap < 1e-9
    assert solver._fallback.solver_counts.n_programs == 0


def test_two_runs_have_the_same_bits(noisy):
    U, ratio = noisy(20, ratio=50.0)
    one, other = (relax_volume(U, U.sum(axis=0), compute_error_variance(ratio, U.shape[1])) for _ in range(2))
    assert_array_equal(one.M, other.M)
    assert_allclose(one.log_volume, np.linalg.slogdet(one.M)[1], rtol=ROUNDING)


def list_reported_parts(function):
    parts = []
    with listen(lambda stage, done, total: parts.append((stage, done / total if total else None))):
        function()
    assert {stage for stage, _ in parts} == {"volume"}
    return [part for _, part in parts if part is not None]


def test_a_relaxation_reports_its_start_and_each_program(noisy):
    U, ratio = noisy(20, ratio=50.0)
    parts = list_reported_parts(
        lambda: relax_volume(U, U.sum(axis=0), compute_error_variance(ratio, U.shape[1])),
    )
    assert parts == sorted(parts)
    assert (parts[0], parts[-1]) == (0.0, 1.0)
    of_start = 20**2 / (20**2 + EVEN_START_TOPICS**2)
    programs = [part for part in parts if part > of_start + 1e-6]
    assert_allclose(np.diff(programs), (1 - of_start) / 20, atol=1e-5)
    assert len(programs) == 20
    assert len([part for part in parts if part < of_start - 1e-6]) == 20  # the anchors


def test_sweeps_of_unknown_number_report_that_one_more_is_left(noisy):
    U, _ = noisy(10)
    solver, found = SimplexSolver(U, U.sum(axis=0)), []
    parts = list_reported_parts(lambda: found.append(run_sweeps(solver, np.eye(10), 1e-7, 50)))
    n_sweeps = len(found[0].history)
    n = np.arange(1, 10 * n_sweeps + 1) / 10
    assert_allclose(parts, n / (n + 1), atol=1e-5)
