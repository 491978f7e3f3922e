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

import math
from collections.abc import Callable, Iterable
from itertools import islice, pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anchorless.documents import Array, Crew, Documents, square_sums, tree_sum
from anchorless.progress import steps
from anchorless.topics import as_pmf
from anchorless.weights import coordinate_descent, nonnegative_least_squares
from anchorless.wordwise import WordSide

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
LARGEST_FIRST = Rounds((4, 4, 4, 1, 1, 1, 1, 1, 1, 4), (4,))

#: The words that carry the documents have this share of their squares,
CARRIED = 0.8
#: are at least so many, since fewer cost nothing,
LEAST_WORDS = 5_000
#: and have at least this share of every topic: else all words carry.
OF_A_TOPIC = 0.5
#: Squares that differ by less than this share are equal but for rounding.
EQUAL = 1e-9

#: All words carry where documents have more entries than this for each word and topic.
ENTRIES_PER_ROW = 4
#: Numbers in a slice of the topics' rows, which one thread takes at a time: they stay in its cache.
ENTRIES_PER_SLICE = 2**18

Indices = npt.NDArray[np.intp]


class Corpus(NamedTuple):
    """Documents, the same by word where they are held twice, and who walks over them."""

    documents: Documents
    sides: WordSide | None
    crew: Crew

    def narrowed(self, chosen: Indices) -> Corpus:
        """Return the documents with the chosen words alone; where they are held twice, only by word."""
        if len(chosen) == self.documents.shape[1]:
            return self
        if self.sides is not None:
            return self._replace(sides=self.sides.narrowed(chosen))
        return self._replace(documents=self.documents.mapped(lambda D: D[:, chosen], len(chosen)))


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
    sides: WordSide | None = None,
) -> Array:
    """Return topics (V, F), columns that sum to one, from the volume's and the words' signal-to-noise ratios (V,).

    `sides` are the documents by word, where they are held twice.
    """
    C = np.ascontiguousarray(as_pmf(from_volume))
    trust = volume_trust(ratio)[:, None]
    if np.all(trust == 1.0):
        return C
    corpus = Corpus(documents, sides, Crew(n_threads) if sides is None else sides.crew)
    total, squares, frequency = documents.add_up(word_sums, n_threads)
    order = largest_first((total @ C) / np.sqrt(np.einsum("ij,ij->j", C, C)))
    sweeps = steps("refinement", (*rounds.on_few, *rounds.on_all), len(rounds.on_few) + len(rounds.on_all))
    if rounds.on_few:
        # Where entries are many times the words' rows, these cost little beside them.
        rows_count = frequency.sum() < ENTRIES_PER_ROW * C.size
        chosen = carrying_words(squares, C) if rows_count else np.arange(len(C))
        few, volume = C[chosen], from_volume[chosen]
        mass = few.sum(axis=0)
        few /= mass
        volume /= mass
        first = islice(sweeps, len(rounds.on_few))
        few, order = after_rounds(corpus.narrowed(chosen), Estimate(few, order), volume, trust[chosen], first)
        few *= mass
        C[chosen] = few
    return after_rounds(corpus, Estimate(C, order), from_volume.copy(), trust, sweeps).C


def word_sums(D: Any) -> Array:
    """Return the sum of each word's entries, that of their squares, and their number (3, V)."""
    return np.vstack([D.T @ np.ones(D.shape[0]), square_sums(D)])


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
    """Return topics and order after rounds of so many sweeps each; both estimates are overwritten."""
    C, order = now
    permute(order, (C, from_volume), corpus.crew)
    for sweeps in rounds:
        C, size = descended(corpus, C, sweeps)
        average(from_volume, C, trust, corpus.crew)
        if sweeps != 1:
            place = np.argsort(order)  # where each topic is
            order = largest_first(size[place])
            permute(place[order], (C, from_volume), corpus.crew)
    permute(np.argsort(order), (C,), corpus.crew)
    return Estimate(C, order)


