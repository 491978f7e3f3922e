"""Texts counted in memory, or on disk where they need more than they may use."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from anchorless._corpus.counting import Counts, count_texts, count_with_vocabulary
from anchorless._corpus.disk.documents import store_blocks
from anchorless._corpus.disk.store import CountStore
from anchorless._corpus.documents import Documents
from anchorless._corpus.given_counts import gather_documents
from anchorless._corpus.io.formats import COMPRESSED
from anchorless._corpus.io.readers import TextSource
from anchorless._corpus.settings import CountSettings
from anchorless._corpus.sparse import NONZEROS_PER_BLOCK, rechunk_blocks
from anchorless._files import hash_file
from anchorless.errors import InputError

#: Bytes of memory that a fit needs for each byte of text, plain and compressed, and besides; measured on short texts.
MEMORY_PER_BYTE, MEMORY_PER_COMPRESSED_BYTE, BASE_MEMORY = 12, 48, 300_000_000
#: Settings that select among counted words: they may change while the counts on disk stay.
SELECTION_SETTINGS = ("min_df", "max_df", "max_features")
SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)B?\s*", re.IGNORECASE | re.ASCII)
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


class Storage(NamedTuple):
    """How much memory counting may use, and where counts go that need more."""

    memory: int | None  # bytes; None for no limit
    folder: Path | None  # None for a temporary folder
    n_threads: int


def parse_memory(memory: int | str | None) -> int | None:
    """Return a number of bytes from a size such as "500MB"; None for no limit."""
    if memory is None or (isinstance(memory, int) and not isinstance(memory, bool) and memory > 0):
        return memory
    found = SIZE.fullmatch(memory) if isinstance(memory, str) else None
    if found is None or not 0 < float(found[1]) < float("inf"):
        raise InputError("it must be a size such as 500MB or 2GB", parameter="memory", value=memory)
    return int(float(found[1]) * UNITS[found[2].upper()])


def count_within(
    batches: Iterable[pa.Array], source: TextSource | None, settings: CountSettings, storage: Storage, stack: ExitStack
) -> tuple[Counts, CountStore | None, list[str]]:
    """Count texts in memory, or on disk if they need more than they may use; also return the store, and notes."""
    is_large, batches = measure_texts(batches, source, storage.memory)
    if not is_large:
        return count_texts(batches, settings, storage.n_threads), None, []
    folder = storage.folder or make_folder(stack)
    store = CountStore(folder, {} if source is None else identify_source(source, settings))
    n_before = store.n_documents
    notes = [f"continued after {n_before:,} documents that were counted before, in {folder}"] if n_before else []
    store.count(batches, settings, storage.n_threads)
    pa.default_memory_pool().release_unused()  # counting leaves its working memory with Arrow's allocator
    return store.select_vocabulary(settings, storage.n_threads), store, notes


def count_words(
    batches: Iterable[pa.Array], source: Any, settings: CountSettings, words: Any, storage: Storage, stack: ExitStack
) -> tuple[Documents, int, int]:
    """Count given words; also return the number of all tokens, and of those of other words."""
    is_large, batches = measure_texts(batches, source, storage.memory)
    n_tokens, n_unknown = 0, 0

    def count_blocks() -> Iterator[Any]:
        nonlocal n_tokens, n_unknown
        for batch in count_with_vocabulary(batches, words, settings, storage.n_threads):
            n_tokens, n_unknown = n_tokens + batch.n_tokens, n_unknown + batch.n_unknown
            yield batch.counts

    if is_large:
        blocks = rechunk_blocks(count_blocks(), NONZEROS_PER_BLOCK)
        documents: Documents = store_blocks(make_folder(stack), blocks, len(words))
    else:
        documents = gather_documents(count_blocks())
    return documents, n_tokens, n_unknown


def measure_texts(
    batches: Iterable[pa.Array], source: TextSource | None, memory: int | None
) -> tuple[bool, Iterable[pa.Array]]:
    """Say whether texts need more memory than they may use; where their size is not known, read as far as needed."""
    if memory is None:
        return False, batches
    if source is not None and source.bytes_total is not None:
        is_packed = any(path.lower().endswith(COMPRESSED) for path in source.paths)
        per_byte = MEMORY_PER_COMPRESSED_BYTE if is_packed else MEMORY_PER_BYTE
        return BASE_MEMORY + per_byte * source.bytes_total > memory, batches
    batches, head, n_bytes = iter(batches), list[pa.Array](), 0
    for batch in batches:
        head.append(batch)
        n_bytes += batch.nbytes
        if BASE_MEMORY + MEMORY_PER_BYTE * n_bytes > memory:
            return True, chain(head, batches)
    return False, head


def make_folder(stack: ExitStack) -> Path:
    """Return the path of a folder for counts, in a temporary folder that goes with the stack."""
    return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="anchorless-")), "counts")


def identify_source(source: TextSource, settings: CountSettings) -> dict[str, Any]:
    """Return what counts depend on: the content of the input, the columns used, and the rule for words.

    Size and time stamp do not identify a file: an editor, a copy or a second write within a tick may keep both.
    """
    rule = settings.to_dict()
    kept = sorted((name, value) for name, value in rule.items() if name not in SELECTION_SETTINGS)
    files: list[Path] = []
    for path in map(Path, source.paths):
        files += sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    # A pipe cannot be read twice, so that its counts belong to this run only.
    states = [(str(file.resolve()), hash_file(file) if file.is_file() else secrets.token_hex()) for file in files]
    text = repr((states, source.format, source.text_column, sorted(source.facts.reading.items()), kept))
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return {"input": os.path.abspath(source.name), "sha256": digest}


@contextmanager
def translate_disk_errors() -> Iterator[None]:
    """Say which disk is full: it is not the one with the results."""
    try:
        yield
    except OSError as error:
        problem = f"cannot write temporary files to {tempfile.gettempdir()}: {error.strerror or error}"
        raise InputError(problem, remedy="free some space, or set TMPDIR to a folder with more") from error
