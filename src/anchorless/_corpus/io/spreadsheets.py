"""Read spreadsheets (.xlsx, .xlsm, .xls, .ods) as chunks of rows.

A file of a few kilobytes can declare a sheet of billions of cells. So it is looked at before: what it unpacks to, and
how far its cells reach. Then a process of its own reads it, under limits, by a library that keeps the sheet in memory.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import IO, Any, NoReturn
from xml.parsers import expat

import pyarrow as pa

from anchorless._corpus.io import sheet_process
from anchorless._corpus.io.batches import Chunk, Row, SkipLog, group_rows, make_names_unique
from anchorless._corpus.io.docx import refuse_long_tag
from anchorless._corpus.io.zip_files import ZIP_ERRORS, open_zip, open_zipped
from anchorless._corpus.memory import measure_free_memory
from anchorless._files import BUFFER_SIZE, InputFile, hash_file
from anchorless.errors import InputError, UsageError, is_installed

#: Bytes that a spreadsheet may unpack to, and cells that a sheet may have.
MAX_UNPACKED, MAX_CELLS = 1 << 30, 30_000_000
#: Seconds of computing in which a sheet must have been read: those of any file, and a further one for so many bytes.
BASE_SECONDS, BYTES_PER_SECOND = 8.0, 1 << 21
#: References of cells in .xlsx, <c r="AB12", which tell how far a sheet reaches.
CELL_REFERENCE = re.compile(rb'\br="([A-Z]{1,3})([0-9]{1,7})"')
ROW_REFERENCE = re.compile(rb'<row\b[^>]{0,100}?\br="([0-9]{1,7})"')
CELL = re.compile(rb"<(?:[a-z]{1,9}:)?c[\s/>]")
OVERLAP = 200
LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class SpreadsheetInput:
    """A spreadsheet; a compressed one or a pipe is copied to a temporary file, since it is not read in order."""

    def __init__(self, file: InputFile, sheet: str | None) -> None:
        self.file, self.name, self.bytes_total = file, file.name, file.bytes_total
        self.share_read = 0.0
        self.notes: list[str] = []
        self.temporary_file: IO[bytes] | None = None
        self._wanted = sheet
        self._process: subprocess.Popen[bytes] | None = None
        require_calamine()

    @property
    def bytes_read(self) -> int:
        """Bytes read so far: those of the pipe, or a share of the file by rows."""
        return self.file.bytes_read if self.bytes_total is None else round(self.bytes_total * self.share_read)

    def sha256(self) -> str:
        """Return the hash of the file as it is on disk."""
        if self.file.path is None or self.file.compressed:
            return self.file.sha256()
        return hash_file(self.file.path)

    def close(self) -> None:
        """Close the file, remove the temporary one, and end the process that reads it."""
        self._end_process()
        self.file.close()
        if self.temporary_file is not None:
            self.temporary_file.close()

    def describe(self) -> list[str]:
        """Return sentences about the sheets that were read and those that were not."""
        return self.notes

    def chunks(self, skips: SkipLog) -> Iterator[Chunk]:
        """Yield the rows of a sheet under its first row, which names the columns."""
        lines = self._read_lines()
        facts = next(lines)
        header, names = next(lines, (0, None))
        if names is None:
            raise InputError(f"{self.name} is blank: its sheet has no row of names", remedy="name another with {table}")
        self._note_sheet(facts["sheet"], facts["sheets"])
        if facts["title"] is not None:
            self.notes.append(f"{facts['title']!r:.60} was taken for a title; the columns are named in row {header}")
        columns = make_names_unique([(name or "").strip() or f"column_{n}" for n, name in enumerate(names, 1)])
        numbered = (
            Row(number, str(number - header), cells, sum(map(len, filter(None, cells)))) for number, cells in lines
        )
        is_empty = True
        for group in group_rows(numbered):
            is_empty = False
            by_column = zip(*(row.cells for row in group), strict=True)
            arrays = [pa.array(cells, pa.string()) for cells in by_column]
            self.share_read = group[-1].place / facts["n_rows"] if isinstance(group[-1].place, int) else 0.0
            yield Chunk.from_rows(group, pa.table(arrays, names=columns))
        self.share_read = 1.0
        if is_empty:
            yield Chunk([], [], pa.table([pa.array([], pa.string())] * len(columns), names=columns))

    def _read_lines(self) -> Iterator[Any]:
        """Yield what the process prints that reads the sheet: facts about it, then the number and cells of each row."""
        file = self._open_seekable()
        try:
            seconds = BASE_SECONDS + check_size(file, self.name) / BYTES_PER_SECOND
            self._process = start_reader(file, self._wanted, seconds, self.name)
            values = read_values(self._process)
            facts = next(values, None)
            if facts is None or "failure" in facts:
                self._refuse(facts or {})
            if self._wanted is not None and self._wanted not in facts["sheets"]:
                problem = f"{self.name} has no such sheet; its sheets are {', '.join(map(repr, facts['sheets']))}"
                raise UsageError(problem, parameter="table", value=self._wanted)
            yield facts
            for row in values:
                if row is None:
                    return
                yield row
            self._refuse({})  # it ended in between
        finally:
            self._end_process()
            if file is not self.temporary_file:
                file.close()

    def _refuse(self, facts: dict[str, str]) -> NoReturn:
        """Raise the error that says why the process could not read the sheet."""
        failure = facts.get("failure")
        if failure == "password":
            raise InputError(f"{self.name} is protected by a password; save it without one")
        if failure == "damaged":
            raise InputError(f"{self.name} is a damaged spreadsheet ({facts['what']}); save it again")
        code = self._process.wait() if self._process is not None else 0
        if failure is None and code == -getattr(signal, "SIGPROF", 0):
            raise InputError(f"{self.name} is a damaged spreadsheet: reading it does not end", remedy="save it again")
        problem = f"{self.name} is a damaged spreadsheet, or needs more memory than is available"
        raise InputError(problem, remedy="save it as CSV")

    def _end_process(self) -> None:
        """End the process that reads the sheet, if it still runs."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            if process.stdout is not None:
                process.stdout.close()
            process.wait()

    def _note_sheet(self, name: str, names: list[str]) -> None:
        others = [other for other in names if other != name]
        if others and self._wanted is None:
            listed = ", ".join(map(repr, others[:5])) + (f" and {len(others) - 5} more" if len(others) > 5 else "")
            self.notes.append(f"read the sheet {name!r}; not read: {listed}; {{table}} names another")

    def _open_seekable(self) -> IO[bytes]:
        """Return the file for reading in any order."""
        if self.file.path is not None and not self.file.compressed:
            return open(self.file.path, "rb")
        self.temporary_file = tempfile.TemporaryFile()  # noqa: SIM115 closed by close
        while piece := self.file.stream.read(BUFFER_SIZE):
            self.temporary_file.write(piece)
            if self.temporary_file.tell() > MAX_UNPACKED:
                raise InputError(f"{self.name} has more than {MAX_UNPACKED:,} bytes")
        self.temporary_file.seek(0)
        return self.temporary_file


