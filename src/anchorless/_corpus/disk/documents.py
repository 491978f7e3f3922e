"""Documents whose blocks are on disk: each block is mapped into memory while a pass needs it."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from anchorless._corpus.disk.block_folder import BlockFolder
from anchorless._corpus.documents import Array, Documents, RowFunction
from anchorless._corpus.sparse import to_canonical_csr
from anchorless._corpus.threads import Result, map_in_threads
from anchorless._files import make_write_error
from anchorless.progress import track

#: How the names of folders begin that `materialize` creates.
MATERIALIZED = "materialized-"


class StoredDocuments(Documents):
    """Documents × `n_words` words in the blocks of a folder. Memory holds one block per thread, whatever their number.

    The progress callback (`anchorless.progress`) is told after each block of a pass, as the stage "pass".
    """

    in_memory = False

    def __init__(self, folder: BlockFolder, n_words: int) -> None:
        self.folder = folder
        self.shape = (folder.n_rows, n_words)
        self.n_blocks = len(folder.facts)
        self._stored_words = n_words  # columns before the functions, which may select some
        self._functions: tuple[Callable[[Any], Any], ...] = ()

    def block(self, number: int) -> Any:
        """Return one block, CSR of float64, after the functions of `transform_blocks`."""
        block = to_canonical_csr(self.folder.read(number, self._stored_words)[0])
        for function in self._functions:
            block = to_canonical_csr(function(block))
        return block

    def transform_blocks(self, function: Callable[[Any], Any], n_words: int | None = None) -> StoredDocuments:
        """Return documents whose blocks are function(block), computed in each pass over them."""
        result = StoredDocuments(self.folder, self.shape[1] if n_words is None else n_words)
        result._stored_words = self._stored_words
        result._functions = (*self._functions, function)
        return result

    def materialize(self, n_threads: int) -> StoredDocuments:
        """Return the same documents with the functions of `transform_blocks` applied once, in a folder of their own.

        Reading is several times as fast as weighting again. The folder is removed when no documents use it any more.
        """
        if not self._functions:
            return self
        try:
            path = tempfile.mkdtemp(prefix=MATERIALIZED, dir=self.folder.path.parent)
        except OSError as error:
            raise make_write_error(error, self.folder.path.parent) from error
        stored = store_blocks(path, self.map_blocks(lambda block: block, n_threads), self.shape[1])
        weakref.finalize(stored.folder, shutil.rmtree, path, ignore_errors=True)
        return stored

    def map_blocks(self, function: Callable[[Any], Result], n_threads: int) -> Iterator[Result]:
        """Yield function(block) for each block, in their order, computed by up to `n_threads` threads."""
        results = map_in_threads(lambda number: function(self.block(number)), range(self.n_blocks), n_threads)
        yield from track("pass", results, self.n_blocks)

    def _map_rows(self, function: RowFunction, rows: Array, n_threads: int) -> Iterator[tuple[Array, Array | None]]:
        """Yield function(block, its rows) for each block, in their order."""
        stops = np.cumsum([fact["rows"] for fact in self.folder.facts]).tolist()
        pieces = [*enumerate(pairwise([0, *stops]))]
        results = map_in_threads(lambda at: function(self.block(at[0]), rows[slice(*at[1])]), pieces, n_threads)
        yield from track("pass", results, self.n_blocks)

    def refine_blocks(self) -> Documents:
        """Return the documents as they are: blocks on disk are read one by one."""
        return self


def store_blocks(path: str | os.PathLike[str], blocks: Iterable[Any], n_words: int) -> StoredDocuments:
    """Write CSR blocks into an empty folder, and return them as documents."""
    with BlockFolder.create(path, {"words": n_words}) as folder:
        for block in blocks:
            folder.append(block)
        folder.finish()
    return StoredDocuments(folder, n_words)
