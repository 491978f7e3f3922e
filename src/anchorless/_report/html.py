"""Write the report: one HTML file, made from a plain record, that needs no network, server or library."""

from __future__ import annotations

import base64
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from anchorless._files import atomic_write
from anchorless._locks import FileState
from anchorless._report.earlier_reports import keep_documents
from anchorless._report.effects_section import EffectsSection, build_effects_payload
from anchorless._report.page import (
    TITLE_LENGTH,
    render_page,
    replace_data,
    to_line,
    to_script_json,
    to_text,
    truncate,
)
from anchorless._report.topic_map import (
    MAX_UNCROWDED_TOPICS,
    MIN_LINK,
    order_topics,
    place_topics,
    select_drawn_pairs,
    select_links,
)

MAX_PAGE_BYTES = 4_900_000
SNIPPET_LENGTHS = (300, 240, 180, 120, 80, 40, 0)  # the first of them with which the page is small enough is used
LINE_LENGTH, SENTENCE_LENGTH = 120, 2000  # characters of words, labels, ids; and of a diagnostic sentence
MAX_TEXT_BYTES, MAX_TEXT_LENGTH = 20_000_000, 100_000  # of all whole texts together; characters of one
EXAMPLE_LENGTH = 200  # characters of an example of a note on the data


class ReportTopic(NamedTuple):
    """A topic with its leading words and its documents."""

    number: int  # shown to the reader; all other fields refer to topics by position
    label: str
    share: float
    words: Sequence[tuple[str, float, float, float]]  # word, probability, relevance, distinctiveness; by relevance
    coherence: float
    exclusivity: float
    documents: Sequence[int]  # positions in ReportData.documents, best first
    junk: str | None = None  # what its words look like, if not like a subject
    note: str = ""  # of a person


class DocumentRecord(NamedTuple):
    """A document that a fitted model keeps."""

    id: str
    snippet: str  # the beginning of its text
    topics: Sequence[tuple[int, float]]  # its largest topics with their shares, largest first
    explained: float  # in [0, 1]: the part of what is special about it that its topics explain
    label: str | None = None
    date: str | None = None


class LabelTable(NamedTuple):
    """Mean share of each topic in the documents of each label."""

    names: Sequence[str]
    values: Sequence[Sequence[float]]  # labels × topics
    counts: Sequence[int]  # documents per label
    low: Sequence[Sequence[float]] | None = None  # ends of intervals (90%), which may leave [0, 1]; None: not known
    high: Sequence[Sequence[float]] | None = None


class PeriodTable(NamedTuple):
    """Mean share of each topic in the documents of each period."""

    periods: Sequence[str]  # in order; such as 1999, 1999-12 or 1999-12-31
    values: Sequence[Sequence[float]]  # topics × periods
    counts: Sequence[int]  # documents per period
    low: Sequence[Sequence[float]] | None = None  # as in `LabelTable`
    high: Sequence[Sequence[float]] | None = None


class ReportGroup(NamedTuple):
    """Topics that belong together."""

    label: str
    share: float
    topics: Sequence[int]  # positions
    parts: Sequence[ReportGroup]  # smaller groups; without any, the topics are its parts


class QualityNote(NamedTuple):
    """Something about many documents that the reader should know."""

    what: str
    n_documents: int
    share: float  # of all documents
    remedy: str = ""  # what helps
    examples: Sequence[str] = ()


class ReportData(NamedTuple):
    """Everything that a report shows."""

    title: str
    subtitle: str
    topics: Sequence[ReportTopic]
    association: Sequence[Sequence[float]]  # of topics, beyond what their sizes explain
    documents: Sequence[DocumentRecord]
    n_documents: int
    prevalence: PeriodTable | None = None
    labels: LabelTable | None = None
    diagnostics: Sequence[tuple[str, str]] = ()  # heading, sentence
    uncertain: Sequence[tuple[int, int]] = ()  # pairs of topics whose association does not differ significantly from 0
    effects: EffectsSection | None = None
    groups: Sequence[ReportGroup] = ()
    quality: Sequence[QualityNote] = ()
    places: Sequence[Sequence[float]] = ()  # of the documents on their map, in the unit square; NaN: not on the map
    fingerprint: str = ""  # of the topics that are shown
    by_embeddings: bool = False  # whether near documents on the map have similar embeddings, or similar topics


