"""Mixtures of documents under the token model, and tokens in batches that stay in the cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from anchorless._corpus.documents import Array
from anchorless._corpus.sparse import build_csr

#: Entries × topics of a batch.
BATCH_SIZE = 2**17
#: Steps in which the mixture of a document is found.
MIXTURE_STEPS = 30


class Batch:
    """Consecutive documents of a block whose words are numbered anew, without those that they do not contain.

    Attributes: `rows`, the documents; `words` (v,), the columns of the block; and for each entry its `document`,
    `word` (both counted within the batch) and `counts`.
    """

    def __init__(self, X: Any, start: int, stop: int) -> None:
        first, last = X.indptr[start], X.indptr[stop]
        used = np.zeros(X.shape[1], dtype=bool)
        used[X.indices[first:last]] = True
        self.words = np.flatnonzero(used)
        number = np.cumsum(used) - 1
        self.rows, self.counts = slice(start, stop), X.data[first:last]
        self.word = number[X.indices[first:last]]
        self._bounds = X.indptr[start : stop + 1] - first
        self.document = np.repeat(np.arange(stop - start), np.diff(self._bounds))

    def count_topics(self, phi: Array, alpha: Array, n_steps: int) -> Array:
        """Return the expected tokens of each topic in each document (n, F), for topics phi (V, F), by n steps of EM."""
        B = phi[self.words]
        per_entry = B[self.word]
        found = np.zeros((len(self._bounds) - 1, len(alpha)))
        ratio = build_csr(self.counts.copy(), self.word.astype(np.int32), self._bounds, len(self.words))
        for _ in range(n_steps):
            weights = found + alpha
            z = np.einsum("ij,ij->i", weights[self.document], per_entry)
            # A word without a token in the corpus has probability zero in every topic and tells nothing.
            np.divide(self.counts, z, out=ratio.data, where=z > 0)
            ratio.data[z <= 0] = 0.0
            found = weights * (ratio @ B)
        return found

    def sum_documents(self, R: Array) -> Array:
        """Return the sum of R (n_entries, F) over the entries of each document (n, F)."""
        total = np.zeros((len(self._bounds) - 1, R.shape[1]))
        filled = np.flatnonzero(np.diff(self._bounds))  # `reduceat` would give an empty row the next row's first entry
        if len(filled):
            total[filled] = np.add.reduceat(R, self._bounds[filled], axis=0)
        return total

    def sum_words(self, R: Array) -> Array:
        """Return the sum of R (n_entries, F) over the entries of each word (v, F)."""
        n_entries = len(self.word)
        entries = sp.csc_matrix((np.ones(n_entries), self.word, np.arange(n_entries + 1)), (len(self.words), n_entries))
        return np.asarray(entries @ R)


def count_batch_entries(n_topics: int) -> int:
    """Return the number of entries of a batch, unless it is a single longer document."""
    return max(1, BATCH_SIZE // n_topics)


def iter_batches(X: Any, n_topics: int) -> Iterator[Batch]:
    """Yield the documents of a block in batches, whose bounds depend only on the block and the number of topics."""
    n_entries, start = count_batch_entries(n_topics), 0
    while start < X.shape[0]:
        stop = int(np.searchsorted(X.indptr, X.indptr[start] + n_entries, side="right")) - 1
        stop = min(max(stop, start + 1), X.shape[0])
        yield Batch(X, start, stop)
        start = stop


def count_document_topics(X: Any, phi: Array, alpha: Array, n_steps: int = MIXTURE_STEPS) -> Array:
    """Return the expected tokens of each topic (n, F) in documents X (n, V), for topics phi (V, F)."""
    found = np.zeros((X.shape[0], len(alpha)))
    for batch in iter_batches(X, len(alpha)):
        found[batch.rows] = batch.count_topics(phi, alpha, n_steps)
    return found


def split_tokens(X: Any) -> tuple[Any, Any]:
    """Return two halves of the tokens of each document, without chance: they alternate along the words."""
    counts = X.data.astype(np.int64)
    before = np.cumsum(counts) - counts  # tokens of the block before each entry
    first = (before + counts + 1) // 2 - (before + 1) // 2
    halves = []
    for part in (first, counts - first):
        half = build_csr(part.astype(np.float64), X.indices, X.indptr, X.shape[1]).copy()
        half.eliminate_zeros()
        halves.append(half)
    return halves[0], halves[1]


def predict_halves(X: Any, phi: Array, alpha: Array, n_steps: int = MIXTURE_STEPS) -> Array:
    """Return log p(second half of the tokens | first half) of each document (n,), for topics phi (V, F)."""
    first, second = split_tokens(X)
    shares = count_document_topics(first, phi, alpha, n_steps) + alpha
    shares /= shares.sum(axis=1, keepdims=True)
    scores = np.zeros(X.shape[0])
    for batch in iter_batches(second, len(alpha)):
        B = phi[batch.words][batch.word]
        probability = np.einsum("ij,ij->i", shares[batch.rows][batch.document], B)
        known = np.log(probability, out=np.zeros_like(probability), where=probability > 0)
        scores[batch.rows] = np.bincount(batch.document, batch.counts * known, batch.rows.stop - batch.rows.start)
    return scores
