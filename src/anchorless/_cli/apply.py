"""`anchorless apply`: the topics of new documents under a model that was fitted before."""

from __future__ import annotations

import argparse
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pyarrow as pa

from anchorless._cli.corpora import open_source, read_corpus
from anchorless._cli.options import Command, add_flags, add_input, add_jobs, add_memory, add_model, resolve_model_path
from anchorless._cli.printing import print_json
from anchorless._cli.progress import ConsoleProgress
from anchorless._cli.tables import TABLE_FORMATS, write_documents, zip_mixtures
from anchorless._corpus.corpus import Corpus, is_counts_file
from anchorless._corpus.io.readers import TextSource
from anchorless._corpus.settings import CountSettings
from anchorless._files import atomic_write
from anchorless._topic_model.mixtures import Mixtures
from anchorless._topic_model.model import TopicModel
from anchorless.errors import InputError, UsageError

#: Documents without a known word, after which a model is called one of another vocabulary.
MAX_BUFFERED_DOCUMENTS = 100_000

MixtureRows = Iterator[tuple[pa.Table, Mixtures]]


class TokenCounter:
    """Tokens counted so far, and those of them that the model does not know."""

    def __init__(self) -> None:
        self.n_tokens = self.n_unknown = 0

    def add(self, n: int, unknown: int | None) -> None:
        """Count the tokens of a batch."""
        self.n_tokens, self.n_unknown = self.n_tokens + n, self.n_unknown + (unknown or 0)

    def describe(self) -> str:
        """Say how much of the documents the model knows."""
        share = self.n_unknown / self.n_tokens if self.n_tokens else 0.0
        return f"{self.n_unknown:,} of {self.n_tokens:,} tokens ({share:.1%}) are of words that the model does not know"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `apply`."""
    add_model(parser)
    add_input(parser)
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help=".csv or .parquet (default: CSV on stdout)")
    add_memory(parser)
    add_jobs(parser)
    add_flags(parser, force=True)


def run(options: argparse.Namespace) -> None:
    """Write the documents with their topics to a file or to stdout."""
    progress, tokens = ConsoleProgress(quiet=options.quiet), TokenCounter()
    if options.json and options.output == "-":
        raise UsageError("--json prints a summary on stdout, so the table needs a file; name it with -o")
    format = "csv" if options.output == "-" else parse_table_format(options.output)
    model = TopicModel.load(resolve_model_path(options.model)).set_params(n_jobs=options.jobs)
    with open_stdout() if options.output == "-" else atomic_write(options.output, force=options.force) as target:
        known = buffer_until_known(transform_input(options, model, progress, tokens), tokens, options)
        count = write_documents(target, known, model.topic_labels_, format)
    progress.log(f"{count:,} documents; {tokens.describe()}")
    if options.json:
        print_json({"documents": count, "tokens": tokens.n_tokens, "unknown_tokens": tokens.n_unknown})


def parse_table_format(name: str) -> str:
    """Return the format of a table by its name."""
    ending = Path(name).suffix.lstrip(".").lower()
    if ending not in TABLE_FORMATS:
        raise UsageError(f"cannot write {name}: tables are .{' or .'.join(TABLE_FORMATS)}")
    return ending


@contextmanager
def open_stdout() -> Iterator[IO[bytes]]:
    """Yield stdout for bytes."""
    sys.stdout.flush()
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


def buffer_until_known(given: MixtureRows, tokens: TokenCounter, options: argparse.Namespace) -> MixtureRows:
    """Yield parts from the first word on that the model knows: what is on stdout cannot be taken back."""
    waiting: list[tuple[pa.Table, Mixtures]] = []
    n_waiting = 0
    for part in given:
        if tokens.n_unknown < tokens.n_tokens:
            yield from waiting
            waiting = []
            yield part
            continue
        waiting.append(part)
        n_waiting += len(part[0])
        if n_waiting < MAX_BUFFERED_DOCUMENTS:
            continue
        if tokens.n_tokens:
            raise InputError(
                format_vocabulary_error(options.model, f"the first {n_waiting:,} documents of {options.input}")
            )
        yield from waiting  # documents without any word say nothing
        waiting, n_waiting = [], 0
    if waiting and tokens.n_tokens:
        raise InputError(format_vocabulary_error(options.model, options.input))
    yield from waiting


def format_vocabulary_error(model: str, name: str) -> str:
    """Return what is wrong when a model knows no word of an input."""
    return f"{model} knows none of the words of {name}: it is a model of another vocabulary; fit one on these documents"


def transform_input(
    options: argparse.Namespace, model: TopicModel, progress: ConsoleProgress, tokens: TokenCounter
) -> MixtureRows:
    """Return the columns of the documents with their mixtures, batch by batch."""
    if is_counts_file(options.input, options.format):
        return transform_count_file(options, model, progress, tokens)
    return transform_texts(options, model, progress, tokens)


def transform_texts(
    options: argparse.Namespace, model: TopicModel, progress: ConsoleProgress, tokens: TokenCounter
) -> MixtureRows:
    """Yield batches of texts with their mixtures, in bounded memory."""
    get_count_settings(model, options)
    columns: deque[pa.Table] = deque()

    def iter_texts(source: TextSource) -> Iterator[pa.Array]:
        for batch in source:
            columns.append(batch.other_columns)
            yield batch.texts

    with open_source(options) as source, progress.track_reading(options.input):
        for found in model.transform_batches(iter_texts(source)):
            tokens.add(found.n_tokens, found.n_unknown)
            yield columns.popleft(), found.mixtures
    for sentence in source.skipped.describe_all():
        progress.log(sentence)


def get_count_settings(model: TopicModel, options: argparse.Namespace) -> CountSettings:
    """Return how a model counts texts; one that was fitted on counts does not know."""
    settings = model.fitted_counting_
    if settings is None:
        raise InputError(
            f"{options.model} was fitted on counts, so it cannot count the texts of {options.input}",
            remedy="give it counts, or fit a model on texts",
        )
    return settings


def transform_count_file(
    options: argparse.Namespace, model: TopicModel, progress: ConsoleProgress, tokens: TokenCounter
) -> MixtureRows:
    """Yield all documents of a file of counts with their mixtures."""
    with read_aligned(options, model, progress) as corpus:
        tokens.add(corpus.n_tokens, corpus.n_unknown)
        yield from zip_mixtures(corpus.iter_columns(), model._infer(corpus.documents))


@contextmanager
def read_aligned(options: argparse.Namespace, model: TopicModel, progress: ConsoleProgress) -> Iterator[Corpus]:
    """Yield the input counted with the words of a model."""
    counted = is_counts_file(options.input, options.format)
    settings = CountSettings() if counted else get_count_settings(model, options)
    with read_corpus(options, progress, settings=settings, vocabulary=model.vocabulary_) as corpus:
        if counted:
            corpus.align(model.vocabulary_)
        if corpus.n_unknown == corpus.n_tokens:
            raise InputError(format_vocabulary_error(options.model, options.input))
        yield corpus


APPLY = Command(
    "apply",
    "topics of new documents under a fitted model",
    "Give every document of INPUT its shares of the topics of MODEL, as a table with the columns that INPUT carries.\n"
    "A document's shares depend on its own text only.",
    "anchorless apply reviews-topics new.csv -o new-topics.csv",
    add_options,
    run,
)
