"""Notice texts that hold something else than words: markup, mail headers, binaries, boilerplate, copies, whole books.

The first documents of a corpus are looked at. What is found is a record of plain values: for a note of the run, and
for the report.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from anchorless._corpus.near_copies import NearCopies
from anchorless._corpus.quality import DataNote, make_note
from anchorless._corpus.text.boilerplate import ENCODED, LineCounter
from anchorless._corpus.text.cleaning import HAS_STANDARD_FIELD, HEADER

#: Documents that are looked at, and characters of each.
MAX_CHECKED, MAX_CHARACTERS = 2_000, 20_000
#: What is found in fewer documents than this share, and than this number, is not worth a note.
MIN_SHARE, MIN_DOCUMENTS = 0.02, 3
#: A document of more characters is better divided.
LONG_TEXT = 50_000
#: A file of lines is a text with line breaks if so many of its lines go on in the next one, if some begin a sentence,
#: and if none is long: texts without capital letters, one in each line, are none.
MIN_WRAPPED, MIN_SENTENCES, MAX_LINE = 0.25, 0.02, 200
#: A line that goes on, one in which a text goes on, and one that begins a sentence.
OPEN_END, GOES_ON, BEGINS = r"[\p{Ll}\p{Lo},;-]\s*$", r"^\s*\p{Ll}", r"^\s*\p{Lu}"

#: A tag with a usual name. Two of them are markup; one may be an example.
TAG_NAMES = "a|b|br|body|center|dd|div|dl|dt|em|font|form|h[1-6]|head|hr|html|i|img|input|li|link|meta|ol|option|p|pre"
TAG_NAMES += "|script|small|span|strong|style|sub|sup|table|tbody|td|th|title|tr|u|ul"
TAG = rf"(?i)</?(?:{TAG_NAMES})(?:\s[^<>]*|/)?>|&(?:nbsp|amp|quot|lt|gt);"

#: What is found, and what helps.
KINDS = {
    "html": ("HTML markup", "{html} removes it"),
    "email": ("mail headers", "{email} removes headers, quotations and signatures"),
    "encoded": ("encoded binaries", "{drop_boilerplate} removes them"),
    "boilerplate": ("a line that stands in many documents", "{drop_boilerplate} removes such lines"),
    "copies": ("near-copies of earlier documents", "{deduplicate} leaves them out"),
    "wrapped": ("lines that go on in the next one", "if the file is one text, divide it: {split=paragraph}"),
    "long": (f"texts of more than {LONG_TEXT:,} characters", "divide them: {split=paragraph}, or {split=500}"),
}


def describe_note(note: DataNote, n_checked: int) -> str:
    """Return a note as a sentence; names of parameters are in braces."""
    example = f", such as {note.examples[0]}" if note.examples else ""
    return f"{note.what} in {note.n_documents:,} of {n_checked:,} documents{example}; {note.remedy}"


class JunkCheck:
    """Look at texts as they pass by; what an option removes already (`ignored`) is not looked for.

    `are_lines` says that the texts are the lines of a text file, which may be one long text.
    """

    def __init__(self, ignored: Iterable[str] = (), *, are_lines: bool = False) -> None:
        self.n_checked = 0
        self._ignored = {*ignored}
        self._counts = dict.fromkeys(("html", "email", "encoded", "wrapped", "long"), 0)
        self._are_lines, self._n_sentences, self._n_long_lines = are_lines, 0, 0
        self._lines, self._copies = LineCounter(), NearCopies()

    def tee(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield batches of texts, after looking at the first documents."""
        for batch in batches:
            if self.n_checked < MAX_CHECKED:
                self.add(batch.slice(0, MAX_CHECKED - self.n_checked))
            yield batch

    def add(self, texts: Any) -> None:
        """Look at a batch of texts."""
        texts = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
        self._count("long", pc.greater(pc.utf8_length(texts), LONG_TEXT))
        start = pc.utf8_slice_codeunits(texts.cast(pa.large_string()), 0, MAX_CHARACTERS)
        match = pc.match_substring_regex
        if self._are_lines and len(texts):
            goes_on = pc.and_(match(start[:-1], OPEN_END), match(start[1:], GOES_ON))
            self._count("wrapped", goes_on)
            self._n_sentences += pc.sum(match(start, BEGINS)).as_py()
            self._n_long_lines += pc.sum(pc.greater(pc.utf8_length(texts), MAX_LINE)).as_py()
        if "html" not in self._ignored:
            self._count("html", pc.greater_equal(pc.count_substring_regex(start, pattern=TAG), 2))
        if "email" not in self._ignored:
            self._count("email", pc.and_(match(start, HEADER), match(start, HAS_STANDARD_FIELD)))
        if "drop_boilerplate" not in self._ignored:
            self._count("encoded", pc.or_(*(match(start, pattern) for pattern in ENCODED)))
            self._lines.add(start)
        if "deduplicate" not in self._ignored:
            self._copies.find(start, [str(self.n_checked + row + 1) for row in range(len(texts))])
        self.n_checked += len(texts)

    def _count(self, kind: str, found: Any) -> None:
        if kind not in self._ignored:
            self._counts[kind] += int(pc.sum(found).as_py() or 0)

    def list_notes(self) -> list[DataNote]:
        """Return what was found in enough documents to be worth a note."""
        least = max(MIN_DOCUMENTS, MIN_SHARE * self.n_checked)
        counts = {kind: n for kind, n in self._counts.items() if kind not in ("long", "wrapped")}
        notes = [self._make_note(kind, n) for kind, n in counts.items() if n >= least]
        if self._is_one_text():
            notes.append(self._make_note("wrapped", self._counts["wrapped"]))
        if lines := self._lines.list_frequent():
            notes.append(self._make_note("boilerplate", lines[0][1], [repr(shorten(line)) for line, _ in lines]))
        if len(copies := self._copies.copies) >= least:
            examples = [f"document {copy.id}, like document {copy.kept}" for copy in copies[:3]]
            notes.append(self._make_note("copies", len(copies), examples))
        if self._counts["long"] and "split" not in self._ignored:
            notes.append(self._make_note("long", self._counts["long"]))
        return notes

    def _is_one_text(self) -> bool:
        """Say whether the lines are those of one text rather than documents."""
        n, n_wrapped = self.n_checked, self._counts["wrapped"]
        are_sentences = self._n_sentences >= MIN_SENTENCES * n and self._n_long_lines == 0
        return n_wrapped >= max(MIN_DOCUMENTS, MIN_WRAPPED * n) and are_sentences

    def _make_note(self, kind: str, n: int, examples: Iterable[str] = ()) -> DataNote:
        what, remedy = KINDS[kind]
        return make_note(what, n, self.n_checked, remedy, examples)

    def describe(self) -> list[str]:
        """Return the notes as sentences."""
        return [describe_note(note, self.n_checked) for note in self.list_notes()]


def shorten(line: str, n: int = 60) -> str:
    """Return the beginning of a line."""
    return line if len(line) <= n else f"{line[: n - 1]}…"
