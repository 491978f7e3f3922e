"""The token model: every token of document d is drawn from Σ_k θ_dk φ_k, and φ is found by deterministic sweeps.

Collapsed variational Bayes of order zero (CVB0), from topics that the moments gave. Each sweep computes for every
(document, word) the probability of each topic, from the counts of the document and of the word *without that token's
own part*; otherwise rare words would confirm themselves. The new counts replace the old ones; nothing is random.

Priors: mixtures θ_d ~ Dirichlet(α0·shares). A topic's probability of word w is Gamma-distributed around the
frequency p_w with shape `WORD_SHAPE`, so that φ_kw = (n_kw + s) / (n_k + s / p_w): rare words stay near their
frequency, frequent words are as counted.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from anchorless._core.proportions import compute_pair_moments
from anchorless._core.token_mixtures import Batch, iter_batches, predict_halves
from anchorless._corpus.documents import Array, Documents, compute_word_sums
from anchorless.progress import report_progress

#: Shape of the prior of a word's probability in a topic: the smaller, the more topics may differ.
WORD_SHAPE = 0.1
#: Part of the start that is the frequency of the words: a word that a topic lacks could never join it.
START_SMOOTHING = 0.01
#: Tokens of the first topics that stay in every topic: in a handful of documents nothing else keeps topics apart.
START_TOKENS = 10.0
#: The first sweeps add as many tokens of the corpus to each topic as it has itself (on average): topics that differ
#: only by chance come together, and words of every subject tell nothing.
SMOOTH_SWEEPS = 6
#: Sweeps without that after which documents that were set aside tell whether these go on,
TRIAL_SWEEPS = 4
#: and the number of those that follow.
LAST_SWEEPS = 16
N_SHARP = TRIAL_SWEEPS + LAST_SWEEPS
#: Sweeps over the mixtures, with fixed topics, before the first sweep.
FIRST_STEPS = 6
#: A document cannot lose more than this part of a topic's prior by leaving a token out.
MIN_PRIOR_PART = 0.5
#: Values of α0 that are compared, and the value where there are too few documents to compare.
CONCENTRATIONS = tuple(2.0**k for k in range(-2, 8))
DEFAULT_CONCENTRATION = 1.0
#: The sum of the variances of the proportions is not assumed to be smaller than this.
MIN_VARIANCE = 1e-6
#: Documents on which choices are tried, at most and at least.
MAX_TRIED, MIN_TRIED = 500, 20
#: and one in this many.
TRIED_PART = 20
#: No topic's share in the prior is below this, so that a topic without tokens can get some.
MIN_PRIOR_SHARE = 1e-4


class TokenTopics(NamedTuple):
    """Topics of the token model."""

    topic_word: Array  # (F, V), p(word | topic); rows sum to one, zero for words without a token
    alpha: Array  # (F,), parameters of the Dirichlet prior of the mixtures
    shares: Array  # (F,), of all tokens; they sum to one


class TopicCounts(NamedTuple):
    """Expected numbers of tokens."""

    words: Array  # (V, F), of each word in each topic
    documents: Array  # (N, F + 1), of each topic in each document, and the weight of the document in `words`


def fit_token_topics(counts: Documents, start: Array, n_threads: int) -> TokenTopics:
    """Return the topics of counts by sweeps from the topics `start` (F, V), rows that sum to one."""
    frequency = compute_word_sums(counts, n_threads).total
    p, tokens = frequency / frequency.sum(), counts.refine_blocks()
    trial, positions = choose_trial_documents(counts)
    weights = np.ones(counts.shape[0])
    weights[positions] = 0.0  # the topics must not have seen the documents on which choices are tried
    topic_word = (1.0 - START_SMOOTHING) * start + START_SMOOTHING * p
    first_words = START_TOKENS * topic_word.T
    prior = np.full(len(start), DEFAULT_CONCENTRATION / len(start))
    state, concentration = start_counts(tokens, topic_word, prior, weights, n_threads), DEFAULT_CONCENTRATION

    def run(state: TopicCounts, smooth: bool, first: int, n: int) -> TopicCounts:
        for done in range(first, first + n):
            state = sweep(tokens, state, p, concentration, smooth=smooth, n_threads=n_threads)
            state.words[:] += first_words
            report_progress("likelihood", done + 1, SMOOTH_SWEEPS + TRIAL_SWEEPS + LAST_SWEEPS)
        return state

    # Few documents are not smoothed: their topics would merge.
    smooth = run(state, trial is not None, 0, SMOOTH_SWEEPS)
    sharp = run(copy_counts(tokens, smooth), False, SMOOTH_SWEEPS, TRIAL_SWEEPS)
    is_sharp, concentration = choose_counts(trial, smooth, sharp, p)
    state = sharp if is_sharp else smooth
    concentration = max(concentration, estimate_concentration(counts, estimate_topics(state.words, p, 1.0), n_threads))
    state.documents[:, -1] = 1.0
    return estimate_topics(run(state, not is_sharp, SMOOTH_SWEEPS + TRIAL_SWEEPS, LAST_SWEEPS).words, p, concentration)


def refit_token_topics(
    counts: Documents, topic_word: Array, alpha: Array, *, n_smooth: int = SMOOTH_SWEEPS, n_sharp: int = N_SHARP
) -> TokenTopics:
    """Return the topics of counts by a given number of sweeps from topics (F, V) near them, in one thread.

    By default the sweeps are those of a fit, so that topics on their way have the bias of a fit.
    """
    if counts.shape[0] < MIN_TRIED * TRIED_PART:
        n_smooth, n_sharp = 0, n_smooth + n_sharp
    frequency = compute_word_sums(counts, 1).total
    p, concentration = frequency / frequency.sum(), alpha.sum()
    topic_word = (1.0 - START_SMOOTHING) * topic_word + START_SMOOTHING * p
    state = start_counts(counts, topic_word, alpha, np.ones(counts.shape[0]), 1)
    for number in range(n_smooth + n_sharp):
        state = sweep(counts, state, p, concentration, smooth=number < n_smooth, n_threads=1)
        state.words[:] += START_TOKENS * topic_word.T
    return estimate_topics(state.words, p, concentration)


def start_counts(tokens: Documents, topic_word: Array, alpha: Array, weights: Array, n_threads: int) -> TopicCounts:
    """Return counts for topics (F, V): each document's by some steps with these topics, the words' from the topics."""
    phi, rows = np.ascontiguousarray(topic_word.T), tokens.allocate_rows(len(alpha) + 1)
    rows[:, -1] = weights
    total = tokens.update_rows(partial(start_block, phi=phi, alpha=alpha), rows, n_threads)
    return TopicCounts(phi * total, rows)


def start_block(X: Any, rows: Array, phi: Array, alpha: Array) -> tuple[Array, Array]:
    """Return the counts of topics in the documents of a block (n, F + 1) for topics phi (V, F), and their sum."""
    found = rows.copy()
    for batch in iter_batches(X, len(alpha)):
        found[batch.rows, :-1] = batch.count_topics(phi, alpha, FIRST_STEPS)
    return found, found[:, -1] @ found[:, :-1]


def estimate_concentration(counts: Documents, topics: TokenTopics, n_threads: int) -> float:
    """Return the α0 for which a Dirichlet distribution has the variances that pairs of tokens show; 0 if unknown.

    Topics that are not sharp yet make documents look more alike in what predicts best than they are.
    """
    pairs = compute_pair_moments(counts, topics.topic_word, n_threads)
    if pairs is None:
        return 0.0
    variance = max(float(np.trace(pairs.covariance)), MIN_VARIANCE)
    return float(min((1.0 - (topics.shares**2).sum()) / variance - 1.0, CONCENTRATIONS[-1]))


def copy_counts(tokens: Documents, state: TopicCounts) -> TopicCounts:
    """Return a copy, stored as the documents are."""
    rows = tokens.allocate_rows(state.documents.shape[1])
    rows[:] = state.documents
    return state._replace(documents=rows)


def compute_alpha(words: Array, concentration: float) -> Array:
    """Return the prior of the mixtures (F,) for word counts (V, F): the concentration times the shares of tokens."""
    total = words.sum(axis=0)
    share = np.maximum(total / total.sum(), MIN_PRIOR_SHARE)
    return concentration * share / share.sum()


def estimate_topics(words: Array, p: Array, concentration: float) -> TokenTopics:
    """Return the topics from word counts (V, F) and the words' frequencies p (V,)."""
    phi, total = WordPrior(words, p, 0.0).phi, words.sum(axis=0)
    return TokenTopics(np.ascontiguousarray(phi.T), compute_alpha(words, concentration), total / total.sum())


