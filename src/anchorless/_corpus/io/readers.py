"""Read text files of every format as batches of documents: `open_texts` opens them all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from itertools import chain
from pathlib import Path

from anchorless._corpus.io.batches import Batch, Chunk, SkipLog
from anchorless._corpus.io.columns import ColumnSelection, choose_id_column, choose_text_column
from anchorless._corpus.io.decoding import open_text
from anchorless._corpus.io.parquet import PARQUET_MAGIC, ParquetInput
from anchorless._corpus.io.plain import TEXT, TextFolder, read_line_chunks
from anchorless._corpus.io.tabular import read_csv_chunks, read_jsonl_chunks
from anchorless._files import InputFile, open_input
from anchorless.errors import InputError, UsageError
from anchorless.progress import report_progress

TEXT_FORMATS = ("csv", "tsv", "jsonl", "parquet", "folder", "lines")
#: Extensions of each format, without .gz.
EXTENSIONS = {"csv": "csv", "tsv": "tsv tab", "jsonl": "jsonl ndjson json", "parquet": "parquet pq", "lines": "txt"}
FORMAT_BY_EXTENSION = {f".{name}": format for format, names in EXTENSIONS.items() for name in names.split()}
#: Formats that have no columns.
FORMATS_WITHOUT_COLUMNS = ("folder", "lines")
#: An open input, which knows its size, how much of it has been read, and its hash.
InputSource = InputFile | ParquetInput | TextFolder


class TextSource(AbstractContextManager["TextSource"]):
    """The documents of an input, to be iterated over once; memory holds one batch, whatever the size of the input."""

    def __init__(self, source: InputSource, chunks: Iterator[Chunk], selection: ColumnSelection, format: str) -> None:
        self.name, self.format = selection.skips.name, format
        self.text_column = None if format in FORMATS_WITHOUT_COLUMNS else selection.text
        self.id_column = selection.id_column
        self.skipped = selection.skips
        self.n_documents = 0  # so far
        self._source, self._chunks, self._selection = source, chunks, selection
        self._started = False

    def __iter__(self) -> Iterator[Batch]:
        if self._started:
            raise InputError(f"{self.name} was read already; open it again to read it a second time")
        self._started = True
        try:
            for chunk in self._chunks:
                batch = self._selection.make_batch(chunk)
                if batch is not None:
                    self.n_documents += len(batch.texts)
                    yield batch
                    report_progress("reading", self.bytes_read, self.bytes_total)
        finally:
            self.close()
        if not self.n_documents:
            why = "; ".join(self.skipped.describe_all()) or "it has no rows"
            raise InputError(f"{self.name} holds no documents: {why}")

    @property
    def bytes_total(self) -> int | None:
        """Bytes of the input on disk; None for a pipe."""
        return self._source.bytes_total

    @property
    def bytes_read(self) -> int:
        """Bytes of the input that have been read so far."""
        return self._source.bytes_read

    def sha256(self) -> str:
        """Return the hash of the input, after the last batch; for a folder, that of all names and contents."""
        return self._source.sha256()

    def close(self) -> None:
        """Close the input, as the end of the iteration does too."""
        self._source.close()

    def __exit__(self, *_: object) -> None:
        self.close()


def open_texts(
    path: str | os.PathLike[str],
    *,
    text_column: str | None = None,
    id_column: str | None = None,
    format: str | None = None,
    strict: bool = False,
    encoding: str = "utf-8",
) -> TextSource:
    """Open a file, a folder of .txt files, or stdin ("-") with texts, compressed by gzip or not.

    `text_column` is by default the only one that is obvious from the names and the first rows; `id_column` one with a
    name such as id, or else row numbers from 1 (file names in a folder); `format` is guessed from the name, or else
    from the content. With `strict`, a row without text, undecodable or malformed is an error; else it is skipped and
    counted in `skipped` of the result. `encoding` is that of a file without a byte order mark.
    """
    if format is not None and format not in TEXT_FORMATS:
        raise UsageError(f"it must be one of {', '.join(TEXT_FORMATS)}", parameter="format", value=format)
    if os.fspath(path) != "-" and Path(path).is_dir() and format in (None, "folder"):
        folder = TextFolder(Path(path), encoding)
        skips = SkipLog(folder.name, "file", strict=strict)
        return select_columns(folder, folder.chunks(skips), (text_column, id_column), "folder", skips)
    if format == "folder":
        remedy = "leave out {format}, or name a folder of .txt files"
        raise UsageError(f"{os.fspath(path)} is not a folder", parameter="format", value=format, remedy=remedy)
    file = open_input(path)
    try:
        return open_file(file, (text_column, id_column), format or guess_text_format(file), strict, encoding)
    except BaseException:
        file.close()
        raise


def open_file(
    file: InputFile, wanted: tuple[str | None, str | None], format: str, strict: bool, encoding: str
) -> TextSource:
    """Open one file of a known format."""
    if not file.stream.peek(1):
        raise InputError(f"{file.name} is empty; give a file with texts")
    skips = SkipLog(file.name, "row" if format == "parquet" else "line", strict=strict)
    if format == "parquet":
        source = ParquetInput(file)
        try:
            return select_columns(source, source.chunks(skips), wanted, format, skips)
        except BaseException:
            source.close()
            raise
    # Line breaks inside quotes belong to the text of a CSV cell and must stay as they are.
    text = open_text(file.stream, encoding, newline="" if format in ("csv", "tsv") else None)
    if format in ("csv", "tsv"):
        chunks = read_csv_chunks(text, skips, "\t" if format == "tsv" else None)
    else:
        chunks = read_jsonl_chunks(text, skips) if format == "jsonl" else read_line_chunks(text, skips)
    return select_columns(file, chunks, wanted, format, skips)


def select_columns(
    source: InputSource, chunks: Iterator[Chunk], wanted: tuple[str | None, str | None], format: str, skips: SkipLog
) -> TextSource:
    """Return the source with its columns chosen by the first chunk, so that a wrong one is refused at once."""
    text, id_column = wanted
    if format in FORMATS_WITHOUT_COLUMNS:
        for parameter, given in (("text_column", text), ("id_column", id_column)):
            if given is not None:
                problem = f"{skips.name} is read as {format}, which has no columns"
                raise UsageError(problem, parameter=parameter, value=given, remedy="set {format} to csv, tsv or jsonl")
        return TextSource(source, chunks, ColumnSelection(TEXT, None, skips), format)
    first = next(chunks, None)
    if first is None:
        raise InputError(
            f"{skips.name} holds no documents that can be read: {'; '.join(skips.describe_all()) or 'it is blank'}"
        )
    text = choose_text_column(first.table, text, skips.name)
    id_column = choose_id_column(first.table, id_column, text, skips.name)
    return TextSource(source, chain([first], chunks), ColumnSelection(text, id_column, skips), format)


def guess_text_format(file: InputFile) -> str:
    """Return the format by the extension, or by the first bytes if the extension is unknown."""
    name = file.name.lower().removesuffix(".gz")
    if format := FORMAT_BY_EXTENSION.get(Path(name).suffix):
        return format
    head = file.stream.peek(4096)
    if head.startswith(PARQUET_MAGIC):
        return "parquet"
    return "jsonl" if head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{") else "lines"
