"""Topics that a user names by some of their words.

Seed words choose among the topics of the fit: the topic from which pairs of them in documents come most likely. Only if
they come from no topic in particular, but are together more often than the topics explain, the words of the documents
that contain them become the start of a topic, in place of the smallest one, and the token model is fitted again from
there. The data decide: if this supports no more seeds, nothing has changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple, cast

import numpy as np
from scipy.optimize import linear_sum_assignment

from anchorless._core.token_model import TokenTopics, fit_token_topics
from anchorless._corpus.documents import Array, Documents

#: A word alone, or another topic that two seeds want: at least this part comes from the topic.
MIN_SUPPORT = 0.5
#: A seed is supported if at least this part of the pairs of its words comes from its topic, most of the words are more
#: frequent in it than elsewhere, and so many documents have two of them; or if nearly all pairs come from it. Chosen on
#: planted corpora: of two words at the top of the same topic 82 to 100% are supported, of two random words 6%.
MIN_PART, MIN_TOGETHER_DOCUMENTS, CLEAR_PART = 0.25, 5, 0.8
#: A word is accepted if its lift in the topic is at least this part of its largest lift.
LIFT_PART = 0.5
#: A topic is started from the words of a seed if they are together in documents so many times as often as the topics
#: explain, and as often as this.
MIN_EXCESS, MIN_TOGETHER = 1.5, 10
#: A start has at least this part of every word's frequency taken away: that of words which every document may use.
BACKGROUND_QUANTILE, MIN_EXPECTED = 0.1, 5.0
#: Smallest score, for logarithms.
FLOOR = 1e-12


class SeedMatch(NamedTuple):
    """The topic that a seed's words indicate most, and how far they do."""

    topic: int | None  # None: there are more seeds than topics
    support: float  # the part of the pairs of its words, in documents, that comes from the topic; p(topic | a word)
    accepted: list[int]  # columns of the words that are words of the topic
    rejected: dict[int, int]  # columns of the others, and the topic to which each belongs most
    wanted: int | None = None  # the topic that has the words, if it is the topic of another seed
    restarted: bool = False  # whether the topic started from the documents with these words
    is_supported: bool = False  # whether the topic has these words: then the seed names it


def compute_pair_moments(alpha: Array) -> Array:
    """Return E[θ_k θ_l] (F, F) of mixtures from a Dirichlet distribution."""
    size = alpha.sum()
    mean = alpha / size
    return (size * np.outer(mean, mean) + np.diag(mean)) / (size + 1.0)


def match_seeds(topics: TokenTopics, seeds: Sequence[Sequence[int]], together: Array) -> list[SeedMatch]:
    """Return the topic of each seed (columns of its words): each topic has at most one seed.

    `together` (n,) are documents with two of the words (`count_together`).
    """
    moments = compute_pair_moments(topics.alpha)
    scores = np.array([score_topics(topics, moments, words) for words in seeds])
    rows, chosen = linear_sum_assignment(-np.log(np.maximum(scores, FLOOR)))
    place = dict(zip(rows.tolist(), chosen.tolist(), strict=True))
    total = topics.shares @ topics.topic_word
    lift = np.divide(topics.topic_word, total, out=np.zeros_like(topics.topic_word), where=total > 0)
    return [judge_seed(place.get(i), words, scores[i], lift, together[i]) for i, words in enumerate(seeds)]


def count_together(counts: Documents, seeds: Sequence[Sequence[int]], n_threads: int) -> Array:
    """Return the number of documents (n,) that contain two different words of each seed."""

    def count(X: Any) -> Array:
        there = (np.diff(X[:, [*words]].indptr) >= 2 for words in seeds)
        return np.array([float(some.sum()) for some in there])

    return counts.sum_blocks(count, n_threads)


def score_topics(topics: TokenTopics, moments: Array, words: Sequence[int]) -> Array:
    """Return the part of the pairs of words in documents that comes from each topic (F,); p(topic | word) if one."""
    phi = topics.topic_word
    if len(words) == 1:
        weights = topics.shares * phi[:, words[0]]
        return np.asarray(weights / max(weights.sum(), 1e-300))
    parts = [
        np.diag(moments) * phi[:, a] * phi[:, b] / expect_pair(phi, moments, a, b) for a, b in combinations(words, 2)
    ]
    return np.asarray(np.mean(parts, axis=0))


def expect_pair(phi: Array, moments: Array, a: int, b: int) -> float:
    """Return the probability that two tokens of a document are the words a and b."""
    return max(float(phi[:, a] @ moments @ phi[:, b]), 1e-300)


