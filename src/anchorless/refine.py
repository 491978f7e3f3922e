"""Topics re-estimated from the documents, by rounds of coordinate descent on ‖D − WCᵀ‖² over W ≥ 0 and C ≥ 0.

The volume problem sees only the span of U; words that U hardly knows come out of it with whatever sign and
overlap the noise left. Given the weights W of the documents, the topics that explain the documents best are
least squares of their own, word by word. That has an error of its own, from the noise in W, which does not
fall with the number of documents; so each word's two estimates are averaged by how well U knows the word.
On exact data nothing changes.

In the first rounds a document is weighed by one sweep over the topics, the largest topic first: it takes
all it can explain, and the smaller ones explain what is left. Else a large class of documents is shared out
among its subjects, and small classes get no topic of their own. The last rounds treat all topics alike, which
undoes most of the bias of the first ones where documents are true mixtures. Where the caller says that they are,
with the unbiased P of counts, these are the only ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from anchorless.documents import Array, Documents
from anchorless.topics import as_pmf
from anchorless.weights import coordinate_descent, gram_matrix

#: The signal-to-noise ratio of a word at which both estimates count the same.
EVEN_RATIO = 3000.0
#: Sweeps over the topics in each round: enough that all topics are treated alike.
ALIKE = (12, 12, 12)
#: Rounds of one sweep, in which the largest topics take what they can, and two that treat them nearly alike.
LARGEST_FIRST = (1, 1, 1, 1, 1, 1, 1, 1, 4, 4)


def refined(documents: Documents, from_volume: Array, ratio: Array, rounds: tuple[int, ...], n_threads: int) -> Array:
    """Return topics (V, F), columns that sum to one, from the volume's and the words' signal-to-noise ratios (V,).

    `rounds` has the number of sweeps over the topics that weigh the documents in each round.
    """
    C, _ = as_pmf(from_volume)
    trust = volume_trust(ratio)[:, None]
    if np.all(trust == 1.0):
        return C
    total = documents.add_up(lambda D: np.asarray(D.sum(axis=0)).ravel(), n_threads)
    for sweeps in rounds:
        from_documents = descended(documents, C, sizes(C, total), sweeps, n_threads)
        C, _ = as_pmf(trust * from_volume + (1.0 - trust) * from_documents)
    return C


def volume_trust(ratio: Array) -> Array:
    """Return the share of the volume's estimate in each word: 1 where U knows the word, 0 where it does not (V,)."""
    finite = np.minimum(ratio, 1e300)
    return finite / (finite + EVEN_RATIO)


def sizes(C: Array, total: Array) -> Array:
    """Return how much of all documents, whose sum is `total` (V,), points along each topic (F,)."""
    return (total @ C) / np.linalg.norm(C, axis=0)


def descended(documents: Documents, C: Array, size: Array, sweeps: int, n_threads: int) -> Array:
    """Weigh the documents by `sweeps` over the topics C (V, F), largest first; return C after one sweep on them.

    Columns are not normalised. A topic that no document uses keeps its words.
    """
    order = np.argsort(-size, kind="stable")
    C = np.ascontiguousarray(C[:, order])
    gram, n_words = gram_matrix(C), len(C)

    def statistics(D: Any) -> Array:
        W = coordinate_descent(gram, D @ C, sweeps)
        return np.vstack([D.T @ W, W.T @ W])

    sums = documents.add_up(statistics, n_threads)
    result = np.empty_like(C)
    result[:, order] = one_sweep(C, sums[:n_words], sums[n_words:])
    return result


def one_sweep(C: Array, targets: Array, gram: Array) -> Array:
    """Minimise ½cGcᵀ − b·c for each row of C (V, F) over one topic after the other, from C; b the row of `targets`."""
    used: npt.NDArray[np.bool_] = np.diag(gram) > 1e-12 * np.diag(gram).max()
    scale = np.where(used, np.diag(gram), 1.0)
    result = C.T.copy()
    rest = (targets - C @ gram).T.copy()
    for k in np.flatnonzero(used):
        step = np.maximum(rest[k] / scale[k], -result[k])
        result[k] += step
        rest -= gram[k][:, None] * step
    found = np.ascontiguousarray(result.T)
    return np.where(found.sum(axis=0) > 0, found, C)
