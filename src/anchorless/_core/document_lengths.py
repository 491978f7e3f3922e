"""Adjust the lengths of documents in P: by how many words they have, and with a limit for very long ones.

P sums squares, and the words of a short document are chance: so that topics of such documents do not displace those of
small subjects, the square of a document of n words, where u are typical, is multiplied by 3n / (n + 2u). No document
is longer than three times the typical length, or the largest topic would be a copy of it. On exact data, no topic
depends on the lengths of the documents.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anchorless._corpus.documents import Array, Documents
from anchorless._corpus.sparse import build_csr, compute_row_squares

#: A document with this many times the typical number of words has half of the largest weight.
HALF_WEIGHT_RATIO = 2.0
#: No document is longer than this many times the typical length.
MAX_RELATIVE_LENGTH = 3.0
#: Lengths this many powers of two from the median are rounding errors or mistakes, and not part of the mean.
OUTLIER_OCTAVES = 20


def compute_row_norms(D: Any) -> Array:
    """Return the length of each document of a block, the root of its sum of squares."""
    return np.sqrt(compute_row_squares(D))


def adjust_lengths(documents: Documents, n_threads: int, *, by_words: bool = True) -> Documents:
    """Return documents with adjusted lengths, without `by_words` only limited; the same object if nothing changes."""
    measured = documents.map_blocks(lambda D: np.array([compute_row_norms(D), np.diff(D.indptr)]), n_threads)
    sizes = np.hstack([*measured])
    size, words = sizes[:, sizes[0] > 0]
    if len(size) == 0:
        return documents
    octave = np.frexp(size)[1]
    near = abs(octave - np.quantile(octave, 0.5, method="lower")) <= OUTLIER_OCTAVES
    typical_size, typical_words = np.exp(np.log(size[near]).mean()), np.exp(np.log(words[near]).mean())
    longest, by_words = MAX_RELATIVE_LENGTH * typical_size, by_words and words.min() < words.max()
    if not by_words and size.max() <= longest:
        return documents

    def adjust(D: Any) -> Any:
        size, words = compute_row_norms(D), np.diff(D.indptr)
        factor = np.divide(longest, size, out=np.ones_like(size), where=size > longest)
        if by_words:
            factor *= np.sqrt((1.0 + HALF_WEIGHT_RATIO) * words / (words + HALF_WEIGHT_RATIO * typical_words))
        return scale_rows(D, factor)

    return documents.transform_blocks(adjust)  # on disk in every pass again, which costs less than a copy


def scale_rows(D: Any, factor: Array) -> Any:
    """Return a block with each document multiplied by its factor (n,)."""
    data = np.repeat(factor, np.diff(D.indptr))
    data *= D.data
    return build_csr(data, D.indices, D.indptr, D.shape[1], canonical=True)  # D is canonical
