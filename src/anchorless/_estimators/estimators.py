"""The methods as scikit-learn estimators: each says how topics come out of P."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from anchorless._core.anchorfree import FitResult, compute_word_ratios, find_topics
from anchorless._core.anchors import (
    AnchorRule,
    WordVectors,
    extreme_ray,
    fast_anchor,
    successive_nonnegative_projection,
    successive_projection,
)
from anchorless._core.cooccurrence import Cooccurrence
from anchorless._core.document_lengths import adjust_lengths
from anchorless._core.online import (
    OnlineStatistics,
    SketchCooccurrence,
    make_empty_statistics,
    match_columns,
    refine_topics_online,
    reorder_topics,
    update_statistics,
)
from anchorless._core.recover import recover_topics
from anchorless._core.topics import Topics, assemble_topics, to_pmf
from anchorless._corpus.documents import Documents
from anchorless._corpus.threads import resolve_n_threads
from anchorless._diagnostics.identifiability.identifiability import Evidence, Identifiability, assess_identifiability
from anchorless._diagnostics.stability import BootstrapSettings, Stability, bootstrap
from anchorless._estimators.base import TopicEstimator
from anchorless._validation import check_choice, check_positive, check_whole
from anchorless.errors import InputError, SpectrumWarning
from anchorless.progress import ProgressCallback

#: A relative gap between eigenvalues below this is a tie: which direction was kept is chance.
MIN_EIGENGAP = 1e-6


class AnchorFree(TopicEstimator):
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
        (up to 12 topics), and the topics are re-estimated from the documents. With the biased co-occurrence, a
        document counts by how many different words it has, and one more than three times as long as usual as if it
        had that length (see `anchorless._core.document_lengths`); the moments are those of all documents as they are. On exact
        data "hard" and "explained" give the same topics.
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
        Documents per block; None for blocks of about 500,000 entries. Results of other block sizes agree
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
        semidefinite (see `anchorless._core.topics.compute_topic_correlation`).
    topic_shares_ : ndarray of shape (n_components,)
        Share of each topic in the weight of all documents.
    eigenvalues_ : ndarray of shape (n_components,)
        Leading eigenvalues of P; by default, of P with documents that count by their words (see `constraint`).
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
    eigengap_ : float
        How far the last eigenvalue kept is from the first left out, relative to the last kept.
    document_frequency_ : ndarray of shape (n_words,) or None
        Documents that hold each word; None where documents are not known.
    fit_report_ : anchorless._core.anchorfree.FitCost
        What the fit has cost: `seconds` by stage, and `n_products` with P, `n_programs`, `n_pivots` and `n_rows` of
        the linear programs. All but the seconds are the same in every run.
    statistics_ : anchorless._core.online.OnlineStatistics
        After `partial_fit`: what is kept of the documents so far.
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

    statistics_: OnlineStatistics

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

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("constraint", self.constraint, ("explained", "hard"))
        check_positive("tol", self.tol)
        check_whole("max_iter", self.max_iter)

    def _is_length_adjusted(self) -> bool:
        # The unbiased P gives every document the same weight as it is.
        return self.constraint == "explained" and self.cooccurrence == "biased"

    def stability(
        self,
        X: Any,
        n_resamples: int = 50,
        *,
        level: float = 0.9,
        n_words: int = 10,
        n_jobs: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> Stability:
        """Return how far the topics of X depend on which documents are in it: a bootstrap over documents.

        X are the documents that the model was fitted on; the fit is done once more. The record has the share of
        each topic's leading words that survive, and intervals of word probabilities, shares and correlations (see
        `anchorless._diagnostics.stability`). With `cooccurrence="unbiased"` these are corrected for the bias of the fit. `n_jobs`
        threads work on resamples, None for `n_threads`; the result does not depend on it, to the bit. `progress` is
        called with the number of resamples done and of all.
        """
        self._check_parameters()
        jobs = resolve_n_threads(self.n_threads if n_jobs is None else n_jobs)
        check_is_fitted(self, "components_")
        documents = self._documents(X, reset=False)
        P = self._build_cooccurrence(documents)
        settings = BootstrapSettings(n_resamples, level, n_words, self._draw_seed(), jobs)
        with threadpool_limits(1, user_api="blas"):
            return bootstrap(P, documents, self._run_fit(P, settings.seed), settings, progress)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Take in further documents × words and update the topics; a topic keeps its number from call to call.

        Memory does not grow with the documents: what is kept of them is in `anchorless._core.online`. X may have more words
        than before, behind the earlier ones. Documents must be weighed alike in every call; what they count for
        goes by what is usual in their piece. Pieces of a thousand
        documents and more come close to one `fit`; the first must hold enough to tell `n_components` topics.
        """
        first = not hasattr(self, "statistics_")
        self._check_parameters()
        if not first and len(self.statistics_.gram) != self.n_components:
            raise InputError(
                f"n_components={self.n_components}, but the documents so far were taken in with n_components="
                f"{len(self.statistics_.gram)}; set it back, or begin anew with another model"
            )
        threads = resolve_n_threads(self.n_threads)
        documents = self._documents(X, reset=first or self._has_new_words(X))
        counting = adjust_lengths(documents, threads) if self._is_length_adjusted() else documents
        previous = None if first else np.ascontiguousarray(self.components_.T)
        start = make_empty_statistics(self.n_components, unbiased=self.cooccurrence == "unbiased")
        with threadpool_limits(1, user_api="blas"):
            seed = self._draw_seed()
            before = start if first else self.statistics_
            kept = update_statistics(before, documents, counting, np.random.default_rng(seed), threads)
            topics, self.statistics_ = self._update_topics(kept, counting, previous)
            self._store_topics(topics)
        return self

    def _update_topics(
        self, kept: OnlineStatistics, documents: Documents, previous: Any
    ) -> tuple[Topics, OnlineStatistics]:
        """Return the topics of the statistics in the order of the previous ones, and the statistics with their sums."""
        P = SketchCooccurrence(kept)
        found = self._run_fit(P)
        self._store_diagnostics(P, found)
        self._warn(found, stacklevel=4)
        topics, U = found.topics, found.spectrum.vectors
        if self.constraint == "hard":
            return (topics if previous is None else reorder_topics(topics, match_columns(topics.C, previous))), kept
        from_volume = (U @ found.volume.M)[:, topics.order]
        if previous is not None:
            from_volume = from_volume[:, match_columns(topics.C, previous)]
        ratio = compute_word_ratios(P, found.spectrum)
        refined = refine_topics_online(kept, documents, from_volume, ratio, resolve_n_threads(self.n_threads))
        topics = assemble_topics(P, refined.C)
        # The sums are in the order of `from_volume`; the first time topics are put in the order of their shares.
        order = topics.order if previous is None else np.arange(len(topics.order))
        if previous is not None:
            topics = reorder_topics(topics, np.argsort(topics.order))
        return topics, kept._replace(targets=refined.targets[:, order], gram=refined.gram[np.ix_(order, order)])

    def _has_new_words(self, X: Any) -> bool:
        """Tell whether X has more words than before."""
        shape = getattr(X, "shape", None)
        return shape is not None and len(shape) == 2 and shape[1] > self.n_features_in_

    def _reset(self) -> None:
        super()._reset()
        self.__dict__.pop("statistics_", None)

    def _find_topics(self, P: Cooccurrence) -> Topics:
        found = self._run_fit(P)
        self._store_diagnostics(P, found)
        self._warn(found, stacklevel=5)
        return found.topics

    def _draw_seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _run_fit(self, P: Cooccurrence, seed: int | None = None) -> FitResult:
        seed = self._draw_seed() if seed is None else seed
        return find_topics(
            P,
            self.n_components,
            hard=self.constraint == "hard",
            tol=self.tol,
            max_sweeps=self.max_iter,
            rng=np.random.default_rng(seed),
        )

    def _store_diagnostics(self, P: Cooccurrence, found: FitResult) -> None:
        """Store what is special to the method."""
        self.eigenvalues_ = found.spectrum.values
        self.log_volume_ = found.volume.log_volume
        self.n_iter_ = len(found.volume.history)
        self.converged_ = found.volume.converged
        self.clipped_mass_ = found.clipped_mass
        self.n_constraints_ = found.n_constraints
        self.fit_report_ = found.report
        self.eigengap_ = found.spectrum.gap
        self.document_frequency_ = P.document_frequency()

    def identifiability(
        self, *, n_starts: int = 10, time_limit: float = 60.0, random_state: int = 0
    ) -> Identifiability:
        """Return how far the topics are the only ones that their co-occurrences allow: see docs/trust.md.

        It is asked of `components_` as they are, and again of the words in enough documents, where these are known.
        """
        check_is_fitted(self, "components_")
        evidence = Evidence(self.document_frequency_, self.eigengap_, self.clipped_mass_)
        return assess_identifiability(
            self.components_,
            self.topic_moments_,
            evidence,
            n_starts=n_starts,
            time_limit=time_limit,
            random_state=random_state,
        )

    def _warn(self, found: FitResult, stacklevel: int) -> None:
        """Warn of what the user should know; `stacklevel` leads from here to the user's call."""
        if found.spectrum.gap < MIN_EIGENGAP:
            warnings.warn(
                f"eigenvalue {self.n_components} of P, {found.spectrum.values[-1]:.6g}, is not separated from the "
                f"next, {found.spectrum.next_value:.6g}: the last topic direction is chance; try another n_components",
                SpectrumWarning,
                stacklevel=stacklevel,
            )
        if not found.volume.converged:
            warnings.warn(
                f"the volume still grew after max_iter={self.max_iter} sweeps; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=stacklevel,
            )


