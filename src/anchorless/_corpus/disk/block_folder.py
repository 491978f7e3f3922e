"""A folder of block files with a journal, which can be continued whatever ended the process that wrote it.

A block is complete when its file is on the disk under its name and its line is in the journal. A process that is killed
before that leaves a file without a line, which is written again, or half a line, which is cut off. Every line holds its
own checksum and that of its block file, so that a byte that has changed since is detected, and the file named.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from filelock import FileLock, Timeout

from anchorless._corpus.disk.block_file import Block, make_block_error, read_block, write_block
from anchorless._files import TEMPORARY_PREFIX, atomic_write, hash_file, make_read_error, make_write_error
from anchorless.errors import InputError

MANIFEST, JOURNAL, LOCK = "manifest.json", "journal.txt", "lock"
STORE_FORMAT = "anchorless counts 2"


class BlockRecord(NamedTuple):
    """A line of the journal."""

    rows: int  # documents
    bytes: int
    sha256: str
    facts: dict[str, Any]  # what else was recorded with the block


class BlockFolder:
    """Blocks of counts on disk, in their order. `about` is what was recorded when the folder was created."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.about: dict[str, Any] = read_manifest(self.path)
        self.records: list[BlockRecord] = []
        self.is_finished = False
        self._verified: set[int] = set()
        self._journal: Any = None
        self._lock: FileLock | None = None
        self._length = self._read_journal()

    @classmethod
    def create(cls, path: str | os.PathLike[str], about: dict[str, Any]) -> Self:
        """Create a folder without blocks; if `path` exists, it must be an empty folder."""
        folder = Path(path)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise InputError(f"{folder} is not empty; name another folder for the counts, or delete it")
            (folder / JOURNAL).touch()
            with atomic_write(folder / MANIFEST) as temporary:
                temporary.write_text(json.dumps({"format": STORE_FORMAT, "about": about}), encoding="utf-8")
        except OSError as error:
            raise make_write_error(error, folder) from error
        return cls(folder)

    @property
    def n_rows(self) -> int:
        """Documents in complete blocks."""
        return sum(record.rows for record in self.records)

    def block_path(self, number: int) -> Path:
        """Return the path of a block file."""
        return self.path / f"{number:08d}.block"

    def append(self, counts: Any, words: Sequence[str] = (), **facts: Any) -> None:
        """Add a block, a CSR matrix and its new words; when this returns, only a damaged disk can lose it."""
        self._open_journal()
        try:
            size, digest = write_block(self.block_path(len(self.records)), counts, words)
        except (OSError, InputError) as error:
            raise self._make_disk_error(error) from error
        record = BlockRecord(counts.shape[0], size, digest, facts)
        self._append_line({"block": len(self.records), **record._asdict()})
        self._verified.add(len(self.records))
        self.records.append(record)

    def finish(self) -> None:
        """Record that there are no further blocks, and let other processes write."""
        self._open_journal()
        self._append_line({"end": self.n_rows})
        self.is_finished = True
        self.close()

    def read(self, number: int, n_words: int) -> Block:
        """Return a block of `n_words` columns, mapped into memory; its checksum is compared the first time."""
        if number not in self._verified:
            self.verify(number)
        return read_block(self.block_path(number), n_words)

    def verify(self, number: int) -> None:
        """Refuse a block whose file is not as it was written."""
        path = self.block_path(number)
        if hash_file(path) != self.records[number].sha256:
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
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _make_disk_error(self, error: Exception) -> InputError:
        """Return the error for a block that could not be written; the complete blocks stay as they are."""
        reason = make_write_error(error, self.path) if isinstance(error, OSError) else error
        return InputError(
            f"{reason}; the {self.n_rows:,} documents counted so far are kept, and the same call continues from there"
        )

    def _append_line(self, line: dict[str, Any]) -> None:
        try:
            self._journal.write(format_journal_line(line))
            os.fsync(self._journal.fileno())
            self._length = self._journal.tell()
        except OSError as error:
            self._truncate_journal()
            raise self._make_disk_error(error) from error

    def _open_journal(self) -> None:
        """Open the journal to be continued, and keep other processes from writing."""
        if self._journal is not None:
            return
        try:
            # The system releases the lock with the process, however that ends.
            self._lock = FileLock(self.path / LOCK, timeout=0, thread_local=False)
            self._lock.acquire()
            self._journal = open(self.path / JOURNAL, "r+b", buffering=0)  # noqa: SIM115 closed by close
            self._truncate_journal()
            for leftover in self.path.glob(f"{TEMPORARY_PREFIX}*"):  # of a process that was killed
                leftover.unlink()
        except Timeout:
            raise InputError(f"another process is writing to {self.path}; wait until it ends, or stop it") from None
        except OSError as error:
            self.close()
            raise make_write_error(error, self.path / JOURNAL) from error

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
        lines = data.split(b"\n")[:-1]  # the last one has no end: it is empty, or cut off
        length = 0
        for number, line in enumerate(lines, 1):
            record = parse_journal_line(line)
            if record is None:
                if number == len(lines):
                    break  # a disk may write the end of a line before its middle
                raise InputError(f"{self.path / JOURNAL}, line {number} is damaged; delete {self.path} and count again")
            self._add_record(record)
            length += len(line) + 1
        return length

    def _add_record(self, record: dict[str, Any]) -> None:
        """Add the record of a line after comparing the size of its block file, which costs nothing."""
        if "end" in record:
            self.is_finished = True
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
    """Return what was recorded when a folder was created."""
    try:
        content = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
    except OSError as error:
        raise make_read_error(error, str(path / MANIFEST)) from error
    except ValueError as error:
        raise make_block_error(path / MANIFEST) from error
    if not isinstance(content, dict) or content.get("format") != STORE_FORMAT:
        raise InputError(f"{path} holds no counts that this version of anchorless can read; delete it and count again")
    return dict(content["about"])


def format_journal_line(record: dict[str, Any]) -> bytes:
    """Return a line with its checksum."""
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
