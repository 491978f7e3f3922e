"""Topics of documents that come in pieces: statistics that add up, in memory that does not grow with the documents.

Kept are, of all documents so far: how many there are, each word's sum of squares and document frequency, and a sketch
of DᵀD: its leading eigenvectors, scaled (V, r). A new piece X is merged into the sketch B by the eigenvectors of
BBᵀ + XᵀX, as a singular value decomposition of both together would; only what lies beyond the leading r
directions is lost. Topics come out of the sketch as they come out of P. They are re-estimated from the new documents
together with the sums DᵀW and WᵀW that the earlier ones left, weighed by the topics of their time.
"""

from __future__ import annotations

from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from anchorless._core.cooccurrence import (
    compute_pair_weights,
    count_nonempty,
    count_with_pairs,
    normalize_pairs,
    solve_from_right,
)
from anchorless._core.nnls import compute_gram
from anchorless._core.refine import (
    EQUAL_ROUNDS,
    LARGEST_FIRST_ROUNDS,
    Sweeps,
    compute_volume_weight,
    order_by_size,
    solve_document_weights,
    solve_word_rows,
)
from anchorless._core.topics import Topics, compute_topic_correlation, compute_topic_shares, to_pmf
from anchorless._corpus.documents import Array, Documents

#: Directions of the sketch: so many per topic, and so many more.
DIRECTIONS_PER_TOPIC, EXTRA_DIRECTIONS = 3, 50
#: Columns beyond those, and steps of the subspace iteration that finds the merged directions.
OVERSAMPLING, SUBSPACE_STEPS = 20, 3


class OnlineStatistics(NamedTuple):
    """What is kept of the documents so far."""

    n_documents: int
    n_informative: int  # documents that hold a word; for the unbiased P, two tokens
    sketch: Array  # B (V, r): DᵀD ≈ BBᵀ
    energy: Array  # (V,), sums of squares
    frequency: Array  # (V,), documents that hold a word
    diagonal: Array | None  # (V,), sum of h / (n(n−1)) for the unbiased P
    targets: Array  # DᵀW (V, F), in the order of the topics
    gram: Array  # WᵀW (F, F)
    unadjusted: Array | None = None  # the sketch of documents as they are, once one of them counts with another length


class SketchCooccurrence:
    """P from the statistics of documents that are gone; a `Cooccurrence`."""

    is_semidefinite = True

    def __init__(self, statistics: OnlineStatistics) -> None:
        self.statistics = statistics
        self.n_words = len(statistics.energy)
        self.n_documents: int | None = statistics.n_informative
        self._n_averaged = statistics.n_documents if statistics.diagonal is None else statistics.n_informative

    def product(self, Q: Array) -> Array:
        """Return P·Q."""
        B, diagonal = self.statistics.sketch, self.statistics.diagonal
        PQ = B @ (B.T @ Q)
        if diagonal is not None:
            PQ -= diagonal[:, None] * Q
        return np.asarray(PQ / self._n_averaged)

    def inner(self, C: Array, R: Array) -> Array:
        """Return QᵀPQ for Q = CR⁻¹, of the documents as they are."""
        Q, whole = solve_from_right(C, R), self.statistics.unadjusted
        if whole is None:
            return Q.T @ self.product(Q)
        BQ = whole.T @ Q
        return np.asarray(BQ.T @ BQ / self._n_averaged)

    def build_gram_operator(self) -> None:
        """Return None: the documents are gone."""

    def energy(self) -> Array:
        """Return the mean square of each word over the documents."""
        return self.statistics.energy / self._n_averaged

    def document_frequency(self) -> Array:
        """Return, for each word, the number of documents that hold it (V,)."""
        return self.statistics.frequency

    def compute_row_squares(self) -> Array:
        """Return the squared length of each row of P."""
        B, diagonal = self.statistics.sketch, self.statistics.diagonal
        squares = np.einsum("ij,jk,ik->i", B, B.T @ B, B)
        if diagonal is not None:
            squares += diagonal**2 - 2 * diagonal * np.einsum("ij,ij->i", B, B)
        return np.asarray(squares / self._n_averaged**2)


def make_empty_statistics(n_topics: int, *, unbiased: bool) -> OnlineStatistics:
    """Return the statistics of no documents."""
    none = np.zeros(0)
    empty = np.zeros((0, DIRECTIONS_PER_TOPIC * n_topics + EXTRA_DIRECTIONS))
    square = np.zeros((n_topics, n_topics))
    return OnlineStatistics(0, 0, empty, none, none, none if unbiased else None, np.zeros((0, n_topics)), square)


def extend_vocabulary(statistics: OnlineStatistics, n_words: int) -> OnlineStatistics:
    """Return the statistics with words that no document held until now, behind the others."""
    more = n_words - len(statistics.energy)

    def padded(values: Array | None) -> Any:
        return None if values is None else np.concatenate([values, np.zeros((more, *values.shape[1:]))])

    names = ("sketch", "energy", "frequency", "diagonal", "targets", "unadjusted")
    return statistics._replace(**{name: padded(getattr(statistics, name)) for name in names})


