"""Documents whose blocks live on the workers of a Dask cluster; everything that is large stays there.

A pass over the documents sends one function to the workers, with the V × p array that it holds, and brings back one
array that was added up where its parts were, by the tree of `documents.TreeSum`: the bits are those of a run on one
machine over the same blocks. The client is the user's; no process is started here.

Consecutive blocks are kept in runs, a task each, so that the tasks of a pass grow with the threads of the cluster and
hardly with the blocks. What a run adds up is a node of the tree, or the beginning of one.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple, NoReturn, TypeVar

import numpy as np
import scipy.sparse as sp

from anchorless._corpus.documents import FAN_IN, Array, Documents
from anchorless._distributed.client import (
    Client,
    Future,
    WorkerThread,
    assign_workers,
    count_threads,
    iter_attempts,
    wait_for_result,
)
from anchorless._distributed.tasks import (
    apply_to_blocks,
    choose_run_size,
    compute_node_size,
    concatenate_blocks,
    count_rows,
    get_shapes,
    identity,
    map_to_csr_blocks,
    select_rows,
    split_into_runs,
    sum_pieces,
    sum_segment,
)
from anchorless.errors import InputError

Result = TypeVar("Result")

#: Runs per thread whose results are on their way to the client at the same time.
PREFETCH = 2


class WorkerRun(NamedTuple):
    """Consecutive blocks on one worker."""

    blocks: Future  # of a list of CSR
    first: int  # the number of its first block
    n_blocks: int
    place: WorkerThread  # its worker computes what is asked of them, as long as it is there, and nothing is moved


class RunSegment(NamedTuple):
    """Runs that follow each other in one node of the tree and belong to one thread: a task of a pass."""

    runs: Sequence[WorkerRun]
    begins: bool  # the node
    continued: bool  # by another stretch that is added on to this one
    waits: bool  # for the stretch before, to be added on to it


class DaskDocuments(Documents):
    """Documents × words in blocks on the workers of a Dask cluster: what `Documents` is to one machine.

    Made by the functions of `anchorless.distributed`. Every estimator takes it.
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
        # Of blocks that came from this process the scheduler has no recipe: this is how they are made again.
        self._source, self._functions = source, functions

    def map_blocks(self, function: Callable[[Any], Result], n_threads: int) -> Iterator[Result]:
        """Yield function(block) for each block, in their order, computed where the blocks are."""
        n_done = 0
        for again in iter_attempts(self.client):
            with again:
                self._renew()
                for results in self._iter_results(function, n_done):
                    n_done += 1
                    yield from results
                return

    def _iter_results(self, function: Callable[[Any], Result], first: int) -> Iterator[list[Result]]:
        """Yield the results of each run from the first asked for, while some more are under way."""
        sent, ahead = self.client.scatter(function, hash=False), PREFETCH * count_threads(self.client)
        waiting: deque[Future] = deque()
        for run in self._runs[first:]:
            waiting += submit_on_runs(self.client, apply_to_blocks, sent, [run])
            if len(waiting) > ahead:
                yield wait_for_result(self.client, waiting.popleft())
        while waiting:
            yield wait_for_result(self.client, waiting.popleft())

    def sum_blocks(self, function: Callable[[Any], Array], n_threads: int) -> Array:
        """Return the sum of function(block) over the blocks, added up where the blocks are."""
        for again in iter_attempts(self.client):
            with again:
                self._renew()
                return self._sum_by_tree(function)
        raise AssertionError("attempts end with a result or an error")

    def _sum_by_tree(self, function: Callable[[Any], Array]) -> Array:
        there = self.client.scatter(function, hash=False)
        unit = compute_node_size(self._runs[0].n_blocks)

        def piece(stretch: RunSegment, before: Any) -> Future:
            given = (there, [run.blocks for run in stretch.runs], unit, stretch.begins, before)
            return submit_on_worker(
                self.client, stretch.runs[0].place, sum_segment, *given, priority=-get_priority(stretch)
            )

        total = sum_by_tree(piece, partial(self.client.submit, sum_pieces, pure=False), self._runs, unit)
        result: Array = wait_for_result(self.client, total)[0]
        return result

    def transform_blocks(self, function: Callable[[Any], Any], n_words: int | None = None) -> DaskDocuments:
        """Return documents whose blocks are function(block), of as many rows, on the same workers.

        The scheduler keeps the function, so that lost blocks can be computed again: it should hold no V × p array.
        """
        runs = map_runs(self.client, self._runs, function)
        shape = (self.shape[0], self.shape[1] if n_words is None else n_words)
        return DaskDocuments(self.client, runs, shape, self._source, (*self._functions, function))

    def take_rows(self, positions: Any) -> Any:
        """Return the documents at these positions, in this order, as one CSR matrix; only these travel."""
        wanted, inverse = np.unique(np.asarray(positions, dtype=np.intp), return_inverse=True)
        starts = np.cumsum([0, *self.map_blocks(count_rows, 1)])
        for again in iter_attempts(self.client):
            with again:
                tasks = []
                for run in self.runs():
                    first, last = starts[run.first], starts[run.first + run.n_blocks]
                    here = wanted[slice(*np.searchsorted(wanted, [first, last]))] - first
                    if len(here):
                        tasks.append(self.client.submit(select_rows, run.blocks, here, pure=False))
                return sp.vstack([wait_for_result(self.client, task) for task in tasks], format="csr")[inverse]
        raise AssertionError("attempts end with a result or an error")

    def runs(self) -> list[WorkerRun]:
        """Return where the blocks are, after what was lost has been made again."""
        self._renew()
        return list(self._runs)

    def _renew(self) -> None:
        """Make the runs again if some were lost that the scheduler has no recipe for."""
        if self._source is None or all(run.blocks.status not in ("lost", "cancelled") for run in self._runs):
            return
        self._runs = self._source()
        for function in self._functions:
            self._runs = map_runs(self.client, self._runs, function)

    def __reduce__(self) -> NoReturn:
        raise TypeError("DaskDocuments stay with their client; a function of a block must not hold them")


