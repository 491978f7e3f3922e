"""A folder of block files, which can be continued whatever ended the process that wrote it.

A block file appears whole or not at all, with its checksum inside. Blocks are numbered from 0 without a gap, and the
file `finished`, which holds their number, says that there will be no more.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from filelock import FileLock, Timeout

from anchorless._corpus.disk.block_file import make_block_error, read_block, read_facts, write_block
from anchorless._files import TEMPORARY_PREFIX, atomic_write, make_write_error
from anchorless.errors import InputError

MANIFEST, FINISHED, LOCK = "manifest.json", "finished", "lock"
STORE_FORMAT = "anchorless counts 3"


class BlockFolder:
    """Blocks of counts on disk, in their order. `facts` is what was recorded with each, its number of `rows` too."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.about = read_about(self.path)
        if self.about is None:
            raise InputError(f"{path} holds no counts that this version can read; delete it and count again")
        n_blocks = len([*self.path.glob("[0-9]*.block")])
        self.facts = [read_facts(self.block_path(number)) for number in range(n_blocks)]
        finished = self.path / FINISHED
        self.is_finished = finished.exists()
        if self.is_finished and finished.read_bytes() != b"%d" % n_blocks:
            raise make_block_error(finished)
        self._verified: set[int] = set()
        self._lock = FileLock(self.path / LOCK, timeout=0, thread_local=False)

    @classmethod
    def create(cls, path: str | os.PathLike[str], about: dict[str, Any]) -> Self:
        """Create a folder without blocks; if `path` exists, it must be an empty folder."""
        folder = Path(path)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise InputError(f"{folder} is not empty; name another folder for the counts, or delete it")
        except OSError as error:
            raise make_write_error(error, folder) from error
        with atomic_write(folder / MANIFEST) as temporary:
            temporary.write_text(json.dumps({"format": STORE_FORMAT, "about": about}), encoding="utf-8")
        return cls(folder)

    @property
    def n_rows(self) -> int:
        """Documents in complete blocks."""
        return sum(facts["rows"] for facts in self.facts)

    def block_path(self, number: int) -> Path:
        """Return the path of a block file."""
        return self.path / f"{number:08d}.block"

    def append(self, counts: Any, words: Sequence[str] = (), **facts: Any) -> None:
        """Add a block, a CSR matrix and its new words; when this returns, only a damaged disk can lose it."""
        self._acquire_lock()
        number, facts = len(self.facts), {"rows": counts.shape[0], **facts}
        try:
            write_block(self.block_path(number), counts, words, facts)
        except (OSError, InputError) as error:
            kept = f"the {self.n_rows:,} documents counted so far are kept, and the same call continues from there"
            raise InputError(f"{error}; {kept}") from error
        self._verified.add(number)
        self.facts.append(facts)

    def finish(self) -> None:
        """Record that there are no further blocks, and let other processes write."""
        self._acquire_lock()
        with atomic_write(self.path / FINISHED, force=True) as temporary:
            temporary.write_bytes(b"%d" % len(self.facts))
        self.is_finished = True
        self.close()

    def read(self, number: int, n_words: int) -> tuple[Any, Any]:
        """Return the counts of a block, mapped into memory, and its words; the first time its checksum is compared."""
        block = read_block(self.block_path(number), n_words, verify=number not in self._verified)
        self._verified.add(number)
        return block

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let other processes write."""
        self._lock.release()

    def _acquire_lock(self) -> None:
        """Keep other processes from writing; the system releases the lock with the process, however that ends."""
        if self._lock.is_locked:
            return
        try:
            self._lock.acquire()
            for leftover in self.path.glob(f"{TEMPORARY_PREFIX}*"):  # of a process that was killed
                leftover.unlink()
        except Timeout:
            raise InputError(f"another process is writing to {self.path}; wait until it ends, or stop it") from None
        except OSError as error:
            self.close()
            raise make_write_error(error, self.path) from error


def read_about(path: Path) -> Any:
    """Return what was recorded when a folder was created; None if it holds no counts of this format."""
    try:
        content = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
        return content["about"] if content["format"] == STORE_FORMAT else None
    except (OSError, ValueError, TypeError, LookupError):
        return None
