"""Documents as blocks of sparse rows, and sums over the blocks in a fixed order.

Every statistic over documents is a sum over blocks, by one tree over the blocks in their order (`TreeSum`), so that its
bits depend on the bounds of the blocks, never on the number of threads or machines.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from anchorless._corpus.sparse import find_block_bounds, split_range, to_canonical_csr, view_rows
from anchorless._corpus.threads import Result, map_in_threads
from anchorless.errors import InputError

Array = npt.NDArray[np.float64]
#: Of a block and the rows of numbers of its documents: new rows, and an array to be summed.
RowFunction = Callable[[Any, Array], tuple[Array, Array]]

#: Parts that are added left to right before their sum becomes one part of the next level.
FAN_IN = 16
#: Non-zeros in a block after `refine_blocks`.
FINE_NONZEROS = 2**17
#: Entries of a block whose squares exist at the same time.
ENTRIES_AT_A_TIME = 2**16


class TreeSum:
    """The sum of arrays by a fixed tree: FAN_IN consecutive parts left to right, their sums again so, and so on.

    At most one partial sum per level is in memory. Clusters add up in another order and agree to 1e-10.
    """

    def __init__(self) -> None:
        self._sums: list[Array | None] = []  # of the open group of each level
        self._sizes: list[int] = []  # parts in it

    def add(self, part: Any, level: int = 0, *, fresh: bool = False) -> None:
        """Add the next part, which is copied unless it is `fresh`: then it may be overwritten."""
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
        """Return the sum of all parts, the last groups closed as they are; nothing can be added afterwards."""
        sums = [total for total in self._sums if total is not None]
        if not sums:
            raise InputError("no blocks of documents were given; at least one is needed")
        for lower, upper in pairwise(sums):
            upper += lower
        return sums[-1]


def tree_sum(parts: Iterable[Array], *, fresh: bool = False) -> Array:
    """Return the sum of arrays, in their order, by the tree of `TreeSum`; `fresh` ones are overwritten."""
    total = TreeSum()
    for part in parts:
        total.add(part, fresh=fresh)
    return total.total()


class Documents:
    """Documents × words in blocks of rows, each a CSR matrix without stored zeros and duplicates.

    Subclasses store their blocks elsewhere and override `map_blocks` and `transform_blocks`. Functions of a block may
    run in another process, so they must depend on nothing but the block and arrays that they contain.

    Parameters
    ----------
    blocks : sequence of sparse or dense matrices of shape (n_documents, n_words)
        The blocks, all with the same number of words.

    Attributes
    ----------
    blocks : tuple of CSR matrices
        The blocks; subclasses that store them elsewhere have none.
    shape : tuple of (int, int)
        Number of documents and of words.
    n_blocks, in_memory : int, bool
        Number of blocks, and whether they are in memory.

    Examples
    --------
    >>> from anchorless import AnchorFree, Documents
    >>> documents = Documents([[[2, 1, 0, 0], [1, 2, 0, 0]], [[0, 0, 3, 1], [0, 0, 1, 3]]])
    >>> documents.shape, documents.n_blocks
    ((4, 4), 2)
    >>> AnchorFree(2).fit(documents).components_.shape
    (2, 4)
    """

    in_memory = True
    shape: tuple[int, int]
    n_blocks: int

    def __init__(self, blocks: Sequence[Any]) -> None:
        if len(blocks) == 0:
            raise InputError("no blocks of documents were given; at least one is needed")
        self.blocks = tuple(to_canonical_csr(block) for block in blocks)
        widths = sorted({block.shape[1] for block in self.blocks})
        if len(widths) > 1:
            raise InputError(f"blocks have {widths} columns; every block needs one column per word of one vocabulary")
        self.shape = (sum(block.shape[0] for block in self.blocks), widths[0])
        self.n_blocks = len(self.blocks)

    @classmethod
    def from_matrix(cls, X: Any, block_size: int | None = None) -> Documents:
        """Split a matrix into blocks.

        Parameters
        ----------
        X : sparse or dense matrix of shape (n_documents, n_words)
            The documents.
        block_size : int or None, default=None
            Documents per block; None for blocks of about 500,000 entries.

        Returns
        -------
        Documents
            The documents in blocks.
        """
        if block_size is not None and (block_size < 1 or block_size != int(block_size)):
            raise InputError(f"block_size={block_size}, but a block holds a whole number of documents, at least 1")
        X = to_canonical_csr(X)
        n_rows = X.shape[0]
        bounds = find_block_bounds(X.indptr) if block_size is None else [*range(0, n_rows, block_size), n_rows]
        return cls([view_rows(X, start, stop) for start, stop in pairwise(bounds)])

    def map_blocks(self, function: Callable[[Any], Result], n_threads: int) -> Iterator[Result]:
        """Apply a function to each block.

        Parameters
        ----------
        function : callable
            Called with a block, a CSR matrix.
        n_threads : int
            Number of threads, at most.

        Returns
        -------
        iterator
            The results, in the order of the blocks.
        """
        return map_in_threads(function, self.blocks, n_threads)

    def transform_blocks(self, function: Callable[[Any], Any], n_words: int | None = None) -> Documents:
        """Replace each block by a function of it. In memory this is done at once, elsewhere when blocks are read.

        Parameters
        ----------
        function : callable
            Called with a block; returns a block with as many rows.
        n_words : int or None, default=None
            Number of columns of the new blocks; None if it stays the same.

        Returns
        -------
        Documents
            The new documents.
        """
        return Documents([function(block) for block in self.blocks])

    def materialize(self, n_threads: int) -> Documents:
        """Compute what `transform_blocks` left for later, and store the results where the blocks are.

        Parameters
        ----------
        n_threads : int
            As in `map_blocks`.

        Returns
        -------
        Documents
            The same documents.
        """
        return self

    def sum_blocks(self, function: Callable[[Any], Array], n_threads: int) -> Array:
        """Sum a function over the blocks; the bits do not depend on the number of threads.

        Parameters
        ----------
        function : callable
            Called with a block; returns an array, of the same shape for every block.
        n_threads : int
            As in `map_blocks`.

        Returns
        -------
        ndarray
            The sum.
        """
        return tree_sum(self.map_blocks(function, n_threads))

    def update_rows(self, function: RowFunction, rows: Array, n_threads: int) -> Array:
        """Replace numbers that belong to the documents, and sum a statistic over the blocks.

        Parameters
        ----------
        function : callable
            Called with a block and its rows; returns new rows, and an array of the same shape for every block.
        rows : ndarray of shape (n_documents, n_numbers)
            Numbers of each document; they are overwritten.
        n_threads : int
            As in `map_blocks`.

        Returns
        -------
        ndarray
            The sum of the arrays.
        """
        total, start = TreeSum(), 0
        for new, part in self._map_rows(function, rows, n_threads):
            rows[start : start + len(new)] = new
            start += len(new)
            if part is not None:
                total.add(part, fresh=True)
            del new, part  # otherwise they would stay while the next ones are computed
        return total.total()

    def map_rows(self, function: Callable[[Any, Array], Array], rows: Array, n_threads: int) -> Iterator[Array]:
        """Apply a function to each block and the numbers that belong to its documents.

        Parameters
        ----------
        function : callable
            Called with a block and its rows; returns an array of their shape.
        rows : ndarray of shape (n_documents, n_numbers)
            Numbers of each document.
        n_threads : int
            As in `map_blocks`.

        Returns
        -------
        iterator
            The arrays, in the order of the blocks; those of several blocks may be one.
        """
        return (found for found, _ in self._map_rows(partial(pair_with_nothing, function=function), rows, n_threads))

    def _map_rows(self, function: RowFunction, rows: Array, n_threads: int) -> Iterator[tuple[Array, Array | None]]:
        """Yield function(block, its rows) for each block or run of blocks, in their order."""
        stops = np.cumsum([block.shape[0] for block in self.blocks]).tolist()
        pieces = [(block, rows[stop - block.shape[0] : stop]) for block, stop in zip(self.blocks, stops, strict=True)]
        return map_in_threads(lambda piece: function(*piece), pieces, n_threads)

    def allocate_rows(self, n_numbers: int) -> Array:
        """Return zeros for each document, in a mapped temporary file where the documents are not in memory.

        Parameters
        ----------
        n_numbers : int
            Numbers of each document.

        Returns
        -------
        ndarray of shape (n_documents, n_numbers)
        """
        return allocate_array((self.shape[0], n_numbers), on_disk=not self.in_memory)

    def refine_blocks(self) -> Documents:
        """Split blocks in memory into smaller ones, for work that costs much per entry; others stay as they are.

        Returns
        -------
        Documents
            The same documents.
        """
        parts = []
        for block in self.blocks:
            n_parts = max(1, round(block.nnz / FINE_NONZEROS))
            bounds = np.unique(np.linspace(0, block.shape[0], n_parts + 1).astype(int)).tolist()
            parts += [view_rows(block, start, stop) for start, stop in pairwise(bounds)]
        return Documents(parts or self.blocks)

    def take_rows(self, positions: npt.ArrayLike) -> Any:
        """Select documents.

        Parameters
        ----------
        positions : array-like of int
            The positions of the documents.

        Returns
        -------
        CSR matrix of shape (n_positions, n_words)
            The documents at these positions, in this order.
        """
        wanted, inverse = np.unique(np.asarray(positions, dtype=np.intp), return_inverse=True)
        found, first = [], 0
        for block in self.map_blocks(lambda block: block, 1):
            here = slice(*np.searchsorted(wanted, [first, first + block.shape[0]]))
            found.append(block[wanted[here] - first])
            first += block.shape[0]
        return sp.vstack(found, format="csr")[inverse]


def pair_with_nothing(X: Any, rows: Array, function: Callable[[Any, Array], Array]) -> tuple[Array, Array]:
    """Return function(X, rows), and an array that has nothing to sum."""
    return function(X, rows), np.zeros(1)


def allocate_array(shape: tuple[int, ...], *, on_disk: bool, dtype: Any = np.float64) -> Any:
    """Return an array of zeros; on disk it leaves memory where it is not used."""
    if not on_disk:
        return np.zeros(shape, dtype=dtype)
    with tempfile.TemporaryFile(prefix="anchorless-") as file:  # the mapping keeps it until the array is gone
        return np.memmap(file, dtype=dtype, mode="w+", shape=shape)


class WordSums(NamedTuple):
    """For each word, sums over the documents (V,)."""

    total: Array  # of its entries
    squares: Array  # of their squares
    frequency: Array  # the number of documents that hold it


def compute_word_sums(documents: Documents, n_threads: int) -> WordSums:
    """Return the sums over the documents, in one pass over the blocks."""
    return WordSums(*documents.sum_blocks(compute_block_word_sums, n_threads))


def compute_block_word_sums(D: Any) -> Array:
    """Return the sums of a block (3, V)."""
    n_words = D.shape[1]
    squares = np.zeros(n_words)
    # Some at a time: memory for all squares at once would cost more than the sums.
    for entries in split_range(D.nnz, max(ENTRIES_AT_A_TIME, n_words)):
        squares += np.bincount(D.indices[entries], D.data[entries] ** 2, minlength=n_words)
    return np.stack([D.T @ np.ones(D.shape[0]), squares, np.bincount(D.indices, minlength=n_words)])
