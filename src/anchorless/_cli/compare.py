"""`anchorless compare`: which topics two models share."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from anchorless._cli.options import Command, add_flags, add_model, add_number, resolve_model_path
from anchorless._cli.printing import print_json, print_table, sanitize
from anchorless._corpus.documents import Array
from anchorless._topic_model.model import TopicModel
from anchorless.errors import InputError


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `compare`."""
    add_model(parser, "first")
    add_model(parser, "second")
    add_number(parser, "-w", "--words", default=10, help="words to compare")
    add_flags(parser, force=False)


def run(options: argparse.Namespace) -> None:
    """Print the pairs of topics that are most similar."""
    first, second = (TopicModel.load(resolve_model_path(name)) for name in (options.first, options.second))
    A, B = align_topics(first, second)
    pairs = pair_topics(first, second, A @ B.T, options.words)
    n_shared = len(set(first.vocabulary_) & set(second.vocabulary_))
    lone_first = sorted(set(range(len(A))) - {pair["first"] for pair in pairs})
    lone_second = sorted(set(range(len(B))) - {pair["second"] for pair in pairs})
    if options.json:
        print_json(
            {"pairs": pairs, "shared_vocabulary": n_shared, "only_first": lone_first, "only_second": lone_second}
        )
        return
    rows = [
        [*map(str, (p["first"], p["second"], f"{p['similarity']:.2f}", len(p["shared_words"]))), sanitize(label)]
        for p in pairs
        for label in [f"{p['first_label']} / {p['second_label']}"]
    ]
    print_table(["first", "second", "similarity", f"shared of {options.words}", "topics"], rows)
    for name, model, lone in ((options.first, first, lone_first), (options.second, second, lone_second)):
        for topic in lone:
            print(f"only in {name}: {topic} {sanitize(model.topic_labels_[topic])}")
    print(f"\nmean similarity {np.mean([p['similarity'] for p in pairs]):.2f}; {n_shared:,} words in both vocabularies")


def align_topics(first: TopicModel, second: TopicModel) -> tuple[Array, Array]:
    """Return the topics of both over the words of either, each of length one: their products are cosines."""
    words = sorted({*first.vocabulary_, *second.vocabulary_})
    if not {*first.vocabulary_} & {*second.vocabulary_}:
        raise InputError("the models have no word in common, so their topics cannot be compared")
    place = {word: k for k, word in enumerate(words)}
    spread = []
    for model in (first, second):
        topics = np.zeros((len(model.components_), len(words)))
        topics[:, [place[word] for word in model.vocabulary_]] = model.components_
        spread.append(topics / np.linalg.norm(topics, axis=1, keepdims=True))
    return spread[0], spread[1]


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


COMPARE = Command(
    "compare",
    "match the topics of two models",
    "Match the topics of two models (Hungarian method on the cosine of their words) and show what they share.",
    "anchorless compare spring-topics autumn-topics",
    add_options,
    run,
)
