"""Files that are one document each: the text that is in them comes out, and what cannot be read is said."""

import io
import random
import sys
from email.policy import EmailPolicy

import pytest

from anchorless._corpus.io import docx, mail, pdf
from anchorless._corpus.io.batches import SkipLog
from anchorless._corpus.io.docx import extract_docx
from anchorless._corpus.io.mail import iter_mailbox, parse_mail
from anchorless._corpus.io.readers import open_texts
from anchorless._corpus.io.subtitles import extract_subtitles
from anchorless._corpus.io.web import extract_html, extract_markdown
from anchorless.errors import InputError, UsageError
from tests.helpers.text_files import make_docx, make_mail, make_mbox, make_pdf, make_srt, make_zip

NEEDS_PDF = "PDF files need the extra pdf"
SENTENCE = "The boat (a \\ small one) went down the river."
CONTENTS = {
    "a.txt": SENTENCE.encode(),
    "a.md": f"---\ntitle: x\n---\n# Head\n\n{SENTENCE}\n".encode(),
    "a.html": f"<html><head><style>p {{}}</style></head><body><p>{SENTENCE}</p></body></html>".encode(),
    "a.pdf": make_pdf([SENTENCE]),
    "a.docx": make_docx([SENTENCE]),
    "a.eml": make_mail(SENTENCE),
    "a.srt": make_srt([SENTENCE]).encode(),
    "a.vtt": b"WEBVTT\n\nNOTE a remark\n\n" + make_srt([SENTENCE]).replace(",", ".").encode(),
    "a.mbox": make_mbox([make_mail(SENTENCE)]),
}


def read(path, **options):
    with open_texts(path, **options) as source:
        return [text for batch in source for text in batch.texts.to_pylist()], source


def rows(path, **options):
    with open_texts(path, **options) as source:
        return [row for batch in source for row in batch.other_columns.to_pylist()]


@pytest.mark.parametrize("name", CONTENTS)
def test_the_sentence_is_in_a_file_alone_and_in_a_folder(tmp_path, name):
    if name == "a.pdf":
        pytest.importorskip("pypdf", reason=NEEDS_PDF)
    (tmp_path / name).write_bytes(CONTENTS[name])
    for path in (tmp_path / name, tmp_path):
        texts, source = read(path)
        assert len(texts) == 1
        assert SENTENCE in " ".join(texts[0].split())
        assert not any(mark in texts[0] for mark in ("<", "-->", "title:", "Date:"))
        assert source.sha256()
        assert source.bytes_read == source.bytes_total == len(CONTENTS[name])


def test_a_mixed_folder_says_what_was_read_and_what_not(tmp_path):
    for number in range(150):
        (tmp_path / f"{number}.md").write_text("# A head\n\nsome words")
        (tmp_path / f"{number}.txt").write_text("some words")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    (tmp_path / "meta.csv").write_text("a,b\n1,2\n")
    (tmp_path / "old.doc").write_bytes(b"\xd0\xcf\x11\xe0")
    texts, source = read(tmp_path)
    assert len(texts) == 300
    assert source.describe_reading() == [
        "read 150 .md files and 150 .txt files; not read: 1 .csv file (tables have a document in each row: name them "
        "instead of the folder), 1 .doc file (save them as .docx), 1 .png file (not a format of texts that is read)"
    ]


def test_a_damaged_file_in_a_folder_is_skipped_by_name_and_alone_it_is_an_error(tmp_path):
    pytest.importorskip("pypdf", reason=NEEDS_PDF)
    (tmp_path / "good.txt").write_text("a text")
    for name in ("a.pdf", "a.docx", "a.mbox"):
        (tmp_path / name).write_bytes(b"nothing of the kind")
    texts, source = read(tmp_path)
    assert texts == ["a text"]
    (sentence,) = [text for text in source.describe_reading() if text.startswith("skipped")]
    assert sentence.startswith("skipped 3 files that could not be read (files a.docx, a.mbox, a.pdf; 1: it is not a")
    for name in ("a.pdf", "a.docx"):
        with pytest.raises(InputError, match=rf"cannot read .*{name}: it is not a readable"):
            read(tmp_path / name)


def test_each_reason_for_which_files_cannot_be_read_is_said_with_their_number():
    skips = SkipLog("folder", "file")
    for name, detail in (("a.pdf", "it is damaged"), ("b.pdf", "it has no text"), ("c.pdf", "it has no text")):
        skips.add("unreadable", name, detail)
    sentence = "skipped 3 files that could not be read (files a.pdf, b.pdf, c.pdf; 2: it has no text; 1: it is damaged)"
    assert skips.describe_all() == [sentence]


