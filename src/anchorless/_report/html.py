"""Write the report: one HTML file, made from a plain record, that needs no network, server or library."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from anchorless._files import atomic_write
from anchorless._report.page import TITLE_LENGTH, render_page, to_line, to_script_json, truncate
from anchorless._report.topic_map import compute_layout, order_topics, select_links
from anchorless.errors import InputError

#: The page stays below 5 MB: snippets are truncated to the first of these lengths that achieves it.
MAX_PAGE_BYTES = 4_900_000
SNIPPET_LENGTHS = (300, 240, 180, 120, 80, 40, 0)
#: Maximum number of documents on the page: those listed under topics, then the first ones.
MAX_REPORT_DOCUMENTS = 10_000
MAX_REPORT_LABELS = 200
#: Maximum length of one line (words, labels, ids) and of a diagnostic sentence, in characters.
LINE_LENGTH, SENTENCE_LENGTH = 120, 2000
#: Maximum number of topics in a document's mixture on the page.
MAX_TOPICS_PER_DOCUMENT = 8


class ReportWord(NamedTuple):
    """A word of a topic."""

    word: str
    probability: float
    distinctiveness: float  # in [0, 1]: this topic's part of the word's probabilities summed over all topics


class ReportTopic(NamedTuple):
    """A topic with its leading words and its documents."""

    number: int  # shown to the reader; all other fields refer to topics by position
    label: str
    share: float
    words: Sequence[ReportWord]
    coherence: float
    exclusivity: float
    documents: Sequence[int]  # positions in ReportData.documents, best first


class ReportDocument(NamedTuple):
    """A document with the beginning of its text and its largest topics."""

    id: str
    snippet: str
    topics: Sequence[tuple[int, float]]  # (position of the topic, share of the document), largest first
    label: str | None = None
    date: str | None = None


class Prevalence(NamedTuple):
    """Mean share of each topic in each period."""

    periods: Sequence[str]
    values: Sequence[Sequence[float]]  # topics × periods


class LabelTable(NamedTuple):
    """Mean share of each topic in the documents of each label."""

    names: Sequence[str]
    values: Sequence[Sequence[float]]  # labels × topics, mean shares
    counts: Sequence[int]  # documents per label


class ReportData(NamedTuple):
    """Everything that a report shows."""

    title: str
    subtitle: str
    topics: Sequence[ReportTopic]
    correlation: Sequence[Sequence[float]]
    documents: Sequence[ReportDocument]
    n_documents: int
    prevalence: Prevalence | None = None
    labels: LabelTable | None = None
    diagnostics: Sequence[tuple[str, str]] = ()  # heading, sentence
    uncertain: Sequence[tuple[int, int]] = ()  # pairs of topics whose correlation does not differ significantly from 0


def write_report(path: str | os.PathLike[str], data: ReportData, *, force: bool = False) -> None:
    """Write the report to a file; replace an existing file only with `force`."""
    html = render_report(data)
    with atomic_write(path, force=force) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
        file.write(html)


def render_report(data: ReportData) -> str:
    """Return the report as one HTML page; equal records give equal pages."""
    check_report(data)
    data = limit_report(data)
    items = [(topic.number, summarize_topic(topic)) for topic in data.topics]
    payload = build_payload(data)
    n_bytes = len(render_page(data.title, data.subtitle, items, to_script_json(payload)).encode())
    snippets = [document.snippet for document in data.documents]
    payload["documents"]["text"] = shorten_snippets(snippets, MAX_PAGE_BYTES - n_bytes)
    return render_page(data.title, data.subtitle, items, to_script_json(payload))


def summarize_topic(topic: ReportTopic) -> str:
    """Return a topic's share and leading words, for readers without scripts."""
    share = f"{topic.share:.1%} " if math.isfinite(topic.share) else ""
    return share + ", ".join(to_line(word.word, LINE_LENGTH) for word in topic.words[:10])


def shorten_snippets(texts: Sequence[str], max_bytes: int) -> list[str]:
    """Truncate the texts to the largest of `SNIPPET_LENGTHS` with which they fit into `max_bytes` bytes."""
    shortened = [to_line(text, SNIPPET_LENGTHS[0]) for text in texts]
    for length in SNIPPET_LENGTHS:
        shortened = [truncate(text, length) for text in shortened]
        if len(to_script_json(shortened).encode()) <= max_bytes:
            break
    return shortened


def check_report(data: ReportData) -> None:
    """Refuse a record with inconsistent parts: the page would show one topic's numbers under another's name."""
    F = len(data.topics)
    if F == 0:
        raise InputError("a report needs at least one topic, but the record has none")
    numbers = [topic.number for topic in data.topics]
    if len(set(numbers)) < F:
        raise InputError(f"topic numbers must differ, but the record has {numbers}")
    check_table("correlation", data.correlation, F, F)
    if data.prevalence is not None:
        check_table("prevalence.values", data.prevalence.values, F, len(data.prevalence.periods))
    if data.labels is not None:
        check_table("labels.values", data.labels.values, len(data.labels.names), F)
        if len(data.labels.counts) != len(data.labels.names):
            raise InputError(f"labels has {len(data.labels.names)} names, but {len(data.labels.counts)} counts")
    for topic in data.topics:
        check_positions(f"topic {topic.number}: document", topic.documents, len(data.documents))
    check_positions("uncertain: topic", [f for pair in data.uncertain for f in pair], F)
    for document in data.documents:
        check_positions(f"document {document.id!r}: topic", [f for f, _ in document.topics], F)


