"""Read Parquet files as chunks of rows."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import compress
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anchorless._corpus.io.batches import CHARACTERS_PER_CHUNK, ROWS_PER_CHUNK, Chunk, SkipLog, make_names_unique
from anchorless._files import BUFFER_SIZE, InputFile, hash_file
from anchorless.errors import InputError

PARQUET_MAGIC = b"PAR1"
#: Row groups of fewer bytes, or of so many times the bytes of the file, may have a text of megabytes that stands for
#: those of all rows. In larger ones a dictionary would take as much memory as the texts.
MAX_DICTIONARY, MAX_RATIO = 1 << 26, 50


class ParquetInput:
    """A Parquet file; a compressed one or a pipe is copied to a temporary file, since Parquet is not read in order."""

    def __init__(self, file: InputFile) -> None:
        import pyarrow.parquet as pq  # here: it takes a tenth of a second that other formats need not wait

        self.file, self.name, self.bytes_total = file, file.name, file.bytes_total
        self.temporary_file: IO[bytes] | None = None
        self.share_read = 0.0  # of the rows
        try:
            if file.stream.peek(len(PARQUET_MAGIC)) != PARQUET_MAGIC:
                problem = f"{file.name} is not a Parquet file: it does not begin with PAR1"
                raise InputError(problem, remedy="set another {format}")
            if file.path is None or file.compressed:
                self.temporary_file = tempfile.TemporaryFile()  # noqa: SIM115 closed by close
                shutil.copyfileobj(file.stream, self.temporary_file, BUFFER_SIZE)
                self.temporary_file.seek(0)
            source = self.temporary_file or file.path
            with wrap_parquet_errors(self.name):
                facts = pq.ParquetFile(source)
                place: Any = file.path if self.temporary_file is None else self.temporary_file.fileno()
                n_bytes, metadata = os.stat(place).st_size, facts.metadata
                repeated = list_repeated_texts(facts, n_bytes)
                self.parquet = pq.ParquetFile(
                    source, pre_buffer=False, buffer_size=BUFFER_SIZE, read_dictionary=repeated, metadata=metadata
                )
        except BaseException:
            self.close()
            raise

    @property
    def bytes_read(self) -> int:
        """Bytes read so far: those of the pipe, or a share of the file by rows."""
        if self.bytes_total is None:
            return self.file.bytes_read
        return round(self.bytes_total * self.share_read)

    def sha256(self) -> str:
        """Return the hash of the file as it is on disk."""
        if self.file.path is None or self.file.compressed:
            return self.file.sha256()
        return hash_file(self.file.path)

    def close(self) -> None:
        """Close the file and remove the temporary one."""
        self.file.close()
        if self.temporary_file is not None:
            self.temporary_file.close()

    def chunks(self, skips: SkipLog) -> Iterator[Chunk]:
        """Yield the rows; an empty chunk if there are none."""
        with wrap_parquet_errors(self.name):
            n_rows, start = self.parquet.metadata.num_rows, 0
            if not n_rows:
                yield Chunk([], [], flatten_table(self.parquet.schema_arrow.empty_table()))
            size = compute_rows_per_chunk(self.parquet.metadata)
            # One thread: each further one keeps tens of megabytes of freed memory.
            for batch in self.parquet.iter_batches(batch_size=size, use_threads=False):
                for part in split_table(pa.Table.from_batches([batch])):
                    table = flatten_table(part)
                    numbers = range(start + 1, start + 1 + len(table))
                    start += len(table)
                    self.share_read = start / n_rows
                    yield drop_undecodable_rows(table, list(numbers), skips)


@contextmanager
def wrap_parquet_errors(name: str) -> Iterator[None]:
    """Turn the errors of Arrow for a damaged file into an InputError."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(f"{name} is a damaged or incomplete Parquet file ({why}); write it again") from None


