import pyarrow as pa
import pytest

from anchorless._corpus.io.batches import Chunk, SkipLog
from anchorless._corpus.io.columns import ColumnSelection, choose_id_column, choose_text_column
from anchorless.errors import InputError, UsageError

LONG = ["a sentence that goes on for quite a while, longer than any name or date would be, really"] * 3
SHORT = ["a b", "c", "d e"]


def chunk(columns, places=None):
    table = pa.table(columns)
    rows = list(range(1, len(table) + 1))
    return Chunk(list(map(str, rows)), list(places or rows), table)


def batch(columns, text="text", id_column=None, places=None, strict=False):
    skips = SkipLog("a.csv", "line", strict=strict)
    return ColumnSelection(text, id_column, skips).make_batch(chunk(columns, places)), skips


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"id": SHORT, "text": SHORT}, "text"),
        ({"id": SHORT, " Body ": SHORT}, " Body "),
        ({"ABSTRACT": SHORT, "year": SHORT}, "ABSTRACT"),
        ({"编号": SHORT, "正文": SHORT}, "正文"),  # names in other languages
        ({"numéro": SHORT, "Texte": SHORT}, "Texte"),
        ({"text": SHORT, "description": LONG}, "text"),  # the plainest name
        ({"content": LONG, "description": SHORT}, "content"),  # of two names, the one with long values
        ({"a": SHORT, "b": LONG, "c": [1, 2, 3]}, "b"),  # the only long one
        ({"whatever": SHORT}, "whatever"),  # the only one at all
        ({"text": [1, 2, 3], "body": SHORT}, "body"),  # numbers are no text
    ],
)
def test_the_obvious_text_column_is_found(columns, expected):
    assert choose_text_column(pa.table(columns), None, "a.csv") == expected


@pytest.mark.parametrize(
    "columns",
    [
        {"a": SHORT, "b": SHORT},
        {"a": LONG, "b": LONG},
        {"content": LONG, "abstract": LONG},
        {"a": [1, 2, 3]},
        {"link": ["https://example.org/" + "x" * 100] * 3, "day": SHORT},
        {"a": pa.array([], pa.string()), "b": pa.array([], pa.string())},
        {"a": pa.array([None, None], pa.string()), "b": pa.array([None, None], pa.string())},
    ],
)
def test_otherwise_the_columns_are_listed(columns):
    with pytest.raises(UsageError, match=r"a\.csv: it is not obvious which column.*; set text_column to one of '\w+'"):
        choose_text_column(pa.table(columns), None, "a.csv")


def test_many_columns_are_listed_in_short():
    columns = {f"c{place}": SHORT for place in range(100)}
    with pytest.raises(UsageError, match=r"'c29' and 70 more"):
        choose_text_column(pa.table(columns), None, "a.csv")


@pytest.mark.parametrize("role", ["text", "id"])
def test_an_unknown_column_is_refused_with_the_known_ones(role):
    table = pa.table({"title": SHORT, "text": SHORT})
    with pytest.raises(
        UsageError, match=r"_column='body', but a\.csv has no such column; its columns are 'title', 'text'"
    ):
        choose_text_column(table, "body", "a.csv") if role == "text" else choose_id_column(
            table, "body", "text", "a.csv"
        )


def test_a_column_of_numbers_is_no_text():
    with pytest.raises(UsageError, match=r"text_column='n', but this column of a.csv holds int64 values"):
        choose_text_column(pa.table({"n": [1, 2]}), "n", "a.csv")


def test_a_first_row_with_a_document_is_no_header():
    with pytest.raises(UsageError, match=r"first row must name the columns.*set format to lines"):
        choose_text_column(pa.table({"It was a dark and stormy night; " * 5: SHORT}), None, "a.csv")
    with pytest.raises(UsageError, match=r"first row must name the columns.*add a row of names$"):
        choose_text_column(pa.table({"It was a dark and stormy night; " * 5: SHORT}), None, "a.xlsx")


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"name": SHORT, "ID": SHORT, "text": SHORT}, "ID"),
        ({"_id": SHORT, "text": SHORT}, "_id"),
        ({"doc_id": [3, 1, 2], "text": SHORT}, "doc_id"),
        ({"id": ["x", "x", "y"], "uuid": SHORT, "text": SHORT}, "uuid"),  # one that tells rows apart
        ({"id": ["x", None, "y"], "text": SHORT}, None),
        ({"author": SHORT, "text": SHORT}, None),
    ],
)
def test_the_id_is_a_column_with_its_name_that_tells_rows_apart(columns, expected):
    assert choose_id_column(pa.table(columns), None, "text", "a.csv") == expected


def test_the_text_is_not_its_own_id_unless_asked():
    table = pa.table({"name": SHORT})
    assert choose_id_column(table, None, "name", "a.csv") is None
    assert choose_id_column(table, "name", "name", "a.csv") == "name"
    found, _ = batch({"name": SHORT}, text="name", id_column="name")
    assert found.other_columns.to_pydict() == {"id": SHORT}


