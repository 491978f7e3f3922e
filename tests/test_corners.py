import numpy as np
import pytest
from numpy.testing import assert_allclose

from anchorless.corners import (
    OVERSTEP,
    SQUARE_ENOUGH,
    Corner,
    LostWayError,
    climb_edges,
    exchanged,
    first_row_met,
    least_loss,
)


def cube_corner(n_dims):
    """The corner 0 of the cube 0 ≤ x ≤ 1 behind a first coordinate that is fixed at one, and the rows of the cube."""
    unit = np.eye(n_dims)[1:]
    G = np.vstack([unit, np.eye(n_dims)[:1] - unit])
    G /= np.linalg.norm(G, axis=1, keepdims=True)
    tight = np.concatenate([[0], np.arange(n_dims - 1)])
    return Corner(tight, np.eye(n_dims, order="F"), np.eye(n_dims)[0]), G


def test_the_first_row_stops_the_step():
    slack = np.array([1.0, 1.0, 3.0, 0.5]) + OVERSTEP
    change = np.array([-1.0, -1.0 - 1e-13, -2.0, 1.0])
    assert first_row_met(slack, change, np.empty(4), 1.0) == 1
    with pytest.raises(LostWayError):
        first_row_met(slack, abs(change), np.empty(4), 1.0)
    with pytest.raises(LostWayError):
        first_row_met(slack, 1e-12 * change, np.empty(4), 1.0)


def test_a_row_met_flatly_is_left_for_one_met_squarely():
    """Row 0 is met first, at an angle of a hundredth of what is enough; row 1 within the overstep of it."""
    flat = 0.01 * SQUARE_ENOUGH
    step = OVERSTEP / flat
    slack = np.array([0.0, 0.999999 * step, 2.0 * step]) + OVERSTEP
    change = np.array([-flat, -1.0, -1.0])
    assert first_row_met(slack, change, np.empty(3), 1.0) == 1
    assert first_row_met(slack[[0, 2]], change[[0, 2]], np.empty(2), 1.0) == 0


def test_the_way_back_loses_least():
    gain, row = np.array([-9.0, -1.0, -4.0, -1.0]), np.array([1.0, 1.0, 8.0, -1.0])
    assert least_loss(gain, row) == 2
    with pytest.raises(LostWayError):
        least_loss(gain, -abs(row))
    with pytest.raises(LostWayError):
        least_loss(np.full(4, np.nan), row)


def test_an_exchange_keeps_the_inverse():
    rng = np.random.default_rng(0)
    T, row = rng.standard_normal((5, 5)), rng.standard_normal(5)
    corner = Corner(np.arange(5), np.asfortranarray(np.linalg.inv(T)), np.zeros(5))
    corner.exchange(7, 3, corner.X[:, 3].copy(), exchanged(row @ corner.X, 3))
    T[3] = row
    assert_allclose(corner.X, np.linalg.inv(T), rtol=1e-9, atol=1e-12)
    assert corner.tight[3] == 7
    assert corner.age == 1


@pytest.mark.parametrize("error", [0.0, 1e-9, 1e-3, 10.0])
def test_a_renewed_inverse_is_exact(error):
    """Small errors are improved by a product, large ones by another inverse."""
    rng = np.random.default_rng(0)
    T = rng.standard_normal((8, 8))
    X = np.asfortranarray(np.linalg.inv(T) + error * rng.standard_normal((8, 8)))
    corner = Corner(np.arange(8), X, np.zeros(8), age=9)
    corner.renew(T)
    assert_allclose(corner.X @ T, np.eye(8), atol=1e-12)
    assert corner.age == 0


@pytest.mark.parametrize("n_dims", [2, 5, 9])
def test_the_cube_is_climbed_one_edge_per_rising_entry(n_dims):
    rng = np.random.default_rng(n_dims)
    a = rng.standard_normal(n_dims)
    a /= np.linalg.norm(a)
    corner, G = cube_corner(n_dims)
    assert corner.is_best(a) == (not (a[1:] > 0).any())
    arrived, n_pivots = climb_edges(a, corner, G, G @ corner.x, None, 50)
    assert arrived
    assert n_pivots == (a[1:] > 0).sum()
    T = G[corner.tight]
    T[0] = np.eye(n_dims)[0]
    x = np.linalg.solve(T, np.eye(n_dims)[0])
    assert_allclose(x[1:], a[1:] > 0, atol=1e-12)
    assert_allclose(corner.X @ T, np.eye(n_dims), atol=1e-12)
    assert corner.is_best(a)


def test_a_copy_stays_where_it_is():
    corner, _ = cube_corner(3)
    other = corner.copy()
    corner.exchange(4, 2, corner.X[:, 2].copy(), exchanged(np.array([0.0, 0.0, 2.0]), 2))
    assert_allclose(other.X, np.eye(3))
    other.become(corner)
    assert_allclose(other.X, corner.X)
