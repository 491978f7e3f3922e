"""The sentences state what the record contains, and claim no more."""

import numpy as np
import pytest

from anchorless._diagnostics.identifiability.identifiability import Evidence, assess_identifiability
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
