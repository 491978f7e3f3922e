"""Mixed membership: the share of each topic in a document, and how much of the document the topics explain."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from anchorless._core.nnls import compute_gram, solve_nnls
from anchorless._core.weighting import WordWeights
from anchorless._corpus.counting import count_with_vocabulary
from anchorless._corpus.documents import Array, Documents
from anchorless._corpus.settings import CountSettings
from anchorless._corpus.sparse import to_canonical_csr
from anchorless._corpus.threads import map_in_threads
from anchorless.errors import InputError


class Mixtures(NamedTuple):
    """The topics of some documents, one row each."""

    shares: Array  # (n, F): nonnegative rows that sum to one, or zero for a document without a known word
    explained: Array  # (n,), in [0, 1]: the part of the document's sum of squares that its topics explain


class BatchMixtures(NamedTuple):
    """The topics of a batch of texts."""

    mixtures: Mixtures
    n_tokens: int  # tokens counted
    n_unknown: int | None  # tokens of words that the model does not know; None where a vectorizer does not tell


class Inference(NamedTuple):
    """All that is needed to find the topics of new documents; small enough to send to a worker."""

    components: Array  # (F, V)
    weights: WordWeights
    vocabulary: list[str]
    counting: CountSettings | None  # None: counted by a vectorizer, or by the user
    vectorizer: Any = None

    def transform_batches(self, batches: Iterable[Any], n_threads: int) -> Iterator[BatchMixtures]:
        """Yield the topics of each batch of texts (string arrays) as they come."""
        # One BLAS thread: its rounding depends on their number, and ours use the same cores.
        with threadpool_limits(1, user_api="blas"):
            C = np.ascontiguousarray(self.components.T)
            compute = partial(compute_mixtures, C=C, gram=compute_gram(C), weights=self.weights)

            def transform(counted: tuple[Any, int, int | None]) -> BatchMixtures:
                return BatchMixtures(compute(counted[0]), *counted[1:])

            yield from map_in_threads(transform, self._count_batches(batches, n_threads), n_threads)

    def transform_documents(self, counts: Documents, n_threads: int) -> Iterator[Mixtures]:
        """Yield the topics of each block of counts, in order."""
        return iter_mixtures(counts, self.components, n_threads, self.weights)

    def _count_batches(self, batches: Iterable[Any], n_threads: int) -> Iterator[tuple[Any, int, int | None]]:
        """Yield counts, tokens and unknown tokens of batches of texts."""
        if self.vectorizer is not None:
            for batch in batches:
                counts = self.vectorizer.transform(batch.to_pylist())
                yield counts, int(counts.sum()), None
        elif self.counting is not None:
            yield from count_with_vocabulary(batches, self.vocabulary, self.counting, n_threads)
        else:
            remedy = (
                "load it with vectorizer=, the vectorizer it was fitted with, or use vocabulary_ and transform_counts"
            )
            raise InputError("this model was fitted on counts made elsewhere, so it cannot count texts", remedy=remedy)


def compute_mixtures(D: Any, C: Array, gram: Array, weights: WordWeights | None = None) -> Mixtures:
    """Compute the mixtures of documents D under topics C (V, F); with `weights`, D are counts. No row needs another.

    Weights w ≥ 0 minimize ‖d − Cw‖; shares are w / Σw. At the minimum w·(Cᵀd − CᵀCw) = 0, so
    (‖d‖² − ‖d − Cw‖²) / ‖d‖² is w·Cᵀd / ‖d‖².
    """
    D = to_canonical_csr(D if weights is None else weights.transform(D))
    B = D @ C
    W = solve_nnls(gram, B)
    squares = D.copy()
    squares.data **= 2
    energy = squares @ np.ones(D.shape[1])
    explained = np.divide((B * W).sum(axis=1), energy, out=np.zeros(len(W)), where=energy > 0)
    total = W.sum(axis=1, keepdims=True)
    return Mixtures(np.divide(W, total, out=np.zeros_like(W), where=total > 0), np.clip(explained, 0.0, 1.0))


def iter_mixtures(
    documents: Documents, components: Array, n_threads: int, weights: WordWeights | None = None
) -> Iterator[Mixtures]:
    """Yield the mixtures of each block of documents, in order, under topics (F, V); with `weights`, they are counts."""
    with threadpool_limits(1, user_api="blas"):
        C = np.ascontiguousarray(components.T)
        yield from documents.map_blocks(
            partial(compute_mixtures, C=C, gram=compute_gram(C), weights=weights), n_threads
        )


def collect_mixtures(
    parts: Iterable[Mixtures], shape: tuple[int, int], *, on_disk: bool, add: Callable[[Mixtures], None]
) -> Mixtures:
    """Gather the mixtures of all documents, (N, F), in memory or in a mapped temporary file; `add` sees each part."""
    shares, explained = allocate(shape, on_disk), allocate(shape[:1], on_disk)
    first = 0
    for part in parts:
        rows = slice(first, first + len(part.shares))
        shares[rows], explained[rows] = part
        first = rows.stop
        add(part)
    return Mixtures(shares, explained)


def allocate(shape: tuple[int, ...], on_disk: bool) -> Array:
    """Return an array that is not filled yet; on disk it leaves memory where it is not used."""
    if not on_disk:
        return np.empty(shape)
    with tempfile.TemporaryFile(prefix="anchorless-") as file:  # the mapping keeps it until the array is gone
        return np.memmap(file, dtype=np.float64, mode="w+", shape=shape)


def stack_mixtures(parts: Iterable[Mixtures], n_topics: int) -> Mixtures:
    """Stack the mixtures of several blocks."""
    empty = Mixtures(np.zeros((0, n_topics)), np.zeros(0))
    shares, explained = zip(empty, *parts, strict=True)
    return Mixtures(np.vstack(shares), np.concatenate(explained))
