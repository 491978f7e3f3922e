"""One vocabulary for parts of a corpus that are counted on different machines.

Each part is counted with every term that it contains. The totals of the terms are whole numbers, so they add up in any
order. From them the vocabulary is chosen; then each part selects the counts of its words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anchorless._corpus.counting import Integers, PartCounts, choose_terms, select_columns
from anchorless._corpus.settings import CountSettings
from anchorless._corpus.text.terms import decode_terms


class TermTotals(NamedTuple):
    """Sums over some documents for each of their terms."""

    terms: pa.Array  # distinct strings
    frequency: Integers  # documents that contain it
    total: Integers  # its tokens
    n_documents: int
    n_runs: int  # runs of letters and digits, for the message that none of them is a word


class SharedVocabulary(NamedTuple):
    """The vocabulary of all parts."""

    words: pa.Array  # sorted by code point
    document_frequency: Integers
    n_tokens: int
    n_documents: int


def compute_totals(part: PartCounts) -> TermTotals:
    """Return the totals of the terms of one part, with the terms as strings."""
    terms = decode_terms(part.terms, np.arange(len(part.frequency)))
    return TermTotals(terms, part.frequency, part.total, part.n_documents, part.n_runs)


def merge_term_totals(parts: Sequence[TermTotals]) -> TermTotals:
    """Return what several parts say together."""
    coded = pc.dictionary_encode(pa.concat_arrays([part.terms for part in parts]))
    numbers, n_terms = coded.indices.to_numpy(), len(coded.dictionary)
    frequency, total = np.zeros(n_terms, dtype=np.int64), np.zeros(n_terms, dtype=np.int64)
    np.add.at(frequency, numbers, np.concatenate([part.frequency for part in parts]))
    np.add.at(total, numbers, np.concatenate([part.total for part in parts]))
    n_documents, n_runs = sum(part.n_documents for part in parts), sum(part.n_runs for part in parts)
    return TermTotals(coded.dictionary, frequency, total, n_documents, n_runs)


def choose_vocabulary(totals: TermTotals, settings: CountSettings) -> SharedVocabulary:
    """Return the terms that the settings choose."""
    of = (totals.n_documents, totals.n_runs)
    chosen, words, total = choose_terms(totals.frequency, totals.total, settings, of, totals.terms.take)
    return SharedVocabulary(words, totals.frequency[chosen], int(total.sum()), totals.n_documents)


def select_words(part: PartCounts, words: pa.Array) -> list[Any]:
    """Return the counts of the words of the vocabulary, CSR, in blocks of about NONZEROS_PER_BLOCK entries."""
    terms = decode_terms(part.terms, np.arange(len(part.frequency)))
    column = pc.index_in(terms, value_set=words).fill_null(-1).to_numpy(zero_copy_only=False)
    return [*select_columns(part, column.astype(np.int32), words.to_pylist())]
