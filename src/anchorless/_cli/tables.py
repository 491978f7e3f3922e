"""Tables of results: documents with their topics, batch by batch, as CSV or Parquet; topics and correlations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from anchorless._text_safety import neutralize_frame, neutralize_table
from anchorless._topic_model.frames import document_table
from anchorless._topic_model.mixtures import Mixtures

#: Decimals of shares in a CSV; Parquet has all of them.
DECIMALS = 6


def open_table_writer(target: IO[bytes], schema: pa.Schema, format: str) -> Any:
    """Return a writer of tables with this schema."""
    if format == "parquet":
        return pyarrow.parquet.ParquetWriter(target, schema)
    return pyarrow.csv.CSVWriter(target, schema, write_options=pyarrow.csv.WriteOptions(quoting_style="needed"))


def open_target(target: Path | IO[bytes]) -> AbstractContextManager[IO[bytes]]:
    """Open a file, not by Arrow, which takes no name with bytes that are not UTF-8; an open one stays open."""
    return target.open("wb") if isinstance(target, Path) else nullcontext(target)


def write_documents(
    target: Path | IO[bytes],
    parts: Iterable[tuple[pa.Table, Mixtures]],
    labels: Sequence[str],
    format: str,
    *,
    with_rest: bool = False,
    raw_cells: bool = False,
) -> int:
    """Write the columns and mixtures of documents batch by batch; return the number of documents.

    A CSV file has neutralized cells unless `raw_cells`; Parquet, which no spreadsheet opens as formulas, has the texts.
    """
    decimals = DECIMALS if format == "csv" else None
    tables = (document_table(*part, labels, decimals=decimals, with_rest=with_rest) for part in parts)
    if format == "csv" and not raw_cells:
        tables = (neutralize_table(table) for table in tables)
    first = next(tables, None)
    if first is None:
        return 0
    count = len(first)
    with open_target(target) as file, open_table_writer(file, first.schema, format) as writer:
        writer.write_table(first)
        for table in tables:
            writer.write_table(table.cast(first.schema))
            count += len(table)
    return count


def drop_column(table: pa.Table, name: str | None) -> pa.Table:
    """Return a table without a column, such as that of embeddings."""
    return table.drop_columns([name]) if name in table.column_names else table


def zip_mixtures(tables: Iterable[pa.Table], mixtures: Mixtures) -> Iterator[tuple[pa.Table, Mixtures]]:
    """Yield tables of consecutive documents with their rows of the mixtures."""
    start = 0
    for table in tables:
        rows = slice(start, start + len(table))
        yield table, Mixtures(mixtures.shares[rows], mixtures.explained[rows])
        start += len(table)


def write_frame(path: Path, frame: Any, *, index: bool = False, raw_cells: bool = False) -> None:
    """Write a small table as CSV, the same bytes on every system; with neutralized cells unless `raw_cells`."""
    frame = frame if raw_cells else neutralize_frame(frame)
    frame.to_csv(path, index=index, lineterminator="\n", float_format=f"%.{DECIMALS}g")
