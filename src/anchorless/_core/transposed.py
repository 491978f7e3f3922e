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

from anchorless._corpus.documents import Array, Documents, tree_sum
from anchorless._corpus.sparse import view_rows
from anchorless._corpus.threads import ThreadTeam

#: Non-zeros up to which documents are held a second time: 300 MB. So many rows, of all blocks, may there be, too.
MAX_TRANSPOSED_NONZEROS = 25_000_000
#: Entries of a slice that one thread takes at a time: fewer would not be worth the handing over.
NONZEROS_PER_SLICE = 100_000
#: Rows of a slice: its part of a product stays in the cache while the blocks are added up.
ROWS_PER_SLICE = 4096
#: Columns up to which documents are multiplied with each by itself, which is faster than with few together.
FEW_COLUMNS = 6

#: The transpose of each block of documents, (V, documents of the block), in CSR.
TransposedBlocks = Sequence[Any]


def transpose_blocks(documents: Documents, n_threads: int) -> TransposedBlocks | None:
    """Return the blocks word by word; None where they would be too large, and for documents that are elsewhere."""
    if not documents.in_memory or sum(block.nnz for block in documents.blocks) > MAX_TRANSPOSED_NONZEROS:
        return None
    if documents.n_blocks * documents.shape[1] > MAX_TRANSPOSED_NONZEROS:
        return None
    return [*documents.map_blocks(lambda block: block.tocsc().T, n_threads)]


def build_column_blocks(documents: Documents, n_threads: int) -> ColumnBlocks | None:
    """Return the documents by word; None where they cannot be held twice."""
    words = transpose_blocks(documents, n_threads)
    return None if words is None else ColumnBlocks(words, ThreadTeam(n_threads))


def build_row_column_blocks(documents: Documents, n_threads: int) -> RowColumnBlocks | None:
    """Return the documents by document and by word; None where they cannot be held twice."""
    words = transpose_blocks(documents, n_threads)
    return None if words is None else RowColumnBlocks(documents, words, ThreadTeam(n_threads))


def to_product_layout(PQ: Array) -> Array:
    """Return few columns one after the other in memory, many row by row: the last bits of what follows depend on it."""
    return np.asfortranarray(PQ) if PQ.shape[1] <= FEW_COLUMNS else np.ascontiguousarray(PQ)


def allocate_product(n_rows: int, n_columns: int) -> Array:
    """Return an array for a product, to be laid out so."""
    return np.empty((n_rows, n_columns), order="F" if n_columns <= FEW_COLUMNS else "C")


#: Writes the product of a matrix into an array.
ProductWriter = Callable[[Any, Array], None]


class RowSlice(NamedTuple):
    """Rows of a product, and what they are the product of."""

    rows: slice
    matrix: Any


class ColumnBlocks:
    """Documents D (N, V) by word, block by block, and who walks over them."""

    def __init__(self, words: TransposedBlocks, team: ThreadTeam) -> None:
        self.words, self.team = words, team
        starts = np.cumsum([0, *(block.shape[1] for block in words)]).tolist()
        self.blocks = [slice(*bounds) for bounds in pairwise(starts)]  # the documents of each block
        self.shape = (starts[-1], words[0].shape[0])
        self._words = [
            RowSlice(rows, [view_rows(block, rows.start, rows.stop) for block in words])
            for rows in split_rows_evenly(words, 2 * team.n_threads)
        ]

    def map_products(self, Q: Array, function: Callable[[Array], Array]) -> list[Array]:
        """Return function(DQ) for the documents of each block."""
        # By word: what is written to again and again is a block of DQ, which is smaller than all of Q.
        return self.team.map(lambda words: function(words.T @ Q), self.words)

    def to_words(self, Z: Array) -> Array:
        """Return DᵀZ."""
        result = allocate_product(self.shape[1], Z.shape[1])
        return self.write_transposed_product([np.ascontiguousarray(Z[rows]) for rows in self.blocks], result)

    def write_transposed_product(self, parts: Sequence[Array], result: Array) -> Array:
        """Write DᵀZ, from the rows of Z for each block, into an array."""

        def product(blocks: list[Any], out: Array) -> None:
            out[:] = tree_sum((block @ part for block, part in zip(blocks, parts, strict=True)), fresh=True)

        self._write(self._words, product, result)
        return result

    def select_words(self, chosen: npt.NDArray[np.intp]) -> ColumnBlocks:
        """Return the same documents with the chosen words alone."""
        return ColumnBlocks(self.team.map(lambda block: block[chosen], self.words), self.team)

    def _write(self, pieces: list[RowSlice], product: ProductWriter, result: Array) -> None:
        """Let `product` write the rows of each piece."""
        self.team.map(lambda piece: product(piece.matrix, result[piece.rows]), pieces)


