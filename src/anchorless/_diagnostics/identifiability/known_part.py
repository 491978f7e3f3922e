"""The words and zeros of topics that documents give enough evidence for.

A zero is what makes topics unique, and a fit makes zeros by chance: it sets negative estimates to zero. So a zero
counts only if the documents could have told it from a small probability.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anchorless._core.topics import compute_qr_factor, compute_topic_shares
from anchorless._corpus.documents import Array
from anchorless._diagnostics.identifiability.anchor_words import find_common_words

#: Standard errors up to which a probability that was estimated as zero may lie above zero.
ZERO_ERRORS = 2.0
#: A zero is known if it can be told from a probability of this share of the word's mean over the topics.
KNOWN_ZERO_SHARE = 0.5


class KnownPart(NamedTuple):
    """Topics of documents as far as there is enough evidence for them: n words in enough documents."""

    words: npt.NDArray[np.bool_]  # (V,), which these are
    C: Array  # (n, F), columns of sum one, with zeros only where these are known
    loosest: Array  # (n, F), columns of sum one: no zero is certain, all are as large as their errors allow
    mass: Array  # (F,), sums of the columns of `loosest` before they were scaled
    errors: Array  # (n, F), standard errors of C


def select_known_part(
    C: Array, E: Array | None, documents: Array | None, word_noise: Array | None, noise: float
) -> KnownPart | None:
    """Return the part of topics C (V, F) with moments E (F, F) that has enough evidence; None for exact topics.

    `documents` (V,) contain each word; `word_noise` (V,) and `noise` are those of `compute_errors`. What is not known
    is None, and topics of which neither is known are exact.
    """
    words = find_common_words(C, documents)
    if not C[words].any(axis=0).all():  # a topic has only rare words, whose zeros are hardly ever known
        words = find_common_words(C, None)
    if word_noise is not None and E is not None:
        errors = compute_errors(C, E, word_noise, noise)
    elif documents is not None:
        errors = compute_sampling_errors(C, documents)
    else:
        return None
    shares = np.full(C.shape[1], 1.0 / C.shape[1]) if E is None else compute_topic_shares(E)
    known, loosest = (fill_zeros(C, errors, shares, certain)[words] for certain in (KNOWN_ZERO_SHARE, 0.0))
    total, mass = known.sum(axis=0), loosest.sum(axis=0)
    return KnownPart(words, known / total, loosest / mass, mass, errors[words] / total)


def compute_errors(C: Array, E: Array, word_noise: Array, noise: float) -> Array:
    """Return the standard error of each probability of C (V, F), as in a regression of the documents on their topics.

    A word is Cw plus a rest, with weights w of moments E (F, F): its row has the covariance `word_noise`·E⁻¹, where
    `word_noise` (V,) is the mean square of the rest over the number of documents. Part of E is noise itself: an
    eigenvalue `noise` times as large as the first, which is subtracted from all.
    """
    R = compute_qr_factor(C)
    values, vectors = np.linalg.eigh(R @ E @ R.T)
    signal = values - noise * values[-1]
    found = signal > 0
    parts = (vectors.T @ R) ** 2
    variance = np.where(parts[~found].any(axis=0), np.inf, (1.0 / signal[found]) @ parts[found])
    return np.sqrt(np.where(word_noise[:, None] > 0, np.maximum(word_noise, 1e-300)[:, None] * variance, 0.0))


def compute_sampling_errors(C: Array, documents: Array) -> Array:
    """Return the standard error of each probability of C (V, F): that of its share of the word's documents (V,)."""
    total = C.sum(axis=1, keepdims=True)
    part = np.divide(C, total, out=np.zeros_like(C), where=total > 0)
    seen = np.maximum(documents, 1.0)[:, None]
    return np.asarray(total * np.sqrt(np.maximum(part * seen, 1.0)) / seen)


def fill_zeros(C: Array, errors: Array, shares: Array, certain: float) -> Array:
    """Return C (V, F) with probabilities that are zero within their errors raised to the largest that these allow.

    That is at most the word's mean over topics of these shares (F,). A zero, which is a constraint on the other topics,
    stays one if the largest is no more than the share `certain` of that mean: if it is known.
    """
    mean = (C @ shares)[:, None]
    most = np.minimum(ZERO_ERRORS * errors, mean)
    is_known = most <= certain * mean
    return np.where(is_known, C, np.maximum(C, most))
