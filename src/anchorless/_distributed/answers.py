"""Answers of a cluster, which may never come: calls of its libraries have no time limit of their own."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

from anchorless._corpus.threads import Result
from anchorless.errors import ClusterError


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


def wait_for_answer(call: Callable[[], Result], check: Callable[[], object], seconds: float) -> Result:
    """Return what a call returns, however long it takes, as long as `check`, every so many seconds, raises nothing."""
    answers = start_call(call)
    while True:
        try:
            found, error = answers.get(timeout=seconds)
        except queue.Empty:
            check()
            continue
        if error is not None:
            raise error
        return found  # type: ignore[return-value]


def require_answer(call: Callable[[], Result], who: str, seconds: float) -> Result:
    """Return what a call returns within so many seconds; otherwise say who has not answered."""

    def refuse() -> None:
        problem = f"{who} has not answered for {seconds:g} seconds"
        raise ClusterError(problem, remedy="look whether it still runs, and start again")

    return wait_for_answer(call, refuse, seconds)
