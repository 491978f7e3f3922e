"""What every reader yields: rows in chunks, documents in batches, and a log of the rows that were skipped."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from anchorless.errors import InputError

#: A chunk ends after this many rows or characters, whichever comes first.
ROWS_PER_CHUNK, CHARACTERS_PER_CHUNK = 2000, 1 << 22
#: Rows that do not decode are skipped up to this share of all rows, and this number. More mean a wrong encoding.
MAX_UNDECODABLE_SHARE, MAX_UNDECODABLE = 0.1, 2
#: Places that are kept for each reason.
MAX_PLACES = 5

#: What is wrong with rows that were logged for one reason: kept, and shown.
MAX_DETAILS, MAX_SHOWN_DETAILS = 20, 4

#: Reason to log a row → what is wrong with it, and what to do.
REASONS = {
    "empty": ("without text", ""),
    "undecodable": (
        "with bytes that do not decode",
        "; if it is not UTF-8, set {encoding}, for example to cp1252",
    ),
    "malformed": ("that could not be read", ""),
    "too long": ("of more than 64 million characters", "; put one document on each line"),
    "binary": ("with other contents than text", ""),
    "unreadable": ("that could not be read", ""),
    "no file": ("with nothing to read: pipes, devices or broken links", ""),
    "duplicate id": ("with an id that an earlier document has", ""),
    "late column": ("with a column that the first rows do not have; the column is ignored", ""),
}
#: Reasons for which a row is not skipped.
WARNINGS = ("duplicate id", "late column")


class EncodingError(InputError):
    """A large part of the rows does not decode."""


class Batch(NamedTuple):
    """Documents: their texts and their other columns."""

    texts: pa.Array  # string or large_string; none is null, blank or undecodable
    other_columns: pa.Table  # as many rows; "id" first, then every column of the input but the text


class Row(NamedTuple):
    """A row of the input."""

    place: int | str  # in messages: the line in which it begins, or the name of its file
    id: str  # for inputs without a column of ids
    cells: Any  # a text, a list (CSV) or a dict (JSON)
    size: int  # characters


class Chunk(NamedTuple):
    """Rows of the input as they were read, with all columns."""

    ids: list[str]
    places: list[int | str]
    table: pa.Table  # as many rows

    @classmethod
    def from_rows(cls, rows: Sequence[Row], table: pa.Table) -> Chunk:
        """Return rows with their cells as a table."""
        return cls([row.id for row in rows], [row.place for row in rows], table)


class SkipLog:
    """Rows that were skipped or warned about, by reason, and the first places in `unit`s; if `strict`, an error."""

    def __init__(self, name: str, unit: str, *, strict: bool = False) -> None:
        self.name, self.unit, self.strict = name, unit, strict
        self.counts = Counter[str]()
        self.places = defaultdict[str, list[int | str]](list)
        self.details = defaultdict[str, Counter[str]](Counter)

    def add(self, reason: str, place: int | str, detail: str = "") -> None:
        """Count a row, or refuse it if strict; `detail` says what is wrong with this one."""
        description, remedy = REASONS[reason]
        if self.strict:
            what = f"a {self.unit} {description}" + (f" ({detail})" if detail else "")
            problem = f"{self.name}, {self.unit} {place}: {what}{remedy}"
            raise InputError(problem, remedy="correct it, or read it without {strict}")
        self.counts[reason] += 1
        if self.counts[reason] <= MAX_PLACES:
            self.places[reason].append(place)
        known = self.details[reason]
        if detail and (detail in known or len(known) < MAX_DETAILS):
            known[detail] += 1

    def check_decoding(self, n_documents: int, encoding: str) -> None:
        """Refuse an encoding in which a large part of the rows does not decode; `n_documents` rows were not skipped."""
        n_undecodable = self.counts["undecodable"]
        n_rows = n_documents + sum(count for reason, count in self.counts.items() if reason not in WARNINGS)
        if n_undecodable <= max(MAX_UNDECODABLE, MAX_UNDECODABLE_SHARE * n_rows):
            return
        detail = next(iter(self.details["undecodable"]), None)
        first = f"{self.unit} {self.places['undecodable'][0]}{f': {detail}' if detail else ''}"
        raise EncodingError(
            f"{n_undecodable:,} of {n_rows:,} {self.unit}s of {self.name} are not {encoding} (the first, {first})",
            remedy="set {encoding} to that of the file, for example to cp1252 if Excel or Windows wrote it",
        )

    def describe_all(self) -> list[str]:
        """Return sentences such as "skipped 7 lines without text (lines 3, 5, 9, 10, 14 and 2 more)"."""
        return [self.describe_reason(reason) for reason in REASONS if reason in self.counts]

    def describe_reason(self, reason: str) -> str:
        """Return a sentence about the rows that were counted for a reason."""
        (description, remedy), count, places = REASONS[reason], self.counts[reason], self.places[reason]
        if reason == "duplicate id" and self.unit == "file":  # of the documents in several files
            documents = "1 document" if count == 1 else f"{count:,} documents"
            return f"found {documents} {description} (the first: {next(iter(self.details[reason]))} in {places[0]})"
        verb = "found" if reason in WARNINGS else "skipped"
        unit = self.unit if count == 1 else f"{self.unit}s"
        where = f"{unit} {', '.join(map(str, places))}"
        if count > len(places):
            where += f" and {count - len(places):,} more"
        return f"{verb} {count:,} {unit} {description} ({where}{self._describe_details(reason)}){remedy}"

    def _describe_details(self, reason: str) -> str:
        """Return what is wrong with the first row; of files, the reasons with their numbers: they often differ."""
        details = self.details[reason]
        if not details:
            return ""
        if self.unit != "file" or reason in WARNINGS or len(details) == 1:
            return f"; the first: {next(iter(details))}"
        return "".join(f"; {n:,}: {detail}" for detail, n in details.most_common(MAX_SHOWN_DETAILS))


def group_rows(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Yield lists of rows, each of at most ROWS_PER_CHUNK, that end when their sizes reach CHARACTERS_PER_CHUNK."""
    group: list[Row] = []
    total = 0
    for row in rows:
        group.append(row)
        total += row.size
        if len(group) == ROWS_PER_CHUNK or total >= CHARACTERS_PER_CHUNK:
            yield group
            group, total = [], 0
    if group:
        yield group


