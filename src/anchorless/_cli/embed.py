"""`anchorless embed`: embeddings of texts by an encoder on this machine."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from anchorless._cli import options as shared
from anchorless._cli.printing import print_json
from anchorless._cli.progress import ConsoleProgress
from anchorless._corpus.encoders import Encoder
from anchorless._corpus.io.readers import TextSource, open_texts
from anchorless._files import atomic_write, hash_file, make_write_error, validate_target
from anchorless._locks import release_lock, wait_for_lock
from anchorless.errors import InputError, UsageError, render_message

#: Texts that are encoded before they are written; a run that was interrupted continues with the next ones.
TEXTS_AT_A_TIME = 256
SOURCE_OPTIONS = ("text_column", "id_column", "format", "encoding", "strict")


def run(options: argparse.Namespace) -> None:
    """Encode the texts, and write a row for each that `fit` would read."""
    progress = ConsoleProgress(quiet=options.quiet)
    target = Path(options.output or get_default_file(options.inputs[0]))
    if target.suffix.lower() != ".npy":
        raise UsageError(f"cannot write {target}: embeddings are .npy")
    validate_target(Path(os.path.realpath(target)), options.force)
    encoder = Encoder(options.encoder)
    partial = PartialFile(target, describe_run(options, encoder))
    if partial.n_done:
        progress.log(f"{partial.n_done:,} documents were encoded before; going on after them")
    with (
        partial,
        progress.stage("encode", f"encoding {options.input}"),
        progress.track_encoding(options.input, count_texts(options), partial.n_done) as advance,
    ):
        for texts in iter_pieces(options, progress):
            if not partial.skip(len(texts)):
                partial.append(encoder.encode(texts))
                advance(len(texts))
        shape = partial.finish(target, force=options.force)
    progress.log(f"wrote {target}: {shape[0]:,} document{'s' * (shape[0] != 1)} × {shape[1]} dimensions, float16")
    if options.json:
        print_json({"output": str(target), "documents": shape[0], "dimensions": shape[1]})


def get_default_file(given: str) -> str:
    """Return the file for the embeddings of an input."""
    return "stdin.npy" if given == "-" else f"{Path(given).resolve().name}.npy"


def describe_run(options: argparse.Namespace, encoder: Encoder) -> str:
    """Return a hash of all that the embeddings depend on; empty for inputs that cannot be read again."""
    path = Path(options.inputs[0])
    if len(options.inputs) > 1 or options.input == "-" or not path.is_file():
        return ""
    reading = {name: getattr(options, name) for name in SOURCE_OPTIONS}
    content = json.dumps([hash_file(path), encoder.fingerprint, reading, TEXTS_AT_A_TIME], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def count_texts(options: argparse.Namespace) -> int | None:
    """Return the number of texts, for the time left; None for inputs that cannot be read again."""
    if options.input == "-" or not all(Path(given).is_file() for given in options.inputs):
        return None
    with open_input(options) as source:
        return sum(len(batch.texts) for batch in source)


def open_input(options: argparse.Namespace) -> TextSource:
    """Return the documents of the input."""
    return open_texts(options.inputs, **{name: getattr(options, name) for name in SOURCE_OPTIONS})


def iter_pieces(options: argparse.Namespace, progress: ConsoleProgress) -> Iterator[list[str]]:
    """Yield the texts, so many at a time: the same pieces in every run, since encoders round by what is in a batch."""
    waiting: list[str] = []
    with open_input(options) as source:
        for batch in source:
            waiting += batch.texts.to_pylist()
            while len(waiting) >= TEXTS_AT_A_TIME:
                yield waiting[:TEXTS_AT_A_TIME]
                waiting = waiting[TEXTS_AT_A_TIME:]
    if waiting:
        yield waiting
    for sentence in source.skipped.describe_all():
        progress.log(render_message(sentence, shared.name_option))


class PartialFile(AbstractContextManager["PartialFile"]):
    """Rows that have been encoded, beside the file that they will be; kept if the run is interrupted."""

    def __init__(self, target: Path, key: str) -> None:
        self._rows, self._facts = target.with_name(f"{target.name}.part"), target.with_name(f"{target.name}.part.json")
        self._key, self._width, self.n_done, self._n_skipped = key, 0, 0, 0
        self._lock = lock_rows(self._rows, target)
        with suppress(OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            facts = json.loads(self._facts.read_bytes())
            if key and facts["key"] == key and facts["width"] > 0:
                self._width = int(facts["width"])
                whole = self.n_rows // TEXTS_AT_A_TIME * TEXTS_AT_A_TIME
                os.truncate(self._rows, whole * 2 * self._width)
                self.n_done = whole
        if not self.n_done:
            os.truncate(self._rows, 0)

    def __exit__(self, *_: object) -> None:
        if not self.n_rows:  # it was finished, or nothing was encoded
            self._facts.unlink(missing_ok=True)
            self._rows.unlink(missing_ok=True)
        release_lock(self._lock)

    @property
    def n_rows(self) -> int:
        """Rows in the file."""
        return self._rows.stat().st_size // (2 * self._width) if self._width else 0

    def skip(self, n: int) -> bool:
        """Tell whether the next n texts are encoded already."""
        if self._n_skipped + n > self.n_done:
            return False
        self._n_skipped += n
        return True

    def append(self, vectors: Any) -> None:
        """Write the embeddings of the next texts."""
        if not self._width:
            self._width = vectors.shape[1]
            self._facts.write_text(json.dumps({"key": self._key, "width": self._width}))
        with open(self._rows, "ab") as file:
            file.write(np.ascontiguousarray(vectors, dtype="<f2").tobytes())
            file.flush()
            os.fsync(file.fileno())  # a power cut must not leave zeros that the next run takes for rows

    def finish(self, target: Path, *, force: bool) -> tuple[int, int]:
        """Write the file, whole or not at all, and return its shape."""
        rows = np.memmap(self._rows, dtype="<f2", mode="r").reshape(-1, self._width)
        with atomic_write(target, force=force) as temporary:
            np.save(temporary, rows)
        shape = (int(rows.shape[0]), int(rows.shape[1]))
        del rows
        os.truncate(self._rows, 0)
        return shape


def lock_rows(path: Path, target: Path) -> int | None:
    """Create the file of rows if there is none, and lock it: two runs would mix their rows."""
    try:
        return wait_for_lock(path, 0.0, create=True)
    except OSError as error:
        raise make_write_error(error, target) from error
    except InputError:
        remedy = "wait until it ends, or name another file with {output}"
        raise InputError(f"another run is encoding texts for {target}", remedy=remedy) from None
