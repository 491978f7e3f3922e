"""How far topics depend on the sample of documents: a bootstrap over documents, with topics matched to those of all.

With the unbiased P of counts the intervals are corrected for the bias of the fit: among the many words that a topic
does not have, the one with the most noise decides its volume. So each topic is estimated again as the point at which
*all* words that it does not seem to have are zero, by least squares weighted by their noise. This is a smooth function
of P, for which the bootstrap is valid. Each resample decides which words these are, by a random threshold.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import t as student

from anchorless._core.anchorfree import FitResult
from anchorless._core.cooccurrence import DocumentCooccurrence
from anchorless._core.proportions import compute_moment_association
from anchorless._core.topics import compute_topic_correlation, compute_topic_shares
from anchorless._corpus.documents import Array, Documents
from anchorless._corpus.threads import Result, map_in_threads
from anchorless._diagnostics.resampling import Resampler
from anchorless._validation import check_whole
from anchorless.errors import InputError
from anchorless.metrics import leading_words, match_topics
from anchorless.progress import ProgressCallback

#: Fewest resamples from which a spread is estimated.
MIN_RESAMPLES = 10
#: A topic does not seem to have a word whose probability is below this many standard errors.
ZERO_LIMIT = 2.5
#: Range of this threshold in the resamples: the intervals include the uncertainty of its choice.
ZERO_LIMITS = (1.5, 3.5)
#: Rounds that alternate between the topics and the words that they do not have.
ZERO_ROUNDS = 5
#: Words of each topic that can become leading words in a resample that is corrected for bias.
N_SEARCHED_WORDS = 100

Positions = npt.NDArray[np.intp]


class Interval(NamedTuple):
    """Estimates from all documents, and the ends of their confidence intervals, in the same shape."""

    estimate: Array
    low: Array
    high: Array


class Stability(NamedTuple):
    """How far topics depend on the sample of documents, from bootstrap resamples. Topics are in the order of the fit.

    Attributes
    ----------
    n_resamples : int
        Number of bootstrap resamples.
    level : float
        Confidence level of the intervals.
    corrected : bool
        Whether estimates and intervals are corrected for the bias of the fit.
    words : ndarray of shape (n_topics, n_words)
        Columns of the leading words of each topic, most probable first.
    word_stability : ndarray of shape (n_topics, n_words)
        Share of resamples in which the word stays among the topic's leading words.
    topic_stability : ndarray of shape (n_topics,)
        Mean of `word_stability` over the words of each topic.
    probabilities : Interval
        Probabilities of the leading words, of shape (n_topics, n_words).
    shares : Interval
        Shares of the topics, of shape (n_topics,).
    correlation, association : Interval
        Correlations of the topics, and their associations beyond what the shares imply, of shape
        (n_topics, n_topics).
    association_p : ndarray of shape (n_topics, n_topics)
        p-values of topics that have nothing to do with each other, adjusted for the number of pairs by Holm's method.
        Of a token model: that the logarithms of their proportions are independent; else that the association is zero.
    draws : object or None
        What the intervals of merged topics are computed from; None without a token model.
    """

    n_resamples: int
    level: float
    corrected: bool
    words: Positions
    word_stability: Array
    topic_stability: Array
    probabilities: Interval
    shares: Interval
    correlation: Interval
    association: Interval
    association_p: Array
    draws: Any = None

    def __repr__(self) -> str:
        stay = f"{float(np.mean(self.topic_stability)):.0%} of the leading words stay so"
        what = f"stability of {len(self.topic_stability)} topics in {self.n_resamples} resamples"
        return f"<{what}: {stay} in the mean; its attributes have the numbers, model.plot.stability() draws them>"

    def reorder(self, order: Positions) -> Stability:
        """Return the same with the topics in another order.

        Parameters
        ----------
        order : ndarray of int of shape (n_topics,)
            The present number of each topic.

        Returns
        -------
        Stability
        """
        by_topic, pairs = ("words", "word_stability", "topic_stability"), np.ix_(order, order)
        changed = {name: getattr(self, name)[order] for name in by_topic} | {"association_p": self.association_p[pairs]}
        for name, rows in (("probabilities", order), ("shares", order), ("correlation", pairs), ("association", pairs)):
            changed[name] = Interval(*(values[rows] for values in getattr(self, name)))
        return self._replace(**changed)


class BootstrapSettings(NamedTuple):
    """Parameters of the bootstrap."""

    n_resamples: int = 50
    level: float = 0.9
    n_words: int = 10
    seed: int = 0
    n_threads: int = 1
    rank: Callable[[Array], Array] = np.asarray  # of topics (F, V), how their words are ranked (F, V)


class TopicEstimates(NamedTuple):
    """Estimates for one set of topics: shares (F,), correlations (F, F), and for words (F, n) probability and rank."""

    shares: Array
    correlation: Array
    association: Array  # (F, F)
    probabilities: Array
    is_leading: Array  # 1 if the word is among the leading ones, else 0


class SubspaceRows(NamedTuple):
    """Some rows of a resample's eigenvectors U, the sum of all rows, UᵀPU, and the topics of all documents in U."""

    U: Array
    total: Array
    inner: Array
    start: Array


