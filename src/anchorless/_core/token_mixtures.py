"""Mixtures of documents under the token model."""

from __future__ import annotations

from typing import Any

import numpy as np

from anchorless._core.token_kernels import count_topics, count_topics_of_others, mix_topics
from anchorless._corpus.documents import Array
from anchorless._corpus.sparse import build_csr, split_range, view_rows
from anchorless._corpus.threads import map_in_threads

#: Steps in which the mixture of a document is found.
MIXTURE_STEPS = 30
#: Documents that a thread predicts at a time, at least, and products that it then computes, about: Ctrl-C may have to
#: wait for them, and with fewer, most of the time would go into calls.
DOCUMENTS_AT_A_TIME, PRODUCTS_AT_A_TIME = 128, 2**24


def count_document_topics(X: Any, phi: Array, alpha: Array, n_steps: int = MIXTURE_STEPS) -> Array:
    """Return the expected tokens of each topic (n, F) in documents X (n, V), for topics phi (V, F).

    The prior alpha is (F,), or (n, F) if each document has its own.
    """
    found = np.empty((X.shape[0], phi.shape[1]))
    count_topics(X.indptr, X.indices, X.data, phi, np.atleast_2d(alpha), n_steps, found)
    return found


def mix_document_topics(X: Any, shares: Array, phi: Array) -> tuple[Array, Array]:
    """Return, for each entry of documents X, p(word | mixture) and Σ_k r_k² of the probabilities r of its topics."""
    mixed, squares = np.empty(len(X.data)), np.empty(len(X.data))
    mix_topics(X.indptr, X.indices, shares, phi, mixed, squares)
    return mixed, squares


def sum_entries(X: Any, values: Array) -> Array:
    """Return the sum over the entries of each document of X (n,), each times its count."""
    return np.asarray(build_csr(X.data * values, X.indices, X.indptr, X.shape[1]).sum(axis=1)).ravel()


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


def predict_halves(X: Any, phi: Array, alpha: Array, n_steps: int = MIXTURE_STEPS, *, n_threads: int = 1) -> Array:
    """Return log p(second half of the tokens | first half) of each document (n,), for topics phi (V, F).

    The prior alpha is (F,), or (n, F) if each document has its own.
    """
    halves = split_tokens(X)

    def predict(rows: slice) -> Array:
        first, second = (view_rows(half, rows.start, rows.stop) for half in halves)
        prior = np.atleast_2d(alpha if alpha.ndim == 1 else alpha[rows])
        shares = np.empty((first.shape[0], phi.shape[1]))
        count_topics_of_others(first.indptr, first.indices, first.data, phi, prior, n_steps, shares)
        shares += prior
        shares /= shares.sum(axis=1, keepdims=True)
        mixed = mix_document_topics(second, shares, phi)[0]
        return sum_entries(second, np.log(mixed, out=np.zeros_like(mixed), where=mixed > 0))

    n, n_products = X.shape[0], X.nnz * phi.shape[1] * n_steps
    size = min(n * PRODUCTS_AT_A_TIME // max(n_products, 1), -(-n // n_threads))
    parts = split_range(n, max(size, DOCUMENTS_AT_A_TIME))
    return np.concatenate([np.zeros(0), *map_in_threads(predict, parts, n_threads)])
