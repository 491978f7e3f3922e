import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from anchorless._core.lp.vertices import (
    MIN_ANGLE,
    STEP_TOLERANCE,
    PivotingError,
    RatioTestRows,
    SimplexVertex,
    choose_blocking_row,
    choose_dual_edge,
    compute_pivot_multiples,
    run_primal_pivots,
)


def cube_vertex(n_dims):
    """The vertex 0 of the cube 0 ≤ x ≤ 1 behind a first coordinate that is fixed at one, and the rows of the cube."""
    unit = np.eye(n_dims)[1:]
    G = np.vstack([unit, np.eye(n_dims)[:1] - unit])
    G /= np.linalg.norm(G, axis=1, keepdims=True)
    tight = np.concatenate([[0], np.arange(n_dims - 1)])
    return SimplexVertex(tight, np.eye(n_dims, order="F"), np.eye(n_dims)[0]), G


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_step_that_no_row_blocks_is_an_error(kind):
    slack, change = np.array([1.0, 1.0, 3.0, 0.5], dtype=kind), np.array([-1.0, -1.0, -2.0, 1.0], dtype=kind)
    with pytest.raises(PivotingError):
        choose_blocking_row(slack, abs(change), abs(change) / slack, 1.0)
    with pytest.raises(PivotingError):  # a row blocks it, but its pivot may be rounding error
        choose_blocking_row(slack, kind(1e-12) * change, kind(1e-12) * change / slack, 1.0)


def test_a_row_with_a_small_pivot_gives_way_to_one_with_a_large_pivot():
    """Row 0 is reached first, with a hundredth of the pivot that is enough; row 1 within the step tolerance of it."""
    small = 0.01 * MIN_ANGLE
    step = STEP_TOLERANCE / small
    slack = np.array([0.0, 0.999999 * step, 2.0 * step]) + STEP_TOLERANCE
    change = np.array([-small, -1.0, -1.0])
    assert choose_blocking_row(slack, change, change / slack, 1.0) == 1
    assert choose_blocking_row(slack[[0, 2]], change[[0, 2]], (change / slack)[[0, 2]], 1.0) == 0


def test_the_dual_edge_loses_least():
    gain, row = np.array([-9.0, -1.0, -4.0, -1.0]), np.array([1.0, 1.0, 8.0, -1.0])
    assert choose_dual_edge(gain, row) == 2
    with pytest.raises(PivotingError):
        choose_dual_edge(gain, -abs(row))
    with pytest.raises(PivotingError):
        choose_dual_edge(np.full(4, np.nan), row)


def test_a_pivot_updates_the_inverse():
    rng = np.random.default_rng(0)
    T, row = rng.standard_normal((5, 5)), rng.standard_normal(5)
    vertex = SimplexVertex(np.arange(5), np.asfortranarray(np.linalg.inv(T)), np.zeros(5))
    vertex.pivot(7, 3, vertex.X[:, 3].copy(), compute_pivot_multiples(row @ vertex.X, 3))
    T[3] = row
    assert_allclose(vertex.X, np.linalg.inv(T), rtol=1e-9, atol=1e-12)
    assert vertex.tight[3] == 7
    assert vertex.n_updates == 1


@pytest.mark.parametrize("error", [0.0, 1e-9, 1e-3, 10.0])
def test_a_recomputed_inverse_is_exact(error):
    """Newton's method removes small errors; for large ones the inverse is computed again."""
    rng = np.random.default_rng(0)
    T = rng.standard_normal((8, 8))
    X = np.asfortranarray(np.linalg.inv(T) + error * rng.standard_normal((8, 8)))
    vertex = SimplexVertex(np.arange(8), X, np.zeros(8), n_updates=9)
    vertex.recompute_inverse(T)
    assert_allclose(vertex.X @ T, np.eye(8), atol=1e-12)
    assert vertex.n_updates == 0


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("n_dims", [2, 5, 9])
def test_the_cube_takes_one_pivot_per_rising_entry(n_dims, kind):
    """In whichever precision the rows are tested, the last vertex is exact."""
    rng = np.random.default_rng(n_dims)
    a = rng.standard_normal(n_dims)
    a /= np.linalg.norm(a)
    vertex, G = cube_vertex(n_dims)
    assert vertex.is_optimal(a) == (not (a[1:] > 0).any())
    at_optimum, end = run_primal_pivots(a, vertex, G, RatioTestRows(G.astype(kind), G @ vertex.x), 50)
    assert at_optimum
    assert end.n_updates == (a[1:] > 0).sum()
    T = G[end.tight]
    T[0] = np.eye(n_dims)[0]
    x = np.linalg.solve(T, np.eye(n_dims)[0])
    assert_allclose(x[1:], a[1:] > 0, atol=1e-12)
    assert_allclose(end.X @ T, np.eye(n_dims), atol=1e-12)
    assert end.is_optimal(a)
    assert_allclose(vertex.X, np.eye(n_dims))  # the start is unchanged


def test_only_the_tested_rows_block_a_step_and_are_named_by_their_position():
    vertex, G = cube_vertex(3)
    near = np.array([3, 1, 0])  # without row 2, which blocks the first entry
    a = np.array([0.0, 0.6, 0.8])
    with pytest.raises(PivotingError):
        run_primal_pivots(a, vertex, G, RatioTestRows(G[near], (G @ vertex.x)[near], near), 50)
    at_optimum, end = run_primal_pivots(
        np.array([0.0, -0.6, 0.8]), vertex, G, RatioTestRows(G[near], (G @ vertex.x)[near], near), 50
    )
    assert at_optimum
    assert end.tight.tolist() == [0, 0, 3]


def test_an_edge_that_rises_by_rounding_error_is_level():
    """Edge 1 is long: it gains nothing per length, while edge 2 is short and gains as much."""
    X = np.diag([1.0, 1e6, 1.0])
    vertex = SimplexVertex(np.arange(3), np.asfortranarray(X), np.zeros(3))
    assert vertex.is_optimal(np.array([0.0, 5e-12, 0.0]))
    assert not vertex.is_optimal(np.array([0.0, 5e-12, 2e-11]))


def test_a_fork_leaves_its_origin_unchanged():
    """Pivots and a recomputed inverse do not change the vertex that was forked."""
    rng = np.random.default_rng(0)
    T = rng.standard_normal((3, 3))
    inverse = np.asfortranarray(np.linalg.inv(T) + 1e-9)
    vertex = SimplexVertex(np.arange(3), inverse.copy(order="F"), np.zeros(3), n_updates=4)
    other = vertex.fork()
    other.recompute_inverse(T)
    assert vertex.n_updates == 4
    assert_array_equal(vertex.X, inverse)
    assert other.X.flags.f_contiguous  # else a pivot would be made in a copy
    other.pivot(7, 1, other.X[:, 1].copy(), compute_pivot_multiples(rng.standard_normal(3) @ other.X, 1))
    assert_array_equal(vertex.X, inverse)
