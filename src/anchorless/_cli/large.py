"""Inputs that are too large for the memory a fit may use: counted on disk, and from there on walked over."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from anchorless import __version__
from anchorless._cli.progress import ConsoleProgress
from anchorless._corpus.disk.store import CountStore, StoredCounts
from anchorless._corpus.io.readers import TextSource
from anchorless._corpus.settings import CountSettings

#: What a fit in memory needs at most for each byte of text, measured on short texts, and packed in gzip.
MEMORY_PER_BYTE, MEMORY_PER_COMPRESSED_BYTE = 12, 48
#: What it needs beside that.
BASE_MEMORY = 300_000_000
#: Settings that choose among counted words: they may change while the counts stay.
SELECTION_SETTINGS = ("min_df", "max_df", "max_features")


def estimate_memory(source: TextSource) -> int | None:
    """Return the bytes that a fit in memory would need, by the size of the input; None where that is not known."""
    if source.bytes_total is None:
        return None
    packed = source.name.lower().endswith((".gz", ".parquet", ".pq"))
    return BASE_MEMORY + source.bytes_total * (MEMORY_PER_COMPRESSED_BYTE if packed else MEMORY_PER_BYTE)


def is_large(source: TextSource, memory: int) -> bool:
    """Tell whether an input is to be counted on disk; one of unknown size, such as a pipe, is not."""
    expected = estimate_memory(source)
    return expected is not None and expected > memory


def identify_source(source: TextSource, settings: CountSettings) -> dict[str, Any]:
    """Return what counts depend on: the input as it is now, the columns taken from it, and the rule for words."""
    rule = {
        name: value
        for name, value in dataclasses.asdict(settings.pin_stop_words()).items()
        if name not in SELECTION_SETTINGS
    }
    columns = [source.format, source.text_column]
    text = repr((__version__, fingerprint_files(Path(source.name)), columns, sorted(rule.items())))
    return {
        "input": os.path.abspath(source.name),
        "sha256": hashlib.sha256(text.encode("utf-8", "replace")).hexdigest(),
    }


def fingerprint_files(path: Path) -> list[tuple[str, int, int]]:
    """Return name, size and time of change of a file, or of all files in a folder."""
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    return [(str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns) for file in files]


@contextmanager
def open_store(
    path: Path, source: TextSource, settings: CountSettings, progress: ConsoleProgress
) -> Iterator[CountStore]:
    """Yield the store of an input, which is removed when the block ends well; otherwise it stays, and that is said."""
    store = CountStore(path, identify_source(source, settings))
    if store.n_documents:
        progress.log(f"going on after {store.n_documents:,} documents that were counted before, in {path}")
    try:
        yield store
    except BaseException:
        if store.n_documents:
            progress.log(f"{store.n_documents:,} documents are counted in {path}; the same command goes on from there")
        raise
    store.remove()


def count_on_disk(
    store: CountStore, texts: Iterable[pa.Array], settings: CountSettings, n_threads: int
) -> StoredCounts:
    """Count texts into a store and choose the vocabulary."""
    store.count(texts, settings, n_threads)
    # Counting leaves its working memory with Arrow's allocator.
    pa.default_memory_pool().release_unused()
    documents, vocabulary, n_tokens, frequency = store.select_vocabulary(settings, n_threads)
    return StoredCounts(documents, vocabulary, n_tokens, documents.shape[0], frequency, settings)
