"""Documents as blocks of sparse rows, and sums over the blocks in a fixed order.

Every statistic over documents is a sum over blocks, so that one thread, many threads and many machines run
the same code, with another way of walking over the blocks: in memory here, on disk in `stored`. The sum is always
taken by one tree over the blocks in their order (`TreeSum`): the bits of the result depend on where the blocks
end, never on how many threads or machines walked over them.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from anchorless.errors import InputError

Array = npt.NDArray[np.float64]
Result = TypeVar("Result")

#: Parts that are added left to right before their sum becomes one part of the next level.
FAN_IN = 16
#: Entries of a block whose squares exist at the same time.
ENTRIES_AT_A_TIME = 2**16
#: Non-zeros in a block when the caller names no size: large enough that starting a thread costs nothing.
NONZEROS_PER_BLOCK = 500_000


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

    def rows(self, positions: npt.ArrayLike) -> Any:
        """Return the documents at these positions, in this order, as one CSR matrix."""
        wanted, inverse = np.unique(np.asarray(positions, dtype=np.intp), return_inverse=True)
        found, first = [], 0
        for block in self.map_blocks(lambda block: block, 1):
            here = slice(*np.searchsorted(wanted, [first, first + block.shape[0]]))
            found.append(block[wanted[here] - first])
            first += block.shape[0]
        return sp.vstack(found, format="csr")[inverse]

    def times(self, Q: Array, n_threads: int) -> Array:
        """Return the product of the documents with Q (V, p), a row per document."""
        return np.vstack(list(self.map_blocks(lambda D: D @ Q, n_threads)))


class ThreadTeam:
    """Threads that share work out among themselves; the one that calls is one of them.

    They are kept from call to call: to start a thread, or even to wake it, takes as long as a small piece of work.
    Work that hands out work to the same team may wait for itself for ever; a forked process needs a team of its own.
    """

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._pool = ThreadPoolExecutor(n_threads)

    def map(self, function: Callable[[Any], Result], items: Iterable[Any]) -> list[Result]:
        """Return function(item) for each item, in their order."""
        waiting = deque(enumerate(items))
        results: dict[int, Result] = {}

        def work() -> None:
            while waiting:
                try:
                    place, item = waiting.popleft()
                except IndexError:  # another thread took the last one
                    return
                try:
                    results[place] = function(item)
                except BaseException:
                    waiting.clear()  # nobody goes on
                    raise

        helpers = [self._pool.submit(work) for _ in range(min(self.n_threads, len(waiting)) - 1)]
        try:
            work()
        finally:
            wait(helpers)  # else one would go on writing into what the caller has given up
        for helper in helpers:
            helper.result()
        return [results[place] for place in range(len(results))]


def map_in_threads(function: Callable[[Any], Result], items: Sequence[Any], n_threads: int) -> Iterator[Result]:
    """Yield function(item) for each item, in their order, computed by up to `n_threads` threads."""
    if n_threads == 1 or len(items) == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        yield from map_in_order(pool, function, items, n_threads)


def map_in_order(
    pool: ThreadPoolExecutor, function: Callable[[Any], Result], items: Sequence[Any], ahead: int
) -> Iterator[Result]:
    """Yield results in order while at most `ahead` + 1 of them exist, which bounds the memory."""
    waiting: deque[Future[Result]] = deque()
    for item in items:
        waiting.append(pool.submit(function, item))
        if len(waiting) > ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def to_canonical_csr(X: Any) -> Any:
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


def split_range(n: int, step: int) -> list[slice]:
    """Cut 0 … n into slices."""
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def find_block_bounds(indptr: npt.NDArray[Any]) -> list[int]:
    """Return where to cut rows into blocks that cost about the same each: threads then end with them together.

    Half of the cost is in the entries, half in the rows: by entries alone, one block could have all short rows.
    """
    n_rows, n_entries = len(indptr) - 1, int(indptr[-1])
    n_blocks = max(1, round(n_entries / NONZEROS_PER_BLOCK))
    if n_blocks == 1:
        return [0, n_rows]
    cost = indptr / n_entries + np.arange(n_rows + 1) / n_rows
    cuts = np.searchsorted(cost, 2.0 * np.arange(1, n_blocks) / n_blocks)
    return np.unique([0, *cuts, n_rows]).tolist()


def view_rows(X: Any, start: int, stop: int) -> Any:
    """Return rows start … stop of a CSR matrix without copying its data."""
    first, last = X.indptr[start], X.indptr[stop]
    return build_csr(X.data[first:last], X.indices[first:last], X.indptr[start : stop + 1] - first, X.shape[1])


def build_csr(
    data: npt.NDArray[Any],
    indices: npt.NDArray[Any],
    indptr: npt.NDArray[Any],
    n_columns: int,
    *,
    canonical: bool = False,
) -> Any:
    """Return arrays as CSR without copying them; `canonical` if columns are known to be in order, none twice."""
    matrix = sp.csr_matrix((len(indptr) - 1, n_columns), dtype=data.dtype)
    # Set one by one: the constructor would copy what is mapped, and slices of less than half of an array.
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    if canonical:  # else SciPy will look
        matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


def rechunk_blocks(blocks: Iterable[Any], nonzeros: int) -> Iterator[Any]:
    """Yield the documents of CSR blocks in blocks that end with the document in which `nonzeros` entries are reached.

    Where they end depends on the documents alone, not on how they came. Nothing of a block is kept once it is copied.
    """
    waiting: list[Any] = []
    room = nonzeros
    for block in blocks:
        start = 0
        while start < block.shape[0]:
            stop = int(np.searchsorted(block.indptr, block.indptr[start] + room))
            full = stop <= block.shape[0]
            stop = min(stop, block.shape[0])
            waiting.append(view_rows(block, start, stop).copy())  # a view would keep the whole block alive
            room -= int(block.indptr[stop] - block.indptr[start])
            if full:
                yield stack_rows(waiting)
                waiting, room = [], nonzeros
            start = stop
        del block  # else it would live until the next one is there
    if waiting:
        yield stack_rows(waiting)


def stack_rows(parts: list[Any]) -> Any:
    """Return rows of CSR matrices as one."""
    return parts[0] if len(parts) == 1 else sp.vstack(parts, format="csr")


def resolve_n_threads(n_threads: int | None) -> int:
    """Return `n_threads`, or the number of cores this process may use."""
    if n_threads is None:
        try:
            return len(os.sched_getaffinity(0))
        except AttributeError:  # not on macOS and Windows
            return os.cpu_count() or 1
    if isinstance(n_threads, bool) or not isinstance(n_threads, int | np.integer) or n_threads < 1:
        raise InputError(f"n_threads={n_threads!r}, but it must be a whole number of at least 1, or None for all cores")
    return int(n_threads)