def bootstrap(
    P: DocumentCooccurrence,
    counts: Documents,
    fit: FitResult,
    settings: BootstrapSettings,
    progress: ProgressCallback | None = None,
) -> Stability:
    """Return the stability of a fit, the same for any number of threads; P has scaled the documents `counts`."""
    check_whole("n_resamples", settings.n_resamples, least=MIN_RESAMPLES)
    check_whole("n_words", settings.n_words)
    level = settings.level
    if not 0 < level < 1:
        problem = "a confidence level is above 0 and below 1"
        raise InputError(problem, parameter="level", value=level, remedy="try 0.9")
    sampler = Resampler(P, counts, fit, np.random.default_rng([settings.seed, 0]))
    words = leading_words(settings.rank(fit.topics.C.T), min(settings.n_words, len(fit.topics.C)))
    if P.unbiased:
        estimate, replicates = estimate_unbiased(sampler, words, settings, progress)
    else:
        estimate = compute_estimates(fit.topics.C.T, fit.topics.E, words)
        one = partial(estimate_resample, sampler, words, settings.rank)
        replicates = map_resamples(one, settings, progress)
    samples = TopicEstimates(*(np.array(values) for values in zip(*replicates, strict=True)))
    word_stability = samples.is_leading.mean(axis=0)
    return Stability(
        n_resamples=len(replicates),
        level=float(level),
        corrected=P.unbiased,
        words=words,
        word_stability=word_stability,
        topic_stability=word_stability.mean(axis=1),
        probabilities=compute_interval(estimate.probabilities, samples.probabilities, level, 0.0),
        shares=compute_interval(estimate.shares, samples.shares, level, 0.0),
        correlation=compute_interval(estimate.correlation, samples.correlation, level, -1.0),
        association=compute_interval(estimate.association, samples.association, level, -1.0),
        association_p=compute_association_p(estimate.association, samples.association),
    )


def map_resamples(
    one: Callable[[np.random.Generator], Result], settings: BootstrapSettings, progress: ProgressCallback | None
) -> list[Result]:
    """Return one(generator) for every resample, in their order; each has a generator of its own."""
    generators = [np.random.default_rng([settings.seed, 1, b]) for b in range(settings.n_resamples)]
    results = []
    for result in map_in_threads(one, generators, settings.n_threads):
        results.append(result)
        if progress is not None:
            progress(len(results), settings.n_resamples)
    return results


def estimate_resample(
    sampler: Resampler, words: Positions, rank: Callable[[Array], Array], rng: np.random.Generator
) -> TopicEstimates:
    """Return the estimates of one resample, by the steps of the fit; words are ranked by `rank`."""
    w = sampler.draw_weights(rng)
    C = estimate_matched_topics(sampler, w)
    found = compute_estimates(C.T, sampler.estimate_moments(w, C), words)
    return found._replace(is_leading=find_leading(rank(C.T), words))


def estimate_matched_topics(sampler: Resampler, w: Array) -> Array:
    """Return the topics (V, F) of the documents with weights w, in the order of the topics of all documents."""
    C = sampler.estimate_topics(w, sampler.compute_eigenvectors(w))
    kept = sampler.matched_words  # matching by all words would cost as much as the volume problem
    _, order = match_topics(sampler.fit.topics.C[kept].T, C[kept].T)
    return C.T[order].T


def compute_estimates(topics: Array, E: Array, words: Positions) -> TopicEstimates:
    """Return the estimates for topics (F, V) with moments E (F, F)."""
    shares, probabilities = compute_topic_shares(E), np.take_along_axis(topics, words, axis=1)
    correlation, association = compute_topic_correlation(E), compute_moment_association(E)
    return TopicEstimates(shares, correlation, association, probabilities, find_leading(topics, words))


def find_leading(topics: Array, words: Positions) -> Array:
    """Return 1 where a word of `words` (F, n) is among the n leading ones of its topic (F, V), else 0."""
    n = words.shape[1]
    least = np.partition(topics, -n, axis=1)[:, -n, None]
    return (np.take_along_axis(topics, words, axis=1) >= least).astype(np.float64)


