"""Documents whose blocks are on disk: each is mapped into memory when it is walked over, and let go behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from anchorless._corpus.disk.block_folder import BlockFolder
from anchorless._corpus.documents import Documents
from anchorless._corpus.sparse import build_csr, to_canonical_csr
from anchorless._corpus.threads import Result, map_in_order
from anchorless.progress import track


class StoredDocuments(Documents):
    """Documents × words in the blocks of a folder. Memory holds one block per thread, whatever their number.

    How far each walk over them is goes to whoever listens (`anchorless.progress`), as the stage "walk".

    Parameters
    ----------
    folder : a finished BlockFolder whose blocks hold `data`, `indices` and `indptr`
    n_words : columns
    """

    in_memory = False

    def __init__(self, folder: BlockFolder, n_words: int) -> None:
        self.folder = folder
        self.shape = (folder.n_rows, n_words)
        self.n_blocks = len(folder.records)
        self._stored_words = n_words  # before the functions, which may choose among them
        self._functions: tuple[Callable[[Any], Any], ...] = ()

    def block(self, number: int) -> Any:
        """Return one block: CSR of float64, after the functions of `mapped`."""
        block = to_canonical_csr(arrays_to_csr(self.folder.read(number), self._stored_words))
        for function in self._functions:
            block = to_canonical_csr(function(block))
        return block

    def transform_blocks(self, function: Callable[[Any], Any], n_words: int | None = None) -> StoredDocuments:
        """Return documents whose blocks are function(block), computed each time they are walked over."""
        result = StoredDocuments(self.folder, self.shape[1] if n_words is None else n_words)
        result._stored_words = self._stored_words
        result._functions = (*self._functions, function)
        return result

    def materialize(self, n_threads: int) -> StoredDocuments:
        """Return the same documents with the functions of `mapped` done once, in a folder beside that of the blocks.

        Walking over 12 bytes per entry is several times as fast as weighing the entries anew.
        """
        if not self._functions:
            return self
        number = 1
        while (path := self.folder.path.with_name(f"settled-{number}")).exists():
            number += 1
        with BlockFolder.create(path, {"words": self.shape[1]}) as folder:
            for block in self.map_blocks(lambda block: block, n_threads):
                folder.append(csr_to_arrays(block), block.shape[0], block.nnz)
            folder.finish()
        return StoredDocuments(folder, self.shape[1])

    def map_blocks(self, function: Callable[[Any], Result], n_threads: int) -> Iterator[Result]:
        """Yield function(block) for each block, in their order, computed by up to `n_threads` threads."""

        def work(number: int) -> Result:
            return function(self.block(number))

        with ThreadPoolExecutor(n_threads) as pool:
            yield from track("walk", map_in_order(pool, work, range(self.n_blocks), n_threads), self.n_blocks)


def arrays_to_csr(arrays: dict[str, Any], n_words: int) -> Any:
    """Return the arrays of a block as CSR without copying them."""
    return build_csr(
        arrays["data"], arrays["indices"], arrays["indptr"], n_words, canonical=True
    )  # as they were written


def csr_to_arrays(block: Any) -> dict[str, Any]:
    """Return a CSR block of whole counts as small arrays: sorted, no duplicate, no zero."""
    block = to_canonical_csr(block)
    largest = block.data.max(initial=0.0)
    kind = next((kind for kind in (np.uint8, np.uint16, np.uint32) if largest <= np.iinfo(kind).max), np.float64)
    if kind is not np.float64 and not np.array_equal(block.data, np.floor(block.data)):
        kind = np.float64
    return {
        "data": block.data.astype(kind),
        "indices": block.indices.astype(np.int32),
        "indptr": block.indptr.astype(np.int64 if block.nnz > np.iinfo(np.int32).max else np.int32),
    }
