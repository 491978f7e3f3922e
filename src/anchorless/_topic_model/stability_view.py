"""The stability of the shown topics: intervals of merged topics from the draws that those of the fit came from.

Leaves and pairs of leaves keep their numbers. NaN stands for what the draws do not tell of a merged topic: how often
its leading words stay, p-values, and probabilities of words that lead none of its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from anchorless._corpus.documents import Array
from anchorless._diagnostics.stability import Interval, Stability
from anchorless._diagnostics.token_intervals import (
    DrawnMoments,
    TopicDraws,
    add_bias,
    compute_posterior_interval,
    summarize_draws,
)
from anchorless._topic_model.edits import Layout, Node, ShownTopic, list_leaves, sum_columns
from anchorless._topic_model.fitted import ModelRecord
from anchorless._topic_model.view import build_view, describe_merged, keep_leaf_pairs, sum_moments
from anchorless.metrics import leading_words


def view_stability(found: Stability, layout: Layout, leaves: ModelRecord) -> Stability:
    """Return the stability of the shown topics from that of the leaves."""
    if layout.is_plain:
        return found
    # With those that were dropped: what is said of the others does not depend on which topics are shown.
    every = layout._replace(topics=(*layout.topics, *map(ShownTopic, layout.dropped)), dropped=())
    whole = merge_stability(found, every.nodes, build_view(leaves, every))
    return whole.reorder(np.arange(len(layout.topics)))


def merge_stability(found: Stability, nodes: Sequence[Node], view: ModelRecord) -> Stability:
    """Return the stability of leaves and merged topics, all of them."""
    draws = found.draws
    words = place_leaves(leading_words(view.relevance, found.words.shape[1]), found.words, nodes)
    unknown = np.full(words.shape, np.nan)
    probabilities = np.take_along_axis(view.topic_word, words, axis=1)
    values = {"shares": view.facts.shares, "correlation": view.correlation, "association": view.association}
    intervals = {name: compute_interval(found, name, value, nodes) for name, value in values.items()}
    of_words = carry_probabilities(draws, probabilities, words, found, nodes)
    return found._replace(
        words=words,
        word_stability=place_leaves(unknown, found.word_stability, nodes),
        topic_stability=place_leaves(unknown[:, 0], found.topic_stability, nodes),
        probabilities=place_intervals(of_words, found.probabilities, nodes, place_leaves),
        association_p=keep_leaf_pairs(make_unknown_pairs(len(nodes)), found.association_p, nodes),
        shares=place_intervals(intervals["shares"], found.shares, nodes, place_leaves),
        correlation=place_intervals(intervals["correlation"], found.correlation, nodes, keep_leaf_pairs),
        association=place_intervals(intervals["association"], found.association, nodes, keep_leaf_pairs),
    )


def make_unknown_pairs(n: int) -> Array:
    """Return p-values (n, n) that are not known; one on the diagonal."""
    result = np.full((n, n), np.nan)
    np.fill_diagonal(result, 1.0)
    return result


def place_leaves(values: Any, before: Any, nodes: Sequence[Node]) -> Any:
    """Return numbers of topics (G, …) with those of the leaves (F, …) where topics are leaves."""
    result = values.copy()
    for g, node in enumerate(nodes):
        if isinstance(node, int):
            result[g] = before[node]
    return result


def place_intervals(interval: Interval, before: Interval, nodes: Sequence[Node], place: Callable[..., Any]) -> Interval:
    """Return intervals with those of the leaves where topics are leaves."""
    return Interval(*(place(new, old, nodes) for new, old in zip(interval, before, strict=True)))


def compute_interval(found: Stability, name: str, estimate: Array, nodes: Sequence[Node]) -> Interval:
    """Return the intervals of a quantity of the shown topics; NaN without draws."""
    if found.draws is None:
        return make_unknown(estimate)
    measure = MEASURES[name]
    corpus, population = (measure_draws(moments, nodes, measure) for moments in found.draws[:2])
    posterior = add_bias(estimate, summarize_draws(corpus, population))
    least = 0.0 if name == "shares" else -1.0
    return compute_posterior_interval(estimate, posterior, len(corpus), found.level, least)


def make_unknown(estimate: Array) -> Interval:
    """Return estimates whose intervals are not known."""
    return Interval(estimate, np.full_like(estimate, np.nan), np.full_like(estimate, np.nan))


def measure_draws(moments: DrawnMoments, nodes: Sequence[Node], measure: Callable[..., Array]) -> Array:
    """Return a quantity of the topics in each draw."""
    single = zip(*moments, strict=True)
    return np.array([measure(*(values.astype(np.float64) for values in one), nodes) for one in single])


def measure_shares(shares: Array, mean: Array, covariance: Array, nodes: Sequence[Node]) -> Array:
    """Return the shares of topics (G,)."""
    return sum_columns(shares[None], nodes)[0]


def measure_correlation(shares: Array, mean: Array, covariance: Array, nodes: Sequence[Node]) -> Array:
    """Return the correlations of topics (G, G)."""
    return describe_merged(*sum_moments(mean, covariance, nodes)).correlation


def measure_association(shares: Array, mean: Array, covariance: Array, nodes: Sequence[Node]) -> Array:
    """Return the associations of topics (G, G)."""
    return describe_merged(*sum_moments(mean, covariance, nodes)).association


MEASURES = {"shares": measure_shares, "correlation": measure_correlation, "association": measure_association}


def carry_probabilities(
    draws: TopicDraws | None, estimate: Array, words: Array, found: Stability, nodes: Sequence[Node]
) -> Interval:
    """Return the intervals of p(word | topic) for words (G, n): means over the parts, by their shares in each draw."""
    if draws is None:
        return make_unknown(estimate)
    place = {int(word): u for u, word in enumerate(draws.words)}
    result = make_unknown(estimate)
    for g, node in enumerate(nodes):
        known = [i for i, word in enumerate(words[g].tolist()) if word in place]
        if isinstance(node, int) or not known:
            continue
        leaves, at = list_leaves(node), [place[int(words[g, i])] for i in known]
        weights = draws.corpus.shares[:, leaves].astype(np.float64)
        weights /= weights.sum(axis=1, keepdims=True)
        drawn = np.einsum("nk,nku->nu", weights, draws.probabilities[:, leaves][:, :, at].astype(np.float64))
        posterior = add_bias(estimate[g, known], summarize_draws(drawn, drawn))
        interval = compute_posterior_interval(estimate[g, known], posterior, len(drawn), found.level, 0.0)
        result.low[g, known], result.high[g, known] = interval.low, interval.high
    return result
