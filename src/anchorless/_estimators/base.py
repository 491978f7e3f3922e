"""What the estimators share: documents in, weights out, and results stored under the same names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from anchorless._core.cooccurrence import Cooccurrence, DocumentCooccurrence, MatrixCooccurrence
from anchorless._core.nnls import compute_block_weights, compute_document_weights, compute_gram
from anchorless._core.topics import Topics
from anchorless._corpus.documents import Array, Documents
from anchorless._corpus.threads import resolve_n_threads
from anchorless._validation import check_blocks, check_choice, check_whole, validate_matrix
from anchorless.errors import InputError


class TopicEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """The interface of every method. A subclass says how topics come out of P: `_find` and `_check_parameters`."""

    n_components: int
    cooccurrence: str
    normalize: bool
    block_size: int | None
    n_threads: int | None
    random_state: Any

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the topics of documents × words: sparse or dense, nonnegative, or a list of such blocks."""
        self._reset()
        documents = self._documents(X, reset=True)
        if documents.shape[0] < 2:
            raise InputError(
                f"n_samples = {documents.shape[0]}: co-occurrences need at least 2 documents; add documents"
            )
        if not any(documents.map_blocks(lambda D: D.nnz > 0, resolve_n_threads(self.n_threads))):
            raise InputError("X is all zero: no document holds a word; check the vocabulary or the weighting")
        return self._fit(self._build_cooccurrence(documents))

    def fit_cooccurrence(self, P: Any, n_documents: int | None = None) -> Self:
        """Find the topics of a symmetric co-occurrence matrix, words × words: dense, sparse or LinearOperator.

        P may be indefinite. `n_documents`, if known, is the number of documents that P averages over: it
        tells how well each word is known.
        """
        self._reset()
        if n_documents is not None:
            check_whole("n_documents", n_documents)
        matrix = MatrixCooccurrence(P, n_documents)
        self._reset_feature_names(matrix.n_words)
        return self._fit(matrix)

    def transform(self, X: Any) -> Array:
        """Return the weights of documents × words, (n_documents, n_components), each row from its own document.

        Each row minimises ‖x − w·components_‖ over w ≥ 0. A document without a word gets zeros, also
        when `normalize` is on. Words are known by their column, so X must have the columns of the training
        documents; words that no topic holds do not count.
        """
        check_is_fitted(self, "components_")
        W = self._compute_weights(self._documents(X, reset=False))
        if self.normalize:
            total = W.sum(axis=1, keepdims=True)
            np.divide(W, total, out=W, where=total > 0)
        return W

    def inverse_transform(self, W: Any) -> Array:
        """Return the documents that weights W describe: W times the topics."""
        check_is_fitted(self, "components_")
        return np.asarray(W, dtype=np.float64) @ self.components_

    def score(self, X: Any, y: Any = None) -> float:
        """Return the share of X's sum of squares that its topics explain; at most 1, higher is better."""
        check_is_fitted(self, "components_")
        documents = self._documents(X, reset=False)
        with threadpool_limits(1, user_api="blas"):
            C = np.ascontiguousarray(self.components_.T)
            gram = compute_gram(C)
            sums = documents.sum_blocks(lambda D: compute_explained_sums(D, C, gram), resolve_n_threads(self.n_threads))
        if sums[0] == 0:
            raise InputError("X is all zero, so no share of it can be explained; score other documents")
        return float(sums[1] / sums[0])

    def _compute_weights(self, documents: Documents) -> Array:
        with threadpool_limits(1, user_api="blas"):
            C = np.ascontiguousarray(self.components_.T)
            return compute_document_weights(documents, C, resolve_n_threads(self.n_threads))

    def _documents(self, X: Any, *, reset: bool) -> Documents:
        """Return X as blocks of documents, checked."""
        if isinstance(X, list | tuple) and len(X) and all(getattr(block, "ndim", 0) == 2 for block in X):
            X = Documents(X)
        if not isinstance(X, Documents):
            return Documents.from_matrix(validate_matrix(self, X, reset=reset), self.block_size)
        check_blocks(X, type(self).__name__, resolve_n_threads(self.n_threads))
        if reset:
            self._reset_feature_names(X.shape[1])
        elif X.shape[1] != self.n_features_in_:
            raise InputError(
                f"X has {X.shape[1]} words, but {type(self).__name__} was fitted on {self.n_features_in_}; "
                "count with the training vocabulary"
            )
        return X

    def _build_cooccurrence(self, documents: Documents) -> DocumentCooccurrence:
        """Return P of documents."""
        unbiased, n_threads = self.cooccurrence == "unbiased", resolve_n_threads(self.n_threads)
        return DocumentCooccurrence(
            documents, unbiased=unbiased, adjust=self._is_length_adjusted(), n_threads=n_threads
        )

    def _is_length_adjusted(self) -> bool:
        """Tell whether documents count by how many words they have."""
        return False

    def _reset(self) -> None:
        """Check the parameters and forget an earlier fit, so that a failed one leaves no mixture of two."""
        self._check_parameters()
        self.__dict__.pop("components_", None)

    def _reset_feature_names(self, n_words: int) -> None:
        """Set the number of words of input that has no names for them."""
        self.n_features_in_ = n_words
        self.__dict__.pop("feature_names_in_", None)

    def _check_parameters(self) -> None:
        check_whole("n_components", self.n_components)
        check_choice("cooccurrence", self.cooccurrence, ("biased", "unbiased"))
        if self.block_size is not None:
            check_whole("block_size", self.block_size)
        resolve_n_threads(self.n_threads)

    def _fit(self, P: Cooccurrence) -> Self:
        if self.n_components > P.n_words:
            raise InputError(
                f"n_components={self.n_components}, but there are only n_features={P.n_words} words; lower n_components"
            )
        # One BLAS thread: its rounding depends on their number, and ours share the same cores.
        with threadpool_limits(1, user_api="blas"):
            self._store_topics(self._find_topics(P))
        return self

    @abstractmethod
    def _find_topics(self, P: Cooccurrence) -> Topics:
        """Return the topics of P; store and warn of what is special to the method."""

    def _store_topics(self, topics: Topics) -> None:
        self.components_ = np.ascontiguousarray(topics.C.T)
        self.topic_moments_ = topics.E
        self.topic_correlation_ = topics.correlation
        self.topic_shares_ = topics.shares

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


def compute_explained_sums(D: Any, C: Array, gram: Array) -> Array:
    """Return ‖D‖² and what of it the topics C (V, F) explain, ‖D‖² − ‖D − WCᵀ‖² = 2⟨DC, W⟩ − ⟨WᵀW, CᵀC⟩."""
    W = compute_block_weights(D, C, gram)
    return np.array([D.data @ D.data, 2 * np.sum((D @ C) * W) - np.sum((W.T @ W) * gram)])
