"""Export to pyLDAvis, an optional dependency."""

from __future__ import annotations

from typing import Any

from anchorless._corpus.documents import Array
from anchorless._topic_model.fitted import ModelRecord
from anchorless._topic_model.mixtures import Mixtures
from anchorless.errors import InputError


def prepare_pyldavis(fitted: ModelRecord, mixtures: Mixtures, lengths: Array) -> Any:
    """Return pyLDAvis's PreparedData, without documents and words of no topic, which pyLDAvis does not accept."""
    try:
        import pyLDAvis
    except ImportError:
        remedy = "install it with `pip install 'anchorless[pyldavis]'`"
        raise InputError("to_pyldavis needs pyLDAvis", remedy=remedy) from None
    known = mixtures.shares.any(axis=1)
    total = mixtures.shares[known].sum(axis=1, keepdims=True)  # below one if topics were dropped
    topic_word = fitted.topic_word
    used = topic_word.any(axis=0) & (fitted.word_counts > 0)
    components = topic_word[:, used]
    return pyLDAvis.prepare(
        topic_term_dists=components / components.sum(axis=1, keepdims=True),
        doc_topic_dists=mixtures.shares[known] / total,
        doc_lengths=lengths[known],
        vocab=[word for word, kept in zip(fitted.vocabulary, used, strict=True) if kept],
        term_frequency=fitted.word_counts[used],
        n_jobs=1,  # a library must not start processes unasked
        sort_topics=False,
        start_index=0,  # keep the numbers of the topics
    )
