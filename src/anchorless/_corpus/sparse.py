"""CSR matrices of documents × words: one canonical form, views of rows, blocks of equal cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from anchorless._validation import check_structure
from anchorless.errors import InputError

#: Non-zeros in a block when the caller names no size: large enough that starting a thread costs nothing.
NONZEROS_PER_BLOCK = 500_000


def to_canonical_csr(X: Any) -> Any:
    """Return X as CSR of float64 with sorted indices, duplicates summed and no stored zero; X is not changed.

    Index arrays are checked here, before any compiled code relies on them. The conversion to float64 comes before any
    sum: duplicate uint8 counts would wrap around at 256.
    """
    X = check_structure(X) if sp.issparse(X) else np.asarray(X)
    if X.dtype.kind not in "fiub":
        raise InputError(f"X contains {X.dtype} values, but documents × words are real numbers; count the words first")
    if not isinstance(X, sp.csr_matrix) or X.dtype != np.float64:
        X = sp.csr_matrix(X.astype(np.float64) if sp.issparse(X) else X, dtype=np.float64)
    if len(X.data) > X.indptr[-1] or not X.has_canonical_format or not np.all(X.data):
        X = X.copy()
        X.prune()  # room after the last entry
        X.sum_duplicates()
        X.eliminate_zeros()
    return X


def build_csr(data: Any, indices: Any, indptr: Any, n_columns: int, *, canonical: bool = False) -> Any:
    """Return a CSR matrix of these arrays without a copy; `canonical` if indices are known to be sorted and unique."""
    matrix = sp.csr_matrix((len(indptr) - 1, n_columns), dtype=data.dtype)
    # Set one by one: the constructor would copy memory-mapped arrays, and slices of less than half of an array.
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    if canonical:  # otherwise SciPy checks
        matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


def view_rows(X: Any, start: int, stop: int) -> Any:
    """Return rows start … stop of a CSR matrix without copying its data."""
    first, last = X.indptr[start], X.indptr[stop]
    return build_csr(X.data[first:last], X.indices[first:last], X.indptr[start : stop + 1] - first, X.shape[1])


def stack_rows(parts: list[Any]) -> Any:
    """Return the rows of CSR matrices as one matrix."""
    return parts[0] if len(parts) == 1 else sp.vstack(parts, format="csr")


def rechunk_blocks(blocks: Iterable[Any], nonzeros: int) -> Iterator[Any]:
    """Yield CSR blocks that end with the document that reaches `nonzeros` entries, whatever the blocks given."""
    waiting: list[Any] = []
    n_missing = nonzeros
    for block in blocks:
        start = 0
        while start < block.shape[0]:
            stop = int(np.searchsorted(block.indptr, block.indptr[start] + n_missing))
            full = stop <= block.shape[0]
            stop = min(stop, block.shape[0])
            waiting.append(view_rows(block, start, stop).copy())  # a view would keep the whole block alive
            n_missing -= int(block.indptr[stop] - block.indptr[start])
            if full:
                yield stack_rows(waiting)
                waiting, n_missing = [], nonzeros
            start = stop
        del block  # otherwise it stays in memory until the next one is there
    if waiting:
        yield stack_rows(waiting)


def find_block_bounds(indptr: npt.NDArray[Any]) -> list[int]:
    """Return the bounds of blocks of rows of about equal cost, half in the entries, half in the rows."""
    n_rows, n_entries = len(indptr) - 1, int(indptr[-1])
    n_blocks = max(1, round(n_entries / NONZEROS_PER_BLOCK))
    if n_blocks == 1:
        return [0, n_rows]
    cost = indptr / n_entries + np.arange(n_rows + 1) / n_rows
    cuts = np.searchsorted(cost, 2.0 * np.arange(1, n_blocks) / n_blocks)
    return np.unique([0, *cuts, n_rows]).tolist()


def split_range(n: int, step: int) -> list[slice]:
    """Return slices of `step` numbers that cover 0 … n − 1."""
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def compute_row_squares(X: Any) -> npt.NDArray[np.float64]:
    """Return the sum of squares of each row of a CSR matrix."""
    squares = np.zeros(X.shape[0])
    filled = np.flatnonzero(np.diff(X.indptr))  # `reduceat` would give an empty row the next row's first entry
    if len(filled):
        squares[filled] = np.add.reduceat(X.data * X.data, X.indptr[filled])
    return squares


def find_fraction(X: Any) -> float | None:
    """Return the first entry of a CSR matrix that is not a whole number, None if all are."""
    fractions = X.data[X.data != np.floor(X.data)] if X.dtype.kind == "f" else X.data[:0]
    return float(fractions[0]) if len(fractions) else None
