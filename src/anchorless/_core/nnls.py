"""Document weights: nonnegative least squares in topic space, many right-hand sides at once.

Block principal pivoting (Kim and Park): each row guesses which weights are positive, solves for them
exactly, and exchanges the ones that came out wrong. Rows with equally many positive weights are solved
in one stacked call. No step mixes rows, so a document alone gets the same bits as in a crowd.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from anchorless._corpus.documents import Array, Documents
from anchorless.errors import SolverError

Mask = npt.NDArray[np.bool_]

#: Numbers in the targets of one batch of rows, which stay in the cache.
ENTRIES_PER_BATCH = 2**18
#: Numbers in one stack of systems: bounds the memory.
ENTRIES_PER_STACK = 2**20
#: Full exchanges a row may make without progress before it exchanges one weight at a time.
MAX_STALLED_EXCHANGES = 3
#: Sweeps of coordinate descent before the first exact solution: they find most of the zeros at little cost.
GUESS_SWEEPS = 4
#: Topics whose steps are taken from the rest together.
TOPICS_AT_A_TIME = 32
#: Topics of a group, which wait for each other's steps; what those of other groups change is one product.
TOPICS_IN_A_GROUP = 8
#: Exchanges after which a row is allowed ten times the error.
EXCHANGES_PER_DIGIT = 50
MAX_EXCHANGES = 2_000


def compute_document_weights(documents: Documents, C: Array, n_threads: int) -> Array:
    """Return W (N, F): each row minimises ‖d − Cw‖ over w ≥ 0, for a document d and topics C (V, F)."""
    gram = compute_gram(C)
    return np.vstack(list(documents.map_blocks(lambda D: compute_block_weights(D, C, gram), n_threads)))


def compute_block_weights(D: Any, C: Array, gram: Array) -> Array:
    """Return the weights of one block of documents."""
    return solve_nnls(gram, D @ C)


def compute_gram(C: Array) -> Array:
    """Return CᵀC, exactly symmetric."""
    gram = C.T @ C
    return (gram + gram.T) / 2


def solve_nnls(gram: Array, targets: Array) -> Array:
    """Minimise ½wᵀGw − b·w over w ≥ 0 for each row b of `targets` (n, F); G (F, F) is positive definite."""
    # A unit diagonal makes one tolerance right for all topics, however long their vectors are.
    scale = 1.0 / np.sqrt(np.diag(gram))
    G = scale[:, None] * gram * scale
    W = np.empty_like(targets)
    for batch in iter_row_batches(*targets.shape):
        W[batch] = principal_pivoting(G, targets[batch] * scale) * scale
    return W


def iter_row_batches(n_rows: int, n_topics: int) -> Iterator[slice]:
    """Cut rows into batches."""
    step = max(1, ENTRIES_PER_BATCH // n_topics)
    return (slice(start, start + step) for start in range(0, n_rows, step))


def principal_pivoting(G: Array, B: Array, shift: Array | None = None) -> Array:
    """Solve a batch of rows by exchanging passive (positive) and active (zero) weights until none is wrong.

    With `shift` (n, F), row r has the matrix G + o1ᵀ + 1oᵀ, o its row of `shift`.
    """
    n, n_topics = B.shape
    tolerance = 1e-12 * abs(B).max(axis=1, initial=0.0)
    # Weights are of the size of b over the diagonal: 1 where G is scaled, that of b where rows have a shift.
    smallest = tolerance if shift is None else np.full(n, 1e-12)
    W = np.zeros_like(B)
    passive = B > 0 if shift is not None else guess_passive(G, B)
    least_wrong = np.full(n, n_topics + 1)
    patience = np.full(n, MAX_STALLED_EXCHANGES)
    open_rows = np.flatnonzero(tolerance > 0)
    for exchange in range(MAX_EXCHANGES):
        if len(open_rows) == 0:
            return W
        # Where topics are nearly the same, rounding is larger than the tolerance and a row could go on for ever.
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
    raise SolverError(f"no weights for {len(open_rows)} rows in {MAX_EXCHANGES} exchanges; are two topics the same?")


def guess_passive(G: Array, B: Array) -> Mask:
    """Return which weights are positive after a few sweeps of coordinate descent; G has a unit diagonal."""
    rest, W = B.copy(), np.zeros_like(B)  # rest is b − Gw
    groups = [slice(first, first + TOPICS_AT_A_TIME) for first in range(0, len(G), TOPICS_AT_A_TIME)]
    for group in groups * GUESS_SWEEPS:
        own, near, w = G[group, group], rest[:, group].T.copy(), W[:, group].T.copy()
        steps = np.empty_like(near)  # a row per topic, so that each runs through memory
        for k, step in enumerate(steps):
            np.maximum(near[k], -w[k], out=step)
            near[k + 1 :] -= own[k, k + 1 :, None] * step
        W[:, group] += steps.T
        rest -= multiply_row_by_row(np.ascontiguousarray(steps.T), G[group])
    return W > 0


def multiply_row_by_row(A: Array, G: Array) -> Array:
    """Return the product AG as one small product per row of A: of all at once, rounding would mix the rows."""
    return np.matmul(A[:, None, :], G)[:, 0]


def coordinate_descent(
    gram: Array,
    targets: Array,
    sweeps: int,
    start: Array | None = None,
    order: npt.NDArray[np.intp] | None = None,
) -> Array:
    """Approach the least squares above by sweeps over the topics, one weight at a time, from `start` or zero.

    Topics come in `order`, or in their own. Rows share matrix products, so that their rounding depends on the block
    they are in.
    """
    order = np.arange(len(gram)) if order is None else order
    # With the others given, a weight is best at its entry of b − Gw without the diagonal, over that of the diagonal.
    scale = np.diag(gram)[:, None]
    G = (-gram / scale)[np.ix_(order, order)]
    np.fill_diagonal(G, 0.0)
    # A row per topic: each runs through memory.
    W = np.zeros(targets.shape[::-1]) if start is None else np.ascontiguousarray(start.T[order])
    B = np.ascontiguousarray(targets.T[order])
    B /= scale[order]
    descend(G, B, W, sweeps, from_zero=start is None)
    B[order] = W
    del W  # two arrays of this size are enough
    return np.ascontiguousarray(B.T)


def descend(G: Array, B: Array, W: Array, sweeps: int, *, from_zero: bool) -> None:
    """Set, in sweeps over its rows, each row of W (F, n) to the positive part of its row of B + GW.

    G (F, F) has a zero diagonal. Most of GW is one product for a group of rows; inside it, they wait for each other.
    """
    n_topics = len(G)
    rest_of, new = np.empty((TOPICS_IN_A_GROUP, W.shape[1])), np.empty(W.shape[1])
    for sweep in range(sweeps):
        for first in range(0, n_topics, TOPICS_IN_A_GROUP):
            group = slice(first, first + TOPICS_IN_A_GROUP)
            others, w = G[group].copy(), W[group]
            others[:, group] = 0.0
            known = first if from_zero and sweep == 0 else n_topics  # of the rows behind, all are zero
            rest = np.matmul(others[:, :known], W[:known], out=rest_of[: len(w)])
            rest += B[group]
            for own, b, row in zip(G[group, group], rest, w, strict=True):
                np.matmul(own, w, out=new)
                new += b
                np.maximum(new, 0.0, out=row)


def keep_last(wrong: Mask) -> Mask:
    """Keep only the last True of each row: the exchange rule that cannot go round in circles."""
    last = wrong.shape[1] - 1 - wrong[:, ::-1].argmax(axis=1)
    only = np.zeros_like(wrong)
    only[np.arange(len(wrong)), last] = True
    return only & wrong


def solve_passive(G: Array, B: Array, passive: Mask, shift: Array | None = None) -> tuple[Array, Array]:
    """Return weights with zeros outside `passive` and least squares inside, and the gradient Gw − b."""
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
    """Yield rows with equally many passive weights, and the numbers of these (rows, size)."""
    sizes = passive.sum(axis=1)
    for size in np.unique(sizes[sizes > 0]):
        rows = np.flatnonzero(sizes == size)
        columns = np.nonzero(passive[rows])[1].reshape(len(rows), size)
        step = max(1, ENTRIES_PER_STACK // int(size) ** 2)
        for start in range(0, len(rows), step):
            yield rows[start : start + step], columns[start : start + step]


def solve_stacked(systems: Array, targets: Array) -> Array:
    """Solve systems (n, k, k) for targets (n, k), each as if it were alone."""
    try:
        return np.asarray(np.linalg.solve(systems, targets[:, :, None])[:, :, 0], dtype=np.float64)
    except np.linalg.LinAlgError:  # one singular system stops all
        return np.array([solve_or_split(A, b) for A, b in zip(systems, targets, strict=True)])


def solve_or_split(A: Array, b: Array) -> Array:
    """Solve Ax = b; if columns of A are the same to the last bit, split their weight evenly."""
    try:
        return np.asarray(np.linalg.solve(A, b), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(A, b, rcond=1e-13)[0], dtype=np.float64)
