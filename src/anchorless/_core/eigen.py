"""The leading eigenpairs of P by a block Krylov method with thick restarts.

Blocks find repeated eigenvalues, which a single Lanczos vector cannot, and one pass over the documents serves several
columns. The basis is kept orthonormal to rounding, so the projection of P and the coupling to the next block give the
residuals without a product. If documents are fewer than words, the search runs on DDᵀ / N, whose vectors are shorter.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import NamedTuple

import numpy as np

from anchorless._core.cooccurrence import Cooccurrence
from anchorless._corpus.documents import Array
from anchorless._corpus.threads import call_interruptibly
from anchorless.errors import RankError, SolverError
from anchorless.progress import report_progress

#: Residuals ‖Pu − λu‖ must be below this share of the largest |λ|.
RESIDUAL_TOLERANCE = 1e-13
#: Columns in one product with P: wider blocks need fewer passes over the documents, but more columns in total.
BLOCK_WIDTH = 4
#: The same for DDᵀ, whose documents are in memory.
NARROW_WIDTH = 2
#: The most basis vectors, in multiples of the pairs wanted; a smaller basis restarts more often.
BASIS_FACTOR = 6
#: The basis grows by at most this share between two convergence checks, which cost an eigendecomposition each.
MAX_BASIS_GROWTH = 0.15
#: Columns multiplied with P before the search is given up.
MAX_PRODUCTS = 20_000
#: Decompositions of larger matrices take long enough to make Ctrl-C wait: 0.1 s at 600 columns, 2 s at 2,000.
MAX_DIRECT_SIZE = 600
#: About as many columns are multiplied per pair wanted, for the progress: 3 to 4 on 20 Newsgroups and TDT2.
USUAL_PRODUCTS = 4


class Spectrum(NamedTuple):
    """The F leading eigenpairs of P and their accuracy."""

    values: Array  # (F,), leading first
    vectors: Array  # U, (V, F), orthonormal; the largest entry of each column is positive
    next_value: float  # the first eigenvalue left out
    by_magnitude: bool  # leading means largest |λ|; else largest λ
    residuals: Array  # (F,), ‖Pu − λu‖, or ‖Az − λz‖ if the search ran on A = DDᵀ / N
    n_products: int  # columns that P was multiplied with
    seconds: float = 0.0

    @property
    def gap(self) -> float:
        """Return the distance of the last value kept from the first left out, relative to the last kept."""
        last, following = abs(self.values[-1]), abs(self.next_value) if self.by_magnitude else max(0.0, self.next_value)
        return float((last - following) / last)


class Operator(NamedTuple):
    """A symmetric matrix, given by its products, and how to search it."""

    product: Callable[[Array], Array]
    size: int
    by_magnitude: bool  # the largest |λ| lead; else the largest λ
    width: int  # columns in one product


class Basis:
    """An orthonormal basis Q (n, m), columns allocated once, and the projection H = QᵀPQ (m, m)."""

    def __init__(self, n: int, capacity: int) -> None:
        self._Q = np.empty((n, capacity), order="F")
        self._H = np.zeros((capacity, capacity))
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
        """Add the columns of `block`, given their products with P; return the part of these outside the basis."""
        start, self.size = self.size, self.size + block.shape[1]
        self._Q[:, start : self.size] = block
        # In exact arithmetic only the last two blocks overlap with the image; the full pass removes rounding errors.
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

    def restart(self, values: Array, S: Array, size: int) -> None:
        """Keep the first `size` Ritz vectors QS, with their values."""
        size = min(size, self.size)
        self._Q[:, :size] = call_interruptibly(np.matmul, self.Q, S[:, :size])
        self._H[:size, :size] = np.diag(values[:size])
        self.size, self._previous = size, 0


def find_leading_eigenpairs(P: Cooccurrence, n_values: int, rng: np.random.Generator) -> Spectrum:
    """Return the `n_values` leading eigenpairs: largest λ when P is semidefinite, else largest |λ|."""
    start = perf_counter()
    gram = P.build_gram_operator()
    if gram is None:
        A = Operator(P.product, P.n_words, not P.is_semidefinite, BLOCK_WIDTH)
    else:
        A = Operator(gram.product, gram.size, by_magnitude=False, width=NARROW_WIDTH)
    values, vectors, n_products = search_eigenpairs(A, min(n_values + 1, A.size), rng)
    leading = values[: n_values + 1] if P.is_semidefinite else abs(values[: n_values + 1])
    usable = int(np.count_nonzero(leading > P.n_words * np.finfo(float).eps * abs(leading).max(initial=0.0)))
    if usable < n_values:
        source = "the co-occurrences" if P.n_documents is None else f"the {P.n_documents} documents"
        raise RankError(
            f"{source} support at most {usable}",
            parameter="n_components",
            value=n_values,
            limit=usable,
            remedy="lower {n_components}, or add documents that differ from each other",
        )
    next_value = float(values[n_values]) if len(values) > n_values else 0.0
    values, vectors = values[:n_values], vectors[:, :n_values]
    if gram is None:
        # The residuals need this product anyway. As U it gives words that P does not know exact zeros, not rounding.
        U = image = P.product(vectors)
    else:
        U = gram.to_words(vectors)
        image = gram.from_words(U)
    residuals = call_interruptibly(compute_residuals, image, vectors, values)
    U, n_products = call_interruptibly(normalize_eigenvectors, U), n_products + n_values
    return Spectrum(values, U, next_value, A.by_magnitude, residuals, n_products, perf_counter() - start)


def compute_residuals(image: Array, vectors: Array, values: Array) -> Array:
    """Return how far an operator is from multiplying each vector by its value; `image` is its product with them."""
    return np.asarray(np.linalg.norm(image - vectors * values, axis=0))


def search_eigenpairs(A: Operator, wanted: int, rng: np.random.Generator) -> tuple[Array, Array, int]:
    """Return at least the `wanted` leading Ritz values and vectors, and the columns multiplied with A."""
    if A.size <= 4 * wanted + 4 * A.width:
        # The Krylov space would be the whole space, as it always is for a tiny P.
        matrix = A.product(np.eye(A.size))
        return *compute_ritz_pairs((matrix + matrix.T) / 2, A.by_magnitude), A.size
    return iterate_krylov(A, wanted, rng)


def iterate_krylov(A: Operator, wanted: int, rng: np.random.Generator) -> tuple[Array, Array, int]:
    """Return the `wanted` leading Ritz pairs, converged, and the columns multiplied with A."""
    capacity = min(BASIS_FACTOR * wanted + BASIS_FACTOR * A.width, A.size)
    basis = Basis(A.size, capacity)
    block = draw_random_block(basis, A.width, rng)
    closed: Array | None = None  # the leading values when the space was last invariant under P, or converged
    is_growing = False  # whether a random block was added and the basis has not been full since
    next_check, now = 2 * wanted, (0, np.inf)  # the size of the basis at a check, and its largest residual ratio
    n_products = 0
    while n_products < MAX_PRODUCTS:
        image = A.product(block)
        n_products += block.shape[1]
        report_progress("spectrum", min(n_products, USUAL_PRODUCTS * wanted - 1), USUAL_PRODUCTS * wanted)
        scale = float(np.linalg.norm(image))
        if closed is not None and scale <= RESIDUAL_TOLERANCE * abs(closed).max(initial=0.0):
            values, S = compute_ritz_pairs(basis.H, A.by_magnitude)  # P has nothing outside the basis
            break
        block, coupling = orthonormalize(basis.append(block, image), basis.Q, scale)
        full = basis.size + A.width > capacity
        empty = block.shape[1] == 0  # the space is invariant under P
        if not empty and not full and (basis.size < next_check or is_growing):
            continue
        values, S = compute_ritz_pairs(basis.H, A.by_magnitude)
        outside = coupling @ S[-coupling.shape[1] :]
        before, now = now, (basis.size, compute_residual_ratio(values, outside, wanted))
        next_check = basis.size + choose_growth(before, now, A.width)
        converged = not is_growing and now[1] <= 1.0
        leading = values[:wanted]
        if converged and not has_full_multiplicity(leading, A.width):
            break
        if empty or converged:
            # Only new directions can find what is still missing, such as more copies of an eigenvalue than a block has
            # columns. Random blocks are added until one changes nothing.
            tie = 1e-12 * abs(leading).max(initial=0.0)
            if closed is not None and len(closed) == len(leading) == wanted and np.allclose(closed, leading, 0, tie):
                break
            closed, is_growing = leading, True
            block = draw_random_block(basis, A.width, rng)
            basis.restart(values, S, wanted + A.width)
        elif full:
            # Thick restart: the residuals of all Ritz vectors lie in the span of the next block.
            basis.restart(values, S, wanted + A.width)
            is_growing = False
    else:
        raise SolverError(
            "the search for the strongest patterns of words that occur together did not come to an end",
            remedy="lower {n_components}",
            details=f"the spectrum did not converge in {MAX_PRODUCTS} products with the co-occurrences",
        )
    return values, call_interruptibly(np.matmul, basis.Q, S[:, :wanted]), n_products


def multiply_narrow(A: Array, X: Array) -> Array:
    """Return AX. If X is narrow, multiply one column at a time, which is faster in BLAS."""
    if X.shape[1] > NARROW_WIDTH:
        return A @ X
    result = np.empty((A.shape[0], X.shape[1]), order="F")
    for j in range(X.shape[1]):
        np.matmul(A, X[:, j], out=result[:, j])
    return result


def has_full_multiplicity(values: Array, width: int) -> bool:
    """Tell whether a value has as many copies as a block has columns: there may be more of them."""
    ordered = np.sort(values)
    apart = ordered[width - 1 :] - ordered[: max(0, len(ordered) - width + 1)]
    return bool(np.any(apart <= 1e-10 * abs(values).max(initial=0.0)))


def draw_random_block(basis: Basis, width: int, rng: np.random.Generator) -> Array:
    """Return random orthonormal columns outside the span of the basis."""
    random = rng.standard_normal((basis.Q.shape[0], width))
    scale = float(np.linalg.norm(random))
    return orthonormalize(random - basis.Q @ (basis.Q.T @ random), basis.Q, scale)[0]


def compute_ritz_pairs(H: Array, by_magnitude: bool) -> tuple[Array, Array]:
    """Return the eigenvalues of a projection of P, leading first, and the eigenvectors S (m, m)."""
    values, S = np.linalg.eigh(H) if len(H) <= MAX_DIRECT_SIZE else call_interruptibly(np.linalg.eigh, H)
    order = np.argsort(-abs(values) if by_magnitude else -values, kind="stable")
    return values[order], S[:, order]


def compute_residual_ratio(values: Array, outside: Array, wanted: int) -> float:
    """Return the largest residual of the `wanted` leading pairs over its tolerance; 1 or less is converged."""
    # `outside` (w, m): the components of P times each Ritz vector in the directions of the next block.
    if len(values) < wanted:
        return np.inf
    residuals = np.linalg.norm(outside[:, :wanted], axis=0) / max(abs(values).max(), np.finfo(float).tiny)
    allowed = np.full(wanted, RESIDUAL_TOLERANCE)
    allowed[-1] = np.sqrt(RESIDUAL_TOLERANCE)  # it is not part of the result
    return float((residuals / allowed).max())


def choose_growth(before: tuple[int, float], now: tuple[int, float], width: int) -> int:
    """Return by how many columns the basis should grow until the next check, if residuals fall at the same rate."""
    (old_size, old_ratio), (size, ratio) = before, now
    most = max(width, int(MAX_BASIS_GROWTH * size))
    if not 1.0 < ratio < old_ratio < np.inf or old_size >= size:
        return most
    per_column = np.log(old_ratio / ratio) / (size - old_size)
    return int(min(most, max(width, np.log(ratio) / per_column)))


def orthonormalize(W: Array, Q: Array, scale: float) -> tuple[Array, Array]:
    """Return an orthonormal basis X of W (n, w), orthogonal to Q, and XᵀW; empty if W is rounding error of `scale`."""
    X, R = np.linalg.qr(W)
    directions, sizes, _ = np.linalg.svd(R)
    if sizes.min() >= 1e-3 * scale:
        return X, R
    kept = sizes > 1e-14 * scale
    X, coupling = X @ directions[:, kept], directions[:, kept].T @ R
    # Directions that were mostly canceled are no longer orthogonal to Q.
    for _ in range(2):
        X, R = np.linalg.qr(X - Q @ (Q.T @ X))
        X *= np.sign(np.diag(R))
    return X, coupling


def normalize_eigenvectors(U: Array) -> Array:
    """Scale the columns of U to length one, in place, the largest entry of each positive."""
    high, low = U.max(axis=0), U.min(axis=0)
    U /= np.where(high < -low, low, high)  # to the size of one first: squares of tiny entries underflow
    U /= np.sqrt(np.einsum("ij,ij->j", U, U))
    return U
