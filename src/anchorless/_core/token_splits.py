"""Topics that are two: where they show, and how another topic that is none is given to one of the two.

Co-occurrences may merge two topics that often appear together, and spend the topic that is left over on a bit of many
others. The likelihood does not leave such a state by itself. But within the tokens of a merged topic the words of one
part come together, and tokens of a spare topic are nowhere a large part of a document.

If the words of a topic's tokens in a document are independent, the products of their numbers for pairs of words, minus
what their frequencies explain and divided by its standard error, are noise: a symmetric matrix whose largest
eigenvalues lie close together. A merged topic has one that stands out; the signs of its eigenvector tell the two parts.
Where a topic is clearly spare, those that come nearest to it may be merged all the same; `split_search` tries them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh

from anchorless._core.token_kernels import pair_words
from anchorless._corpus.documents import Array, Documents

#: Words of a topic that are paired: with so many expected tokens at least, the most frequent ones,
MIN_TOKENS, MAX_WORDS, MIN_WORDS = 15.0, 200, 10
#: and fewer if all pairs of all topics are more than this.
MAX_PAIRS = 4_000_000
#: The largest eigenvalue stands out if it is so many times the second, and beyond it by so many standard errors of a
#: product. On planted corpora those of merged topics are 1.2 to 2.1 times and 2.7 to 16 beyond, of others up to 1.35
#: times and 2.4 beyond.
MIN_RATIO, MIN_GAP = 1.2, 3.0
#: A topic is spare if, where it is, its part of a document is smaller than this times that of the median topic.
SPARE_PRESENCE = 0.75
#: Below this it is clearly spare, and topics are tried whose largest eigenvalue is beyond the second by so many errors
#: only. (In planted corpora of 60 tokens it was 0.38 to 0.6 with a topic missing, and 0.76 or more without.)
CLEARLY_SPARE, WEAK_GAP = 0.65, 1.0
#: From this gap on, trial documents must be predicted better; below it by so many standard errors. (In planted corpora,
#: merged topics below it gained 4 of them, others up to 0.8.)
LIKELY_GAP, LEAST_ERRORS = 2.0, 1.5
#: Topics that are split one by one. If more stand out, they are split together first, up to this part of all.
MAX_TRIED, MAX_SPLIT_PART = 4, 0.15
#: If more than this part of the topics stand out, none is split alone: words of real texts come in bursts, and almost
#: every topic looks like two. (40 of 50 topics of 20 Newsgroups, up to 3 of 20 planted ones.)
MAX_CLEAR_PART = 0.34
#: The part of a word's tokens that goes with one side is at least this and at most one minus this.
MIN_SIDE = 0.02


class Split(NamedTuple):
    """A topic that may be two, the spare topic that becomes one of them, and the part of each word that goes there."""

    topic: int
    spare: int
    part: Array  # (V,)
    least_errors: float = 0.0  # standard errors by which trial documents must be predicted better


def find_splits(
    tokens: Documents, words: Array, documents: Array, phi: Array, alpha: Array, is_new: Any, n_threads: int
) -> tuple[list[Split], list[Split]]:
    """Return splits to make together, and splits to try one by one; both may be none.

    `words` (V, F) and `documents` (N, F + 1) are expected tokens, the latter with the weights of the documents. Topics
    that `is_new` (F,) marks come from a split: their parts of documents are small, but they are not spare.
    """
    chosen, place = choose_words(words)
    sums = pair_tokens(tokens, documents, phi, alpha, place, chosen, n_threads)
    gaps, is_clear, parts = measure_gaps(sums, chosen, len(words))
    presence = measure_presence(documents[:, :-1])
    usual = np.median(presence)  # zero if most topics have no token
    is_spare = (presence < SPARE_PRESENCE * usual) & ~is_new
    spare = [int(k) for k in np.argsort(presence, kind="stable") if is_spare[k]]
    if not spare:
        return [], []
    order = [int(k) for k in np.argsort(-gaps, kind="stable") if not is_spare[k]]
    is_weak = (gaps >= WEAK_GAP) & (presence[spare[0]] < CLEARLY_SPARE * usual) & ~is_new
    pairs = zip([k for k in order if is_clear[k]], spare, strict=False)
    together = [Split(k, other, parts[k]) for k, other in pairs][: max(1, int(MAX_SPLIT_PART * len(alpha)))]
    if is_clear.mean() > MAX_CLEAR_PART:
        return together, []
    least = np.where(is_clear | (gaps >= LIKELY_GAP), 0.0, LEAST_ERRORS)
    alone = [Split(k, spare[0], parts[k], least[k]) for k in order if is_clear[k] or is_weak[k]][:MAX_TRIED]
    return together if len(together) > MAX_TRIED else [], alone


def choose_words(words: Array) -> tuple[list[Any], Any]:
    """Return the words of each topic that are paired, and the place of each word among them (V, F), −1 if nowhere."""
    n_topics = words.shape[1]
    most = min(MAX_WORDS, int(np.sqrt(MAX_PAIRS / n_topics)))
    place, chosen = np.full(words.shape, -1, dtype=np.int32), []
    for k in range(n_topics):
        order = np.argsort(-words[:, k], kind="stable")[:most]
        order = order[words[order, k] >= MIN_TOKENS]
        place[order, k] = np.arange(len(order))
        chosen.append(order)
    return chosen, place


def pair_tokens(
    tokens: Documents, documents: Array, phi: Array, alpha: Array, place: Any, chosen: list[Any], n_threads: int
) -> Array:
    """Return the sums of products (F, n, n + 1) of `pair_words`, with the noise in the last column of the first row."""
    size = max(1, *(len(words) for words in chosen))

    def pair_block(X: Any, counts: Array) -> tuple[Array, Array]:
        pairs, noise = np.zeros((len(alpha), size, size)), np.zeros(len(alpha))
        pair_words(X.indptr, X.indices, X.data, counts, phi, alpha, place, pairs, noise)
        found = np.zeros((len(alpha), size, size + 1))
        found[:, :, :-1], found[:, 0, -1] = pairs, noise
        return counts, found

    return tokens.update_rows(pair_block, documents, n_threads)


def measure_gaps(sums: Array, chosen: list[Any], n_words: int) -> tuple[Array, Any, list[Array]]:
    """Return how far the largest eigenvalues are beyond the second (F,), whether they stand out, and sides of words."""
    gaps, is_clear, sides = np.zeros(len(sums)), np.zeros(len(sums), dtype=bool), []
    for k, words in enumerate(chosen):
        side = np.full(n_words, 0.5)
        pairs, noise = sums[k, : len(words), : len(words)], np.sqrt(sums[k, 0, -1])
        frequency = np.diag(pairs)
        used = np.flatnonzero(frequency > 0)
        if len(used) >= MIN_WORDS and noise > 0:
            values, vectors = find_directions(pairs[np.ix_(used, used)], 2)
            gaps[k] = (values[1] - values[0]) / noise
            is_clear[k] = gaps[k] >= MIN_GAP and values[1] >= MIN_RATIO * values[0]
            root = np.sqrt(frequency[used] / frequency.sum())
            side[words[used]] = np.clip(0.5 + 0.5 * vectors[:, 1] / root, MIN_SIDE, 1.0 - MIN_SIDE)
        sides.append(side)
    return gaps, is_clear, sides


def find_directions(pairs: Array, n: int) -> tuple[Array, Array]:
    """Return the n largest eigenvalues, ascending, of products of words beyond their frequencies, and eigenvectors.

    `pairs` (W, W) has the products of two words below the diagonal, and the tokens of each word on it.
    """
    frequency, W = np.diag(pairs), len(pairs)
    total = frequency.sum()
    root = np.sqrt(frequency / total)
    M = np.tril(pairs, -1)
    M = (M + M.T) / np.outer(root, root) - total * np.outer(root, root)
    values, vectors = eigh(M, subset_by_index=[W - n, W - 1])
    return values, vectors * np.sign(vectors[abs(vectors).argmax(axis=0), np.arange(n)])  # the sign is arbitrary


def measure_presence(documents: Array) -> Array:
    """Return the mean part of a document that a topic has where one of its tokens is (F,), from tokens (N, F)."""
    squares, total = sum_presence(documents)
    return np.divide(squares, total, out=np.zeros_like(total), where=total > 0)


def sum_presence(documents: Array) -> Array:
    """Return the sums (2, F) whose ratio is the presence of each topic, from tokens (N, F)."""
    lengths = documents.sum(axis=1)
    weights = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return np.vstack([np.einsum("ij,ij,i->j", documents, documents, weights), documents.sum(axis=0)])


def apply_splits(splits: list[Split], words: Array, documents: Array, kept: Array) -> None:
    """Give the tokens of each split topic to its two parts, in place; of documents (N, F + 1), half to each."""
    for topic, spare, part, _ in splits:
        for counts in (words, kept):
            counts[:, spare] = counts[:, topic] * part
            counts[:, topic] *= 1.0 - part
        documents[:, topic] *= 0.5
        documents[:, spare] = documents[:, topic]
