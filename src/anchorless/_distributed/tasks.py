"""What Dask and Spark share: documents in runs of consecutive blocks, and the functions that run on a worker."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp

from anchorless import __version__
from anchorless._corpus.documents import Array, Documents, RowFunction, tree_sum
from anchorless._corpus.sparse import to_canonical_csr
from anchorless._corpus.threads import Result
from anchorless.errors import InputError


class RemoteDocuments(Documents):
    """Documents in runs of blocks on the workers of a cluster."""

    in_memory = False
    _run_sizes: Sequence[int]  # documents in each run

    def _map_runs(self, task: Callable[[int, Any], Result]) -> Iterator[Result]:
        """Yield task(number, blocks) for each run, in their order, computed where the blocks are."""
        raise NotImplementedError

    def map_blocks(self, function: Callable[[Any], Result], n_threads: int) -> Iterator[Result]:
        """Yield function(block) for each block, in their order, computed where the blocks are."""
        return chain.from_iterable(self._map_runs(lambda _, blocks: [function(block) for block in blocks]))

    def _map_rows(self, function: RowFunction, rows: Array, n_threads: int) -> Iterator[tuple[Array, Array | None]]:
        """Yield new rows and the sum of the arrays for each run of blocks; each worker adds up those of its run."""
        stops = np.cumsum(self._run_sizes).tolist()
        parts = [np.array(rows[start:stop]) for start, stop in pairwise([0, *stops])]
        return self._map_runs(lambda number, blocks: update_run(function, blocks, parts[number]))

    def refine_blocks(self) -> Documents:
        """Return the documents as they are: blocks stay where they are."""
        return self

    def take_rows(self, positions: Any) -> Any:
        """Return the documents at these positions, in this order, as one CSR matrix; only these travel."""
        wanted, inverse = np.unique(np.asarray(positions, dtype=np.intp), return_inverse=True)
        starts = np.cumsum([0, *self._run_sizes])[:-1]
        parts = np.split(wanted, np.searchsorted(wanted, starts[1:]))
        rows = [part - start for part, start in zip(parts, starts, strict=True)]

        def select(number: int, blocks: Any) -> list[Any]:
            return [sp.vstack(blocks, format="csr")[rows[number]]] if len(rows[number]) else []

        return sp.vstack([*chain.from_iterable(self._map_runs(select))], format="csr")[inverse]

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{type(self).__name__} stay with their cluster; a function of a block must not hold them")


def transform_run(function: Callable[[Any], Any], blocks: Iterable[Any]) -> list[Any]:
    """Return function(block) for each block, as blocks of canonical CSR."""
    return to_canonical_blocks([function(block) for block in blocks])


def sum_run(function: Callable[[Any], Array], blocks: Iterable[Any]) -> Array:
    """Return the sum of function(block) over the blocks."""
    return tree_sum(map(function, blocks))


def update_run(function: RowFunction, blocks: Sequence[Any], rows: Array) -> tuple[Array, Array | None]:
    """Return the new rows of the documents of some blocks, and the sum of the arrays, None without a block."""
    if not len(blocks):
        return rows, None
    documents, new = Documents(blocks), rows.copy()
    return new, documents.update_rows(function, new, 1)


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


def check_shapes(shapes: Sequence[Sequence[tuple[int, int]]]) -> tuple[int, int]:
    """Return the shape of all blocks of all parts together; refuse parts of different vocabularies."""
    widths = sorted({width for part in shapes for _, width in part})
    if not widths:
        raise InputError("no part has a block of documents; at least one is needed")
    if len(widths) > 1:
        raise InputError(f"blocks have {widths} columns; every block needs one column per word of one vocabulary")
    return sum(rows for part in shapes for rows, _ in part), widths[0]
