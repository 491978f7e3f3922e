"""Read plain text as chunks of rows: one document per line, or a folder with one document per file."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from anchorless._corpus.io.batches import Chunk, Row, SkipLog, group_rows
from anchorless._corpus.io.decoding import describe_undecodable, iter_lines
from anchorless._corpus.io.files import FileDocument, FileTally, read_documents
from anchorless._corpus.io.formats import MAIL_KINDS, TABLE_FORMATS, get_document_kind, guess_format_by_name
from anchorless._corpus.io.joined import name_inputs
from anchorless._corpus.io.mail import FIELDS
from anchorless._files import make_read_error, open_input
from anchorless.errors import InputError

#: The name of the column with the texts.
TEXT = "text"
#: Files that tell a folder that `anchorless fit` wrote.
RESULT_FILES = ("model.anchorless", "run.json")


def make_document_chunks(
    documents: Iterable[FileDocument], skips: SkipLog, fields: Sequence[str] | None = ()
) -> Iterator[Chunk]:
    """Yield documents as tables with their text and fields; None: the fields of the first chunk."""

    def rows() -> Iterator[Row]:
        for document in documents:
            if document.text is None:
                skips.add("too long", document.place)
            elif what := describe_undecodable(document.text):
                skips.add("undecodable", document.place, what)
            else:
                yield Row(document.place, document.place, document, len(document.text))

    for group in group_rows(rows()):
        if fields is None:
            fields = FIELDS if any(row.cells.fields for row in group) else ()
        columns = {TEXT: pa.array([row.cells.text for row in group], pa.string())}
        for name in fields:
            columns[name] = pa.array([row.cells.fields.get(name) for row in group], pa.string())
        yield Chunk.from_rows(group, pa.table(columns))


def read_line_chunks(text: io.TextIOWrapper, skips: SkipLog) -> Iterator[Chunk]:
    """Yield the lines as documents; their ids are the numbers of the lines."""

    def rows() -> Iterator[Row]:
        for number, line in enumerate(iter_lines(text), 1):
            if line is None:
                skips.add("too long", number)
            elif what := describe_undecodable(line):
                skips.add("undecodable", number, what)
            else:
                yield Row(number, str(number), line.rstrip("\r\n"), len(line))

    for group in group_rows(rows()):
        yield Chunk.from_rows(group, pa.table({TEXT: pa.array([row.cells for row in group], pa.string())}))


class TextFolder:
    """Files with texts, one document each: those in a folder and the folders in it by their names, or a list of files.

    Hidden files of a folder are ignored: they are written by editors and systems.
    """

    def __init__(self, name: str, root: Path | None, paths: list[str], encoding: str) -> None:
        self.name, self.root, self.paths, self.encoding = name, root, paths, encoding
        self.bytes_total: int | None = sum(
            file.stat().st_size for file in self.files() if get_document_kind(file.name) and file.is_file()
        )
        self.bytes_read = 0
        self.digest = hashlib.sha256()
        kinds = {kind for file in self.files() if (kind := get_document_kind(file.name))}
        self.fields = FIELDS if kinds & {*MAIL_KINDS} else ()
        self.tally = FileTally("folder")
        self.tally.results = [] if root is None else [self.get_place(found) for found in list_results(root)]
        if not kinds:
            problem = f"the folder {name} holds no .txt file, nor another file with texts that can be read"
            raise InputError(problem, remedy="give a folder with .txt, .md, .html, .pdf, .docx or .eml files")

    @classmethod
    def from_folder(cls, path: Path, encoding: str) -> TextFolder:
        """Return the files of a folder."""
        return cls(str(path), path, [str(path)], encoding)

    @classmethod
    def from_files(cls, paths: list[str], encoding: str) -> TextFolder:
        """Return a list of files."""
        return cls(name_inputs(paths), None, paths, encoding)

    def files(self) -> Iterator[Path]:
        """Yield all files, folder by folder."""
        return map(Path, self.paths) if self.root is None else iter_files(self.root)

    def get_place(self, path: Path) -> str:
        """Return the id of a file: its path inside the folder, or as it was given."""
        name = path.as_posix() if self.root is None else path.relative_to(self.root).as_posix()
        # The bytes of a file name need not be UTF-8.
        return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")

    def chunks(self, skips: SkipLog) -> Iterator[Chunk]:
        """Yield the files as documents."""
        return make_document_chunks(self.documents(skips), skips, self.fields)

    def documents(self, skips: SkipLog) -> Iterator[FileDocument]:
        """Yield the documents of the files that can be read."""
        for path in self.files():
            kind, place = get_document_kind(path.name), self.get_place(path)
            self.tally.add(path.name, is_read=kind is not None)
            if kind is None:
                continue
            if os.path.lexists(path) and not path.is_file():
                # A pipe would block for ever.
                skips.add("no file", place)
                continue
            file = open_input(path)
            try:
                yield from read_documents(kind, file.stream, place, self.encoding, skips)
            finally:
                self.bytes_read += file.bytes_read
                self.digest.update(f"{place}\0{file.raw.digest.hexdigest()}\n".encode())
                file.close()

    def describe(self) -> list[str]:
        """Return sentences about what was read and what not."""
        return self.tally.describe()

    def sha256(self) -> str:
        """Return a hash of the names and contents of all files."""
        return self.digest.hexdigest()

    def close(self) -> None:
        """Do nothing: each file is closed when it has been read."""


def iter_files(path: Path) -> Iterator[Path]:
    """Yield all files in a folder that are not hidden, folder by folder, in the order of their names.

    Results of an earlier fit inside the folder are left out: they would be texts of the next fit.
    """
    for folder, _, names in walk_folders(path):
        for name in sorted(names):
            if not name.startswith("."):
                yield Path(folder, name)


def list_results(path: Path) -> list[Path]:
    """Return the folders inside a folder that `anchorless fit` wrote."""
    return [Path(folder, name) for folder, results, _ in walk_folders(path) for name in results]


def walk_folders(path: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each folder that is not hidden, with the names of the folders of results and of the files in it."""
    try:
        for folder, folders, names in os.walk(path, onerror=raise_listing_error):
            shown = sorted(name for name in folders if not name.startswith("."))
            results = [name for name in shown if has_results(Path(folder, name))]
            folders[:] = [name for name in shown if name not in results]
            yield folder, results, names
    except RecursionError:  # of Python 3.11
        raise InputError(f"the folders in {path} are in each other too often; move the files to another one") from None


def has_results(folder: Path) -> bool:
    """Say whether `anchorless fit` wrote a folder."""
    return all(os.path.lexists(folder / name) for name in RESULT_FILES)


def list_tables(path: Path) -> list[Path]:
    """Return the tables in a folder that holds no file with a single document; none if it holds one."""
    files = [*iter_files(path)]
    if any(get_document_kind(file.name) for file in files):
        return []
    return [file for file in files if guess_format_by_name(file.name) in TABLE_FORMATS]


def raise_listing_error(error: OSError) -> None:
    """Raise for a folder that cannot be listed, which os.walk would ignore."""
    raise make_read_error(error, os.fspath(error.filename)) from error
