import numpy as np
import pytest
import scipy.sparse as sp

from anchorless._core import token_trials
from anchorless._core.word_prior import DENSE_WORD_SHAPE, WORD_SHAPE, WordPrior
from anchorless._corpus.documents import Documents
from anchorless.datasets import draw_counts, sampled_corpus
from tests.core.test_token_model import blur
from tests.helpers.tolerances import ROUNDING


@pytest.fixture(scope="module")
def corpus():
    return sampled_corpus(1500, n_topics=4, n_words=150, length=50, random_state=4)


def test_few_documents_are_not_set_aside():
    documents = Documents.from_matrix(sp.csr_matrix(np.eye(6) + 1.0))
    assert token_trials.choose_trial_documents(documents, 1)[0] is None


@pytest.mark.parametrize("first", [0.25, 1.0, 64.0])
def test_the_search_finds_the_best_concentration_of_all_powers_of_two(corpus, first):
    words, p = 1e4 * corpus.components.T, np.asarray(corpus.counts.sum(axis=0)).ravel() / corpus.counts.sum()
    trial, powers = token_trials.Trial(corpus.counts[:100]), 2.0 ** np.arange(-5, 8)
    phi = WordPrior(words, p).compute_phi()
    scores = [token_trials.score_documents(trial, words, phi, c).sum() for c in powers]
    best, found = token_trials.predict_best(trial, words, p, first)
    assert best == powers[np.argmax(scores)]
    assert found.sum() == max(scores)


def test_a_background_is_tried_together_with_the_concentration(corpus):
    p = np.asarray(corpus.counts.sum(axis=0)).ravel() / corpus.counts.sum()
    unsure = corpus.components.copy()
    unsure[:, ::3] = np.random.default_rng(0).permuted(unsure[:, ::3], axis=0)  # every third word is of another topic
    trial = token_trials.Trial(corpus.counts[:200], 1)
    words = 1e4 * unsure.T
    sharp, mixed = (WordPrior(words, p).compute_phi(part) for part in (0.0, token_trials.BACKGROUND_PARTS[0]))
    np.testing.assert_allclose(mixed, sharp + token_trials.BACKGROUND_PARTS[0] * (p[:, None] - sharp), rtol=ROUNDING)
    alone, without = token_trials.search_concentration(trial, words, sharp, 1.0)
    best, scores = token_trials.predict_best(trial, words, p, 1.0)
    later = token_trials.score_documents(trial, words, mixed, alone)
    assert best == alone
    assert scores.sum() > max(without.sum(), later.sum())  # a large α0 alone stands in for the background


def test_smooth_topics_are_kept_where_sharp_ones_do_not_predict_better(corpus):
    p = np.asarray(corpus.counts.sum(axis=0)).ravel() / corpus.counts.sum()
    true, blurred = (1e4 * C.T for C in (corpus.components, blur(corpus.components)))
    assert token_trials.compare_ways(token_trials.Trial(corpus.counts[:200]), blurred, true, p)[0]
    assert not token_trials.compare_ways(token_trials.Trial(corpus.counts[:200]), true, blurred, p)[0]
    assert not token_trials.compare_ways(token_trials.Trial(corpus.counts[:200]), true, true, p)[0]


@pytest.mark.parametrize(("spread", "shape"), [(1.5, DENSE_WORD_SHAPE), (4.0, WORD_SHAPE)])
def test_the_shape_of_the_words_is_that_of_the_topics(spread, shape):
    """Topics have every word, by factors of lognormal spread: the larger it is, the fewer words they really have."""
    rng = np.random.default_rng(0)
    C = np.exp(spread * rng.standard_normal((5, 600))) / (np.arange(600) + 2.7)
    C /= C.sum(axis=1, keepdims=True)
    theta = rng.dirichlet(np.full(5, 0.3), 400)
    trial = token_trials.Trial(sp.csr_matrix(draw_counts(C, theta, np.full(400, 60), rng), dtype=np.float64))
    words = np.array([rng.multinomial(2000, c) for c in C]).T.astype(float)  # few tokens, so that the prior matters
    assert token_trials.choose_shape(trial, words, C.mean(axis=0), 1.5) == shape
