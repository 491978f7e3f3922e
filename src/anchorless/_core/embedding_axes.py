"""Main directions of embeddings, in which neighbors are searched.

The embeddings of one corpus have much in common, which says nothing about single documents: without their center,
neighbors predict words better. And in some dimensions they differ little: without those, neighbors predict as well, and
the search takes less time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anchorless._core.neighbor_kernels import project_rows
from anchorless._core.neighbors import Vectors, normalize_vectors, round_vectors
from anchorless._corpus.sparse import split_range
from anchorless._corpus.threads import map_in_threads

#: Directions that are kept, at most.
N_AXES = 224
#: Embeddings from which the directions are found, at most.
MAX_SAMPLED = 2**14
#: Rows that a thread reduces at a time.
ROWS_AT_A_TIME = 2**10
#: A vector of length one that is nearer to the center has no direction: embeddings are rounded.
MIN_DISTANCE = 1e-3


class Axes(NamedTuple):
    """The center of embeddings of length one, and their main directions."""

    center: Vectors  # (d,)
    directions: Vectors  # (d, r), orthonormal columns

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
    n, n_dimensions = rounded.shape
    if n > MAX_SAMPLED:
        rounded = rounded[np.linspace(0, n - 1, MAX_SAMPLED).astype(np.intp)]
    sample = normalize_vectors(rounded)
    center = sample.sum(axis=0, dtype=np.float64) / max(len(sample), 1)
    sample -= center.astype(np.float32)
    directions = np.linalg.eigh((sample.T @ sample).astype(np.float64)).eigenvectors[:, ::-1]
    kept = np.ascontiguousarray(directions[:, : min(N_AXES, n_dimensions)], dtype=np.float32)
    return Axes(center.astype(np.float32), kept)
