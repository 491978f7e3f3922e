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


def lengths(D: Any) -> Array:
    """Return the length of each document of a block, the root of its sum of squares."""
    squares = np.zeros(D.shape[0])
    filled = np.flatnonzero(np.diff(D.indptr))  # a sum over nothing would take the next document's first entry
    if len(filled):
        squares[filled] = np.add.reduceat(D.data * D.data, D.indptr[filled])
    return np.sqrt(squares)


def shortened(documents: Documents, n_threads: int) -> Documents:
    """Return the documents with those beyond LONGEST brought down to it, and the same object where there is none."""
    found = np.array([*documents.map_blocks(length_sums, n_threads)])
    # The geometric mean: one document, however long, hardly moves it, and it adds up over blocks.
    longest = LONGEST * float(np.exp(found[:, 0].sum() / max(found[:, 1].sum(), 1.0)))
    if not found[:, 2].max() > longest:
        return documents
    return documents.mapped(lambda D: brought_down(D, longest))


def length_sums(D: Any) -> Array:
    """Return the sum of the logarithms of the lengths, the number of documents with a word, and the largest length."""
    filled = lengths(D)
    filled = filled[filled > 0]
    return np.array([np.log(filled).sum(), len(filled), filled.max(initial=0.0)])


def brought_down(D: Any, longest: float) -> Any:
    """Return a block in which no document is longer than this."""
    size = lengths(D)
    if not np.any(size > longest):
        return D
    factor = np.divide(longest, size, out=np.ones_like(size), where=size > longest)
    return sp.csr_matrix((D.data * np.repeat(factor, np.diff(D.indptr)), D.indices, D.indptr), shape=D.shape)
