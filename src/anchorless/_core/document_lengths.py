"""How much each document counts: by how many words it has, and none for so much that it could have a topic alone.

A document of few words hardly tells what it is about: which of the words of its subject it holds is chance. Weighting
makes all documents about as long, and those that share hardly a word with others longer still: normalised cuts divide
them by nearly zero. P adds up squares, and topics of such documents crowd out those of small subjects. So a document of
n words, where u are usual, counts with 3n / (n + 2u) of its square: as it is if n is usual, three times that if it has
very many words, next to nothing if it has very few.

A document ten times as long as the others would still count for a hundred of them, and the topic that explains most
would be a copy of it: none is longer than three times what is usual. On exact data no topic changes, whatever documents
count for.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from anchorless._corpus.documents import Array, Documents
from anchorless._corpus.sparse import build_csr

#: A document with this many times the usual number of words counts half as much as one with any number of them.
HALF_WEIGHT_RATIO = 2.0
#: A document counts for no more than this many times the usual length.
MAX_RELATIVE_LENGTH = 3.0
#: Documents so many powers of two from the middle have no say in what is usual: rounding error, or mistakes.
OUTLIER_OCTAVES = 20
#: Powers of two between the shortest and the longest document that there can be.
N_OCTAVES = 2048


class TypicalSizes(NamedTuple):
    """What is usual among documents, and whether any of them is not."""

    length: float
    words: float
    has_long: bool
    has_varying_word_counts: bool


def compute_row_norms(D: Any) -> Array:
    """Return the length of each document of a block, the root of its sum of squares."""
    squares = np.zeros(D.shape[0])
    filled = np.flatnonzero(np.diff(D.indptr))  # a sum over nothing would take the next document's first entry
    if len(filled):
        squares[filled] = np.add.reduceat(D.data * D.data, D.indptr[filled])
    return np.sqrt(squares)


def adjust_lengths(documents: Documents, n_threads: int) -> Documents:
    """Return the documents with the lengths that they count with, and the same object where all stay as they are.

    On disk that is done anew in every walk: it costs less than to keep the documents twice.
    """
    sizes = measure_sizes(documents, n_threads)
    if not sizes.has_varying_word_counts:
        return cap_lengths_at(documents, sizes)
    if not sizes.has_long:
        return documents.transform_blocks(lambda D: scale_rows(D, compute_word_count_factors(D, sizes)))
    return documents.transform_blocks(
        lambda D: scale_rows(D, compute_cap_factors(D, sizes) * compute_word_count_factors(D, sizes))
    )


def cap_lengths(documents: Documents, n_threads: int) -> Documents:
    """Return the documents with those beyond LONGEST brought down to it alone, and the same object if there is none.

    How many classes there are is seen in the spectrum of these: where documents count by their words, gaps close.
    """
    return cap_lengths_at(documents, measure_sizes(documents, n_threads))


def cap_lengths_at(documents: Documents, sizes: TypicalSizes) -> Documents:
    """Return the same where it is known what is usual."""
    return (
        documents.transform_blocks(lambda D: scale_rows(D, compute_cap_factors(D, sizes)))
        if sizes.has_long
        else documents
    )


def measure_sizes(documents: Documents, n_threads: int) -> TypicalSizes:
    """Return what is usual, from sums over the blocks: geometric means, without lengths FAR from the middle."""
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
    """Return sums by powers of two of the length, the greatest length, and the fewest and the most words.

    The sums (3, OCTAVES) are of documents, of the logarithms of their lengths, and of those of their numbers of words.
    """
    size, words = compute_row_norms(D), np.diff(D.indptr)
    size, words = size[size > 0], words[size > 0]
    octave = np.frexp(size)[1] + N_OCTAVES // 2
    sums = [np.bincount(octave, each, N_OCTAVES) for each in (np.ones_like(size), np.log(size), np.log(words))]
    fewest, most = int(words.min(initial=D.shape[1])), int(words.max(initial=0))
    return np.array(sums, dtype=np.float64), float(size.max(initial=0.0)), fewest, most


def compute_cap_factors(D: Any, sizes: TypicalSizes) -> Array:
    """Return the factors that bring documents down to LONGEST, 1 where they are no longer."""
    size, longest = compute_row_norms(D), MAX_RELATIVE_LENGTH * sizes.length
    return np.divide(longest, size, out=np.ones_like(size), where=size > longest)


def compute_word_count_factors(D: Any, sizes: TypicalSizes) -> Array:
    """Return the factors by which documents count for their words."""
    words = np.diff(D.indptr)
    return np.sqrt((1.0 + HALF_WEIGHT_RATIO) * words / (words + HALF_WEIGHT_RATIO * sizes.words))


def scale_rows(D: Any, factor: Array) -> Any:
    """Return a block with its documents so many times as long."""
    data = np.repeat(factor, np.diff(D.indptr))
    data *= D.data
    return build_csr(data, D.indices, D.indptr, D.shape[1], canonical=True)  # as D is
