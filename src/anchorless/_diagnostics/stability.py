"""How far topics depend on the documents that happened to be there: a bootstrap over documents.

Every resample draws as many documents as there are, with replacement, and its topics are matched with those of all
documents by the Hungarian method. The weighting of the documents and the choice of the words that constrain the topics
are those of all documents.

With the unbiased P of counts the intervals are corrected for the bias of the fit. Noise lets the volume problem end
too far inside: of many words that a topic does not have, the one with the most noise decides. So each topic is
estimated once more as the point at which *all* words that it does not seem to have are zero, in least squares by
their noise; that is a smooth function of P, and the bootstrap is right for it. Which words these are is decided in
every resample anew, at a limit that is drawn anew.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import t as student

from anchorless._core.anchorfree import FitResult
from anchorless._core.cooccurrence import DocumentCooccurrence
from anchorless._core.topics import compute_topic_correlation, compute_topic_shares
from anchorless._corpus.documents import Array, Documents
from anchorless._corpus.threads import Result, map_in_order
from anchorless._diagnostics.resampling import Resampler
from anchorless._validation import check_whole
from anchorless.errors import InputError
from anchorless.metrics import leading_words, match_topics

#: Fewer resamples than this say too little about a spread.
MIN_RESAMPLES = 10
#: A topic does not seem to have a word whose probability is below this many standard errors …
ZERO_LIMIT = 2.5
#: … and in a resample below a number between these: intervals include that the limit could be another.
ZERO_LIMITS = (1.5, 3.5)
#: Rounds in which topics and the words that they do not have decide about each other.
ZERO_ROUNDS = 5
#: Words of each topic among which leading words are looked for in a resample that is corrected for bias.
N_SEARCHED_WORDS = 100

Positions = npt.NDArray[np.intp]


class Interval(NamedTuple):
    """Estimates and the ends of their confidence intervals, all of one shape."""

    estimate: Array
    low: Array
    high: Array


class Stability(NamedTuple):
    """What resampled documents say about topics, which are in the order of the fit."""

    n_resamples: int
    level: float  # of the intervals
    corrected: bool  # whether the intervals are corrected for the bias of the fit
    words: Positions  # (F, n), the leading words of each topic, as columns
    word_stability: Array  # (F, n), the share of resamples in which the word leads the topic again
    survival: Array  # (F,), its mean: the share of leading words that survive
    probabilities: Interval  # (F, n), of the leading words
    shares: Interval  # (F,)
    correlation: Interval  # (F, F)
    correlation_p: Array  # (F, F), of the correlation being zero, corrected for the number of pairs (Holm)


class BootstrapSettings(NamedTuple):
    """How to resample."""

    n_resamples: int = 50
    level: float = 0.9
    n_words: int = 10
    seed: int = 0
    n_jobs: int = 1


class TopicEstimates(NamedTuple):
    """Figures of one set of topics: shares (F,), correlations (F, F), probabilities and presence of words (F, n)."""

    shares: Array
    correlation: Array
    probabilities: Array
    leading_word_mask: Array


class SubspaceRows(NamedTuple):
    """What is kept of a resample's eigenvectors: some rows of U, the sum of all, UᵀPU, and the topics of all in U."""

    U: Array
    total: Array
    inner: Array
    near: Array


ProgressCallback = Callable[[int, int], None]


def bootstrap(
    P: DocumentCooccurrence,
    counts: Documents,
    fit: FitResult,
    settings: BootstrapSettings,
    progress: ProgressCallback | None = None,
) -> Stability:
    """Return the stability of a fit; `counts` are the documents as they were given, before P scaled them.

    `progress` is told the number of resamples done and of all. The same bits whatever the number of jobs.
    """
    check_settings(settings)
    sampler = Resampler(P, counts, fit, np.random.default_rng([settings.seed, 0]))
    words = leading_words(fit.topics.C.T, min(settings.n_words, len(fit.topics.C)))
    if P.unbiased:
        estimate, replicates = corrected(sampler, words, settings, progress)
    else:
        estimate = compute_estimates(fit.topics.C.T, fit.topics.E, words)
        replicates = map_resamples(lambda rng: estimate_resample(sampler, words, rng), settings, progress)
    return summarize_resamples(estimate, replicates, words, settings, P.unbiased)