class WordPrior:
    """Topics (V, F) that word counts and the prior give, and what one token adds to them.

    `background` tokens of the corpus are added to every topic.
    """

    def __init__(self, words: Array, p: Array, background: float) -> None:
        used = p > 0
        self.added = np.where(used, WORD_SHAPE + background * p, 0.0)
        with np.errstate(divide="ignore"):
            size = words.sum(axis=0) + (WORD_SHAPE / p + background)[:, None]  # infinite without a token
        self.phi = (words + self.added[:, None]) / size
        total = self.phi.sum(axis=0)
        self.phi /= total
        self.per_token = 1.0 / (size * total)


def sweep(
    tokens: Documents, state: TopicCounts, p: Array, concentration: float, *, smooth: bool, n_threads: int
) -> TopicCounts:
    """Return the counts after one sweep; those of the documents are overwritten."""
    background = state.words.sum() / state.words.shape[1] if smooth else 0.0
    prior, alpha = WordPrior(state.words, p, background), compute_alpha(state.words, concentration)
    words = tokens.update_rows(partial(sweep_block, prior=prior, alpha=alpha), state.documents, n_threads)
    return TopicCounts(words, state.documents)


def sweep_block(X: Any, counts: Array, prior: WordPrior, alpha: Array) -> tuple[Array, Array]:
    """Return the new counts of the documents of a block (n, F + 1), and their sum over the words' tokens (V, F)."""
    found, words = counts.copy(), np.zeros_like(prior.phi)
    for batch in iter_batches(X, len(alpha)):
        R = assign_tokens(batch, counts[batch.rows, :-1] + alpha, prior, alpha)
        found[batch.rows, :-1] = batch.sum_documents(R)
        weights = counts[batch.rows, -1]
        if not weights.all():
            R *= weights[batch.document][:, None]
        words[batch.words] += batch.sum_words(R)
    return found, words


