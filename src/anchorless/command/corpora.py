"""An input as a corpus: read and counted in one pass; what documents carry along waits on disk."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute

from anchorless.command.options import counting_of
from anchorless.command.progress import Progress
from anchorless.counting.counting import count_texts
from anchorless.counting.settings import Counting
from anchorless.documents import usable_threads
from anchorless.errors import UsageError
from anchorless.model.snippets import SnippetSpool
from anchorless.reading.batches import Batch
from anchorless.reading.counted import COUNT_FORMATS, counts_format, read_counts
from anchorless.reading.readers import TextSource, open_texts

#: Names of columns that are taken for labels and dates where none is named.
LABELS = ("label", "labels", "category", "class", "group", "section", "topic")
DATES = ("date", "datetime", "timestamp", "time", "created_at", "created", "published", "published_at", "year")


class CarriedSpool:
    """Columns that go with the documents, on disk, so that memory does not grow with them."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="anchorless-")  # noqa: SIM115 closed by close
        self._writer: Any = None
        self.schema: pa.Schema = pa.schema([("id", pa.string())])

    def add(self, table: pa.Table) -> None:
        """Take down the columns of one batch."""
        if self._writer is None:
            self.schema = table.schema
            self._writer = pa.ipc.new_stream(self._file, table.schema)
        self._writer.write_table(table.cast(self.schema))

    def tables(self) -> Iterator[pa.Table]:
        """Yield the batches again, from the first."""
        if self._writer is None:
            return
        self._writer.close()
        self._file.seek(0)
        for batch in pa.ipc.open_stream(self._file):
            yield pa.table(batch)

    def close(self) -> None:
        """Remove the file."""
        self._file.close()


class Corpus(NamedTuple):
    """A counted input."""

    name: str
    blocks: list[Any]  # CSR, documents × words
    vocabulary: list[str]
    counting: Counting | None  # None: it came counted
    counts: Any  # what `TopicModel.fit_counted` takes; None if it came counted
    ids: Any  # (N,) strings
    labels: Any  # (N,) strings, or None
    dates: Any
    carried: CarriedSpool
    snippets: SnippetSpool | None
    facts: dict[str, Any]  # for run.json


def is_counted(options: argparse.Namespace) -> bool:
    """Return whether the input holds counts, by its format or name."""
    if options.format is not None:
        return options.format in COUNT_FORMATS
    return options.input != "-" and counts_format(options.input) is not None


def open_source(options: argparse.Namespace) -> TextSource:
    """Open the texts that the options name."""
    return open_texts(
        options.input,
        text_column=options.text_column,
        id_column=options.id_column,
        format=options.format,
        strict=options.strict,
        encoding=options.encoding,
    )


@contextmanager
def read_corpus(options: argparse.Namespace, progress: Progress) -> Iterator[Corpus]:
    """Read and count the input; what it keeps on disk is removed at the end of the block."""
    with ExitStack() as stack:
        carried = CarriedSpool()
        stack.callback(carried.close)
        with progress.stage("read and count", f"counting {options.input}"):
            if is_counted(options):
                corpus = counted_corpus(options, carried)
            else:
                corpus = text_corpus(options, progress, carried, stack.enter_context(SnippetSpool()))
        say_corpus(corpus, progress)
        yield corpus


def text_corpus(
    options: argparse.Namespace, progress: Progress, carried: CarriedSpool, snippets: SnippetSpool
) -> Corpus:
    """Count texts as they are read."""
    settings = counting_of(options)  # before the file is opened: a wrong setting is said at once
    source = open_source(options)
    kept = Kept(options, source.name)

    def texts(batches: Iterable[Batch]) -> Iterator[pa.Array]:
        for batch in batches:
            carried.add(batch.carried)
            snippets.add(batch.texts)
            kept.add(batch.carried)
            yield batch.texts

    with source:
        counts = count_texts(texts(progress.reading(source)), settings, usable_threads(options.threads))
    for sentence in source.skipped.sentences():
        progress.say(sentence)
    facts = {
        "name": source.name,
        "format": source.format,
        "text_column": source.text_column,
        "bytes": source.bytes_read,
        "sha256": source.sha256(),
        "documents": counts.n_documents,
        "tokens": counts.n_tokens,
        "skipped": source.skipped.counts,
    }
    return Corpus(
        source.name, counts.blocks, counts.vocabulary, settings, counts, *kept.arrays(), carried, snippets, facts
    )


