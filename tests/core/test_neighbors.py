import numpy as np
import pytest

from anchorless._core import neighbors
from anchorless._core.neighbors import (
    SAME_COSINE,
    build_references,
    find_mutual_neighbors,
    find_neighbors,
    normalize_vectors,
    round_vectors,
)


@pytest.fixture(scope="module")
def vectors():
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(12, 16))
    return normalize_vectors(round_vectors(centers[rng.integers(12, size=600)] + rng.normal(size=(600, 16))))


def search_by_sorting(queries, vectors, n_neighbors):
    cosines = queries.astype(np.float64) @ vectors.astype(np.float64).T
    cosines[cosines > SAME_COSINE] = -np.inf
    return np.argsort(-cosines, axis=1, kind="stable")[:, :n_neighbors]


def test_exact_neighbors_are_those_of_a_full_sort(vectors):
    found = find_neighbors(vectors, build_references(vectors, 1), 10, 1)
    np.testing.assert_array_equal(found.positions, search_by_sorting(vectors, vectors, 10))
    cosines = np.take_along_axis(vectors @ vectors.T, found.positions, axis=1)
    np.testing.assert_allclose(found.cosines, cosines, atol=1e-6)


def test_neighbors_that_products_in_single_precision_confuse_are_those_of_a_full_sort():
    rng = np.random.default_rng(0)
    rotation = np.linalg.qr(rng.normal(size=(64, 64)))[0]
    around = rng.normal(size=(300, 63))
    around *= 0.8 / np.linalg.norm(around, axis=1, keepdims=True)
    cone = np.concatenate([[[1.0, *np.zeros(63)]], np.column_stack([np.full(300, 0.6), around])]) @ rotation
    cone = cone.astype(np.float32)  # cosines with the first one differ by rounding only
    expected, references = search_by_sorting(cone[:1], cone, 10), build_references(cone, 1)
    np.testing.assert_array_equal(find_neighbors(cone[:1], references, 10, 1).positions, expected)
    np.testing.assert_array_equal(find_mutual_neighbors(references, 10, 1).positions[:1], expected)


def test_neighbors_are_the_same_alone_in_a_batch_and_for_any_number_of_threads(vectors, monkeypatch):
    monkeypatch.setattr(neighbors, "QUERIES_AT_A_TIME", 37)
    references = build_references(vectors[:500], 1)
    found = find_neighbors(vectors, references, 10, 1)
    for n_threads, rows in ((3, slice(0, 600)), (1, slice(7, 8)), (2, slice(100, 203))):
        other = find_neighbors(vectors[rows], references, 10, n_threads)
        np.testing.assert_array_equal(other.positions, found.positions[rows])
        np.testing.assert_array_equal(other.cosines, found.cosines[rows])


def test_pairs_are_compared_once(vectors, monkeypatch):
    doubled = np.concatenate([vectors, vectors[:50]])
    for size in (37, 256, 1000):
        monkeypatch.setattr(neighbors, "QUERIES_AT_A_TIME", size)
        for given in (vectors, doubled, vectors[:5], vectors[:1], vectors[:0]):
            references = build_references(given, 1)
            found = find_mutual_neighbors(references, 10, 2)
            expected = find_neighbors(given, references, 10, 1)
            np.testing.assert_array_equal(found.positions, expected.positions)
            np.testing.assert_array_equal(found.cosines, expected.cosines)


def test_the_same_text_is_no_neighbor(vectors):
    doubled = np.concatenate([vectors, vectors * np.float32(1 + 1e-6)])
    found = find_neighbors(doubled, build_references(vectors, 1), 10, 1)
    assert np.all(found.positions != np.tile(np.arange(600), 2)[:, None])
    np.testing.assert_array_equal(found.positions[:600], found.positions[600:])


def test_fewer_references_than_neighbors_leave_places_empty(vectors):
    found = find_neighbors(vectors[:5], build_references(vectors[:4], 1), 10, 1)
    np.testing.assert_array_equal((found.positions >= 0).sum(axis=1), [3, 3, 3, 3, 4])
    assert np.all(found.cosines[found.positions < 0] == 0)


def test_the_search_in_groups_finds_nearly_all_neighbors_without_chance(vectors, monkeypatch):
    exact = search_by_sorting(vectors, vectors, 10)
    for name, value in (("MAX_EXACT", 100), ("GROUP_SIZE", 20), ("N_SEARCHED", 8)):
        monkeypatch.setattr(neighbors, name, value)
    references = build_references(vectors, 2)
    assert sum(map(len, references.members)) == 600
    found = find_neighbors(vectors, references, 10, 2)
    again = find_neighbors(vectors, build_references(vectors, 1), 10, 1)
    np.testing.assert_array_equal(found.positions, again.positions)
    recall = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(found.positions.tolist(), exact.tolist(), strict=True)])
    assert recall > 0.7  # of 30 groups, 8 are searched
    alone = find_neighbors(vectors[5:6], references, 10, 1)
    np.testing.assert_array_equal(alone.positions[0], found.positions[5])


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e150])
def test_vectors_have_length_one_whatever_their_scale(scale):
    given = np.random.default_rng(1).normal(size=(9, 7)) * scale
    lengths = np.linalg.norm(normalize_vectors(round_vectors(given)).astype(np.float64), axis=1)
    np.testing.assert_allclose(lengths, 1.0, atol=1e-6)