def judge_seed(topic: int | None, words: Sequence[int], scores: Array, lift: Array, together: float) -> SeedMatch:
    """Tell how far a topic has the words of a seed."""
    best = {w: int(lift[:, w].argmax()) for w in words}
    if topic is None:
        return SeedMatch(None, 0.0, [], best)
    accepted = [w for w in words if lift[topic, w] >= LIFT_PART * lift[best[w], w] > 0]
    rejected, first = {w: best[w] for w in words if w not in accepted}, int(scores.argmax())
    wanted = first if first != topic and scores[first] >= MIN_SUPPORT else None
    part = float(scores[topic])
    has_words = float((lift[topic, [*words]] >= 1.0).mean()) > 0.5
    if len(words) == 1:
        is_supported = part >= MIN_SUPPORT
    else:
        is_supported = part >= CLEAR_PART or bool(
            part >= MIN_PART and has_words and together >= MIN_TOGETHER_DOCUMENTS and wanted is None
        )
    return SeedMatch(topic, part, accepted, rejected, wanted, is_supported=is_supported)


def fit_seeded_topics(
    counts: Documents, found: TokenTopics, is_new: Any, seeds: Sequence[Sequence[int]], n_threads: int
) -> tuple[TokenTopics, Any, list[SeedMatch]]:
    """Return the topics, which of them are new (F,), and the match of each seed."""
    together = count_together(counts, seeds, n_threads)
    matches = match_seeds(found, seeds, together)
    places = place_starts(counts, found, seeds, matches, n_threads)
    if not places:
        return found, is_new, matches
    start = found.topic_word.copy()
    start[[*places.values()]] = build_starts(counts, [seeds[i] for i in places], n_threads)
    other, other_new = fit_token_topics(counts, start, n_threads)
    again = match_seeds(other, seeds, together)
    before, after = (sum(match.is_supported for match in some) for some in (matches, again))
    if after <= before:
        return found, is_new, matches
    other_new = other_new | is_new
    other_new[[*places.values()]] = True
    return other, other_new, [match._replace(restarted=i in places) for i, match in enumerate(again)]


def place_starts(
    counts: Documents, topics: TokenTopics, seeds: Sequence[Sequence[int]], matches: Sequence[SeedMatch], n_threads: int
) -> dict[int, int]:
    """Return the seeds from which topics start, and the topics whose place these take."""
    taken = {match.topic: i for i, match in enumerate(matches) if match.is_supported}
    spare = [int(k) for k in np.argsort(topics.shares, kind="stable") if k not in taken]
    places: dict[int, int] = {}
    missing = find_missing(counts, topics, seeds, matches, n_threads)
    for i, match in enumerate(matches):
        if match.is_supported or not spare:
            continue
        if match.wanted in taken:  # two seeds have the same topic: each starts one of its own
            places[taken[match.wanted]] = cast(int, match.wanted)
            places[i] = spare.pop(0)
        elif i in missing:
            places[i] = spare.pop(0)
    return places


def find_missing(
    counts: Documents, topics: TokenTopics, seeds: Sequence[Sequence[int]], matches: Sequence[SeedMatch], n_threads: int
) -> list[int]:
    """Return the seeds without a topic whose words are together more often than the topics explain."""
    found = []
    for i, words in enumerate(seeds):
        if matches[i].is_supported or len(words) < 2:
            continue
        together, expected = compare_pairs(counts, topics, words, n_threads)
        if together >= MIN_TOGETHER and together > MIN_EXCESS * expected:
            found.append(i)
    return found


def compare_pairs(counts: Documents, topics: TokenTopics, words: Sequence[int], n_threads: int) -> tuple[float, float]:
    """Return how many pairs of different words of a seed are in documents, and how many the topics lead to expect."""
    columns = [*words]

    def sum_pairs(X: Any) -> Array:
        n, own = np.asarray(X.sum(axis=1)).ravel(), X[:, columns].toarray()
        return np.array([((own.sum(axis=1) ** 2 - (own**2).sum(axis=1)) / 2).sum(), (n * (n - 1.0)).sum()])

    together, pairs = counts.sum_blocks(sum_pairs, n_threads)
    moments = compute_pair_moments(topics.alpha)
    expected = sum(expect_pair(topics.topic_word, moments, a, b) for a, b in combinations(columns, 2))
    return float(together), float(pairs * expected)


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
    other, other_new = fit_token_topics(counts, start, n_threads)
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
