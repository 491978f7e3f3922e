"""An output must not take the place of a file that the command reads: `--force` would delete a user's data."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from anchorless._cli.options import resolve_model_path
from anchorless.errors import UsageError

#: Options that name files which a command reads.
INPUT_OPTIONS = ("inputs", "model", "vocabulary", "metadata", "embeddings", "seed_words", "documents", "full")


def refuse_replaced_inputs(options: argparse.Namespace, outputs: Iterable[str | Path | None]) -> None:
    """Refuse to write a file that is one of the inputs, by this or by another name."""
    existing = [os.fspath(output) for output in outputs if output is not None and os.path.isfile(output)]
    for output in existing:
        for path in list_inputs(options):
            if is_same_file(path, output):
                raise UsageError(f"{output} is read by this command, and would be replaced; name another output")


def is_same_file(path: str, other: str) -> bool:
    """Tell whether two names are of one file; a file that does not exist is none, and the reader says so."""
    try:
        return os.path.samefile(path, other)
    except (OSError, ValueError):
        return False


def list_inputs(options: argparse.Namespace) -> Iterator[str]:
    """Yield the names of files that a command reads."""
    for name in INPUT_OPTIONS:
        value = getattr(options, name, None)
        for path in [value] if isinstance(value, str) else value if isinstance(value, list) else []:
            yield str(resolve_model_path(path)) if name == "model" else path
