"""Functions of blocks that run on a worker, Dask's or Spark's. A run is a list of consecutive blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from anchorless import __version__
from anchorless._corpus.documents import Array, tree_sum
from anchorless._corpus.sparse import to_canonical_csr
from anchorless.errors import InputError

Result = TypeVar("Result")
#: The blocks start … stop of source number `source`.
BlockRange = tuple[int, int, int]

#: More than one run per thread: a worker that is slow, or lost, can leave some of its runs to others.
RUNS_PER_THREAD = 4
#: A run has no more blocks than this: the results of a run travel together, and a lost run is computed again.
MAX_RUN_BLOCKS = 16


def apply_to_run(function: Callable[[Any], Result], blocks: Iterable[Any]) -> list[Result]:
    """Return function(block) for each block."""
    return [function(block) for block in blocks]


def transform_run(function: Callable[[Any], Any], blocks: Iterable[Any]) -> list[Any]:
    """Return function(block) for each block, as blocks of canonical CSR."""
    return to_canonical_blocks(apply_to_run(function, blocks))


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
    if len(widths) == 0:
        raise InputError("no part has a block of documents; at least one is needed")
    if len(widths) > 1:
        raise InputError(f"blocks have {widths} columns; every block needs one column per word of one vocabulary")
    return sum(rows for part in shapes for rows, _ in part), widths[0]


def select_rows(blocks: Sequence[Any], rows: npt.NDArray[np.intp]) -> Any:
    """Return some documents of a run as CSR; `rows` counts from its first document."""
    return sp.vstack(blocks, format="csr")[rows]


def concatenate_blocks(sources: Sequence[Sequence[Any]], bounds: Sequence[tuple[int, int]]) -> list[Any]:
    """Return blocks start … stop of each source as one run, not copied."""
    return [block for blocks, (start, stop) in zip(sources, bounds, strict=True) for block in blocks[start:stop]]


def find_run_bounds(n_blocks: int, n_threads: int) -> list[tuple[int, int]]:
    """Return the blocks start … stop of each run; their numbers of blocks differ by at most one."""
    n_runs = min(n_blocks, max(RUNS_PER_THREAD * n_threads, -(-n_blocks // MAX_RUN_BLOCKS)))
    return [*pairwise(i * n_blocks // n_runs for i in range(n_runs + 1))]


def split_into_runs(sizes: Sequence[int], n_threads: int) -> Iterator[list[BlockRange]]:
    """Yield the block ranges of each run, for sources with `sizes` blocks."""
    source = np.repeat(np.arange(len(sizes)), sizes)
    position = np.concatenate([np.arange(size) for size in sizes])
    for start, stop in find_run_bounds(len(source), n_threads):
        own, first, count = np.unique(source[start:stop], return_index=True, return_counts=True)
        first = position[start + first]
        yield [*zip(own.tolist(), first.tolist(), (first + count).tolist(), strict=True)]
