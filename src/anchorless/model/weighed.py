"""A corpus of counts, weighed block by block: at no time do more than one block exist both counted and weighed.

The weights of words are statistics that add over documents, so they come from the blocks in their order. Blocks
are first cut anew at places that depend on the documents alone: the same documents give the same bits, however
the reader had cut them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from anchorless.checks import check_choice
from anchorless.documents import NONZEROS_PER_BLOCK, Array, Documents, canonical_csr, row_view
from anchorless.errors import InputError
from anchorless.weighting import NormalizedCutWeighting, TfidfWeighting

#: tf-idf and normalised cut, tf-idf alone, or the counts as they are.
WEIGHTINGS = ("tfidf-ncw", "tfidf", "counts")
#: Similarities to the other documents below this share of the median count as that much: of 20 topics of raw news
#: posts ten were single odd posts without it. Larger values give away what normalised cuts gain on clean text.
FLOOR = 0.25


class WordWeights(NamedTuple):
    """What is needed to weigh a new document as the training documents were weighed."""

    weighting: str  # one of WEIGHTINGS
    idf: Array | None  # (V,)
    total: Array | None  # (V,), the sum of the training documents after tf-idf
    least_degree: float  # the least similarity to that sum that counts

    def weigh(self, counts: Any) -> Any:
        """Return documents × words weighed, each row from its own document."""
        X = counts
        if X.shape[0] == 0:  # scikit-learn refuses what holds no document
            return canonical_csr(X)
        if self.idf is not None:
            X = tfidf_of(self.idf).transform(X)
        if self.total is not None:
            X = normalized_cut_of(self.total, self.least_degree).transform(X)
        return X


class Weighed(NamedTuple):
    """Weighed documents, and what the counts said before they went."""

    documents: Documents
    weights: WordWeights
    document_frequency: Array  # (V,), documents that hold the word
    word_counts: Array  # (V,), tokens
    lengths: Array  # (N,), tokens of each document


def weigh_corpus(blocks: list[Any], weighting: str) -> Weighed:
    """Weigh blocks of counts, documents × words; the list is emptied on the way, so that the counts can be freed."""
    check_choice("weighting", weighting, WEIGHTINGS)
    n_words = blocks[0].shape[1]
    # Counting leaves its working memory with Arrow's allocator: 100 MB and more that nothing else could use.
    pa.default_memory_pool().release_unused()
    recut = [*cut_anew(blocks)]
    frequency, words, lengths = np.zeros(n_words), np.zeros(n_words), []
    for block in recut:
        frequency += np.bincount(block.indices[block.data > 0], minlength=n_words)
        words += np.bincount(block.indices, weights=block.data, minlength=n_words)
        lengths.append(np.asarray(block.sum(axis=1), dtype=np.float64).ravel())
    n_documents = sum(map(len, lengths))
    idf: Array | None = None
    total: Array | None = None
    least_degree = 0.0
    if weighting != "counts":
        idf = TfidfWeighting().fit_frequencies(frequency, n_documents).idf_
        weigh_in_place(recut, WordWeights(weighting, idf, None, 0.0))
    if weighting == "tfidf-ncw":
        total = np.zeros(n_words)
        for block in recut:
            total += np.asarray(block.sum(axis=0)).ravel()
        degrees = np.concatenate([block @ total for block in recut])
        least_degree = NormalizedCutWeighting(floor=FLOOR).fit_sum(total, degrees).least_degree_
        weigh_in_place(recut, WordWeights(weighting, None, total, least_degree))
    weights = WordWeights(weighting, idf, total, least_degree)
    return Weighed(Documents(recut), weights, frequency, words, np.concatenate(lengths))


def weigh_in_place(blocks: list[Any], weights: WordWeights) -> None:
    """Replace each block by its weighed copy."""
    for i, block in enumerate(blocks):
        blocks[i] = weights.weigh(block)


def cut_anew(blocks: list[Any], nonzeros: int = NONZEROS_PER_BLOCK) -> Iterator[Any]:
    """Yield the documents in blocks that end with the document in which `nonzeros` entries are reached.

    Empties the list: each block is let go as soon as it has been copied.
    """
    waiting: list[Any] = []
    room = nonzeros
    blocks.reverse()
    while blocks:
        block = blocks.pop()
        start = 0
        while start < block.shape[0]:
            stop = int(np.searchsorted(block.indptr, block.indptr[start] + room))
            full = stop <= block.shape[0]
            stop = min(stop, block.shape[0])
            waiting.append(row_view(block, start, stop).copy())  # a view would keep the whole block alive
            room -= int(block.indptr[stop] - block.indptr[start])
            if full:
                yield joined(waiting)
                waiting, room = [], nonzeros
            start = stop
    if waiting:
        yield joined(waiting)


def joined(parts: list[Any]) -> Any:
    """Return rows of CSR matrices as one."""
    return parts[0] if len(parts) == 1 else sp.vstack(parts, format="csr")


def checked_counts(blocks: list[Any], weighting: str, who: str) -> None:
    """Refuse fractions where the weighting is for counts: weighing twice goes wrong without a word."""
    if weighting == "counts":
        return
    for block in blocks:
        broken = block.data[block.data != np.floor(block.data)] if block.dtype.kind == "f" else block.data[:0]
        if len(broken):
            raise InputError(
                f"{who} holds {broken[0]:.6g}, but weighting={weighting!r} starts from whole counts; "
                "give counts, or weighting='counts' to take the numbers as they are"
            )


def tfidf_of(idf: Array) -> TfidfWeighting:
    """Return the fitted transformer with these word weights."""
    model = TfidfWeighting()
    model.idf_, model.n_features_in_ = idf, len(idf)
    return model


def normalized_cut_of(total: Array, least_degree: float) -> NormalizedCutWeighting:
    """Return the fitted transformer with this sum of documents."""
    model = NormalizedCutWeighting(floor=FLOOR)
    model.sum_, model.least_degree_, model.n_features_in_ = total, least_degree, len(total)
    return model
