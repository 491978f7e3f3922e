"""A folder of results, written beside its place and put there when it is complete."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from anchorless.errors import InputError
from anchorless.reading.files import writing_error


@contextmanager
def folder_beside(target: Path, *, force: bool) -> Iterator[Path]:
    """Yield a temporary folder beside `target`; when the block ends well its files are moved there.

    A folder that is there and not empty is refused without `force`; with it, files of the same names are
    replaced and others are left alone. When the block raises (Ctrl-C too), nothing is left behind.
    """
    target = Path(os.path.realpath(target))
    refuse_folder(target, force)
    temporary = target.with_name(f".{target.name}-{secrets.token_hex(4)}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary.mkdir()
        yield temporary
        refuse_folder(target, force)  # the block may have taken hours
        settle(temporary, target)
    except OSError as error:
        raise writing_error(error, target) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def refuse_folder(target: Path, force: bool) -> None:
    """Refuse a target that is a file, or a folder with something in it while `force` is not given."""
    try:
        if target.exists() and not target.is_dir():
            raise InputError(f"cannot write to {target}: it is a file; name a folder with -o")
        if not force and target.is_dir() and any(target.iterdir()):
            raise InputError(f"{target} exists already; pass --force to replace its files, or name another with -o")
    except OSError as error:
        raise writing_error(error, target) from error


def settle(temporary: Path, target: Path) -> None:
    """Move the finished folder to its place, or its files into the folder that is there."""
    if not target.exists():
        os.rename(temporary, target)
        return
    for file in sorted(temporary.iterdir()):
        os.replace(file, target / file.name)
