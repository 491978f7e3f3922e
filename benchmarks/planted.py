"""Texts with planted topics, of any number, written to a file at speed: the same arguments give the same bytes.

Words follow Zipf's law; a word belongs to few topics (gamma weights of a small shape); the topics of a document are a
logistic normal with correlated topics, as in the correlated topic model of Blei and Lafferty. Every document is drawn
from its own part of the random numbers of its chunk, so that a longer file begins with the shorter one.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

#: Documents that are drawn together.
CHUNK = 10_000
#: Shape of the gamma weights of a word over the topics: the smaller, the fewer topics share a word.
SHAPE = 0.1
#: Spread of the topics of a document on the scale of logarithms.
SPREAD = 2.5


class Plan(NamedTuple):
    """Topics and their correlations."""

    topics: np.ndarray  # (K, V), rows of sum one
    mixing: np.ndarray  # (K, K): L of the covariance LLᵀ of the logistic normal
    words: pa.Array  # (V,) strings


def plan(n_topics: int, n_words: int, seed: int = 0) -> Plan:
    """Return planted topics: neighbors k and k + 1 are positively correlated, for even k."""
    rng = np.random.default_rng(seed)
    zipf = 1.0 / (np.arange(n_words) + 2.7)
    topics = zipf * (rng.gamma(SHAPE, size=(n_topics, n_words)) + 1e-4)
    correlation = np.eye(n_topics)
    for k in range(0, n_topics - 1, 2):
        correlation[k, k + 1] = correlation[k + 1, k] = 0.6
    return Plan(topics / topics.sum(axis=1, keepdims=True), np.linalg.cholesky(correlation), spell_words(n_words))


def spell_words(n_words: int) -> pa.Array:
    """Return made-up words, none of them a stop word in any language."""
    letters = np.array(list("bcdfghklmnprstvwz"))
    codes = np.arange(n_words)
    parts = [letters[codes // 17**place % 17] for place in range(4)]
    return pa.array(["xq" + "".join(word) for word in zip(*parts, strict=True)])


def chunk(planned: Plan, number: int, mean_length: float, seed: int) -> tuple[pa.Array, np.ndarray]:
    """Return CHUNK texts and their planted shares of the topics."""
    rng = np.random.default_rng([seed, number])
    n_topics = len(planned.topics)
    logits = SPREAD * rng.standard_normal((CHUNK, n_topics)) @ planned.mixing.T
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    lengths = rng.poisson(mean_length, CHUNK).clip(1)
    rows = np.repeat(np.arange(CHUNK), lengths)
    # The topic of each token: how many of its document's cumulated shares lie below a random number.
    ends = np.cumsum(shares, axis=1) + np.arange(CHUNK)[:, None]
    topic = np.searchsorted(ends.ravel(), rows + rng.random(len(rows))) - rows * n_topics
    topic = topic.clip(0, n_topics - 1)
    codes = np.empty(len(rows), dtype=np.int32)
    draws = rng.random(len(rows))
    order = np.argsort(topic, kind="stable")
    bounds = np.searchsorted(topic[order], np.arange(n_topics + 1))
    for k in range(n_topics):
        mine = order[bounds[k] : bounds[k + 1]]
        codes[mine] = np.searchsorted(np.cumsum(planned.topics[k]), draws[mine]).clip(0, planned.topics.shape[1] - 1)
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), type=pa.int32())
    lists = pa.ListArray.from_arrays(offsets, planned.words.take(pa.array(codes)))
    return pc.binary_join(lists, " "), shares


def write_texts(path: Path, planned: Plan, n_documents: int, mean_length: float = 60.0, seed: int = 0) -> None:
    """Write a file of one document per line (.txt), or of objects with id and text (.jsonl)."""
    with open(path, "wb") as file:
        for number in range(-(-n_documents // CHUNK)):
            texts, _ = chunk(planned, number, mean_length, seed)
            texts = texts.slice(0, n_documents - number * CHUNK)
            if path.suffix == ".jsonl":
                ids = pa.array([f'{{"id": "d{number * CHUNK + i}", "text": "' for i in range(len(texts))])
                texts = pc.binary_join_element_wise(ids, texts, '"}', "")
            file.write(b"\n".join(text.encode() for text in texts.to_pylist()) + b"\n")
