"""Topics to start from, for seed words: what the documents have that contain them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from anchorless._core.seed_matches import FLOOR, count_together
from anchorless._corpus.documents import Array, Documents

#: A start has at least this part of every word's frequency taken away: that of words which every document may use.
BACKGROUND_QUANTILE, MIN_EXPECTED = 0.1, 5.0
#: Part of every word's frequency that is taken away from the words of the documents with two words of a seed,
BACKGROUND_PART = 0.5
#: and from the words that occur with one of them. With many topics in a document most words have other reasons.
SINGLE_BACKGROUND_PART = 0.8
#: From so many documents with two words on, these count more than the words that occur with either.
EVEN_DOCUMENTS = 50


def build_seed_starts(counts: Documents, seeds: Sequence[Sequence[int]], n_threads: int) -> Array:
    """Return topics (n, V) for seeds of two words or more: zero if no document tells anything of two of the words.

    The words of the documents that contain two words of a seed are nearest to the topic; of few documents they are
    noise. The words that occur with the first word and with the second say less, but of many documents.
    """
    together = count_together(counts, seeds, n_threads)[:, None]
    part = together / (together + EVEN_DOCUMENTS)
    starts = part * build_joint_starts(counts, seeds, n_threads)
    starts += (1.0 - part) * build_tandem_starts(counts, seeds, n_threads)
    total = starts.sum(axis=1, keepdims=True)
    return np.divide(starts, total, out=np.zeros_like(starts), where=total > 0)


def build_starts(counts: Documents, seeds: Sequence[Sequence[int]], n_threads: int) -> Array:
    """Return topics (n, V): words of the documents that contain the words of a seed, beyond their frequency."""

    def sum_words(X: Any) -> Array:
        lengths = np.maximum(np.asarray(X.sum(axis=1)).ravel(), 1.0)
        tokens = np.column_stack([np.asarray(X[:, [*words]].sum(axis=1)).ravel() for words in seeds])
        own = np.asarray((X.T @ (tokens / lengths[:, None])).T)
        return np.vstack([own, np.asarray(X.sum(axis=0))])

    sums = counts.sum_blocks(sum_words, n_threads)
    frequency, n_tokens = sums[-1] / sums[-1].sum(), sums[:-1].sum(axis=1)
    starts = sums[:-1] / np.maximum(n_tokens, 1e-300)[:, None]
    for i in range(len(starts)):
        common = (frequency * n_tokens[i] >= MIN_EXPECTED) & (frequency > 0)
        if common.any():
            part = np.quantile(starts[i, common] / frequency[common], BACKGROUND_QUANTILE)
            rest = np.maximum(starts[i] - part * frequency, 0.0)
            starts[i] = rest / rest.sum() if rest.sum() > 0 else starts[i]
    return starts


def build_joint_starts(counts: Documents, seeds: Sequence[Sequence[int]], n_threads: int) -> Array:
    """Return topics (n, V): words of the documents that contain two words of a seed, beyond a part of their frequency.

    Words that lead several topics have a common topic nevertheless. A document counts by the part of its pairs of
    tokens that are two different words of the seed.
    """

    def sum_words(X: Any) -> Array:
        lengths = np.asarray(X.sum(axis=1)).ravel()
        pairs = np.column_stack([count_pairs(X[:, [*words]]) for words in seeds])
        pairs /= np.maximum(lengths * (lengths - 1.0), 1.0)[:, None]
        return np.vstack([np.asarray((X.T @ pairs).T), np.asarray(X.sum(axis=0))])

    sums = counts.sum_blocks(sum_words, n_threads)
    starts = sums[:-1] / np.maximum(sums[:-1].sum(axis=1, keepdims=True), FLOOR)
    rest = np.maximum(starts - BACKGROUND_PART * sums[-1] / sums[-1].sum(), 0.0)
    total = rest.sum(axis=1, keepdims=True)
    return np.where(total > 0, rest / np.maximum(total, FLOOR), starts)


def count_pairs(X: Any) -> Array:
    """Return the number of pairs of tokens of different words in each row of X, sparse (n, w)."""
    total = np.asarray(X.sum(axis=1), dtype=np.float64).ravel()
    squares = np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray((total**2 - squares) / 2.0)


def build_tandem_starts(counts: Documents, seeds: Sequence[Sequence[int]], n_threads: int) -> Array:
    """Return topics (n, V): words that occur with two words of a seed, not necessarily in the same document.

    With e_a(w) what p(w | a) is beyond a part of the frequency p(w), where the word a is, a word has the probability
    Σ e_a(w) e_b(w) / p(w) over the pairs of words of the seed, as it would have if only the topic had both a and b.
    """
    words = np.unique(np.concatenate([np.asarray(some, dtype=np.intp) for some in seeds]))

    def sum_words(X: Any) -> Array:
        weights = 1.0 / np.maximum(np.asarray(X.sum(axis=1)).ravel() - 1.0, 1.0)
        own = X[:, words].multiply(weights[:, None]).tocsr()
        rows = np.asarray((own.T @ X).todense())
        rows[np.arange(len(words)), words] -= np.asarray(own.sum(axis=0)).ravel()  # a token does not occur with itself
        return np.vstack([rows, np.asarray(X.sum(axis=0))])

    sums = counts.sum_blocks(sum_words, n_threads)
    frequency = sums[-1] / sums[-1].sum()
    rows = sums[:-1] / np.maximum(sums[:-1].sum(axis=1, keepdims=True), FLOOR)
    excess = np.maximum(rows - SINGLE_BACKGROUND_PART * frequency, 0.0)
    starts = np.zeros((len(seeds), len(frequency)))
    for i, some in enumerate(seeds):
        of_seed = excess[np.searchsorted(words, some)]
        products = (of_seed.sum(axis=0) ** 2 - (of_seed**2).sum(axis=0)) / np.maximum(frequency, FLOOR)
        starts[i] = np.maximum(products, 0.0) / max(float(np.maximum(products, 0.0).sum()), FLOOR)
    return starts
