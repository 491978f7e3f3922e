"""Checks of what users pass: done once, where it comes in, and relied upon everywhere else."""

from __future__ import annotations

import os
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from anchorless._choices import CONSTRAINT_SYNONYMS, CONSTRAINTS
from anchorless._deprecated import DEPRECATED, warn_deprecated
from anchorless.errors import InputError

#: Co-occurrences are squares: beyond this they overflow.
LARGEST_ENTRY = 1e75
#: Words for a constraint of before version 0.1.
OLD_CONSTRAINTS = ("explained",)


def check_choice(name: str, value: object, choices: Sequence[object]) -> None:
    """Refuse a value that is not among the choices."""
    if value not in choices:
        listed = ", ".join(map(repr, choices))
        raise InputError(f"it must be one of {listed}", parameter=name, value=value, limit=choices)


def check_whole(name: str, value: object, least: int = 1) -> int:
    """Return a whole number of at least `least`, refuse anything else."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"it must be a whole number of at least {least}", parameter=name, value=value, limit=least)
    return int(value)


def check_positive(name: str, value: object) -> float:
    """Return a finite number above zero, refuse anything else."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < np.inf:
        raise InputError("it must be a finite number above 0", parameter=name, value=value, limit=0)
    return float(value)


def resolve_constraint(constraint: object) -> str:
    """Return the usual word for a constraint; an old one is accepted with a warning."""
    if isinstance(constraint, str) and constraint in CONSTRAINT_SYNONYMS:
        usual = CONSTRAINT_SYNONYMS[constraint]
        if constraint in OLD_CONSTRAINTS:
            warn_deprecated(f"constraint={constraint!r} is now called constraint={usual!r}")
        return usual
    check_choice("constraint", constraint, CONSTRAINTS)
    return str(constraint)


def resolve_job_count(n_jobs: object, n_threads: object = DEPRECATED) -> int:
    """Return the number of threads for `n_jobs`, or for `n_threads`, its old name, with a warning.

    As in scikit-learn, -1 stands for every core that this process may use, -2 for all but one, and so on; None is -1.
    """
    if not (isinstance(n_threads, str) and n_threads == DEPRECATED):
        if n_jobs is not None:
            problem = "it is the old name of {n_jobs}, which is given, too"
            raise InputError(problem, parameter="n_threads", value=n_threads, remedy="give only {n_jobs}")
        warn_deprecated(f"n_threads={n_threads!r} is now called n_jobs={n_threads!r}")
        n_jobs = n_threads
    if n_jobs is None:
        return count_cores()
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        problem, remedy = "it must be a whole number other than 0", "give a number of threads, or -1 for every core"
        raise InputError(problem, parameter="n_jobs", value=n_jobs, remedy=remedy)
    wanted = int(n_jobs)
    return wanted if wanted > 0 else max(1, count_cores() + 1 + wanted)