def counted_corpus(options: argparse.Namespace, carried: CarriedSpool) -> Corpus:
    """Read an input that is counted already."""
    if options.text_column or options.id_column:
        raise UsageError(f"{options.input} holds counts, which have no columns of texts or ids")
    documents = read_counts(options.input, vocabulary=options.vocabulary, format=options.format)
    ids = pa.array([str(k + 1) for k in range(documents.counts.shape[0])])
    labels = None if documents.labels is None else pa.array(documents.labels)
    carried.add(pa.table({"id": ids} | ({} if labels is None else {"label": labels})))
    facts = {
        "name": documents.name,
        "vocabulary": documents.vocabulary_name,
        "documents": documents.counts.shape[0],
        "tokens": int(documents.counts.sum()),
    }
    return Corpus(
        documents.name, [documents.counts], documents.vocabulary, None, None, ids, labels, None, carried, None, facts
    )


class Kept:
    """Ids, labels and dates, which stay in memory for the model and the report."""

    def __init__(self, options: argparse.Namespace, name: str) -> None:
        self.name = name
        self.wanted = {"label": options.label_column, "date": options.date_column}
        self.columns: dict[str, str | None] = {}
        self.parts: dict[str, list[Any]] = {"id": [], "label": [], "date": []}

    def add(self, table: pa.Table) -> None:
        """Keep the columns of one batch."""
        if not self.columns:
            names = {"label": LABELS, "date": DATES}
            self.columns = {role: self.choose(role, table.column_names, names[role]) for role in names}
        self.parts["id"].append(table["id"].combine_chunks().cast(pa.large_string()))
        for role, column in self.columns.items():
            if column is not None:
                self.parts[role].append(as_text(table[column].combine_chunks()))

    def choose(self, role: str, columns: list[str], customary: tuple[str, ...]) -> str | None:
        """Return the column that was named, or the first with a customary name."""
        wanted = self.wanted[role]
        if wanted is None:
            lower = {column.lower(): column for column in reversed(columns)}
            return next((lower[name] for name in customary if name in lower), None)
        if wanted not in columns:
            raise UsageError(f"{self.name} has no column {wanted!r} for --{role}-column; it has {', '.join(columns)}")
        return wanted

    def arrays(self) -> tuple[Any, Any, Any]:
        """Return ids, labels and dates; None for those that there are not."""
        return tuple(pa.concat_arrays(parts) if parts else None for parts in self.parts.values())  # type: ignore[return-value]


def as_text(column: pa.Array) -> pa.Array:
    """Return a column of any kind as strings; null where it is blank."""
    texts = column.cast(pa.large_string()) if not pa.types.is_nested(column.type) else pa.nulls(len(column))
    return pa.compute.if_else(pa.compute.equal(texts, ""), None, texts)


def say_corpus(corpus: Corpus, progress: Progress) -> None:
    """Say what was read."""
    facts = corpus.facts
    column = f' (column "{facts["text_column"]}")' if facts.get("text_column") else ""
    progress.say(f"read {facts['documents']:,} documents from {corpus.name}{column}")
    how = ""
    if corpus.counting is not None:
        least, most = corpus.counting.document_bounds(facts["documents"])
        how = f" (each in {least:,.0f} to {most:,.0f} documents; stop words: {corpus.counting.stop_words or 'none'})"
    elif facts.get("vocabulary") is None:
        how = " without a file of words, so they are called word_0, word_1 …"
    progress.say(f"vocabulary of {len(corpus.vocabulary):,} words{how}; {facts['tokens']:,} tokens")
