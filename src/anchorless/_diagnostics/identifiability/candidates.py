"""Anchor words: for every topic the words that come nearest to being its own alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anchorless._corpus.documents import Array
from anchorless._diagnostics.identifiability.cone import ROW_FLOOR, ZERO_TOLERANCE

#: Documents that must hold a word before it is believed to be an anchor: one in n documents may belong to other topics
#: by up to 3/n without being seen there, at a level of 95%.
MIN_DOCUMENTS_PER_WORD = 30
#: At least this many words per topic are looked at, those in most documents.
MIN_WORDS_PER_TOPIC = 20


class Candidate(NamedTuple):
    """A word that comes near to being an anchor of a topic."""

    word: int  # its column
    share: float  # of the word's occurrences, those that are about the topic; 1 for an anchor
    distance: float  # of the word's row, scaled to sum one, from that of an anchor; 0 for an anchor, up to √2
    documents: int | None  # that hold the word


class TopicAnchors(NamedTuple):
    """The best candidates of a topic, nearest first."""

    topic: int
    separable: bool  # whether the nearest is an anchor: no other topic holds it, within rounding
    candidates: list[Candidate]


def find_common_words(C: Array, documents: Array | None) -> npt.NDArray[np.bool_]:
    """Return which words of C (V, F) are known well enough: those in enough documents, all where none are known."""
    total = C.sum(axis=1)
    used = total > ROW_FLOOR * total.max()
    if documents is None:
        return used
    seen = np.where(used, documents, 0)
    enough = min(len(C), MIN_WORDS_PER_TOPIC * C.shape[1])
    return used & (seen >= min(MIN_DOCUMENTS_PER_WORD, float(np.partition(seen, -enough)[-enough])))


def find_anchor_candidates(C: Array, shares: Array, documents: Array | None, n_words: int) -> list[TopicAnchors]:
    """Return the `n_words` best candidates of each topic of C (V, F), among words that are known well enough."""
    known = np.flatnonzero(find_common_words(C, documents))
    rows = C[known] / C[known].sum(axis=1, keepdims=True)
    weight = C[known] * shares
    total = weight.sum(axis=1, keepdims=True)
    part = np.divide(weight, total, out=rows.copy(), where=total > 0)
    squares = (rows**2).sum(axis=1)
    found = []
    for f in range(C.shape[1]):
        distance = np.sqrt(np.maximum(squares - 2 * rows[:, f] + 1.0, 0.0))
        others = np.delete(rows, f, axis=1).max(axis=1, initial=0.0)
        distance[others <= ZERO_TOLERANCE] = 0.0
        # Of equally near words the most probable one says most.
        order = np.lexsort((-C[known, f], distance))[:n_words]
        candidates = [
            Candidate(
                word=int(known[v]),
                share=float(part[v, f]),
                distance=float(distance[v]),
                documents=None if documents is None else int(documents[known[v]]),
            )
            for v in order
        ]
        found.append(TopicAnchors(f, bool(candidates and candidates[0].distance == 0.0), candidates))
    return found
