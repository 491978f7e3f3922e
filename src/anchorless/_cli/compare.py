"""`anchorless compare`: which topics two models share."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from anchorless._cli.options import resolve_model_path
from anchorless._cli.printing import print_json, print_table, sanitize
from anchorless._corpus.documents import Array
from anchorless._topic_model.model import TopicModel
from anchorless.errors import InputError


def run(options: argparse.Namespace) -> None:
    """Print the best pairs of topics, and the topics that are left over."""
    first, second = (TopicModel.load(resolve_model_path(name)) for name in (options.first, options.second))
    words = sorted({*first.vocabulary_} & {*second.vocabulary_})
    if not words:
        problem = "the models have no word in common, so their topics cannot be compared"
        raise InputError(problem, remedy="fit both on texts in the same language, with the same options")
    pairs = pair_topics(first, second, scale_topics(first, words) @ scale_topics(second, words).T, options.words)
    lone = {
        f"only_{name}": sorted({*range(len(model.components_))} - {pair[name] for pair in pairs})
        for name, model in (("first", first), ("second", second))
    }
    if options.json:
        print_json({"pairs": pairs, "shared_vocabulary": len(words), **lone})
        return
    rows = [
        [str(a), str(b), f"{similarity:.2f}", str(len(common)), sanitize(" / ".join(labels))]
        for a, b, similarity, common, *labels in (pair.values() for pair in pairs)
    ]
    print_table(["first", "second", "similarity", f"shared of {options.words}", "topics"], rows)
    for name, model, topics in zip((options.first, options.second), (first, second), lone.values(), strict=True):
        for topic in topics:
            print(f"only in {name}: {topic} {sanitize(model.topic_labels_[topic])}")
    mean = np.mean([pair["similarity"] for pair in pairs])
    print(f"\nmean similarity {mean:.2f}; {len(words):,} words in both vocabularies")


def scale_topics(model: TopicModel, words: Sequence[str]) -> Array:
    """Return the topics (F, V) divided by their norms, at these words: products of two models' topics are cosines."""
    column = {word: k for k, word in enumerate(model.vocabulary_)}
    topics = model.components_ / np.linalg.norm(model.components_, axis=1, keepdims=True)
    return np.asarray(topics[:, [column[word] for word in words]])


def pair_topics(first: TopicModel, second: TopicModel, similarity: Array, n_words: int) -> list[dict[str, Any]]:
    """Return the best pairing (Hungarian method), most similar first."""
    leading = [[topic.words for topic in model.topics(n_words)] for model in (first, second)]
    pairs = [
        {
            "first": int(a),
            "second": int(b),
            "similarity": min(float(similarity[a, b]), 1.0),
            "shared_words": [word for word in leading[0][a] if word in leading[1][b]],
            "first_label": first.topic_labels_[a],
            "second_label": second.topic_labels_[b],
        }
        for a, b in zip(*linear_sum_assignment(-similarity), strict=True)
    ]
    return sorted(pairs, key=lambda pair: (-round(pair["similarity"], 9), pair["first"]))
