"""Topics of documents that arrive in batches, in memory that does not grow with the number of documents.

A sketch B (V, r) of DᵀD, its leading eigenvectors, scaled, takes the place of P. A new batch X is merged into it by the
eigenvectors of BBᵀ + XᵀX; only what lies beyond the leading r directions is lost. Topics are refined with the new
documents and the sums DᵀW and WᵀW of earlier batches, whose weights W belong to the topics of their time.
"""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from anchorless._core.cooccurrence import (
    Cooccurrence,
    count_informative,
    normalize_pairs,
    solve_from_right,
    sum_self_pairs,
)
from anchorless._core.nnls import compute_gram
from anchorless._core.products import DocumentProducts
from anchorless._core.refine import (
    EQUAL_ROUNDS,
    LARGEST_FIRST_ROUNDS,
    compute_volume_weight,
    solve_document_weights,
    solve_word_rows,
)
from anchorless._core.topics import Topics, argsort_descending, compute_topic_correlation, compute_topic_shares, to_pmf
from anchorless._corpus.documents import Array, Documents, compute_word_sums
from anchorless._corpus.threads import ThreadTeam

#: Directions of the sketch: this many per topic, and this many more.
DIRECTIONS_PER_TOPIC, EXTRA_DIRECTIONS = 3, 50
#: Extra columns and steps of the subspace iteration that merges a batch.
OVERSAMPLING, SUBSPACE_STEPS = 20, 3


class OnlineStatistics(NamedTuple):
    """Statistics of all documents so far."""

    n_documents: int
    n_informative: int  # documents with a word, or for the unbiased P with two tokens
    sketch: Array  # B (V, r): DᵀD ≈ BBᵀ
    energy: Array  # (V,), sums of squares
    frequency: Array  # (V,), documents that contain each word
    diagonal: Array | None  # (V,), sum of h / (n(n−1)) for the unbiased P
    targets: Array  # DᵀW (V, F), in the order of the topics
    gram: Array  # WᵀW (F, F)
    unadjusted: Array | None = None  # the sketch of documents as they are, once adjusted lengths differ from theirs


class SketchCooccurrence(Cooccurrence):
    """P from the statistics of documents that are no longer there."""

    is_semidefinite = True

    def __init__(self, statistics: OnlineStatistics) -> None:
        self.statistics = statistics
        self.n_words = len(statistics.energy)
        self.n_documents: int | None = statistics.n_informative
        self._n_averaged = statistics.n_documents if statistics.diagonal is None else statistics.n_informative

    def product(self, Q: Array) -> Array:
        """Return P·Q (V, p)."""
        B, diagonal = self.statistics.sketch, self.statistics.diagonal
        PQ = B @ (B.T @ Q)
        if diagonal is not None:
            PQ -= diagonal[:, None] * Q
        return np.asarray(PQ / self._n_averaged)

    def inner(self, C: Array, R: Array) -> Array:
        """Return QᵀPQ for Q = CR⁻¹, of the documents as they are."""
        if self.statistics.unadjusted is None:
            return super().inner(C, R)
        BQ = self.statistics.unadjusted.T @ solve_from_right(C, R)
        return np.asarray(BQ.T @ BQ / self._n_averaged)

    def energy(self) -> Array:
        """Return the mean square of each word over the documents (V,)."""
        return self.statistics.energy / self._n_averaged

    def document_frequency(self) -> Array:
        """Return the number of documents that contain each word (V,)."""
        return self.statistics.frequency


def make_empty_statistics(n_topics: int, *, unbiased: bool) -> OnlineStatistics:
    """Return the statistics of no documents."""
    none = np.zeros(0)
    empty = np.zeros((0, DIRECTIONS_PER_TOPIC * n_topics + EXTRA_DIRECTIONS))
    square = np.zeros((n_topics, n_topics))
    return OnlineStatistics(0, 0, empty, none, none, none if unbiased else None, np.zeros((0, n_topics)), square)


def extend_vocabulary(statistics: OnlineStatistics, n_words: int) -> OnlineStatistics:
    """Return the statistics with new words after the others, which no document contained so far."""
    more = n_words - len(statistics.energy)

    def pad(values: Array | None) -> Any:
        return None if values is None else np.pad(values, [(0, more)] + [(0, 0)] * (values.ndim - 1))

    by_word = ("sketch", "energy", "frequency", "diagonal", "targets", "unadjusted")
    return statistics._replace(**{name: pad(getattr(statistics, name)) for name in by_word})


