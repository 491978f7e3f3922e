"""Refine topics with the documents, by rounds of coordinate descent on ‖D − WCᵀ‖² over W ≥ 0 and C ≥ 0.

The volume problem uses only the span of U, so the estimates of words whose rows of U are unreliable are mostly noise.
Given the weights W of the documents, the topics that explain the documents best are a least squares problem for each
word. Its error comes from the noise in W and does not fall with the number of documents; so the two estimates of each
word are averaged by the reliability of its row of U. On exact data nothing changes.

In some rounds the weights of a document come from one sweep over the topics, the largest first: it takes all that it
can explain, and the smaller ones explain the rest. Otherwise a large class of documents is divided among several
topics, and small classes get no topic of their own. The size of a topic is the part of the documents that it explained
in the last round that treated all topics alike. Such rounds come first, and again at the end, where they remove most
of the bias of the others if documents are true mixtures. If the caller says that they are, by the unbiased P of
counts, there are no other rounds.

Most words are so rare that they say little about a document but cost most of the time: the first rounds omit them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import islice, pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anchorless._core.nnls import coordinate_descent, solve_nnls
from anchorless._core.topics import argsort_descending, to_pmf
from anchorless._core.transposed import ColumnBlocks
from anchorless._corpus.documents import Array, Documents, WordSums, compute_word_sums, tree_sum
from anchorless._corpus.threads import ThreadTeam
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
#: Rounds of one sweep, in which the largest topics take what they can, between rounds that treat topics nearly alike.
#: A second sweep over the words costs a tenth of a round and saves every third round.
LARGEST_FIRST_ROUNDS = Rounds((*[Sweeps(4)] * 2, *[Sweeps(1, words=2)] * 4), (Sweeps(4, words=2),))

#: The main words have this share of the squares of the documents,
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


class RefineInput(NamedTuple):
    """Documents, the same stored by column if there is memory for it, and the threads."""

    documents: Documents
    column_blocks: ColumnBlocks | None
    team: ThreadTeam

    def select_words(self, chosen: Indices) -> RefineInput:
        """Return the documents with the chosen words alone, stored by column only if they are stored twice."""
        if len(chosen) == self.documents.shape[1]:
            return self
        if self.column_blocks is not None:
            return self._replace(column_blocks=self.column_blocks.select_words(chosen))
        return self._replace(documents=self.documents.transform_blocks(lambda D: D[:, chosen], len(chosen)))


class Estimate(NamedTuple):
    """Topics C (V, F), whose columns sum to one, and their order by size."""

    C: Array
    order: Indices


def refine_topics(
    documents: Documents,
    from_volume: Array,
    ratio: Array,
    rounds: Rounds,
    n_threads: int,
    column_blocks: ColumnBlocks | None = None,
    sums: WordSums | None = None,
) -> Array:
    """Return refined topics (V, F), whose columns sum to one.

    `from_volume` (V, F) is the volume's estimate and `ratio` (V,) the words' signal-to-noise ratios. `column_blocks`
    are the documents stored by column, and `sums` the word sums over them, if known.
    """
    volume_weight = compute_volume_weight(ratio)[:, None]
    if np.all(volume_weight == 1.0):
        return np.ascontiguousarray(to_pmf(from_volume))
    corpus = RefineInput(
        documents, column_blocks, ThreadTeam(n_threads) if column_blocks is None else column_blocks.team
    )
    C = np.empty(from_volume.shape)
    normalize_columns(C, lambda rows: np.maximum(from_volume[rows], 0.0, out=C[rows]), corpus.team)
    total, squares, frequency = compute_word_sums(documents, n_threads) if sums is None else sums
    order = argsort_descending((total @ C) / np.sqrt(np.einsum("ij,ij->j", C, C)))
    sweeps = track(
        "refinement",
        (*rounds.on_main_words, *rounds.on_all_words),
        len(rounds.on_main_words) + len(rounds.on_all_words),
    )
    if rounds.on_main_words:
        saves_time = frequency.sum() < ENTRIES_PER_ROW * C.size
        chosen = select_main_words(squares, C) if saves_time else np.arange(len(C))
        few, volume = C[chosen], from_volume[chosen]
        mass = few.sum(axis=0)
        few /= mass
        volume /= mass
        first = islice(sweeps, len(rounds.on_main_words))
        few, order = run_rounds(corpus.select_words(chosen), Estimate(few, order), volume, volume_weight[chosen], first)
        few *= mass
        C[chosen] = few
    return run_rounds(corpus, Estimate(C, order), from_volume, volume_weight, sweeps).C


def select_main_words(squares: Array, C: Array) -> Indices:
    """Return the positions of the main words, by the words' sums of squares (V,).

    These are all words if a topic of C (V, F) would lose most of its probability.
    """
    ordered = -np.sort(-squares)
    reached = np.cumsum(ordered)
    n_words = max(1 + np.searchsorted(reached, MAIN_SQUARES_SHARE * reached[-1]), MIN_MAIN_WORDS)
    if n_words >= len(C):
        return np.arange(len(C))
    # All ties are included: which of them comes first depends on the order of words and documents.
    chosen = np.flatnonzero(squares >= (1.0 - TIE_TOLERANCE) * ordered[n_words - 1])
    if C[chosen].sum(axis=0).min() < MIN_TOPIC_SHARE:
        return np.arange(len(C))
    return chosen


def run_rounds(
    corpus: RefineInput, now: Estimate, from_volume: Array, volume_weight: Array, rounds: Iterable[Sweeps]
) -> Estimate:
    """Return topics and order after these rounds."""
    C, order = now
    for sweeps in rounds:
        C, size = run_round(corpus, C, sweeps, order)
        average_estimates(from_volume, C, volume_weight, corpus.team)
        if sweeps.documents != 1:
            order = argsort_descending(size)
    return Estimate(C, order)


def average_estimates(from_volume: Array, from_documents: Array, volume_weight: Array, team: ThreadTeam) -> None:
    """Replace the second estimate by the average of both, clipped and with columns that sum to one."""

    def average(rows: slice) -> Array:
        part = from_documents[rows]
        part += volume_weight[rows] * (from_volume[rows] - part)
        return np.maximum(part, 0.0, out=part)

    normalize_columns(from_documents, average, team)


def normalize_columns(C: Array, write_rows: Callable[[slice], Array], team: ThreadTeam) -> None:
    """Scale the columns of C to sum to one, after `write_rows` has written each slice of rows, which it returns."""

    def divide(rows: slice) -> None:
        C[rows] /= mass

    parts = split_rows(*C.shape)
    mass = sum(team.map(lambda rows: write_rows(rows).sum(axis=0), parts), start=np.zeros(C.shape[1]))
    team.map(divide, parts)


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


def run_round(corpus: RefineInput, C: Array, sweeps: Sweeps, order: Indices | None = None) -> tuple[Array, Array]:
    """Compute document weights, then word rows, by sweeps over the topics C (V, F) in `order`; return the new C.

    With `EXACT_SWEEPS`, both are solved exactly. Columns are not normalized. A topic that no document uses keeps its
    words. Also returned: the sum of squares of each topic's part of the documents (F,).
    """
    parts = split_rows(*C.shape)
    gram = sum(corpus.team.map(lambda rows: C[rows].T @ C[rows], parts), start=np.zeros((C.shape[1],) * 2))
    gram = (gram + gram.T) / 2
    targets, inner = compute_word_targets(corpus, C, lambda DC: solve_document_weights(gram, DC, sweeps, order))

    def fit(rows: slice) -> Array:
        targets[rows] = solve_word_rows(C[rows], targets[rows], inner, sweeps, order)
        return targets[rows].sum(axis=0)

    mass = sum(corpus.team.map(fit, parts), start=np.zeros(C.shape[1]))
    unused = mass <= 0
    targets[:, unused] = C[:, unused]
    return targets, np.diag(inner) * np.diag(gram)


def solve_document_weights(gram: Array, targets: Array, sweeps: Sweeps, order: Indices | None) -> Array:
    """Return the weights W (n, F) of documents from their rows of DC, by sweeps in `order`, or exactly."""
    if sweeps == EXACT_SWEEPS:
        return solve_nnls(gram, targets)
    return coordinate_descent(gram, targets, sweeps.documents, order=order)


def compute_word_targets(corpus: RefineInput, C: Array, solve_weights: Callable[[Array], Array]) -> tuple[Array, Array]:
    """Return DᵀW (V, F) and WᵀW (F, F); `solve_weights` returns W for the rows of DC of a block."""
    if corpus.column_blocks is not None:
        weights = corpus.column_blocks.map_products(C, solve_weights)
        inner = tree_sum(W.T @ W for W in weights)
        return corpus.column_blocks.write_transposed_product(weights, np.empty(C.shape)), (inner + inner.T) / 2
    targets, inner = sum_document_statistics(corpus.documents, C, solve_weights, corpus.team.n_threads)
    return targets, (inner + inner.T) / 2


def sum_document_statistics(
    documents: Documents, C: Array, solve_weights: Callable[[Array], Array], n_threads: int
) -> tuple[Array, Array]:
    """Return DᵀW (V, F) and WᵀW (F, F) in one pass over the blocks."""

    def compute_statistics(D: Any) -> Array:
        W = solve_weights(D @ C)
        return np.vstack([D.T @ W, W.T @ W])

    sums = documents.sum_blocks(compute_statistics, n_threads)
    return sums[: len(C)], sums[len(C) :]


def solve_word_rows(C: Array, targets: Array, gram: Array, sweeps: Sweeps, order: Indices | None) -> Array:
    """Minimize ½cGcᵀ − b·c over each row c of C (V, F), by sweeps or exactly; b is the row of `targets`."""
    if sweeps == EXACT_SWEEPS:
        return solve_word_least_squares(C, targets, gram)
    return sweep_topics(C, targets, gram, sweeps.words, order)


def sweep_topics(C: Array, targets: Array, gram: Array, sweeps: int, order: Indices | None = None) -> Array:
    """Approximate the rows of C by sweeps over the topics, in `order`."""
    used = find_used_topics(gram)
    if np.all(used):
        return coordinate_descent(gram, targets, sweeps, C, order)
    found = C.copy()
    others = C[:, ~used] @ gram[np.ix_(~used, used)]
    if order is not None:
        order = np.searchsorted(np.flatnonzero(used), order[used[order]])
    inside = gram[np.ix_(used, used)]
    found[:, used] = coordinate_descent(inside, targets[:, used] - others, sweeps, C[:, used], order)
    return found


def solve_word_least_squares(C: Array, targets: Array, gram: Array) -> Array:
    """Solve for the rows of C exactly, in the topics that documents use."""
    used = find_used_topics(gram)
    found = C.copy()
    found[:, used] = solve_nnls(gram[np.ix_(used, used)], np.ascontiguousarray(targets[:, used]))
    return found


def find_used_topics(gram: Array) -> npt.NDArray[np.bool_]:
    """Return a mask of the topics that documents use, by the sums of squares of their weights."""
    return np.asarray(np.diag(gram) > 1e-12 * np.diag(gram).max())
