"""Files that belong together, such as counts and their vocabulary: all are replaced, or none, also under kill -9.

No system can rename several files in one step. Before the first is renamed, a journal beside them says which temporary
file takes the place of which. Whoever reads or writes the files next finishes what a journal says.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from anchorless._files import (
    GROUP_PREFIX,
    JOURNAL_SUFFIX,
    WRITE_ERRORS,
    make_write_error,
    release_lock,
    remove_leftover_files,
    sync_file,
    sync_folder,
    try_lock,
    validate_target,
)
from anchorless.errors import InputError

#: Seconds to wait for another process that replaces files in the same folder; that takes milliseconds.
LOCK_SECONDS = 10.0


@contextmanager
def atomic_write_group(paths: Sequence[Path], *, force: bool = False) -> Iterator[list[Path]]:
    """Yield a temporary file for each path; when the block ends without an error, they replace the files at `paths`.

    The paths are in one folder. If the process is killed, all files are old or all are new to those who call
    `finish_replacement` of the first path before they read; it is given the same paths.
    """
    folder = Path(os.path.realpath(paths[0])).parent
    targets = [folder / path.name for path in paths]
    finish_replacement(targets[0], targets)
    for target in targets:
        validate_target(target, force)
    remove_leftover_files(folder)
    token = secrets.token_hex(6)
    temporary = [folder / f"{GROUP_PREFIX}{token}-{target.name}" for target in targets]
    locks: list[int | None] = []
    try:
        for path in temporary:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            locks.append(try_lock(path))
        yield temporary
        for path, target in zip(temporary, targets, strict=True):
            validate_target(target, force)  # again: the block may have taken hours
            sync_file(path)
        replace_all(temporary, targets)
    except OSError as error:
        if error.errno not in WRITE_ERRORS:
            raise
        raise make_write_error(error, targets[0]) from error
    finally:
        if not get_journal(targets[0]).exists():  # otherwise the next reader needs them
            for path in temporary:
                path.unlink(missing_ok=True)
        for lock in locks:
            release_lock(lock)


def get_journal(path: Path) -> Path:
    """Return the place of the journal of files of which `path` is the first."""
    return path.with_name(f".{path.name}{JOURNAL_SUFFIX}")


def replace_all(temporary: Sequence[Path], targets: Sequence[Path]) -> None:
    """Write the journal, let the temporary files take the places of the targets, and remove the journal."""
    journal, folder = get_journal(targets[0]), targets[0].parent
    with hold_folder(folder):
        finish_journal(journal, targets)  # of a process that was killed since this one began
        moves = {new.name: target.name for new, target in zip(temporary, targets, strict=True)}
        draft = temporary[0].with_name(f"{temporary[0].name}.journal")
        try:
            draft.write_text(json.dumps(moves), encoding="utf-8")
            sync_file(draft)
            os.replace(draft, journal)
        finally:
            draft.unlink(missing_ok=True)
        try:
            sync_folder(folder)
            os.replace(temporary[0], targets[0])
        except BaseException:
            journal.unlink(missing_ok=True)  # nothing has changed yet
            raise
        finish_journal(journal, targets)


def finish_replacement(path: Path, group: Sequence[Path]) -> None:
    """Finish what a killed process began: the files of the group that it had not yet replaced are replaced."""
    journal = get_journal(Path(os.path.realpath(path)))
    if not journal.is_file():
        return
    try:
        with hold_folder(journal.parent):
            finish_journal(journal, group)
    except OSError as error:
        problem = (
            f"{path} is half replaced by a run that was killed, and finishing it failed: {error.strerror or error}"
        )
        raise InputError(problem, remedy="make its folder writable, or write the file again") from error


def finish_journal(journal: Path, group: Sequence[Path]) -> None:
    """Do what a journal says, and remove it. It may come from a stranger: only files of the group are replaced."""
    names = {path.name for path in group}
    try:
        moves = json.loads(journal.read_text(encoding="utf-8"))
        known = isinstance(moves, dict) and all(isinstance(target, str) for target in moves.values())
    except FileNotFoundError:
        return
    except ValueError:
        known = False
    if known:
        for name, target in moves.items():
            if name.startswith(GROUP_PREFIX) and Path(name).name == name and target in names:
                with suppress(FileNotFoundError):  # replaced before the kill
                    os.replace(journal.with_name(name), journal.with_name(target))
        sync_folder(journal.parent)
    journal.unlink()
    sync_folder(journal.parent)


@contextmanager
def hold_folder(folder: Path) -> Iterator[None]:
    """Keep other processes from replacing groups of files in a folder, for as long as the block takes."""
    end, lock = time.monotonic() + LOCK_SECONDS, try_lock(folder)
    while lock is None and time.monotonic() < end:
        time.sleep(0.01)
        lock = try_lock(folder)
    try:
        yield
    finally:
        release_lock(lock)
