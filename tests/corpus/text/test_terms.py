"""Terms of one and of several words, against a dictionary of strings."""

import itertools
import random
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anchorless._corpus.text.terms
from anchorless._corpus.text.terms import count_terms, decode_terms, index_batches, merge_terms
from anchorless._corpus.text.tokens import TokenRule, tokenize
from tests.helpers.properties import run_examples

RANGES = [(1, 1), (1, 2), (2, 2), (1, 3), (2, 3), (3, 3), (4, 4)]


def random_texts(seed, n_texts=20, longest=8):
    rng = random.Random(seed)
    return [" ".join(rng.choices("abcde", k=rng.randint(0, longest))) for _ in range(n_texts)]


def slow_terms(text, ngram_range):
    words = text.split()
    least, most = ngram_range
    return Counter(" ".join(words[i : i + n]) for n in range(least, most + 1) for i in range(len(words) - n + 1))


def batch(texts, ngram_range):
    return count_terms(tokenize(pa.array(texts, type=pa.large_string()), TokenRule(min_length=1)), ngram_range)


def merge_batches(batches, first):
    known, parts = index_batches(batches)
    return merge_terms(parts, known, first)


def as_counters(counts, names):
    return [
        Counter({names[j]: int(n) for j, n in zip(counts[i].indices, counts[i].data, strict=True)})
        for i in range(counts.shape[0])
    ]


@run_examples(50)
@given(
    texts=st.lists(st.lists(st.sampled_from("abcdé"), max_size=8).map(" ".join), min_size=1, max_size=20),
    cuts=st.lists(st.integers(0, 20), max_size=5),
    ngram_range=st.sampled_from(RANGES),
    pending=st.integers(1, 8),
)
def test_many_batches_equal_a_dictionary_of_strings(texts, cuts, ngram_range, pending):
    bounds = [0, *sorted(min(cut, len(texts)) for cut in cuts), len(texts)]
    batches = [batch(texts[a:b], ngram_range) for a, b in itertools.pairwise(bounds)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(anchorless._corpus.text.terms, "MIN_PENDING_WORDS", pending)
        terms, numbers = merge_batches(batches, ngram_range[0])
    names = decode_terms(terms, np.arange(sum(terms.sizes[ngram_range[0] - 1 :]))).to_pylist()
    found = []
    for part, number in zip(batches, numbers, strict=True):
        found += as_counters(part.counts, [names[i] for i in number])
    assert found == [slow_terms(text, ngram_range) for text in texts]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("waiting", [1, 10, 1000])
@pytest.mark.parametrize("seed", range(3))
def test_words_are_numbered_as_they_first_appear_however_many_wait(seed, waiting, monkeypatch):
    monkeypatch.setattr(anchorless._corpus.text.terms, "MIN_PENDING_WORDS", waiting)
    rng = random.Random(seed)
    texts = [" ".join(f"w{int(rng.expovariate(0.02))}" for _ in range(rng.randint(0, 30))) for _ in range(40)]
    batches = [batch([text], (1, 1)) for text in texts]
    known, parts = index_batches(iter(batches))
    slow = {}
    for part, indexed in zip(batches, parts, strict=True):
        assert indexed.words.tolist() == [slow.setdefault(word, len(slow)) for word in part.words.to_pylist()]
    assert known.to_pylist() == list(slow)


@pytest.mark.parametrize("ngram_range", RANGES)
def test_counts_are_compact_and_sorted(ngram_range):
    counts = batch(random_texts(1), ngram_range).counts
    assert counts.indices.dtype == counts.indptr.dtype == np.int32
    assert counts.data.dtype == np.uint8
    assert counts.has_canonical_format
    assert counts.data.min() >= 1


@pytest.mark.parametrize("ngram_range", RANGES)
@pytest.mark.parametrize("texts", [[], [""], ["", "a", ""], ["a b"]])
def test_short_texts_and_none(texts, ngram_range):
    part = batch(texts, ngram_range)
    (terms, (numbers,)) = merge_batches([part], ngram_range[0])
    names = decode_terms(terms, numbers.astype(np.int64)).to_pylist()
    assert as_counters(part.counts, names) == [slow_terms(text, ngram_range) for text in texts]


@pytest.mark.parametrize("ngram_range", RANGES)
def test_shortest_terms_are_counted_as_often_as_they_occur(ngram_range):
    texts = random_texts(2)
    least = ngram_range[0]
    assert batch(texts, ngram_range).n_shortest == sum(max(0, len(text.split()) - least + 1) for text in texts)


def test_spelling_keeps_the_order_asked_for():
    terms, _ = merge_batches([batch(["b a c", "a b"], (1, 2))], 1)
    everything = decode_terms(terms, np.arange(sum(terms.sizes))).to_pylist()
    backwards = np.arange(len(everything))[::-1].copy()
    assert decode_terms(terms, backwards).to_pylist() == everything[::-1]
    assert decode_terms(terms, np.zeros(0, dtype=np.int64)).to_pylist() == []


@pytest.mark.parametrize(("n", "kind"), [(255, np.uint8), (256, np.uint16), (65_535, np.uint16), (65_536, np.uint32)])
def test_many_of_one_word_fit(n, kind):
    counts = batch(["a " * n], (1, 1)).counts
    assert counts.data.tolist() == [n]
    assert counts.data.dtype == kind