def estimate_unbiased(
    sampler: Resampler, words: Positions, settings: BootstrapSettings, progress: ProgressCallback | None
) -> tuple[TopicEstimates, list[TopicEstimates]]:
    """Return the estimates of all documents and of each resample, corrected for bias."""
    searched = np.argsort(-sampler.fit.topics.C, axis=0, kind="stable")[:N_SEARCHED_WORDS]
    kept = np.union1d(np.flatnonzero(sampler.reliable), searched)
    reliable, positions = sampler.reliable[kept], np.searchsorted(kept, words)

    def compute_rows(rng: np.random.Generator) -> SubspaceRows:
        U, inner = sampler.compute_subspace(sampler.draw_weights(rng))
        return SubspaceRows(U[kept], U.sum(axis=0), inner, sampler.project_topics(U))

    U, values = sampler.fit.spectrum.vectors, sampler.fit.spectrum.values
    whole = SubspaceRows(U[kept], U.sum(axis=0), np.diag(values), sampler.M)
    samples = map_resamples(compute_rows, settings, progress)
    # The standard error of each word in each topic (n, F), for fixed coordinates of the topics.
    noise = np.std([sample.U @ sample.start for sample in samples], axis=0, ddof=1)
    noise = np.maximum(noise, np.maximum(1e-3 * np.median(noise, axis=0), 1e-300))
    replicates = []
    for b, sample in enumerate(samples):
        limit = np.random.default_rng([settings.seed, 2, b]).uniform(*ZERO_LIMITS)
        replicates.append(estimate_with_zero_words(sample, noise, reliable, limit, positions))
    return estimate_with_zero_words(whole, noise, reliable, ZERO_LIMIT, positions), replicates


def estimate_with_zero_words(
    rows: SubspaceRows, noise: Array, reliable: npt.NDArray[np.bool_], limit: float, words: Positions
) -> TopicEstimates:
    """Return the estimates after moving each topic to where the words that it does not have are zero."""
    M, F = rows.start.copy(), len(rows.start)
    for _ in range(ZERO_ROUNDS):
        zero = reliable[:, None] & (limit * noise > rows.U @ M)
        for f in range(F):  # minimize Σ (u·x / noise)² over these words, with sum one
            A = rows.U[zero[:, f]] / noise[zero[:, f], f][:, None]
            if len(A) >= F and np.linalg.matrix_rank(A) == F:
                x = np.linalg.solve(A.T @ A, rows.total)
                M[:, f] = x / (rows.total @ x)
    inverse = np.linalg.inv(M)
    E = inverse @ rows.inner @ inverse.T
    return compute_estimates((rows.U @ M).T, (E + E.T) / 2, words)


def compute_interval(estimate: Array, replicates: Array, level: float, least: float) -> Interval:
    """Return estimate ± t · (spread of the resamples), with Student's t, clipped to `least` … 1."""
    spread = np.std(replicates, axis=0, ddof=1)
    reach = student.ppf((1 + level) / 2, len(replicates) - 1) * spread
    return Interval(*(np.clip(value, least, 1.0) for value in (estimate, estimate - reach, estimate + reach)))


def compute_association_p(estimate: Array, replicates: Array) -> Array:
    """Return p-values (F, F) of no association, by Student's t over resamples (n, F, F) and Holm's method."""
    return adjust_pairs(estimate, replicates.std(axis=0, ddof=1), len(replicates))


def adjust_pairs(estimate: Array, spread: Array, n_resamples: int) -> Array:
    """Return p-values (F, F) for pairs with estimates and standard errors (F, F), adjusted for their number."""
    F = len(estimate)
    first, second = np.triu_indices(F, 1)
    r, error = estimate[first, second], spread[first, second]
    # Two topics alone are what the null says in every resample, up to rounding: there is nothing to test.
    error = np.where(abs(r) < 1e-9, np.inf, error)
    size = np.divide(abs(r), error, out=np.where(r == 0, 0.0, np.inf), where=error > 0)
    p = adjust_holm(2 * student.sf(size, n_resamples - 1))
    result = np.ones((F, F))
    result[first, second] = result[second, first] = p
    return result


def adjust_holm(p: Array) -> Array:
    """Return p-values (n,) adjusted for their number: the probability of any false rejection stays below the level."""
    order = np.argsort(p, kind="stable")
    raised = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return np.minimum(raised, 1.0)[np.argsort(order)]
