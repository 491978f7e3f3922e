import numpy as np
import pytest

from anchorless._core.seed_matches import match_seeds, measure_evidence, score_topics
from anchorless._core.token_model import TokenTopics
from anchorless._corpus.given_counts import validate_documents
from anchorless.datasets import draw_counts


@pytest.fixture(scope="module")
def drawn():
    """Four topics over 80 words; words 0 to 39 are used by all of them alike, the others by one each."""
    rng = np.random.default_rng(0)
    phi = np.zeros((4, 80))
    phi[:, :40] = 1.0
    for k in range(4):
        phi[k, 40 + 10 * k : 50 + 10 * k] = np.linspace(8.0, 4.0, 10)
    phi /= phi.sum(axis=1, keepdims=True)
    theta = rng.dirichlet(np.full(4, 0.3), 1500)
    counts = validate_documents(draw_counts(phi, theta, np.full(1500, 40), rng), "X")
    return counts, TokenTopics(phi, np.full(4, 0.3), np.full(4, 0.25))


def test_true_words_are_supported_and_words_of_two_topics_or_of_all_are_not(drawn):
    counts, topics = drawn
    found = match_seeds(counts, topics, [[63, 61], [41, 45], [53, 73], [2, 7]], 1).seeds
    assert [match.is_supported for match in found] == [True, True, False, False]
    assert [match.topic for match in found[:2]] == [2, 0]
    assert set(found[0].accepted) == {61, 63}
    assert found[2].weak or found[2].unconfirmed


def test_a_topic_that_has_a_word_by_force_is_no_evidence_for_it(drawn):
    """Topics with a boosted word that the documents of the topic do not have: only the word itself speaks for it."""
    counts, topics = drawn
    forced = topics.topic_word.copy()
    forced[0, 55] = 0.2
    forced /= forced.sum(axis=1, keepdims=True)
    match = match_seeds(counts, topics._replace(topic_word=forced), [[41, 55]], 1).seeds[0]
    assert match.topic == 0
    assert match.unconfirmed == (55,)
    assert not match.is_supported


def test_evidence_does_not_depend_on_threads_and_is_large_for_words_of_the_topic_only(drawn):
    counts, topics = drawn
    seeds = [[40, 41, 2], [60, 55]]
    one, two = (measure_evidence(counts, topics, seeds, [0, 2], n) for n in (1, 2))
    for first, second in zip(one, two, strict=True):
        np.testing.assert_array_equal(first, second)
    assert (one[0][:2] > 5).all()
    assert one[1][0] > 5
    assert one[0][2] < 3
    assert one[1][1] < 0


def test_a_single_word_belongs_to_the_topic_with_most_of_its_tokens(drawn):
    topics = drawn[1]._replace(shares=np.array([0.7, 0.1, 0.1, 0.1]))
    assert score_topics(topics, [2]).argmax() == 0
    assert score_topics(topics, [55]).argmax() == 1
