"""Topics re-estimated from the documents, by rounds of coordinate descent on ‖D − WCᵀ‖² over W ≥ 0 and C ≥ 0.

The volume problem sees only the span of U; words that U hardly knows come out of it with whatever sign and
overlap the noise left. Given the weights W of the documents, the topics that explain the documents best are
least squares of their own, word by word. That has an error of its own, from the noise in W, which does not
fall with the number of documents; so each word's two estimates are averaged by how well U knows the word.
On exact data nothing changes.

In some rounds a document is weighed by one sweep over the topics, the largest topic first: it takes all it
can explain, and the smaller ones explain what is left. Else a large class of documents is shared out among its
subjects, and small classes get no topic of their own. A topic is as large as the part of the documents that it
explained in the last round that treated all topics alike. Such rounds come first and at the end, where
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

from anchorless._core.nnls import coordinate_descent, solve_nnls
from anchorless._core.topics import to_pmf
from anchorless._core.transposed import ColumnBlocks
from anchorless._corpus.documents import Array, Documents, WordSums, compute_word_sums, tree_sum
from anchorless._corpus.threads import ThreadTeam
from anchorless.progress import track

#: The signal-to-noise ratio of a word at which both estimates count the same.
EVEN_RATIO = 3000.0


class Sweeps(NamedTuple):
    """How often a round goes over the topics: for the weights of the documents, then for the words."""

    documents: int
    words: int = 1


class Rounds(NamedTuple):
    """The sweeps of each round: first of those on the words that carry the documents, then on all."""

    on_main_words: tuple[Sweeps, ...]
    on_all_words: tuple[Sweeps, ...]


#: Instead of sweeps: least squares solved to the end. On true mixtures a few sweeps are not enough.
EXACT_SWEEPS = Sweeps(0, 0)
EQUAL_ROUNDS = Rounds((), (EXACT_SWEEPS, EXACT_SWEEPS, EXACT_SWEEPS))
#: Rounds of one sweep, in which the largest topics take what they can, between rounds that treat them nearly alike.
#: A second sweep over the words costs a tenth of a round and spares every third one.
LARGEST_FIRST_ROUNDS = Rounds((*[Sweeps(4)] * 2, *[Sweeps(1, words=2)] * 4), (Sweeps(4, words=2),))

#: The words that carry the documents have this share of their squares,
MAIN_SQUARES_SHARE = 0.7
#: are at least so many, since fewer cost nothing,
MIN_MAIN_WORDS = 8_000
#: and have at least this share of every topic: else all words carry.
MIN_TOPIC_SHARE = 0.5
#: Squares that differ by less than this share are equal but for rounding.
TIE_TOLERANCE = 1e-9

#: All words carry where documents have more entries than this for each word and topic.
ENTRIES_PER_ROW = 4
#: Numbers in a slice of the topics' rows, which one thread takes at a time: they stay in its cache.
ENTRIES_PER_SLICE = 2**18

Indices = npt.NDArray[np.intp]


class RefineInput(NamedTuple):
    """Documents, the same by word where they are held twice, and who walks over them."""

    documents: Documents
    column_blocks: ColumnBlocks | None
    team: ThreadTeam

    def select_words(self, chosen: Indices) -> RefineInput:
        """Return the documents with the chosen words alone; where they are held twice, only by word."""
        if len(chosen) == self.documents.shape[1]:
            return self
        if self.column_blocks is not None:
            return self._replace(column_blocks=self.column_blocks.select_words(chosen))
        return self._replace(documents=self.documents.transform_blocks(lambda D: D[:, chosen], len(chosen)))


class Estimate(NamedTuple):
    """Topics C (V, F), columns that sum to one, and their order by size."""

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
    """Return topics (V, F), columns that sum to one, from the volume's and the words' signal-to-noise ratios (V,).

    `sides` are the documents by word, where they are held twice, and `sums` those over them, where they are known.
    """
    trust = compute_volume_weight(ratio)[:, None]
    if np.all(trust == 1.0):
        return np.ascontiguousarray(to_pmf(from_volume))
    corpus = RefineInput(
        documents, column_blocks, ThreadTeam(n_threads) if column_blocks is None else column_blocks.team
    )
    C = np.empty(from_volume.shape)
    normalize_columns(C, lambda rows: np.maximum(from_volume[rows], 0.0, out=C[rows]), corpus.team)
    total, squares, frequency = compute_word_sums(documents, n_threads) if sums is None else sums
    order = order_by_size((total @ C) / np.sqrt(np.einsum("ij,ij->j", C, C)))
    sweeps = track(
        "refinement",
        (*rounds.on_main_words, *rounds.on_all_words),
        len(rounds.on_main_words) + len(rounds.on_all_words),
    )
    if rounds.on_main_words:
        # Where entries are many times the words' rows, these cost little beside them.
        rows_count = frequency.sum() < ENTRIES_PER_ROW * C.size
        chosen = select_main_words(squares, C) if rows_count else np.arange(len(C))
        few, volume = C[chosen], from_volume[chosen]
        mass = few.sum(axis=0)
        few /= mass
        volume /= mass
        first = islice(sweeps, len(rounds.on_main_words))
        few, order = run_rounds(corpus.select_words(chosen), Estimate(few, order), volume, trust[chosen], first)
        few *= mass
        C[chosen] = few
    return run_rounds(corpus, Estimate(C, order), from_volume, trust, sweeps).C


def select_main_words(squares: Array, C: Array) -> Indices:
    """Return the words that carry CARRIED of the documents' squares (V,), in their order, or all words.

    All, where a topic of C (V, F) would lose most of its words.
    """
    ordered = -np.sort(-squares)
    reached = np.cumsum(ordered)
    n_words = max(1 + np.searchsorted(reached, MAIN_SQUARES_SHARE * reached[-1]), MIN_MAIN_WORDS)
    if n_words >= len(C):
        return np.arange(len(C))
    # Equals are all in: which of them came first would depend on the order of words and documents.
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
            order = order_by_size(size)
    return Estimate(C, order)


def average_estimates(from_volume: Array, from_documents: Array, volume_weight: Array, team: ThreadTeam) -> None:
    """Replace the second estimate by the average of both, clipped and with columns that sum to one."""

    def averaged(rows: slice) -> Array:
        part = from_documents[rows]
        part += volume_weight[rows] * (from_volume[rows] - part)
        return np.maximum(part, 0.0, out=part)

    normalize_columns(from_documents, averaged, team)


def normalize_columns(C: Array, write_rows: Callable[[slice], Array], team: ThreadTeam) -> None:
    """Let the columns of C sum to one, once `written` has written the rows of a slice, which it returns."""

    def divide(rows: slice) -> None:
        C[rows] /= mass

    parts = split_rows(*C.shape)
    mass = sum(team.map(lambda rows: write_rows(rows).sum(axis=0), parts), start=np.zeros(C.shape[1]))
    team.map(divide, parts)


def split_rows(n_rows: int, n_topics: int) -> list[slice]:
    """Cut the words so that the rows of a slice stay in the cache; the cuts do not depend on the threads."""
    n_slices = math.ceil(n_rows * n_topics / ENTRIES_PER_SLICE)
    n_slices += n_slices % 2 if n_slices > 1 else 0  # an even number, as that of threads mostly is
    bounds = np.linspace(0, n_rows, n_slices + 1).astype(int).tolist()
    return [slice(start, stop) for start, stop in pairwise(bounds)]


def order_by_size(size: Array) -> Indices:
    """Return the order of the topics by size."""
    return np.argsort(-size, kind="stable")


def compute_volume_weight(ratio: Array) -> Array:
    """Return the share of the volume's estimate in each word: 1 where U knows the word, 0 where it does not (V,)."""
    finite = np.minimum(ratio, 1e300)
    return finite / (finite + EVEN_RATIO)


