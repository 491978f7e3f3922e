"""Products with documents D and their transpose, by threads; no bit depends on how many there are.

Documents in memory are stored by column as well: then a product with Dᵀ writes each row once, and threads share the
words; a sum over blocks of documents would need an array of all words for every block. Every row is summed over the
blocks by the tree of `TreeSum`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

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


class DocumentProducts:
    """Products with documents D (N, V) by passes over their blocks, wherever they are stored."""

    def __init__(self, documents: Documents, team: ThreadTeam) -> None:
        self.documents, self.team = documents, team

    def sum_products(self, Q: Array, function: Callable[[Array], Array]) -> Array:
        """Return the sum over the blocks of function(DQ)."""
        return self.documents.sum_blocks(lambda D: function(D @ Q), self.team.n_threads)

    def sum_statistics(self, C: Array, solve_weights: Callable[[Array], Array]) -> tuple[Array, Array]:
        """Return DᵀW (V, F) and WᵀW (F, F); `solve_weights` returns W for the rows of DC of a block."""

        def compute_statistics(D: Any) -> Array:
            W = solve_weights(D @ C)
            return np.vstack([D.T @ W, W.T @ W])

        sums = self.documents.sum_blocks(compute_statistics, self.team.n_threads)
        return sums[: len(C)], sums[len(C) :]

    def multiply_word_gram(self, Q: Array) -> Array:
        """Return DᵀDQ (V, p)."""
        return self.documents.sum_blocks(lambda D: D.T @ (D @ Q), self.team.n_threads)

    def select_words(self, chosen: npt.NDArray[np.intp]) -> DocumentProducts:
        """Return the products with the chosen words alone."""
        return DocumentProducts(self.documents.transform_blocks(lambda D: D[:, chosen], len(chosen)), self.team)


class StoredProducts(DocumentProducts):
    """The same for documents stored by row and by column, and products with DDᵀ."""

    def __init__(self, by_row: Sequence[Any], by_column: Sequence[Any], team: ThreadTeam) -> None:
        self.by_row, self.by_column, self.team = by_row, by_column, team  # blocks of D, and of Dᵀ in CSR
        bounds = np.cumsum([0, *(block.shape[0] for block in by_row)]).tolist()
        self.blocks = [slice(*pair) for pair in pairwise(bounds)]  # the documents of each block
        self.shape = (bounds[-1], by_row[0].shape[1])
        self._views = [(D, D.T) for D in by_row]

    @cached_property
    def _word_slices(self) -> list[tuple[slice, list[Any]]]:
        """Slices of words, with their rows of every block of Dᵀ."""
        slices = split_rows_evenly(self.by_column, 2 * self.team.n_threads)
        return [(words, [view_rows(block, words.start, words.stop) for block in self.by_column]) for words in slices]

    @cached_property
    def _document_slices(self) -> list[tuple[slice, Any]]:
        """Slices of documents, with their rows of D: shared by threads, since blocks may be fewer than threads."""
        return [
            (slice(whole.start + rows.start, whole.start + rows.stop), view_rows(block, rows.start, rows.stop))
            for whole, block in zip(self.blocks, (D.tocsr() for D in self.by_row), strict=True)
            for rows in split_rows_evenly([block], self.team.n_threads)
        ]

    def _map_products(self, Q: Array, function: Callable[[Array], Array]) -> list[Array]:
        # By column, the array that is written to again and again is a block of DQ, which is smaller than Q.
        return self.team.map(lambda block: function(block.T @ Q), self.by_column)

    def sum_products(self, Q: Array, function: Callable[[Array], Array]) -> Array:
        """Return the sum over the blocks of function(DQ)."""
        return tree_sum(self._map_products(Q, function))

    def sum_statistics(self, C: Array, solve_weights: Callable[[Array], Array]) -> tuple[Array, Array]:
        """Return DᵀW (V, F) and WᵀW (F, F); `solve_weights` returns W for the rows of DC of a block."""
        weights = self._map_products(C, solve_weights)
        return self._write_words(weights, np.empty(C.shape)), tree_sum(W.T @ W for W in weights)

    def select_words(self, chosen: npt.NDArray[np.intp]) -> StoredProducts:
        """Return the products with the chosen words alone; the blocks by row are views of those by column."""
        narrow = self.team.map(lambda block: block[chosen], self.by_column)
        return StoredProducts([block.T for block in narrow], narrow, self.team)

    def to_words(self, Z: Array) -> Array:
        """Return DᵀZ (V, p)."""
        parts = [np.ascontiguousarray(Z[rows]) for rows in self.blocks]
        return self._write_words(parts, allocate_product(self.shape[1], Z.shape[1]))

    def _write_words(self, parts: Sequence[Array], result: Array) -> Array:
        """Write DᵀZ into `result` (V, p) and return it; `parts` are the rows of Z for each block."""

        def write(part: tuple[slice, list[Any]]) -> None:
            words, blocks = part
            result[words] = tree_sum((block @ Z for block, Z in zip(blocks, parts, strict=True)), fresh=True)

        self.team.map(write, self._word_slices)
        return result

    def to_documents(self, Q: Array) -> Array:
        """Return DQ (N, p)."""
        result = allocate_product(self.shape[0], Q.shape[1])
        columns = [np.ascontiguousarray(q) for q in Q.T] if Q.shape[1] <= FEW_COLUMNS else None

        def write(part: tuple[slice, Any]) -> None:
            documents, block = part
            if columns is None:
                result[documents] = block @ Q
                return
            for j, q in enumerate(columns):
                result[documents, j] = block @ q

        self.team.map(write, self._document_slices)
        return result

    # If each thread gets a column, none waits for the others between the two products. Both use the blocks stored by
    # row: together with their copy they would not fit in the cache.

    def multiply_word_gram(self, Q: Array) -> Array:
        """Return DᵀDQ (V, p)."""
        if not self.team.n_threads <= Q.shape[1] <= FEW_COLUMNS:
            return self.to_words(self.to_documents(Q))
        return self._map_columns(Q, lambda q: tree_sum((DT @ (D @ q) for D, DT in self._views), fresh=True))

    def multiply_document_gram(self, Z: Array) -> Array:
        """Return DDᵀZ (N, p)."""
        if not self.team.n_threads <= Z.shape[1] <= FEW_COLUMNS:
            return self.to_documents(self.to_words(Z))

        def multiply(z: Array) -> Array:
            q = tree_sum((DT @ z[rows] for (_, DT), rows in zip(self._views, self.blocks, strict=True)), fresh=True)
            return np.concatenate([D @ q for D in self.by_row])

        return self._map_columns(Z, multiply)

    def _map_columns(self, X: Array, function: Callable[[Array], Array]) -> Array:
        result = allocate_product(*X.shape)
        columns = [np.ascontiguousarray(x) for x in X.T]
        self.team.map(lambda j: np.copyto(result[:, j], function(columns[j])), range(len(columns)))
        return result


def build_products(documents: Documents, n_threads: int) -> DocumentProducts:
    """Return products that store the documents by column as well, if they are in memory and not too large."""
    team = ThreadTeam(n_threads)
    n_rows = documents.n_blocks * documents.shape[1]
    if not documents.in_memory or max(n_rows, sum(D.nnz for D in documents.blocks)) > MAX_TRANSPOSED_NONZEROS:
        return DocumentProducts(documents, team)
    return StoredProducts(documents.blocks, team.map(lambda D: D.tocsc().T, documents.blocks), team)


def allocate_product(n_rows: int, n_columns: int) -> Array:
    """Return an empty array, few columns in Fortran order: the layout must not depend on the number of threads."""
    return np.empty((n_rows, n_columns), order="F" if n_columns <= FEW_COLUMNS else "C")


def split_rows_evenly(blocks: Sequence[Any], n_slices: int) -> list[slice]:
    """Return up to `n_slices` slices of rows with about equally many non-zeros, split further where rows are many."""
    ends = sum(block.indptr[1:].astype(np.int64) for block in blocks)
    if len(ends) == 0:
        return []
    n_slices = max(1, min(n_slices, round(int(ends[-1]) / NONZEROS_PER_SLICE)))
    cuts = np.searchsorted(ends, ends[-1] * np.arange(1, n_slices) / n_slices)
    bounds = np.unique([*range(0, len(ends), ROWS_PER_SLICE), *cuts, len(ends)]).tolist()
    return [slice(start, stop) for start, stop in pairwise(bounds)]
