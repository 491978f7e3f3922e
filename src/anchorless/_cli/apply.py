"""`anchorless apply`: the topics of new documents under a model that was fitted before."""

from __future__ import annotations

import argparse
import sys
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa

from anchorless._cli import options as shared
from anchorless._cli.corpora import read_corpus
from anchorless._cli.printing import print_json
from anchorless._cli.progress import ConsoleProgress
from anchorless._cli.tables import drop_column, write_documents, zip_mixtures
from anchorless._corpus.corpus import Corpus, is_counts_file
from anchorless._corpus.io.readers import TextSource, open_texts
from anchorless._corpus.settings import CountSettings
from anchorless._corpus.text.splitting import DOCUMENT
from anchorless._files import atomic_write
from anchorless._topic_model.mixtures import Mixtures, merge_parts
from anchorless._topic_model.model import TopicModel
from anchorless.errors import InputError, UsageError, render_message

#: Documents without a known word, after which the input is said to have another vocabulary.
MAX_BUFFERED_DOCUMENTS = 100_000
SOURCE_OPTIONS = ("text_column", "id_column", "format", "table", "encoding", "strict")

MixtureRows = Iterator[tuple[pa.Table, Mixtures]]


def run(options: argparse.Namespace) -> None:
    """Write the documents with their topics to a file or to stdout."""
    progress, tokens = ConsoleProgress(quiet=options.quiet), Counter(tokens=0, unknown_tokens=0)
    to_stdout = options.output == "-"
    if options.json and to_stdout:
        raise UsageError("--json prints a summary on stdout, so the table needs a file; name it with -o")
    format = "csv" if to_stdout else Path(options.output).suffix.lstrip(".").lower()
    if format not in shared.TABLE_FORMATS:
        raise UsageError(f"cannot write {options.output}: tables are .{' or .'.join(shared.TABLE_FORMATS)}")
    model = TopicModel.load(shared.resolve_model_path(options.model)).set_params(n_jobs=options.jobs)
    with open_stdout() if to_stdout else atomic_write(options.output, force=options.force) as target:
        known = buffer_until_known(transform_input(options, model, progress, tokens), tokens, options)
        how = {"with_rest": model.rest_share_ > 0, "raw_cells": options.raw_cells}
        count = write_documents(target, known, model.topic_labels_, format, **how)
    n, unknown = tokens["tokens"], tokens["unknown_tokens"]
    share = f"{unknown:,} of {n:,} tokens ({unknown / max(n, 1):.1%})"
    progress.log(f"{count:,} document{'s' * (count != 1)}; {share} are of words that the model does not know")
    if options.json:
        print_json({"documents": count, **tokens})


@contextmanager
def open_stdout() -> Iterator[IO[bytes]]:
    """Yield stdout for bytes."""
    sys.stdout.flush()
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


def buffer_until_known(given: MixtureRows, tokens: Counter[str], options: argparse.Namespace) -> MixtureRows:
    """Yield parts once the model knows a word: rows on stdout cannot be taken back."""
    waiting: list[tuple[pa.Table, Mixtures]] = []
    n_waiting = 0
    for part in given:
        waiting.append(part)
        n_waiting += len(part[0])
        if tokens["unknown_tokens"] == tokens["tokens"]:
            if n_waiting < MAX_BUFFERED_DOCUMENTS:
                continue
            if tokens["tokens"]:  # documents without any word say nothing about the model
                raise make_vocabulary_error(options.model, f"the first {n_waiting:,} documents of {options.input}")
        yield from waiting
        waiting, n_waiting = [], 0
    if waiting and tokens["tokens"]:
        raise make_vocabulary_error(options.model, options.input)
    yield from waiting


def make_vocabulary_error(model: str, name: str) -> InputError:
    """Return the error of a model that knows no word of an input."""
    problem = f"{model} knows none of the words of {name}: it is a model of another vocabulary"
    return InputError(problem, remedy="fit one on these documents")


