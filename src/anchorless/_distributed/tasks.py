"""What Dask and Spark share: documents in runs of consecutive blocks, and the functions that run on a worker."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, pairwise
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp

from anchorless import __version__
from anchorless._corpus.documents import Array, Documents, tree_sum
from anchorless._corpus.sparse import to_canonical_csr
from anchorless._corpus.threads import Result
from anchorless.errors import InputError

#: More than one run per thread: a worker that is slow, or lost, can leave some of its runs to others.
RUNS_PER_THREAD = 4
#: A run has no more blocks than this: the results of a run travel together, and a lost run is computed again.
MAX_RUN_BLOCKS = 16


class RemoteDocuments(Documents):
    """Documents in runs of blocks on the workers of a cluster."""

    in_memory = False
    _run_sizes: Sequence[int]  # documents in each run

    def _map_runs(self, task: Callable[[int, Any], Result]) -> Iterator[Result]:
        """Yield task(number, blocks) for each run, in their order, computed where the blocks are."""
        raise NotImplementedError

    def map_blocks(self, function: Callable[[Any], Result], n_threads: int) -> Iterator[Result]:
        """Yield function(block) for each block, in their order, computed where the blocks are."""
        return chain.from_iterable(self._map_runs(partial(apply_to_run, function)))

    def take_rows(self, positions: Any) -> Any:
        """Return the documents at these positions, in this order, as one CSR matrix; only these travel."""
        wanted, inverse = np.unique(np.asarray(positions, dtype=np.intp), return_inverse=True)
        starts = np.cumsum([0, *self._run_sizes])[:-1]
        parts = np.split(wanted, np.searchsorted(wanted, starts[1:]))
        rows = [part - start for part, start in zip(parts, starts, strict=True)]
        found = chain.from_iterable(self._map_runs(partial(select_rows, rows)))
        return sp.vstack([*found], format="csr")[inverse]

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{type(self).__name__} stay with their cluster; a function of a block must not hold them")


def apply_to_run(function: Callable[[Any], Result], number: int, blocks: Iterable[Any]) -> list[Result]:
    """Return function(block) for each block of a run."""
    return [function(block) for block in blocks]


def select_rows(rows: Sequence[Any], number: int, blocks: Sequence[Any]) -> list[Any]:
    """Return some documents of a run as CSR, if any are wanted; `rows` has their positions in each run."""
    return [sp.vstack(blocks, format="csr")[rows[number]]] if len(rows[number]) else []


def transform_run(function: Callable[[Any], Any], blocks: Iterable[Any]) -> list[Any]:
    """Return function(block) for each block, as blocks of canonical CSR."""
    return to_canonical_blocks([function(block) for block in blocks])


def sum_run(function: Callable[[Any], Array], blocks: Iterable[Any]) -> Array:
    """Return the sum of function(block) over the blocks."""
    return tree_sum(map(function, blocks))


def identity(value: Result) -> Result:
    """Return the value. As a task, it can be computed again where it is lost; data from the client cannot."""
    return value


def get_version() -> str:
    """Return the version of this package on the worker."""
    return __version__


def to_canonical_blocks(found: Any) -> list[Any]:
    """Return one matrix, or a list of matrices, as blocks of canonical CSR."""
    matrices = found if isinstance(found, list | tuple) else [found]
    for matrix in matrices:
        if getattr(matrix, "ndim", 0) != 2:
            raise InputError(f"a part is {type(matrix).__name__}, but it must be a matrix, documents × words")
    return [to_canonical_csr(matrix) for matrix in matrices]


def get_shapes(blocks: Sequence[Any]) -> list[tuple[int, int]]:
    """Return the shape of each block: all that the client needs to know of it."""
    return [(int(block.shape[0]), int(block.shape[1])) for block in blocks]


def check_shapes(shapes: Sequence[Sequence[tuple[int, int]]]) -> tuple[int, int]:
    """Return the shape of all blocks of all parts together; refuse parts of different vocabularies."""
    widths = sorted({width for part in shapes for _, width in part})
    if not widths:
        raise InputError("no part has a block of documents; at least one is needed")
    if len(widths) > 1:
        raise InputError(f"blocks have {widths} columns; every block needs one column per word of one vocabulary")
    return sum(rows for part in shapes for rows, _ in part), widths[0]


def concatenate_blocks(sources: Sequence[Sequence[Any]], bounds: Sequence[tuple[int, int]]) -> list[Any]:
    """Return blocks start … stop of each source as one run, not copied."""
    return [block for blocks, (start, stop) in zip(sources, bounds, strict=True) for block in blocks[start:stop]]


def split_into_runs(sizes: Sequence[int], n_threads: int) -> Iterator[tuple[list[int], list[tuple[int, int]]]]:
    """Yield the sources of each run and the blocks start … stop of each, for sources with `sizes` blocks.

    The numbers of blocks of the runs differ by at most one.
    """
    source = np.repeat(np.arange(len(sizes)), sizes)
    position = np.concatenate([np.arange(size) for size in sizes])
    n_blocks = len(source)
    n_runs = min(n_blocks, max(RUNS_PER_THREAD * n_threads, -(-n_blocks // MAX_RUN_BLOCKS)))
    for start, stop in pairwise(i * n_blocks // n_runs for i in range(n_runs + 1)):
        own, first, count = np.unique(source[start:stop], return_index=True, return_counts=True)
        first = position[start + first]
        yield own.tolist(), [*zip(first.tolist(), (first + count).tolist(), strict=True)]
