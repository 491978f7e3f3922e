"""Tables of a fitted model as pandas frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from anchorless._corpus.documents import Array
from anchorless._corpus.metadata import Metadata
from anchorless._diagnostics.stability import Stability
from anchorless._topic_model.mixtures import Mixtures
from anchorless._topic_model.summary import Topic, find_strongest_pairs

if TYPE_CHECKING:
    from pandas import DataFrame


def topics_frame(topics: Sequence[Topic]) -> DataFrame:
    """Return one row per topic: topic, label, share, coherence, exclusivity, words (joined by ", ")."""
    import pandas as pd

    columns = {name: [getattr(topic, name) for topic in topics] for name in ("label", "share", "coherence")}
    columns["exclusivity"] = [topic.exclusivity for topic in topics]
    columns["words"] = [", ".join(topic.words) for topic in topics]
    return pd.DataFrame({"topic": [topic.number for topic in topics]} | columns)


def words_frame(topics: Sequence[Topic]) -> DataFrame:
    """Return one row per topic and word: topic, rank, word, probability, distinctiveness."""
    import pandas as pd

    rows = [
        (topic.number, rank, *row)
        for topic in topics
        for rank, row in enumerate(zip(topic.words, topic.probabilities, topic.distinctiveness, strict=True), start=1)
    ]
    return pd.DataFrame(rows, columns=["topic", "rank", "word", "probability", "distinctiveness"])


def documents_frame(metadata: Metadata, mixtures: Mixtures, labels: Sequence[str]) -> DataFrame:
    """Return one row per document: id, label and date if known, topic, topic_label, share, explained, topic_0 …

    `topic` is the leading topic and `share` its share; both are missing where a document holds no known word.
    """
    import pandas as pd

    shares = mixtures.shares
    lead = shares.argmax(axis=1)
    known = shares.any(axis=1)
    columns: dict[str, Any] = {"id": metadata.ids.to_pandas()}
    if metadata.labels is not None:
        columns["label"] = metadata.labels.to_pandas()
    if metadata.dates is not None:
        columns["date"] = metadata.dates.to_pandas()
    columns["topic"] = pd.arrays.IntegerArray(lead.astype(np.int64), ~known)
    columns["topic_label"] = np.array([*labels, None], dtype=object)[np.where(known, lead, len(labels))]
    columns["share"] = np.where(known, shares.max(axis=1, initial=0.0), np.nan)
    columns["explained"] = mixtures.explained
    frame = pd.DataFrame(columns)
    return pd.concat([frame, pd.DataFrame(shares, columns=get_share_column_names(len(labels)))], axis=1)


def get_share_column_names(n_topics: int) -> list[str]:
    """Return the names of the columns of shares: topic_0, topic_1 …"""
    return [f"topic_{f}" for f in range(n_topics)]


def correlation_frame(correlation: Array) -> DataFrame:
    """Return the correlations of the topics, rows and columns named by topic number."""
    import pandas as pd

    numbers = pd.RangeIndex(len(correlation), name="topic")
    return pd.DataFrame(correlation, index=numbers, columns=numbers)


def correlation_edges(correlation: Array, labels: Sequence[str], stability: Stability | None = None) -> DataFrame:
    """Return one row per pair of topics, strongest correlation of either sign first; with `stability` low, high, p."""
    import pandas as pd

    rows = [(a, b, labels[a], labels[b], value) for a, b, value in find_strongest_pairs(correlation)]
    frame = pd.DataFrame(rows, columns=["topic_a", "topic_b", "label_a", "label_b", "correlation"])
    if stability is not None:
        at = frame["topic_a"].to_numpy(dtype=np.intp), frame["topic_b"].to_numpy(dtype=np.intp)
        frame["low"], frame["high"] = stability.correlation.low[at], stability.correlation.high[at]
        frame["p"] = stability.correlation_p[at]
    return frame


def stability_frame(stability: Stability, labels: Sequence[str], vocabulary: Sequence[str]) -> DataFrame:
    """Return one row per topic and leading word, with the stability and the intervals of both."""
    import pandas as pd

    F, n = stability.words.shape
    topic = np.repeat(np.arange(F), n)
    shares, probabilities = stability.shares, stability.probabilities
    columns = {
        "topic": topic,
        "label": [labels[f] for f in topic.tolist()],
        "stability": stability.topic_stability[topic],
        "share": shares.estimate[topic],
        "share_low": shares.low[topic],
        "share_high": shares.high[topic],
        "word": [vocabulary[v] for v in stability.words.ravel().tolist()],
        "word_stability": stability.word_stability.ravel(),
        "probability": probabilities.estimate.ravel(),
        "probability_low": probabilities.low.ravel(),
        "probability_high": probabilities.high.ravel(),
    }
    return pd.DataFrame(columns)