def transform_input(
    options: argparse.Namespace, model: TopicModel, progress: ConsoleProgress, tokens: Counter[str]
) -> MixtureRows:
    """Yield the columns of the documents with their mixtures: texts in batches, in bounded memory."""
    if is_counts_file(options.inputs, options.format):
        with read_aligned(options, model, progress) as corpus:
            tokens.update(tokens=corpus.n_tokens, unknown_tokens=corpus.n_unknown or 0)
            embeddings = shared.read_given_embeddings(options.embeddings, corpus.iter_columns, options.input)
            yield from zip_mixtures(corpus.iter_columns(), model._infer(corpus.documents, embeddings))
        return
    settings = get_count_settings(model, options)
    columns: deque[pa.Table] = deque()
    if options.whole and settings.split is None:
        raise UsageError("--whole is for a model whose documents were divided; leave it out, or fit with --split")
    merge = PartMerger(options.whole)

    def iter_texts(source: TextSource) -> Iterator[pa.Array]:
        for batch in source:
            columns.append(drop_column(batch.other_columns, options.embeddings))
            yield batch.texts

    reading = {name: getattr(options, name) for name in SOURCE_OPTIONS} | {"split": settings.split}
    embeddings = shared.read_given_embeddings(options.embeddings, partial(iter_tables, options), options.input)
    with open_texts(options.inputs, **reading) as source, progress.track_reading(options.input):
        for found in model.transform_batches(iter_texts(source), embeddings):
            tokens.update(tokens=found.n_tokens, unknown_tokens=found.n_unknown or 0)
            yield from merge(columns.popleft(), found.mixtures, found.lengths)
    yield from merge.finish()
    for sentence in source.describe_reading():
        progress.log(render_message(sentence, shared.name_option))


class PartMerger:
    """Merge the parts of documents as they come; the last document of a batch may go on in the next one."""

    def __init__(self, is_active: bool) -> None:
        self._is_active = is_active
        self._waiting: tuple[pa.Table, Mixtures, Any] | None = None

    def __call__(self, columns: pa.Table, mixtures: Mixtures, lengths: Any) -> MixtureRows:
        """Yield the documents that are complete."""
        if not self._is_active:
            yield columns, mixtures
            return
        columns = columns.select([DOCUMENT])
        if self._waiting is not None:
            before, earlier, sizes = self._waiting
            columns, lengths = pa.concat_tables([before, columns]), np.concatenate([sizes, lengths])
            mixtures = Mixtures(*(np.concatenate(pair) for pair in zip(earlier, mixtures, strict=True)))
        ids = columns[DOCUMENT].to_pylist()
        last = next((row for row in range(len(ids) - 1, 0, -1) if ids[row - 1] != ids[-1]), 0)
        self._waiting = columns.slice(last), Mixtures(mixtures.shares[last:], mixtures.explained[last:]), lengths[last:]
        if last:
            done = Mixtures(mixtures.shares[:last], mixtures.explained[:last])
            yield merge_parts(columns[DOCUMENT].slice(0, last).combine_chunks(), done, lengths[:last])

    def finish(self) -> MixtureRows:
        """Yield the last document."""
        if self._waiting is not None:
            columns, mixtures, lengths = self._waiting
            yield merge_parts(columns[DOCUMENT].combine_chunks(), mixtures, lengths)


def iter_tables(options: argparse.Namespace) -> Iterator[pa.Table]:
    """Yield the columns of an input, in a pass of their own."""
    if "-" in options.inputs:
        raise UsageError("stdin can be read only once; give the embeddings in a file")
    with open_texts(options.inputs, **{name: getattr(options, name) for name in SOURCE_OPTIONS}) as source:
        for batch in source:
            yield batch.other_columns


def get_count_settings(model: TopicModel, options: argparse.Namespace) -> CountSettings:
    """Return how a model counts texts; refuse texts for a model that was fitted on counts."""
    if model.fitted_counting_ is None:
        raise InputError(
            f"{options.model} was fitted on counts, so it cannot count the texts of {options.input}",
            remedy="give it counts, or fit a model on texts",
        )
    return model.fitted_counting_


@contextmanager
def read_aligned(options: argparse.Namespace, model: TopicModel, progress: ConsoleProgress) -> Iterator[Corpus]:
    """Yield the input counted with the words of a model."""
    counted = is_counts_file(options.inputs, options.format)
    settings = CountSettings() if counted else get_count_settings(model, options)
    with read_corpus(options, progress, settings=settings, vocabulary=model.vocabulary_) as corpus:
        if counted:
            corpus = corpus.align(model.vocabulary_)
        if corpus.n_unknown == corpus.n_tokens:
            raise make_vocabulary_error(options.model, options.input)
        yield corpus
