"""Documents of a fit that are read again: as the run that wrote the model read them, unless options say otherwise."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from anchorless._cli.options import resolve_model_path
from anchorless._corpus.io.readers import TEXT_FORMATS
from anchorless._files import NO_FILE, make_read_error

#: The file that says how results were made.
RUN_RECORD = "run.json"

#: Options that say how texts are read, with their values where neither the call nor the run has one.
DEFAULTS = {"text_column": None, "id_column": None, "format": None, "table": None, "encoding": "utf-8"}


def add_rereading(parser: Any, files: str) -> None:
    """Add how to read the documents that the option `files` names."""
    as_before = f"of {files} (default: as in the fit, for a file of the same name)"
    parser.add_argument("--text-column", metavar="NAME", help=f"column with the texts {as_before}")
    parser.add_argument("--id-column", metavar="NAME", help=f"column with the ids {as_before}")
    parser.add_argument("--format", choices=TEXT_FORMATS, help=f"format {as_before}")
    parser.add_argument("--table", metavar="NAME", help=f"sheet or list {as_before}")
    parser.add_argument("--encoding", metavar="NAME", help=f"encoding {as_before}")


def complete_reading(options: argparse.Namespace, files: list[str]) -> dict[str, Any]:
    """Set options that were not given to those of the run next to the model, if it read files of the same names."""
    before = read_run_record(resolve_model_path(options.model).parent).get("arguments", {})
    inputs = before.get("inputs")
    is_same = isinstance(inputs, list) and list_names(inputs) == list_names(files)
    for name, value in DEFAULTS.items():
        if getattr(options, name) is None:
            setattr(options, name, before.get(name, value) if is_same else value)
    return {name: getattr(options, name) for name in DEFAULTS}


def list_names(paths: list[str]) -> list[str]:
    """Return the names of files without their folders."""
    return sorted(Path(path).name for path in paths)


def read_run_record(folder: Path) -> dict[str, Any]:
    """Return the run.json of the run that wrote a folder, or an empty record."""
    try:
        record = json.loads((folder / RUN_RECORD).read_bytes())
    except (*NO_FILE, ValueError, RecursionError):
        return {}
    except OSError as error:
        raise make_read_error(error, str(folder / RUN_RECORD)) from error
    return record if isinstance(record, dict) and isinstance(record.get("arguments"), dict) else {}
