"""Documents as blocks of sparse rows, and sums over the blocks in a fixed order.

Every statistic over documents is a sum over blocks, so that one thread, many threads and later many
machines run the same code. The sum is always taken in the order of the blocks: the bits of the result
depend on where the blocks end, never on how many threads walked over them.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from anchorless.errors import InputError

Array = npt.NDArray[np.float64]
Part = TypeVar("Part")

#: Non-zeros in a block when the caller names no size: large enough that starting a thread costs nothing.
NONZEROS_PER_BLOCK = 250_000


class Documents:
    """Documents × words in row blocks of CSR, all of one width, with no stored zero and no duplicate.

    Parameters
    ----------
    blocks : sequence of sparse or dense matrices (documents × words), all with the same number of words
    """

    def __init__(self, blocks: Sequence[Any]) -> None:
        if len(blocks) == 0:
            raise InputError("no blocks of documents were given; at least one is needed")
        self.blocks = tuple(canonical_csr(block) for block in blocks)
        widths = sorted({block.shape[1] for block in self.blocks})
        if len(widths) > 1:
            raise InputError(f"blocks have {widths} columns; every block needs one column per word of one vocabulary")
        self.shape = (sum(block.shape[0] for block in self.blocks), widths[0])

    @classmethod
    def from_matrix(cls, X: Any, block_size: int | None = None) -> Documents:
        """Cut a matrix into blocks of `block_size` rows, or of about `NONZEROS_PER_BLOCK` entries."""
        if block_size is not None and (block_size < 1 or block_size != int(block_size)):
            raise InputError(f"block_size={block_size}, but a block holds a whole number of documents, at least 1")
        X = canonical_csr(X)
        n_rows = X.shape[0]
        if block_size is None:
            n_blocks = max(1, round(X.nnz / NONZEROS_PER_BLOCK))
            block_size = max(1, -(-n_rows // n_blocks))
        return cls([row_view(X, start, min(start + block_size, n_rows)) for start in range(0, n_rows, block_size)])

    def map_blocks(self, function: Callable[[Any], Part], n_threads: int) -> Iterator[Part]:
        """Yield function(block) for each block, in their order, computed by up to `n_threads` threads."""
        return in_threads(function, self.blocks, n_threads)

    def add_up(self, function: Callable[[Any], Array], n_threads: int) -> Array:
        """Return the sum of function(block) over the blocks, taken in their order."""
        parts = self.map_blocks(function, n_threads)
        total = np.array(next(parts), dtype=np.float64)
        for part in parts:
            total += part
        return total

    def times(self, Q: Array, n_threads: int) -> Array:
        """Return the product of the documents with Q (V, p), a row per document."""
        return np.vstack(list(self.map_blocks(lambda D: D @ Q, n_threads)))


def in_threads(function: Callable[[Any], Part], items: Sequence[Any], n_threads: int) -> Iterator[Part]:
    """Yield function(item) for each item, in their order, computed by up to `n_threads` threads."""
    if n_threads == 1 or len(items) == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        yield from in_order(pool, function, items, n_threads)


def in_order(
    pool: ThreadPoolExecutor, function: Callable[[Any], Part], items: Sequence[Any], ahead: int
) -> Iterator[Part]:
    """Yield results in order while at most `ahead` + 1 of them exist, which bounds the memory."""
    waiting: deque[Future[Part]] = deque()
    for item in items:
        waiting.append(pool.submit(function, item))
        if len(waiting) > ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def canonical_csr(X: Any) -> Any:
    """Return X as CSR of float64 with sorted indices, duplicates added and no stored zero; X is not changed.

    The conversion to float64 comes first: adding duplicate uint8 counts would wrap around at 256.
    """
    if not sp.issparse(X):
        X = np.asarray(X)
    if X.dtype.kind not in "fiub":
        raise InputError(f"X holds {X.dtype} values, but documents × words are real numbers; count the words first")
    if not isinstance(X, sp.csr_matrix) or X.dtype != np.float64:
        X = sp.csr_matrix(X.astype(np.float64) if sp.issparse(X) else X, dtype=np.float64)
    if not X.has_canonical_format or not np.all(X.data):
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
    return X


def row_view(X: Any, start: int, stop: int) -> Any:
    """Return rows start … stop of a CSR matrix without copying its data."""
    first, last = X.indptr[start], X.indptr[stop]
    view = sp.csr_matrix((stop - start, X.shape[1]), dtype=X.dtype)
    # Set one by one: the constructor would copy slices of less than half of an array.
    view.data, view.indices = X.data[first:last], X.indices[first:last]
    view.indptr = X.indptr[start : stop + 1] - first
    return view


def usable_threads(n_threads: int | None) -> int:
    """Return `n_threads`, or the number of cores this process may use."""
    if n_threads is None:
        try:
            return len(os.sched_getaffinity(0))
        except AttributeError:  # not on macOS and Windows
            return os.cpu_count() or 1
    if isinstance(n_threads, bool) or not isinstance(n_threads, int | np.integer) or n_threads < 1:
        raise InputError(f"n_threads={n_threads!r}, but it must be a whole number of at least 1, or None for all cores")
    return int(n_threads)
