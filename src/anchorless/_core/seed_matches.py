"""Which topic the seed words of a user indicate, and whether the documents support it.

A seed belongs to the topic from which its words are drawn most likely; all seeds choose together, each another topic.
It is supported if its words are leading words of the topic, and if they are more frequent in documents that have the
topic. Whether a document has it is told by its other words, so that words cannot support themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from anchorless._core.token_mixtures import count_document_topics
from anchorless._core.token_model import TokenTopics
from anchorless._core.token_trials import TRIAL_STEPS
from anchorless._corpus.documents import Array, Documents

#: A word leads a topic if it is not less frequent in it than elsewhere, and among so many most probable words or among
#: so many with the largest p(word | topic) × log lift;
N_LEADING = 15
#: or if it is among so many, at least this part of the pairs of the words in documents comes from the topic, it is so
#: many times as frequent in it as elsewhere, and so many documents have two of the words. Of a single word, the part
#: suffices.
N_SPECIFIC, MIN_PART, MIN_LIFT, MIN_TOGETHER = 100, 0.5, 2.0, 10
#: The excess of a word in documents that have the topic must be so many standard errors. On planted corpora nine of ten
#: random ones of the ten leading words have more; of two words of different topics one in three pairs.
MIN_EVIDENCE = 2.0
#: A word is accepted if its lift in the topic is at least this part of its largest lift.
LIFT_PART = 0.5
#: Smallest probability, for logarithms.
FLOOR = 1e-300


class SeedMatch(NamedTuple):
    """The topic that a seed's words indicate most, and how far they do."""

    topic: int | None  # None: there are more seeds than topics
    support: float  # the part of the pairs of its words, in documents, that comes from the topic; p(topic | a word)
    accepted: list[int]  # columns of the words that are words of the topic
    rejected: dict[int, int]  # columns of the others, and the topic to which each belongs most
    weak: tuple[int, ...] = ()  # columns of the words that do not lead the topic
    unconfirmed: tuple[int, ...] = ()  # columns of those that are not more frequent where its other words are
    restarted: bool = False  # whether the topic started from the documents with these words
    is_supported: bool = False  # whether most of the words are neither weak nor unconfirmed: then the seed names it


class Matches(NamedTuple):
    """The topics of all seeds."""

    seeds: list[SeedMatch]
    scores: Array  # (n, F), mean log-probability of the words of each seed in each topic

    @property
    def n_supported(self) -> int:
        """Number of seeds that the documents support."""
        return sum(match.is_supported for match in self.seeds)

    def is_clear(self, i: int) -> bool:
        """Return whether a seed is supported by the topic in which its words are most probable."""
        match = self.seeds[i]
        return match.is_supported and self.scores[i, match.topic] >= self.scores[i].max()


def match_seeds(counts: Documents, topics: TokenTopics, seeds: Sequence[Sequence[int]], n_threads: int) -> Matches:
    """Return the topic of each seed (columns of its words): each topic has at most one seed."""
    scores = np.array([score_topics(topics, words) for words in seeds])
    rows, chosen = linear_sum_assignment(-scores)
    place = dict(zip(rows.tolist(), chosen.tolist(), strict=True))
    places = [place.get(i) for i in range(len(seeds))]
    together = count_together(counts, seeds, n_threads)
    evidence = measure_evidence(counts, topics, seeds, places, n_threads)
    total = np.maximum(topics.shares @ topics.topic_word, FLOOR)
    lift = topics.topic_word / total
    moments = compute_pair_moments(topics.alpha)
    found = []
    for i, words in enumerate(seeds):
        if (topic := places[i]) is None:
            found.append(SeedMatch(None, 0.0, [], {w: int(lift[:, w].argmax()) for w in words}))
            continue
        part = measure_part(topics, moments, words, topic)
        leads = find_leading(topics.topic_word[topic], lift[topic], words, part, together[i])
        found.append(judge_seed(topic, words, part, lift, leads, evidence[i]))
    return Matches(found, scores)


def score_topics(topics: TokenTopics, words: Sequence[int]) -> Array:
    """Return the mean log-probability of words in each topic (F,); of a single word, log p(topic, word)."""
    phi = topics.topic_word[:, [*words]]
    if len(words) == 1:
        phi = phi * topics.shares[:, None]
    return np.asarray(np.log(np.maximum(phi, FLOOR)).mean(axis=1))


