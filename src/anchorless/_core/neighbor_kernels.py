"""Compiled loops of the search for neighbors: each row by itself, so that no bit depends on the batch."""

from __future__ import annotations

import numpy as np

from anchorless._core.token_kernels import compile_loop


@compile_loop
def insert_value(best, found, value, place):
    """Put a value and its place where they belong in the largest values so far (k,), the largest one first."""
    at = len(best) - 1
    while at > 0 and best[at - 1] < value:
        best[at], found[at] = best[at - 1], found[at - 1]
        at -= 1
    best[at], found[at] = value, place


@compile_loop
def select_largest(values, above, places, rows, best, found):
    """Update the largest values so far, best (N, k) with places found (N, k), by values (n, M) of some rows (n,).

    The columns are at `places` (M,); values above a limit are left out. The largest one comes first.
    """
    last = best.shape[1] - 1
    for i in range(len(rows)):
        row = rows[i]
        for column in range(values.shape[1]):
            value = values[i, column]
            if value <= best[row, last] or value > above:
                continue
            insert_value(best[row], found[row], value, places[column])


@compile_loop
def select_largest_pairs(values, above, start, least, best, found):
    """Update the largest values so far of N rows, as `select_largest` does, by values (n, M) of pairs of rows.

    Those are of row start + i and row start + j. What is beyond the first n columns counts for both rows of a pair.
    `least` (N,) is the last column of `best`.
    """
    n, last = len(values), best.shape[1] - 1
    for i in range(n):
        row = start + i
        for j in range(values.shape[1]):
            value = values[i, j]
            if value > above:
                continue
            if value > least[row]:
                insert_value(best[row], found[row], value, start + j)
                least[row] = best[row, last]
            if j >= n and value > least[start + j]:
                insert_value(best[start + j], found[start + j], value, row)
                least[start + j] = best[start + j, last]


@compile_loop
def compute_cosines(queries, vectors, candidates, found):
    """Set `found` (n, k) to the products of queries and candidates, −∞ where there is none.

    Products of float32 numbers are exact in float64, and each sum is by itself: no bit depends on the batch.
    """
    n_dimensions = queries.shape[1]
    whole = n_dimensions // 4 * 4
    for row in range(len(candidates)):
        q = queries[row]
        for place in range(candidates.shape[1]):
            if candidates[row, place] < 0:
                found[row, place] = -np.inf
                continue
            v = vectors[candidates[row, place]]
            a, b, c, d = 0.0, 0.0, 0.0, 0.0
            for k in range(0, whole, 4):
                a += np.float64(q[k]) * np.float64(v[k])
                b += np.float64(q[k + 1]) * np.float64(v[k + 1])
                c += np.float64(q[k + 2]) * np.float64(v[k + 2])
                d += np.float64(q[k + 3]) * np.float64(v[k + 3])
            for k in range(whole, n_dimensions):
                a += np.float64(q[k]) * np.float64(v[k])
            found[row, place] = (a + b) + (c + d)


@compile_loop
def project_rows(vectors, center, directions, found):
    """Set `found` (n, r) to (vectors − center) · directions, for vectors (n, d), each row by itself."""
    n_dimensions, n_axes = directions.shape
    for row in range(len(vectors)):
        here = found[row]
        here[:] = 0.0
        for k in range(n_dimensions):
            value, along = vectors[row, k] - center[k], directions[k]
            for axis in range(n_axes):
                here[axis] += value * along[axis]
