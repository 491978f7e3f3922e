import numpy as np
import pytest
import scipy.sparse as sp

from anchorless._core import token_model, token_splits, token_sweeps
from anchorless._core.token_mixtures import predict_halves, split_tokens
from anchorless._core.token_model import fit_token_topics
from anchorless._core.token_sweeps import Sweeps, TopicCounts, sweep
from anchorless._core.token_trials import compute_alpha
from anchorless._core.word_prior import WORD_SHAPE, WordPrior
from anchorless._corpus.disk.documents import store_blocks
from anchorless._corpus.documents import Documents
from anchorless.datasets import draw_counts, planted_topics, sampled_corpus
from anchorless.metrics import match_topics
from tests.helpers.tolerances import ROUNDING


@pytest.fixture(scope="module")
def corpus():
    return sampled_corpus(1500, n_topics=4, n_words=150, length=50, random_state=4)


def blur(components):
    return 0.6 * components + 0.4 * components.mean(axis=0)


def random_state(rng, N=30, V=20, F=3):
    X = sp.csr_matrix(rng.poisson(0.5, (N, V)).astype(float))
    return X, TopicCounts(rng.uniform(0.5, 5, (V, F)), np.column_stack([rng.uniform(0.5, 4, (N, F)), np.ones(N)]))


def test_a_sweep_is_what_its_formula_says_token_by_token():
    X, state = random_state(np.random.default_rng(0))
    p = np.asarray(X.sum(axis=0)).ravel() / X.sum()
    phi, alpha = WordPrior(state.words, p).compute_phi(), compute_alpha(state.words, 2.0)
    words, documents = np.zeros_like(state.words), np.zeros((30, 3))
    for d, v in zip(*X.nonzero(), strict=True):
        A, B, per_token = state.documents[d, :3] + alpha, phi[v], phi[v] / (state.words[v] + WORD_SHAPE)
        R = A * B / (A @ B)
        A, B = np.maximum(A - R, 0.5 * alpha), np.maximum(B - R * per_token, WORD_SHAPE * per_token)
        R = X[d, v] * A * B / (A @ B)
        words[v] += R
        documents[d] += R
    found = sweep(Documents([X[:11], X[11:]]), state, p, 2.0, smooth=False, n_threads=2)
    np.testing.assert_allclose(found.words, words, rtol=1e-10)
    np.testing.assert_allclose(found.documents[:, :3], documents, rtol=1e-10, atol=1e-14)


def test_every_token_is_given_to_topics_exactly_once():
    X, state = random_state(np.random.default_rng(1))
    p = np.asarray(X.sum(axis=0)).ravel() / X.sum()
    found = sweep(Documents([X]), state, p, 1.0, smooth=True, n_threads=1)
    np.testing.assert_allclose(found.words.sum(axis=1), np.asarray(X.sum(axis=0)).ravel(), rtol=ROUNDING)
    np.testing.assert_allclose(found.documents[:, :3].sum(axis=1), np.asarray(X.sum(axis=1)).ravel(), rtol=ROUNDING)


def test_documents_of_weight_zero_do_not_change_the_topics():
    X, state = random_state(np.random.default_rng(2))
    p = np.asarray(X.sum(axis=0)).ravel() / X.sum()
    state.documents[7:, -1] = 0.0
    whole = TopicCounts(state.words, state.documents.copy())
    found = sweep(Documents([X]), whole, p, 1.0, smooth=False, n_threads=1)
    part = TopicCounts(state.words, state.documents[:7].copy())
    alone = sweep(Documents([X[:7]]), part, p, 1.0, smooth=False, n_threads=1)
    np.testing.assert_allclose(found.words, alone.words, rtol=1e-10)


def test_words_without_a_token_have_probability_zero_and_rare_ones_stay_near_their_frequency():
    words = np.array([[50.0, 0.0], [1.0, 0.0], [0.0, 0.0], [49.0, 100.0]])
    p = np.array([0.25, 0.005, 0.0, 0.745])
    phi = WordPrior(words, p).compute_phi()
    np.testing.assert_allclose(phi.sum(axis=0), 1.0, rtol=ROUNDING)
    np.testing.assert_array_equal(phi[2], 0.0)
    assert 0.0 < phi[1, 1] < 0.005 < phi[1, 0]


