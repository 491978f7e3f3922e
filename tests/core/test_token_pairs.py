import numpy as np
import pytest
import scipy.sparse as sp

from anchorless._core import token_model
from anchorless._core.proportions import PairMoments
from anchorless._core.token_model import fit_token_topics
from anchorless._core.token_pairs import NO_PAIRS, PairPrior, choose_pairs, compute_sizes, find_pairs
from anchorless._core.token_sweeps import Sweeps, TopicCounts
from anchorless._core.token_trials import compute_alpha
from anchorless._core.word_prior import WORD_SHAPE, WordPrior
from anchorless._corpus.documents import Documents


def draw_short_corpus(seed, *, n_documents=3000, n_tokens=15, together=True):
    """Return documents of few tokens, where topics 0 and 1 of six may often appear together, topics and mixtures."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(300, 0.05), 6)
    mixtures = rng.dirichlet(np.full(6, 0.15), n_documents)
    if together:
        parts = rng.beta(4.0, 4.0, n_documents)
        both = mixtures[:, 0] + mixtures[:, 1]
        mixtures[:, 0], mixtures[:, 1] = both * parts, both * (1.0 - parts)
    X = sp.csr_matrix(rng.multinomial(n_tokens, mixtures @ topics).astype(float))
    return Documents.from_matrix(X), topics, mixtures


def make_state(rng, N=30, V=20, F=4):
    X = sp.csr_matrix(rng.poisson(0.5, (N, V)).astype(float))
    return X, TopicCounts(rng.uniform(0.5, 5, (V, F)), np.column_stack([rng.uniform(2.0, 4, (N, F)), np.ones(N)]))


def sweep_once(X, state, pairs):
    p = np.asarray(X.sum(axis=0)).ravel() / X.sum()
    sweeps = Sweeps(Documents([X[:11], X[11:]]), p, np.zeros_like(state.words), 1, 2.0)
    sweeps.pairs = pairs
    return sweeps.run(TopicCounts(state.words, state.documents.copy()), 1), p


def test_a_sweep_with_pairs_is_what_its_formula_says_token_by_token():
    X, state = make_state(np.random.default_rng(0))
    pairs = PairPrior(np.array([[3, 1]]), np.array([[0.7, 1.9]]))
    found, p = sweep_once(X, state, pairs)
    phi, alpha = WordPrior(state.words, p).compute_phi(), compute_alpha(state.words, 2.0)

    def weigh(n):
        A, both = n + alpha, n[3] + n[1]
        of_both = both + alpha[3] + alpha[1]
        A[3], A[1] = of_both * (n[3] + 0.7) / (both + 2.6), of_both * (n[1] + 1.9) / (both + 2.6)
        return A

    words, documents = np.zeros_like(state.words), np.zeros((30, 4))
    for d, v in zip(*X.nonzero(), strict=True):
        A, B, per_token = weigh(state.documents[d, :4].copy()), phi[v], phi[v] / (state.words[v] + WORD_SHAPE)
        R = A * B / (A @ B)
        A, B = weigh(state.documents[d, :4] - R), np.maximum(B - R * per_token, WORD_SHAPE * per_token)
        R = X[d, v] * A * B / (A @ B)
        words[v] += R
        documents[d] += R
    np.testing.assert_allclose(found.words, words, rtol=1e-10)
    np.testing.assert_allclose(found.documents[:, :4], documents, rtol=1e-10)


def test_a_pair_with_the_sizes_of_the_dirichlet_prior_changes_nothing():
    X, state = make_state(np.random.default_rng(1))
    alpha = compute_alpha(state.words, 2.0)
    pairs = PairPrior(np.array([[0, 2], [3, 1]]), alpha[[[0, 2], [3, 1]]])
    paired, alone = (sweep_once(X, state, prior)[0] for prior in (pairs, NO_PAIRS))
    np.testing.assert_allclose(paired.words, alone.words, rtol=1e-10)


def test_the_size_of_a_pair_is_that_of_the_distribution_of_its_parts():
    rng = np.random.default_rng(2)
    share, part = rng.beta(0.5, 2.0, 200_000), rng.beta(1.2, 2.8, 200_000)
    theta = np.column_stack([share * part, share * (1 - part), 1 - share])
    sizes = compute_sizes(theta.mean(axis=0), PairMoments(np.cov(theta.T), np.zeros((3, 3))))
    assert sizes[0, 1] == sizes[1, 0] == pytest.approx(4.0, rel=0.05)


def test_pairs_are_the_strongest_and_share_no_topic():
    strength = np.zeros((5, 5))
    for (j, k), value in {(0, 1): 0.3, (1, 2): 0.5, (3, 4): 0.1, (0, 4): 0.2}.items():
        strength[j, k] = strength[k, j] = value
    assert choose_pairs(strength).tolist() == [[1, 2], [0, 4]]
    assert choose_pairs(np.zeros((4, 4))).shape == (0, 2)


@pytest.mark.parametrize("together", [True, False])
def test_topics_that_appear_together_are_paired_and_no_others(together):
    found = []
    for seed in range(5):
        counts, topics, mixtures = draw_short_corpus(seed, together=together)
        alpha = 0.9 * mixtures.mean(axis=0)
        found += find_pairs(counts, 15 * mixtures, topics, alpha, 1).topics.tolist()
    assert found == ([[0, 1]] * 5 if together else [])


def test_too_few_documents_have_no_pairs():
    counts, topics, mixtures = draw_short_corpus(0, n_documents=90)
    assert not len(find_pairs(counts, 15 * mixtures, topics, np.full(6, 0.1), 1).topics)


def merge_topics(topics):
    """Return topics of which each two are almost the same mean of two."""
    means = (topics[:3] + topics[3:]) / 2
    return np.vstack([means, 0.999 * means + 0.001 * topics[3:]])


def measure_worst(topics, found):
    """Return the least cosine of topics with those that were found."""
    A, B = (C / np.linalg.norm(C, axis=1, keepdims=True) for C in (topics, found.topic_word))
    return (A @ B.T).max(axis=1).min()


def stay_sharp(monkeypatch):
    """Sweep sharply from any start, and split nothing."""
    monkeypatch.setattr("anchorless._core.split_search.SPLIT_ROUNDS", 0)
    monkeypatch.setattr(token_model, "compare_ways", lambda *arguments: (True, 1.0))


def test_a_start_that_predicts_better_is_taken_and_one_that_predicts_worse_is_not(monkeypatch):
    stay_sharp(monkeypatch)
    counts, topics, _ = draw_short_corpus(3)
    found, is_new, shown = fit_token_topics(counts, merge_topics(topics), 1, find_starts=lambda: [topics])
    assert is_new.all()
    np.testing.assert_array_equal(shown, topics)  # their words are shown, not those of the sweeps
    assert measure_worst(topics, found) > 0.9
    right, is_new, _ = fit_token_topics(counts, topics, 1)
    kept, *_ = fit_token_topics(counts, topics, 1, find_starts=lambda: [merge_topics(topics)])
    assert not is_new.any()
    np.testing.assert_array_equal(kept.topic_word, right.topic_word)


def test_of_a_start_with_more_topics_the_planted_ones_are_chosen(monkeypatch):
    stay_sharp(monkeypatch)
    counts, topics, _ = draw_short_corpus(4)
    more = np.vstack([topics[:3], topics.mean(axis=0), topics[3:], topics[::2].mean(axis=0)])
    found, *_ = fit_token_topics(counts, merge_topics(topics), 1, find_starts=lambda: [more])
    assert measure_worst(topics, found) > 0.9


def test_long_documents_have_one_start():
    counts, topics, _ = draw_short_corpus(5, n_documents=300, n_tokens=60)

    def refuse():
        raise AssertionError("documents are long")

    fit_token_topics(counts, topics, 1, find_starts=refuse)
