"""Threads that compute results in a fixed order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

Result = TypeVar("Result")


class ThreadTeam:
    """Threads that share a list of tasks; the calling thread is one of them.

    They are kept from call to call, since starting a thread takes as long as a small task. A task must not start tasks
    in the same team, or it may deadlock; a forked process needs a team of its own.
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

        helpers = [self._pool.submit(work) for _ in range(min(self.n_threads, len(waiting)) - 1)]
        try:
            work()
        finally:
            wait(helpers)  # otherwise one could still write into arrays that the caller no longer expects to change
        for helper in helpers:
            helper.result()
        return [results[place] for place in range(len(results))]


def map_in_threads(function: Callable[[Any], Result], items: Iterable[Any], n_threads: int) -> Iterator[Result]:
    """Yield function(item) for each item, in order, computed by up to `n_threads` threads.

    At most `n_threads` + 1 results exist at a time, which bounds the memory.
    """
    if n_threads == 1 or (isinstance(items, Sequence) and len(items) == 1):
        yield from map(function, items)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) > n_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:  # after Ctrl-C, those that have not begun would still be computed
            for future in waiting:
                future.cancel()
