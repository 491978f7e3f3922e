"""Several inputs are one: documents in the order of the files, with the columns of all."""

import json

import pytest

from anchorless import Corpus
from anchorless._corpus.io.joined import expand_paths
from anchorless._corpus.io.readers import open_texts
from anchorless.errors import InputError, UsageError


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.csv").write_text("id,text,year\na1,first text,2001\na2,second text,2002\n")
    (tmp_path / "b.csv").write_text("text,id\nthird text,b1\n,b2\n")
    (tmp_path / "c.jsonl").write_text(json.dumps({"text": "fourth text", "year": 2004}) + "\n")
    (tmp_path / "d.md").write_text("fifth text")
    return tmp_path


def read(paths, **options):
    with open_texts(paths, **options) as source:
        found = [
            (text, row)
            for batch in source
            for row, text in zip(batch.other_columns.to_pylist(), batch.texts.to_pylist(), strict=True)
        ]
        return found, source


def test_documents_come_in_the_order_of_the_files_with_the_columns_of_all(files):
    found, source = read([files / name for name in ("a.csv", "b.csv", "c.jsonl", "d.md")])
    assert [text for text, _ in found] == [f"{word} text" for word in ("first", "second", "third", "fourth", "fifth")]
    assert [row["id"] for _, row in found] == ["a1", "a2", "b1", "c.jsonl:1", "d.md"]
    assert [row["year"] for _, row in found] == ["2001", "2002", None, "2004", None]
    assert [row["file"] for _, row in found] == ["a.csv", "a.csv", "b.csv", "c.jsonl", "d.md"]
    assert source.describe_reading() == [
        "columns that some files do not have are empty there: 'year' (2 of 4)",
        "b.csv: skipped 1 line without text (line 3)",
    ]
    assert source.bytes_read == source.bytes_total
    assert source.skip_counts == {"empty": 1}


def test_a_pattern_stands_for_its_files(files):
    by_pattern, source = read(str(files / "*.csv"))
    assert by_pattern == read([files / "a.csv", files / "b.csv"])[0]
    assert source.name.endswith("a.csv and 1 more")
    (files / "deep" / "er").mkdir(parents=True)
    (files / "deep" / "er" / "x.txt").write_text("one\ndocument")
    (files / "deep" / "y.txt").write_text("another")
    assert [text for text, _ in read(str(files / "**" / "*.txt"))[0]] == ["one\ndocument", "another"]
    with pytest.raises(InputError, match="no file matches"):
        read(str(files / "*.nothing"))


def test_a_folder_of_tables_is_read_as_tables(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text(f"text\ntext of {name}\n")
    assert [text for text, _ in read(tmp_path)[0]] == ["text of a", "text of b"]


def test_texts_in_different_columns_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("id,text\n1,x\n")
    (tmp_path / "b.csv").write_text("id,body\n1,x\n")
    with pytest.raises(UsageError, match=r"in column 'text' of a\.csv, but in 'body' of b\.csv"):
        read([tmp_path / "a.csv", tmp_path / "b.csv"])


def test_an_id_in_two_files_is_noted(tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("id,text\n1,x\n2,y\n")
    _, source = read([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert source.describe_reading() == [
        "found 2 documents with an id that an earlier document has (the first: '1' in b.csv)"
    ]


@pytest.mark.parametrize("paths", [["a.csv", "a.csv"], ["-", "-"], []])
def test_what_cannot_be_read_twice_is_refused(paths):
    with pytest.raises(UsageError):
        expand_paths(paths)


def interrupt(corpus):
    """Leave the counts on disk, as a run that is ended does."""
    with pytest.raises(KeyboardInterrupt), corpus:
        raise KeyboardInterrupt


def test_counting_on_disk_resumes_only_with_the_same_files(files, tmp_path):
    paths = [files / "a.csv", files / "b.csv"]
    store = tmp_path / "store"
    interrupt(Corpus.read(paths, memory=1000, store=store))
    with Corpus.read(paths, memory=1000, store=store) as again:
        assert any(note.startswith("continued after 3 documents") for note in again.notes)
        vocabulary = again.vocabulary
    with Corpus.read(paths) as in_memory:
        assert vocabulary == in_memory.vocabulary
    interrupt(Corpus.read(paths, memory=1000, store=store))
    (files / "b.csv").write_text("text,id\nanother text,b1\n")
    with Corpus.read(paths, memory=1000, store=store) as other:
        assert not any(note.startswith("continued") for note in other.notes)
