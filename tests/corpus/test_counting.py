"""Counting, with scikit-learn's CountVectorizer as the referee."""

import random

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from anchorless import datasets
from anchorless._corpus.counting import batch_texts, count_texts, count_with_vocabulary, to_string_array
from anchorless._corpus.settings import CountSettings
from anchorless._corpus.text.stop_words import load_stop_words
from anchorless.errors import InputError
from tests.corpus.text.test_tokens import NASTY, slow_words

KEEP_ALL = {"stop_words": None, "min_df": 1, "max_df": 1.0}
# The rule of `tokens` as a pattern: no underscore at the ends, a letter somewhere. Python's \w knows no marks.
PATTERN = r"(?u)\b_*(?=[\d_]*[^\W\d_])([^\W_]\w*[^\W_])_*\b"


def made_up_texts(seed=0, n_texts=200):
    """Words of unequal frequency, some of them stop words, numbers, with capitals and accents."""
    rng = random.Random(seed)
    words = [f"{a}{b}" for a in "bcdfgéñ" for b in ("ab", "EC", "odé", "u_x", "1")] + ["the", "and", "don't", "1993"]
    weights = [1 / (i + 1) for i in range(len(words))]
    return [" ".join(rng.choices(words, weights, k=rng.randint(0, 40))) for _ in range(n_texts)]


def counted(texts, n_threads=1, cuts=None, **settings):
    settings = CountSettings(**settings)
    batches = batch_texts(texts) if cuts is None else [to_string_array(part, 0) for part in cut(texts, cuts)]
    return count_texts(batches, settings, n_threads)


def cut(texts, size):
    return [texts[start : start + size] for start in range(0, len(texts), size)]


def stacked(counts):
    return sp.vstack(counts.documents.blocks).tocsr()


def assert_equal_counts(counts, vectorizer, texts):
    expected = vectorizer.fit_transform(texts)
    names = vectorizer.get_feature_names_out().tolist()
    assert counts.vocabulary == names
    assert (stacked(counts) != expected).nnz == 0
    assert counts.n_tokens == expected.sum()
    assert counts.documents.shape[0] == len(texts)
    np.testing.assert_array_equal(counts.document_frequency, (expected > 0).sum(axis=0).A1)


@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 2), (2, 2), (2, 3)])
@pytest.mark.parametrize(("min_df", "max_df"), [(1, 1.0), (3, 0.5), (0.02, 0.3), (2, 60), (0.015, 1.0)])
def test_equal_to_scikit_learn(ngram_range, min_df, max_df):
    texts = made_up_texts()
    stop_words = ["the", "and", "don", "bab"]
    ours = counted(texts, stop_words=stop_words, ngram_range=ngram_range, min_df=min_df, max_df=max_df, cuts=37)
    referee = CountVectorizer(
        token_pattern=PATTERN, stop_words=stop_words, ngram_range=ngram_range, min_df=min_df, max_df=max_df
    )
    assert_equal_counts(ours, referee, texts)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 2)])
def test_equal_to_scikit_learn_on_nasty_unicode(seed, ngram_range):
    rng = random.Random(seed)
    texts = ["".join(rng.choices(NASTY, k=60)) for _ in range(80)]
    settings = CountSettings(ngram_range=ngram_range, segmenter="none", **KEEP_ALL)
    rule = settings.to_token_rule()
    referee = CountVectorizer(
        tokenizer=lambda text: slow_words(text, rule), token_pattern=None, lowercase=False, ngram_range=ngram_range
    )
    assert_equal_counts(count_texts(batch_texts(texts), settings, 2), referee, texts)


def test_equal_to_scikit_learn_on_docstrings():
    texts = datasets.load_docstrings(("numpy",)).texts
    stop_words = sorted(set(load_stop_words("english")))
    assert_equal_counts(
        counted(texts, min_df=2, max_df=0.5),
        CountVectorizer(token_pattern=PATTERN, stop_words=stop_words, min_df=2, max_df=0.5),
        texts,
    )


@pytest.mark.parametrize("n_features", [1, 5, 12, 20])
def test_max_features_are_the_most_frequent_of_equals_the_first(n_features):
    texts = made_up_texts()
    everything = counted(texts, min_df=2, max_df=0.9)
    total = np.asarray(stacked(everything).sum(axis=0)).ravel()
    best = sorted(zip(-total, everything.vocabulary, strict=True))[:n_features]
    few = counted(texts, min_df=2, max_df=0.9, max_features=n_features, cuts=11)
    assert few.vocabulary == sorted(word for _, word in best)
    columns = [everything.vocabulary.index(word) for word in few.vocabulary]
    assert (stacked(few) != stacked(everything)[:, columns]).nnz == 0
    assert few.n_tokens == total[columns].sum()


