import numpy as np
import pytest
import scipy.sparse as sp

from anchorless._core.topic_parts import CONCENTRATIONS, compute_coordinates, fit_parts, share_words, split_words
from anchorless.errors import InputError


def planted_parts(n_parts, n_documents=400, n_words=60, seed=0):
    """Return documents (N, V) of topics with words of their own, and the topic of each word; the last are common."""
    rng = np.random.default_rng(seed)
    owner = np.arange(n_words) % (n_parts + 1)
    topics = np.array([(owner == k) + 0.5 * (owner == n_parts) for k in range(n_parts)], dtype=float)
    topics /= topics.sum(axis=1, keepdims=True)
    theta = rng.dirichlet(np.full(n_parts, 0.3), size=n_documents)
    counts = np.array([rng.multinomial(30, p) for p in theta @ topics])
    return sp.csr_matrix(counts.astype(float)), owner


@pytest.mark.parametrize("n_parts", [2, 3, 4])
def test_planted_parts_are_found(n_parts):
    Y, owner = planted_parts(n_parts)
    part = split_words(Y, n_parts)
    np.testing.assert_allclose(part.sum(axis=0), 1.0, rtol=1e-12)
    lead = part.argmax(axis=0)
    found = [set(lead[owner == k]) for k in range(n_parts)]
    assert all(len(one) == 1 for one in found)
    assert len(set.union(*found)) == n_parts
    assert part[:, owner < n_parts].max(axis=0).min() > 0.9
    if n_parts == 2:
        assert abs(part[:, owner == n_parts] - 0.5).max() < 0.25  # common words are in both


def test_documents_in_another_order_give_the_same_parts():
    Y, _ = planted_parts(2)
    order = np.random.default_rng(1).permutation(Y.shape[0])
    first, second = split_words(Y, 2), split_words(Y[order], 2)
    np.testing.assert_allclose(np.sort(first, axis=0), np.sort(second, axis=0), atol=1e-8)


def test_parts_of_tokens_count_as_parts():
    Y, owner = planted_parts(2)
    half = split_words(0.5 * Y, 2).argmax(axis=0)
    assert len(set(half[owner == 0])) == len(set(half[owner == 1])) == 1


def test_a_step_of_em_raises_the_likelihood(monkeypatch):
    Y, owner = planted_parts(2)
    frequency = np.asarray(Y.sum(axis=0)).ravel()
    start = frequency[:, None] * np.where(owner[:, None] == 0, [0.6, 0.4], [0.4, 0.6])
    sharp = []
    for steps in (1, 5, 20):
        monkeypatch.setattr("anchorless._core.topic_parts.STEPS", steps)
        sharp.append(share_words(fit_parts(Y, frequency, start, CONCENTRATIONS[1])).max(axis=0)[owner < 2].mean())
    assert sharp == sorted(sharp)
    assert sharp[-1] > 0.9


def test_coordinates_separate_the_words():
    Y, owner = planted_parts(2)
    place = compute_coordinates(Y, np.arange(60), 2)[:, 0]
    a, b = place[owner == 0], place[owner == 1]
    assert max(a.max(), b.max()) > 0 > min(a.min(), b.min())
    assert a.max() < b.min() or b.max() < a.min()


def test_words_without_a_token_are_shared_by_size():
    counts = np.array([[30.0, 10.0], [0.0, 0.0]])
    np.testing.assert_allclose(share_words(counts)[:, 1], [0.75, 0.25])


def test_too_few_words_are_refused():
    with pytest.raises(InputError, match="only 3 words with at least 10 tokens, too few for 2 parts"):
        split_words(sp.csr_matrix(np.full((50, 3), 2.0)), 2)
