"""Topics that a user names by some of their words.

Seed words choose among the topics of the fit (`seed_matches`). If some of them find no topic, or want that of others,
the token model is fitted again from topics with more of the seed words, and from the words of the documents that
contain them in place of topics that are nowhere a large part of a document. The data decide: this fit is kept if more
seeds are supported and documents that were set aside are not predicted worse. At last all seeds start from the
documents that have two of their words. With good words and many documents such a fit finds topics that no other has;
else it finds worse ones, so it is kept only if documents that were set aside are predicted clearly better.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from anchorless._core.seed_matches import FLOOR, Matches, SeedMatch, count_together, match_seeds
from anchorless._core.token_mixtures import count_document_topics
from anchorless._core.token_model import TokenTopics, TrialTopics, estimate_topics, fit_token_topics
from anchorless._core.token_splits import sum_presence
from anchorless._core.token_sweeps import Sweeps, TopicCounts
from anchorless._core.token_trials import TRIAL_STEPS, score_documents
from anchorless._corpus.documents import Array, Documents

#: Fits from seed words, at most.
MAX_FITS = 3
#: Part of a start that is the seed words themselves; after a fit that was not kept, a third of it.
SEED_PART, SEED_PART_FACTOR = 0.3, 1 / 3
#: A start is the topic of the seed if its words are at least this part as probable there as in another topic.
START_PART = 0.5
#: A topic may start from a seed if so many documents have two of its words.
MIN_DOCUMENTS = 5
#: Documents that were set aside may be predicted worse by so many standard errors.
MAX_LOSS = 2.0
#: After a start from the documents of all seeds they must be predicted better, by so many standard errors.
MIN_JOINT_GAIN = 2.0
#: Part of every word's frequency that is taken away from the words of these documents.
BACKGROUND_PART = 0.5
#: The words of the seeds must be more probable in their topics, in the sum of the seeds' mean logarithms.
MIN_GAIN = 0.5
#: A topic is a new one if this part of its probability lies on other words than before.
NEW_PART = 0.3
#: A start has at least this part of every word's frequency taken away: that of words which every document may use.
BACKGROUND_QUANTILE, MIN_EXPECTED = 0.1, 5.0


class SeededFit(NamedTuple):
    """A fit, and what became of the seeds."""

    topics: TokenTopics
    matches: Matches
    unseen: Array  # (F, V), the topics before they had seen the documents that were set aside; else as `topics`
    scores: Array | None  # (n,), log-probabilities of these documents then; None if there are too few


def fit_seeded_topics(
    counts: Documents,
    found: TokenTopics,
    is_new: Any,
    seeds: Sequence[Sequence[int]],
    unseen: Array | None,
    n_threads: int,
) -> tuple[TokenTopics, Any, list[SeedMatch]]:
    """Return the topics, which of them are new (F,), and the match of each seed.

    `unseen` (F, V) are the topics before they had seen the documents that were set aside; None if there were none.
    """
    matches = match_seeds(counts, found, seeds, n_threads)
    together = count_together(counts, seeds, n_threads)
    active = [i for i, n in enumerate(together) if n >= MIN_DOCUMENTS and matches.seeds[i].topic is not None]
    best, part = None, SEED_PART
    started: set[int] = set()
    for _ in range(MAX_FITS):
        doubtful = [i for i in active if not matches.is_clear(i)]
        if not doubtful:
            break
        if best is None:  # the same fit without the seeds, for comparison
            first = found.topic_word if unseen is None else unseen
            best = fit_start(counts, first, seeds, n_threads)._replace(topics=found, matches=matches)
        start, from_documents = build_start(counts, best, [(i, seeds[i]) for i in active], part, n_threads)
        other = fit_start(counts, start, seeds, n_threads)
        lost = [i for i in doubtful if not other.matches.seeds[i].is_supported]
        if is_better(best, other, active):
            best, matches, started = other, other.matches, started | set(from_documents)
        else:
            part *= SEED_PART_FACTOR
        active = [i for i in active if i not in lost]
    if best is not None and (joint := fit_joint_start(counts, best, seeds, together, n_threads)) is not None:
        best, matches, started = joint, joint.matches, set(range(len(seeds)))
    if best is None or best.topics is found:
        return found, is_new, matches.seeds
    moved = abs(best.topics.topic_word - found.topic_word).sum(axis=1) / 2 >= NEW_PART
    restarted = [match._replace(restarted=i in started) for i, match in enumerate(matches.seeds)]
    return best.topics, is_new | moved, restarted


def fit_start(counts: Documents, start: Array, seeds: Sequence[Sequence[int]], n_threads: int) -> SeededFit:
    """Return the fit of the token model from topics (F, V)."""
    set_aside: list[tuple[Array, Array]] = []

    def score(sweeps: Sweeps, state: TopicCounts, found: TrialTopics) -> None:
        unseen = estimate_topics(found.words, found.p, found.concentration)
        phi = np.ascontiguousarray(unseen.topic_word.T)
        scores = score_documents(found.trial, found.words, phi, found.concentration)
        set_aside.append((unseen.topic_word, scores))

    topics = fit_token_topics(counts, start, n_threads, score).topics
    unseen, scores = set_aside[0] if set_aside else (topics.topic_word, None)
    return SeededFit(topics, match_seeds(counts, topics, seeds, n_threads), unseen, scores)


def fit_joint_start(
    counts: Documents, before: SeededFit, seeds: Sequence[Sequence[int]], together: Array, n_threads: int
) -> SeededFit | None:
    """Return a fit in which every seed starts from the documents with two of its words, if it is clearly better.

    `together` (n,) is the number of these documents.
    """
    places = [match.topic for match in before.matches.seeds if match.topic is not None]
    if before.scores is None or len(places) < len(seeds) or together.min() < MIN_DOCUMENTS:
        return None
    start = before.unseen.copy()
    start[places] = build_joint_starts(counts, seeds, n_threads)
    after = fit_start(counts, start, seeds, n_threads)
    if after.scores is None or after.matches.n_supported < before.matches.n_supported:
        return None
    change = after.scores - before.scores
    return after if change.sum() >= MIN_JOINT_GAIN * change.std() * np.sqrt(len(change)) else None


def is_better(before: SeededFit, after: SeededFit, active: Sequence[int]) -> bool:
    """Return whether the documents support more of the seeds, or as many but clearer, and are not predicted worse."""
    supported = [i for i in active if after.matches.seeds[i].is_supported]
    gain = sum(
        float(
            after.matches.scores[i, after.matches.seeds[i].topic]
            - before.matches.scores[i, before.matches.seeds[i].topic]
        )
        for i in supported
    )
    if after.matches.n_supported < before.matches.n_supported or gain < MIN_GAIN:
        return False
    if before.scores is None or after.scores is None:
        return True
    change = after.scores - before.scores
    return bool(change.sum() >= -MAX_LOSS * change.std() * np.sqrt(len(change)))


def build_start(
    counts: Documents, before: SeededFit, seeds: Sequence[tuple[int, Sequence[int]]], part: float, n_threads: int
) -> tuple[Array, list[int]]:
    """Return topics (F, V) with more of the words of some seeds, and the seeds whose topics start from documents."""
    start, scores = before.unseen.copy(), before.matches.scores
    near = {
        i: topic
        for i, _ in seeds
        if (topic := before.matches.seeds[i].topic) is not None
        and scores[i, topic] >= scores[i].max() + np.log(START_PART)
    }
    far = [(i, words) for i, words in seeds if i not in near]
    if far:
        presence = measure_presence(counts, before.topics, n_threads)
        spare = [int(k) for k in np.argsort(presence, kind="stable") if k not in near.values()]
        far = far[: len(spare)]
        start[spare[: len(far)]] = build_starts(counts, [words for _, words in far], n_threads)
    place = near | {i: k for (i, _), k in zip(far, spare if far else [], strict=False)}
    for i, words in seeds:
        if i in place:
            start[place[i]] *= 1.0 - part
            start[place[i], [*words]] += part / len(words)
    return start, [i for i, _ in far]


def measure_presence(counts: Documents, topics: TokenTopics, n_threads: int) -> Array:
    """Return the mean part of a document that a topic has where one of its tokens is (F,)."""
    phi = np.ascontiguousarray(topics.topic_word.T)

    def sum_block(X: Any) -> Array:
        return sum_presence(count_document_topics(X, phi, topics.alpha, TRIAL_STEPS))

    squares, total = counts.refine_blocks().sum_blocks(sum_block, n_threads)
    return np.asarray(squares / np.maximum(total, FLOOR))


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


def build_starts(counts: Documents, seeds: Sequence[Sequence[int]], n_threads: int) -> Array:
    """Return topics (n, V): words of the documents that contain the words of a seed, beyond their frequency."""

    def sum_words(X: Any) -> Array:
        lengths = np.maximum(np.asarray(X.sum(axis=1)).ravel(), 1.0)
        tokens = np.column_stack([np.asarray(X[:, [*words]].sum(axis=1)).ravel() for words in seeds])
        own = np.asarray((X.T @ (tokens / lengths[:, None])).T)
        return np.vstack([own, np.asarray(X.sum(axis=0))])

    sums = counts.sum_blocks(sum_words, n_threads)
    frequency, n_tokens = sums[-1] / sums[-1].sum(), sums[:-1].sum(axis=1)
    starts = sums[:-1] / np.maximum(n_tokens, 1e-300)[:, None]
    for i in range(len(starts)):
        common = (frequency * n_tokens[i] >= MIN_EXPECTED) & (frequency > 0)
        if common.any():
            part = np.quantile(starts[i, common] / frequency[common], BACKGROUND_QUANTILE)
            rest = np.maximum(starts[i] - part * frequency, 0.0)
            starts[i] = rest / rest.sum() if rest.sum() > 0 else starts[i]
    return starts


def build_joint_starts(counts: Documents, seeds: Sequence[Sequence[int]], n_threads: int) -> Array:
    """Return topics (n, V): words of the documents that contain two words of a seed, beyond a part of their frequency.

    Words that lead several topics have a common topic nevertheless. A document counts by the part of its pairs of
    tokens that are two different words of the seed.
    """

    def sum_words(X: Any) -> Array:
        lengths = np.asarray(X.sum(axis=1)).ravel()
        pairs = np.column_stack([count_pairs(X[:, [*words]]) for words in seeds])
        pairs /= np.maximum(lengths * (lengths - 1.0), 1.0)[:, None]
        return np.vstack([np.asarray((X.T @ pairs).T), np.asarray(X.sum(axis=0))])

    sums = counts.sum_blocks(sum_words, n_threads)
    starts = sums[:-1] / np.maximum(sums[:-1].sum(axis=1, keepdims=True), FLOOR)
    rest = np.maximum(starts - BACKGROUND_PART * sums[-1] / sums[-1].sum(), 0.0)
    total = rest.sum(axis=1, keepdims=True)
    return np.where(total > 0, rest / np.maximum(total, FLOOR), starts)


def count_pairs(X: Any) -> Array:
    """Return the number of pairs of tokens of different words in each row of X, sparse (n, w)."""
    total = np.asarray(X.sum(axis=1), dtype=np.float64).ravel()
    squares = np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray((total**2 - squares) / 2.0)
