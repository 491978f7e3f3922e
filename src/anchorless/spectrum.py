"""The leading eigenpairs of P by a block Krylov method with thick restarts.

Blocks find repeated eigenvalues, which a single Lanczos vector cannot, and read the documents once for
several columns. Full orthogonalisation and stored products P·Q make the residuals exact, so that
convergence is seen, not estimated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anchorless.cooccurrence import Cooccurrence
from anchorless.documents import Array
from anchorless.errors import RankError, SolverError

#: Residuals ‖Pu − λu‖ are brought below this share of the largest |λ|.
RESIDUAL_TOLERANCE = 1e-13
#: Columns in one product with P.
BLOCK_WIDTH = 4
MAX_PRODUCTS = 20_000


class Spectrum(NamedTuple):
    """The F leading eigenpairs of P and what is known of their accuracy."""

    values: Array  # (F,), leading first
    vectors: Array  # U, (V, F), orthonormal; the largest entry of each column is positive
    next_value: float  # the first eigenvalue left out
    by_size: bool  # leading means largest |λ|; else largest λ
    residuals: Array  # (F,), ‖Pu − λu‖
    n_products: int  # columns that P was multiplied with

    @property
    def gap(self) -> float:
        """Return how far the last value kept is from the first left out, relative to the last kept."""
        last, following = abs(self.values[-1]), abs(self.next_value) if self.by_size else max(0.0, self.next_value)
        return float((last - following) / last)


class Basis:
    """An orthonormal basis Q (V, m) and its image P·Q, in columns that are allocated once."""

    def __init__(self, n_words: int, room: int) -> None:
        self._Q = np.empty((n_words, room), order="F")
        self._PQ = np.empty((n_words, room), order="F")
        self.size = 0

    @property
    def Q(self) -> Array:
        """Return the basis vectors in use."""
        return self._Q[:, : self.size]

    @property
    def PQ(self) -> Array:
        """Return their products with P."""
        return self._PQ[:, : self.size]

    def append(self, Q: Array, PQ: Array) -> None:
        """Add columns."""
        new = slice(self.size, self.size + Q.shape[1])
        self._Q[:, new], self._PQ[:, new] = Q, PQ
        self.size += Q.shape[1]

    def rotate(self, S: Array) -> None:
        """Replace Q by QS, S of shape (m, k)."""
        Q, PQ = self.Q @ S, self.PQ @ S
        self.size = 0
        self.append(Q, PQ)


def leading_eigenpairs(P: Cooccurrence, n_values: int, rng: np.random.Generator) -> Spectrum:
    """Return the `n_values` leading eigenpairs: largest λ when P is semidefinite, else largest |λ|."""
    wanted = min(n_values + 1, P.n_words)
    if P.n_words <= 4 * wanted + 4 * BLOCK_WIDTH:
        # The Krylov space would fill everything: take everything, which also ends the case of tiny P.
        basis = Basis(P.n_words, P.n_words)
        basis.append(np.eye(P.n_words), P.product(np.eye(P.n_words)))
        values = ritz(basis, P.semidefinite)
        n_products = P.n_words
    else:
        values, basis, n_products = krylov(P, wanted, rng)
    return finished(values, basis, n_values, n_products, by_size=not P.semidefinite)


def krylov(P: Cooccurrence, wanted: int, rng: np.random.Generator) -> tuple[Array, Basis, int]:
    """Return Ritz values and vectors whose first `wanted` have converged, and the number of products."""
    room = 3 * wanted + 3 * BLOCK_WIDTH
    basis = Basis(P.n_words, room)
    block = fresh_block(basis, rng)
    closed: Array | None = None  # the leading values when the space was last closed under P
    young = False  # whether a fresh block has not yet had the room of a full basis to grow in
    n_products = 0
    while n_products < MAX_PRODUCTS:
        image = P.product(block)
        n_products += block.shape[1]
        if closed is not None and np.linalg.norm(image) <= RESIDUAL_TOLERANCE * abs(closed).max(initial=0.0):
            return ritz(basis, P.semidefinite), basis, n_products  # P has nothing outside the basis
        basis.append(block, image)
        block = orthogonal_part(image, basis.Q)
        if block.shape[1] == 0:
            # P keeps this space to itself. What else it has, such as more copies of an eigenvalue than a block has
            # columns, only a new direction can tell; it is asked until it tells nothing new.
            values = ritz(basis, P.semidefinite)
            if closed is not None and same_values(closed, values[:wanted], wanted):
                return values, basis, n_products
            closed, young = values[:wanted], True
            block = fresh_block(basis, rng)
            basis.size = min(basis.size, wanted + BLOCK_WIDTH)
        elif basis.size + BLOCK_WIDTH > room:
            values = ritz(basis, P.semidefinite)
            if converged(values, basis, wanted) and not young:
                return values, basis, n_products
            young = False
            # Thick restart: the residuals of all Ritz vectors lie in the span of the next block.
            basis.size = wanted + BLOCK_WIDTH
    raise SolverError(
        f"the {wanted} leading eigenvalues did not settle in {MAX_PRODUCTS} products with P; lower n_components"
    )


def same_values(before: Array, now: Array, wanted: int) -> bool:
    """Tell whether all `wanted` leading values are known and have not changed."""
    return len(before) == len(now) == wanted and bool(np.allclose(before, now, rtol=0, atol=1e-12 * abs(now).max()))


def fresh_block(basis: Basis, rng: np.random.Generator) -> Array:
    """Return random orthonormal columns outside the span of the basis."""
    return orthogonal_part(rng.standard_normal((basis.Q.shape[0], BLOCK_WIDTH)), basis.Q)


def ritz(basis: Basis, semidefinite: bool) -> Array:
    """Rotate the basis to Ritz vectors, leading first, and return their values."""
    H = basis.Q.T @ basis.PQ
    values, S = np.linalg.eigh((H + H.T) / 2)
    order = np.argsort(-values if semidefinite else -abs(values), kind="stable")
    basis.rotate(S[:, order])
    return values[order]


def residual_norms(values: Array, basis: Basis) -> Array:
    """Return ‖Pu − λu‖ for the leading Ritz pairs whose values are given."""
    n = len(values)
    return np.linalg.norm(basis.PQ[:, :n] - basis.Q[:, :n] * values, axis=0)


def converged(values: Array, basis: Basis, wanted: int) -> bool:
    """Tell whether the pairs that are kept have small residuals; the one after them only has to be known roughly."""
    residuals = residual_norms(values[:wanted], basis) / max(abs(values).max(), np.finfo(float).tiny)
    return bool(np.all(residuals[:-1] <= RESIDUAL_TOLERANCE) and residuals[-1] <= np.sqrt(RESIDUAL_TOLERANCE))


def orthogonal_part(W: Array, Q: Array) -> Array:
    """Return an orthonormal basis of what W adds to the span of Q; empty when it adds nothing but rounding."""
    size = np.linalg.norm(W)
    W = np.asfortranarray(W)
    for _ in range(2):  # once leaves rounding error of the size of what was removed
        W = W - Q @ (Q.T @ W)
    W, R = np.linalg.qr(W)
    directions, sizes, _ = np.linalg.svd(R)
    new = W @ directions[:, sizes > 1e-14 * size]
    # A direction that was mostly cancelled has lost its orthogonality again.
    new = new - Q @ (Q.T @ new)
    return np.linalg.qr(new)[0] if new.shape[1] else new


def finished(values: Array, basis: Basis, n_values: int, n_products: int, by_size: bool) -> Spectrum:
    """Cut to `n_values` pairs, refine and fix the signs; refuse eigenvalues that are rounding error."""
    floor = basis.Q.shape[0] * np.finfo(float).eps * abs(values).max(initial=0.0)
    lead = abs(values) if by_size else values
    usable = int(np.count_nonzero(lead[: n_values + 1] > floor))
    if usable < n_values:
        raise RankError(
            f"n_components={n_values}, but P has only {usable} eigenvalues above rounding error; "
            "lower n_components, add documents that differ, or weigh down words that dominate"
        )
    residuals = residual_norms(values[:n_values], basis)
    # One power step for free: a word that P does not know gets a row of exact zeros instead of rounding error.
    U = basis.PQ[:, :n_values] / values[:n_values]
    U *= np.where(U[abs(U).argmax(axis=0), np.arange(n_values)] < 0, -1.0, 1.0) / np.linalg.norm(U, axis=0)
    next_value = float(values[n_values]) if len(values) > n_values else 0.0
    return Spectrum(values[:n_values], U, next_value, by_size, residuals, n_products)
