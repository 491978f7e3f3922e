"""One block of counts as one Arrow IPC file, mapped into memory to be read without a copy.

The file holds one record batch of one row. Each column is a list: `data`, `indices` and `indptr` of the CSR matrix, and
`words`, the terms that occur in this block for the first time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from anchorless._corpus.sparse import build_csr, to_canonical_csr
from anchorless._files import atomic_write, make_read_error
from anchorless.errors import InputError

COLUMNS = ("data", "indices", "indptr", "words")


class Block(NamedTuple):
    """The content of a block file."""

    counts: Any  # CSR, documents × words
    words: Any  # pa.Array of strings


def write_block(path: Path, counts: Any, words: Sequence[str] = ()) -> tuple[int, str]:
    """Write a CSR matrix and new words to a file, and wait until it is on the disk; return its size and SHA-256."""
    counts = to_canonical_csr(counts)
    values = (
        counts.data.astype(find_smallest_type(counts.data)),
        counts.indices.astype(np.int32),
        counts.indptr.astype(np.int64 if counts.nnz > np.iinfo(np.int32).max else np.int32),  # SciPy copies mixed types
        pa.array(words, type=pa.large_string()),
    )
    lists = [pa.LargeListArray.from_arrays(pa.array([0, len(part)], pa.int64()), pa.array(part)) for part in values]
    batch = pa.record_batch(lists, names=COLUMNS)
    content = pa.BufferOutputStream()
    with pa.ipc.new_file(content, batch.schema) as writer:
        writer.write_batch(batch)
    buffer = content.getvalue()
    with atomic_write(path, force=True) as temporary:
        temporary.write_bytes(buffer)
    return buffer.size, hashlib.sha256(buffer).hexdigest()


def find_smallest_type(values: Any) -> np.dtype[Any]:
    """Return the smallest unsigned integer type that holds all values (n,); float64 if some are not counts."""
    largest = values.max(initial=0.0)
    is_count = values.min(initial=0.0) >= 0 and largest < 2**32 and np.array_equal(values, np.floor(values))
    return np.min_scalar_type(int(largest)) if is_count else np.dtype(np.float64)


def read_block(path: Path, n_words: int) -> Block:
    """Return the content of a block file; its arrays stay in the file, mapped into memory.

    The arrays are checked first: compiled code would read beyond its memory where they do not fit together.
    """
    try:
        with pa.memory_map(str(path)) as file:
            batch = pa.ipc.open_file(file).get_batch(0)
        batch.validate(full=True)
        *numbers, words = (batch.column(name).values for name in COLUMNS)
        data, indices, indptr = (array.to_numpy(zero_copy_only=True) for array in numbers)
    except (pa.ArrowException, OSError, AttributeError, LookupError, ValueError) as error:
        if isinstance(error, OSError) and error.errno:
            raise make_read_error(error, str(path)) from error
        raise make_block_error(path) from error
    if not is_valid_csr(data, indices, indptr, n_words) or not pa.types.is_large_string(words.type):
        raise make_block_error(path)
    return Block(build_csr(data, indices, indptr, n_words, canonical=True), words)


def is_valid_csr(data: Any, indices: Any, indptr: Any, n_words: int) -> bool:
    """Tell whether arrays describe a CSR matrix with `n_words` columns."""
    return bool(
        data.dtype.kind in "uf"
        and indices.dtype == np.int32
        and indptr.dtype in (np.int32, np.int64)
        and len(indptr) > 0
        and indptr[0] == 0
        and indptr[-1] == len(data) == len(indices)
        and np.all(indptr[1:] >= indptr[:-1])
        and indices.min(initial=0) >= 0
        and indices.max(initial=-1) < n_words
    )


def make_block_error(path: Path) -> InputError:
    """Return the error for a file that is not as it was written."""
    return InputError(f"{path} is damaged: it changed after it was written; delete {path.parent} and count again")
