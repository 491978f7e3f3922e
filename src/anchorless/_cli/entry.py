"""The entry point: Ctrl-C ends the program without a traceback even while modules are imported."""

from __future__ import annotations

import os
import signal
import sys


def main() -> int:
    """Import the command line, which takes a second, run it and return its exit code."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # a background job ignores Ctrl-C, and keeps ignoring it
        signal.signal(signal.SIGINT, exit_immediately)
    from anchorless._cli.main import main as run

    try:
        signal.signal(signal.SIGINT, before)
        return run()
    except KeyboardInterrupt:  # before the command line catches it, or after
        sys.stderr.write("anchorless: interrupted\n")
        return 128 + signal.SIGINT


def exit_immediately(number: int, frame: object) -> None:
    """End the process at once: an import could swallow an exception, and no file is open yet."""
    sys.stderr.write("anchorless: interrupted\n")
    sys.stderr.flush()
    os._exit(128 + number)
