"""Topics re-estimated from the documents, by rounds of coordinate descent on ‖D − WCᵀ‖² over W ≥ 0 and C ≥ 0.

The volume problem sees only the span of U; words that U hardly knows come out of it with whatever sign and
overlap the noise left. Given the weights W of the documents, the topics that explain the documents best are
least squares of their own, word by word. That has an error of its own, from the noise in W, which does not
fall with the number of documents; so each word's two estimates are averaged by how well U knows the word.
On exact data nothing changes.

In some rounds a document is weighed by one sweep over the topics, the largest topic first: it takes all it
can explain, and the smaller ones explain what is left. Else a large class of documents is shared out among its
subjects, and small classes get no topic of their own. A topic is as large as the part of the documents that it
explained in the last round that treated all topics alike. Such rounds come between, and at the end, where
they undo most of the bias of the others where documents are true mixtures. Where the caller says that they are,
with the unbiased P of counts, these are the only ones.

Most words are so rare that they hardly tell what a document is about. The first rounds go without them: they would
cost most of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anchorless.documents import Array, Documents, in_threads, tree_sum
from anchorless.progress import steps
from anchorless.topics import as_pmf
from anchorless.weights import coordinate_descent, nonnegative_least_squares
from anchorless.wordwise import BothSides

#: The signal-to-noise ratio of a word at which both estimates count the same.
EVEN_RATIO = 3000.0
#: Instead of a number of sweeps: least squares solved to the end. On true mixtures a few sweeps are not enough.
EXACTLY = 0


class Rounds(NamedTuple):
    """The sweeps over the topics in each round: first those on the words that carry the documents, then on all."""

    on_few: tuple[int, ...]
    on_all: tuple[int, ...]


ALIKE = Rounds((), (EXACTLY, EXACTLY, EXACTLY))
#: Rounds of one sweep, in which the largest topics take what they can, between rounds that treat them nearly alike.
LARGEST_FIRST = Rounds((4, 4, 4, 1, 1, 1, 1, 1, 1), (4, 4))

#: The words that carry the documents have this share of their squares,
CARRIED = 0.9
#: are at least so many, since fewer cost nothing,
LEAST_WORDS = 5_000
#: and have at least this share of every topic: else all words carry.
OF_A_TOPIC = 0.5
#: Squares that differ by less than this share are equal but for rounding.
EQUAL = 1e-9

#: All words carry where documents have more entries than this for each word and topic.
ENTRIES_PER_ROW = 4
#: Topics below which steps on the words' rows are so short that threads would wait for each other's interpreter lock.
TOPICS_FOR_THREADS = 64
#: Numbers in a slice of the topics' rows, which one thread takes at a time: they stay in its cache.
ENTRIES_PER_SLICE = 2**18

Indices = npt.NDArray[np.intp]


class Corpus(NamedTuple):
    """Documents, their products by document and by word where they are held twice, and how many threads walk over."""

    documents: Documents
    sides: BothSides | None
    n_threads: int

    def row_threads(self, n_topics: int) -> int:
        """Return how many threads shall fit the words' rows to the weights."""
        return self.n_threads if n_topics >= TOPICS_FOR_THREADS else 1

    def narrowed(self, chosen: Indices) -> Corpus:
        """Return the documents with the chosen words alone."""
        if len(chosen) == self.documents.shape[1]:
            return self
        documents = self.documents.mapped(lambda D: D[:, chosen], len(chosen))
        return Corpus(documents, self.sides and self.sides.narrowed(documents, chosen), self.n_threads)


class Estimate(NamedTuple):
    """Topics C (V, F), columns that sum to one, and their order by size."""

    C: Array
    order: Indices


def refined(
    documents: Documents,
    from_volume: Array,
    ratio: Array,
    rounds: Rounds,
    n_threads: int,
    sides: BothSides | None = None,
) -> Array:
    """Return topics (V, F), columns that sum to one, from the volume's and the words' signal-to-noise ratios (V,).

    `sides` are the documents, where they are held twice.
    """
    C, _ = as_pmf(from_volume)
    trust = volume_trust(ratio)[:, None]
    if np.all(trust == 1.0):
        return C
    corpus = Corpus(documents, sides, n_threads)
    total, squares, frequency = documents.add_up(word_sums, n_threads)
    now = Estimate(C, largest_first((total @ C) / np.linalg.norm(C, axis=0)))
    sweeps = steps("refinement", (*rounds.on_few, *rounds.on_all), len(rounds.on_few) + len(rounds.on_all))
    if rounds.on_few:
        # Where entries are many times the words' rows, these cost little beside them.
        rows_count = frequency.sum() < ENTRIES_PER_ROW * C.size
        chosen = carrying_words(squares, C) if rows_count else np.arange(len(C))
        mass = C[chosen].sum(axis=0)
        few = Estimate(C[chosen] / mass, now.order)
        first = islice(sweeps, len(rounds.on_few))
        few = after_rounds(corpus.narrowed(chosen), few, from_volume[chosen] / mass, trust[chosen], first)
        C[chosen] = few.C * mass
        now = Estimate(C, few.order)
    return after_rounds(corpus, now, from_volume, trust, sweeps).C


def word_sums(D: Any) -> Array:
    """Return the sum of each word's entries, that of their squares, and their number (3, V)."""
    return np.stack([np.bincount(D.indices, each, D.shape[1]) for each in (D.data, D.data * D.data, None)])


