"""Texts in parts: what a worker, Dask's or Spark's, does with one part, and how the client puts all parts together.

Counts stay on the workers. Ids, labels, dates, the other columns of a file and the beginnings of the texts travel part
by part to temporary files of the client, so that its memory stays bounded.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anchorless._corpus.corpus import Corpus, describe_source, refuse_or_note_ids, translate_disk_errors
from anchorless._corpus.counting import PartCounts, batch_texts, count_all_terms
from anchorless._corpus.documents import Documents
from anchorless._corpus.io.readers import TextSource, open_texts
from anchorless._corpus.metadata import ColumnFile, Metadata, MetadataCollector
from anchorless._corpus.parts import SharedVocabulary, TermTotals, compute_totals, select_words
from anchorless._corpus.settings import CountSettings
from anchorless._corpus.snippets import SnippetFile, extract_snippets
from anchorless._distributed.tasks import to_canonical_blocks
from anchorless._topic_model.mixtures import Inference, Mixtures, stack_mixtures
from anchorless._topic_model.model import TopicModel
from anchorless.errors import InputError

#: Texts of some documents, and a table of the columns that go with them; None where there are none.
TextBatch = tuple[pa.Array, pa.Table | None]


class PartFacts(NamedTuple):
    """What goes with the documents of one part, and how the part was read."""

    columns: pa.Table | None  # a row per document; "id" is one of the columns if the documents have ids
    snippets: pa.Array  # the beginning of each text
    source: dict[str, Any]  # name, format, text column, size and hash of a file; empty for other texts
    notes: list[str]  # sentences about rows that were skipped
    has_row_numbers: bool  # in place of ids


class CountedPart(NamedTuple):
    """One part on a worker."""

    counts: PartCounts
    facts: PartFacts


class CollectedFacts(NamedTuple):
    """What goes with the documents of all parts."""

    metadata: Metadata
    columns: ColumnFile
    snippets: SnippetFile
    sources: list[dict[str, Any]]
    notes: list[str]

    def close(self) -> None:
        """Remove the temporary files."""
        self.columns.close()
        self.snippets.close()


def count_part(source: Any, settings: CountSettings, reading: dict[str, Any]) -> CountedPart:
    """Count one part: the name of a file, or strings."""
    if not isinstance(source, str):
        return count_batches(((texts, None) for texts in batch_texts(iter_strings(source))), settings)
    with open_part(source, reading) as file:
        part = count_batches(file, settings)
    columns, notes = part.facts.columns, file.skipped.describe_all()
    if file.id_column is None and columns is not None and "input_id" in columns.column_names:
        notes.append(refuse_or_note_ids(file))
    facts = PartFacts(columns, part.facts.snippets, describe_source(file), notes, file.id_column is None)
    return part._replace(facts=facts)


def count_batches(batches: Iterable[TextBatch], settings: CountSettings) -> CountedPart:
    """Count the texts of one part, which come in batches, and keep what goes with them."""
    tables: list[pa.Table] = []
    snippets = [pa.array([], pa.large_string())]

    def iter_texts() -> Iterator[pa.Array]:
        for texts, columns in batches:
            if columns is not None:
                tables.append(columns)
            snippets.append(extract_snippets(texts, email=settings.email, html=settings.html))
            yield texts

    counts = count_all_terms(iter_texts(), settings, 1)
    columns = pa.concat_tables(tables, promote_options="permissive") if tables else None
    return CountedPart(counts, PartFacts(columns, pa.concat_arrays(snippets), {}, [], False))


def iter_strings(part: Any) -> Iterable[str]:
    """Return the strings of a part, which a bag may pass as an iterator."""
    return part if isinstance(part, list | tuple | Iterator) else list(part)


def open_part(name: str, reading: dict[str, Any]) -> TextSource:
    """Open a file on a worker."""
    if not os.path.exists(name):
        raise InputError(
            f"{name} does not exist on {socket.gethostname()}",
            remedy="put the parts where every worker can read them by the same name",
        )
    return open_texts(name, **reading)


def get_facts(part: CountedPart) -> PartFacts:
    """Return what goes with the documents of a part."""
    return part.facts


def get_totals(part: CountedPart) -> TermTotals:
    """Return the totals of the terms of a part."""
    return compute_totals(part.counts)


def build_blocks(part: CountedPart, words: pa.Array) -> list[Any]:
    """Return a part as blocks of counts with the words as columns."""
    return to_canonical_blocks(select_words(part.counts, words))


def collect_facts(
    parts: Iterable[PartFacts], n_parts: int, label_column: str | None, date_column: str | None
) -> CollectedFacts:
    """Write what goes with the documents of each part to temporary files of this process, part by part.

    The columns of the first part are kept.
    """
    parts = iter(parts)
    first = next(parts)
    collector = MetadataCollector(first.source.get("name", "the input"), label_column, date_column)
    facts = CollectedFacts(Metadata(None, None, None), ColumnFile(), SnippetFile(), [], [])
    schema, n_documents = None, 0
    try:
        for part in chain([first], parts):
            check_same_text_column(first.source, part.source)
            if not len(part.snippets):
                continue
            columns = add_ids(part, n_documents, is_single=n_parts == 1)
            schema = choose_schema(columns) if schema is None else schema
            columns = align_columns(columns, schema, part.source.get("name", "a part"))
            with translate_disk_errors():
                facts.columns.add(columns)
                facts.snippets.add_snippets(part.snippets)
            collector.add(columns)
            facts.sources.append(part.source)
            facts.notes.extend(part.notes)
            n_documents += len(part.snippets)
    except BaseException:
        facts.close()
        raise
    return facts._replace(metadata=collector.collect())


def check_same_text_column(first: dict[str, Any], other: dict[str, Any]) -> None:
    """Refuse files whose texts were guessed to be in different columns."""
    if first.get("text_column") != other.get("text_column"):
        (first_name, first_column), (name, column) = (
            (source.get("name", "the strings"), source.get("text_column")) for source in (first, other)
        )
        raise InputError(
            f"the texts of {first_name} are in column {first_column!r}, those of {name} in {column!r}",
            remedy="pass {text_column}",
        )


def add_ids(part: PartFacts, n_before: int, *, is_single: bool) -> pa.Table:
    """Return the columns of a part with ids that differ from those of other parts.

    Documents without an id are numbered over all parts. Row numbers of a file count only within it, so that its name
    precedes them unless it `is_single`.
    """
    numbers = np.arange(n_before, n_before + len(part.snippets))
    if part.columns is None:
        return pa.table({"id": pa.array(numbers).cast(pa.string())})
    if "id" not in part.columns.column_names:
        return part.columns.add_column(0, "id", pa.array(numbers).cast(pa.string()))
    if missing := part.columns["id"].null_count:
        raise InputError(
            f"{missing:,} ids of a part are missing", remedy="give every document an id, or drop {id_column}"
        )
    if part.has_row_numbers and not is_single:
        ids = pc.binary_join_element_wise(Path(part.source["name"]).name, part.columns["id"], ":")
        return part.columns.set_column(part.columns.column_names.index("id"), "id", ids)
    return part.columns


def choose_schema(columns: pa.Table) -> pa.Schema:
    """Return the schema of the first part; a column of nulls alone may hold strings in another part."""
    fields = [field.with_type(pa.string()) if pa.types.is_null(field.type) else field for field in columns.schema]
    return pa.schema(fields)


def align_columns(columns: pa.Table, schema: pa.Schema, name: str) -> pa.Table:
    """Return the columns of the schema, null where they are missing."""
    aligned = []
    for field in schema:
        if field.name not in columns.column_names:
            aligned.append(pa.nulls(len(columns), field.type))
            continue
        try:
            aligned.append(columns[field.name].cast(field.type))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise InputError(
                f"{name}: the column {field.name!r} has other values than in the first part, {field.type} ({error})",
                remedy="give it one type in all parts",
            ) from None
    return pa.table(aligned, schema=schema)


def prepare_inference(model: TopicModel) -> Inference:
    """Return what workers need to find the topics of new documents; they may have other lists of stop words."""
    inference = model._get_inference()
    if inference.counting is None:
        return inference
    return inference._replace(counting=inference.counting.pin_stop_words())


def infer_part(inference: Inference, source: Any, reading: dict[str, Any]) -> Any:
    """Return the topics of the texts of one part (n, F)."""
    if not isinstance(source, str):
        return infer_batches(inference, batch_texts(iter_strings(source)))
    with open_part(source, reading) as file:
        return infer_batches(inference, (batch.texts for batch in file))


def infer_batches(inference: Inference, batches: Iterable[pa.Array]) -> Any:
    """Return the topics of batches of texts (n, F)."""
    return stack_shares(inference, (batch.mixtures for batch in inference.transform_batches(batches, 1)))


def infer_run(inference: Inference, blocks: Sequence[Any]) -> Any:
    """Return the topics of the documents of a run of counts (n, F)."""
    return stack_shares(inference, inference.transform_documents(Documents(blocks), 1))


def stack_shares(inference: Inference, parts: Iterable[Mixtures]) -> Any:
    """Return the shares of several batches as one array."""
    return stack_mixtures(parts, len(inference.components)).shares


def build_corpus(
    documents: Documents, chosen: SharedVocabulary, settings: CountSettings, facts: CollectedFacts
) -> Corpus:
    """Return the corpus of all parts, which owns the temporary files."""
    source = facts.sources[0]
    if len(facts.sources) > 1 and source:
        source = {"name": f"{source['name']} and {len(facts.sources) - 1} more", "parts": facts.sources}
    corpus = Corpus(
        documents,
        chosen.words.to_pylist(),
        counting=settings,
        metadata=facts.metadata,
        n_tokens=chosen.n_tokens,
        columns=facts.columns,
        snippets=facts.snippets,
        source=source | {"documents": chosen.n_documents, "tokens": chosen.n_tokens},
    )
    corpus.notes += dict.fromkeys(facts.notes)
    corpus.own(facts.close)
    return corpus
