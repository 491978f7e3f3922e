import numpy as np
import pytest
import scipy.sparse as sp

from anchorless._core.seed_matches import match_seeds
from anchorless._core.seeds import SeededFit, build_joint_starts, build_start, count_pairs, find_near
from anchorless._core.token_model import TokenTopics
from anchorless._corpus.corpus import validate_documents
from anchorless.datasets import draw_counts


@pytest.fixture(scope="module")
def drawn():
    """Six topics; words 0 to 5 each lead two of them, and every two words at most one topic."""
    rng = np.random.default_rng(0)
    phi = np.full((6, 120), 1.0)
    for k in range(6):
        phi[k, 20 + 10 * k : 30 + 10 * k] = 4.0
        phi[k, [k, (k + 1) % 6]] = 12.0
    phi /= phi.sum(axis=1, keepdims=True)
    theta = rng.dirichlet(np.full(6, 0.15), 1500)
    return phi, draw_counts(phi, theta, np.full(1500, 40), rng)


def cosines(first, second):
    return (first @ second.T) / np.outer(np.linalg.norm(first, axis=1), np.linalg.norm(second, axis=1))


def test_pairs_of_tokens_of_different_words_are_counted():
    X = np.random.default_rng(1).integers(0, 4, (20, 3))
    expected = [sum(row[i] * row[j] for i in range(3) for j in range(i)) for row in X]
    np.testing.assert_array_equal(count_pairs(sp.csr_matrix(X)), expected)


def test_joint_starts_are_the_words_of_the_documents_with_both_words(drawn):
    _, X = drawn
    dense, seeds = X.toarray(), [[0, 1], [2, 3, 30]]
    p = dense.sum(axis=0) / dense.sum()
    starts = build_joint_starts(validate_documents(X, "X"), seeds, 1)
    for start, words in zip(starts, seeds, strict=True):
        lengths = dense.sum(axis=1)
        pairs = sum(dense[:, a] * dense[:, b] for a in words for b in words if a < b)
        mean = (pairs / (lengths * (lengths - 1))) @ dense
        rest = np.maximum(mean / mean.sum() - p / 2, 0.0)
        np.testing.assert_allclose(start, rest / rest.sum(), atol=1e-12)


def test_joint_starts_do_not_depend_on_threads_or_on_the_order_of_the_words(drawn):
    counts = validate_documents(drawn[1], "X")
    one, two = (build_joint_starts(counts, [[0, 1], [4, 5]], n) for n in (1, 2))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, build_joint_starts(counts, [[1, 0], [5, 4]], 1))


def test_two_words_that_each_lead_two_topics_start_the_topic_that_has_both(drawn):
    phi, X = drawn
    starts = build_joint_starts(validate_documents(X, "X"), [[k, (k + 1) % 6] for k in range(6)], 1)
    np.testing.assert_array_equal(cosines(starts, phi).argmax(axis=1), np.arange(6))


def test_a_seed_whose_topic_is_missing_starts_from_its_documents_and_the_others_from_their_topics(drawn):
    """The last topic is none: its place has the mean of all topics."""
    phi, X = drawn
    counts, seeds = validate_documents(X, "X"), [[k, (k + 1) % 6] for k in range(6)]
    first = np.vstack([phi[:5], phi.mean(axis=0)])
    topics = TokenTopics(first, np.full(6, 0.15), np.full(6, 1 / 6))
    before = SeededFit(topics, match_seeds(counts, topics, seeds, 1), first, None)
    own = build_joint_starts(counts, seeds, 1)
    near = find_near(before, range(6), own)
    assert {i: near[i] for i in range(5)} == {i: i for i in range(5)}
    near.pop(5, None)
    start, from_documents = build_start(counts, before, [*enumerate(seeds)], near, own, 1)
    assert from_documents == [5]
    np.testing.assert_allclose(start.sum(axis=1), 1.0)
    assert cosines(start[5:], phi).argmax() == 5
    assert cosines(start[5:], phi)[0, 5] > cosines(first[5:], phi)[0, 5]


def test_without_documents_a_seed_is_near_unless_its_words_are_much_higher_elsewhere(drawn):
    phi, X = drawn
    counts, seeds = validate_documents(X, "X"), [[0, 1], [1, 0]]  # both want the first topic
    phi = phi + np.linspace(0.0, 1e-3, 120)  # words that do not lead a topic are far apart in its order
    topics = TokenTopics(phi / phi.sum(axis=1, keepdims=True), np.full(6, 0.15), np.full(6, 1 / 6))
    before = SeededFit(topics, match_seeds(counts, topics, seeds, 1), phi, None)
    assert [*find_near(before, range(2), None).values()].count(0) == 1
    assert len(find_near(before, range(2), None)) == 1
