"""An input as a corpus: read and counted in one pass; what documents carry along waits on disk."""

from __future__ import annotations

import argparse
import hashlib
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

import pyarrow as pa
import pyarrow.compute

from anchorless._cli.large import count_on_disk, is_large, open_store
from anchorless._cli.options import build_count_settings
from anchorless._cli.progress import ConsoleProgress
from anchorless._corpus.counting import Counts, count_texts
from anchorless._corpus.disk.store import StoredCounts
from anchorless._corpus.io.batches import Batch
from anchorless._corpus.io.count_readers import COUNT_FORMATS, guess_counts_format, read_counts
from anchorless._corpus.io.readers import TextSource, open_texts
from anchorless._corpus.settings import CountSettings
from anchorless._corpus.snippets import SnippetFile
from anchorless._corpus.threads import resolve_n_threads
from anchorless.errors import InputError, UsageError

#: Names of columns that are taken for labels and dates where none is named.
LABEL_NAMES = ("label", "labels", "category", "class", "group", "section", "topic")
DATE_NAMES = ("date", "datetime", "timestamp", "time", "created_at", "created", "published", "published_at", "year")


class ColumnFile:
    """Columns that go with the documents, on disk, so that memory does not grow with them."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="anchorless-")  # noqa: SIM115 closed by close
        self._writer: Any = None
        self.schema: pa.Schema = pa.schema([("id", pa.string())])

    def __enter__(self) -> Self:
        return self

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

    def __exit__(self, *_: object) -> None:
        """Remove the file."""
        self._file.close()


def close_quietly(spool: ColumnFile | SnippetFile) -> None:
    """Remove the file of a spool; that its last bytes found no place on the disk does not matter any more."""
    with suppress(OSError):
        spool.__exit__()


class CountedCorpus(NamedTuple):
    """A counted input."""

    name: str
    blocks: list[Any]  # CSR, documents × words; empty where counts are on disk
    vocabulary: list[str]
    counting: CountSettings | None  # None: it came counted
    counts: Any  # what `TopicModel.fit_counted` takes; None if it came counted
    ids: Any  # (N,) strings
    labels: Any  # (N,) strings, or None
    dates: Any
    carried: ColumnFile
    snippets: SnippetFile | None
    facts: dict[str, Any]  # for run.json


def is_counted(options: argparse.Namespace) -> bool:
    """Return whether the input holds counts, by its format or name."""
    if options.format is not None:
        return options.format in COUNT_FORMATS
    return options.input != "-" and guess_counts_format(options.input) is not None


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
def read_corpus(
    options: argparse.Namespace, progress: ConsoleProgress, store: Path | None = None
) -> Iterator[CountedCorpus]:
    """Read and count the input; what it keeps on disk is removed at the end of the block.

    `store` is the folder in which texts that are large for `options.parse_memory` are counted; None for never.
    """
    with ExitStack() as stack:
        carried = ColumnFile()
        stack.callback(close_quietly, carried)
        with progress.stage("read and count", f"counting {options.input}"):
            if is_counted(options):
                corpus = load_count_corpus(options, carried)
            else:
                snippets = SnippetFile(email=options.email, html=options.html)
                stack.callback(close_quietly, snippets)
                corpus = count_text_corpus(options, progress, carried, snippets, StoreLocation(store, stack))
        log_corpus(corpus, progress)
        yield corpus


class StoreLocation(NamedTuple):
    """Where large texts are counted, None for nowhere, and what cleans up there."""

    path: Path | None
    stack: ExitStack


def count_text_corpus(
    options: argparse.Namespace,
    progress: ConsoleProgress,
    carried: ColumnFile,
    snippets: SnippetFile,
    disk: StoreLocation,
) -> CountedCorpus:
    """Count texts as they are read."""
    settings = build_count_settings(options)  # before the file is opened: a wrong setting is said at once
    source = open_source(options)
    kept = MetadataCollector(options, source.name)

    def texts(batches: Iterable[Batch]) -> Iterator[pa.Array]:
        for batch in batches:
            with translate_disk_errors():
                carried.add(batch.carried)
                snippets.add(batch.texts)
            kept.add(batch.carried)
            yield batch.texts

    with source:
        batches, threads = texts(progress.reading(source)), resolve_n_threads(options.threads)
        try:
            counts: Counts | StoredCounts
            if disk.path is not None and is_large(source, options.memory):
                store = disk.stack.enter_context(open_store(disk.path, source, settings, progress))
                counts = count_on_disk(store, batches, settings, threads)
            else:
                counts = count_texts(batches, settings, threads)
        except InputError:
            refuse_single_document(source)  # every word of it is in all documents, but that is not what is wrong
            raise
    for sentence in source.skipped.describe_all():
        progress.log(sentence)
    if source.id_column is None and "input_id" in carried.schema.names:
        if options.strict:
            raise InputError(
                f'{source.name}: the column "id" repeats or lacks values; without --strict it is left aside'
            )
        progress.log('the column "id" repeats or lacks values, so documents are numbered; --id-column id takes it')
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
    blocks = [] if isinstance(counts, StoredCounts) else counts.blocks
    return CountedCorpus(
        source.name, blocks, counts.vocabulary, settings, counts, *kept.arrays(), carried, snippets, facts
    )


def refuse_single_document(source: TextSource) -> None:
    """Refuse an input of one document."""
    if source.n_documents == 1:
        raise InputError(f"{source.name} holds 1 document: topics are what documents share, so give at least 2")


@contextmanager
def translate_disk_errors() -> Iterator[None]:
    """Say which disk is full, and it is not the one with the results."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"cannot write temporary files to {tempfile.gettempdir()}: {error.strerror or error}; "
            "free some space, or set TMPDIR to a folder with more"
        ) from error


