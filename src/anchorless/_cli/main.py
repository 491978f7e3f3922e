"""The command line: the parser of all commands, and the messages and exit codes of their errors."""

from __future__ import annotations

import argparse
import errno
import importlib
import io
import os
import signal
import sys
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import shtab

from anchorless import __version__
from anchorless._cli.commands import COMMANDS
from anchorless._cli.memory_limits import describe_limit, fit_into_limit, refuse_hopeless_limit
from anchorless._cli.start_errors import END_SIGNALS, end_at_once_on_interrupts, is_memory_short, refuse_to_start
from anchorless.errors import AnchorlessError, RankError, UsageError, suggest

#: The environment variable that lets a bug end in a traceback.
DEBUG_VARIABLE = "ANCHORLESS_DEBUG"
#: Signals that end a program, except Ctrl-C.
TERMINATION_SIGNALS = [number for number in END_SIGNALS if number != signal.SIGINT]
EPILOG = """\
exit codes:
  0    done
  1    the command failed: the message says why and what to do
  2    the call is wrong: an unknown option, a column that does not exist, more topics than possible
  70   a bug in anchorless; please report it
  130  interrupted with Ctrl-C (143: by a termination signal); nothing half-written is left
"""


class Parser(argparse.ArgumentParser):
    """A parser that prints errors as one line, without the list of all options."""

    def error(self, message: str) -> NoReturn:
        """Exit with code 2."""
        mark = "" if message.endswith("?") else ";"
        sys.exit(print_error(f"{message}{mark} see {self.prog} --help", 2))

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse unknown arguments here: the program's parser would not know the options of the command."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            options = [argument.partition("=")[0] for argument in unknown if argument.startswith("--")]
            hints = filter(None, (suggest(option, self._option_string_actions) for option in options))
            self.error(f"unrecognized arguments: {' '.join(unknown)}{next(hints, '')}")
        return found, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            error.message += suggest(str(value), map(str, action.choices or ()))
            raise


def run_command(options: argparse.Namespace) -> None:
    """Import a command and run it."""
    module, _, function = COMMANDS[options.command].run.partition(".")
    with end_at_once_on_interrupts():
        run = getattr(importlib.import_module(f"anchorless._cli.{module}"), function)
    run(options)


def build_parser(wanted: Collection[str] = tuple(COMMANDS)) -> argparse.ArgumentParser:
    """Return the parser of all commands; only the wanted ones have options, the others just a line in the list."""
    parser = Parser(
        prog="anchorless",
        description="Correlated topic models without anchor words.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"anchorless {__version__}")
    shtab.add_argument_to(parser, ["--print-completion"], help="print the completion script of a shell and exit")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        if name not in wanted:
            commands.add_parser(name, help=command.summary)
            continue
        added = commands.add_parser(
            name,
            help=command.summary,
            description=command.description,
            epilog=f"example:\n  {command.example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_options(added)
        added.set_defaults(run=run_command, command=name)
    return parser


def list_wanted(arguments: Sequence[str]) -> tuple[str, ...]:
    """Return the commands whose options are needed: the one that is called, none for help and version, or all."""
    if arguments and arguments[0] in COMMANDS:
        return (arguments[0],)
    is_plain = not arguments or arguments[0] in ("-h", "--help", "--version")
    return () if is_plain else tuple(COMMANDS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # the terminal may lack letters of a word
    with exit_on_signals():
        try:
            given = sys.argv[1:] if arguments is None else arguments
            wanted = list_wanted(given)
            parser = build_parser(wanted)
            if wanted:
                refuse_hopeless_limit()
            with end_at_once_on_interrupts():  # some values need a library
                options = parser.parse_args(given)
            options.jobs = fit_into_limit(getattr(options, "jobs", None))
            if given[0] != "edit":  # which replaces its model unless an output is named
                from anchorless._cli.replaced_inputs import refuse_replaced_inputs

                refuse_replaced_inputs(options, [getattr(options, name, None) for name in ("output", "plot")])
            options.run(options)
            sys.stdout.flush()
        except BaseException as error:
            return handle_error(error)
    return 0


def handle_error(error: BaseException) -> int:
    """Print why a run ended early, and return its exit code."""
    if isinstance(error, AnchorlessError):
        from anchorless._cli.options import render_error

        details = "" if error.details is None else f" (details: {error.details})"
        return print_error(render_error(error) + details, 2 if isinstance(error, UsageError | RankError) else 1)
    if isinstance(error, KeyboardInterrupt):
        return print_error("interrupted", 130)  # at once: nothing is imported for this message
    if isinstance(error, ImportError):
        return refuse_to_start(error)
    if is_memory_short(error):
        remedy = "try fewer topics, --max-features, --min-df or --jobs 1"
        return print_error(f"out of memory: {describe_limit() or remedy}", 1)
    if isinstance(error, BrokenPipeError):  # the reader of a pipe, such as head, has closed it
        discard_stdout()
        return 0
    if isinstance(error, OSError):
        if error.filename is None and error.errno == errno.ENOENT:  # getcwd names no file
            return print_error("the folder that this shell is in no longer exists; change to another one: cd", 1)
        if error.filename is None:
            discard_stdout()  # not about a file: writing to stdout failed
        return print_error(f"{error.filename or 'stdout'}: {error.strerror or error}", 1)
    if isinstance(error, Exception) and DEBUG_VARIABLE not in os.environ:
        what = f"{type(error).__name__}: {error}"
        return print_error(f"a bug in anchorless: {what}; please report it with the output of {DEBUG_VARIABLE}=1", 70)
    raise error


def print_error(message: str, code: int) -> int:
    """Print one line on stderr and return the exit code."""
    if message.isascii() and message.isprintable():
        print(f"anchorless: {' '.join(message.split())}", file=sys.stderr)
        return code
    try:
        from anchorless._cli.printing import sanitize
    except (ImportError, MemoryError):  # too little memory for a library, or one is missing

        def sanitize(text: str) -> str:
            return ascii(text)[1:-1]

    print(f"anchorless: {sanitize(' '.join(message.split()))}", file=sys.stderr)
    return code


def discard_stdout() -> None:
    """Discard what is left for stdout: Python would write it at exit, and fail again."""
    with suppress(OSError, ValueError):  # a stdout that is not a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def exit_on_signals() -> Iterator[None]:
    """Let termination signals run all `finally` blocks, so that no half-written file is left."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set handlers
        return
    before = {number: signal.getsignal(number) for number in TERMINATION_SIGNALS}
    for number, handler in before.items():
        if handler is signal.SIG_DFL:  # a signal that nohup ignores stays ignored
            signal.signal(number, exit_with_signal)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def exit_with_signal(number: int, frame: Any) -> None:
    """Say why the program ends, and exit with the code that shells report for a signal."""
    with suppress(OSError, RuntimeError):  # the terminal may be gone, or be written to
        print_error(f"ended by {signal.Signals(number).name}", 0)
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
