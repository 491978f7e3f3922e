"""What one worker of a cluster does with a run of consecutive blocks; it knows no cluster.

These functions are sent by name, so that only what they are given travels. Sums are taken by the tree of
`documents.TreeSum`, of which a run is a node of the lowest level or the beginning or another piece of one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.linalg.blas  # noqa: F401 its library must be loaded before the controller below looks for it
from threadpoolctl import ThreadpoolController

from anchorless import __version__
from anchorless.documents import FAN_IN, Array, canonical_csr
from anchorless.errors import InputError

Part = TypeVar("Part")


class Span(NamedTuple):
    """Blocks start … stop of source number `source`, counted from the source's first."""

    source: int
    start: int
    stop: int


def applied(function: Callable[[Any], Part], blocks: Iterable[Any]) -> list[Part]:
    """Return function(block) for each block."""
    with one_blas_thread():
        return [function(block) for block in blocks]


def mapped_blocks(function: Callable[[Any], Any], blocks: Iterable[Any]) -> list[Any]:
    """Return function(block) for each block, as blocks."""
    return canonical_blocks(applied(function, blocks))


def partly_added(function: Callable[[Any], Array], blocks: Sequence[Any], *, begins: bool) -> list[Array]:
    """Return what of a group's sum can be added up here: all of it where the run `begins` the group, else nothing.

    The sum goes from left to right, so that the parts in the middle of a group wait for those before them.
    """
    with one_blas_thread():
        if begins:
            return [sum_left_to_right(function(block) for block in blocks)]
        return [np.asarray(function(block), dtype=np.float64) for block in blocks]


def added(pieces: Sequence[list[Array]]) -> list[Array]:
    """Return the sum of the arrays in the pieces of a group, in their order, as a piece of the next level."""
    return [sum_left_to_right(part for piece in pieces for part in piece)]


def sum_left_to_right(parts: Iterable[Array]) -> Array:
    """Return the sum, in the order and the precision of `documents.TreeSum`."""
    parts = iter(parts)
    total = np.array(next(parts), dtype=np.float64)
    for part in parts:
        total += part
    return total


def held(value: Part) -> Part:
    """Return the value: as a task, it has a recipe, and can be had again when it is lost."""
    return value


def version() -> str:
    """Return the version of this package on the worker."""
    return __version__


def canonical_blocks(found: Any) -> list[Any]:
    """Return what a user's part holds, one matrix or a list of them, as blocks of canonical CSR."""
    matrices = found if isinstance(found, list | tuple) else [found]
    for matrix in matrices:
        if getattr(matrix, "ndim", 0) != 2:
            raise InputError(f"a part holds {type(matrix).__name__}, but it must be a matrix, documents × words")
    return [canonical_csr(matrix) for matrix in matrices]


def shapes(blocks: Sequence[Any]) -> list[tuple[int, int]]:
    """Return the shape of each block: all that the client needs to know of it."""
    return [(int(block.shape[0]), int(block.shape[1])) for block in blocks]


def piece(blocks: Sequence[Any], start: int, stop: int) -> list[Any]:
    """Return some of the blocks, not copied."""
    return list(blocks[start:stop])


def spans(sizes: Sequence[int], per_run: int) -> Iterator[Span]:
    """Cut sources of so many blocks each into runs that end where `per_run` divides the number of the next block."""
    first = 0
    for source, size in enumerate(sizes):
        start = 0
        while start < size:
            stop = min(size, start + per_run - (first + start) % per_run)
            yield Span(source, start, stop)
            start = stop
        first += size


def blocks_per_run(n_blocks: int, n_runs: int) -> int:
    """Return a divisor of FAN_IN, as large as `n_runs` runs allow: fewer tasks, and less that travels."""
    size = FAN_IN
    while size > 1 and n_blocks < n_runs * size:
        size //= 2
    return size


class _Limit:
    """How many threads of this process are computing, and the limit on BLAS that the first of them has set."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.n_inside = 0
        self.limiter: Any = None


_limit = _Limit()


@cache
def controller() -> Any:
    """Return the door to the numeric libraries; to look for them takes milliseconds."""
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS at one thread while any thread is inside: its rounding depends on their number.

    Limits of several threads would undo each other: the first to leave would lift the limit of all.
    """
    with _limit.lock:
        if _limit.n_inside == 0:
            _limit.limiter = controller().limit(limits=1, user_api="blas")
        _limit.n_inside += 1
    try:
        yield
    finally:
        with _limit.lock:
            _limit.n_inside -= 1
            if _limit.n_inside == 0:
                _limit.limiter.restore_original_limits()
