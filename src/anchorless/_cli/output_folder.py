"""A folder of results that is written under a temporary name and renamed when it is complete."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from anchorless._files import make_write_error, sync_file
from anchorless.errors import InputError


@contextmanager
def atomic_write_folder(target: Path, *, force: bool, replaces: Sequence[str] = ()) -> Iterator[Path]:
    """Yield a temporary folder beside `target`; when the block ends without an error, its files are moved there.

    An existing folder that is not empty is refused without `force`. With it, files of the same names are replaced,
    files named in `replaces` are removed, and other files are kept. If the block raises (Ctrl-C too), nothing changes.
    """
    target = Path(os.path.realpath(target))
    validate_target_folder(target, force)
    made = [folder for folder in target.parents if not folder.exists()]
    temporary = target.with_name(f".{target.name}.part-{secrets.token_hex(4)}")  # messages name it
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary.mkdir()
        yield temporary
        for file in temporary.iterdir():
            sync_file(file)
        validate_target_folder(target, force)  # the block may have taken hours
        move_into_place(temporary, target, replaces)
    except OSError as error:
        raise make_write_error(error, target) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        with suppress(OSError):  # a folder that is not empty: the results are in it
            for folder in made:
                folder.rmdir()


def validate_target_folder(target: Path, force: bool) -> None:
    """Refuse a target that is a file, or a folder with something in it while `force` is not given."""
    try:
        there = next(path for path in (target, *target.parents) if path.exists())
        if not there.is_dir():
            raise InputError(f"cannot write to {target}: {there} is a file; name a folder with -o")
        if not force and target.is_dir() and any(target.iterdir()):
            raise InputError(f"{target} exists already; pass --force to replace its files, or name another with -o")
    except OSError as error:
        raise make_write_error(error, target) from error


def move_into_place(temporary: Path, target: Path, replaces: Sequence[str]) -> None:
    """Rename the finished folder, or move its files into the existing folder: all of them or none.

    Existing files named in `replaces` are removed.
    """
    if not target.exists():
        os.rename(temporary, target)
        return
    names = sorted(file.name for file in temporary.iterdir())
    gone = [name for name in replaces if name not in names and (target / name).is_file()]
    for name in names:
        if (target / name).is_dir():
            raise InputError(f"cannot write {target / name}: it is a folder; move it away, or name another with -o")
    earlier = temporary / "earlier"
    earlier.mkdir()
    try:
        for name in gone:
            os.rename(target / name, earlier / name)
        for name in names:
            if os.path.lexists(target / name):
                os.rename(target / name, earlier / name)
            os.rename(temporary / name, target / name)
    except BaseException:
        for name in names:
            if not (temporary / name).exists():  # it has been moved
                os.rename(target / name, temporary / name)
        for file in earlier.iterdir():
            os.rename(file, target / file.name)
        raise
