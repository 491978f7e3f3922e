import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from anchorless._core import neighbor_groups
from anchorless._core.neighbor_groups import (
    CENTER_ROUNDS,
    N_GROUP_AXES,
    find_group_centers,
    group_references,
    match_topics,
    start_from_groups,
)
from anchorless._core.neighbor_prior import N_NEIGHBORS, UNUSED, HalfPrediction, NeighborChoice
from anchorless._core.neighbor_topics import WordScores, build_graph, choose_start
from anchorless._core.neighbors import round_vectors
from anchorless._core.token_model import TrialTopics
from anchorless._core.token_sweeps import Sweeps, TopicCounts
from anchorless._core.token_trials import Trial
from anchorless._corpus.documents import Documents

F, WORDS = 4, 400


@pytest.fixture(scope="module")
def planted():
    """Documents of four words about one topic each: the topic, rounded vectors that know it, and the counts."""
    rng = np.random.default_rng(4)
    topic = rng.integers(F, size=900)
    vectors = np.eye(F)[topic] @ rng.normal(size=(F, 12)) + rng.normal(scale=0.6, size=(900, 12))
    words = WORDS // F * topic[:, None] + rng.integers(WORDS // F, size=(900, 4))
    X = sp.csr_matrix((np.ones(3600), words.ravel(), np.arange(0, 3601, 4)), shape=(900, WORDS))
    X.sum_duplicates()
    return topic, round_vectors(vectors), X


def group_plainly(vectors, weights):
    """Group vectors by k-means from weights, one vector at a time."""
    groups = None
    for _ in range(CENTER_ROUNDS + 1):
        if groups is not None:
            weights = np.array([[float(group == k) for k in range(F)] for group in groups])
        sums = [sum(w * v for w, v in zip(weights[:, k], vectors, strict=True)) for k in range(F)]
        centers = [total / np.linalg.norm(total) for total in sums]
        groups = [int(np.argmax([center @ v for center in centers])) for v in vectors]
    return groups


def test_groups_are_those_of_plain_loops():
    rng = np.random.default_rng(0)
    vectors, weights = round_vectors(rng.normal(size=(300, 70))), rng.dirichlet(np.ones(F), 300)
    expected = group_plainly(vectors.astype(np.float64)[:, :N_GROUP_AXES], weights)
    np.testing.assert_array_equal(group_references(vectors, weights, 1), match_topics(np.array(expected), weights))


def test_groups_belong_to_the_topics_they_began_with(planted, monkeypatch):
    topic, vectors, _ = planted
    rng = np.random.default_rng(1)
    weights = 0.3 * np.eye(F)[topic] + rng.dirichlet(np.ones(F), 900)
    assert np.mean(weights.argmax(axis=1) == topic) < 0.7
    groups = group_references(vectors, weights, 1)
    assert np.mean(groups == topic) > 0.9
    monkeypatch.setattr(neighbor_groups, "ROWS_AT_A_TIME", 100)
    np.testing.assert_array_equal(group_references(vectors, weights, 2), groups)
    monkeypatch.setattr(neighbor_groups, "MAX_SAMPLED", 300)  # centers of every third reference
    assert np.mean(group_references(vectors, weights, 1) == topic) > 0.9
    assert len(group_references(vectors[:0], weights[:0], 1)) == 0


def test_each_topic_gets_the_group_with_which_it_has_most_in_common():
    rng = np.random.default_rng(6)
    groups, weights = rng.integers(F, size=50), rng.dirichlet(np.full(F, 0.5), 50)
    found = match_topics(groups, weights)

    def add_up(order):
        return sum(weights[d, order[group]] for d, group in enumerate(groups))

    best = max(itertools.permutations(range(F)), key=add_up)
    np.testing.assert_array_equal(found, np.array(best)[groups])
    assert not np.array_equal(found, groups)


def test_a_center_without_a_document_stays_where_it_was():
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 2.0]])
    weights = np.array([[1.0, 0.5, 0.0], [0.0, 0.5, 1.0], [0.0, 0.0, 1.0]])
    centers = find_group_centers(vectors, weights)
    np.testing.assert_allclose(centers[1], np.sqrt(0.5))


def test_documents_start_in_the_topic_of_their_group(planted):
    X = planted[-1]
    state = draw_state(X)
    before = state.words.copy(), state.documents.copy()
    sweeps = Sweeps(Documents([X[:500], X[500:]]), np.full(WORDS, 1 / WORDS), np.full((WORDS, F), 0.1), 2)
    # Documents 2r and 2r + 1 have the embedding of reference r; the last hundred have none.
    members = sp.csr_matrix((np.full(800, 0.5), (np.arange(800) // 2, np.arange(800))), shape=(400, 900))
    groups = np.arange(400) % F
    found = start_from_groups(sweeps, state, members, groups, np.zeros((900, 2 * F + 1)))
    np.testing.assert_array_equal(found.documents[:800, :F], 4.0 * np.eye(F)[np.repeat(groups, 2)])
    np.testing.assert_array_equal(found.documents[800:, : F + 1], state.documents[800:])
    shares = found.documents[:, :F] / 4.0 * state.documents[:, F:]
    np.testing.assert_allclose(found.words, X.T @ shares + 0.1)
    np.testing.assert_array_equal(state.words, before[0])
    np.testing.assert_array_equal(state.documents, before[1])


def draw_state(X, topic=None):
    """Return counts by words that know the topic of each document, or nothing; every ninth document is set aside."""
    shares = np.full((900, F), 1 / F) if topic is None else 0.9 * np.eye(F)[topic] + 0.1 / F
    weights = (np.arange(900) % 9 > 0).astype(float)
    return TopicCounts(X.T @ (shares * weights[:, None]) + 0.1, np.column_stack([4.0 * shares, weights]))


@pytest.mark.parametrize("choice", [UNUSED, NeighborChoice(N_NEIGHBORS, 4.0)])
@pytest.mark.parametrize("informed", ["words", "embeddings"])
def test_the_start_is_the_one_that_predicts(planted, informed, choice):
    topic, vectors, X = planted
    rng = np.random.default_rng(2)
    state = draw_state(X, topic if informed == "words" else None)
    if informed == "words":
        vectors = round_vectors(rng.normal(size=(900, 12)))
        near = rng.integers(900, size=(900, N_NEIGHBORS))
    else:
        state.documents[:, :F] = 4.0 * (0.1 * np.eye(F)[topic] + 0.9 / F)  # which group is which topic, and no more
        near = np.array([rng.choice(np.flatnonzero(topic == k), N_NEIGHBORS) for k in topic])
    aside = np.flatnonzero(state.documents[:, F] == 0.0)
    topics = TrialTopics(Trial(X[aside]), aside, state.words, np.full(WORDS, 1 / WORDS), 1.0)
    graph = build_graph(near, near, vectors, sp.csr_matrix(sp.eye(900)))
    sweeps = Sweeps(Documents([X]), topics.p, np.full((WORDS, F), 0.1), 1)
    without = HalfPrediction(topics).without
    found, start = choose_start(sweeps, state, topics, graph, WordScores(choice, without, without))
    if choice.n_tokens or informed == "words":
        assert found == choice
    else:
        assert found.n_tokens > 0
        assert found.gain > 0.0
    if informed == "words":
        assert start.words is state.words
        np.testing.assert_array_equal(start.documents[:, : F + 1], state.documents)
    else:
        assert np.mean(start.documents[:, :F].argmax(axis=1) == topic) > 0.9
