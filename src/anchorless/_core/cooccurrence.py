"""Word co-occurrence P (V × V, symmetric) as an operator: products P·Q, never the matrix itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import solve_triangular
from scipy.sparse.linalg import LinearOperator

from anchorless._core.document_lengths import adjust_lengths
from anchorless._core.products import DocumentProducts, StoredProducts, build_products
from anchorless._corpus.documents import Array, Documents, WordSums, compute_word_sums
from anchorless._corpus.sparse import compute_row_squares, find_fraction, split_range, view_rows
from anchorless._corpus.threads import map_in_threads
from anchorless.errors import InputError

#: A matrix that differs from its transpose by more than this share of its largest entry is not symmetric.
ASYMMETRY_LIMIT = 1e-8
#: Columns of P that exist at the same time where its entries are needed.
COLUMNS_AT_A_TIME = 128
#: Beyond this, products of entries overflow.
LARGEST_ENTRY = 1e150
#: The diagonal of an operator with more words than this is not computed.
OPERATOR_DIAGONAL_LIMIT = 5_000


class GramOperator(NamedTuple):
    """A smaller symmetric operator A = DDᵀ / N (size × size) with the non-zero eigenvalues of P = DᵀD / N."""

    size: int
    product: Callable[[Array], Array]  # AZ
    to_words: Callable[[Array], Array]  # DᵀZ: eigenvectors of A to eigenvectors of P, their length aside
    from_words: Callable[[Array], Array]  # DQ / N, so that `from_words` of `to_words` is `product`


class Cooccurrence(ABC):
    """What the following steps need to know of P."""

    n_words: int
    n_documents: int | None  # that contribute to P, None if unknown
    is_semidefinite: bool  # whether P has no negative eigenvalue except for sampling noise

    @abstractmethod
    def product(self, Q: Array) -> Array:
        """Return P·Q for Q of shape (V, p)."""

    @abstractmethod
    def energy(self) -> Array | None:
        """Return the mean square of each word's data (V,), noise included; None if unknown."""

    def document_frequency(self) -> Array | None:
        """Return the number of documents that contain each word (V,); None if unknown."""
        return None

    def build_gram_operator(self) -> GramOperator | None:
        """Return the Gram matrix of the documents, if it is smaller than P; None if there is none."""
        return None

    def inner(self, C: Array, R: Array) -> Array:
        """Return QᵀPQ (F, F) for Q = CR⁻¹, C of shape (V, F) and R upper triangular."""
        Q = solve_from_right(C, R)
        return Q.T @ self.product(Q)

    def compute_row_squares(self) -> Array:
        """Return the squared length of each row of P (V,)."""
        return np.concatenate([(columns**2).sum(axis=0) for _, columns in self._iter_columns()])

    def _iter_columns(self) -> Iterator[tuple[slice, Array]]:
        """Yield the columns of P, from its products with unit vectors, some at a time, with their positions."""
        for words in split_range(self.n_words, COLUMNS_AT_A_TIME):
            yield words, self.product(np.eye(self.n_words, words.stop - words.start, -words.start))