def test_every_other_column_is_kept():
    columns = {"date": ["1", "2"], "key": [10, 20], "text": ["a", "b"], "label": ["x", None]}
    found, skips = batch(columns, id_column="key")
    assert found.texts.to_pylist() == ["a", "b"]
    assert found.other_columns.to_pydict() == {"id": ["10", "20"], "date": ["1", "2"], "label": ["x", None]}
    assert skips.counts == {}


def test_without_ids_rows_are_numbered():
    found, _ = batch({"text": ["a", "b"]}, places=[5, 9])
    assert found.other_columns.to_pydict() == {"id": ["1", "2"]}


def test_a_missing_id_is_replaced_by_the_number():
    found, _ = batch({"key": ["x", None, ""], "text": SHORT}, id_column="key")
    assert found.other_columns["id"].to_pylist() == ["x", "2", "3"]


def test_a_column_id_that_is_not_the_id_keeps_its_values():
    found, _ = batch({"id": ["p", "q"], "key": ["x", "y"], "text": ["a", "b"]}, id_column="key")
    assert found.other_columns.to_pydict() == {"id": ["x", "y"], "input_id": ["p", "q"]}


def test_blank_texts_are_left_out_with_their_rows():
    columns = {"key": list("abcdefg"), "text": ["1", "", None, " \t\n", "\u00a0\u3000", "2", "\0"]}
    found, skips = batch(columns, id_column="key", places=[2, 3, 4, 5, 6, 7, 8])
    assert found.texts.to_pylist() == ["1", "2"]
    assert found.other_columns["id"].to_pylist() == ["a", "f"]
    assert skips.counts == {"empty": 5}
    assert skips.places["empty"] == [3, 4, 5, 6, 8]
    with pytest.raises(InputError, match="line 3: a line without text"):
        batch(columns, places=[2, 3, 4, 5, 6, 7, 8], strict=True)


def test_nothing_but_blanks_is_no_batch():
    found, skips = batch({"text": ["", " "]})
    assert found is None
    assert skips.counts["empty"] == 2


def test_nul_becomes_a_blank_everywhere():
    found, skips = batch({"key": ["x\0y"], "text": ["a\0b\0"], "label": ["p\0"]}, id_column="key")
    assert found.texts.to_pylist() == ["a b "]
    assert found.other_columns.to_pydict() == {"id": ["x y"], "label": ["p "]}
    assert skips.counts == {}


def test_repeated_ids_are_kept_and_counted_across_chunks():
    skips = SkipLog("a.csv", "line")
    selection = ColumnSelection("text", "key", skips)
    first = selection.make_batch(chunk({"key": ["x", "y", "x"], "text": ["1", "2", "3"]}, [2, 3, 4]))
    second = selection.make_batch(chunk({"key": ["z", "y"], "text": ["4", "5"]}, [5, 6]))
    assert len(first.texts) + len(second.texts) == 5
    assert skips.counts == {"duplicate id": 2}
    assert skips.places["duplicate id"] == [4, 6]


def test_a_repeated_id_is_an_error_when_strict():
    with pytest.raises(InputError, match=r"a\.csv, line 4: .*earlier document has \('x'\)"):
        batch({"key": ["x", "y", "x"], "text": SHORT}, id_column="key", places=[2, 3, 4], strict=True)


def test_texts_are_one_array_whatever_the_chunks():
    table = pa.concat_tables([pa.table({"text": ["a"]}), pa.table({"text": ["b"]})])
    found = ColumnSelection("text", None, SkipLog("a", "line")).make_batch(Chunk(["1", "2"], [1, 2], table))
    assert isinstance(found.texts, pa.Array)
    assert found.texts.to_pylist() == ["a", "b"]


def test_names_that_would_clash_are_made_distinct():
    found, _ = batch({"id": ["p"], "input_id": ["q"], "key": ["x"], "text": ["a"]}, id_column="key")
    assert found.other_columns.to_pydict() == {"id": ["x"], "input_id": ["p"], "input_id_2": ["q"]}


def test_rows_without_text_do_not_spoil_the_ids():
    table = pa.table({"Id": ["0", "1", "", ""], "text": ["a b", "c d", "", " "]})
    assert choose_id_column(table, None, "text", "a.csv") == "Id"


def test_a_column_called_id_is_taken_although_a_few_repeat():
    repeated = pa.table({"id": ["a", "b", "b"], "text": ["x y", "z", "w"]})
    assert choose_id_column(repeated, None, "text", "a.csv") == "id"
    assert choose_id_column(repeated.set_column(0, "id", pa.array(["a", "a", "a"])), None, "text", "a.csv") is None


def test_the_nearest_column_is_suggested():
    with pytest.raises(UsageError, match=r"no such column; its columns are 'id', 'Review'; did you mean Review\?$"):
        choose_text_column(pa.table({"id": ["1"], "Review": ["good"]}), "revew", "a.csv")
