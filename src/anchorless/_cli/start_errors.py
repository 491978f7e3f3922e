"""Messages about libraries that cannot be loaded; this module needs none of them."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from anchorless._cli.memory_limits import describe_limit, is_limit_low

#: What libraries, their loaders and Python say if memory is short.
MEMORY_SIGNS = (
    "cannot allocate memory",
    "Cannot allocate memory",
    "failed to map segment",
    "out of memory",
    "can't start new thread",
)
#: Signals that end a program; Windows has only the first two.
END_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def is_memory_short(error: BaseException) -> bool:
    """Tell whether an error says that memory is short, or that a library does not fit into it."""
    is_possible = isinstance(error, ImportError | OSError | RuntimeError)
    return isinstance(error, MemoryError) or (is_possible and any(sign in str(error) for sign in MEMORY_SIGNS))


def refuse_to_start(error: BaseException) -> int:
    """Say that a library is missing or does not fit into memory; return the exit code."""
    text = " ".join(str(error).split())
    if isinstance(error, ModuleNotFoundError) and error.name:
        problem = (
            f"the library {error.name.partition('.')[0]} is missing; install anchorless again: pip install anchorless"
        )
    elif is_memory_short(error) or is_limit_low():  # loaders do not always name the reason
        problem = f"too little memory to start: {describe_limit() or 'close other programs, or use a larger machine'}"
    elif "pip install" in text:  # the message names its remedy
        problem = text
    else:
        problem = (
            f"a library cannot be loaded ({text}); install anchorless again: pip install --force-reinstall anchorless"
        )
    with suppress(OSError, AttributeError):
        sys.stderr.write(f"anchorless: {problem}\n")
    return 1


@contextmanager
def end_at_once_on_interrupts() -> Iterator[None]:
    """Let signals end the process while libraries are imported, which could swallow an exception; no file is open."""
    is_main = threading.current_thread() is threading.main_thread()  # no other may set handlers
    before = {number: signal.getsignal(number) for number in END_SIGNALS if is_main}
    # A signal that a background job or nohup ignores stays ignored. Handlers of the command line raise an exception,
    # which an import could swallow.
    before = {n: old for n, old in before.items() if old not in (signal.SIG_IGN, None)}
    for number in before:
        signal.signal(number, exit_immediately)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def exit_immediately(number: int, frame: object) -> None:
    """Say why, and end the process at once."""
    why = "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"
    with suppress(OSError, RuntimeError):  # the terminal may be gone, or be written to
        sys.stderr.write(f"anchorless: {why}\n")
        sys.stderr.flush()
    os._exit(128 + number)
