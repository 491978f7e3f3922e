"""What the estimators share: validation of documents, document weights, and the names of the results."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from anchorless._core.cooccurrence import Cooccurrence, DocumentCooccurrence, MatrixCooccurrence
from anchorless._core.nnls import compute_document_weights, compute_gram, solve_nnls
from anchorless._core.topics import Topics
from anchorless._corpus.documents import Array, Documents
from anchorless._validation import check_blocks, check_choice, check_whole, resolve_job_count, validate_matrix
from anchorless.errors import InputError, RankError

#: More topics than this need this many documents each: a topic of fewer follows single documents.
MANY_TOPICS, DOCUMENTS_PER_TOPIC = 100, 4


def resolve_n_jobs(estimator: Any) -> int:
    """Return the number of threads for an estimator's `n_jobs`, or for `n_threads`, its old name, with a warning."""
    return resolve_job_count(estimator.n_jobs, estimator.n_threads)


class TopicEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """The interface of every method; a subclass has `_find_topics`, which computes topics from co-occurrences."""

    n_components: int
    cooccurrence: str
    normalize: bool
    block_size: int | None
    n_jobs: int | None
    n_threads: Any

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the topics of documents × words.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words), Documents or list of such blocks
            Nonnegative counts or weights of the words in the documents.
        y : ignored

        Returns
        -------
        self : the fitted estimator

        Raises
        ------
        InputError
            If an entry of X is negative, NaN or infinite, or a parameter has a value that cannot be used.
        RankError
            If the documents support fewer topics than `n_components`.
        """
        self._reset()
        documents = self._validate_documents(X, self._n_threads, reset=True)
        if documents.shape[0] < 2:
            raise InputError(f"n_samples = {documents.shape[0]}: topics need at least 2 documents")
        if not any(documents.map_blocks(operator.attrgetter("nnz"), self._n_threads)):
            raise InputError("X is all zero: no document contains a word; check the vocabulary or the weighting")
        P = self._build_cooccurrence(documents)
        if self.n_components <= P.n_words:  # otherwise `_fit` says that there are too few words
            check_documents_per_topic(self.n_components, P.n_documents or 0)
        return self._fit(P)

    def fit_cooccurrence(self, P: Any, n_documents: int | None = None) -> Self:
        """Find the topics of a matrix of co-occurrences.

        Parameters
        ----------
        P : {array-like, sparse matrix, LinearOperator} of shape (n_words, n_words)
            Symmetric; it may be indefinite.
        n_documents : int or None, default=None
            The number of documents that P averages over, where it is known: it tells how reliable each word is.

        Returns
        -------
        self : the fitted estimator

        Examples
        --------
        >>> from anchorless import AnchorFree
        >>> P = [[2, 2, 0, 0], [2, 2, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]
        >>> AnchorFree(2).fit_cooccurrence(P).components_.round(2)
        array([[0.5, 0.5, 0. , 0. ],
               [0. , 0. , 0.5, 0.5]])
        """
        self._reset()
        if n_documents is not None:
            check_whole("n_documents", n_documents)
        matrix = MatrixCooccurrence(P, n_documents)
        self._reset_feature_names(matrix.n_words)
        return self._fit(matrix)

    def transform(self, X: Any) -> Array:
        """Compute the weight of each topic in each document.

        Each row minimizes ‖x − w·components_‖ over w ≥ 0, and depends on its own document only. A document without a
        word gets zeros, also with `normalize`. Words that are in no topic do not count.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words), Documents or list of such blocks
            Documents × words, with the columns of the training documents.

        Returns
        -------
        weights : ndarray of shape (n_documents, n_components)
        """
        check_is_fitted(self, "components_")
        n_threads = resolve_n_jobs(self)
        documents = self._validate_documents(X, n_threads, reset=False)
        with threadpool_limits(1, user_api="blas"):
            W = compute_document_weights(documents, np.ascontiguousarray(self.components_.T), n_threads)
        if self.normalize:
            total = W.sum(axis=1, keepdims=True)
            np.divide(W, total, out=W, where=total > 0)
        return W

    def inverse_transform(self, X: Any) -> Array:
        """Compute the documents that weights describe: the weights times the topics.

        Parameters
        ----------
        X : array-like of shape (n_documents, n_components)
            The weights, as `transform` returns them.

        Returns
        -------
        documents : ndarray of shape (n_documents, n_words)
        """
        check_is_fitted(self, "components_")
        return np.asarray(X, dtype=np.float64) @ self.components_

    def score(self, X: Any, y: Any = None) -> float:
        """Compute the share of the sum of squares of X that the topics explain.

        Parameters
        ----------
        X, y
            Documents as in `transform`; y is ignored.

        Returns
        -------
        share : float, at most 1; higher is better
        """
        check_is_fitted(self, "components_")
        n_threads = resolve_n_jobs(self)
        documents = self._validate_documents(X, n_threads, reset=False)
        with threadpool_limits(1, user_api="blas"):
            C = np.ascontiguousarray(self.components_.T)
            gram = compute_gram(C)
            sums = documents.sum_blocks(lambda D: compute_explained_sums(D, C, gram), n_threads)
        if sums[0] == 0:
            raise InputError("X is all zero, so no share of it can be explained; score other documents")
        return float(sums[1] / sums[0])

    def _validate_documents(self, X: Any, n_threads: int, *, reset: bool) -> Documents:
        """Return X as `Documents`, with valid entries and the expected number of words."""
        if isinstance(X, list | tuple) and len(X) and all(getattr(block, "ndim", 0) == 2 for block in X):
            X = Documents(X)
        if not isinstance(X, Documents):
            return Documents.from_matrix(validate_matrix(self, X, reset=reset), self.block_size)
        check_blocks(X, type(self).__name__, n_threads)
        if reset:
            self._reset_feature_names(X.shape[1])
        elif X.shape[1] != self.n_features_in_:
            problem = f"X has {X.shape[1]} words, but {type(self).__name__} was fitted on {self.n_features_in_}"
            raise InputError(problem, remedy="count with the training vocabulary")
        return X

    def _build_cooccurrence(self, documents: Documents) -> DocumentCooccurrence:
        """Build the co-occurrences of documents."""
        unbiased, adjust = self.cooccurrence == "unbiased", self._is_length_adjusted()
        return DocumentCooccurrence(documents, unbiased=unbiased, adjust=adjust, n_threads=self._n_threads)

    def _is_length_adjusted(self) -> bool:
        """Tell whether a document counts by its number of different words."""
        return False

    def _reset(self) -> None:
        """Check the parameters and drop an earlier fit, so that a failed fit leaves no mixture of two."""
        self._check_parameters()
        self.__dict__.pop("components_", None)

    def _reset_feature_names(self, n_words: int) -> None:
        """Set the number of words of input that has no names for them."""
        self.n_features_in_ = n_words
        self.__dict__.pop("feature_names_in_", None)

    def _check_parameters(self) -> None:
        """Refuse parameters that cannot be used; resolve those that have an old name, with one warning each."""
        self._n_threads = resolve_n_jobs(self)
        check_whole("n_components", self.n_components)
        check_choice("cooccurrence", self.cooccurrence, ("biased", "unbiased"))
        if self.block_size is not None:
            check_whole("block_size", self.block_size)

    def _fit(self, P: Cooccurrence) -> Self:
        """Find the topics of co-occurrences and store them."""
        if self.n_components > P.n_words:
            n, most = self.n_components, P.n_words
            problem = f"there are only {most} words (n_features={most})"
            raise RankError(problem, parameter="n_components", value=n, limit=most, remedy="lower {n_components}")
        # One BLAS thread: its rounding depends on their number, and our own threads use the same cores.
        with threadpool_limits(1, user_api="blas"):
            self._store_topics(self._find_topics(P))
        return self

    @abstractmethod
    def _find_topics(self, P: Cooccurrence) -> Topics:
        """Find the topics of P; store what only this method has, and warn."""

    def _store_topics(self, topics: Topics) -> None:
        """Store what every method has."""
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


def check_documents_per_topic(n_topics: int, n_documents: int) -> None:
    """Refuse more topics than the documents can tell apart, before the fit spends minutes on them."""
    most = max(MANY_TOPICS, n_documents // DOCUMENTS_PER_TOPIC)
    if n_topics > most and n_documents > most:  # of fewer documents, the spectrum tells how many there are at no cost
        raise RankError(
            f"the {n_documents} documents support at most {most}",
            parameter="n_components",
            value=n_topics,
            limit=most,
            remedy="lower {n_components}, or add documents",
        )


def compute_explained_sums(D: Any, C: Array, gram: Array) -> Array:
    """Compute ‖D‖² and the part that the topics C (V, F) explain, ‖D‖² − ‖D − WCᵀ‖² = 2⟨DC, W⟩ − ⟨WᵀW, CᵀC⟩."""
    W = solve_nnls(gram, D @ C)
    return np.array([D.data @ D.data, 2 * np.sum((D @ C) * W) - np.sum((W.T @ W) * gram)])
