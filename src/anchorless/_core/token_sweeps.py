"""Sweeps of the token model over documents, and the counts that they update."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from anchorless._core.token_kernels import sweep_documents
from anchorless._core.token_mixtures import count_document_topics
from anchorless._core.token_pairs import NO_PAIRS, PairPrior
from anchorless._core.token_trials import DEFAULT_CONCENTRATION, Trial, compute_alpha, score_documents
from anchorless._core.word_prior import WORD_SHAPE, WORDS_AT_A_TIME, WordPrior
from anchorless._corpus.documents import Array, Documents
from anchorless._corpus.sparse import split_range
from anchorless.progress import report_progress

#: Sweeps over the mixtures, with fixed topics, before the first sweep.
FIRST_STEPS = 4


@dataclass(slots=True)
class TopicCounts:
    """Expected numbers of tokens."""

    words: Array  # (V, F), of each word in each topic
    #: (N, F + 1), of each topic in each document, and the weight of the document in `words`; or (N, 2F + 1), and what
    #: neighbors add to its prior.
    documents: Array


class Sweeps:
    """Sweeps over the same documents: the frequencies p (V,), and tokens that stay in each topic (V, F).

    `attract`, if set, returns what neighbors add to the prior of each document (N, F), from the mixtures (N, F).
    """

    def __init__(
        self, tokens: Documents, p: Array, kept: Array, n_threads: int, concentration: float = DEFAULT_CONCENTRATION
    ) -> None:
        self.tokens, self.p, self.kept, self.n_threads = tokens, p, kept, n_threads
        self.concentration, self.shape, self.pairs = concentration, WORD_SHAPE, NO_PAIRS
        self.n_done, self.n_most = 0, 0  # sweeps, for the progress; without a number at most there is none
        self.attract: Callable[[Array], Array] | None = None

    def run(self, state: TopicCounts, n: int, *, smooth: bool = False, least_change: float = 0.0) -> TopicCounts:
        """Return the counts after n sweeps, or fewer if the topics change by less than `least_change` in one.

        The counts that are given are used up: at hundreds of topics each array is large.
        """
        for _ in range(n):
            before = state.words
            if self.attract is not None:
                add_neighbors(state, compute_alpha(before, self.concentration), self.attract)
            update = prepare_sweep(before, self.p, self.concentration, self.shape, smooth=smooth, pairs=self.pairs)
            state.words = self.tokens.update_rows(update, state.documents, self.n_threads)
            del update
            state.words += self.kept
            self.n_done += 1
            if self.n_most:
                report_progress("likelihood", min(self.n_done, self.n_most - 1), self.n_most)
            if least_change and measure_change(before, state.words) < least_change:
                break
            del before
        return state

    def score(self, trial: Trial, words: Array) -> Array:
        """Return log-probabilities of one half of each trial document given the other (n,), for word counts (V, F)."""
        phi = WordPrior(words, self.p, self.shape).compute_phi()
        return score_documents(trial, words, phi, self.concentration)


def add_neighbors(state: TopicCounts, alpha: Array, attract: Callable[[Array], Array]) -> None:
    """Set what neighbors add to the prior of each document, in the last columns of its counts (N, 2F + 1)."""
    mixtures = state.documents[:, : len(alpha)] + alpha
    mixtures /= mixtures.sum(axis=1, keepdims=True)
    state.documents[:, len(alpha) + 1 :] = attract(mixtures)


def measure_change(before: Array, after: Array) -> float:
    """Return the mean ℓ1 distance of topics with word counts (V, F)."""
    sizes = before.sum(axis=0), after.sum(axis=0)
    parts = split_range(len(before), WORDS_AT_A_TIME)  # whole arrays would double the memory of a fit
    return sum(float(abs(before[w] / sizes[0] - after[w] / sizes[1]).sum()) for w in parts) / before.shape[1]


def start_counts(tokens: Documents, phi: Array, alpha: Array, weights: Array, n_threads: int) -> TopicCounts:
    """Return counts for topics (V, F): each document's by some steps with these topics, the words' from the topics."""
    rows = tokens.allocate_rows(len(alpha) + 1)
    rows[:, -1] = weights
    total = tokens.update_rows(partial(start_block, phi=phi, alpha=alpha), rows, n_threads)
    return TopicCounts(phi * total, rows)


def start_block(X: Any, rows: Array, phi: Array, alpha: Array) -> tuple[Array, Array]:
    """Return the counts of topics in the documents of a block (n, F + 1) for topics phi (V, F), and their sum."""
    found = rows.copy()
    found[:, :-1] = count_document_topics(X, phi, alpha, FIRST_STEPS)
    return found, found[:, -1] @ found[:, :-1]


def copy_counts(tokens: Documents, state: TopicCounts) -> TopicCounts:
    """Return a copy, stored as the documents are."""
    rows = tokens.allocate_rows(state.documents.shape[1])
    rows[:] = state.documents
    return TopicCounts(state.words, rows)


def sweep(
    tokens: Documents, state: TopicCounts, p: Array, concentration: float, *, smooth: bool, n_threads: int
) -> TopicCounts:
    """Return the counts after one sweep; those of the documents are overwritten."""
    update = prepare_sweep(state.words, p, concentration, smooth=smooth)
    return TopicCounts(tokens.update_rows(update, state.documents, n_threads), state.documents)


def prepare_sweep(
    words: Array,
    p: Array,
    concentration: float,
    shape: float = WORD_SHAPE,
    *,
    smooth: bool,
    pairs: PairPrior = NO_PAIRS,
) -> Callable[[Any, Array], Any]:
    """Return the update of the documents of a block, given the words' counts (V, F) before the sweep."""
    background = words.sum() / words.shape[1] if smooth else 0.0
    prior, alpha = WordPrior(words, p, shape, background), compute_alpha(words, concentration)
    return partial(sweep_block, prior=prior, alpha=alpha, pairs=pairs)


def sweep_block(
    X: Any, counts: Array, prior: WordPrior, alpha: Array, pairs: PairPrior = NO_PAIRS
) -> tuple[Array, Array]:
    """Return the new counts of the documents of a block, and their sum over the words' tokens (V, F)."""
    found, words, near = counts.copy(), np.zeros_like(prior.words), counts[:, len(alpha) + 1 :]
    each = alpha + near if near.size else alpha[None]
    of_words = prior.words, prior.added, prior.sizes, prior.topic_sizes, prior.sums
    sweep_documents(X.indptr, X.indices, X.data, counts, *of_words, each, *pairs, found, words)
    return found, words
