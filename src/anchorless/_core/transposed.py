"""Documents stored by row and by column, for fast products in memory.

With a second copy stored by column, a product of all words with the documents writes each row once, and threads share
the words; a sum over blocks of documents would need an array of all words for every block. Every row is summed over
the blocks by the tree of `TreeSum`, and no bit depends on how rows are split among threads.
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

#: Documents with more non-zeros, or blocks with more rows in total, are stored once: the copy would need 300 MB.
MAX_TRANSPOSED_NONZEROS = 25_000_000
#: Non-zeros of a slice, the work that a thread takes at a time: a smaller one would cost more to hand over.
NONZEROS_PER_SLICE = 100_000
#: Rows of a slice: its part of a product stays in the cache while the blocks are summed.
ROWS_PER_SLICE = 4096
#: Up to this many columns, products with one column at a time are faster than one product with all of them.
FEW_COLUMNS = 6

#: The transpose of each block of documents, (V, documents of the block), in CSR.
TransposedBlocks = Sequence[Any]


def transpose_blocks(documents: Documents, n_threads: int) -> TransposedBlocks | None:
    """Return the transposed blocks; None if they would be too large, or the documents are not in memory."""
    if not documents.in_memory or sum(block.nnz for block in documents.blocks) > MAX_TRANSPOSED_NONZEROS:
        return None
    if documents.n_blocks * documents.shape[1] > MAX_TRANSPOSED_NONZEROS:
        return None
    return [*documents.map_blocks(lambda block: block.tocsc().T, n_threads)]


def build_column_blocks(documents: Documents, n_threads: int) -> ColumnBlocks | None:
    """Return the documents stored by column; None if that needs too much memory."""
    transposed = transpose_blocks(documents, n_threads)
    return None if transposed is None else ColumnBlocks(transposed, ThreadTeam(n_threads))


def build_row_column_blocks(documents: Documents, n_threads: int) -> RowColumnBlocks | None:
    """Return the documents stored by row and by column; None if that needs too much memory."""
    transposed = transpose_blocks(documents, n_threads)
    return None if transposed is None else RowColumnBlocks(documents, transposed, ThreadTeam(n_threads))


def allocate_product(n_rows: int, n_columns: int) -> Array:
    """Return an empty array, few columns in Fortran order: the layout must not depend on the number of threads."""
    return np.empty((n_rows, n_columns), order="F" if n_columns <= FEW_COLUMNS else "C")


class RowSlice(NamedTuple):
    """Rows of a product, and the matrix or matrices that they are computed from."""

    rows: slice
    matrix: Any


class ColumnBlocks:
    """Documents D (N, V) stored by column, block by block, and the threads for products with them."""

    def __init__(self, transposed: TransposedBlocks, team: ThreadTeam) -> None:
        self.transposed, self.team = transposed, team
        starts = np.cumsum([0, *(block.shape[1] for block in transposed)]).tolist()
        self.blocks = [slice(*bounds) for bounds in pairwise(starts)]  # the documents of each block
        self.shape = (starts[-1], transposed[0].shape[0])
        self._word_slices = [
            RowSlice(rows, [view_rows(block, rows.start, rows.stop) for block in transposed])
            for rows in split_rows_evenly(transposed, 2 * team.n_threads)
        ]

    def map_products(self, Q: Array, function: Callable[[Array], Array]) -> list[Array]:
        """Return function(DQ) for the documents of each block."""
        # By column, the array that is written to again and again is a block of DQ, which is smaller than Q.
        return self.team.map(lambda block: function(block.T @ Q), self.transposed)

    def to_words(self, Z: Array) -> Array:
        """Return DᵀZ (V, p)."""
        result = allocate_product(self.shape[1], Z.shape[1])
        return self.write_transposed_product([np.ascontiguousarray(Z[rows]) for rows in self.blocks], result)

    def write_transposed_product(self, parts: Sequence[Array], result: Array) -> Array:
        """Write DᵀZ into `result` (V, p) and return it; `parts` are the rows of Z for each block."""

        def write(words: RowSlice) -> None:
            products = (block @ part for block, part in zip(words.matrix, parts, strict=True))
            result[words.rows] = tree_sum(products, fresh=True)

        self.team.map(write, self._word_slices)
        return result

    def select_words(self, chosen: npt.NDArray[np.intp]) -> ColumnBlocks:
        """Return the documents with the chosen words alone."""
        return ColumnBlocks(self.team.map(lambda block: block[chosen], self.transposed), self.team)


class RowColumnBlocks(ColumnBlocks):
    """Documents D (N, V) stored by row and by column: products with D and with Dᵀ."""

    def __init__(self, documents: Documents, transposed: TransposedBlocks, team: ThreadTeam) -> None:
        super().__init__(transposed, team)
        self._by_row = [(block, block.T) for block in documents.blocks]  # the transpose is a view
        # Threads share slices of rows, not blocks: there may be fewer blocks than threads.
        self._document_slices = [
            RowSlice(slice(whole.start + rows.start, whole.start + rows.stop), view_rows(block, rows.start, rows.stop))
            for whole, block in zip(self.blocks, documents.blocks, strict=True)
            for rows in split_rows_evenly([block], team.n_threads)
        ]

    def to_documents(self, Q: Array) -> Array:
        """Return DQ (N, p)."""
        result = allocate_product(self.shape[0], Q.shape[1])
        columns = [np.ascontiguousarray(q) for q in Q.T] if Q.shape[1] <= FEW_COLUMNS else None

        def write(documents: RowSlice) -> None:
            if columns is None:
                result[documents.rows] = documents.matrix @ Q
                return
            for j, q in enumerate(columns):
                result[documents.rows, j] = documents.matrix @ q

        self.team.map(write, self._document_slices)
        return result

    def multiply_word_gram(self, Q: Array) -> Array:
        """Return DᵀDQ (V, p)."""
        if self._has_column_per_thread(Q):
            return self._apply_by_column(Q, self._multiply_word_column)
        return self.to_words(self.to_documents(Q))

    def multiply_document_gram(self, Z: Array) -> Array:
        """Return DDᵀZ (N, p)."""
        if self._has_column_per_thread(Z):
            return self._apply_by_column(Z, self._multiply_document_column)
        return self.to_documents(self.to_words(Z))

    def _has_column_per_thread(self, X: Array) -> bool:
        """Tell whether each thread gets a column, so that none waits for the others between the two products."""
        return self.team.n_threads <= X.shape[1] <= FEW_COLUMNS

    def _apply_by_column(self, X: Array, function: Callable[[Array], Array]) -> Array:
        result = allocate_product(*X.shape)
        columns = [np.ascontiguousarray(x) for x in X.T]
        self.team.map(lambda j: np.copyto(result[:, j], function(columns[j])), range(len(columns)))
        return result

    # Both products of a column use the blocks stored by row: together with their copy they would not fit in the cache.

    def _multiply_word_column(self, q: Array) -> Array:
        return tree_sum((T @ (block @ q) for block, T in self._by_row), fresh=True)

    def _multiply_document_column(self, z: Array) -> Array:
        q = tree_sum((T @ z[rows] for (_, T), rows in zip(self._by_row, self.blocks, strict=True)), fresh=True)
        return np.concatenate([block @ q for block, _ in self._by_row])


def split_rows_evenly(blocks: Sequence[Any], n_slices: int) -> list[slice]:
    """Return up to `n_slices` slices of rows with about equally many non-zeros, split further where rows are many."""
    ends = sum(block.indptr[1:].astype(np.int64) for block in blocks)
    if len(ends) == 0:
        return []
    n_slices = max(1, min(n_slices, round(int(ends[-1]) / NONZEROS_PER_SLICE)))
    cuts = np.searchsorted(ends, ends[-1] * np.arange(1, n_slices) / n_slices)
    bounds = np.unique([*range(0, len(ends), ROWS_PER_SLICE), *cuts, len(ends)]).tolist()
    return [slice(start, stop) for start, stop in pairwise(bounds)]


class DocumentGram:
    """DDᵀ / N, documents × documents, as an operator."""

    def __init__(self, blocks: RowColumnBlocks, size: int, n_averaged: int) -> None:
        self.size = size
        self._blocks = blocks
        self._n_averaged = n_averaged

    def product(self, Z: Array) -> Array:
        """Return DDᵀZ / N (size, p)."""
        return self._blocks.multiply_document_gram(Z) / self._n_averaged

    def to_words(self, Z: Array) -> Array:
        """Return DᵀZ (V, p)."""
        return self._blocks.to_words(Z)

    def from_words(self, Q: Array) -> Array:
        """Return DQ / N (size, p)."""
        return self._blocks.to_documents(Q) / self._n_averaged
