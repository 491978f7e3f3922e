"""The vocabulary of texts that are still being counted: terms get numbers as they come, and the rarest are forgotten.

Which terms a model will use is known only when all documents are counted, so blocks are counted with every term. Most
terms of a large collection are misspellings that come once; with FORGET_ABOVE terms in memory those that
were in the fewest documents are forgotten, at the end of a block, until half of them are left. One that comes again
begins at zero under a new number: where terms have been forgotten, document frequencies may be too low, by no more
than the largest that was forgotten in each turn. Collections below that size are counted exactly.
"""

from __future__ import annotations

from itertools import repeat
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from anchorless._corpus.counting import Integers
from anchorless._corpus.disk.block_folder import BlockFolder
from anchorless._corpus.text.terms import BatchTerms, decode_terms, index_batch_terms

#: Terms in memory beyond which the rarest are forgotten: some 150 bytes each.
MAX_TERMS_IN_MEMORY = 1_500_000
#: Columns of a block of counts in which terms have their numbers.
UNBOUNDED_WIDTH = int(np.iinfo(np.int32).max)


class GrowingVocabulary:
    """Terms by number, in the order in which they first came; in how many documents, and how often, each was."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}
        self.n_numbers = 0  # given so far, forgotten terms included
        self.new: list[str] = []  # terms since the last block
        self.frequency, self.total = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)

    @classmethod
    def from_folder(cls, folder: BlockFolder) -> GrowingVocabulary:
        """Return the vocabulary as it was after the last block of a folder."""
        result = cls()
        for number in range(len(folder.records)):
            arrays = folder.read(number)
            for word in unpack_words(arrays):
                result.number(word)
            result.note(arrays["indices"], arrays["data"])
            result.forget(folder.records[number].facts["forgotten"])
        return result

    def number(self, term: str) -> int:
        """Return the number of a term; a new one gets the next."""
        found = self.known.get(term)
        if found is None:
            found = self.known[term] = self.n_numbers
            self.n_numbers += 1
            self.new.append(term)
        return found

    def get_numbers(self, terms: list[str]) -> Any:
        """Return the numbers of terms (n,), int32; new ones get the next, in their order."""
        # Without a call per term: nearly all are known, and every word of every batch comes by here.
        found = np.fromiter(map(self.known.get, terms, repeat(-1)), dtype=np.int32, count=len(terms))
        for place in np.flatnonzero(found < 0).tolist():
            found[place] = self.number(terms[place])
        return found

    def renumber_counts(self, batch: BatchTerms, first: int) -> Any:
        """Return the counts of a batch, CSR, with terms under their numbers; `first` is the least length of terms."""
        terms, places = index_batch_terms(batch, first)
        numbers = self.get_numbers(decode_terms(terms, places.astype(np.int64)).to_pylist())
        counts = batch.counts
        shape = (counts.shape[0], UNBOUNDED_WIDTH)
        return sp.csr_matrix(
            (counts.data, numbers[counts.indices] if counts.nnz else counts.indices, counts.indptr), shape
        )

    def note(self, indices: Any, data: Any) -> None:
        """Take in the entries of a block that is complete: its terms are not new any more."""
        grown = np.zeros((2, self.n_numbers), dtype=np.int64)
        grown[:, : len(self.frequency)] = self.frequency, self.total
        self.frequency, self.total = grown
        self.frequency += np.bincount(indices, minlength=self.n_numbers)
        self.total += np.bincount(indices, weights=data, minlength=self.n_numbers).astype(np.int64)
        self.new = []

    def excess(self) -> int:
        """Return the largest frequency that must be forgotten to have half of the room free; 0 while there is room."""
        if len(self.known) <= MAX_TERMS_IN_MEMORY:
            return 0
        held = self.frequency[self.numbers()]
        return int(np.partition(held, len(held) - MAX_TERMS_IN_MEMORY // 2)[len(held) - MAX_TERMS_IN_MEMORY // 2 - 1])

    def forget(self, most: int) -> None:
        """Forget the terms that are in no more than so many documents."""
        if most:
            self.known = {term: number for term, number in self.known.items() if self.frequency[number] > most}

    def numbers(self) -> Integers:
        """Return the numbers of the terms that are known."""
        return np.fromiter(self.known.values(), dtype=np.int64, count=len(self.known))

    def terms(self) -> pa.Array:
        """Return the terms that are known, in the order of their numbers."""
        return pa.array(self.known, type=pa.large_string())


def pack_words(words: list[str]) -> dict[str, Any]:
    """Return words as arrays of a block: their bytes, and where each ends."""
    encoded = [word.encode() for word in words]
    return {
        "words": np.frombuffer(b"".join(encoded), dtype=np.uint8),
        "word_ends": np.cumsum([len(word) for word in encoded], dtype=np.int64),
    }


def unpack_words(arrays: dict[str, Any]) -> list[str]:
    """Return the words of a block."""
    ends = np.concatenate([[0], arrays["word_ends"]])
    array = pa.LargeStringArray.from_buffers(
        len(ends) - 1, pa.py_buffer(ends.astype(np.int64)), pa.py_buffer(np.array(arrays["words"]))
    )
    return list(array.to_pylist())
