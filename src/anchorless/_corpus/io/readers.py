"""Read text files of every format as batches of documents: `open_texts` opens them all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from anchorless._corpus.io.archives import ArchiveInput, is_archive
from anchorless._corpus.io.batches import Batch, Chunk, SkipLog
from anchorless._corpus.io.columns import ID, ColumnSelection, choose_id_column, choose_text_column
from anchorless._corpus.io.decoding import check_encoding, open_text
from anchorless._corpus.io.files import FileDocument, read_document, read_documents
from anchorless._corpus.io.formats import (
    FORMATS_WITHOUT_COLUMNS,
    MAIL_KINDS,
    TABLE_FORMATS,
    TEXT_FORMATS,
    get_document_kind,
    guess_format_by_name,
)
from anchorless._corpus.io.joined import JoinedInputs, expand_paths
from anchorless._corpus.io.json_lists import JsonList, is_json_list
from anchorless._corpus.io.mail import FIELDS
from anchorless._corpus.io.parquet import PARQUET_MAGIC, ParquetInput
from anchorless._corpus.io.plain import TEXT, TextFolder, list_tables, make_document_chunks, read_line_chunks
from anchorless._corpus.io.sources import SourceFacts, TextSource
from anchorless._corpus.io.spreadsheets import SpreadsheetInput
from anchorless._corpus.io.tabular import make_object_chunks, read_csv_chunks, read_jsonl_chunks
from anchorless._corpus.text.splitting import parse_split, split_batches
from anchorless._files import BUFFER_SIZE, InputFile, open_input
from anchorless.errors import InputError, UsageError

__all__ = ["TEXT_FORMATS", "TextSource", "guess_text_format", "open_texts"]

PathLike = str | os.PathLike[str]
#: Bytes at the start of a file by which its format is guessed.
HEAD_SIZE = 1 << 16


class Reading(NamedTuple):
    """How texts are read."""

    text_column: str | None
    id_column: str | None
    format: str | None
    table: str | None
    strict: bool
    encoding: str


def open_texts(
    path: PathLike | Sequence[PathLike],
    *,
    text_column: str | None = None,
    id_column: str | None = None,
    format: str | None = None,
    table: str | None = None,
    strict: bool = False,
    encoding: str = "utf-8",
    split: str | int | None = None,
) -> TextSource:
    """Open files, folders or archives with texts, or stdin ("-"), compressed by gzip or not.

    `path` is one name, a pattern such as "texts/**/*.txt", or a list of names. `text_column` is by default the only one
    that is obvious from the names and the first rows; `id_column` one with a name such as id, or else row numbers from
    1 (names of files in a folder); `format` is guessed from the name, or else from the content; `table` names the sheet
    of a spreadsheet or the list in a JSON file. With `strict`, a row without text, undecodable or malformed is an
    error; else it is skipped and counted in `skipped` of the result. `encoding` is that of a file without a byte order
    mark. `split` divides long documents into parts, as `CountSettings` says.
    """
    if format is not None and format not in TEXT_FORMATS:
        raise UsageError(f"it must be one of {', '.join(TEXT_FORMATS)}", parameter="format", value=format)
    check_encoding(encoding)
    rule = parse_split(split)
    if rule is not None and format is None and is_lone_text_file(path):
        format = "document"  # lines of a book are no documents
    reading = Reading(text_column, id_column, format, table, strict, encoding)
    paths = expand_paths(path)
    source = open_one(paths[0], reading) if len(paths) == 1 else open_several(paths, reading)
    return split_source(source, split)


def is_lone_text_file(path: Any) -> bool:
    """Say whether an input is one .txt file."""
    paths = expand_paths(path)
    return len(paths) == 1 and not os.path.isdir(paths[0]) and guess_format_by_name(paths[0]) == "lines"


def split_source(source: TextSource, split: str | int | None) -> TextSource:
    """Return a source whose documents are the parts of those of another; one that is divided stays as it is."""
    rule, facts = parse_split(split), source.facts
    if rule is None or facts.reading.get("split") is not None:
        return source
    parted = split_batches(source.batches(), rule)
    columns = rule.add_columns(facts.columns)
    facts = facts._replace(columns=columns, reading=facts.reading | {"split": rule.value})
    return TextSource(PartedInput(source, rule), parted, facts, source.skipped)


class PartedInput:
    """An input whose documents are divided; what is known of it is that of the whole one."""

    def __init__(self, source: TextSource, rule: Any) -> None:
        self._source, self._rule = source, rule
        self.bytes_total = source.bytes_total
        self.sha256, self.close = source.sha256, source.close

    @property
    def bytes_read(self) -> int:
        """As of the whole input."""
        return self._source.bytes_read

    def describe(self) -> list[str]:
        """Return what the whole input says, without what was skipped, and the number of parts."""
        sentences = [
            text for text in self._source.describe_reading() if text not in self._source.skipped.describe_all()
        ]
        return [*sentences, *self._rule.describe()]


def open_one(path: str, reading: Reading) -> TextSource:
    """Open one file, folder or archive."""
    format = reading.format
    if path != "-" and Path(path).is_dir() and format in (None, "folder"):
        tables = list_tables(Path(path))
        if tables:
            return open_several([str(table) for table in tables], reading._replace(format=None))
        return open_folder(TextFolder.from_folder(Path(path), reading.encoding), reading, "folder")
    if format == "folder":
        remedy = "leave out {format}, or name a folder of .txt files"
        raise UsageError(f"{path} is not a folder", parameter="format", value=format, remedy=remedy)
    file = open_input(path)
    try:
        return open_file(file, format or guess_text_format(file), reading)
    except BaseException:
        file.close()
        raise


def open_several(paths: list[str], reading: Reading) -> TextSource:
    """Open several inputs as one: files that are a document each, or any others one after the other."""
    if reading.format in (None, "document") and all(is_document_file(path) for path in paths):
        return open_folder(TextFolder.from_files(paths, reading.encoding), reading, "document")
    skips = SkipLog("", "file", strict=reading.strict)

    def open_next(path: str) -> TextSource:
        # Among others, a .txt file is one document, as in a folder.
        alone = is_document_file(path) and reading.format is None
        wanted = (
            reading
            if guess_format_by_name(path) in TABLE_FORMATS
            else reading._replace(text_column=None, id_column=None)
        )
        return open_one(path, wanted._replace(format="document" if alone else reading.format))

    joined = JoinedInputs(paths, open_next, skips)
    skips.name = joined.name
    facts = SourceFacts(
        joined.format, joined.text_column, joined.id_column, joined.schema, paths, {"encoding": reading.encoding}
    )
    return TextSource(joined, joined.batches(), facts, skips)


def is_document_file(path: str) -> bool:
    """Say whether a file is one document, or a mailbox, by its name."""
    return path != "-" and not os.path.isdir(path) and get_document_kind(path) is not None


def open_folder(folder: TextFolder, reading: Reading, format: str) -> TextSource:
    """Open the files of a folder, or files that are a document each."""
    skips = SkipLog(folder.name, "file", strict=reading.strict)
    return select_columns(folder, folder.chunks(skips), reading, format, skips, folder.fields)


def open_file(file: InputFile, format: str, reading: Reading) -> TextSource:
    """Open one file of a known format."""
    if not file.stream.peek(1):
        raise InputError(f"{file.name} is empty; give a file with texts")
    unit = {"parquet": "row", "excel": "row", "json": "element", "archive": "file", "mailbox": "mail"}
    skips = SkipLog(file.name, unit.get(format, "line"), strict=reading.strict)
    if format in OPENERS:
        source = OPENERS[format](file, reading)
        try:
            return select_columns(source, source.chunks(skips), reading, format, skips, None)
        except BaseException:
            source.close()
            raise
    if format in ("document", "mailbox"):
        return open_document(file, format, reading, skips)
    # Line breaks inside quotes belong to the text of a CSV cell and must stay as they are.
    text = open_text(file.stream, reading.encoding, newline="" if format in ("csv", "tsv") else None)
    source = file
    if format in ("csv", "tsv"):
        chunks = read_csv_chunks(text, skips, "\t" if format == "tsv" else None)
    elif format == "json":
        found = JsonList(text, skips, reading.table)
        source, chunks = DescribedFile(file, found), make_object_chunks(found.rows(), skips)
    else:
        chunks = read_jsonl_chunks(text, skips) if format == "jsonl" else read_line_chunks(text, skips)
    return select_columns(source, chunks, reading, format, skips, ())


#: Formats whose files are not read from start to end.
OPENERS: dict[str, Any] = {
    "parquet": lambda file, reading: ParquetInput(file),
    "excel": lambda file, reading: SpreadsheetInput(file, reading.table),
    "archive": lambda file, reading: ArchiveInput(file, reading.encoding),
}


class DescribedFile:
    """A file together with what its parser says about it."""

    def __init__(self, file: InputFile, parser: Any) -> None:
        self._file = file
        self.bytes_total, self.sha256, self.close, self.describe = (
            file.bytes_total,
            file.sha256,
            file.close,
            parser.describe,
        )

    @property
    def bytes_read(self) -> int:
        """As of the file."""
        return self._file.bytes_read


def open_document(file: InputFile, format: str, reading: Reading, skips: SkipLog) -> TextSource:
    """Open a file that is one document, or a mailbox; one that cannot be read is an error."""
    kind = "mailbox" if format == "mailbox" else get_document_kind(file.name) or "text"
    place = "" if kind == "mailbox" else Path(file.name).name

    def chunks() -> Iterator[Chunk]:
        documents = read_documents(kind, file.stream, place, reading.encoding, skips)
        if kind != "mailbox":
            documents = read_only_document(file, kind, place, reading.encoding)
        yield from make_document_chunks(documents, skips, FIELDS if kind in MAIL_KINDS else ())
        while file.stream.read(BUFFER_SIZE):  # to the end, for the hash
            pass

    return select_columns(file, chunks(), reading, format, skips, FIELDS if kind in MAIL_KINDS else ())


def read_only_document(file: InputFile, kind: str, place: str, encoding: str) -> Iterator[FileDocument]:
    """Yield the only document of a file; an error names the file."""
    try:
        yield read_document(kind, file.stream, place, encoding)
    except UsageError:
        raise
    except InputError as error:
        text = str(error)
        raise InputError(text if text.startswith(file.name) else f"cannot read {file.name}: {text}") from None


def select_columns(
    source: Any, chunks: Iterator[Chunk], reading: Reading, format: str, skips: SkipLog, fields: Sequence[str] | None
) -> TextSource:
    """Return the source with its columns chosen by the first chunk, so that a wrong one is refused at once."""
    text, id_column = reading.text_column, reading.id_column
    paths = getattr(source, "paths", None) or [skips.name]
    how = {"encoding": reading.encoding, "table": reading.table}
    if format in FORMATS_WITHOUT_COLUMNS:
        for parameter, given in (("text_column", text), ("id_column", id_column)):
            if given is not None:
                problem = f"{skips.name} is read as {format}, which has no columns"
                raise UsageError(problem, parameter=parameter, value=given, remedy="set {format} to csv, tsv or jsonl")
        selection, schema = (
            ColumnSelection(TEXT, None, skips),
            pa.schema([(name, pa.string()) for name in (ID, *(fields or ()))]),
        )
        if fields is None:
            first = next(chunks, None)
            known = [] if first is None else [name for name in first.table.column_names if name != TEXT]
            schema = pa.schema([(name, pa.string()) for name in (ID, *known)])
            chunks = chunks if first is None else chain([first], chunks)
        return TextSource(
            source, make_batches(chunks, selection), SourceFacts(format, None, None, schema, paths, how), skips
        )
    first = next(chunks, None)
    if first is None:
        raise InputError(
            f"{skips.name} holds no documents that can be read: {'; '.join(skips.describe_all()) or 'it is blank'}"
        )
    try:
        text = choose_text_column(first.table, text, skips.name)
    except UsageError as error:
        notes = [*getattr(source, "describe", list)(), *skips.describe_all()]  # it may be another sheet that is meant
        if text is not None or not notes:
            raise
        skips.check_decoding(len(first.places), reading.encoding)  # the rows that tell the column may be skipped ones
        raise UsageError(f"{error.problem} ({'; '.join(notes)})", remedy=error.remedy) from None
    id_column = choose_id_column(first.table, id_column, text, skips.name)
    selection = ColumnSelection(text, id_column, skips)
    facts = SourceFacts(format, text, id_column, selection.list_columns(first.table), paths, how)
    return TextSource(source, make_batches(chain([first], chunks), selection), facts, skips)


def make_batches(chunks: Iterator[Chunk], selection: ColumnSelection) -> Iterator[Batch]:
    """Yield the documents of chunks of rows."""
    for chunk in chunks:
        batch = selection.make_batch(chunk)
        if batch is not None:
            yield batch


def guess_text_format(file: InputFile) -> str:
    """Return the format by the extension, or by the first bytes if the extension is unknown or tells too little."""
    format = guess_format_by_name(file.name)
    if format not in (None, "json", "jsonl"):
        return format
    head = file.stream.peek(HEAD_SIZE)
    if format is None and head.startswith(PARQUET_MAGIC):
        return "parquet"
    if format is None and is_archive(head):
        return "excel" if b"xl/" in head or b"opendocument.spreadsheet" in head else "archive"
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"["):
        return "json"
    if not start.startswith(b"{") and format is None:
        return "lines"
    is_list = format != "jsonl" and is_json_list(head.decode("utf-8", "replace"), len(head) < HEAD_SIZE)
    return "json" if is_list else "jsonl"
