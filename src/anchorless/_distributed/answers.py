"""Answers of a cluster, which may never come: calls of its libraries have no time limit of their own."""

from __future__ import annotations

import queue
from collections.abc import Callable

from anchorless._corpus.threads import Result, start_call
from anchorless.errors import ClusterError


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