def make_names_unique(names: Sequence[str]) -> list[str]:
    """Return the names, with _2, _3 … appended to those that came before."""
    taken: dict[str, None] = {}
    counts: dict[str, int] = {}  # of a name that thousands of columns have, each number is tried once
    for name in names:
        new, count = name, counts.get(name, 1)
        while new in taken:
            count += 1
            new = f"{name}_{count}"
        taken[new], counts[name] = None, count
    return list(taken)


class SeenIds:
    """The ids seen so far, as hashes of 8 bytes: a set of strings would need more memory than a batch of documents.

    They are in sorted arrays, each at least twice as long as the next one, so that a hash is copied only log(n) times.
    """

    def __init__(self) -> None:
        self.sorted_hashes: list[np.ndarray] = []

    def mark_repeated(self, ids: list[str]) -> np.ndarray:
        """Return for each id whether it came before, in this call or an earlier one, and add them all."""
        hashes = np.fromiter(map(hash, ids), np.int64, len(ids))
        fresh, first = np.unique(hashes, return_index=True)
        repeated = np.ones(len(ids), dtype=bool)
        repeated[first] = False
        for known in self.sorted_hashes:
            repeated |= known[np.minimum(np.searchsorted(known, hashes), len(known) - 1)] == hashes
        while self.sorted_hashes and len(self.sorted_hashes[-1]) < 2 * len(fresh):
            fresh = np.union1d(self.sorted_hashes.pop(), fresh)
        if len(fresh):
            self.sorted_hashes.append(fresh)
        return repeated
