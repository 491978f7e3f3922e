"""Divide long documents into parts: at paragraphs, at headings, or after a number of words.

A part is a slice of the text of its document, and all parts together are the document. Its id is that of the document
with the number of the part, such as book.txt#3, and a column names the document.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from anchorless._corpus.io.batches import CHARACTERS_PER_CHUNK, ROWS_PER_CHUNK, Batch, make_names_unique
from anchorless._corpus.text.scripts import HAN, HAS_UNSPACED, HIRAGANA, KATAKANA, UNSPACED
from anchorless.errors import InputError

PARAGRAPH, SECTION = "paragraph", "section"
#: The column with the id of the document to which a part belongs, and the mark before the number of the part.
DOCUMENT, MARK = "document", "#"
#: A paragraph of fewer words is joined with the next one.
MIN_PARAGRAPH_WORDS = 20
#: Words of a part below which topics cannot be told.
MIN_WORDS = 10

WORD = re.compile(r"\S+")
#: Without spaces between words, two Chinese or Japanese characters and four letters of other scripts count as a word.
UNSPACED_WORD = re.compile(f"[{HAN}{HIRAGANA}{KATAKANA}]{{1,2}}|[{UNSPACED}]{{1,4}}|[^\\W{UNSPACED}][^\\s{UNSPACED}]*")
ANY_UNSPACED = re.compile(HAS_UNSPACED)
#: There a part ends with a clause, if one ends within so many characters.
CLAUSE_END = re.compile(r"[\s。．！？!?；;，,、：:…។၊။]+[」』”’）)]*")
MAX_CLAUSE = 100
PARAGRAPH_END = re.compile(r"\n[ \t\r\f\v]*\n\s*")
#: A heading is a line by itself: "# Title" (Markdown, and headings of .docx and .html), "Chapter 4", 第三章, "2.3
#: Methods", or a line that is underlined by === or ---.
HEADING_WORDS = "chapter|section|part|act|book|letter|kapitel|chapitre|capítulo"
HEADING_NUMBERS = "[0-9]{1,3}|[IVXLC]{1,8}|(?i:one|two|three|four|five|six|seven|eight|nine|ten)"
#: Chapters in Chinese and Japanese, Korean, and Thai.
NUMBERED = "第[ \t]*[0-9０-９〇零一二三四五六七八九十百千两]{1,6}[ \t]*[章回节節部卷編编篇話话]"
NUMBERED += "|제[ \t]*[0-9]{1,3}[ \t]*[장절편부]|บทที่[ \t]*[0-9๐-๙]{1,3}"
HEADING = re.compile(
    r"^(?:#{1,6}[ \t]+\S[^\n]{0,200}"
    rf"|[ \t\u3000]*(?:{NUMBERED})(?=[\s:：.、]|$)[^\n]{{0,80}}$"
    rf"|[ \t]*(?i:{HEADING_WORDS})[ \t]+(?:{HEADING_NUMBERS})\b[^\n]{{0,80}}$"
    r"|[0-9]{1,2}(?:\.[0-9]{1,2}){0,3}\.?[ \t]+[A-ZÄÖÜÉÀ][^\n]{0,80}(?=\n[ \t\r]*\n)"
    r"|[^\s\n][^\n]{0,100}\n(?:={3,}|-{3,})[ \t\r]*(?=\n|\Z))",
    re.MULTILINE,
)


class SplitRule:
    """How documents are divided; `value` is "paragraph", "section" or a number of words."""

    def __init__(self, value: str | int) -> None:
        self.value = value
        self.n_documents = self.n_parts = self.n_whole = 0

    def divide(self, text: str) -> list[str]:
        """Return the parts of a text, without those that are blank."""
        if self.value == PARAGRAPH:
            parts = join_short_paragraphs(cut_at(text, [found.end() for found in PARAGRAPH_END.finditer(text)]))
        elif self.value == SECTION:
            parts = cut_at(text, [found.start() for found in HEADING.finditer(text)])
        else:
            parts = cut_words(text, int(self.value))
        return [part for part in parts if part.strip()] or [text]

    def add_columns(self, columns: pa.Schema) -> pa.Schema:
        """Return the columns of parts, given those of documents."""
        names = make_names_unique([columns.names[0], DOCUMENT, *columns.names[1:]])
        types = [columns.types[0], pa.string(), *columns.types[1:]]
        return pa.schema([*zip(names, types, strict=True)])

    def describe(self) -> list[str]:
        """Return a sentence about the parts."""
        if not self.n_documents:
            return []
        how = {PARAGRAPH: "at paragraphs", SECTION: "at headings"}.get(str(self.value), f"after {self.value} words")
        whole = f"; {self.n_whole:,} stay whole" if self.n_whole else ""
        many = "document" if self.n_documents == 1 else "documents"
        return [f"divided {self.n_documents:,} {many} {how} into {self.n_parts:,} parts{whole}"]


def parse_split(value: Any) -> SplitRule | None:
    """Return the rule of a setting: "paragraph", "section", a number of words, or None."""
    if value is None:
        return None
    if isinstance(value, str) and (number := value.removesuffix("words").strip()).isdecimal():
        value = int(number)
    is_number = isinstance(value, int) and not isinstance(value, bool) and value >= MIN_WORDS
    if value not in (PARAGRAPH, SECTION) and not is_number:
        problem = f"it must be paragraph, section, or a number of words of at least {MIN_WORDS}"
        raise InputError(problem, parameter="split", value=value)
    return SplitRule(value)


def cut_at(text: str, places: Iterable[int]) -> list[str]:
    """Return a text cut at places in rising order."""
    parts, start = [], 0
    for place in places:
        if place > start:
            parts.append(text[start:place])
            start = place
    return [*parts, text[start:]]


def join_short_paragraphs(paragraphs: list[str]) -> list[str]:
    """Return paragraphs, each of few words joined with the next one, the last with the one before."""
    parts: list[str] = []
    waiting = ""
    for paragraph in paragraphs:
        waiting += paragraph
        if has_words(waiting, MIN_PARAGRAPH_WORDS):
            parts.append(waiting)
            waiting = ""
    if waiting and parts:
        parts[-1] += waiting
    elif waiting:
        parts.append(waiting)
    return parts


def has_words(text: str, n: int) -> bool:
    """Say whether a text has at least n words, without looking at more of it than needed."""
    return sum(1 for _, _ in zip(find_words(text), range(n), strict=False)) >= n


def find_words(text: str) -> Iterator[re.Match[str]]:
    """Return the words of a text; where there are no spaces between them, pieces that are about as long as words."""
    return (UNSPACED_WORD if ANY_UNSPACED.search(text) else WORD).finditer(text)


def find_clause_end(text: str, place: int) -> int:
    """Return the place after the clause that a place between characters without spaces is in; others stay."""
    around = text[max(place - 1, 0) : place + 1]
    found = CLAUSE_END.search(text, place, place + MAX_CLAUSE) if ANY_UNSPACED.match(around) else None
    return place if found is None else found.end()


def cut_words(text: str, n: int) -> list[str]:
    """Return a text in parts of about n words, all of the same number of words up to one."""
    n_words = sum(1 for _ in find_words(text))
    n_parts = max(1, round(n_words / n))
    bounds = [n_words * part // n_parts for part in range(1, n_parts)]
    places, waiting = [], iter(bounds)
    bound = next(waiting, None)
    for number, word in enumerate(find_words(text)):
        if bound is None:
            break
        if number == bound:
            places.append(find_clause_end(text, word.start()))
            bound = next(waiting, None)
    return cut_at(text, places)


def split_batches(batches: Iterable[Batch], rule: SplitRule) -> Iterator[Batch]:
    """Yield the parts of the documents of batches, with the columns of their documents, in batches of bounded size."""
    for batch in batches:
        rows: list[int] = []
        parts: list[str] = []
        ids: list[str] = []
        size = 0
        names = batch.other_columns.column(0).to_pylist()
        for row, text in enumerate(batch.texts):
            divided = rule.divide(text.as_py())
            rule.n_documents, rule.n_parts = rule.n_documents + 1, rule.n_parts + len(divided)
            rule.n_whole += len(divided) == 1
            for number, part in enumerate(divided, 1):
                rows.append(row)
                parts.append(part)
                ids.append(f"{names[row]}{MARK}{number}")
                size += len(part)
                if len(parts) == ROWS_PER_CHUNK or size >= CHARACTERS_PER_CHUNK:
                    yield make_batch(batch, rows, ids, parts, rule)
                    rows, parts, ids, size = [], [], [], 0
        if parts:
            yield make_batch(batch, rows, ids, parts, rule)


def make_batch(batch: Batch, rows: list[int], ids: list[str], parts: list[str], rule: SplitRule) -> Batch:
    """Return parts, each of the document in a row of a batch."""
    columns = batch.other_columns.take(pa.array(rows, pa.int64()))
    arrays = [pa.array(ids, pa.string()), columns.column(0), *columns.columns[1:]]
    return Batch(pa.array(parts, batch.texts.type), pa.table(arrays, schema=rule.add_columns(columns.schema)))
