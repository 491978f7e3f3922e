"""Texts that come in pieces: a vocabulary that grows, and word weights from all texts so far.

A new word joins when it is in as many documents of a piece as `min_df` asks of a collection of that size; it stands
behind the earlier words, whose columns stay. Documents are weighed once, with the weights of their time: tf-idf from
the document frequencies so far, normalised cuts against the mean of the documents so far, not their sum, so that early
and late documents count alike.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from anchorless._core.weighting import (
    DEGREE_FLOOR,
    WeightedDocuments,
    WordWeights,
    compute_frequencies,
    compute_idf,
    release_and_recut,
    sum_columns,
)
from anchorless._corpus.counting import Counts, remap_columns
from anchorless._corpus.documents import Array, Documents
from anchorless._corpus.settings import CountSettings
from anchorless._estimators.weighting import NormalizedCutWeighting
from anchorless.errors import InputError


class TextStatistics(NamedTuple):
    """What is kept of the texts so far."""

    n_documents: int
    vocabulary: list[str]
    document_frequency: Array  # (V,)
    word_counts: Array  # (V,)
    total: Array  # (V,), the sum of the documents after tf-idf


EMPTY_STATISTICS = TextStatistics(0, [], np.zeros(0), np.zeros(0), np.zeros(0))


def remove_frequency_limits(settings: CountSettings) -> CountSettings:
    """Return settings that count every word: which of them are new to the vocabulary is decided afterwards."""
    return replace(settings, min_df=1, max_df=1.0, max_features=None)


def select_new_words(texts: TextStatistics, counts: Counts, settings: CountSettings) -> list[str]:
    """Return the words of a piece that join the vocabulary, in the order of the alphabet."""
    least, most = settings.compute_df_bounds(counts.n_documents)
    known = set(texts.vocabulary)
    at = [
        place
        for place, (word, n) in enumerate(zip(counts.vocabulary, counts.document_frequency, strict=True))
        if least <= n <= most and word not in known
    ]
    if settings.max_features is not None:
        often = sorted(at, key=lambda place: (-counts.document_frequency[place], place))
        at = sorted(often[: max(0, settings.max_features - len(known))])
    return [counts.vocabulary[place] for place in at]


def add_texts(
    texts: TextStatistics, counts: Counts, settings: CountSettings, weighting: str
) -> tuple[TextStatistics, WeightedDocuments]:
    """Return the texts with a further piece, counted with `remove_frequency_limits`, and the piece weighed."""
    words = [*texts.vocabulary, *select_new_words(texts, counts, settings)]
    if not words:
        raise InputError(
            f"no word is left of {len(counts.vocabulary):,} in this piece; lower min_df or give more texts"
        )
    place = {word: column for column, word in enumerate(words)}
    column = np.array([place.get(word, -1) for word in counts.vocabulary], dtype=np.int32)
    blocks: list[Any] = [*release_and_recut([remap_columns(block, column, len(words)) for block in counts.blocks])]
    frequency, occurrences = np.sum([compute_frequencies(block) for block in blocks], axis=0)
    frequency += pad_with_zeros(texts.document_frequency, len(words))
    occurrences += pad_with_zeros(texts.word_counts, len(words))
    n_documents = texts.n_documents + counts.n_documents
    idf, total, mean, least_degree = compute_idf(weighting, frequency, n_documents), np.zeros(len(words)), None, 0.0
    tfidf = [WordWeights(weighting, idf, None, 0.0).transform(block) for block in blocks]
    if weighting == "tfidf-ncw":
        total = pad_with_zeros(texts.total, len(words)) + np.sum([sum_columns(block) for block in tfidf], axis=0)
        mean = total / n_documents
        degrees = np.concatenate([block @ mean for block in tfidf])
        least_degree = NormalizedCutWeighting(floor=DEGREE_FLOOR).fit_sum(mean, degrees).least_degree_
    weights = WordWeights(weighting, idf, mean, least_degree)
    lengths = np.concatenate([np.asarray(block.sum(axis=1), dtype=np.float64).ravel() for block in blocks])
    documents = Documents([weights.transform(block) for block in blocks])
    kept = TextStatistics(n_documents, words, frequency, occurrences, total)
    return kept, WeightedDocuments(documents, weights, frequency, occurrences, lengths)


def pad_with_zeros(values: Array, size: int) -> Array:
    """Return values with zeros for the words that are new."""
    return np.concatenate([values, np.zeros(size - len(values))])
