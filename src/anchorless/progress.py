"""Progress of a long computation, reported to a callback.

Nothing is printed and nothing is computed here. Without a callback a report costs the lookup of a context variable.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from anchorless._deprecated import get_renamed

__all__ = ["listen", "report_progress", "track"]

Item = TypeVar("Item")
#: Called with the name of a stage, the number of steps done, and their total, None where it is not known.
StageCallback = Callable[[str, int, int | None], None]
#: Called with the number of steps done and the number of all steps.
ProgressCallback = Callable[[int, int], None]

#: A context variable, so that fits in several threads have a callback each.
_callback: ContextVar[StageCallback | None] = ContextVar("anchorless_progress_callback", default=None)


@contextmanager
def listen(callback: StageCallback) -> Iterator[None]:
    """Call a function with the progress of every computation of this thread in a `with` block.

    Parameters
    ----------
    callback : callable
        Called as `report_progress` is. An exception that it raises ends the computation.

    Returns
    -------
    context manager, which on exit sets the earlier callback again

    Examples
    --------
    >>> from anchorless import AnchorFree
    >>> from anchorless.progress import listen
    >>> stages = []
    >>> with listen(lambda stage, done, total: stages.append(stage)):
    ...     model = AnchorFree(2).fit([[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 3, 1], [0, 0, 1, 3]])
    >>> list(dict.fromkeys(stages))
    ['spectrum', 'constraints', 'volume', 'refinement', 'moments']
    """
    token = _callback.set(callback)
    try:
        yield
    finally:
        _callback.reset(token)


def report_progress(stage: str, done: int, total: int | None) -> None:
    """Report the progress of a stage to the callback, if there is one.

    Parameters
    ----------
    stage, done, total
        The name of the stage, the steps that are done, and the number of all, None where it is not known.

    Examples
    --------
    >>> from anchorless.progress import listen, report_progress
    >>> with listen(print):
    ...     report_progress("reading", 3, 10)
    reading 3 10
    """
    callback = _callback.get()
    if callback is not None:
        callback(stage, done, total)


def track(stage: str, items: Iterable[Item], total: int | None) -> Iterator[Item]:
    """Yield items, and report each as done when the next is asked for.

    Parameters
    ----------
    stage, items, total
        The name of the stage, what to yield, and the number of items, None where it is not known.

    Yields
    ------
    object
        The items, in their order.

    Examples
    --------
    >>> from anchorless.progress import listen, track
    >>> with listen(print):
    ...     words = [word.upper() for word in track("reading", ["a", "b"], total=2)]
    reading 1 2
    reading 2 2
    """
    for done, item in enumerate(items, 1):
        yield item
        report_progress(stage, done, total)


def __getattr__(name: str) -> Any:
    return get_renamed(sys.modules[__name__], name)
