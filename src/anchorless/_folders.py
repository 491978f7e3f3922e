"""A folder of results that is written under a temporary name and renamed when it is complete."""

from __future__ import annotations

import glob
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from anchorless._files import (
    PathLike,
    exchange_folders,
    make_write_error,
    remove_leftover_files,
    sync_file,
    sync_folder,
)
from anchorless._locks import create_locked, hold_folder, list_leftovers, release_lock
from anchorless.errors import InputError


@contextmanager
def atomic_write_folder(
    target: Path, *, force: bool, list_replaced: Callable[[Path], Sequence[str]] = lambda target: ()
) -> Iterator[Path]:
    """Yield a temporary folder beside `target`; when the block ends without an error, it takes the place of `target`.

    An existing folder that is not empty is refused without `force`. With it, files of the same names are replaced,
    files that `list_replaced` names are removed, and other files are kept; it is called when the block has ended, since
    another run may have written the folder meanwhile. If the block raises (Ctrl-C too), nothing changes.
    If the process is killed, all files are the old ones or all are the new ones; the next call removes its leftovers.
    """
    target = Path(os.path.realpath(target))
    validate_target_folder(target, force)
    made = [folder for folder in target.parents if not folder.exists()]
    temporary = target.with_name(f".{target.name}.part-{secrets.token_hex(4)}")  # messages name it
    lock = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with hold_folder(target.parent):
            remove_leftovers(target)
            remove_leftover_files(target)  # they would be kept as files of somebody else
        lock = create_locked(temporary, is_folder=True)
        yield temporary
        for file in temporary.iterdir():
            sync_file(file)
        sync_folder(temporary)
        # Both: commands that write one file into `target` lock that folder only.
        with hold_folder(target.parent), hold_folder(target):
            validate_target_folder(target, force)  # the block may have taken hours
            move_into_place(temporary, target, list_replaced(target))
    except OSError as error:
        raise make_write_error(error, target) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        release_lock(lock)
        with suppress(OSError):  # a folder that is not empty: the results are in it
            for folder in made:
                folder.rmdir()


def validate_target_folder(target: Path, force: bool) -> None:
    """Refuse a target that is a file, the working folder, or a folder with something in it while not `force`."""
    try:
        there = next(path for path in (target, *target.parents) if path.exists())
        if not there.is_dir():
            raise InputError(f"cannot write to {target}: {there} is a file", remedy="name a folder")
        if target in (here := Path(os.path.realpath(os.getcwd())), *here.parents):
            # The new folder takes its place: whoever is in the old one would be nowhere.
            problem = f"cannot write to {target}: it is the folder that you are in, or holds it"
            raise InputError(problem, remedy="name a folder inside of it")
        if not force and target.is_dir() and any(target.iterdir()):
            remedy = "pass {force} to replace its files, or choose another name"
            raise InputError(f"{target} exists already", remedy=remedy)
    except OSError as error:
        raise make_write_error(error, target) from error


def remove_leftovers(target: Path) -> None:
    """Remove the temporary folders of killed runs; old results that were about to be replaced come back first."""
    for kind in ("old", "part"):
        for path, lock in list_leftovers(target.parent, f".{glob.escape(target.name)}.{kind}-*"):
            if kind == "old" and not target.exists():
                os.rename(path, target)
            shutil.rmtree(path, ignore_errors=True)
            release_lock(lock)


def move_into_place(temporary: Path, target: Path, replaced: Sequence[str]) -> None:
    """Let the finished folder take the place of `target`, with the other files of `target` in it.

    Existing files named in `replaced` are removed. Afterwards `temporary` holds nothing that is needed.
    """
    if not target.exists():
        os.rename(temporary, target)
        sync_folder(target.parent)
        return
    names = {file.name for file in temporary.iterdir()}
    for name in sorted(names):
        if (target / name).is_dir():
            problem = f"cannot write {target / name}: it is a folder"
            raise InputError(problem, remedy="move it away, or choose another name")
    gone = names | {name for name in replaced if (target / name).is_file()}
    for path in target.iterdir():
        if path.name not in gone:
            link_tree(path, temporary / path.name)
    os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
    sync_folder(temporary)
    # Without the exchange there is a moment without results, which `remove_leftovers` ends.
    old = temporary if exchange_folders(temporary, target) else rename_in_turn(temporary, target)
    sync_folder(target.parent)
    for path in old.iterdir():  # came while files were linked
        if path.name not in gone and not os.path.lexists(target / path.name):
            os.rename(path, target / path.name)
    shutil.rmtree(old, ignore_errors=True)


def rename_in_turn(temporary: Path, target: Path) -> Path:
    """Rename `target` away and `temporary` to `target`; return the old folder. If the second step fails, undo both."""
    aside = target.with_name(f".{target.name}.old-{secrets.token_hex(4)}")
    os.rename(target, aside)
    try:
        os.rename(temporary, target)
    except BaseException:
        os.rename(aside, target)
        raise
    return aside


def link_tree(source: Path, target: Path) -> None:
    """Make a file or folder appear at a second place: files are linked, not copied, where the disk can."""
    if source.is_symlink() or not source.is_dir():
        link_file(source, target)
    else:
        shutil.copytree(source, target, symlinks=True, copy_function=link_file)


def link_file(source: PathLike, target: PathLike) -> None:
    """Link a file to a second name; copy it where the disk has no links."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)
