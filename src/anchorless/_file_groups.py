"""Files that belong together, such as counts and their vocabulary: all are replaced, or none, also under kill -9.

No system can rename several files in one step. Before the first is renamed, a journal beside them says which temporary
file takes the place of which. Whoever reads or writes the files next finishes what a journal says.
"""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from anchorless._files import (
    GROUP_PREFIX,
    JOURNAL_SUFFIX,
    WRITE_ERRORS,
    make_write_error,
    remove_leftover_files,
    sync_file,
    sync_folder,
    validate_target,
)
from anchorless._locks import FileState, create_locked, hold_folder, release_lock
from anchorless.errors import InputError

Found = TypeVar("Found")

#: The part of the name of a temporary file that tells runs apart.
TOKEN_BYTES = 6
TOKEN = re.compile(f"[0-9a-f]{{{2 * TOKEN_BYTES}}}")
#: How often files are read that other runs keep replacing.
MAX_READS = 5


@contextmanager
def atomic_write_group(paths: Sequence[Path], *, force: bool = False) -> Iterator[list[Path]]:
    """Yield a temporary file for each path; when the block ends without an error, they replace the files at `paths`.

    The paths are in one folder. If the process is killed, all files are old or all are new to those who call
    `finish_replacement` of the first path before they read; it is given the same paths.
    """
    folder = Path(os.path.realpath(paths[0])).parent
    targets = [folder / path.name for path in paths]
    finish_replacement(targets[0], targets)
    validate_group(targets, force=force)
    remove_leftover_files(folder)
    temporary = name_temporary(targets)
    locks: list[int | None] = []
    try:
        for path in temporary:
            locks.append(create_locked(path))
        yield temporary
        for path in temporary:
            sync_file(path)
        with hold_folder(folder):
            for target in targets:
                validate_target(target, force)  # again: the block may have taken hours
            replace_all(temporary, targets)
    except OSError as error:
        if error.errno not in WRITE_ERRORS:
            raise
        raise make_write_error(error, targets[0]) from error
    finally:
        if not os.path.exists(get_journal(targets[0])):  # otherwise the next reader needs them
            for path in temporary:
                with suppress(OSError):  # a read-only disk refuses this also where no file is
                    path.unlink()
        for lock in locks:
            release_lock(lock)


def validate_group(paths: Sequence[Path], *, force: bool) -> None:
    """Refuse files that cannot be written together: before work that may take hours."""
    for path, temporary in zip(paths, name_temporary(paths), strict=True):
        validate_target(path, force)
        with suppress(FileNotFoundError):
            try:
                get_draft(temporary).lstat()  # the longest name
            except OSError as error:
                if error.errno == errno.ENAMETOOLONG:
                    raise make_write_error(error, path) from error
                raise


def name_temporary(targets: Sequence[Path]) -> list[Path]:
    """Return the names of the files that are to take the places of the targets."""
    token = secrets.token_hex(TOKEN_BYTES)
    return [target.with_name(f"{GROUP_PREFIX}{token}-{target.name}") for target in targets]


def get_draft(temporary: Path) -> Path:
    """Return the place of a journal while it is written."""
    return temporary.with_name(f"{temporary.name}.journal")


def get_journal(path: Path) -> Path:
    """Return the place of the journal of files of which `path` is the first."""
    return path.with_name(f".{path.name}{JOURNAL_SUFFIX}")


def replace_all(temporary: Sequence[Path], targets: Sequence[Path]) -> None:
    """Write the journal, let the temporary files take the places of the targets, and remove the journal."""
    journal, folder = get_journal(targets[0]), targets[0].parent
    finish_journal(journal, targets)  # of a process that was killed since this one began
    moves = {new.name: target.name for new, target in zip(temporary, targets, strict=True)}
    draft = get_draft(temporary[0])
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
        if temporary[0].exists():  # nothing has changed yet
            journal.unlink(missing_ok=True)
        raise
    finish_journal(journal, targets)


def finish_replacement(path: Path, group: Sequence[Path]) -> None:
    """Finish what a killed process began: the files of the group that it had not yet replaced are replaced."""
    journal = get_journal(Path(os.path.realpath(path)))
    if not os.path.isfile(journal):  # its name may be too long: then there is none
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
    except (ValueError, RecursionError):
        known = False
    if known:
        for name, target in moves.items():
            if target in names and is_temporary(name, target):
                with suppress(FileNotFoundError):  # replaced before the kill
                    os.replace(journal.with_name(name), journal.with_name(target))
        sync_folder(journal.parent)
    journal.unlink()
    sync_folder(journal.parent)


def is_temporary(name: str, target: str) -> bool:
    """Tell whether a file is named as the temporary one that is to replace a target."""
    token = name.removeprefix(GROUP_PREFIX).removesuffix(f"-{target}")
    return name == f"{GROUP_PREFIX}{token}-{target}" and TOKEN.fullmatch(token) is not None


def read_group(paths: Sequence[Path], read: Callable[[], Found]) -> Found:
    """Return what `read` returns from files that belong together, all written by the same run.

    If another run replaced them meanwhile, they are read again: old counts may fit a new vocabulary.
    """
    for _ in range(MAX_READS):
        finish_replacement(paths[0], paths)
        states = [FileState.read(path) for path in paths]
        try:
            found = read()
        except InputError:
            if is_settled(paths[0], states):
                raise
            continue
        if is_settled(paths[0], states):
            return found
    problem = f"{paths[0]} was replaced {MAX_READS} times while it was read"
    raise InputError(problem, remedy="wait until the runs that write it end")


def is_settled(path: Path, states: Sequence[FileState]) -> bool:
    """Tell whether files are the same as before, and no process is replacing them."""
    return not os.path.exists(get_journal(Path(os.path.realpath(path)))) and all(state.is_current() for state in states)
