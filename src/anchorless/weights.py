"""Document weights: nonnegative least squares in topic space, many right-hand sides at once.

Block principal pivoting (Kim and Park): each row guesses which weights are positive, solves for them
exactly, and exchanges the ones that came out wrong. Rows with equally many positive weights are solved
in one stacked call. No step mixes rows, so a document alone gets the same bits as in a crowd.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg.blas import dgemm, dger

from anchorless.documents import Array, Documents
from anchorless.errors import SolverError

Mask = npt.NDArray[np.bool_]

#: Numbers in one batch of rows, and in one stack of their systems: bounds the memory.
ENTRIES_PER_BATCH = 400_000
ENTRIES_PER_STACK = 1_000_000
#: The most rows and columns of the identity that fill a system up to the size of others.
PADDING = 3
#: Full exchanges a row may make without progress before it exchanges one weight at a time.
PATIENCE = 3
#: Topics whose steps are taken from the rest together.
TOPICS_PER_GUESS = 16
#: Sweeps of coordinate descent before the first exact solution: they find most of the zeros at little cost.
GUESS_SWEEPS = 3
#: Exchanges after which a row is allowed ten times the error.
EXCHANGES_PER_DIGIT = 50
MAX_EXCHANGES = 2_000


def document_weights(documents: Documents, C: Array, n_threads: int) -> Array:
    """Return W (N, F): each row minimises ‖d − Cw‖ over w ≥ 0, for a document d and topics C (V, F)."""
    gram = gram_matrix(C)
    return np.vstack(list(documents.map_blocks(lambda D: block_weights(D, C, gram), n_threads)))


def block_weights(D: Any, C: Array, gram: Array, *, alone: bool = True) -> Array:
    """Return the weights of one block of documents; `alone` as in `solve_passive`."""
    return nonnegative_least_squares(gram, D @ C, alone=alone)


def gram_matrix(C: Array) -> Array:
    """Return CᵀC, exactly symmetric."""
    gram = C.T @ C
    return (gram + gram.T) / 2


def nonnegative_least_squares(gram: Array, targets: Array, n_threads: int = 1, *, alone: bool = True) -> Array:
    """Minimise ½wᵀGw − b·w over w ≥ 0 for each row b of `targets` (n, F); G (F, F) is positive definite.

    With `alone`, each row gets the bits that it gets without the others; else it is faster.
    """
    # A unit diagonal makes one tolerance right for all topics, however long their vectors are.
    scale = 1.0 / np.sqrt(np.diag(gram))
    G = scale[:, None] * gram * scale
    W = np.empty_like(targets)

    def solve(batch: slice) -> None:
        W[batch] = principal_pivoting(G, targets[batch] * scale, alone=alone) * scale

    if n_threads == 1:
        for batch in batches(*targets.shape):
            solve(batch)
        return W
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(solve, batches(*targets.shape)))
    return W


def batches(n_rows: int, n_topics: int) -> Iterator[slice]:
    """Cut rows so that what is kept of each stays small."""
    step = max(1, ENTRIES_PER_BATCH // n_topics)
    return (slice(start, start + step) for start in range(0, n_rows, step))


def principal_pivoting(G: Array, B: Array, shift: Array | None = None, *, alone: bool = True) -> Array:
    """Solve a batch of rows by exchanging passive (positive) and active (zero) weights until none is wrong.

    With `shift` (n, F), row r has the matrix G + o1ᵀ + 1oᵀ, o its row of `shift`.
    """
    n, n_topics = B.shape
    tolerance = 1e-12 * abs(B).max(axis=1, initial=0.0)
    # Weights are of the size of b over the diagonal: 1 where G is scaled, that of b where rows have a shift.
    smallest = tolerance if shift is None else np.full(n, 1e-12)
    W = np.zeros_like(B)
    passive = B > 0 if shift is not None else first_guess(G, B)
    least_wrong = np.full(n, n_topics + 1)
    patience = np.full(n, PATIENCE)
    open_rows = np.flatnonzero(tolerance > 0)
    for exchange in range(MAX_EXCHANGES):
        if len(open_rows) == 0:
            return W
        # Where topics are nearly the same, rounding is larger than the tolerance and a row could go on for ever.
        slack = 10.0 ** (exchange // EXCHANGES_PER_DIGIT)
        own_shift = None if shift is None else shift[open_rows]
        w, gradient = solve_passive(G, B[open_rows], passive[open_rows], own_shift, alone=alone)
        least, limit = slack * smallest[open_rows, None], slack * tolerance[open_rows, None]
        wrong = np.where(passive[open_rows], w < -least, gradient < -limit)
        n_wrong = wrong.sum(axis=1)
        done = n_wrong == 0
        W[open_rows[done]] = np.maximum(w[done], 0.0)
        open_rows, wrong, n_wrong = open_rows[~done], wrong[~done], n_wrong[~done]
        progress = n_wrong < least_wrong[open_rows]
        patience[open_rows] = np.where(progress, PATIENCE, patience[open_rows] - 1)
        least_wrong[open_rows] = np.minimum(least_wrong[open_rows], n_wrong)
        passive[open_rows] ^= np.where((patience[open_rows] >= 0)[:, None], wrong, last_only(wrong))
    raise SolverError(f"no weights for {len(open_rows)} rows in {MAX_EXCHANGES} exchanges; are two topics the same?")


def first_guess(G: Array, B: Array) -> Mask:
    """Return which weights are positive after a few sweeps of coordinate descent; G has a unit diagonal."""
    rest, W = np.array(B, order="F"), np.zeros_like(B, order="F")  # b − Gw, and w
    groups = [slice(k, k + TOPICS_PER_GUESS) for k in range(0, len(G), TOPICS_PER_GUESS)]
    for group in groups * GUESS_SWEEPS:
        before, near, own = W[:, group].copy(order="F"), rest[:, group].copy(order="F"), G[group, group]
        for k in range(near.shape[1]):
            step = np.maximum(near[:, k], -W[:, group.start + k])
            W[:, group.start + k] += step
            dger(-1.0, step, own[k], a=near, overwrite_a=1)
        # One product for the whole group: rest is read and written once, not once per topic.
        dgemm(-1.0, W[:, group] - before, G[group], 1.0, rest, overwrite_c=1)
    return np.ascontiguousarray(W > 0)


def last_only(wrong: Mask) -> Mask:
    """Keep only the last True of each row: the exchange rule that cannot go round in circles."""
    last = wrong.shape[1] - 1 - wrong[:, ::-1].argmax(axis=1)
    only = np.zeros_like(wrong)
    only[np.arange(len(wrong)), last] = True
    return only & wrong


def solve_passive(
    G: Array, B: Array, passive: Mask, shift: Array | None = None, *, alone: bool = True
) -> tuple[Array, Array]:
    """Return weights with zeros outside `passive` and least squares inside, and the gradient Gw − b.

    With `alone`, no row's rounding depends on the other rows.
    """
    W = np.zeros_like(B)
    gradient = -B
    padded = np.pad(G, (0, PADDING))
    padded[range(len(G), len(padded)), range(len(G), len(padded))] = 1.0
    for rows, columns in stacks(passive):
        systems = padded.ravel().take(columns[:, :, None] * len(padded) + columns[:, None, :])
        own = columns.clip(max=len(G) - 1)
        real = columns < len(G)
        if shift is not None:
            offset = np.where(real, np.take_along_axis(shift[rows], own, axis=1), 0.0)
            systems += np.where(real[:, :, None] & real[:, None, :], offset[:, :, None] + offset[:, None, :], 0.0)
        solution = solve_stacked(systems, np.where(real, np.take_along_axis(B[rows], own, axis=1), 0.0))
        W[np.broadcast_to(rows[:, None], real.shape)[real], columns[real]] = solution[real]
        if alone:
            gradient[rows] = slopes(gradient[rows], padded[:, : len(G)], columns, solution)
    if not alone:
        gradient += W @ G
    if shift is not None:
        gradient += shift * W.sum(axis=1, keepdims=True) + (shift * W).sum(axis=1, keepdims=True)
    return W, gradient


def slopes(slope: Array, G: Array, columns: npt.NDArray[np.intp], solution: Array) -> Array:
    """Add Gw to each row: not by one matrix product, whose rounding would depend on the other rows."""
    part = np.empty_like(slope)
    for j in range(columns.shape[1]):
        np.take(G, columns[:, j], axis=0, out=part)
        part *= solution[:, j, None]
        slope += part
    return slope


def stacks(passive: Mask) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """Yield rows (n,) and the positions (n, k) of their positive weights, few enough for one stack of systems.

    Rows of similar size share a stack: positions from F on are padding, at the end of each row.
    """
    sizes = passive.sum(axis=1)
    order = np.argsort(sizes, kind="stable")
    widths = -(-sizes[order] // (PADDING + 1)) * (PADDING + 1)
    found, starts = np.unique(widths, return_index=True)
    for width, members in zip(found.tolist(), np.split(order, starts[1:]), strict=True):
        step = max(1, ENTRIES_PER_STACK // max(1, width) ** 2)
        for start in range(0, len(members) if width else 0, step):
            rows = members[start : start + step]
            missing = np.arange(PADDING) < (width - sizes[rows])[:, None]
            marks = np.hstack([passive[rows], missing])
            yield rows, np.nonzero(marks)[1].reshape(len(rows), width)


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
