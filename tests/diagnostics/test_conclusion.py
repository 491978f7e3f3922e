import numpy as np
import pytest
import scipy.sparse as sp

from anchorless import search_k
from anchorless._corpus.documents import Documents
from anchorless._diagnostics.conclusion import conclude, find_likely_range
from anchorless._diagnostics.n_topics import Suggestion
from anchorless._diagnostics.search_k import choose_number
from anchorless.datasets import sampled_corpus

NUMBERS = [2, 5, 10, 20]
#: Of 10 and 20 topics, the gain is at least 95 % of the best.
GAINS = np.array([0.1, 0.2, 0.39, 0.4])


def test_without_a_suggestion_it_is_the_smallest_number_that_predicts_nearly_best():
    found = conclude(NUMBERS, GAINS, Suggestion(None, "cannot tell: too few documents"))
    assert (found.n_topics, found.answer) == (10, "10 topics to begin with")
    assert "nearly best (10 to 20)" in found.reason
    assert found.explanation == "the documents do not tell how many topics there are: too few documents"


@pytest.mark.parametrize(
    ("number", "explained"), [(5, "divide these 5"), (10, "10 is among them"), (30, "weakest of the 30")]
)
def test_a_suggestion_is_the_conclusion_and_the_prediction_explains(number, explained):
    found = conclude(NUMBERS, GAINS, Suggestion(number, "patterns are found again"))
    assert found[:3] == (number, f"{number} topics", "patterns are found again")
    assert found.explanation.startswith("10 to 20 topics predict held-out documents nearly best")
    assert explained in found.explanation


def test_a_number_outside_of_those_compared_is_to_be_compared():
    found = conclude(NUMBERS, GAINS, Suggestion(None, "it would be 3", beyond=3))
    assert found[:3] == (None, "compare 3 topics, too", "it would be 3")


@pytest.fixture(scope="module")
def without_topics():
    """Counts of documents that all have the same distribution of words; a few are long."""
    rng = np.random.default_rng(0)
    words = 1 / np.arange(2.0, 302.0)
    lengths = np.maximum(rng.lognormal(4, 0.8, 1500), 2).astype(int)
    return np.array([rng.multinomial(n, words / words.sum()) for n in lengths])


def test_auto_does_not_claim_a_gain_that_there_is_not(without_topics, monkeypatch):
    monkeypatch.setattr("anchorless._diagnostics.search_k.AUTO_NUMBERS", (2, 3))
    found = choose_number(Documents.from_matrix(sp.csr_matrix(without_topics)), "chi2-ncw", "reliable", 1, 0)
    assert "no topics can be told apart" in found.reason
    assert "no number predicts held-out documents better" in found.reason


def test_documents_without_topics_get_no_number_and_are_not_told_to_compare_one(without_topics):
    counts = without_topics
    found = search_k(counts, [2, 8])
    assert found.suggestion.beyond == 1
    assert found.conclusion.answer == "none of these numbers: the documents show no topics"
    assert found.conclusion.reason.startswith("one pattern of words, which all documents share")
    assert search_k(counts, [1, 2]).suggestion.n_topics == 1


@pytest.mark.parametrize(("gains", "why"), [(-GAINS, "better than no topics"), (GAINS * np.nan, "whole counts")])
def test_no_number_where_nothing_is_predicted(gains, why):
    found = conclude(NUMBERS, gains, Suggestion(None, "cannot tell: noise"))
    assert found.n_topics is None
    assert why in found.reason
    assert find_likely_range(NUMBERS, gains) is None


def test_a_planted_number_is_the_conclusion():
    found = search_k(sampled_corpus(1500, n_topics=4, n_words=200).counts, [2, 4, 8])
    assert found.conclusion.n_topics == 4
    assert found.conclusion.reason == found.suggestion.reason
    assert found.likely_range is not None
    beyond = search_k(sampled_corpus(1500, n_topics=4, n_words=200).counts, [6, 8])
    assert beyond.conclusion.answer == "compare 4 topics, too"


def test_the_largest_number_as_the_best_asks_for_larger_ones():
    found = conclude(NUMBERS, np.array([0.1, 0.2, 0.3, 0.4]), Suggestion(None, "cannot tell: noise"))
    assert found.n_topics == 20
    assert "larger ones may predict still better" in found.reason
    assert "larger" not in conclude(NUMBERS, np.array([0.1, 0.2, 0.4, 0.3]), Suggestion(None, "")).reason


def test_topics_of_classes_are_called_broad():
    found = conclude(NUMBERS, GAINS, Suggestion(5, "classes stand out", is_of_classes=True))
    assert found.answer == "5 broad topics"
    assert found.n_topics == 5