def test_a_missing_extra_is_said_with_the_command_that_installs_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pypdf", None)
    (tmp_path / "a.pdf").write_bytes(make_pdf(["x"]))
    (tmp_path / "b.txt").write_text("x")
    for path in (tmp_path / "a.pdf", tmp_path):
        with pytest.raises(UsageError, match=r"pip install 'anchorless\[pdf\]'"):
            read(path)


def test_pages_of_a_pdf_follow_each_other_and_divided_words_are_joined():
    pytest.importorskip("pypdf", reason=NEEDS_PDF)
    text = pdf.extract_pdf(io.BytesIO(make_pdf(["the first exam-\nple of a page", "the second page"])))
    assert "example of a page" in text
    assert text.index("first") < text.index("second")


def test_a_pdf_without_text_is_said_to_be_scanned():
    pytest.importorskip("pypdf", reason=NEEDS_PDF)
    with pytest.raises(InputError, match="scanned pictures"):
        pdf.extract_pdf(io.BytesIO(make_pdf([" "])))


# --- Word


def test_paragraphs_and_headings_of_a_word_document():
    assert extract_docx(io.BytesIO(make_docx(["# Title", "one & two", "three"]))) == "# Title\n\none & two\n\nthree"


ENTITIES = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b SYSTEM "file:///etc/passwd">]>'


def test_entities_of_a_word_document_are_refused():
    with pytest.raises(InputError, match="document type"):
        extract_docx(io.BytesIO(make_docx(["x"], doctype=ENTITIES)))


def test_a_word_document_that_unpacks_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(docx, "MAX_XML", 1 << 20)
    with pytest.raises(InputError, match="unpacks to more than"):
        extract_docx(io.BytesIO(make_docx(["x " * (1 << 20)])))


@pytest.mark.parametrize(
    "content", [make_zip({"other.xml": "x"}), make_zip({"word/document.xml": "<a><b></a>"}), b"PK"]
)
def test_what_is_no_word_document_is_refused(content):
    with pytest.raises(InputError, match=r"no part|damaged|not a readable"):
        extract_docx(io.BytesIO(content))


@pytest.mark.parametrize("name", ["zlib", "rot13", "idna", "utf-16", "klingon"])
def test_a_word_document_in_what_is_no_encoding_is_refused(name):
    content = make_docx(["text"], f'<?xml version="1.0" encoding="{name}"?>')
    with pytest.raises(InputError, match=r"XML is damaged|not a readable Word document"):
        extract_docx(io.BytesIO(content))


def test_a_tag_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(docx, "BUFFER", 1000)
    monkeypatch.setattr(docx, "MAX_TAG", 5000)
    texts = [f"{n} " + "word " * 3000 for n in range(20)]  # texts may be long
    found = extract_docx(io.BytesIO(make_docx(texts)))
    assert found.split() == " ".join(texts).split()
    content = make_docx(["text"], f"<!--{'x' * 20_000}-->")
    with pytest.raises(InputError, match="its XML has a tag of more than 5,000 bytes"):
        extract_docx(io.BytesIO(content))


# --- mails


def test_a_mail_has_its_subject_and_body_and_no_attachment():
    data = (
        b"From: =?utf-8?q?J=C3=BCrgen?= <j@example.org>\nSubject: =?utf-8?b?w7xiZXI=?=\n"
        b"Date: Mon, 02 Jan 2023 10:00:00 +0100\n"
        b'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="b"\n\n--b\nContent-Type: text/html\n\n'
        b"<p>the <b>body</b></p>\n--b\nContent-Type: image/png\n"
        b"Content-Transfer-Encoding: base64\n\niVBORw0KGgo=\n--b--\n"
    )
    found = parse_mail(data)
    assert found.text.split() == ["über", "the", "body"]
    assert found.fields == {
        "subject": "über",
        "from": "Jürgen <j@example.org>",
        "date": "2023-01-02T10:00:00+01:00",
    }


def test_mails_of_a_mailbox_are_documents_with_columns(tmp_path):
    mails = [make_mail(f"text {n}\nFrom here on", subject=f"subject {n}") for n in range(5)]
    (tmp_path / "a.mbox").write_bytes(make_mbox(mails))
    texts, _ = read(tmp_path / "a.mbox")
    assert texts == [f"subject {n}\n\ntext {n}\nFrom here on" for n in range(5)]
    columns = rows(tmp_path / "a.mbox")
    assert [row["id"] for row in columns] == ["1", "2", "3", "4", "5"]
    assert columns[3]["subject"] == "subject 3"
    assert columns[0]["date"] == "2023-01-02T10:00:00+00:00"


