import numpy as np
import pytest
import scipy.sparse as sp

from anchorless._core import token_splits
from anchorless._corpus.documents import Documents


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def draw_state(rng, N=60, V=15, F=3):
    X = sp.csr_matrix(rng.poisson(1.0, (N, V)).astype(float))
    documents = np.column_stack([rng.uniform(0.5, 6, (N, F)), np.ones(N)])
    documents[::7, -1] = 0.0
    return X, documents, rng.dirichlet(np.ones(V), F).T.copy(), rng.uniform(0.1, 1.0, F)


def test_products_of_words_are_those_of_the_formula(rng):
    X, documents, phi, alpha = draw_state(rng)
    place = np.tile(np.arange(15, dtype=np.int32)[:, None], 3)
    place[[2, 5]] = -1
    chosen = [np.arange(15)] * 3
    found = token_splits.pair_tokens(Documents([X[:25], X[25:]]), documents, phi, alpha, place, chosen, 2)
    for k in range(3):
        pairs, noise = np.zeros((15, 15)), 0.0
        for d in np.flatnonzero(documents[:, -1]):
            weights = (documents[d, :3] + alpha) * phi
            y = X[d].toarray().ravel() * weights[:, k] / weights.sum(axis=1)
            y[(y <= 0.02) | (place[:, k] < 0)] = 0.0
            if documents[d, k] > 1 and y.sum() > 1:
                pairs += np.tril(np.outer(y, y), -1) / y.sum() + np.diag(y)
                noise += (y.sum() - 1) / y.sum()
        np.testing.assert_allclose(found[k, :, :-1], pairs, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(found[k, 0, -1], noise, rtol=1e-10)


def sum_pairs(Y):
    """Return the sums of products of `pair_words` for the tokens Y (N, V) of one topic."""
    n = Y.sum(axis=1)
    used, n = Y[n > 1], n[n > 1]
    pairs = np.tril(used.T @ (used / n[:, None]), -1) + np.diag(used.sum(axis=0))
    noise = np.zeros((Y.shape[1], 1))
    noise[0] = ((n - 1) / n).sum()
    return np.hstack([pairs, noise])[None]


def test_the_sides_of_two_topics_stand_out_and_one_topic_does_not(rng):
    A, B = np.repeat([2.0, 1.0], 20) / 60, np.repeat([1.0, 2.0], 20) / 60
    part = rng.beta(0.5, 0.5, 4000)
    two = np.array([rng.multinomial(12, x * A + (1 - x) * B) for x in part]).astype(float)
    one = rng.multinomial(12, (A + B) / 2, 4000).astype(float)
    sums = np.vstack([sum_pairs(two), sum_pairs(one)])
    gaps, is_clear, sides = token_splits.measure_gaps(sums, [np.arange(40)] * 2, 50)
    assert gaps[0] > 2 * token_splits.MIN_GAP
    assert gaps[1] < token_splits.MIN_GAP
    np.testing.assert_array_equal(is_clear, [True, False])
    assert np.ptp(np.sign(sides[0][:20] - 0.5)) == np.ptp(np.sign(sides[0][20:40] - 0.5)) == 0
    assert (sides[0][0] - 0.5) * (sides[0][39] - 0.5) < 0
    np.testing.assert_array_equal(sides[0][40:], 0.5)  # words that are not paired


def test_presence_is_the_part_of_a_document_where_a_topic_is():
    documents = np.array([[8.0, 2.0], [0.0, 5.0], [0.0, 0.0]])
    found = token_splits.measure_presence(documents)
    np.testing.assert_allclose(found, [0.8, (2 * 0.2 + 5 * 1.0) / 7])
    np.testing.assert_allclose(token_splits.measure_presence(10 * documents), found)  # whatever the lengths


def test_a_split_loses_no_token(rng):
    words, documents, kept = rng.uniform(1, 5, (6, 3)), rng.uniform(1, 5, (4, 4)), rng.uniform(0, 1, (6, 3))
    before = words[:, 0].copy(), documents[:, 0].copy(), kept[:, 0].copy()
    split = token_splits.Split(0, 2, rng.uniform(0.02, 0.98, 6))
    token_splits.apply_splits([split], words, documents, kept)
    for counts, total in zip((words, documents, kept), before, strict=True):
        np.testing.assert_allclose(counts[:, 0] + counts[:, 2], total)


def test_few_words_of_many_topics_are_paired(rng):
    words = rng.uniform(10, 40, (3000, 400))
    chosen, place = token_splits.choose_words(words)
    assert {len(c) for c in chosen} == {100}
    for k in (0, 399):
        np.testing.assert_array_equal(place[chosen[k], k], np.arange(100))
        assert words[chosen[k], k].min() >= np.sort(words[:, k])[-100]
    assert len(token_splits.choose_words(np.full((20, 2), 1.0))[0][0]) == 0


def find_splits(rng, monkeypatch, gaps, clear, sizes, is_new=()):
    """Return the topics and the spare ones of splits together and alone, for gaps and sizes of topics (F,)."""
    F = len(gaps)
    X, documents, phi, alpha = draw_state(rng, F=F)
    documents[:, :-1] *= sizes
    found = np.array(gaps), np.isin(np.arange(F), clear), [np.full(15, 0.5)] * F
    monkeypatch.setattr(token_splits, "measure_gaps", lambda *_: found)
    is_new = np.isin(np.arange(F), is_new)
    splits = token_splits.find_splits(Documents([X]), phi * 1000, documents, phi, alpha, is_new, 1)
    return [[(split.topic, split.spare) for split in some] for some in splits]


def test_a_topic_that_comes_from_a_split_is_not_spare(rng, monkeypatch):
    arguments = rng, monkeypatch, [5.0, 0.0, 0.0, 0.0], [0], [1.0, 0.01, 0.03, 1.0]
    assert find_splits(*arguments) == [[], [(0, 1)]]
    assert find_splits(*arguments, is_new=[1]) == [[], [(0, 2)]]
    assert find_splits(*arguments, is_new=[1, 2]) == [[], []]


def test_if_almost_every_topic_stands_out_the_most_likely_ones_are_split_together_or_none(rng, monkeypatch):
    gaps, sizes = [5.0, 9.0, 8.0, 4.0, 0.0], [1.0, 0.01, 1.0, 1.0, 0.03]
    assert find_splits(rng, monkeypatch, gaps, [0, 1, 2, 3], sizes) == [[(2, 1)], []]


@pytest.mark.parametrize(
    ("gaps", "clear", "size", "alone"),
    [
        ([2.0, 0.0, 0.0, 1.5], [], 0.01, [0, 3]),  # none stands out, and topic 1 is clearly spare
        ([2.0, 0.0, 0.0, 0.9], [], 0.01, [0]),  # the other gap is noise
        ([2.0, 0.0, 0.0, 1.5], [], 1.0, []),  # no topic is spare
        ([2.0, 5.0, 0.0, 9.0], [1], 0.01, [3, 0]),  # a spare topic is not split
        ([2.0, 3.0, 4.0, 9.0, 8.0, 7.0], [3], 0.01, [3, 4, 5, 2]),  # no more than some
    ],
)
def test_topics_that_may_be_two_are_tried_if_another_is_clearly_spare(rng, monkeypatch, gaps, clear, size, alone):
    sizes = np.where(np.arange(len(gaps)) == 1, size, 1.0)
    assert find_splits(rng, monkeypatch, gaps, clear, sizes) == [[], [(k, 1) for k in alone]]


def test_many_topics_that_stand_out_are_split_together_first(rng, monkeypatch):
    gaps, sizes = np.zeros(40), np.ones(40)
    gaps[:6], sizes[-6:] = [9.0, 8.0, 7.0, 6.0, 5.0, 4.0], 0.01 * np.arange(1, 7)
    together, alone = find_splits(rng, monkeypatch, gaps, np.arange(6), sizes)
    assert together == [(k, 34 + k) for k in range(6)]
    assert alone == [(k, 34) for k in range(4)]
    assert find_splits(rng, monkeypatch, gaps, np.arange(3), sizes)[0] == []
