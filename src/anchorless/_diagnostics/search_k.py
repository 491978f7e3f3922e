"""Several numbers of topics side by side, from one eigen-decomposition, and a suggestion with its reason."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from anchorless import metrics
from anchorless._core.anchorfree import FitResult, find_topics
from anchorless._core.cooccurrence import DocumentCooccurrence
from anchorless._core.document_lengths import cap_lengths
from anchorless._core.eigen import Spectrum, find_leading_eigenpairs
from anchorless._core.weighting import WeightedDocuments, weight_blocks
from anchorless._corpus.documents import Array, Documents
from anchorless._corpus.sparse import to_canonical_csr
from anchorless._corpus.threads import resolve_n_threads
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
from anchorless._diagnostics.stability import compute_leading_share
from anchorless._validation import check_choice, check_whole
from anchorless.errors import AnchorlessError, InputError, RankError

#: Every so-manieth document is held out.
HOLD_OUT_EVERY = 10
#: Fewest documents of which some can be held out.
MIN_DOCUMENTS_TO_SEARCH = 20
#: Resamples for each number of topics: few, as only their mean is shown.
N_RESAMPLES = 2
N_WORDS = 10
TOL, MAX_SWEEPS = 1e-7, 200
#: Directions that are looked at beyond the largest number of topics, and the fewest in all.
EXTRA_SCORED_DIRECTIONS, MIN_SCORED_DIRECTIONS = 15, 35
#: How to read the table.
TABLE_HELP = (
    "eigenvalue and gap: a topic needs an eigenvalue of its own; after a large gap, more topics split what is there. "
    "completion: log-likelihood per token of held-out documents, {unigram:.3f} without topics. npmi: do leading words "
    "occur together. stability: the share of leading words that lead again when documents are drawn anew. "
    "anchor: how far the word nearest to belonging to one topic alone does so, for the topic with the worst; "
    "scattered: whether the condition for topics to be unique is proved or refuted; both of words in enough documents. "
    "More topics are finer, not truer: take the smallest number after which completion hardly grows and npmi and "
    "stability have not begun to fall, and look at the topics."
)

#: What `TopicModel(n_topics="auto")` and `--topics auto` try: about equal steps of the logarithm.
AUTO = "auto"
AUTO_NUMBERS = (*range(2, 13), 14, 16, 18, 20, 24, 28, 32, 36, 40)
#: Where documents do not tell: the smallest number with this share of the best gain in completion over no topics.
SUFFICIENT_GAIN = 0.95

ProgressCallback = Callable[[int, int], None]


class Choice(NamedTuple):
    """A number of topics, and why."""

    n_topics: int
    reason: str


class SearchRow(NamedTuple):
    """The measures of one number of topics."""

    topics: int
    eigenvalue: float  # of this place in `SearchK.eigenvalues`, as a share of the first
    gap: float  # how far the next is below it, relative to it
    completion: float  # log-likelihood per token of held-out documents
    npmi: float
    exclusivity: float
    diversity: float
    stability: float  # share of leading words that survive, NaN where documents are too few to resample
    anchor: float  # the worst topic's nearest anchor word: the share of its occurrences that are about the topic
    scattered: str  # the condition of uniqueness: "proved", "refuted" or "not refuted", see `anchorless._diagnostics.identifiability.quick_check`
    smallest: float  # the smallest share of a topic
    seconds: float


class SearchResult(NamedTuple):
    """Numbers of topics side by side."""

    rows: list[SearchRow]
    failed_numbers: list[tuple[int, str]]  # numbers that could not be fitted, and why
    eigenvalues: Array  # of the weighted documents, however many words they have, leading first
    direction_scores: DirectionScores | None  # see `anchorless._diagnostics.n_topics.coming_back`
    unigram: float  # completion without topics
    suggestion: Suggestion

    @property
    def reading(self) -> str:
        """How to read the table."""
        return TABLE_HELP.format(unigram=self.unigram)


class SearchData(NamedTuple):
    """What all numbers of topics share."""

    P: DocumentCooccurrence
    weighed: WeightedDocuments
    spectrum: Spectrum
    eigenvalues: Array  # which tell how many classes there are
    direction_scores: DirectionScores | None
    test: Any
    hard: bool
    seed: int


def search_k(
    counts: Any,
    n_topics: Iterable[int] = range(2, 22),
    *,
    weighting: str = "tfidf-ncw",
    constraint: str = "explained",
    n_threads: int | None = None,
    random_state: int = 0,
    progress: ProgressCallback | None = None,
) -> SearchResult:
    """Return the measures of several numbers of topics of counts, documents × words, and a suggestion with its reason.

    One document in ten is held out. The suggestion is a number between the least and the largest, or None where
    the documents do not tell. `progress` is called with the numbers done and all.
    """
    numbers = validate_numbers(n_topics)
    check_choice("constraint", constraint, ("explained", "hard"))
    with threadpool_limits(1, user_api="blas"):
        search = prepare_search(
            counts, numbers, weighting, constraint == "hard", resolve_n_threads(n_threads), random_state
        )
        return compare_numbers(search, numbers, progress)


def prepare_search(
    counts: Any, numbers: Sequence[int], weighting: str, hard: bool, n_threads: int, seed: int
) -> SearchData:
    """Hold documents out, weigh the others, and take their spectrum at the largest number."""
    X = to_canonical_csr(counts)
    if X.shape[0] < MIN_DOCUMENTS_TO_SEARCH:
        raise InputError(
            f"{X.shape[0]} documents are too few to hold some out; at least {MIN_DOCUMENTS_TO_SEARCH} are needed"
        )
    if X.nnz == 0:
        raise InputError("the counts are all zero: no document holds a word; check the vocabulary")
    held_out = np.arange(X.shape[0]) % HOLD_OUT_EVERY == HOLD_OUT_EVERY - 1
    rng = np.random.default_rng([seed, 3])
    returns = score_directions(X, choose_n_directions(numbers[-1], X), rng)
    weighed = weight_blocks([X[~held_out]], weighting)
    P = DocumentCooccurrence(weighed.documents, adjust=not hard, n_threads=n_threads)
    for_classes = weighed.documents if hard else cap_lengths(weighed.documents, n_threads)
    widest = compute_widest_spectrum(DocumentCooccurrence(for_classes, n_threads=n_threads), numbers, rng)
    # Resamples turn within the span of these: with more than the largest number, it is not tied down.
    wanted = max(compute_reference_rank(1), *numbers)
    spectrum = compute_spectrum(P, min(wanted, compute_max_rank(P)), rng)
    return SearchData(P, weighed, spectrum, get_eigenvalues(widest), returns, X[held_out], hard, seed)


def suggest_number(
    counts: Any,
    n_topics: Iterable[int] = range(2, 22),
    *,
    weighting: str = "tfidf-ncw",
    n_threads: int | None = None,
    random_state: int = 0,
) -> Suggestion:
    """Return the suggestion of `search_k` without its table: no model is fitted."""
    numbers = validate_numbers(n_topics)
    with threadpool_limits(1, user_api="blas"):
        return suggest_from_search(
            prepare_search(counts, numbers, weighting, False, resolve_n_threads(n_threads), random_state), numbers
        )


class SharedData(NamedTuple):
    """What is made once for all numbers that are fitted."""

    documents: ProjectedDocuments  # those fitted on, in one piece
    halves: metrics.Halves  # of those held out


def compare_numbers(search: SearchData, numbers: Sequence[int], progress: ProgressCallback | None) -> SearchResult:
    """Measure each number of topics."""
    rows, left_out = [], []
    halves = metrics.split_documents(search.test, search.P.n_words, search.seed)
    shared = SharedData(project_documents(search.P, search.spectrum.vectors), halves)
    for done, K in enumerate(numbers, start=1):
        try:
            rows.append(evaluate_number(search, K, shared))
        except AnchorlessError as error:
            left_out.append((K, str(error)))
        if progress is not None:
            progress(done, len(numbers))
    if not rows:
        raise InputError(f"none of the numbers of topics could be fitted; {left_out[-1][0]} topics: {left_out[-1][1]}")
    suggestion = suggest_from_search(search, [row.topics for row in rows])
    unigram = completion(search, np.ones((1, search.P.n_words)), shared).unigram
    return SearchResult(rows, left_out, search.eigenvalues, search.direction_scores, unigram, suggestion)


def suggest_from_search(search: SearchData, numbers: Sequence[int]) -> Suggestion:
    """Return the suggestion between the least and the largest of the numbers."""
    return suggest(search.direction_scores, search.eigenvalues, min(numbers), max(numbers))


def validate_numbers(n_topics: Iterable[int]) -> list[int]:
    """Return numbers of topics, sorted, each once."""
    numbers = sorted({check_whole("n_topics", K, least=1) for K in n_topics})
    if not numbers:
        raise InputError("n_topics is empty; give the numbers of topics to compare, such as range(2, 21)")
    return numbers


def choose_n_directions(most: int, X: Any) -> int:
    """Return how many directions to look at."""
    return min(max(most + EXTRA_SCORED_DIRECTIONS, MIN_SCORED_DIRECTIONS), X.shape[1] // 4 + 1, X.shape[0] // 4 + 1)


def compute_widest_spectrum(P: DocumentCooccurrence, numbers: Sequence[int], rng: np.random.Generator) -> Spectrum:
    """Return the spectrum at the largest number that the documents allow, further where a suggestion needs it."""
    room = compute_max_rank(P)
    most = max([1, *(K for K in numbers if room >= K)])
    found = compute_spectrum(P, min(max(compute_reference_rank(1), most), room), rng)
    if has_classes(found.values) and count_large_eigenvalues(get_eigenvalues(found)) is None:
        found = compute_spectrum(P, min(compute_reference_rank(most + 1), room), rng)
    return found


def compute_spectrum(P: DocumentCooccurrence, wanted: int, rng: np.random.Generator) -> Spectrum:
    """Return so many eigenpairs, or as many as there are."""
    while wanted > 0:
        try:
            return find_leading_eigenpairs(P, wanted, rng)
        except RankError as error:
            wanted = min(wanted - 1, wanted - 1 if error.limit is None else error.limit)
    raise RankError("the documents have no direction above rounding error; check the counts", limit=0)


def compute_max_rank(P: DocumentCooccurrence) -> int:
    """Return the number of documents or of words, the smaller: there are no more directions."""
    return min(P.n_words, P.documents.shape[0])


def get_eigenvalues(spectrum: Spectrum) -> Array:
    """Return the eigenvalues that are known, the first left out included."""
    return np.append(spectrum.values, max(spectrum.next_value, 0.0))


def truncate_spectrum(spectrum: Spectrum, K: int) -> Spectrum:
    """Return the first K pairs of a spectrum."""
    if len(spectrum.values) < K:
        raise make_rank_error(K, len(spectrum.values))
    following = get_eigenvalues(spectrum)[K]
    vectors = np.ascontiguousarray(spectrum.vectors[:, :K])
    return spectrum._replace(
        values=spectrum.values[:K], vectors=vectors, next_value=float(following), residuals=spectrum.residuals[:K]
    )


def make_rank_error(K: int, usable: int) -> RankError:
    """Return the error that so many topics are not there."""
    return RankError(
        f"the documents to fit on support at most {usable} topics",
        parameter="n_topics",
        value=K,
        limit=usable,
        remedy="lower {n_topics} or add documents",
    )


def evaluate_number(search: SearchData, K: int, shared: SharedData) -> SearchRow:
    """Return the measures of K topics."""
    start = time.perf_counter()
    if compute_max_rank(search.P) < K:
        raise RankError(
            f"n_topics={K}, but there are {search.P.documents.shape[0]} documents to fit on and {search.P.n_words} "
            "words; lower n_topics or add documents"
        )
    spectrum, values = truncate_spectrum(search.spectrum, K), search.eigenvalues
    if len(values) <= K:
        raise make_rank_error(K, len(values) - 1)
    rng = np.random.default_rng([search.seed, 4, K])
    fit = find_topics(search.P, K, hard=search.hard, tol=TOL, max_sweeps=MAX_SWEEPS, rng=rng, spectrum=spectrum)
    topics = np.ascontiguousarray(fit.topics.C.T)
    n_words = min(N_WORDS, topics.shape[1])
    return SearchRow(
        topics=K,
        eigenvalue=float(values[K - 1] / values[0]),
        gap=float(1.0 - values[K] / values[K - 1]),
        completion=completion(search, topics, shared).log_likelihood,
        npmi=float(metrics.npmi(topics, search.test, n_words).mean()) if n_words > 1 else 0.0,
        exclusivity=float(metrics.exclusivity(topics, n_words).mean()),
        diversity=float(metrics.topic_diversity(topics, n_words)),
        stability=measure_stability(search, fit, n_words, shared.documents),
        **summarize_identifiability(fit.topics.C, fit.topics.shares, search.weighed.document_frequency)._asdict(),
        smallest=float(fit.topics.shares.min()),
        seconds=time.perf_counter() - start,
    )


def completion(search: SearchData, topics: Array, shared: SharedData) -> metrics.Completion:
    """Return how well held-out documents are completed by topics (F, V), the weight of rare words taken back."""
    idf = search.weighed.weights.idf
    if idf is not None:
        topics = np.divide(topics, idf, out=np.zeros_like(topics), where=idf > 0)
    background = np.maximum(search.weighed.word_counts, 1e-9)
    return metrics.completion(topics, shared.halves, background=background)


def measure_stability(search: SearchData, fit: FitResult, n_words: int, shared: ProjectedDocuments) -> float:
    """Return the share of leading words that lead again in a few resamples; NaN where there are too few documents."""
    try:
        sampler = Resampler(search.P, search.P.documents, fit, np.random.default_rng(0), shared)
        words = metrics.leading_words(fit.topics.C.T, n_words)
        generators = [np.random.default_rng([search.seed, 5, b]) for b in range(N_RESAMPLES)]
        return float(np.mean([compute_leading_share(sampler, words, rng) for rng in generators]))
    except (InputError, RankError):
        return float("nan")


def resolve_number(given: int | str, blocks: Documents | Sequence[Any], *how: Any) -> Choice:
    """Return the number of topics that was given, or with "auto" what `choose_number` says."""
    if given != AUTO:
        return Choice(int(given), "")
    if isinstance(blocks, Documents):
        raise InputError(f"n_topics={AUTO!r}, but documents on disk or on a cluster are not searched; give a number")
    return choose_number(blocks, *how)


def choose_number(blocks: Sequence[Any], weighting: str, constraint: str, n_threads: int | None, seed: Any) -> Choice:
    """Return the number of topics that blocks of counts suggest; where they do not tell, what predicts well enough."""
    X = sp.vstack(blocks, format="csr")
    numbers = [K for K in AUTO_NUMBERS if min(X.shape) > K] or [1]
    seed = int(seed) if isinstance(seed, int | np.integer) else 0
    with threadpool_limits(1, user_api="blas"):
        search = prepare_search(X, numbers, weighting, constraint == "hard", resolve_n_threads(n_threads), seed)
        number, reason = suggest_from_search(
            search, [K for K in numbers if len(search.spectrum.values) >= K] or numbers
        )
        if number is not None:
            return Choice(number, f"{number} topics: {reason}")
        found = compare_numbers(search, numbers, None)
    K = find_sufficient_number(found)
    return Choice(
        K,
        f"the documents do not tell how many topics there are ({reason}); {K} were taken, after which "
        "held-out documents are hardly predicted better",
    )


def find_sufficient_number(found: SearchResult) -> int:
    """Return the smallest number with nearly the best completion of held-out documents."""
    gains = np.array([row.completion for row in found.rows]) - found.unigram
    return found.rows[
        int(np.argmax(gains >= SUFFICIENT_GAIN * gains.max() if gains.max() > 0 else gains == gains.max()))
    ].topics
