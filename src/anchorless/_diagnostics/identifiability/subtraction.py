"""Topics that contain others: the search for other solutions that is possible with hundreds of topics.

From a topic, subtract as much of another one as leaves no probability negative, then of the next one. What is left is a
point of the polytope (see `cone`), whose weight in the topic is above one if anything was subtracted. A linear program
finds the largest such weight. This finds one that is as large or smaller, and takes a division per word and pair of
topics, where a program of 200 topics takes seconds.
"""

from __future__ import annotations

from time import monotonic
from typing import Any

import numpy as np

from anchorless._corpus.documents import Array
from anchorless._diagnostics.identifiability.cone import Cone

#: A smaller part of another topic than this is rounding error.
MIN_SUBTRACTED = 1e-9


def subtract_topics(cone: Cone, deadline: float) -> Array:
    """Return for each topic the point to which subtracting other topics leads (n, F); n < F if the time is up."""
    uses = (cone.words > 0).astype(np.float32)
    points = []
    for f in range(cone.n_topics):
        if monotonic() > deadline:
            break
        points.append(subtract_from(cone, uses, f))
    return np.array(points).reshape(len(points), cone.n_topics)


def subtract_from(cone: Cone, uses: Any, f: int) -> Array:
    """Return the weights (F,), of sum one, of what is left of topic f; `uses` (n, F) is 1 where a topic has a word."""
    left, weights = cone.words[:, f].copy(), np.eye(cone.n_topics)[f]
    free = np.ones(cone.n_topics, dtype=bool)  # topics all of whose words are left
    free[f] = False
    while True:
        free &= (left == 0).astype(np.float32) @ uses == 0
        others = np.flatnonzero(free)
        parts = measure_parts(left, cone.words[:, others])
        if parts.max(initial=0.0) <= MIN_SUBTRACTED:
            return np.asarray(weights / weights.sum())
        g, part = others[parts.argmax()], parts.max()
        gone = left <= part * cone.words[:, g] * (1.0 + MIN_SUBTRACTED)  # the words that end the subtraction
        left = np.where(gone, 0.0, left - part * cone.words[:, g])
        weights[g] -= part
        free[g] = False


def measure_parts(left: Array, topics: Array) -> Array:
    """Return how much of each of the topics (n, m) can be subtracted from `left` (n,) on its own (m,)."""
    ratios = np.divide(left[:, None], topics, out=np.full(topics.shape, np.inf), where=topics > 0)
    return np.asarray(ratios.min(axis=0, initial=np.inf))
