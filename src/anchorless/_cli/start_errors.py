"""Messages about libraries that cannot be loaded; this module needs none of them."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

#: What loaders of libraries say if memory is short.
MEMORY_SIGNS = ("cannot allocate memory", "Cannot allocate memory", "failed to map segment", "out of memory")


def refuse_to_start(error: BaseException) -> int:
    """Say that a library is missing or does not fit into memory; return the exit code."""
    text = " ".join(str(error).split())
    is_memory = isinstance(error, MemoryError) or any(sign in text for sign in MEMORY_SIGNS)
    if isinstance(error, ModuleNotFoundError) and error.name:
        problem = (
            f"the library {error.name.partition('.')[0]} is missing; install anchorless again: pip install anchorless"
        )
    elif is_memory:
        problem = f"too little memory to start ({text or 'out of memory'}); close other programs, or raise the limit"
    else:
        problem = (
            f"a library cannot be loaded ({text}); install anchorless again: pip install --force-reinstall anchorless"
        )
    with suppress(OSError, AttributeError):
        sys.stderr.write(f"anchorless: {problem}\n")
    return 1


@contextmanager
def end_at_once_on_interrupts() -> Iterator[None]:
    """Let Ctrl-C end the process while libraries are imported, which could swallow an exception; no file is open."""
    is_main = threading.current_thread() is threading.main_thread()  # no other may set handlers
    before = signal.getsignal(signal.SIGINT)
    is_default = is_main and before is signal.default_int_handler  # a background job ignores Ctrl-C, and keeps doing so
    if is_default:
        signal.signal(signal.SIGINT, exit_immediately)
    try:
        yield
    finally:
        if is_default:
            signal.signal(signal.SIGINT, before)


def exit_immediately(number: int, frame: object) -> None:
    """End the process at once."""
    sys.stderr.write("anchorless: interrupted\n")
    sys.stderr.flush()
    os._exit(128 + number)
