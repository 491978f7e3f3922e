"""`anchorless export`: results for Excel, papers, network programs, MALLET and pyLDAvis."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager

from anchorless._cli import options as shared
from anchorless._cli.apply import read_aligned
from anchorless._cli.command_options import DEFAULT_FILES
from anchorless._cli.printing import print_json
from anchorless._cli.progress import ConsoleProgress
from anchorless._cli.rereading import complete_reading
from anchorless._corpus.corpus import Corpus
from anchorless._topic_model.exporting import FORMATS, WITH_DOCUMENTS, choose_format
from anchorless._topic_model.model import TopicModel
from anchorless.errors import InputError, UsageError


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
