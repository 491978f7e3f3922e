"""Topics re-estimated from the documents: one nonnegative least squares of the words on the document weights.

The volume problem sees only the span of U; words that U hardly knows come out of it with whatever sign and
overlap the noise left. Given the weights W of the documents, the topics that explain the documents best are
least squares of their own, word by word. That has an error of its own, from the noise in W, which does not
fall with the number of documents; so each word's two estimates are averaged by how well U knows the word.
On exact data nothing changes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anchorless.documents import Array, Documents
from anchorless.weights import block_weights, gram_matrix, nonnegative_least_squares

#: The signal-to-noise ratio of a word at which both estimates count the same.
EVEN_RATIO = 3000.0


def averaged(from_volume: Array, from_documents: Array, ratio: Array) -> Array:
    """Return topics (V, F) that lean to the volume where U knows the word, to the documents where it does not."""
    finite = np.minimum(ratio, 1e300)[:, None]
    trust = finite / (finite + EVEN_RATIO)
    return trust * from_volume + (1.0 - trust) * from_documents


def refined(documents: Documents, C: Array, n_threads: int) -> Array:
    """Minimise ‖D − WCᵀ‖ over C ≥ 0, with W the weights of the documents under the given topics C (V, F).

    Columns are not normalised. A topic that no document uses keeps its words.
    """
    gram = gram_matrix(C)

    def statistics(D: Any) -> tuple[Array, Array]:
        W = block_weights(D, C, gram, alone=False)
        return D.T @ W, W.T @ W

    targets, weight_gram = np.zeros_like(C), np.zeros_like(gram)
    for DW, WW in documents.map_blocks(statistics, n_threads):
        targets += DW
        weight_gram += WW
    used = np.diag(weight_gram) > 1e-12 * np.diag(weight_gram).max()
    result = C.copy()
    inner = (weight_gram + weight_gram.T)[np.ix_(used, used)] / 2
    result[:, used] = nonnegative_least_squares(inner, np.ascontiguousarray(targets[:, used]), n_threads, alone=False)
    return np.where(result.sum(axis=0) > 0, result, C)
