"""What one worker of a cluster does with a run of consecutive blocks; it knows no cluster.

These functions are sent by name, so that only what they are given travels. Sums are taken by the tree of
`documents.TreeSum`, of which a run is a node, or the beginning or another piece of one.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.linalg.blas  # noqa: F401 its library must be loaded before the controller below looks for it
import scipy.sparse as sp
from threadpoolctl import ThreadpoolController

from anchorless import __version__
from anchorless._corpus.documents import FAN_IN, Array, tree_sum
from anchorless._corpus.sparse import to_canonical_csr
from anchorless.errors import InputError

Result = TypeVar("Result")

#: Blocks in a run, at most: what is lost with a worker is computed again run by run.
MAX_RUN_BLOCKS = FAN_IN**2
#: A thread may have this many times its even share of the blocks.
MAX_IMBALANCE = 1.1
#: Settings of the GNU C library: freed bytes that are kept, and the size from which memory comes from the system each
#: time. Arrays beyond a few MB had better come from there: they get large pages.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
KEPT_BYTES, REUSED_BYTES, DEFAULT_MMAP_THRESHOLD = 1 << 26, 1 << 22, 1 << 17
#: The variables of the environment that set them.
TRIM_VARIABLE, MMAP_VARIABLE = "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"


def apply_to_blocks(function: Callable[[Any], Result], blocks: Iterable[Any]) -> list[Result]:
    """Return function(block) for each block."""
    with one_blas_thread(), reuse_memory():
        return [function(block) for block in blocks]


def map_to_csr_blocks(function: Callable[[Any], Any], blocks: Iterable[Any]) -> list[Any]:
    """Return function(block) for each block, as blocks."""
    return to_canonical_blocks(apply_to_blocks(function, blocks))


def sum_nodes(
    function: Callable[[Any], Array], blocks: Sequence[Any], unit: int, begins: bool, before: Sequence[Array] = ()
) -> list[Array]:
    """Return the sums of each `unit` blocks, which are nodes of the tree, or one sum of all that begins a larger node.

    A node is added up from left to right, so that what is in the middle of it waits for what is before it: it is
    added on to that where it is given, in `before`.
    """
    with one_blas_thread(), reuse_memory():
        nodes: Iterable[Array] = map(function, blocks)
        if unit > 1:
            nodes = (tree_sum(map(function, blocks[start : start + unit])) for start in range(0, len(blocks), unit))
        return sum_pieces([before, nodes]) if begins or before else [*nodes]


def sum_segment(
    function: Callable[[Any], Array], runs: Sequence[Sequence[Any]], unit: int, begins: bool, before: Sequence[Array]
) -> list[Array]:
    """Return the same of runs that follow each other."""
    return sum_nodes(function, [block for run in runs for block in run], unit, begins, before)


def sum_pieces(pieces: Sequence[Iterable[Array]]) -> list[Array]:
    """Return the sum of the arrays in the pieces of a node, in their order, as a piece of the next level."""
    parts = (part for piece in pieces for part in piece)
    total = np.array(next(parts), dtype=np.float64)
    for part in parts:
        total += part
    return [total]


def identity(value: Result) -> Result:
    """Return the value: as a task, it has a recipe, and can be had again when it is lost."""
    return value


def get_version() -> str:
    """Return the version of this package on the worker."""
    return __version__


def to_canonical_blocks(found: Any) -> list[Any]:
    """Return what a user's part holds, one matrix or a list of them, as blocks of canonical CSR."""
    matrices = found if isinstance(found, list | tuple) else [found]
    for matrix in matrices:
        if getattr(matrix, "ndim", 0) != 2:
            raise InputError(f"a part holds {type(matrix).__name__}, but it must be a matrix, documents × words")
    return [to_canonical_csr(matrix) for matrix in matrices]


def get_shapes(blocks: Sequence[Any]) -> list[tuple[int, int]]:
    """Return the shape of each block: all that the client needs to know of it."""
    return [(int(block.shape[0]), int(block.shape[1])) for block in blocks]


def count_rows(block: Any) -> int:
    """Return the number of documents of a block."""
    return int(block.shape[0])


def select_rows(blocks: Sequence[Any], rows: npt.NDArray[np.intp]) -> Any:
    """Return some documents of the blocks, counted from the first."""
    return sp.vstack(blocks, format="csr")[rows]


