import gzip
import json

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from anchorless._corpus.corpus import Corpus
from anchorless._corpus.disk.documents import StoredDocuments
from anchorless._corpus.io.batches import EncodingError
from anchorless._corpus.io.readers import open_texts
from anchorless._corpus.settings import CountSettings
from anchorless.errors import InputError, UsageError
from tests.helpers.planted_texts import planted_texts

TEXTS, _ = planted_texts(120)
X = np.array([[1, 0, 2], [0, 1, 1], [1, 2, 0]])


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "texts.jsonl"
    rows = [{"key": f"k{i}", "text": text, "label": "ab"[i % 2], "year": 1990 + i % 5} for i, text in enumerate(TEXTS)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def dense(corpus):
    return corpus.to_matrix().toarray()


def small_memory(monkeypatch):
    monkeypatch.setattr("anchorless._corpus.storage.BASE_MEMORY", 0)


def test_texts_and_files_give_the_same_corpus(file):
    with Corpus.from_texts(TEXTS) as expected, Corpus.read(file, text_column="text", id_column="key") as found:
        assert found.vocabulary == expected.vocabulary
        np.testing.assert_array_equal(dense(found), dense(expected))
        assert found.n_tokens == expected.n_tokens == dense(expected).sum()
        assert found.metadata.ids.to_pylist()[:2] == ["k0", "k1"]
        assert found.metadata.labels.to_pylist()[:2] == ["a", "b"]
        assert found.metadata.dates.to_pylist()[:2] == ["1990", "1991"]
        assert found.take_snippets([3]) == expected.take_snippets([3]) == [TEXTS[3][:300]]
        assert found.source["documents"] == len(TEXTS)
        table = pa.concat_tables(found.iter_columns())
        assert table.column_names == ["id", "label", "year"]
        assert len(table) == len(TEXTS)


@pytest.mark.parametrize("form", ["list", "iterator", "path", "source", "gzip"])
def test_large_texts_are_counted_on_disk(file, form, monkeypatch):
    small_memory(monkeypatch)
    if form == "gzip":
        packed = file.with_suffix(".jsonl.gz")
        packed.write_bytes(gzip.compress(file.read_bytes()))
        file = packed
    make = {
        "list": lambda memory: Corpus.from_texts(TEXTS, memory=memory),
        "iterator": lambda memory: Corpus.from_texts(iter(TEXTS), memory=memory),
        "path": lambda memory: Corpus.read(file, text_column="text", memory=memory),
        "source": lambda memory: Corpus.read(open_texts(file, text_column="text"), memory=memory),
        "gzip": lambda memory: Corpus.read(file, text_column="text", memory=memory),
    }[form]
    with make("1GB") as expected, make("10KB") as found:
        assert expected.documents.in_memory
        assert isinstance(found.documents, StoredDocuments)
        assert found.vocabulary == expected.vocabulary
        np.testing.assert_array_equal(dense(found), dense(expected))
        folder = found.documents.folder.path
        assert folder.is_dir()
    assert not folder.exists()


def test_a_named_store_stays_after_an_error_and_goes_after_a_success(file, tmp_path, monkeypatch):
    small_memory(monkeypatch)
    store = tmp_path / "counts"
    with pytest.raises(ZeroDivisionError), Corpus.read(file, text_column="text", memory=1, store=store):
        1 / 0  # noqa: B018
    assert store.is_dir()
    with Corpus.read(file, text_column="text", memory=1, store=store) as again:
        assert again.notes == [f"continued after 120 documents that were counted before, in {store}"]
    assert not store.exists()


def test_the_words_of_a_model_are_counted_on_request(file, monkeypatch):
    words = ["orbit", "goal", "never-seen"]
    with Corpus.read(file, text_column="text", vocabulary=words) as found:
        assert found.vocabulary == words
        expected = [[text.lower().replace(".", "").split().count(word) for word in words] for text in TEXTS]
        np.testing.assert_array_equal(dense(found), expected)
        assert found.n_tokens - found.n_unknown == np.sum(expected)
    small_memory(monkeypatch)
    with Corpus.read(file, text_column="text", vocabulary=words, memory=1) as stored:
        assert not stored.documents.in_memory
        np.testing.assert_array_equal(dense(stored), expected)


def test_counts_of_a_file_and_their_alignment(tmp_path):
    sp.save_npz(tmp_path / "x.npz", sp.csr_matrix(X))
    with Corpus.read(tmp_path / "x.npz", vocabulary=["a", "b", "c"]) as corpus:
        np.testing.assert_array_equal(dense(corpus), X)
        assert corpus.counting is None
        aligned = corpus.align(["c", "z", "a"])
        np.testing.assert_array_equal(dense(aligned), [[2, 0, 1], [1, 0, 0], [0, 0, 1]])
        assert (aligned.n_tokens, aligned.n_unknown) == (8, 3)
        np.testing.assert_array_equal(dense(corpus), X)


def test_one_document_is_refused_by_its_number(tmp_path):
    (tmp_path / "one.txt").write_text("only one document", encoding="utf-8")
    with pytest.raises(InputError, match=r"holds 1 document.*divide a long text into parts with split"):
        Corpus.read(tmp_path / "one.txt")


@pytest.mark.parametrize(
    ("users", "problem"), [(["cat dog"], "holds 1 document"), (["1", "2 the", "a"], "no word is left of 4 words")]
)
def test_an_error_says_which_list_was_read(tmp_path, users, problem):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"users": [{"text": user} for user in users], "posts": [{"text": "cat"}] * 9}))
    with pytest.raises(
        InputError, match=f"{problem}.*; read the list 'users'; not read: 'posts'; table names another$"
    ):
        Corpus.read(path)


