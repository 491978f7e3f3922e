"""Nonnegative least squares for many right-hand sides: the topic weights of documents.

Block principal pivoting (Kim and Park): guess which weights of a row are positive, solve for these exactly, and
exchange those that have the wrong sign. Rows with equally many positive weights are solved in one stacked call. No
step of `solve_nnls` mixes rows, so a document gets the same bits alone and in a batch.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from anchorless._corpus.documents import Array, Documents
from anchorless._corpus.sparse import split_range
from anchorless.errors import SolverError

Mask = npt.NDArray[np.bool_]

#: Entries in the targets of one batch of rows, which stays in the cache.
ENTRIES_PER_BATCH = 2**18
#: Entries in one stack of systems: bounds the memory.
ENTRIES_PER_STACK = 2**20
#: Exchanges of all wrong weights that a row may make without progress before it exchanges one at a time.
MAX_STALLED_EXCHANGES = 3
#: Sweeps of coordinate descent before the first exact solution: they find most of the zeros at little cost.
GUESS_SWEEPS = 4
#: Topics whose steps are subtracted from the residual in one product.
TOPICS_AT_A_TIME = 32
#: Topics in a group. Within it, each step depends on the one before; the effect of other groups is one product.
TOPICS_IN_A_GROUP = 8
#: Exchanges after which ten times the error is allowed.
EXCHANGES_PER_DIGIT = 50
MAX_EXCHANGES = 2_000


def compute_document_weights(documents: Documents, C: Array, n_threads: int) -> Array:
    """Return W (N, F): each row minimizes ‖d − Cw‖ over w ≥ 0, for a document d and topics C (V, F)."""
    gram = compute_gram(C)
    return np.vstack(list(documents.map_blocks(lambda D: solve_nnls(gram, D @ C), n_threads)))


def compute_gram(C: Array) -> Array:
    """Return CᵀC (F, F), exactly symmetric."""
    gram = C.T @ C
    return (gram + gram.T) / 2


def solve_nnls(gram: Array, targets: Array) -> Array:
    """Minimize ½wᵀGw − b·w over w ≥ 0 for each row b of `targets` (n, F); G (F, F) is positive definite."""
    # With a unit diagonal, one tolerance is right for all topics, however long their vectors are.
    scale = 1.0 / np.sqrt(np.diag(gram))
    G = scale[:, None] * gram * scale
    W = np.empty_like(targets)
    for batch in split_into_batches(*targets.shape):
        W[batch] = principal_pivoting(G, targets[batch] * scale) * scale
    return W


def split_into_batches(n_rows: int, n_topics: int) -> list[slice]:
    """Return slices of rows whose targets stay in the cache."""
    return split_range(n_rows, max(1, ENTRIES_PER_BATCH // n_topics))


def principal_pivoting(G: Array, B: Array, shift: Array | None = None) -> Array:
    """Solve rows B (n, F) by exchanging positive and zero weights until none is wrong."""
    # With `shift` (n, F), row r has the matrix G + o1ᵀ + 1oᵀ, o its row of `shift`.
    n, n_topics = B.shape
    tolerance = 1e-12 * abs(B).max(axis=1, initial=0.0)
    # Weights have the size of b over the diagonal, which is 1 where G is scaled, and that of b where rows have a shift.
    smallest = tolerance if shift is None else np.full(n, 1e-12)
    W = np.zeros_like(B)
    passive = B > 0 if shift is not None else guess_passive(G, B)
    least_wrong = np.full(n, n_topics + 1)
    patience = np.full(n, MAX_STALLED_EXCHANGES)
    open_rows = np.flatnonzero(tolerance > 0)
    for exchange in range(MAX_EXCHANGES):
        if len(open_rows) == 0:
            return W
        # Where topics are nearly the same, rounding exceeds the tolerance, and a row could exchange for ever.
        slack = 10.0 ** (exchange // EXCHANGES_PER_DIGIT)
        w, gradient = solve_passive(G, B[open_rows], passive[open_rows], None if shift is None else shift[open_rows])
        least, limit = slack * smallest[open_rows, None], slack * tolerance[open_rows, None]
        wrong = np.where(passive[open_rows], w < -least, gradient < -limit)
        n_wrong = wrong.sum(axis=1)
        done = n_wrong == 0
        W[open_rows[done]] = np.maximum(w[done], 0.0)
        open_rows, wrong, n_wrong = open_rows[~done], wrong[~done], n_wrong[~done]
        progress = n_wrong < least_wrong[open_rows]
        patience[open_rows] = np.where(progress, MAX_STALLED_EXCHANGES, patience[open_rows] - 1)
        least_wrong[open_rows] = np.minimum(least_wrong[open_rows], n_wrong)
        passive[open_rows] ^= np.where((patience[open_rows] >= 0)[:, None], wrong, keep_last(wrong))
    raise SolverError(
        f"the shares of the topics in {len(open_rows)} documents could not be computed: two topics may be the same",
        remedy="lower {n_components}",
        details=f"principal pivoting did not end after {MAX_EXCHANGES} exchanges",
    )


def guess_passive(G: Array, B: Array) -> Mask:
    """Return which weights are positive after a few sweeps of coordinate descent; G has a unit diagonal."""
    residual, W = B.copy(), np.zeros_like(B)  # b − Gw
    for group in split_range(len(G), TOPICS_AT_A_TIME) * GUESS_SWEEPS:
        own, near, w = G[group, group], residual[:, group].T.copy(), W[:, group].T.copy()
        steps = np.empty_like(near)  # a row per topic, contiguous
        for k, step in enumerate(steps):
            np.maximum(near[k], -w[k], out=step)
            near[k + 1 :] -= own[k, k + 1 :, None] * step
        W[:, group] += steps.T
        residual -= multiply_row_by_row(np.ascontiguousarray(steps.T), G[group])
    return W > 0


def multiply_row_by_row(A: Array, G: Array) -> Array:
    """Return AG as one product per row of A: in one product, the rounding of a row depends on the number of rows."""
    return np.matmul(A[:, None, :], G)[:, 0]


def coordinate_descent(
    gram: Array, targets: Array, sweeps: int, start: Array | None = None, order: npt.NDArray[np.intp] | None = None
) -> Array:
    """Approximate `solve_nnls` by sweeps over the topics in `order`, from `start` (n, F) or zero."""
    # Rows share matrix products, so their rounding depends on the block they are in.
    order = np.arange(len(gram)) if order is None else order
    # Given the others, the best weight is its entry of b − Gw without the diagonal, divided by that of the diagonal.
    scale = np.diag(gram)[:, None]
    G = (-gram / scale)[np.ix_(order, order)]
    np.fill_diagonal(G, 0.0)
    # One row per topic, so that each is contiguous.
    W = np.zeros(targets.shape[::-1]) if start is None else np.ascontiguousarray(start.T[order])
    B = np.ascontiguousarray(targets.T[order])
    B /= scale[order]
    descend(G, B, W, sweeps, from_zero=start is None)
    B[order] = W
    del W  # so that only two arrays of this size exist
    return np.ascontiguousarray(B.T)


def descend(G: Array, B: Array, W: Array, sweeps: int, *, from_zero: bool) -> None:
    """Set, in sweeps, each row of W (F, n) to the positive part of its row of B + GW; the diagonal of G is zero."""
    # Most of GW is one product for a group of rows; inside the group, rows go one by one.
    n_topics = len(G)
    buffer, new = np.empty((TOPICS_IN_A_GROUP, W.shape[1])), np.empty(W.shape[1])
    for sweep in range(sweeps):
        for group in split_range(n_topics, TOPICS_IN_A_GROUP):
            others, w = G[group].copy(), W[group]
            others[:, group] = 0.0
            n_nonzero = group.start if from_zero and sweep == 0 else n_topics  # all later rows are still zero
            best = np.matmul(others[:, :n_nonzero], W[:n_nonzero], out=buffer[: len(w)])
            best += B[group]
            for own, b, row in zip(G[group, group], best, w, strict=True):
                np.matmul(own, w, out=new)
                new += b
                np.maximum(new, 0.0, out=row)


def keep_last(wrong: Mask) -> Mask:
    """Keep only the last True of each row: the exchange rule that cannot cycle."""
    last = wrong.shape[1] - 1 - wrong[:, ::-1].argmax(axis=1)
    only = np.zeros_like(wrong)
    only[np.arange(len(wrong)), last] = True
    return only & wrong


def solve_passive(G: Array, B: Array, passive: Mask, shift: Array | None = None) -> tuple[Array, Array]:
    """Return weights (n, F), zero outside `passive` and least squares inside, and the gradient Gw − b."""
    W = np.zeros_like(B)
    for rows, columns in iter_equal_sizes(passive):
        systems = np.take(G, columns[:, :, None] * len(G) + columns[:, None, :])
        places = rows[:, None] * len(G) + columns
        if shift is not None:
            own = np.take(shift, places)
            systems += own[:, :, None] + own[:, None, :]
        np.put(W, places, solve_stacked(systems, np.take(B, places)))
    gradient = multiply_row_by_row(W, G) - B
    if shift is not None:
        gradient += shift * W.sum(axis=1, keepdims=True) + (shift * W).sum(axis=1, keepdims=True)
    return W, gradient


def iter_equal_sizes(passive: Mask) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """Yield rows with equally many passive weights, and the topics of these weights (rows, size)."""
    sizes = passive.sum(axis=1)
    for size in np.unique(sizes[sizes > 0]):
        rows = np.flatnonzero(sizes == size)
        columns = np.nonzero(passive[rows])[1].reshape(len(rows), size)
        for stack in split_range(len(rows), max(1, ENTRIES_PER_STACK // int(size) ** 2)):
            yield rows[stack], columns[stack]


def solve_stacked(systems: Array, targets: Array) -> Array:
    """Solve systems (n, k, k) for targets (n, k), each by itself; columns equal to the last bit share their weight."""
    try:
        return np.asarray(np.linalg.solve(systems, targets[:, :, None])[:, :, 0], dtype=np.float64)
    except np.linalg.LinAlgError:  # one singular system fails the whole stack
        if len(systems) == 1:
            return np.asarray(np.linalg.lstsq(systems[0], targets[0], rcond=1e-13)[0], dtype=np.float64)[None]
        return np.vstack([solve_stacked(systems[[i]], targets[[i]]) for i in range(len(systems))])
