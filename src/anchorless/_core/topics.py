"""Topics as they are published: probabilities C, moments E, shares and correlations, in a fixed order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anchorless._core.cooccurrence import Cooccurrence
from anchorless._corpus.documents import Array
from anchorless._corpus.sparse import split_range
from anchorless._corpus.threads import call_interruptibly

#: Words in a slice of the topics, which stays in the cache.
ROWS_AT_A_TIME = 4096
#: Probabilities below this share of the topic's largest become zero: rounding leaves such values where the truth is
#: zero, and which words get one depends on the processor.
ROUNDING_SHARE = 1e-10


class Topics(NamedTuple):
    """Topics in their fixed order: by share, largest first."""

    C: Array  # (V, F), columns are probability mass functions over the words
    E: Array  # (F, F), moments of the topic weights: P ≈ CECᵀ
    shares: Array  # (F,), they sum to one
    correlation: Array  # (F, F)
    order: npt.NDArray[np.intp]  # (F,), the column of each topic before they were ordered


def to_pmf(C: Array) -> Array:
    """Return C (V, F) with negative entries set to zero and columns that sum to one."""
    clipped = np.maximum(C, 0.0)
    clipped /= clipped.sum(axis=0)
    return clipped


def compute_negative_mass(C: Array) -> Array:
    """Return the negative mass of each column (F,), which `to_pmf` sets to zero."""
    parts = (np.minimum(C[rows], 0.0).sum(axis=0) for rows in split_range(len(C), ROWS_AT_A_TIME))
    return -sum(parts, start=np.zeros(C.shape[1]))


def compute_moments(P: Cooccurrence, C: Array) -> Array:
    """Return E = (CᵀC)⁻¹CᵀPC(CᵀC)⁻¹ (F, F), the last line of Algorithm 2."""
    R = compute_qr_factor(C)
    inner = P.inner(C, R)
    left = np.linalg.solve(R, (inner + inner.T) / 2)
    E = np.linalg.solve(R, left.T)
    return (E + E.T) / 2


def compute_qr_factor(C: Array) -> Array:
    """Return R (F, F) of C = QR, without forming Q."""
    parts = [np.linalg.qr(C[rows], mode="r") for rows in split_range(len(C), ROWS_AT_A_TIME)]
    return np.asarray(np.linalg.qr(np.vstack(parts), mode="r"), dtype=np.float64)


def compute_topic_shares(E: Array) -> Array:
    """Return each topic's share of the weight of all documents (F,): E1 = E{w·(1ᵀw)}, scaled to sum to one."""
    weight = np.maximum(E.sum(axis=1), 0.0)  # noise or an indefinite P can cause negative sums
    total = weight.sum()
    return weight / total if total > 0 else np.full(len(E), 1.0 / len(E))


def compute_topic_correlation(E: Array) -> Array:
    """Return the correlation of the topic proportions over the documents, from the second moments alone.

    With w the weights of a document and t = 1ᵀw its size, E − (E1)(E1)ᵀ / (1ᵀE1) is the covariance of the proportions
    w/t over documents weighted by t². Proportions sum to one, so F unrelated topics of equal size have −1/(F−1). A
    topic without variance has correlation 0 with the others.
    """
    E = project_semidefinite(E)  # noise or an indefinite P can cause negative eigenvalues
    weight = E.sum(axis=1)
    covariance = E - np.outer(weight, weight) / weight.sum() if weight.sum() > 0 else E
    variance = np.diag(covariance)
    known = variance > 1e-12 * np.diag(E).max(initial=0.0)
    scale = np.where(known, 1.0 / np.sqrt(np.where(known, variance, 1.0)), 0.0)
    correlation = covariance * np.outer(scale, scale)
    correlation[~known, ~known] = 1.0
    # Dividing by a small variance magnifies its rounding error.
    correlation = project_semidefinite((correlation + correlation.T) / 2)
    length = np.sqrt(np.diag(correlation))
    correlation = np.clip(correlation / np.outer(length, length), -1.0, 1.0)
    np.fill_diagonal(correlation, 1.0)
    return (correlation + correlation.T) / 2


def project_semidefinite(A: Array) -> Array:
    """Return the symmetric matrix A with its negative eigenvalues set to zero."""
    values, vectors = np.linalg.eigh(A)
    return (vectors * np.maximum(values, 0.0)) @ vectors.T


def argsort_descending(values: Array) -> npt.NDArray[np.intp]:
    """Return the positions of the values, largest first; ties stay in their order."""
    return np.argsort(-values, kind="stable")


def store_by_topic(C: Array, order: npt.NDArray[np.intp]) -> Array:
    """Return topics C (V, F) in this order as rows, as estimators store them, without rounding noise."""
    by_topic: Array = C.T[order]
    by_topic[by_topic < ROUNDING_SHARE * by_topic.max(axis=1, keepdims=True)] = 0.0
    by_topic /= by_topic.sum(axis=1, keepdims=True)
    return by_topic


def assemble_topics(P: Cooccurrence, C: Array) -> Topics:
    """Return the topics C (V, F) ordered by their sums in E, without rounding noise, and what E says about them."""
    E = compute_moments(P, C)
    order = argsort_descending(E.sum(axis=1))
    by_topic = call_interruptibly(store_by_topic, C, order)
    E = np.ascontiguousarray(E[np.ix_(order, order)])
    return Topics(by_topic.T, E, compute_topic_shares(E), compute_topic_correlation(E), order)
