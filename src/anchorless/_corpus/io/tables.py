"""Read a table of what is known of documents, such as the metadata of a file of counts."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pyarrow as pa

from anchorless._corpus.io.batches import Chunk, SkipLog
from anchorless._corpus.io.decoding import open_text
from anchorless._corpus.io.json_lists import JsonList
from anchorless._corpus.io.parquet import ParquetInput
from anchorless._corpus.io.readers import guess_text_format
from anchorless._corpus.io.spreadsheets import SpreadsheetInput
from anchorless._corpus.io.tabular import make_object_chunks, read_csv_chunks, read_jsonl_chunks
from anchorless._files import InputFile, open_input
from anchorless.errors import InputError, UsageError


def read_table(path: str | os.PathLike[str]) -> pa.Table:
    """Return a CSV, TSV, JSON, Parquet or Excel file as one table; a row that cannot be read is an error.

    Rows belong to documents by their place, so none may be skipped.
    """
    with open_input(path) as file:
        if not file.stream.peek(1):
            raise InputError(f"{file.name} is empty; give a table with a row per document")
        tables = [chunk.table for chunk in iter_chunks(file)]
    return pa.concat_tables(tables, promote_options="default")


def iter_chunks(file: InputFile) -> Iterator[Chunk]:
    """Yield the rows of a file by its format."""
    format = guess_text_format(file)
    skips = SkipLog(file.name, "row" if format in ("parquet", "excel") else "line", strict=True)
    if format == "parquet":
        source = ParquetInput(file)
        try:
            yield from source.chunks(skips)
        finally:
            source.close()
    elif format in ("csv", "tsv"):
        text = open_text(file.stream, "utf-8", newline="")
        yield from read_csv_chunks(text, skips, "\t" if format == "tsv" else None)
    elif format == "jsonl":
        yield from read_jsonl_chunks(open_text(file.stream, "utf-8"), skips)
    elif format == "json":
        found = JsonList(open_text(file.stream, "utf-8"), skips, None)
        yield from make_object_chunks(found.rows(), skips)
    elif format == "excel":
        sheet = SpreadsheetInput(file, None)
        try:
            yield from sheet.chunks(skips)
        finally:
            sheet.close()
    else:
        raise UsageError(f"{file.name} is no table; give a file that ends in .csv, .tsv, .jsonl, .parquet or .xlsx")