def compute_pair_moments(alpha: Array) -> Array:
    """Return E[θ_k θ_l] (F, F) of mixtures from a Dirichlet distribution."""
    size = alpha.sum()
    mean = alpha / size
    return (size * np.outer(mean, mean) + np.diag(mean)) / (size + 1.0)


def measure_part(topics: TokenTopics, moments: Array, words: Sequence[int], topic: int) -> float:
    """Return the part of the pairs of words in documents that comes from a topic; p(topic | word) of a single word."""
    phi = topics.topic_word
    if len(words) == 1:
        weights = topics.shares * phi[:, words[0]]
        return float(weights[topic] / max(weights.sum(), FLOOR))
    parts = [
        moments[topic, topic] * phi[topic, a] * phi[topic, b] / max(float(phi[:, a] @ moments @ phi[:, b]), FLOOR)
        for a, b in combinations(words, 2)
    ]
    return float(np.mean(parts))


def count_together(counts: Documents, seeds: Sequence[Sequence[int]], n_threads: int) -> Array:
    """Return the number of documents (n,) that contain two different words of each seed."""

    def count(X: Any) -> Array:
        there = (np.diff(X[:, [*words]].indptr) >= 2 for words in seeds)
        return np.array([float(some.sum()) for some in there])

    return counts.sum_blocks(count, n_threads)


def measure_evidence(
    counts: Documents,
    topics: TokenTopics,
    seeds: Sequence[Sequence[int]],
    places: Sequence[int | None],
    n_threads: int,
) -> list[Array]:
    """Return for each word of each seed its excess in documents that have the seed's topic, in standard errors.

    Mixtures are found without any of the seeds' words. The excess is the covariance, over documents, of the topic's
    proportion and of the number of the word beyond its frequency.
    """
    phi = np.ascontiguousarray(topics.topic_word.T)
    words = np.array([word for some in seeds for word in some])
    places_of_words = np.array([place or 0 for some, place in zip(seeds, places, strict=True) for _ in some])
    frequency, mean = topics.shares @ topics.topic_word, topics.shares

    def sum_products(X: Any) -> Array:
        others = X.copy()
        others.data = np.where(np.isin(others.indices, words), 0.0, others.data)
        others.eliminate_zeros()
        found = count_document_topics(others, phi, topics.alpha, TRIAL_STEPS) + topics.alpha
        theta = found / found.sum(axis=1, keepdims=True)
        lengths = np.asarray(X.sum(axis=1)).ravel()
        excess = X[:, words].toarray() - np.outer(lengths, frequency[words])
        products = (theta[:, places_of_words] - mean[places_of_words]) * excess
        return np.vstack([products.sum(axis=0), (products**2).sum(axis=0)])

    sums, squares = counts.refine_blocks().sum_blocks(sum_products, n_threads)
    return np.split(sums / np.sqrt(np.maximum(squares, FLOOR)), np.cumsum([len(some) for some in seeds])[:-1])


def find_leading(phi: Array, lift: Array, words: Sequence[int], part: float, together: float) -> Any:
    """Return which words (n,) lead a topic with probabilities phi (V,) and lifts (V,)."""
    columns = [*words]
    if len(columns) == 1:
        return np.array([part >= MIN_PART])
    order = np.argsort(-phi, kind="stable")
    distinctive = np.argsort(-phi * np.log(np.maximum(lift, FLOOR)), kind="stable")
    leads = np.isin(columns, [*order[:N_LEADING], *distinctive[:N_LEADING]]) & (lift[columns] >= 1.0)
    if part < MIN_PART or together < MIN_TOGETHER:
        return leads
    return leads | (np.isin(columns, order[:N_SPECIFIC]) & (lift[columns] >= MIN_LIFT))


def judge_seed(topic: int, words: Sequence[int], part: float, lift: Array, leads: Any, evidence: Array) -> SeedMatch:
    """Tell how far a topic has the words of a seed; lift is (F, V)."""
    best = {w: int(lift[:, w].argmax()) for w in words}
    accepted = [w for w in words if lift[topic, w] >= LIFT_PART * lift[best[w], w] > 0]
    rejected = {w: best[w] for w in words if w not in accepted}
    confirmed = evidence >= MIN_EVIDENCE
    weak = tuple(w for w, is_leading in zip(words, leads, strict=True) if not is_leading)
    unconfirmed = tuple(w for w, is_confirmed in zip(words, confirmed, strict=True) if not is_confirmed)
    is_supported = bool((leads & confirmed).mean() > 0.5)
    return SeedMatch(topic, part, accepted, rejected, weak, unconfirmed, is_supported=is_supported)