def write_report(path: str | os.PathLike[str], data: ReportData, *, force: bool = False) -> None:
    """Write the report to a file; replace an existing file only with `force`."""
    write_page(path, render_report(data), force=force)


def write_page(
    path: str | os.PathLike[str], html: str, *, force: bool = False, made_from: FileState | None = None
) -> None:
    """Write a page to a file; replace an existing file only with `force`."""
    with atomic_write(path, force=force, made_from=made_from) as temporary:
        temporary.write_text(html, encoding="utf-8", newline="\n")


def render_report(
    data: ReportData, texts: Mapping[str, str] | None = None, earlier: dict[str, Any] | None = None
) -> str:
    """Return the report as one HTML page; equal records give equal pages.

    `texts` are whole texts by the ids of documents. Documents are those of the data of an `earlier` report, if given,
    whose ids are those that `shorten_id` returns.
    """
    items = [(topic.number, summarize_topic(topic)) for topic in data.topics]
    payload = build_payload(data)
    n_bytes = len(render_page(data.title, data.subtitle, items, to_script_json(payload)).encode())
    snippets = [document.snippet for document in data.documents]
    payload["documents"]["text"] = shorten_snippets(snippets, MAX_PAGE_BYTES - n_bytes)
    if earlier is not None:
        payload = keep_documents(payload, earlier)
    if texts:
        ids = [document.id for document in data.documents] if earlier is None else payload["documents"]["id"]
        payload["documents"]["whole"] = select_texts(ids, texts)
    return render_page(data.title, data.subtitle, items, to_script_json(payload))


def shorten_id(id: str) -> str:
    """Return the id of a document as the page has it."""
    return to_line(id, LINE_LENGTH)


def select_texts(ids: Sequence[str], texts: Mapping[str, str]) -> list[str]:
    """Return the whole text of each document, as long as they fit into `MAX_TEXT_BYTES` bytes; then empty ones."""
    left, found = MAX_TEXT_BYTES, []
    for id in ids:
        text = to_text(texts.get(id, ""), MAX_TEXT_LENGTH)
        left -= len(to_script_json(text).encode())
        found.append(text if left >= 0 else "")
    return found


def insert_effects(html: str, section: EffectsSection, fingerprint: str) -> str | None:
    """Return a report with the section on effects; None if it is not one of this version, of the same topics."""

    def add(payload: dict[str, Any]) -> dict[str, Any]:
        if payload.get("fingerprint") != fingerprint:
            raise ValueError("of other topics")
        return payload | {"effects": build_effects_payload(section)}

    return replace_data(html, add)


def summarize_topic(topic: ReportTopic) -> str:
    """Return a topic's share and leading words, for readers without scripts."""
    share = f"{topic.share:.1%} " if math.isfinite(topic.share) else ""
    return share + ", ".join(to_line(word, LINE_LENGTH) for word, *_ in topic.words[:10])


def shorten_snippets(texts: Sequence[str], max_bytes: int) -> list[str]:
    """Truncate the texts to the largest of `SNIPPET_LENGTHS` with which they fit into `max_bytes` bytes."""
    shortened = [to_line(text, SNIPPET_LENGTHS[0]) for text in texts]
    for length in SNIPPET_LENGTHS:
        shortened = [truncate(text, length) for text in shortened]
        if len(to_script_json(shortened).encode()) <= max_bytes:
            break
    return shortened


def build_payload(data: ReportData) -> dict[str, Any]:
    """Return the data for the script, by column: field names repeated for 10,000 documents would take megabytes."""
    lines = [(to_line(heading, TITLE_LENGTH), to_line(text, SENTENCE_LENGTH)) for heading, text in data.diagnostics]
    drawn = select_drawn_pairs(data.association) if data.uncertain else set()
    crowded, groups = len(data.topics) > MAX_UNCROWDED_TOPICS, [group.topics for group in data.groups]
    return {
        "topics": [build_topic_entry(topic) for topic in data.topics],
        "title": to_line(data.title, TITLE_LENGTH),
        "fingerprint": data.fingerprint,
        "crowded": crowded,
        "association": build_association_rows(data.association, MIN_LINK if crowded else 0.0),
        "positions": place_topics(data.association, groups).round(4).tolist(),
        "links": select_links(data.association),
        "uncertain": [pair for pair in data.uncertain if pair in drawn],
        "order": order_topics(data.association),
        "documents": build_document_columns(data.documents),
        "n_documents": data.n_documents,
        "prevalence": data.prevalence and build_table_entry(*data.prevalence),
        "labels": data.labels and build_table_entry(*data.labels),
        "diagnostics": lines,
        "effects": data.effects and build_effects_payload(data.effects),
        "groups": [*map(build_group_entry, data.groups)],
        "places": encode_places(data.places),
        "by_embeddings": data.by_embeddings,
        "quality": [*map(build_quality_entry, data.quality)],
    }


