"""AnchorFree as a scikit-learn estimator: check, compute, store."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from anchorless.checks import check_choice, check_entries, check_positive, check_whole, checked_matrix
from anchorless.cooccurrence import Cooccurrence, DocumentCooccurrence, MatrixCooccurrence
from anchorless.documents import Array, Documents, usable_threads
from anchorless.errors import InputError, SpectrumWarning
from anchorless.explained import trusted_words
from anchorless.polytope import Polytope
from anchorless.refine import refined
from anchorless.spectrum import Spectrum, leading_eigenpairs
from anchorless.topics import Topics, as_pmf, assemble
from anchorless.volume import Volume, maximise_volume, starting_points
from anchorless.weights import document_weights, gram_matrix

#: A relative gap between eigenvalues below this is a tie: which direction was kept is chance.
GAP_LIMIT = 1e-6
#: Up to this many topics, two more starts cost little.
CHEAP_TOPICS = 12


class Fit(NamedTuple):
    """Everything that a fit found."""

    spectrum: Spectrum
    volume: Volume
    topics: Topics
    clipped_mass: Array  # (F,)
    n_constraints: int


class AnchorFree(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Correlated topics without anchor words (Huang, Fu, Sidiropoulos, NIPS 2016).

    The co-occurrence matrix P of the words is split as P = CECᵀ with the columns of C probability mass
    functions. Among all such C the one of largest volume is taken; it is unique if the words are
    sufficiently scattered over the topics. Same data, same parameters, same bits.

    Parameters
    ----------
    n_components : int, default=2
        Number of topics.
    constraint : {"explained", "hard"}, default="explained"
        "hard" is the paper to the letter: no word may have a negative probability in any topic, the volume
        is maximised from the identity. "explained" is made for real corpora: only words whose row of the
        spectrum is known well enough constrain the topics, further starts insure against a poor one
        (up to 12 topics), and the topics are re-estimated from the documents. On exact data
        both give the same topics.
    cooccurrence : {"biased", "unbiased"}, default="biased"
        "biased" is DᵀD / N of the documents as given; "unbiased" the estimator of Arora et al., for counts.
    normalize : bool, default=False
        Whether `transform` scales each document's weights to sum to one. Off, `transform(X) @ components_`
        approximates X.
    tol : float, default=1e-7
        The volume has converged when a sweep changes its logarithm by no more than this, relatively.
    max_iter : int, default=200
        The most sweeps from one start.
    block_size : int or None, default=None
        Documents per block; None for blocks of about 250,000 entries. Results of other block sizes agree
        to rounding.
    n_threads : int or None, default=None
        Threads over the blocks; None for every core. The result does not depend on it, to the bit.
    random_state : int, RandomState instance or None, default=0
        Seeds the start of the eigensolver and the further starts of the volume.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_words)
        The topics, each row a probability mass function over the words, largest share first.
    topic_moments_ : ndarray of shape (n_components, n_components)
        E of the paper: second moments of the topic weights.
    topic_correlation_ : ndarray of shape (n_components, n_components)
        Correlation of the topics' proportions over the documents: unit diagonal, within [-1, 1], positive
        semidefinite (see `anchorless.topics.topic_correlation`).
    topic_shares_ : ndarray of shape (n_components,)
        Share of each topic in the weight of all documents.
    eigenvalues_ : ndarray of shape (n_components,)
        Leading eigenvalues of P.
    log_volume_ : float
        log|det M| at the maximum; for constraints on all words, ½ log det CᵀC.
    n_iter_ : int
        Sweeps of the best start.
    converged_ : bool
        Whether the last sweep changed the volume by no more than `tol`.
    clipped_mass_ : ndarray of shape (n_components,)
        Negative probability mass that was clipped from each topic at the maximum of the volume.
    n_constraints_ : int
        Words that constrained the topics.
    n_features_in_ : int
        Number of words.
    feature_names_in_ : ndarray of shape (n_words,)
        Names of the words, where X had string column names.

    Examples
    --------
    >>> import numpy as np
    >>> from anchorless import AnchorFree
    >>> X = np.array([[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 3, 1], [0, 0, 1, 3], [1, 1, 1, 1]])
    >>> AnchorFree(n_components=2).fit(X).components_.round(2)
    array([[0. , 0. , 0.5, 0.5],
           [0.5, 0.5, 0. , 0. ]])
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        constraint: str = "explained",
        cooccurrence: str = "biased",
        normalize: bool = False,
        tol: float = 1e-7,
        max_iter: int = 200,
        block_size: int | None = None,
        n_threads: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.constraint = constraint
        self.cooccurrence = cooccurrence
        self.normalize = normalize
        self.tol = tol
        self.max_iter = max_iter
        self.block_size = block_size
        self.n_threads = n_threads
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the topics of documents × words: sparse or dense, nonnegative, or a list of such blocks."""
        self._check_parameters()
        documents = self._documents(X, reset=True)
        if documents.shape[0] < 2:
            raise InputError("n_samples = 1: co-occurrences need at least 2 documents; add documents")
        if sum(block.nnz for block in documents.blocks) == 0:
            raise InputError("X is all zero: no document holds a word; check the vocabulary or the weighting")
        P = DocumentCooccurrence(
            documents, unbiased=self.cooccurrence == "unbiased", n_threads=usable_threads(self.n_threads)
        )
        return self._fit(P)

    def fit_cooccurrence(self, P: Any, n_documents: int | None = None) -> Self:
        """Find the topics of a symmetric co-occurrence matrix, words × words: dense, sparse or LinearOperator.

        P may be indefinite. `n_documents`, if known, is the number of documents that P averages over: it
        tells how well each word is known.
        """
        self._check_parameters()
        if n_documents is not None:
            check_whole("n_documents", n_documents)
        matrix = MatrixCooccurrence(P, n_documents)
        self.n_features_in_ = matrix.n_words
        return self._fit(matrix)

    def transform(self, X: Any) -> Array:
        """Return the weights of documents × words, (n_documents, n_components), each row from its own document.

        Each row minimises ‖x − w·components_‖ over w ≥ 0. A document without a word gets zeros, also
        when `normalize` is on. Words are known by their column, so X must have the columns of the training
        documents; words that no topic holds do not count.
        """
        check_is_fitted(self)
        with threadpool_limits(1, user_api="blas"):
            documents = self._documents(X, reset=False)
            C = np.ascontiguousarray(self.components_.T)
            W = document_weights(documents, C, usable_threads(self.n_threads))
        if self.normalize:
            total = W.sum(axis=1, keepdims=True)
            np.divide(W, total, out=W, where=total > 0)
        return W

    def inverse_transform(self, W: Any) -> Array:
        """Return the documents that weights W describe: W times the topics."""
        check_is_fitted(self)
        return np.asarray(W, dtype=np.float64) @ self.components_

    def score(self, X: Any, y: Any = None) -> float:
        """Return the share of X's sum of squares that its topics explain; at most 1, higher is better."""
        check_is_fitted(self)
        documents = self._documents(X, reset=False)
        C = np.ascontiguousarray(self.components_.T)
        W = document_weights(documents, C, usable_threads(self.n_threads))
        total = sum(float(D.data @ D.data) for D in documents.blocks)
        if total == 0:
            raise InputError("X is all zero, so no share of it can be explained; score other documents")
        XC = np.vstack([D @ C for D in documents.blocks])
        # ‖X − WCᵀ‖² = ‖X‖² − 2⟨XC, W⟩ + ⟨WᵀW, CᵀC⟩, without the dense product
        return float((2 * np.sum(XC * W) - np.sum((W.T @ W) * gram_matrix(C))) / total)

    def _documents(self, X: Any, *, reset: bool) -> Documents:
        """Return X as blocks of documents, checked."""
        if isinstance(X, list | tuple) and len(X) and all(hasattr(block, "tocsr") for block in X):
            X = Documents(X)
        if isinstance(X, Documents):
            for block in X.blocks:
                check_entries(block, type(self).__name__)
            if reset:
                self.n_features_in_ = X.shape[1]
            elif X.shape[1] != self.n_features_in_:
                raise InputError(
                    f"X has {X.shape[1]} words, but {type(self).__name__} was fitted on {self.n_features_in_}; "
                    "count with the training vocabulary"
                )
            return X
        return Documents.from_matrix(checked_matrix(self, X, reset=reset), self.block_size)

    def _check_parameters(self) -> None:
        check_whole("n_components", self.n_components)
        check_choice("constraint", self.constraint, ("explained", "hard"))
        check_choice("cooccurrence", self.cooccurrence, ("biased", "unbiased"))
        check_positive("tol", self.tol)
        check_whole("max_iter", self.max_iter)
        if self.block_size is not None:
            check_whole("block_size", self.block_size)
        usable_threads(self.n_threads)

    def _fit(self, P: Cooccurrence) -> Self:
        if self.n_components > P.n_words:
            raise InputError(
                f"n_components={self.n_components}, but there are only n_features={P.n_words} words; lower n_components"
            )
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        # One BLAS thread: its rounding depends on their number, and ours share the same cores.
        with threadpool_limits(1, user_api="blas"):
            found = find_topics(
                P,
                self.n_components,
                hard=self.constraint == "hard",
                tol=self.tol,
                max_sweeps=self.max_iter,
                rng=np.random.default_rng(seed),
            )
        self._store(found)
        self._warn(found)
        return self

    def _store(self, found: Fit) -> None:
        self.components_ = np.ascontiguousarray(found.topics.C.T)
        self.topic_moments_ = found.topics.E
        self.topic_correlation_ = found.topics.correlation
        self.topic_shares_ = found.topics.shares
        self.eigenvalues_ = found.spectrum.values
        self.log_volume_ = found.volume.log_volume
        self.n_iter_ = len(found.volume.history)
        self.converged_ = found.volume.converged
        self.clipped_mass_ = found.clipped_mass
        self.n_constraints_ = found.n_constraints

    def _warn(self, found: Fit) -> None:
        if found.spectrum.gap < GAP_LIMIT:
            warnings.warn(
                f"eigenvalue {self.n_components} of P, {found.spectrum.values[-1]:.6g}, is not separated from the "
                f"next, {found.spectrum.next_value:.6g}: the last topic direction is chance; try another n_components",
                SpectrumWarning,
                stacklevel=3,
            )
        if not found.volume.converged:
            warnings.warn(
                f"the volume still grew after max_iter={self.max_iter} sweeps; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=3,
            )

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


def find_topics(
    P: Cooccurrence, n_topics: int, *, hard: bool, tol: float, max_sweeps: int, rng: np.random.Generator
) -> Fit:
    """Return the topics of P: spectrum, volume, topics; `hard` as in the paper, else as real corpora need it."""
    spectrum = leading_eigenpairs(P, n_topics, rng)
    U = spectrum.vectors
    energy = None if hard else P.energy()
    trusted = np.ones(len(U), dtype=bool) if energy is None else trusted_words(spectrum, energy, P.n_documents)
    polytope = Polytope(U[trusted], U.sum(axis=0))
    n_starts = 1 if hard or n_topics > CHEAP_TOPICS else 3
    volume = maximise_volume(polytope, starting_points(n_topics, n_starts, rng), tol, max_sweeps)
    C, clipped_mass = as_pmf(U @ volume.M)
    if not hard and isinstance(P, DocumentCooccurrence):
        C, _ = as_pmf(refined(P.documents, C, P.n_threads))
    topics = assemble(P, C)
    return Fit(spectrum, volume, topics, clipped_mass, int(trusted.sum()))
