"""What every reader hands on: rows in chunks, documents in batches, and an account of what was left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from anchorless.errors import InputError

#: A chunk ends after so many rows or characters, whichever comes first.
ROWS_PER_CHUNK = 2000
CHARACTERS_PER_CHUNK = 1 << 22
#: Places that are remembered for each reason.
MAX_PLACES = 5

Item = TypeVar("Item")

#: Reason → what is wrong with such rows, and the way out.
SKIP_REASONS = {
    "empty": ("without text", ""),
    "undecodable": ("with bytes that do not decode", "; for another encoding pass, say, --encoding latin-1"),
    "malformed": ("that could not be read", ""),
    "too long": ("of more than 64 million characters", "; is it really one document each?"),
    "binary": ("that are not text", ""),
}
#: The same for rows that are kept.
WARNING_REASONS = {
    "duplicate id": ("with an id that an earlier document has", ""),
    "late column": ("with a column that the first rows do not have, which is left out", ""),
}


class Batch(NamedTuple):
    """Documents: their texts, and what else is known of each."""

    texts: pa.Array  # string or large_string; none is null, blank or undecodable
    carried: pa.Table  # as many rows; "id" first, then every column of the input but the text


class Chunk(NamedTuple):
    """Rows of the input as they were read, before the text column is chosen."""

    ids: list[str]  # a name for each row, for inputs without a column of ids
    places: list[int | str]  # where each row is, for messages
    table: pa.Table  # as many rows, all columns


class SkipLog:
    """Rows left out and rows remarked on: how many for each reason, and where the first ones are.

    Places are counted from 1 in `unit`s: "line" (a CSV header is line 1), "row" (of a Parquet file) or "file"
    (named). With `strict` the first one is an error instead.
    """

    def __init__(self, name: str, unit: str, *, strict: bool = False) -> None:
        self.name, self.unit, self.strict = name, unit, strict
        self.counts: dict[str, int] = {}
        self.places: dict[str, list[int | str]] = {}
        self.details: dict[str, str] = {}

    def add(self, reason: str, place: int | str, detail: str = "") -> None:
        """Count a row, or refuse it when strict; `detail` says what is wrong with this one."""
        described, way_out = {**SKIP_REASONS, **WARNING_REASONS}[reason]
        if self.strict:
            what = f"a {self.unit} {described}" + (f" ({detail})" if detail else "")
            raise InputError(f"{self.name}, {self.unit} {place}: {what}{way_out}; without strict it would be let pass")
        self.counts[reason] = self.counts.get(reason, 0) + 1
        places = self.places.setdefault(reason, [])
        if len(places) < MAX_PLACES:
            places.append(place)
        if detail:
            self.details.setdefault(reason, detail)

    @property
    def total(self) -> int:
        """Rows left out, for any reason."""
        return sum(count for reason, count in self.counts.items() if reason in SKIP_REASONS)

    def describe_all(self) -> list[str]:
        """Return a sentence for each reason, those of rows left out first."""
        skipped = [self.describe_reason(reason, "skipped", *words) for reason, words in SKIP_REASONS.items()]
        kept = [self.describe_reason(reason, "found", *words) for reason, words in WARNING_REASONS.items()]
        return [sentence for sentence in skipped + kept if sentence]

    def sentence(self, reason: str, verb: str, described: str, way_out: str) -> str:
        """Return "skipped 12 lines without text (lines 3, 5, 9, 10, 14 and 7 more)", or nothing."""
        count, places = self.counts.get(reason, 0), self.places.get(reason, [])
        if not count:
            return ""
        s = "" if count == 1 else "s"
        where = f"{self.unit}{s} {', '.join(map(str, places))}"
        if count > len(places):
            where += f" and {count - len(places):,} more"
        if reason in self.details:
            where += f"; the first: {self.details[reason]}"
        return f"{verb} {count:,} {self.unit}{s} {described} ({where}){way_out}"


def group_rows(rows: Iterable[Item], size: Callable[[Item], int]) -> Iterator[list[Item]]:
    """Yield lists of rows, each of at most ROWS_PER_CHUNK, that end when their sizes reach CHARACTERS_PER_CHUNK."""
    group: list[Item] = []
    total = 0
    for row in rows:
        group.append(row)
        total += size(row)
        if len(group) == ROWS_PER_CHUNK or total >= CHARACTERS_PER_CHUNK:
            yield group
            group, total = [], 0
    if group:
        yield group


def make_names_unique(names: Sequence[str]) -> list[str]:
    """Return the names, with _2, _3 … behind those that were there before."""
    taken: dict[str, None] = {}
    for name in names:
        new, count = name, 1
        while new in taken:
            count += 1
            new = f"{name}_{count}"
        taken[new] = None
    return list(taken)


class SeenIds:
    """The ids met so far, 8 bytes each: a set of strings would outgrow the documents it is about.

    Sorted runs of hashes, each at least twice as long as the next one, so that a million ids are merged
    about twenty times and not once for every batch.
    """

    def __init__(self) -> None:
        self.sorted_hashes: list[np.ndarray] = []

    def mark_repeated(self, ids: list[str]) -> np.ndarray:
        """Return for each id whether it was there before, in this call or an earlier one; remember them all."""
        hashes = np.fromiter(map(hash, ids), np.int64, len(ids))
        fresh, first = np.unique(hashes, return_index=True)
        repeated = np.ones(len(ids), dtype=bool)
        repeated[first] = False
        for run in self.sorted_hashes:
            repeated |= run[np.minimum(np.searchsorted(run, hashes), len(run) - 1)] == hashes
        self.add_hashes(fresh)
        return repeated

    def add_hashes(self, fresh: np.ndarray) -> None:
        """Add sorted hashes, merging the runs that are not twice as long as what follows them."""
        while self.sorted_hashes and len(self.sorted_hashes[-1]) < 2 * len(fresh):
            fresh = np.union1d(self.sorted_hashes.pop(), fresh)
        if len(fresh):
            self.sorted_hashes.append(fresh)