def concatenate_blocks(sources: Sequence[Sequence[Any]], cuts: Sequence[tuple[int, int]]) -> list[Any]:
    """Return blocks start … stop of each source as one run, not copied."""
    return [block for blocks, (start, stop) in zip(sources, cuts, strict=True) for block in blocks[start:stop]]


def split_into_runs(sizes: Sequence[int], per_run: int) -> Iterator[list[tuple[int, int, int]]]:
    """Yield, for each run of `per_run` blocks, its sources and of each the blocks start … stop; `sizes` are theirs."""
    ends = np.cumsum(sizes)
    for first in range(0, int(ends[-1]), per_run):
        last = min(first + per_run, int(ends[-1]))
        found = range(int(np.searchsorted(ends, first, side="right")), int(np.searchsorted(ends, last)) + 1)
        cuts = [(i, max(0, first - int(ends[i] - sizes[i])), last - int(ends[i] - sizes[i])) for i in found if sizes[i]]
        yield [(i, start, min(stop, sizes[i])) for i, start, stop in cuts]


def choose_run_size(n_blocks: int, n_threads: int) -> int:
    """Return a power of two, as large as an even load allows: fewer tasks, and less that travels."""
    size = MAX_RUN_BLOCKS
    while size > 1 and -(-n_blocks // size // n_threads) * size * n_threads > MAX_IMBALANCE * n_blocks:
        size //= 2
    return size


def compute_node_size(per_run: int) -> int:
    """Return the size of the largest nodes of the tree of which runs of so many blocks are made: a power of FAN_IN."""
    size = 1
    while size * FAN_IN <= per_run:
        size *= FAN_IN
    return size


class _Limit:
    """How many threads of this process are computing, and what undoes the limit that the first of them has set."""

    def __init__(self, set_limit: Callable[[], Callable[[], object]]) -> None:
        self._set = set_limit
        self._lock = threading.Lock()
        self._n_inside = 0
        self._undo: Callable[[], object]

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Keep the limit while any thread is inside.

        Limits of several threads would undo each other: the first to leave would lift the limit of all.
        """
        with self._lock:
            if self._n_inside == 0:
                self._undo = self._set()
            self._n_inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_inside -= 1
                if self._n_inside == 0:
                    self._undo()


@cache
def get_threadpool_controller() -> Any:
    """Return the door to the numeric libraries; to look for them takes milliseconds."""
    return ThreadpoolController()


def set_blas_limit() -> Callable[[], object]:
    """Keep BLAS at one thread; return what lifts the limit."""
    limiter = get_threadpool_controller().limit(limits=1, user_api="blas")
    return limiter.restore_original_limits


def keep_freed_memory() -> Callable[[], object]:
    """Let freed memory be used again instead of being returned to the system; return what undoes that.

    Dask tells the C library of its workers to return memory early, by a variable of the environment. As a side effect
    arrays of more than 128 kB are never used again: each is a request to the system, which clears every page, and a
    product with few columns takes twice as long. Where nobody has told the library so, nothing is changed.
    """
    trim = os.environ.get(TRIM_VARIABLE, "")
    setting = find_mallopt()
    if setting is None or not trim.isdecimal() or MMAP_VARIABLE in os.environ:
        return lambda: None
    setting(M_TRIM_THRESHOLD, KEPT_BYTES)
    setting(M_MMAP_THRESHOLD, REUSED_BYTES)

    def undo() -> None:
        setting(M_MMAP_THRESHOLD, DEFAULT_MMAP_THRESHOLD)
        setting(M_TRIM_THRESHOLD, int(trim))

    return undo


@cache
def find_mallopt() -> Callable[[int, int], int] | None:
    """Return the function by which the GNU C library is told how to treat memory; None where there is another."""
    try:
        return ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return None


_blas, _memory = _Limit(set_blas_limit), _Limit(keep_freed_memory)


def one_blas_thread() -> AbstractContextManager[None]:
    """Keep BLAS at one thread while any thread is inside: its rounding depends on their number."""
    return _blas.hold()


def reuse_memory() -> AbstractContextManager[None]:
    """Let freed memory be used again while any thread is inside."""
    return _memory.hold()
