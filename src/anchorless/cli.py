"""The command line: one parser for all commands, and what their errors become."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

import shtab

from anchorless import __version__
from anchorless.command.apply import APPLY
from anchorless.command.compare import COMPARE
from anchorless.command.convert import CONVERT
from anchorless.command.demo import DEMO
from anchorless.command.evaluate import EVALUATE
from anchorless.command.fit import FIT
from anchorless.command.options import add_command
from anchorless.command.search_k import SEARCH_K
from anchorless.command.show import REPORT, SHOW
from anchorless.errors import AnchorlessError, UsageError

COMMANDS = (FIT, APPLY, SHOW, REPORT, SEARCH_K, EVALUATE, COMPARE, CONVERT, DEMO)
#: Set to anything, it shows where an error came from.
DEBUG = "ANCHORLESS_DEBUG"
EPILOG = """\
exit codes:
  0    done
  1    it could not be done: the message says why and what would help
  2    the call was wrong: an unknown option, a column that is not there
  70   a fault of anchorless itself; please report it
  130  interrupted with Ctrl-C (143: by a termination signal); nothing half-written is left
"""


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="anchorless",
        description="Correlated topic models without anchor words.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"anchorless {__version__}")
    shtab.add_argument_to(parser, ["--print-completion"], help="print the completion script of a shell and exit")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in COMMANDS:
        add_command(commands, command)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    signal.signal(signal.SIGTERM, stop)
    options = build_parser().parse_args(arguments)
    try:
        options.run(options)
        sys.stdout.flush()
    except AnchorlessError as error:
        return refused(str(error), 2 if isinstance(error, UsageError) else 1)
    except KeyboardInterrupt:
        return refused("interrupted", 130)
    except BrokenPipeError:  # the reader of a pipe, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError:
        return refused("out of memory; try fewer topics, --max-features or --min-df", 1)
    except Exception as error:
        if DEBUG in os.environ:
            raise
        what = f"{type(error).__name__}: {error}"
        return refused(f"a fault of anchorless itself, {what}; please report it, with what {DEBUG}=1 shows", 70)
    return 0


def refused(message: str, code: int) -> int:
    """Print one line on stderr and return the exit code."""
    print(f"anchorless: {' '.join(message.split())}", file=sys.stderr)
    return code


def stop(number: int, frame: Any) -> None:
    """Leave through all `finally` blocks, so that nothing half-written is left."""
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
