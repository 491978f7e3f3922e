"""RecoverL2 (Arora et al. 2013): topics from anchor words, by least squares over the simplex for every word.

The nearest point of a simplex is the solution of a nonnegative least squares problem (Wolfe): with A' the vertices
relative to the point, the u ≥ 0 that minimizes ‖A'u‖² + σ(1·u − 1)² is a multiple of the weights h ≥ 0, 1·h = 1, that
minimize ‖A'h‖². Only inner products are needed, so a word costs F² numbers instead of V.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anchorless._core.nnls import principal_pivoting, split_into_batches
from anchorless._corpus.documents import Array
from anchorless.errors import SolverError

#: The largest duality gap that a solution may have, relative to the squares of the point and the vertices.
GAP_TOLERANCE = 1e-9


def find_nearest_in_simplex(gram: Array, inner: Array, squares: Array) -> tuple[Array, Array]:
    """Minimize ‖x − Ah‖² over h ≥ 0, 1·h = 1, given AᵀA (k, k), Aᵀx (n, k) and ‖x‖² (n,); return h and the minima."""
    scale = squares + np.diag(gram).mean()
    h = np.empty_like(inner)
    for batch in split_into_batches(*inner.shape):
        # ⟨a − x, b − x⟩ + σ = ⟨a, b⟩ + o(a) + o(b), with σ the scale of the point
        shift = (squares + scale)[batch, None] / 2 - inner[batch]
        target = np.broadcast_to(scale[batch, None], inner[batch].shape)
        h[batch] = principal_pivoting(gram, np.ascontiguousarray(target), shift)
    h /= h.sum(axis=1, keepdims=True)
    gradient = h @ gram - inner
    gap = float(np.max(((gradient * h).sum(axis=1) - gradient.min(axis=1)) / scale, initial=0.0))
    if gap > GAP_TOLERANCE:
        raise SolverError(
            "the topics could not be computed from the anchor words: two of these words are too alike",
            remedy="lower {n_components}, or raise {min_df}",
            details=f"the duality gap of a least squares over anchor words is {gap:.1e}",
        )
    return h, np.maximum(squares + ((gradient - inner) * h).sum(axis=1), 0.0)


def recover_topics(gram: Array, inner: Array, squares: Array, weight: Array, anchors: npt.NDArray[np.int64]) -> Array:
    """Return topics (V, F), columns not yet normalized, from the anchors' inner products with every word."""
    # Row v of h mixes the anchors' co-occurrences into those of word v: p(topic | word). By Bayes' rule with the
    # weight of the word, the row sum of P, it gives p(word | topic).
    joint = find_nearest_in_simplex(gram, inner, squares)[0] * weight[:, None]
    # Where P has negative entries, weights whose sign differs from the topic's total count as zero.
    joint = np.maximum(joint * np.sign(joint.sum(axis=0)), 0.0)
    empty = np.flatnonzero(joint.sum(axis=0) == 0)
    joint[anchors[empty], empty] = 1.0
    return joint
