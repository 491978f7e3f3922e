"""The leading eigenpairs of P by a block Krylov method with thick restarts.

Blocks find repeated eigenvalues, which a single Lanczos vector cannot, and read the documents once for
several columns. The basis is kept orthonormal to rounding, so the projection of P and the coupling to the
next block tell the residuals without a product; those of the result are computed from one more product.

Where documents are fewer than words, P = DᵀD / N has its non-zero eigenvalues in common with DDᵀ / N, whose
vectors are shorter: the search runs there, and Dᵀ brings its result back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from anchorless._core.cooccurrence import Cooccurrence
from anchorless._corpus.documents import Array
from anchorless.errors import RankError, SolverError

#: Residuals ‖Pu − λu‖ are brought below this share of the largest |λ|.
RESIDUAL_TOLERANCE = 1e-13
#: Columns in one product with P: more take fewer walks over the documents, but more are needed.
BLOCK_WIDTH = 4
#: The same on the documents' side, which is in memory.
NARROW_WIDTH = 2
#: The most basis vectors, in multiples of the pairs wanted; a smaller basis restarts more often.
BASIS_FACTOR = 6
#: The basis grows by at most this share between two looks at the residuals, which cost an eigen-decomposition each.
MAX_BASIS_GROWTH = 0.15
MAX_PRODUCTS = 20_000


class Spectrum(NamedTuple):
    """The F leading eigenpairs of P and what is known of their accuracy."""

    values: Array  # (F,), leading first
    vectors: Array  # U, (V, F), orthonormal; the largest entry of each column is positive
    next_value: float  # the first eigenvalue left out
    by_magnitude: bool  # leading means largest |λ|; else largest λ
    residuals: Array  # (F,), ‖Pu − λu‖, where the search ran on the documents' side ‖Az − λz‖ there
    n_products: int  # columns that P was multiplied with

    @property
    def gap(self) -> float:
        """Return how far the last value kept is from the first left out, relative to the last kept."""
        last, following = abs(self.values[-1]), abs(self.next_value) if self.by_magnitude else max(0.0, self.next_value)
        return float((last - following) / last)


class Operator(NamedTuple):
    """A symmetric matrix by its products, and how it is searched."""

    product: Callable[[Array], Array]
    size: int
    by_magnitude: bool  # the largest |λ| lead; else the largest λ
    width: int  # columns in one product


class RitzDecomposition(NamedTuple):
    """Ritz values of a basis, leading first, and the vectors as combinations S (m, m) of it."""

    values: Array
    S: Array


class ConvergenceCheck(NamedTuple):
    """The size of a basis and how far its worst Ritz pair was from converged."""

    size: int
    max_residual_ratio: float


class Basis:
    """An orthonormal basis Q (n, m), columns allocated once, and the projection H = QᵀPQ (m, m)."""

    def __init__(self, n: int, room: int) -> None:
        self._Q = np.empty((n, room), order="F")
        self._H = np.zeros((room, room))
        self.size = 0
        self._previous = 0  # where the block before the last begins

    @property
    def Q(self) -> Array:
        """Return the basis vectors in use."""
        return self._Q[:, : self.size]

    @property
    def H(self) -> Array:
        """Return QᵀPQ."""
        return self._H[: self.size, : self.size]

    def append(self, block: Array, image: Array) -> Array:
        """Add the columns of `block` and their products with P; return what of these lies outside the basis."""
        start, self.size = self.size, self.size + block.shape[1]
        self._Q[:, start : self.size] = block
        # In exact arithmetic the image meets only the last two blocks; the full pass removes what rounding left.
        near = self._Q[:, self._previous : self.size]
        inner = multiply_narrow(near.T, image)
        image = image - multiply_narrow(near, inner)
        rest = multiply_narrow(self.Q.T, image)
        image -= multiply_narrow(self.Q, rest)
        rest[self._previous :] += inner
        self._H[: self.size, start : self.size] = rest
        self._H[start : self.size, :start] = rest[:start].T
        own = self._H[start : self.size, start : self.size]
        own[:] = (own + own.T) / 2
        self._previous = start
        return image

    def restart(self, pairs: RitzDecomposition, size: int) -> None:
        """Keep the first `size` Ritz vectors QS, with their values."""
        size = min(size, self.size)
        self._Q[:, :size] = self.Q @ pairs.S[:, :size]
        self._H[:size, :size] = np.diag(pairs.values[:size])
        self.size, self._previous = size, 0


class KrylovResult(NamedTuple):
    """What a search brought: Ritz values (m,) and vectors (n, m), leading first, and the columns multiplied."""

    values: Array
    vectors: Array
    n_products: int


def find_leading_eigenpairs(P: Cooccurrence, n_values: int, rng: np.random.Generator) -> Spectrum:
    """Return the `n_values` leading eigenpairs: largest λ when P is semidefinite, else largest |λ|."""
    other = P.build_gram_operator()
    if other is None:
        A = Operator(P.product, P.n_words, not P.is_semidefinite, BLOCK_WIDTH)
    else:
        A = Operator(other.product, other.size, by_magnitude=False, width=NARROW_WIDTH)
    found = search_eigenpairs(A, n_values + 1, rng)
    usable = count_usable(found.values[: n_values + 1], P.n_words, by_magnitude=not P.is_semidefinite)
    if usable < n_values:
        source = "the co-occurrences" if P.n_documents is None else f"the {P.n_documents} documents"
        raise RankError(
            f"{source} support at most {usable}",
            parameter="n_components",
            value=n_values,
            limit=usable,
            remedy="lower {n_components}, add documents that differ, or lower the weight of words that dominate",
        )
    vectors = found.vectors[:, :n_values]
    if other is None:
        # One power step for free: a word that P does not know gets a row of exact zeros instead of rounding error.
        U = image = P.product(vectors)
    else:
        U = other.to_words(vectors)
        image = other.from_words(U)
    residuals = np.linalg.norm(image - vectors * found.values[:n_values], axis=0)
    next_value = float(found.values[n_values]) if len(found.values) > n_values else 0.0
    return Spectrum(
        found.values[:n_values],
        normalize_eigenvectors(U),
        next_value,
        A.by_magnitude,
        residuals,
        found.n_products + n_values,
    )


def search_eigenpairs(A: Operator, wanted: int, rng: np.random.Generator) -> KrylovResult:
    """Return at least the `wanted` leading Ritz pairs, or all that there are."""
    wanted = min(wanted, A.size)
    if A.size <= 4 * wanted + 4 * A.width:
        # The Krylov space would fill everything: take everything, which also ends the case of tiny P.
        whole = A.product(np.eye(A.size))
        values, S = compute_ritz_pairs((whole + whole.T) / 2, A.by_magnitude)
        return KrylovResult(values, S, A.size)
    return iterate_krylov(A, wanted, rng)


def iterate_krylov(A: Operator, wanted: int, rng: np.random.Generator) -> KrylovResult:
    """Return the `wanted` leading Ritz pairs, converged."""
    room = min(BASIS_FACTOR * wanted + BASIS_FACTOR * A.width, A.size)
    basis = Basis(A.size, room)
    block = draw_random_block(basis, A.width, rng)
    closed: Array | None = None  # the leading values when the space was last closed under P
    young = False  # whether a fresh block has not yet had the room of a full basis to grow in
    look, now = 2 * wanted, ConvergenceCheck(0, np.inf)
    n_products = 0
    while n_products < MAX_PRODUCTS:
        image = A.product(block)
        n_products += block.shape[1]
        scale = float(np.linalg.norm(image))
        if closed is not None and scale <= RESIDUAL_TOLERANCE * abs(closed).max(initial=0.0):
            pairs = compute_ritz_pairs(basis.H, A.by_magnitude)  # P has nothing outside the basis
            break
        block, coupling = orthonormalize(basis.append(block, image), basis.Q, scale)
        full = basis.size + A.width > room
        empty = block.shape[1] == 0  # P keeps this space to itself
        if not empty and not full and (basis.size < look or young):
            continue
        pairs = compute_ritz_pairs(basis.H, A.by_magnitude)
        before, now = (
            now,
            ConvergenceCheck(
                basis.size, max_residual_ratio(pairs.values, coupling @ pairs.S[-coupling.shape[1] :], wanted)
            ),
        )
        look = now.size + choose_growth(before, now, A.width)
        settled = not young and now.max_residual_ratio <= 1.0
        if settled and not has_full_multiplicity(pairs.values[:wanted], A.width):
            break
        if empty or settled:
            # What else P has, such as more copies of an eigenvalue than a block has columns, only a new direction
            # can tell; it is asked until it tells nothing new.
            if closed is not None and is_unchanged(closed, pairs.values[:wanted], wanted):
                break
            closed, young = pairs.values[:wanted], True
            block = draw_random_block(basis, A.width, rng)
            basis.restart(pairs, wanted + A.width)
        elif full:
            # Thick restart: the residuals of all Ritz vectors lie in the span of the next block.
            basis.restart(pairs, wanted + A.width)
            young = False
    else:
        raise SolverError(
            f"the {wanted} leading eigenvalues did not settle in {MAX_PRODUCTS} products with P; lower n_components"
        )
    return KrylovResult(pairs.values, basis.Q @ pairs.S[:, :wanted], n_products)


def multiply_narrow(A: Array, X: Array) -> Array:
    """Return AX; of few columns each by itself, since BLAS is slow on matrices that narrow."""
    if X.shape[1] > NARROW_WIDTH:
        return A @ X
    result = np.empty((A.shape[0], X.shape[1]), order="F")
    for j in range(X.shape[1]):
        np.matmul(A, X[:, j], out=result[:, j])
    return result


def is_unchanged(before: Array, now: Array, wanted: int) -> bool:
    """Tell whether all `wanted` leading values are known and have not changed."""
    return len(before) == len(now) == wanted and bool(np.allclose(before, now, rtol=0, atol=1e-12 * abs(now).max()))


def has_full_multiplicity(values: Array, width: int) -> bool:
    """Tell whether one value has as many copies as a block has columns: there may be more of it."""
    ordered = np.sort(values)
    apart = ordered[width - 1 :] - ordered[: max(0, len(ordered) - width + 1)]
    return bool(np.any(apart <= 1e-10 * abs(values).max(initial=0.0)))


def draw_random_block(basis: Basis, width: int, rng: np.random.Generator) -> Array:
    """Return random orthonormal columns outside the span of the basis."""
    random = rng.standard_normal((basis.Q.shape[0], width))
    scale = float(np.linalg.norm(random))
    return orthonormalize(random - basis.Q @ (basis.Q.T @ random), basis.Q, scale)[0]


def compute_ritz_pairs(H: Array, by_magnitude: bool) -> RitzDecomposition:
    """Return the eigenpairs of a projection of P, leading first."""
    values, S = np.linalg.eigh(H)
    order = np.argsort(-abs(values) if by_magnitude else -values, kind="stable")
    return RitzDecomposition(values[order], S[:, order])


def max_residual_ratio(values: Array, outside: Array, wanted: int) -> float:
    """Return the largest residual of the pairs that are kept over what it may be; at most 1 when all have converged.

    `outside` (w, m) holds what P adds to each Ritz vector in the directions of the next block. The pair after
    those that are kept only has to be known roughly.
    """
    if len(values) < wanted:
        return np.inf
    residuals = np.linalg.norm(outside[:, :wanted], axis=0) / max(abs(values).max(), np.finfo(float).tiny)
    allowed = np.full(wanted, RESIDUAL_TOLERANCE)
    allowed[-1] = np.sqrt(RESIDUAL_TOLERANCE)
    return float((residuals / allowed).max())


def choose_growth(before: ConvergenceCheck, now: ConvergenceCheck, width: int) -> int:
    """Return by how many columns the basis should grow until the next look, if residuals fall on as they fell."""
    most = max(width, int(MAX_BASIS_GROWTH * now.size))
    if not 1.0 < now.max_residual_ratio < before.max_residual_ratio < np.inf or before.size >= now.size:
        return most
    per_column = np.log(before.max_residual_ratio / now.max_residual_ratio) / (now.size - before.size)
    return int(min(most, max(width, np.log(now.max_residual_ratio) / per_column)))


def orthonormalize(W: Array, Q: Array, scale: float) -> tuple[Array, Array]:
    """Return an orthonormal basis X of what W, once made orthogonal to Q, adds to it, and XᵀW.

    X is empty when W is nothing but rounding of what had the size `scale` before.
    """
    X, R = np.linalg.qr(W)
    directions, sizes, _ = np.linalg.svd(R)
    if sizes.min() >= 1e-3 * scale:
        return X, R
    kept = sizes > 1e-14 * scale
    X, coupling = X @ directions[:, kept], directions[:, kept].T @ R
    # A direction that was mostly cancelled has lost its orthogonality again.
    for _ in range(2):
        X, R = np.linalg.qr(X - Q @ (Q.T @ X))
        X *= np.sign(np.diag(R))
    return X, coupling


def count_usable(values: Array, n_words: int, *, by_magnitude: bool) -> int:
    """Return how many leading eigenvalues are above rounding error."""
    floor = n_words * np.finfo(float).eps * abs(values).max(initial=0.0)
    return int(np.count_nonzero((abs(values) if by_magnitude else values) > floor))


def normalize_eigenvectors(U: Array) -> Array:
    """Scale the columns of U to length one, in place, the largest entry of each positive."""
    high, low = U.max(axis=0), U.min(axis=0)
    U /= np.where(high < -low, low, high)  # first to the size of one: squares of the smallest vanish
    U /= np.sqrt(np.einsum("ij,ij->j", U, U))
    return U
