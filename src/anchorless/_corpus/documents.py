"""Documents as blocks of sparse rows, and sums over the blocks in a fixed order.

Every statistic over documents is a sum over blocks, so that one thread, many threads and many machines run the same
code and differ only in where the blocks are stored: in memory here, on disk or on workers in subclasses. The sum is
always taken by one tree over the blocks in their order (`TreeSum`), so its bits depend on where the blocks end, never
on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from anchorless._corpus.sparse import find_block_bounds, split_range, to_canonical_csr, view_rows
from anchorless._corpus.threads import Result, map_in_threads
from anchorless.errors import InputError

Array = npt.NDArray[np.float64]

#: Parts that are added from left to right before their sum becomes one part of the next level.
FAN_IN = 16
#: Entries of a block whose squares are in memory at the same time.
ENTRIES_AT_A_TIME = 2**16


class TreeSum:
    """The sum of arrays by a fixed tree: `FAN_IN` consecutive parts from left to right, then their sums, and so on.

    A cluster can use the same tree and compute each node where its parts are. At most one partial sum per level is
    in memory.
    """

    def __init__(self) -> None:
        self._sums: list[Array | None] = []  # of the open group of each level
        self._sizes: list[int] = []  # parts in it

    def add(self, part: Any, level: int = 0, *, fresh: bool = False) -> None:
        """Add the next part. It is copied unless it is `fresh`: then nobody else uses it, and it may be overwritten."""
        if level == len(self._sums):
            self._sums.append(None)
            self._sizes.append(0)
        total = self._sums[level]
        if total is None:
            total = self._sums[level] = part if fresh else np.array(part, dtype=np.float64)
        else:
            total += part
        self._sizes[level] += 1
        if self._sizes[level] == FAN_IN:
            self._sums[level], self._sizes[level] = None, 0
            self.add(total, level + 1, fresh=True)

    def total(self) -> Array:
        """Return the sum of all parts; nothing can be added afterwards."""
        rest: Array | None = None
        for total in self._sums:
            if total is not None and rest is not None:
                total += rest
            rest = rest if total is None else total
        if rest is None:
            raise InputError("no blocks of documents were given; at least one is needed")
        return rest


def tree_sum(parts: Iterable[Array], *, fresh: bool = False) -> Array:
    """Return the sum of arrays, in their order, by the tree of `TreeSum`; `fresh` ones may be overwritten."""
    total = TreeSum()
    for part in parts:
        total.add(part, fresh=fresh)
    return total.total()


class Documents:
    """Documents × words in CSR blocks of rows, all of one width, with no stored zero and no duplicate.

    Subclasses store their blocks elsewhere and override `map_blocks` and `transform_blocks`, and on a cluster
    `sum_blocks`; every statistic is computed by these methods alone. A function of a block may use the block and its
    own arrays and nothing else, since it may run in another process.

    Parameters
    ----------
    blocks : sequence of sparse or dense matrices
        Documents × words, all with the same number of words.

    Attributes
    ----------
    shape : tuple of int
        The numbers of documents and of words.
    n_blocks : int
        The number of blocks.
    """

    #: Whether `blocks` exists. Subclasses have none, and their entries are not stored a second time by column.
    in_memory = True
    shape: tuple[int, int]
    n_blocks: int

    def __init__(self, blocks: Sequence[Any]) -> None:
        if len(blocks) == 0:
            raise InputError("no blocks of documents were given; at least one is needed")
        self.blocks = tuple(to_canonical_csr(block) for block in blocks)
        widths = sorted({block.shape[1] for block in self.blocks})
        if len(widths) > 1:
            raise InputError(
                f"blocks have {widths} columns; give every block one column for each word of one vocabulary"
            )
        self.shape = (sum(block.shape[0] for block in self.blocks), widths[0])
        self.n_blocks = len(self.blocks)

    @classmethod
    def from_matrix(cls, X: Any, block_size: int | None = None) -> Documents:
        """Split a matrix into blocks of `block_size` rows, or of about `NONZEROS_PER_BLOCK` non-zeros."""
        if block_size is not None and (block_size < 1 or block_size != int(block_size)):
            raise InputError(
                "it must be a whole number of at least 1, or None", parameter="block_size", value=block_size, limit=1
            )
        X = to_canonical_csr(X)
        n_rows = X.shape[0]
        bounds = find_block_bounds(X.indptr) if block_size is None else [*range(0, n_rows, block_size), n_rows]
        return cls([view_rows(X, start, stop) for start, stop in pairwise(bounds)])

    def map_blocks(self, function: Callable[[Any], Result], n_threads: int) -> Iterator[Result]:
        """Yield function(block) for each block, in order, computed by up to `n_threads` threads."""
        return map_in_threads(function, self.blocks, n_threads)

    def transform_blocks(self, function: Callable[[Any], Any], n_words: int | None = None) -> Documents:
        """Return documents whose blocks are function(block), with as many rows, and `n_words` columns if given.

        In memory they are computed at once; subclasses compute them in every pass until `materialize` is called.
        """
        return Documents([function(block) for block in self.blocks])

    def materialize(self, n_threads: int) -> Documents:
        """Return the same documents with transformed blocks computed and stored where the blocks are."""
        return self

    def sum_blocks(self, function: Callable[[Any], Array], n_threads: int) -> Array:
        """Return the sum of function(block) over the blocks, by the tree of `TreeSum`."""
        return tree_sum(self.map_blocks(function, n_threads))

    def take_rows(self, positions: npt.ArrayLike) -> Any:
        """Return the documents at these positions, in this order, as one CSR matrix."""
        wanted, inverse = np.unique(np.asarray(positions, dtype=np.intp), return_inverse=True)
        found, first = [], 0
        for block in self.map_blocks(lambda block: block, 1):
            here = slice(*np.searchsorted(wanted, [first, first + block.shape[0]]))
            found.append(block[wanted[here] - first])
            first += block.shape[0]
        return sp.vstack(found, format="csr")[inverse]


class WordSums(NamedTuple):
    """Sums over the documents for each word (V,)."""

    total: Array  # of its entries
    squares: Array  # of their squares
    frequency: Array  # the number of documents that contain it


def compute_word_sums(documents: Documents, n_threads: int) -> WordSums:
    """Return the sums over the documents, in one pass over the blocks."""
    return WordSums(*documents.sum_blocks(compute_block_word_sums, n_threads))


def compute_block_word_sums(D: Any) -> Array:
    """Return the sums of a block (3, V)."""
    n_words = D.shape[1]
    squares = np.zeros(n_words)
    # A slice at a time: the squares of all entries would need more memory than the sums.
    for entries in split_range(D.nnz, max(ENTRIES_AT_A_TIME, n_words)):
        squares += np.bincount(D.indices[entries], D.data[entries] ** 2, minlength=n_words)
    return np.stack([D.T @ np.ones(D.shape[0]), squares, np.bincount(D.indices, minlength=n_words)])
