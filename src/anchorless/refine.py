"""Topics re-estimated from the documents, by rounds of coordinate descent on ‖D − WCᵀ‖² over W ≥ 0 and C ≥ 0.

The volume problem sees only the span of U; words that U hardly knows come out of it with whatever sign and
overlap the noise left. Given the weights W of the documents, the topics that explain the documents best are
least squares of their own, word by word. That has an error of its own, from the noise in W, which does not
fall with the number of documents; so each word's two estimates are averaged by how well U knows the word.
On exact data nothing changes.

In some rounds a document is weighed by one sweep over the topics, the largest topic first: it takes all it
can explain, and the smaller ones explain what is left. Else a large class of documents is shared out among its
subjects, and small classes get no topic of their own. A topic is as large as the part of the documents that it
explained in the last round that treated all topics alike. Such rounds come between, and at the end, where
they undo most of the bias of the others where documents are true mixtures. Where the caller says that they are,
with the unbiased P of counts, these are the only ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from anchorless.documents import Array, Documents
from anchorless.progress import steps
from anchorless.topics import as_pmf
from anchorless.weights import coordinate_descent, gram_matrix, nonnegative_least_squares

#: The signal-to-noise ratio of a word at which both estimates count the same.
EVEN_RATIO = 3000.0
#: Instead of a number of sweeps: least squares solved to the end. On true mixtures a few sweeps are not enough.
EXACTLY = 0
#: Sweeps over the topics in each round.
ALIKE = (EXACTLY, EXACTLY, EXACTLY)
#: Rounds of one sweep, in which the largest topics take what they can, between rounds that treat them nearly alike.
LARGEST_FIRST = (4, 4, 4, 1, 1, 1, 1, 1, 1, 4, 4)

Order = npt.NDArray[np.intp]


def refined(documents: Documents, from_volume: Array, ratio: Array, rounds: tuple[int, ...], n_threads: int) -> Array:
    """Return topics (V, F), columns that sum to one, from the volume's and the words' signal-to-noise ratios (V,).

    `rounds` has the number of sweeps over the topics that weigh the documents in each round.
    """
    C, _ = as_pmf(from_volume)
    trust = volume_trust(ratio)[:, None]
    if np.all(trust == 1.0):
        return C
    total = documents.add_up(lambda D: np.asarray(D.sum(axis=0)).ravel(), n_threads)
    order = largest_first((total @ C) / np.linalg.norm(C, axis=0))
    for sweeps in steps("refinement", rounds, len(rounds)):
        from_documents, size = descended(documents, C, order, sweeps, n_threads)
        if sweeps != 1:
            order = largest_first(size)
        C, _ = as_pmf(trust * from_volume + (1.0 - trust) * from_documents)
    return C


def largest_first(size: Array) -> Order:
    """Return the order of the topics by size."""
    return np.argsort(-size, kind="stable")


def volume_trust(ratio: Array) -> Array:
    """Return the share of the volume's estimate in each word: 1 where U knows the word, 0 where it does not (V,)."""
    finite = np.minimum(ratio, 1e300)
    return finite / (finite + EVEN_RATIO)


def descended(documents: Documents, C: Array, order: Order, sweeps: int, n_threads: int) -> tuple[Array, Array]:
    """Weigh the documents by `sweeps` over the topics C (V, F) in this order; return C after one sweep on them.

    With EXACTLY, both are least squares solved to the end. Columns are not normalised. A topic that no document
    uses keeps its words. Also returned: the sum of squares of each topic's part of the documents (F,).
    """
    C = np.ascontiguousarray(C[:, order])
    gram, n_words = gram_matrix(C), len(C)

    def statistics(D: Any) -> Array:
        W = coordinate_descent(gram, D @ C, sweeps) if sweeps else nonnegative_least_squares(gram, D @ C)
        return np.vstack([D.T @ W, W.T @ W])

    sums = documents.add_up(statistics, n_threads)
    found, size = np.empty_like(C), np.empty(len(gram))
    fit_words = one_sweep if sweeps else least_squares
    found[:, order] = fit_words(C, sums[:n_words], sums[n_words:])
    size[order] = np.diag(sums[n_words:]) * np.diag(gram)
    return found, size


def one_sweep(C: Array, targets: Array, gram: Array) -> Array:
    """Minimise ½cGcᵀ − b·c for each row of C (V, F) over one topic after the other, from C; b the row of `targets`."""
    used = used_topics(gram)
    scale = np.where(used, np.diag(gram), 1.0)
    result = C.T.copy()
    rest = (targets - C @ gram).T.copy()
    for k in np.flatnonzero(used):
        step = np.maximum(rest[k] / scale[k], -result[k])
        result[k] += step
        rest -= gram[k][:, None] * step
    found = np.ascontiguousarray(result.T)
    return np.where(found.sum(axis=0) > 0, found, C)


def least_squares(C: Array, targets: Array, gram: Array) -> Array:
    """Minimise the same over all topics at once, to the end."""
    used = used_topics(gram)
    found = C.copy()
    inner = (gram + gram.T)[np.ix_(used, used)] / 2
    found[:, used] = nonnegative_least_squares(inner, np.ascontiguousarray(targets[:, used]))
    return np.where(found.sum(axis=0) > 0, found, C)


def used_topics(gram: Array) -> npt.NDArray[np.bool_]:
    """Return which topics any document uses, by the sums of squares of their weights."""
    return np.asarray(np.diag(gram) > 1e-12 * np.diag(gram).max())
