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

from anchorless._corpus.counting import Counts, narrow
from anchorless._corpus.settings import Counting
from anchorless._corpus.documents import Array, Documents
from anchorless.errors import InputError
from anchorless._core.weighting import FLOOR, Weighed, WordWeights, column_sums, count_statistics, cut_anew, word_idf
from anchorless._estimators.weighting import NormalizedCutWeighting


class Texts(NamedTuple):
    """What is kept of the texts so far."""

    n_documents: int
    vocabulary: list[str]
    document_frequency: Array  # (V,)
    word_counts: Array  # (V,)
    total: Array  # (V,), the sum of the documents after tf-idf


NO_TEXTS = Texts(0, [], np.zeros(0), np.zeros(0), np.zeros(0))


def counting_all(settings: Counting) -> Counting:
    """Return settings that count every word: which of them are new to the vocabulary is decided afterwards."""
    return replace(settings, min_df=1, max_df=1.0, max_features=None)


def new_words(texts: Texts, counts: Counts, settings: Counting) -> list[str]:
    """Return the words of a piece that join the vocabulary, in the order of the alphabet."""
    least, most = settings.document_bounds(counts.n_documents)
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


def taken_in(texts: Texts, counts: Counts, settings: Counting, weighting: str) -> tuple[Texts, Weighed]:
    """Return the texts with a further piece, counted with `counting_all`, and the piece weighed."""
    words = [*texts.vocabulary, *new_words(texts, counts, settings)]
    if not words:
        raise InputError(
            f"no word is left of {len(counts.vocabulary):,} in this piece; lower min_df or give more texts"
        )
    place = {word: column for column, word in enumerate(words)}
    column = np.array([place.get(word, -1) for word in counts.vocabulary], dtype=np.int32)
    blocks: list[Any] = [*cut_anew([narrow(block, column, len(words)) for block in counts.blocks])]
    frequency, occurrences = np.sum([count_statistics(block) for block in blocks], axis=0)
    frequency += padded(texts.document_frequency, len(words))
    occurrences += padded(texts.word_counts, len(words))
    n_documents = texts.n_documents + counts.n_documents
    idf, total, mean, least_degree = word_idf(weighting, frequency, n_documents), np.zeros(len(words)), None, 0.0
    tfidf = [WordWeights(weighting, idf, None, 0.0).weigh(block) for block in blocks]
    if weighting == "tfidf-ncw":
        total = padded(texts.total, len(words)) + np.sum([column_sums(block) for block in tfidf], axis=0)
        mean = total / n_documents
        degrees = np.concatenate([block @ mean for block in tfidf])
        least_degree = NormalizedCutWeighting(floor=FLOOR).fit_sum(mean, degrees).least_degree_
    weights = WordWeights(weighting, idf, mean, least_degree)
    lengths = np.concatenate([np.asarray(block.sum(axis=1), dtype=np.float64).ravel() for block in blocks])
    documents = Documents([weights.weigh(block) for block in blocks])
    kept = Texts(n_documents, words, frequency, occurrences, total)
    return kept, Weighed(documents, weights, frequency, occurrences, lengths)


def padded(values: Array, size: int) -> Array:
    """Return values with zeros for the words that are new."""
    return np.concatenate([values, np.zeros(size - len(values))])
