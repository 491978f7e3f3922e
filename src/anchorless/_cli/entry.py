"""The entry point: Ctrl-C ends the program without a traceback even while modules are imported."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from contextlib import suppress

from anchorless._cli.start_errors import refuse_to_start


def main() -> int:
    """Import the command line, which takes a second, run it and return its exit code."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # a background job ignores Ctrl-C, and keeps ignoring it
        signal.signal(signal.SIGINT, exit_immediately)
    try:
        from anchorless._cli.main import main as run
    except (ImportError, MemoryError, OSError) as error:
        return refuse_to_start(error)
    try:
        signal.signal(signal.SIGINT, before)
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


def leave_at_once(code: int) -> None:
    """End the process after a signal: Python would wait for running threads, and free all memory piece by piece."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    atexit._run_exitfuncs()  # such as the removal of temporary folders
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def exit_immediately(number: int, frame: object) -> None:
    """End the process at once: an import could swallow an exception, and no file is open yet."""
    sys.stderr.write("anchorless: interrupted\n")
    sys.stderr.flush()
    os._exit(128 + number)
