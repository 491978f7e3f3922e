"""A corpus of counts, weighed block by block: at no time do more than one block exist both counted and weighed.

The weights of words are statistics that add over documents, so they come from the blocks in their order. Blocks
are first cut anew at places that depend on the documents alone: the same documents give the same bits, however
the reader had cut them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from anchorless._corpus.documents import Array, Documents, tree_sum
from anchorless._corpus.sparse import NONZEROS_PER_BLOCK, rechunk_blocks, to_canonical_csr
from anchorless._estimators.weighting import NormalizedCutWeighting, TfidfWeighting
from anchorless._validation import check_choice
from anchorless.errors import InputError

#: tf-idf and normalised cut, tf-idf alone, or the counts as they are.
WEIGHTINGS = ("tfidf-ncw", "tfidf", "counts")
#: Similarities to the other documents below this share of the median count as that much: of 20 topics of raw news
#: posts ten were single odd posts without it. Larger values give away what normalised cuts gain on clean text.
DEGREE_FLOOR = 0.25


class WordWeights(NamedTuple):
    """What is needed to weigh a new document as the training documents were weighed."""

    weighting: str  # one of WEIGHTINGS
    idf: Array | None  # (V,)
    total: Array | None  # (V,), the sum of the training documents after tf-idf
    least_degree: float  # the least similarity to that sum that counts

    def transform(self, counts: Any) -> Any:
        """Return documents × words weighed, each row from its own document."""
        X = counts
        if X.shape[0] == 0:  # scikit-learn refuses what holds no document
            return to_canonical_csr(X)
        if self.idf is not None:
            X = make_tfidf(self.idf).transform(X)
        if self.total is not None:
            X = make_normalized_cut(self.total, self.least_degree).transform(X)
        return X


class WeightedDocuments(NamedTuple):
    """Weighed documents, and what the counts said before they went."""

    documents: Documents
    weights: WordWeights
    document_frequency: Array  # (V,), documents that hold the word
    word_counts: Array  # (V,), tokens
    lengths: Array | None  # (N,), tokens of each document; None for documents that are not in memory


def weight_blocks(blocks: list[Any], weighting: str) -> WeightedDocuments:
    """Weigh blocks of counts, documents × words; the list is emptied on the way, so that the counts can be freed."""
    check_choice("weighting", weighting, WEIGHTINGS)
    # Counting leaves its working memory with Arrow's allocator: 100 MB and more that nothing else could use.
    pa.default_memory_pool().release_unused()
    recut = [*release_and_recut(blocks)]
    frequency, words = tree_sum(map(compute_frequencies, recut))
    lengths = np.concatenate([np.asarray(block.sum(axis=1), dtype=np.float64).ravel() for block in recut])
    idf, total, least_degree = compute_idf(weighting, frequency, len(lengths)), None, 0.0
    if idf is not None:
        weight_in_place(recut, WordWeights(weighting, idf, None, 0.0))
    if weighting == "tfidf-ncw":
        total = tree_sum(map(sum_columns, recut))
        similar = np.concatenate([compute_degrees(total, block) for block in recut])
        least_degree = NormalizedCutWeighting(floor=DEGREE_FLOOR).fit_sum(total, similar).least_degree_
        weight_in_place(recut, WordWeights(weighting, None, total, least_degree))
    weights = WordWeights(weighting, idf, total, least_degree)
    return WeightedDocuments(Documents(recut), weights, frequency, words, lengths)


def weight_counts(counts: list[Any] | Documents, weighting: str, n_threads: int) -> WeightedDocuments:
    """Weigh blocks of counts in memory, which are let go, or counts wherever they are."""
    if isinstance(counts, Documents):
        return weight_documents(counts, weighting, n_threads)
    return weight_blocks(counts, weighting)


def weight_documents(counts: Documents, weighting: str, n_threads: int) -> WeightedDocuments:
    """Weigh counts wherever they are, in memory that does not grow with them: the same bits as `weight_blocks`."""
    check_choice("weighting", weighting, WEIGHTINGS)
    frequency, words = counts.sum_blocks(compute_frequencies, n_threads)
    idf, total, least_degree = compute_idf(weighting, frequency, counts.shape[0]), None, 0.0
    documents = counts
    if idf is not None:
        documents = counts.transform_blocks(WordWeights(weighting, idf, None, 0.0).transform).materialize(n_threads)
    if weighting == "tfidf-ncw":
        total = documents.sum_blocks(sum_columns, n_threads)
        least_degree = DEGREE_FLOOR * compute_positive_median(documents, partial(compute_degrees, total), n_threads)
        documents = documents.transform_blocks(WordWeights(weighting, None, total, least_degree).transform).materialize(
            n_threads
        )
    return WeightedDocuments(documents, WordWeights(weighting, idf, total, least_degree), frequency, words, None)


def compute_frequencies(block: Any) -> Array:
    """Return in how many documents of a block each word is, and how often it occurs (2, V)."""
    n_words = block.shape[1]
    held = np.bincount(block.indices[block.data > 0], minlength=n_words)
    return np.array([held, np.bincount(block.indices, weights=block.data, minlength=n_words)], dtype=np.float64)


def sum_columns(block: Any) -> Array:
    """Return the sum of the documents of a block (V,)."""
    return np.asarray(block.sum(axis=0)).ravel()


def compute_degrees(total: Array, block: Any) -> Array:
    """Return the similarity of each document of a block to the sum of the documents."""
    return np.asarray(block @ total)


def compute_idf(weighting: str, frequency: Array, n_documents: int) -> Array | None:
    """Return the weight of each word (V,); None where counts stay as they are."""
    return None if weighting == "counts" else TfidfWeighting().fit_frequencies(frequency, n_documents).idf_


def compute_positive_median(documents: Documents, function: Callable[[Any], Array], n_threads: int) -> float:
    """Return the median of the positive numbers that function(block) returns for the documents; 0.0 without any.

    As `numpy.median` to the bit, in bounded memory: positive floating-point numbers have the order of their bits,
    so four walks count the numbers by their next 16 bits and go into the group that holds the middle.
    """
    n_numbers = prefix = below = until = 0
    for shift in (48, 32, 16, 0):
        counts = documents.sum_blocks(partial(count_digits, function, prefix, shift), n_threads).astype(np.int64)
        n_numbers = n_numbers or int(counts.sum())
        if n_numbers == 0:
            return 0.0
        ends = below + np.cumsum(counts)
        digit = int(np.searchsorted(ends, (n_numbers - 1) // 2, side="right"))
        prefix, below, until = prefix << 16 | digit, int(ends[digit] - counts[digit]), int(ends[digit])
    middle = float(np.array(prefix, dtype=np.uint64).view(np.float64))
    if n_numbers % 2 == 1 or until > n_numbers // 2:
        return middle
    return float(np.mean([middle, min(documents.map_blocks(partial(find_least_above, function, middle), n_threads))]))


def count_digits(function: Callable[[Any], Array], prefix: int, shift: int, block: Any) -> Array:
    """Return how many positive numbers, of those whose bits begin with `prefix`, have each of the next 16 bits."""
    values = np.asarray(function(block), dtype=np.float64)
    bits = values[values > 0].view(np.uint64)
    if shift < 48:
        bits = bits[bits >> np.uint64(shift + 16) == np.uint64(prefix)]
    return np.bincount((bits >> np.uint64(shift) & np.uint64(0xFFFF)).astype(np.intp), minlength=1 << 16).astype(float)


def find_least_above(function: Callable[[Any], Array], limit: float, block: Any) -> float:
    """Return the least number above the limit, infinity without any."""
    values = function(block)
    return float(values[values > limit].min(initial=np.inf))


def weight_in_place(blocks: list[Any], weights: WordWeights) -> None:
    """Replace each block by its weighed copy."""
    for i, block in enumerate(blocks):
        blocks[i] = weights.transform(block)


def release_and_recut(blocks: list[Any], nonzeros: int = NONZEROS_PER_BLOCK) -> Iterator[Any]:
    """Yield the documents in blocks of about `nonzeros` entries.

    Empties the list: each block is let go as soon as it has been copied.
    """
    blocks.reverse()
    return rechunk_blocks((blocks.pop() for _ in range(len(blocks))), nonzeros)


def check_whole_counts(blocks: Iterable[Any] | Documents, weighting: str, who: str) -> None:
    """Refuse fractions where the weighting is for counts: weighing twice goes wrong without a word."""
    if weighting == "counts":
        return
    for fraction in (
        blocks.map_blocks(find_fraction, 1) if isinstance(blocks, Documents) else map(find_fraction, blocks)
    ):
        if fraction is not None:
            raise InputError(
                f"{who} holds {fraction:.6g}, but weighting={weighting!r} starts from whole counts; "
                "give counts, or weighting='counts' to take the numbers as they are"
            )


def find_fraction(block: Any) -> float | None:
    """Return the first entry that is no whole number; None if all are whole."""
    broken = block.data[block.data != np.floor(block.data)] if block.dtype.kind == "f" else block.data[:0]
    return float(broken[0]) if len(broken) else None


def make_tfidf(idf: Array) -> TfidfWeighting:
    """Return the fitted transformer with these word weights."""
    model = TfidfWeighting()
    model.idf_, model.n_features_in_ = idf, len(idf)
    return model


def make_normalized_cut(total: Array, least_degree: float) -> NormalizedCutWeighting:
    """Return the fitted transformer with this sum of documents."""
    model = NormalizedCutWeighting(floor=DEGREE_FLOOR)
    model.sum_, model.least_degree_, model.n_features_in_ = total, least_degree, len(total)
    return model