class DocumentCooccurrence(Cooccurrence):
    """P from documents: biased DᵀD / N, or the unbiased estimator of Arora et al. for counts.

    Unbiased: the mean over documents of (hhᵀ − diag h) / (n(n−1)), with h the counts of a document and n their sum.
    Documents of fewer than two tokens have no pair of words and are left out of the mean.

    With `adjust`, all but `inner` use documents with adjusted lengths: the moments are those of documents as they are.
    """

    is_semidefinite = True

    def __init__(
        self, documents: Documents, *, unbiased: bool = False, adjust: bool = False, n_threads: int = 1
    ) -> None:
        self.unbiased = unbiased
        self.unadjusted = normalize_pairs(documents, n_threads) if unbiased else documents
        self.documents = adjust_lengths(self.unadjusted, n_threads) if adjust else self.unadjusted
        self.n_threads = n_threads
        self.n_words = documents.shape[1]
        n_documents = count_informative(documents, n_threads, unbiased=unbiased)
        self.n_documents: int | None = n_documents
        self._n_averaged = n_documents if unbiased else documents.shape[0]
        self._diagonal = sum_self_pairs(documents, n_threads) / n_documents if unbiased else None

    def product(self, Q: Array) -> Array:
        """Return P·Q (V, p)."""
        PQ = self.products.multiply_word_gram(Q) / self._n_averaged
        if self._diagonal is not None:
            PQ -= self._diagonal[:, None] * Q
        return PQ

    def build_gram_operator(self) -> GramOperator | None:
        """Return DDᵀ / N if documents are fewer than words and stored by row and by column; the unbiased P has none."""
        D, n = self.products, self._n_averaged
        if self._diagonal is not None or self.documents.shape[0] >= self.n_words or not isinstance(D, StoredProducts):
            return None
        return GramOperator(
            D.shape[0], lambda Z: D.multiply_document_gram(Z) / n, D.to_words, lambda Q: D.to_documents(Q) / n
        )

    @cached_property
    def products(self) -> DocumentProducts:
        """Products with the documents."""
        return build_products(self.documents, self.n_threads)

    def inner(self, C: Array, R: Array) -> Array:
        """Return QᵀPQ for Q = CR⁻¹: the mean of the outer products of the rows of DQ, without a product with Dᵀ."""

        def outer(DC: Array) -> Array:
            DQ = solve_from_right(DC, R)
            return DQ.T @ DQ

        D = self.products
        if self.unadjusted is not self.documents:
            D = DocumentProducts(self.unadjusted, D.team)
        result = D.sum_products(C, outer) / self._n_averaged
        if self._diagonal is not None:
            Q = solve_from_right(C, R)
            result -= Q.T @ (self._diagonal[:, None] * Q)
        return result

    def energy(self) -> Array:
        """Return the mean square of each word over the documents."""
        return self.word_sums.squares / self._n_averaged

    def document_frequency(self) -> Array:
        """Return the number of documents that contain each word (V,)."""
        return self.word_sums.frequency

    @cached_property
    def word_sums(self) -> WordSums:
        """For each word, sums over the documents."""
        return compute_word_sums(self.documents, self.n_threads)

    def compute_row_squares(self) -> Array:
        """Return the squared length of each row of P (V,), from `COLUMNS_AT_A_TIME` sparse rows of it at a time."""
        if not self.documents.in_memory:
            return super().compute_row_squares()
        documents = sp.vstack(self.documents.blocks, format="csr")
        by_word = documents.tocsc().T

        def squares(words: slice) -> Array:
            rows = view_rows(by_word, words.start, words.stop) @ documents / self._n_averaged
            if self._diagonal is not None:
                own = sp.diags([self._diagonal[words]], [words.start], shape=rows.shape)
                rows = (rows - own).tocsr()
            return compute_row_squares(rows)

        slices = split_range(self.n_words, COLUMNS_AT_A_TIME)
        return np.concatenate([*map_in_threads(squares, slices, self.n_threads)])


class MatrixCooccurrence(Cooccurrence):
    """A given symmetric P: dense, sparse or a LinearOperator; definite or not."""

    is_semidefinite = False

    def __init__(self, P: Any, n_documents: int | None = None) -> None:
        self.P = validate_symmetric(P)
        self.n_words = int(self.P.shape[0])
        self.n_documents = n_documents

    def product(self, Q: Array) -> Array:
        """Return P·Q (V, p)."""
        return np.asarray(self.P @ Q)

    def energy(self) -> Array | None:
        """Return the diagonal of P (V,); None for a large operator, where it would cost one product per word."""
        if isinstance(self.P, LinearOperator) and self.n_words > OPERATOR_DIAGONAL_LIMIT:
            return None
        if isinstance(self.P, LinearOperator):
            return np.concatenate([np.diag(columns[words]) for words, columns in self._iter_columns()])
        return np.asarray(self.P.diagonal(), dtype=np.float64)

    def compute_row_squares(self) -> Array:
        """Return the squared length of each row of P."""
        if sp.issparse(self.P):
            return np.asarray(self.P.multiply(self.P).sum(axis=0)).ravel()
        if isinstance(self.P, LinearOperator):
            return super().compute_row_squares()
        return np.einsum("ij,ij->j", self.P, self.P)


def solve_from_right(B: Array, R: Array) -> Array:
    """Return BR⁻¹ for an upper triangular R."""
    return np.asarray(solve_triangular(R, B.T, trans="T"), dtype=np.float64).T


