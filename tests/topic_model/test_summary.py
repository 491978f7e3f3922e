import numpy as np
import pytest
import scipy.sparse as sp

from anchorless._corpus.documents import Documents
from anchorless._topic_model.summary import (
    TopicFacts,
    are_related,
    build_topics,
    choose_topic_labels,
    compute_distinctiveness,
    compute_topic_facts,
    drop_related_words,
    find_leading_words,
    interleave,
    join_some,
    list_top_topics,
    rank_pairs,
    rank_representatives,
)
from anchorless.metrics import exclusivity, npmi
from tests.helpers.tolerances import ROUNDING

#: p(word | topic): not in the order of relevance, and no word is without probability.
P = np.array(
    [
        [0.2, 0.4, 0.1, 0.1, 0.1, 0.1],
        [0.1, 0.5, 0.1, 0.1, 0.1, 0.1],
    ]
)
WORDS = ["apple", "bread", "cheese", "dough", "egg", "flour"]
C = np.array(
    [
        [0.5, 0.3, 0.0, 0.2, 0.0, 0.0],
        [0.0, 0.4, 0.3, 0.0, 0.3, 0.0],
    ]
)


@pytest.fixture
def facts():
    return TopicFacts(["one", "two"], np.array([0.7, 0.3]), np.array([0.1, -0.2]), np.array([0.9, 0.8]))


@pytest.fixture
def shares():
    W = np.random.default_rng(0).dirichlet(np.full(4, 0.3), 60)
    W[7] = 0.0
    return W


def test_distinctiveness_is_the_part_of_the_words_relevance():
    special = compute_distinctiveness(C)
    np.testing.assert_allclose(special[:, 1], [3 / 7, 4 / 7], rtol=ROUNDING)
    np.testing.assert_allclose(special[:, :5].sum(axis=0), 1.0, rtol=ROUNDING)
    np.testing.assert_array_equal(special[:, 5], 0.0)  # no topic contains it


def test_exclusivity_is_the_mean_distinctiveness_of_leading_words():
    lead = np.argsort(-C, axis=1, kind="stable")[:, :2]
    mean = np.take_along_axis(compute_distinctiveness(C), lead, axis=1).mean(axis=1)
    np.testing.assert_allclose(exclusivity(C, 2), mean, rtol=ROUNDING)


def test_records_hold_the_leading_words_and_their_numbers(facts):
    first, second = build_topics(C, P, WORDS, facts, 10)
    assert first.words == ["apple", "bread", "dough"]  # by relevance; words of relevance 0 are not listed
    assert first.relevance == [0.5, 0.3, 0.2]
    assert first.probabilities == [0.2, 0.4, 0.1]
    np.testing.assert_allclose(first.distinctiveness, [1, 3 / 7, 1], rtol=ROUNDING)
    assert second.words == ["bread", "cheese", "egg"]  # equal ones in the order of the vocabulary
    assert (first.number, first.label, first.share, first.coherence, first.exclusivity) == (0, "one", 0.7, 0.1, 0.9)
    assert build_topics(C, P, WORDS, facts, 1)[1].words == ["bread"]


def test_words_at_rounding_level_are_neither_listed_nor_measured_nor_part_of_a_label(facts):
    """A component row with entries of 1e-17, which another BLAS kernel returns as 0, gives the same topics."""
    noisy = np.where(C == 0, 1e-17, C)
    assert [topic.words for topic in build_topics(noisy, P, WORDS, facts, 10)] == [
        topic.words for topic in build_topics(C, P, WORDS, facts, 10)
    ]
    assert choose_topic_labels(noisy, WORDS, 9) == choose_topic_labels(C, WORDS, 9)
    X = Documents([sp.csr_matrix(np.random.default_rng(0).poisson(0.7, (50, 6)))])
    measured, expected = (compute_topic_facts(topics, WORDS, np.array([0.5, 0.5]), X) for topics in (noisy, C))
    np.testing.assert_allclose(measured.coherence, expected.coherence, rtol=ROUNDING)
    np.testing.assert_allclose(measured.exclusivity, expected.exclusivity, rtol=ROUNDING)


def test_rare_words_are_listed(facts):
    rare = C + 1e-9
    assert len(build_topics(rare, P, WORDS, facts, 10)[0].words) == 6


def test_records_are_plain_values(facts):
    topic = build_topics(C, P, WORDS, facts, 2)[0]
    numbers = [topic.share, topic.coherence, topic.exclusivity]
    numbers += [*topic.probabilities, *topic.relevance, *topic.distinctiveness]
    assert {type(number) for number in numbers} == {float}
    assert type(topic.number) is int


def test_a_label_prefers_words_that_other_topics_lack():
    assert choose_topic_labels(C, WORDS, 2) == [
        "apple dough",
        "cheese egg",
    ]  # bread is in both, though it leads topic 1
    assert choose_topic_labels(C, WORDS, 9)[0] == "apple dough bread"


