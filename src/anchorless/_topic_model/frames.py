"""Tables of a fitted model, as pandas data frames; the table of documents also as an Arrow table.

`TopicModel` documents the columns.
"""

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
    """Return a table with one row per topic."""
    import pandas as pd

    names = ["topic", "label", "share", "coherence", "exclusivity", "words"]
    rows = [(t.number, t.label, t.share, t.coherence, t.exclusivity, ", ".join(t.words)) for t in topics]
    return pd.DataFrame(rows, columns=names)


def words_frame(topics: Sequence[Topic]) -> DataFrame:
    """Return a table with one row per topic and word."""
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
    """Return an Arrow table with one row per document: the given columns, then those of the topics.

    A given column named like one of the others gets the prefix ``input_``. ``topic``, ``topic_label`` and ``share`` are
    null for a document without a word of the vocabulary. With `decimals`, shares and explained parts are rounded.
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
    """Return a table with one row per document: id, label and date where given, and what `document_table` adds."""
    import pandas as pd

    given = {"id": metadata.ids, "label": metadata.labels, "date": metadata.dates}
    columns = pa.table({name: values for name, values in given.items() if values is not None})
    return document_table(columns, mixtures, labels).to_pandas(types_mapper={pa.int32(): pd.Int64Dtype()}.get)


def correlation_frame(correlation: Array) -> DataFrame:
    """Return the correlations (F, F) as a table whose rows and columns are the numbers of the topics."""
    import pandas as pd

    numbers = pd.RangeIndex(len(correlation), name="topic")
    return pd.DataFrame(correlation, index=numbers, columns=numbers)


def correlation_edges(correlation: Array, labels: Sequence[str], stability: Stability | None = None) -> DataFrame:
    """Return a table with one row per pair of topics, the largest absolute correlation first."""
    import pandas as pd

    rows = [(a, b, labels[a], labels[b], value) for a, b, value in find_strongest_pairs(correlation)]
    frame = pd.DataFrame(rows, columns=["topic_a", "topic_b", "label_a", "label_b", "correlation"])
    if stability is not None:
        pairs = frame["topic_a"].to_numpy(dtype=np.intp), frame["topic_b"].to_numpy(dtype=np.intp)
        frame["low"], frame["high"] = stability.correlation.low[pairs], stability.correlation.high[pairs]
        frame["p"] = stability.correlation_p[pairs]
    return frame


def stability_frame(stability: Stability, labels: Sequence[str], vocabulary: Sequence[str]) -> DataFrame:
    """Return a table with one row per topic and leading word, without words that are rounding errors."""
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
