"""Texts in parts: what a worker, Dask's or Spark's, does with one part, and how the client puts all parts together.

Counts stay on the workers. Ids, labels, dates, the other columns of a file and the beginnings of the texts travel part
by part to temporary files of the client, so that its memory stays bounded.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anchorless._corpus.corpus import Corpus, describe_source, refuse_or_note_ids
from anchorless._corpus.counting import batch_texts, count_all_terms
from anchorless._corpus.documents import Documents
from anchorless._corpus.io.readers import TextSource, open_texts
from anchorless._corpus.language import LanguageSample
from anchorless._corpus.metadata import ColumnFile, MetadataCollector
from anchorless._corpus.parts import SharedVocabulary, TermTotals, compute_totals, select_words
from anchorless._corpus.settings import CountSettings
from anchorless._corpus.snippets import SnippetFile, extract_snippets
from anchorless._corpus.storage import translate_disk_errors
from anchorless._distributed.tasks import to_canonical_blocks
from anchorless._topic_model.mixtures import Inference, stack_mixtures
from anchorless._topic_model.model import TopicModel
from anchorless.errors import InputError


class CountedPart(NamedTuple):
    """One part on a worker: its counts, what goes with its documents, and how it was read."""

    counts: Any  # PartCounts; None in what travels to the client
    columns: pa.Table | None  # a row per document; "id" is one of the columns if the documents have ids
    snippets: pa.Array  # the beginning of each text
    source: dict[str, Any]  # name, format, text column, size and hash of a file; empty for other texts
    notes: Sequence[str]  # sentences about rows that were skipped

    def drop_counts(self) -> CountedPart:
        """Return what goes with the documents."""
        return self._replace(counts=None)

    def compute_totals(self) -> TermTotals:
        """Return the totals of the terms."""
        return compute_totals(self.counts)

    def build_blocks(self, words: pa.Array) -> list[Any]:
        """Return the counts in blocks, with the words as columns."""
        return to_canonical_blocks(select_words(self.counts, words))


def count_part(source: Any, settings: CountSettings, reading: dict[str, Any], is_single: bool) -> CountedPart:
    """Count one part: the name of a file, or strings. Row numbers as ids need its name unless it `is_single`."""
    if not isinstance(source, str):
        return count_batches(((texts, None) for texts in batch_texts(source)), settings)
    with open_part(source, reading) as file:
        part = count_batches(file, settings)
    columns, notes = part.columns, file.describe_reading()
    if file.id_column is None and columns is not None:
        if "input_id" in columns.column_names:
            notes.append(refuse_or_note_ids(file))
        if not is_single:
            ids = pc.binary_join_element_wise(Path(source).name, columns["id"], ":")
            columns = columns.set_column(columns.column_names.index("id"), "id", ids)
    return part._replace(columns=columns, source=describe_source(file), notes=notes)


def refuse_split(settings: CountSettings) -> None:
    """Refuse settings that need all documents on one machine."""
    for name in ("split", "drop_boilerplate", "deduplicate"):
        if getattr(settings, name) not in (None, False):
            problem = "this is not done on a cluster"
            remedy = "do it before, or count the texts on one machine"
            raise InputError(problem, parameter=name, value=getattr(settings, name), remedy=remedy)


def sample_part(source: Any, settings: CountSettings, reading: dict[str, Any]) -> LanguageSample:
    """Return a sample of the first texts of a part, which tells their language."""
    sample = LanguageSample(settings)
    if not isinstance(source, str):
        sample.resolve(batch_texts(source))
        return sample
    with open_part(source, reading) as file:
        sample.resolve(batch.texts for batch in file)
    return sample


def count_batches(batches: Iterable[tuple[pa.Array, pa.Table | None]], settings: CountSettings) -> CountedPart:
    """Count the texts of one part, which come in batches with tables of other columns, and keep what goes with them."""
    tables, snippets = list[pa.Table](), [pa.array([], pa.large_string())]

    def iter_texts() -> Iterator[pa.Array]:
        for texts, columns in batches:
            if columns is not None:
                tables.append(columns)
            snippets.append(extract_snippets(texts, email=settings.email, html=settings.html))
            yield texts

    counts = count_all_terms(iter_texts(), settings, 1)
    columns = pa.concat_tables(tables, promote_options="permissive") if tables else None
    return CountedPart(counts, columns, pa.concat_arrays(snippets), {}, ())


def open_part(name: str, reading: dict[str, Any]) -> TextSource:
    """Open a file on a worker."""
    if not os.path.exists(name):
        problem = f"{name} does not exist on {socket.gethostname()}"
        raise InputError(problem, remedy="put the parts where every worker can read them by the same name")
    return open_texts(name, **reading)


def build_corpus(
    parts: Iterable[CountedPart],
    collector: MetadataCollector,
    settings: CountSettings,
    build_documents: Callable[[], tuple[Documents, SharedVocabulary]],
    sample: LanguageSample | None = None,
) -> Corpus:
    """Return the corpus of all parts, with the columns of the first; documents are built when no part is refused."""
    sources, notes, schema, n_documents = list[dict[str, Any]](), list[str](), None, 0
    with ExitStack() as stack:
        columns, snippets = ColumnFile(), SnippetFile()
        stack.callback(columns.close)
        stack.callback(snippets.close)
        for part in parts:
            name = part.source.get("name", "a part")
            sources.append(part.source)
            expected, found = (source.get("text_column") for source in (sources[0], part.source))
            if found != expected:
                problem = f"texts are in column {expected!r} of {sources[0].get('name')}, but in {found!r} of {name}"
                raise InputError(problem, remedy="pass {text_column}")
            if not len(part.snippets):
                continue
            table = add_ids(part.columns, n_documents, len(part.snippets))
            if schema is None:  # a column of nulls alone may hold strings in another part
                schema = pa.schema([f.with_type(pa.string()) if pa.types.is_null(f.type) else f for f in table.schema])
            table = align_columns(table, schema, name)
            with translate_disk_errors():
                columns.add(table)
                snippets.add_snippets(part.snippets)
            collector.add(table)
            notes.extend(part.notes)
            n_documents += len(part.snippets)
        documents, chosen = build_documents()
        source = sources[0]
        if len(sources) > 1 and source:
            source = {"name": f"{source['name']} and {len(sources) - 1} more", "parts": sources}
        corpus = Corpus(
            documents,
            chosen.words.to_pylist(),
            counting=settings,
            metadata=collector.collect(),
            n_tokens=chosen.n_tokens,
            columns=columns,
            snippets=snippets,
            source=source | {"documents": chosen.n_documents, "tokens": chosen.n_tokens},
        )
        corpus._notes += dict.fromkeys(notes)
        if sample is not None:
            corpus._note_languages(sample)
        corpus.own(stack.pop_all().close)
    return corpus


def add_ids(columns: pa.Table | None, start: int, n: int) -> pa.Table:
    """Return the columns of n documents with ids; those without are numbered from `start`, over all parts."""
    if columns is None or "id" not in columns.column_names:
        ids = pa.array(np.arange(start, start + n)).cast(pa.string())
        return pa.table({"id": ids}) if columns is None else columns.add_column(0, "id", ids)
    if missing := columns["id"].null_count:
        problem = f"{missing:,} ids of a part are missing"
        raise InputError(problem, remedy="give every document an id, or drop {id_column}")
    return columns


def align_columns(columns: pa.Table, schema: pa.Schema, name: str) -> pa.Table:
    """Return the columns of the schema, null where they are missing."""
    aligned = []
    for field in schema:
        values = columns[field.name] if field.name in columns.column_names else pa.nulls(len(columns))
        try:
            aligned.append(values.cast(field.type))
        except pa.ArrowException as error:
            problem = (
                f"{name}: the column {field.name!r} has other values than in the first part, {field.type} ({error})"
            )
            raise InputError(problem, remedy="give it one type in all parts") from None
    return pa.table(aligned, schema=schema)


def build_inference(model: TopicModel) -> Inference:
    """Return what workers need to find the topics of new documents; they may have other lists of stop words."""
    inference = model._get_inference()
    if inference.neighbors is not None:
        problem = "documents on a cluster cannot be transformed by a model that was fitted with embeddings"
        raise InputError(problem, remedy="transform in one process, or fit without embeddings")
    return inference._replace(counting=inference.counting and inference.counting.pin_stop_words())


def infer_part(inference: Inference, source: Any, reading: dict[str, Any]) -> Any:
    """Return the topics of the texts of one part (n, F)."""
    if not isinstance(source, str):
        return infer_batches(inference, batch_texts(source))
    with open_part(source, reading) as file:
        return infer_batches(inference, (batch.texts for batch in file))


def infer_batches(inference: Inference, batches: Iterable[pa.Array]) -> Any:
    """Return the topics of batches of texts (n, F)."""
    mixtures = (batch.mixtures for batch in inference.transform_batches(batches, 1))
    return stack_mixtures(mixtures, inference.n_topics).shares


def infer_run(inference: Inference, blocks: Sequence[Any]) -> Any:
    """Return the topics of the documents of a run of counts (n, F)."""
    return stack_mixtures(inference.transform_documents(Documents(blocks), 1), inference.n_topics).shares
