"""The way to pyLDAvis, for those who want its page; the package is an extra."""

from __future__ import annotations

from typing import Any

from anchorless._corpus.documents import Array
from anchorless._topic_model.fitted import ModelRecord
from anchorless._topic_model.mixtures import Mixtures
from anchorless.errors import InputError


def prepare_pyldavis(fitted: ModelRecord, mixtures: Mixtures, lengths: Array) -> Any:
    """Return pyLDAvis's PreparedData; documents and words that no topic holds are left out, as it cannot take them."""
    try:
        import pyLDAvis
    except ImportError:
        raise InputError("to_pyldavis needs the package pyLDAvis; install it with `pip install pyLDAvis`") from None
    known = mixtures.shares.any(axis=1)
    used = fitted.components.any(axis=0) & (fitted.word_counts > 0)
    components = fitted.components[:, used]
    return pyLDAvis.prepare(
        topic_term_dists=components / components.sum(axis=1, keepdims=True),
        doc_topic_dists=mixtures.shares[known],
        doc_lengths=lengths[known],
        vocab=[word for word, kept in zip(fitted.vocabulary, used, strict=True) if kept],
        term_frequency=fitted.word_counts[used],
        n_jobs=1,  # a library starts no processes behind its user's back
        sort_topics=False,
        start_index=0,  # topics have the same numbers there as here
    )