class RowColumnBlocks(ColumnBlocks):
    """Documents D (N, V) by document and by word: products with D and with Dᵀ."""

    def __init__(self, documents: Documents, words: TransposedBlocks, team: ThreadTeam) -> None:
        super().__init__(words, team)
        self._whole = documents.blocks
        self._transposed = [block.T for block in documents.blocks]  # the same entries: nothing is copied
        # Threads share rows, not blocks, out among themselves: there may be fewer blocks than threads.
        self._documents = [
            RowSlice(slice(whole.start + rows.start, whole.start + rows.stop), view_rows(block, rows.start, rows.stop))
            for whole, block in zip(self.blocks, documents.blocks, strict=True)
            for rows in split_rows_evenly([block], team.n_threads)
        ]

    def to_documents(self, Q: Array) -> Array:
        """Return DQ."""
        few = Q.shape[1] <= FEW_COLUMNS
        Q = to_product_layout(Q)

        def product(block: Any, out: Array) -> None:
            if not few:
                out[:] = block @ Q
                return
            for j in range(Q.shape[1]):
                out[:, j] = block @ Q[:, j]

        result = allocate_product(self.shape[0], Q.shape[1])
        self._write(self._documents, product, result)
        return result

    def multiply_word_gram(self, Q: Array) -> Array:
        """Return DᵀDQ."""
        if self._has_column_per_thread(Q):
            return self._apply_by_column(Q, self._multiply_word_column)
        return self.to_words(self.to_documents(Q))

    def multiply_document_gram(self, Z: Array) -> Array:
        """Return DDᵀZ."""
        if self._has_column_per_thread(Z):
            return self._apply_by_column(Z, self._multiply_document_column)
        return self.to_documents(self.to_words(Z))

    def _has_column_per_thread(self, X: Array) -> bool:
        """Tell whether there is a column for each thread: none waits for the others between two products then."""
        return self.team.n_threads <= X.shape[1] <= FEW_COLUMNS

    def _apply_by_column(self, X: Array, function: Callable[[Array], Array]) -> Array:
        X = to_product_layout(X)
        result = np.empty_like(X)
        self.team.map(lambda j: np.copyto(result[:, j], function(X[:, j])), range(X.shape[1]))
        return result

    # Both products of a column read the documents as they are, which with their copy would not fit into the cache.

    def _multiply_word_column(self, q: Array) -> Array:
        return tree_sum(
            (words @ (block @ q) for words, block in zip(self._transposed, self._whole, strict=True)), fresh=True
        )

    def _multiply_document_column(self, z: Array) -> Array:
        q = tree_sum((words @ z[rows] for words, rows in zip(self._transposed, self.blocks, strict=True)), fresh=True)
        return np.concatenate([block @ q for block in self._whole])


def split_rows_evenly(blocks: Sequence[Any], most: int) -> list[slice]:
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

    def __init__(self, sides: RowColumnBlocks, size: int, mean_over: int) -> None:
        self.size = size
        self._blocks = sides
        self._n_averaged = mean_over

    def product(self, Z: Array) -> Array:
        """Return DDᵀZ / N."""
        return self._blocks.multiply_document_gram(Z) / self._n_averaged

    def to_words(self, Z: Array) -> Array:
        """Return DᵀZ."""
        return self._blocks.to_words(Z)

    def from_words(self, Q: Array) -> Array:
        """Return DQ / N."""
        return self._blocks.to_documents(Q) / self._n_averaged
