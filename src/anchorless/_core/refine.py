"""Refine topics with the documents, by rounds of coordinate descent on ‖D − WCᵀ‖² over W ≥ 0 and C ≥ 0.

The volume problem uses only the span of U, so it says little about words whose rows of U are unreliable. The topics
that explain the documents best, given their weights W, have an error that comes from the noise in W and does not fall
with the number of documents. So both estimates of each word are averaged by the reliability of its row of U. On exact
data nothing changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anchorless._core.nnls import coordinate_descent, solve_nnls
from anchorless._core.products import DocumentProducts
from anchorless._core.topics import argsort_descending, to_pmf
from anchorless._corpus.documents import Array, WordSums
from anchorless._corpus.threads import ThreadTeam, call_interruptibly
from anchorless.progress import track

#: The signal-to-noise ratio of a word at which both estimates have the same weight.
EVEN_RATIO = 3000.0


class Sweeps(NamedTuple):
    """Sweeps of one round over the topics: for the weights of the documents, then for the words."""

    documents: int
    words: int = 1


class Rounds(NamedTuple):
    """The sweeps of each round: first the rounds on the main words, then those on all words."""

    on_main_words: tuple[Sweeps, ...]
    on_all_words: tuple[Sweeps, ...]


#: Solve the least squares exactly instead of by sweeps: on true mixtures a few sweeps are not enough.
EXACT_SWEEPS = Sweeps(0, 0)
EQUAL_ROUNDS = Rounds((), (EXACT_SWEEPS, EXACT_SWEEPS, EXACT_SWEEPS))
#: In rounds of one sweep the largest topics take all that they can explain: otherwise several topics would share a
#: large class of documents. Rounds of more sweeps treat topics nearly alike; they tell the sizes and remove the bias.
LARGEST_FIRST_ROUNDS = Rounds((*[Sweeps(4)] * 2, *[Sweeps(1, words=2)] * 4), (Sweeps(4, words=2),))

#: Most words are rare, say little about a document and cost most of the time: the first rounds omit all but the main
#: words. These have this share of the squares of the documents,
MAIN_SQUARES_SHARE = 0.7
#: are at least this many, since fewer save no time,
MIN_MAIN_WORDS = 8_000
#: and have at least this share of every topic; otherwise all words are main words.
MIN_TOPIC_SHARE = 0.5
#: Squares that differ by less than this share are equal except for rounding.
TIE_TOLERANCE = 1e-9

#: With more non-zeros than this per word and topic, omitting words saves little, and all words are main words.
ENTRIES_PER_ROW = 4
#: Entries in a slice of the topics, the work that a thread takes at a time: they stay in its cache.
ENTRIES_PER_SLICE = 2**18

Indices = npt.NDArray[np.intp]


def refine_topics(
    products: DocumentProducts, from_volume: Array, ratio: Array, rounds: Rounds, sums: WordSums
) -> Array:
    """Return topics (V, F), columns sum to one, from those of the volume and the words' signal-to-noise ratios."""
    volume_weight = compute_volume_weight(ratio)[:, None]
    if np.all(volume_weight == 1.0):
        return np.ascontiguousarray(to_pmf(from_volume))
    C = np.empty(from_volume.shape)
    normalize_columns(C, lambda rows: np.maximum(from_volume[rows], 0.0, out=C[rows]), products.team)
    order = argsort_descending((sums.total @ C) / np.sqrt(np.einsum("ij,ij->j", C, C)))
    n_first = len(rounds.on_main_words)
    sweeps = track("refinement", (*rounds.on_main_words, *rounds.on_all_words), n_first + len(rounds.on_all_words))
    if n_first:
        saves_time = sums.frequency.sum() < ENTRIES_PER_ROW * C.size
        chosen = select_main_words(sums.squares, C) if saves_time else np.arange(len(C))
        few, volume, mass = call_interruptibly(scale_words, C, from_volume, chosen)
        narrow = products.select_words(chosen) if len(chosen) < len(C) else products
        few, order = run_rounds(narrow, few, order, volume, volume_weight[chosen], islice(sweeps, n_first))
        few *= mass
        C[chosen] = few
    return run_rounds(products, C, order, from_volume, volume_weight, sweeps)[0]


def scale_words(C: Array, from_volume: Array, chosen: Indices) -> tuple[Array, Array, Array]:
    """Return the chosen rows of both arrays, scaled so that the first have columns of sum one, and the sums before."""
    few, volume = C[chosen], from_volume[chosen]
    mass = few.sum(axis=0)
    few /= mass
    volume /= mass
    return few, volume, mass


