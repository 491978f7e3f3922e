"""Snippets: the beginnings of texts, in a temporary file until it is known which documents are shown."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anchorless._corpus.documents import Documents
from anchorless._corpus.text.cleaning import strip_mail_parts, strip_markup

#: Characters of a snippet, and words that stand in for a text that is not known.
SNIPPET_LENGTH, SNIPPET_WORDS = 300, 20
#: Characters of a text that are looked at: white space is squeezed out first.
SCAN_LENGTH = 4 * SNIPPET_LENGTH
#: The same of mails and web pages, whose headers, quotations and markup are taken out first.
MARKUP_SCAN_LENGTH = 8000


class SnippetFile:
    """The beginning of every text, in a temporary file; `email` and `html` as in `extract_snippets`."""

    def __init__(self, *, email: bool = False, html: bool = False) -> None:
        self._email, self._html = email, html
        self._file = tempfile.TemporaryFile(prefix="anchorless-")  # noqa: SIM115 closed by close
        self._ends = [np.zeros(1, dtype=np.int64)]

    def close(self) -> None:
        """Remove the file."""
        with suppress(OSError):  # bytes that found no place on the disk do not matter any more
            self._file.close()

    def tee(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the batches of texts as they come, after writing their beginnings."""
        for texts in batches:
            self.add(texts)
            yield texts

    def add(self, texts: Any) -> None:
        """Write the beginnings of one batch, a string array."""
        self.add_snippets(extract_snippets(texts, email=self._email, html=self._html))

    def add_snippets(self, parts: Any) -> None:
        """Write snippets that were extracted elsewhere."""
        self._ends.append(self._ends[-1][-1] + np.cumsum(pc.binary_length(parts).to_numpy(zero_copy_only=False)))
        for text in parts:
            self._file.write(text.as_buffer())

    def iter_batches(self, size: int = 5000) -> Iterator[Any]:
        """Yield the snippets of all documents in batches, string arrays."""
        ends = np.concatenate(self._ends)
        for start in range(0, len(ends) - 1, size):
            part = ends[start : start + size + 1]
            self._file.seek(int(part[0]))
            yield split_snippets(self._file.read(int(part[-1] - part[0])), part)

    def take(self, positions: Sequence[int]) -> list[str]:
        """Return the snippets of the documents at these positions."""
        ends = np.concatenate(self._ends)
        result = []
        for position in positions:
            self._file.seek(int(ends[position]))
            result.append(self._file.read(int(ends[position + 1] - ends[position])).decode())
        return result


def split_snippets(content: bytes, ends: Any) -> Any:
    """Return texts that follow one another, with their ends (n + 1,), as a pa.Array."""
    bounds = np.asarray(ends - ends[0], dtype=np.int64)
    return pa.LargeStringArray.from_buffers(len(bounds) - 1, pa.py_buffer(bounds), pa.py_buffer(content))


def extract_snippets(texts: Any, *, email: bool = False, html: bool = False) -> Any:
    """Return the first characters of each text as one line; of mails after the header, of web pages without tags."""
    texts = texts.cast(pa.large_string())
    if email or html:
        start = own = pc.utf8_slice_codeunits(texts, 0, MARKUP_SCAN_LENGTH)
        own = strip_mail_parts(own) if email else own
        own = strip_markup(own) if html else own
        texts = pc.if_else(pc.equal(pc.utf8_trim_whitespace(own), ""), start, own)  # unless nothing is left
    start = pc.utf8_slice_codeunits(texts, 0, SCAN_LENGTH)
    line = pc.utf8_trim_whitespace(pc.replace_substring_regex(start, r"\s+", " "))
    return shorten_lines(line)


def shorten_lines(lines: Any) -> Any:
    """Return at most `SNIPPET_LENGTH` characters of lines; those that are cut end at a word if they can, and in "…"."""
    start = pc.utf8_slice_codeunits(lines, 0, SNIPPET_LENGTH - 1)
    at_word = pc.replace_substring_regex(start, r"^(.{150,}) \S*$", r"\1")
    shortened = pc.binary_join_element_wise(at_word, *(pa.scalar(text, pa.large_string()) for text in ("…", "")))
    return pc.if_else(pc.greater(pc.utf8_length(lines), SNIPPET_LENGTH), shortened, lines)


def build_word_snippets(documents: Documents, vocabulary: Sequence[str], positions: Sequence[int]) -> list[str]:
    """Return the heaviest words of documents whose text is not known, as a stand-in for it."""
    snippets = []
    for row in map(documents.take_rows(positions).getrow, range(len(positions))):
        heaviest = np.argsort(-row.data, kind="stable")[:SNIPPET_WORDS]
        snippets.append(" ".join(vocabulary[v] for v in row.indices[heaviest])[:SNIPPET_LENGTH])
    return snippets
