"""Carry names from one model to another, by matching their topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from anchorless._corpus.documents import Array


class CarriedName(NamedTuple):
    """A name of an earlier model, and the topic of this one that is most like the named topic.

    Attributes
    ----------
    name : str
        The name; empty for a topic that has a note only.
    earlier, topic : int
        Numbers of the topics: in the earlier model, and in this one.
    similarity : float
        Cosine similarity of the probabilities of their words.
    is_carried : bool
        Whether the topic got the name; if not, the topics are too different.
    """

    name: str
    earlier: int
    topic: int
    similarity: float
    is_carried: bool


def compute_similarity(first: Array, first_words: Sequence[str], second: Array, second_words: Sequence[str]) -> Array:
    """Return the cosine similarities (F, G) of topics (F, V) and (G, W) over all words of both."""
    place = {word: v for v, word in enumerate(second_words)}
    shared = [(v, place[word]) for v, word in enumerate(first_words) if word in place]
    lengths = np.outer(np.linalg.norm(first, axis=1), np.linalg.norm(second, axis=1))
    if not shared:
        return np.zeros(lengths.shape)
    mine, other = map(list, zip(*shared, strict=True))
    return np.asarray(first[:, mine] @ second[:, other].T / lengths)


def match_names(
    similarity: Array, names: Sequence[str | None], notes: Sequence[str], least: float
) -> list[CarriedName]:
    """Return the names (G,) of the earlier topics with their matches, for similarities (F, G); empty for a note only.

    All topics are matched, named or not, so that a name does not go to a topic that another one is most like.
    """
    rows, columns = linear_sum_assignment(-similarity)
    matched = dict(zip(columns.tolist(), rows.tolist(), strict=True))
    found = []
    for earlier, (name, note) in enumerate(zip(names, notes, strict=True)):
        if name is None and not note:
            continue
        topic = matched.get(earlier, int(similarity[:, earlier].argmax()))
        alike = float(similarity[topic, earlier])
        found.append(CarriedName(name or "", earlier, topic, alike, earlier in matched and alike >= least))
    return found
