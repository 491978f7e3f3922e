"""Compare speed with other libraries: `python -m benchmarks`."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import scale
from benchmarks.compare import BASELINE, TOLERANCE, compare, save_baseline
from benchmarks.pictures import draw_all
from benchmarks.plan import PARTS, check_names, list_missing_corpora, measure_cell
from benchmarks.processes import Processes
from benchmarks.report import tables
from benchmarks.running import OURS, BenchmarkResults, agree, facts, run_repeats, with_load
from benchmarks.targets import targets
from experiments.__main__ import names_of, positive, whole_numbers
from experiments.results import ResultsError, replace_file

#: Seconds after which a process is killed; and those of --quick.
LIMIT, QUICK_LIMIT = 300.0, 30.0
EXAMPLES = """
examples:
  python -m benchmarks --quick                       a first look, below 5 minutes, without a file of data
  python -m benchmarks                               everything, some hours; resumes where it stopped
  python -m benchmarks fit --repeats 5               the targets alone
  python -m benchmarks peers --corpora tdt2 --topics 25 --methods anchorfree,nmf
  python -m benchmarks compare before.csv after.csv  the guard: has a count grown?

TDT2, Reuters-21578 and 20 Newsgroups are read from the folder that the environment variable ANCHORLESS_DATA names.
"""
EXIT_CODES = (
    "exit code: 0 done and within the targets, 1 a target does not hold or a count grew, 2 it could not be run, "
    "130 interrupted"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or (given[0].startswith("-") and given[0] not in ("-h", "--help")):
        given = ["all", *given]
    options = parser().parse_args(given)
    try:
        return int(options.run(options))
    except (ResultsError, OSError) as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        print(f"benchmarks: {error}; pip install 'anchorless[benchmarks]'", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nbenchmarks: interrupted; run the same command without --fresh to resume", file=sys.stderr)
        return 130


def run(options: argparse.Namespace) -> int:
    """Measure what is not yet in the results, part by part, then render them."""
    parts = list(PARTS) if options.command == "all" else [options.command]
    check_names(parts, options)
    planned = {part: PARTS[part].cells(options) for part in parts}
    if options.corpora is None and list_missing_corpora() and options.command not in ("import", "counts"):
        print(f"left out, as ANCHORLESS_DATA has no file of them: {', '.join(list_missing_corpora())}", file=sys.stderr)
    limit = options.limit or (QUICK_LIMIT if options.quick else LIMIT)
    results = BenchmarkResults(options.out)
    asked = {cell for cells in planned.values() for cell in cells}
    results.forget(
        lambda cell, found: cell._replace(seed=0) in asked and (options.fresh or is_worth_more(limit, found))
    )
    if options.fresh:
        forget_other_code(results)
    with Processes(limit) as processes:
        measure = with_load(partial(measure_cell, processes), results, limit)
        for part, cells in planned.items():
            print(f"{part}: {PARTS[part].help}", file=sys.stderr)
            repeats = options.repeats or (1 if options.quick else PARTS[part].repeats)
            run_repeats(results, cells, measure, repeats)
    return render(options)


def is_worth_more(limit: float, found: dict[str, float]) -> bool:
    """Return whether a result is to be measured again: it failed, or was stopped although there is more time now."""
    return "failed" in found or found.get("stopped", limit) < limit


def forget_other_code(results: BenchmarkResults) -> None:
    """Drop results of ours by other code, and all results of other versions or another machine."""
    now = facts()
    if not agree(results.facts, now):
        same_peers = agree(results.facts | {"code": now["code"]}, now)
        results.forget(lambda cell, found: not same_peers or cell.method in OURS)


def render(options: argparse.Namespace) -> int:
    """Write and print the tables, and draw the plots; return 1 if a target does not hold or there is nothing."""
    results = BenchmarkResults(options.out)
    text = "\n\n".join(part for part in tables(results.values, results.facts) if part) + "\n"
    print(text, end="", flush=True)
    if not results.values:
        return 1
    replace_file(options.out / "tables.md", text)
    draw_all(results.values, options.out)
    return 1 if any(target.holds is False for target in targets(results.values)) else 0


def run_compare(options: argparse.Namespace) -> int:
    """Compare the counts of two results."""
    return compare(options.before, options.after, options.tolerance)


def run_baseline(options: argparse.Namespace) -> int:
    """Measure the counts of the guard's fits and make them the ones that later counts are compared with."""
    with tempfile.TemporaryDirectory() as folder, Processes(LIMIT) as processes:
        results = BenchmarkResults(Path(folder))
        run_repeats(results, PARTS["counts"].cells(options), with_load(partial(measure_cell, processes), results), 1)
        failed = [str(cell) for cell, found in results.values.items() if "n_programs" not in found]
        if failed:
            raise ResultsError(f"no counts of {failed[0]}; {BASELINE.name} is unchanged")
        save_baseline(results.values)
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the parser: one command per part, and what is done with results."""
    result = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Compare time, memory and quality with other libraries. Default: everything.\n" + EXAMPLES,
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = result.add_subparsers(title="commands", required=True, metavar="COMMAND", dest="command")
    everything = ("corpora", "topics", "methods")
    add_part(commands, "all", "everything, the default", everything)
    for name, part in PARTS.items():
        add_part(commands, name, part.help, part.options)
    add_others(commands)
    return result


def add_part(commands: Any, name: str, text: str, further: Sequence[str]) -> None:
    """Add the command of a part."""
    command = commands.add_parser(
        name,
        help=text,
        description=f"Measure {name}: {text}. Existing results are kept; only the rest is run.",
        epilog=EXIT_CODES,
    )
    command.set_defaults(run=run, corpora=None, topics=None, methods=None)
    options: dict[str, dict[str, Any]] = {
        "corpora": {"type": names_of, "metavar": "NAME,...", "help": "corpora, such as tdt2,synthetic"},
        "topics": {"type": whole_numbers, "metavar": "K,K,...", "help": "numbers of topics"},
        "methods": {"type": names_of, "metavar": "NAME,...", "help": "methods, such as anchorfree,nmf"},
    }
    for option in further:
        command.add_argument(f"--{option}", **options[option])
    command.add_argument("--quick", action="store_true", help="small corpora, few topics, once; all below 5 minutes")
    command.add_argument("--repeats", type=positive, metavar="N", help="runs of each, of which the best counts")
    command.add_argument(
        "--limit",
        type=positive,
        metavar="SECONDS",
        help=f"end a process after so long, of `topics` a fit after so much processor time (default: {LIMIT:.0f}; "
        f"quick: {QUICK_LIMIT:.0f})",
    )
    command.add_argument(
        "--fresh", action="store_true", help="measure again what is asked for; forget ours of other code"
    )
    add_out(command)


def add_others(commands: Any) -> None:
    """Add the commands that measure nothing in the results."""
    again = commands.add_parser("render", help="write the tables and plots again, from the results")
    again.set_defaults(run=render)
    add_out(again)
    guard = commands.add_parser("compare", help="the guard: compare the counts of two results", epilog=EXIT_CODES)
    guard.add_argument("before", type=Path, metavar="BEFORE.csv", help="results of before, or benchmarks/baseline.csv")
    guard.add_argument("after", type=Path, metavar="AFTER.csv", help="results of after")
    guard.add_argument(
        "--tolerance",
        type=share,
        default=TOLERANCE,
        metavar="SHARE",
        help=f"how much a count may grow (default: {TOLERANCE})",
    )
    guard.set_defaults(run=run_compare)
    add_scale(commands)
    baseline = commands.add_parser("baseline", help=f"write the counts that are guarded to benchmarks/{BASELINE.name}")
    baseline.set_defaults(run=run_baseline)


def add_scale(commands: Any) -> None:
    """Add the command that measures growing numbers of documents."""
    text = "time, memory and recovery for growing numbers of documents, compared with other libraries"
    command = commands.add_parser(
        "scale",
        help=text,
        description=scale.__doc__,
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    numbers: dict[str, Any] = {"type": whole_numbers, "metavar": "N,N,..."}
    command.add_argument("--documents", **numbers, default=[10_000, 100_000], help="(default: 10000,100000)")
    command.add_argument("--topics", **numbers, default=[50], help="numbers of planted topics (default: 50)")
    command.add_argument("--words", type=positive, default=50_000, metavar="N", help="(default: 50000)")
    names = ",".join(scale.METHODS)
    command.add_argument("--methods", type=names_of, default=[*scale.METHODS], help=f"(default: {names})")
    command.add_argument(
        "--budget", type=positive, default=600, metavar="SECONDS", help="processor seconds of one fit (default: 600)"
    )
    command.add_argument("--texts", type=Path, metavar="DIR", help="where texts are made and stay; else removed")
    command.add_argument(
        "--fresh", action="store_true", help="measure again what is asked for; forget ours of other code"
    )
    add_out(command, Path("results/scale"))
    command.set_defaults(run=scale.run)


def add_out(command: argparse.ArgumentParser, default: Path = Path("results/benchmarks")) -> None:
    """Add the option for the folder of the results."""
    command.add_argument(
        "--out", type=Path, default=default, metavar="DIR", help=f"where results are kept (default: {default})"
    )


def share(text: str) -> float:
    """Return a number from 0 on."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of at least 0, such as 0.1")
    return value


def stop(number: int, frame: Any) -> None:
    """End as after Ctrl-C, so that the process that is being measured ends too."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, stop)
    sys.exit(main())