def select_main_words(squares: Array, C: Array) -> Indices:
    """Return the positions of the main words, by their squares (V,); all, if a topic of C would lose most of itself."""
    ordered = -np.sort(-squares)
    reached = np.cumsum(ordered)
    n_words = max(1 + np.searchsorted(reached, MAIN_SQUARES_SHARE * reached[-1]), MIN_MAIN_WORDS)
    if n_words >= len(C):
        return np.arange(len(C))
    # All ties are included: which of them comes first depends on the order of words and documents.
    chosen = np.flatnonzero(squares >= (1.0 - TIE_TOLERANCE) * ordered[n_words - 1])
    return chosen if C[chosen].sum(axis=0).min() >= MIN_TOPIC_SHARE else np.arange(len(C))


def run_rounds(
    products: DocumentProducts, C: Array, order: Indices, from_volume: Array, weight: Array, rounds: Iterable[Sweeps]
) -> tuple[Array, Indices]:
    """Return topics (V, F), averaged with those of the volume after each of these rounds, and their order by size."""

    def average(rows: slice) -> Array:
        part = C[rows]
        part += weight[rows] * (from_volume[rows] - part)
        return np.maximum(part, 0.0, out=part)

    for sweeps in rounds:
        C, size = run_round(products, C, sweeps, order)
        normalize_columns(C, average, products.team)
        if sweeps.documents != 1:
            order = argsort_descending(size)
    return C, order


def normalize_columns(C: Array, write_rows: Callable[[slice], Array], team: ThreadTeam) -> None:
    """Scale the columns of C to sum to one, after `write_rows` has written each slice of rows, which it returns."""
    parts = split_rows(*C.shape)
    mass = sum(team.map(lambda rows: write_rows(rows).sum(axis=0), parts), start=np.zeros(C.shape[1]))
    team.map(lambda rows: np.divide(C[rows], mass, out=C[rows]), parts)


def split_rows(n_rows: int, n_topics: int) -> list[slice]:
    """Return slices of words whose rows stay in the cache; they do not depend on the number of threads."""
    n_slices = math.ceil(n_rows * n_topics / ENTRIES_PER_SLICE)
    n_slices += n_slices % 2 if n_slices > 1 else 0  # an even number, as the number of threads usually is
    bounds = np.linspace(0, n_rows, n_slices + 1).astype(int).tolist()
    return [slice(start, stop) for start, stop in pairwise(bounds)]


def compute_volume_weight(ratio: Array) -> Array:
    """Return the weight of the volume's estimate of each word (V,): 1 if its row of U is exact, 0 if it is noise."""
    finite = np.minimum(ratio, 1e300)
    return finite / (finite + EVEN_RATIO)


def run_round(
    products: DocumentProducts, C: Array, sweeps: Sweeps, order: Indices | None = None
) -> tuple[Array, Array]:
    """Return the topics after sweeps in `order` for document weights, then word rows, and the topics' sizes (F,)."""
    # Columns are not normalized. A topic that no document uses keeps its words.
    parts = split_rows(*C.shape)
    gram = sum(products.team.map(lambda rows: C[rows].T @ C[rows], parts), start=np.zeros((C.shape[1],) * 2))
    gram = (gram + gram.T) / 2
    targets, inner = products.sum_statistics(C, lambda DC: solve_document_weights(gram, DC, sweeps, order))
    inner = (inner + inner.T) / 2

    def fit(rows: slice) -> Array:
        targets[rows] = solve_word_rows(C[rows], targets[rows], inner, sweeps, order)
        return targets[rows].sum(axis=0)

    unused = sum(products.team.map(fit, parts), start=np.zeros(C.shape[1])) <= 0
    targets[:, unused] = C[:, unused]
    return targets, np.diag(inner) * np.diag(gram)


def solve_document_weights(gram: Array, targets: Array, sweeps: Sweeps, order: Indices | None) -> Array:
    """Return the weights W (n, F) of documents from their rows of DC, by sweeps in `order`, or exactly."""
    if sweeps == EXACT_SWEEPS:
        return solve_nnls(gram, targets)
    return coordinate_descent(gram, targets, sweeps.documents, order=order)


def solve_word_rows(C: Array, targets: Array, gram: Array, sweeps: Sweeps, order: Indices | None = None) -> Array:
    """Minimize ½cGcᵀ − b·c over each row c of C (V, F), by sweeps or exactly; b is the row of `targets`."""
    used = np.asarray(np.diag(gram) > 1e-12 * np.diag(gram).max())
    if not np.all(used):  # topics that no document uses keep their words
        found = C.copy()
        rest = targets[:, used] - C[:, ~used] @ gram[np.ix_(~used, used)]
        inside = None if order is None else np.searchsorted(np.flatnonzero(used), order[used[order]])
        found[:, used] = solve_word_rows(C[:, used], rest, gram[np.ix_(used, used)], sweeps, inside)
        return found
    if sweeps == EXACT_SWEEPS:
        return solve_nnls(gram, targets)
    return coordinate_descent(gram, targets, sweeps.words, C, order)
