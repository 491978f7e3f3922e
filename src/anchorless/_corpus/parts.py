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

from anchorless._corpus.counting import Counts, Integers, choose_terms, count_batch, remap_columns, split_batches
from anchorless._corpus.settings import CountSettings
from anchorless._corpus.sparse import NONZEROS_PER_BLOCK, rechunk_blocks
from anchorless._corpus.text.terms import decode_terms, index_batch_terms
from anchorless._corpus.text.tokens import Codes
from anchorless.errors import InputError


class TermTotals(NamedTuple):
    """What is known of each term of some documents."""

    terms: pa.Array  # distinct strings
    frequency: Integers  # documents that hold it
    total: Integers  # its tokens
    n_documents: int
    n_runs: int  # runs of letters and digits, for the message that none became a word


class PartitionBatch(NamedTuple):
    """Some documents of a part, with the part's numbers for the terms."""

    counts: Any  # CSR, documents × terms of these documents
    numbers: Codes  # of these terms among those of the part


class PartitionCounts(NamedTuple):
    """A part counted with every term."""

    batches: list[PartitionBatch]
    totals: TermTotals


class SharedVocabulary(NamedTuple):
    """The vocabulary of all parts."""

    words: pa.Array  # sorted by code point
    document_frequency: Integers
    n_tokens: int
    n_documents: int


def count_text_partition(batches: Iterable[pa.Array], settings: CountSettings) -> PartitionCounts:
    """Count the texts of one part, which come in batches, with every term."""
    rule, first = settings.to_token_rule(), settings.ngram_range[0]
    found, strings, n_runs = [], [pa.array([], type=pa.large_string())], 0
    for texts in split_batches(batches):
        batch = count_batch(texts, settings=settings, rule=rule)
        terms, places = index_batch_terms(batch, first)
        found.append(batch.counts)
        strings.append(decode_terms(terms, places.astype(np.int64)))
        n_runs += batch.n_runs
    coded = pc.dictionary_encode(pa.concat_arrays(strings))
    ends = np.cumsum([len(part) for part in strings])[:-1]
    numbers = np.split(coded.indices.to_numpy(), ends)[1:]
    parts = [PartitionBatch(counts, codes) for counts, codes in zip(found, numbers, strict=True)]
    return PartitionCounts(parts, sum_term_totals(parts, coded.dictionary, n_runs))


def sum_term_totals(parts: Sequence[PartitionBatch], terms: pa.Array, n_runs: int) -> TermTotals:
    """Return what the pieces of a part say of its terms."""
    frequency, total = np.zeros((2, len(terms)), dtype=np.int64)
    for counts, numbers in parts:
        columns = numbers[counts.indices]
        frequency += np.bincount(columns, minlength=len(terms))
        total += np.bincount(columns, weights=counts.data, minlength=len(terms)).astype(np.int64)
    return TermTotals(terms, frequency, total, sum(part.counts.shape[0] for part in parts), n_runs)


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
    if totals.n_documents == 0:
        raise InputError("there are no documents to count; at least one text is needed")
    of = (totals.n_documents, totals.n_runs)
    chosen, words = choose_terms(
        totals.frequency, totals.total, settings, of, lambda numbers: totals.terms.take(pa.array(numbers))
    )
    return SharedVocabulary(words, totals.frequency[chosen], int(totals.total[chosen].sum()), totals.n_documents)


def make_remote_counts(documents: Any, chosen: SharedVocabulary, settings: CountSettings) -> Counts:
    """Return counts whose blocks are with the workers of a cluster; a fit takes them as it takes those in memory."""
    words = chosen.words.to_pylist()
    return Counts(documents, words, chosen.n_tokens, chosen.n_documents, chosen.document_frequency, settings)


def make_partition_blocks(part: PartitionCounts, words: pa.Array) -> list[Any]:
    """Return the counts of the words of the vocabulary, CSR, cut into blocks of about NONZEROS_PER_BLOCK entries."""
    column = pc.index_in(part.totals.terms, value_set=words).fill_null(-1).to_numpy(zero_copy_only=False)
    column = column.astype(np.int32)

    def narrowed() -> Iterator[Any]:
        for counts, numbers in part.batches:
            yield remap_columns(counts, column[numbers], len(words))

    return [*rechunk_blocks(narrowed(), NONZEROS_PER_BLOCK)]
