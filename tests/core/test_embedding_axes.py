import numpy as np
import pytest

from anchorless._core.embedding_axes import MAX_SAMPLED, N_AXES, UNIT, find_axes, round_directions, sum_products
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
    assert found.shape == (400, 13)  # twelve, and one since vectors have length one
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
    assert find_axes(rounded[:0]).reduce(rounded[:2], 1)[0].shape == (2, 1)


def test_at_most_so_many_directions_are_kept_and_they_are_orthonormal():
    directions = find_axes(round_vectors(np.random.default_rng(0).normal(size=(500, 300)))).directions
    assert directions.shape == (300, N_AXES)
    np.testing.assert_allclose(directions.T @ directions, np.eye(N_AXES), atol=1e-3)


def test_sums_of_products_have_the_same_bits_in_every_order(rounded):
    vectors, order = normalize_vectors(rounded), np.random.default_rng(0).permutation(400)
    sums = sum_products(vectors, vectors[0])
    np.testing.assert_array_equal(sum_products(vectors[order], vectors[0]), sums)
    differences = (vectors - vectors[0]).astype(np.float64) / UNIT
    np.testing.assert_allclose(sums, differences.T @ differences, rtol=1e-4, atol=1e-4 * sums.max())
    assert np.array_equal(sums, np.rint(sums))
    assert MAX_SAMPLED * (2.0 / UNIT) ** 2 <= 2.0**53  # two vectors of length one differ by 2 at most


def test_directions_do_not_depend_on_the_sign_of_eigenvectors_nor_on_their_rounding():
    directions = np.linalg.qr(np.random.default_rng(0).normal(size=(30, 30)))[0]
    changed = directions * np.where(np.arange(30) % 2, 1.0, -1.0) * (1 + 1e-13)
    np.testing.assert_array_equal(round_directions(changed), round_directions(directions))
    np.testing.assert_allclose(abs(round_directions(directions)), abs(directions), atol=1e-5)