def require_calamine() -> None:
    """Say how to install the library if it is missing."""
    if not is_installed("python_calamine"):
        remedy = "install it with `pip install 'anchorless[excel]'`, or save the sheet as CSV"
        raise UsageError("spreadsheets need python-calamine, which is not installed", remedy=remedy)


def start_reader(file: IO[bytes], wanted: str | None, seconds: float, name: str) -> subprocess.Popen[bytes]:
    """Start the process that prints the cells of a sheet; it may have the memory that is free."""
    file.flush()
    limits = json.dumps([wanted, measure_free_memory(), seconds])
    # -P: the folder of the script holds modules with names such as `mail`, which others would import.
    command = [sys.executable, "-P", sheet_process.__file__, limits]
    try:
        return subprocess.Popen(command, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError as error:
        problem = f"cannot read {name}: the process that reads spreadsheets does not start ({error.strerror})"
        raise InputError(problem, remedy="save it as CSV") from None


def read_values(process: subprocess.Popen[bytes]) -> Iterator[Any]:
    """Yield the values of JSON that a process prints, up to a line that it did not finish."""
    for line in process.stdout or ():
        if not line.endswith(b"\n"):
            return
        yield json.loads(line)


def check_size(file: IO[bytes], name: str) -> int:
    """Refuse a spreadsheet in a zip archive that would fill the memory; return how many bytes it unpacks to."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    is_zip = file.read(2) == b"PK"
    file.seek(0)
    if not is_zip:
        return size
    n_bytes = 0
    try:
        with open_zip(file, name) as archive:
            for info in archive.infolist():
                sheet = make_extent(info.filename, name)
                with open_zipped(archive, info) as part:
                    while piece := part.read(BUFFER_SIZE):
                        n_bytes += len(piece)
                        if n_bytes > MAX_UNPACKED:
                            raise InputError(f"{name} unpacks to more than {MAX_UNPACKED:,} bytes; save it as CSV")
                        if sheet is not None:
                            sheet.add(piece)
    except InputError:
        raise
    except ZIP_ERRORS as error:
        raise InputError(f"{name} is a damaged spreadsheet ({error}); save it again") from None
    file.seek(0)
    return n_bytes


def make_extent(part: str, name: str) -> SheetExtent | OdsExtent | None:
    """Return what measures a part of a spreadsheet; None for a part that holds no cells."""
    if part.lower() == "content.xml":
        return OdsExtent(name)
    return SheetExtent(name) if re.search(r"worksheets/[^/]*\.xml$", part, re.IGNORECASE) else None


class SheetExtent:
    """How far the cells of a sheet of .xlsx reach, found in its XML without parsing it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.n_rows = self.n_columns = self.n_unnamed = 0
        self.rest = b""

    def add(self, piece: bytes) -> None:
        """Look at a further piece; refuse a sheet that has too many cells."""
        data = self.rest + piece
        references = CELL_REFERENCE.findall(data)
        for letters, digits in set(references):
            column = 0
            for letter in letters:
                column = column * 26 + LETTERS.index(letter) + 1
            self.n_columns, self.n_rows = max(self.n_columns, column), max(self.n_rows, int(digits))
        self.n_rows = max([self.n_rows, *map(int, set(ROW_REFERENCE.findall(data)))])
        # A cell without a reference follows the one before: all of them may be in one row.
        self.n_unnamed += max(len(CELL.findall(data)) - len(references), 0)
        self.rest = data[-OVERLAP:]
        check_extent(self.name, self.n_rows, self.n_columns + self.n_unnamed)


class OdsExtent:
    """How far the cells of a sheet of .ods reach: rows and cells can be repeated by a number."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.n_bytes = 0
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype
        self._reset()

    def add(self, piece: bytes) -> None:
        """Look at a further piece; refuse a sheet that has too many cells."""
        try:
            self._parser.Parse(piece, False)
            self.n_bytes += len(piece)
            refuse_long_tag(self._parser, self.n_bytes, f"{self.name}: its XML")
        except (expat.ExpatError, LookupError) as error:  # the latter of an encoding that is none
            raise InputError(f"{self.name} is a damaged spreadsheet ({error}); save it again") from None

    def _reset(self) -> None:
        self._row = self._last_row = self._column = self._last_column = 0
        self._repeated, self._is_filled = 1, False

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(" ")[2]
        if tag == "table":
            self._reset()
        elif tag == "table-row":
            self._column, self._is_filled = 0, False
            self._repeated = get_repetition(attributes, "number-rows-repeated")
        elif tag in ("table-cell", "covered-table-cell"):
            self._column += get_repetition(attributes, "number-columns-repeated")
            if any(key.endswith((" value-type", " formula")) for key in attributes):
                self._last_column, self._is_filled = max(self._last_column, self._column), True

    def _end(self, name: str) -> None:
        if name.rpartition(" ")[2] == "table-row":
            self._row += self._repeated
            if self._is_filled:
                self._last_row = self._row
                check_extent(self.name, self._last_row, self._last_column)

    def _refuse_doctype(self, *_: Any) -> None:
        raise InputError(f"{self.name}: its XML has a document type, which no spreadsheet has; save it again")


def get_repetition(attributes: dict[str, str], name: str) -> int:
    """Return how often a row or a cell of .ods is repeated."""
    value = next((value for key, value in attributes.items() if key.endswith(f" {name}")), "1")
    return int(value) if value.isdecimal() and len(value) < 12 else 1


def check_extent(name: str, n_rows: int, n_columns: int) -> None:
    """Refuse a sheet with too many cells."""
    if n_rows * n_columns > MAX_CELLS:
        problem = f"{name}: a sheet reaches over {n_rows:,} rows and {n_columns:,} columns"
        remedy = f"at most {MAX_CELLS:,} cells are read: delete what is far away from the table, or save it as CSV"
        raise InputError(problem, remedy=remedy)
