"""Documents that are much longer than the others, brought down to a length at which they cannot have a topic alone.

P adds up squares: a document ten times as long as the others counts for a hundred of them, and the topic that explains
most is a copy of it. Weighting makes such documents of ordinary ones: normalised cuts divide a document that
shares hardly a word with the others by nearly zero. On exact data no topic changes, however long documents are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from anchorless.documents import Array, Documents

#: A document counts for no more than this many times the usual length.
LONGEST = 3.0
#: Documents so many powers of two from the middle have no say in what is usual: rounding error, or mistakes.
FAR = 20
#: Powers of two between the shortest and the longest document that there can be.
OCTAVES = 2048


def lengths(D: Any) -> Array:
    """Return the length of each document of a block, the root of its sum of squares."""
    squares = np.zeros(D.shape[0])
    filled = np.flatnonzero(np.diff(D.indptr))  # a sum over nothing would take the next document's first entry
    if len(filled):
        squares[filled] = np.add.reduceat(D.data * D.data, D.indptr[filled])
    return np.sqrt(squares)


def shortened(documents: Documents, n_threads: int) -> Documents:
    """Return the documents with those beyond LONGEST brought down to it, and the same object where there is none.

    On disk and on a cluster that is done anew in every walk: it costs less than to keep the documents twice.
    """
    total, largest = np.zeros((2, OCTAVES)), 0.0
    for sums, size in documents.map_blocks(octave_sums, n_threads):
        total += sums
        largest = max(largest, size)
    longest = LONGEST * usual_length(total)
    return documents.mapped(lambda D: brought_down(D, longest)) if largest > longest else documents


def octave_sums(D: Any) -> tuple[Array, float]:
    """Return how many documents have a length of each power of two, the sums of its logarithms, and the largest."""
    size = lengths(D)
    size = size[size > 0]
    octave = np.frexp(size)[1] + OCTAVES // 2
    sums = [np.bincount(octave, each, OCTAVES) for each in (np.ones_like(size), np.log(size))]
    return np.stack(sums), float(size.max(initial=0.0))


def usual_length(total: Array) -> float:
    """Return the geometric mean, without lengths FAR from the middle, from the sums over all documents."""
    below = np.cumsum(total[0])
    middle = int(np.searchsorted(below, below[-1] / 2))
    near = slice(max(0, middle - FAR), middle + FAR + 1)
    return float(np.exp(total[1, near].sum() / max(total[0, near].sum(), 1.0)))


def brought_down(D: Any, longest: float) -> Any:
    """Return a block in which no document is longer than this."""
    size = lengths(D)
    if not np.any(size > longest):
        return D
    factor = np.divide(longest, size, out=np.ones_like(size), where=size > longest)
    return sp.csr_matrix((D.data * np.repeat(factor, np.diff(D.indptr)), D.indices, D.indptr), shape=D.shape)