def carrying_words(squares: Array, C: Array) -> Indices:
    """Return the words that carry CARRIED of the documents' squares (V,), in their order, or all words.

    All, where a topic of C (V, F) would lose most of its words.
    """
    ordered = -np.sort(-squares)
    reached = np.cumsum(ordered)
    n_words = max(1 + np.searchsorted(reached, CARRIED * reached[-1]), LEAST_WORDS)
    if n_words >= len(C):
        return np.arange(len(C))
    # Equals are all in: which of them came first would depend on the order of words and documents.
    chosen = np.flatnonzero(squares >= (1.0 - EQUAL) * ordered[n_words - 1])
    if C[chosen].sum(axis=0).min() < OF_A_TOPIC:
        return np.arange(len(C))
    return chosen


def after_rounds(corpus: Corpus, now: Estimate, from_volume: Array, trust: Array, rounds: Iterable[int]) -> Estimate:
    """Return topics and order after rounds of so many sweeps each."""
    C, order = now
    for sweeps in rounds:
        found, size = descended(corpus, C, order, sweeps)
        if sweeps != 1:
            order = largest_first(size)
        C = averaged(from_volume, found, trust, corpus.row_threads(C.shape[1]))
    return Estimate(C, order)


def averaged(from_volume: Array, from_documents: Array, trust: Array, n_threads: int) -> Array:
    """Return the average of the two estimates, clipped and with columns that sum to one, in place of the second."""
    C = from_documents

    def average(rows: slice) -> Array:
        part = C[rows]
        part += trust[rows] * (from_volume[rows] - part)
        np.maximum(part, 0.0, out=part)
        return part.sum(axis=0)

    def normalise(rows: slice) -> None:
        C[rows] /= mass

    parts = row_slices(*C.shape)
    mass = sum(in_threads(average, parts, n_threads), start=np.zeros(C.shape[1]))
    for _ in in_threads(normalise, parts, n_threads):
        pass
    return C


def row_slices(n_rows: int, n_topics: int) -> list[slice]:
    """Cut the words so that the rows of a slice stay in the cache; the cuts do not depend on the threads."""
    step = max(1, ENTRIES_PER_SLICE // n_topics)
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def largest_first(size: Array) -> Indices:
    """Return the order of the topics by size."""
    return np.argsort(-size, kind="stable")


def volume_trust(ratio: Array) -> Array:
    """Return the share of the volume's estimate in each word: 1 where U knows the word, 0 where it does not (V,)."""
    finite = np.minimum(ratio, 1e300)
    return finite / (finite + EVEN_RATIO)


def descended(corpus: Corpus, C: Array, order: Indices, sweeps: int) -> tuple[Array, Array]:
    """Weigh the documents by `sweeps` over the topics C (V, F) in this order; return C after one sweep on them.

    With EXACTLY, both are least squares solved to the end. Columns are not normalised. A topic that no document
    uses keeps its words. Also returned: the sum of squares of each topic's part of the documents (F,).
    """
    parts, n_threads = row_slices(*C.shape), corpus.row_threads(C.shape[1])
    gram = sum(in_threads(lambda rows: C[rows].T @ C[rows], parts, n_threads), start=np.zeros((C.shape[1],) * 2))
    gram = ((gram + gram.T) / 2)[np.ix_(order, order)]

    def weigh(DC: Array) -> Array:
        targets = np.take(DC, order, axis=1)
        return coordinate_descent(gram, targets, sweeps) if sweeps else nonnegative_least_squares(gram, targets)

    targets, inner = word_targets(corpus, C, weigh)
    fit_words = one_sweep if sweeps else least_squares
    found = np.empty_like(C)

    def fit(rows: slice) -> Array:
        part = fit_words(np.take(C[rows], order, axis=1), targets[rows], inner)
        found[rows, order] = part
        return part.sum(axis=0)

    mass = sum(in_threads(fit, parts, n_threads), start=np.zeros(len(order)))
    lost = order[mass <= 0]
    found[:, lost] = C[:, lost]
    size = np.empty(len(order))
    size[order] = np.diag(inner) * np.diag(gram)
    return found, size


def word_targets(corpus: Corpus, C: Array, weigh: Callable[[Array], Array]) -> tuple[Array, Array]:
    """Return DᵀW and WᵀW, for the weights W that `weigh` gives the documents of a block from their rows of DC."""
    if corpus.sides is not None:
        weights = [*corpus.documents.map_blocks(lambda D: weigh(D @ C), corpus.n_threads)]
        inner = tree_sum(W.T @ W for W in weights)
        return corpus.sides.added_up(weights), (inner + inner.T) / 2

    def statistics(D: Any) -> Array:
        W = weigh(D @ C)
        return np.vstack([D.T @ W, W.T @ W])

    sums = corpus.documents.add_up(statistics, corpus.n_threads)
    inner = sums[len(C) :]
    return sums[: len(C)], (inner + inner.T) / 2


def one_sweep(C: Array, targets: Array, gram: Array) -> Array:
    """Minimise ½cGcᵀ − b·c for each row of C (V, F) over one topic after the other, from C; b the row of `targets`."""
    used = used_topics(gram)
    if np.all(used):
        return coordinate_descent(gram, targets, 1, C)
    found = C.copy()
    others = C[:, ~used] @ gram[np.ix_(~used, used)]
    found[:, used] = coordinate_descent(gram[np.ix_(used, used)], targets[:, used] - others, 1, C[:, used])
    return found


def least_squares(C: Array, targets: Array, gram: Array) -> Array:
    """Minimise the same over all topics that are used at once, to the end."""
    used = used_topics(gram)
    found = C.copy()
    found[:, used] = nonnegative_least_squares(gram[np.ix_(used, used)], np.ascontiguousarray(targets[:, used]))
    return found


def used_topics(gram: Array) -> npt.NDArray[np.bool_]:
    """Return which topics any document uses, by the sums of squares of their weights."""
    return np.asarray(np.diag(gram) > 1e-12 * np.diag(gram).max())
