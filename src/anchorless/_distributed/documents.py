"""Documents whose blocks stay on the workers of a Dask cluster.

A pass over the documents sends one function to the workers, with the V × p array that it holds, and returns one array:
each worker adds up its own runs of blocks, then the sums of the workers are added up. The order of the additions is
not that of one machine, so that results agree up to rounding.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, islice, pairwise
from typing import Any, NamedTuple

import numpy as np

from anchorless._corpus.documents import FAN_IN, Array, Documents, tree_sum
from anchorless._corpus.threads import Result
from anchorless._distributed.client import (
    Client,
    Future,
    ask,
    assign_workers,
    check_client,
    count_threads,
    refuse_losses,
    retry,
    wait_for_result,
)
from anchorless._distributed.tasks import RemoteDocuments, check_shapes, identity, sum_run, transform_run

#: More than one run per thread: a worker that is slow, or lost, can leave some of its runs to others.
RUNS_PER_THREAD = 4
#: A run has no more blocks than this: the results of a run travel together, and a lost run is computed again.
MAX_RUN_BLOCKS = 16
#: Runs per thread whose results are computed before the client takes them.
PREFETCH = 2


class WorkerRun(NamedTuple):
    """Consecutive blocks on one worker."""

    blocks: Future  # of a list of CSR
    n_blocks: int
    n_rows: int
    worker: str  # computes all tasks of this run, as long as it is there


class DaskDocuments(RemoteDocuments):
    """Documents × words in blocks on the workers of a Dask cluster.

    Made by `count`, `from_parts`, `from_array` and `scatter` of `anchorless.distributed`. Every estimator takes it, as
    it takes `Documents` in memory.

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
    client, shape, n_blocks
        As given, and the number of blocks.

    Examples
    --------
    >>> from anchorless import AnchorFree
    >>> from anchorless.distributed import from_array
    >>> AnchorFree(20).fit(from_array(client, X))  # doctest: +SKIP
    """

    def __init__(
        self,
        client: Client,
        runs: Sequence[WorkerRun],
        shape: tuple[int, int],
        source: Callable[[], list[WorkerRun]] | None = None,
        functions: tuple[Callable[[Any], Any], ...] = (),
    ) -> None:
        self.client, self.shape = client, shape
        self.n_blocks = sum(run.n_blocks for run in runs)
        self._runs, self._run_sizes = list(runs), [run.n_rows for run in runs]
        self._source, self._functions = source, functions

    def _map_runs(self, task: Callable[[int, Any], Result]) -> Iterator[Result]:
        """Yield task(number, blocks) for each run, while those of the next runs are computed."""

        def compute(n_done: int) -> Iterator[Result]:
            runs = self._renew_runs()
            sent, n_ahead = (
                ask(self.client, self.client.scatter, task, hash=False),
                PREFETCH * count_threads(self.client),
            )
            waiting: deque[Future] = deque()
            for number, run in [*enumerate(runs)][n_done:]:
                waiting.append(submit_near(self.client, run.worker, operator.call, sent, number, run.blocks))
                if len(waiting) > n_ahead:
                    yield wait_for_result(self.client, waiting.popleft())
            while waiting:
                yield wait_for_result(self.client, waiting.popleft())

        return retry(self.client, compute)

    def sum_blocks(self, function: Callable[[Any], Array], n_threads: int) -> Array:
        """Return the sum of function(block) over the blocks, added up where the blocks are."""

        def compute(_: int) -> Iterator[Array]:
            runs = self._renew_runs()
            sent = ask(self.client, self.client.scatter, function, hash=False)
            sums = submit_on_runs(self.client, sum_run, sent, runs)
            yield wait_for_result(self.client, add_futures(self.client, sums, [run.worker for run in runs]))

        return next(retry(self.client, compute))

    def transform_blocks(self, function: Callable[[Any], Any], n_words: int | None = None) -> DaskDocuments:
        """Return documents whose blocks are function(block), of as many rows, on the same workers.

        The scheduler keeps the function, so that lost blocks can be computed again: it should hold no V × p array.
        """
        runs = transform_runs(self.client, self._runs, function)
        shape = (self.shape[0], self.shape[1] if n_words is None else n_words)
        return DaskDocuments(self.client, runs, shape, self._source, (*self._functions, function))

    def _renew_runs(self) -> list[WorkerRun]:
        """Return the runs; those that came from this process are sent again if some were lost."""
        if self._source is not None and any(run.blocks.status in ("lost", "cancelled") for run in self._runs):
            self._runs = self._source()
            for function in self._functions:
                self._runs = transform_runs(self.client, self._runs, function)
        return list(self._runs)


def submit_near(client: Client, worker: str, task: Callable[..., Any], *given: Any) -> Future:
    """Return the future of task(*given), on this worker as long as it is there."""
    return client.submit(task, *given, pure=False, workers=[worker], allow_other_workers=True)


def submit_on_runs(client: Client, task: Callable[..., Any], first: Any, runs: Sequence[WorkerRun]) -> list[Future]:
    """Return futures of task(first, blocks) for each run, on the worker of its blocks; one message per worker."""
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
        pairs = []
        for part in (group[i : i + FAN_IN] for group in groups for i in range(0, len(group), FAN_IN)):
            total, worker = part[0]
            if len(part) > 1:
                total = submit_near(client, worker, tree_sum, [array for array, _ in part])
            pairs.append((total, worker))
    return pairs[0][0]


def transform_runs(client: Client, runs: Sequence[WorkerRun], function: Callable[[Any], Any]) -> list[WorkerRun]:
    """Return runs of function(block), each where its blocks are."""
    new = submit_on_runs(client, transform_run, client.submit(identity, function, pure=False), runs)
    return [run._replace(blocks=blocks) for run, blocks in zip(runs, new, strict=True)]


def concatenate_blocks(sources: Sequence[Sequence[Any]], bounds: Sequence[tuple[int, int]]) -> list[Any]:
    """Return blocks start … stop of each source as one run, not copied."""
    return [block for blocks, (start, stop) in zip(sources, bounds, strict=True) for block in blocks[start:stop]]


def split_into_runs(sizes: Sequence[int], n_threads: int) -> Iterator[tuple[list[int], list[tuple[int, int]]]]:
    """Yield the sources of runs of even size, and the blocks start … stop of each; sources have `sizes` blocks."""
    source = np.repeat(np.arange(len(sizes)), sizes)
    position = np.concatenate([np.arange(size) for size in sizes])
    n_blocks = len(source)
    n_runs = min(n_blocks, max(RUNS_PER_THREAD * n_threads, -(-n_blocks // MAX_RUN_BLOCKS)))
    for start, stop in pairwise(i * n_blocks // n_runs for i in range(n_runs + 1)):
        own, first, count = np.unique(source[start:stop], return_index=True, return_counts=True)
        first = position[start + first]
        yield own.tolist(), [*zip(first.tolist(), (first + count).tolist(), strict=True)]


def build_dask_documents(client: Client, sources: Sequence[Future]) -> DaskDocuments:
    """Return documents from futures of lists of canonical blocks, in runs of even size; some blocks move for that."""
    futures = client.map(lambda blocks: [block.shape for block in blocks], sources, pure=False)
    shapes = [wait_for_result(client, future) for future in futures]
    shape = check_shapes(shapes)
    plans, runs = [*split_into_runs([len(part) for part in shapes], count_threads(client))], []
    for (own, bounds), worker in zip(plans, assign_workers(client, len(plans)), strict=True):
        blocks = submit_near(client, worker, concatenate_blocks, [sources[source] for source in own], bounds)
        rows = [n_rows for n_rows, _ in concatenate_blocks([shapes[source] for source in own], bounds)]
        runs.append(WorkerRun(blocks, len(rows), sum(rows), worker))
    return DaskDocuments(client, runs, shape)


@refuse_losses()
def scatter(client: Client, blocks: Any) -> DaskDocuments:
    """Send documents from this process to the workers.

    Parameters
    ----------
    client : dask.distributed.Client
        A client of a running cluster.
    blocks : Documents or list of matrices
        Documents × words, in blocks. They must not be changed later: what is lost with a worker is sent again.

    Returns
    -------
    documents : DaskDocuments
        The same blocks, on the workers.

    Raises
    ------
    InputError
        If `client` is not a client, or the blocks have different numbers of words.
    ClusterError
        If no worker can be used.

    Examples
    --------
    >>> from anchorless import AnchorFree
    >>> from anchorless.distributed import scatter
    >>> AnchorFree(20).fit(scatter(client, [X[:1000], X[1000:]]))  # doctest: +SKIP
    """
    check_client(client)
    documents = blocks if isinstance(blocks, Documents) else Documents(list(blocks))
    plans = [*split_into_runs([documents.n_blocks], count_threads(client))]

    def send() -> list[WorkerRun]:
        remaining, runs = documents.map_blocks(identity, 1), []
        for (_, [(start, stop)]), worker in zip(plans, assign_workers(client, len(plans)), strict=True):
            here = [*islice(remaining, stop - start)]
            sent = ask(client, client.scatter, [here], workers=[worker], hash=False)[0]
            runs.append(WorkerRun(sent, len(here), sum(block.shape[0] for block in here), worker))
        return runs

    return DaskDocuments(client, next(retry(client, lambda _: [send()])), documents.shape, send)
