"""`anchorless demo`: a fit of the docstrings of NumPy, SciPy and scikit-learn, which are installed with anchorless."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from anchorless import datasets
from anchorless._cli.command_options import DEFAULT_FOLDER
from anchorless._cli.edited_models import EditedModel
from anchorless._cli.fit import fit_and_write, list_replaced_files, report_results
from anchorless._cli.progress import ConsoleProgress
from anchorless._cli.rereading import read_run_record
from anchorless._corpus.corpus import Corpus
from anchorless._corpus.settings import CountSettings
from anchorless._folders import atomic_write_folder

#: Words of the form of docstrings, not of their content.
DOCSTRING_WORDS = """
    array_like attributes bool deprecated dtype example examples float import int ndarray none note notes np object
    optional parameter parameters raises ref reference references return returned returns scipy seealso shape sklearn
    str true type users value values version versionadded versionchanged warnings
"""


def run(options: argparse.Namespace) -> None:
    """Fit the docstrings and write what `fit` writes; the files of an earlier demo are replaced without --force."""
    progress = ConsoleProgress(quiet=options.quiet)
    target = Path(options.output)
    force = options.force or read_run_record(target).get("command") == "demo"
    edited = EditedModel(target, list_replaced_files)
    with atomic_write_folder(target, force=force, list_replaced=edited.list_replaced) as folder:
        edited.start(folder, progress)
        with progress.stage("read and count", "reading docstrings"):
            corpus = count_docstrings(options)
        found = fit_and_write(folder, "demo", corpus, options, progress)
        files = sorted(path.name for path in folder.iterdir())
    place = [] if options.output == DEFAULT_FOLDER else ["-o", options.output]
    other = shlex.join(["anchorless", "demo", "-k", str(2 * options.topics), *place])
    report_results(found, target, files, options, progress, f"  another number of topics       {other}{edited.hint}")


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
