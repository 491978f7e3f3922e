"""The search for topics that are two: splits are tried, and those stay that predict documents set aside better.

`token_splits` says which topics may be two. Only some of them are, and which ones the trial documents tell: after some
sweeps, the right splits predict them better. Of several, the best one is made, and then the others are tried again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from anchorless._core.token_splits import Split, apply_splits, find_splits
from anchorless._core.token_sweeps import Sweeps, TopicCounts, copy_counts
from anchorless._core.token_trials import Trial, compute_alpha
from anchorless._core.word_prior import WordPrior
from anchorless._corpus.documents import Array

#: Before topics are split, and after many were, there are so many sweeps; after single ones so many, since a topic
#: needs some to become what it is; at most so many times.
SPLIT_SWEEPS, ALONE_SWEEPS, SPLIT_ROUNDS = 4, 8, 4
#: Sweeps of a search, at most, without those of splits that are not made.
MAX_SPLIT_SWEEPS = SPLIT_SWEEPS + ALONE_SWEEPS * SPLIT_ROUNDS


class TriedSplits(NamedTuple):
    """Splits, or none, the counts after them and after sweeps, and the log-probabilities of trial documents (n,)."""

    splits: list[Split]
    state: TopicCounts
    kept: Array  # (V, F), as of `Sweeps`
    scores: Array

    def is_better_than(self, other: TriedSplits) -> bool:
        """Return whether trial documents are predicted better, by as many standard errors as the first split needs."""
        gain = self.scores - other.scores
        return bool(gain.sum() > self.splits[0].least_errors * gain.std() * np.sqrt(len(gain)))


def split_topics(sweeps: Sweeps, state: TopicCounts, trial: Trial, is_new: Any) -> TopicCounts:
    """Return the counts after some sweeps and after merged topics were split, if trial documents are predicted better.

    `is_new` (F,) is set for the topics that changed.
    """
    state, is_first = sweeps.run(state, SPLIT_SWEEPS), True
    for _ in range(SPLIT_ROUNDS):
        alpha = compute_alpha(state.words, sweeps.concentration)
        phi = WordPrior(state.words, sweeps.p).compute_phi()
        of_state = sweeps.tokens, state.words, state.documents, phi, alpha
        together, alone = find_splits(*of_state, is_new, sweeps.n_threads)
        is_together = is_first and len(together) > 0
        tries, n = ([together], SPLIT_SWEEPS) if is_together else ([[split] for split in alone], ALONE_SWEEPS)
        if not tries:
            break
        before = try_splits(sweeps, state, [], trial, n)
        tried = (try_splits(sweeps, state, splits, trial, n) for splits in tries)
        best = max(tried, key=lambda some: some.scores.sum())
        best = best if best.is_better_than(before) else before
        state, sweeps.kept, sweeps.n_done = best.state, best.kept, sweeps.n_done + n
        if best is before and not is_together:
            break
        is_new[[k for split in best.splits for k in split[:2]]] = True
        is_first = best is not before  # a wrong split among several hides what the others gain
    return state


def try_splits(sweeps: Sweeps, state: TopicCounts, splits: list[Split], trial: Trial, n_sweeps: int) -> TriedSplits:
    """Return what splits lead to after n sweeps; the counts that are given stay."""
    other, kept = copy_counts(sweeps.tokens, state), sweeps.kept.copy()
    other.words = state.words.copy()
    apply_splits(splits, other.words, other.documents, kept)
    changed = Sweeps(sweeps.tokens, sweeps.p, kept, sweeps.n_threads, sweeps.concentration)
    changed.n_done, changed.n_most = sweeps.n_done, sweeps.n_most
    other = changed.run(other, n_sweeps)
    return TriedSplits(splits, other, kept, sweeps.score(trial, other.words))