def test_a_mailbox_is_cut_where_mails_begin_and_large_mails_are_skipped(monkeypatch):
    monkeypatch.setattr(mail, "MAX_MAIL_SIZE", 1000)
    small, large = make_mail("small"), make_mail("words " * 1000)
    assert [*iter_mailbox(io.BytesIO(make_mbox([small, large, small])))] == [small + b"\n", None, small + b"\n"]


def test_only_the_beginning_of_a_long_field_is_parsed(monkeypatch):
    parse, lengths = EmailPolicy.header_fetch_parse, []

    def record(policy, name, value):
        lengths.append(len(value))
        return parse(policy, name, value)

    monkeypatch.setattr(EmailPolicy, "header_fetch_parse", record)
    fields = "".join(f"{name}: {'a@b.c, ' * 3000}\n" for name in ("From", "Subject", "Content-Disposition"))
    found = parse_mail(f"{fields}Date: Mon, 02 Jan 2023 10:00:00 +0000\n\nthe text\n".encode())
    assert found.text.endswith("\n\nthe text")
    assert found.fields["date"] == "2023-01-02T10:00:00+00:00"
    assert max(lengths) == mail.MAX_FIELD_LENGTH


def test_mails_in_each_other_without_end_are_refused():
    part = b"Content-Type: multipart/mixed; boundary=%d\n\n--%d\n"
    with pytest.raises(InputError, match="parts in each other"):
        parse_mail(b"".join(part % (n, n) for n in range(2000)))


# --- subtitles, pages


def test_subtitles_are_the_spoken_lines():
    text = (
        "1\n00:00:01,000 --> 00:00:02,000\n<i>Hello</i>\nthere\n\n2\n00:00:02,000 --> 00:00:03,000\nthere\n{\\an8}7\n"
    )
    assert extract_subtitles(text) == "Hello\nthere\n7"


def test_pages_have_lines_for_paragraphs_and_headings():
    page = "<title>T</title><h2>One</h2><p>a <b>b</b>old&eacute;</p><script>var x='<p>';</script><ul><li>c</li></ul>"
    assert extract_html(page) == "T\n\n# One\n\na boldé\n\nc"


def test_a_page_names_its_encoding(tmp_path):
    (tmp_path / "a.html").write_bytes('<meta charset="latin-1"><p>café</p>'.encode("latin-1"))
    assert read(tmp_path / "a.html")[0] == ["café"]


@pytest.mark.parametrize("name", ["punycode", "idna", "zlib", "undefined", "klingon"])
def test_a_page_that_names_what_is_no_encoding_is_utf_8(tmp_path, name):
    (tmp_path / "a.html").write_bytes(f'<meta charset="{name}"><p>café</p>'.encode())
    assert read(tmp_path / "a.html")[0] == ["café"]


def test_markdown_keeps_text_and_headings_and_drops_addresses():
    text = extract_markdown("# Head\n\nSee [the page](http://x.y/z) and ![pic](a.png).\n\n[1]: http://x.y\n")
    assert text == "# Head\n\nSee the page and pic."


@pytest.mark.parametrize("name", ["a.docx", "a.eml", "a.srt", "a.html", "a.md", "a.mbox", "a.pdf"])
def test_mutated_files_are_read_or_refused(tmp_path, name):
    if name == "a.pdf":
        pytest.importorskip("pypdf", reason=NEEDS_PDF)
    rng = random.Random(name)
    for number in range(30):
        content = bytearray(CONTENTS[name])
        for _ in range(rng.randint(1, 6)):
            content[rng.randrange(len(content))] = rng.randrange(256)
        path = tmp_path / f"{number}{name[1:]}"
        path.write_bytes(bytes(content))
    try:
        texts, source = read(tmp_path)
    except InputError:
        return
    assert len(texts) + sum(source.skipped.counts.values()) >= 1


def test_results_of_an_earlier_fit_inside_a_folder_are_no_texts(tmp_path):
    (tmp_path / "a.html").write_text("<p>some words</p>")
    results = tmp_path / "sub" / "a-topics"
    results.mkdir(parents=True)
    for name in ("model.anchorless", "run.json", "report.html"):
        (results / name).write_text("a report")
    texts, source = read(tmp_path)
    assert texts == ["some words"]
    assert source.describe_reading() == ["read 1 .html file; not read: the folder sub/a-topics (results of anchorless)"]
    assert len(read(results)[0]) == 1  # named, it is read


def test_many_kinds_of_files_are_grouped_by_the_reason(tmp_path):
    (tmp_path / "a.txt").write_text("some words")
    for number in range(30):
        (tmp_path / f"a.x{number:02d}").write_text("")
    (tmp_path / "b.x07").write_text("")
    (described,) = read(tmp_path)[1].describe_reading()
    assert "2 .x07 files" in described
    assert described.endswith("and 20 files of 20 other kinds (not a format of texts that is read)")
