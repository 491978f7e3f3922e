"""Texts to counts: a fold over batches of texts, then one vocabulary for all of them.

Each batch is counted by itself, in parallel; the batches are put together in their order, so that
nothing depends on the threads. `tokens` says what a word is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from anchorless._corpus.documents import Documents
from anchorless._corpus.phrases import build_subtraction, choose_phrases, merge_phrases
from anchorless._corpus.settings import CountSettings
from anchorless._corpus.sparse import NONZEROS_PER_BLOCK, rechunk_blocks
from anchorless._corpus.text.boilerplate import drop_encoded, drop_lines
from anchorless._corpus.text.cleaning import strip_mail_parts, strip_markup
from anchorless._corpus.text.terms import BatchTerms, Terms, count_terms, decode_terms, merge_batches
from anchorless._corpus.text.tokens import Codes, TokenRule, tokenize
from anchorless._corpus.texts import iter_texts
from anchorless._corpus.threads import map_in_threads
from anchorless.errors import InputError

#: A batch made of a Python iterable ends after so many texts or characters.
TEXTS_PER_BATCH, CHARACTERS_PER_BATCH = 2000, 4_000_000
#: What one thread counts at a time.
BYTES_PER_SLICE = 1_000_000

Integers = npt.NDArray[np.int64]


class Counts(NamedTuple):
    """Counted documents with their vocabulary."""

    documents: Documents
    vocabulary: list[str]  # sorted by code point
    n_tokens: int  # the sum of all counts
    document_frequency: Integers  # documents that contain each word


class PartCounts(NamedTuple):
    """Texts counted with every term that they contain."""

    counts: list[Any]  # for each batch CSR, documents × terms of the batch
    numbers: list[Codes]  # for each batch the numbers of its terms among `terms`
    terms: Terms
    frequency: Integers  # documents that contain each term
    total: Integers  # tokens of each term
    n_documents: int
    n_runs: int  # runs of letters and digits
    has_phrases: bool = False  # whether terms of two words are phrases if they are chosen


class CountedBatch(NamedTuple):
    """Documents counted with a vocabulary that was there before."""

    counts: Any  # CSR, documents × words, int32
    n_tokens: int  # terms of the least length asked for, known and unknown
    n_unknown: int  # those of them that are not in the vocabulary


def batch_texts(documents: Iterable[str]) -> Iterator[pa.Array]:
    """Cut an iterable of strings into arrays of bounded size."""
    waiting: list[str] = []
    n_done = n_characters = 0
    for number, text in enumerate(iter_texts(documents)):
        waiting.append(text)
        n_characters += len(text)
        if len(waiting) == TEXTS_PER_BATCH or n_characters >= CHARACTERS_PER_BATCH:
            yield to_string_array(waiting, n_done)
            n_done, n_characters, waiting = number + 1, 0, []
    if waiting:
        yield to_string_array(waiting, n_done)


def to_string_array(texts: list[str], first: int) -> pa.Array:
    """Return strings as an array; the first of them is document number `first`."""
    try:
        return pa.array(texts, type=pa.large_string())
    except UnicodeEncodeError:  # half a surrogate pair, from a careless decoder
        bad = next(i for i, text in enumerate(texts) if any("\ud800" <= c <= "\udfff" for c in text))
        raise InputError(
            f"document {first + bad} is not valid Unicode: it holds a lone surrogate; read it with errors='replace'"
        ) from None


def split_batch(batch: pa.Array) -> Iterator[pa.Array]:
    """Cut a batch into slices of about BYTES_PER_SLICE: the memory of a thread is some thirty times its slice."""
    for chunk in batch.chunks if isinstance(batch, pa.ChunkedArray) else [batch]:
        size = max(1, len(chunk) * BYTES_PER_SLICE // max(chunk.nbytes, 1))
        for start in range(0, len(chunk), size):
            yield chunk.slice(start, size)


def count_texts(batches: Iterable[pa.Array], settings: CountSettings, n_threads: int) -> Counts:
    """Count the words of batches of texts, and choose the vocabulary by the settings."""
    part = count_all_terms(batches, settings, n_threads)
    n_counted = (part.n_documents, part.n_runs)
    decode = partial(decode_terms, part.terms)
    chosen, words, total = choose_terms(part.frequency, part.total, settings, n_counted, decode)
    column = np.full(len(part.frequency), -1, dtype=np.int32)
    column[chosen] = np.arange(len(chosen))
    vocabulary = words.to_pylist()
    documents = Documents([*select_columns(part, column, vocabulary)])
    return Counts(documents, vocabulary, int(total.sum()), part.frequency[chosen])


def count_all_terms(batches: Iterable[pa.Array], settings: CountSettings, n_threads: int) -> PartCounts:
    """Count every term of batches of texts."""
    count = partial(count_batch, settings=settings, rule=settings.to_token_rule())
    # The empty batch is for a part without any text: terms have a place in it, too.
    pieces = chain(chain.from_iterable(map(split_batch, batches)), [pa.array([], type=pa.large_string())])
    terms, numbers, indexed = merge_batches(map_in_threads(count, pieces, n_threads), settings.counted_ngrams[0])
    n_terms = sum(terms.sizes[terms.first - 1 :])
    frequency, total = np.zeros((2, n_terms), dtype=np.int64)
    for batch, number in zip(indexed, numbers, strict=True):
        columns = number[batch.counts.indices]
        frequency += np.bincount(columns, minlength=n_terms)
        total += np.bincount(columns, weights=batch.counts.data, minlength=n_terms).astype(np.int64)
    counts = [batch.counts for batch in indexed]
    n_documents, n_runs = sum(block.shape[0] for block in counts), sum(batch.n_runs for batch in indexed)
    return PartCounts(counts, numbers, terms, frequency, total, n_documents, n_runs, settings.phrases)


def select_columns(part: PartCounts, column: Codes, vocabulary: Sequence[str]) -> Iterator[Any]:
    """Yield the counts of the terms whose `column` is not −1, in blocks whose bounds depend on the documents alone."""
    batches = zip(part.counts, part.numbers, strict=True)
    subtraction = build_subtraction(vocabulary) if part.has_phrases else None
    blocks = (
        merge_phrases(remap_columns(counts, column[numbers], len(vocabulary)), subtraction)
        for counts, numbers in batches
    )
    return rechunk_blocks(blocks, NONZEROS_PER_BLOCK)


def count_with_vocabulary(
    batches: Iterable[pa.Array], vocabulary: Sequence[str], settings: CountSettings, n_threads: int
) -> Iterator[CountedBatch]:
    """Yield each batch of texts counted with a vocabulary that was chosen before, in the order of the batches."""
    known = pa.array(vocabulary, type=pa.large_string())
    if len(known) == 0 or len(known.unique()) < len(known):
        raise InputError(f"the vocabulary has {len(known)} words, but it needs at least one, and none of them twice")
    rule = settings.to_token_rule()
    subtraction = build_subtraction(vocabulary) if settings.phrases else None
    parts_unknown = (
        np.array([count_unknown_parts(term, {*vocabulary}) for term in vocabulary]) if settings.phrases else 0
    )

    def count(texts: pa.Array) -> CountedBatch:
        batch = count_batch(texts, settings=settings, rule=rule)
        terms, (numbers,), _ = merge_batches([batch], settings.counted_ngrams[0])
        found = pc.index_in(decode_terms(terms, numbers.astype(np.int64)), value_set=known)
        column = found.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
        n_shortest_terms = terms.sizes[terms.first - 1]
        occurrences = np.bincount(batch.counts.indices, weights=batch.counts.data, minlength=len(column))
        unknown = occurrences[:n_shortest_terms][column[:n_shortest_terms] < 0].sum()
        counts = remap_columns(batch.counts, column, len(known))
        if settings.phrases:  # the words of a phrase are known by it
            unknown -= (np.asarray(counts.sum(axis=0)).ravel() * parts_unknown).sum()
        return CountedBatch(merge_phrases(counts, subtraction), batch.n_shortest, int(unknown))

    yield from map_in_threads(count, batches, n_threads)


def count_batch(texts: Any, *, settings: CountSettings, rule: TokenRule) -> BatchTerms:
    """Count one batch of texts by itself."""
    if isinstance(texts, pa.ChunkedArray):
        texts = pa.concat_arrays(texts.chunks) if texts.num_chunks else pa.array([], type=texts.type)
    texts = clean_texts(texts, settings)
    texts = drop_lines(texts, settings.boilerplate) if settings.drop_boilerplate else texts
    return count_terms(tokenize(texts, rule), settings.counted_ngrams)


def count_unknown_parts(term: str, vocabulary: set[str]) -> int:
    """Return how many words of a phrase are not in the vocabulary by themselves; 0 for a word."""
    return sum(word not in vocabulary for word in term.split(" ")) if " " in term else 0


def clean_texts(texts: Any, settings: CountSettings) -> Any:
    """Return texts without the encoded binaries and the parts of mails and web pages that the settings leave out."""
    # Before the parts of mails: lines of binaries that look like quotations would be removed, and the others left over.
    texts = drop_encoded(texts) if settings.drop_boilerplate else texts
    texts = strip_mail_parts(texts) if settings.email else texts  # before markup: it goes by lines
    return strip_markup(texts) if settings.html else texts


def make_bounds_error(n_rare: int, n_common: int, n_documents: int, bounds: tuple[float, float]) -> InputError:
    """Return the error if every word is in too few documents, or in too many."""
    if n_documents == 1:
        problem = "1 document: topics are what documents share, so give at least 2"
        return InputError(problem, remedy="divide a long text into parts with {split}")
    least, most = bounds
    reasons = [
        *([f"{n_rare:,} {'is' if n_rare == 1 else 'are'} in fewer than {least:,g}"] if n_rare else []),
        *([f"{n_common:,} {'is' if n_common == 1 else 'are'} in more than {most:,g}"] if n_common else []),
    ]
    remedies = [*(["lower {min_df}"] if n_rare else []), *(["raise {max_df}"] if n_common else [])]
    n_words = n_rare + n_common
    words = f"{n_words:,} different {'word' if n_words == 1 else 'words'}"
    documents = "document" if (most if n_common else least) == 1 else "documents"
    problem = f"no word is left: of {words} in {n_documents:,} documents, {' and '.join(reasons)} {documents}"
    return InputError(problem, remedy=" or ".join(remedies))


def choose_terms(
    frequency: Integers, total: Integers, settings: CountSettings, n_counted: tuple[int, int], decode: Any
) -> tuple[Integers, pa.Array, Integers]:
    """Return the numbers of the terms that the settings choose, in the order of the alphabet, the terms, and totals.

    `n_counted` are the counted documents and runs of letters and digits; `decode` returns the terms of numbers.
    """
    n_documents, n_runs = n_counted
    if n_documents == 0:
        raise InputError("there are no documents to count; at least one text is needed")
    if len(frequency) == 0:
        raise InputError(
            f"no word is left of {n_runs:,} words and numbers in {n_documents:,} documents: all are stop "
            f"words, numbers, or shorter than {settings.min_length} letters",
            remedy="give texts, or change {stop_words}",
        )
    least, most = settings.compute_df_bounds(n_documents)
    rare, common = frequency < least, frequency > most
    chosen = np.flatnonzero(~rare & ~common)
    if len(chosen) == 0:
        raise make_bounds_error(int(rare.sum()), int(common.sum()), n_documents, (least, most))
    vocabulary, own = decode(chosen), total
    if settings.phrases:
        frequent = np.flatnonzero(~rare)
        found = choose_phrases(decode(frequent), total[frequent], n_runs)
        own = total.copy()
        own[frequent] = found.total
        # A word that is left only in phrases has no tokens of its own.
        kept = np.isin(chosen, frequent[found.is_kept & (found.total >= least)])
        chosen, vocabulary = chosen[kept], vocabulary.filter(pa.array(kept))
    if settings.max_features is not None and len(chosen) > settings.max_features:
        rank = np.argsort(pc.sort_indices(vocabulary).to_numpy())
        order = np.lexsort((rank, -own[chosen]))[: settings.max_features]
        chosen, vocabulary = chosen[order], vocabulary.take(pa.array(order))
    order = pc.sort_indices(vocabulary).to_numpy()
    chosen, vocabulary = chosen[order], vocabulary.take(pa.array(order))
    subtraction = build_subtraction(vocabulary.to_pylist()) if settings.phrases else None
    return chosen, vocabulary, total[chosen] if subtraction is None else total[chosen] @ subtraction


def remap_columns(counts: Any, column: Codes, width: int) -> Any:
    """Return CSR counts, int32, with term j moved to `column[j]`, or left out where that is −1."""
    columns = column[counts.indices]
    kept = columns >= 0
    bounds = np.concatenate([[0], np.cumsum(kept)])[counts.indptr].astype(np.int32)
    arrays = (counts.data[kept].astype(np.int32), columns[kept], bounds)
    narrower = sp.csr_matrix(arrays, shape=(counts.shape[0], width))
    narrower.sort_indices()
    return narrower