def count_cores() -> int:
    """Count the cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


def check_structure(X: Any) -> Any:
    """Return a sparse matrix whose index arrays are valid; refuse others.

    Compiled code trusts them: an index outside of the matrix makes it read and write beyond its memory.
    """
    if X.format not in ("csr", "csc", "bsr", "coo", "dia"):
        X = X.tocsr()  # lists and dictionaries, which Python checks
    if not has_valid_structure(X):
        problem = f"a sparse matrix of shape {X.shape} has index arrays that do not fit it"
        raise InputError(problem, remedy="build it again from its entries")
    return X


def has_valid_structure(X: Any) -> bool:
    """Tell whether the index arrays of a sparse matrix are within its shape and its data."""
    if X.format == "coo":
        return all(len(at) == len(X.data) and is_within(at, n) for at, n in zip(X.coords, X.shape, strict=True))
    if X.format == "dia":
        return bool(X.data.ndim == 2 and X.offsets.ndim == 1 and len(X.offsets) == len(X.data))
    sizes = [n // step for n, step in zip(X.shape, X.data.shape[1:] if X.format == "bsr" else (1, 1), strict=True)]
    n_major, n_minor = sizes[::-1] if X.format == "csc" else sizes
    return is_compressed_structure(X.indptr, X.indices, len(X.data), n_major, n_minor)


def is_compressed_structure(indptr: Any, indices: Any, n_data: int, n_major: int, n_minor: int) -> bool:
    """Tell whether arrays are the structure of a CSR or CSC matrix; both may have room after the last entry."""
    return bool(
        indptr.ndim == indices.ndim == 1
        and indptr.dtype.kind == indices.dtype.kind == "i"
        and len(indptr) == n_major + 1
        and indptr[0] == 0
        and indptr[-1] <= min(len(indices), n_data)
        and np.all(indptr[1:] >= indptr[:-1])
        and is_within(indices[: indptr[-1]], n_minor)
    )


def is_within(places: Any, n: int) -> bool:
    """Tell whether all places are among 0 … n − 1."""
    return bool(places.size == 0 or (places.min() >= 0 and places.max() < n))


def validate_matrix(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Return documents × words as float64, dense or CSR; refuse what is not finite and nonnegative."""
    who = type(estimator).__name__
    if sp.issparse(X):
        X = check_structure(X)
    if sp.issparse(X) and X.dtype.kind in "iub":
        X = X.astype(np.float64)  # before any change of format, which adds duplicates: uint8 would overflow
    try:
        X = validate_data(estimator, X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False, reset=reset)
    except ValueError as error:
        if "could not convert string" not in str(error) and "dtype='numeric'" not in str(error):
            raise
        problem = f"X holds text, but {who} needs numbers, documents × words"
        raise InputError(problem, remedy="count the words first, or use TopicModel") from None
    _, bad = inspect_block(X)
    if bad is not None:
        refuse_entry(who, *bad)
    return X


def check_blocks(documents: Any, who: str, n_threads: int) -> None:
    """Refuse the same in `Documents`; the message has the number of the document among all."""
    first = 0
    for n_rows, bad in documents.map_blocks(inspect_block, n_threads):
        if bad is not None:
            refuse_entry(who, first + bad[0], *bad[1:])
        first += n_rows


def inspect_block(X: Any) -> tuple[int, tuple[int, int, float] | None]:
    """Return the number of documents, and document, word and value of a bad entry, or None.

    It is the first entry, row by row, that is not a finite number of at least 0; else the largest, if its square would
    overflow or vanish.
    """
    if sp.issparse(X):
        X = X if X.has_sorted_indices else X.sorted_indices()
    values = X.data if sp.issparse(X) else X.ravel()
    if values.size == 0:
        return X.shape[0], None
    high = values.max()
    if not (values.min() >= 0 and high < np.inf):  # NaN fails, too
        position = int(np.argmax(~(np.isfinite(values) & (values >= 0))))
    elif high > LARGEST_ENTRY or 0 < high < 1.0 / LARGEST_ENTRY:
        position = int(np.argmax(values))
    else:
        return X.shape[0], None
    if sp.issparse(X):
        row, column = int(np.searchsorted(X.indptr, position, side="right")) - 1, int(X.indices[position])
    else:
        row, column = divmod(position, X.shape[1])
    return X.shape[0], (row, column, float(values[position]))


def refuse_entry(who: str, document: int, word: int, value: float) -> NoReturn:
    """Refuse an entry of documents that were passed to `who`."""
    where = f"document {document}, word {word} is {value}"
    if not np.isfinite(value):
        kind = "NaN" if np.isnan(value) else "infinity"
        raise InputError(f"Input X contains {kind}: {where}; replace or drop it before {who}")
    if value < 0:
        raise InputError(f"Negative values in data passed to {who}: {where}; counts and weights must be at least 0")
    limits = f"{1 / LARGEST_ENTRY:.0e} … {LARGEST_ENTRY:.0e}"
    raise InputError(f"the largest entry of X is {value:.3g}, outside {limits}; rescale X")
