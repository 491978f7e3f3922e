"""How far a long computation is: whoever waits for it may set a listener, and its steps call it.

Nothing is printed and nothing is computed here; without a listener a report costs a look at a context variable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")
#: Called with the name of a stage, how many of its steps are done, and how many there are, None if nobody knows.
StageCallback = Callable[[str, int, int | None], None]
#: Called with the number of steps done and the number of all steps.
ProgressCallback = Callable[[int, int], None]

#: A context variable: fits in several threads have a listener each.
_callback: ContextVar[StageCallback | None] = ContextVar("anchorless_listener", default=None)


@contextmanager
def use_callback(callback: StageCallback) -> Iterator[None]:
    """Let the reports of this thread go to a listener while the block runs."""
    token = _callback.set(callback)
    try:
        yield
    finally:
        _callback.reset(token)


def report(stage: str, done: int, total: int | None) -> None:
    """Say that so many steps of a stage are done."""
    listener = _callback.get()
    if listener is not None:
        listener(stage, done, total)


def iter_steps(stage: str, items: Iterable[Item], total: int | None) -> Iterator[Item]:
    """Yield the items, and report each when the next is asked for."""
    for done, item in enumerate(items, 1):
        yield item
        report(stage, done, total)
