"""Summaries of a fitted model as plain records: topics with labels, correlated pairs, representative documents."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, zip_longest
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anchorless._corpus.documents import Array, Documents
from anchorless._topic_model.junk_topics import JUNK_WORDS, name_junk
from anchorless.metrics import exclusivity, npmi

MIN_RELATIVE_PROBABILITY = 1e-12  # of a topic's largest; a word below it is not listed: it is a rounding error
LABEL_WORDS, LABEL_CANDIDATES = 3, 30  # a label has so many words, chosen among so many most probable ones
MAX_NAMED = 12  # topics or pairs of topics in one sentence
QUALITY_WORDS = 10  # leading words on which coherence and exclusivity are computed
MAX_LISTED_TOPICS, MIN_LISTED_SHARE = 5, 0.02  # of a document; below this share, further topics are not listed

MIN_BORDER_SHARE = 0.2  # of a topic in a document at its border; with less of it, the document is about other topics

Positions = npt.NDArray[np.intp]


class Topic(NamedTuple):
    """A topic with its leading words.

    Attributes
    ----------
    number : int
        The topic's number: its row in ``components_``. Topic 0 has the largest share.
    label : str
        The topic's most distinctive words, joined by spaces.
    share : float
        The topic's share of all tokens. The shares of all topics sum to 1.
    words : list of str
        The leading words, those of largest relevance first. Words whose relevance is zero up to rounding are not
        listed.
    probabilities : list of float
        For each word, its probability in this topic: the share of the topic's tokens that are this word.
    distinctiveness : list of float
        For each word, its relevance divided by the sum over all topics, in [0, 1].
    coherence, exclusivity : float
        Of the ten leading words: mean normalized pointwise mutual information (NPMI) of the pairs, in [−1, 1],
        and mean distinctiveness, in [0, 1].
    relevance : list of float
        For each word, its entry in ``components_``: the topic's probability of the word where words of few documents
        count more. The lists are ranked by it, since the most probable words are those of every subject.
    junk : str or None
        "HTML markup", "mail headers" or "encoded binaries" if the ten leading words look like that, not like a subject.
    """

    number: int
    label: str
    share: float
    words: list[str]
    probabilities: list[float]
    distinctiveness: list[float]
    coherence: float
    exclusivity: float
    relevance: list[float]
    junk: str | None = None


class TopicFacts(NamedTuple):
    """Labels and measures of the topics, one entry per topic."""

    labels: list[str]
    shares: Array
    coherence: Array
    exclusivity: Array


class TopicPair(NamedTuple):
    """Two topics and a number: their association, or a similarity."""

    first: int
    second: int
    value: float


def compute_topic_facts(
    components: Array, vocabulary: Sequence[str], shares: Array, documents: Documents
) -> TopicFacts:
    """Return label, share, coherence and exclusivity of topics (F, V), measured on the documents of the fit."""
    # If a topic has fewer words, use that many for all: words of probability zero would count as leading words.
    n_words = min(len(find_leading_words(p, QUALITY_WORDS)) for p in components)
    coherence = npmi(components, documents, n_words) if n_words > 1 else np.zeros(len(components))
    return TopicFacts(choose_topic_labels(components, vocabulary), shares, coherence, exclusivity(components, n_words))


def build_topics(
    components: Array, topic_word: Array, vocabulary: Sequence[str], facts: TopicFacts, n_words: int
) -> list[Topic]:
    """Return each topic with at most `n_words` leading words of components, and probabilities; both are (F, V)."""
    special = compute_distinctiveness(components)
    topics = []
    measures = zip(facts.labels, *(values.tolist() for values in facts[1:]), strict=True)
    for f, (label, share, coherence, exclusive) in enumerate(measures):
        lead = find_leading_words(components[f], n_words)
        words = [vocabulary[v] for v in lead], topic_word[f, lead].tolist(), special[f, lead].tolist()
        junk = name_junk([vocabulary[v] for v in find_leading_words(components[f], JUNK_WORDS)])
        topics.append(Topic(f, label, share, *words, coherence, exclusive, components[f, lead].tolist(), junk))
    return topics


def find_leading_words(p: Array, n_words: int) -> Positions:
    """Return the positions of the `n_words` largest probabilities in p (V,), without those that are rounding errors."""
    # Only words as probable as the last of them are sorted: sorting all takes seconds for hundreds of topics.
    least = np.partition(p, -n_words)[-n_words] if n_words < len(p) else -np.inf
    kept = np.flatnonzero(p >= least)
    lead = kept[np.argsort(-p[kept], kind="stable")[:n_words]]
    return lead[p[lead] > MIN_RELATIVE_PROBABILITY * p.max()]


def compute_distinctiveness(components: Array) -> Array:
    """Return p(word | topic) / Σ p(word | topic') for components (F, V); 0 for a word that no topic contains."""
    total = components.sum(axis=0)
    return np.divide(components, total, out=np.zeros_like(components), where=total > 0)


def choose_topic_labels(
    components: Array, vocabulary: Sequence[str], n_words: int = LABEL_WORDS, topics: Sequence[int] | None = None
) -> list[str]:
    """Label topics by the words with the largest probability × distinctiveness among their most probable words."""
    total, labels = components.sum(axis=0), []
    for f in range(len(components)) if topics is None else topics:
        lead = find_leading_words(components[f], LABEL_CANDIDATES)
        p = components[f, lead]
        ranked = lead[np.argsort(-(p * (p / total[lead])), kind="stable")]
        labels.append(" ".join(drop_related_words([vocabulary[v] for v in ranked], n_words)))
    return labels


def drop_related_words(words: Sequence[str], n_words: int) -> list[str]:
    """Return the first `n_words` words, skipping forms of an earlier word ("drives" after "drive") if enough remain."""
    chosen: list[str] = []
    for word in words:
        if not any(are_related(word, other) for other in chosen):
            chosen.append(word)
    rest = [word for word in words if word not in chosen]
    return [*chosen, *rest][:n_words]


def are_related(word: str, other: str) -> bool:
    """Return whether one word is the other with up to two letters appended, or a phrase that contains it."""
    short, long = sorted((word, other), key=len)
    return (long.startswith(short) and len(long) <= len(short) + 2) or set(short.split()) <= set(long.split())


def join_some(texts: Sequence[str], separator: str = "; ", limit: int = MAX_NAMED) -> str:
    """Join the first `limit` texts and say how many more there are: hundreds of names are not read."""
    rest = len(texts) - limit
    return separator.join(texts[:limit]) + (f" and {rest} more" if rest > 0 else "")


def rank_pairs(matrix: Array) -> list[TopicPair]:
    """Return the pairs of topics, the one with the largest (most positive) entry of `matrix` (F, F) first."""
    first, second = np.triu_indices(len(matrix), k=1)
    values = matrix[first, second]
    order = np.argsort(-values, kind="stable")
    return [TopicPair(int(first[i]), int(second[i]), float(values[i])) for i in order]


def rank_representatives(
    shares: Array, explained: Array, n: int, topics: Sequence[int] | None = None
) -> list[Positions]:
    """Return for each topic, or some, the positions of its `n` most representative documents, best first.

    The score is share · explained: a text of a single known word has a share of 1, but represents little.
    """
    chosen = shares if topics is None else shares[:, topics]
    scores = (chosen * explained[:, None]).T
    ranked = [np.argsort(-score, kind="stable")[:n] for score in scores]
    return [best[score[best] > 0] for score, best in zip(scores, ranked, strict=True)]


def rank_borders(shares: Array, n: int, topics: Sequence[int] | None = None) -> list[Positions]:
    """Return for each topic, or some, the positions of at most `n` documents in which another topic is about as large.

    They have at least `MIN_BORDER_SHARE` of the topic, and the smallest difference from their largest other topic.
    """
    asked, found = range(shares.shape[1]) if topics is None else topics, []
    if shares.shape[1] < 2 or not len(asked):
        return [np.zeros(0, dtype=np.intp)] * len(asked)
    second, first = np.partition(shares, -2, axis=1)[:, -2:].T
    largest = shares.argmax(axis=1)
    for f in asked:
        own = shares[:, f]
        other = np.where(largest == f, second, first)
        there = np.flatnonzero((own >= MIN_BORDER_SHARE) & (other > 0))
        found.append(there[np.argsort(abs(own - other)[there], kind="stable")[:n]])
    return found


def interleave(lists: Sequence[Positions], limit: int) -> Positions:
    """Return the first entry of every list, then every second entry, and so on: distinct, at most `limit` in all."""
    turns = chain.from_iterable(zip_longest(*(positions.tolist() for positions in lists)))
    distinct = dict.fromkeys(position for position in turns if position is not None)
    return np.array(list(distinct)[:limit], dtype=np.intp)


def list_top_topics(shares: Array) -> list[list[tuple[int, float]]]:
    """Return the largest topics of documents with shares (n, F), with their shares, largest first."""
    n_listed = min(MAX_LISTED_TOPICS, shares.shape[1])
    rest, lead, values = shares.copy(), [], []
    every = np.arange(len(shares))
    for _ in range(n_listed):  # a few times the largest: faster than sorting all topics of each document
        best = rest.argmax(axis=1)
        lead.append(best)
        values.append(shares[every, best])
        rest[every, best] = -1.0
    numbers, sizes = np.array(lead).T, np.array(values).T
    listed = (sizes > MIN_LISTED_SHARE).sum(axis=1)
    listed[(listed == 0) & (sizes[:, 0] > 0)] = 1
    rows = zip(numbers.tolist(), sizes.tolist(), listed.tolist(), strict=True)
    return [[*zip(some[:n], parts[:n], strict=True)] for some, parts, n in rows]
