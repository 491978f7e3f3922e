"""The record of the shown topics: leaves that are added up, left out, put into another order and named.

Shares, mixtures, moments and covariances of merged topics are sums. Their words are means with the shares as weights.
Their correlations and associations follow from the sums of the covariances and the closure null (`_core.proportions`).
Two topics that no edit has merged keep their numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from anchorless._core.proportions import (
    Proportions,
    assemble_proportions,
    compute_moment_association,
    compute_null_covariance,
)
from anchorless._core.topics import compute_topic_correlation
from anchorless._corpus.documents import Array
from anchorless._report.html import DocumentRecord, LabelTable, PeriodTable
from anchorless._topic_model.edits import Layout, Node, list_leaves, sum_columns, sum_node, sum_square
from anchorless._topic_model.fitted import MAX_DOCUMENTS_PER_TOPIC, DocumentSummary, ModelRecord, TokenRecord
from anchorless._topic_model.summary import (
    QUALITY_WORDS,
    TopicFacts,
    choose_topic_labels,
    find_leading_words,
    list_top_topics,
    rank_borders,
    rank_representatives,
)


def build_view(leaves: ModelRecord, layout: Layout) -> ModelRecord:
    """Return the record of the shown topics."""
    if layout.is_plain:
        labels = name_topics(layout, leaves.facts.labels)
        return leaves._replace(facts=leaves.facts._replace(labels=labels))
    nodes, shares = layout.nodes, leaves.facts.shares
    relevance = average_rows(leaves.relevance, shares, nodes)
    correlation, tokens = view_proportions(leaves, layout)
    return leaves._replace(
        components=average_rows(leaves.components, shares, nodes),
        relevance=relevance,
        moments=sum_square(leaves.moments, nodes),
        correlation=correlation,
        clipped_mass=average_rows(leaves.clipped_mass[:, None], shares, nodes)[:, 0],
        facts=view_facts(leaves, layout, relevance),
        kept=view_documents(leaves.kept, nodes, leaves.facts.shares),
        tokens=tokens,
        moment_association=None if tokens is not None else view_moment_association(leaves, layout),
        groupings=None if leaves.groupings is None else view_groupings(leaves.groupings, nodes, shares),
    )


def view_groupings(groupings: list[list[list[int]]], nodes: Sequence[Node], shares: Array) -> list[list[list[int]]]:
    """Return the shown topics of each group, for each level: a merged topic goes with its largest part."""
    largest = [max(list_leaves(node), key=lambda leaf: float(shares[leaf])) for node in nodes]
    moved = ([[g for g, leaf in enumerate(largest) if leaf in group] for group in groups] for groups in groupings)
    return [[group for group in groups if group] for groups in moved]


def view_moment_association(leaves: ModelRecord, layout: Layout) -> Array:
    """Return the association of the shown topics of a model without a token model."""
    n, every = len(layout.topics), (*layout.nodes, *layout.dropped)
    found = compute_moment_association(sum_square(leaves.moments, every))[:n, :n]
    return keep_leaf_pairs(found, leaves.association, layout.nodes)


def average_rows(rows: Array, shares: Array, nodes: Sequence[Node]) -> Array:
    """Return the means of rows (F, V) with the shares (F,) as weights, one for each node; leaves stay as they are."""
    found = np.empty((len(nodes), rows.shape[1]))
    for g, node in enumerate(nodes):
        leaves = list_leaves(node)
        found[g] = rows[leaves[0]] if isinstance(node, int) else average_leaves(rows[leaves], shares[leaves])
    return found


def average_leaves(rows: Array, weights: Array) -> Array:
    """Return the weighted mean of rows (n, V); of topics without a share, the plain mean."""
    return np.asarray(np.average(rows, axis=0, weights=weights if weights.sum() > 0 else None))


def name_topics(layout: Layout, labels: Sequence[str]) -> list[str]:
    """Return the given names of the shown topics, and their labels where there is none."""
    return [label if topic.name is None else topic.name for topic, label in zip(layout.topics, labels, strict=True)]


def view_facts(leaves: ModelRecord, layout: Layout, relevance: Array) -> TopicFacts:
    """Return labels and measures of the shown topics. Coherence is NaN where no edit has noted it."""
    facts, nodes = leaves.facts, layout.nodes
    merged = list_merged(nodes)
    found = dict(zip(merged, choose_topic_labels(relevance, leaves.vocabulary, topics=merged), strict=True))
    labels = [facts.labels[node] if isinstance(node, int) else found[g] for g, node in enumerate(nodes)]
    coherence = [
        facts.coherence[t.node] if isinstance(t.node, int) else np.nan if t.coherence is None else t.coherence
        for t in layout.topics
    ]
    shares = sum_columns(facts.shares[None], nodes)[0]
    return TopicFacts(name_topics(layout, labels), shares, np.array(coherence), measure_exclusivity(relevance))


def measure_exclusivity(relevance: Array) -> Array:
    """Return the mean distinctiveness of the leading words of topics (F, V), as `metrics.exclusivity` does."""
    leading, total = [find_leading_words(p, QUALITY_WORDS) for p in relevance], relevance.sum(axis=0)
    n_words = min(map(len, leading))
    return np.array(
        [(p[lead[:n_words]] / total[lead[:n_words]]).mean() for p, lead in zip(relevance, leading, strict=True)]
    )


def view_proportions(leaves: ModelRecord, layout: Layout) -> tuple[Array, TokenRecord | None]:
    """Return the correlations of the shown topics, and their token model."""
    nodes = layout.nodes
    if leaves.tokens is None:
        merged = compute_topic_correlation(sum_square(leaves.moments, nodes))
        return keep_leaf_pairs(merged, leaves.correlation, nodes), None
    tokens, shares = leaves.tokens, leaves.facts.shares
    mean, covariance = get_moments(leaves)
    every = (*nodes, *layout.dropped)  # topics that are not shown are part of the closure, too
    found = describe_merged(*sum_moments(mean, covariance, every))
    n = len(nodes)
    correlation = keep_leaf_pairs(found.correlation[:n, :n], leaves.correlation, nodes)
    changed = tokens._replace(
        topic_word=average_rows(tokens.topic_word, shares, nodes),
        alpha=sum_columns(tokens.alpha[None], nodes)[0],
        association=keep_leaf_pairs(found.association[:n, :n], tokens.association, nodes),
    )
    if tokens.covariance is not None:
        added = sum_moments(mean, covariance, nodes)
        changed = changed._replace(mean=added[0], covariance=added[1])
    return correlation, changed


def get_moments(leaves: ModelRecord) -> tuple[Array, Array]:
    """Return means (F,) and covariances (F, F) of the proportions of the leaves.

    Files of older versions have the correlations only: there the variances are those of the prior of the mixtures.
    """
    tokens = leaves.tokens
    assert tokens is not None
    if tokens.mean is not None and tokens.covariance is not None:
        return tokens.mean, tokens.covariance
    mean = tokens.alpha / tokens.alpha.sum()
    spread = np.sqrt(mean * (1.0 - mean) / (1.0 + tokens.alpha.sum()))
    return mean, leaves.correlation * np.outer(spread, spread)


def sum_moments(mean: Array, covariance: Array, nodes: Sequence[Node]) -> tuple[Array, Array]:
    """Return means (G,) and covariances (G, G) of sums of proportions."""
    return sum_columns(mean[None], nodes)[0], sum_square(covariance, nodes)


def describe_merged(mean: Array, covariance: Array) -> Proportions:
    """Return correlations and associations for means (G,) and covariances (G, G) of proportions."""
    variance = np.maximum(np.diag(covariance), 0.0)
    return assemble_proportions(mean, variance, covariance - compute_null_covariance(variance, mean))


def keep_leaf_pairs(found: Array, before: Array, nodes: Sequence[Node]) -> Array:
    """Return a matrix of pairs (G, G) with the numbers of the leaves (F, F) for pairs of topics that are leaves."""
    result = found.copy()
    at = [g for g, node in enumerate(nodes) if isinstance(node, int)]
    leaves = [node for node in nodes if isinstance(node, int)]
    result[np.ix_(at, at)] = before[np.ix_(leaves, leaves)]
    return result


def view_documents(kept: DocumentSummary, nodes: Sequence[Node], shares: Array) -> DocumentSummary:
    """Return the kept documents with the shown topics."""
    mixtures = get_kept_mixtures(kept, len(shares))
    found = sum_columns(mixtures, nodes)
    explained = np.array([document.explained for document in kept.documents])
    documents = [
        document._replace(topics=topics)
        for document, topics in zip(kept.documents, list_top_topics(found), strict=True)
    ]
    most, merged = max(map(len, kept.representatives), default=MAX_DOCUMENTS_PER_TOPIC), list_merged(nodes)
    ranked = rank_representatives(found, explained, most, merged)
    return DocumentSummary(
        documents,
        place_lists(kept.representatives, ranked, nodes),  # of a leaf they stay those of all documents
        None if kept.by_label is None else view_labels(kept.by_label, nodes),
        None if kept.by_period is None else view_periods(kept.by_period, nodes),
        found,
        kept.positions,
        None if kept.borders is None else view_borders(kept.borders, found, nodes),
    )


def view_borders(borders: list[list[int]], mixtures: Array, nodes: Sequence[Node]) -> list[list[int]]:
    """Return the documents at the borders of the shown topics; of leaves they stay as they are."""
    most = max(map(len, borders), default=0)
    return place_lists(borders, rank_borders(mixtures, most, list_merged(nodes)), nodes)


def list_merged(nodes: Sequence[Node]) -> list[int]:
    """Return the numbers of the shown topics that were merged."""
    return [g for g, node in enumerate(nodes) if not isinstance(node, int)]


def place_lists(before: list[list[int]], merged: Sequence[Any], nodes: Sequence[Node]) -> list[list[int]]:
    """Return the lists of leaves as they were, and those of merged topics in their places."""
    found = iter(merged)
    return [before[node] if isinstance(node, int) else next(found).tolist() for node in nodes]


def get_kept_mixtures(kept: DocumentSummary, n_topics: int) -> Array:
    """Return the mixtures of the kept documents (n, F); those of older files have their largest topics only."""
    if kept.mixtures is not None:
        return kept.mixtures
    mixtures = np.zeros((len(kept.documents), n_topics))
    for row, document in zip(mixtures, kept.documents, strict=True):
        for topic, share in document.topics:
            row[topic] = share
    return mixtures


def view_labels(table: LabelTable, nodes: Sequence[Node]) -> LabelTable:
    """Return the mean shares by label of the shown topics."""
    return table._replace(**{key: sum_columns(rows, nodes).tolist() for key, rows in list_tables(table).items()})


def view_periods(table: PeriodTable, nodes: Sequence[Node]) -> PeriodTable:
    """Return the mean shares by period of the shown topics."""
    return table._replace(**{key: sum_columns(rows.T, nodes).T.tolist() for key, rows in list_tables(table).items()})


def list_tables(table: LabelTable | PeriodTable) -> dict[str, Array]:
    """Return the means of a table and the ends of their intervals.

    The sums of the ends of intervals are those of an interval of the sum that is rather too wide.
    """
    found = {"values": table.values, "low": table.low, "high": table.high}
    return {key: np.asarray(rows) for key, rows in found.items() if rows is not None}


def sum_dropped(shares: Array, layout: Layout) -> float:
    """Return the share of tokens in topics that are not shown."""
    return float(sum(float(sum_node(shares[None], node)[0]) for node in layout.dropped))


def select_documents(kept: DocumentSummary, positions: Sequence[int]) -> list[DocumentRecord]:
    """Return kept documents by their positions."""
    return [kept.documents[position] for position in positions]
