"""Several inputs as one: names with wildcards, and the documents of all files one after the other."""

from __future__ import annotations

import glob
import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from anchorless._corpus.io.batches import Batch, SeenIds, SkipLog
from anchorless._corpus.io.columns import ID
from anchorless.errors import InputError, UsageError

PathLike = str | os.PathLike[str]
#: The column with the name of the file in which a row is.
FILE = "file"
#: Files that a note names.
MAX_NAMED = 3


def expand_paths(paths: PathLike | Sequence[PathLike]) -> list[str]:
    """Return the names of inputs; a pattern such as texts/**/*.txt stands for the files that it matches, sorted."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found: list[str] = []
    for path in [os.fspath(one) for one in given]:
        if path == "-" or not glob.has_magic(path) or os.path.exists(path):
            found.append(path)
            continue
        matches = sorted(match for match in glob.glob(path, recursive=True) if not os.path.isdir(match))
        if not matches:
            raise InputError(f"no file matches {path}", remedy="give another pattern, or names of files")
        found += matches
    if not found:
        raise UsageError("no input is given; name a file, a folder or a pattern")
    if found.count("-") > 1:
        raise UsageError("stdin (-) can be read only once")
    repeated = [path for path, n in Counter(found).items() if n > 1]
    if repeated:
        raise UsageError(f"{repeated[0]} is named twice; its documents would count twice")
    return found


def is_several(paths: Any) -> bool:
    """Say whether an input is a list of files or a pattern."""
    return len(expand_paths(paths)) > 1


def name_inputs(paths: Sequence[str]) -> str:
    """Return what messages call several inputs."""
    more = "" if len(paths) == 1 else f" and {len(paths) - 1} more"
    return f"{'stdin' if paths[0] == '-' else paths[0]}{more}"


def label_inputs(paths: Sequence[str]) -> list[str]:
    """Return a short name for each input: that of its file, or the whole path if two files have the same name."""
    names = ["stdin" if path == "-" else Path(path).name or path for path in paths]
    return names if len(set(names)) == len(names) else list(paths)


class JoinedInputs:
    """The batches of several open inputs, one after the other, all with the same columns."""

    def __init__(self, paths: Sequence[str], open_one: Callable[[str], Any], skips: SkipLog) -> None:
        self.paths, self.labels, self.name = list(paths), label_inputs(paths), name_inputs(paths)
        self._open_one, self._skips = open_one, skips
        self._notes: list[str] = []
        self._seen = SeenIds()
        self._hashes: list[str] = []
        self._n_finished = 0
        self._current: Any = None
        sizes = [os.path.getsize(path) if os.path.isfile(path) else None for path in paths]
        self.bytes_total = sum(size for size in sizes if size is not None) if None not in sizes else None
        self.skip_counts = Counter[str]()
        self.id_column: str | None = None
        self.schema, self.text_column, self.format = self._compare_columns()

    @property
    def bytes_read(self) -> int:
        """Bytes of all inputs that have been read so far."""
        return self._n_finished + (0 if self._current is None else self._current.bytes_read)

    def sha256(self) -> str:
        """Return a hash of the names and contents of all inputs, after the last batch."""
        lines = [f"{label}\0{content}\n" for label, content in zip(self.labels, self._hashes, strict=True)]
        return hashlib.sha256("".join(lines).encode("utf-8", "replace")).hexdigest()

    def describe(self) -> list[str]:
        """Return sentences about the inputs and their columns."""
        return self._notes

    def close(self) -> None:
        """Close the input that is being read."""
        if self._current is not None:
            self._current.close()

    def batches(self) -> Iterator[Batch]:
        """Yield the batches of all inputs."""
        for path, label in zip(self.paths, self.labels, strict=True):
            with self._open_one(path) as source:
                self._current = source
                for batch in source.batches():
                    yield Batch(batch.texts, self._align(batch.other_columns, source, label))
                self._add_skips(source, label)
                self._hashes.append(source.sha256())
                self._n_finished += source.bytes_read
                self._current = None

    def _compare_columns(self) -> tuple[pa.Schema, str | None, str]:
        """Return the columns of all inputs together, the text column and the format; note where they differ."""
        types: dict[str, list[pa.DataType]] = {}
        texts: dict[str | None, str] = {}
        formats: dict[str, None] = {}
        for path, label in zip(self.paths, self.labels, strict=True):
            if path == "-":
                raise UsageError("stdin (-) cannot be combined with other inputs; write it to a file first")
            with self._open_one(path) as source:
                texts.setdefault(source.text_column, label)
                formats[source.format] = None
                self.id_column = self.id_column or source.id_column
                for field in source.columns:
                    types.setdefault(field.name, []).append(field.type)
        if len(named := [column for column in texts if column is not None]) > 1:
            problem = f"texts are in column {named[0]!r} of {texts[named[0]]}, but in {named[1]!r} of {texts[named[1]]}"
            raise UsageError(problem, remedy="give the column one name in all files, and pass {text_column}")
        n, missing = len(self.paths), {name: len(self.paths) - len(found) for name, found in types.items()}
        lacking = [f"{name!r} ({count} of {n})" for name, count in missing.items() if count and name != self.id_column]
        if lacking:
            self._notes.append(f"columns that some files do not have are empty there: {', '.join(lacking[:10])}")
        fields = [(name, found[0] if len(set(found)) == 1 else pa.string()) for name, found in types.items()]
        if any(format in formats for format in TABLES) and FILE not in types:
            fields.insert(1, (FILE, pa.string()))
        return pa.schema(fields), named[0] if named else None, next(iter(formats)) if len(formats) == 1 else "several"

    def _align(self, table: pa.Table, source: Any, label: str) -> pa.Table:
        """Return the columns of a batch in the order and with the types of all inputs."""
        ids = table[ID]
        if source.id_column is None and source.format not in NAMED_BY_PATH:
            ids = pc.binary_join_element_wise(label, ids, ":")
        elif source.format in ("folder", "archive", "mailbox"):
            ids = pc.binary_join_element_wise(label, ids, "/" if source.format == "folder" else ":")
        ids = ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids
        listed = ids.to_pylist()
        for place in self._seen.mark_repeated(listed).nonzero()[0].tolist():
            self._skips.add("duplicate id", label, repr(listed[place]))
        known: dict[str, Any] = {ID: ids, FILE: pa.array([label] * len(table), pa.string())}
        columns = []
        for field in self.schema:
            values = table[field.name] if field.name in table.column_names else None
            values = known.get(field.name, values) if field.name == ID or values is None else values
            columns.append(pa.nulls(len(table), field.type) if values is None else values.cast(field.type))
        return pa.table(columns, schema=self.schema)

    def _add_skips(self, source: Any, label: str) -> None:
        """Take over what was skipped in one input."""
        source.skipped.counts.pop("duplicate id", None)  # they are looked for in all inputs together
        self._notes += [f"{label}: {sentence}" for sentence in source.describe_reading()]
        self.skip_counts += source.skip_counts


#: Formats whose rows have columns, and those whose documents are named by the paths of files.
TABLES = ("csv", "tsv", "jsonl", "json", "parquet", "excel")
NAMED_BY_PATH = ("folder", "archive", "mailbox", "document")
