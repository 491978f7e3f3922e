"""Weightings of counts as scikit-learn transformers: row and column scalings that keep sparse data sparse."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from anchorless._corpus.documents import Array
from anchorless._corpus.sparse import to_canonical_csr
from anchorless._validation import check_choice, validate_matrix
from anchorless.errors import InputError


class _Weighting(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """What the weightings share: nonnegative documents × words in, the same shape and sparsity out."""

    def _documents(self, X: Any, *, reset: bool) -> Any:
        return validate_matrix(self, X, reset=reset)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


def match_format(result: Any, X: Any) -> Any:
    """Return the result as X is: dense, a sparse matrix or a sparse array."""
    if isinstance(X, sp.sparray):
        return sp.csr_array(result)
    return result if sp.issparse(X) else result.toarray()


def scale_columns(X: Any, factors: Array) -> Any:
    """Multiply the columns of a CSR matrix in place."""
    X.data *= factors[X.indices]
    return X


class TfidfWeighting(_Weighting):
    """Term frequency times inverse document frequency, as in the paper's corpora by default.

    Parameters
    ----------
    tf : {"log", "count", "binary"}, default="log"
        1 + log(count), the count itself, or 1 for every word that occurs.
    idf : {"plain", "smooth", "none"}, default="plain"
        log(N / df); log((1 + N) / (1 + df)) + 1 as in scikit-learn; or no weighting by document frequency.
    norm : {"l2", "l1"} or None, default="l2"
        The length that every document gets. Documents without a word stay at zero.

    Attributes
    ----------
    idf_ : ndarray of shape (n_words,)
        The weight of each word, from the training documents. A word that occurred in none of them has
        weight 0, so it never enters a later document.

    Notes
    -----
    With idf="plain" a word in every training document has weight log(1) = 0 and leaves the model.
    """

    def __init__(self, *, tf: str = "log", idf: str = "plain", norm: str | None = "l2") -> None:
        self.tf = tf
        self.idf = idf
        self.norm = norm

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the weight of each word from documents × words."""
        X = to_canonical_csr(self._documents(X, reset=True))
        return self.fit_frequencies(np.bincount(X.indices, minlength=X.shape[1]), X.shape[0])

    def fit_frequencies(self, document_frequency: Any, n_documents: int) -> Self:
        """Learn the weight of each word from the number of documents that hold it (V,), of `n_documents` in all."""
        check_choice("tf", self.tf, ("log", "count", "binary"))
        check_choice("idf", self.idf, ("plain", "smooth", "none"))
        check_choice("norm", self.norm, ("l2", "l1", None))
        df = np.asarray(document_frequency, dtype=np.float64)
        if self.idf == "plain":
            weight = np.log(n_documents / np.maximum(df, 1))
        elif self.idf == "smooth":
            weight = np.log((1 + n_documents) / (1 + df)) + 1.0
        else:
            weight = np.ones(len(df))
        self.idf_ = np.where(df > 0, weight, 0.0)
        self.n_features_in_ = len(df)
        return self

    def transform(self, X: Any) -> Any:
        """Weigh documents × words with the training documents' weights."""
        check_is_fitted(self)
        given = self._documents(X, reset=False)
        X = to_canonical_csr(given).copy()
        if self.tf == "log":
            # Below one the logarithm is negative: a fraction of a token still weighs something.
            X.data = np.where(X.data >= 1.0, 1.0 + np.log(np.maximum(X.data, 1.0)), X.data)
        elif self.tf == "binary":
            X.data[:] = 1.0
        X = scale_columns(X, self.idf_)
        X.eliminate_zeros()
        if self.norm is not None:
            X = normalize(X, norm=self.norm, copy=False)
        return match_format(X, given)


class NormalizedCutWeighting(_Weighting):
    """Normalised-cut weighting (Xu et al. 2003): each document d is divided by √(d·m), m the sum of the documents.

    Documents in the thick of the corpus weigh less, which evens out clusters of unequal size. New
    documents are compared with the sum of the training documents, so that each row depends on itself only
    and `fit_transform(X)` equals `fit(X).transform(X)`. A document that shares no word with them becomes zero.

    Parameters
    ----------
    floor : float, default=0.0
        A similarity d·m below this share of the training documents' median counts as that much. At 0, as in the
        literature, a document unlike any other outweighs hundreds of usual ones, and in dirty text such
        documents take topics for themselves; 0.25 keeps them from it and changes little in clean text.

    Attributes
    ----------
    sum_ : ndarray of shape (n_words,)
        The sum of the training documents.
    least_degree_ : float
        The least similarity that counts.
    """

    def __init__(self, *, floor: float = 0.0) -> None:
        self.floor = floor

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the sum of the documents, and how similar they are to it."""
        X = to_canonical_csr(self._documents(X, reset=True))
        total = np.asarray(X.sum(axis=0)).ravel()
        return self.fit_sum(total, X @ total)

    def fit_sum(self, total: Any, degrees: Any) -> Self:
        """Learn from the sum of the documents (V,) and the similarity of each document to it (N,)."""
        if isinstance(self.floor, bool) or not isinstance(self.floor, Real) or not 0 <= self.floor < np.inf:
            raise InputError(f"floor={self.floor!r}, but it must be a finite number of at least 0")
        degrees = np.asarray(degrees, dtype=np.float64)
        filled = degrees[degrees > 0]
        self.sum_: Array = np.asarray(total, dtype=np.float64)
        self.least_degree_: float = float(self.floor * np.median(filled)) if len(filled) else 0.0
        self.n_features_in_: int = len(self.sum_)
        return self

    def transform(self, X: Any) -> Any:
        """Scale each document by its similarity to the training documents."""
        check_is_fitted(self)
        given = self._documents(X, reset=False)
        X = to_canonical_csr(given).copy()
        degree = X @ self.sum_
        counted = np.maximum(degree, self.least_degree_)
        factors = np.divide(1.0, np.sqrt(counted), out=np.zeros_like(degree), where=degree > 0)
        X.data *= np.repeat(factors, np.diff(X.indptr))
        X.eliminate_zeros()
        return match_format(X, given)