def test_a_column_that_is_not_obvious_may_be_in_another_list(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"users": [{"a": "x", "b": "y"}] * 3, "posts": [{"text": "cat"}] * 9}))
    with pytest.raises(
        UsageError, match=r"not obvious which column holds the text \(read the list 'users'; not read: 'po"
    ):
        Corpus.read(path)


@pytest.mark.parametrize(
    ("header", "is_noted"),
    [
        ("The parcel came late and the box was broken", True),
        ("What do you like most about the new library and why?", False),
        ("text", False),
    ],
)
def test_a_file_without_names_of_columns_is_noted(tmp_path, header, is_noted):
    (tmp_path / "a.csv").write_text(f"{header},n\n" + "a cat and a dog,1\nthe dog or the bird,2\n" * 5)
    with Corpus.read(tmp_path / "a.csv", text_column=header) as corpus:
        said = [note for note in corpus.notes if "is no document; if it is one, add a row of names" in note]
    assert len(said) == is_noted


def test_repeated_ids_are_noted(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,text\n1,cat dog\n1,dog mouse\n2,cat mouse\n2,bird\n", encoding="utf-8")
    with Corpus.read(path) as corpus:
        (note,) = corpus.notes
        assert "repeated or missing" in note
        assert "pass id_column id" in note
    with pytest.raises(InputError, match=r"repeated or missing.*name a column of ids with id_column, or drop strict"):
        Corpus.read(path, strict=True)


def test_a_column_that_is_not_there(file):
    with pytest.raises(UsageError, match=r"label_column='nix', but .* has no such column"):
        Corpus.read(file, text_column="text", label_column="nix")


def test_temporary_files_are_closed():
    corpus = Corpus.from_texts(TEXTS, counting=CountSettings(min_df=1))
    corpus.close()
    with pytest.raises(ValueError, match="closed"):
        corpus.take_snippets([0])


def test_a_wrong_encoding_is_the_reason_if_one_document_is_left(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"text\ngut\n" + "schön\n".encode("cp1252") * 5)
    with pytest.raises(EncodingError, match="5 of 6 lines"):
        Corpus.read(tmp_path / "a.csv")