def average(from_volume: Array, from_documents: Array, trust: Array, crew: Crew) -> None:
    """Replace the second estimate by the average of both, clipped and with columns that sum to one."""
    C = from_documents

    def add(rows: slice) -> Array:
        part = C[rows]
        part += trust[rows] * (from_volume[rows] - part)
        np.maximum(part, 0.0, out=part)
        return part.sum(axis=0)

    def normalise(rows: slice) -> None:
        C[rows] /= mass

    parts = row_slices(*C.shape)
    mass = sum(crew.map(add, parts), start=np.zeros(C.shape[1]))
    crew.map(normalise, parts)


def permute(order: Indices, arrays: Iterable[Array], crew: Crew) -> None:
    """Put the columns of arrays into another order, in place: large arrays cost time to come by."""
    for array in arrays:
        parts = (array[rows] for rows in row_slices(*array.shape))
        crew.map(lambda part: np.copyto(part, np.take(part, order, axis=1)), parts)


def row_slices(n_rows: int, n_topics: int) -> list[slice]:
    """Cut the words so that the rows of a slice stay in the cache; the cuts do not depend on the threads."""
    n_slices = math.ceil(n_rows * n_topics / ENTRIES_PER_SLICE)
    n_slices += n_slices % 2 if n_slices > 1 else 0  # an even number, as that of threads mostly is
    bounds = np.linspace(0, n_rows, n_slices + 1).astype(int).tolist()
    return [slice(start, stop) for start, stop in pairwise(bounds)]


def largest_first(size: Array) -> Indices:
    """Return the order of the topics by size."""
    return np.argsort(-size, kind="stable")


def volume_trust(ratio: Array) -> Array:
    """Return the share of the volume's estimate in each word: 1 where U knows the word, 0 where it does not (V,)."""
    finite = np.minimum(ratio, 1e300)
    return finite / (finite + EVEN_RATIO)


def descended(corpus: Corpus, C: Array, sweeps: int) -> tuple[Array, Array]:
    """Weigh the documents by `sweeps` over the topics C (V, F) in their order; return C after one sweep on them.

    With EXACTLY, both are least squares solved to the end. Columns are not normalised. A topic that no document
    uses keeps its words. Also returned: the sum of squares of each topic's part of the documents (F,).
    """
    parts = row_slices(*C.shape)
    gram = sum(corpus.crew.map(lambda rows: C[rows].T @ C[rows], parts), start=np.zeros((C.shape[1],) * 2))
    gram = (gram + gram.T) / 2

    def weigh(DC: Array) -> Array:
        return coordinate_descent(gram, DC, sweeps) if sweeps else nonnegative_least_squares(gram, DC)

    targets, inner = word_targets(corpus, C, weigh)
    fit_words = one_sweep if sweeps else least_squares

    def fit(rows: slice) -> Array:
        targets[rows] = fit_words(C[rows], targets[rows], inner)
        return targets[rows].sum(axis=0)

    mass = sum(corpus.crew.map(fit, parts), start=np.zeros(C.shape[1]))
    lost = mass <= 0
    targets[:, lost] = C[:, lost]
    return targets, np.diag(inner) * np.diag(gram)


def word_targets(corpus: Corpus, C: Array, weigh: Callable[[Array], Array]) -> tuple[Array, Array]:
    """Return DᵀW and WᵀW, for the weights W that `weigh` gives the documents of a block from their rows of DC."""
    if corpus.sides is not None:
        weights = corpus.sides.each_product(C, weigh)
        inner = tree_sum(W.T @ W for W in weights)
        return corpus.sides.added_up(weights, np.empty(C.shape)), (inner + inner.T) / 2

    def statistics(D: Any) -> Array:
        W = weigh(D @ C)
        return np.vstack([D.T @ W, W.T @ W])

    sums = corpus.documents.add_up(statistics, corpus.crew.n_threads)
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
