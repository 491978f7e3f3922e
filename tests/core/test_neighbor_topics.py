import numpy as np
import pytest
import scipy.sparse as sp

from anchorless._core.neighbor_prior import (
    N_NEIGHBORS,
    NEIGHBOR_TOKENS,
    HalfPrediction,
    average_mixtures,
    sharpen_mixtures,
)
from anchorless._core.neighbor_topics import (
    GUIDED_SWEEPS,
    TOPIC_TOKENS,
    NeighborGraph,
    average_neighbors,
    build_graph,
    choose_guided,
    infer_mixtures,
    run_long_steps,
)
from anchorless._core.neighbors import round_vectors
from anchorless._core.token_model import TrialTopics
from anchorless._core.token_sweeps import Sweeps, TopicCounts, sweep
from anchorless._core.token_trials import Trial, compute_alpha
from anchorless._corpus.documents import Documents
from tests.core.test_token_model import random_state


def draw_graph(n_references=12, n_documents=15, k=3, seed=0):
    """Documents 12 and 13 have the embeddings of references 4 and 7, the last document has none."""
    rng = np.random.default_rng(seed)
    near = np.array([rng.permutation(np.delete(np.arange(n_references), r))[:k] for r in range(n_references)])
    near[2, 1:] = -1
    positions = np.vstack([near, near[[4, 7]], np.full((1, k), -1)]).astype(np.int32)
    reference = np.concatenate([np.arange(n_references), [4, 7]])
    weight = 1.0 / np.bincount(reference)[reference]
    members = sp.csr_matrix((weight, (reference, np.arange(n_documents - 1))), shape=(n_references, n_documents))
    vectors = round_vectors(rng.normal(size=(n_references, 6)))
    return build_graph(positions, near, vectors, members), near, reference


def test_neighbors_attract_along_both_directions():
    graph, near, reference = draw_graph()
    mixtures = np.random.default_rng(1).dirichlet(np.ones(4), 15)
    sharp = sharpen_mixtures(mixtures)
    of_references = np.array([sharp[:14][reference == r].mean(axis=0) for r in range(12)])
    for d in range(14):
        r = reference[d]
        linked = {s for s in range(12) if s in near[r] or r in near[s]}
        expected = TOPIC_TOKENS * of_references[sorted(linked)].mean(axis=0)
        np.testing.assert_allclose(graph.attract(mixtures)[d], expected, rtol=1e-6)  # in single precision
    np.testing.assert_array_equal(graph.attract(mixtures)[14], 0.0)


def test_a_sweep_with_neighbors_has_a_prior_for_each_document():
    X, state = random_state(np.random.default_rng(0))
    p = np.asarray(X.sum(axis=0)).ravel() / X.sum()
    alone = sweep(Documents([X]), TopicCounts(state.words, state.documents.copy()), p, 2.0, smooth=False, n_threads=1)
    rows = np.hstack([state.documents, np.ones((30, 3))])
    for size in (0.0, 1e12):
        sweeps = Sweeps(Documents([X[:11], X[11:]]), p, np.zeros_like(state.words), 2, 2.0)
        added = np.tile([0.0, size, 0.0], (30, 1))
        sweeps.attract = lambda mixtures, added=added: added
        found = sweeps.run(TopicCounts(state.words, rows.copy()), 1)
        if size:  # a prior that is sure of a topic gives it all tokens
            np.testing.assert_allclose(found.documents[:, 1], np.asarray(X.sum(axis=1)).ravel(), rtol=1e-6)
        else:
            np.testing.assert_allclose(found.words, alone.words, rtol=1e-12)
            np.testing.assert_array_equal(found.documents[:, :4], alone.documents)


@pytest.fixture(scope="module")
def trial():
    """Topics of six words each, and documents of one topic with half of their tokens of any."""
    rng = np.random.default_rng(5)
    topic = rng.integers(3, size=400)
    words = np.where(rng.random((400, 6)) < 0.5, 6 * topic[:, None], 6 * rng.integers(3, size=(400, 6)))
    words = words + rng.integers(6, size=(400, 6))
    X = sp.csr_matrix((np.ones(2400), words.ravel(), np.arange(0, 2401, 6)), shape=(400, 18))
    X.sum_duplicates()
    counts = np.kron(np.eye(3), np.full((6, 1), 200.0)) + 1.0
    return TrialTopics(Trial(X), np.arange(400), counts, np.full(18, 1 / 18), 1.0), topic


def test_tokens_of_neighbors_are_chosen_by_prediction(trial):
    topics, topic = trial
    prediction = HalfPrediction(topics)
    right, wrong = np.eye(3)[topic] * 0.6 + 0.4 / 3, np.eye(3)[(topic + 1) % 3] * 0.6 + 0.4 / 3
    choice = prediction.choose(right, prediction.without)
    scores = [prediction.score(right, tau) - prediction.without for tau in NEIGHBOR_TOKENS]
    assert choice.gain == pytest.approx(max(gain.sum() for gain in scores) / 1200)
    assert 0 < choice.n_tokens <= max(NEIGHBOR_TOKENS)
    assert prediction.tell_apart(right, choice.n_tokens)
    assert prediction.choose(wrong, prediction.without).n_tokens == 0
    assert not prediction.tell_apart(np.full((400, 3), 1 / 3), 4.0)


