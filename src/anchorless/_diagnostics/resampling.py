"""Bootstrap resamples of the documents, and the topics of each, started from the topics of all documents.

A resample gives each document a weight, the number of times it was drawn: P = DᵀDiag(w)D / Σw. Its leading
eigenvectors lie nearly in the span of those of all documents. The Rayleigh–Ritz method in a span twice as wide, with
projections of the documents computed once, and one product with P find them up to an error of second order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from anchorless._core.anchored import relax_volume
from anchorless._core.anchorfree import FitResult, compute_word_ratios
from anchorless._core.constraints import compute_error_variance, find_reliable_words
from anchorless._core.cooccurrence import DocumentCooccurrence, compute_pair_weights, solve_from_right
from anchorless._core.document_lengths import compute_row_norms, scale_rows
from anchorless._core.eigen import find_leading_eigenpairs
from anchorless._core.lp.simplex import SimplexSolver
from anchorless._core.products import build_products
from anchorless._core.refine import Rounds, Sweeps, refine_topics
from anchorless._core.topics import compute_qr_factor
from anchorless._core.volume import Volume, maximize_volume
from anchorless._corpus.documents import Array, Documents
from anchorless._corpus.threads import call_interruptibly
from anchorless.errors import InputError, RankError

#: Width of the span in which the eigenvectors of a resample are searched for, in multiples of the number of topics.
SPAN_FACTOR = 2
#: Largest size of the projections of the documents on that span; if it is exceeded, the span is not widened.
MAX_PROJECTIONS = 100_000_000
#: Sweeps of the rounds in which a resample's topics are refined. They start from the volume of the resample: started
#: from the topics of all documents, so few rounds would hide half of the spread.
RESAMPLE_ROUNDS = Rounds((Sweeps(4), Sweeps(1)), (Sweeps(4),))
#: Columns of length about one whose R has this much on its diagonal are nearly orthonormal.
MIN_DIAGONAL = 0.1
#: If the smallest cosine between the spans is below this, the resample lacks a direction of the fit.
MIN_COSINE = 1e-3
#: Leading words of each topic by which the topics of a resample are matched with those of all documents.
N_MATCHED_WORDS = 100
#: Fewest documents that are resampled; there must also be two per topic.
MIN_DOCUMENTS_TO_RESAMPLE = 20

#: Documents D (N, V) and Dᵀ in CSR format, orthonormal Q (V, p) and DQ (N, p); several fits can share them.
ProjectedDocuments = tuple[Any, Any, Array, Array]


def project_documents(P: DocumentCooccurrence, Q: Array) -> ProjectedDocuments:
    """Return the documents of P and their projections on the columns of Q (V, p)."""
    D = sp.vstack(P.documents.blocks, format="csr")
    return D, D.T.tocsr(), Q, np.asarray(call_interruptibly(D.__matmul__, Q))  # seconds at hundreds of topics


class Resampler:
    """All documents, their topics, and what all resamples share."""

    def __init__(
        self,
        P: DocumentCooccurrence,
        counts: Documents,
        fit: FitResult,
        rng: np.random.Generator,
        shared: ProjectedDocuments | None = None,
    ) -> None:
        F, least = len(fit.spectrum.values), max(MIN_DOCUMENTS_TO_RESAMPLE, 2 * len(fit.spectrum.values))
        if (P.n_documents or 0) < least:
            few = f"{P.n_documents} documents are too few to resample with {F} topics"
            raise InputError(f"{few}; at least {least} are needed")
        self.P, self.fit, self.n_documents = P, fit, counts.shape[0]
        # In the order of the topics of the fit, which is not that of the volume problem.
        self.M = np.ascontiguousarray(fit.volume.M[:, fit.topics.order])
        n_matched = min(N_MATCHED_WORDS, len(fit.topics.C))
        self.matched_words = np.unique(np.argpartition(-fit.topics.C, n_matched - 1, axis=0)[:n_matched])
        self.ratio = compute_word_ratios(P, fit.spectrum)
        self.reliable = find_reliable_words(self.ratio, F)
        self._pairs = None  # h / (n(n−1)) for every document (N, V): the pairs of a token with itself
        if P.unbiased:
            self._pairs = sp.vstack([sp.diags(compute_pair_weights(X)) @ X for X in counts.blocks], format="csr")
        self._D, self._DT, self._Q, self._Y = project_documents(P, self._choose_span(rng)) if shared is None else shared
        # The squared length of each document over that of its version in P (N,).
        both = (P.unadjusted.blocks, P.documents.blocks)
        given, used = (np.concatenate([compute_row_norms(D) for D in blocks]) for blocks in both)
        self._square_ratios = np.divide(given, used, out=np.ones_like(given), where=used > 0) ** 2

    def _choose_span(self, rng: np.random.Generator) -> Array:
        """Return orthonormal columns in whose span the eigenvectors of resamples are searched for."""
        U = self.fit.spectrum.vectors
        wide = min(SPAN_FACTOR * U.shape[1], min(self.P.documents.shape) - 1)
        if wide <= U.shape[1] or wide * self.n_documents > MAX_PROJECTIONS:
            return U
        try:
            return find_leading_eigenpairs(self.P, wide, rng).vectors
        except RankError:
            return U

    def draw_weights(self, rng: np.random.Generator) -> Array:
        """Draw N documents with replacement, and return how often each was drawn (N,)."""
        return rng.multinomial(self.n_documents, np.full(self.n_documents, 1.0 / self.n_documents)).astype(np.float64)

    def compute_subspace(self, w: Array) -> tuple[Array, Array]:
        """Return the leading eigenvectors U (V, F) of the documents with weights w (N,), and UᵀPU (F, F)."""
        U, diagonal = self.compute_eigenvectors(w), self._diagonal(w)
        Z = self._D @ U
        inner = (Z.T * w) @ Z / w.sum()
        if diagonal is not None:
            inner -= (U.T * diagonal) @ U
        return U, (inner + inner.T) / 2

    def compute_eigenvectors(self, w: Array) -> Array:
        """Return the leading eigenvectors of the documents with weights w (N,)."""
        F, N, diagonal = self.M.shape[0], w.sum(), self._diagonal(w)
        Q, Y = self._Q, self._Y
        H = (Y.T * w) @ Y / N
        if diagonal is not None:
            H -= (Q.T * diagonal) @ Q
        values, S = np.linalg.eigh((H + H.T) / 2)
        values, S = values[::-1][:F], S[:, ::-1][:, :F]
        if values[-1] <= 1e-12 * values[0]:
            rank = int(np.count_nonzero(values > 1e-12 * values[0]))
            problem = f"a resample of the {self.n_documents} documents supports at most {rank}"
            remedy = "lower {n_components} or add documents"
            raise RankError(problem, parameter="n_components", value=F, limit=rank, remedy=remedy)
        image = np.asarray(self._DT @ ((Y @ S) * w[:, None])) / N
        if diagonal is not None:
            image -= diagonal[:, None] * (Q @ S)
        return reorthonormalize(image / values)

    def _diagonal(self, w: Array) -> Array | None:
        """Return what the unbiased P subtracts from its diagonal (V,); None for the biased P."""
        return None if self._pairs is None else np.asarray(self._pairs.T @ w) / w.sum()

    def project_topics(self, U: Array) -> Array:
        """Return the topics of all documents as coordinates M (F, F) in a resample's U (V, F); UM has sums of one."""
        left, cosines, right = np.linalg.svd(self.fit.spectrum.vectors.T @ U)
        # If the resample lacks a direction of the fit, the inverse would only magnify noise.
        scale = 1.0 / cosines if cosines[-1] > MIN_COSINE else 1.0
        M = right.T @ (np.multiply(scale, left).T @ self.M)
        return np.asarray(M / (U.sum(axis=0) @ M))

    def estimate_topics(self, w: Array, U: Array) -> Array:
        """Return the topics (V, F) of the resample, by the steps of the fit: volume, then a few refinement rounds."""
        from_volume = U @ self.maximize_volume(U).M
        drawn = np.flatnonzero(w > 0)
        scaled = Documents.from_matrix(scale_rows(self._D[drawn], np.sqrt(w[drawn])))
        # With the sums of all documents, the choice of the words that are refined first does not vary.
        return refine_topics(build_products(scaled, 1), from_volume, self.ratio, RESAMPLE_ROUNDS, self.P.word_sums)

    def maximize_volume(self, U: Array) -> Volume:
        """Return the volume in the span of U (V, F), from the topics of all documents, or as the fit found it."""
        R, s = U[self.reliable], U.sum(axis=0)
        if self.fit.volume.stopped_by == "pivots":
            relaxed = relax_volume(R, s, compute_error_variance(self.ratio[self.reliable], len(s)))
            if relaxed is not None:
                return relaxed
        return maximize_volume(SimplexSolver(R, s), [self.project_topics(U)], 1e-5, 20)

    def estimate_moments(self, w: Array, C: Array) -> Array:
        """Return the moments E (F, F) of the topics C (V, F) in the resample with weights w (N,)."""
        R = compute_qr_factor(C)
        Z = solve_from_right(self._D @ C, R)
        inner = (Z.T * (w * self._square_ratios)) @ Z / w.sum()
        E = np.linalg.solve(R, np.linalg.solve(R, (inner + inner.T) / 2).T)
        return np.asarray((E + E.T) / 2)


def reorthonormalize(X: Array) -> Array:
    """Return an orthonormal basis of the columns of X (V, F), which are nearly orthonormal."""
    R = compute_qr_factor(X)
    # If they are not, because eigenvalues are rounding errors, dividing by R would not make them orthonormal.
    is_regular = abs(np.diag(R)).min() > MIN_DIAGONAL
    return np.ascontiguousarray(solve_from_right(X, R) if is_regular else np.linalg.qr(X)[0])