def submit_on_runs(
    client: Client, work: Callable[..., Any], first: Any, runs: Sequence[WorkerRun], *more: Sequence[Any]
) -> list[Any]:
    """Return futures of work(first, blocks, …) for each run, where its blocks are; `more` has a list per argument."""
    done: list[Any] = []
    for place, group in groupby(zip(runs, *more, strict=True), lambda given: given[0].place):
        blocks, *others = zip(*((run.blocks, *rest) for run, *rest in group), strict=True)
        given = [[first] * len(blocks), blocks, *others]
        done += client.map(work, *given, pure=False, workers=[place.worker], allow_other_workers=True)
    return done


def submit_on_worker(
    client: Client, place: WorkerThread, work: Callable[..., Any], *given: Any, priority: int = 0
) -> Future:
    """Return the future of work(…), computed by the worker of a place as long as it is there."""
    wanted = {"workers": [place.worker], "allow_other_workers": True, "priority": priority}
    return client.submit(work, *given, pure=False, **wanted)


def sum_by_tree(
    piece: Callable[[RunSegment, Any], Any], add: Callable[[list[Any]], Any], runs: Sequence[WorkerRun], unit: int
) -> Any:
    """Return the sum over the blocks of the runs, by the tree: add(pieces) of what piece(stretch, before) returns."""
    nodes = split_into_segments(runs, unit)
    done: dict[tuple[int, int], Any] = {}
    places = [(i, k) for i, node in enumerate(nodes) for k in range(len(node))]
    for i, k in sorted(places, key=lambda place: get_priority(nodes[place[0]][place[1]])):
        done[i, k] = piece(nodes[i][k], done[i, k - 1] if nodes[i][k].waits else ())
    pieces = [[done[i, k] for k in range(len(node)) if not node[k].continued] for i, node in enumerate(nodes)]
    sums = [each[0] if len(each) == 1 else add(each) for each in pieces]
    while len(sums) > 1:
        sums = [add(sums[start : start + FAN_IN]) for start in range(0, len(sums), FAN_IN)]
    return sums[0]


def get_priority(stretch: RunSegment) -> int:
    """Return when a thread should take a stretch: first what another waits for, last what waits itself."""
    return 0 if stretch.continued else 2 if stretch.waits else 1


def split_into_segments(runs: Sequence[WorkerRun], unit: int) -> list[list[RunSegment]]:
    """Return, for each node of FAN_IN times `unit` blocks, the stretches of which it is made.

    A stretch that does not begin its node could only return each of its parts, all arrays of the size of the result. It
    is added on to the one before instead, if its thread has as many blocks as a node and so enough to do until then.
    """
    size = unit * FAN_IN
    n_blocks: Counter[int] = Counter()
    for run in runs:
        n_blocks[run.place.thread] += run.n_blocks
    nodes = []
    for _, node in groupby(runs, lambda run: run.first // size):
        parts = [[*part] for _, part in groupby(node, lambda run: run.place)]
        waits = [k == 1 and n_blocks[part[0].place.thread] >= size for k, part in enumerate(parts)]
        nodes.append(
            [RunSegment(part, k == 0, waits[k + 1 : k + 2] == [True], waits[k]) for k, part in enumerate(parts)]
        )
    return nodes


def map_runs(client: Client, runs: Sequence[WorkerRun], function: Callable[[Any], Any]) -> list[WorkerRun]:
    """Return runs of function(block), each where its blocks are."""
    new = submit_on_runs(client, map_to_csr_blocks, client.submit(identity, function, pure=False), runs)
    return [run._replace(blocks=blocks) for run, blocks in zip(runs, new, strict=True)]


def build_dask_documents(client: Client, sources: Sequence[Future]) -> DaskDocuments:
    """Return documents from futures of lists of canonical blocks; sources without a block are left out."""
    known = client.gather(client.map(get_shapes, sources, pure=False))
    widths = sorted({width for source in known for _, width in source})
    if len(widths) == 0:
        raise InputError("no part holds a block of documents; at least one is needed")
    if len(widths) > 1:
        raise InputError(f"blocks have {widths} columns; every block needs one column per word of one vocabulary")
    sizes = [len(source) for source in known]
    per_run, runs = choose_run_size(sum(sizes), count_threads(client)), []
    cuts = [*split_into_runs(sizes, per_run)]
    for i, (cut, place) in enumerate(zip(cuts, assign_workers(client, len(cuts)), strict=True)):
        parts, bounds = [sources[number] for number, _, _ in cut], [bound[1:] for bound in cut]
        blocks = client.submit(
            concatenate_blocks, parts, bounds, pure=False, workers=[place.worker], allow_other_workers=True
        )
        runs.append(WorkerRun(blocks, i * per_run, sum(stop - start for start, stop in bounds), place))
    return DaskDocuments(client, runs, (sum(rows for source in known for rows, _ in source), widths[0]))
