"""Junk in texts is noticed, with the number of documents and the option that helps; plain texts are left alone."""

import random
import textwrap

import pyarrow as pa
import pytest

from anchorless import Corpus, CountSettings
from anchorless._corpus.counting import clean_texts
from anchorless._corpus.text import boilerplate
from anchorless._corpus.text.boilerplate import LineCounter, drop_lines
from anchorless._corpus.text.junk import JunkCheck

RNG = random.Random(0)
WORDS = [f"word{n}" for n in range(500)]
PLAIN = [" ".join(RNG.choices(WORDS, k=40)) for _ in range(100)]
ALPHABET = "ABCDEFGHIJKLMNOPabcdefghijklmnop0123456789+/"
FOOTER = "This message is confidential and may be privileged."


def make_binary():
    return "".join("".join(RNG.choices(ALPHABET, k=76)) + "\n" for _ in range(5))


MAKERS = {
    "HTML markup": ("html", lambda text: f"<p>{text}</p>"),
    "mail headers": ("email", lambda text: f"From: a@b.c\nSubject: x\nDate: today\n\n{text}"),
    "encoded binaries": ("drop_boilerplate", lambda text: f"{text}\n{make_binary()}"),
    "a line that stands in many documents": ("drop_boilerplate", lambda text: f"{text}\n  {FOOTER} \n"),
}


def check(texts, ignored=()):
    found = JunkCheck(ignored)
    for start in range(0, len(texts), 33):
        found.add(pa.array(texts[start : start + 33]))
    return found


def test_plain_texts_have_no_junk():
    assert check(PLAIN).list_notes() == []
    assert check(["a < b and c > d, see <x> & y"] * 1 + PLAIN).list_notes() == []


@pytest.mark.parametrize("what", MAKERS)
def test_junk_is_counted_and_the_option_is_named(what):
    option, make = MAKERS[what]
    texts = [make(text) if number % 4 == 0 else text for number, text in enumerate(PLAIN)]
    (note,) = check(texts).list_notes()
    assert (note.what, note.n_documents, note.share) == (what, 25, 0.25)
    assert f"{{{option}}}" in note.remedy
    assert check(texts, [option]).list_notes() == []


def test_copies_and_long_texts_are_noticed():
    notes = {
        note.what: note
        for note in check([*PLAIN, *(f"{text} end" for text in PLAIN[:10]), "long " * 20_000]).list_notes()
    }
    assert notes["near-copies of earlier documents"].n_documents == 10
    assert notes["near-copies of earlier documents"].examples[0] == "document 101, like document 1"
    assert notes["texts of more than 50,000 characters"].n_documents == 1
    assert "{split=paragraph}" in notes["texts of more than 50,000 characters"].remedy


def test_the_notes_of_a_corpus_name_the_options():
    texts = [f"<p>{text}</p>" for text in PLAIN]
    with Corpus.from_texts(texts) as corpus:
        assert corpus.notes == ["HTML markup in 100 of 100 documents; html=True removes it"]
        assert [note.n_documents for note in corpus.data_notes] == [100]
    with Corpus.from_texts(texts, counting=CountSettings(html=True)) as corpus:
        assert corpus.notes == []


def test_lines_that_stand_in_many_documents_are_left_out_of_the_counts():
    texts = [f"{text}\n{FOOTER}" for text in PLAIN[:60]] + PLAIN[60:]
    settings = CountSettings(drop_boilerplate=True, max_df=1.0)
    with Corpus.from_texts(texts, counting=settings) as corpus, Corpus.from_texts(PLAIN, counting=settings) as plain:
        assert corpus.counting.boilerplate == (FOOTER,)
        assert corpus.vocabulary == plain.vocabulary
        assert (corpus.to_matrix() != plain.to_matrix()).nnz == 0
        assert any(note.startswith("left out lines") for note in corpus.notes)


def test_a_document_of_one_line_is_not_its_own_boilerplate():
    counter = LineCounter()
    counter.add(pa.array(["the same line of some length"] * 50))
    assert counter.list_frequent() == []


def test_lossy_counts_find_every_frequent_line_in_bounded_memory(monkeypatch):
    monkeypatch.setattr(boilerplate, "MAX_KEPT", 100)
    rng, counter, n = random.Random(1), LineCounter(), 3000
    texts = [
        "\n".join([f"a unique line with the number {number}", *([FOOTER] if rng.random() < 0.08 else [])])
        for number in range(n)
    ]
    for start in range(0, n, 7):
        counter.add(pa.array(texts[start : start + 7]))
    true = sum(FOOTER in text for text in texts)
    ((line, found),) = counter.list_frequent()
    assert line == FOOTER
    assert true - boilerplate.MAX_ERROR * n <= found <= true
    assert len(counter._counts) <= 107


def test_binaries_are_removed_before_lines_of_them_are_taken_for_quotations():
    quoted, other = "MAX>" + "'AX>" * 14 + "'", "M" + "<1D9&;" * 10
    mail = "From: a@b.c\nSubject: picture\n\nHere it is.\n" + f"{other}\n{quoted}\n{other}\n{quoted}\n" * 9 + "end\n"
    settings = CountSettings(email=True, drop_boilerplate=True)
    (left,) = clean_texts(pa.array([mail], pa.large_string()), settings).to_pylist()
    assert " ".join(left.split()) == "picture Here it is. end"


@pytest.mark.parametrize(
    "line", ["本邮件由系统自动发送，请勿直接回复此邮件。", "このメールは自動で送信されています。返信はできません。"]
)
def test_lines_without_spaces_are_boilerplate(line):
    counter = LineCounter()
    counter.add(pa.array([f"{n}\n{line}\n" for n in range(20)], pa.large_string()))
    assert counter.list_frequent() == [(line, 20)]


def test_only_whole_lines_are_removed():
    texts = pa.array([f"a {FOOTER} b", f"x\n\t{FOOTER}\r\ny", ""], pa.large_string())
    assert drop_lines(texts, (FOOTER,)).to_pylist() == [f"a {FOOTER} b", "x\n\ny", ""]


def write_book(folder, edit=str):
    words = ["".join(RNG.choices("aeinrst", k=6)) for _ in range(200)]
    sentences = (" ".join(RNG.choices(words, k=30)).capitalize() + "." for _ in range(60))
    lines = [textwrap.fill(edit(sentence), 60) for sentence in sentences]
    (folder / "book.txt").write_text("\n\n".join(lines))
    return folder / "book.txt"


def list_data_notes(path, **settings):
    with Corpus.read(path, counting=CountSettings(**settings)) as corpus:
        return corpus.data_notes


def test_lines_of_a_book_are_noticed_but_not_lines_that_are_documents(tmp_path):
    book = write_book(tmp_path)
    (note,) = list_data_notes(book)
    assert note.what == "lines that go on in the next one"
    assert "{split=paragraph}" in note.remedy
    assert note.share > 0.5
    assert not list_data_notes(book, split="paragraph")
    assert not check(book.read_text().splitlines()).list_notes()  # not of a file: nothing else to read
    assert not list_data_notes(write_book(tmp_path, str.lower))  # words without sentences
    (tmp_path / "a.txt").write_text("\n".join(text.capitalize() for text in PLAIN))
    assert not list_data_notes(tmp_path / "a.txt")
