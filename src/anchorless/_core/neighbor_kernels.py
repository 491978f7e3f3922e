"""Compiled loops of the search for neighbors: each row by itself, so that no bit depends on the batch.

The loops themselves are in neighbor_kernels.c.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from anchorless._core.compiled import call, check_range, read, write
from anchorless._corpus.documents import Array

Vectors = npt.NDArray[np.float32]
Positions = npt.NDArray[np.int32]


def select_largest(values: Vectors, above: Any, places: Positions, rows: Any, best: Vectors, found: Positions) -> None:
    """Update the largest values so far, best (N, k) with places found (N, k), by values (n, M) of some rows (n,).

    The columns are at `places` (M,); values above a limit are left out. The largest one comes first.
    """
    (n, n_values), (N, k) = values.shape, best.shape
    check_range(rows, N)
    check_width(k, n_values)
    call(
        "select_largest",
        *(n, n_values, k),
        *(read(values, n, n_values, dtype=np.float32), np.float32(above)),
        *(read(places, n_values, dtype=np.int32), read(rows, n, dtype=np.int64)),
        *(write(best, N, k, dtype=np.float32), write(found, N, k, dtype=np.int32)),
    )


def select_largest_pairs(
    values: Vectors, above: Any, start: int, least: Vectors, best: Vectors, found: Positions
) -> None:
    """Update the largest values so far of N rows, as `select_largest` does, by values (n, M) of pairs of rows.

    Those are of row start + i and row start + j. What is beyond the first n columns counts for both rows of a pair.
    `least` (N,) is the last column of `best`.
    """
    (n, n_values), (N, k) = values.shape, best.shape
    if start < 0 or start + max(n, n_values) > N:
        raise IndexError(f"rows from {start} on are out of range: there are {N}")
    check_width(k, n_values)
    call(
        "select_largest_pairs",
        *(n, n_values, k),
        *(read(values, n, n_values, dtype=np.float32), np.float32(above), start),
        *(write(least, N, dtype=np.float32), write(best, N, k, dtype=np.float32), write(found, N, k, dtype=np.int32)),
    )


def rank_candidates(
    queries: Vectors, vectors: Vectors, candidates: Positions, above: float, found: Positions, cosines: Array
) -> None:
    """Set `found` (n, m) to the nearest of the candidates (n, k) of each query, and `cosines` (n, m) to their cosines.

    The nearest one comes first, of equal cosines the first place. Cosines above a limit are left out. Where there are
    fewer, places are −1 and cosines zero; a candidate −1 is none. Products of float32 numbers are exact in float64, and
    each sum is by itself: no bit depends on the batch.
    """
    (n, k), (N, n_dimensions), n_neighbors = candidates.shape, vectors.shape, found.shape[1]
    check_range(candidates, N, least=-1)
    call(
        "rank_candidates",
        *(n, k, n_neighbors, n_dimensions),
        *(read(queries, n, n_dimensions, dtype=np.float32), read(vectors, N, n_dimensions, dtype=np.float32)),
        *(read(candidates, n, k, dtype=np.int32), float(above)),
        *(write(found, n, n_neighbors, dtype=np.int32), write(cosines, n, n_neighbors)),
    )


def project_rows(vectors: Vectors, center: Vectors, directions: Vectors, found: Vectors) -> None:
    """Set `found` (n, r) to (vectors − center) · directions, for vectors (n, d), each row by itself."""
    n, (d, r) = len(vectors), directions.shape
    call(
        "project_rows",
        *(n, d, r),
        *(read(vectors, n, d, dtype=np.float32), read(center, d, dtype=np.float32)),
        *(read(directions, d, r, dtype=np.float32), write(found, n, r, dtype=np.float32)),
    )


def check_width(k: int, n_values: int) -> None:
    """Refuse to keep none of some values."""
    if n_values and k < 1:
        raise TypeError("at least one of the largest values must be kept")
