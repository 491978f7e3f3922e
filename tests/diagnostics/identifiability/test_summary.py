import numpy as np
import pytest

from anchorless._diagnostics.identifiability.identifiability import summarize_identifiability

SHARES = np.full(3, 1 / 3)


def separable(seed):
    C = np.random.default_rng(seed).random((120, 3))
    C[:3] = np.eye(3)
    return C / C.sum(axis=0)


@pytest.mark.parametrize("seed", range(3))
def test_anchor_words_prove(seed):
    assert summarize_identifiability(separable(seed), SHARES, np.full(120, 50)) == (1.0, "proved")


@pytest.mark.parametrize("seed", range(3))
def test_anchor_words_in_few_documents_do_not_count(seed):
    documents = np.full(120, 50)
    documents[:3] = 2
    anchor, scattered = summarize_identifiability(separable(seed), SHARES, documents)
    assert scattered == "refuted"
    assert anchor < 1.0


def test_the_worst_topic_counts():
    C = separable(0)
    C[0] = C[0].sum() * np.array([0.7, 0.3, 0.0])
    C[3:, 0] = C[3:, 1]  # no other word is more the first topic's than the second's
    C /= C.sum(axis=0)
    assert 0.5 < summarize_identifiability(C, SHARES, np.full(120, 50))[0] < 0.8


def test_a_topic_of_rare_words_alone_counts():
    C = np.kron(np.eye(3), np.full((20, 1), 0.05))
    documents = np.r_[np.full(40, 100), np.ones(20)]
    assert summarize_identifiability(C, SHARES, documents)[1] == "proved"
