"""Read Matrix Market and UCI files, every line checked: SciPy's reader crashes on damaged files.

Both list one entry per line, `document word count`, counted from 1. They differ in the first lines. A damaged file
raises ValueError, which says what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import scipy.sparse as sp

from anchorless._corpus.io.limits import check_declared_bytes, check_declared_shape, read_line_blocks

#: Bytes of lines that are parsed at a time.
BYTES_PER_READ = 1 << 23
#: Bytes of a line before the entries, at most.
HEADER_LINE = 1 << 16
BANNER = re.compile(
    rb"%%MatrixMarket\s+matrix\s+(coordinate|array)\s+(real|double|integer|unsigned-integer|pattern)"
    rb"\s+(general|symmetric)\s*",
    re.IGNORECASE,
)
#: Bytes that numbers and the space between them consist of.
NUMBER_BYTES = b"0123456789+-.eE \t\r\n"
#: Bytes of memory for each entry: two indices and a value, and as much for the conversion to CSR.
BYTES_PER_ENTRY = 32
INT32_MAX = 2**31 - 1


def read_matrix_market(source: IO[bytes]) -> Any:
    """Return the matrix of a Matrix Market file: coordinate or array, real, integer or pattern, sparse."""
    banner = BANNER.fullmatch(source.readline(HEADER_LINE))
    if banner is None:
        raise ValueError("its first line does not declare a matrix of real or whole numbers, general or symmetric")
    layout, field, symmetry = (part.decode().lower() for part in banner.groups())
    line = b"%"
    while line.startswith(b"%") or (line and not line.strip()):
        line = source.readline(HEADER_LINE)
    if layout == "array":
        if symmetry != "general" or field == "pattern":
            raise ValueError(f"a dense matrix that is {field} and {symmetry} is not supported; write it as general")
        return read_dense(source, parse_sizes([line], 2))
    return read_entries(source, parse_sizes([line], 3), field == "pattern", symmetry == "symmetric")


def read_uci(source: IO[bytes]) -> Any:
    """Return the matrix of a UCI file: the numbers of documents, words and entries, a line each, then the entries."""
    lines = [source.readline(HEADER_LINE) for _ in range(3)]
    return read_entries(source, parse_sizes(lines, 3), False, False)


def parse_sizes(lines: list[bytes], n: int) -> list[int]:
    """Return `n` whole numbers that lines hold."""
    words = b" ".join(lines).split()
    if len(words) != n or not all(word.isdigit() and len(word) < 20 for word in words):
        where = "lines must be the numbers of documents, words and entries"
        raise ValueError(f"its first three {where}" if len(lines) == 3 else f"the line of sizes must hold {n} numbers")
    return [int(word) for word in words]


def read_entries(source: IO[bytes], sizes: list[int], is_pattern: bool, is_symmetric: bool) -> Any:
    """Return the entries as COO; a pattern has no values, a symmetric matrix half of its entries."""
    n_rows, n_columns, n_entries = sizes
    check_declared_shape(n_rows, n_columns, n_entries)
    check_declared_bytes(BYTES_PER_ENTRY * n_entries)
    if max(n_rows, n_columns) > INT32_MAX or (is_symmetric and n_rows != n_columns):
        raise ValueError(f"a matrix of {n_rows:,} × {n_columns:,} is not supported")
    types = {"row": pa.int64(), "column": pa.int64(), **({} if is_pattern else {"value": pa.float64()})}
    parts, n_found = list[tuple[Any, ...]](), 0
    for table in read_tables(source, types):
        row, column = check_places(table["row"], n_rows, n_found), check_places(table["column"], n_columns, n_found)
        parts.append((row, column, np.ones(len(row)) if is_pattern else to_numpy(table["value"])))
        n_found += len(row)
        if n_found > n_entries:
            break
    if n_found != n_entries:
        raise ValueError(f"it declares {n_entries:,} entries, but has {'more' if n_found > n_entries else n_found}")
    empty = (np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))
    row, column, value = (np.concatenate(arrays) for arrays in zip(empty, *parts, strict=True))
    if is_symmetric:
        below = row != column
        row, column = np.concatenate([row, column[below]]), np.concatenate([column, row[below]])
        value = np.concatenate([value, value[below]])
    return sp.coo_matrix((value, (row, column)), shape=(n_rows, n_columns))


def read_dense(source: IO[bytes], sizes: list[int]) -> Any:
    """Return a matrix whose entries are all listed, column by column."""
    n_rows, n_columns = sizes
    check_declared_bytes(2 * 8 * n_rows * n_columns)
    parts, n_found = [np.empty(0)], 0
    for table in read_tables(source, {"value": pa.float64()}):
        parts.append(to_numpy(table["value"]))
        n_found += table.num_rows
        if n_found > n_rows * n_columns:
            break
    if n_found != n_rows * n_columns:
        raise ValueError(f"it declares {n_rows:,} × {n_columns:,} numbers, but has {n_found:,}")
    check_declared_shape(n_rows, n_columns, n_found)
    return sp.csr_matrix(np.concatenate(parts).reshape((n_rows, n_columns), order="F"))


def read_tables(source: IO[bytes], types: dict[str, pa.DataType]) -> Iterator[pa.Table]:
    """Yield the lines of a file as tables of these columns."""
    read = pa.csv.ReadOptions(column_names=[*types], use_threads=False)
    parse = pa.csv.ParseOptions(delimiter=" ", quote_char=False, escape_char=False)
    convert = pa.csv.ConvertOptions(column_types=types, null_values=[], strings_can_be_null=False)
    for text in read_line_blocks(source, BYTES_PER_READ):
        if foreign := text.translate(None, NUMBER_BYTES):
            raise ValueError(f"{foreign[:1]!r} is among its numbers")
        lines = separate_by_space(text)
        if lines.strip():
            yield pa.csv.read_csv(pa.BufferReader(lines), read, parse, convert)


def separate_by_space(text: bytes) -> bytes:
    """Return lines with one space between the numbers, and none around them."""
    if b"  " in text or b"\t" in text or b"\r" in text or b" \n" in text or b"\n " in text or text.startswith(b" "):
        return b"".join(b" ".join(line.split()) + b"\n" for line in text.splitlines())
    return text


def check_places(column: pa.ChunkedArray, n: int, n_before: int) -> Any:
    """Return places that count from 1 as int32 that count from 0; refuse those outside of 1 … n."""
    places = to_numpy(column)
    if len(places) and not (places.min() >= 1 and places.max() <= n):
        first = int(np.argmax((places < 1) | (places > n)))
        raise ValueError(f"entry {n_before + first + 1:,} is at {places[first]}, but places are 1 to {n:,}")
    return (places - 1).astype(np.int32)


def to_numpy(column: pa.ChunkedArray) -> Any:
    """Return a column without missing values as an array."""
    if column.null_count:
        raise ValueError("a number is missing")
    return column.to_numpy()