def check_settings(settings: BootstrapSettings) -> None:
    """Refuse settings that give no interval."""
    check_whole("n_resamples", settings.n_resamples, least=MIN_RESAMPLES)
    check_whole("n_words", settings.n_words)
    if not 0 < settings.level < 1:
        raise InputError(f"level={settings.level!r}, but a level of confidence is above 0 and below 1, such as 0.9")


def map_resamples(
    one: Callable[[np.random.Generator], Result], settings: BootstrapSettings, progress: ProgressCallback | None
) -> list[Result]:
    """Return one(generator) for every resample, in their order; each has a generator of its own."""
    generators = [np.random.default_rng([settings.seed, 1, b]) for b in range(settings.n_resamples)]
    results = []
    with ThreadPoolExecutor(settings.n_jobs) as pool:
        for result in map_in_order(pool, one, generators, settings.n_jobs):
            results.append(result)
            if progress is not None:
                progress(len(results), settings.n_resamples)
    return results


def estimate_resample(sampler: Resampler, words: Positions, rng: np.random.Generator) -> TopicEstimates:
    """Return the figures of one resample, by the steps of the fit."""
    w = sampler.weights(rng)
    C = estimate_matched_topics(sampler, w)
    return compute_estimates(C.T, sampler.moments(w, C), words)


def compute_leading_share(sampler: Resampler, words: Positions, rng: np.random.Generator) -> float:
    """Return the share of the leading words that lead again in one resample."""
    return float(leading_word_mask(estimate_matched_topics(sampler, sampler.weights(rng)).T, words).mean())


def estimate_matched_topics(sampler: Resampler, w: Array) -> Array:
    """Return the topics (V, F) of the documents with weights w, in the order of the topics of all documents."""
    C = sampler.topics(w, sampler.compute_eigenvectors(w))
    kept = sampler.matched_words  # topics differ in these words; all words would cost as much as the volume
    _, order = match_topics(sampler.fit.topics.C[kept].T, C[kept].T)
    return C.T[order].T


def compute_estimates(topics: Array, E: Array, words: Positions) -> TopicEstimates:
    """Return the figures of topics (F, V) with moments E."""
    return TopicEstimates(
        compute_topic_shares(E),
        compute_topic_correlation(E),
        np.take_along_axis(topics, words, axis=1),
        leading_word_mask(topics, words),
    )


def leading_word_mask(topics: Array, words: Positions) -> Array:
    """Return 1 where a word of `words` (F, n) is among the n leading ones of its topic (F, V), else 0."""
    n = words.shape[1]
    least = np.partition(topics, -n, axis=1)[:, -n, None]
    return (np.take_along_axis(topics, words, axis=1) >= least).astype(np.float64)


def corrected(
    sampler: Resampler, words: Positions, settings: BootstrapSettings, progress: ProgressCallback | None
) -> tuple[TopicEstimates, list[TopicEstimates]]:
    """Return the figures of all documents and of each resample, corrected for bias."""
    looked_at = np.argsort(-sampler.fit.topics.C, axis=0, kind="stable")[:N_SEARCHED_WORDS]
    kept = np.union1d(np.flatnonzero(sampler.reliable), looked_at)
    constrain = sampler.reliable[kept]
    places = np.searchsorted(kept, words)

    def rows(rng: np.random.Generator) -> SubspaceRows:
        U, inner = sampler.compute_subspace(sampler.weights(rng))
        return SubspaceRows(U[kept], U.sum(axis=0), inner, sampler.near(U))

    U, values = sampler.fit.spectrum.vectors, sampler.fit.spectrum.values
    whole = SubspaceRows(U[kept], U.sum(axis=0), np.diag(values), sampler.M)
    samples = map_resamples(rows, settings, progress)
    noise = estimate_row_noise(samples)
    replicates = []
    for b, sample in enumerate(samples):
        limit = np.random.default_rng([settings.seed, 2, b]).uniform(*ZERO_LIMITS)
        replicates.append(estimate_with_zero_words(sample, noise, constrain, limit, places))
    return estimate_with_zero_words(whole, noise, constrain, ZERO_LIMIT, places), replicates