def refuse_text_options(options: argparse.Namespace) -> None:
    """Refuse options that say how to read and count texts: they would do nothing, without a word."""
    for name in ("text_column", "id_column", "label_column", "date_column"):
        if getattr(options, name):
            raise UsageError(f"--{name.replace('_', '-')}, but {options.input} holds counts, which have no columns")
    if build_count_settings(options) != CountSettings():
        raise UsageError(f"{options.input} is counted already; leave out the options that say how to count")


def load_count_corpus(options: argparse.Namespace, carried: ColumnFile) -> CountedCorpus:
    """Read an input that is counted already."""
    refuse_text_options(options)
    documents = read_counts(options.input, vocabulary=options.vocabulary, format=options.format)
    ids = pa.array([str(k + 1) for k in range(documents.counts.shape[0])])
    labels = None if documents.labels is None else pa.array(documents.labels)
    carried.add(pa.table({"id": ids} | ({} if labels is None else {"label": labels})))
    facts = {
        "name": documents.name,
        "sha256": sha256(documents.name),
        "vocabulary": documents.vocabulary_name,
        "vocabulary_sha256": sha256(documents.vocabulary_name),
        "documents": documents.counts.shape[0],
        "tokens": int(documents.counts.sum()),
    }
    return CountedCorpus(
        documents.name, [documents.counts], documents.vocabulary, None, None, ids, labels, None, carried, None, facts
    )


def sha256(name: str | None) -> str | None:
    """Return the hash of a file, None for a pipe."""
    if name is None or not Path(name).is_file():
        return None
    with open(name, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class MetadataCollector:
    """Ids, labels and dates, which stay in memory for the model and the report."""

    def __init__(self, options: argparse.Namespace, name: str) -> None:
        self.name = name
        self.requested = {"label": options.label_column, "date": options.date_column}
        self.columns: dict[str, str | None] = {}
        self.parts: dict[str, list[Any]] = {"id": [], "label": [], "date": []}

    def add(self, table: pa.Table) -> None:
        """Keep the columns of one batch."""
        if not self.columns:
            names = {"label": LABEL_NAMES, "date": DATE_NAMES}
            self.columns = {role: self.choose_column(role, table.column_names, names[role]) for role in names}
        self.parts["id"].append(table["id"].combine_chunks().cast(pa.large_string()))
        for role, column in self.columns.items():
            if column is not None:
                self.parts[role].append(to_text_column(table[column].combine_chunks()))

    def choose_column(self, role: str, columns: list[str], customary: tuple[str, ...]) -> str | None:
        """Return the column that was named, or the first with a customary name."""
        wanted = self.requested[role]
        if wanted is None:
            lower = {column.lower(): column for column in reversed(columns)}
            return next((lower[name] for name in customary if name in lower), None)
        if wanted not in columns:
            others = ", ".join(f'"{column}"' for column in columns)
            raise UsageError(
                f"--{role}-column {wanted!r} is no column of {self.name} beside its text; there are {others}"
            )
        return wanted

    def arrays(self) -> tuple[Any, Any, Any]:
        """Return ids, labels and dates; None for those that there are not."""
        return tuple(pa.concat_arrays(parts) if parts else None for parts in self.parts.values())  # type: ignore[return-value]


def to_text_column(column: pa.Array) -> pa.Array:
    """Return a column as strings; null where it is blank."""
    texts = column.cast(pa.large_string())
    return pa.compute.if_else(pa.compute.equal(texts, ""), None, texts)


def log_corpus(corpus: CountedCorpus, progress: ConsoleProgress) -> None:
    """Say what was read."""
    facts = corpus.facts
    column = f' (column "{facts["text_column"]}")' if facts.get("text_column") else ""
    progress.log(f"read {facts['documents']:,} documents from {corpus.name}{column}")
    how = ""
    if corpus.counting is not None:
        least, most = corpus.counting.compute_df_bounds(facts["documents"])
        how = f" (each in {least:,.0f} to {most:,.0f} documents; stop words: {corpus.counting.stop_words or 'none'})"
    elif facts.get("vocabulary") is None:
        how = " without a file of words, so they are called word_0, word_1 …"
    progress.log(f"vocabulary of {len(corpus.vocabulary):,} words{how}; {facts['tokens']:,} tokens")
