"""Texts that come in pieces: a vocabulary that grows, and word weights from all texts so far.

A new word joins when it is in as many documents of a piece as `min_df` asks of a collection of that size; its column
follows those of the earlier words, which stay. Documents are weighted once, with the weights of their time.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from anchorless._core.weighting import WeightedDocuments, WordStatistics, weight_documents
from anchorless._corpus.corpus import Corpus
from anchorless._corpus.counting import remap_columns
from anchorless._corpus.documents import compute_word_sums
from anchorless._corpus.settings import CountSettings
from anchorless.errors import InputError


class TextStatistics(NamedTuple):
    """The vocabulary of the texts so far, and sums for each word."""

    vocabulary: list[str]
    words: WordStatistics


EMPTY_STATISTICS = TextStatistics([], WordStatistics(0, np.zeros(0), np.zeros(0), np.zeros(0)))


def select_new_words(texts: TextStatistics, piece: Corpus, settings: CountSettings) -> list[str]:
    """Return the words of a piece that join the vocabulary, in alphabetical order."""
    least, most = settings.compute_df_bounds(piece.n_documents)
    known = set(texts.vocabulary)
    frequency = compute_word_sums(piece.documents, 1).frequency
    at = [k for k, word in enumerate(piece.vocabulary) if least <= frequency[k] <= most and word not in known]
    if settings.max_features is not None:
        often = sorted(at, key=lambda k: (-frequency[k], k))
        at = sorted(often[: max(0, settings.max_features - len(known))])
    return [piece.vocabulary[k] for k in at]


def add_texts(
    texts: TextStatistics, piece: Corpus, settings: CountSettings, weighting: str, n_threads: int
) -> tuple[TextStatistics, WeightedDocuments]:
    """Return the statistics with a further piece, counted without frequency limits, and the piece weighted."""
    words = [*texts.vocabulary, *select_new_words(texts, piece, settings)]
    if not words:
        problem = f"no word is left of {piece.n_words:,} in this piece"
        raise InputError(problem, remedy="lower {min_df} or give more texts")
    place = {word: column for column, word in enumerate(words)}
    column = np.array([place.get(word, -1) for word in piece.vocabulary], dtype=np.int32)
    counts = piece.documents.transform_blocks(partial(remap_columns, column=column, width=len(words)), len(words))
    weighted = weight_documents(counts, weighting, n_threads, texts.words.pad(len(words)))
    return TextStatistics(words, weighted.statistics), weighted
