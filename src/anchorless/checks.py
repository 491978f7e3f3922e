"""The border: what users pass is checked here once, and trusted everywhere else."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from anchorless.errors import InputError


def check_choice(name: str, value: object, choices: Sequence[object]) -> None:
    """Refuse a value that is not among the choices."""
    if value not in choices:
        raise InputError(f"{name}={value!r}, but it must be one of {', '.join(map(repr, choices))}")


def check_whole(name: str, value: object, least: int = 1) -> int:
    """Return a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{name}={value!r}, but it must be a whole number of at least {least}")
    return int(value)


def check_positive(name: str, value: object) -> float:
    """Return a finite number above zero."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < np.inf:
        raise InputError(f"{name}={value!r}, but it must be a finite number above 0")
    return float(value)


def check_nonnegative(X: Any, who: str) -> None:
    """Refuse text, NaN, infinity and negative entries by name and place; anything else is left to scikit-learn."""
    if sp.issparse(X):
        values = X.tocsr().data
    elif isinstance(X, np.ndarray):
        values = X
    else:
        return
    if values.dtype.kind in "US":
        raise InputError(
            f"X holds text ({values.flat[0]!r}, …), but {who} needs numbers: documents × words; count the words first"
        )
    if values.dtype.kind not in "fiu" or values.size == 0:
        return
    low = values.min()
    if low >= 0 and values.max() < np.inf:  # False for NaN too
        return
    refuse_first_bad_entry(X, who)


def refuse_first_bad_entry(X: Any, who: str) -> None:
    """Raise for the first entry, in reading order, that is not a finite number of at least 0."""
    bad = ~(np.isfinite(dense_or_data(X)) & (dense_or_data(X) >= 0))
    position = int(np.argmax(bad))
    if sp.issparse(X):
        entries = X.tocsr().tocoo()
        row, column, value = int(entries.row[position]), int(entries.col[position]), entries.data[position]
    else:
        row, column = divmod(position, X.shape[1]) if X.ndim == 2 else (position, 0)
        value = X.flat[position]
    if np.isnan(value):
        problem = "contains NaN"
    elif np.isinf(value):
        problem = "contains infinity"
    else:
        problem = "has a negative entry"
    raise InputError(
        f"Negative values in data passed to {who}: X {problem}: document {row}, word {column} is {value}; "
        "counts and weights must be finite and at least 0"
        if problem == "has a negative entry"
        else f"Input X {problem}: document {row}, word {column} is {value}; replace or drop it before {who}"
    )


def dense_or_data(X: Any) -> Any:
    """Return the stored entries of X in reading order."""
    return X.tocsr().data if sp.issparse(X) else X.ravel()