def update_statistics(
    statistics: OnlineStatistics, documents: Documents, counting: Documents, rng: np.random.Generator, n_threads: int
) -> OnlineStatistics:
    """Return the statistics with further documents; the sums for the topics stay as they are.

    `counting` are the same documents with the lengths that they count with.
    """
    unbiased = statistics.diagonal is not None
    old = extend_vocabulary(statistics, documents.shape[1])
    n_telling = (count_with_pairs if unbiased else count_nonempty)(documents, n_threads)
    D = normalize_pairs(documents, n_threads) if unbiased else counting
    n_words = documents.shape[1]
    frequency = documents.sum_blocks(lambda X: np.bincount(X.indices, minlength=n_words).astype(np.float64), n_threads)
    diagonal = old.diagonal
    if diagonal is not None:
        diagonal = diagonal + documents.sum_blocks(lambda X: X.T @ compute_pair_weights(X), n_threads)
    energy = old.energy + D.sum_blocks(lambda X: X.multiply(X).T @ np.ones(X.shape[0]), n_threads)
    sketch = merge_sketch(old.sketch, D, rng, n_threads)
    sketch[energy == 0] = 0.0  # words without a document: rounding would be taken for something that is well known
    whole = old.unadjusted
    if whole is not None or counting is not documents:
        whole = merge_sketch(old.sketch if whole is None else whole, documents, rng, n_threads)
    return old._replace(
        n_documents=old.n_documents + documents.shape[0],
        n_informative=old.n_informative + n_telling,
        sketch=sketch,
        energy=energy,
        frequency=old.frequency + frequency,
        diagonal=diagonal,
        unadjusted=whole,
    )


def merge_sketch(B: Array, documents: Documents, rng: np.random.Generator, n_threads: int) -> Array:
    """Return the leading directions of BBᵀ + XᵀX, scaled, as many as B (V, r) has; X the documents.

    Subspace iteration from the directions of B and random ones: the new documents are read STEPS + 1 times.
    """
    n_words, size = B.shape
    width = min(n_words, 2 * size + OVERSAMPLING)
    Q = np.hstack([B, rng.standard_normal((n_words, max(0, width - size)))])[:, :width]
    Q = np.linalg.qr(Q / np.maximum(np.linalg.norm(Q, axis=0), np.finfo(float).tiny))[0]
    for _ in range(SUBSPACE_STEPS):
        Q = np.linalg.qr(multiply_merged(B, documents, Q, n_threads))[0]
    inner = Q.T @ multiply_merged(B, documents, Q, n_threads)
    values, vectors = np.linalg.eigh((inner + inner.T) / 2)
    lead = np.argsort(-values, kind="stable")[:size]
    result = np.zeros_like(B)
    result[:, : len(lead)] = (Q @ vectors[:, lead]) * np.sqrt(np.maximum(values[lead], 0.0))
    return result


def multiply_merged(B: Array, documents: Documents, Q: Array, n_threads: int) -> Array:
    """Return (BBᵀ + XᵀX)Q."""
    return B @ (B.T @ Q) + documents.sum_blocks(lambda D: D.T @ (D @ Q), n_threads)


class RefinedTopics(NamedTuple):
    """Topics re-estimated from the new documents and the sums of the earlier ones, and the sums of all."""

    C: Array  # (V, F)
    targets: Array
    gram: Array


def refine_topics_online(
    statistics: OnlineStatistics, documents: Documents, from_volume: Array, ratio: Array, n_threads: int
) -> RefinedTopics:
    """Return topics as `refine.refine_topics` does, over all documents so far: `from_volume` is in the order of the sums."""
    unbiased = statistics.diagonal is not None
    D = normalize_pairs(documents, n_threads) if unbiased else documents
    C = np.ascontiguousarray(to_pmf(from_volume))
    trust = compute_volume_weight(ratio)[:, None]
    targets, gram = statistics.targets, statistics.gram
    size = np.diag(gram) * (C**2).sum(axis=0)
    for sweeps in chain(*(EQUAL_ROUNDS if unbiased else LARGEST_FIRST_ROUNDS)):
        order = order_by_size(size)
        new = compute_document_sums(D, C, order, sweeps, n_threads)
        targets, gram = statistics.targets + new[: len(C)], statistics.gram + new[len(C) :]
        found = solve_word_rows(C, targets, gram, sweeps, order)
        if sweeps.documents != 1:
            size = np.diag(gram) * (C**2).sum(axis=0)
        C = to_pmf(trust * from_volume + (1.0 - trust) * found)
    return RefinedTopics(C, targets, gram)


def compute_document_sums(documents: Documents, C: Array, order: Any, sweeps: Sweeps, n_threads: int) -> Array:
    """Return DᵀW over WᵀW (V + F, F) for documents weighed by sweeps over the topics in this order."""
    gram = compute_gram(C)

    def sums(D: Any) -> Array:
        W = solve_document_weights(gram, D @ C, sweeps, order)
        return np.vstack([D.T @ W, W.T @ W])

    return documents.sum_blocks(sums, n_threads)


def match_columns(C: Array, previous: Array) -> npt.NDArray[np.intp]:
    """Return which column of C (V, F) goes with each column of `previous`, by the largest cosines in total.

    Words that `previous` did not know yet do not count.
    """
    known = C[: len(previous)]
    lengths = np.outer(np.linalg.norm(previous, axis=0), np.linalg.norm(C, axis=0))
    cosine = np.divide(previous.T @ known, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return np.asarray(linear_sum_assignment(-cosine)[1])


def reorder_topics(topics: Topics, order: npt.NDArray[np.intp]) -> Topics:
    """Return the same topics in another order."""
    E = np.ascontiguousarray(topics.E[np.ix_(order, order)])
    C = np.ascontiguousarray(topics.C[:, order])
    return Topics(C, E, compute_topic_shares(E), compute_topic_correlation(E), topics.order[order])