def list_repeated_texts(facts: Any, n_bytes: int) -> list[str]:
    """Return the columns of texts if one text may stand for those of all rows of a file of `n_bytes`.

    These are read as texts and the places of their rows, so that no text is in memory for each of its rows. Which
    columns have a dictionary is not asked: PyArrow ends the process where the answer is damaged.
    """
    groups = map(facts.metadata.row_group, range(facts.metadata.num_row_groups))
    largest = max((group.total_byte_size for group in groups), default=0)
    if MAX_DICTIONARY < largest < MAX_RATIO * n_bytes:
        return []
    return [field.name for field in facts.schema_arrow if pa.types.is_string(field.type)]


def compute_rows_per_chunk(metadata: Any) -> int:
    """Return how many rows hold about CHARACTERS_PER_CHUNK bytes, by the largest row group."""
    groups = [metadata.row_group(place) for place in range(metadata.num_row_groups)]
    heaviest = max((group.total_byte_size / max(group.num_rows, 1) for group in groups), default=1.0)
    return int(min(max(CHARACTERS_PER_CHUNK / max(heaviest, 1.0), 1), ROWS_PER_CHUNK))


def split_table(table: pa.Table) -> Iterator[pa.Table]:
    """Yield a table in parts of bounded size: long texts may follow each other among short ones."""
    if len(table) <= 1 or sum(map(count_bytes, table.columns)) <= 2 * CHARACTERS_PER_CHUNK:
        yield table
        return
    middle = len(table) // 2
    yield from split_table(table.slice(0, middle))
    yield from split_table(table.slice(middle))


def count_bytes(column: pa.ChunkedArray) -> int:
    """Return the bytes of a column, of a dictionary those of the texts that its rows stand for."""
    if not (pa.types.is_dictionary(column.type) and pa.types.is_string(column.type.value_type)):
        return int(column.nbytes)
    lengths = (pc.binary_length(part.dictionary).take(part.indices) for part in column.chunks)
    return sum(pc.sum(part.cast(pa.int64())).as_py() or 0 for part in lengths)


def flatten_table(table: pa.Table) -> pa.Table:
    """Return a table that CSV could hold: no dictionaries, nested values as JSON, no bytes, distinct names."""
    encode = json.JSONEncoder(ensure_ascii=False, default=str).encode  # dates and the like become strings
    kept: list[tuple[str, pa.ChunkedArray]] = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        kind = column.type
        if pa.types.is_nested(kind):
            try:
                encoded = [None if value is None else encode(value) for value in column.to_pylist()]
            except (OverflowError, ValueError) as error:  # dates that Python does not have
                raise pa.ArrowInvalid(f"the column {name!r}: {error}") from None
            column = pa.chunked_array([encoded], pa.string())
        if pa.types.is_timestamp(kind) and not is_known_zone(kind):
            column = column.cast(pa.timestamp(kind.unit, "UTC"))
        if not (pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)):
            kept.append((name, column))
    return pa.table([column for _, column in kept], names=make_names_unique([name for name, _ in kept]))


def is_known_zone(kind: Any) -> bool:
    """Tell whether the time zone of a type of timestamps is one that this machine knows, or none."""
    try:
        pa.scalar(0, kind).cast(pa.string())
    except pa.ArrowInvalid:
        return False
    return True


def drop_undecodable_rows(table: pa.Table, numbers: list[int], skips: SkipLog) -> Chunk:
    """Return the rows whose strings are valid UTF-8, which Parquet requires but does not check."""
    good = np.ones(len(table), dtype=bool)
    for column in table.columns:
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            try:
                column.validate(full=True)
            except pa.ArrowInvalid:
                values = [value or b"" for value in column.cast(pa.large_binary()).to_pylist()]
                good &= [value.decode(errors="ignore").encode() == value for value in values]
    for place in np.flatnonzero(~good):
        skips.add("undecodable", numbers[place], "its text is not UTF-8")
    kept = [*compress(numbers, good)]
    return Chunk([*map(str, kept)], [*kept], table if good.all() else table.filter(pa.array(good)))
