"""The map of topics: topics that are often together are close, and the layout is deterministic."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from anchorless._report.topic_map import (
    MAX_UNCROWDED_TOPICS,
    attract_groups,
    compute_layout,
    majorize_stress,
    order_topics,
    place_topics,
    select_drawn_pairs,
    select_links,
    select_strongest,
    to_association,
)


def random_association(n_topics: int, seed: int = 0) -> np.ndarray:
    return np.corrcoef(np.random.default_rng(seed).standard_normal((n_topics, n_topics + 2)))


def planted_groups() -> np.ndarray:
    R = np.full((9, 9), -0.3)
    for group in ([0, 3, 6], [1, 4, 7], [2, 5, 8]):
        R[np.ix_(group, group)] = 0.8
    np.fill_diagonal(R, 1.0)
    return R


def distances(X: np.ndarray) -> np.ndarray:
    return np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize("n_topics", [1, 2, 3, 12, 50])
def test_positions_fill_the_unit_square(n_topics):
    X = compute_layout(random_association(n_topics) if n_topics > 1 else [[1.0]])
    assert X.shape == (n_topics, 2)
    assert X.min() >= 0
    assert X.max() <= 1
    if n_topics > 2:
        assert_allclose(X.min(axis=0), 0, atol=1e-12)
        assert_allclose(X.max(axis=0), 1, atol=1e-12)


def test_planted_groups_are_close():
    D = distances(compute_layout(planted_groups()))
    together = planted_groups() > 0.5
    np.fill_diagonal(together, False)
    apart = planted_groups() < 0
    assert D[together].max() < D[apart].min()


def test_groups_are_close_however_weak_their_associations_are():
    """Associations are often below 0.1; the map shows which are the largest of them."""
    weak = 0.05 * planted_groups()
    np.fill_diagonal(weak, 1.0)
    D, together = distances(compute_layout(weak)), planted_groups() > 0.5
    np.fill_diagonal(together, False)
    assert D[together].max() < D[planted_groups() < 0].min()


def test_the_map_of_strong_associations_depends_on_their_ratios_only():
    A = np.clip(random_association(8), -0.9, 0.9)
    np.fill_diagonal(A, 0.0)
    assert_allclose(compute_layout(A / 2), compute_layout(A), atol=1e-9)


def test_two_topics_are_side_by_side():
    X = compute_layout([[1.0, 0.2], [0.2, 1.0]])
    assert_allclose(np.sort(X[:, 0]), [0, 1])
    assert_allclose(X[:, 1], 0.5)


@pytest.mark.parametrize("seed", range(5))
def test_no_step_raises_the_stress(seed):
    R = random_association(15, seed)
    distance = np.maximum(1 - R, 0.1)
    f, g = np.triu_indices(15, 1)

    def raw(X):
        return (((distances(X) - distance) / distance)[f, g] ** 2).sum()

    X = np.random.default_rng(seed).standard_normal((15, 2))
    course = [raw(X)]
    for _ in range(60):
        X = majorize_stress(X, distance)
        course.append(raw(X))
    assert (np.diff(course) <= 1e-12).all()
    assert course[-1] < 0.9 * course[0]


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0, -1.0])
def test_equal_associations_give_distinct_positions(value):
    R = np.full((12, 12), value)
    D = distances(compute_layout(R))
    assert D[np.triu_indices(12, 1)].min() > 0.05


def test_the_same_associations_give_the_same_map():
    R = random_association(20)
    assert_array_equal(compute_layout(R), compute_layout(R.tolist()))


def test_nan_counts_as_no_association():
    R = random_association(6)
    R[1, 4] = R[4, 1] = 0.0
    holes = R.copy()
    holes[1, 4] = holes[4, 1] = np.nan
    assert_array_equal(compute_layout(holes), compute_layout(R))
    assert np.isfinite(compute_layout(np.full((5, 5), np.nan))).all()


def test_to_association_symmetrizes_and_clips_a_copy():
    given = np.array([[0.5, 3.0], [-1.0, np.inf]])
    assert_array_equal(to_association(given), [[1.0, 0.0], [0.0, 1.0]])
    assert given[0, 1] == 3.0


@pytest.mark.parametrize("seed", range(4))
def test_each_topic_is_followed_by_the_closest_remaining_one(seed):
    R = np.round(random_association(9, seed), 1)  # rounded, so that there are ties
    order = order_topics(R)
    assert sorted(order) == list(range(9))
    assert order[0] == 0
    for i in range(8):
        left = sorted(order[i + 1 :])
        closest = max(R[order[i], g] for g in left)
        assert order[i + 1] == next(g for g in left if R[order[i], g] == closest)


def test_links_by_brute_force():
    R = random_association(12, 3)
    expected = set()
    for f, g in combinations(range(12), 2):
        for a, b in ((f, g), (g, f)):
            stronger = sum(R[a, c] > R[a, b] for c in range(12) if c != a)
            weaker = sum(R[a, c] < R[a, b] for c in range(12) if c != a)
            if (R[a, b] >= 0.01 and stronger < 2) or (R[a, b] <= -0.01 and weaker < 1):
                expected.add((f, g))
    assert select_links(R) == sorted(expected)


def test_ties_between_links_go_to_the_first_topics():
    R = np.full((5, 5), 0.4)
    assert select_strongest(R, 1, 0) == {(0, 1), (0, 2), (0, 3), (0, 4)}


def test_weak_associations_are_not_linked():
    assert select_links([[1, 0.009], [0.009, 1]]) == []
    assert select_links([[1, -0.009], [-0.009, 1]]) == []
    assert select_links([[1.0]]) == []


def test_a_crowded_map_has_one_line_per_topic_at_most():
    R = random_association(MAX_UNCROWDED_TOPICS + 1)
    links = select_links(R)
    assert len(links) <= len(R)
    assert all(R[f, g] > 0 for f, g in links)
    np.fill_diagonal(R, -1.0)
    strongest = {(min(f, g), max(f, g)) for f, g in enumerate(R.argmax(axis=1).tolist())}
    assert set(links) == strongest
    assert len(select_links(R[:-1, :-1])) > len(links)


def test_drawn_pairs_include_all_links_and_grow_with_the_topics_only():
    for n_topics in (20, 100):
        R = random_association(n_topics)
        drawn = select_drawn_pairs(R)
        assert drawn >= set(select_links(R))
        assert len(drawn) <= 8 * n_topics


def test_a_majorization_step_is_the_sum_over_pairs():
    """The products of matrices give what the definition gives, pair by pair."""
    X, d = np.random.default_rng(0).standard_normal((5, 2)), 2 - random_association(5)
    expected = np.empty_like(X)
    for f in range(5):
        others = [g for g in range(5) if g != f]
        targets = [X[g] + d[f, g] * (X[f] - X[g]) / np.linalg.norm(X[f] - X[g]) for g in others]
        expected[f] = (X[f] + np.average(targets, axis=0, weights=[d[f, g] ** -2 for g in others])) / 2
    assert_allclose(majorize_stress(X, d), expected, rtol=1e-12)


def test_topics_of_a_group_are_closer_to_each_other():
    R, groups = np.eye(12), [[0, 3, 6, 9], [1, 4, 7, 10], [2, 5, 8, 11]]
    X = compute_layout(attract_groups(R, groups))
    distance = np.linalg.norm(X[:, None] - X[None], axis=2) + np.diag(np.full(12, np.inf))
    assert [int(near) % 3 for near in distance.argmin(axis=1)] == [f % 3 for f in range(12)]
    assert_array_equal(attract_groups(R, []), R)


@pytest.mark.parametrize("n_topics", [2, 3, 4, 7, 12])
def test_unrelated_topics_stand_in_rows_apart_from_each_other(n_topics):
    X = place_topics(np.full((n_topics, n_topics), 0.004))
    n_columns = int(np.ceil(np.sqrt(n_topics)))
    assert len(np.unique(X[:, 0])) == n_columns
    assert len(np.unique(X[:, 1])) == -(-n_topics // n_columns)
    assert len(np.unique(X, axis=0)) == n_topics
    assert X.min() >= 0
    assert X.max() <= 1
    assert X[0].tolist() == [0.0, 0.0 if n_topics > 2 else 0.5]


def test_related_and_grouped_topics_stand_by_their_associations():
    R = np.eye(4)
    R[0, 1] = R[1, 0] = 0.5
    assert_array_equal(place_topics(R), compute_layout(R))
    assert_array_equal(place_topics(np.eye(4), [[0, 1]]), compute_layout(attract_groups(np.eye(4), [[0, 1]])))


def test_many_unrelated_topics_stand_as_their_weak_associations_say():
    R = 0.01 * random_association(13) / 2
    assert_array_equal(place_topics(R), compute_layout(attract_groups(R, [])))
