"""Documents whose blocks live on the workers of a Dask cluster; everything that is large stays there.

A pass over the documents sends one function to the workers, with the V × p array that it holds, and brings back one
array that was added up where its parts were, by the tree of `documents.TreeSum`: the bits are those of a run on one
machine over the same blocks. The client is the user's; no process is started here.

Consecutive blocks are kept in runs, a task each, so that the tasks of a pass grow with the threads of the cluster and
hardly with the blocks. What a run adds up is a node of the tree, or the beginning of one.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any, NamedTuple, NoReturn, TypeVar
from uuid import uuid4

import numpy as np
import scipy.sparse as sp

from anchorless import __version__
from anchorless.documents import FAN_IN, Array, Documents
from anchorless.errors import ClusterError, InputError
from anchorless.runs import (
    added,
    applied,
    blocks_per_run,
    held,
    mapped_blocks,
    n_rows,
    node_size,
    partly_added,
    picked,
    piece,
    shapes,
    spans,
    version,
)

try:
    import dask
    import dask.array as da
    from distributed import CancelledError, Client, Future, KilledWorker
except ImportError as error:
    raise ImportError(f"a cluster needs Dask ({error}); install it with: pip install 'anchorless[dask]'") from error

__all__ = ["Client", "DaskDocuments", "Future", "Run", "attempts", "check_client", "connected", "da", "dask"]

Part = TypeVar("Part")
Result = TypeVar("Result")

#: Runs per thread of the cluster, at least, as long as there are blocks: fewer would leave threads idle at the end.
RUNS_PER_THREAD = 4
#: Runs per thread whose results are on their way to the client at the same time.
AHEAD = 2
#: How often a pass is begun again after what it needs was lost with its workers, and the seconds before the first.
ATTEMPTS, PAUSE = 6, 0.1
#: Seconds to wait for the first worker, and for a scheduler.
WAIT, CONNECT = 30, 10
#: What a pass ends with when data without a recipe were lost, or a worker while data were sent to it.
LOST = (CancelledError, OSError, TimeoutError)


class Run(NamedTuple):
    """Consecutive blocks on one worker."""

    blocks: Future  # of a list of CSR
    first: int  # the number of its first block
    n_blocks: int


class DaskDocuments(Documents):
    """Documents × words in blocks on the workers of a Dask cluster: what `Documents` is to one machine.

    Made by the functions of `anchorless.distributed`. Every estimator takes it.
    """

    in_memory = False

    def __init__(
        self,
        client: Client,
        runs: Sequence[Run],
        shape: tuple[int, int],
        source: Callable[[], list[Run]] | None = None,
        functions: tuple[Callable[[Any], Any], ...] = (),
    ) -> None:
        self.client = client
        self.shape = shape
        self.n_blocks = sum(run.n_blocks for run in runs)
        self._runs = list(runs)
        # Of blocks that came from this process the scheduler has no recipe: this is how they are made again.
        self._source, self._functions = source, functions

    def map_blocks(self, function: Callable[[Any], Part], n_threads: int) -> Iterator[Part]:
        """Yield function(block) for each block, in their order, computed where the blocks are."""
        n_done = 0
        for again in attempts(self.client):
            with again:
                self._renew()
                for results in self._results(function, n_done):
                    n_done += 1
                    yield from results
                return

    def _results(self, function: Callable[[Any], Part], first: int) -> Iterator[list[Part]]:
        """Yield the results of each run from the first asked for, while some more are under way."""
        sent, ahead = self.client.scatter(function, hash=False), AHEAD * n_threads_of(self.client)
        waiting: deque[Future] = deque()
        for run in self._runs[first:]:
            waiting.append(self.client.submit(applied, sent, run.blocks, pure=False))
            if len(waiting) > ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def add_up(self, function: Callable[[Any], Array], n_threads: int) -> Array:
        """Return the sum of function(block) over the blocks, added up where the blocks are."""
        for again in attempts(self.client):
            with again:
                self._renew()
                graph, total = self.sum_graph(self.client.scatter(function, hash=False))
                return self.client.get(graph, total, sync=False).result()[0]
        raise AssertionError("attempts end with a result or an error")

    def sum_graph(self, function: Any) -> tuple[dict[str, Any], str]:
        """Return the sum as a graph for Dask, and its key: a task per run, and one per node of the tree above them."""
        name, unit = uuid4().hex, node_size([run.n_blocks for run in self._runs])
        graph: dict[str, Any] = {}
        nodes: list[str] = []

        def joined(pieces: list[str]) -> str:
            if len(pieces) == 1:
                return pieces[0]
            key = f"added-{name}-{len(graph)}"
            graph[key] = (added, pieces)
            return key

        for _, group in groupby(self._runs, lambda run: run.first // (unit * FAN_IN)):
            pieces = {f"partly_added-{name}-{run.first}": run for run in group}
            begins = True
            for key, run in pieces.items():
                graph[key] = (partly_added, function, run.blocks, unit, begins)
                begins = False
            nodes.append(joined([*pieces]))
        while len(nodes) > 1:
            nodes = [joined(nodes[start : start + FAN_IN]) for start in range(0, len(nodes), FAN_IN)]
        return graph, nodes[0]

    def mapped(self, function: Callable[[Any], Any]) -> DaskDocuments:
        """Return documents whose blocks are function(block), of as many rows and columns, on the same workers.

        The scheduler keeps the function, so that lost blocks can be computed again: it should hold no V × p array.
        """
        runs = mapped_runs(self.client, self._runs, function)
        return DaskDocuments(self.client, runs, self.shape, self._source, (*self._functions, function))

    def rows(self, positions: Any) -> Any:
        """Return the documents at these positions, in this order, as one CSR matrix; only these travel."""
        wanted, inverse = np.unique(np.asarray(positions, dtype=np.intp), return_inverse=True)
        starts = np.cumsum([0, *self.map_blocks(n_rows, 1)])
        for again in attempts(self.client):
            with again:
                tasks = []
                for run in self.runs():
                    first, last = starts[run.first], starts[run.first + run.n_blocks]
                    here = wanted[slice(*np.searchsorted(wanted, [first, last]))] - first
                    if len(here):
                        tasks.append(self.client.submit(picked, run.blocks, here, pure=False))
                return sp.vstack(self.client.gather(tasks), format="csr")[inverse]
        raise AssertionError("attempts end with a result or an error")

    def runs(self) -> list[Run]:
        """Return where the blocks are, after what was lost has been made again."""
        self._renew()
        return list(self._runs)

    def _renew(self) -> None:
        """Make the runs again if some were lost that the scheduler has no recipe for."""
        if self._source is None or all(run.blocks.status not in ("lost", "cancelled") for run in self._runs):
            return
        self._runs = self._source()
        for function in self._functions:
            self._runs = mapped_runs(self.client, self._runs, function)

    def __reduce__(self) -> NoReturn:
        raise TypeError("DaskDocuments stay with their client; a function of a block must not hold them")


def mapped_runs(client: Client, runs: Sequence[Run], function: Callable[[Any], Any]) -> list[Run]:
    """Return runs of function(block), each where its blocks are."""
    kept = client.submit(held, function, pure=False)
    new = client.map(mapped_blocks, [kept] * len(runs), [run.blocks for run in runs], pure=False)
    return [run._replace(blocks=blocks) for run, blocks in zip(runs, new, strict=True)]


def documents_of(client: Client, sources: Sequence[Future]) -> DaskDocuments:
    """Return documents from futures of lists of canonical blocks; sources without a block are left out."""
    known = client.gather(client.map(shapes, sources, pure=False))
    widths = sorted({width for source in known for _, width in source})
    if len(widths) == 0:
        raise InputError("no part holds a block of documents; at least one is needed")
    if len(widths) > 1:
        raise InputError(f"blocks have {widths} columns; every block needs one column per word of one vocabulary")
    sizes = [len(source) for source in known]
    runs, first = [], 0
    per_run = blocks_per_run(sum(sizes), RUNS_PER_THREAD * n_threads_of(client))
    # Sources end anywhere: a run of several nodes could end in the middle of one.
    for number, start, stop in spans(sizes, per_run if len(sizes) == 1 else min(per_run, FAN_IN)):
        whole = stop - start == sizes[number]
        source = sources[number]
        blocks = source if whole else client.submit(piece, source, start, stop, pure=False)
        runs.append(Run(blocks, first, stop - start))
        first += stop - start
    return DaskDocuments(client, runs, (sum(rows for source in known for rows, _ in source), widths[0]))


class Attempt:
    """One try of a pass: what was lost on the way lets it end without an error, for the next try."""

    def __init__(self, client: Client, number: int) -> None:
        self.client, self.number = client, number

    def __enter__(self) -> None:
        check_open(self.client)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> bool:
        if isinstance(error, KilledWorker):
            raise ClusterError(
                f"workers died again and again over the same blocks: {error}; give them more memory, or smaller blocks"
            ) from error
        if not isinstance(error, LOST):
            return False
        if self.number == ATTEMPTS - 1:
            raise ClusterError(
                f"workers were lost {ATTEMPTS} times in one pass over the documents ({error or type(error).__name__}); "
                "look at the logs of the workers, or use others"
            ) from error
        time.sleep(PAUSE * 2**self.number)
        return True


def attempts(client: Client) -> Iterator[Attempt]:
    """Yield tries, to be left by `return`."""
    return (Attempt(client, number) for number in range(ATTEMPTS))


def check_client(client: Any) -> None:
    """Refuse what is no usable client, a cluster without workers, and workers with another anchorless."""
    if not isinstance(client, Client) or client.asynchronous:
        what = "an asynchronous Client" if isinstance(client, Client) else type(client).__name__
        raise InputError(f"client is {what}, but it must be a dask.distributed.Client; make one: Client(address)")
    check_open(client)
    address = client.scheduler.address
    try:
        client.wait_for_workers(1, timeout=WAIT)
        found = client.run(version)
    except TimeoutError:
        raise ClusterError(
            f"no worker came to {address} within {WAIT} seconds; start some: dask worker {address}"
        ) from None
    except ImportError as error:
        raise ClusterError(f"the workers of {address} lack anchorless ({error}); install it there") from None
    other = next((worker for worker, has in sorted(found.items()) if has != __version__), None)
    if other is not None:
        raise ClusterError(f"worker {other} has anchorless {found[other]}, this process {__version__}; use one version")


@contextmanager
def connected(address: str) -> Iterator[Client]:
    """Yield a client of the scheduler at an address, or of the one that a scheduler file names."""
    where = {"scheduler_file": address} if os.path.isfile(address) else {"address": address}
    try:
        client = Client(**where, timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ClusterError(
            f"no Dask scheduler answers at {address} ({reason}); start one with `dask scheduler`, "
            "or name its address or file"
        ) from None
    with client:
        yield client


def check_open(client: Client) -> None:
    """Refuse a client that has been closed."""
    if client.status not in ("running", "connecting"):
        raise ClusterError(f"the client is {client.status}; connect again: Client(address)")


def n_threads_of(client: Client) -> int:
    """Return how many tasks the cluster runs at the same time, at least 1."""
    return max(1, sum(client.nthreads().values()))
