"""Count terms (words and n-grams) in one batch of texts, and number the terms of many batches together.

A term of n words is the pair of the term of its first n − 1 words and its last word, so that n-grams of any length are
pairs of integers. Only the few that are selected become strings: a corpus has far more n-grams than words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from anchorless._corpus.text.tokens import Codes, Positions, Tokens

#: Words that are collected, at least, before they are numbered.
MIN_PENDING_WORDS = 200_000
#: Between the words of a term.
SPACE = pa.scalar(" ", type=pa.large_string())


class Grams(NamedTuple):
    """The distinct terms of n words, each as a pair."""

    prefixes: Any  # places among the terms of n − 1 words
    last_words: Any  # places among the words


class BatchTerms(NamedTuple):
    """How often each term is in each text of a batch. Terms are numbered by their length, words first."""

    words: Any  # pa.Array, sorted; after `index_batches` their numbers, so that no word is in memory twice
    grams: list[Grams]  # those of two words, of three, …
    counts: Any  # CSR, texts × terms of the requested lengths, in the smallest type that holds them
    n_shortest: int  # tokens of the shortest requested length
    n_runs: int  # words before any was removed


class Terms(NamedTuple):
    """The distinct terms of many batches."""

    words: Any  # pa.Array, sorted
    grams: list[Grams]
    first: int  # the shortest requested length; shorter terms are needed to define longer ones

    @property
    def sizes(self) -> list[int]:
        """The number of terms of each length, from 1 on."""
        return [len(self.words), *(len(level.last_words) for level in self.grams)]


def count_terms(tokens: Tokens, ngram_range: tuple[int, int]) -> BatchTerms:
    """Count the terms of ngram_range[0] … ngram_range[1] words.

    N-grams span the removed words of a text, unless the tokens tell which of them are neighbors.
    """
    least, most = ngram_range
    rows = np.repeat(np.arange(len(tokens.offsets) - 1), np.diff(tokens.offsets))
    numbers, grams = [tokens.codes.astype(np.int64)], []
    for n in range(2, most + 1):
        level, found = build_grams(numbers[-1], tokens.codes, rows, n, tokens.follows)
        grams.append(level)
        numbers.append(found)
    counted = numbers[least - 1 :]
    sizes = [len(tokens.words), *(len(level.last_words) for level in grams)][least - 1 :]
    counts = build_count_matrix(rows, counted, sizes, n_texts=len(tokens.offsets) - 1)
    return BatchTerms(tokens.words, grams, counts, int((counted[0] >= 0).sum()), tokens.n_runs)


def build_grams(
    prefixes: Positions, codes: Codes, rows: Positions, n: int, follows: Any = None
) -> tuple[Grams, Positions]:
    """Return the distinct terms of n words, and the number of the one that starts at each token; −1 for none."""
    shift = n - 1
    if len(codes) <= shift:
        nothing = np.zeros(0, dtype=np.int64)
        return Grams(nothing, nothing), nothing
    whole = rows[:-shift] == rows[shift:]
    if follows is not None:
        whole &= follows[shift:] & (prefixes[: len(whole)] >= 0)
    width = int(codes.max()) + 1
    keys = prefixes[: len(whole)][whole] * width + codes[shift:][whole]
    distinct, inverse = np.unique(keys, return_inverse=True)
    numbers = np.full(len(whole), -1, dtype=np.int64)
    numbers[whole] = inverse
    return Grams((distinct // width).astype(np.int32), (distinct % width).astype(np.int32)), numbers


def build_count_matrix(rows: Positions, numbers: Sequence[Positions], sizes: Sequence[int], n_texts: int) -> Any:
    """Return CSR texts × terms from the numbers of the terms that start at each token, by length."""
    n_terms, base = sum(sizes), 0
    keys = []
    for found, size in zip(numbers, sizes, strict=True):
        there = found >= 0
        keys.append(rows[: len(found)][there] * n_terms + (found[there] + base))
        base += size
    distinct, counts = np.unique(np.concatenate(keys), return_counts=True)
    bounds = np.searchsorted(distinct, np.arange(n_texts + 1) * n_terms)
    columns = distinct - np.repeat(np.arange(n_texts) * n_terms, np.diff(bounds))
    smallest_type = np.min_scalar_type(int(counts.max(initial=0)))
    parts = (counts.astype(smallest_type), columns.astype(np.int32), bounds.astype(np.int32))
    return sp.csr_matrix(parts, shape=(n_texts, n_terms))


def index_batches(batches: Iterable[BatchTerms]) -> tuple[Any, list[BatchTerms]]:
    """Return the words of all batches, in the order in which they first appear, and the batches with their numbers."""
    # Batches are collected until they have as many words as are known: each word is then looked up only a few times.
    known, done = pa.array([], type=pa.large_string()), list[BatchTerms]()
    waiting, n_waiting = list[BatchTerms](), 0
    for batch in batches:
        waiting.append(batch)
        n_waiting += len(batch.words)
        if n_waiting >= max(len(known), MIN_PENDING_WORDS):
            known = index_words(known, waiting, done)
            waiting, n_waiting = [], 0
    return index_words(known, waiting, done), done


def index_words(known: Any, waiting: list[BatchTerms], done: list[BatchTerms]) -> Any:
    """Number the words of waiting batches, and append these to `done`; return the known words and the new ones."""
    encoded = pa.concat_arrays([known, *(batch.words for batch in waiting)]).dictionary_encode()
    numbers, start = encoded.indices.to_numpy(), len(known)
    for batch in waiting:
        done.append(batch._replace(words=numbers[start : start + len(batch.words)].copy()))
        start += len(batch.words)
    return encoded.dictionary


def merge_batches(batches: Iterable[BatchTerms], first: int) -> tuple[Terms, list[Codes], list[BatchTerms]]:
    """Return the terms of all batches, for each batch the numbers of its counted terms among them, and the batches."""
    known, indexed = index_batches(batches)
    order = pc.sort_indices(known)
    words, place = known.take(order), np.argsort(order.to_numpy())
    of_words = [place[batch.words] for batch in indexed]
    levels, maps = [], [of_words]
    for depth in range(len(indexed[0].grams)):
        level, numbers = merge_grams([batch.grams[depth] for batch in indexed], maps[-1], of_words, len(words))
        levels.append(level)
        maps.append(numbers)
    terms = Terms(words, levels, first)
    bases = np.concatenate([[0], np.cumsum(terms.sizes[first - 1 :])])
    numbers_of_terms = [
        np.concatenate([m[i] + base for m, base in zip(maps[first - 1 :], bases, strict=False)]).astype(np.int32)
        for i in range(len(indexed))
    ]
    return terms, numbers_of_terms, indexed


def merge_grams(
    levels: Sequence[Grams], of_prefixes: Sequence[Any], of_words: Sequence[Any], n_words: int
) -> tuple[Grams, list[Positions]]:
    """Return the distinct terms of one length of all batches, and the numbers of the terms of each batch."""
    parts = zip(levels, of_prefixes, of_words, strict=True)
    keys = [prefixes[level.prefixes] * n_words + lasts[level.last_words] for level, prefixes, lasts in parts]
    distinct = np.unique(np.concatenate(keys))
    width = max(n_words, 1)
    return Grams(distinct // width, distinct % width), [np.searchsorted(distinct, key) for key in keys]


def decode_terms(terms: Terms, numbers: Positions) -> Any:
    """Return the terms of the given numbers as a pa.Array of strings, with a space between words."""
    sizes = terms.sizes[terms.first - 1 :]
    bases = np.concatenate([[0], np.cumsum(sizes)])
    order, parts = [], []
    for depth in range(len(sizes)):
        here = np.flatnonzero((numbers >= bases[depth]) & (numbers < bases[depth + 1]))
        order.append(here)
        parts.append(decode_grams(terms, depth + terms.first - 1, numbers[here] - bases[depth]))
    return pa.concat_arrays(parts).take(pa.array(np.argsort(np.concatenate(order))))


def decode_grams(terms: Terms, depth: int, numbers: Positions) -> Any:
    """Return terms of depth + 1 words as strings."""
    if depth == 0:
        return terms.words.take(pa.array(numbers))
    level = terms.grams[depth - 1]
    lasts = terms.words.take(pa.array(level.last_words[numbers]))
    return pc.binary_join_element_wise(decode_grams(terms, depth - 1, level.prefixes[numbers]), lasts, SPACE)
