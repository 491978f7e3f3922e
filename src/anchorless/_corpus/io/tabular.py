"""Read CSV, TSV and JSON lines as chunks of rows.

The standard library parses them: it tells the line of every bad row and continues after it, while a parser of
whole blocks gives up the block. Every column is text, so that no type changes halfway through a file.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from functools import partial
from itertools import chain, islice
from typing import Any

import pyarrow as pa

from anchorless._corpus.io.batches import Chunk, Row, SkipLog, group_rows, make_names_unique
from anchorless._corpus.io.decoding import MAX_ROW_LENGTH, describe_undecodable, iter_lines
from anchorless.errors import InputError

DELIMITERS = (",", ";", "\t", "|")
#: Lists, objects and their elements in a line or value of JSON, which take a hundred times their length in memory; only
#: those of so many characters are counted.
MAX_JSON_PARTS = 1 << 22
#: Added as a last line. No decoder yields this character: a row that holds it and more has a quote that never closes.
END_MARK = "\udfff"
#: Every JSON line may have other keys, and a table cannot have that many columns. Those of a header all belong to it.
MAX_COLUMNS, MAX_HEADER_COLUMNS = 1000, 100_000


def read_csv_chunks(text: io.TextIOWrapper, skips: SkipLog, delimiter: str | None = None) -> Iterator[Chunk]:
    """Yield the rows under the header, an empty chunk if there are none; guess the delimiter if none is given."""
    csv.field_size_limit(max(csv.field_size_limit(), MAX_ROW_LENGTH))
    # No generator between the file and the parser: it would be called for millions of short lines.
    # A line is cut beyond what a cell may hold, so that one without end cannot fill the memory.
    lines = iter(partial(text.readline, 2 * MAX_ROW_LENGTH), "")
    first = next(lines, "")
    reader = csv.reader(chain([first], lines, [END_MARK]), delimiter=delimiter or guess_delimiter(first))
    columns = read_header(reader, skips.name)
    groups = group_rows(read_csv_rows(reader, len(columns), skips))
    for rows in chain([next(groups, [])], groups):
        yield make_csv_chunk(rows, columns, skips)


def guess_delimiter(line: str) -> str:
    """Return the most frequent delimiter of the header outside quotes, by default the comma."""
    outside = "".join(line.split('"')[::2])
    return max(DELIMITERS, key=outside.count)


def read_header(reader: Any, name: str) -> list[str]:
    """Return the column names: the first row that is not blank, with new names for blank and repeated ones."""
    for _, row in read_records(reader, name):
        if len(row) > MAX_HEADER_COLUMNS:
            problem = f"{name}: the first row has {len(row):,} cells; at most {MAX_HEADER_COLUMNS:,} columns are read"
            raise InputError(problem, remedy="give a table with fewer columns")
        if any(cell.strip() for cell in row):
            if what := describe_undecodable_cell(row):
                problem = f"{name}: the header does not decode ({what})"
                raise InputError(problem, remedy="set {encoding}, for example to cp1252")
            return make_names_unique([cell.strip() or f"column_{place}" for place, cell in enumerate(row, 1)])
    raise InputError(f"{name} is blank: it has no header; give a file with texts")


def read_records(reader: Any, name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each record with the line in which it begins; the error for a quote that never closes names its line."""
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise InputError(f"{name}, line {line}: {error}; close the quote that opens there") from None
        if row is None or row == [END_MARK]:
            return
        if row and row[-1].endswith(END_MARK):
            n = reader.line_num - line
            rest = f"the rest of the file, {n} line{'s' * (n != 1)}, would be one cell; close or remove it"
            raise InputError(f"{name}, line {line}: a quote opens in this row and never closes, so {rest}")
        yield line, row


def read_csv_rows(reader: Any, n_columns: int, skips: SkipLog) -> Iterator[Row]:
    """Yield the rows with as many cells as the header; ignore blank lines, and skip other rows as malformed."""
    number = 0
    for line, cells in read_records(reader, skips.name):
        if not cells:
            continue
        number += 1
        if len(cells) > n_columns and not any(islice(cells, n_columns, None)):
            cells = cells[:n_columns]  # spreadsheets write delimiters after the last column
        if len(cells) != n_columns:
            s = "" if len(cells) == 1 else "s"
            skips.add("malformed", line, f"{len(cells)} cell{s}, but the header has {n_columns}")
            continue
        yield Row(line, str(number), cells, sum(map(len, cells)))


