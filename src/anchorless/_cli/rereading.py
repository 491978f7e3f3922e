"""Documents of a fit that are read again: as the run that wrote the model read them, unless options say otherwise."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from anchorless._cli.options import resolve_model_path
from anchorless._files import NO_FILE, make_read_error, refuse_special_file

#: The file that says how results were made.
RUN_RECORD = "run.json"

#: Options that say how texts are read, with their values where neither the call nor the run has one.
DEFAULTS = {"text_column": None, "id_column": None, "format": None, "table": None, "encoding": "utf-8"}


def complete_reading(options: argparse.Namespace, files: list[str]) -> dict[str, Any]:
    """Set options that were not given to those of the run next to the model, if it read files of the same names."""
    before = read_run_record(resolve_model_path(options.model).parent).get("arguments", {})
    inputs = before.get("inputs")
    is_same = is_list_of_texts(inputs) and list_names(inputs) == list_names(files)
    for name, value in DEFAULTS.items():
        if getattr(options, name) is None:
            known = before.get(name, value) if is_same else value
            setattr(options, name, known if isinstance(known, str) else value)
    return {name: getattr(options, name) for name in DEFAULTS}


def is_list_of_texts(value: Any) -> bool:
    """Tell whether a value of run.json, which may come from a stranger, is a list of texts."""
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def read_options(add_options: Callable[[argparse.ArgumentParser], None], arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a command, added by `add_options`, as run.json has them.

    An option that an earlier version did not have, or a value of another kind, which only a stranger could have
    written, gets its default.
    """
    parser = argparse.ArgumentParser(add_help=False)
    add_options(parser)
    inputs = arguments.get("inputs")
    found = dict(parser._defaults)  # what the command fixes, without an option for it
    found["inputs"] = inputs if is_list_of_texts(inputs) else []
    found["input"] = str(arguments.get("input", ""))
    for action in parser._actions:
        if action.option_strings:
            value = arguments.get(action.dest, action.default)
            found[action.dest] = value if is_value_of(action, value) else action.default
    return found


def is_value_of(action: argparse.Action, value: Any) -> bool:
    """Tell whether an option could have a value of this kind."""
    if action.nargs == 0:
        return isinstance(value, bool)
    if action.type is None:
        if value is None:
            return action.default is None
        return isinstance(value, str) and (action.choices is None or value in action.choices)
    if isinstance(action.default, int | float | tuple | list):
        kinds = list | tuple if isinstance(action.default, tuple | list) else int | float
        return isinstance(value, kinds)
    return value is None or isinstance(value, str | int | float | list | tuple)


def list_names(paths: list[str]) -> list[str]:
    """Return the names of files without their folders."""
    return sorted(Path(path).name for path in paths)


def read_run_record(folder: Path) -> dict[str, Any]:
    """Return the run.json of the run that wrote a folder, with its arguments and files; or an empty record."""
    try:
        refuse_special_file(folder / RUN_RECORD)
        record = json.loads((folder / RUN_RECORD).read_bytes())
    except (*NO_FILE, ValueError, RecursionError):
        return {}
    except OSError as error:
        raise make_read_error(error, str(folder / RUN_RECORD)) from error
    if not isinstance(record, dict) or not isinstance(record.get("arguments"), dict):
        return {}
    files = record.get("files")
    return record | {"files": files if is_list_of_texts(files) else []}
