"""Metadata of documents: ids, labels and dates, and the other columns of their file. Dates are parsed here."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anchorless.errors import InputError, UsageError, suggest

#: Names of columns that are used as labels and dates where none is named.
LABEL_NAMES = ("label", "labels", "category", "class", "group", "section", "topic")
DATE_NAMES = ("date", "datetime", "timestamp", "time", "created_at", "created", "published", "published_at", "year")

#: The years that dates as numbers may have, 1980 to 2099, in seconds since 1970.
EPOCH_RANGE = (315_532_800, 4_102_444_800)
#: Kinds of dates that are understood, for messages.
DATE_EXAMPLES = "2024-05-31, 31.05.2024, 5/31/2024, May 2024, 2024, or seconds since 1970"
#: Part of the dates that must be such numbers.
MIN_EPOCH_SHARE = 0.9


class Epoch(NamedTuple):
    """How dates are numbers: a number n stands for (n - start) · multiplier / divisor seconds since 1970."""

    name: str
    start: int
    multiplier: int
    divisor: int

    def to_seconds(self, numbers: Any) -> Any:
        """Return numbers as seconds since 1970."""
        return (numbers - self.start) * self.multiplier / self.divisor


EPOCHS = (
    Epoch("seconds since 1970", 0, 1, 1),
    Epoch("milliseconds since 1970", 0, 1, 1000),
    Epoch("days since 1899-12-30, as Excel counts them", 25569, 86400, 1),
)
#: Texts that may be such numbers; 2023 and 20230105 are dates as they are.
EPOCH_NUMBER = r"\d{5}(?:\.\d+)?|\d{9,13}(?:\.\d+)?"


class Metadata(NamedTuple):
    """Ids, labels and dates of all documents, one Arrow array each."""

    ids: Any  # (N,) strings
    labels: Any  # (N,) strings or null; None where none were given
    dates: Any  # the same, as they were given


def validate_metadata(n_documents: int, ids: Any, labels: Any, dates: Any) -> Metadata:
    """Return ids (by default the numbers 0 … N−1), labels and dates, one of each per document."""
    if ids is None:
        ids = np.arange(n_documents)
    columns: dict[str, Any] = {"ids": ids, "labels": labels, "dates": dates}
    for name, values in columns.items():
        if values is not None:
            columns[name] = column = to_strings(name, values)
            if len(column) != n_documents:
                raise InputError(f"{len(column)} {name} for {n_documents} documents; give one per document")
    if missing := columns["ids"].null_count:
        raise InputError(f"{missing} of {n_documents} ids are missing; give every document an id, or ids=None")
    return Metadata(**columns)


def to_strings(name: str, values: Any) -> Any:
    """Return values as an array of strings; None and NaN, also in their pandas forms, become null."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError("it must be a sequence with one entry per document", parameter=name, value=values)
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        values = pa.array(values)
    if isinstance(values, pa.Array) and (pa.types.is_integer(values.type) or pa.types.is_string(values.type)):
        return values.cast(pa.large_string())
    import pandas as pd

    listed = values.to_pylist() if isinstance(values, pa.Array) else list(values)
    missing = pd.isna(pd.Series(listed, dtype=object)).tolist()
    strings = (None if absent else str(value) for value, absent in zip(listed, missing, strict=True))
    return pa.array(strings, pa.large_string())