def make_csv_chunk(rows: list[Row], columns: list[str], skips: SkipLog) -> Chunk:
    """Return rows as a table; skip those with an undecodable cell."""
    by_column = zip(*(row.cells for row in rows), strict=True) if rows else [()] * len(columns)
    try:
        table = pa.table([pa.array(values, pa.string()) for values in by_column], names=columns)
    except UnicodeEncodeError:
        bad = {row.place: what for row in rows if (what := describe_undecodable_cell(row.cells))}
        for line, what in bad.items():
            skips.add("undecodable", line, what)
        return make_csv_chunk([row for row in rows if row.place not in bad], columns, skips)
    return Chunk.from_rows(rows, table)


def describe_undecodable_cell(cells: list[str]) -> str | None:
    """Describe the first byte of a row that did not decode; return None if there is none."""
    return next(filter(None, map(describe_undecodable, cells)), None)


def read_jsonl_chunks(text: io.TextIOWrapper, skips: SkipLog) -> Iterator[Chunk]:
    """Yield the objects, one per line, as text."""
    return make_object_chunks(read_jsonl_rows(text, skips), skips)


def make_object_chunks(objects: Iterator[Row], skips: SkipLog) -> Iterator[Chunk]:
    """Yield JSON objects as tables of text; warn about keys that the first chunk did not have, and ignore them."""
    columns: dict[str, None] = {}
    for rows in group_rows(objects):
        columns = columns or dict.fromkeys([*dict.fromkeys(key for row in rows for key in row.cells)][:MAX_COLUMNS])
        for row in rows:
            if not columns.keys() >= row.cells.keys():
                late = next(key for key in row.cells if key not in columns)
                skips.add("late column", row.place, repr(late))
        arrays = [pa.array([json_to_text(row.cells.get(key)) for row in rows], pa.string()) for key in columns]
        table = pa.table(arrays, names=make_names_unique([replace_surrogates(key) for key in columns]))
        yield Chunk.from_rows(rows, table)


def read_jsonl_rows(text: io.TextIOWrapper, skips: SkipLog) -> Iterator[Row]:
    """Yield the objects; ignore blank lines, and skip lines that are not a JSON object."""
    number = 0
    for line, content in enumerate(iter_lines(text), 1):
        number += content is None or bool(content.strip())
        if content is None:
            skips.add("too long", line)
        elif content.strip() and (cells := parse_json_line(content, line, skips)) is not None:
            yield Row(line, str(number), cells, len(content))


#: What JSON calls the values that are no objects.
JSON_NAMES = {"list": "list", "str": "string", "int": "number", "float": "number", "bool": "truth value"}
JSON_NAMES["NoneType"] = "null"


def parse_json_line(content: str, line: int, skips: SkipLog) -> dict[str, Any] | None:
    """Return the object of a line; if there is none, log why and return None."""
    if what := describe_undecodable(content):
        skips.add("undecodable", line, what)
        return None
    try:
        refuse_many_parts(content, 0, len(content))
        value = json.loads(content)
        if isinstance(value, dict):
            return value
        example = '{"text": "…"}'
        what = f"a {JSON_NAMES[type(value).__name__]}, but each line must be one document such as {example}"
    except json.JSONDecodeError as error:
        if line == 1 and content.strip() in ("[", "[{", "{"):
            problem = f"{skips.name} is one JSON document over many lines, but one object per line is needed"
            raise InputError(f"{problem}; convert it, for example with: jq -c '.[]' FILE") from None
        what = f"not valid JSON: {error.msg} at character {error.pos + 1}"
    except (ValueError, RecursionError) as error:  # thousands of digits or brackets
        what = f"{type(error).__name__}: {error}".splitlines()[0]
    skips.add("malformed", line, what)
    return None


def refuse_many_parts(content: str, start: int, end: int) -> None:
    """Raise ValueError for a part of a text that would fill the memory when it is parsed as JSON."""
    if end - start > MAX_JSON_PARTS and sum(content.count(sign, start, end) for sign in "[{,") > MAX_JSON_PARTS:
        raise ValueError(f"more than {MAX_JSON_PARTS:,} values in one")


def json_to_text(value: Any) -> str | None:
    """Return a JSON value as text: a string as it is, null as None, everything else as JSON."""
    if value is None:
        return None
    return replace_surrogates(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def replace_surrogates(text: str) -> str:
    """Return a text with � in place of lone surrogates, which JSON can hold and UTF-8 cannot."""
    if describe_undecodable(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
