"""Covariates of documents: a table with one row per document, from whatever table the user has.

Tables are kept as Arrow tables. Dates become days since 1970-01-01, and texts that are all ISO dates count as dates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anchorless._corpus.metadata import parse_dates
from anchorless.errors import InputError, UsageError

#: The beginning of an ISO date.
ISO_DATE = r"^\s*\d{4}-\d{2}-\d{2}"
#: If at least this part of a column of texts begins like a date, the others are errors, not categories.
MOSTLY = 0.9
SECONDS_PER_DAY = 86_400.0


def to_table(data: Any, n_documents: int, name: str = "metadata") -> pa.Table:
    """Return a table of pandas, polars or Arrow, or a mapping of columns, as an Arrow table with a row per document."""
    try:
        table = convert_table(data)
    except (pa.ArrowException, TypeError, ValueError) as error:
        problem = f"{name} cannot be read as a table: {error}"
        raise InputError(problem, remedy="give a data frame of pandas or polars, an Arrow table, or a dict") from None
    if len(table) != n_documents:
        problem = f"{name} has {len(table):,} rows, but there are {n_documents:,} documents"
        raise InputError(problem, remedy="give one row per document, in their order")
    repeated = sorted({column for column in table.column_names if table.column_names.count(column) > 1})
    if repeated:
        raise InputError(f"{name} has the column {repeated[0]!r} more than once; rename one of them")
    return table


def convert_table(data: Any) -> pa.Table:
    """Return any kind of table as an Arrow table."""
    import pandas as pd

    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pd.DataFrame):
        return pa.Table.from_pandas(data.rename(columns=str), preserve_index=False).replace_schema_metadata()
    if isinstance(data, Mapping):
        return pa.table({str(column): to_array(values) for column, values in data.items()})
    if hasattr(data, "__arrow_c_stream__"):  # polars and others
        return replace_string_views(pa.table(data))
    raise TypeError(f"it is a {type(data).__name__}")


def replace_string_views(table: pa.Table) -> pa.Table:
    """Return a table with plain strings, which Arrow can filter, instead of string views."""
    kinds = [pa.large_string() if str(field.type) == "string_view" else field.type for field in table.schema]
    return table.cast(pa.schema(list(zip(table.column_names, kinds, strict=True))))


def to_array(values: Any) -> pa.Array:
    """Return the values of one column; pandas knows more kinds of missing values than Arrow."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    return pa.Array.from_pandas(values if hasattr(values, "__array__") else list(values))


def infer_numbers(table: pa.Table) -> pa.Table:
    """Return the table of a file with numbers instead of texts where every text of a column is a number."""
    columns = []
    for column in table.columns:
        if is_text(column.type):
            column = pc.if_else(pc.equal(pc.utf8_trim_whitespace(column), ""), None, column)
            with suppress(pa.ArrowInvalid):  # not all are numbers
                column = column.cast(pa.float64()) if column.null_count < len(column) else column
        columns.append(column)
    return pa.table(columns, names=table.column_names)


def is_text(kind: pa.DataType) -> bool:
    """Say whether a column holds texts."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def require_columns(names: Sequence[str], table: pa.Table, where: str, also: str = "") -> None:
    """Refuse names that are not columns of the table; `also` says a further way out."""
    missing = [name for name in names if name not in table.column_names]
    if missing:
        listed = ", ".join(map(repr, table.column_names)) or "none"
        remedy = f"correct the name, or give {{data}} with this column{also}"
        raise UsageError(
            f"{where} names the column {missing[0]!r}, which does not exist; there are: {listed}", remedy=remedy
        )


def read_values(table: pa.Table, name: str) -> tuple[Any, bool]:
    """Return a column as a pandas Series, missing values as NaN or None, and whether it holds dates.

    Dates are numbers of days; numbers are float64; texts, categories and truth values are categories.
    """
    column = table[name]
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    kind = column.type
    if pa.types.is_temporal(kind) and not pa.types.is_duration(kind):
        seconds = column.cast(pa.timestamp("s", tz=getattr(kind, "tz", None)), safe=False).cast(pa.int64())
        return to_days(seconds.to_pandas()), True
    if is_text(kind) and looks_like_dates(column):
        return to_days(parse_all_dates(column, name)), True
    if pa.types.is_boolean(kind) or is_text(kind) or pa.types.is_dictionary(kind):
        return to_categories(column), False
    try:
        return column.cast(pa.float64(), safe=False).to_pandas(), False
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        problem = f"the column {name!r} holds {kind}, which is neither numbers, categories nor dates"
        raise InputError(problem, remedy="convert it") from None


def to_days(seconds: Any) -> Any:
    """Return seconds as a Series of days."""
    import pandas as pd

    return pd.Series(np.asarray(seconds, dtype=np.float64) / SECONDS_PER_DAY)


def to_categories(column: pa.Array) -> Any:
    """Return texts, categories or truth values as a categorical Series of strings, in order if they have one."""
    import pandas as pd

    series = column.to_pandas()
    if isinstance(series.dtype, pd.CategoricalDtype):
        return series.cat.rename_categories([str(level) for level in series.cat.categories])
    levels = sorted({str(value) for value in series.dropna()})
    return pd.Series(pd.Categorical(series.map(str, na_action="ignore"), categories=levels))


def looks_like_dates(column: pa.Array) -> bool:
    """Say whether nearly all texts begin like an ISO date."""
    present = column.drop_null()
    if not len(present):
        return False
    return bool(pc.sum(pc.match_substring_regex(present, ISO_DATE)).as_py() >= MOSTLY * len(present))


def parse_all_dates(column: pa.Array, name: str) -> Any:
    """Return texts as seconds since 1970, NaN where a text is missing; refuse one that is no date."""
    moments = parse_dates(column.cast(pa.large_string()))
    wrong = np.flatnonzero(np.isnat(moments) & np.asarray(column.is_valid()))
    if len(wrong):
        row = int(wrong[0])
        problem = f"row {row} of the column {name!r} is {column[row].as_py()!r}, which is no date"
        raise InputError(problem, remedy="correct it, or leave it empty")
    return np.where(np.isnat(moments), np.nan, moments.astype("datetime64[s]").astype(np.int64))
