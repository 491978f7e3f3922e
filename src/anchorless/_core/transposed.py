"""The documents a second time, word by word, where there is memory for it.

A product of all words with the documents then writes each row once, and threads share the words out among
themselves; a sum over blocks of documents would add up an array of all words per block. Each row is added up over the
blocks by the tree of `documents.TreeSum`, so that it has the bits of that sum: where documents are held twice, on disk
or on a cluster, the same topics are found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anchorless._corpus.documents import Array, Crew, Documents, row_view, tree_sum

#: Non-zeros up to which documents are held a second time: 300 MB. So many rows, of all blocks, may there be, too.
HELD_TWICE = 25_000_000
#: Entries of a slice that one thread takes at a time: fewer would not be worth the handing over.
NONZEROS_PER_SLICE = 100_000
#: Rows of a slice: its part of a product stays in the cache while the blocks are added up.
ROWS_PER_SLICE = 4096
#: Columns up to which documents are multiplied with each by itself, which is faster than with few together.
FEW_COLUMNS = 6

#: The transpose of each block of documents, (V, documents of the block), in CSR.
Words = Sequence[Any]


def by_word(documents: Documents, n_threads: int) -> Words | None:
    """Return the blocks word by word; None where they would be too large, and for documents that are elsewhere."""
    if not documents.in_memory or sum(block.nnz for block in documents.blocks) > HELD_TWICE:
        return None
    if documents.n_blocks * documents.shape[1] > HELD_TWICE:
        return None
    return [*documents.map_blocks(lambda block: block.tocsc().T, n_threads)]


def word_side(documents: Documents, n_threads: int) -> WordSide | None:
    """Return the documents by word; None where they cannot be held twice."""
    words = by_word(documents, n_threads)
    return None if words is None else WordSide(words, Crew(n_threads))


def both_sides(documents: Documents, n_threads: int) -> BothSides | None:
    """Return the documents by document and by word; None where they cannot be held twice."""
    words = by_word(documents, n_threads)
    return None if words is None else BothSides(documents, words, Crew(n_threads))


def laid_out(PQ: Array) -> Array:
    """Return few columns one after the other in memory, many row by row: the last bits of what follows depend on it."""
    return np.asfortranarray(PQ) if PQ.shape[1] <= FEW_COLUMNS else np.ascontiguousarray(PQ)


def new_product(n_rows: int, n_columns: int) -> Array:
    """Return an array for a product, to be laid out so."""
    return np.empty((n_rows, n_columns), order="F" if n_columns <= FEW_COLUMNS else "C")


#: Writes the product of a matrix into an array.
Product = Callable[[Any, Array], None]


class Piece(NamedTuple):
    """Rows of a product, and what they are the product of."""

    rows: slice
    matrix: Any


class WordSide:
    """Documents D (N, V) by word, block by block, and who walks over them."""

    def __init__(self, words: Words, crew: Crew) -> None:
        self.words, self.crew = words, crew
        starts = np.cumsum([0, *(block.shape[1] for block in words)]).tolist()
        self.blocks = [slice(*bounds) for bounds in pairwise(starts)]  # the documents of each block
        self.shape = (starts[-1], words[0].shape[0])
        self._words = [
            Piece(rows, [row_view(block, rows.start, rows.stop) for block in words])
            for rows in even_slices(words, 2 * crew.n_threads)
        ]

    def each_product(self, Q: Array, function: Callable[[Array], Array]) -> list[Array]:
        """Return function(DQ) for the documents of each block."""
        # By word: what is written to again and again is a block of DQ, which is smaller than all of Q.
        return self.crew.map(lambda words: function(words.T @ Q), self.words)

    def to_words(self, Z: Array) -> Array:
        """Return DᵀZ."""
        result = new_product(self.shape[1], Z.shape[1])
        return self.added_up([np.ascontiguousarray(Z[rows]) for rows in self.blocks], result)

    def added_up(self, parts: Sequence[Array], result: Array) -> Array:
        """Write DᵀZ, from the rows of Z for each block, into an array."""

        def product(blocks: list[Any], out: Array) -> None:
            out[:] = tree_sum((block @ part for block, part in zip(blocks, parts, strict=True)), fresh=True)

        self._write(self._words, product, result)
        return result

    def narrowed(self, chosen: npt.NDArray[np.intp]) -> WordSide:
        """Return the same documents with the chosen words alone."""
        return WordSide(self.crew.map(lambda block: block[chosen], self.words), self.crew)

    def _write(self, pieces: list[Piece], product: Product, result: Array) -> None:
        """Let `product` write the rows of each piece."""
        self.crew.map(lambda piece: product(piece.matrix, result[piece.rows]), pieces)


class BothSides(WordSide):
    """Documents D (N, V) by document and by word: products with D and with Dᵀ."""

    def __init__(self, documents: Documents, words: Words, crew: Crew) -> None:
        super().__init__(words, crew)
        self._whole = documents.blocks
        self._turned = [block.T for block in documents.blocks]  # the same entries: nothing is copied
        # Threads share rows, not blocks, out among themselves: there may be fewer blocks than threads.
        self._documents = [
            Piece(slice(whole.start + rows.start, whole.start + rows.stop), row_view(block, rows.start, rows.stop))
            for whole, block in zip(self.blocks, documents.blocks, strict=True)
            for rows in even_slices([block], crew.n_threads)
        ]

    def to_documents(self, Q: Array) -> Array:
        """Return DQ."""
        few = Q.shape[1] <= FEW_COLUMNS
        Q = laid_out(Q)

        def product(block: Any, out: Array) -> None:
            if not few:
                out[:] = block @ Q
                return
            for j in range(Q.shape[1]):
                out[:, j] = block @ Q[:, j]

        result = new_product(self.shape[0], Q.shape[1])
        self._write(self._documents, product, result)
        return result

    def word_product(self, Q: Array) -> Array:
        """Return DᵀDQ."""
        if self._by_column(Q):
            return self._each_column(Q, self._word_column)
        return self.to_words(self.to_documents(Q))

    def document_product(self, Z: Array) -> Array:
        """Return DDᵀZ."""
        if self._by_column(Z):
            return self._each_column(Z, self._document_column)
        return self.to_documents(self.to_words(Z))

    def _by_column(self, X: Array) -> bool:
        """Tell whether there is a column for each thread: none waits for the others between two products then."""
        return self.crew.n_threads <= X.shape[1] <= FEW_COLUMNS

    def _each_column(self, X: Array, function: Callable[[Array], Array]) -> Array:
        X = laid_out(X)
        result = np.empty_like(X)
        self.crew.map(lambda j: np.copyto(result[:, j], function(X[:, j])), range(X.shape[1]))
        return result

    # Both products of a column read the documents as they are, which with their copy would not fit into the cache.

    def _word_column(self, q: Array) -> Array:
        return tree_sum(
            (words @ (block @ q) for words, block in zip(self._turned, self._whole, strict=True)), fresh=True
        )

    def _document_column(self, z: Array) -> Array:
        q = tree_sum((words @ z[rows] for words, rows in zip(self._turned, self.blocks, strict=True)), fresh=True)
        return np.concatenate([block @ q for block in self._whole])


def even_slices(blocks: Sequence[Any], most: int) -> list[slice]:
    """Cut rows into slices of about as many entries each, at most so many, and further where they have too many rows.

    No bit depends on the cuts.
    """
    ends = sum(block.indptr[1:].astype(np.int64) for block in blocks)
    if len(ends) == 0:
        return []
    n_slices = max(1, min(most, round(int(ends[-1]) / NONZEROS_PER_SLICE)))
    cuts = np.searchsorted(ends, ends[-1] * np.arange(1, n_slices) / n_slices)
    bounds = np.unique([*range(0, len(ends), ROWS_PER_SLICE), *cuts, len(ends)]).tolist()
    return [slice(start, stop) for start, stop in pairwise(bounds)]


class DocumentGram:
    """DDᵀ / N, documents × documents, as an operator."""

    def __init__(self, sides: BothSides, size: int, mean_over: int) -> None:
        self.size = size
        self._sides = sides
        self._mean_over = mean_over

    def product(self, Z: Array) -> Array:
        """Return DDᵀZ / N."""
        return self._sides.document_product(Z) / self._mean_over

    def to_words(self, Z: Array) -> Array:
        """Return DᵀZ."""
        return self._sides.to_words(Z)

    def from_words(self, Q: Array) -> Array:
        """Return DQ / N."""
        return self._sides.to_documents(Q) / self._mean_over
