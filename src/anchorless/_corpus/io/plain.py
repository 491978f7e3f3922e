"""Plain text as chunks of rows: one document per line, or a folder with one document per file."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from anchorless.errors import InputError
from anchorless._corpus.io.batches import Chunk, Skips, grouped
from anchorless._corpus.io.decoding import LONGEST_ROW, check_encoding, lines_within, open_text, undecodable
from anchorless._files import open_input, reading_error

#: The one column of texts without columns.
TEXT = "text"
ENDINGS = (".txt", ".txt.gz")


class Document(NamedTuple):
    """A text and where it is."""

    place: int | str
    text: str


def text_size(document: Document) -> int:
    """Return the characters of a document."""
    return len(document.text)


def plain_chunk(documents: list[Document]) -> Chunk:
    """Return documents as a table of one column, named by their places."""
    texts = pa.array([document.text for document in documents], pa.string())
    places = [document.place for document in documents]
    return Chunk(list(map(str, places)), places, pa.table({TEXT: texts}))


def line_chunks(text: io.TextIOWrapper, skips: Skips) -> Iterator[Chunk]:
    """Yield the lines as documents, named by their numbers."""
    return map(plain_chunk, grouped(line_documents(text, skips), text_size))


def line_documents(text: io.TextIOWrapper, skips: Skips) -> Iterator[Document]:
    """Yield the lines that decode."""
    for number, line in enumerate(lines_within(text), 1):
        if line is None:
            skips.add("too long", number)
        elif what := undecodable(line):
            skips.add("undecodable", number, what)
        else:
            yield Document(number, line.rstrip("\r\n"))


class Folder:
    """The .txt and .txt.gz files in a folder and the folders in it, in the order of their names.

    Hidden files are left out: what editors and systems leave behind is no text of the user's.
    """

    def __init__(self, path: Path, encoding: str) -> None:
        check_encoding(encoding)
        self.path, self.name, self.encoding = path, str(path), encoding
        self.bytes_total: int | None = sum(file.stat().st_size for file in self.files())
        self.bytes_read = 0
        self.digest = hashlib.sha256()
        if next(self.files(), None) is None:
            raise InputError(f"no .txt file in the folder {path}; for another kind of file, name the file itself")

    def files(self) -> Iterator[Path]:
        """Yield the text files, folder by folder."""
        for folder, folders, names in os.walk(self.path, onerror=refuse_folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                if name.lower().endswith(ENDINGS) and not name.startswith("."):
                    yield Path(folder, name)

    def chunks(self, skips: Skips) -> Iterator[Chunk]:
        """Yield the files as documents, named by their paths inside the folder."""
        return map(plain_chunk, grouped(self.documents(skips), text_size))

    def documents(self, skips: Skips) -> Iterator[Document]:
        """Yield the files that can be read as text."""
        for path in self.files():
            place = whole_name(path.relative_to(self.path))
            text = self.text_of(path, place, skips)
            if text is not None:
                yield Document(place, text)

    def text_of(self, path: Path, place: str, skips: Skips) -> str | None:
        """Return the text of a file, or count why there is none."""
        file = open_input(path)
        try:
            text = open_text(file.stream, self.encoding).read(LONGEST_ROW + 1)
        except InputError as error:  # binary, or gzip that does not unpack
            skips.add("binary", place, str(error))
            return None
        finally:
            self.bytes_read += file.bytes_read
            self.digest.update(f"{place}\0{file.raw.digest.hexdigest()}\n".encode())
            file.close()
        if len(text) > LONGEST_ROW:
            skips.add("too long", place)
            return None
        if what := undecodable(text):
            skips.add("undecodable", place, what)
            return None
        return text

    def sha256(self) -> str:
        """Return a hash of the names and contents of all files."""
        return self.digest.hexdigest()

    def close(self) -> None:
        """Do nothing: each file is closed when it has been read."""


def refuse_folder(error: OSError) -> None:
    """Raise for a folder that cannot be listed, which os.walk would pass over in silence."""
    raise reading_error(error, os.fspath(error.filename)) from error


def whole_name(path: Path) -> str:
    """Return a relative path as text, also where the bytes of a file name are no UTF-8."""
    return path.as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "replace")
