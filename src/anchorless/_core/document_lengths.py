"""Adjust the lengths of documents in P: by how many words they have, and with a limit for very long ones.

P sums squares, and the words of a short document are chance: so that topics of such documents do not displace those of
small subjects, the square of a document of n words, where u are typical, is multiplied by 3n / (n + 2u). No document
is longer than three times the typical length, or the largest topic would be a copy of it. On exact data, no topic
depends on the lengths of the documents.
"""

from __future__ import annotations

import math
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
#: Powers of two between the smallest and the largest length that a float can have.
N_OCTAVES = 2048


def compute_row_norms(D: Any) -> Array:
    """Return the length of each document of a block, the root of its sum of squares."""
    return np.sqrt(compute_row_squares(D))


def adjust_lengths(documents: Documents, n_threads: int, *, by_words: bool = True) -> Documents:
    """Return the documents with adjusted lengths, or the same object if nothing changes.

    Without `by_words`, only the limit applies. On disk, every pass adjusts the blocks again: cheaper than a copy.
    """
    longest, typical_words, has_longer, has_varying_words = measure_sizes(documents, n_threads)
    by_words = by_words and has_varying_words
    if not by_words and not has_longer:
        return documents

    def adjust(D: Any) -> Any:
        size, words = compute_row_norms(D), np.diff(D.indptr)
        factor = np.divide(longest, size, out=np.ones_like(size), where=size > longest)
        if by_words:
            factor *= np.sqrt((1.0 + HALF_WEIGHT_RATIO) * words / (words + HALF_WEIGHT_RATIO * typical_words))
        return scale_rows(D, factor)

    return documents.transform_blocks(adjust)


def measure_sizes(documents: Documents, n_threads: int) -> tuple[float, float, bool, bool]:
    """Return the longest length allowed, the typical number of words, and whether documents exceed or differ from it.

    Typical are geometric means, without lengths `OUTLIER_OCTAVES` from the median.
    """
    total, longest, fewest, most = np.zeros((3, N_OCTAVES)), 0.0, documents.shape[1], 0
    for sums, size, few, many in documents.map_blocks(sum_block_lengths, n_threads):
        total += sums
        longest, fewest, most = max(longest, size), min(fewest, few), max(most, many)
    below = np.cumsum(total[0])
    middle = int(np.searchsorted(below, below[-1] / 2))
    near = total[:, max(0, middle - OUTLIER_OCTAVES) : middle + OUTLIER_OCTAVES + 1]
    n_near, log_length, log_words = near.sum(axis=1).tolist()
    length, words = (math.exp(each / max(n_near, 1.0)) for each in (log_length, log_words))
    limit = MAX_RELATIVE_LENGTH * length
    return limit, words, longest > limit, fewest < most


def sum_block_lengths(D: Any) -> tuple[Array, float, int, int]:
    """Return sums (3, N_OCTAVES) by octave of length, the largest length, and the fewest and the most words.

    The sums are of documents, of the logarithms of their lengths, and of those of their numbers of words.
    """
    size, words = compute_row_norms(D), np.diff(D.indptr)
    size, words = size[size > 0], words[size > 0]
    octave = np.frexp(size)[1] + N_OCTAVES // 2
    sums = [np.bincount(octave, each, N_OCTAVES) for each in (np.ones_like(size), np.log(size), np.log(words))]
    fewest, most = int(words.min(initial=D.shape[1])), int(words.max(initial=0))
    return np.array(sums, dtype=np.float64), float(size.max(initial=0.0)), fewest, most


def scale_rows(D: Any, factor: Array) -> Any:
    """Return a block with each document multiplied by its factor (n,)."""
    data = np.repeat(factor, np.diff(D.indptr))
    data *= D.data
    return build_csr(data, D.indices, D.indptr, D.shape[1], canonical=True)  # D is canonical
