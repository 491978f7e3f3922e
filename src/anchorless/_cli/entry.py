"""The entry point: Ctrl-C ends the program without a traceback even while modules are imported."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from contextlib import suppress

from anchorless._cli.memory_limits import save_address_space
from anchorless._cli.start_errors import end_at_once_on_interrupts, refuse_to_start


def main() -> int:
    """Import the command line, which takes a second, run it and return its exit code."""
    open_closed_streams()
    save_address_space()
    try:
        with end_at_once_on_interrupts():
            from anchorless._cli.main import main as run
    except (ImportError, MemoryError, OSError) as error:
        return refuse_to_start(error)
    try:
        code = run()
    except KeyboardInterrupt:  # before the command line catches it, or after
        sys.stderr.write("anchorless: interrupted\n")
        code = 128 + signal.SIGINT
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 0
        if code <= 128:
            raise
    if code > 128:
        leave_at_once(code)
    return code


def open_closed_streams() -> None:
    """Open streams that the caller has closed: files would get their numbers, and messages of libraries be in files."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            with suppress(OSError):
                handle = os.open(os.devnull, os.O_WRONLY if number else os.O_RDONLY)
                if handle == number and number:
                    setattr(sys, name, os.fdopen(handle, "w", encoding="utf-8"))


def leave_at_once(code: int) -> None:
    """End the process after a signal: Python would wait for running threads, and free all memory piece by piece."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    atexit._run_exitfuncs()  # such as the removal of temporary folders
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
