"""Tables of results: documents with their topics, batch by batch, as CSV or Parquet; topics and correlations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from anchorless._corpus.io.batches import make_names_unique
from anchorless._topic_model.frames import get_share_column_names
from anchorless._topic_model.mixtures import Mixtures

#: Decimals of shares in a CSV; Parquet has all of them.
DECIMALS = 6
TABLE_FORMATS = ("csv", "parquet")


def build_document_table(
    carried: pa.Table, mixtures: Mixtures, labels: Sequence[str], *, decimals: int | None
) -> pa.Table:
    """Return what documents carry, with leading topic, its label and share, the part explained and all shares.

    Topic, label and share are missing where a document holds no known word.
    """
    shares, explained = mixtures
    if decimals is not None:
        shares, explained = shares.round(decimals), explained.round(decimals)
    unknown = ~mixtures.shares.any(axis=1)
    lead = mixtures.shares.argmax(axis=1) if len(shares) else np.zeros(0, dtype=np.intp)
    columns: dict[str, Any] = {
        "topic": pa.array(lead.astype(np.int32), mask=unknown),
        "topic_label": pa.array(np.array(labels, dtype=object)[lead], type=pa.string(), mask=unknown),
        "share": pa.array(shares[np.arange(len(lead)), lead], mask=unknown),
        "explained": pa.array(explained),
    }
    columns |= {
        name: pa.array(share) for name, share in zip(get_share_column_names(shares.shape[1]), shares.T, strict=True)
    }
    own = [f"input_{name}" if name in columns else name for name in carried.column_names]
    names = make_names_unique([*columns, *own])  # ours keep their names
    return pa.table([*carried.columns, *columns.values()], names=[*names[len(columns) :], *columns])


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
    tables = (build_document_table(carried, mixtures, labels, decimals=decimals) for carried, mixtures in parts)
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
