"""Run the paper's experiments: `python -m experiments synthetic`."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from threadpoolctl import threadpool_limits

from experiments.results import ResultsError

#: Name -> (module, what it shows). A module has `run(folder, quick)`, which ends with rendering, and
#: `render(folder)`, which writes tables and plots from the results; both return an exit code.
EXPERIMENTS = {
    "synthetic": ("experiments.synthetic", "planted topics: exact co-occurrences and sampled documents"),
}

EXAMPLES = """
examples:
  python -m experiments synthetic --quick            a first look, about half a minute
  python -m experiments synthetic                    the full experiment, some minutes; goes on where it stopped
  python -m experiments render synthetic             tables and plot again, from the results in results/synthetic
"""

EXIT_CODES = "exit code: 0 done and within the limits, 1 limits do not hold, 2 it could not be run, 130 interrupted"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    options = parser().parse_args(arguments)
    folder = options.out / options.experiment
    try:
        # One BLAS thread: several fight over the cores with the fit's own.
        with threadpool_limits(1, user_api="blas"):
            if options.command == "render":
                return experiment(options.experiment).render(folder)
            return experiment(options.experiment).run(folder, options.quick)
    except (ResultsError, OSError) as error:
        print(f"experiments: {error}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        print(f"experiments: {error}; pip install 'anchorless[experiments]'", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nexperiments: interrupted; the same command goes on from here", file=sys.stderr)
        return 130


def experiment(name: str) -> ModuleType:
    """Return the module of an experiment, imported only when it is asked for."""
    return importlib.import_module(EXPERIMENTS[name][0])


def parser() -> argparse.ArgumentParser:
    """Return the parser: one command per experiment, and `render`."""
    result = argparse.ArgumentParser(
        prog="python -m experiments",
        description="Run the experiments of the AnchorFree paper.",
        epilog=EXAMPLES + "\n" + EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = result.add_subparsers(title="commands", required=True, metavar="COMMAND", dest="command")
    for name, (_, description) in EXPERIMENTS.items():
        command = commands.add_parser(
            name,
            help=description,
            description=f"Run {name}: {description}. Results that are there already are kept; only the rest is run.",
            epilog=f"example: python -m experiments {name} --quick\n\n{EXIT_CODES}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_argument("--quick", action="store_true", help="few seeds, about half a minute")
        add_out(command)
        command.set_defaults(experiment=name)
    render = commands.add_parser(
        "render",
        help="write the tables and plots of an experiment from its results",
        description="Write the tables and plots of an experiment from its results, without running it.",
        epilog="example: python -m experiments render synthetic --out docs/results",
    )
    render.add_argument("experiment", choices=EXPERIMENTS, help="which experiment")
    add_out(render)
    return result


def add_out(command: argparse.ArgumentParser) -> None:
    """Add the option that says where results are."""
    command.add_argument(
        "--out",
        type=Path,
        default=Path("results"),
        metavar="DIR",
        help="where results are kept, each experiment in a folder of its own (default: results)",
    )


if __name__ == "__main__":
    sys.exit(main())
