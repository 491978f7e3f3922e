"""Locks of files and folders, which the system releases with the process, however that ends.

Windows and some network disks have no locks; everything works there as if no other process ran.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from anchorless.errors import InputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

#: Seconds to wait for another process that replaces files in the same folder; that takes milliseconds.
LOCK_SECONDS = 10.0
#: Seconds after which a process has locked a temporary file that it created.
SECONDS_TO_LOCK = 1.0


def try_lock(path: Path) -> int | None:
    """Lock a file or folder until `release_lock` or the end of the process; return None if that is not possible.

    A temporary file that no process has locked is the leftover of a process that was killed.
    """
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    if fcntl is not None:
        with suppress(OSError):  # locked, or a disk that has no locks
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return handle
    os.close(handle)
    return None


def release_lock(lock: int | None) -> None:
    """Release a lock."""
    if lock is not None:
        os.close(lock)


def create_locked(path: Path, *, is_folder: bool = False) -> int | None:
    """Create a file or folder, locked if the disk has locks, so that no other process takes it for a leftover."""
    while True:
        if is_folder:
            path.mkdir()
        else:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        if fcntl is None:
            return None
        with suppress(FileNotFoundError):
            handle = os.open(path, os.O_RDONLY)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
            except OSError:
                os.close(handle)
                return None
            if is_still_at(handle, path):
                return handle
            os.close(handle)  # it was taken for a leftover before it was locked


def is_still_at(handle: int, path: Path) -> bool:
    """Tell whether an open file is the one at a path: not one that was removed or replaced since."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except OSError:
        return False


def wait_for_lock(path: Path, seconds: float, *, create: bool = False) -> int | None:
    """Lock a file or folder as soon as no other process has; None if that is not possible here.

    With `create`, a file that is not there is created. A folder that is exchanged meanwhile is followed: the lock is
    on the one that is at the path.
    """
    end = time.monotonic() + seconds
    while True:
        try:
            handle = os.open(path, os.O_RDONLY | (os.O_CREAT if create else 0), 0o666)
        except OSError:
            if create:
                raise
            return None
        try:
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if is_still_at(handle, path):
                    return handle
        except BlockingIOError:
            if time.monotonic() >= end:
                os.close(handle)
                raise InputError(f"another run is writing to {path}", remedy="wait until it ends, or stop it") from None
        except OSError:  # a disk without locks
            os.close(handle)
            return None
        os.close(handle)
        if fcntl is None:
            return None
        time.sleep(0.01)


@contextmanager
def hold_folder(folder: Path) -> Iterator[None]:
    """Keep other processes from replacing files in a folder, for as long as the block takes."""
    lock = wait_for_lock(folder, LOCK_SECONDS)
    try:
        yield
    finally:
        release_lock(lock)


def list_leftovers(folder: Path, pattern: str) -> list[tuple[Path, int]]:
    """Return temporary files and folders of processes that were killed, each with its lock."""
    found = []
    with suppress(OSError):
        for path in sorted(folder.glob(pattern)):
            lock = try_lock(path) if time.time() - path.lstat().st_mtime > SECONDS_TO_LOCK else None
            if lock is not None:
                found.append((path, lock))
    return found


class FileState(NamedTuple):
    """Which file is at a path: another one after any change by this package, which replaces files and never edits."""

    path: Path
    facts: tuple[int, ...] | None  # None if there is no file

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> FileState:
        """Return the state of the file at a path."""
        real = Path(os.path.realpath(path))
        try:
            found = os.stat(real)
        except OSError:
            return cls(real, None)
        return cls(real, (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns))

    def is_current(self) -> bool:
        """Tell whether the same file is still there."""
        return FileState.read(self.path) == self

    def refuse_change(self) -> None:
        """Raise an error if another process has replaced the file."""
        if not self.is_current():
            problem = f"{self.path} was changed by another run while this one used it, so nothing was written"
            raise InputError(problem, remedy="run the command again")
