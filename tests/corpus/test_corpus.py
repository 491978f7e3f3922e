import gzip
import json

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from anchorless._corpus import corpus as module
from anchorless._corpus.corpus import Corpus, parse_memory, validate_documents, validate_vocabulary
from anchorless._corpus.disk.documents import StoredDocuments
from anchorless._corpus.documents import Documents
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
    monkeypatch.setattr(module, "BASE_MEMORY", 0)


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


@pytest.mark.parametrize(("ending", "per_byte"), [("", "MEMORY_PER_BYTE"), (".gz", "MEMORY_PER_COMPRESSED_BYTE")])
def test_the_size_of_an_input_decides_where_it_is_counted(tmp_path, ending, per_byte):
    path = tmp_path / f"a.txt{ending}"
    path.write_bytes(b"word " * 1000)  # whether a file is compressed is told by its name
    needed = module.BASE_MEMORY + 5000 * getattr(module, per_byte)
    with open_texts(path) as source:
        assert module.measure_texts([], source, needed) == (False, [])
        assert module.measure_texts([], source, needed - 1) == (True, [])


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


@pytest.mark.parametrize(
    ("given", "expected"),
    [("2GB", 2 * 10**9), ("500mb", 5 * 10**8), ("1.5 k", 1500), ("1000", 1000), ("1T", 10**12), (7, 7), (None, None)],
)
def test_sizes_are_parsed(given, expected):
    assert parse_memory(given) == expected


@pytest.mark.parametrize("given", ["much", "0GB", "-1", 0, -5, True, 2.5, "", "GB", "2XB", "1e9", "2 G B", "٣GB"])
def test_what_is_no_size_is_refused(given):
    with pytest.raises(InputError, match=r"memory=.*such as 500MB or 2GB"):
        parse_memory(given)


def test_temporary_files_are_closed():
    corpus = Corpus.from_texts(TEXTS, counting=CountSettings(min_df=1))
    corpus.close()
    with pytest.raises(ValueError, match="closed"):
        corpus.take_snippets([0])


FORMS = [
    lambda X: X,
    sp.csr_matrix,
    sp.csc_array,
    lambda X: sp.coo_matrix(X.astype(np.uint8)),
    lambda X: [sp.csr_matrix(X[:1]), sp.csr_matrix(X[1:])],
    lambda X: Documents([X[:2], X[2:]]),
    lambda X: X.tolist(),
]


@pytest.mark.parametrize("form", FORMS)
def test_counts_may_come_in_any_form(form):
    np.testing.assert_array_equal(sp.vstack(validate_documents(form(X), "X").blocks).toarray(), X)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.ones(3), r"shape \(3,\)"),
        ([["a", "b"]], "give numbers"),
        (-X, "Negative values"),
        (X * np.nan, "NaN"),
        ([X, np.full((1, 3), np.inf)], "infinity"),
    ],
)
def test_what_is_no_count_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        validate_documents(given, "X")


@pytest.mark.parametrize("given", [["b", "a"], ("b", "a"), np.array(["b", "a"]), iter("ba"), {"a": 1, "b": 0}])
def test_a_vocabulary_in_any_form(given):
    words = validate_vocabulary(given, 2)
    assert words == ["b", "a"]
    assert {type(word) for word in words} == {str}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["a"], "1 words in the vocabulary for 2 columns"),
        (["a", "a"], "the vocabulary has 'a' 2 times"),
        (["a", 5], r"vocabulary\[1\] is 5"),
        ("ab", "must be a sequence of words"),
        (None, "must be a sequence of words"),
        ([], "0 words"),
    ],
)
def test_a_vocabulary_that_does_not_fit(given, message):
    with pytest.raises(InputError, match=message):
        validate_vocabulary(given, 2)


def test_a_wrong_encoding_is_the_reason_if_one_document_is_left(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"text\ngut\n" + "schön\n".encode("cp1252") * 5)
    with pytest.raises(EncodingError, match="5 of 6 lines"):
        Corpus.read(tmp_path / "a.csv")