def run_round(corpus: RefineInput, C: Array, sweeps: Sweeps, order: Indices | None = None) -> tuple[Array, Array]:
    """Weigh the documents by sweeps over the topics C (V, F), in `order`; return C after the sweeps for the words.

    With EXACTLY, both are least squares solved to the end. Columns are not normalised. A topic that no document
    uses keeps its words. Also returned: the sum of squares of each topic's part of the documents (F,).
    """
    parts = split_rows(*C.shape)
    gram = sum(corpus.team.map(lambda rows: C[rows].T @ C[rows], parts), start=np.zeros((C.shape[1],) * 2))
    gram = (gram + gram.T) / 2
    targets, inner = compute_word_targets(corpus, C, lambda DC: solve_document_weights(gram, DC, sweeps, order))

    def fit(rows: slice) -> Array:
        targets[rows] = solve_word_rows(C[rows], targets[rows], inner, sweeps, order)
        return targets[rows].sum(axis=0)

    mass = sum(corpus.team.map(fit, parts), start=np.zeros(C.shape[1]))
    lost = mass <= 0
    targets[:, lost] = C[:, lost]
    return targets, np.diag(inner) * np.diag(gram)


def solve_document_weights(gram: Array, targets: Array, sweeps: Sweeps, order: Indices | None) -> Array:
    """Return the weights W of documents, from their rows of DC, by sweeps in `order` or to the end."""
    if sweeps == EXACT_SWEEPS:
        return solve_nnls(gram, targets)
    return coordinate_descent(gram, targets, sweeps.documents, order=order)


def compute_word_targets(corpus: RefineInput, C: Array, solve_weights: Callable[[Array], Array]) -> tuple[Array, Array]:
    """Return DᵀW and WᵀW, for the weights W that `weigh` gives the documents of a block from their rows of DC."""
    if corpus.column_blocks is not None:
        weights = corpus.column_blocks.map_products(C, solve_weights)
        inner = tree_sum(W.T @ W for W in weights)
        return corpus.column_blocks.write_transposed_product(weights, np.empty(C.shape)), (inner + inner.T) / 2

    def statistics(D: Any) -> Array:
        W = solve_weights(D @ C)
        return np.vstack([D.T @ W, W.T @ W])

    sums = corpus.documents.sum_blocks(statistics, corpus.team.n_threads)
    inner = sums[len(C) :]
    return sums[: len(C)], (inner + inner.T) / 2


def solve_word_rows(C: Array, targets: Array, gram: Array, sweeps: Sweeps, order: Indices | None) -> Array:
    """Minimise ½cGcᵀ − b·c for each row of C (V, F), from C, by sweeps or to the end; b the row of `targets`."""
    return (
        solve_word_least_squares(C, targets, gram)
        if sweeps == EXACT_SWEEPS
        else sweep_topics(C, targets, gram, sweeps.words, order)
    )


def sweep_topics(C: Array, targets: Array, gram: Array, sweeps: int, order: Indices | None = None) -> Array:
    """Minimise it over one topic after the other, in `order`."""
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
    """Minimise it over all topics that are used at once."""
    used = find_used_topics(gram)
    found = C.copy()
    found[:, used] = solve_nnls(gram[np.ix_(used, used)], np.ascontiguousarray(targets[:, used]))
    return found


def find_used_topics(gram: Array) -> npt.NDArray[np.bool_]:
    """Return which topics any document uses, by the sums of squares of their weights."""
    return np.asarray(np.diag(gram) > 1e-12 * np.diag(gram).max())
