"""The connection to a Dask cluster: checks of the client, where tasks run, and what is tried again.

The only module that imports Dask.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from typing import Any

from anchorless import __version__
from anchorless._corpus.threads import Result
from anchorless._distributed.answers import require_answer, wait_for_answer
from anchorless._distributed.tasks import get_version
from anchorless.errors import ClusterError, InputError

try:
    import dask
    import dask.array as da
    from distributed import CancelledError, Client, Future, KilledWorker
    from distributed.comm import CommClosedError
except ImportError as error:
    raise ImportError(f"a cluster needs Dask ({error}); install it with: pip install 'anchorless[dask]'") from error

__all__ = ["Client", "Future", "connect", "da", "dask"]

#: How often a pass is tried while workers are lost, and the seconds before the second attempt; they double each time.
MAX_ATTEMPTS, RETRY_PAUSE = 6, 0.1
#: Seconds to wait for the first worker, and for a scheduler.
WORKER_TIMEOUT, CONNECT_TIMEOUT = 30, 10
#: Seconds between two checks that some worker is computing, and the number of idle checks after which a wait ends.
POLL_SECONDS, MAX_IDLE_POLLS = 10, 6
#: Seconds that a scheduler may take to answer, and that a computing worker may be silent, before a run ends.
ANSWER_SECONDS, SILENT_SECONDS = 20, 30


def assign_workers(client: Client, n: int) -> list[str]:
    """Return a worker for each of n consecutive tasks; neighbors share one, so that their sum need not travel."""
    threads = ask(client, client.nthreads)
    workers = [worker for worker, n_threads in sorted(threads.items()) for _ in range(n_threads)]
    if not workers:
        raise TimeoutError("no worker is left")
    return [workers[i * len(workers) // n] for i in range(n)]


def compute_on_workers(client: Client, tasks: Sequence[Any]) -> list[Future]:
    """Compute delayed values, neighbors on one worker as long as it is there."""
    futures: list[Future] = []
    for worker, group in groupby(zip(assign_workers(client, len(tasks)), tasks, strict=True), lambda pair: pair[0]):
        futures += client.compute([task for _, task in group], workers=[worker], allow_other_workers=True)
    return futures


def retry(client: Client, compute: Callable[[int], Iterable[Result]]) -> Iterator[Result]:
    """Yield the values of compute(0); if data are lost with a worker, go on with compute(number of values so far)."""
    n_done = 0
    for number in range(MAX_ATTEMPTS):
        check_open(client)
        try:
            for value in compute(n_done):
                n_done += 1
                yield value
            return
        except KilledWorker as error:
            raise make_killed_error(error) from error
        except (CancelledError, OSError, TimeoutError) as error:  # the scheduler cannot compute these data again
            if number == MAX_ATTEMPTS - 1:
                problem = f"workers were lost {MAX_ATTEMPTS} times in one pass over the documents ({error!r})"
                raise ClusterError(problem, remedy="read the logs of the workers, or use other workers") from error
            time.sleep(RETRY_PAUSE * 2**number)


def make_killed_error(error: KilledWorker) -> ClusterError:
    """Return the error of data that several workers died of."""
    problem = f"several workers died while they computed the same blocks: {error}"
    return ClusterError(problem, remedy="give the workers more memory, or use smaller blocks")


@contextmanager
def refuse_losses() -> Iterator[None]:
    """Turn the loss of the scheduler, or of data where nothing is tried again, into an error in plain words."""
    try:
        yield
    except KilledWorker as error:
        raise make_killed_error(error) from error
    except (CancelledError, CommClosedError, TimeoutError) as error:
        problem = "the connection to the scheduler, or data of its workers, were lost"
        remedy = "look whether scheduler and workers still run, and start again"
        raise ClusterError(problem, remedy=remedy, details=repr(error)) from error


def count_threads(client: Client) -> int:
    """Return the number of threads of all workers."""
    return int(sum(ask(client, client.nthreads).values()))


def ask(client: Client, call: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
    """Return what a call of the client returns, however long it takes, as long as scheduler and workers give signs.

    Calls of a client have no time limit of their own: a scheduler that is stopped would block them for ever.
    """
    return wait_for_answer(partial(call, *args, **kwargs), SilenceWatch(client).check, POLL_SECONDS)


def describe_workers(client: Client) -> dict[str, Any]:
    """Return what the scheduler knows of its workers; refuse a scheduler that does not answer."""
    who = f"the scheduler at {client.scheduler.address}"
    found = require_answer(partial(client.sync, client.scheduler.identity), who, ANSWER_SECONDS)
    return dict(found["workers"])


class SilenceWatch:
    """Notice workers that are silent: they are stopped, or their machines are gone, and what they have never comes."""

    def __init__(self, client: Client) -> None:
        self.client, self.seen = client, dict[str, tuple[float, float]]()  # last sign of each worker, and when it came

    def check(self, computing: Iterable[str] | None = None) -> None:
        """Refuse workers, by default all, if one of them has given no sign for long."""
        workers = describe_workers(self.client)
        now, silent = time.monotonic(), list[str]()
        for worker in workers if computing is None else computing:
            sign = workers.get(worker, {}).get("last_seen", 0.0)
            if self.seen.get(worker, (None, 0.0))[0] != sign:
                self.seen[worker] = sign, now
            if now - self.seen[worker][1] > SILENT_SECONDS:
                silent.append(worker)
        if silent:
            who = "no worker has" if len(silent) == len(workers) else f"worker {silent[0]} has not"
            problem = f"{who} answered for {SILENT_SECONDS} seconds"
            raise ClusterError(problem, remedy="look whether the workers still run, and start them again")


def wait_for_result(client: Client, future: Future) -> Any:
    """Return a result, however long it takes, as long as workers are computing; else raise TimeoutError."""
    # If a worker is lost at a bad moment, tasks may remain that no worker computes: a wait for them would never end.
    n_idle, watch = 0, SilenceWatch(client)
    while True:
        try:
            return future.result(timeout=POLL_SECONDS)
        except TimeoutError:
            if future.done():  # by now, or it raised a TimeoutError of its own
                return future.result()
            computing = [worker for worker, tasks in ask(client, client.processing).items() if tasks]
            watch.check(computing)
            n_idle = 0 if computing else n_idle + 1
            if n_idle == MAX_IDLE_POLLS:
                raise TimeoutError(f"no worker did anything for {MAX_IDLE_POLLS * POLL_SECONDS:g} seconds") from None


def check_open(client: Client) -> None:
    """Refuse a client that has been closed."""
    if client.status not in ("running", "connecting"):
        raise ClusterError(f"the client is {client.status}", remedy="connect again: Client(address)")


@refuse_losses()
def check_client(client: Any) -> None:
    """Refuse anything but an open, synchronous client of a cluster whose workers have this version of anchorless."""
    if not isinstance(client, Client) or client.asynchronous:
        problem = "it must be a synchronous dask.distributed.Client"
        raise InputError(problem, parameter="client", value=client, remedy="make one with Client(address)")
    check_open(client)
    address = client.scheduler.address
    try:
        ask(client, client.wait_for_workers, 1, timeout=WORKER_TIMEOUT)  # its timeout is none for a stopped scheduler
        versions = ask(client, client.run, get_version)
    except TimeoutError:
        problem = f"no worker joined the scheduler at {address} within {WORKER_TIMEOUT} seconds"
        raise ClusterError(problem, remedy=f"start workers: dask worker {address}") from None
    except ImportError as error:
        problem = f"the workers of {address} cannot import anchorless ({error})"
        raise ClusterError(problem, remedy="install it on every worker") from None
    for worker, version in sorted(versions.items()):
        if version != __version__:
            problem = f"worker {worker} has anchorless {version}, but this process has {__version__}"
            raise ClusterError(problem, remedy="install the same version on both")


@contextmanager
def connect(address: str) -> Iterator[Client]:
    """Connect to a running Dask scheduler, for the length of a ``with`` statement.

    Parameters
    ----------
    address : str
        Address of the scheduler, such as ``"tcp://10.0.0.1:8786"``, or the path of the scheduler file that it wrote.

    Yields
    ------
    client : dask.distributed.Client
        A client that is closed at the end of the block. It does not become Dask's default client.

    Raises
    ------
    ClusterError
        If no scheduler answers there within 10 seconds.

    Examples
    --------
    >>> from anchorless.distributed import connect, count
    >>> with connect("tcp://10.0.0.1:8786") as client:  # doctest: +SKIP
    ...     corpus = count(client, "news/part-*.parquet")
    """
    where = {"scheduler_file": address} if os.path.isfile(address) else {"address": address}
    make = partial(Client, **where, timeout=CONNECT_TIMEOUT, set_as_default=False)
    try:
        # The timeout does not hold for a scheduler that is stopped: the system takes the connection in its place.
        client = require_answer(make, f"the scheduler at {address}", ANSWER_SECONDS)
    except (OSError, ValueError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        remedy = "start one with `dask scheduler`, or give the address or the scheduler file of a running one"
        raise ClusterError(f"no Dask scheduler answers at {address} ({reason})", remedy=remedy) from None
    with client:
        yield client