def estimate_row_noise(samples: list[SubspaceRows]) -> Array:
    """Return the standard error of each word in each topic while the topics' coordinates stay (n, F)."""
    noise = np.std([sample.U @ sample.near for sample in samples], axis=0, ddof=1)
    typical = np.median(noise, axis=0)
    return np.asarray(np.maximum(noise, np.maximum(1e-3 * typical, 1e-300)))


def estimate_with_zero_words(
    rows: SubspaceRows, noise: Array, constrain: npt.NDArray[np.bool_], limit: float, words: Positions
) -> TopicEstimates:
    """Return the figures after each topic has been moved to where the words that it does not have are zero."""
    M = rows.near
    for _ in range(ZERO_ROUNDS):
        zero = constrain[:, None] & (limit * noise > rows.U @ M)
        M = fit_zero_words(rows, M, zero, noise)
    inverse = np.linalg.inv(M)
    E = inverse @ rows.inner @ inverse.T
    return compute_estimates((rows.U @ M).T, (E + E.T) / 2, words)


def fit_zero_words(rows: SubspaceRows, M: Array, zero: npt.NDArray[np.bool_], noise: Array) -> Array:
    """Minimise Σ (u·x / noise)² over the words `zero` of each topic, to a sum of one; M where they are too few."""
    M = M.copy()
    for f in range(M.shape[1]):
        A = rows.U[zero[:, f]] / noise[zero[:, f], f][:, None]
        if len(A) < M.shape[0] or np.linalg.matrix_rank(A) < M.shape[0]:
            continue
        x = np.linalg.solve(A.T @ A, rows.total)
        M[:, f] = x / (rows.total @ x)
    return M


def summarize_resamples(
    estimate: TopicEstimates,
    replicates: list[TopicEstimates],
    words: Positions,
    settings: BootstrapSettings,
    is_corrected: bool,
) -> Stability:
    """Return intervals and survival from the figures of all documents and of the resamples."""
    leads = np.mean([figure.leading_word_mask for figure in replicates], axis=0)
    correlations = np.array([figure.correlation for figure in replicates])
    return Stability(
        n_resamples=len(replicates),
        level=float(settings.level),
        corrected=is_corrected,
        words=words,
        word_stability=leads,
        survival=leads.mean(axis=1),
        probabilities=compute_interval(
            estimate.probabilities, [r.probabilities for r in replicates], settings.level, 0.0
        ),
        shares=compute_interval(estimate.shares, [r.shares for r in replicates], settings.level, 0.0),
        correlation=compute_interval(estimate.correlation, [*correlations], settings.level, -1.0),
        correlation_p=compute_correlation_p(estimate.correlation, correlations),
    )


def compute_interval(estimate: Array, replicates: list[Array], level: float, least: float) -> Interval:
    """Return estimate ± t · spread of the resamples, with Student's t, within `least` … 1."""
    spread = np.std(replicates, axis=0, ddof=1)
    reach = student.ppf((1 + level) / 2, len(replicates) - 1) * spread
    return Interval(
        np.clip(estimate, least, 1.0), *(np.clip(end, least, 1.0) for end in (estimate - reach, estimate + reach))
    )


def compute_correlation_p(estimate: Array, replicates: Array) -> Array:
    """Return, for each pair of topics, the probability of such a correlation if there were none, by Holm's method.

    The statistic is the correlation over its spread in the resamples, by Student's t with one degree of freedom
    less than resamples. The diagonal is 0.
    """
    F = len(estimate)
    first, second = np.triu_indices(F, 1)
    r, spread = estimate[first, second], replicates[:, first, second].std(axis=0, ddof=1)
    # Two topics are at −1 in every resample: no spread, and no doubt.
    size = np.divide(abs(r), spread, out=np.where(r == 0, 0.0, np.inf), where=spread > 0)
    p = adjust_holm(2 * student.sf(size, len(replicates) - 1))
    result = np.zeros((F, F))
    result[first, second] = result[second, first] = p
    return result


def adjust_holm(p: Array) -> Array:
    """Return p-values corrected for their number: the chance of any false one stays below the level."""
    order = np.argsort(p, kind="stable")
    raised = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    result = np.empty_like(p)
    result[order] = np.minimum(raised, 1.0)
    return result
