"""Where the command starts: nothing heavy is imported before Ctrl-C ends it without a traceback."""

from __future__ import annotations

import os
import signal
import sys


def main() -> int:
    """Import the command line, which takes a second, run it and return its exit code."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # a job in the background ignores Ctrl-C, and it stays so
        signal.signal(signal.SIGINT, exit_immediately)
    from anchorless._cli.main import main as run

    try:
        signal.signal(signal.SIGINT, before)
        return run()
    except KeyboardInterrupt:  # before the command line catches it, or after
        sys.stderr.write("anchorless: interrupted\n")
        return 128 + signal.SIGINT


def exit_immediately(number: int, frame: object) -> None:
    """End the process at once: an exception could be swallowed by what is half imported, and nothing is open yet."""
    sys.stderr.write("anchorless: interrupted\n")
    sys.stderr.flush()
    os._exit(128 + number)
