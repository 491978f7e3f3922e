"""The report: a plain record in, one HTML file out that needs no network, no server and no library."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from anchorless._files import atomic_write
from anchorless._report.page import TITLE_LENGTH, page, to_line, to_script_json, truncate
from anchorless._report.topic_map import compute_layout, order_topics, select_links
from anchorless.errors import InputError

#: The page stays below 5 MB: snippets are cut to the first of these lengths with which it does.
MAX_PAGE_BYTES = 4_900_000
SNIPPET_LENGTHS = (300, 240, 180, 120, 80, 40, 0)
#: More documents than this are not taken into the page: those that topics name, then the first ones.
MAX_REPORT_DOCUMENTS = 10_000
MAX_REPORT_LABELS = 200
#: Characters that are kept of what is shown in one line, and of a sentence of the diagnostics.
LINE_LENGTH, SENTENCE_LENGTH = 120, 2000
#: Topics that are kept of a document's mixture.
MAX_TOPICS_PER_DOCUMENT = 8


class ReportWord(NamedTuple):
    """A word of a topic."""

    word: str
    probability: float
    distinctiveness: float  # in [0, 1]: the share of the word's mass that this topic has


class ReportTopic(NamedTuple):
    """A topic with its leading words and its documents."""

    number: int  # what the reader sees; everywhere else topics are meant by their position
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
    """Topics over time."""

    periods: Sequence[str]
    values: Sequence[Sequence[float]]  # topics × periods


class LabelTable(NamedTuple):
    """Topics of the documents of each label."""

    names: Sequence[str]
    values: Sequence[Sequence[float]]  # labels × topics, mean shares
    counts: Sequence[int]  # documents per label


class ReportData(NamedTuple):
    """All that a report shows."""

    title: str
    subtitle: str
    topics: Sequence[ReportTopic]
    correlation: Sequence[Sequence[float]]
    documents: Sequence[ReportDocument]
    n_documents: int
    prevalence: Prevalence | None = None
    labels: LabelTable | None = None
    diagnostics: Sequence[tuple[str, str]] = ()  # heading, sentence in plain words
    uncertain: Sequence[tuple[int, int]] = ()  # pairs of topics whose correlation may be none


def write_report(path: str | os.PathLike[str], data: ReportData, *, force: bool = False) -> None:
    """Write the report to a file; one that is there already is replaced only with `force`."""
    page = render_report(data)
    with atomic_write(path, force=force) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
        file.write(page)


def render_report(data: ReportData) -> str:
    """Return the report as one HTML page: the same record gives the same bytes."""
    check_report(data)
    data = limit_report(data)
    items = [(topic.number, summarize_topic(topic)) for topic in data.topics]
    entries = build_payload(data)
    room = MAX_PAGE_BYTES - len(page(data.title, data.subtitle, items, to_script_json(entries)).encode())
    entries["documents"]["text"] = shorten_snippets([document.snippet for document in data.documents], room)
    return page(data.title, data.subtitle, items, to_script_json(entries))


def summarize_topic(topic: ReportTopic) -> str:
    """Return a topic's share and leading words, for readers without scripts."""
    share = f"{topic.share:.1%} " if math.isfinite(topic.share) else ""
    return share + ", ".join(to_line(word.word, LINE_LENGTH) for word in topic.words[:10])


def shorten_snippets(texts: Sequence[str], max_bytes: int) -> list[str]:
    """Return the beginnings of texts, cut to the largest length with which they fit into `room` bytes."""
    shortened = [to_line(text, SNIPPET_LENGTHS[0]) for text in texts]
    for length in SNIPPET_LENGTHS:
        shortened = [truncate(text, length) for text in shortened]
        if len(to_script_json(shortened).encode()) <= max_bytes:
            break
    return shortened


def check_report(data: ReportData) -> None:
    """Refuse a record whose parts do not fit together: the page would show one topic's figures under another's name."""
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
    """Return the record with no more documents and labels than a page can carry; positions follow."""
    if data.labels is not None:
        data = data._replace(labels=select_largest_labels(data.labels))
    if len(data.documents) <= MAX_REPORT_DOCUMENTS:
        return data
    named = dict.fromkeys(i for topic in data.topics for i in topic.documents)
    first = [*named, *(i for i in range(len(data.documents)) if i not in named)][:MAX_REPORT_DOCUMENTS]
    place = {old: new for new, old in enumerate(sorted(first))}
    topics = [topic._replace(documents=[place[i] for i in topic.documents if i in place]) for topic in data.topics]
    return data._replace(topics=topics, documents=[data.documents[i] for i in place])


def select_largest_labels(labels: LabelTable) -> LabelTable:
    """Return the labels with the most documents, in the order they had."""
    names, values, counts = labels
    rows = sorted(sorted(range(len(names)), key=lambda i: -counts[i])[:MAX_REPORT_LABELS])
    return LabelTable([names[i] for i in rows], [values[i] for i in rows], [counts[i] for i in rows])


def build_payload(data: ReportData) -> dict[str, Any]:
    """Return what the script reads: columns instead of records, since names repeated 10,000 times are megabytes."""
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
    """Return the documents by column, without their text; a column that no document fills is empty."""
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
    """Round to some digits; what is not a finite number is None, since JSON knows no NaN."""
    return float(f"{float(x):.{digits}g}") if math.isfinite(x) else None


def to_thousandths(x: float) -> int | None:
    """Return a share or a correlation as a whole number of thousandths: a third of the bytes of a decimal."""
    return round(1000 * float(x)) if math.isfinite(x) else None
