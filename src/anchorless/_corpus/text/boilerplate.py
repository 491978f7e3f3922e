"""Lines that stand in many documents, such as navigation, disclaimers and footers, and encoded binaries.

Lines are counted by lossy counting (Manku and Motwani, 2002): memory is bounded, every line that is frequent enough is
found, and a count is too low by at most MAX_ERROR of the documents.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anchorless._corpus.text.scripts import HAS_UNSPACED, UNSPACED

#: A line is boilerplate if it stands in at least this share of the documents, and in this many.
MIN_SHARE, MIN_DOCUMENTS = 0.05, 5
#: Characters and words of a line that is counted: shorter ones may be headings, or lines of a list, a poem or code.
MIN_LINE_LENGTH, MAX_LINE_LENGTH = 20, 2000
#: Without spaces between words, two letters count as a word.
MIN_WORDS = rf"(?:\p{{L}}{{2,}}[^\p{{L}}]+){{4}}\p{{L}}{{2,}}|(?:{HAS_UNSPACED}[^{UNSPACED}]*){{10}}"
#: Part of the documents by which a count may be too low, and lines that are kept between two reductions.
MAX_ERROR, MAX_KEPT = 0.005, 50_000
#: Lines that are removed at most.
MAX_REMOVED = 1000

#: Binaries as text: lines of base64 (PEM, attachments of mails) and of uuencode. RE2, as in `cleaning`.
BASE64 = r"(?:[A-Za-z0-9+/]{60,76}[ \t]*\r?\n){3,}(?:[A-Za-z0-9+/]{1,76}={0,2}[ \t]*(?:\r?\n|\z))?"
UUENCODED = r"(?m)(?:^M[ -`]{60}[ \t]*\r?\n){3,}(?:^[!-`][ -`]{1,60}\r?\n)?"
ENCODED = (BASE64, UUENCODED)


def split_lines(texts: Any) -> tuple[Any, Any]:
    """Return the lines of all texts with single spaces, and the text (n,) of each."""
    lists = pc.split_pattern(texts.cast(pa.large_string()), "\n")
    lists = lists if isinstance(lists, pa.Array) else lists.combine_chunks()
    lines = pc.utf8_trim_whitespace(pc.replace_substring_regex(lists.flatten(), r"\s+", " "))
    return lines, np.repeat(np.arange(len(lists)), pc.list_value_length(lists).to_numpy(zero_copy_only=False))


class LineCounter:
    """In how many documents each line stands, for the lines that stand in many."""

    def __init__(self) -> None:
        self.n_documents = 0
        self._counts: dict[str, int] = {}

    def add(self, texts: Any) -> None:
        """Count the lines of a batch of texts; a document of one line is not its own boilerplate."""
        self.n_documents += len(texts)
        lines, owner = split_lines(texts)
        lengths = pc.utf8_length(lines).to_numpy(zero_copy_only=False)
        n_lines = np.bincount(owner[lengths > 0], minlength=len(texts))
        counted = (lengths >= MIN_LINE_LENGTH) & (lengths <= MAX_LINE_LENGTH) & (n_lines[owner] > 1)
        coded = pc.dictionary_encode(lines.filter(pa.array(counted)))
        if not len(coded):
            return
        pairs = np.unique(owner[counted].astype(np.int64) * len(coded.dictionary) + coded.indices.to_numpy())
        found = np.bincount(pairs % len(coded.dictionary), minlength=len(coded.dictionary))
        # A line that is rare in a large batch counts as absent from it: that is the error allowed.
        frequent = np.flatnonzero(found > MAX_ERROR * len(texts))
        enough = pc.match_substring_regex(coded.dictionary.take(pa.array(frequent)), MIN_WORDS)
        frequent = frequent[enough.to_numpy(zero_copy_only=False).astype(bool)]
        for line, n in zip(
            coded.dictionary.take(pa.array(frequent)).to_pylist(), found[frequent].tolist(), strict=True
        ):
            self._counts[line] = self._counts.get(line, 0) + n
        if len(self._counts) > MAX_KEPT:
            least = MAX_ERROR * self.n_documents
            kept = {line: n for line, n in self._counts.items() if n > least}
            # More lines than that cannot be frequent: the most frequent ones are kept.
            self._counts = dict(sorted(kept.items(), key=lambda pair: (-pair[1], pair[0]))[: MAX_KEPT // 2])

    def list_frequent(self) -> list[tuple[str, int]]:
        """Return the lines that are boilerplate with their numbers of documents, the most frequent first."""
        least = max(MIN_DOCUMENTS, MIN_SHARE * self.n_documents)
        found = [(line, n) for line, n in self._counts.items() if n >= least]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:MAX_REMOVED]


def drop_encoded(texts: Any) -> Any:
    """Return texts without encoded binaries."""
    for pattern in ENCODED:
        texts = pc.replace_substring_regex(texts, pattern, "\n")
    return texts


def drop_lines(texts: Any, lines: tuple[str, ...]) -> Any:
    """Return texts without these lines."""
    if not lines or not len(texts):
        return texts
    lists = pc.split_pattern(texts.cast(pa.large_string()), "\n")
    own, _ = split_lines(texts)
    removed = pc.is_in(own, value_set=pa.array(lines, pa.large_string()))
    if not pc.any(removed).as_py():
        return texts
    values = pc.if_else(removed, pa.scalar("", pa.large_string()), lists.flatten())
    kept = pa.ListArray.from_arrays(lists.offsets, values)
    return pc.binary_join(kept, pa.scalar("\n", pa.large_string())).cast(texts.type)


class SpooledTexts:
    """Batches of texts in a temporary file, so that they can be read a second time."""

    def __init__(self, batches: Iterable[Any]) -> None:
        self._file = tempfile.TemporaryFile(prefix="anchorless-")  # noqa: SIM115 closed by close
        schema = pa.schema([("text", pa.large_string())])
        try:
            with pa.ipc.new_stream(self._file, schema) as writer:
                for texts in batches:
                    texts = texts.cast(pa.large_string())
                    chunks = texts.chunks if isinstance(texts, pa.ChunkedArray) else [texts]
                    writer.write_batch(pa.record_batch([pa.concat_arrays(chunks)], schema=schema))
        except BaseException:
            self.close()
            raise

    def __iter__(self) -> Iterator[Any]:
        self._file.seek(0)
        for batch in pa.ipc.open_stream(self._file):
            yield batch.column(0)

    def close(self) -> None:
        """Remove the file."""
        with suppress(OSError):
            self._file.close()
