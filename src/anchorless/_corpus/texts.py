"""Texts as users have them: a list, a column of pandas, polars, NumPy or Arrow. Tables are refused by their columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from anchorless._corpus.io.columns import TEXT_NAMES
from anchorless.errors import InputError

#: Columns that an error message lists.
MAX_LISTED_COLUMNS = 20


def iter_texts(documents: Any) -> Iterator[str]:
    """Yield the texts of a list, an iterable or a column; refuse what is no collection of texts."""
    refuse_table(documents)
    if isinstance(documents, set | frozenset):
        problem = f"documents is a {type(documents).__name__}, whose order changes from run to run"
        raise InputError(problem, remedy="give a list, such as sorted(documents)")
    if isinstance(documents, np.ndarray) and documents.ndim != 1:
        way_out = " a column, such as documents[:, 0]" if documents.ndim == 2 else " an array with one dimension"
        raise InputError(f"documents is an array of shape {documents.shape}", remedy=f"give{way_out}")
    if isinstance(documents, str | bytes) or not isinstance(documents, Iterable):
        raise InputError(f"documents are {type(documents).__name__}, but it must be a list or an iterable of strings")
    values = (value.as_py() for value in documents) if isinstance(documents, pa.Array | pa.ChunkedArray) else documents
    for number, text in enumerate(values):
        if not isinstance(text, str):
            raise InputError(describe_no_text(number, text), remedy=suggest_texts(text))
        yield text


def refuse_table(documents: Any) -> None:
    """Refuse a table: iterating it would give the names of its columns, not texts."""
    names = list_columns(documents)
    if names is None:
        return
    if isinstance(documents, Mapping) and names and all(isinstance(value, str) for value in documents.values()):
        remedy = "give the texts, and the keys as ids: fit(list(documents.values()), ids=list(documents))"
        raise InputError(f"documents is a {type(documents).__name__} of {len(names)} texts", remedy=remedy)
    listed = ", ".join(map(repr, names[:MAX_LISTED_COLUMNS]))
    more = f" and {len(names) - MAX_LISTED_COLUMNS} more" if len(names) > MAX_LISTED_COLUMNS else ""
    chosen = next((name for name in names if str(name).lower() in TEXT_NAMES), names[0] if names else "text")
    problem = f"documents is a table ({type(documents).__name__}) with the columns {listed or 'none'}{more}"
    table = "documents.collect()" if hasattr(documents, "collect") else "documents"  # a lazy frame of polars
    raise InputError(problem, remedy=f"give the column that holds the texts, such as {table}[{chosen!r}]")


def list_columns(documents: Any) -> list[Any] | None:
    """Return the names of the columns of a table; None for what is no table."""
    if isinstance(documents, Mapping):
        return list(documents)
    if hasattr(documents, "collect_schema"):  # polars: asking a lazy frame for `columns` gives a warning
        return list(documents.collect_schema().names())
    for name in ("column_names", "columns"):
        if isinstance(names := getattr(documents, name, None), Iterable):
            return list(names)
    fields = getattr(getattr(documents, "dtype", None), "names", None)  # structured arrays of NumPy
    return None if fields is None else list(fields)


def describe_no_text(number: int, value: Any) -> str:
    """Say which document is not a text."""
    if is_missing(value):
        return f"document {number} has no text: it is {value!r}"
    return f"document {number} is {value!r:.40} ({type(value).__name__}), but documents are strings"


def suggest_texts(value: Any) -> str | None:
    """Say what to give instead of a value that is not a text."""
    if is_missing(value):
        return (
            "leave such documents out, or replace them by '': documents.fillna('') in pandas, fill_null('') in polars"
        )
    if isinstance(value, Mapping) and value:
        chosen = next((name for name in value if str(name).lower() in TEXT_NAMES), next(iter(value)))
        return f"give one entry of each, such as [one[{chosen!r}] for one in documents]"
    if isinstance(value, bytes):
        return "decode them first: [text.decode() for text in documents]"
    if isinstance(value, list | tuple) and all(isinstance(word, str) for word in value):
        return "join the words of each: [' '.join(words) for words in documents]"
    return None


def is_missing(value: Any) -> bool:
    """Say whether a value stands for nothing: None, NaN or the missing value of pandas."""
    return value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and value != value)
