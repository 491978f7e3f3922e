import csv
import io
import json
import random

import pytest

from anchorless._corpus.io import tabular
from anchorless._corpus.io.batches import SkipLog
from anchorless._corpus.io.tabular import (
    guess_delimiter,
    json_to_text,
    parse_json_line,
    read_csv_chunks,
    read_jsonl_chunks,
    replace_surrogates,
)
from anchorless.errors import InputError


def text(content):
    """The reader as the files give it: undecodable bytes marked, line ends untouched."""
    if isinstance(content, str):
        content = content.encode()
    return io.TextIOWrapper(io.BytesIO(content), "utf-8", errors="surrogateescape", newline="")


def from_csv(content, *, delimiter=None, strict=False):
    skips = SkipLog("a.csv", "line", strict=strict)
    chunks = list(read_csv_chunks(text(content), skips, delimiter))
    rows = [row for chunk in chunks for row in chunk.table.to_pylist()]
    return rows, skips, chunks


def from_jsonl(content, *, strict=False):
    skips = SkipLog("a.jsonl", "line", strict=strict)
    chunks = list(read_jsonl_chunks(text(content), skips))
    rows = [row for chunk in chunks for row in chunk.table.to_pylist()]
    return rows, skips, chunks


# --- CSV


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("terminator", ["\n", "\r\n", "\r"])
def test_what_csv_wrote_is_what_is_read(delimiter, terminator):
    rng = random.Random(0)
    letters = 'ab ,;\t|"\n\r\r\né東🗼' + "\0"
    cells = [["".join(rng.choices(letters, k=rng.randrange(12))) + "." for _ in range(3)] for _ in range(300)]
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=delimiter, lineterminator=terminator, quoting=csv.QUOTE_ALL).writerows(
        [["a", "b", "c"], *cells]
    )
    rows, skips, _ = from_csv(stream.getvalue())
    assert [list(row.values()) for row in rows] == cells
    assert skips.counts == {}


def test_lines_and_numbers_of_rows_after_quoted_newlines_and_blank_lines():
    _, _, chunks = from_csv('id,text\n1,"two\nlines"\n\n2,plain\n3,"three\n\nlines"\n4,end')
    assert chunks[0].places == [2, 5, 6, 9]
    assert chunks[0].ids == ["1", "2", "3", "4"]


def test_ragged_rows_are_skipped_by_their_lines():
    rows, skips, chunks = from_csv("a,b,c\n1,2,3\n1,2\n4,5,6\n1,2,3,4\n7,8,9,,\n1\n")
    assert [list(row.values()) for row in rows] == [["1", "2", "3"], ["4", "5", "6"], ["7", "8", "9"]]
    assert skips.counts == {"malformed": 3}
    assert skips.places["malformed"] == [3, 5, 7]
    assert next(iter(skips.details["malformed"])) == "2 cells, but the header has 3"
    assert chunks[0].ids == ["1", "3", "5"]  # the skipped ones are counted


def test_a_ragged_row_is_an_error_when_strict():
    with pytest.raises(InputError, match=r"a\.csv, line 3: .*1 cell, but the header has 2"):
        from_csv("a,b\n1,2\n3\n", strict=True)


def test_a_quote_that_never_closes_names_its_line():
    with pytest.raises(InputError, match=r"a\.csv, line 3: a quote opens in this row and never closes.*3 lines"):
        from_csv('a,b\n1,2\n3,"open\n4,5\n6,7\n')


def test_a_quote_that_never_closes_in_a_long_file_is_stopped(monkeypatch):
    limit = csv.field_size_limit(1000)
    monkeypatch.setattr(tabular, "MAX_ROW_LENGTH", 1000)
    try:
        with pytest.raises(InputError, match=r"a\.csv, line 3: field larger than field limit.*close the quote"):
            from_csv('a,b\n1,2\n3,"open\n' + "4,5\n" * 1000)
    finally:
        csv.field_size_limit(limit)


def test_quotes_inside_a_cell_are_letters():
    rows, _, _ = from_csv('a,b\n5" disk,6" disk\n7,"he said ""no"""\n')
    assert rows == [{"a": '5" disk', "b": '6" disk'}, {"a": "7", "b": 'he said "no"'}]