def build_group_entry(group: ReportGroup) -> dict[str, Any]:
    """Return a group of topics, with its parts, for the script."""
    parts = [*map(build_group_entry, group.parts)]
    about = {"label": to_line(group.label, LINE_LENGTH), "share": round_significant(group.share)}
    return about | {"topics": [*group.topics], "parts": parts}


def encode_places(places: Sequence[Sequence[float]]) -> str:
    """Return x and y of each place as base64 of 16-bit numbers, low byte first: 10,000 documents take 53 kB.

    65,535 is the right or lower end; (0, 0) stands for a document that is not on the map.
    """
    found = np.asarray(places, dtype=float).reshape(-1, 2)
    numbers = np.where(np.isfinite(found), 1 + np.round(np.clip(found, 0, 1) * 65_534), 0)
    numbers[~np.isfinite(found).all(axis=1)] = 0
    return base64.b64encode(numbers.astype("<u2").tobytes()).decode()


def build_quality_entry(note: QualityNote) -> dict[str, Any]:
    """Return a note on the data for the script."""
    return {
        "what": to_line(note.what, LINE_LENGTH),
        "n": note.n_documents,
        "share": round_significant(note.share),
        "remedy": to_line(note.remedy, SENTENCE_LENGTH),
        "examples": [to_line(example, EXAMPLE_LENGTH) for example in note.examples],
    }


def build_association_rows(association: Sequence[Sequence[float]], least: float) -> list[list[int | None]]:
    """Return the lower triangle for the script; smaller ones than `least` become 0, which takes two bytes."""
    rows = [row[:f] for f, row in enumerate(association)]
    return [[0 if abs(r) < least else to_ten_thousandths(r) for r in row] for row in rows]


def build_topic_entry(topic: ReportTopic) -> dict[str, Any]:
    """Return one topic for the script."""
    words = [
        (to_line(word, LINE_LENGTH), round_significant(p), round_significant(relevance), round_significant(d, 3))
        for word, p, relevance, d in topic.words
    ]
    return topic._asdict() | {
        "label": to_line(topic.label, LINE_LENGTH),
        "note": to_text(topic.note, SENTENCE_LENGTH),
        "share": round_significant(topic.share),
        "words": words,
        "coherence": round_significant(topic.coherence, 3),
        "exclusivity": round_significant(topic.exclusivity, 3),
    }


def build_document_columns(documents: Sequence[DocumentRecord]) -> dict[str, Any]:
    """Return the documents by column, without their text; a column without any value is empty.

    The topics of a document are [position, thousandths, position, thousandths, …].
    """
    columns: dict[str, Any] = {
        "text": [],
        "topics": [[v for f, share in document.topics for v in (f, to_thousandths(share))] for document in documents],
    }
    for name in ("id", "label", "date"):
        values = [getattr(document, name) for document in documents]
        columns[name] = [to_line(v or "", LINE_LENGTH) for v in values] if any(values) else []
    return columns


def build_table_entry(names: Any, values: Any, counts: Any, low: Any = None, high: Any = None) -> dict[str, Any]:
    """Return the table of periods or labels for the script, as shares from 0 to 1."""
    tables = {"values": values, "low": low, "high": high}
    rounded = {
        key: rows and [[round_significant(min(max(v, 0.0), 1.0), 3) for v in row] for row in rows]
        for key, rows in tables.items()
    }
    return {"names": [to_line(name, LINE_LENGTH) for name in names], "counts": counts} | rounded


def round_significant(x: float, digits: int = 4) -> float | None:
    """Round to significant digits; NaN and infinity become None, because JSON has neither."""
    return float(f"{float(x):.{digits}g}") if math.isfinite(x) else None


def to_thousandths(x: float) -> int | None:
    """Return a share in thousandths, which takes few bytes."""
    return round(1000 * float(x)) if math.isfinite(x) else None


def to_ten_thousandths(x: float) -> int | None:
    """Return an association in units that keep the small ones apart; most of them are below 0.1."""
    return round(10_000 * float(x)) if math.isfinite(x) else None
