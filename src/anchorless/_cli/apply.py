"""`anchorless apply`: the topics of new documents under a model that was fitted before."""

from __future__ import annotations

import argparse
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from anchorless._cli.corpora import is_counted, open_source
from anchorless._cli.options import Command, add_flags, add_input, add_model, add_threads, resolve_model_path
from anchorless._cli.printing import print_json
from anchorless._cli.progress import ConsoleProgress
from anchorless._cli.tables import TABLE_FORMATS, write_documents
from anchorless._corpus.io.count_readers import CountedDocuments, read_counts
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
        self.n = self.n_unknown = 0

    def add(self, n: int, unknown: int | None) -> None:
        """Count the tokens of a batch."""
        self.n, self.n_unknown = self.n + n, self.n_unknown + (unknown or 0)

    def sentence(self) -> str:
        """Say how much of the documents the model knows."""
        share = self.n_unknown / self.n if self.n else 0.0
        return f"{self.n_unknown:,} of {self.n:,} tokens ({share:.1%}) are of words that the model does not know"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `apply`."""
    add_model(parser)
    add_input(parser)
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help=".csv or .parquet (default: CSV on stdout)")
    add_threads(parser)
    add_flags(parser, force=True)


def run(options: argparse.Namespace) -> None:
    """Write the documents with their topics to a file or to stdout."""
    progress, tokens = ConsoleProgress(quiet=options.quiet), TokenCounter()
    if options.json and options.output == "-":
        raise UsageError("--json prints a summary on stdout, so the table needs a file; name it with -o")
    format = "csv" if options.output == "-" else parse_table_format(options.output)
    model = TopicModel.load(resolve_model_path(options.model)).set_params(n_threads=options.threads)
    with stdout() if options.output == "-" else atomic_write(options.output, force=options.force) as target:
        known = buffer_until_known(transform_input(options, model, progress, tokens), tokens, options)
        count = write_documents(target, known, model.topic_labels_, format)
    progress.log(f"{count:,} documents; {tokens.sentence()}")
    if options.json:
        print_json({"documents": count, "tokens": tokens.n, "unknown_tokens": tokens.n_unknown})


def parse_table_format(name: str) -> str:
    """Return the format of a table by its name."""
    ending = Path(name).suffix.lstrip(".").lower()
    if ending not in TABLE_FORMATS:
        raise UsageError(f"cannot write {name}: tables are .{' or .'.join(TABLE_FORMATS)}")
    return ending


@contextmanager
def stdout() -> Iterator[IO[bytes]]:
    """Yield stdout for bytes."""
    sys.stdout.flush()
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


def buffer_until_known(given: MixtureRows, tokens: TokenCounter, options: argparse.Namespace) -> MixtureRows:
    """Yield parts from the first word on that the model knows: what is on stdout cannot be taken back."""
    waiting: list[tuple[pa.Table, Mixtures]] = []
    n_waiting = 0
    for part in given:
        if tokens.n_unknown < tokens.n:
            yield from waiting
            waiting = []
            yield part
            continue
        waiting.append(part)
        n_waiting += len(part[0])
        if n_waiting < MAX_BUFFERED_DOCUMENTS:
            continue
        if tokens.n:
            raise InputError(
                format_vocabulary_error(options.model, f"the first {n_waiting:,} documents of {options.input}")
            )
        yield from waiting  # documents without any word say nothing
        waiting, n_waiting = [], 0
    if waiting and tokens.n:
        raise InputError(format_vocabulary_error(options.model, options.input))
    yield from waiting


def format_vocabulary_error(model: str, name: str) -> str:
    """Return what is wrong when a model knows no word of an input."""
    return f"{model} knows none of the words of {name}: it is a model of another vocabulary; fit one on these documents"


def transform_input(
    options: argparse.Namespace, model: TopicModel, progress: ConsoleProgress, tokens: TokenCounter
) -> MixtureRows:
    """Return what documents carry with their mixtures, batch by batch."""
    if is_counted(options):
        return iter([transform_count_file(options, model, tokens)])
    get_count_settings(model, options)
    return transform_texts(options, model, progress, tokens)


def transform_texts(
    options: argparse.Namespace, model: TopicModel, progress: ConsoleProgress, tokens: TokenCounter
) -> MixtureRows:
    """Yield batches of texts with their mixtures, in bounded memory."""
    carried: deque[pa.Table] = deque()

    def texts(source: Any) -> Iterator[pa.Array]:
        for batch in progress.reading(source):
            carried.append(batch.other_columns)
            yield batch.texts

    with open_source(options) as source:
        for applied in model.transform_batches(texts(source)):
            tokens.add(applied.n_tokens, applied.n_unknown)
            yield carried.popleft(), applied.mixtures
    for sentence in source.skipped.describe_all():
        progress.log(sentence)


def get_count_settings(model: TopicModel, options: argparse.Namespace) -> CountSettings:
    """Return how a model counts texts; one that was fitted on counts does not know."""
    if model.fitted_.counting is None:
        raise InputError(
            f"{options.model} was fitted on counts, so it cannot count the texts of {options.input}; "
            "give it counts, or fit a model on texts"
        )
    return model.fitted_.counting


def transform_count_file(
    options: argparse.Namespace, model: TopicModel, tokens: TokenCounter
) -> tuple[pa.Table, Mixtures]:
    """Return all documents of a file of counts with their mixtures."""
    documents = read_counts(options.input, vocabulary=options.vocabulary, format=options.format)
    known = align_counts(documents, model.vocabulary_, options.model)
    total = int(documents.counts.sum())
    tokens.add(total, total - int(known.sum()))
    table = {"id": pa.array([str(k + 1) for k in range(known.shape[0])])}
    if documents.labels is not None:
        table["label"] = pa.array(documents.labels)
    return pa.table(table), model.infer_mixtures(known)


def align_counts(documents: CountedDocuments, vocabulary: list[str], model: str) -> Any:
    """Return counts with the words of a model as columns; words are known by their names."""
    if documents.vocabulary == vocabulary:
        return documents.counts
    column = {word: k for k, word in enumerate(vocabulary)}
    at = np.array([column.get(word, -1) for word in documents.vocabulary])
    if not np.any(at >= 0):
        raise InputError(format_vocabulary_error(model, documents.name))
    rows = np.flatnonzero(at >= 0)
    moved = sp.csr_matrix((np.ones(len(rows)), (rows, at[rows])), shape=(len(at), len(vocabulary)))
    return documents.counts @ moved


APPLY = Command(
    "apply",
    "topics of new documents under a fitted model",
    "Give every document of INPUT its shares of the topics of MODEL, as a table with the columns that INPUT carries.\n"
    "A document's shares depend on its own text only.",
    "anchorless apply reviews-topics new.csv -o new-topics.csv",
    add_options,
    run,
)
