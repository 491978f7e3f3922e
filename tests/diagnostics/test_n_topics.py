import numpy as np
import pytest

from anchorless._diagnostics.n_topics import (
    DirectionScorer,
    DirectionScores,
    count_large_eigenvalues,
    describe_classes,
    find_directions,
    score_directions,
    suggest,
)
from anchorless.datasets import sampled_corpus


def scores(n_documents, n_topics, seed, n_words=300):
    counts = sampled_corpus(n_documents, n_topics, n_words, random_state=seed).counts
    return score_directions(counts, 20, np.random.default_rng(seed))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_topics", [3, 6])
def test_planted_number_or_none(n_topics, seed):
    assert scores(1500, n_topics, seed, 150).n_clear in (n_topics, None)


def test_planted_number_is_mostly_found():
    assert sum(scores(2500, 4, seed, 150).n_clear == 4 for seed in range(4)) >= 3


def test_one_distribution_for_all_documents_has_one_direction():
    for seed in range(2):
        rng = np.random.default_rng(seed)
        counts = rng.multinomial(80, rng.dirichlet(np.ones(60)), size=500)
        found = score_directions(counts, 10, rng)
        assert found.n_clear in (1, None)
        assert np.all(found.scores[1:] < 5.5)


def test_few_documents_or_no_counts_have_no_scores():
    assert score_directions(np.ones((50, 10)), 2, np.random.default_rng(0)) is None
    assert score_directions(np.full((200, 10), 0.5), 2, np.random.default_rng(0)) is None


def test_step_between_eigenvalues_is_counted():
    slope = 0.2 * np.arange(1, 60) ** -0.1
    assert count_large_eigenvalues(np.concatenate([[1, 0.8, 0.7, 0.6], slope])) == 4
    assert count_large_eigenvalues(np.concatenate([np.linspace(1, 0.6, 15), slope])) == 15
    assert count_large_eigenvalues(np.array([1.0, 0.5])) is None


def test_suggestion_says_cannot_tell():
    none = suggest(None, np.array([1.0, 0.1, 0.05]), 2, 5)
    assert none.n_topics is None
    assert none.reason.startswith("cannot tell")
    four = make_scores([90.0, 80, 70, 60, 0, 0, 0, 0, 0], last=10)
    beyond = suggest(four, np.ones(3), 2, 3)
    assert beyond.n_topics is None
    assert suggest(four, np.ones(3), 2, 5).n_topics == 4
    unclear = suggest(make_scores([90.0, 80, 70, 4, 3, 2, 2, 2, 2], last=10), np.array([1, 0.1]), 2, 5)
    assert "about 3 patterns of words that occur together are" in unclear.reason
    one = suggest(make_scores([90.0, 4, 3, 2, 2, 2, 2, 2, 2], last=10), np.array([1, 0.1]), 2, 5)
    assert "about 1 pattern of words that occur together is found again" in one.reason
    hidden = suggest(make_scores([90.0, 80, 70, 60, 0, 0, 0, 0, 0], last=1.9), np.array([1, 0.1]), 2, 5)
    assert hidden.n_topics is None
    assert "could be hidden" in hidden.reason


def make_scores(scores, last):
    """Directions with these scores, all `last` times as strong as the weakest that could be seen."""
    return DirectionScores(np.array(scores), np.full(len(scores), float(last)), np.full(len(scores), 2.0))


@pytest.mark.parametrize("seed", range(2))
def test_block_finds_the_directions_of_a_full_decomposition(seed):
    X = sampled_corpus(1500, 4, 150, random_state=seed).counts
    scale = np.maximum(np.asarray(X.sum(axis=0)).ravel(), 1) ** -0.5
    H = X.toarray()
    n = H.sum(axis=1)
    pairs = np.einsum("dv,dw,d->vw", H, H, 1 / (n * (n - 1))) - np.diag((H / (n * (n - 1))[:, None]).sum(axis=0))
    values, vectors = np.linalg.eigh(np.outer(scale, scale) * pairs / len(H))
    own, U = find_directions(X, scale, 12, np.random.default_rng(seed))
    np.testing.assert_allclose(own[:4], values[::-1][:4], rtol=1e-6)
    assert np.linalg.svd(U[:, :4].T @ vectors[:, -4:], compute_uv=False).min() > 1 - 1e-4


@pytest.mark.parametrize("power", [0.05, 0.1, 0.2])
def test_one_class_more_is_one_eigenvalue_more(power):
    """A reference that jumps from place 20 to 40 made 11 classes 16."""
    slope = np.arange(1.0, 100.0) ** -power
    for n in range(2, 30):
        assert count_large_eigenvalues(np.concatenate([np.linspace(6, 3, n), slope])) == n


def test_no_step_is_no_number():
    assert count_large_eigenvalues(0.9 ** np.arange(80.0)) is None


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_left_to_directions_after_the_last(seed):
    """Noise with a little of every topic in it shows the topics, until they are subtracted."""
    rng = np.random.default_rng(seed)
    sampled = sampled_corpus(3000, 4, 200, random_state=seed)
    topics = find_directions(sampled.counts, np.ones(200), 4, rng)[1]
    noise = rng.standard_normal((200, 10)) / np.sqrt(200) + topics @ rng.uniform(0.1, 0.3, (4, 10))
    scorer = DirectionScorer(sampled.counts, np.hstack([topics, noise]), np.ones(14))
    seen, left = scorer.score_increments(0)[0][4:], scorer.score_increments(4)[0][4:]
    assert seen.min() > 5
    assert left.max() < 3.5
    assert left.sum() < 2.5 * np.sqrt(len(left))


def test_a_hidden_topic_raises_all_that_follow():
    raised = make_scores([90.0, 80, 70, 60, 0, 0, 0, 0, 0, *[1.5] * 12], last=10)
    assert not raised.is_rest_noise
    assert make_scores([90.0, 80, 70, 60, 0, 0, 0, 0, 0, *[0.5, -0.5] * 6], last=10).is_rest_noise


def test_the_margin_of_the_last_depends_on_the_steps_before():
    own = np.full(9, 2.0)
    scores = np.array([90.0, 80, 70, 60, 0, 0, 0, 0, 0])
    even = DirectionScores(scores, np.array([9.0, 3, 2.9, 2.8, 0, 0, 0, 0, 0]), own)
    steep = DirectionScores(scores, np.array([9.0, 7, 4.5, 2.8, 0, 0, 0, 0, 0]), own)
    assert even.margin == steep.margin
    assert even.n_clear == 4
    assert steep.n_clear is None


def test_fewer_classes_than_the_numbers_compared_suggest_none_of_them():
    eigenvalues = np.array([1.0, 0.9, 0.8, *np.full(40, 0.1)])
    assert suggest(None, eigenvalues, 2, 10).n_topics == 3
    assert suggest(None, eigenvalues, 2, 10).is_of_classes
    found = suggest(None, eigenvalues, 5, 10)
    assert found.n_topics is None
    assert found.beyond is None
    assert "3 separate classes" in found.reason
    assert "1 separate" not in describe_classes(1)
    assert suggest(None, eigenvalues, 1, 2).beyond == 3
