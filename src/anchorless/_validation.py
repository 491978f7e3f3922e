"""The border: what users pass is checked here once, and trusted everywhere else."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from anchorless.errors import InputError

#: Co-occurrences are squares: beyond this they overflow.
LARGEST_ENTRY = 1e75


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


def validate_matrix(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Return documents × words as float64, dense or CSR, finite and nonnegative; else say what is wrong and where."""
    who = type(estimator).__name__
    if sp.issparse(X) and X.dtype.kind in "iub":
        X = X.astype(np.float64)  # before any change of format, which adds duplicates and would wrap uint8 around
    try:
        X = validate_data(estimator, X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False, reset=reset)
    except ValueError as error:
        if "could not convert string" not in str(error) and "dtype='numeric'" not in str(error):
            raise
        raise InputError(
            f"X holds text, but {who} needs numbers, documents × words ({error}); count the words first"
        ) from None
    check_entries(X, who)
    return X


def check_entries(X: Any, who: str, first: int = 0) -> None:
    """Refuse NaN, infinity, negative entries, and numbers whose squares leave the range of floating point.

    `first` is the number of the first document, for the message.
    """
    values = X.data if sp.issparse(X) else X
    if values.size == 0:
        return
    high = values.max()
    if not (values.min() >= 0 and high < np.inf):  # NaN fails too
        refuse_first_bad_entry(X, who, first)
    if high > LARGEST_ENTRY or 0 < high < 1.0 / LARGEST_ENTRY:
        raise InputError(
            f"the largest entry of X is {high:.3g}, outside {1 / LARGEST_ENTRY:.0e} … {LARGEST_ENTRY:.0e}; rescale X"
        )


def check_blocks(documents: Any, who: str, n_threads: int) -> None:
    """Refuse the same in blocks of documents; a bad one is walked to again for the place of its entry."""
    first, fine = 0, documents.map_blocks(inspect_block, n_threads)
    for number, (n_rows, good) in enumerate(fine):
        if not good:
            check_entries(next(islice(documents.map_blocks(lambda block: block, 1), number, None)), who, first)
        first += n_rows


def inspect_block(block: Any) -> tuple[int, bool]:
    """Return the number of documents of a block, and whether its entries pass `check_entries`."""
    try:
        check_entries(block, "")
    except InputError:
        return block.shape[0], False
    return block.shape[0], True


def refuse_first_bad_entry(X: Any, who: str, first: int) -> None:
    """Raise for the first entry, in reading order, that is not a finite number of at least 0."""
    if sp.issparse(X):
        X = X.sorted_indices()
    values = X.data if sp.issparse(X) else X.ravel()
    position = int(np.argmax(~(np.isfinite(values) & (values >= 0))))
    if sp.issparse(X):
        row, column = int(np.searchsorted(X.indptr, position, side="right")) - 1, int(X.indices[position])
    else:
        row, column = divmod(position, X.shape[1])
    value = values[position]
    where = f"document {first + row}, word {column} is {value}"
    if value < 0 and np.isfinite(value):
        raise InputError(f"Negative values in data passed to {who}: {where}; counts and weights must be at least 0")
    kind = "NaN" if np.isnan(value) else "infinity"
    raise InputError(f"Input X contains {kind}: {where}; replace or drop it before {who}")