def test_undecodable_rows_are_skipped():
    rows, skips, chunks = from_csv(b"a,b\n1,caf\n2,caf\xe9\n\xe93,x\n4," + "café\n".encode())
    assert [row["a"] for row in rows] == ["1", "4"]
    assert skips.counts == {"undecodable": 2}
    assert skips.places["undecodable"] == [3, 4]
    assert "0xe9 at character 4" in next(iter(skips.details["undecodable"]))
    assert chunks[0].ids == ["1", "4"]


def test_an_undecodable_header_is_an_error():
    with pytest.raises(InputError, match=r"the header does not decode .*0xe9.*cp1252"):
        from_csv(b"caf\xe9,b\n1,2\n")


def test_a_header_alone_gives_an_empty_chunk():
    rows, _, chunks = from_csv("a,b\n")
    assert rows == []
    assert chunks[0].table.column_names == ["a", "b"]


@pytest.mark.parametrize("content", ["", "\n\n", " , ,\n"])
def test_no_header_is_an_error(content):
    with pytest.raises(InputError, match="it has no header"):
        from_csv(content)


def test_blank_and_repeated_names_of_columns_are_made_distinct():
    rows, _, _ = from_csv("\n,text,text, text_2 ,b\n1,2,3,4,5\n")
    assert list(rows[0]) == ["column_1", "text", "text_2", "text_2_2", "b"]


def test_the_delimiter_is_the_most_frequent_one_outside_quotes():
    assert guess_delimiter("text") == ","
    assert guess_delimiter("a;b,c;d") == ";"
    assert guess_delimiter('"a;b;c",d') == ","
    assert guess_delimiter("id\ttext") == "\t"


def test_a_given_delimiter_is_not_guessed():
    rows, _, _ = from_csv("a,b\tc\n1,2\t3\n", delimiter="\t")
    assert rows == [{"a,b": "1,2", "c": "3"}]


def test_a_long_line_is_a_row_as_any():
    """Far beyond the 131,072 characters at which the standard library stops by default."""
    long = "word " * 1_000_000
    rows, skips, chunks = from_csv(f"id,text\n1,short\n2,{long}\n3,short\n")
    assert [len(row["text"]) for row in rows] == [5, len(long), 5]
    assert skips.counts == {}
    assert [len(chunk.places) for chunk in chunks] == [2, 1]


# --- JSON lines


def test_what_json_wrote_is_what_is_read():
    rng = random.Random(1)
    letters = 'ab "\\\n\r\t\0é東🗼\u2028'
    rows = [{key: "".join(rng.choices(letters, k=rng.randrange(20))) for key in ("id", "text")} for _ in range(300)]
    for ascii_only in (True, False):
        found, skips, chunks = from_jsonl("\n".join(json.dumps(row, ensure_ascii=ascii_only) for row in rows))
        assert found == rows
        assert skips.counts == {}
        assert chunks[0].places == list(range(1, 301))


def test_broken_json_is_skipped_by_its_line():
    rows, skips, chunks = from_jsonl('{"a": "1"}\n{"a": "2"\n\n["a"]\n"a"\n{"a": "3"}\n{"a": 1e}\n')
    assert rows == [{"a": "1"}, {"a": "3"}]
    assert skips.counts == {"malformed": 4}
    assert skips.places["malformed"] == [2, 4, 5, 7]
    assert next(iter(skips.details["malformed"])).startswith("not valid JSON: Expecting ',' delimiter at character ")
    assert chunks[0].ids == ["1", "5"]  # blank lines are no rows


def test_broken_json_is_an_error_when_strict():
    with pytest.raises(InputError, match=r"a\.jsonl, line 2: .*Expecting value at character 7"):
        from_jsonl('{"a": "1"}\n{"a": }\n', strict=True)


@pytest.mark.parametrize("bad", ["[" * 100_000, '{"a": ' + "9" * 5000 + "}"])
def test_json_that_no_parser_can_hold_is_malformed(bad):
    rows, skips, _ = from_jsonl('{"a": "1"}\n' + bad + "\n")
    assert rows == [{"a": "1"}]
    assert skips.places["malformed"] == [2]


def test_undecodable_lines_are_skipped():
    rows, skips, _ = from_jsonl(b'{"a": "1"}\n{"a": "caf\xe9"}\n{"a": "2"}\n')
    assert [row["a"] for row in rows] == ["1", "2"]
    assert skips.places["undecodable"] == [2]


