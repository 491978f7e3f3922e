"""The documents a second time, word by word, where there is memory for it.

A product of all words with the documents then writes each row once, and threads share the words out among
themselves; a sum over blocks of documents would add up an array of all words per block. No row needs another,
so that neither the pieces nor the threads change a bit.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import scipy.sparse as sp

from anchorless.documents import Array, Documents, in_order

#: Non-zeros up to which documents are held a second time: 300 MB.
HELD_TWICE = 25_000_000
#: Columns of one product up to which each is multiplied by itself, which is faster than few together.
FEW_COLUMNS = 6


def by_word(documents: Documents, n_threads: int) -> Any | None:
    """Return words × documents as one CSR matrix, or None where the copy would be too large.

    It is filled block by block, so that no third copy ever exists.
    """
    if sum(block.nnz for block in documents.blocks) > HELD_TWICE:
        return None
    n_documents, n_words = documents.shape
    frequency = sum(np.bincount(block.indices, minlength=n_words) for block in documents.blocks)
    indptr = np.concatenate([[0], np.cumsum(frequency)])
    index_type = np.int32 if max(int(indptr[-1]), n_documents) < np.iinfo(np.int32).max else np.int64
    indices, data = np.empty(indptr[-1], dtype=index_type), np.empty(indptr[-1])
    free, first = indptr[:-1].copy(), 0  # where the next entry of each word goes, and the first document of the block
    for part in documents.map_blocks(lambda block: block.tocsc(), n_threads):
        counts = np.diff(part.indptr)
        place = np.arange(part.nnz) + np.repeat(free - part.indptr[:-1], counts)
        indices[place], data[place] = part.indices + first, part.data
        free += counts
        first += part.shape[0]
    words = sp.csr_matrix((n_words, n_documents), dtype=np.float64)
    words.data, words.indices, words.indptr = data, indices, indptr.astype(index_type)
    words.has_sorted_indices = words.has_canonical_format = True
    return words


class BothSides:
    """Documents D (N, V) by document and by word: products with D and with Dᵀ."""

    def __init__(self, documents: Documents, words: Any, n_threads: int) -> None:
        self._documents = documents
        self._words = Documents.from_matrix(words)
        self._n_threads = n_threads
        # Kept while this lives: a search makes hundreds of products of a millisecond each.
        self._pool = ThreadPoolExecutor(n_threads)

    def to_documents(self, Q: Array) -> Array:
        """Return DQ."""
        return self._times(self._documents, Q)

    def to_words(self, Z: Array) -> Array:
        """Return DᵀZ."""
        return self._times(self._words, Z)

    def _times(self, rows: Documents, Q: Array) -> Array:
        """Return the product of the rows with Q; few columns lie one after the other in memory, many row by row."""
        few = Q.shape[1] <= FEW_COLUMNS
        result = np.empty((rows.shape[0], Q.shape[1]), order="F" if few else "C")
        Q = np.asfortranarray(Q) if few else np.ascontiguousarray(Q)

        def write(piece: tuple[Any, int]) -> None:
            block, start = piece
            part = result[start : start + block.shape[0]]
            if not few:
                part[:] = block @ Q
                return
            for j in range(Q.shape[1]):
                part[:, j] = block @ Q[:, j]

        starts = np.cumsum([0, *(block.shape[0] for block in rows.blocks[:-1])])
        pieces = list(zip(rows.blocks, starts.tolist(), strict=True))
        written = map(write, pieces) if self._n_threads == 1 else in_order(self._pool, write, pieces, self._n_threads)
        for _ in written:
            pass
        return result


class DocumentGram:
    """DDᵀ / N, documents × documents, as an operator."""

    def __init__(self, sides: BothSides, size: int, mean_over: int) -> None:
        self.size = size
        self._sides = sides
        self._mean_over = mean_over

    def product(self, Z: Array) -> Array:
        """Return DDᵀZ / N."""
        return self._sides.to_documents(self._sides.to_words(Z)) / self._mean_over

    def to_words(self, Z: Array) -> Array:
        """Return DᵀZ."""
        return self._sides.to_words(Z)

    def word_product(self, Q: Array) -> Array:
        """Return DᵀDQ / N."""
        return self._sides.to_words(self._sides.to_documents(Q)) / self._mean_over
