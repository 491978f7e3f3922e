"""The token model: every token of document d is drawn from Σ_k θ_dk φ_k, and φ is found by deterministic sweeps.

Collapsed variational Bayes of order zero (CVB0), from topics that the moments gave. Each sweep computes for every
(document, word) the probability of each topic, from the counts of the document and of the word *without that token's
own part*; otherwise rare words would confirm themselves. The new counts replace the old ones; nothing is random.

Priors: mixtures θ_d ~ Dirichlet(α0·shares); for the words, see `anchorless._core.word_prior`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from anchorless._core.proportions import MIN_PAIRED_DOCUMENTS, project_tokens
from anchorless._core.split_search import MAX_SPLIT_SWEEPS, split_topics
from anchorless._core.token_pairs import find_pairs
from anchorless._core.token_splits import measure_presence
from anchorless._core.token_sweeps import Sweeps, TopicCounts, copy_counts, start_counts
from anchorless._core.token_trials import (
    CONCENTRATION_LIMITS,
    DEFAULT_CONCENTRATION,
    Trial,
    choose_shape,
    choose_trial_documents,
    compare_ways,
    compute_alpha,
    predict_best,
)
from anchorless._core.word_prior import WORD_SHAPE, WordPrior
from anchorless._corpus.documents import Array, Documents, compute_word_sums
from anchorless._corpus.memory import release_freed_memory
from anchorless.progress import report_progress

#: Part of the start that is the frequency of the words: a word that a topic lacks could never join it.
START_SMOOTHING = 0.01
#: Tokens of the first topics that stay in every topic: in a handful of documents nothing else keeps topics apart.
START_TOKENS = 10.0
#: Two ways to go on from the start are compared on documents that were set aside. Smooth sweeps add as many tokens of
#: the corpus to each topic as it has itself (on average): words of every subject then tell nothing, and short texts are
#: put into clearer groups. Sharp sweeps add none.
SMOOTH_SWEEPS, SHARP_SWEEPS = 2, 4
#: The better way goes on until the topics change by less than this in a sweep (mean ℓ1 distance), or so many times.
#: Sharp topics end early: the longer they go on, the more they fit single documents. Smooth ones do not.
SHARP_LEAST_CHANGE, SHARP_LAST_SWEEPS = 0.02, 20
SMOOTH_LEAST_CHANGE, SMOOTH_LAST_SWEEPS = 0.004, 60
#: Topics are split up to this number of topics, since it takes copies of the counts.
SPLIT_MAX_TOPICS = 120
#: In documents of fewer tokens than this, on average, the prior of the mixtures matters, and topics that often appear
#: together are paired in it: so many times, with so many sweeps after each.
SHORT_TOKENS = 40
#: Another start must predict so many trial documents or more better, by so many standard errors.
MIN_COMPARED, LEAST_ERRORS = 200, 0.5
PAIR_ROUNDS, PAIR_SWEEPS = 3, 6
#: Sweeps of a fit, at most, with sharp topics, of short documents, too, and with smooth topics.
MAX_SHARP_SWEEPS = SMOOTH_SWEEPS + SHARP_SWEEPS + MAX_SPLIT_SWEEPS + SHARP_LAST_SWEEPS
MAX_SHORT_SWEEPS = 3 * MAX_SHARP_SWEEPS - 2 * SHARP_LAST_SWEEPS + PAIR_SWEEPS * PAIR_ROUNDS
MAX_SMOOTH_SWEEPS = SMOOTH_SWEEPS + SHARP_SWEEPS + SMOOTH_LAST_SWEEPS
#: The sum of the variances of the proportions is not assumed to be smaller than this.
MIN_VARIANCE = 1e-6


class TokenTopics(NamedTuple):
    """Topics of the token model."""

    topic_word: Array  # (F, V), p(word | topic); rows sum to one, zero for words without a token
    alpha: Array  # (F,), parameters of the Dirichlet prior of the mixtures
    shares: Array  # (F,), of all tokens; they sum to one


class TokenFit(NamedTuple):
    """Topics, and what is known of those that are others than the ones that the sweeps were given first."""

    topics: TokenTopics
    is_new: Any  # (F,), whether they are others
    shown: Array  # (F, V), where they are: the topics whose words are shown, of another start if there is one


class TrialTopics(NamedTuple):
    """Topics, and documents that they have not seen."""

    trial: Trial
    positions: Any  # (n,), of these documents
    words: Array  # (V, F), counts of the words
    p: Array  # (V,), frequencies of the words
    concentration: float  # α0
    shape: float = WORD_SHAPE  # of the prior of the words
    is_sharp: bool = True  # whether sweeps are


#: Called before the documents on which choices are tried join the others; must leave the counts as they are.
TrialFunction = Callable[["Sweeps", TopicCounts, TrialTopics], None]


def fit_token_topics(
    counts: Documents,
    start: Array,
    n_threads: int,
    on_trial: TrialFunction | None = None,
    find_starts: Callable[[], Iterable[Array]] | None = None,
    *,
    is_sharp: bool | None = None,
) -> TokenFit:
    """Return the topics of counts by sweeps from the topics `start` (F, V), rows that sum to one.

    `on_trial` is called before the
    documents on which choices are tried join the others, if there are enough for that. `find_starts` finds other
    starts, of F topics or more, for sharp topics of short documents: these show less of a topic than the noise is.
    Whether sweeps are sharp is chosen unless `is_sharp` says it.
    """
    task = make_task(counts, n_threads)
    trial, positions = task.trial, task.positions
    phi = smooth_start(start, task.p)
    del start  # at hundreds of topics each of these arrays is large
    begun = begin_sweeps(task, phi, is_sharp=is_sharp)
    if begun.is_sharp and task.is_short and len(positions) >= MIN_COMPARED and phi.shape[1] <= SPLIT_MAX_TOPICS:
        begun.sweeps.n_most = MAX_SHORT_SWEEPS
        for other in find_starts() if find_starts is not None else ():
            begun = try_start(task, begun, other)
        begun = begun._replace(state=pair_topics(counts, begun.sweeps, begun.state))
    sweeps, state, is_sharp, is_new, used = begun
    del begun  # the counts of a state are replaced by those of the next one
    if is_sharp and trial is not None:
        sweeps.shape = choose_shape(trial, state.words, task.p, sweeps.concentration)
    if on_trial is not None and trial is not None:
        settings = sweeps.concentration, sweeps.shape, is_sharp
        on_trial(sweeps, state, TrialTopics(trial, positions, state.words, task.p, *settings))
    state.documents[:, -1] = 1.0
    if is_sharp:
        state = sweeps.run(state, SHARP_LAST_SWEEPS, least_change=SHARP_LEAST_CHANGE)
    else:
        sweeps.n_most = MAX_SMOOTH_SWEEPS
        state = sweeps.run(state, SMOOTH_LAST_SWEEPS, smooth=True, least_change=SMOOTH_LEAST_CHANGE)
    report_progress("likelihood", sweeps.n_most, sweeps.n_most)
    topics = estimate_topics(state.words, task.p, sweeps.concentration, sweeps.shape)
    if used is None:
        return TokenFit(topics, is_new, topics.topic_word)
    return TokenFit(topics, np.ones_like(is_new), np.where(is_new[:, None], topics.topic_word, used))


def smooth_start(topics: Array, p: Array) -> Array:
    """Return topics (F, V) as (V, F), each with a part of the frequencies p (V,)."""
    return np.ascontiguousarray(((1.0 - START_SMOOTHING) * topics + START_SMOOTHING * p).T)


class Task(NamedTuple):
    """What sweeps from any start have in common."""

    counts: Documents
    p: Array  # (V,), frequencies of the words
    weights: Array  # (N,), of the documents: zero for those on which choices are tried
    trial: Trial | None
    positions: Any  # (n,), of the documents on which choices are tried
    is_short: bool  # whether documents are
    n_threads: int


def make_task(counts: Documents, n_threads: int) -> Task:
    """Return what sweeps over counts have in common."""
    frequency = compute_word_sums(counts, n_threads).total
    trial, positions = choose_trial_documents(counts, n_threads)
    weights = np.ones(counts.shape[0])
    weights[positions] = 0.0  # the topics must not have seen the documents on which choices are tried
    is_short = bool(frequency.sum() < SHORT_TOKENS * counts.shape[0])
    return Task(counts, frequency / frequency.sum(), weights, trial, positions, is_short, n_threads)


class Begun(NamedTuple):
    """What the first sweeps from a start have found."""

    sweeps: Sweeps
    state: TopicCounts
    is_sharp: bool
    is_new: Any  # (F,), topics that are others than those of the start
    start: Array | None = None  # (F, V), another start than the usual one


def begin_sweeps(
    task: Task, phi: Array, n_done: int = 0, n_most: int = MAX_SHARP_SWEEPS, *, is_sharp: bool | None = None
) -> Begun:
    """Sweep from topics phi (V, F), which are used up, until the documents set aside have to join the others."""
    n_topics, tokens = phi.shape[1], task.counts.refine_blocks()
    prior = np.full(n_topics, DEFAULT_CONCENTRATION / n_topics)
    first = start_counts(tokens, phi, prior, task.weights, task.n_threads)
    phi *= START_TOKENS
    sweeps = Sweeps(tokens, task.p, phi, task.n_threads)
    sweeps.n_done, sweeps.n_most = n_done, n_most
    state, is_sharp = choose_way(sweeps, first, task.trial, is_sharp)
    del first
    moments = estimate_concentration(task.counts, estimate_topics(state.words, task.p, 1.0), task.n_threads)
    sweeps.concentration = max(sweeps.concentration, moments)
    release_freed_memory()  # of blocks: smaller than what is mapped, so every thread's heap keeps it
    is_new = np.zeros(n_topics, dtype=bool)
    if is_sharp and task.trial is not None and n_topics <= SPLIT_MAX_TOPICS:
        state = split_topics(sweeps, state, task.trial, is_new)
    return Begun(sweeps, state, is_sharp, is_new)


def sweep_start(task: Task, start: Array, n: int, concentration: float, *, smooth: bool) -> tuple[Sweeps, TopicCounts]:
    """Return the counts after n sweeps from topics (F, V), without the documents on which choices are tried."""
    tokens, phi = task.counts.refine_blocks(), smooth_start(start, task.p)
    prior = np.full(len(start), concentration / len(start))
    first = start_counts(tokens, phi, prior, task.weights, task.n_threads)
    sweeps = Sweeps(tokens, task.p, START_TOKENS * phi, task.n_threads, concentration)
    return sweeps, sweeps.run(first, n, smooth=smooth)


def try_start(task: Task, begun: Begun, start: Array) -> Begun:
    """Return what sweeps from another start found, if its topics are sharp and predict trial documents better."""
    assert task.trial is not None
    n_done, n_most = begun.sweeps.n_done, begun.sweeps.n_most
    start = choose_present(task, start, len(begun.is_new))
    other = begin_sweeps(task, smooth_start(start, task.p), n_done, n_most)
    begun.sweeps.n_done = other.sweeps.n_done
    gain = score_best(task.trial, other) - score_best(task.trial, begun)
    if not other.is_sharp or gain.mean() <= LEAST_ERRORS * gain.std() / np.sqrt(len(gain)):
        return begun
    return other._replace(start=start)


def choose_present(task: Task, start: Array, n_topics: int) -> Array:
    """Return the n topics of a start (F, V) that are the largest parts of the documents they are in, after sweeps."""
    if len(start) == n_topics:
        return start
    tokens, prior, phi = task.counts.refine_blocks(), np.full(len(start), 1.0 / len(start)), smooth_start(start, task.p)
    first = start_counts(tokens, phi, prior, task.weights, task.n_threads)
    state = Sweeps(tokens, task.p, START_TOKENS * phi, task.n_threads).run(first, SHARP_SWEEPS)
    presence = measure_presence(state.documents[:, : len(start)])
    return np.asarray(start[np.sort(np.argsort(-presence, kind="stable")[:n_topics])])


def score_best(trial: Trial, begun: Begun) -> Array:
    """Return the log-probabilities of one half of each trial document given the other (n,), with the best α0."""
    sweeps = begun.sweeps
    return predict_best(trial, begun.state.words, sweeps.p, sweeps.concentration)[1]


def pair_topics(counts: Documents, sweeps: Sweeps, state: TopicCounts) -> TopicCounts:
    """Return the counts after sweeps in which topics that often appear together are paired, as `sweeps` then keeps."""
    for _ in range(PAIR_ROUNDS):
        topics, n_topics = estimate_topics(state.words, sweeps.p, sweeps.concentration), state.words.shape[1]
        tokens = state.documents[:, :n_topics]
        sweeps.pairs = find_pairs(counts, tokens, topics.topic_word, topics.alpha, sweeps.n_threads)
        if not len(sweeps.pairs.topics):
            break
        state = sweeps.run(state, PAIR_SWEEPS)
    return state


def choose_way(
    sweeps: Sweeps, first: TopicCounts, trial: Trial | None, known: bool | None = None
) -> tuple[TopicCounts, bool]:
    """Return the counts after smooth or after sharp sweeps, and whether they are sharp; α0 is set, too.

    Topics that have been swept before tell little about the way: `known` says which one they had.
    """
    if trial is None:  # few documents are not smoothed: their topics would merge
        return sweeps.run(first, SHARP_SWEEPS), True
    if known is not None:
        state = sweeps.run(first, SHARP_SWEEPS if known else SMOOTH_SWEEPS, smooth=not known)
        sweeps.concentration = predict_best(trial, state.words, sweeps.p, DEFAULT_CONCENTRATION)[0]
        return state, known
    smooth = sweeps.run(copy_counts(sweeps.tokens, first), SMOOTH_SWEEPS, smooth=True)
    sharp = sweeps.run(first, SHARP_SWEEPS)
    is_sharp, sweeps.concentration = compare_ways(trial, smooth.words, sharp.words, sweeps.p)
    return (sharp if is_sharp else smooth), is_sharp


def refit_token_topics(counts: Documents, topic_word: Array, alpha: Array, n_sweeps: int) -> TokenTopics:
    """Return the topics of counts by sharp sweeps from topics (F, V) near them, in one thread."""
    frequency = compute_word_sums(counts, 1).total
    p = frequency / frequency.sum()
    phi = smooth_start(topic_word, p)
    sweeps = Sweeps(counts, p, START_TOKENS * phi, 1, alpha.sum())
    state = sweeps.run(start_counts(counts, phi, alpha, np.ones(counts.shape[0]), 1), n_sweeps)
    return estimate_topics(state.words, p, sweeps.concentration)


def estimate_concentration(counts: Documents, topics: TokenTopics, n_threads: int) -> float:
    """Return the α0 for which a Dirichlet distribution has the variances that pairs of tokens show; 0 if unknown.

    Topics that are not sharp yet make documents look more alike in what predicts best than they are.
    """
    pairs = project_tokens(counts, topics.topic_word, n_threads)
    if pairs.n < MIN_PAIRED_DOCUMENTS:
        return 0.0
    variance = max(float(np.trace(pairs.covariance)), MIN_VARIANCE)
    return float(min((1.0 - (topics.shares**2).sum()) / variance - 1.0, CONCENTRATION_LIMITS[1]))


def estimate_topics(words: Array, p: Array, concentration: float, shape: float = WORD_SHAPE) -> TokenTopics:
    """Return the topics from word counts (V, F) and the words' frequencies p (V,)."""
    phi, total = WordPrior(words, p, shape).compute_phi(), words.sum(axis=0)
    return TokenTopics(np.ascontiguousarray(phi.T), compute_alpha(words, concentration), total / total.sum())
