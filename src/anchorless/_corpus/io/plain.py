"""Read plain text as chunks of rows: one document per line, or a folder with one document per file."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa

from anchorless._corpus.io.batches import Chunk, Row, SkipLog, group_rows
from anchorless._corpus.io.decoding import MAX_ROW_LENGTH, check_encoding, describe_undecodable, iter_lines, open_text
from anchorless._files import make_read_error, open_input
from anchorless.errors import InputError

#: The name of the only column.
TEXT = "text"
TEXT_EXTENSIONS = (".txt", ".txt.gz")


def make_plain_chunks(documents: Iterable[tuple[int | str, str | None]], skips: SkipLog) -> Iterator[Chunk]:
    """Yield documents, given by place and text, as tables of one column; None is a text that is too long."""

    def rows() -> Iterator[Row]:
        for place, text in documents:
            if text is None:
                skips.add("too long", place)
            elif what := describe_undecodable(text):
                skips.add("undecodable", place, what)
            else:
                yield Row(place, str(place), text, len(text))

    for group in group_rows(rows()):
        yield Chunk.from_rows(group, pa.table({TEXT: pa.array([row.cells for row in group], pa.string())}))


def read_line_chunks(text: io.TextIOWrapper, skips: SkipLog) -> Iterator[Chunk]:
    """Yield the lines as documents; their ids are the numbers of the lines."""
    lines = (line and line.rstrip("\r\n") for line in iter_lines(text))
    return make_plain_chunks(enumerate(lines, 1), skips)


class TextFolder:
    """The .txt and .txt.gz files in a folder and the folders in it, in the order of their names.

    Hidden files are ignored: they are written by editors and systems.
    """

    def __init__(self, path: Path, encoding: str) -> None:
        check_encoding(encoding)
        self.path, self.name, self.encoding = path, str(path), encoding
        self.bytes_total: int | None = sum(file.stat().st_size for file in self.files() if file.is_file())
        self.bytes_read = 0
        self.digest = hashlib.sha256()
        if next(self.files(), None) is None:
            raise InputError(f"the folder {path} holds no .txt file; for another kind of file, name the file itself")

    def files(self) -> Iterator[Path]:
        """Yield the text files, folder by folder."""
        for folder, folders, names in os.walk(self.path, onerror=raise_listing_error):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                if name.lower().endswith(TEXT_EXTENSIONS) and not name.startswith("."):
                    yield Path(folder, name)

    def chunks(self, skips: SkipLog) -> Iterator[Chunk]:
        """Yield the files as documents; their ids are their paths inside the folder."""
        return make_plain_chunks(self.documents(skips), skips)

    def documents(self, skips: SkipLog) -> Iterator[tuple[str, str | None]]:
        """Yield the paths and texts of the files that can be read; None for a text that is too long."""
        for path in self.files():
            # The bytes of a file name need not be UTF-8.
            place = path.relative_to(self.path).as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            if not path.is_file():  # a pipe would block for ever
                skips.add("no file", place)
                continue
            file = open_input(path)
            try:
                text = open_text(file.stream, self.encoding).read(MAX_ROW_LENGTH + 1)
            except InputError as error:  # binary, or damaged gzip
                skips.add("binary", place, str(error))
                continue
            finally:
                self.bytes_read += file.bytes_read
                self.digest.update(f"{place}\0{file.raw.digest.hexdigest()}\n".encode())
                file.close()
            yield place, text if len(text) <= MAX_ROW_LENGTH else None

    def sha256(self) -> str:
        """Return a hash of the names and contents of all files."""
        return self.digest.hexdigest()

    def close(self) -> None:
        """Do nothing: each file is closed when it has been read."""


def raise_listing_error(error: OSError) -> None:
    """Raise for a folder that cannot be listed, which os.walk would ignore."""
    raise make_read_error(error, os.fspath(error.filename)) from error
