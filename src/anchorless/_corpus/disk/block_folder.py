"""A folder of blocks with a journal: what is in the journal is complete, whatever ended the process that wrote it.

A block counts when its file is on the disk under its name and its line stands in the journal. A process that
is killed before leaves a file without a line, which is written anew, or half a line, which is cut off. Every line holds
its own check sum and that of its block's file, so that a byte that has changed since is found, and named.
"""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path
from typing import Any, NamedTuple, Self

from anchorless._corpus.disk.block_file import Arrays, hash_file, make_block_error, read_block, sync_folder, write_block
from anchorless._files import atomic_write, make_read_error, make_write_error
from anchorless.errors import InputError

MANIFEST, JOURNAL = "manifest.json", "journal.txt"
STORE_FORMAT = "anchorless counts 1"


class BlockRecord(NamedTuple):
    """A line of the journal."""

    rows: int  # documents
    entries: int
    bytes: int
    sha256: str
    facts: dict[str, Any]  # what else was noted with the block


class BlockFolder:
    """Blocks on disk, in their order. `about` is what was said when the folder was made."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.about: dict[str, Any] = read_manifest(self.path)
        self.records: list[BlockRecord] = []
        self.end: dict[str, Any] | None = None  # what was noted when the last block was there
        self._verified: set[int] = set()
        self._journal: Any = None
        self._length = self._read_journal()

    @classmethod
    def create(cls, path: str | os.PathLike[str], about: dict[str, Any]) -> Self:
        """Make an empty folder of blocks; a folder that is there must be empty."""
        folder = Path(path)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise InputError(f"{folder} is not empty; name another folder for the counts, or delete it")
            (folder / JOURNAL).touch()
            with atomic_write(folder / MANIFEST) as temporary:
                temporary.write_text(json.dumps({"format": STORE_FORMAT, "about": about}), encoding="utf-8")
            sync_folder(folder)
        except OSError as error:
            raise make_write_error(error, folder) from error
        return cls(folder)

    @property
    def n_rows(self) -> int:
        """Documents in complete blocks."""
        return sum(record.rows for record in self.records)

    def block_path(self, number: int) -> Path:
        """Return the file of a block."""
        return self.path / f"{number:08d}.block"

    def append(self, arrays: Arrays, rows: int, entries: int, **facts: Any) -> None:
        """Add a block; when this returns, nothing but a damaged disk can lose it."""
        path = self.block_path(len(self.records))
        try:
            size, digest = write_block(path, arrays)
        except OSError as error:
            raise self.kept(error) from error
        record = BlockRecord(rows, entries, size, digest, facts)
        self._append_line({"block": len(self.records), **record._asdict()})
        self.records.append(record)
        self._verified.add(len(self.records) - 1)

    def finish(self, **facts: Any) -> None:
        """Note that the last block is there, and let other processes write."""
        self._append_line({"end": facts})
        self.end = facts
        self.close()

    def read(self, number: int) -> dict[str, Any]:
        """Return the arrays of a block, mapped into memory; the first time, its check sum is compared."""
        if number not in self._verified:
            self.verify(number)
        return read_block(self.block_path(number))

    def verify(self, number: int) -> None:
        """Refuse a block whose file is not as it was written."""
        path, record = self.block_path(number), self.records[number]
        if hash_file(path) != record.sha256:
            raise make_block_error(path)
        self._verified.add(number)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the journal, and let other processes write."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def kept(self, error: OSError) -> InputError:
        """Return the error for a disk that takes no more, which leaves what is complete as it is."""
        reason = str(make_write_error(error, self.path))
        return InputError(
            f"{reason}; the {self.n_rows:,} documents counted so far are kept, the same call goes on there"
        )

    def _append_line(self, line: dict[str, Any]) -> None:
        journal = self._open_journal()
        try:
            journal.write(format_journal_line(line))
            journal.flush()
            os.fsync(journal.fileno())
            self._length = journal.tell()
        except OSError as error:
            self._truncate_journal()
            raise self.kept(error) from error

    def _open_journal(self) -> Any:
        if self._journal is None:
            try:
                self._journal = open(self.path / JOURNAL, "r+b", buffering=0)  # noqa: SIM115 closed by close
                lock_file(self._journal, self.path)
                self._truncate_journal()
            except OSError as error:
                raise make_write_error(error, self.path / JOURNAL) from error
        return self._journal

    def _truncate_journal(self) -> None:
        """Cut off what follows the last whole line: half a line of a process that was killed, or of a full disk."""
        self._journal.truncate(self._length)
        self._journal.seek(self._length)

    def _read_journal(self) -> int:
        """Read the whole lines; return where they end."""
        try:
            data = (self.path / JOURNAL).read_bytes()
        except OSError as error:
            raise make_read_error(error, str(self.path / JOURNAL)) from error
        lines = data.split(b"\n")[:-1]  # the last has no end: empty, or cut short
        length = 0
        for number, line in enumerate(lines, 1):
            record = parse_journal_line(line)
            if record is None:
                if number == len(lines):
                    break  # a disk may bring the end of a line there before its middle
                raise InputError(f"{self.path / JOURNAL}, line {number} is damaged; delete {self.path} and count again")
            self._add_record(record)
            length += len(line) + 1
        return length

    def _add_record(self, record: dict[str, Any]) -> None:
        if "end" in record:
            self.end = record["end"]
            return
        if record.pop("block") != len(self.records):
            raise InputError(f"{self.path / JOURNAL}: a block is missing; delete {self.path} and count again")
        block = BlockRecord(**record)
        path = self.block_path(len(self.records))
        try:
            size = path.stat().st_size
        except OSError as error:
            raise make_read_error(error, str(path)) from error
        if size != block.bytes:
            raise make_block_error(path)
        self.records.append(block)


def read_manifest(path: Path) -> dict[str, Any]:
    """Return what is said of a folder of blocks."""
    try:
        content = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
    except OSError as error:
        raise make_read_error(error, str(path / MANIFEST)) from error
    except ValueError as error:
        raise make_block_error(path / MANIFEST) from error
    if not isinstance(content, dict) or content.get("format") != STORE_FORMAT:
        raise InputError(f"{path} is no folder of counts of this version of anchorless; count again")
    return dict(content["about"])


def format_journal_line(record: dict[str, Any]) -> bytes:
    """Return a line with its check sum."""
    text = json.dumps(record).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def parse_journal_line(line: bytes) -> dict[str, Any] | None:
    """Return the record of a line; None if it is not as it was written."""
    crc, _, text = line.partition(b" ")
    try:
        if int(crc, 16) != zlib.crc32(text):
            return None
        return dict(json.loads(text))
    except ValueError:
        return None


def lock_file(file: Any, path: Path) -> None:
    """Refuse to write where another process is writing; the lock goes with the process, however it ends."""
    try:
        import fcntl
    except ImportError:  # Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise InputError(f"{path} is being written by another process; wait for it, or end it") from None
