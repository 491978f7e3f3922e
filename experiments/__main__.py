"""Run the paper's experiments: `python -m experiments synthetic`."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from threadpoolctl import threadpool_limits

from experiments.results import ResultsError

#: Name -> (module, what it shows, what --quick does, further options). A module has `run(folder, options)`, which
#: ends with rendering, and `render(folder)`, which writes tables and plots from the results; both return an exit code.
CORPUS_OPTIONS = ("topics", "draws", "methods", "min-class-size", "jobs")
EXPERIMENTS: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    "synthetic": (
        "experiments.synthetic",
        "planted topics: exact co-occurrences and sampled documents",
        "few seeds, about half a minute",
        (),
    ),
    "tdt2": ("experiments.corpora", "random classes of TDT2", "2 draws at F = 3, 5, 10", CORPUS_OPTIONS),
    "reuters": ("experiments.corpora", "random classes of Reuters-21578", "2 draws at F = 3, 5, 10", CORPUS_OPTIONS),
    "newsgroups": ("experiments.corpora", "random classes of 20 Newsgroups", "2 draws at F = 5, 10", CORPUS_OPTIONS),
    "runtime": (
        "experiments.runtime",
        "seconds of each method on the whole TDT2 and Reuters-21578",
        "F = 5, 10 once, without LDA",
        ("topics", "methods", "repeats"),
    ),
    "example": (
        "experiments.example",
        "leading words of 5 topics, by every method, on the first draw of each corpus",
        "without LDA",
        ("methods",),
    ),
    "recovery": (
        "experiments.recovery",
        "planted topics without anchor words, and their correlations, by anchorless and other libraries",
        "5 topics, one seed, within a minute",
        ("cells", "methods", "seeds"),
    ),
    "documents": (
        "experiments.documents",
        "documents of real corpora: agreement with classes, prediction, and the words shown",
        "one corpus, anchorless only",
        ("cells", "methods"),
    ),
    "embeddings": (
        "experiments.embeddings",
        "embeddings as side information: agreement with classes and the words shown, beside other methods",
        "one corpus",
        ("cells", "methods"),
    ),
    "coverage": (
        "experiments.coverage",
        "how often intervals (level 0.9) of TopicModel.stability contain the planted truth",
        "small corpora, one seed, within a minute",
        ("cells", "seeds"),
    ),
    "coverage-unbiased": (
        "experiments.coverage_unbiased",
        "how often intervals (level 0.9) of AnchorFree.stability contain the planted truth",
        "5 topics, two corpora",
        ("topics", "draws"),
    ),
    "effects": (
        "experiments.effects",
        "planted effects of covariates on topics, by anchorless and other libraries",
        "small corpora, one seed, anchorless only",
        ("cells", "methods", "seeds", "jobs"),
    ),
    "seeds": (
        "experiments.seeds",
        "seed words of planted topics, true and wrong ones",
        "5 topics, one corpus",
        ("cells", "seeds"),
    ),
    "levels": (
        "experiments.levels",
        "groups of topics beside a fit with as many topics: agreement with classes of real corpora",
        "one corpus",
        ("cells",),
    ),
    "verdicts": (
        "experiments.verdicts",
        "what identifiability says of planted topics, of too many, and of shuffled tokens",
        "4 topics, two corpora",
        ("topics", "draws"),
    ),
    "figures": ("experiments.figures", "the cones of the sufficiently scattered condition", "the same", ()),
}

EXAMPLES = """
examples:
  python -m experiments synthetic --quick            a first look, about half a minute
  python -m experiments synthetic                    the full experiment, some minutes; resumes where it stopped
  python -m experiments tdt2 --jobs 2                the paper's table on TDT2, some hours
  python -m experiments render synthetic             tables and plot again, from the results in results/synthetic

The experiments on real corpora read them from the folder that the environment variable ANCHORLESS_DATA names.
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
            return experiment(options.experiment).run(folder, options)
    except (ResultsError, OSError) as error:
        print(f"experiments: {error}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        print(f"experiments: {error}; pip install 'anchorless[experiments]'", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nexperiments: interrupted; run the same command to resume", file=sys.stderr)
        return 130


def experiment(name: str) -> ModuleType:
    """Return the module of an experiment, imported only when it is asked for."""
    return importlib.import_module(EXPERIMENTS[name][0])


def parser() -> argparse.ArgumentParser:
    """Return the parser: one command per experiment, and `render`."""
    result = argparse.ArgumentParser(
        prog="python -m experiments",
        description="Run the experiments of the AnchorFree paper.\n" + EXAMPLES,
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = result.add_subparsers(title="commands", required=True, metavar="COMMAND", dest="command")
    for name, (_, description, quick, further) in EXPERIMENTS.items():
        command = commands.add_parser(
            name,
            help=description,
            description=f"Run {name}: {description}. Existing results are kept; only the rest is run.",
            epilog=f"example: python -m experiments {name} --quick\n\n{EXIT_CODES}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_argument("--quick", action="store_true", help=quick)
        add_options(command, further)
        add_out(command)
        command.set_defaults(experiment=name)
    render = commands.add_parser(
        "render",
        help="write the tables and plots of an experiment from its results",
        description="Write the tables and plots of an experiment from its results, without running it.",
        epilog="example: python -m experiments render synthetic --out docs/results",
    )
    render.add_argument("experiment", choices=EXPERIMENTS, metavar="EXPERIMENT", help="which one, as its command")
    add_out(render)
    return result


def add_options(command: argparse.ArgumentParser, names: Sequence[str]) -> None:
    """Add the named options; those not named are None, and one job."""
    command.set_defaults(topics=None, draws=None, methods=None, min_class_size=None, jobs=1, repeats=None)
    command.set_defaults(cells=None, seeds=None)
    options: dict[str, dict[str, Any]] = {
        "topics": {"type": whole_numbers, "metavar": "F,F,...", "help": "numbers of topics"},
        "draws": {"type": positive, "metavar": "N", "help": "random draws of classes for each number of topics"},
        "methods": {"type": names_of, "metavar": "NAME,...", "help": "methods, such as spa,anchorfree,spa-df100"},
        "min-class-size": {"type": positive, "metavar": "N", "help": "draw only classes of at least N documents"},
        "jobs": {"type": positive, "metavar": "N", "help": "processes that run draws side by side (default: 1)"},
        "cells": {"type": names_of, "metavar": "NAME,...", "help": "kinds of corpora, by the names in the tables"},
        "seeds": {"type": positive, "metavar": "N", "help": "random corpora of each kind"},
        "repeats": {"type": positive, "metavar": "N", "help": "runs of each fit, the fastest counts (default: 1)"},
    }
    for name in names:
        command.add_argument(f"--{name}", **options[name])


def positive(text: str) -> int:
    """Return a whole number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def whole_numbers(text: str) -> tuple[int, ...]:
    """Return numbers between commas, each once."""
    return tuple(dict.fromkeys(positive(part.strip()) for part in text.split(",")))


def names_of(text: str) -> tuple[str, ...]:
    """Return names between commas, each once."""
    return tuple(dict.fromkeys(part.strip() for part in text.split(",")))


def add_out(command: argparse.ArgumentParser) -> None:
    """Add the option for the folder of the results."""
    command.add_argument(
        "--out",
        type=Path,
        default=Path("results"),
        metavar="DIR",
        help="folder of the results, with a subfolder for each experiment (default: results)",
    )


if __name__ == "__main__":
    sys.exit(main())
