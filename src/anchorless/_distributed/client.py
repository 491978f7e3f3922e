"""The user's client of a Dask cluster: what it must be, where it puts things, and what is tried again.

The only door to Dask.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any, NamedTuple

from anchorless import __version__
from anchorless._distributed.tasks import get_version
from anchorless.errors import ClusterError, InputError

try:
    import dask
    import dask.array as da
    from distributed import CancelledError, Client, Future, KilledWorker
except ImportError as error:
    raise ImportError(f"a cluster needs Dask ({error}); install it with: pip install 'anchorless[dask]'") from error

__all__ = [
    "Client",
    "Future",
    "Place",
    "attempts",
    "awaited",
    "check_client",
    "connected",
    "da",
    "dask",
    "n_threads_of",
    "placed",
    "places",
]

#: How often a pass is begun again after what it needs was lost with its workers, and the seconds before the first.
MAX_ATTEMPTS, RETRY_PAUSE = 6, 0.1
#: Seconds to wait for the first worker, and for a scheduler.
WORKER_TIMEOUT, CONNECT_TIMEOUT = 30, 10
#: Seconds after which it is asked whether anybody still works on what is waited for, and how often nobody may.
POLL_SECONDS, MAX_IDLE_POLLS = 30, 2
#: What a pass ends with when data without a recipe were lost, or a worker while data were sent to it.
LOST_ERRORS = (CancelledError, OSError, TimeoutError)


class WorkerThread(NamedTuple):
    """Where something is, and which of all threads works on it."""

    worker: str
    thread: int  # counted over all workers


def assign_workers(client: Client, n: int) -> list[WorkerThread]:
    """Return a place for each of n things in a row, neighbours at one: what they add up then need not travel."""
    threads = client.nthreads()
    workers = [worker for worker in sorted(threads) for _ in range(threads[worker])]
    if not workers:
        raise TimeoutError("no worker is left")
    found = [WorkerThread(worker, thread) for thread, worker in enumerate(workers)]
    return [found[i * len(found) // n] for i in range(n)]


def compute_on_workers(client: Client, tasks: Sequence[Any]) -> list[Future]:
    """Compute delayed values, neighbours on one worker as long as it is there."""
    done: list[Future] = []
    for place, group in groupby(zip(assign_workers(client, len(tasks)), tasks, strict=True), lambda pair: pair[0]):
        own = [task for _, task in group]
        done += client.compute(own, workers=[place.worker], allow_other_workers=True)
    return done


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
        if not isinstance(error, LOST_ERRORS):
            return False
        if self.number == MAX_ATTEMPTS - 1:
            raise ClusterError(
                f"workers were lost {MAX_ATTEMPTS} times in one pass over the documents ({error or type(error).__name__}); "
                "look at the logs of the workers, or use others"
            ) from error
        time.sleep(RETRY_PAUSE * 2**self.number)
        return True


def iter_attempts(client: Client) -> Iterator[Attempt]:
    """Yield tries, to be left by `return`."""
    return (Attempt(client, number) for number in range(MAX_ATTEMPTS))


def wait_for_result(client: Client, future: Future) -> Any:
    """Return a result, however long it takes, as long as workers have something to do; else raise TimeoutError.

    A worker that is lost at a bad moment can leave tasks behind that nobody computes, and so can the last worker: the
    wait for them would have no end. A pass is begun again instead.
    """
    unattended = 0
    while True:
        try:
            return future.result(timeout=POLL_SECONDS)
        except TimeoutError:
            if future.done():  # the error of the task itself
                raise
            unattended = 0 if any(client.processing().values()) else unattended + 1
            if unattended == MAX_IDLE_POLLS:
                raise TimeoutError(f"no worker did anything for {MAX_IDLE_POLLS * POLL_SECONDS} seconds") from None


def check_client(client: Any) -> None:
    """Refuse what is no usable client, a cluster without workers, and workers with another anchorless."""
    if not isinstance(client, Client) or client.asynchronous:
        what = "an asynchronous Client" if isinstance(client, Client) else type(client).__name__
        raise InputError(f"client is {what}, but it must be a dask.distributed.Client; make one: Client(address)")
    check_open(client)
    address = client.scheduler.address
    try:
        client.wait_for_workers(1, timeout=WORKER_TIMEOUT)
        found = client.run(get_version)
    except TimeoutError:
        raise ClusterError(
            f"no worker came to {address} within {WORKER_TIMEOUT} seconds; start some: dask worker {address}"
        ) from None
    except ImportError as error:
        raise ClusterError(f"the workers of {address} lack anchorless ({error}); install it there") from None
    other = next((worker for worker, has in sorted(found.items()) if has != __version__), None)
    if other is not None:
        raise ClusterError(f"worker {other} has anchorless {found[other]}, this process {__version__}; use one version")


@contextmanager
def connect(address: str) -> Iterator[Client]:
    """Yield a client of the scheduler at an address, or of the one that a scheduler file names."""
    where = {"scheduler_file": address} if os.path.isfile(address) else {"address": address}
    try:
        client = Client(**where, timeout=CONNECT_TIMEOUT, set_as_default=False)
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


def count_threads(client: Client) -> int:
    """Return how many tasks the cluster runs at the same time, at least 1."""
    return max(1, sum(client.nthreads().values()))
