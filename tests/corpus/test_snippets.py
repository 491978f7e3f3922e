from contextlib import closing

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from anchorless._corpus.documents import Documents
from anchorless._corpus.snippets import SNIPPET_LENGTH, SnippetFile, build_word_snippets, extract_snippets

TEXTS = ["short", "", "  two\n\tlines \r\n", "日本語" * 500, "x" * 5000, "ä" * SNIPPET_LENGTH, "a\0b", "  \n "]


def one_line(text):
    line = " ".join(text.split())
    return line if len(line) <= SNIPPET_LENGTH else line[: SNIPPET_LENGTH - 1] + "…"


def batches(texts, size, type_):
    for start in range(0, len(texts), size):
        yield pa.array(texts[start : start + size], type_)


@pytest.mark.parametrize("type_", [pa.string(), pa.large_string()])
@pytest.mark.parametrize("size", [1, 3, 100])
def test_the_spool_gives_back_what_passed(type_, size):
    with closing(SnippetFile()) as spool:
        passed = [text for batch in spool.tee(batches(TEXTS, size, type_)) for text in batch.to_pylist()]
        assert passed == TEXTS
        positions = [4, 0, 7, 1, 2, 3, 5, 6, 4]
        assert spool.take(positions) == [one_line(TEXTS[i]) for i in positions]
        assert spool.take([]) == []


def test_a_slice_of_an_array_is_taken_down_as_such():
    with closing(SnippetFile()) as spool:
        spool.add(pa.array(["a", "b", "c", "d"])[1:3])
        assert spool.take([0, 1]) == ["b", "c"]


def test_much_white_space_shortens_a_snippet_but_never_lengthens_it():
    (snippet,) = extract_snippets(pa.array(["a" + " " * 5000 + "b"])).to_pylist()
    assert snippet == "a"


def test_a_long_snippet_ends_at_a_word():
    (snippet,) = extract_snippets(pa.array(["some words of seven " * 100])).to_pylist()
    assert len(snippet) <= SNIPPET_LENGTH
    assert snippet.endswith("…")
    assert set(snippet[:-1].split()) == {"some", "words", "of", "seven"}


def test_documents_without_text_show_their_heaviest_words():
    X = sp.csr_matrix(np.array([[0.0, 2.0, 1.0], [0, 0, 0], [3.0, 0, 3.0], [0, 0, 1.0]]))
    documents = Documents([X[:1], X[1:3], X[3:]])
    words = ["a", "b", "c"]
    assert build_word_snippets(documents, words, [0, 1, 2, 3]) == ["b c", "", "a c", "c"]
    assert build_word_snippets(documents, words, [3, 0]) == ["c", "b c"]


def test_snippets_of_mail_begin_after_the_header():
    mail = "From: a@b.org\nSubject: bread\n\n> quoted\nBread needs time.\n"
    with closing(SnippetFile(email=True)) as spool:
        spool.add(pa.array([mail, "no mail"]))
        first, second = spool.take([0, 1])
    assert "From" not in first
    assert "Bread needs time." in first
    assert second == "no mail"
