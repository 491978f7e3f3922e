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


def cube_corner(n_dims):
    """The corner 0 of the cube 0 ≤ x ≤ 1 behind a first coordinate that is fixed at one, and the rows of the cube."""
    unit = np.eye(n_dims)[1:]
    G = np.vstack([unit, np.eye(n_dims)[:1] - unit])
    G /= np.linalg.norm(G, axis=1, keepdims=True)
    tight = np.concatenate([[0], np.arange(n_dims - 1)])
    return SimplexVertex(tight, np.eye(n_dims, order="F"), np.eye(n_dims)[0]), G


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_step_that_nothing_stops_is_no_step(kind):
    slack, change = np.array([1.0, 1.0, 3.0, 0.5], dtype=kind), np.array([-1.0, -1.0, -2.0, 1.0], dtype=kind)
    with pytest.raises(PivotingError):
        choose_blocking_row(slack, abs(change), abs(change) / slack, 1.0)
    with pytest.raises(PivotingError):  # a row is met, but that may be rounding error
        choose_blocking_row(slack, kind(1e-12) * change, kind(1e-12) * change / slack, 1.0)


def test_a_row_met_flatly_is_left_for_one_met_squarely():
    """Row 0 is met first, at an angle of a hundredth of what is enough; row 1 within the overstep of it."""
    flat = 0.01 * MIN_ANGLE
    step = STEP_TOLERANCE / flat
    slack = np.array([0.0, 0.999999 * step, 2.0 * step]) + STEP_TOLERANCE
    change = np.array([-flat, -1.0, -1.0])
    assert choose_blocking_row(slack, change, change / slack, 1.0) == 1
    assert choose_blocking_row(slack[[0, 2]], change[[0, 2]], (change / slack)[[0, 2]], 1.0) == 0


def test_the_way_back_loses_least():
    gain, row = np.array([-9.0, -1.0, -4.0, -1.0]), np.array([1.0, 1.0, 8.0, -1.0])
    assert choose_dual_edge(gain, row) == 2
    with pytest.raises(PivotingError):
        choose_dual_edge(gain, -abs(row))
    with pytest.raises(PivotingError):
        choose_dual_edge(np.full(4, np.nan), row)


def test_an_exchange_keeps_the_inverse():
    rng = np.random.default_rng(0)
    T, row = rng.standard_normal((5, 5)), rng.standard_normal(5)
    corner = SimplexVertex(np.arange(5), np.asfortranarray(np.linalg.inv(T)), np.zeros(5))
    corner.pivot(7, 3, corner.X[:, 3].copy(), compute_pivot_multiples(row @ corner.X, 3))
    T[3] = row
    assert_allclose(corner.X, np.linalg.inv(T), rtol=1e-9, atol=1e-12)
    assert corner.tight[3] == 7
    assert corner.n_updates == 1


@pytest.mark.parametrize("error", [0.0, 1e-9, 1e-3, 10.0])
def test_a_renewed_inverse_is_exact(error):
    """Small errors are improved by a product, large ones by another inverse."""
    rng = np.random.default_rng(0)
    T = rng.standard_normal((8, 8))
    X = np.asfortranarray(np.linalg.inv(T) + error * rng.standard_normal((8, 8)))
    corner = SimplexVertex(np.arange(8), X, np.zeros(8), n_updates=9)
    corner.recompute_inverse(T)
    assert_allclose(corner.X @ T, np.eye(8), atol=1e-12)
    assert corner.n_updates == 0


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("n_dims", [2, 5, 9])
def test_the_cube_is_climbed_one_edge_per_rising_entry(n_dims, kind):
    """Whichever the precision that rows are looked at in, the corner at the end is exact."""
    rng = np.random.default_rng(n_dims)
    a = rng.standard_normal(n_dims)
    a /= np.linalg.norm(a)
    corner, G = cube_corner(n_dims)
    assert corner.is_optimal(a) == (not (a[1:] > 0).any())
    arrived, end = run_primal_pivots(a, corner, G, RatioTestRows(G.astype(kind), G @ corner.x), 50)
    assert arrived
    assert end.n_updates == (a[1:] > 0).sum()
    T = G[end.tight]
    T[0] = np.eye(n_dims)[0]
    x = np.linalg.solve(T, np.eye(n_dims)[0])
    assert_allclose(x[1:], a[1:] > 0, atol=1e-12)
    assert_allclose(end.X @ T, np.eye(n_dims), atol=1e-12)
    assert end.is_optimal(a)
    assert_allclose(corner.X, np.eye(n_dims))  # where the walk began stays as it was


def test_a_walk_minds_the_rows_in_sight_and_names_them_by_their_place():
    corner, G = cube_corner(3)
    near = np.array([3, 1, 0])  # without row 2, which stops the way up in the first entry
    a = np.array([0.0, 0.6, 0.8])
    with pytest.raises(PivotingError):
        run_primal_pivots(a, corner, G, RatioTestRows(G[near], (G @ corner.x)[near], near), 50)
    arrived, end = run_primal_pivots(
        np.array([0.0, -0.6, 0.8]), corner, G, RatioTestRows(G[near], (G @ corner.x)[near], near), 50
    )
    assert arrived
    assert end.tight.tolist() == [0, 0, 3]


def test_an_edge_that_rises_by_rounding_error_is_no_way_up():
    """Edge 1 is long: what it gains per length is nothing, while edge 2 is short and gains as much."""
    X = np.diag([1.0, 1e6, 1.0])
    corner = SimplexVertex(np.arange(3), np.asfortranarray(X), np.zeros(3))
    assert corner.is_optimal(np.array([0.0, 5e-12, 0.0]))
    assert not corner.is_optimal(np.array([0.0, 5e-12, 2e-11]))


def test_a_start_stays_where_it_is():
    """Walking on and computing the inverse afresh leave the corner that was started from alone."""
    rng = np.random.default_rng(0)
    T = rng.standard_normal((3, 3))
    inverse = np.asfortranarray(np.linalg.inv(T) + 1e-9)
    corner = SimplexVertex(np.arange(3), inverse.copy(order="F"), np.zeros(3), n_updates=4)
    other = corner.start()
    other.recompute_inverse(T)
    assert corner.n_updates == 4
    assert_array_equal(corner.X, inverse)
    assert other.X.flags.f_contiguous  # an exchange would be made in a copy
    other.pivot(7, 1, other.X[:, 1].copy(), compute_pivot_multiples(rng.standard_normal(3) @ other.X, 1))
    corner.assign_from(other)
    assert_array_equal(corner.X, other.X)