def test_a_label_takes_no_improbable_word():
    V = 40
    topics = np.full((2, V), 1e-6)
    topics[:, :35] = 1.0
    topics[0, 35:] = 1e-3  # five times as distinctive as any, but far from the leading words
    topics /= topics.sum(axis=1, keepdims=True)
    assert set(choose_topic_labels(topics, [f"{i:02}" for i in range(V)])[0].split()) <= {f"{i:02}" for i in range(35)}


@pytest.mark.parametrize(
    ("word", "other", "expected"),
    [
        ("drive", "drives", True),
        ("drives", "drive", True),
        ("box", "boxes", True),
        ("car", "carbon", False),
        ("york", "new york", True),
        ("new york", "york city", False),
        ("cat", "dog", False),
    ],
)
def test_forms_of_one_word(word, other, expected):
    assert are_related(word, other) is expected


def test_a_label_has_different_words_if_there_are_enough():
    assert drop_related_words(["drive", "drives", "disk", "scsi"], 3) == ["drive", "disk", "scsi"]
    assert drop_related_words(["drive", "drives"], 3) == ["drive", "drives"]
    assert drop_related_words(["drive", "drives", "disk"], 3) == ["drive", "disk", "drives"]


def test_facts_are_those_of_the_metrics():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(30, 0.5), 3)
    X = sp.csr_matrix(rng.poisson(0.4, (50, 30)))
    words = [f"w{i:02}" for i in range(30)]
    facts = compute_topic_facts(topics, words, np.array([0.5, 0.3, 0.2]), Documents([X[:20], X[20:]]))
    np.testing.assert_allclose(facts.coherence, npmi(topics, X, 10), rtol=ROUNDING)
    np.testing.assert_allclose(facts.exclusivity, exclusivity(topics, 10), rtol=ROUNDING)
    assert facts.labels == choose_topic_labels(topics, words)


def test_topics_of_few_words_are_measured_on_those():
    X = sp.csr_matrix(np.random.default_rng(0).poisson(0.7, (50, 6)))
    facts = compute_topic_facts(C, WORDS, np.array([0.5, 0.5]), Documents([X]))
    np.testing.assert_allclose(facts.coherence, npmi(C, X, 3), rtol=ROUNDING)
    np.testing.assert_allclose(facts.exclusivity, exclusivity(C, 3), rtol=ROUNDING)


def test_a_topic_of_one_word_has_no_pair_to_cohere():
    facts = compute_topic_facts(np.eye(2), ["a", "b"], np.array([0.5, 0.5]), Documents([sp.identity(2, format="csr")]))
    np.testing.assert_array_equal(facts.coherence, 0.0)


def test_pairs_are_ranked_from_the_most_positive_to_the_most_negative():
    A = np.random.default_rng(0).uniform(-1, 1, (5, 5))
    R = (A + A.T) / 2
    pairs = rank_pairs(R)
    brute = sorted(((R[i, j], i, j) for i in range(5) for j in range(i + 1, 5)), reverse=True)
    assert brute[0][0] > 0 > brute[-1][0]
    assert [(pair.first, pair.second) for pair in pairs] == [(i, j) for _, i, j in brute]
    assert all(pair.value == R[pair.first, pair.second] for pair in pairs)
    assert rank_pairs(np.ones((1, 1))) == []


def test_representatives_by_brute_force(shares):
    explained = np.random.default_rng(1).random(60)
    for f, positions in enumerate(rank_representatives(shares, explained, 5)):
        score = {i: shares[i, f] * explained[i] for i in range(60)}
        assert positions.tolist() == sorted(score, key=lambda i: -score[i])[:5]


def test_documents_without_the_topic_do_not_represent_it():
    positions = rank_representatives(np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]), np.array([0.5, 0.0, 0.0]), 3)
    assert [p.tolist() for p in positions] == [[0], []]


def test_interleave_takes_the_first_of_each_before_any_second():
    lists = [np.array([4, 1, 2]), np.array([4, 3]), np.array([], dtype=int), np.array([9])]
    assert interleave(lists, 10).tolist() == [4, 9, 1, 3, 2]
    assert interleave(lists, 3).tolist() == [4, 9, 1]
    assert interleave([], 3).tolist() == []


def test_listed_topics_are_the_largest():
    shares = np.array([[0.1, 0.6, 0.0, 0.29, 0.01], [0.3, 0.1, 0.3, 0.3, 0.0], [0.0] * 5])
    assert list_top_topics(shares) == [[(1, 0.6), (3, 0.29), (0, 0.1)], [(0, 0.3), (2, 0.3), (3, 0.3), (1, 0.1)], []]
    assert list_top_topics(np.full((1, 100), 0.01)) == [[(0, 0.01)]]  # at least one, however small


@pytest.mark.parametrize("n_words", [1, 3, 30, 100, 200])
def test_leading_words_are_those_of_a_stable_sort_of_all(n_words):
    p = np.random.default_rng(0).integers(1, 9, 100) / 10.0  # many ties
    assert find_leading_words(p, n_words).tolist() == np.argsort(-p, kind="stable")[:n_words].tolist()


def test_long_lists_of_names_are_cut():
    assert join_some(["a", "b"]) == "a; b"
    assert join_some([str(i) for i in range(20)], ", ", 3) == "0, 1, 2 and 17 more"