def assign_tokens(batch: Batch, weights: Array, prior: WordPrior, alpha: Array) -> Array:
    """Return the tokens of each entry by topic (n_entries, F), each without its own part in the counts.

    With A the document's counts plus α, and B the word's probability in each topic, a token belongs to the topics by
    R = AB / Σ AB. Without itself it would have A − R and B − R·(what a token adds to B).
    """
    A, B = weights[batch.document], prior.phi[batch.words][batch.word]
    R = A * B
    R *= (1.0 / np.einsum("ij->i", R))[:, None]
    A -= R
    np.maximum(A, MIN_PRIOR_PART * alpha, out=A)
    per_token = prior.per_token[batch.words][batch.word]
    R *= per_token
    B -= R
    per_token *= prior.added[batch.words][batch.word][:, None]
    np.maximum(B, per_token, out=B)  # at least what is left without any token of the word
    A *= B
    A *= (batch.counts / np.einsum("ij->i", A))[:, None]
    return A


def choose_trial_documents(counts: Documents) -> tuple[Any, Any]:
    """Return documents, evenly spaced, on which choices are tried, and their positions; None and none if too few."""
    n = counts.shape[0]
    n_tried = min(n // TRIED_PART, MAX_TRIED)
    if n_tried < MIN_TRIED:
        return None, []
    positions = np.unique(np.linspace(0, n - 1, n_tried).astype(np.intp))
    return counts.take_rows(positions), positions


def predict_best(trial: Any, words: Array, p: Array) -> tuple[float, Array]:
    """Return the α0 under which half of each trial document predicts the other half best, and these scores (n,)."""
    scores = [score_documents(trial, words, p, concentration) for concentration in CONCENTRATIONS]
    best = int(np.argmax([score.sum() for score in scores]))
    return CONCENTRATIONS[best], scores[best]


def choose_counts(trial: Any, smooth: TopicCounts, sharp: TopicCounts, p: Array) -> tuple[bool, float]:
    """Return whether the sharp counts are used, and α0.

    They must predict trial documents better by more than the standard error of the difference. Where they do not, the
    smooth topics are as good a model, and they put documents into clearer groups.
    """
    if trial is None:
        return True, DEFAULT_CONCENTRATION
    (of_smooth, before), (of_sharp, after) = (predict_best(trial, counts.words, p) for counts in (smooth, sharp))
    gain = after - before
    is_sharp = bool(gain.mean() > gain.std() / np.sqrt(len(gain)))
    return is_sharp, of_sharp if is_sharp else of_smooth


def score_documents(trial: Any, words: Array, p: Array, concentration: float) -> Array:
    """Return log-probabilities of one half of each document given the other."""
    return predict_halves(trial, WordPrior(words, p, 0.0).phi, compute_alpha(words, concentration))
