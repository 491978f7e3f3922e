"""One block of counts as one Arrow IPC file with a checksum at its end, mapped into memory to be read without a copy.

The file holds one record batch of one row. Each column is a list: `data`, `indices` and `indptr` of the CSR matrix, and
`words`, the terms that occur in this block for the first time. The facts about the block are metadata of the schema.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from anchorless._corpus.sparse import build_csr, to_canonical_csr
from anchorless._files import atomic_write, make_read_error
from anchorless.errors import InputError

COLUMNS = ("data", "indices", "indptr", "words")
DIGEST_SIZE = hashlib.sha256().digest_size


def write_block(path: Path, counts: Any, words: Sequence[str], facts: dict[str, Any]) -> None:
    """Write a CSR matrix, new words and facts that JSON can hold to a file, and wait until it is on the disk."""
    counts = to_canonical_csr(counts)
    values = (
        counts.data.astype(find_smallest_type(counts.data)),
        counts.indices.astype(np.int32),
        counts.indptr.astype(np.int64 if counts.nnz > np.iinfo(np.int32).max else np.int32),  # SciPy copies mixed types
        pa.array(words, type=pa.large_string()),
    )
    lists = [pa.LargeListArray.from_arrays(pa.array([0, len(part)], pa.int64()), pa.array(part)) for part in values]
    batch = pa.record_batch(lists, names=COLUMNS, metadata={"facts": json.dumps(facts)})
    content = pa.BufferOutputStream()
    with pa.ipc.new_file(content, batch.schema) as writer:
        writer.write_batch(batch)
    buffer = content.getvalue()
    with atomic_write(path, force=True) as temporary, open(temporary, "wb") as file:
        file.write(buffer)
        file.write(hashlib.sha256(buffer).digest())


def find_smallest_type(values: Any) -> np.dtype[Any]:
    """Return the smallest unsigned integer type that holds all values (n,); float64 if some are not counts."""
    largest = values.max(initial=0.0)
    is_count = values.min(initial=0.0) >= 0 and largest < 2**32 and np.array_equal(values, np.floor(values))
    return np.min_scalar_type(int(largest)) if is_count else np.dtype(np.float64)


def open_block(path: Path, *, verify: bool = False) -> Any:
    """Return the Arrow reader of a block file, mapped into memory; `verify` compares its checksum."""
    try:
        with pa.memory_map(str(path)) as file:
            buffer = file.read_buffer()
        content = buffer.slice(0, max(0, buffer.size - DIGEST_SIZE))
        if verify and hashlib.sha256(content).digest() != bytes(buffer[content.size :]):
            raise make_block_error(path)
        return pa.ipc.open_file(content)
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno:
            raise make_read_error(error, str(path)) from error
        raise make_block_error(path) from error


def read_facts(path: Path) -> dict[str, Any]:
    """Return the facts that were written with a block."""
    try:
        return dict(json.loads(open_block(path).schema.metadata[b"facts"]))
    except (TypeError, LookupError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise make_block_error(path) from error


def read_block(path: Path, n_words: int, *, verify: bool = False) -> tuple[Any, Any]:
    """Return the counts of a block file, CSR documents × words, and its new words; the arrays stay in the file.

    The arrays are checked first: compiled code would read beyond its memory where they do not fit together.
    """
    reader = open_block(path, verify=verify)
    try:
        batch = reader.get_batch(0)
        batch.validate(full=True)
        *numbers, words = (batch.column(name).values for name in COLUMNS)
        data, indices, indptr = (array.to_numpy(zero_copy_only=True) for array in numbers)
    except (pa.ArrowException, OSError, AttributeError, LookupError, ValueError) as error:
        raise make_block_error(path) from error
    if not is_valid_csr(data, indices, indptr, n_words) or not pa.types.is_large_string(words.type):
        raise make_block_error(path)
    return build_csr(data, indices, indptr, n_words, canonical=True), words


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
