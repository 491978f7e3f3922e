"""RecoverL2 (Arora et al. 2013): topics from anchor words, by least squares over the simplex for every word.

The nearest point of a simplex is the solution of a nonnegative least squares problem (Wolfe): with A' the corners
relative to the point, the u ≥ 0 that minimizes ‖A'u‖² + σ(1·u − 1)² is a multiple of the weights h ≥ 0, 1·h = 1, that
minimize ‖A'h‖². Only inner products are needed, so a word costs F² numbers instead of V.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anchorless._core.nnls import principal_pivoting, split_into_batches
from anchorless._corpus.documents import Array
from anchorless.errors import SolverError

#: The largest duality gap that a solution may have, relative to the squares of the point and the corners.
GAP_TOLERANCE = 1e-9


class SimplexFit(NamedTuple):
    """The nearest points of a simplex."""

    h: Array  # (n, k), rows are nonnegative and sum to one
    distance: Array  # (n,), squared distance of each point
    gap: float  # the largest duality gap, relative to the squares of point and corners


def find_nearest_in_simplex(gram: Array, inner: Array, squares: Array) -> SimplexFit:
    """Minimize ‖x − Ah‖² over h ≥ 0, 1·h = 1, for many points x.

    `gram` is AᵀA (k, k), `inner` holds Aᵀx in rows (n, k), `squares` ‖x‖² (n,).
    """
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
            f"a least squares over anchor words kept a duality gap of {gap:.1e}, because two anchors are too alike",
            remedy="lower {n_components}, or raise {min_df}",
        )
    distance = np.maximum(squares + ((gradient - inner) * h).sum(axis=1), 0.0)
    return SimplexFit(h, distance, gap)


def recover_topics(gram: Array, inner: Array, squares: Array, weight: Array, anchors: npt.NDArray[np.int64]) -> Array:
    """Return topics (V, F), columns not yet normalized, from the anchors' inner products with every word.

    Row v of h is how word v's co-occurrences mix those of the anchors: p(topic | word). With the weight of the word,
    the row sum of P, Bayes' rule gives p(word | topic). Where P has negative entries, weights whose sign differs from
    the topic's total count as zero, and a topic without words is its anchor word.
    """
    joint = find_nearest_in_simplex(gram, inner, squares).h * weight[:, None]
    joint = np.maximum(joint * np.sign(joint.sum(axis=0)), 0.0)
    empty = np.flatnonzero(joint.sum(axis=0) == 0)
    joint[anchors[empty], empty] = 1.0
    return joint
