"""`anchorless demo`: all of it on the docstrings of NumPy, SciPy and scikit-learn, which are installed with us."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

import pyarrow as pa

from anchorless import datasets
from anchorless._cli.corpora import CarriedSpool, Corpus, say_corpus
from anchorless._cli.fit import earlier_documents, earlier_run, fit_and_write, say_end, show
from anchorless._cli.output_folder import folder_beside
from anchorless._cli.options import Command, add_fitting, add_flags, whole
from anchorless._cli.progress import Progress
from anchorless._corpus.counting import count_texts, text_batches
from anchorless._corpus.settings import Counting
from anchorless._corpus.documents import usable_threads
from anchorless._corpus.snippets import SnippetSpool

FOLDER = "anchorless-demo"
#: Words that every docstring has: they say that it is a docstring, not what it is about.
DOCSTRING_WORDS = """
    array_like attributes bool deprecated dtype example examples float import int ndarray none note notes np object
    optional parameter parameters raises ref reference references return returned returns scipy seealso shape sklearn
    str true type users value values version versionadded versionchanged warnings
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `demo`."""
    parser.add_argument("-k", "--topics", type=whole, default=12, metavar="N", help="number of topics (default: 12)")
    parser.add_argument("-o", "--output", default=FOLDER, metavar="FOLDER", help=f"(default: {FOLDER})")
    add_fitting(parser)
    add_flags(parser, force=True)


def run(options: argparse.Namespace) -> None:
    """Fit the docstrings and write what `fit` writes; an earlier demo is replaced without being asked to."""
    progress = Progress(quiet=options.quiet)
    target = Path(options.output)
    options.title = "What the docstrings of NumPy, SciPy and scikit-learn are about"
    options.documents_format, options.input, options.stability = "csv", "INPUT", None
    force = options.force or earlier_run(target).get("command") == "demo"
    replaces = earlier_documents(target)
    with folder_beside(target, force=force, replaces=replaces) as folder:
        with SnippetSpool() as snippets, CarriedSpool() as carried:
            with progress.stage("read and count", "reading docstrings"):
                corpus = docstring_corpus(options, carried, snippets)
            say_corpus(corpus, progress)
            model = fit_and_write(folder, "demo", corpus, options, progress)
        files = sorted(path.name for path in folder.iterdir())
    show(model, target, files, options)
    say_end(progress, target, files, f"  another number of topics       {another_demo(options)}")


def another_demo(options: argparse.Namespace) -> str:
    """Return the command of a demo with other topics, in the same folder, which it may replace."""
    place = [] if options.output == FOLDER else ["-o", options.output]
    return shlex.join(["anchorless", "demo", "-k", str(2 * options.topics), *place])


def docstring_corpus(options: argparse.Namespace, carried: CarriedSpool, snippets: SnippetSpool) -> Corpus:
    """Return the counted docstrings, labelled by subpackage."""
    docstrings = datasets.load_docstrings()
    settings = Counting(extra_stop_words=tuple(DOCSTRING_WORDS.split()), max_df=0.3, min_length=3)
    ids, labels = pa.array(docstrings.names), pa.array(docstrings.labels)
    carried.add(pa.table({"id": ids, "label": labels}))
    texts = snippets.passing(text_batches(docstrings.texts))
    counts = count_texts(texts, settings, usable_threads(options.threads))
    name = f"the docstrings of {', '.join(datasets.DOCSTRING_PACKAGES)}"
    facts = {"name": name, "documents": counts.n_documents, "tokens": counts.n_tokens}
    return Corpus(name, counts.blocks, counts.vocabulary, settings, counts, ids, labels, None, carried, snippets, facts)


DEMO = Command(
    "demo",
    "find the topics of the docstrings of NumPy, SciPy and scikit-learn",
    "Find the topics of the docstrings of NumPy, SciPy and scikit-learn, which are installed with anchorless, and\n"
    "write the same files as `fit`; those of an earlier demo are replaced.",
    "anchorless demo -k 15",
    add_options,
    run,
)
