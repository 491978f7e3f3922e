"""Every format through the command line: the counts are those of the same texts in a CSV file."""

import json
import random

import numpy as np
import pytest
import scipy.sparse as sp

from tests.helpers.command_runs import read_csv, run
from tests.helpers.text_files import (
    make_docx,
    make_mail,
    make_mbox,
    make_ods,
    make_pdf,
    make_srt,
    make_tar,
    make_xlsx,
    make_zip,
)

__all__ = ["run"]

THEMES = [["river", "bank", "water", "fish", "boat"], ["stock", "market", "price", "bond", "trade"]]
RNG = random.Random(0)
TEXTS = [" ".join(RNG.choices(THEMES[n % 2], k=25)) for n in range(24)]
EXTRAS = {"xlsx": "python_calamine", "ods": "python_calamine", "pdf": "pypdf"}


def write_folder(folder, ending, make):
    folder.mkdir()
    for number, text in enumerate(TEXTS):
        (folder / f"{number:02}.{ending}").write_bytes(make(text))
    return folder


MEMBERS = {f"{number:02}.txt": text.encode() for number, text in enumerate(TEXTS)}


ROWS = [["id", "text"], *([f"d{n}", text] for n, text in enumerate(TEXTS))]
FILES = {
    "csv": lambda: "\n".join(",".join(row) for row in ROWS).encode(),
    "tsv": lambda: "\n".join("\t".join(row) for row in ROWS).encode(),
    "jsonl": lambda: "".join(json.dumps({"text": text}) + "\n" for text in TEXTS).encode(),
    "json": lambda: json.dumps({"data": [{"text": text} for text in TEXTS]}).encode(),
    "txt": lambda: "\n".join(TEXTS).encode(),
    "xlsx": lambda: make_xlsx({"Sheet1": ROWS}),
    "ods": lambda: make_ods(ROWS),
    "zip": lambda: make_zip(MEMBERS),
    "tar": lambda: make_tar(MEMBERS),
    "tar.gz": lambda: make_tar(MEMBERS, "w:gz"),
    "mbox": lambda: make_mbox([make_mail(text, subject="the") for text in TEXTS]),
}
DOCUMENTS = {
    "md": lambda text: f"# the\n\n{text}".encode(),
    "html": lambda text: f"<html><body><p>{text}</p></body></html>".encode(),
    "pdf": lambda text: make_pdf([text.replace(" ", "\n")]),
    "docx": lambda text: make_docx([text]),
    "eml": lambda text: make_mail(text, subject="the"),
    "srt": lambda text: make_srt([text]).encode(),
    "vtt": lambda text: b"WEBVTT\n\n" + make_srt([text]).replace(",", ".").encode(),
}


@pytest.fixture
def expected(tmp_path):
    words = sorted(set(" ".join(TEXTS).split()))
    return np.array([[text.split().count(word) for word in words] for text in TEXTS])


def check(run, tmp_path, expected, *inputs):
    ran = run("convert", *inputs, "out.npz", "--force", "--max-df", "1.0")
    assert ran.code == 0, ran.err
    np.testing.assert_array_equal(sp.load_npz(tmp_path / "out.npz").toarray(), expected)
    return ran


@pytest.mark.parametrize("ending", FILES)
def test_a_file_of_every_format(run, tmp_path, expected, ending):
    if ending in EXTRAS:
        pytest.importorskip(EXTRAS[ending], reason=f".{ending} files need an extra")
    (tmp_path / f"a.{ending}").write_bytes(FILES[ending]())
    check(run, tmp_path, expected, f"a.{ending}")


@pytest.mark.parametrize("ending", DOCUMENTS)
def test_a_folder_and_a_pattern_of_every_kind_of_document(run, tmp_path, expected, ending):
    if ending in EXTRAS:
        pytest.importorskip(EXTRAS[ending], reason=f".{ending} files need an extra")
    write_folder(tmp_path / "texts", ending, DOCUMENTS[ending])
    check(run, tmp_path, expected, "texts")
    check(run, tmp_path, expected, f"texts/*.{ending}")


def test_several_files_and_what_was_not_read(run, tmp_path, expected):
    lines = FILES["csv"]().decode().split("\n")
    (tmp_path / "a.csv").write_text("\n".join(lines[:13]))
    (tmp_path / "b.csv").write_text("\n".join([lines[0], *lines[13:]]))
    ran = check(run, tmp_path, expected, "a.csv", "b.csv")
    assert "read 24 documents from a.csv and 1 more" in ran.err
    write_folder(tmp_path / "texts", "md", DOCUMENTS["md"])
    (tmp_path / "texts" / "x.png").write_bytes(b"\x89PNG")
    ran = check(run, tmp_path, expected, "texts")
    assert "read 24 .md files; not read: 1 .png file (not a format of texts that is read)" in ran.err


def test_long_documents_are_divided_in_fit_and_apply(run, tmp_path):
    books = ["\n\n".join(TEXTS[:14]), "\n\n".join(TEXTS[14:])]
    (tmp_path / "books").mkdir()
    for name, book in zip(("a", "b"), books, strict=True):
        (tmp_path / "books" / f"{name}.txt").write_text(book)
    ran = run("fit", "books", "-k", "2", "--split", "paragraph", "--max-df", "1.0", "-o", "out")
    assert ran.code == 0, ran.err
    assert "divided 2 documents at paragraphs into 24 parts" in ran.err
    parts, whole = read_csv(tmp_path / "out" / "documents.csv"), read_csv(tmp_path / "out" / "whole_documents.csv")
    assert [row[:2] for row in parts[1:3]] == [["a.txt#1", "a.txt"], ["a.txt#2", "a.txt"]]
    assert [row[:3] for row in whole] == [
        ["document", "parts", "tokens"],
        ["a.txt", "14", "350"],
        ["b.txt", "10", "250"],
    ]
    shares = np.array([row[-2:] for row in parts[1:]], dtype=float)
    means = [shares[:14].mean(axis=0), shares[14:].mean(axis=0)]  # all parts have 25 tokens
    np.testing.assert_allclose(np.array([row[-2:] for row in whole[1:]], dtype=float), means, atol=2e-6)
    assert run("apply", "out", "books", "-o", "applied.csv").code == 0
    assert read_csv(tmp_path / "applied.csv") == parts
    ran = run("apply", "out", "books", "-o", "whole.csv", "--whole")
    assert ran.code == 0, ran.err
    found = read_csv(tmp_path / "whole.csv")
    assert [row[:3] for row in found] == [row[:3] for row in whole]
    np.testing.assert_allclose(np.array([row[-2:] for row in found[1:]], dtype=float), means, atol=2e-6)


@pytest.mark.parametrize(("how", "code"), [("sentence", 2), ("3", 2), ("-5", 2)])
def test_an_unknown_split_is_refused(run, tmp_path, how, code):
    (tmp_path / "a.txt").write_text("x")
    ran = run("convert", "a.txt", "a.npz", f"--split={how}")
    assert ran.code == code
    assert "paragraph, section, or a number of words" in ran.err
