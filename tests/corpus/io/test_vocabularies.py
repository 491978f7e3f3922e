import gzip
from pathlib import Path

import pytest

from anchorless._corpus.io import vocabularies
from anchorless._corpus.io.vocabularies import find_vocabulary, get_stem, read_vocabulary
from anchorless.errors import InputError


def words_in(tmp_path, content):
    path = tmp_path / "v.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_vocabulary(path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_one_word_per_line(tmp_path, encoding, end):
    assert words_in(tmp_path, end.join(["one", "naïve", "new york", "", ""]).encode(encoding)) == [
        "one",
        "naïve",
        "new york",
    ]


def test_a_packed_vocabulary_is_unpacked(tmp_path):
    assert words_in(tmp_path, gzip.compress(b"one\ntwo\n")) == ["one", "two"]


def test_gensim_dictionaries_are_put_in_the_order_of_their_ids(tmp_path):
    assert words_in(tmp_path, "3\n2\tcat\t5\n0\tdog\t1\n3\tnew york\t9\n") == ["dog", "word_1", "cat", "new york"]
    assert words_in(tmp_path, "1\tcat\t5\n0\tdog\t1\n") == ["dog", "cat"]  # as older versions wrote it


def test_gensim_itself_writes_what_is_read(tmp_path):
    corpora = pytest.importorskip("gensim.corpora")
    dictionary = corpora.Dictionary([["b", "a", "naïve"], ["c", "a"]])
    for sort_by_word in (True, False):
        dictionary.save_as_text(str(tmp_path / "d.txt"), sort_by_word=sort_by_word)
        assert read_vocabulary(tmp_path / "d.txt") == [dictionary[place] for place in range(4)]


def test_columns_without_a_word_get_a_name(tmp_path):
    assert words_in(tmp_path, "one\n---\n---\ntwo\n") == ["one", "word_1", "word_2", "two"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"\n\n", "empty"),
        (b"one\n\ntwo\n", "word 2 is ''"),
        (b"one\ntwo\none\n", "words 1 and 3 are both 'one'"),
        (b"one\ncaf\xe9\n", "line 2: byte 0xe9"),
        (b"nonsense\n0\tdog\t1\n", "the last line is id, word and number"),
        (b"0\ta\t1\n999999999\tb\t1\n", "number them 0, 1, 2"),
        (b"\x89PNG\0\0", "not text"),
    ],
)
def test_bad_vocabularies_are_refused(tmp_path, content, words):
    with pytest.raises(InputError, match=words):
        words_in(tmp_path, content)


@pytest.mark.parametrize(
    ("counts", "format", "vocabulary"),
    [
        ("a.npz", "npz", "a.vocab.txt"),
        ("a.mtx.gz", "mtx", "a.vocab.txt.gz"),
        ("a.mat", "mat", "a.words.txt"),
        ("a.mm", "mtx", "a.dict.txt"),
        ("wiki_bow.mm", "mtx", "wiki_wordids.txt"),
        ("docword.nips.txt.gz", "uci", "vocab.nips.txt"),
        ("docword.nips.txt", "uci", "docword.nips.txt.vocab"),
        ("a.lda-c", "ldac", "a.lda-c.vocab"),
        ("ap.dat", "ldac", "vocab.txt"),
    ],
)
def test_customary_names_are_found(tmp_path, counts, format, vocabulary):
    path = tmp_path / counts
    assert find_vocabulary(path, format) is None
    (tmp_path / vocabulary).touch()
    assert find_vocabulary(path, format) == tmp_path / vocabulary


def test_a_vocabulary_of_everything_is_taken_for_ldac_only(tmp_path):
    (tmp_path / "vocab.txt").touch()
    assert find_vocabulary(tmp_path / "a.npz", "npz") is None


def test_the_stem_is_without_endings():
    assert get_stem(Path("x/docword.nips.txt.gz")) == "nips"
    assert get_stem(Path("x/a.b.npz")) == "a.b"


def test_an_id_of_thousands_of_digits_is_no_id(tmp_path):
    with pytest.raises(InputError, match="the last line is id, word and number of documents, but '999"):
        words_in(tmp_path, f"{'9' * 5000}\tone\t1\n1\ttwo\t1\n")


def test_a_vocabulary_of_more_lines_than_fit_into_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(vocabularies, "MAX_LINES", 3)
    assert words_in(tmp_path, "a\nb\nc\n") == ["a", "b", "c"]
    with pytest.raises(InputError, match="has more than 3 lines"):
        words_in(tmp_path, "a\nb\nc\n\n")
