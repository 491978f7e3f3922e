"""Tables of a fitted model, as pandas data frames; the table of documents also as an Arrow table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from anchorless._corpus.documents import Array
from anchorless._corpus.io.batches import make_names_unique
from anchorless._corpus.metadata import Metadata
from anchorless._diagnostics.stability import Stability
from anchorless._topic_model.mixtures import Mixtures
from anchorless._topic_model.summary import MIN_RELATIVE_PROBABILITY, Topic, find_strongest_pairs

if TYPE_CHECKING:
    from pandas import DataFrame


def topics_frame(topics: Sequence[Topic]) -> DataFrame:
    """Return a table with one row per topic.

    Returns
    -------
    pandas.DataFrame
        ``topic``, the number of the topic; ``label``, ``share``, ``coherence`` and ``exclusivity``, as defined in
        `Topic`; ``words``, the most probable words, joined by ``", "``.
    """
    import pandas as pd

    names = ("label", "share", "coherence", "exclusivity")
    columns: dict[str, Any] = {"topic": [topic.number for topic in topics]}
    columns |= {name: [getattr(topic, name) for topic in topics] for name in names}
    return pd.DataFrame(columns | {"words": [", ".join(topic.words) for topic in topics]})


def words_frame(topics: Sequence[Topic]) -> DataFrame:
    """Return a table with one row per topic and word.

    Returns
    -------
    pandas.DataFrame
        ``topic``, the number of the topic; ``rank``, the rank of the word in the topic, from 1; ``word``;
        ``probability``, of the word in the topic; ``distinctiveness``, as defined in `Topic`.
    """
    import pandas as pd

    rows = [
        (topic.number, rank, *row)
        for topic in topics
        for rank, row in enumerate(zip(topic.words, topic.probabilities, topic.distinctiveness, strict=True), start=1)
    ]
    return pd.DataFrame(rows, columns=["topic", "rank", "word", "probability", "distinctiveness"])


def document_table(
    columns: pa.Table, mixtures: Mixtures, labels: Sequence[str], *, decimals: int | None = None
) -> pa.Table:
    """Return an Arrow table with one row per document.

    Parameters
    ----------
    columns : pyarrow.Table
        Columns that the documents already have, such as ``id``, ``label`` and ``date``. They come first. A column
        named like one of the others gets the prefix ``input_``.
    mixtures : Mixtures
        Shares (n, F) and explained parts (n,) of the documents.
    labels : sequence of str
        The label of each topic.
    decimals : int or None
        Round shares and explained parts to so many decimals; None does not round.

    Returns
    -------
    pyarrow.Table
        The given columns, then ``topic``, the number of the topic with the largest share; ``topic_label``, its label;
        ``share``, its share; ``explained``, the part of the document's squared norm, after weighting, that its topics
        explain; ``topic_0``, ``topic_1``, …, the shares of all topics. ``topic``, ``topic_label`` and ``share`` are
        null for a document without a word of the vocabulary.
    """
    shares, explained = mixtures if decimals is None else (values.round(decimals) for values in mixtures)
    empty = ~mixtures.shares.any(axis=1)
    largest = mixtures.shares.argmax(axis=1)
    added: dict[str, Any] = {
        "topic": pa.array(largest.astype(np.int32), mask=empty),
        "topic_label": pa.array(np.array(labels, dtype=object)[largest], type=pa.string(), mask=empty),
        "share": pa.array(shares[np.arange(len(largest)), largest], mask=empty),
        "explained": pa.array(explained),
    }
    added |= {f"topic_{f}": pa.array(share) for f, share in enumerate(shares.T)}
    given = [f"input_{name}" if name in added else name for name in columns.column_names]
    names = make_names_unique([*added, *given])[len(added) :]
    return pa.table([*columns.columns, *added.values()], names=[*names, *added])


def documents_frame(metadata: Metadata, mixtures: Mixtures, labels: Sequence[str]) -> DataFrame:
    """Return a table with one row per document.

    Returns
    -------
    pandas.DataFrame
        ``id``; ``label`` and ``date``, where given; the columns that `document_table` adds. ``topic`` has the
        nullable type ``Int64``.
    """
    import pandas as pd

    given = {"id": metadata.ids, "label": metadata.labels, "date": metadata.dates}
    columns = pa.table({name: values for name, values in given.items() if values is not None})
    return document_table(columns, mixtures, labels).to_pandas(types_mapper={pa.int32(): pd.Int64Dtype()}.get)


def correlation_frame(correlation: Array) -> DataFrame:
    """Return the correlations of the topics as a square table.

    Returns
    -------
    pandas.DataFrame
        The correlations; rows and columns are the numbers of the topics.
    """
    import pandas as pd

    numbers = pd.RangeIndex(len(correlation), name="topic")
    return pd.DataFrame(correlation, index=numbers, columns=numbers)


def correlation_edges(correlation: Array, labels: Sequence[str], stability: Stability | None = None) -> DataFrame:
    """Return a table with one row per pair of topics, the largest absolute correlation first.

    Returns
    -------
    pandas.DataFrame
        ``topic_a`` and ``topic_b``, the numbers of the topics; ``label_a`` and ``label_b``, their labels;
        ``correlation``. With `stability` also ``low`` and ``high``, the ends of the confidence interval, and ``p``,
        the p-value of a correlation of zero, adjusted for the number of pairs by Holm's method.
    """
    import pandas as pd

    rows = [(a, b, labels[a], labels[b], value) for a, b, value in find_strongest_pairs(correlation)]
    frame = pd.DataFrame(rows, columns=["topic_a", "topic_b", "label_a", "label_b", "correlation"])
    if stability is not None:
        pairs = frame["topic_a"].to_numpy(dtype=np.intp), frame["topic_b"].to_numpy(dtype=np.intp)
        frame["low"], frame["high"] = stability.correlation.low[pairs], stability.correlation.high[pairs]
        frame["p"] = stability.correlation_p[pairs]
    return frame


def stability_frame(stability: Stability, labels: Sequence[str], vocabulary: Sequence[str]) -> DataFrame:
    """Return a table with one row per topic and leading word.

    Returns
    -------
    pandas.DataFrame
        ``topic``, the number of the topic, and ``label``; ``stability``, the mean of ``word_stability`` over the topic;
        ``share`` of the topic, with its confidence interval from ``share_low`` to ``share_high``; ``word``;
        ``word_stability``, the share of bootstrap resamples in which the word is again among the topic's leading words;
        ``probability`` of the word, with its confidence interval from ``probability_low`` to ``probability_high``.
        Words whose probability is zero up to rounding are not listed.
    """
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
    listed = probabilities.high > MIN_RELATIVE_PROBABILITY * probabilities.estimate.max(axis=1, keepdims=True)
    return pd.DataFrame(columns)[listed.ravel()].reset_index(drop=True)
