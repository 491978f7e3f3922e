import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from anchorless.errors import InputError
from anchorless.metrics import match_topics, recovery_error


def test_recovery_error_by_brute_force():
    rng = np.random.default_rng(0)
    A, B = rng.random((2, 4, 7))
    best = min(((A[list(order)] - B) ** 2).sum() for order in itertools.permutations(range(4)))
    assert_allclose(recovery_error(A, B), best)


def test_permuted_topics_are_recovered():
    A = np.random.default_rng(1).random((6, 20))
    order = np.random.default_rng(2).permutation(6)
    assert recovery_error(A[order], A) == 0
    i, j = match_topics(A[order], A)
    assert_array_equal(A[order][i], A[j])


def test_tiny_errors_are_not_lost_to_rounding():
    """A distance from inner products could not go below 1e-16."""
    A = np.random.default_rng(0).random((3, 50))
    assert_allclose(recovery_error(A + 1e-12, A), 150e-24, rtol=1e-2)


def test_shapes_must_agree():
    with pytest.raises(InputError, match=r"shapes \(3, 5\) and \(2, 5\)"):
        recovery_error(np.ones((3, 5)), np.ones((2, 5)))
