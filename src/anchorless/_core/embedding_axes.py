"""Main directions of embeddings, in which neighbors are searched.

The embeddings of one corpus have much in common, which says nothing about single documents: without their center,
neighbors predict words better. And in some dimensions they differ little: without those, neighbors predict as well, and
the search takes less time.

The axes have the same bits on every processor: otherwise some coordinates would be rounded to other numbers, and of
documents that are nearly as near, others would be the neighbors.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anchorless._core.neighbor_kernels import project_rows
from anchorless._core.neighbors import Vectors, normalize_vectors, round_vectors
from anchorless._corpus.documents import Array
from anchorless._corpus.sparse import split_range
from anchorless._corpus.threads import map_in_threads

#: Directions that are kept, at most.
N_AXES = 224
#: Embeddings from which the directions are found, at most.
MAX_SAMPLED = 2**14
#: Differences from the center are counted in this unit for the directions: whole numbers below 2**19, so that sums of
#: `MAX_SAMPLED` products are below 2**53, exact in float64 and the same in every order.
UNIT = 2.0**-18
#: Directions are rounded to multiples of this. Eigenvectors differ by about 1e-14 between processors.
DIRECTION_UNIT = 2.0**-16
#: Directions with a smaller part of the largest variance are left out: rounding of the embeddings decides about them.
MIN_VARIANCE = 1e-6
#: Rows that a thread reduces at a time.
ROWS_AT_A_TIME = 2**10
#: A vector of length one that is nearer to the center has no direction: embeddings are rounded.
MIN_DISTANCE = 1e-3


class Axes(NamedTuple):
    """The center of embeddings of length one, and their main directions."""

    center: Vectors  # (d,)
    directions: Vectors  # (d, r), columns that are orthonormal to rounding

    def reduce(self, rounded: Any, n_threads: int) -> tuple[npt.NDArray[np.float16], npt.NDArray[np.bool_]]:
        """Return vectors (n, r) of length one for rounded embeddings (n, d), and which of them (n,) have a direction.

        Those without one are zero. No row needs another.
        """
        found = np.zeros((len(rounded), self.directions.shape[1]), dtype=np.float16)
        known = np.zeros(len(rounded), dtype=np.bool_)

        def reduce_rows(rows: slice) -> None:
            projected = np.empty((rows.stop - rows.start, found.shape[1]), dtype=np.float32)
            project_rows(normalize_vectors(rounded[rows]), *self, projected)
            known[rows] = (projected**2).sum(axis=1) > MIN_DISTANCE**2
            if known[rows].all():
                found[rows] = round_vectors(projected)
            else:
                found[rows][known[rows]] = round_vectors(projected[known[rows]])

        for _ in map_in_threads(reduce_rows, split_range(len(rounded), ROWS_AT_A_TIME), n_threads):
            pass
        return found, known


def find_axes(rounded: npt.NDArray[np.float16]) -> Axes:
    """Return the center and the main directions of rounded embeddings (n, d), or of a part if there are many."""
    n = len(rounded)
    if n > MAX_SAMPLED:
        rounded = rounded[np.linspace(0, n - 1, MAX_SAMPLED).astype(np.intp)]
    sample = normalize_vectors(rounded)
    center = (sample.sum(axis=0, dtype=np.float64) / max(len(sample), 1)).astype(np.float32)
    variances, directions = np.linalg.eigh(sum_products(sample, center))
    n_kept = min(N_AXES, int((variances > MIN_VARIANCE * variances[-1]).sum()))
    return Axes(center, round_directions(directions[:, ::-1][:, : max(n_kept, 1)]))


def sum_products(vectors: Vectors, center: Vectors) -> Array:
    """Return the sums (d, d) of products of the differences of vectors (n, d) from a center, in squares of `UNIT`."""
    found = np.zeros((len(center), len(center)))
    for rows in split_range(len(vectors), ROWS_AT_A_TIME):
        whole = np.rint((vectors[rows] - center).astype(np.float64) / UNIT)
        found += whole.T @ whole
    return found


def round_directions(directions: Array) -> Vectors:
    """Return directions (d, r) as multiples of `DIRECTION_UNIT`, each with a positive largest entry."""
    whole = np.rint(directions / DIRECTION_UNIT)
    largest = abs(whole).argmax(axis=0)
    signs = np.where(whole[largest, np.arange(whole.shape[1])] < 0, -1.0, 1.0)
    return np.ascontiguousarray(whole * (signs * DIRECTION_UNIT), dtype=np.float32)
