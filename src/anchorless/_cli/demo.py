"""`anchorless demo`: all of it on the docstrings of NumPy, SciPy and scikit-learn, which are installed with us."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from anchorless import datasets
from anchorless._cli.corpora import log_corpus
from anchorless._cli.fit import fit_and_write, list_replaced_files, log_next_steps, print_results, read_run_record
from anchorless._cli.options import Command, add_fitting, add_flags, parse_positive_int
from anchorless._cli.output_folder import atomic_write_folder
from anchorless._cli.progress import ConsoleProgress
from anchorless._corpus.corpus import Corpus
from anchorless._corpus.settings import CountSettings

DEFAULT_FOLDER = "anchorless-demo"
#: Words that every docstring has: they say that it is a docstring, not what it is about.
DOCSTRING_WORDS = """
    array_like attributes bool deprecated dtype example examples float import int ndarray none note notes np object
    optional parameter parameters raises ref reference references return returned returns scipy seealso shape sklearn
    str true type users value values version versionadded versionchanged warnings
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `demo`."""
    parser.add_argument(
        "-k", "--topics", type=parse_positive_int, default=12, metavar="N", help="number of topics (default: 12)"
    )
    parser.add_argument("-o", "--output", default=DEFAULT_FOLDER, metavar="FOLDER", help=f"(default: {DEFAULT_FOLDER})")
    add_fitting(parser)
    add_flags(parser, force=True)


def run(options: argparse.Namespace) -> None:
    """Fit the docstrings and write what `fit` writes; an earlier demo is replaced without being asked to."""
    progress = ConsoleProgress(quiet=options.quiet)
    target = Path(options.output)
    options.title = "What the docstrings of NumPy, SciPy and scikit-learn are about"
    options.documents_format, options.input, options.stability = "csv", "INPUT", None
    force = options.force or read_run_record(target).get("command") == "demo"
    replaces = list_replaced_files(target)
    with atomic_write_folder(target, force=force, replaces=replaces) as folder:
        with progress.stage("read and count", "reading docstrings"):
            corpus = count_docstrings(options)
        log_corpus(corpus, progress)
        with corpus:
            model = fit_and_write(folder, "demo", corpus, options, progress)
        files = sorted(path.name for path in folder.iterdir())
    print_results(model, target, files, options)
    log_next_steps(progress, target, files, f"  another number of topics       {format_demo_command(options)}")


def format_demo_command(options: argparse.Namespace) -> str:
    """Return the command of a demo with other topics, in the same folder, which it may replace."""
    place = [] if options.output == DEFAULT_FOLDER else ["-o", options.output]
    return shlex.join(["anchorless", "demo", "-k", str(2 * options.topics), *place])


def count_docstrings(options: argparse.Namespace) -> Corpus:
    """Return the counted docstrings, labeled by subpackage."""
    docstrings = datasets.load_docstrings()
    settings = CountSettings(extra_stop_words=tuple(DOCSTRING_WORDS.split()), max_df=0.3, min_length=3)
    corpus = Corpus.from_texts(
        docstrings.texts, counting=settings, ids=docstrings.names, labels=docstrings.labels, n_jobs=options.jobs
    )
    name = f"the docstrings of {', '.join(datasets.DOCSTRING_PACKAGES)}"
    corpus.source = {"name": name, "documents": corpus.n_documents, "tokens": corpus.n_tokens}
    return corpus


DEMO = Command(
    "demo",
    "find the topics of the docstrings of NumPy, SciPy and scikit-learn",
    "Find the topics of the docstrings of NumPy, SciPy and scikit-learn, which are installed with anchorless, and\n"
    "write the same files as `fit`; those of an earlier demo are replaced.",
    "anchorless demo -k 15",
    add_options,
    run,
)