def update_statistics(
    statistics: OnlineStatistics, documents: Documents, adjusted: Documents, rng: np.random.Generator, n_threads: int
) -> OnlineStatistics:
    """Return the statistics with further documents added, also `adjusted` in length; sums for topics do not change."""
    unbiased = statistics.diagonal is not None
    old = extend_vocabulary(statistics, documents.shape[1])
    D = normalize_pairs(documents, n_threads) if unbiased else adjusted
    sums = compute_word_sums(D, n_threads)
    energy = old.energy + sums.squares
    sketch = merge_sketch(old.sketch, D, rng, n_threads)
    sketch[energy == 0] = 0.0  # words without a document: their rounding errors would look reliable
    unadjusted = old.unadjusted
    if unadjusted is not None or adjusted is not documents:
        unadjusted = merge_sketch(old.sketch if unadjusted is None else unadjusted, documents, rng, n_threads)
    return old._replace(
        n_documents=old.n_documents + documents.shape[0],
        n_informative=old.n_informative + count_informative(documents, n_threads, unbiased=unbiased),
        sketch=sketch,
        energy=energy,
        frequency=old.frequency + sums.frequency,
        diagonal=None if old.diagonal is None else old.diagonal + sum_self_pairs(documents, n_threads),
        unadjusted=unadjusted,
    )


def merge_sketch(B: Array, documents: Documents, rng: np.random.Generator, n_threads: int) -> Array:
    """Return the r leading directions of BBᵀ + XᵀX, scaled, for a sketch B (V, r) and documents X."""

    def multiply(Q: Array) -> Array:
        return B @ (B.T @ Q) + documents.sum_blocks(lambda D: D.T @ (D @ Q), n_threads)

    n_words, size = B.shape
    width = min(n_words, 2 * size + OVERSAMPLING)
    Q = np.hstack([B, rng.standard_normal((n_words, max(0, width - size)))])[:, :width]
    Q = np.linalg.qr(Q / np.maximum(np.linalg.norm(Q, axis=0), np.finfo(float).tiny))[0]
    for _ in range(SUBSPACE_STEPS):
        Q = np.linalg.qr(multiply(Q))[0]
    inner = Q.T @ multiply(Q)
    values, vectors = np.linalg.eigh((inner + inner.T) / 2)
    lead = argsort_descending(values)[:size]
    result = np.zeros_like(B)
    result[:, : len(lead)] = (Q @ vectors[:, lead]) * np.sqrt(np.maximum(values[lead], 0.0))
    return result


def refine_topics_online(
    statistics: OnlineStatistics, documents: Documents, from_volume: Array, ratio: Array, n_threads: int
) -> tuple[Array, OnlineStatistics]:
    """Refine topics as `refine.refine_topics` does, over all documents so far; return them and the new statistics.

    The columns of `from_volume` (V, F) are in the order of the sums; `ratio` (V,) as there.
    """
    unbiased = statistics.diagonal is not None
    D = normalize_pairs(documents, n_threads) if unbiased else documents
    products = DocumentProducts(D, ThreadTeam(n_threads))
    C = np.ascontiguousarray(to_pmf(from_volume))
    volume_weight = compute_volume_weight(ratio)[:, None]
    targets, gram = statistics.targets, statistics.gram
    size = np.diag(gram) * (C**2).sum(axis=0)
    for sweeps in chain(*(EQUAL_ROUNDS if unbiased else LARGEST_FIRST_ROUNDS)):
        order = argsort_descending(size)
        solve_weights = partial(solve_document_weights, compute_gram(C), sweeps=sweeps, order=order)
        new_targets, new_gram = products.sum_statistics(C, solve_weights)
        targets, gram = statistics.targets + new_targets, statistics.gram + new_gram
        found = solve_word_rows(C, targets, gram, sweeps, order)
        if sweeps.documents != 1:
            size = np.diag(gram) * (C**2).sum(axis=0)
        C = to_pmf(volume_weight * from_volume + (1.0 - volume_weight) * found)
    return C, statistics._replace(targets=targets, gram=gram)


def match_columns(C: Array, previous: Array) -> npt.NDArray[np.intp]:
    """Return the column of C (V, F) that matches each of `previous`, by the cosines over the words of `previous`."""
    known = C[: len(previous)]
    lengths = np.outer(np.linalg.norm(previous, axis=0), np.linalg.norm(C, axis=0))
    cosine = np.divide(previous.T @ known, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return np.asarray(linear_sum_assignment(-cosine)[1])


def reorder_topics(topics: Topics, order: npt.NDArray[np.intp]) -> Topics:
    """Return the topics in another order."""
    E = np.ascontiguousarray(topics.E[np.ix_(order, order)])
    C = np.ascontiguousarray(topics.C[:, order])
    return Topics(C, E, compute_topic_shares(E), compute_topic_correlation(E), topics.order[order])
