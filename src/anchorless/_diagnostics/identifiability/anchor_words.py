"""Anchor words: for each topic, the words that come nearest to belonging to it alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anchorless._corpus.documents import Array
from anchorless._diagnostics.identifiability.cone import ROW_FLOOR, ZERO_TOLERANCE

#: Fewest documents of an anchor word. With n documents in one topic, at 95%, up to 3/n may still be in others.
MIN_DOCUMENTS_PER_WORD = 30
#: At least this many words per topic are considered: those in most documents.
MIN_WORDS_PER_TOPIC = 20


class Candidate(NamedTuple):
    """A word that comes near to being an anchor word of a topic."""

    word: int
    share: float  # of the word's occurrences that are about the topic; 1 for an anchor word
    distance: float  # of the word's row, scaled to sum one, from that of an anchor word: 0 to √2
    documents: int | None  # number of documents that contain the word, if known


class TopicAnchors(NamedTuple):
    """The best candidates for anchor words of a topic."""

    topic: int
    separable: bool  # whether the best candidate is an anchor word: no other topic contains it, within rounding
    candidates: list[Candidate]  # nearest first


def find_common_words(C: Array, documents: Array | None) -> npt.NDArray[np.bool_]:
    """Tell which words of C (V, F) are in enough documents (V,); all used words if documents is None."""
    total = C.sum(axis=1)
    used = total > ROW_FLOOR * total.max()
    if documents is None:
        return used
    seen = np.where(used, documents, 0)
    enough = min(len(C), MIN_WORDS_PER_TOPIC * C.shape[1])
    return used & (seen >= min(MIN_DOCUMENTS_PER_WORD, float(np.partition(seen, -enough)[-enough])))


def find_anchor_candidates(C: Array, shares: Array, documents: Array | None, n_words: int) -> list[TopicAnchors]:
    """Return the `n_words` best candidates of each topic of C (V, F) with shares (F,), among the common words."""
    common = np.flatnonzero(find_common_words(C, documents))
    rows = C[common] / C[common].sum(axis=1, keepdims=True)
    weight = C[common] * shares
    total = weight.sum(axis=1, keepdims=True)
    part = np.divide(weight, total, out=rows.copy(), where=total > 0)
    squares = (rows**2).sum(axis=1)
    found = []
    for f in range(C.shape[1]):
        distance = np.sqrt(np.maximum(squares - 2 * rows[:, f] + 1.0, 0.0))
        others = np.delete(rows, f, axis=1).max(axis=1, initial=0.0)
        distance[others <= ZERO_TOLERANCE] = 0.0
        order = np.lexsort((-C[common, f], distance))[:n_words]  # ties: the most probable word first
        seen = [None if documents is None else int(documents[common[v]]) for v in order]
        values = zip(common[order].tolist(), part[order, f].tolist(), distance[order].tolist(), seen, strict=True)
        candidates = [Candidate(*value) for value in values]
        found.append(TopicAnchors(f, bool(candidates and candidates[0].distance == 0.0), candidates))
    return found