def test_ties_go_to_the_first_in_the_alphabet():
    assert counted(["d b c a"], max_features=2, min_length=1, **KEEP_ALL).vocabulary == ["a", "b"]


def test_more_features_than_words_are_no_limit():
    texts = made_up_texts()
    assert counted(texts, max_features=10**6).vocabulary == counted(texts).vocabulary


@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 3)])
def test_neither_threads_nor_batches_change_a_bit(ngram_range):
    texts = made_up_texts(3)
    one = counted(texts, ngram_range=ngram_range)
    for n_threads, size in [(1, 1), (2, 7), (4, 7), (3, 199)]:
        other = counted(texts, n_threads, size, ngram_range=ngram_range)
        assert other.vocabulary == one.vocabulary
        assert other.n_tokens == one.n_tokens
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(stacked(other), part), getattr(stacked(one), part))
        np.testing.assert_array_equal(other.document_frequency, one.document_frequency)


def test_blocks_are_canonical_and_end_where_the_documents_say(monkeypatch):
    monkeypatch.setattr("anchorless._corpus.counting.NONZEROS_PER_BLOCK", 100)
    one, other = counted(made_up_texts(), cuts=50).documents, counted(made_up_texts(), cuts=7).documents
    assert one.n_blocks > 5
    assert [block.shape for block in one.blocks] == [block.shape for block in other.blocks]
    for block in one.blocks:
        assert block.has_canonical_format
        assert np.all(block.data >= 1)


def test_a_word_many_times_over_does_not_wrap_around():
    counts = counted(["cat " * 300 + "dog " * 70_000, "cat"], **KEEP_ALL)
    assert stacked(counts).toarray().tolist() == [[300, 70_000], [1, 0]]
    assert counts.n_tokens == 70_301


def test_large_batches_are_cut_and_stay_in_order(monkeypatch):
    texts = made_up_texts(5)
    whole = counted(texts)
    monkeypatch.setattr("anchorless._corpus.counting.BYTES_PER_SLICE", 1000)
    pieces = counted(texts, 2)
    assert (stacked(pieces) != stacked(whole)).nnz == 0
    assert pieces.vocabulary == whole.vocabulary


def test_documents_without_a_word_keep_their_row():
    counts = counted(["", "cat dog", "the", "dog"], **KEEP_ALL | {"stop_words": "english"})
    assert stacked(counts).toarray().tolist() == [[0, 0], [1, 1], [0, 0], [0, 1]]
    assert counts.documents.shape[0] == 4


def test_chunked_and_empty_batches():
    batches = [
        pa.array([], type=pa.string()),
        pa.chunked_array([["cat"], ["dog cat"]]),
        pa.chunked_array([], pa.string()),
    ]
    counts = count_texts(batches, CountSettings(**KEEP_ALL), 2)
    assert stacked(counts).toarray().tolist() == [[1, 0], [1, 1]]


def test_html_counts_what_a_reader_sees():
    page = "<p class=one>bread</p><script>two</script>caf&eacute;"
    assert counted([page], html=True, **KEEP_ALL).vocabulary == ["bread", "café"]
    mail = "From: a@b\nSubject: <b>three</b>\n\n<p>four</p>\n> <p>five</p>\n"
    assert counted([mail], html=True, email=True, **KEEP_ALL).vocabulary == ["four", "three"]


def test_email_counts_what_was_written():
    post = "From: a@b.c\nSubject: Engines\nLines: 3\n\n> quoted\nwritten\n--\nsignature\n"
    assert counted([post], email=True, **KEEP_ALL).vocabulary == ["engines", "written"]
    assert "lines" in counted([post], **KEEP_ALL).vocabulary


@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 2), (2, 2)])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_the_same_texts_counted_again_give_the_same_counts(ngram_range, n_threads):
    texts = made_up_texts(4)
    settings = CountSettings(ngram_range=ngram_range, min_df=2, max_df=0.7)
    counts = count_texts(batch_texts(texts), settings, 2)
    one_by_one = [pa.array([text]) for text in texts]
    for batches in (batch_texts(texts), one_by_one):
        again = list(count_with_vocabulary(batches, counts.vocabulary, settings.pin_stop_words(), n_threads))
        assert (sp.vstack([batch.counts for batch in again]) != stacked(counts)).nnz == 0


def test_unknown_words_are_counted():
    settings = CountSettings(**KEEP_ALL)
    (batch,) = count_with_vocabulary([pa.array(["cat bird cat", "", "fish"])], ["cat", "dog"], settings, 1)
    assert batch.counts.toarray().tolist() == [[2, 0], [0, 0], [0, 0]]
    assert (batch.n_tokens, batch.n_unknown) == (4, 2)


