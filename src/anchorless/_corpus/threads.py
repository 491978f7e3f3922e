"""Threads that compute results in a fixed order."""

from __future__ import annotations

import os
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from typing import Any, TypeVar

Result = TypeVar("Result")

#: Seconds after which a wait looks for signals.
WAIT_SECONDS = 0.1
#: Tasks that still ran when Ctrl-C or the end of a generator ended the wait for them.
_abandoned: list[Future[Any]] = []
#: The thread that computes for the main thread where one is enough: starting a thread takes as long as a small task.
_companion: ThreadPoolExecutor | None = None


def abandon(futures: Iterable[Future[Any]]) -> None:
    """Cancel tasks without waiting for those that run: after Ctrl-C, that would take as long as the longest task."""
    _abandoned[:] = [future for future in (*_abandoned, *futures) if not future.cancel() and not future.done()]


def is_any_abandoned_running() -> bool:
    """Tell whether a task that nobody waits for is still running."""
    abandon(())
    return bool(_abandoned)


class ThreadTeam:
    """Threads that share a list of tasks; the calling thread is one of them, unless it is the main thread.

    They are kept from call to call, since starting a thread takes as long as a small task. The main thread only waits:
    it could not handle Ctrl-C while it computes. A task must not start tasks in the same team, or it may deadlock; a
    forked process needs a team of its own.
    """

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._pool = ThreadPoolExecutor(n_threads)

    def map(self, function: Callable[[Any], Result], items: Iterable[Any]) -> list[Result]:
        """Return function(item) for each item, in order."""
        waiting = deque(enumerate(items))
        results: dict[int, Result] = {}

        def work() -> None:
            while waiting:
                try:
                    place, item = waiting.popleft()
                except IndexError:  # another thread took the last one
                    return
                try:
                    results[place] = function(item)
                except BaseException:
                    waiting.clear()  # so that the other threads stop
                    raise

        computes = threading.current_thread() is not threading.main_thread()
        n_helpers = min(self.n_threads, len(waiting)) - computes
        helpers: list[Future[None]] = []
        try:
            for _ in range(n_helpers):
                helpers.append(self._pool.submit(copy_context().run, work))
            if computes:
                work()
            wait_for(*helpers)
        except Exception:
            wait_for(
                *helpers
            )  # otherwise one could still write into arrays that the caller no longer expects to change
            raise
        except BaseException:  # Ctrl-C: nobody will use these arrays
            waiting.clear()
            abandon(helpers)
            raise
        for helper in helpers:
            helper.result()
        return [results[place] for place in range(len(results))]


def map_in_threads(function: Callable[[Any], Result], items: Iterable[Any], n_threads: int) -> Iterator[Result]:
    """Yield function(item) for each item, in order, computed by up to `n_threads` threads.

    At most `n_threads` + 1 results exist at a time, with one thread only one, which bounds the memory. The main thread
    never computes itself: it could not handle Ctrl-C meanwhile.
    """
    if isinstance(items, Sequence):
        n_threads = min(n_threads, max(1, len(items)))
    if n_threads == 1:
        is_main = threading.current_thread() is threading.main_thread()
        yield from map_in_one_thread(function, items) if is_main else map(function, items)
        return
    pool, waiting, completed = ThreadPoolExecutor(n_threads), deque[Future[Result]](), False
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > n_threads:
                yield take_first_result(waiting)
        while waiting:
            yield take_first_result(waiting)
        completed = True
    except Exception:  # of a task or an item: the other tasks end first
        completed = True
        raise
    finally:
        if not completed:  # Ctrl-C, or the caller ends the generator
            abandon(waiting)
        pool.shutdown(wait=completed, cancel_futures=True)


def map_in_one_thread(function: Callable[[Any], Result], items: Iterable[Any]) -> Iterator[Result]:
    """Yield function(item) for each item, computed by one thread while the main thread waits for signals."""
    global _companion
    run = copy_context().run  # progress is reported, and warnings are handled, as the caller has set
    for item in items:
        if _companion is None:
            _companion = ThreadPoolExecutor(1)
        future = _companion.submit(run, function, item)
        try:
            wait_for(future)
        except BaseException:  # Ctrl-C: the thread is busy with what nobody will use
            abandon([future])
            _companion.shutdown(wait=False)
            _companion = None
            raise
        yield future.result()


def forget_companion() -> None:
    """Start a new thread at the next call: a forked process has none of the threads."""
    global _companion
    _companion = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forget_companion)


def take_first_result(waiting: deque[Future[Result]]) -> Result:
    """Remove the first task when its result is there: after Ctrl-C, all tasks that run are still in the queue."""
    wait_for(waiting[0])
    result = waiting[0].result()
    waiting.popleft()
    return result


def wait_for(*futures: Future[Any]) -> None:
    """Wait until tasks have ended, in short pieces: a signal just before the wait does not interrupt it."""
    while wait(futures, timeout=WAIT_SECONDS).not_done:
        pass


def call_interruptibly(function: Callable[..., Result], *arguments: Any) -> Result:
    """Return function(*arguments), computed in a thread, so that Ctrl-C need not wait for a long call of LAPACK."""
    (result,) = map_in_threads(lambda given: function(*given), [arguments], 1)
    return result


def start_call(call: Callable[[], Result]) -> queue.SimpleQueue[tuple[Result | None, BaseException | None]]:
    """Call a function in a thread that ends with the process; return the queue that gets its value or its error."""
    answers: queue.SimpleQueue[tuple[Result | None, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            answers.put((call(), None))
        except BaseException as error:
            answers.put((None, error))

    threading.Thread(target=run, daemon=True).start()
    return answers
