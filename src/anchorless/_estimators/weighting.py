"""The weightings of counts as scikit-learn transformers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from anchorless._core.weighting import (
    DEGREE_FLOOR,
    INVERSE_FREQUENCIES,
    apply_normalized_cut,
    apply_tfidf,
    compute_idf,
    compute_least_degree,
    sum_columns,
)
from anchorless._corpus.documents import Array
from anchorless._corpus.sparse import to_canonical_csr
from anchorless._validation import check_choice, validate_matrix
from anchorless.errors import InputError


class _Weighting(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):
    """What the weightings share: input is nonnegative, output has its shape and sparsity."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Compute the statistics of the training documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Counts or weights.
        y : ignored

        Returns
        -------
        self
            The fitted transformer.
        """
        self._compute_statistics(to_canonical_csr(validate_matrix(self, X, reset=True)))
        return self

    def transform(self, X: Any) -> Any:
        """Weight documents, each by itself, with the statistics of the training documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Counts or weights, with the columns of the training documents.

        Returns
        -------
        {ndarray, sparse matrix} of shape (n_documents, n_words)
            The weighted documents, sparse if X is.
        """
        check_is_fitted(self)
        given = validate_matrix(self, X, reset=False)
        weighted = self._apply(to_canonical_csr(given))
        if isinstance(given, sp.sparray):
            return sp.csr_array(weighted)
        return weighted if sp.issparse(given) else weighted.toarray()

    @abstractmethod
    def _compute_statistics(self, X: Any) -> None:
        """Check the parameters, compute the statistics of CSR documents and store them."""

    @abstractmethod
    def _apply(self, X: Any) -> Any:
        """Return CSR documents weighted, X unchanged."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


class TfidfWeighting(_Weighting):
    """Weight words by term frequency times inverse document frequency, by default as in the paper's corpora.

    Parameters
    ----------
    tf : {"log", "count", "binary"}, default="log"
        Term frequency: 1 + log(count), the count itself, or 1 for every word that occurs.
    idf : {"plain", "smooth", "chi2", "none"}, default="plain"
        Inverse document frequency: log(N / df); log((1 + N) / (1 + df)) + 1 as in scikit-learn;
        √(N / (df + √N / 4)) − 3/4, near the chi-square distance, as `TopicModel` weights words; or 1.
    norm : {"l2", "l1"} or None, default="l2"
        The norm that is scaled to one in every document. Documents without a word stay zero.

    Attributes
    ----------
    idf_ : ndarray of shape (n_words,)
        The weight of each word: 0 for a word in none of the training documents and, with idf="plain", in all of them.
    n_features_in_, feature_names_in_
        Number of words, and their names where X had string column names.

    Examples
    --------
    >>> from anchorless import TfidfWeighting
    >>> TfidfWeighting(tf="count", norm=None).fit_transform([[3, 1, 0], [1, 0, 2]]).round(2)
    array([[0.  , 0.69, 0.  ],
           [0.  , 0.  , 1.39]])
    """

    def __init__(self, *, tf: str = "log", idf: str = "plain", norm: str | None = "l2") -> None:
        self.tf = tf
        self.idf = idf
        self.norm = norm

    def _compute_statistics(self, X: Any) -> None:
        check_choice("tf", self.tf, ("log", "count", "binary"))
        check_choice("idf", self.idf, tuple(INVERSE_FREQUENCIES))
        check_choice("norm", self.norm, ("l2", "l1", None))
        document_frequency = np.bincount(X.indices, minlength=X.shape[1]).astype(np.float64)
        self.idf_ = compute_idf(document_frequency, X.shape[0], self.idf)

    def _apply(self, X: Any) -> Any:
        return apply_tfidf(X, self.idf_, self.tf, self.norm)


class NormalizedCutWeighting(_Weighting):
    """Weight documents by normalized cuts (Xu et al. 2003): divide each document d by √(d·m), m the sum of all.

    Documents that resemble many others get less weight, which evens out clusters of unequal size. New documents are
    compared with the sum of the training documents, so that each row depends on itself only and `fit_transform(X)`
    equals `fit(X).transform(X)`. A document that shares no word with the training documents becomes zero.

    Parameters
    ----------
    floor : float, default=0.25
        A similarity d·m below this share of the median of the training documents counts as that share of it. With 0,
        as in the literature, documents that resemble no other become topics of their own in noisy text.

    Attributes
    ----------
    sum_ : ndarray of shape (n_words,)
        The sum of the training documents.
    least_degree_ : float
        A smaller similarity counts as this much.
    n_features_in_, feature_names_in_
        Number of words, and their names where X had string column names.

    Examples
    --------
    >>> from anchorless import NormalizedCutWeighting
    >>> NormalizedCutWeighting().fit_transform([[1, 0, 0], [1, 0, 0], [0, 1, 1]]).round(2)
    array([[0.71, 0.  , 0.  ],
           [0.71, 0.  , 0.  ],
           [0.  , 0.71, 0.71]])
    """

    def __init__(self, *, floor: float = DEGREE_FLOOR) -> None:
        self.floor = floor

    def _compute_statistics(self, X: Any) -> None:
        if isinstance(self.floor, bool) or not isinstance(self.floor, Real) or not 0 <= self.floor < np.inf:
            raise InputError("it must be a finite number of at least 0", parameter="floor", value=self.floor, limit=0)
        self.sum_: Array = sum_columns(X)
        self.least_degree_: float = compute_least_degree(X @ self.sum_, float(self.floor))

    def _apply(self, X: Any) -> Any:
        return apply_normalized_cut(X, self.sum_, self.least_degree_)
