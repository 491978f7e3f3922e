"""Topics that a user names by some of their words.

Seed words choose among the topics of the fit (`seed_matches`). If some of them find no topic, or want that of others,
other starts are tried: all seeds, or those without a clear topic, start from what the documents with their words have
(`seed_starts`). The data decide: of the starts from which documents that were set aside are predicted better and more
seeds are supported, the best one is kept, and the seeds that are still without a clear topic are tried again. Then the
token model is fitted from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from anchorless._core.seed_matches import Matches, SeedMatch, match_seeds
from anchorless._core.seed_starts import build_seed_starts, build_starts
from anchorless._core.token_model import Task, TokenTopics, estimate_topics, fit_token_topics, make_task, sweep_start
from anchorless._core.token_splits import measure_presence
from anchorless._corpus.documents import Array, Documents

#: Rounds in which other starts are tried, and sweeps from each.
MAX_ROUNDS, START_SWEEPS = 3, 20
#: A seed lacks a topic if its words are less than this part as probable in the topic it got as in that of another seed.
START_PART = 0.5
#: A start that supports no more seeds must predict documents that were set aside better by so many standard errors.
MIN_GAIN = 2.0
#: A topic is a new one if this part of its probability lies on other words than before.
NEW_PART = 0.3


class FirstFit(NamedTuple):
    """The fit without seed words."""

    topics: TokenTopics
    is_new: Any  # (F,), whether topics are others than those of the co-occurrences
    unseen: Array  # (F, V), the topics before they had seen the documents that were set aside
    is_sharp: bool  # whether sweeps are


class Tried(NamedTuple):
    """What sweeps from a start lead to, without the documents that were set aside."""

    topics: TokenTopics
    presence: Array  # (F,), the mean part of a document that a topic has where one of its tokens is
    scores: Array | None  # (n,), log-probabilities of the documents that were set aside; None if there are too few
    matches: Matches
    restarted: frozenset[int] = frozenset()  # seeds whose topics started from their documents

    @property
    def total(self) -> float:
        """Log-probability of the documents that were set aside; 0 if there are too few."""
        return 0.0 if self.scores is None else float(self.scores.sum())


class Search(NamedTuple):
    """What all starts have in common."""

    task: Task
    seeds: Sequence[Sequence[int]]
    starts: Array  # (n, V), topics from the documents with the words of each seed; zero if there are none
    concentration: float  # α0
    is_sharp: bool

    def sweep(self, start: Array, restarted: frozenset[int] = frozenset()) -> Tried:
        """Return what sweeps from topics (F, V) lead to."""
        task, smooth = self.task, not self.is_sharp
        sweeps, state = sweep_start(task, start, START_SWEEPS, self.concentration, smooth=smooth)
        topics = estimate_topics(state.words, task.p, self.concentration)
        scores = None if task.trial is None else sweeps.score(task.trial, state.words)
        presence = measure_presence(state.documents[:, : len(start)])
        return Tried(topics, presence, scores, match_seeds(task.counts, topics, self.seeds, task.n_threads), restarted)


def fit_seeded_topics(
    counts: Documents, first: FirstFit, seeds: Sequence[Sequence[int]], n_threads: int
) -> tuple[TokenTopics, Any, list[SeedMatch]]:
    """Return the topics, which of them are new (F,), and the match of each seed."""
    found, is_new = first.topics, first.is_new
    matches = match_seeds(counts, found, seeds, n_threads)
    if all(matches.is_clear(i) for i, match in enumerate(matches.seeds) if match.topic is not None):
        return found, is_new, matches.seeds
    starts = build_seed_starts(counts, seeds, n_threads)
    task = make_task(counts, n_threads)
    search = Search(task, seeds, starts, float(found.alpha.sum()), first.is_sharp)
    best = search_starts(search, first.unseen)
    if not best.restarted:
        return found, is_new, matches.seeds
    topics = fit_token_topics(counts, best.topics.topic_word, n_threads, is_sharp=first.is_sharp).topics
    after = match_seeds(counts, topics, seeds, n_threads)
    if after.n_supported < matches.n_supported:
        return found, is_new, matches.seeds
    moved = abs(topics.topic_word - found.topic_word).sum(axis=1) / 2 >= NEW_PART
    return topics, is_new | moved, [m._replace(restarted=i in best.restarted) for i, m in enumerate(after.seeds)]


def search_starts(search: Search, first: Array) -> Tried:
    """Return the best of what sweeps from the topics `first` (F, V) and from other starts lead to."""
    best = search.sweep(first)
    for n in range(MAX_ROUNDS):
        tried = (search.sweep(start, restarted) for start, restarted in propose_starts(search, best, with_all=n == 0))
        better = [some for some in tried if is_better(best, some)]
        if not better:
            break
        best = max(
            better, key=lambda some: (some.matches.n_supported, 0.0 if some.scores is None else some.scores.sum())
        )
    return best


def propose_starts(search: Search, before: Tried, *, with_all: bool) -> Iterator[tuple[Array, frozenset[int]]]:
    """Yield topics (F, V) to start from, and the seeds that start from their documents in them.

    These are all seeds, in place of their topics; those without a clear topic, likewise; and those whose words are most
    probable in the topic of another seed, in place of topics that are nowhere a large part of a document.
    """
    matches, scores = before.matches, before.matches.scores
    place = {i: match.topic for i, match in enumerate(matches.seeds) if match.topic is not None}
    active = [i for i in place if search.starts[i].any()]
    unclear = [i for i in active if not matches.is_clear(i)]
    lacking = [i for i in unclear if scores[i, place[i]] < scores[i].max() + np.log(START_PART)]
    taken = {topic for i, topic in place.items() if matches.is_clear(i)}
    spare = [int(k) for k in np.argsort(before.presence, kind="stable") if k not in taken]
    proposed = [(active, [place[i] for i in active])] if with_all else []
    proposed += [(unclear, [place[i] for i in unclear]), (lacking, spare[: len(lacking)])]
    for some, places in proposed:
        if some:
            start = before.topics.topic_word.copy()
            start[places] = search.starts[some]
            yield start, before.restarted | frozenset(some)


def is_better(before: Tried, after: Tried) -> bool:
    """Return whether the documents support more seeds and are predicted as well, or as many and clearly better."""
    gained = after.matches.n_supported - before.matches.n_supported
    if gained < 0 or before.scores is None or after.scores is None:
        return gained > 0
    change = after.scores - before.scores
    least = 0.0 if gained else MIN_GAIN
    return bool(change.sum() > least * change.std() * np.sqrt(len(change)))


def separate_words(
    counts: Documents, found: TokenTopics, is_new: Any, pairs: Sequence[Sequence[int]], n_threads: int
) -> tuple[TokenTopics, Any, list[tuple[int, int]]]:
    """Return topics in which the two words of each pair belong to different topics, if the documents allow it.

    Also return which topics are new (F,), and the topics of the words of each pair.
    """
    homes = find_homes(found, pairs)
    spare = [int(k) for k in np.argsort(found.shares, kind="stable") if not any(k in home for home in homes)]
    starts, places = [], []
    for (a, b), home in zip(pairs, homes, strict=True):
        if home[0] == home[1] and home[0] not in places and spare:
            starts += [[a], [b]]
            places += [home[0], spare.pop(0)]
    if not starts:
        return found, is_new, homes
    start = found.topic_word.copy()
    start[places] = build_starts(counts, starts, n_threads)
    other, other_new, _ = fit_token_topics(counts, start, n_threads)
    again = find_homes(other, pairs)
    before, after = (sum(home[0] == home[1] for home in some) for some in (homes, again))
    if after >= before:
        return found, is_new, homes
    other_new = other_new | is_new
    other_new[places] = True
    return other, other_new, again


def find_homes(topics: TokenTopics, pairs: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """Return the topic to which each of two words belongs most."""
    weighted = topics.topic_word * topics.shares[:, None]
    return [(int(weighted[:, a].argmax()), int(weighted[:, b].argmax())) for a, b in pairs]