def test_nested_and_mixed_values_become_json_text():
    lines = [{"a": 1, "b": {"c": [1, "é"]}}, {"a": "x", "b": None}, {"a": True, "b": [1.5]}, {"a": 2.5}]
    rows, skips, _ = from_jsonl("\n".join(map(json.dumps, lines)))
    assert rows == [
        {"a": "1", "b": '{"c": [1, "é"]}'},
        {"a": "x", "b": None},
        {"a": "true", "b": "[1.5]"},
        {"a": "2.5", "b": None},
    ]
    assert skips.counts == {}
    assert json_to_text(None) is None


def test_halves_of_surrogate_pairs_are_replaced():
    rows, skips, _ = from_jsonl('{"text": "broken \\ud83d emoji", "k\\ud83d": "\\ud83d\\uddfc"}\n')
    assert rows == [{"text": "broken � emoji", "k�": "🗼"}]
    assert skips.counts == {}
    assert replace_surrogates("東🗼") == "東🗼"


def test_columns_that_come_late_are_remarked_on(monkeypatch):
    monkeypatch.setattr("anchorless._corpus.io.batches.ROWS_PER_CHUNK", 2)
    rows, skips, _ = from_jsonl('{"a": "1"}\n{"b": "2"}\n{"a": "3", "c": "4"}\n{"b": "5"}\n')
    assert rows == [{"a": "1", "b": None}, {"a": None, "b": "2"}, {"a": "3", "b": None}, {"a": None, "b": "5"}]
    assert skips.counts == {"late column": 1}
    assert skips.places["late column"] == [3]
    assert set(skips.counts) == {"late column"}


def test_keys_without_end_are_no_columns_without_end(monkeypatch):
    monkeypatch.setattr(tabular, "MAX_COLUMNS", 10)
    _, skips, chunks = from_jsonl("".join(f'{{"text": "x", "key {n}": 1}}\n' for n in range(50)))
    assert chunks[0].table.num_columns == 10
    assert skips.counts == {"late column": 41}


def test_too_long_lines_are_skipped(monkeypatch):
    monkeypatch.setattr(tabular, "iter_lines", lambda stream: iter(['{"a": "1"}\n', None, '{"a": "2"}\n']))
    rows, skips, chunks = from_jsonl("")
    assert [row["a"] for row in rows] == ["1", "2"]
    assert skips.places["too long"] == [2]
    assert chunks[0].ids == ["1", "3"]


@pytest.mark.parametrize("indent", [2, 0])
def test_the_error_for_json_over_many_lines_tells_what_to_do(indent):
    with pytest.raises(InputError, match=r"one object per line is needed.*jq -c"):
        from_jsonl(json.dumps([{"a": "1"}, {"a": "2"}], indent=indent))


@pytest.mark.parametrize(
    ("line", "what"), [("[1]", "a list"), ('"a"', "a string"), ("7", "a number"), ("null", "a null")]
)
def test_json_that_is_no_object_is_skipped_with_an_example(line, what):
    skips = SkipLog("a.jsonl", "line")
    assert parse_json_line(line, 1, skips) is None
    assert f"{what}, but each line must be one document such as" in skips.describe_all()[0]


def test_a_header_of_too_many_columns_is_refused(monkeypatch):
    monkeypatch.setattr(tabular, "MAX_HEADER_COLUMNS", 3)
    assert from_csv("a,b,c\n1,2,3\n")[0] == [{"a": "1", "b": "2", "c": "3"}]
    with pytest.raises(InputError, match="the first row has 4 cells; at most 3 columns are read"):
        from_csv("a,b,c,d\n1,2,3,4\n")


def test_a_line_of_too_many_values_is_skipped(monkeypatch):
    monkeypatch.setattr(tabular, "MAX_JSON_PARTS", 1000)
    commas = json.dumps({"text": "a, " * 900})
    rows, skips, _ = from_jsonl("\n".join([commas, json.dumps({"text": "b", "n": [0] * 1000})]))
    assert [row["text"] for row in rows] == ["a, " * 900]
    assert [*skips.details["malformed"]] == ["ValueError: more than 1,000 values in one"]