class ColumnFile:
    """The columns of the input that go with the documents, in a temporary file: memory does not grow with them."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="anchorless-")  # noqa: SIM115 closed by close
        self._writer: Any = None
        self.schema: pa.Schema = pa.schema([("id", pa.string())])

    def add(self, table: pa.Table) -> None:
        """Write the columns of one batch."""
        if self._writer is None:
            self.schema = table.schema
            self._writer = pa.ipc.new_stream(self._file, table.schema)
        self._writer.write_table(table.cast(self.schema))

    def tables(self) -> Iterator[pa.Table]:
        """Yield the batches again, from the first."""
        if self._writer is None:
            return
        self._writer.close()
        self._file.seek(0)
        for batch in pa.ipc.open_stream(self._file):
            yield pa.table(batch)

    def close(self) -> None:
        """Remove the file."""
        with suppress(OSError):  # bytes that found no place on the disk do not matter any more
            self._file.close()


class MetadataCollector:
    """Collect ids, labels and dates, which stay in memory, from the columns of each batch."""

    def __init__(
        self,
        name: str,
        label_column: str | None = None,
        date_column: str | None = None,
        id_column: str | None = "id",
        text_column: str | None = None,
    ) -> None:
        self.name, self._id_column = name, id_column  # None if the ids are numbers that the file does not have
        self._text_column = text_column
        self.columns: dict[str, str | None] = {}
        self._wanted = {"label": (label_column, LABEL_NAMES), "date": (date_column, DATE_NAMES)}
        self._parts: dict[str, list[Any]] = {"id": [], "label": [], "date": []}
        self.whole_column: str | None = None  # names the document of each part, if documents are divided
        self._whole: list[Any] = []

    def add(self, table: pa.Table) -> None:
        """Keep the columns of one batch."""
        if not self.columns:
            self.columns = {role: self._choose_column(role, table.column_names) for role in self._wanted}
        self._parts["id"].append(table["id"].combine_chunks().cast(pa.large_string()))
        if self.whole_column is not None:
            self._whole.append(table[self.whole_column].combine_chunks().cast(pa.large_string()))
        for role, column in self.columns.items():
            if column is not None:
                texts = table[column].combine_chunks().cast(pa.large_string())
                self._parts[role].append(pc.if_else(pc.equal(texts, ""), None, texts))

    def _choose_column(self, role: str, columns: list[str]) -> str | None:
        """Return the column that was named, or the first with a customary name."""
        wanted, customary = self._wanted[role]
        if wanted is None:
            lower = {column.lower(): column for column in reversed(columns)}
            return next((lower[name] for name in customary if name in lower), None)
        if wanted not in columns:
            named = [self._id_column if column == "id" else column for column in columns]
            present = [column for column in named if column is not None]
            others = ", ".join(f'"{column}"' for column in present) or "none"
            problem = f"{self.name} has no such column beside its text; there are {others}{suggest(wanted, present)}"
            if wanted == self._text_column:
                problem = f"that is the text column of {self.name}; the others are {others}"
            raise UsageError(problem, parameter=f"{role}_column", value=wanted)
        return wanted

    def collect_whole_ids(self) -> Any:
        """Return the id of the document of each part; None if documents are whole."""
        return pa.concat_arrays(self._whole) if self._whole else None

    def collect(self) -> Metadata:
        """Return ids, labels and dates of all batches; None if absent. Refuse a given column without any date."""
        ids, labels, dates = (pa.concat_arrays(parts) if parts else None for parts in self._parts.values())
        if dates is not None and (given := self._wanted["date"][0]) is not None:
            check_dates(dates, self.name, given)
        return Metadata(ids, labels, dates)


def parse_dates(dates: Any) -> npt.NDArray[np.datetime64]:
    """Return dates (N,) in universal time; NaT where a string is no date that can be read.

    Numbers of one of `EPOCHS` if nearly all are of its size; else ISO 8601 first, and other forms as
    pandas reads them. 03/04/2005 begins with the day if any date must, else the month.
    """
    import pandas as pd

    coded = pc.dictionary_encode(dates)
    texts = pd.Series(coded.dictionary.to_pylist(), dtype=object)
    if epoch := find_epoch(texts):
        seconds = epoch.to_seconds(pd.to_numeric(texts, errors="coerce"))
        moments = pd.to_datetime(seconds, unit="s", errors="coerce", utc=True)
    else:
        moments = pd.to_datetime(texts, format="ISO8601", errors="coerce", utc=True)
    unread = moments.isna() & ~pd.Series([epoch is not None] * len(texts), dtype=bool)
    if unread.any():
        others = texts[unread]
        # One rule for all, or months would mix: 19/05/2022 can only begin with the day.
        numbers = others.astype(str).str.extract(r"^\s*(\d{1,2})[./-]\d{1,2}[./-]\d{2,4}\b")[0].dropna().astype(int)
        day_first = bool((numbers > 12).any())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pandas comments on forms that it has to guess
            moments[unread] = pd.to_datetime(others, format="mixed", dayfirst=day_first, errors="coerce", utc=True)
    unique = np.append(moments.dt.tz_localize(None).to_numpy(dtype="datetime64[s]"), np.datetime64("NaT"))
    indices = pc.fill_null(coded.indices, len(texts)).to_numpy(zero_copy_only=False)
    return np.asarray(unique[indices])


def check_dates(dates: Any, name: str, column: str) -> None:
    """Refuse a column of a file in which no value can be read as a date; an empty one is no mistake of the name."""
    values = pc.drop_null(dates)
    if not len(values) or count_missing_dates(values) < len(values):
        return
    shown = ", ".join(f"{value!r:.40}" for value in pc.unique(values)[:2].to_pylist())
    raise UsageError(
        f"none of the {len(values):,} values of this column of {name} can be read as a date: {shown}",
        parameter="date_column",
        value=column,
        remedy=f"name a column with dates such as {DATE_EXAMPLES}",
    )


def find_epoch(texts: Any) -> Epoch | None:
    """Return how dates are numbers, such as seconds since 1970; None for other dates.

    Nearly all must be numbers of the right size: those of the years 1980 to 2099.
    """
    import pandas as pd

    texts = pd.Series([text for text in texts if text is not None], dtype=object).astype(str).str.strip()
    numbers = pd.to_numeric(texts[texts.str.fullmatch(EPOCH_NUMBER)], errors="coerce")
    low, high = EPOCH_RANGE
    for epoch in EPOCHS:
        seconds = epoch.to_seconds(numbers)
        if len(texts) and ((seconds >= low) & (seconds < high)).sum() >= MIN_EPOCH_SHARE * len(texts):
            return epoch
    return None


def describe_epoch(dates: Any) -> str | None:
    """Return a note about dates that are numbers; None for other dates."""
    if dates is None or (epoch := find_epoch(pc.unique(dates).to_pylist())) is None:
        return None
    days = parse_dates(dates)
    days = days[~np.isnat(days)].astype("datetime64[D]")
    return f"the dates are numbers, which were read as {epoch.name}: {days.min()} to {days.max()}"


def count_missing_dates(dates: Any) -> int:
    """Return how many documents have no date that can be read."""
    return int(np.isnat(parse_dates(dates)).sum())
