"""The sentences state what the record contains, and claim no more."""

import numpy as np
import pytest

from anchorless._diagnostics.identifiability.identifiability import Evidence, assess_identifiability
from anchorless._diagnostics.identifiability.shuffled import ShuffledComparison
from anchorless._diagnostics.identifiability.uniqueness import Uniqueness
from anchorless._topic_model.verdicts import describe_identifiability


def sentences(C, **more):
    C = np.asarray(C, dtype=float)
    found = assess_identifiability(C, np.eye(len(C)), n_starts=2, **more)
    words = [f"word{v}" for v in range(C.shape[1])]
    return found, dict(describe_identifiability(found, [f"label{f}" for f in range(len(C))], words))


def first(said):
    return said["Are these the only topics?"]


def test_separable_topics_are_the_only_ones():
    _, said = sentences(np.eye(3, 5) + np.array([0, 0, 0, 1, 1]))
    assert first(said).startswith("Yes, for the fitted numbers: it is proved")
    assert "proved (every topic has an anchor word)" in said["Sufficiently scattered words"]
    assert "3 of 3 topics have a word with at least 95%" in said["Anchor words"]
    assert "The lowest value" not in said["Anchor words"]
    assert said["Topics that are hard to tell apart"] == "None."


def test_dense_topics_are_not_unique_and_the_change_is_described():
    found, said = sentences(np.random.default_rng(0).exponential(size=(5, 12)))
    assert first(said).startswith("No: ")
    trade = found.uniqueness.second.trades[0]
    assert f"topic {trade.topic} (label{trade.topic})" in first(said)
    assert f"words that gain: word{trade.gained[0]}" in first(said)
    assert "this is refuted" in said["Sufficiently scattered words"]
    assert "not necessary" in said["Sufficiently scattered words"]
    assert "The lowest value is" in said["Anchor words"]


def test_a_negligible_change_is_called_negligible():
    _, said = sentences(np.hstack([np.eye(3), np.ones((3, 3))]) + 1e-6)
    assert first(said).startswith("Practically. ")


def test_an_unfinished_search_claims_nothing():
    C = np.random.default_rng(0).exponential(size=(20, 400)) * (np.random.default_rng(1).random((20, 400)) < 0.4)
    found, said = sentences(C, time_limit=1e-6)
    assert found.scattering.verdict == "not refuted"
    assert first(said).startswith("Unknown: ")
    assert "proved nor refuted" in said["Sufficiently scattered words"]
    assert "time limit" in said["Sufficiently scattered words"]


def test_one_topic_has_one_sentence():
    _, said = sentences([[0.5, 0.5]])
    assert said == {"Are these the only topics?": "There is one topic, so no two topics can be confused."}


def test_dependent_topics():
    _, said = sentences([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.25, 0.5, 0.25]])
    assert "linearly dependent" in first(said)
    assert "linearly dependent" in said["Sufficiently scattered words"]


@pytest.mark.parametrize(("gap", "uncertain"), [(0.5, False), (0.001, True)])
def test_noise_is_described(gap, uncertain):
    evidence = Evidence(np.array([50.0, 50, 50, 2, 2]), gap, np.array([0.0, 0.02, 0.0]))
    found, said = sentences(np.eye(3, 5) + np.array([0, 0, 0, 1, 1]), evidence=evidence)
    assert f"{gap:.1%} weaker" in said["Noise"]
    assert ("uncertain" in said["Noise"]) == uncertain
    assert "largest in topic 1 (label1): −0.02, where the positive ones summed to 1.02" in said["Noise"]
    assert f"{found.n_known_words} of 5 words" in said["Sufficiently scattered words"] or found.n_known_words == 5


SEPARABLE = np.eye(3, 5) + np.array([0, 0, 0, 1, 1])


def with_documents(n_documents, **changes):
    """Sentences on topics of documents, with changes of what was found."""
    evidence = Evidence(np.full(5, float(n_documents)))
    found = assess_identifiability(SEPARABLE, np.eye(3), evidence, n_starts=2)._replace(**changes)
    labels, words = ["label"] * 3, [f"word{v}" for v in range(5)]
    return found, dict(describe_identifiability(found, labels, words))


def shuffled(n_supported, strength=2.5, scattering="refuted"):
    return ShuffledComparison(100, 5, 0.1, 0.11, [strength] * 2, n_supported, scattering)


def test_topics_of_documents_get_the_share_that_could_change():
    found, said = with_documents(100_000, shuffled=shuffled(3))
    assert found.uniqueness.verdict == "unique"
    assert first(said).startswith("Yes, as far as these documents can tell.")
    assert max(found.leeway) < 0.001
    assert "less than 0.1% of the probability of any topic" in first(said)
    assert "2.5 times the strength that chance could give them" in first(said)
    _, nearly = with_documents(100_000, shuffled=shuffled(3), uniqueness=Uniqueness("nearly unique", None, 2))
    assert first(nearly).startswith("Nearly, as far as these documents can tell:")
    found, said = with_documents(4, shuffled=shuffled(3))
    assert found.uniqueness.verdict == "another solution"
    assert first(said).startswith("No: if every small probability is as wrong as the number of documents allows")


def test_a_missing_comparison_with_chance_is_said():
    _, said = with_documents(100_000)
    assert first(said).startswith("Unknown: the model lacks what is needed to check whether the topics are chance")
    assert "If they are not: yes, as far as" in first(said)


@pytest.mark.parametrize(("n_supported", "advice"), [(1, "do not use the topics"), (2, "Fit at most 2 topics")])
def test_chance_topics_are_no_good_news(n_supported, advice):
    unsupported = Uniqueness("not supported", None, 2)
    _, said = with_documents(100_000, shuffled=shuffled(n_supported), uniqueness=unsupported)
    assert first(said).startswith("Not supported: ")
    assert advice in first(said)
    assert "may be chance that says little" in said["Sufficiently scattered words"].split(" Details: ")[0]
    assert not {"Anchor words", "Topics that are hard to tell apart"} & {*said}


@pytest.mark.parametrize("scattering", ["proved", "refuted"])
def test_a_proof_that_chance_topics_also_get_says_little(scattering):
    found, said = with_documents(100_000, shuffled=shuffled(3, scattering=scattering))
    assert found.scattering.verdict == "proved"
    assert ("it says little" in said["Sufficiently scattered words"]) == (scattering == "proved")


def test_the_condition_of_topics_of_documents_has_one_verdict_and_the_other_one_is_a_detail():
    found, said = with_documents(100_000, shuffled=shuffled(3, scattering="proved"))
    refuted = found.known._replace(verdict="refuted", margin=-0.3)
    length = found.scattering._replace(reason="the longest of all other vertices has length 0.9999")
    found, said = with_documents(
        100_000, shuffled=shuffled(3, scattering="proved"), known=refuted, scattering=length, n_words=5, n_known_words=4
    )
    verdict, details = said["Sufficiently scattered words"].split(" Details: ")
    assert "for the 4 of 5 words that occur in enough documents, this is refuted" in verdict.lower()
    assert "not necessary" in verdict
    assert "proved" not in verdict
    assert "proved" in details
    assert "0.3" in details
    assert "length 0.9999" in details
