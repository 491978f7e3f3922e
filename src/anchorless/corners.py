"""Vertices of {x : Gx ≥ h, s·x = total} and the steps between them: what a walk is made of.

A vertex is F − 1 tight rows and s·x = total with the F × F inverse of these: its columns are the edges. A step
leaves one tight row along its edge until it meets another row. Steps are called from Python a hundred thousand
times in a fit, so that a call saved here is time saved: what can be updated is not computed, what is needed only
at the end of a stage is left until then.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.linalg.blas import daxpy, dger

from anchorless.documents import Array
from anchorless.polytope import FEASIBILITY_TOLERANCE

Positions = npt.NDArray[np.intp]

#: How far a row may be overstepped to reach a better pivot: a tenth of what is called feasible.
OVERSTEP = 0.1 * FEASIBILITY_TOLERANCE
#: An edge that gains no more than this per length, for an objective of length one, is level.
LEVEL = 1e-11
#: A pivot smaller than this, for rows of length one, is rounding error.
SMALLEST_PIVOT = 1e-9
#: A row met at less than this, for rows and edges of length one, is left for one met more squarely if there is one.
SQUARE_ENOUGH = 1e-3
#: An inverse no further off than this is improved by a product; a worse one is computed afresh.
NEARLY_INVERSE = 1e-7


class LostWayError(Exception):
    """A walk met a pivot that is rounding error, or did not end: HiGHS shall decide."""


class Corner:
    """A vertex of the working set: its tight rows, the inverse of these and the point.

    `tight` (F,) are positions in the rows G x ≥ h; tight[0] stands for s·x = total. `X` (F, F) is the inverse
    of the tight rows, stored by columns: column j is the edge along which row j alone comes loose. `age` counts
    the pivots since the inverse was exact. `infeasibility` is the largest violation of a row that x was found to
    have, None where no one has looked.
    """

    def __init__(self, tight: Positions, X: Array, x: Array, age: int = 0) -> None:
        self.tight, self.X, self.x, self.age = tight, X, x, age
        self.infeasibility: float | None = None

    def copy(self) -> Corner:
        """Return a corner that can walk on while this one stays."""
        return Corner(self.tight.copy(), self.X.copy(order="F"), self.x, self.age)

    def become(self, other: Corner) -> None:
        """Take the place of another corner."""
        self.tight, self.X, self.x, self.age = other.tight, other.X, other.x, other.age

    def renew(self, T: Array) -> None:
        """Compute the inverse of the tight rows T afresh, by a step of Newton's method where that suffices."""
        if self.X.shape == T.shape:
            missed = T @ self.X
            missed.ravel()[:: len(T) + 1] -= 1.0
            if abs(missed).max() <= NEARLY_INVERSE:
                self.X -= self.X @ missed
                self.age = 0
                return
        self.X, self.age = np.asfortranarray(np.linalg.inv(T)), 0

    def is_best(self, a: Array) -> bool:
        """Tell whether no edge rises towards a, for an objective of length one."""
        gain = np.dot(a, self.X)
        gain[0] = -1.0
        # An edge meets its own row of length one at a rate of one, so it is no shorter than that.
        rising = gain > LEVEL
        return not rising.any() or bool((gain[rising] <= LEVEL * np.linalg.norm(self.X[:, rising], axis=0)).all())

    def exchange(self, i: int, j: int, edge: Array, row: Array) -> None:
        """Let row i be tight in place of the row in position j; `row` as from `exchanged`."""
        dger(-1.0, edge, row, a=self.X, overwrite_a=1)
        self.tight[j] = i
        self.age += 1


def climb_edges(
    a: Array, corner: Corner, G: Array, slack: Array, positions: Positions | None, n_pivots: int
) -> tuple[bool, int]:
    """Walk up to n_pivots along the steepest edges, with regard to the rows G: tell whether none is left, and how many.

    `slack` (m,) = Gx − h; `positions` are those of the rows G in the working set. The point of the corner is left
    behind: its tight rows say where it is.
    """
    X = corner.X
    gain, squares = a.dot(X), np.einsum("ij,ij->j", X, X)
    # Slacks are kept with the overstep added, so that none is zero.
    slack = np.maximum(slack, 0.0) + OVERSTEP
    change, ratio = np.empty_like(slack), np.empty_like(slack)
    for n in range(n_pivots):
        gain[0] = -1.0
        score = abs(gain)
        score *= gain
        score /= squares
        j = int(score.argmax())
        square = squares.item(j)
        length = square**0.5
        if gain.item(j) <= LEVEL * length:
            return True, n
        edge = X[:, j].copy()
        G.dot(edge, change)
        i = first_row_met(slack, change, ratio, length)
        step = (slack.item(i) - OVERSTEP) / -change.item(i)
        if step > 0.0:
            daxpy(change, slack, a=step)
            np.maximum(slack, OVERSTEP, out=slack)
        row = G[i].dot(X)
        pivot = row.item(j)
        row = exchanged(row, j)
        turn = edge.dot(X)
        turn *= -2.0
        daxpy(row, turn, a=square)
        turn *= row
        squares += turn
        squares[j] = square / pivot**2
        # An edge meets its row of length one at a rate of one, so it is no shorter; updates can round below that.
        np.maximum(squares, 1.0, out=squares)
        daxpy(row, gain, a=-gain.item(j))
        corner.exchange(i if positions is None else int(positions[i]), j, edge, row)
    return False, n_pivots


def first_row_met(slack: Array, change: Array, ratio: Array, length: float) -> int:
    """Return the row that stops a step along an edge of this length.

    If the first one is met at too small an angle, take that met most squarely of those within the overstep of it.
    `slack` > 0 includes the overstep; `ratio` is scratch space.
    """
    np.divide(change, slack, out=ratio)
    i = int(ratio.argmin())
    steepest = ratio.item(i)
    if not steepest < 0.0:
        raise LostWayError  # the box stops every step
    if change.item(i) <= -SQUARE_ENOUGH * length:
        return i
    np.multiply(change, -1.0 / steepest, out=ratio)
    ratio += slack
    met = (ratio <= OVERSTEP).nonzero()[0]
    i = int(met[change[met].argmin()]) if len(met) else i
    if change[i] > -SMALLEST_PIVOT * length:
        raise LostWayError
    return i


def least_loss(gain: Array, row: Array) -> int:
    """Return the edge that leads back to a violated row at the least loss per progress, ties to the larger pivot."""
    usable = row > SMALLEST_PIVOT
    usable[0] = False
    if not usable.any():
        raise LostWayError  # the polytope is empty, or rounding says so
    loss = np.where(usable, -gain, np.inf)
    bound = float(((loss + LEVEL) / np.where(usable, row, 1.0)).min())
    tied = (loss <= bound * row).nonzero()[0]
    if len(tied) == 0:
        raise LostWayError  # the losses are not numbers, or so large that the bound rounds below them
    return int(tied[row[tied].argmax()])


def exchanged(row: Array, j: int) -> Array:
    """Return (row − eⱼ) / rowⱼ: the multiples of edge j that are taken from each edge when `row` becomes tight."""
    pivot = row.item(j)
    row[j] = pivot - 1.0
    row /= pivot
    return row
