"""From a point of the volume problem to what is shown: topics C, moments E, shares and correlations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anchorless._core.cooccurrence import Cooccurrence
from anchorless._corpus.documents import Array
from anchorless._corpus.sparse import split_range

#: Words in a slice of the topics.
ROWS_AT_A_TIME = 4096


class Topics(NamedTuple):
    """Topics in their fixed order: by share, largest first."""

    C: Array  # (V, F), columns are probability mass functions over the words
    E: Array  # (F, F), moments of the topic weights: P ≈ CECᵀ
    shares: Array  # (F,), they sum to one
    correlation: Array  # (F, F)
    order: npt.NDArray[np.intp]  # (F,), where each topic stood before


def to_pmf(C: Array) -> Array:
    """Clip the columns of C to nonnegative and let them sum to one."""
    clipped = np.maximum(C, 0.0)
    clipped /= clipped.sum(axis=0)
    return clipped


def compute_negative_mass(C: Array) -> Array:
    """Return the mass that `to_pmf` clips from each column (F,)."""
    parts = (np.minimum(C[rows], 0.0).sum(axis=0) for rows in split_range(len(C), ROWS_AT_A_TIME))
    return -sum(parts, start=np.zeros(C.shape[1]))


def compute_moments(P: Cooccurrence, C: Array) -> Array:
    """Return E = (CᵀC)⁻¹CᵀPC(CᵀC)⁻¹, the last line of Algorithm 2."""
    R = compute_qr_factor(C)
    inner = P.inner(C, R)
    left = np.linalg.solve(R, (inner + inner.T) / 2)
    E = np.linalg.solve(R, left.T)
    return (E + E.T) / 2


def compute_qr_factor(C: Array) -> Array:
    """Return R (F, F) of C = QR, Q with orthonormal columns that are never formed."""
    # Of slices first, which stay in the cache.
    parts = [np.linalg.qr(C[rows], mode="r") for rows in split_range(len(C), ROWS_AT_A_TIME)]
    return np.asarray(np.linalg.qr(np.vstack(parts), mode="r"), dtype=np.float64)


def compute_topic_shares(E: Array) -> Array:
    """Return each topic's share of the weight of all documents: E1, which is E{w·(1ᵀw)}, to sum one.

    Negative sums, which noise or an indefinite P can give, count as zero.
    """
    weight = np.maximum(E.sum(axis=1), 0.0)
    total = weight.sum()
    return weight / total if total > 0 else np.full(len(E), 1.0 / len(E))


def compute_topic_correlation(E: Array) -> Array:
    """Return the correlation of the topic proportions over the documents, from the second moments alone.

    With w the weights of a document and t = 1ᵀw its size, E − (E1)(E1)ᵀ / (1ᵀE1) is the covariance of the
    proportions w/t over documents that count with t². It is scaled to a unit diagonal. Proportions sum to
    one, so two topics are always at −1, and F unrelated topics of equal size at −1/(F−1). Where noise or an
    indefinite P left E with negative eigenvalues, these are set to zero first, so that the result is positive
    semidefinite. A topic without variance has correlation 0 with the others.
    """
    E = project_semidefinite(E)
    weight = E.sum(axis=1)
    covariance = E - np.outer(weight, weight) / weight.sum() if weight.sum() > 0 else E
    variance = np.diag(covariance)
    known = variance > 1e-12 * np.diag(E).max(initial=0.0)
    scale = np.where(known, 1.0 / np.sqrt(np.where(known, variance, 1.0)), 0.0)
    correlation = covariance * np.outer(scale, scale)
    correlation[~known, ~known] = 1.0
    # Scaling up a small variance scales up its rounding error.
    correlation = project_semidefinite((correlation + correlation.T) / 2)
    length = np.sqrt(np.diag(correlation))
    correlation = np.clip(correlation / np.outer(length, length), -1.0, 1.0)
    np.fill_diagonal(correlation, 1.0)
    return (correlation + correlation.T) / 2


def project_semidefinite(A: Array) -> Array:
    """Return the symmetric matrix A with its negative eigenvalues set to zero."""
    values, vectors = np.linalg.eigh(A)
    return (vectors * np.maximum(values, 0.0)) @ vectors.T


def argsort_by_share(E: Array) -> npt.NDArray[np.intp]:
    """Return the order of the topics: by E1, largest first; ties keep their place."""
    return np.argsort(-E.sum(axis=1), kind="stable")


def assemble_topics(P: Cooccurrence, C: Array) -> Topics:
    """Return the topics C (V, F) in their order, with moments, shares and correlations."""
    E = compute_moments(P, C)
    order = argsort_by_share(E)
    # By topic, as they are stored: a copy less.
    C, E = C.T[order].T, np.ascontiguousarray(E[np.ix_(order, order)])
    return Topics(C, E, compute_topic_shares(E), compute_topic_correlation(E), order)
