"""Limits on what a file may ask for, before memory is allocated: sizes that its own content makes plausible."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from anchorless._corpus.memory import measure_available_memory
from anchorless._validation import has_valid_structure

#: Documents or words without any entry that a file may declare, for each entry and besides.
EMPTY_PER_ENTRY, EMPTY_ALWAYS = 100, 2**21
#: Bytes that one byte of deflated data can become, at most.
DEFLATE_RATIO = 1040
#: Bytes of one line, at most.
LONGEST_LINE = 1 << 26


def check_declared_shape(n_documents: int, n_words: int, n_entries: int) -> None:
    """Raise ValueError if a file declares far more documents or words than its entries can fill.

    Arrays of that length are allocated. Without this limit, a changed digit in a file of kilobytes takes gigabytes.
    """
    most = EMPTY_PER_ENTRY * n_entries + EMPTY_ALWAYS
    if not (0 <= n_documents <= most and 0 <= n_words <= most):
        raise ValueError(f"it declares {n_documents:,} documents × {n_words:,} words, but has {n_entries:,} entries")


def check_declared_bytes(n_bytes: int, n_packed: int | None = None) -> None:
    """Raise ValueError if data do not fit into memory, or cannot unpack from `n_packed` bytes."""
    if n_packed is not None and not 0 <= n_bytes <= DEFLATE_RATIO * n_packed + DEFLATE_RATIO:
        raise ValueError(f"it declares {n_bytes:,} bytes, which its {n_packed:,} packed bytes cannot hold")
    available = measure_available_memory()
    if available is not None and n_bytes > available:
        raise ValueError(f"it needs {n_bytes / 1e9:,.1f} GB of memory, and {available / 1e9:,.1f} GB are available")


def refuse_invalid_structure(X: Any) -> Any:
    """Return a sparse matrix; raise ValueError if its index arrays point outside of it."""
    if not has_valid_structure(X):
        raise ValueError("its indices do not fit its shape")
    return X


def read_line_blocks(source: IO[bytes], n_bytes: int) -> Iterator[bytes]:
    """Yield whole lines, about `n_bytes` at a time; raise ValueError if a line does not end."""
    rest = list[bytes]()
    while piece := source.read(n_bytes):
        head, newline, tail = piece.rpartition(b"\n")
        if newline:
            yield b"".join([*rest, head, newline])
            rest = []
        rest.append(tail)
        if len(rest) * n_bytes > LONGEST_LINE:
            raise ValueError(f"a line of it is longer than {LONGEST_LINE:,} bytes")
    if last := b"".join(rest):
        yield last + b"\n"
