"""`anchorless export`: results for Excel, papers, network programs, MALLET and pyLDAvis."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager

from anchorless._cli import options as shared
from anchorless._cli.apply import read_aligned
from anchorless._cli.printing import print_json
from anchorless._cli.progress import ConsoleProgress
from anchorless._cli.rereading import add_rereading, complete_reading
from anchorless._corpus.corpus import Corpus
from anchorless._topic_model.exporting import FORMATS, WITH_DOCUMENTS, choose_format
from anchorless._topic_model.model import TopicModel
from anchorless.errors import InputError, UsageError

#: The file if none is named.
DEFAULT_FILES = {
    "xlsx": "topics.xlsx",
    "latex": "topics.tex",
    "markdown": "topics.md",
    "gexf": "topics.gexf",
    "graphml": "topics.graphml",
    "mallet": "mallet",
    "pyldavis": "pyldavis.html",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `export`."""
    shared.add_model(parser)
    parser.add_argument("--to", choices=FORMATS, help="format (default: by the name of the output)")
    help = "where to write; a folder for mallet (default: topics with the ending of the format)"
    parser.add_argument("-o", "--output", metavar="FILE", help=help)
    parser.add_argument("-w", "--words", type=shared.make_int_parser(), metavar="N", help="words per topic")
    help = "texts or counts whose mixtures are written, too: a model file has none"
    parser.add_argument("--documents", dest="input", nargs="+", action=shared.InputAction, metavar="FILE", help=help)
    add_rereading(parser, "--documents")
    parser.set_defaults(label_column=None, date_column=None, strict=False, memory=None, vocabulary=None)
    shared.add_jobs(parser)
    shared.add_flags(parser, force=True)


def run(options: argparse.Namespace) -> None:
    """Write the results of a model in another format."""
    progress = ConsoleProgress(quiet=options.quiet)
    if options.to is None and options.output is None:
        raise UsageError(f"no format is given; name one with --to: {', '.join(FORMATS)}")
    output = options.output or DEFAULT_FILES[options.to]
    try:
        to = choose_format(output, options.to)
    except InputError as error:
        raise UsageError(error.problem, remedy=error.remedy) from None
    model = TopicModel.load(shared.resolve_model_path(options.model)).set_params(n_jobs=options.jobs)
    with open_documents(options, model, progress) as documents:
        model.export(output, to, n_words=options.words, documents=documents, force=options.force)
    if documents is None and to in WITH_DOCUMENTS:
        progress.log("without a table of documents, which a model file does not have; give them with --documents FILE")
    progress.log(f"wrote {output}")
    if options.json:
        print_json({"output": output, "format": to, "topics": model.n_topics_, "fingerprint": model.fingerprint_})


@contextmanager
def open_documents(
    options: argparse.Namespace, model: TopicModel, progress: ConsoleProgress
) -> Iterator[Corpus | None]:
    """Yield the documents that were named, counted with the words of the model; None where none are."""
    if options.input is None:
        yield None
        return
    complete_reading(options, options.inputs)
    with read_aligned(options, model, progress) as corpus:
        yield corpus


EXPORT = shared.Command(
    "export",
    "write the results for Excel, LaTeX, Gephi, MALLET …",
    "Write the topics of MODEL for another program: an Excel workbook with a sheet per table, a LaTeX or Markdown\n"
    "table, the network of topics (GEXF, GraphML), the files of MALLET, or the page of pyLDAvis.",
    "anchorless export reviews-topics --to xlsx --documents reviews.csv -o reviews.xlsx",
    add_options,
    run,
)
