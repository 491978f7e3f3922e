"""AnchorFree as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from anchorless._core.anchorfree import FitResult, compute_word_ratios, find_topics
from anchorless._core.constraints import compute_word_noise
from anchorless._core.cooccurrence import Cooccurrence
from anchorless._core.document_lengths import adjust_lengths
from anchorless._core.eigen import find_leading_eigenpairs
from anchorless._core.online import (
    OnlineStatistics,
    SketchCooccurrence,
    make_empty_statistics,
    match_columns,
    refine_topics_online,
    reorder_topics,
    update_statistics,
)
from anchorless._core.topics import Topics, assemble_topics
from anchorless._corpus.documents import Array, Documents
from anchorless._deprecated import DEPRECATED, find_stack_level
from anchorless._diagnostics.identifiability.identifiability import Evidence, Identifiability, assess_identifiability
from anchorless._diagnostics.stability import BootstrapSettings, Stability, bootstrap
from anchorless._estimators.base import TopicEstimator
from anchorless._validation import check_positive, check_whole, resolve_constraint, resolve_job_count
from anchorless.errors import InputError, MessageParts, SpectrumWarning

#: A relative gap between eigenvalues below this is a tie: which direction was kept is chance.
MIN_EIGENGAP = 1e-6


class SlowSolverWarning(MessageParts, UserWarning):
    """Linear programs of the fit were left to a solver that takes many times as long."""


class VolumeConvergenceWarning(MessageParts, ConvergenceWarning):
    """The volume was still growing when the sweeps ended; a scikit-learn `ConvergenceWarning` with parts."""


class AnchorFree(TopicEstimator):
    """Correlated topics without anchor words (Huang, Fu, Sidiropoulos, NIPS 2016).

    The co-occurrence matrix P of the words is factored as P = CECᵀ, where the columns of C are probability mass
    functions. Among all such C it is the one of largest volume, which is unique if the words are sufficiently
    scattered over the topics. The same data and parameters give the same bits.

    Parameters
    ----------
    n_components : int, default=2
        Number of topics.
    constraint : {"reliable", "all", "hard"}, default="reliable"
        Which words constrain the topics to nonnegative probabilities. "all" is the paper to the letter: every word
        does, and the volume is maximized from the identity; "hard", a hard constraint for every word, is another word
        for it. "reliable" is for real corpora: only words with enough signal do, up to 12 topics have further starts,
        and the topics are re-estimated from the documents. With the biased co-occurrence, a document then counts by
        its number of different words, up to three times the usual. On exact data all give the same topics.
    cooccurrence : {"biased", "unbiased"}, default="biased"
        "biased" is DᵀD / N of the documents as given; "unbiased" the estimator of Arora et al., for counts.
    normalize : bool, default=False
        Whether `transform` scales the weights of each document to sum to one, instead of to approximate X.
    tol : float or None, default=None
        The volume has converged when a sweep changes its logarithm by no more than this, relatively. None is 1e-7 up to
        50 topics and on exact data. Beyond, the sweeps end when less is left to gain than the noise of the documents
        makes the volume uncertain; from 121 topics on, noisy documents have a bounded number of pivots per topic
        instead of sweeps, so that the cost stays that of the eigenvectors. See `docs/research.md`.
    max_iter : int, default=200
        The largest number of sweeps from one start.
    block_size : int or None, default=None
        Documents per block; None for blocks of about 500,000 entries. Results agree to rounding.
    n_jobs : int or None, default=None
        Number of threads; None and -1 for every core, -2 for all but one. The result does not depend on it, to the bit.
    random_state : int, RandomState instance or None, default=0
        Seeds the start of the eigensolver and the further starts of the volume.
    n_threads : deprecated name of `n_jobs`

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_words)
        The topics, each row a probability mass function over the words, largest share first.
    topic_moments_ : ndarray of shape (n_components, n_components)
        E of the paper: second moments of the topic weights.
    topic_correlation_ : ndarray of shape (n_components, n_components)
        Correlation of the proportions of the topics over the documents.
    topic_shares_ : ndarray of shape (n_components,)
        Share of each topic in the weight of all documents.
    eigenvalues_, eigengap_ : ndarray of shape (n_components,) and float
        Leading eigenvalues of P, and the distance of the last to the first that was left out, relative to the last.
    log_volume_ : float
        log|det M| at the maximum; for constraints on all words, ½ log det CᵀC.
    n_iter_, converged_ : int and bool
        Sweeps of the best start, and whether a stopping rule ended them, not `max_iter`.
    stopping_rule_ : {"tolerance", "noise", "pivots", "max_iter"}
        What ended the search: the last sweep changed the volume by no more than `tol`; less was left to gain than the
        noise of the documents changes; every topic had its pivots; or there were no more sweeps.
    clipped_mass_ : ndarray of shape (n_components,)
        Negative probability mass that was clipped from each topic at the maximum of the volume.
    n_constraints_ : int
        Number of words that constrained the topics.
    document_frequency_ : ndarray of shape (n_words,) or None
        Number of documents that contain each word; None after `fit_cooccurrence`.
    word_noise_ : ndarray of shape (n_words,) or None
        Mean square of what the topics do not explain of each word, divided by the number of documents; None if that
        number is not known.
    fit_report_ : FitCost
        Cost of the fit: `seconds` by stage, `n_products` with P; linear programs: `n_programs`, `n_pivots`, `n_rows`,
        and `n_fallbacks`, those that rounding errors left to a general solver, which takes many times as long.
    statistics_ : OnlineStatistics
        After `partial_fit`: the sums over the documents so far.
    n_features_in_, feature_names_in_
        Number of words, and their names where X had string column names.

    See Also
    --------
    TopicModel : The same method for texts, with counting, weighting and a report.

    Examples
    --------
    >>> import numpy as np
    >>> from anchorless import AnchorFree
    >>> X = np.array([[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 3, 1], [0, 0, 1, 3], [1, 1, 1, 1]])
    >>> model = AnchorFree(n_components=2).fit(X)
    >>> model.components_.round(2)
    array([[0. , 0. , 0.5, 0.5],
           [0.5, 0.5, 0. , 0. ]])
    >>> model.transform([[4, 4, 1, 1]]).round(2)
    array([[2., 8.]])
    """

    statistics_: OnlineStatistics

    def __init__(
        self,
        n_components: int = 2,
        *,
        constraint: str = "reliable",
        cooccurrence: str = "biased",
        normalize: bool = False,
        tol: float | None = None,
        max_iter: int = 200,
        block_size: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
        n_threads: Any = DEPRECATED,
    ) -> None:
        self.n_components = n_components
        self.constraint = constraint
        self.cooccurrence = cooccurrence
        self.normalize = normalize
        self.tol = tol
        self.max_iter = max_iter
        self.block_size = block_size
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.n_threads = n_threads

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Update the topics with further documents; a topic keeps its number from call to call.

        Memory does not grow with the number of documents. They must be weighted alike in every call. Calls with a
        thousand documents and more come close to one `fit`; the first call must have enough documents to tell
        `n_components` topics apart.

        Parameters
        ----------
        X, y
            As in `fit`. There may be new words, in columns behind the earlier ones.

        Returns
        -------
        self : the updated estimator

        Examples
        --------
        >>> from anchorless import AnchorFree, datasets
        >>> counts = datasets.sampled_corpus(3000, n_topics=3, n_words=100, random_state=0).counts
        >>> model = AnchorFree(3)
        >>> for start in range(0, 3000, 1000):
        ...     model = model.partial_fit(counts[start : start + 1000])
        >>> model.statistics_.n_documents
        3000
        """
        first = not hasattr(self, "statistics_")
        self._check_parameters()
        if not first and (n_before := len(self.statistics_.gram)) != self.n_components:
            problem = f"the first call of partial_fit had {{n_components}}={n_before}"
            n, remedy = self.n_components, "set it back, or start with a new model"
            raise InputError(problem, parameter="n_components", value=n, limit=n_before, remedy=remedy)
        shape: Any = getattr(X, "shape", ())
        has_new_words = not first and len(shape) == 2 and shape[1] > self.n_features_in_
        documents = self._validate_documents(X, self._n_threads, reset=first or has_new_words)
        adjusted = adjust_lengths(documents, self._n_threads) if self._is_length_adjusted() else documents
        previous = None if first else np.ascontiguousarray(self.components_.T)
        with threadpool_limits(1, user_api="blas"):
            rng = np.random.default_rng(self._draw_seed())
            unbiased = self.cooccurrence == "unbiased"
            before = make_empty_statistics(self.n_components, unbiased=unbiased) if first else self.statistics_
            statistics = update_statistics(before, documents, adjusted, rng, self._n_threads)
            topics, self.statistics_ = self._update_topics(statistics, adjusted, previous)
            self._store_topics(topics)
        return self

    def stability(
        self,
        X: Any,
        n_resamples: int = 50,
        *,
        level: float = 0.9,
        n_words: int = 10,
        n_jobs: int | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Stability:
        """Measure by a bootstrap how far the topics depend on which documents are in X.

        The fit is done once more on X and on each resample of its documents. With `cooccurrence="unbiased"` the
        intervals are corrected for the bias of the fit.

        Parameters
        ----------
        X : as in `fit`
            The training documents.
        n_resamples : int, default=50
            Number of bootstrap resamples, at least 10.
        level : float, default=0.9
            Level of the confidence intervals.
        n_words : int, default=10
            Number of leading words of each topic.
        n_jobs : int or None, default=None
            Number of threads, each with a resample; None for the `n_jobs` of the estimator.
        progress : callable or None, default=None
            Called with the number of resamples that are done, and of all.

        Returns
        -------
        Stability
            The share of resamples in which each leading word stays among the leading ones, and confidence intervals
            of word probabilities, topic shares and correlations.
        """
        check_is_fitted(self, "components_")
        documents = self._validate_documents(X, self._n_threads, reset=False)
        n_threads = self._n_threads if n_jobs is None else resolve_job_count(n_jobs)
        settings = BootstrapSettings(n_resamples, level, n_words, self._draw_seed(), n_threads)
        return self._bootstrap(documents, settings, progress)

    def _bootstrap(
        self, documents: Documents, settings: BootstrapSettings, progress: Callable[[int, int], None] | None
    ) -> Stability:
        """Fit the documents again and bootstrap them."""
        self._check_parameters()
        P = self._build_cooccurrence(documents)
        with threadpool_limits(1, user_api="blas"):
            return bootstrap(P, documents, self._run_fit(P, settings.seed), settings, progress)

    def identifiability(
        self, *, n_starts: int = 10, time_limit: float = 60.0, random_state: int = 0
    ) -> Identifiability:
        """Check how far the topics are the only ones that their co-occurrences allow.

        The check is made for all words, and again for the words and zeros with enough evidence. The documents are not
        kept, so it is not known whether topics of the same tokens in random order would do as well (`shuffled` is
        None); `TopicModel.identifiability` compares them. See `docs/trust.md`.

        Parameters
        ----------
        n_starts : int, default=10
            Number of random starting points of each search.
        time_limit : float, default=60.0
            Seconds after which the searches end.
        random_state : int, default=0
            Seed of the searches.

        Returns
        -------
        Identifiability
            The results, which are the same for the same input unless the time limit ended a search.
        """
        check_is_fitted(self, "components_")
        C, E = self.components_, self.topic_moments_
        evidence = Evidence(self.document_frequency_, self.eigengap_, self.clipped_mass_, self.word_noise_)
        return assess_identifiability(
            C, E, evidence, n_starts=n_starts, time_limit=time_limit, random_state=random_state
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._constraint = resolve_constraint(self.constraint)
        if self.tol is not None:
            check_positive("tol", self.tol)
        check_whole("max_iter", self.max_iter)

    def _is_length_adjusted(self) -> bool:
        # The unbiased P gives every document the same weight as it is.
        return self._constraint == "reliable" and self.cooccurrence == "biased"

    def _reset(self) -> None:
        super()._reset()
        self.__dict__.pop("statistics_", None)

    def _draw_seed(self) -> int:
        """Draw a seed from `random_state`."""
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _find_topics(self, P: Cooccurrence) -> Topics:
        return self._fit_once(P).topics

    def _update_topics(
        self, statistics: OnlineStatistics, documents: Documents, previous: Array | None
    ) -> tuple[Topics, OnlineStatistics]:
        """Return topics in the order of the previous ones (V, F), and the statistics with the sums for them."""
        P = SketchCooccurrence(statistics)
        found = self._fit_once(P)
        topics, U = found.topics, found.spectrum.vectors
        if self._constraint == "all":
            if previous is not None:
                topics = reorder_topics(topics, match_columns(topics.C, previous))
            return topics, statistics
        from_volume = (U @ found.volume.M)[:, topics.order]
        if previous is not None:
            from_volume = from_volume[:, match_columns(topics.C, previous)]
        ratio = compute_word_ratios(P, found.spectrum)
        C, statistics = refine_topics_online(statistics, documents, from_volume, ratio, self._n_threads)
        topics = assemble_topics(P, C)
        # The sums are in the order of `from_volume`; the first call sorts the topics by their shares.
        order = topics.order if previous is None else np.arange(len(topics.order))
        if previous is not None:
            topics = reorder_topics(topics, np.argsort(topics.order))
        return topics, statistics._replace(
            targets=statistics.targets[:, order], gram=statistics.gram[np.ix_(order, order)]
        )

    def _run_fit(self, P: Cooccurrence, seed: int) -> FitResult:
        """Run the algorithm."""
        rng, all_words = np.random.default_rng(seed), self._constraint == "all"
        spectrum = find_leading_eigenpairs(P, self.n_components, rng)
        return find_topics(P, spectrum, all_words=all_words, tol=self.tol, max_sweeps=self.max_iter, rng=rng)

    def _fit_once(self, P: Cooccurrence) -> FitResult:
        """Run the algorithm, store what only this method has, and warn of chance topics and of too few sweeps."""
        found = self._run_fit(P, self._draw_seed())
        self.eigenvalues_ = found.spectrum.values
        self.eigengap_ = found.spectrum.gap
        self.log_volume_ = found.volume.log_volume
        self.n_iter_ = len(found.volume.history)
        self.converged_ = found.volume.converged
        self.stopping_rule_ = found.volume.stopped_by
        self.clipped_mass_ = found.clipped_mass
        self.n_constraints_ = found.n_constraints
        self.fit_report_ = found.report
        self.document_frequency_ = P.document_frequency()
        self.word_noise_ = compute_word_noise(found.spectrum, P.energy(), P.n_documents)
        if found.spectrum.gap < MIN_EIGENGAP:
            problem = f"topic {self.n_components} and the next one, which was left out, are equally strong in these "
            problem += "documents, so the choice between them is arbitrary"
            tie = SpectrumWarning(problem, remedy="try another {n_components}")
            warnings.warn(tie, stacklevel=find_stack_level())
        if found.report.n_fallbacks:
            part = f"{found.report.n_fallbacks} of {found.report.n_programs} steps of the fit"
            problem = f"{part} lost their accuracy and were left to a general solver, which takes many times as long"
            warnings.warn(SlowSolverWarning(problem), stacklevel=find_stack_level())
        if not found.volume.converged:
            problem = "the fit did not converge: the topics were still changing at the last sweep"
            remedy = "raise {max_iter} or {tol}, or lower {n_components}"
            unfinished = VolumeConvergenceWarning(problem, parameter="max_iter", value=self.max_iter, remedy=remedy)
            warnings.warn(unfinished, stacklevel=find_stack_level())
        return found