class AnchorWords(TopicEstimator):
    """Anchor words by a greedy rule, then RecoverL2: what SPA, SNPA, XRAY and FastAnchor share.

    Parameters
    ----------
    n_components : int, default=2
        Number of topics, and of anchor words.
    min_df : int, default=1
        Only words in at least this many documents may become anchors. A word in three documents is a corner
        of the data by chance; 100 is a good value for corpora of thousands of documents. Not for
        `fit_cooccurrence`, where documents are not known.
    cooccurrence, normalize, block_size, n_threads
        As in `AnchorFree`.

    Attributes
    ----------
    anchors_ : ndarray of shape (n_components,)
        The anchor word of each topic, as its column.
    components_, topic_moments_, topic_correlation_, topic_shares_, n_features_in_, feature_names_in_
        As in `AnchorFree`.
    """

    _rule: AnchorRule

    def __init__(
        self,
        n_components: int = 2,
        *,
        min_df: int = 1,
        cooccurrence: str = "biased",
        normalize: bool = False,
        block_size: int | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.min_df = min_df
        self.cooccurrence = cooccurrence
        self.normalize = normalize
        self.block_size = block_size
        self.n_threads = n_threads

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_whole("min_df", self.min_df)

    def _find_topics(self, P: Cooccurrence) -> Topics:
        candidates = self._find_candidates(P)
        words = WordVectors(P)
        anchors = np.array(type(self)._rule(words, self.n_components, candidates & (words.squares > 0)))
        inner = np.column_stack([words.inner(v) for v in anchors])
        gram = (inner[anchors] + inner[anchors].T) / 2
        C = to_pmf(recover_topics(gram, inner, words.squares, words.weight, anchors))
        topics = assemble_topics(P, C)
        self.anchors_ = anchors[topics.order]
        return topics

    def _find_candidates(self, P: Cooccurrence) -> Any:
        if self.min_df == 1:
            return np.ones(P.n_words, dtype=bool)
        frequency = P.document_frequency()
        if frequency is None:
            raise InputError(f"min_df={self.min_df}, but document frequencies are known to `fit` only; use min_df=1")
        if np.count_nonzero(frequency >= self.min_df) < self.n_components:
            raise InputError(
                f"min_df={self.min_df} leaves {np.count_nonzero(frequency >= self.min_df)} words for "
                f"n_components={self.n_components} anchors; lower min_df"
            )
        return frequency >= self.min_df


class SPA(AnchorWords):
    """Anchor words by successive projection (Algorithm 1 of the paper) on the normalised rows of P, then RecoverL2.

    Parameters and attributes are those of `anchorless._estimators.estimators.AnchorWords`.
    """

    _rule = staticmethod(successive_projection)


class SNPA(AnchorWords):
    """Anchor words by successive nonnegative projection (Gillis 2014), then RecoverL2.

    Parameters and attributes are those of `anchorless._estimators.estimators.AnchorWords`.
    """

    _rule = staticmethod(successive_nonnegative_projection)


class XRAY(AnchorWords):
    """Anchor words as extreme rays (Kumar et al. 2013, selection rule "max"), then RecoverL2.

    The rows of P are not normalised for the selection, only for RecoverL2.
    Parameters and attributes are those of `anchorless._estimators.estimators.AnchorWords`.
    """

    _rule = staticmethod(extreme_ray)


class FastAnchor(AnchorWords):
    """Fast anchor words (Arora et al. 2013) without the random projection, then RecoverL2.

    Parameters and attributes are those of `anchorless._estimators.estimators.AnchorWords`.
    """

    _rule = staticmethod(fast_anchor)
