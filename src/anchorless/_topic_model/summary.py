"""What a fitted model says, as plain records: topics with labels, their strongest links, documents that stand for them.

Distinctiveness of a word in a topic is p(word | topic) / Σ p(word | any topic): 1 for a word of this topic alone,
1/n_topics for a word that all use alike. The exclusivity of a topic is its mean over the leading words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anchorless._corpus.documents import Array, Documents
from anchorless.metrics import exclusivity, npmi

#: Words that make a label.
LABEL_WORDS = 3
#: Most probable words from which a label is chosen: beyond them a word may be distinctive, but says little.
LABEL_CANDIDATES = 30
#: Leading words over which coherence and exclusivity are taken.
QUALITY_WORDS = 10
#: Topics of a document that are listed, and the share below which one is not.
MAX_LISTED_TOPICS = 5
MIN_LISTED_SHARE = 0.02

Positions = npt.NDArray[np.intp]


class Topic(NamedTuple):
    """One topic, as it is shown."""

    number: int
    label: str  # its most distinctive words
    share: float  # of the weight of all documents
    words: list[str]  # most probable first
    probabilities: list[float]
    distinctiveness: list[float]  # in [0, 1]
    coherence: float  # mean NPMI of the leading words, in [−1, 1]
    exclusivity: float  # in [0, 1]


class TopicFacts(NamedTuple):
    """What is known of each topic beside its words; one entry per topic."""

    labels: list[str]
    shares: Array
    coherence: Array
    exclusivity: Array


class TopicPair(NamedTuple):
    """Two topics and their correlation."""

    first: int
    second: int
    correlation: float


class DocumentRecord(NamedTuple):
    """A document, as far as it is kept after a fit."""

    id: str
    snippet: str
    topics: list[tuple[int, float]]  # largest share first
    explained: float
    label: str | None = None
    date: str | None = None


def compute_topic_facts(
    components: Array, vocabulary: Sequence[str], shares: Array, documents: Documents
) -> TopicFacts:
    """Return label, share, coherence and exclusivity of topics (F, V), measured on the documents they came from."""
    # Words of probability 0 would fill up the list of a topic of few words, and be measured with it.
    n_words = min(QUALITY_WORDS, int((components > 0).sum(axis=1).min()))
    coherence = npmi(components, documents, n_words) if n_words > 1 else np.zeros(len(components))
    return TopicFacts(choose_topic_labels(components, vocabulary), shares, coherence, exclusivity(components, n_words))


def build_topics(components: Array, vocabulary: Sequence[str], facts: TopicFacts, n_words: int) -> list[Topic]:
    """Return each topic with its `n_words` most probable words; words of probability 0 are left out."""
    special = distinctiveness(components)
    records = []
    for f, p in enumerate(components):
        lead = [int(v) for v in np.argsort(-p, kind="stable")[:n_words] if p[v] > 0]
        records.append(
            Topic(
                number=f,
                label=facts.labels[f],
                share=float(facts.shares[f]),
                words=[vocabulary[v] for v in lead],
                probabilities=p[lead].tolist(),
                distinctiveness=special[f, lead].tolist(),
                coherence=float(facts.coherence[f]),
                exclusivity=float(facts.exclusivity[f]),
            )
        )
    return records


def distinctiveness(components: Array) -> Array:
    """Return each topic's part of each word's probabilities, (F, V); 0 for a word that no topic holds."""
    total = components.sum(axis=0)
    return np.divide(components, total, out=np.zeros_like(components), where=total > 0)


def choose_topic_labels(components: Array, vocabulary: Sequence[str], n_words: int = LABEL_WORDS) -> list[str]:
    """Return for each topic its most distinctive words: of the leading ones, those of largest p · distinctiveness."""
    scores = components * distinctiveness(components)
    labels = []
    for p, score in zip(components, scores, strict=True):
        lead = np.argsort(-p, kind="stable")[:LABEL_CANDIDATES]
        ranked = lead[np.argsort(-score[lead], kind="stable")]
        labels.append(" ".join(drop_related_words([vocabulary[v] for v in ranked if p[v] > 0], n_words)))
    return labels


def drop_related_words(words: Sequence[str], n_words: int) -> list[str]:
    """Return the first `n_words` words, without forms of an earlier one ("drives") if enough are left."""
    chosen: list[str] = []
    for word in words:
        if not any(are_related(word, other) for other in chosen):
            chosen.append(word)
    rest = [word for word in words if word not in chosen]
    return [*chosen, *rest][:n_words]


def are_related(word: str, other: str) -> bool:
    """Return whether one word is the other with up to two letters added, or a phrase that holds it."""
    short, long = sorted((word, other), key=len)
    return (long.startswith(short) and len(long) <= len(short) + 2) or set(short.split()) <= set(long.split())


def find_strongest_pairs(correlation: Array, n: int | None = None) -> list[TopicPair]:
    """Return the `n` pairs of topics (all, if None) with the strongest correlations of either sign, strongest first."""
    first, second = np.triu_indices(len(correlation), k=1)
    values = correlation[first, second]
    order = np.argsort(-abs(values), kind="stable")[:n]
    return [TopicPair(int(first[i]), int(second[i]), float(values[i])) for i in order]


def representatives(shares: Array, explained: Array, n: int) -> list[Positions]:
    """Return for each topic the positions of the `n` documents that stand for it best, best first.

    The score is the document's share of the topic times the part of the document that topics explain: a text
    of one known word has a share of 1 and says little. Documents without the topic do not count.
    """
    result = []
    for share in shares.T:
        score = share * explained
        best = np.argsort(-score, kind="stable")[:n]
        result.append(best[score[best] > 0])
    return result


def interleave(lists: Sequence[Positions], limit: int) -> Positions:
    """Return the first of every list, then the second of every list …, each position once, at most `limit` in all."""
    depth = max((len(positions) for positions in lists), default=0)
    table = np.full((depth, len(lists)), -1, dtype=np.intp)
    for column, positions in enumerate(lists):
        table[: len(positions), column] = positions
    flat = table.ravel()
    flat = flat[flat >= 0]
    _, first = np.unique(flat, return_index=True)
    return flat[np.sort(first)][:limit]


def select_documents(shares: Array, explained: Array, limit: int) -> Positions:
    """Return the positions of at most `limit` documents: those that stand for the topics first, in turns."""
    n_documents, n_topics = shares.shape
    per_topic = min(n_documents, -(-limit // n_topics))
    best = interleave(representatives(shares, explained, per_topic), limit)
    if n_documents > limit:
        return best
    rest = np.setdiff1d(np.arange(n_documents), best)
    return np.concatenate([best, rest])


def list_top_topics(shares: Array) -> list[tuple[int, float]]:
    """Return the leading topics of one document with their shares, largest first."""
    lead = np.argsort(-shares, kind="stable")[:MAX_LISTED_TOPICS]
    return [
        (int(f), float(shares[f])) for rank, f in enumerate(lead) if shares[f] > (MIN_LISTED_SHARE if rank else 0.0)
    ]
