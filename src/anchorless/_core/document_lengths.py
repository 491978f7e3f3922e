"""Adjust the lengths of documents in P: by how many words they have, and with a limit for very long ones.

A document of few words says little about its subject: which of the subject's words it contains is chance. Weighting
gives all documents about the same length, and those that share few words with others a larger one, since normalized
cuts divide them by nearly zero. P sums squares, so topics of such documents would displace topics of small subjects.
So the square of a document of n words, where u are typical, is multiplied by 3n / (n + 2u): by 1 if n is typical, by 3
if it has very many words, by nearly 0 if it has very few.

A document ten times as long as the others would still count for a hundred of them, and the largest topic would be a
copy of it; so no document is longer than three times the typical length. On exact data, no topic depends on the
lengths of the documents.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

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


class TypicalSizes(NamedTuple):
    """The typical document, and whether documents differ from it."""

    length: float
    words: float
    has_long: bool
    has_varying_word_counts: bool


def compute_row_norms(D: Any) -> Array:
    """Return the length of each document of a block, the root of its sum of squares."""
    return np.sqrt(compute_row_squares(D))


def adjust_lengths(documents: Documents, n_threads: int) -> Documents:
    """Return the documents with adjusted lengths, or the same object if nothing changes.

    On disk, every pass over the blocks adjusts them again, which costs less than storing them twice.
    """
    sizes = measure_sizes(documents, n_threads)
    if not sizes.has_varying_word_counts:
        return cap_lengths_at(documents, sizes)
    return documents.transform_blocks(
        lambda D: scale_rows(D, compute_cap_factors(D, sizes) * compute_word_count_factors(D, sizes))
    )


def cap_lengths(documents: Documents, n_threads: int) -> Documents:
    """Return the documents with the limit on their lengths alone, or the same object if none exceeds it.

    Their spectrum shows how many classes there are; adjusting for the numbers of words closes its gaps.
    """
    return cap_lengths_at(documents, measure_sizes(documents, n_threads))


def cap_lengths_at(documents: Documents, sizes: TypicalSizes) -> Documents:
    """Return the documents with no length beyond the limit for these typical sizes."""
    if not sizes.has_long:
        return documents
    return documents.transform_blocks(lambda D: scale_rows(D, compute_cap_factors(D, sizes)))


def measure_sizes(documents: Documents, n_threads: int) -> TypicalSizes:
    """Return the typical sizes, in one pass: geometric means, without lengths `OUTLIER_OCTAVES` from the median."""
    total, longest, fewest, most = np.zeros((3, N_OCTAVES)), 0.0, documents.shape[1], 0
    for sums, size, few, many in documents.map_blocks(sum_block_lengths, n_threads):
        total += sums
        longest, fewest, most = max(longest, size), min(fewest, few), max(most, many)
    below = np.cumsum(total[0])
    middle = int(np.searchsorted(below, below[-1] / 2))
    n_near, log_length, log_words = (
        total[:, max(0, middle - OUTLIER_OCTAVES) : middle + OUTLIER_OCTAVES + 1].sum(axis=1).tolist()
    )
    length, words = (math.exp(each / max(n_near, 1.0)) for each in (log_length, log_words))
    return TypicalSizes(length, words, longest > MAX_RELATIVE_LENGTH * length, fewest < most)


def sum_block_lengths(D: Any) -> tuple[Array, float, int, int]:
    """Return sums by powers of two of the length, the largest length, and the fewest and the most words.

    The sums (3, N_OCTAVES) are of documents, of the logarithms of their lengths, and of their numbers of words.
    """
    size, words = compute_row_norms(D), np.diff(D.indptr)
    size, words = size[size > 0], words[size > 0]
    octave = np.frexp(size)[1] + N_OCTAVES // 2
    sums = [np.bincount(octave, each, N_OCTAVES) for each in (np.ones_like(size), np.log(size), np.log(words))]
    fewest, most = int(words.min(initial=D.shape[1])), int(words.max(initial=0))
    return np.array(sums, dtype=np.float64), float(size.max(initial=0.0)), fewest, most


def compute_cap_factors(D: Any, sizes: TypicalSizes) -> Array:
    """Return the factors (n,) that shorten documents to the largest length allowed, 1 for those within it."""
    size, longest = compute_row_norms(D), MAX_RELATIVE_LENGTH * sizes.length
    return np.divide(longest, size, out=np.ones_like(size), where=size > longest)


def compute_word_count_factors(D: Any, sizes: TypicalSizes) -> Array:
    """Return the factors (n,) that adjust documents for their numbers of words."""
    words = np.diff(D.indptr)
    return np.sqrt((1.0 + HALF_WEIGHT_RATIO) * words / (words + HALF_WEIGHT_RATIO * sizes.words))


def scale_rows(D: Any, factor: Array) -> Any:
    """Return a block with each document multiplied by its factor (n,)."""
    data = np.repeat(factor, np.diff(D.indptr))
    data *= D.data
    return build_csr(data, D.indices, D.indptr, D.shape[1], canonical=True)  # D is canonical
