import numpy as np
import pytest

from anchorless._core.embedding_axes import N_AXES, find_axes
from anchorless._core.neighbors import normalize_vectors, round_vectors


@pytest.fixture(scope="module")
def rounded():
    """Vectors that differ in a few directions, around a common one."""
    rng = np.random.default_rng(0)
    return round_vectors(3.0 + rng.normal(size=(400, 12)) @ rng.normal(size=(12, 300)))


def compute_cosines(vectors):
    vectors = vectors.astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors @ vectors.T


def test_cosines_are_those_around_the_center(rounded):
    found, known = find_axes(rounded).reduce(rounded, 1)
    assert found.shape == (400, N_AXES)
    assert known.all()
    vectors = normalize_vectors(rounded)
    np.testing.assert_allclose(compute_cosines(found), compute_cosines(vectors - vectors.mean(axis=0)), atol=2e-3)


def test_no_row_needs_another(rounded):
    axes = find_axes(rounded)
    found = axes.reduce(rounded, 1)[0]
    for rows, n_threads in ((slice(5, 6), 1), (slice(0, 400), 3), (slice(100, 203), 2)):
        np.testing.assert_array_equal(axes.reduce(rounded[rows], n_threads)[0], found[rows])


def test_a_rotation_of_the_embeddings_changes_no_cosine(rounded):
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(300, 300)))[0]
    other = round_vectors(normalize_vectors(rounded) @ rotation)
    found = [compute_cosines(find_axes(given).reduce(given, 1)[0]) for given in (rounded, other)]
    np.testing.assert_allclose(*found, atol=5e-3)


def test_a_document_in_the_center_has_no_direction():
    rounded = round_vectors(np.array([[1.0, 0.5, 0.0], [1.0, -0.5, 0.0], [1.0, 0.0, 0.0]] * 5))
    found, known = find_axes(rounded).reduce(rounded, 1)
    equal, unknown = find_axes(rounded[:1]).reduce(rounded[:1], 1)
    assert known.all()
    assert not unknown.any()
    assert not equal.any()
    np.testing.assert_allclose(np.linalg.norm(found.astype(np.float64), axis=1), 1.0, atol=1e-3)


def test_no_embedding_has_axes(rounded):
    assert find_axes(rounded[:0]).reduce(rounded[:2], 1)[0].shape == (2, N_AXES)
