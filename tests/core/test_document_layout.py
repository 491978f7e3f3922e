import numpy as np
import pytest

from anchorless._core import neighbors
from anchorless._core.document_layout import (
    N_NEIGHBORS,
    connect_neighbors,
    find_nearest,
    find_start,
    lay_out_documents,
    scale_to_square,
)
from anchorless._core.layout_kernels import spread_documents


def make_clusters(n=300, n_clusters=6, seed=0):
    """Return vectors in clusters, and the cluster of each."""
    rng = np.random.default_rng(seed)
    own = np.arange(n) % n_clusters
    return rng.normal(size=(n_clusters, 12))[own] + 0.3 * rng.normal(size=(n, 12)), own


def list_neighbors(X, k):
    distance = np.linalg.norm(X[:, None] - X[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    return np.argsort(distance, axis=1, kind="stable")[:, :k]


@pytest.fixture(scope="module")
def clusters():
    X, own = make_clusters()
    return X, own, lay_out_documents(X)


def test_planted_clusters_are_neighbors_on_the_map(clusters):
    _, own, places = clusters
    assert (own[list_neighbors(places, 10)] == own[:, None]).mean() > 0.97


def test_neighbors_are_kept_better_than_by_the_two_main_directions(clusters):
    X, _, places = clusters
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    true = list_neighbors(X, 10)
    found, start = list_neighbors(places, 10), list_neighbors(find_start(X), 10)
    kept, kept_at_first = (sum(len({*a} & {*b}) for a, b in zip(true, some, strict=True)) for some in (found, start))
    assert kept > 1.25 * kept_at_first


def test_threads_and_lengths_of_vectors_change_no_bit(clusters):
    X, _, places = clusters
    np.testing.assert_array_equal(lay_out_documents(X, 3), places)
    np.testing.assert_array_equal(lay_out_documents(4.0 * X), places)


def test_rounding_errors_of_products_change_no_bit(clusters):
    X, _, places = clusters
    noise = 1 + 1e-15 * np.random.default_rng(1).standard_normal(X.shape)
    np.testing.assert_array_equal(lay_out_documents(X * noise), places)


def test_places_are_in_the_unit_square_and_equal_documents_do_not_coincide():
    X = np.vstack([make_clusters(60)[0], np.ones((40, 12))])
    places = lay_out_documents(X)
    assert places.min() >= 0
    assert places.max() <= 1
    assert len(np.unique(places, axis=0)) > 95
    assert len(np.unique(lay_out_documents(np.ones((30, 3))), axis=0)) > 25


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5])
def test_few_documents_have_finite_places(n):
    places = lay_out_documents(make_clusters(10)[0][:n])
    assert places.shape == (n, 2)
    assert np.isfinite(places).all()


def test_nearest_are_those_of_brute_force():
    X, _ = make_clusters(700)
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    near, distance = find_nearest(X, N_NEIGHBORS, 2)
    np.testing.assert_array_equal(near, list_neighbors(X, N_NEIGHBORS))
    np.testing.assert_allclose(distance, np.linalg.norm(X[:, None] - X[near], axis=2), atol=1e-5)  # rounded to float32


def test_copies_are_no_candidates(monkeypatch):
    """Otherwise each copy would be compared with all documents again."""
    widths, rank = [], neighbors.rank_part
    monkeypatch.setattr(neighbors, "rank_part", lambda *given: widths.append(given[2].shape[1]) or rank(*given))
    X = np.random.default_rng(0).random((300, 20))
    X[:200] = X[0]
    near, _ = find_nearest(X / np.linalg.norm(X, axis=1, keepdims=True), 8, 1)
    assert sum(width > 20 for width in widths) <= 100  # others may have equally near copies
    assert (near[:200] >= 200).all()


def test_weights_are_symmetric_sums_of_neighborhoods_of_equal_size():
    X, _ = make_clusters(200)
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    near, distance = find_nearest(X, 8, 1)
    rows, columns, weights = connect_neighbors(near, distance)
    assert (rows < columns).all()
    assert len({*zip(rows.tolist(), columns.tolist(), strict=True)}) == len(rows)
    assert {frozenset(pair) for pair in zip(rows.tolist(), columns.tolist(), strict=True)} == {
        frozenset((i, int(j))) for i in range(200) for j in near[i]
    }
    assert 0 < weights.min() <= weights.max() <= 1.0
    # The nearest neighbor of a document has the weight 1.
    weight = {frozenset(pair): w for *pair, w in zip(rows.tolist(), columns.tolist(), weights.tolist(), strict=True)}
    assert all(weight[frozenset((i, int(near[i, 0])))] == 1.0 for i in range(200))


def test_documents_are_spread_until_they_are_apart():
    places = 0.5 + 0.001 * np.random.default_rng(0).standard_normal((60, 2))
    spread_documents(places, 0.05, 500)
    distance = np.linalg.norm(places[:, None] - places[None], axis=2) + np.eye(60)
    assert distance.min() > 0.049
    apart = np.array([[0.1, 0.1], [0.5, 0.5], [0.9, 0.1]])
    before = apart.copy()
    spread_documents(apart, 0.05, 500)
    np.testing.assert_array_equal(apart, before)


def test_a_few_documents_far_away_do_not_shrink_the_others():
    places = np.random.default_rng(0).random((2000, 2))
    places[0] = 1e6
    found = scale_to_square(places)
    assert np.ptp(found[1:], axis=0).min() > 0.8
    np.testing.assert_array_equal(found[0], found.max(axis=0))
