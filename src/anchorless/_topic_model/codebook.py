"""The codebook: a table of topics that a person reads, and in which they write names and notes.

As CSV it comes back: the columns `name` and `note` are read, the others are for reading. `model` names the topics that
the codebook is about, so that it cannot be applied to others.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from typing import NamedTuple

from anchorless._export.text import escape_markdown
from anchorless._files import PathLike, read_small_text
from anchorless._report.html import DocumentRecord
from anchorless._text_safety import neutralize_value, restore_cell
from anchorless._topic_model.plans import check_fingerprint
from anchorless._topic_model.summary import Topic
from anchorless.errors import InputError

COLUMNS = ("topic", "name", "note", "share", "words", "quotes", "border", "model")
#: Columns that a codebook must have when it comes back.
REQUIRED_COLUMNS = ("topic", "name", "note", "model")
#: Separates quotes in a cell.
QUOTE_JOINT = "\n---\n"


class CodebookRow(NamedTuple):
    """A topic in the codebook."""

    topic: Topic
    name: str  # given by a person, or empty
    note: str
    quotes: Sequence[DocumentRecord]  # documents that stand for the topic
    border: Sequence[DocumentRecord]  # documents in which another topic is about as large


class CodebookNames(NamedTuple):
    """What a person wrote: names and notes by number of topic."""

    names: dict[int, str | None]
    notes: dict[int, str]


def write_csv(rows: Sequence[CodebookRow], fingerprint: str) -> str:
    """Return a codebook as CSV."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        quotes, border = (QUOTE_JOINT.join(map(quote_document, some)) for some in (row.quotes, row.border))
        share, words = f"{row.topic.share:.4f}", ", ".join(row.topic.words)
        cells = [row.topic.number, row.name, row.note, share, words, quotes, border, fingerprint]
        writer.writerow(map(neutralize_value, cells))
    return file.getvalue()


def quote_document(document: DocumentRecord) -> str:
    """Return a document on one line."""
    return f"[{document.id}] {' '.join(document.snippet.split())}"


def write_markdown(rows: Sequence[CodebookRow], fingerprint: str) -> str:
    """Return a codebook as Markdown, for reading; texts in it are no markup."""
    lines = ["# Codebook", "", f"{len(rows)} topics of model {fingerprint}.", ""]
    for row in rows:
        words = ", ".join(map(escape_markdown, row.topic.words))
        lines += [f"## {row.topic.number} {escape_markdown(row.name or row.topic.label)}", ""]
        lines += [f"Share of all tokens: {row.topic.share:.1%}. Words: {words}.", ""]
        lines += [f"Note: {escape_markdown(row.note)}", ""] if row.note else []
        for heading, documents in (("Documents", row.quotes), ("At the border", row.border)):
            quotes = (f"> {escape_markdown(quote_document(document))}\n" for document in documents)
            lines += [f"{heading}:", "", *quotes] if documents else []
    return "\n".join(lines).rstrip() + "\n"


def read_csv(path: PathLike, n_topics: int, fingerprint: str) -> CodebookNames:
    """Return the names and notes that a person wrote; refuse a codebook of other topics."""
    if os.fspath(path).lower().endswith(".md"):
        raise InputError(f"{path} is Markdown, which is for reading", remedy="fill a codebook that is written as .csv")
    rows = read_rows(path)
    missing = [name for name in REQUIRED_COLUMNS if rows and name not in rows[0]]
    if missing or not rows:
        problem = f"{path} has no column {missing[0]!r}" if missing else f"{path} has no rows"
        raise InputError(problem, remedy="write a codebook with `anchorless codebook`, and fill its names")
    for row in rows:
        check_fingerprint(row["model"] or None, fingerprint, f"the names in {path}")
    numbers = [(row["topic"] or "").strip() for row in rows]
    if sorted(numbers) != sorted(map(str, range(n_topics))):
        problem = f"{path} has the topics {', '.join(numbers[:20])}, but this model has 0 to {n_topics - 1}, each once"
        raise InputError(problem, remedy="write the codebook of this model again")
    names = {int(row["topic"]): " ".join(restore_cell(row["name"] or "").split()) or None for row in rows}
    return CodebookNames(names, {int(row["topic"]): restore_cell(row["note"] or "").strip() for row in rows})


def read_rows(path: PathLike) -> list[dict[str, str]]:
    """Return the rows of a CSV file; spreadsheets may have saved it with semicolons or tabs."""
    text = read_small_text(path)
    delimiter = max(",;\t", key=text.split("\n", 1)[0].count)
    try:
        return list(csv.DictReader(io.StringIO(text), delimiter=delimiter))
    except csv.Error as error:
        raise InputError(f"{path} is no valid CSV: {error}", remedy="write the codebook again, and fill it") from None
