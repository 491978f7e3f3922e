from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from anchorless import TopicModel
from anchorless._corpus.texts import MAX_LISTED_COLUMNS, iter_texts
from anchorless.errors import InputError, UsageError
from tests.helpers.planted_texts import planted_texts

TEXTS = planted_texts(40)[0]


def make_polars():
    return pytest.importorskip("polars", reason="polars is not installed: pip install 'anchorless[test-all]'")


COLUMNS = {
    "list": lambda: TEXTS,
    "generator": lambda: (text for text in TEXTS),
    "pandas": lambda: pd.DataFrame({"text": TEXTS})["text"],
    "pandas, string": lambda: pd.Series(TEXTS, dtype="string"),
    "pandas, category": lambda: pd.Series(TEXTS, dtype="category"),
    "pandas, other index": lambda: pd.Series(TEXTS, index=range(100, 140)),
    "pandas, index": lambda: pd.Index(TEXTS),
    "polars": lambda: make_polars().DataFrame({"text": TEXTS})["text"],
    "numpy": lambda: np.array(TEXTS),
    "numpy, object": lambda: np.array(TEXTS, dtype=object),
    "arrow": lambda: pa.array(TEXTS),
    "arrow, large": lambda: pa.array(TEXTS, type=pa.large_string()),
    "arrow, chunks": lambda: pa.chunked_array([TEXTS[:15], TEXTS[15:]]),
    "arrow, dictionary": lambda: pa.array(TEXTS).dictionary_encode(),
    "arrow, column of a table": lambda: pa.table({"text": TEXTS})["text"],
}
ROWS = {"id": [1, 2], "Text": ["a cat", "a mouse"]}
TABLES = {
    "pandas": lambda: pd.DataFrame(ROWS),
    "polars": lambda: make_polars().DataFrame(ROWS),
    "polars, lazy": lambda: make_polars().DataFrame(ROWS).lazy(),
    "arrow": lambda: pa.table(ROWS),
    "arrow, batch": lambda: pa.RecordBatch.from_pydict(ROWS),
    "dict": lambda: ROWS,
    "numpy, structured": lambda: np.array([(1, "a cat")], dtype=[("id", "i4"), ("Text", "U9")]),
    "pandas, records": lambda: pd.DataFrame(ROWS).to_records(index=False),
}


@pytest.mark.parametrize("make", COLUMNS.values(), ids=COLUMNS.keys())
def test_every_kind_of_column_gives_the_same_texts(make):
    found = list(iter_texts(make()))
    assert found == TEXTS
    assert all(isinstance(text, str) for text in found)


def test_a_dictionary_of_texts_is_refused_with_its_keys_as_ids():
    with pytest.raises(InputError, match=r"fit\(list\(documents.values\(\)\), ids=list\(documents\)\)"):
        list(iter_texts({"first.txt": "a cat", "second.txt": "a mouse"}))


@pytest.mark.parametrize("kind", [set, frozenset])
def test_a_set_is_refused_because_its_order_changes(kind):
    with pytest.raises(InputError, match=r"sorted\(documents\)"):
        list(iter_texts(kind(TEXTS)))


def test_a_lazy_frame_is_collected_first():
    with pytest.raises(InputError, match=r"such as documents\.collect\(\)\['Text'\]"):
        list(iter_texts(TABLES["polars, lazy"]()))


@pytest.mark.parametrize("name", ["pandas", "polars", "numpy", "arrow, chunks"])
def test_every_kind_of_column_gives_the_same_topics(name):
    expected = TopicModel(2, n_jobs=1).fit(TEXTS)
    model = TopicModel(2, n_jobs=1).fit(COLUMNS[name]())
    np.testing.assert_array_equal(model.topic_word_, expected.topic_word_)
    np.testing.assert_array_equal(model.transform(COLUMNS[name]()), expected.document_topics_)


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES.keys())
def test_a_table_is_refused_with_its_columns_and_the_way_out(make):
    with pytest.raises(
        InputError, match=r"with the columns 'id', 'Text'; .* such as documents(\.collect\(\))?\['Text'\]"
    ):
        list(iter_texts(make()))


@pytest.mark.parametrize("method", ["fit", "fit_transform", "partial_fit", "transform"])
def test_every_method_refuses_a_table(method):
    model = TopicModel(2, n_jobs=1)
    if method == "transform":
        model.fit(TEXTS)
    with pytest.raises(InputError, match="the columns 'id', 'Text'"):
        getattr(model, method)(pd.DataFrame(ROWS))


def test_many_columns_are_not_all_listed():
    with pytest.raises(InputError, match=f"'c{MAX_LISTED_COLUMNS - 1}' and 5 more; .*documents\\['c0'\\]"):
        list(iter_texts({f"c{i}": [] for i in range(MAX_LISTED_COLUMNS + 5)}))


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ("one text", "documents are str"),
        (5, "documents are int"),
        (np.array([["a"], ["b"]]), r"shape \(2, 1\); give a column, such as documents\[:, 0\]"),
        (np.array("a"), r"shape \(\); give an array with one dimension"),
        (["a", None], r"document 1 has no text: it is None; .*fillna\(''\)"),
        (["a", float("nan")], "document 1 has no text: it is nan"),
        (pd.Series(["a", None], dtype="string"), "document 1 has no text: it is <NA>"),
        (pa.array(["a", None]), "document 1 has no text: it is None"),
        (["a", 7], r"document 1 is 7 \(int\), but documents are strings"),
        ([{"id": 1, "text": "a"}], r"such as \[one\['text'\] for one in documents\]"),
        ([b"a"], "decode them first"),
        ([["a", "b"]], r"\[' '.join\(words\) for words in documents\]"),
    ],
)
def test_what_is_no_text_is_refused_with_the_way_out(documents, message):
    with pytest.raises(InputError, match=message):
        list(iter_texts(documents))


def test_a_list_of_names_of_files_is_refused_with_paths(tmp_path):
    names = [str(tmp_path / f"{number}.txt") for number in range(3)]
    for name in names:
        Path(name).write_text("\n".join(TEXTS))
    with pytest.raises(InputError, match=r"documents are 3 strings, each the name of a file.*pathlib\.Path\(name\)"):
        TopicModel(2).fit(names)


def test_a_column_of_a_file_that_was_not_kept_says_how_to_keep_it(tmp_path):
    table = pd.DataFrame({"text": TEXTS, "party": ["A", "B"] * 20, "size": range(40)})
    table.to_csv(tmp_path / "t.csv", index=False)
    model = TopicModel(2, n_jobs=1).fit(tmp_path / "t.csv", metadata=["size"])
    with pytest.raises(UsageError, match=r"fit\(…, metadata=\['party'\]\)"):
        model.topics_by("party")
    with pytest.raises(InputError, match=r"fit\(…, metadata=…\)"):
        TopicModel(2, n_jobs=1).fit(tmp_path / "t.csv").topics_by("party")
    kept = TopicModel(2, n_jobs=1).fit(tmp_path / "t.csv", metadata=["party"])
    assert set(kept.topics_by("party")["party"]) == {"A", "B"}
