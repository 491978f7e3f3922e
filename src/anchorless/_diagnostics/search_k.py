"""Comparison of several numbers of topics, from one eigendecomposition, and a suggestion with its reason."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from anchorless import metrics
from anchorless._choices import CONSTRAINT_SYNONYMS
from anchorless._core.anchorfree import FitResult, find_topics
from anchorless._core.cooccurrence import DocumentCooccurrence
from anchorless._core.document_lengths import adjust_lengths
from anchorless._core.eigen import Spectrum, find_leading_eigenpairs
from anchorless._core.token_model import refit_token_topics
from anchorless._core.token_trials import DEFAULT_CONCENTRATION
from anchorless._core.weighting import WeightedDocuments, check_whole_counts, weight_documents
from anchorless._corpus.corpus import Corpus
from anchorless._corpus.documents import Array, Documents
from anchorless._corpus.given_counts import validate_documents
from anchorless._corpus.sparse import find_fraction, to_canonical_csr
from anchorless._deprecated import DEPRECATED
from anchorless._diagnostics.conclusion import Conclusion, conclude, find_likely_range
from anchorless._diagnostics.identifiability.identifiability import summarize_identifiability
from anchorless._diagnostics.n_topics import (
    DirectionScores,
    Suggestion,
    compute_reference_rank,
    count_large_eigenvalues,
    has_classes,
    score_directions,
    suggest,
)
from anchorless._diagnostics.resampling import ProjectedDocuments, Resampler, project_documents
from anchorless._diagnostics.stability import estimate_matched_topics, find_leading
from anchorless._validation import check_whole, resolve_constraint, resolve_job_count
from anchorless.errors import AnchorlessError, InputError, RankError
from anchorless.progress import ProgressCallback

#: One document in this many is held out.
HOLD_OUT_EVERY = 10
#: Fewest documents of which some can be held out.
MIN_DOCUMENTS_TO_SEARCH = 20
#: Of documents that are not in memory, a sample of about this many entries is loaded: with its copies, 0.5 GB.
MAX_LOADED_ENTRIES = 5_000_000
#: Bootstrap resamples for each number of topics: few, because only their mean is shown.
N_RESAMPLES = 2
#: Leading words of each topic in the measures.
N_WORDS = 10
MAX_SWEEPS = 200
#: Directions that are scored beyond the largest number of topics, and the fewest in all.
EXTRA_SCORED_DIRECTIONS, MIN_SCORED_DIRECTIONS = 15, 35
TABLE_HELP = """\
strength     of the pattern of words that the last topic adds, relative to the strongest ("eigenvalue" in JSON)
gap          how much weaker the next pattern is; after a large gap, more topics split existing ones
completion   log-likelihood per token of held-out documents, {unigram:.3f} without topics; higher is better
npmi         how often leading words occur together in held-out documents, from -1 to 1
exclusivity  how far leading words belong to one topic alone, from 0 to 1
diversity    share of different words among the leading words of all topics
stability    share of leading words that are found again in bootstrap resamples
anchor       for the worst topic, the largest share of a word's occurrences that are about that topic
scattered    whether the condition for topics to be unique is proved or refuted
smallest     share of the smallest topic
More topics are finer, not truer: look at the topics."""

#: The value of `n_topics` for which `TopicModel` and the command search, and the numbers that are compared then.
AUTO = "auto"
AUTO_NUMBERS = (*range(2, 13), 14, 16, 18, 20, 24, 28, 32, 36, 40)

#: Sweeps of the token model by which held-out documents are completed.
TOKEN_SWEEPS = 4


class Choice(NamedTuple):
    """A number of topics, and the reason for it."""

    n_topics: int
    reason: str


class SearchRow(NamedTuple):
    """The measures of one number of topics."""

    topics: int
    eigenvalue: float  # of this rank, as a share of the first one
    gap: float  # how far the next eigenvalue is below it, relative to it
    completion: float  # log-likelihood per token of held-out documents, by the token model; NaN if they are no counts
    npmi: float  # of held-out documents, mean over the topics, as in `anchorless.metrics`
    exclusivity: float  # mean over the topics
    diversity: float
    stability: float  # share of leading words that stay so in bootstrap resamples; NaN for too few documents
    anchor: float  # smallest share, over the topics, of the best anchor word's occurrences that are about the topic
    scattered: str  # whether the condition for unique topics is "proved", "refuted" or "not refuted"
    smallest: float  # share of the smallest topic
    seconds: float  # of the fit and the measures


class SearchK(NamedTuple):
    """Several numbers of topics, compared.

    Attributes
    ----------
    rows : list of SearchRow
        Measures of each number of topics that could be fitted, in increasing order.
    failed_numbers : list of (int, AnchorlessError)
        Numbers that could not be fitted, and the error of each.
    eigenvalues : ndarray
        Eigenvalues of the co-occurrences of the weighted documents, largest first.
    unigram : float
        Completion of held-out documents without topics.
    suggestion : Suggestion
        The suggested number of topics, `n_topics`, None if the documents do not tell, and the `reason`.
    """

    rows: list[SearchRow]
    failed_numbers: list[tuple[int, AnchorlessError]]
    eigenvalues: Array
    unigram: float
    suggestion: Suggestion

    @property
    def likely_range(self) -> tuple[int, int] | None:
        """The smallest and the largest number that predict held-out documents nearly best.

        Their gain over no topics at all is at least 95% of the best one's. None without whole counts or any gain.
        """
        return find_likely_range(*self._get_gains())

    @property
    def conclusion(self) -> Conclusion:
        """The number of topics to take, with the reason and what the other figures say.

        It is the suggestion, or without one the smallest number of the likely range.
        """
        return conclude(*self._get_gains(), self.suggestion)

    def _get_gains(self) -> tuple[list[int], Array]:
        """Return the compared numbers, and their gains (n,) in completion over no topics at all."""
        return [row.topics for row in self.rows], np.array([row.completion for row in self.rows]) - self.unigram

    @property
    def table_help(self) -> str:
        """How to read the table of the rows."""
        return TABLE_HELP.format(unigram=self.unigram)


class SearchData(NamedTuple):
    """What all numbers of topics share."""

    P: DocumentCooccurrence
    weighted: WeightedDocuments
    spectrum: Spectrum
    eigenvalues: Array  # of the weighted documents, from which classes are counted
    direction_scores: DirectionScores | None
    counts: Documents  # those to fit on
    held_out: Any  # CSR, documents × words
    hard: bool
    seed: int


def search_k(
    X: Any,
    n_topics: Iterable[int] = range(2, 22),
    *,
    weighting: str = "chi2-ncw",
    constraint: str = "reliable",
    n_jobs: int | None = None,
    random_state: int = 0,
    progress: ProgressCallback | None = None,
    n_threads: Any = DEPRECATED,
) -> SearchK:
    """Fit several numbers of topics, measure each on held-out documents, and suggest one.

    One document in ten is held out. All numbers are fitted from one eigendecomposition. Of documents on disk or on a
    cluster, an even sample that fits in memory is used.

    Parameters
    ----------
    X : array-like, sparse matrix, Documents or Corpus of shape (n_documents, n_vocabulary)
        Word counts.
    n_topics : iterable of int, default=range(2, 22)
        Numbers of topics to compare.
    weighting : {"chi2-ncw", "tfidf-ncw", "tfidf", "counts"}, default="chi2-ncw"
        Weighting of the counts, as in `TopicModel`.
    constraint : {"reliable", "all"}, default="reliable"
        Words used as constraints, as in `TopicModel`.
    n_jobs : int or None, default=None
        Number of threads; None for every core. The result does not depend on it.
    random_state : int, default=0
        Seed.
    progress : callable, default=None
        Called with the number of fits done and the number of all fits.
    n_threads : int
        Deprecated name of `n_jobs`.

    Returns
    -------
    SearchK
        The measures of each number, and a suggestion from the smallest to the largest that could be fitted.

    Raises
    ------
    RankError
        If the documents support none of the numbers; `limit` is the largest number that they support.

    Examples
    --------
    >>> from anchorless import search_k
    >>> from anchorless.datasets import sampled_corpus
    >>> found = search_k(sampled_corpus(1500, n_topics=4, n_words=200).counts, [2, 4, 8])
    >>> [row.topics for row in found.rows]
    [2, 4, 8]
    >>> found.suggestion.n_topics
    4
    """
    numbers = sorted({check_whole("n_topics", K) for K in n_topics})
    if not numbers:
        raise InputError("{n_topics} is empty; give the numbers of topics to compare, such as range(2, 21)")
    hard = resolve_constraint(constraint) == "all"
    threads = resolve_job_count(n_jobs, n_threads)
    documents = X.documents if isinstance(X, Corpus) else validate_documents(X, "X")
    with threadpool_limits(1, user_api="blas"):
        search = prepare_search(load_sample(documents), numbers, weighting, hard, threads, random_state)
        return compare_numbers(search, numbers, progress)


def load_sample(documents: Documents) -> Any:
    """Return documents as one CSR matrix; of documents that are not in memory, an even sample that fits."""
    step = 1
    if not documents.in_memory:
        step = max(1, -(-sum(documents.map_blocks(lambda block: int(block.nnz), 1)) // MAX_LOADED_ENTRIES))
    return sp.vstack([*documents.map_blocks(lambda block: block[::step], 1)], format="csr")


def prepare_search(X: Any, numbers: Sequence[int], weighting: str, hard: bool, n_threads: int, seed: int) -> SearchData:
    """Hold out documents of X (N, V), weight the others, and compute their spectrum at the largest number."""
    X = to_canonical_csr(X)
    N, V = X.shape
    if N < MIN_DOCUMENTS_TO_SEARCH:
        raise InputError(f"{N} documents are too few to hold some out; at least {MIN_DOCUMENTS_TO_SEARCH} are needed")
    if X.nnz == 0:
        raise InputError("the counts are all zero: no document contains a word; check the vocabulary")
    held_out = np.arange(N) % HOLD_OUT_EVERY == HOLD_OUT_EVERY - 1
    rng = np.random.default_rng([seed, 3])
    n_directions = max(numbers[-1] + EXTRA_SCORED_DIRECTIONS, MIN_SCORED_DIRECTIONS)
    direction_scores = score_directions(X, min(n_directions, V // 4 + 1, N // 4 + 1), rng)
    check_whole_counts(Documents.from_matrix(X), weighting, "X")
    counts = Documents.from_matrix(X[~held_out])
    weighted = weight_documents(counts, weighting, n_threads)
    P = DocumentCooccurrence(weighted.documents, adjust=not hard, n_threads=n_threads)
    for_classes = weighted.documents if hard else adjust_lengths(weighted.documents, n_threads, by_words=False)
    values = compute_class_eigenvalues(DocumentCooccurrence(for_classes, n_threads=n_threads), numbers, rng)
    # The eigenvectors of a resample are searched for in this span; the largest number alone would restrict them.
    spectrum = compute_spectrum(P, max(compute_reference_rank(1), *numbers), rng)
    return SearchData(P, weighted, spectrum, values, direction_scores, counts, X[held_out], hard, seed)


def compare_numbers(search: SearchData, numbers: Sequence[int], progress: ProgressCallback | None) -> SearchK:
    """Measure each number of topics."""
    rows: list[SearchRow] = []
    failed: list[tuple[int, AnchorlessError]] = []
    shared = project_documents(search.P, search.spectrum.vectors)
    for done, K in enumerate(numbers, start=1):
        try:
            rows.append(evaluate_number(search, K, shared))
        except AnchorlessError as error:
            failed.append((K, error.rename_parameters({"n_components": "n_topics"})))
        if progress is not None:
            progress(done, len(numbers))
    if not rows:
        raise failed[0][1]
    suggestion = suggest(search.direction_scores, search.eigenvalues, rows[0].topics, rows[-1].topics)
    unigram = compute_completion(search, np.ones((1, search.P.n_words))).unigram
    return SearchK(rows, failed, search.eigenvalues, unigram, suggestion)


def compute_class_eigenvalues(P: DocumentCooccurrence, numbers: Sequence[int], rng: np.random.Generator) -> Array:
    """Return the eigenvalues up to the largest number that P allows, or further if a suggestion needs them."""
    most = max([1, *(K for K in numbers if min(P.n_words, P.documents.shape[0]) >= K)])
    values = get_eigenvalues(compute_spectrum(P, max(compute_reference_rank(1), most), rng))
    if has_classes(values[:-1]) and count_large_eigenvalues(values) is None:
        values = get_eigenvalues(compute_spectrum(P, compute_reference_rank(most + 1), rng))
    return values


def compute_spectrum(P: DocumentCooccurrence, wanted: int, rng: np.random.Generator) -> Spectrum:
    """Return `wanted` eigenpairs, or as many as there are."""
    wanted = min(wanted, P.n_words, P.documents.shape[0])
    while wanted > 0:
        try:
            return find_leading_eigenpairs(P, wanted, rng)
        except RankError as error:
            wanted = min(wanted - 1, wanted - 1 if error.limit is None else error.limit)
    raise RankError("the documents support no topic: all their weights are zero; check the counts", limit=0)


def get_eigenvalues(spectrum: Spectrum) -> Array:
    """Return the eigenvalues of a spectrum and the next one."""
    return np.append(spectrum.values, max(spectrum.next_value, 0.0))


def evaluate_number(search: SearchData, K: int, shared: ProjectedDocuments) -> SearchRow:
    """Fit K topics and measure them."""
    start = time.perf_counter()
    values, spectrum = search.eigenvalues, search.spectrum
    limit = len(spectrum.values)
    if limit >= K:  # otherwise `values` may end before the limit
        limit = min(limit, len(values) - 1)
    if limit < K:
        problem = f"the {search.P.documents.shape[0]} documents to fit on support at most {limit}"
        remedy = "lower {n_topics} or add documents"
        raise RankError(problem, parameter="n_topics", value=K, limit=limit, remedy=remedy)
    rng = np.random.default_rng([search.seed, 4, K])
    spectrum = spectrum._replace(
        values=spectrum.values[:K],
        vectors=np.ascontiguousarray(spectrum.vectors[:, :K]),
        next_value=float(get_eigenvalues(spectrum)[K]),
        residuals=spectrum.residuals[:K],
    )
    fit = find_topics(search.P, spectrum, all_words=search.hard, tol=None, max_sweeps=MAX_SWEEPS, rng=rng)
    topics = np.ascontiguousarray(fit.topics.C.T)
    n_words = min(N_WORDS, topics.shape[1])
    frequency = search.weighted.statistics.document_frequency
    anchor, scattered = summarize_identifiability(fit.topics.C, fit.topics.shares, frequency)
    return SearchRow(
        topics=K,
        eigenvalue=float(values[K - 1] / values[0]),
        gap=float(1.0 - values[K] / values[K - 1]),
        completion=compute_completion(search, topics).log_likelihood,
        npmi=float(metrics.npmi(topics, search.held_out, n_words).mean()) if n_words > 1 else 0.0,
        exclusivity=float(metrics.exclusivity(topics, n_words).mean()),
        diversity=float(metrics.topic_diversity(topics, n_words)),
        stability=measure_stability(search, fit, n_words, shared),
        anchor=anchor,
        scattered=scattered,
        smallest=float(fit.topics.shares.min()),
        seconds=time.perf_counter() - start,
    )


def compute_completion(search: SearchData, topics: Array) -> metrics.Completion:
    """Return how well the token model, by some sweeps from topics (F, V), completes the held-out documents."""
    X = search.held_out
    if find_fraction(X) is not None:
        return metrics.Completion(np.nan, np.nan, -float(np.log(X.shape[1])), 0)
    topics = search.weighted.weights.remove_idf(topics)
    topics /= topics.sum(axis=1, keepdims=True)
    alpha = np.full(len(topics), DEFAULT_CONCENTRATION / len(topics))
    topics = refit_token_topics(search.counts, topics, alpha, TOKEN_SWEEPS).topic_word
    background = np.maximum(search.weighted.statistics.word_counts, 1e-9)
    return metrics.document_completion(topics, X, background=background, random_state=search.seed)


def measure_stability(search: SearchData, fit: FitResult, n_words: int, shared: ProjectedDocuments) -> float:
    """Return the share of leading words that stay so in a few resamples; NaN if there are too few documents."""
    try:
        sampler = Resampler(search.P, search.P.documents, fit, np.random.default_rng(0), shared)
        words = metrics.leading_words(fit.topics.C.T, n_words)
        drawn = [sampler.draw_weights(np.random.default_rng([search.seed, 5, b])) for b in range(N_RESAMPLES)]
        kept = [find_leading(estimate_matched_topics(sampler, w).T, words).mean() for w in drawn]
        return float(np.mean(kept))
    except InputError:
        return float("nan")


def choose_number(documents: Documents, weighting: str, constraint: str, n_threads: int, seed: Any) -> Choice:
    """Return the suggested number of topics; without a suggestion, the smallest that predicts nearly best."""
    X = load_sample(documents)
    numbers = [K for K in AUTO_NUMBERS if min(X.shape) > K] or [1]
    seed = int(seed) if isinstance(seed, int | np.integer) else 0
    hard = CONSTRAINT_SYNONYMS.get(constraint, constraint) == "all"
    with threadpool_limits(1, user_api="blas"):
        search = prepare_search(X, numbers, weighting, hard, n_threads, seed)
        possible = [K for K in numbers if len(search.spectrum.values) >= K] or numbers
        suggestion = suggest(search.direction_scores, search.eigenvalues, min(possible), max(possible))
        if suggestion.n_topics is not None:
            return Choice(suggestion.n_topics, f"{suggestion.n_topics} topics: {suggestion.reason}")
        found = compare_numbers(search, numbers, None)
    numbers, gains = found._get_gains()
    if np.isnan(gains).all():
        problem = "the documents do not suggest a number, and it can be chosen only for whole counts"
        raise InputError(problem, parameter="n_topics", value=AUTO, remedy="give a number")
    likely = find_likely_range(numbers, gains)
    K = numbers[int(np.argmax(gains))] if likely is None else likely[0]
    taken = f"{K} were taken, after which held-out documents are hardly predicted better"
    if likely is None:
        taken = f"{K} were taken, but no number predicts held-out documents better than no topics at all"
    reason = suggestion.reason
    return Choice(K, f"the documents do not tell how many topics there are ({reason}); {taken}")
