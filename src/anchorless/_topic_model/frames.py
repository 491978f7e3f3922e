"""Tables of a fitted model, as pandas data frames; the table of documents also as an Arrow table.

`TopicModel` documents the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from anchorless._corpus.documents import Array
from anchorless._corpus.io.batches import make_names_unique
from anchorless._corpus.metadata import Metadata
from anchorless._diagnostics.stability import Stability
from anchorless._report.html import LabelTable, PeriodTable
from anchorless._topic_model.fitted import DocumentSummary
from anchorless._topic_model.mixtures import Mixtures
from anchorless._topic_model.summary import MIN_RELATIVE_PROBABILITY, Topic, rank_pairs

if TYPE_CHECKING:
    from pandas import DataFrame


def topics_frame(topics: Sequence[Topic], notes: Sequence[str] = ()) -> DataFrame:
    """Return a table with one row per topic; it has a column of notes if there are any."""
    columns: dict[str, Any] = {"topic": [topic.number for topic in topics]}
    names = ("label", "share", "coherence", "exclusivity")
    columns |= {name: [getattr(topic, name) for topic in topics] for name in names}
    columns["words"] = [", ".join(topic.words) for topic in topics]
    columns["junk"] = pa.array([topic.junk for topic in topics], pa.string())
    columns |= {"note": [*notes]} if any(notes) else {}
    return pa.table(columns).to_pandas()


def words_frame(topics: Sequence[Topic]) -> DataFrame:
    """Return a table with one row per topic and word."""
    columns = {
        "topic": [topic.number for topic in topics for _ in topic.words],
        "rank": [rank for topic in topics for rank in range(1, len(topic.words) + 1)],
        "word": [word for topic in topics for word in topic.words],
        "probability": [p for topic in topics for p in topic.probabilities],
        "relevance": [value for topic in topics for value in topic.relevance],
        "distinctiveness": [d for topic in topics for d in topic.distinctiveness],
    }
    return pa.table(columns).to_pandas()


def document_table(
    columns: pa.Table,
    mixtures: Mixtures,
    labels: Sequence[str],
    *,
    decimals: int | None = None,
    with_rest: bool = False,
) -> pa.Table:
    """Return an Arrow table with one row per document: the given columns, then those of the topics.

    With `with_rest`, the last one is the share of topics that were dropped.

    A given column named like one of the others gets the prefix ``input_``. ``topic``, ``topic_label`` and ``share`` are
    null for a document without a word of the vocabulary. With `decimals`, shares and explained parts are rounded.
    """
    shares, explained = mixtures if decimals is None else (values.round(decimals) for values in mixtures)
    empty = ~mixtures.shares.any(axis=1)
    largest = mixtures.shares.argmax(axis=1)
    added: dict[str, Any] = {
        "topic": pa.array(largest.astype(np.int32), mask=empty),
        "topic_label": pa.array(np.array(labels, dtype=object)[largest], type=pa.string(), mask=empty),
        "share": pa.array(shares[np.arange(len(largest)), largest], mask=empty),
        "explained": pa.array(explained),
    }
    added |= {f"topic_{f}": pa.array(share) for f, share in enumerate(shares.T)}
    if with_rest:
        rest = np.where(empty, 0.0, np.maximum(0.0, 1.0 - mixtures.shares.sum(axis=1)))
        added["rest"] = pa.array(rest if decimals is None else rest.round(decimals))
    given = [f"input_{name}" if name in added else name for name in columns.column_names]
    names = make_names_unique([*added, *given])[len(added) :]
    return pa.table([*columns.columns, *added.values()], names=[*names, *added])


def tabulate_metadata(metadata: Metadata) -> pa.Table:
    """Return id, label and date of documents, where they are known."""
    given = {"id": metadata.ids, "label": metadata.labels, "date": metadata.dates}
    return pa.table({name: values for name, values in given.items() if values is not None})


def documents_frame(
    metadata: Metadata, mixtures: Mixtures, labels: Sequence[str], *, with_rest: bool = False
) -> DataFrame:
    """Return a table with one row per document: id, label and date where given, and what `document_table` adds."""
    return to_documents_frame(tabulate_metadata(metadata), mixtures, labels, with_rest=with_rest)


def to_documents_frame(
    columns: pa.Table, mixtures: Mixtures, labels: Sequence[str], *, with_rest: bool = False
) -> DataFrame:
    """Return a table with one row per document: the given columns, and what `document_table` adds."""
    import pandas as pd

    table = document_table(columns, mixtures, labels, with_rest=with_rest)
    return table.to_pandas(types_mapper={pa.int32(): pd.Int64Dtype()}.get)


def correlation_frame(correlation: Array) -> DataFrame:
    """Return the correlations (F, F) as a table whose rows and columns are the numbers of the topics."""
    import pandas as pd

    numbers = pd.RangeIndex(len(correlation), name="topic")
    return pd.DataFrame(correlation, index=numbers, columns=numbers)


def correlation_edges(
    association: Array, correlation: Array, labels: Sequence[str], stability: Stability | None = None
) -> DataFrame:
    """Return a table with one row per pair of topics, the strongest positive association first."""
    pairs = rank_pairs(association)
    a, b = [pair.first for pair in pairs], [pair.second for pair in pairs]
    columns: dict[str, Any] = {"topic_a": a, "topic_b": b, "label_a": [labels[f] for f in a]}
    columns |= {"label_b": [labels[f] for f in b], "association": [pair.value for pair in pairs]}
    columns |= {"correlation": correlation[a, b]}
    if stability is not None:
        low, high, p = stability.association.low, stability.association.high, stability.association_p
        columns |= {"low": low[a, b], "high": high[a, b], "p": p[a, b]}
    return pa.table(columns).to_pandas()


def stability_frame(stability: Stability, labels: Sequence[str], vocabulary: Sequence[str]) -> DataFrame:
    """Return a table with one row per topic and leading word, without words that are rounding errors."""
    shares, probabilities = stability.shares, stability.probabilities
    least = MIN_RELATIVE_PROBABILITY * probabilities.estimate.max(axis=1, keepdims=True)
    listed = (probabilities.high > least) | np.isnan(probabilities.high)
    topic = np.nonzero(listed)[0]
    columns = {
        "topic": topic,
        "label": [labels[f] for f in topic.tolist()],
        "stability": stability.topic_stability[topic],
        "share": shares.estimate[topic],
        "share_low": shares.low[topic],
        "share_high": shares.high[topic],
        "word": [vocabulary[v] for v in stability.words[listed].tolist()],
        "word_stability": stability.word_stability[listed],
        "probability": probabilities.estimate[listed],
        "probability_low": probabilities.low[listed],
        "probability_high": probabilities.high[listed],
    }
    return pa.table(columns).to_pandas()


def languages_frame(table: Any, labels: Sequence[str]) -> DataFrame:
    """Return a table with one row per language and topic: mean share of the topic in documents of the language."""
    shares = get_means(table)[0]
    rows = [
        (name, n, topic, label, shares[i][topic])
        for i, (name, n) in enumerate(zip(table.names, table.counts, strict=True))
        for topic, label in enumerate(labels)
    ]
    names = ("language", "documents", "topic", "topic_label", "share")
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))).to_pandas()


def examples_frame(kept: DocumentSummary, labels: Sequence[str], n: int) -> DataFrame:
    """Return a table with one row per topic and document that stands for it, the best first."""
    rows = [
        (topic, rank, kept.documents[i])
        for topic, positions in enumerate(kept.representatives)
        for rank, i in enumerate(positions[:n], start=1)
    ]
    documents = [document for _, _, document in rows]
    columns: dict[str, Any] = {
        "topic": pa.array([topic for topic, _, _ in rows], type=pa.int64()),
        "topic_label": [labels[topic] for topic, _, _ in rows],
        "rank": pa.array([rank for _, rank, _ in rows], type=pa.int64()),
        "id": [document.id for document in documents],
    }
    for name in ("label", "date"):
        values = [getattr(document, name) for document in documents]
        columns |= {name: values} if any(value is not None for value in values) else {}
    columns |= {"explained": [document.explained for document in documents]}
    return pa.table(columns | {"text": [document.snippet for document in documents]}).to_pandas()


def group_frames(kept: DocumentSummary, labels: Sequence[str]) -> dict[str, DataFrame]:
    """Return mean shares by period and by label, where there are any: one row per period or label, and topic."""
    found = {}
    if kept.by_period is not None:
        periods, *by_topic = kept.by_period.periods, *get_means(kept.by_period)
        by_period = [None if values is None else [*zip(*values, strict=True)] for values in by_topic]
        found["over time"] = group_frame("period", periods, kept.by_period.counts, by_period, labels)
    if kept.by_label is not None:
        names, counts = kept.by_label.names, kept.by_label.counts
        found["by label"] = group_frame("value", names, counts, get_means(kept.by_label), labels)
    return found


def get_means(table: LabelTable | PeriodTable) -> list[Any]:
    """Return the means of a table, and the ends of their intervals where they are known, as shares from 0 to 1."""
    found = (table.values, table.low, table.high)
    return [None if rows is None else np.clip(rows, 0.0, 1.0).tolist() for rows in found]


def group_frame(
    column: str, names: Sequence[str], counts: Sequence[int], means: Sequence[Any], labels: Sequence[str]
) -> DataFrame:
    """Return means, low and high, each (groups, F), as a table with one row per group and topic."""
    n_topics = len(labels)
    columns: dict[str, Any] = {
        column: [name for name in names for _ in range(n_topics)],
        "topic": [*range(n_topics)] * len(names),
        "label": [*labels] * len(names),
    }
    given = zip(("share", "low", "high"), means, strict=True)
    columns |= {name: [value for row in values for value in row] for name, values in given if values is not None}
    columns["n_documents"] = [count for count in counts for _ in range(n_topics)]
    return pa.table(columns).to_pandas()
