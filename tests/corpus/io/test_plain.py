import gzip
import io
import os
import random

import pytest

from anchorless._corpus.io import files, plain
from anchorless._corpus.io.batches import SkipLog
from anchorless._corpus.io.plain import TextFolder, read_line_chunks
from anchorless._corpus.io.readers import open_texts
from anchorless.errors import InputError, UsageError


def from_lines(content, strict=False):
    skips = SkipLog("a.txt", "line", strict=strict)
    stream = io.TextIOWrapper(io.BytesIO(content), "utf-8", errors="surrogateescape")
    chunks = list(read_line_chunks(stream, skips))
    return [row["text"] for chunk in chunks for row in chunk.table.to_pylist()], skips, chunks


def from_folder(path, strict=False, encoding="utf-8"):
    folder = TextFolder.from_folder(path, encoding)
    skips = SkipLog(folder.name, "file", strict=strict)
    chunks = list(folder.chunks(skips))
    texts = {chunk.ids[row]: chunk.table["text"][row].as_py() for chunk in chunks for row in range(len(chunk.ids))}
    return texts, skips, folder


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


# --- lines


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_each_line_is_a_document_named_by_its_number(end):
    texts, _, chunks = from_lines(end.join([b"one", b"", "zwei é".encode(), b"three"]))
    assert texts == ["one", "", "zwei é", "three"]
    assert chunks[0].ids == ["1", "2", "3", "4"]


def test_lines_come_in_chunks_and_in_order(monkeypatch):
    monkeypatch.setattr("anchorless._corpus.io.batches.ROWS_PER_CHUNK", 3)
    lines = [str(number) for number in range(10)]
    texts, _, chunks = from_lines("\n".join(lines).encode())
    assert texts == lines
    assert [len(chunk.ids) for chunk in chunks] == [3, 3, 3, 1]
    assert [place for chunk in chunks for place in chunk.places] == list(range(1, 11))


def test_undecodable_lines_are_skipped():
    texts, skips, _ = from_lines(b"one\ncaf\xe9\nthree\n")
    assert texts == ["one", "three"]
    assert skips.places["undecodable"] == [2]
    with pytest.raises(InputError, match=r"a\.txt, line 2: .*byte 0xe9 at character 4.*for example to cp1252"):
        from_lines(b"one\ncaf\xe9\nthree\n", strict=True)


def test_too_long_lines_are_skipped(monkeypatch):
    monkeypatch.setattr(plain, "iter_lines", lambda text: iter(["one\n", None, "three\n"]))
    texts, skips, _ = from_lines(b"")
    assert texts == ["one", "three"]
    assert skips.places["too long"] == [2]


# --- folders


def test_a_folder_is_read_with_all_folders_in_it(tmp_path):
    contents = {"b.txt": "two\nlines\n", "a/x.txt": "é", "a/deep/er/y.TXT": "y", "c.txt": "c"}
    for name, text in contents.items():
        write(tmp_path / name, text.encode())
    write(tmp_path / "z.txt.gz", gzip.compress(b"packed"))
    write(tmp_path / "picture.png", b"\x89PNG")
    write(tmp_path / ".hidden.txt", b"hidden")
    write(tmp_path / ".git" / "x.txt", b"hidden")
    texts, skips, folder = from_folder(tmp_path)
    assert texts == {**contents, "z.txt.gz": "packed"}
    assert skips.counts == {}
    assert folder.bytes_read == folder.bytes_total


def test_the_order_is_that_of_the_names_not_of_the_disk(tmp_path):
    names = [f"{number}.txt" for number in range(30)]
    random.Random(0).shuffle(names)
    for name in names:
        write(tmp_path / name, b"x")
    assert list(from_folder(tmp_path)[0]) == sorted(names)


def test_the_hash_is_that_of_names_and_contents(tmp_path):
    hashes = []
    for folder, name, text in [("p", "a", b"x"), ("q", "a", b"x"), ("r", "b", b"x"), ("s", "a", b"y")]:
        write(tmp_path / folder / f"{name}.txt", text)
        hashes.append(from_folder(tmp_path / folder)[2].sha256())
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 3


def test_a_folder_without_text_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"holds no \.txt file"):
        TextFolder.from_folder(tmp_path, "utf-8")
    write(tmp_path / "a.png", b"\x89PNG")
    with pytest.raises(InputError, match=r"holds no \.txt file, .*; give a folder with \.txt, \.md"):
        TextFolder.from_folder(tmp_path, "utf-8")


def test_files_that_cannot_be_read_as_text_are_skipped_by_name(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_ROW_LENGTH", 100)
    write(tmp_path / "a.txt", b"fine")
    write(tmp_path / "b.txt", b"%PDF-1.4")
    write(tmp_path / "c" / "d.txt", b"caf\xe9")
    write(tmp_path / "e.txt.gz", gzip.compress(b"cut off")[:-4])
    write(tmp_path / "f.txt", b"x" * 101)
    write(tmp_path / "g.txt", b"y" * 100)
    texts, skips, folder = from_folder(tmp_path)
    assert list(texts) == ["a.txt", "g.txt"]
    assert skips.places == {"binary": ["b.txt", "e.txt.gz"], "undecodable": ["c/d.txt"], "too long": ["f.txt"]}
    assert folder.bytes_read == folder.bytes_total
    with pytest.raises(InputError, match=r"file b\.txt: .*PDF"):
        from_folder(tmp_path, strict=True)


def test_the_encoding_holds_for_every_file(tmp_path):
    write(tmp_path / "a.txt", b"caf\xe9")
    assert from_folder(tmp_path, encoding="latin-1")[0] == {"a.txt": "café"}
    with pytest.raises(UsageError, match="no such text encoding"):
        open_texts(tmp_path, encoding="klingon")


def test_a_file_name_that_is_no_utf8_is_shown_as_well_as_can_be(tmp_path):
    try:
        write(tmp_path / os.fsdecode(b"caf\xe9.txt"), b"x")
    except OSError:
        return  # a system that has no such names
    assert from_folder(tmp_path)[0] == {"caf�.txt": "x"}


def test_a_folder_that_cannot_be_listed_is_an_error(tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(plain.os, "scandir", refuse)
    with pytest.raises(InputError, match="you have no permission to read it"):
        TextFolder.from_folder(tmp_path, "utf-8")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_pipes_and_broken_links_in_a_folder_are_skipped(tmp_path):
    (tmp_path / "a.txt").write_text("a text")
    os.mkfifo(tmp_path / "b.txt")
    os.symlink("nowhere", tmp_path / "c.txt")
    with open_texts(tmp_path) as source:
        texts = [text for batch in source for text in batch.texts.to_pylist()]
    assert texts == ["a text"]
    assert source.skipped.describe_all() == [
        "skipped 2 files with nothing to read: pipes, devices or broken links (files b.txt, c.txt)"
    ]
    with open_texts(tmp_path, strict=True) as source, pytest.raises(InputError, match=r"file b\.txt"):
        list(source)


def test_folders_in_each_other_without_end_are_an_error(tmp_path, monkeypatch):
    def walk(path, onerror):  # as Python 3.11 does it for a thousand folders
        yield path, [], ["a.txt"]
        raise RecursionError

    monkeypatch.setattr(plain.os, "walk", walk)
    with pytest.raises(InputError, match="are in each other too often; move the files"):
        TextFolder.from_folder(tmp_path, "utf-8")