def compute_pair_weights(X: Any) -> Array:
    """Return 1 / (n(n−1)) for each document of n tokens, 0 if it has no pair of tokens."""
    n = np.asarray(X.sum(axis=1)).ravel()
    return np.divide(1.0, n * (n - 1.0), out=np.zeros_like(n), where=n >= 2)


def count_informative(documents: Documents, n_threads: int, *, unbiased: bool) -> int:
    """Return how many documents contain a word, for the unbiased P two tokens or more."""
    measure = compute_pair_weights if unbiased else lambda X: np.diff(X.indptr)
    return int(sum(documents.map_blocks(lambda X: int(np.count_nonzero(measure(X))), n_threads)))


def sum_self_pairs(documents: Documents, n_threads: int) -> Array:
    """Return the sum of h / (n(n−1)) (V,): what the co-occurrences of a token with itself add to DᵀD."""
    return documents.sum_blocks(lambda X: X.T @ compute_pair_weights(X), n_threads)


def normalize_pairs(documents: Documents, n_threads: int) -> Documents:
    """Return each document's counts h as h / √(n(n−1)), after a check that they are counts."""
    for fraction in documents.map_blocks(find_fraction, n_threads):
        if fraction is not None:
            raise InputError(
                f"it needs whole counts, and X contains {fraction:g}",
                parameter="cooccurrence",
                value="unbiased",
                remedy="use {cooccurrence}='biased' for weighted documents",
            )
    if count_informative(documents, n_threads, unbiased=True) == 0:
        raise InputError(
            "no document has two tokens or more",
            parameter="cooccurrence",
            value="unbiased",
            remedy="use longer documents",
        )
    return documents.transform_blocks(lambda X: sp.diags(np.sqrt(compute_pair_weights(X))) @ X)


def validate_symmetric(P: Any) -> Any:
    """Return P as float64: dense, CSR or LinearOperator. Raise if it is not a co-occurrence matrix."""
    if not sp.issparse(P) and not isinstance(P, LinearOperator):
        P = np.asarray(P)
    if getattr(P, "ndim", len(P.shape)) != 2 or P.shape[0] != P.shape[1]:
        raise InputError(f"P has shape {P.shape}, but a co-occurrence matrix is square: words × words")
    if not (np.issubdtype(P.dtype, np.number) or P.dtype == bool) or np.issubdtype(P.dtype, np.complexfloating):
        raise InputError(f"P contains {P.dtype} values, but co-occurrences are real numbers")
    if isinstance(P, LinearOperator):
        if P.dtype in (np.float16, np.float32):
            raise InputError(f"P is an operator in {P.dtype}, which is too imprecise; make it float64")
        return probe_operator(P)
    P = P.astype(np.float64).tocsr() if sp.issparse(P) else np.asarray(P, dtype=np.float64)
    values = P.data if sp.issparse(P) else P
    if not np.all(np.isfinite(values)):
        raise InputError("P contains NaN or infinity; remove or replace those entries")
    size = abs(values).max(initial=0.0)
    if size > LARGEST_ENTRY or 0 < size < 1.0 / LARGEST_ENTRY:
        raise InputError(f"the largest entry of P is {size:.3g}, outside 1e-150 … 1e150; rescale P")
    asymmetry = abs(P - P.T).max() if P.shape[0] else 0.0
    if asymmetry > ASYMMETRY_LIMIT * size:
        raise InputError(
            f"P is not symmetric: it differs from its transpose by {asymmetry:.3g} where its largest entry is "
            f"{size:.3g}; pass (P + P.T) / 2 to use its symmetric part"
        )
    return (P + P.T) / 2 if asymmetry else P


def probe_operator(P: LinearOperator) -> LinearOperator:
    """Return an operator after a test with random vectors for asymmetry, NaN and infinity."""
    probe = np.random.default_rng(0).standard_normal((P.shape[0], 2))
    image = np.asarray(P @ probe)
    if not np.all(np.isfinite(image)):
        raise InputError("P times a finite vector gives NaN or infinity; check the operator")
    xPy, yPx = probe[:, 0] @ image[:, 1], probe[:, 1] @ image[:, 0]
    scale = float(np.linalg.norm(probe[:, 0]) * np.linalg.norm(image))
    if abs(xPy - yPx) > ASYMMETRY_LIMIT * scale:
        raise InputError(f"P is not symmetric: xᵀPy = {xPy:.6g} but yᵀPx = {yPx:.6g} for a random x and y")
    return P
