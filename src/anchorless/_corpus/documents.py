"""Documents as blocks of sparse rows, and sums over the blocks in a fixed order.

Every statistic over documents is a sum over blocks, so that one thread, many threads and many machines run
the same code, with another way of walking over the blocks: in memory here, on disk in `stored`. The sum is always
taken by one tree over the blocks in their order (`TreeSum`): the bits of the result depend on where the blocks
end, never on how many threads or machines walked over them.
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

#: Parts that are added left to right before their sum becomes one part of the next level.
FAN_IN = 16
#: Entries of a block whose squares exist at the same time.
ENTRIES_AT_A_TIME = 2**16


class TreeSum:
    """The sum of arrays by a fixed tree: FAN_IN consecutive parts left to right, their sums again so, and so on.

    A cluster can add up by the same tree, each node where its parts are, and get the same bits. In memory is at
    most one partial sum per level.
    """

    def __init__(self) -> None:
        self._sums: list[Array | None] = []  # of the open group of each level
        self._sizes: list[int] = []  # parts in it

    def add(self, part: Any, level: int = 0, *, fresh: bool = False) -> None:
        """Add the next part; it is copied, not kept, but for one that is `fresh`: nobody else has it."""
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
        rest: Array | None = None
        for total in self._sums:
            if total is not None and rest is not None:
                total += rest
            rest = rest if total is None else total
        if rest is None:
            raise InputError("no blocks of documents were given; at least one is needed")
        return rest


def tree_sum(parts: Iterable[Array], *, fresh: bool = False) -> Array:
    """Return the sum of arrays, in their order, by the tree of `TreeSum`; `fresh` ones are overwritten."""
    total = TreeSum()
    for part in parts:
        total.add(part, fresh=fresh)
    return total.total()


class Documents:
    """Documents × words in row blocks of CSR, all of one width, with no stored zero and no duplicate.

    Other classes keep their blocks elsewhere and overwrite `map_blocks` and `mapped`, and a cluster `add_up`; all
    walk over them by these alone. Functions of a block depend on the block and on arrays they hold, and on
    nothing else: they may run in another process.

    Parameters
    ----------
    blocks : sequence of sparse or dense matrices (documents × words), all with the same number of words
    """

    #: Whether `blocks` is there: other classes have none, and no second copy of the entries is made for them.
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
        """Cut a matrix into blocks of `block_size` rows, or of about `NONZEROS_PER_BLOCK` entries."""
        if block_size is not None and (block_size < 1 or block_size != int(block_size)):
            raise InputError(f"block_size={block_size}, but a block holds a whole number of documents, at least 1")
        X = to_canonical_csr(X)
        n_rows = X.shape[0]
        bounds = find_block_bounds(X.indptr) if block_size is None else [*range(0, n_rows, block_size), n_rows]
        return cls([view_rows(X, start, stop) for start, stop in pairwise(bounds)])

    def map_blocks(self, function: Callable[[Any], Result], n_threads: int) -> Iterator[Result]:
        """Yield function(block) for each block, in their order, computed by up to `n_threads` threads."""
        return map_in_threads(function, self.blocks, n_threads)

    def transform_blocks(self, function: Callable[[Any], Any], n_words: int | None = None) -> Documents:
        """Return documents whose blocks are function(block), of as many rows, and of `n_words` columns if that is said.

        They are computed at once, since there is room.
        """
        return Documents([function(block) for block in self.blocks])

    def materialize(self, n_threads: int) -> Documents:
        """Return the same documents with what `mapped` left to be computed done once and kept where the blocks are."""
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
    """For each word, sums over the documents (V,)."""

    total: Array  # of its entries
    squares: Array  # of their squares
    frequency: Array  # the number of documents that hold it


def compute_word_sums(documents: Documents, n_threads: int) -> WordSums:
    """Return the sums over the documents, in one walk over the blocks."""
    return WordSums(*documents.sum_blocks(compute_block_word_sums, n_threads))


def compute_block_word_sums(D: Any) -> Array:
    """Return the sums of a block (3, V)."""
    n_words = D.shape[1]
    squares = np.zeros(n_words)
    # Some at a time: memory for all squares at once would cost more than the sums.
    for entries in split_range(D.nnz, max(ENTRIES_AT_A_TIME, n_words)):
        squares += np.bincount(D.indices[entries], D.data[entries] ** 2, minlength=n_words)
    return np.stack([D.T @ np.ones(D.shape[0]), squares, np.bincount(D.indices, minlength=n_words)])
