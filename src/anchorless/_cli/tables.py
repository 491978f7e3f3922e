"""Tables of results: documents with their topics, batch by batch, as CSV or Parquet; topics and correlations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from anchorless._topic_model.frames import document_table
from anchorless._topic_model.mixtures import Mixtures

#: Decimals of shares in a CSV; Parquet has all of them.
DECIMALS = 6
TABLE_FORMATS = ("csv", "parquet")


@contextmanager
def open_table_writer(target: Path | IO[bytes], schema: pa.Schema, format: str) -> Iterator[Any]:
    """Yield a writer of tables with this schema."""
    if format == "parquet":
        with pyarrow.parquet.ParquetWriter(target, schema) as writer:
            yield writer
    else:
        options = pyarrow.csv.WriteOptions(quoting_style="needed")
        with pyarrow.csv.CSVWriter(target, schema, write_options=options) as writer:
            yield writer


def write_documents(
    target: Path | IO[bytes],
    parts: Iterable[tuple[pa.Table, Mixtures]],
    labels: Sequence[str],
    format: str,
) -> int:
    """Write documents batch by batch: what they carry, and their mixtures; return how many."""
    decimals = DECIMALS if format == "csv" else None
    tables = (document_table(carried, mixtures, labels, decimals=decimals) for carried, mixtures in parts)
    first = next(tables, None)
    if first is None:
        return 0
    count = len(first)
    with open_table_writer(target, first.schema, format) as writer:
        writer.write_table(first)
        for table in tables:
            writer.write_table(table.cast(first.schema))
            count += len(table)
    return count


def zip_mixtures(carried: Iterable[pa.Table], mixtures: Mixtures) -> Iterator[tuple[pa.Table, Mixtures]]:
    """Yield tables of carried columns with their rows of the mixtures."""
    start = 0
    for table in carried:
        rows = slice(start, start + len(table))
        yield table, Mixtures(mixtures.shares[rows], mixtures.explained[rows])
        start += len(table)


def write_frame(path: Path, frame: Any, *, index: bool = False) -> None:
    """Write a small table as CSV, the same bytes on every system."""
    frame.to_csv(path, index=index, lineterminator="\n", float_format=f"%.{DECIMALS}g")