def test_sharpened_mixtures_keep_their_order_and_their_sum():
    mixtures = np.random.default_rng(0).dirichlet(np.ones(5), 50)
    found = sharpen_mixtures(np.vstack([mixtures, np.eye(5)[:1], np.zeros((1, 5))]))
    np.testing.assert_array_equal(found[:50].argsort(axis=1), mixtures.argsort(axis=1))
    np.testing.assert_allclose(found.sum(axis=1), np.append(np.ones(51), 0.0))
    assert np.all(found[:50].max(axis=1) > mixtures.max(axis=1))
    np.testing.assert_array_equal(found[50], np.eye(5)[0])


def test_neighbors_are_used_for_any_gain_if_they_differ_clearly_from_those_of_other_documents(trial, monkeypatch):
    topics, topic = trial
    prediction = HalfPrediction(topics)
    right = np.eye(3)[topic] * 0.6 + 0.4 / 3
    choice = prediction.choose(right, prediction.without)
    gain = (prediction.score(right, choice.n_tokens) - prediction.without).mean()
    assert gain > 0
    for part, is_used in ((0.99, True), (1.01, False)):  # what is left of the gain is below any standard error
        found = prediction.choose_clearly(right, prediction.without + part * gain)
        assert found.n_tokens == (choice.n_tokens if is_used else 0.0)
    monkeypatch.setattr(HalfPrediction, "tell_apart", lambda *given: False)
    assert prediction.choose_clearly(right, prediction.without).n_tokens == 0


@pytest.mark.parametrize(("part", "is_used"), [(0.0, True), (0.7, True), (1.0, False)])
def test_topics_that_neighbors_share_are_used_if_neighbors_predict_in_them(trial, part, is_used):
    topics, topic = trial
    sweeps = Sweeps(Documents([topics.trial.documents]), topics.p, np.zeros_like(topics.words), 1)
    alike = np.array([np.flatnonzero(topic == k)[:N_NEIGHBORS] for k in range(3)])[topic]
    members = sp.csr_matrix(sp.eye(400))
    graph = NeighborGraph(alike, None, members, members)
    # In topics that are all the same, neighbors predict nothing. In those nearly the same, they predict something, but
    # less than words alone do in topics of words.
    words = part * topics.words.mean() + (1.0 - part) * topics.words
    choice = choose_guided(sweeps, topics, graph, words)
    assert (choice.n_tokens > 0) == is_used
    if is_used:
        guided = HalfPrediction(topics._replace(words=words))
        means = average_neighbors(sweeps.tokens, members, alike, guided, 1)
        scores = guided.score(means, choice.n_tokens).sum()
        assert scores > guided.without.sum()
        assert (scores < HalfPrediction(topics).without.sum()) == (part > 0)


def test_means_of_some_neighbors_are_those_of_all_references(trial):
    topics, _ = trial
    prediction, X = HalfPrediction(topics), topics.trial.documents
    members = sp.csr_matrix((np.full(400, 0.5), (np.arange(400) // 2, np.arange(400))), shape=(200, 400))
    near = np.random.default_rng(0).integers(-1, 200, size=(9, N_NEIGHBORS))
    found = average_neighbors(Documents([X]), members, near, prediction, 2)
    alpha = compute_alpha(topics.words, topics.concentration)
    mixtures = members @ sharpen_mixtures(infer_mixtures(Documents([X[:111], X[111:]]), prediction.phi, alpha, 1))
    np.testing.assert_allclose(found, average_mixtures(mixtures, near, N_NEIGHBORS), rtol=1e-12)


def test_long_steps_end_where_sweeps_end(trial):
    topics, topic = trial
    X, rng = topics.trial.documents, np.random.default_rng(3)
    near = np.array([rng.choice(np.flatnonzero(topic == k), 5) for k in topic])
    graph = build_graph(near, near, None, sp.csr_matrix(sp.eye(400)))
    sweeps = Sweeps(Documents([X]), topics.p, np.full_like(topics.words, 0.1), 1)
    documents = np.hstack([np.full((400, 3), 2.0), np.ones((400, 1))])
    alone = sweeps.run(TopicCounts(topics.words, documents), 4)
    sweeps.attract = graph.attract

    def start():
        return TopicCounts(alone.words, np.hstack([alone.documents, np.zeros((400, 3))]))

    long = run_long_steps(sweeps, start(), smooth=False)
    np.testing.assert_allclose(long.words.sum(), X.sum() + sweeps.kept.sum())  # the last sweep counts each token once
    assert long.documents[:, :3].min() >= 0.0
    assert np.all(long.words >= sweeps.kept)
    for _ in range(9):
        long = run_long_steps(sweeps, long, smooth=False)
    np.testing.assert_allclose(long.words, sweeps.run(start(), 100).words, rtol=1e-9)


class LinearSweeps:
    """Sweeps that leave a part of the distance to ten."""

    def __init__(self, part):
        self.part, self.kept = part, 0.0

    def run(self, state, n, smooth):
        left = self.part**n
        return TopicCounts(10.0 + left * (state.words - 10.0), 10.0 + left * (state.documents - 10.0))


@pytest.mark.parametrize(("part", "n"), [(0.95, 10), (0.9, 10), (0.5, GUIDED_SWEEPS), (0.0, 1)])
def test_long_steps_are_ahead_of_sweeps_where_these_are_slow(part, n):
    start = TopicCounts(np.full((4, 2), 15.0), np.full((3, 5), 4.0))
    found, later = run_long_steps(LinearSweeps(part), start, smooth=True), LinearSweeps(part).run(start, n, smooth=True)
    for name in ("words", "documents"):
        ours, theirs = (abs(getattr(state, name)[:, :2] - 10.0) for state in (found, later))
        assert np.all(ours <= theirs)
