"""Options of one command as another needs them: the commands that are suggested work as they are printed."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Collection
from pathlib import Path

from anchorless._cli.options import write_value

#: What does not say how documents are read, counted or fitted.
NOT_REPEATED = ("help", "input", "model", "topics", "output", "force", "quiet", "json", "plot", "memory")


def quote_path(path: str | Path) -> str:
    """Return a path as in a shell; a name that begins with a dash would be taken for an option."""
    return shlex.quote(f"./{path}" if str(path).startswith("-") else str(path))


def format_options(
    add_options: Callable[[argparse.ArgumentParser], None],
    options: argparse.Namespace,
    names: Collection[str] | None = None,
) -> list[str]:
    """Return the options of a command, added by `add_options`, that were given to another one, as in a shell.

    `names` are the parameters to look at; None for all.
    """
    parser = argparse.ArgumentParser(add_help=False)
    add_options(parser)
    found: list[str] = []
    for action in parser._actions:
        value = getattr(options, action.dest, None)
        if action.dest in NOT_REPEATED or not action.option_strings or not hasattr(options, action.dest):
            continue
        if value == action.default or (names is not None and action.dest not in names):
            continue
        found.append(max(action.option_strings, key=len) if action.dest != "jobs" else "--jobs")
        if action.nargs != 0:
            found.append(write_value(found[-1], value))
    return found
