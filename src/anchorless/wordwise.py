"""The documents a second time, word by word, where there is memory for it.

A product of all words with the documents then writes each row once, and threads share the words out among
themselves; a sum over blocks of documents would add up an array of all words per block. Each row is added up over the
blocks by the tree of `documents.TreeSum`, so that it has the bits of that sum: where documents are held twice, on disk
or on a cluster, the same topics are found.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anchorless.documents import Array, Documents, row_view, tree_sum

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


def both_sides(documents: Documents, n_threads: int) -> BothSides | None:
    """Return the documents by document and by word; None where they cannot be held twice."""
    words = by_word(documents, n_threads)
    return None if words is None else BothSides(documents, words, n_threads)


def laid_out(PQ: Array) -> Array:
    """Return few columns one after the other in memory, many row by row: the last bits of what follows depend on it."""
    return np.asfortranarray(PQ) if PQ.shape[1] <= FEW_COLUMNS else np.ascontiguousarray(PQ)


#: Writes the product of a matrix into an array.
Product = Callable[[Any, Array], None]


class Piece(NamedTuple):
    """Rows of a product, and what they are the product of."""

    rows: slice
    matrix: Any


class BothSides:
    """Documents D (N, V) by document and by word: products with D and with Dᵀ."""

    def __init__(self, documents: Documents, words: Words, n_threads: int) -> None:
        self.shape = documents.shape
        self._whole_words, self._n_threads = words, n_threads
        starts = np.cumsum([0, *(block.shape[0] for block in documents.blocks)]).tolist()
        self.blocks = [slice(*bounds) for bounds in pairwise(starts)]  # the rows of each block
        # Threads share rows, not blocks, out among themselves: there may be fewer blocks than threads.
        self._documents = [
            Piece(slice(whole.start + rows.start, whole.start + rows.stop), row_view(block, rows.start, rows.stop))
            for whole, block in zip(self.blocks, documents.blocks, strict=True)
            for rows in even_slices([block], n_threads)
        ]
        self._words = [
            Piece(rows, [row_view(block, rows.start, rows.stop) for block in words])
            for rows in even_slices(words, 2 * n_threads)
        ]
        # Kept while this lives: a search makes hundreds of products of a millisecond each.
        self._pool = ThreadPoolExecutor(n_threads)
        self._whole_documents = documents.blocks

    def gram_product(self, Z: Array) -> Array:
        """Return DDᵀZ."""
        if not self._n_threads <= Z.shape[1] <= FEW_COLUMNS:
            return self.to_documents(self.to_words(Z))
        # Each thread takes whole columns: nobody waits for the other half of DᵀZ.
        result = np.empty(Z.shape, order="F")

        def one(j: int) -> None:
            z = np.ascontiguousarray(Z[:, j])
            q = tree_sum(words @ z[rows] for words, rows in zip(self._whole_words, self.blocks, strict=True))
            for documents, rows in zip(self._whole_documents, self.blocks, strict=True):
                result[rows, j] = documents @ q

        self._share_out(one, range(Z.shape[1]))
        return result

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

        return self._written(self.shape[0], self._documents, product, Q.shape[1])

    def to_words(self, Z: Array) -> Array:
        """Return DᵀZ."""
        return self.added_up([np.ascontiguousarray(Z[rows]) for rows in self.blocks])

    def added_up(self, parts: Sequence[Array]) -> Array:
        """Return DᵀZ from the rows of Z for each block."""

        def product(blocks: list[Any], out: Array) -> None:
            out[:] = tree_sum(block @ part for block, part in zip(blocks, parts, strict=True))

        return self._written(self.shape[1], self._words, product, parts[0].shape[1])

    def narrowed(self, documents: Documents, chosen: npt.NDArray[np.intp]) -> BothSides:
        """Return the sides of the same documents with the chosen words alone, `documents`."""
        return BothSides(documents, [block[chosen] for block in self._whole_words], self._n_threads)

    def _written(self, n_rows: int, pieces: list[Piece], product: Product, n_columns: int) -> Array:
        """Return the rows that `product` writes for each piece."""
        result = np.empty((n_rows, n_columns), order="F" if n_columns <= FEW_COLUMNS else "C")

        def write(piece: Piece) -> None:
            product(piece.matrix, result[piece.rows])

        self._share_out(write, pieces)
        return result

    def _share_out(self, work: Callable[[Any], None], items: Iterable[Any]) -> None:
        """Do the work on each item; this thread takes part, since waking another takes as long as a small item."""
        waiting = deque(items)

        def help_out() -> None:
            while waiting:
                try:
                    item = waiting.popleft()
                except IndexError:  # another thread took the last one
                    return
                work(item)

        helpers = [self._pool.submit(help_out) for _ in range(min(self._n_threads, len(waiting)) - 1)]
        help_out()
        for helper in helpers:
            helper.result()


def even_slices(blocks: Sequence[Any], most: int) -> list[slice]:
    """Cut rows into slices of about as many entries each, at most so many, and further where they have too many rows.

    No bit depends on the cuts.
    """
    ends = sum(block.indptr[1:].astype(np.int64) for block in blocks)
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
        return self._sides.gram_product(Z) / self._mean_over

    def to_words(self, Z: Array) -> Array:
        """Return DᵀZ."""
        return self._sides.to_words(Z)

    def from_words(self, Q: Array) -> Array:
        """Return DQ / N."""
        return self._sides.to_documents(Q) / self._mean_over