def test_unknown_pairs_are_not_unknown_words():
    settings = CountSettings(ngram_range=(1, 2), **KEEP_ALL)
    (batch,) = count_with_vocabulary([pa.array(["cat dog bird"])], ["cat", "cat dog", "dog"], settings, 1)
    assert batch.counts.toarray().tolist() == [[1, 1, 1]]
    assert (batch.n_tokens, batch.n_unknown) == (3, 1)


def test_a_vocabulary_keeps_its_own_order():
    settings = CountSettings(**KEEP_ALL)
    (batch,) = count_with_vocabulary([pa.array(["cat dog dog"])], ["dog", "zebra", "cat"], settings, 1)
    assert batch.counts.toarray().tolist() == [[2, 0, 1]]
    assert batch.counts.has_sorted_indices


@pytest.mark.parametrize("n_threads", [1, 2])
def test_new_texts_are_read_as_they_are_needed(n_threads):
    taken = []

    def endless():
        while True:
            taken.append(1)
            yield pa.array(["cat"])

    batches = count_with_vocabulary(endless(), ["cat"], CountSettings(**KEEP_ALL), n_threads)
    next(batches)
    assert len(taken) <= n_threads + 1
    batches.close()


@pytest.mark.parametrize("vocabulary", [[], ["cat", "cat"]])
def test_unusable_vocabularies_are_refused(vocabulary):
    with pytest.raises(InputError, match=f"has {len(vocabulary)} words"):
        list(count_with_vocabulary([pa.array(["cat"])], vocabulary, CountSettings(), 1))


def test_an_error_of_the_reader_comes_through():
    def broken():
        yield pa.array(["cat"])
        raise InputError("row 7 is broken")

    for n_threads in (1, 2):
        with pytest.raises(InputError, match="row 7"):
            count_texts(broken(), CountSettings(), n_threads)


@pytest.mark.parametrize("batches", [[], [pa.array([], type=pa.string())]])
def test_no_documents(batches):
    with pytest.raises(InputError, match="no documents"):
        count_texts(batches, CountSettings(), 1)


def test_only_stop_words_and_numbers():
    with pytest.raises(
        InputError,
        match=r"no word is left of 5 words and numbers.*2 documents.*2 letters; give texts, or change stop_words",
    ):
        counted(["the and", "1993 of a"])


def test_empty_texts_only():
    with pytest.raises(InputError, match="no word is left of 0 words"):
        counted(["", "..."])


def test_no_word_between_min_df_and_max_df():
    few, many = "2 are in fewer than 3", r"1 is in more than 3\.2"
    message = f"of 3 different words in 4 documents, {few} and {many} documents; lower min_df or raise max_df$"
    with pytest.raises(InputError, match=message):
        counted(["cat dog", "cat", "cat", "cat bird"], min_df=3, max_df=0.8)
    with pytest.raises(InputError, match="of 2 different words in 2 documents, 2 are in more than 1 document; raise"):
        counted(["cat dog"] * 2)
    with pytest.raises(
        InputError, match=r"1 different word in 2 documents, 1 is in fewer than 3 documents; lower min_df$"
    ):
        counted(["cat", ""], min_df=3)
    with pytest.raises(InputError, match="1 document: topics are what documents share, so give at least 2; divide"):
        counted(["cat"])


def test_text_batches_are_bounded_and_whole(monkeypatch):
    monkeypatch.setattr("anchorless._corpus.counting.TEXTS_PER_BATCH", 3)
    monkeypatch.setattr("anchorless._corpus.counting.CHARACTERS_PER_BATCH", 10)
    texts = ["a", "b", "c", "d" * 50, "e", "", "f" * 10, "g"]
    batches = [batch.to_pylist() for batch in batch_texts(iter(texts))]
    assert batches == [["a", "b", "c"], ["d" * 50], ["e", "", "f" * 10], ["g"]]
    assert list(batch_texts([])) == []


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ("one text", "documents are str"),
        (b"bytes", "documents are bytes"),
        (7, "documents are int"),
        (["a", None], r"document 1 has no text: it is None"),
        (["a", b"b"], r"document 1 is b'b' \(bytes\)"),
        ([float("nan")], r"document 0 has no text: it is nan"),
        (["a", "b\udc80"], "document 1 is not valid Unicode"),
        (["a"] * 2000 + ["\ud800"], "document 2000 is not valid Unicode"),
    ],
)
def test_what_is_no_text_is_named(documents, message):
    with pytest.raises(InputError, match=message):
        list(batch_texts(documents))
