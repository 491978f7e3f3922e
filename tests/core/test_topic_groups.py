from itertools import chain, product

import numpy as np
import pytest

from anchorless._core.topic_groups import DOCUMENTS_AT_A_TIME, correlate_topics, group_topics, merge_groups, move_topics


def sum_within(R, groups):
    return sum(R[np.ix_(topics, topics)].sum() for topics in groups)


@pytest.mark.parametrize("seed", range(5))
def test_no_single_move_makes_the_sum_of_correlations_larger(seed):
    theta = np.random.default_rng(seed).dirichlet(np.full(9, 0.2), 400)
    R, groups = np.corrcoef(theta.T), group_topics(theta, 3)
    assert sorted(chain(*groups)) == [*range(9)]
    best = sum_within(R, groups)
    for topic, place in product(range(9), range(3)):
        moved = [[k for k in topics if k != topic] for topics in groups]
        moved[place].append(topic)
        assert not all(moved) or sum_within(R, moved) <= best + 1e-8


def test_moves_raise_the_sum_of_merged_groups():
    """Merges alone leave topics in the wrong group."""
    R = np.corrcoef(np.random.default_rng(3).standard_normal((30, 40)))
    first = merge_groups(R, 5)
    before, after = (
        sum_within(R, [np.flatnonzero(some == g) for g in range(5)]) for some in (first, move_topics(R, first))
    )
    assert after > before


def test_planted_blocks_are_found_whatever_the_order_of_topics():
    rng = np.random.default_rng(0)
    blocks = rng.dirichlet(np.full(4, 0.2), 1000)
    theta = np.column_stack([blocks[:, [g]] * rng.dirichlet([1.0, 1.0, 1.0], 1000) for g in range(4)])
    order = rng.permutation(12)
    groups = group_topics(theta[:, order], 4)
    assert {frozenset(order[topics] // 3) for topics in groups} == {frozenset([g]) for g in range(4)}


def test_correlations_are_summed_over_parts_and_a_constant_topic_has_none():
    theta = np.random.default_rng(2).dirichlet(np.ones(4), DOCUMENTS_AT_A_TIME + 10)
    np.testing.assert_allclose(correlate_topics(theta), np.corrcoef(theta.T), atol=1e-10)
    theta[:, 1] = 0.0
    R = correlate_topics(theta)
    assert not R[1].any()
    assert sorted(chain(*group_topics(theta, 2))) == [0, 1, 2, 3]
