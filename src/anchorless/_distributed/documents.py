"""Documents whose blocks stay on the workers of a Dask cluster.

A pass over the documents sends one function to the workers, with the V × p array that it holds, and returns one array:
each worker adds up its own runs of blocks, then the sums of the workers are added up. The order of the additions is
not that of one machine, so that results agree up to rounding.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple, NoReturn, TypeVar

import numpy as np
import scipy.sparse as sp

from anchorless._corpus.documents import FAN_IN, Array, Documents, tree_sum
from anchorless._distributed.client import (
    Client,
    Future,
    assign_workers,
    count_threads,
    iter_attempts,
    wait_for_result,
)
from anchorless._distributed.tasks import (
    apply_to_run,
    check_shapes,
    concatenate_blocks,
    get_shapes,
    identity,
    select_rows,
    split_into_runs,
    sum_run,
    transform_run,
)

Result = TypeVar("Result")

#: Runs per thread whose results are computed before the client takes them.
PREFETCH = 2


class WorkerRun(NamedTuple):
    """Consecutive blocks on one worker."""

    blocks: Future  # of a list of CSR
    n_blocks: int
    n_rows: int
    worker: str  # computes all tasks of this run, as long as it is there


class DaskDocuments(Documents):
    """Documents × words in blocks on the workers of a Dask cluster.

    Made by `count`, `from_parts`, `from_array` and `scatter` of `anchorless.distributed`. Every estimator takes it, as
    it takes `Documents` in memory. Topics agree with those of one machine to 1e-10.

    Parameters
    ----------
    client : dask.distributed.Client
        The client that owns the blocks.
    runs : sequence of WorkerRun
        Consecutive blocks, and their workers.
    shape : tuple of int
        Number of documents and number of words.
    source : callable or None, default=None
        Returns the runs again after some were lost, for blocks that came from this process.
    functions : tuple of callables, default=()
        What has been applied to the blocks of `source` since.

    Attributes
    ----------
    client, shape
        As given.
    n_blocks : int
        Number of blocks.

    Examples
    --------
    >>> from anchorless import AnchorFree
    >>> from anchorless.distributed import from_array
    >>> AnchorFree(20).fit(from_array(client, X))  # doctest: +SKIP
    """

    in_memory = False

    def __init__(
        self,
        client: Client,
        runs: Sequence[WorkerRun],
        shape: tuple[int, int],
        source: Callable[[], list[WorkerRun]] | None = None,
        functions: tuple[Callable[[Any], Any], ...] = (),
    ) -> None:
        self.client = client
        self.shape = shape
        self.n_blocks = sum(run.n_blocks for run in runs)
        self._runs = list(runs)
        self._source, self._functions = source, functions

    def map_blocks(self, function: Callable[[Any], Result], n_threads: int) -> Iterator[Result]:
        """Yield function(block) for each block, in their order, computed where the blocks are."""
        n_done = 0
        for attempt in iter_attempts(self.client):
            with attempt:
                for results in self._iter_results(function, n_done):
                    n_done += 1
                    yield from results
                return

    def _iter_results(self, function: Callable[[Any], Result], first: int) -> Iterator[list[Result]]:
        """Yield the results of each run from number `first` on, while those of the next runs are computed."""
        runs = self._renew_runs()[first:]
        sent, n_ahead = self.client.scatter(function, hash=False), PREFETCH * count_threads(self.client)
        waiting: deque[Future] = deque()
        for run in runs:
            waiting += submit_on_runs(self.client, apply_to_run, sent, [run])
            if len(waiting) > n_ahead:
                yield wait_for_result(self.client, waiting.popleft())
        while waiting:
            yield wait_for_result(self.client, waiting.popleft())

    def sum_blocks(self, function: Callable[[Any], Array], n_threads: int) -> Array:
        """Return the sum of function(block) over the blocks, added up where the blocks are."""
        for attempt in iter_attempts(self.client):
            with attempt:
                runs = self._renew_runs()
                sent = self.client.scatter(function, hash=False)
                sums = submit_on_runs(self.client, sum_run, sent, runs)
                total = add_futures(self.client, sums, [run.worker for run in runs])
                result: Array = wait_for_result(self.client, total)
                return result
        raise AssertionError("attempts end with a result or an error")

    def transform_blocks(self, function: Callable[[Any], Any], n_words: int | None = None) -> DaskDocuments:
        """Return documents whose blocks are function(block), of as many rows, on the same workers.

        The scheduler keeps the function, so that lost blocks can be computed again: it should hold no V × p array.
        """
        runs = transform_runs(self.client, self._runs, function)
        shape = (self.shape[0], self.shape[1] if n_words is None else n_words)
        return DaskDocuments(self.client, runs, shape, self._source, (*self._functions, function))

    def take_rows(self, positions: Any) -> Any:
        """Return the documents at these positions, in this order, as one CSR matrix; only these travel."""
        wanted, inverse = np.unique(np.asarray(positions, dtype=np.intp), return_inverse=True)
        starts = np.cumsum([0, *(run.n_rows for run in self._runs)])
        bounds = np.searchsorted(wanted, starts)
        for attempt in iter_attempts(self.client):
            with attempt:
                tasks = [
                    self.client.submit(select_rows, run.blocks, wanted[first:last] - start, pure=False)
                    for run, start, first, last in zip(self._renew_runs(), starts, bounds, bounds[1:], strict=False)
                    if last > first
                ]
                return sp.vstack([wait_for_result(self.client, task) for task in tasks], format="csr")[inverse]
        raise AssertionError("attempts end with a result or an error")

    def _renew_runs(self) -> list[WorkerRun]:
        """Return the runs, after those that were lost have been sent again.

        The scheduler computes lost blocks again by itself, but not those that came from this process.
        """
        if self._source is not None and any(run.blocks.status in ("lost", "cancelled") for run in self._runs):
            self._runs = self._source()
            for function in self._functions:
                self._runs = transform_runs(self.client, self._runs, function)
        return list(self._runs)

    def __reduce__(self) -> NoReturn:
        raise TypeError("DaskDocuments stay with their client; a function of a block must not hold them")


def submit_on_runs(client: Client, task: Callable[..., Any], first: Any, runs: Sequence[WorkerRun]) -> list[Future]:
    """Return futures of task(first, blocks) for each run, on the worker of its blocks."""
    futures: list[Future] = []
    for worker, group in groupby(runs, lambda run: run.worker):
        blocks = [run.blocks for run in group]
        given = [first] * len(blocks)
        futures += client.map(task, given, blocks, pure=False, workers=[worker], allow_other_workers=True)
    return futures


def add_futures(client: Client, arrays: list[Future], workers: list[str]) -> Future:
    """Return the future of the sum of arrays on these workers: first those of one worker, which need not travel."""
    pairs = [*zip(arrays, workers, strict=True)]
    while len(pairs) > 1:
        own = [[*group] for _, group in groupby(pairs, lambda pair: pair[1])]
        groups = [pairs] if len(own) == len(pairs) else own
        parts = [group[i : i + FAN_IN] for group in groups for i in range(0, len(group), FAN_IN)]
        pairs = [(add_on_worker(client, part), part[0][1]) for part in parts]
    return pairs[0][0]


def add_on_worker(client: Client, pairs: Sequence[tuple[Future, str]]) -> Future:
    """Return the future of the sum of a few arrays, on the worker of the first; a single one stays as it is."""
    if len(pairs) == 1:
        return pairs[0][0]
    arrays, workers = zip(*pairs, strict=True)
    return client.submit(tree_sum, list(arrays), pure=False, workers=[workers[0]], allow_other_workers=True)


def transform_runs(client: Client, runs: Sequence[WorkerRun], function: Callable[[Any], Any]) -> list[WorkerRun]:
    """Return runs of function(block), each where its blocks are."""
    new = submit_on_runs(client, transform_run, client.submit(identity, function, pure=False), runs)
    return [run._replace(blocks=blocks) for run, blocks in zip(runs, new, strict=True)]


def build_dask_documents(client: Client, sources: Sequence[Future]) -> DaskDocuments:
    """Return documents from futures of lists of canonical blocks, in runs of even size; some blocks move for that."""
    shapes = client.gather(client.map(get_shapes, sources, pure=False))
    shape = check_shapes(shapes)
    ranges, runs = [*split_into_runs([len(part) for part in shapes], count_threads(client))], []
    for run, worker in zip(ranges, assign_workers(client, len(ranges)), strict=True):
        parts, bounds = [sources[source] for source, _, _ in run], [bound[1:] for bound in run]
        blocks = client.submit(
            concatenate_blocks, parts, bounds, pure=False, workers=[worker], allow_other_workers=True
        )
        rows = [rows for source, start, stop in run for rows, _ in shapes[source][start:stop]]
        runs.append(WorkerRun(blocks, len(rows), sum(rows), worker))
    return DaskDocuments(client, runs, shape)
