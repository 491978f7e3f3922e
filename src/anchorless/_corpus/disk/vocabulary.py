"""The vocabulary of texts that are still being counted: terms are numbered as they come, and rare ones are pruned.

When more than MAX_TERMS_IN_MEMORY terms are in memory at the end of a block, those in the fewest documents, most of
them misspellings, are pruned until at most half as many are left. A pruned term that occurs again starts at zero under
a new number: its document frequency may be too low, by no more than the largest frequency pruned each time.
"""

from __future__ import annotations

from itertools import repeat
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from anchorless._corpus.disk.block_folder import BlockFolder
from anchorless._corpus.text.terms import BatchTerms, decode_terms, index_batch_terms
from anchorless._corpus.text.tokens import Positions

#: Terms in memory beyond which the rarest are pruned; each takes about 150 bytes.
MAX_TERMS_IN_MEMORY = 1_500_000
#: Columns of a block whose columns are the numbers of terms.
UNBOUNDED_WIDTH = int(np.iinfo(np.int32).max)


class GrowingVocabulary:
    """Terms with their numbers, in the order in which they first came, their document frequencies and totals."""

    def __init__(self) -> None:
        self.numbers_by_term: dict[str, int] = {}
        self.n_numbers = 0  # assigned so far, those of pruned terms included
        self.new_terms: list[str] = []  # since the last block
        self.frequency, self.total = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)

    @classmethod
    def from_folder(cls, folder: BlockFolder) -> GrowingVocabulary:
        """Return the vocabulary as it was after the last block of a folder."""
        result = cls()
        for number, facts in enumerate(folder.facts):
            counts, words = folder.read(number, UNBOUNDED_WIDTH)
            result.get_numbers(words.to_pylist())
            result.add_block(counts)
            result.prune(facts["pruned"])
        return result

    def get_numbers(self, terms: list[str]) -> Any:
        """Return the numbers of distinct terms (n,), int32; new terms get the next numbers, in their order."""
        # No call per term: nearly all are known, and every word of every batch is looked up here.
        found = np.fromiter(map(self.numbers_by_term.get, terms, repeat(-1)), dtype=np.int32, count=len(terms))
        places = np.flatnonzero(found < 0)
        numbers = range(self.n_numbers, self.n_numbers + len(places))
        found[places] = numbers
        new = [terms[place] for place in places.tolist()]
        self.numbers_by_term.update(zip(new, numbers, strict=True))
        self.new_terms += new
        self.n_numbers += len(new)
        return found

    def renumber_counts(self, batch: BatchTerms, first: int) -> Any:
        """Return the counts of a batch, CSR, with the numbers of terms as columns; `first` is the shortest length."""
        terms, places = index_batch_terms(batch, first)
        numbers = self.get_numbers(decode_terms(terms, places.astype(np.int64)).to_pylist())
        counts = batch.counts
        columns = numbers[counts.indices] if counts.nnz else counts.indices
        return sp.csr_matrix((counts.data, columns, counts.indptr), (counts.shape[0], UNBOUNDED_WIDTH))

    def add_block(self, counts: Any) -> None:
        """Add the counts of a complete block, CSR; its terms are not new any more."""
        grown = np.zeros((2, self.n_numbers), dtype=np.int64)
        grown[:, : len(self.frequency)] = self.frequency, self.total
        self.frequency, self.total = grown
        self.frequency += np.bincount(counts.indices, minlength=self.n_numbers)
        self.total += np.bincount(counts.indices, weights=counts.data, minlength=self.n_numbers).astype(np.int64)
        self.new_terms = []

    def compute_prune_threshold(self) -> int:
        """Return the document frequency up to which terms must be pruned to keep half of the limit; 0 below it."""
        if len(self.numbers_by_term) <= MAX_TERMS_IN_MEMORY:
            return 0
        frequency = self.frequency[self.list_numbers()]
        n_pruned = len(frequency) - MAX_TERMS_IN_MEMORY // 2
        return int(np.partition(frequency, n_pruned)[n_pruned - 1])

    def prune(self, threshold: int) -> None:
        """Remove the terms that are in no more than `threshold` documents."""
        if threshold:
            self.numbers_by_term = {
                term: number for term, number in self.numbers_by_term.items() if self.frequency[number] > threshold
            }

    def list_numbers(self) -> Positions:
        """Return the numbers of the terms in memory, in the order of `list_terms`."""
        return np.fromiter(self.numbers_by_term.values(), dtype=np.int64, count=len(self.numbers_by_term))

    def list_terms(self) -> pa.Array:
        """Return the terms in memory."""
        return pa.array(self.numbers_by_term, type=pa.large_string())
