"""Split a topic: a fit within its tokens, and the records of the topics after it.

The parts of a topic share its tokens: their shares, priors and probabilities of words add up to those of the topic.
The other topics stay as they are. Mixtures are found anew with all topics together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from anchorless._core.proportions import compute_projection, estimate_proportions
from anchorless._core.token_model import TokenTopics
from anchorless._core.topic_parts import split_words
from anchorless._core.weighting import compute_relevance
from anchorless._corpus.documents import Array, Documents
from anchorless._corpus.metadata import Metadata
from anchorless._effects.topic_draws import count_lengths, project_blocks
from anchorless._effects.words import compute_topic_tokens
from anchorless._report.html import LabelTable, PeriodTable
from anchorless._topic_model.document_summary import MixtureAccumulator
from anchorless._topic_model.edits import Layout, list_leaves, number_kept_leaves
from anchorless._topic_model.embeddings import Embeddings, NeighborRecord, infer_priors
from anchorless._topic_model.fitted import (
    MAX_BORDER_DOCUMENTS,
    DocumentSummary,
    ModelRecord,
    TokenRecord,
    add_word_weights,
    build_token_inference,
)
from anchorless._topic_model.mixtures import Mixtures, collect_mixtures, iter_mixtures
from anchorless._topic_model.summary import (
    QUALITY_WORDS,
    TopicFacts,
    choose_topic_labels,
    find_leading_words,
    list_top_topics,
    rank_borders,
    rank_representatives,
)
from anchorless._topic_model.view import average_leaves, measure_exclusivity
from anchorless.metrics import npmi


class SplitArrays(NamedTuple):
    """Arrays of the parts (n, …), and of all F leaves after a split."""

    topic_word: Array  # (n, V)
    components: Array  # (n, V)
    coherence: Array  # (n,)
    alpha: Array  # (F,)
    shares: Array  # (F,)
    correlation: Array  # (F, F)
    association: Array  # (F, F)
    mean: Array  # (F,)
    covariance: Array  # (F, F)
    kept_mixtures: Array  # (n_kept, F)
    kept_explained: Array  # (n_kept,)


class SplitRecord(NamedTuple):
    """What a split has found."""

    arrays: SplitArrays
    by_label: LabelTable | None
    by_period: PeriodTable | None
    mixtures: Mixtures | None = None  # of the training documents; not in a model file


class TrainingDocuments(NamedTuple):
    """The documents of the fit: counts, their mixtures under the leaves, and what is known of them."""

    counts: Documents
    mixtures: Array  # (N, F)
    metadata: Metadata
    embeddings: Embeddings | None = None


def fit_split(
    leaves: ModelRecord, layout: Layout, number: int, n: int, training: TrainingDocuments, n_threads: int
) -> SplitRecord:
    """Find n parts of a shown topic within its tokens."""
    tokens, kept = leaves.tokens, leaves.kept
    assert tokens is not None
    assert kept.positions is not None
    members, others = list_leaves(layout.topics[number].node), list(number_kept_leaves(layout, number))
    counts = training.counts
    Y = sum(compute_topic_tokens(counts, tokens.topic_word, training.mixtures, leaf, n_threads) for leaf in members)
    parent = average_leaves(tokens.topic_word[members], leaves.facts.shares[members])
    size, parts = weigh_parts(parent, split_words(Y, n))
    topic_word = np.vstack([tokens.topic_word[others], parts])
    alpha, shares = (
        np.concatenate([values[others], size * values[members].sum()]) for values in (tokens.alpha, leaves.facts.shares)
    )
    mixtures, tables = find_mixtures(leaves, topic_word, alpha, training, n_threads)  # by words alone
    pairs = estimate_pairs(leaves, others, counts, mixtures.shares, TokenTopics(topic_word, alpha, shares), n_threads)
    if leaves.neighbors is not None and training.embeddings is not None:
        neighbors = split_neighbors(leaves.neighbors, members, others, parts, shares)
        added = infer_priors(neighbors, training.embeddings, n_threads)
        guided = neighbors.topic_word
        mixtures, tables = find_mixtures(leaves, topic_word, alpha, training, n_threads, added, guided)
    components = add_word_weights(parts, leaves.weights)
    coherence = measure_coherence(rank_words(components, leaves), counts)
    of_kept = Mixtures(mixtures.shares[kept.positions], mixtures.explained[kept.positions])
    arrays = SplitArrays(parts, components, coherence, alpha, shares, *pairs, *of_kept)
    return SplitRecord(arrays, *tables, mixtures)


def estimate_pairs(
    leaves: ModelRecord, others: list[int], counts: Documents, mixtures: Array, topics: TokenTopics, n_threads: int
) -> tuple[Array, Array, Array, Array]:
    """Return correlations, associations, means and covariances of all leaves; topics that stay keep theirs."""
    tokens, lengths = leaves.tokens, count_lengths(counts, n_threads)
    assert tokens is not None
    about = estimate_proportions(counts, mixtures, lengths, topics.topic_word, topics.alpha, n_threads)
    before = leaves.correlation, tokens.association, tokens.mean, tokens.covariance
    after = about.correlation, about.association, about.mean, about.covariance
    correlation, association, mean, covariance = (
        new if old is None else keep_others(new, old, others) for new, old in zip(after, before, strict=True)
    )
    return correlation, association, mean, covariance


def measure_coherence(relevance: Array, counts: Documents) -> Array:
    """Return the coherence of the leading words of topics (n, V), on the documents of the fit."""
    n_words = min(len(find_leading_words(p, QUALITY_WORDS)) for p in relevance)
    return npmi(relevance, counts, n_words) if n_words > 1 else np.zeros(len(relevance))


def weigh_parts(parent: Array, part: Array) -> tuple[Array, Array]:
    """Return the sizes (n,) and the probabilities of words (n, V) of parts with p(part | word) (n, V), largest first.

    Their mean, with the sizes as weights, is the parent (V,).
    """
    joint = part * parent
    size = joint.sum(axis=1)
    order = np.argsort(-size, kind="stable")
    joint, size = joint[order], size[order]
    return size / size.sum(), joint / size[:, None]


def find_mixtures(
    leaves: ModelRecord,
    topic_word: Array,
    alpha: Array,
    training: TrainingDocuments,
    n_threads: int,
    added: Array | None = None,
    guided: Array | None = None,
) -> tuple[Mixtures, tuple[LabelTable | None, PeriodTable | None]]:
    """Return the mixtures of the training documents under topics (F, V), and their means by label and period.

    `added` (N, F + 1) is what neighbors add to the priors, and `guided` (F, V) are the topics of documents with some.
    """
    inference = build_token_inference(topic_word, alpha, leaves.word_counts, guided)
    documents, shape = training.counts, (training.counts.shape[0], len(topic_word))
    accumulator = MixtureAccumulator(*shape, training.metadata)
    parts = iter_mixtures(documents, inference.compute, n_threads, added)
    mixtures = collect_mixtures(parts, shape, on_disk=not documents.in_memory, add=accumulator.add)
    projected = project_blocks(documents, compute_projection(topic_word), n_threads)
    summary = accumulator.result(mixtures, projected, topic_word)
    return mixtures, (summary.by_label, summary.by_period)


def keep_others(found: Array, before: Array, others: list[int]) -> Array:
    """Return numbers of topics or of pairs with those of the topics that were not split as before."""
    result, places = found.copy(), range(len(others))
    result[np.ix_(*[places] * found.ndim)] = before[np.ix_(*[others] * found.ndim)]
    return result


def rank_words(components: Array, leaves: ModelRecord) -> Array:
    """Return the relevance of words (F, V) for topics of weighted words."""
    return compute_relevance(components, leaves.weights, leaves.document_frequency, leaves.diagnostics.n_documents)


def apply_split(leaves: ModelRecord, layout: Layout, number: int, split: SplitRecord) -> ModelRecord:
    """Return the record of the leaves after a shown topic was split."""
    members, others = list_leaves(layout.topics[number].node), list(number_kept_leaves(layout, number))
    arrays, facts = split.arrays, leaves.facts
    n = len(arrays.topic_word)
    relevance = np.vstack([leaves.relevance[others], rank_words(arrays.components, leaves)])
    added = range(len(others), len(relevance))
    labels = [facts.labels[leaf] for leaf in others]
    labels += choose_topic_labels(relevance, leaves.vocabulary, topics=added)
    coherence = np.concatenate([facts.coherence[others], arrays.coherence])
    moments = np.full((len(relevance), len(relevance)), np.nan)  # of the parts they are not known
    moments[np.ix_(range(len(others)), range(len(others)))] = leaves.moments[np.ix_(others, others)]
    topic_word = np.vstack([leaves.topic_word[others], arrays.topic_word])
    return leaves._replace(
        components=np.vstack([leaves.components[others], arrays.components]),
        relevance=relevance,
        moments=moments,
        correlation=arrays.correlation,
        clipped_mass=np.append(leaves.clipped_mass[others], np.repeat(leaves.clipped_mass[members].max(), n)),
        facts=TopicFacts(labels, arrays.shares, coherence, measure_exclusivity(relevance)),
        kept=update_documents(leaves.kept, others, split),
        tokens=TokenRecord(topic_word, arrays.alpha, arrays.association, arrays.mean, arrays.covariance),
        groupings=None if leaves.groupings is None else update_groupings(leaves, members, others, n),
        neighbors=None
        if leaves.neighbors is None
        else split_neighbors(leaves.neighbors, members, others, arrays.topic_word, arrays.shares),
    )


def split_neighbors(
    neighbors: NeighborRecord, members: list[int], others: list[int], parts: Array, shares: Array
) -> NeighborRecord:
    """Return what mixtures need of the training documents after a split; `shares` (F,) are those of all leaves.

    Neighbors tell about a topic, not about its parts (n, V), so these get parts of its share by their sizes, and of its
    words as they have them by words alone.
    """
    mixtures, size = neighbors.mixtures, shares[len(others) :] / shares[len(others) :].sum()
    added = (mixtures[:, members].sum(axis=1, keepdims=True) * size).astype(np.float32)
    topic_word = neighbors.topic_word
    if topic_word is not None:
        joint = size[:, None] * parts
        total = joint.sum(axis=0)
        share = np.divide(joint, total, out=np.full_like(joint, 1.0 / len(size)), where=total > 0)
        found = share * topic_word[members].mean(axis=0)
        topic_word = np.vstack([topic_word[others], found / found.sum(axis=1, keepdims=True)])
    return neighbors._replace(mixtures=np.hstack([mixtures[:, others], added]), topic_word=topic_word)


def update_groupings(leaves: ModelRecord, members: list[int], others: list[int], n: int) -> list[list[list[int]]]:
    """Return the leaves of each group, for each level, after a split: the parts go where the largest member was."""
    largest = max(members, key=lambda leaf: float(leaves.facts.shares[leaf]))
    parts = list(range(len(others), len(others) + n))
    moved = [
        [[others.index(leaf) for leaf in group if leaf in others] + parts * (largest in group) for group in groups]
        for groups in leaves.groupings or []
    ]
    return [[group for group in groups if group] for groups in moved]


def update_documents(kept: DocumentSummary, others: list[int], split: SplitRecord) -> DocumentSummary:
    """Return the kept documents with their mixtures after a split; topics that were not split keep theirs."""
    mixtures, explained = split.arrays.kept_mixtures, split.arrays.kept_explained
    documents = [
        document._replace(topics=topics, explained=part)
        for document, topics, part in zip(kept.documents, list_top_topics(mixtures), explained.tolist(), strict=True)
    ]
    most, stay = max(map(len, kept.representatives)), len(others)
    best = [rows.tolist() for rows in rank_representatives(mixtures, explained, most)]
    borders = [rows.tolist() for rows in rank_borders(mixtures, MAX_BORDER_DOCUMENTS)]
    before = kept.borders or [[] for _ in kept.representatives]
    return kept._replace(
        documents=documents,
        representatives=[*(kept.representatives[leaf] for leaf in others), *best[stay:]],
        borders=[*(before[leaf] for leaf in others), *borders[stay:]],
        by_label=split.by_label,
        by_period=split.by_period,
        mixtures=mixtures,
    )


def write_split(split: SplitRecord, prefix: str, arrays: dict[str, Any], used: Sequence[int]) -> dict[str, Any]:
    """Add the arrays of a split to those of a model file with the `used` documents; return its part of the header."""
    found, rows = split.arrays, list(used)
    found = found._replace(kept_mixtures=found.kept_mixtures[rows], kept_explained=found.kept_explained[rows])
    arrays |= {f"{prefix}_{name}": values for name, values in found._asdict().items()}
    tables = {"by_label": split.by_label, "by_period": split.by_period}
    return {name: None if table is None else table._asdict() for name, table in tables.items()}


def read_split(item: dict[str, Any], prefix: str, arrays: dict[str, Any]) -> SplitRecord:
    """Return a split of a model file."""
    label, period = item["by_label"], item["by_period"]
    found = SplitArrays(*(arrays[f"{prefix}_{name}"] for name in SplitArrays._fields))
    tables = None if label is None else LabelTable(**label), None if period is None else PeriodTable(**period)
    return SplitRecord(found, *tables)