@pytest.mark.kernels
def test_sweeps_find_the_planted_topics_from_blurred_ones(corpus):
    found, is_new, _ = fit_token_topics(Documents.from_matrix(corpus.counts), blur(corpus.components), 2)
    assert not is_new.any()
    before = abs(blur(corpus.components) - corpus.components).sum(axis=1).mean()
    order = match_topics(corpus.components, found.topic_word)[1]
    assert abs(found.topic_word[order] - corpus.components).sum(axis=1).mean() < 0.6 * before
    np.testing.assert_allclose(found.topic_word.sum(axis=1), 1.0, rtol=ROUNDING)
    assert abs(found.shares[order] - corpus.weights.mean(axis=0)).sum() < 0.1


@pytest.mark.kernels
def test_threads_change_no_bit_and_storage_nothing_but_rounding(corpus, tmp_path):
    documents, start = Documents.from_matrix(corpus.counts, 400), blur(corpus.components)
    one, two = (fit_token_topics(documents, start, n)[0] for n in (1, 2))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)
    stored = store_blocks(tmp_path / "blocks", documents.blocks, 150)
    for a, b in zip(one, fit_token_topics(stored, start, 2)[0], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def test_topics_in_another_order_give_the_same_topics_in_that_order(corpus):
    documents, start, order = Documents.from_matrix(corpus.counts), blur(corpus.components), [2, 0, 3, 1]
    one, two = (fit_token_topics(documents, topics, 1)[0] for topics in (start, start[order]))
    np.testing.assert_allclose(two.topic_word, one.topic_word[order], rtol=1e-6, atol=1e-10)


def test_halves_have_all_tokens_and_differ_by_at_most_one():
    X = sp.csr_matrix(np.random.default_rng(5).poisson(1.5, (20, 9)).astype(float))
    first, second = split_tokens(X)
    np.testing.assert_array_equal((first + second).toarray(), X.toarray())
    assert abs(first.sum() - second.sum()) <= 1


def test_the_true_topics_predict_half_of_a_document_better_than_blurred_ones(corpus):
    alpha = np.full(4, 0.5)
    true, blurred = (
        predict_halves(corpus.counts, np.ascontiguousarray(topics.T), alpha).sum()
        for topics in (corpus.components, blur(corpus.components))
    )
    assert true > blurred


def test_topics_of_a_handful_of_documents_do_not_merge():
    X = np.array([[1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 0]], dtype=float)
    start = np.array([[0.4, 0.4, 0.2, 0, 0, 0], [0, 0, 0, 0.4, 0.4, 0.2]])
    found = fit_token_topics(Documents([X]), start, 1)[0].topic_word
    assert found[0, :3].sum() > 0.9
    assert found[1, 3:].sum() > 0.9


def test_sweeps_end_when_the_topics_stop_changing(corpus):
    documents, start = Documents.from_matrix(corpus.counts), blur(corpus.components)
    p = np.asarray(corpus.counts.sum(axis=0)).ravel() / corpus.counts.sum()
    first = token_sweeps.start_counts(documents, start.T.copy(), np.full(4, 0.25), np.ones(1500), 1)
    sweeps = Sweeps(documents, p, 0.0 * start.T, 1)
    before = sweeps.run(first, 100, least_change=0.01)
    assert 1 < sweeps.n_done < 100
    after = sweep(documents, before, p, 1.0, smooth=False, n_threads=1)
    assert token_sweeps.measure_change(before.words, after.words) < 0.01


def test_the_change_of_topics_does_not_depend_on_their_sizes():
    words = np.array([[1.0, 6.0], [3.0, 2.0]])
    assert token_sweeps.measure_change(words, words * [5.0, 0.1]) == pytest.approx(0.0, abs=1e-15)
    assert token_sweeps.measure_change(words, words[::-1]) == pytest.approx(1.0)


def test_the_concentration_of_the_mixtures_comes_from_pairs_of_tokens():
    rng = np.random.default_rng(8)
    C = planted_topics(4, 80, random_state=8).components
    for size in (1.0, 4.0):
        theta = rng.dirichlet(size * np.array([0.1, 0.2, 0.3, 0.4]), 5000)
        documents = Documents.from_matrix(draw_counts(C, theta, np.full(5000, 20), rng))
        topics = token_model.TokenTopics(C, np.ones(4), theta.mean(axis=0))
        assert abs(token_model.estimate_concentration(documents, topics, 1) - size) < 0.15 * size
    few = Documents([np.eye(5)])
    topics = token_model.TokenTopics(np.full((2, 5), 0.2), np.ones(2), np.full(2, 0.5))
    assert token_model.estimate_concentration(few, topics, 1) == 0


def plant_merged_topics(seed):
    """Draw documents of 8 topics, and a start in which topics 0 and 1 are one, and topic 1 is a bit of all."""
    rng = np.random.default_rng(seed)
    C = planted_topics(8, 300, random_state=seed).components
    theta = rng.dirichlet(np.full(8, 0.15), 4000)
    X = draw_counts(C, theta, np.full(4000, 40), rng)
    start = C.copy()
    start[0], start[1] = (C[0] + C[1]) / 2, C.mean(axis=0)
    return C, Documents.from_matrix(X), start


@pytest.mark.parametrize("seed", [0, 1])
def test_a_topic_that_is_two_is_split_and_a_topic_that_is_none_is_given_up(seed, monkeypatch):
    C, documents, start = plant_merged_topics(seed)
    found, is_new, _ = fit_token_topics(documents, start, 2)
    np.testing.assert_array_equal(np.flatnonzero(is_new), [0, 1])
    order = match_topics(C, found.topic_word)[1]
    errors = abs(found.topic_word[order] - C).sum(axis=1)
    assert errors.max() < 0.5
    monkeypatch.setattr("anchorless._core.split_search.SPLIT_ROUNDS", 0)
    without, is_new, _ = fit_token_topics(documents, start, 2)
    assert not is_new.any()
    assert abs(without.topic_word[match_topics(C, without.topic_word)[1]] - C).sum(axis=1).max() > 0.6


def test_of_topics_that_may_be_two_the_one_stays_that_predicts_best(monkeypatch):
    """The topic that is two comes last among those that are tried."""
    _, documents, start = plant_merged_topics(0)
    measure = token_splits.measure_gaps

    def rank_last(*arguments):
        gaps, is_clear, parts = measure(*arguments)
        gaps = np.where(np.arange(len(gaps)) == 0, token_splits.MIN_GAP, token_splits.MIN_GAP + 1.0)
        gaps[4:] = 0.0
        return gaps, np.zeros_like(is_clear), parts

    monkeypatch.setattr(token_splits, "measure_gaps", rank_last)
    monkeypatch.setattr(token_splits, "MAX_TRIED", 4)
    is_new = fit_token_topics(documents, start, 2).is_new
    np.testing.assert_array_equal(np.flatnonzero(is_new), [0, 1])
    monkeypatch.setattr(token_splits, "MAX_TRIED", 1)
    assert not fit_token_topics(documents, start, 2).is_new.any()


def test_no_topic_is_split_where_all_are_right():
    C, documents, _ = plant_merged_topics(2)
    assert not fit_token_topics(documents, C, 2)[1].any()


def test_sweeps_use_up_the_counts_and_leave_those_of_a_copy(corpus):
    """The words of a copy are the same array: it must be replaced, not overwritten."""
    documents, start = Documents.from_matrix(corpus.counts), blur(corpus.components)
    p = np.asarray(corpus.counts.sum(axis=0)).ravel() / corpus.counts.sum()
    first = token_sweeps.start_counts(documents, start.T.copy(), np.full(4, 0.25), np.ones(1500), 1)
    copy, words, rows = token_sweeps.copy_counts(documents, first), first.words.copy(), first.documents.copy()
    state = Sweeps(documents, p, 0.0 * start.T, 1).run(first, 1)
    np.testing.assert_array_equal(copy.words, words)
    np.testing.assert_array_equal(copy.documents, rows)
    expected = sweep(documents, copy, p, 1.0, smooth=False, n_threads=1)
    np.testing.assert_array_equal(state.words, expected.words)
    np.testing.assert_array_equal(state.documents, expected.documents)


@pytest.mark.parametrize("is_sharp", [True, False])
def test_a_way_that_is_known_is_not_chosen_again(corpus, monkeypatch, is_sharp):
    """From topics that have been swept, both ways predict alike, and the smooth one would be taken."""
    seen = []
    monkeypatch.setattr(token_model, "compare_ways", lambda *_: pytest.fail("the way was chosen again"))
    fit_token_topics(
        Documents.from_matrix(corpus.counts),
        corpus.components,
        1,
        lambda _sweeps, _state, trial: seen.append(trial.is_sharp),
        is_sharp=is_sharp,
    )
    assert seen == [is_sharp]
