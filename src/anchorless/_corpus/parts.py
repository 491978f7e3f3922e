"""Texts in parts that are counted apart, on whatever machine they are, and then with one vocabulary for all.

First each part is counted with every term it holds; what all parts say of each term is added up, in any order, since
these are whole numbers; the vocabulary is chosen by the rules of `counting`; then each part keeps the counts of
its words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anchorless._corpus.counting import Counts, Integers, chosen_terms, counted_batch, narrow, pieces
from anchorless._corpus.settings import Counting
from anchorless._corpus.text.terms import spelt, united_alone
from anchorless._corpus.text.tokens import Codes
from anchorless._corpus.documents import NONZEROS_PER_BLOCK, recut
from anchorless.errors import InputError


class TermTotals(NamedTuple):
    """What is known of each term of some documents."""

    terms: pa.Array  # distinct strings
    frequency: Integers  # documents that hold it
    total: Integers  # its tokens
    n_documents: int
    n_runs: int  # runs of letters and digits, for the message that none became a word


class Piece(NamedTuple):
    """Some documents of a part, with the part's numbers for the terms."""

    counts: Any  # CSR, documents × terms of these documents
    numbers: Codes  # of these terms among those of the part


class PartCounts(NamedTuple):
    """A part counted with every term."""

    pieces: list[Piece]
    totals: TermTotals


class PartVocabulary(NamedTuple):
    """The vocabulary of all parts."""

    words: pa.Array  # sorted by code point
    document_frequency: Integers
    n_tokens: int
    n_documents: int


def count_part(batches: Iterable[pa.Array], settings: Counting) -> PartCounts:
    """Count the texts of one part, which come in batches, with every term."""
    rule, first = settings.rule(), settings.ngram_range[0]
    found, strings, n_runs = [], [pa.array([], type=pa.large_string())], 0
    for texts in pieces(batches):
        batch = counted_batch(texts, settings=settings, rule=rule)
        terms, places = united_alone(batch, first)
        found.append(batch.counts)
        strings.append(spelt(terms, places.astype(np.int64)))
        n_runs += batch.n_runs
    coded = pc.dictionary_encode(pa.concat_arrays(strings))
    ends = np.cumsum([len(part) for part in strings])[:-1]
    numbers = np.split(coded.indices.to_numpy(), ends)[1:]
    parts = [Piece(counts, codes) for counts, codes in zip(found, numbers, strict=True)]
    return PartCounts(parts, part_totals(parts, coded.dictionary, n_runs))


def part_totals(parts: Sequence[Piece], terms: pa.Array, n_runs: int) -> TermTotals:
    """Return what the pieces of a part say of its terms."""
    frequency, total = np.zeros((2, len(terms)), dtype=np.int64)
    for counts, numbers in parts:
        columns = numbers[counts.indices]
        frequency += np.bincount(columns, minlength=len(terms))
        total += np.bincount(columns, weights=counts.data, minlength=len(terms)).astype(np.int64)
    return TermTotals(terms, frequency, total, sum(part.counts.shape[0] for part in parts), n_runs)


def added_totals(parts: Sequence[TermTotals]) -> TermTotals:
    """Return what several parts say together."""
    coded = pc.dictionary_encode(pa.concat_arrays([part.terms for part in parts]))
    numbers, n_terms = coded.indices.to_numpy(), len(coded.dictionary)
    frequency, total = np.zeros(n_terms, dtype=np.int64), np.zeros(n_terms, dtype=np.int64)
    np.add.at(frequency, numbers, np.concatenate([part.frequency for part in parts]))
    np.add.at(total, numbers, np.concatenate([part.total for part in parts]))
    n_documents, n_runs = sum(part.n_documents for part in parts), sum(part.n_runs for part in parts)
    return TermTotals(coded.dictionary, frequency, total, n_documents, n_runs)


def chosen_vocabulary(totals: TermTotals, settings: Counting) -> PartVocabulary:
    """Return the terms that the settings choose."""
    if totals.n_documents == 0:
        raise InputError("there are no documents to count; at least one text is needed")
    of = (totals.n_documents, totals.n_runs)
    chosen, words = chosen_terms(
        totals.frequency, totals.total, settings, of, lambda numbers: totals.terms.take(pa.array(numbers))
    )
    return PartVocabulary(words, totals.frequency[chosen], int(totals.total[chosen].sum()), totals.n_documents)


def counts_elsewhere(documents: Any, chosen: PartVocabulary, settings: Counting) -> Counts:
    """Return counts whose blocks are with the workers of a cluster; a fit takes them as it takes those in memory."""
    words = chosen.words.to_pylist()
    return Counts(documents, words, chosen.n_tokens, chosen.n_documents, chosen.document_frequency, settings)


def part_blocks(part: PartCounts, words: pa.Array) -> list[Any]:
    """Return the counts of the words of the vocabulary, CSR, cut into blocks of about NONZEROS_PER_BLOCK entries."""
    column = pc.index_in(part.totals.terms, value_set=words).fill_null(-1).to_numpy(zero_copy_only=False)
    column = column.astype(np.int32)

    def narrowed() -> Iterator[Any]:
        for counts, numbers in part.pieces:
            yield narrow(counts, column[numbers], len(words))

    return [*recut(narrowed(), NONZEROS_PER_BLOCK)]
