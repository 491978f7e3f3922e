"""Several stages of a walk (see `walker`) in one compiled call: the only door to numba, which the extra `fast` brings.

With many topics a step between vertices is a few thousand operations on small arrays: called one by one from Python,
half of the time goes to the calls. Compiled, a step costs a fifth, and threads can walk side by side. Compiling takes
seconds, once: what came of it is kept beside this file, or in the user's cache.

The steps are those of `corners.climb_edges`, and the stages those of `Walker._rough_stage`: arrays are written in
place, loops are written out, as they compile fastest and best. `E` holds the edges of a corner by rows: E = Xᵀ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numba
import numpy as np
import numpy.typing as npt

from anchorless._core.lp.vertices import Floats, Positions
from anchorless._corpus.documents import Array

if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
    raise ImportError("numba is told not to compile: loops like these are not for Python")

Function = TypeVar("Function", bound=Callable[..., Any])

#: How a walk has ended: no edge rises, pivots are used up, or it has lost its way in single precision.
AT_OPTIMUM, UNFINISHED, PIVOT_FAILED = 0, 1, 2
#: Sums may be added up in any order, the same every time; nothing here is ever compared with NaN or −0.
FASTMATH_FLAGS = {"reassoc", "contract", "arcp", "nnan", "nsz"}

#: A row that a point of length one is this far inside of in single precision is not overstepped.
SAFE_SLACK = 1e-4


def jit_compile(function: Function) -> Function:
    """Compile a function when it is first called; keep the result for other processes where there is a place for it."""
    jit: Any = numba.njit  # its annotations want a dispatcher where we mean the function
    settings: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": FASTMATH_FLAGS}
    try:
        return jit(cache=True, **settings)(function)
    except RuntimeError:  # neither this folder nor the user's cache can be written to
        return jit(**settings)(function)


class Polyhedron(NamedTuple):
    """{x : Gx ≥ h, s·x = total}, as a walk sees it; `rough` is G in single precision."""

    G: Array
    G_single: npt.NDArray[np.float32]
    h: Array
    total: float


class StageLimits(NamedTuple):
    """Pivots of a stage, the rows it looks at, how often it may be walked again, and the age of an inverse."""

    n_pivots: int
    n_near: int
    n_trials: int
    max_updates: int


class Tolerances(NamedTuple):
    """The limits of `corners`, as arguments: what is compiled and kept would not follow a change in another file."""

    level: float
    tolerance: float
    step_tolerance: np.float32
    min_pivot: np.float32
    min_angle: np.float32


@jit_compile
def copy_into(target: Any, source: Any) -> None:
    """Copy a vector."""
    for i in range(len(source)):
        target[i] = source[i]


@jit_compile
def multiply_rows(rows: Floats, x: Floats, result: Floats) -> None:
    """Write the product of rows with a vector, four rows at a time: each sum waits for its own steps."""
    n_rows, n_dims = rows.shape
    by_four = n_rows - n_rows % 4
    for r in range(0, by_four, 4):
        a = b = c = d = x[0] - x[0]  # a zero of the same precision
        for k in range(n_dims):
            a += rows[r, k] * x[k]
            b += rows[r + 1, k] * x[k]
            c += rows[r + 2, k] * x[k]
            d += rows[r + 3, k] * x[k]
        result[r], result[r + 1], result[r + 2], result[r + 3] = a, b, c, d
    for r in range(by_four, n_rows):
        a = x[0] - x[0]
        for k in range(n_dims):
            a += rows[r, k] * x[k]
        result[r] = a


@jit_compile
def mark_nearest(distance: Array, n_near: int, near: npt.NDArray[np.bool_]) -> None:
    """Mark at least `n_near` rows at the least distance, few more: halving finds how far they are."""
    if n_near >= len(distance):
        for r in range(len(distance)):
            near[r] = True
        return
    low = high = distance[0]
    for value in distance:
        low, high = min(low, value), max(high, value)
    for _ in range(40):
        middle = (low + high) / 2
        n_within = 0
        for value in distance:
            n_within += value <= middle
        if n_within < n_near:
            low = middle
            continue
        high = middle
        if n_within <= n_near + n_near // 8:
            break
    for r in range(len(distance)):
        near[r] = distance[r] <= high


@jit_compile
def compute_slack(E: Array, tight: Positions, inside: Polyhedron, slack: Array) -> float:
    """Write how far the corner is inside each row; return the least. Only rows near by are looked at in double."""
    n_dims = len(E)
    x, rough, far = np.empty(n_dims), np.empty(n_dims, np.float32), np.empty(len(slack), np.float32)
    for k in range(n_dims):
        x[k] = inside.total * E[0, k]
    for j in range(1, n_dims):
        level = inside.h[tight[j]]
        if level != 0.0:
            for k in range(n_dims):
                x[k] += level * E[j, k]
    copy_into(rough, x)
    multiply_rows(inside.G_single, rough, far)
    length = 0.0
    for k in range(n_dims):
        length += x[k] * x[k]
    surely = SAFE_SLACK * max(1.0, length**0.5)
    least = surely
    for r in range(len(slack)):
        slack[r] = far[r] - inside.h[r]
        if slack[r] < surely:
            slack[r] = -inside.h[r]
            for k in range(n_dims):
                slack[r] += inside.G[r, k] * x[k]
            least = min(least, slack[r])
    return least


@jit_compile
def find_blocking_row(slack: Floats, change: Floats, ratio: Floats, length: float, limits: Tolerances) -> int:
    """Return the row that stops a step along an edge of this length, −1 if there is none that rounding allows."""
    least = change[0] - change[0]
    for r in range(len(slack)):
        ratio[r] = change[r] / slack[r]
        least = min(least, ratio[r])
    stops = -1
    for r in range(len(slack)):
        if ratio[r] <= least and ratio[r] < 0:
            stops = r
            break
    if stops < 0:
        return -1
    if change[stops] > -limits.min_angle * length:  # one met more squarely, within the overstep, is the better pivot
        for r in range(len(slack)):
            if change[r] < change[stops] and slack[r] - change[r] / least <= limits.step_tolerance:
                stops = r
        if change[stops] > -limits.min_pivot * length:
            return -1
    return stops


@jit_compile
def update_edges(E: Array, j: int, edge: Array, row: Array, gain: Array, squares: Array) -> None:
    """Let `row` be tight in place of that which edge j leaves: edges, their gains and their squares."""
    n_dims = len(E)
    pivot, square, gained = 0.0, squares[j], gain[j]
    for k in range(n_dims):
        pivot += edge[k] * row[k]
    for i in range(n_dims):
        other = E[i]
        met = turn = 0.0
        for k in range(n_dims):
            met += other[k] * row[k]
            turn += other[k] * edge[k]
        if i == j:
            met -= 1.0
        share = met / pivot
        gain[i] -= gained * share
        # An edge meets its row of length one at a rate of one, so it is no shorter; updates can round below that.
        squares[i] = max(1.0, squares[i] + share * (share * square - 2.0 * turn))
        for k in range(n_dims):
            other[k] -= share * edge[k]
    squares[j] = max(1.0, square / (pivot * pivot))


@jit_compile
def run_pivots(
    a: Array,
    E: Array,
    tight: Positions,
    G: Array,
    rows: Floats,
    slack: Floats,
    near: Positions,
    most: int,
    limits: Tolerances,
) -> Any:
    """Walk up to `most` pivots along the steepest edges with regard to `rows`; return their number and how it ended."""
    n_dims = len(a)
    gain, squares, edge = np.empty(n_dims), np.empty(n_dims), np.empty(n_dims)
    multiply_rows(E, a, gain)
    for j in range(n_dims):
        squares[j] = 0.0
        for k in range(n_dims):
            squares[j] += E[j, k] * E[j, k]
    change, ratio, rough = np.empty_like(slack), np.empty_like(slack), np.empty(n_dims, slack.dtype)
    for n in range(most):
        leaves, steepest = 0, limits.level * limits.level
        for j in range(1, n_dims):  # edge 0 leaves s·x = total
            if gain[j] > 0.0 and gain[j] * gain[j] > steepest * squares[j]:
                leaves, steepest = j, gain[j] * gain[j] / squares[j]
        if leaves == 0:
            return n, AT_OPTIMUM
        copy_into(edge, E[leaves])
        copy_into(rough, edge)
        multiply_rows(rows, rough, change)
        stops = find_blocking_row(slack, change, ratio, squares[leaves] ** 0.5, limits)
        if stops < 0:
            return n, PIVOT_FAILED
        step = (limits.step_tolerance - slack[stops]) / change[stops]
        if step > 0:
            for r in range(len(slack)):
                slack[r] = max(slack[r] + step * change[r], limits.step_tolerance)
        tight[leaves] = near[stops]
        update_edges(E, leaves, edge, G[near[stops]], gain, squares)
    return most, UNFINISHED


@jit_compile
def run_stages(
    a: Array,
    E: Array,
    tight: Positions,
    age: int,
    slack: Array,
    distance: Array,
    inside: Polyhedron,
    pace: StageLimits,
    limits: Tolerances,
) -> Any:
    """Walk stage by stage, each with regard to the nearest rows, in single precision; E, tight and slack are the end's.

    Return how it ended, the pivots made and the age of E. A stage that ends outside is taken back and walked again
    with the rows it missed; one that loses its way, or ends outside of rows that it saw, is taken back for good.
    """
    n_rows, n_dims = inside.G.shape
    found, back, tight_back = np.empty(n_rows), np.empty((n_dims, n_dims)), np.empty(n_dims, np.int64)
    near = np.empty(n_rows, np.bool_)
    made = 0
    while age < pace.max_updates:
        copy_into(back.ravel(), E.ravel())
        copy_into(tight_back, tight)
        mark_nearest(distance, pace.n_near, near)
        for _ in range(pace.n_trials):
            positions = np.empty(n_rows, np.int64)
            n_near = 0
            for r in range(n_rows):
                positions[n_near] = r
                n_near += near[r]
            rows, close = np.empty((n_near, n_dims), np.float32), np.empty(n_near, np.float32)
            for i in range(n_near):
                close[i] = max(slack[positions[i]], 0.0) + limits.step_tolerance
                copy_into(rows[i], inside.G_single[positions[i]])
            n, how = run_pivots(a, E, tight, inside.G, rows, close, positions, pace.n_pivots, limits)
            made += n
            least = compute_slack(E, tight, inside, found) if how != PIVOT_FAILED else 0.0
            if how != PIVOT_FAILED and least >= -limits.tolerance:
                break
            copy_into(E.ravel(), back.ravel())
            copy_into(tight, tight_back)
            if how == PIVOT_FAILED or n_near == n_rows:
                return PIVOT_FAILED, made, age
            for r in range(n_rows):
                near[r] |= found[r] < 0.0
        else:
            return PIVOT_FAILED, made, age
        age += n
        for r in range(n_rows):
            # Rows that came nearer in the last stage are likely to come nearer by as much in the next.
            distance[r] = found[r] + min(found[r] - slack[r], 0.0)
            slack[r] = found[r]
        if how == AT_OPTIMUM:
            return AT_OPTIMUM, made, age
    return UNFINISHED, made, age
