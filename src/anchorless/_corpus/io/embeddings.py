"""Read embeddings of documents: .npy, .parquet, or a column of lists. Memory maps are not read before they are used."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from anchorless._corpus.io.limits import check_declared_bytes
from anchorless._files import make_read_error
from anchorless.errors import InputError, UsageError

EMBEDDING_FILES = (".npy", ".parquet", ".pq")
#: Rows of a Parquet file that are read before its size is estimated again.
ROWS_AT_A_TIME = 1024
NPY_START = b"\x93NUMPY"


def is_embedding_file(name: str) -> bool:
    """Tell whether a name is that of a file of embeddings."""
    return Path(name).suffix.lower() in EMBEDDING_FILES


def read_embeddings(path: str | os.PathLike[str]) -> Any:
    """Return the array of a file, documents × dimensions; documents without an embedding are masked."""
    name = os.fspath(path)
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise InputError(f"cannot read {name}: it is a device or pipe", remedy="give a file")  # which may never end
    try:
        if Path(path).suffix.lower() != ".npy":
            with open(path, "rb") as file:  # errors of Arrow do not say what is wrong with a file
                return find_embeddings(read_table(file), name)
        check_magic(path)  # what NumPy says about other files is how to read a pickle
        try:
            found = np.load(path, mmap_mode="r", allow_pickle=False)
        except MemoryError:  # of the parser: no array is in memory here
            raise ValueError("its header is nested too deeply") from None
    except OSError as error:
        raise make_read_error(error, name) from None
    except (InputError, MemoryError):
        raise
    except Exception as error:  # of Arrow, and of all that NumPy uses to read a header
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"{name} is no array of numbers ({reason})", remedy="write it with numpy.save, or as Parquet"
        ) from None
    return found


def check_magic(path: str | os.PathLike[str]) -> None:
    """Refuse a file that does not begin as arrays do."""
    with open(path, "rb") as file:
        start = file.read(len(NPY_START))
    if start != NPY_START:
        kind = "an archive of arrays" if start.startswith(b"PK") else "in another format" if start else "empty"
        raise ValueError(f"it is {kind}")


def read_table(file: IO[bytes]) -> pa.Table:
    """Return the table of a Parquet file; raise ValueError if it does not fit into memory, as its first rows tell.

    A million equal values may take a byte. How many there are is not asked: PyArrow ends the process where the answer
    is damaged.
    """
    parquet = pyarrow.parquet.ParquetFile(file, pre_buffer=False)
    batches, n_rows, n_bytes, largest = list[pa.RecordBatch](), 0, 0, 0
    for batch in parquet.iter_batches(batch_size=ROWS_AT_A_TIME):
        batches.append(batch)
        n_rows, n_bytes = n_rows + len(batch), n_bytes + batch.nbytes
        whole = n_bytes * max(parquet.metadata.num_rows, n_rows) // max(n_rows, 1)
        if whole > largest:
            largest = whole + whole // 10  # so much more is not asked again
            check_declared_bytes(2 * whole - n_bytes)  # the table, and the array that is made of it
    return pa.Table.from_batches(batches, parquet.schema_arrow)


def find_embeddings(table: pa.Table, name: str) -> Any:
    """Return the embeddings of a table: its only column of lists, or all its columns of floating-point numbers."""
    lists = [column for column in table.column_names if is_list(table[column].type)]
    numbers = [column for column in table.column_names if pa.types.is_floating(table[column].type)]
    if len(lists) == 1:
        return stack_lists(table[lists[0]], f"the column {lists[0]!r} of {name}")
    if lists or not numbers:
        problem = f"{name} has {len(lists)} columns of lists and {len(numbers)} of floating-point numbers"
        raise InputError(problem, remedy="give one column of lists, or only columns of numbers")
    return np.column_stack([table[column].to_numpy() for column in numbers])


def collect_embeddings(tables: Any, column: str, name: str) -> Any:
    """Return the embeddings in a column of the tables of an input."""
    parts = []
    for table in tables:
        if column not in table.column_names:
            known = f"{name} has no column {column!r}, only {', '.join(map(repr, table.column_names))}"
            remedy = f"name one of them, or a file that ends in {', '.join(EMBEDDING_FILES)}"
            raise UsageError(f"embeddings: {known}", remedy=remedy)
        parts.append(table[column])
    joined = pa.chunked_array([chunk for part in parts for chunk in part.chunks])
    where = f"the column {column!r} of {name}"
    if pa.types.is_string(joined.type) or pa.types.is_large_string(joined.type):
        joined = parse_lists(joined, where)
    return stack_lists(joined, where)


def parse_lists(column: Any, name: str) -> Any:
    """Return a column of lists from their JSON: that is how readers keep nested values; no text is no embedding."""
    try:
        lists = [json.loads(text) if text else None for text in column.to_pylist()]
        return pa.chunked_array([pa.array(lists, pa.list_(pa.float64()))])
    except (ValueError, TypeError, RecursionError) as error:
        problem = f"embeddings: {name} has values that are no lists of numbers ({error})"
        raise InputError(problem, remedy="name another column, or a file") from None


def is_list(kind: pa.DataType) -> bool:
    """Tell whether a column has lists."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def stack_lists(column: Any, name: str) -> Any:
    """Return a column of lists of equal length as rows; missing lists become masked rows."""
    if not is_list(column.type):
        problem = f"embeddings: {name} has values of the type {column.type}, but each must be a list of numbers"
        raise InputError(problem, remedy="name another column")
    values = column.combine_chunks()
    if isinstance(values, pa.ChunkedArray):
        values = values.chunk(0) if values.num_chunks else pa.array([], column.type)
    there = np.asarray(values.is_valid())
    if not there.any():
        raise InputError(f"embeddings: {name} has no list of numbers", remedy="give one for each document")
    lengths = np.asarray(pc.list_value_length(values.filter(pa.array(there))))
    if len(set(lengths.tolist())) > 1:
        problem = f"embeddings: the lists of {name} have {lengths.min()} to {lengths.max()} numbers"
        raise InputError(problem, remedy="all need the same number")
    rows = values.filter(pa.array(there)).flatten().to_numpy(zero_copy_only=False)
    rows = rows.reshape(int(there.sum()), -1)
    if there.all():
        return rows
    found = np.ma.zeros((len(there), rows.shape[1]), dtype=rows.dtype)
    found[there] = rows
    found[~there] = np.ma.masked
    return found