def check_table(name: str, table: Sequence[Sequence[float]], n_rows: int, n_columns: int) -> None:
    """Refuse a table that is not n_rows × n_columns."""
    lengths = {len(row) for row in table}
    if len(table) != n_rows or not lengths <= {n_columns}:
        found = f"{len(table)} × {'/'.join(map(str, sorted(lengths)))}"
        raise InputError(f"{name} must be {n_rows} × {n_columns}, but is {found}")


def check_positions(name: str, values: Sequence[int], n: int) -> None:
    """Refuse positions outside 0 … n − 1."""
    for value in values:
        if not 0 <= value < n:
            raise InputError(f"{name} {value} is not among the record's {n} (they count from 0)")


def limit_report(data: ReportData) -> ReportData:
    """Return the record with at most as many documents and labels as a page can hold; positions are adjusted."""
    if data.labels is not None:
        data = data._replace(labels=select_largest_labels(data.labels))
    if len(data.documents) <= MAX_REPORT_DOCUMENTS:
        return data
    listed = dict.fromkeys(i for topic in data.topics for i in topic.documents)
    kept = [*listed, *(i for i in range(len(data.documents)) if i not in listed)][:MAX_REPORT_DOCUMENTS]
    new_position = {old: new for new, old in enumerate(sorted(kept))}
    topics = [
        topic._replace(documents=[new_position[i] for i in topic.documents if i in new_position])
        for topic in data.topics
    ]
    return data._replace(topics=topics, documents=[data.documents[i] for i in new_position])


def select_largest_labels(labels: LabelTable) -> LabelTable:
    """Return the labels with the most documents, in their original order."""
    names, values, counts = labels
    rows = sorted(sorted(range(len(names)), key=lambda i: -counts[i])[:MAX_REPORT_LABELS])
    return LabelTable([names[i] for i in rows], [values[i] for i in rows], [counts[i] for i in rows])


def build_payload(data: ReportData) -> dict[str, Any]:
    """Return the data for the script, by column: field names repeated for 10,000 documents would take megabytes."""
    return {
        "topics": [build_topic_entry(topic) for topic in data.topics],
        "correlation": [[to_thousandths(r) for r in row[:f]] for f, row in enumerate(data.correlation)],
        "positions": [[round(float(x), 4) for x in point] for point in compute_layout(data.correlation)],
        "links": select_links(data.correlation),
        "uncertain": [[int(f), int(g)] for f, g in data.uncertain],
        "order": order_topics(data.correlation),
        "documents": build_document_columns(data.documents),
        "n_documents": int(data.n_documents),
        "prevalence": data.prevalence and build_table_entry(*data.prevalence),
        "labels": data.labels
        and build_table_entry(*data.labels[:2]) | {"counts": [int(n) for n in data.labels.counts]},
        "diagnostics": [
            [to_line(heading, TITLE_LENGTH), to_line(sentence, SENTENCE_LENGTH)]
            for heading, sentence in data.diagnostics
        ],
    }


def build_topic_entry(topic: ReportTopic) -> dict[str, Any]:
    """Return one topic for the script."""
    return {
        "number": int(topic.number),
        "label": to_line(topic.label, LINE_LENGTH),
        "share": round_significant(topic.share),
        "coherence": round_significant(topic.coherence, 3),
        "exclusivity": round_significant(topic.exclusivity, 3),
        "words": [[to_line(w, LINE_LENGTH), round_significant(p), round_significant(d, 3)] for w, p, d in topic.words],
        "documents": [int(i) for i in topic.documents],
    }


def build_document_columns(documents: Sequence[ReportDocument]) -> dict[str, Any]:
    """Return the documents by column, without their text; a column without any value is empty."""
    columns: dict[str, Any] = {
        "id": [to_line(document.id, LINE_LENGTH) for document in documents],
        "text": [],
        "topics": [encode_mixture(document.topics) for document in documents],
    }
    for name in ("label", "date"):
        values = [getattr(document, name) for document in documents]
        columns[name] = [to_line(v or "", LINE_LENGTH) for v in values] if any(values) else []
    return columns


def encode_mixture(topics: Sequence[tuple[int, float]]) -> list[int | None]:
    """Return a document's topics as [position, thousandths, position, thousandths, …]."""
    return [value for f, share in topics[:MAX_TOPICS_PER_DOCUMENT] for value in (int(f), to_thousandths(share))]


def build_table_entry(names: Sequence[str], values: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Return the table of periods or labels for the script."""
    return {
        "names": [to_line(name, LINE_LENGTH) for name in names],
        "values": [[round_significant(v, 3) for v in row] for row in values],
    }


def round_significant(x: float, digits: int = 4) -> float | None:
    """Round to significant digits; NaN and infinity become None, because JSON has neither."""
    return float(f"{float(x):.{digits}g}") if math.isfinite(x) else None


def to_thousandths(x: float) -> int | None:
    """Return a share or a correlation in thousandths, which takes a third of the bytes of a decimal fraction."""
    return round(1000 * float(x)) if math.isfinite(x) else None
