"""Lists in JSON files give the rows that the same objects on lines give, however they are cut and nested."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchorless._corpus.corpus import Corpus
from anchorless._corpus.io import json_lists, tabular
from anchorless._corpus.io.batches import SkipLog
from anchorless._corpus.io.json_lists import JsonList
from anchorless._corpus.io.readers import open_texts
from anchorless.errors import InputError, UsageError
from tests.helpers.properties import run_examples

ROWS = [{"id": f"d{n}", "text": f'text "{n}" with \\ and é', "n": n} for n in range(50)]


def read(path, **options):
    with open_texts(path, **options) as source:
        return [text for batch in source for text in batch.texts.to_pylist()], source


def parse(text, wanted=None):
    skips = SkipLog("a.json", "element", strict=True)
    found = JsonList(io.TextIOWrapper(io.BytesIO(text.encode()), "utf-8"), skips, wanted)
    return [row.cells for row in found.rows()], found


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("path", ["", "data", "data.items", "response.data.rows"])
def test_a_list_is_found_wherever_it_is(tmp_path, path, indent):
    value = ROWS
    for key in reversed(path.split(".") if path else []):
        value = {"before": {"a": [], "b": 1}, key: value, "after": None} if key == path else {"count": 3, key: value}
    (tmp_path / "a.json").write_text(json.dumps(value, indent=indent))
    texts, source = read(tmp_path / "a.json", table=path or None)
    assert texts == [row["text"] for row in ROWS]
    assert source.format == "json"
    assert source.text_column == "text"
    assert source.bytes_read == source.bytes_total


def test_the_list_that_is_read_is_said_and_another_can_be_named(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps({"posts": ROWS, "users": [{"text": "u"}]}))
    texts, source = read(tmp_path / "a.json")
    assert len(texts) == 50
    assert source.describe_reading() == ["read the list 'posts'; not read: 'users'; {table} names another"]
    assert read(tmp_path / "a.json", table="users")[0] == ["u"]
    with pytest.raises(UsageError, match="no such list; its lists are 'posts', 'users'"):
        read(tmp_path / "a.json", table="nothing")


@pytest.mark.parametrize(
    "before",
    [{"errors": []}, {"tags": ["news", "2024"]}, {"box": [1, 2.5], "pairs": [[1], [2]]}, {"a": [], "b": ["x"]}],
)
def test_lists_before_that_hold_no_documents_are_passed_by(before):
    found, listed = parse(json.dumps({"meta": before, "data": ROWS}))
    assert found == ROWS
    assert listed.found == "data"
    assert listed.others == [f"meta.{name}" for name in before]
    texts = ["one text", "another"]
    assert parse(json.dumps({"meta": before, "data": texts}))[0] == [{"text": text} for text in texts]


def test_a_list_of_single_words_is_read_if_there_is_no_other():
    found, listed = parse('{"n": [], "words": ["春", "夏"], "more": ["秋"]}')
    assert found == [{"text": "春"}, {"text": "夏"}]
    assert listed.describe() == ["read the list 'words'; not read: 'n', 'more'; {table} names another"]
    assert parse('{"n": [], "words": ["春", "夏"]}', "n")[0] == []


def test_objects_on_lines_are_no_list(tmp_path):
    for name in ("a.json", "a.jsonl"):
        (tmp_path / name).write_text("".join(json.dumps(row | {"tags": [{"a": 1}]}) + "\n" for row in ROWS))
        assert read(tmp_path / name)[1].format == "jsonl"


def test_a_list_of_strings_is_a_list_of_texts(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(["one text", "another"]))
    assert read(tmp_path / "a.json")[0] == ["one text", "another"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[{"text": "a"}', "is missing"),
        ('[{"text": "a"} {"text": "b"}]', "is expected"),
        ('[{"text": "a"},', "is missing"),
        ('[{"text": nonsense}]', "Expecting value"),
        ('{"data": [{"text": "a"}]} more', "more after the end"),
        ('["one text"]\n["another"]', r"more after .*; write one list, or one object per line \(.jsonl\)"),
        ('{"a": 1}', "holds no list"),
        ("{1: [2]}", "name in quotes"),
        ("[" * 100_000, "RecursionError|more than|is missing"),
        ('{"a":' * 100_000, "RecursionError|Expecting|is missing"),
    ],
)
def test_broken_json_is_an_error_that_names_the_place(text, why):
    with pytest.raises(InputError, match=why):
        parse(text)


def test_a_value_that_is_too_long_is_refused(monkeypatch):
    monkeypatch.setattr(json_lists, "MAX_ROW_LENGTH", 1000)
    monkeypatch.setattr(json_lists, "PIECE", 100)
    with pytest.raises(InputError, match="more than 1,000 characters"):
        parse(json.dumps([{"text": "x" * 5000}]))


def test_a_value_of_too_many_values_is_refused(monkeypatch):
    monkeypatch.setattr(json_lists, "PIECE", 100)
    monkeypatch.setattr(tabular, "MAX_JSON_PARTS", 1000)
    many = [{"text": "b"}] * 2000
    assert parse(json.dumps([{"text": "a" * 5000}, *many]))[0] == [{"text": "a" * 5000}, *many]
    with pytest.raises(InputError, match="more than 1,000 values in one"):
        parse(json.dumps([{"text": "b", "n": [0] * 3000}]))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


@run_examples(60)
@given(rows=st.lists(st.dictionaries(st.text(max_size=5), VALUES, max_size=4), max_size=6), piece=st.integers(1, 40))
def test_rows_do_not_depend_on_the_pieces_in_which_they_are_read(rows, piece):
    before = json_lists.PIECE
    json_lists.PIECE = piece
    try:
        for ascii_only in (True, False):
            text = json.dumps({"a": {"b": 12}, "rows": rows}, ensure_ascii=ascii_only, indent=1)
            found, where = parse(text, "rows")
            assert found == rows
            assert where.found == "rows"
    finally:
        json_lists.PIECE = before


def test_a_list_in_another_encoding_is_refused(tmp_path):
    (tmp_path / "a.json").write_bytes('["b", "é", "é", "é"]'.encode("latin-1"))
    with pytest.raises(InputError, match=r"3 of 4 elements of .* are not utf-8 \(the first, element 2\)"):
        Corpus.read(tmp_path / "a.json")


def test_a_list_for_each_column_is_refused_and_one_can_be_named():
    columns = {"subject": ["one text", "two"], "text": ["a b", "c d"], "year": [2020, None]}
    with pytest.raises(InputError, match=r"list for each column: 'subject', 'text', 'year'; .*records"):
        parse(json.dumps(columns))
    assert parse(json.dumps(columns), "text")[0] == [{"text": "a b"}, {"text": "c d"}]
    assert len(parse(json.dumps(columns | {"year": [2020]}))[0]) == 2
    assert len(parse(json.dumps({"posts": ROWS, "users": ROWS}))[0]) == len(ROWS)
