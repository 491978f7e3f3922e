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
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from anchorless.documents import Array, Documents, in_threads, row_view
from anchorless.progress import steps
from anchorless.topics import as_pmf
from anchorless.weights import coordinate_descent, gram_matrix, nonnegative_least_squares

#: The signal-to-noise ratio of a word at which both estimates count the same.
EVEN_RATIO = 3000.0
#: Instead of a number of sweeps: least squares solved to the end. On true mixtures a few sweeps are not enough.
EXACTLY = 0
#: Sweeps over the topics in each round.
ALIKE = (EXACTLY, EXACTLY, EXACTLY)
#: Rounds of one sweep, in which the largest topics take what they can, between rounds that treat them nearly alike.
LARGEST_FIRST = (4, 4, 4, 1, 1, 1, 1, 1, 1, 4, 4)

#: Numbers in a slice of the topics' rows, which one thread takes at a time: they stay in its cache.
ENTRIES_PER_SLICE = 2**17

Order = npt.NDArray[np.intp]


def refined(
    documents: Documents,
    from_volume: Array,
    ratio: Array,
    rounds: tuple[int, ...],
    n_threads: int,
    words: Any | None = None,
) -> Array:
    """Return topics (V, F), columns that sum to one, from the volume's and the words' signal-to-noise ratios (V,).

    `rounds` has the number of sweeps over the topics that weigh the documents in each round; `words` are the
    documents word by word, where they are held twice.
    """
    C, _ = as_pmf(from_volume)
    trust = volume_trust(ratio)[:, None]
    if np.all(trust == 1.0):
        return C
    total = documents.add_up(lambda D: np.asarray(D.sum(axis=0)).ravel(), n_threads)
    order = largest_first((total @ C) / np.linalg.norm(C, axis=0))
    for sweeps in steps("refinement", rounds, len(rounds)):
        found, size = descended(documents, C, order, sweeps, n_threads, words)
        if sweeps != 1:
            order = largest_first(size)
        C = averaged(from_volume, found, trust, n_threads)
    return C


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


def largest_first(size: Array) -> Order:
    """Return the order of the topics by size."""
    return np.argsort(-size, kind="stable")


def volume_trust(ratio: Array) -> Array:
    """Return the share of the volume's estimate in each word: 1 where U knows the word, 0 where it does not (V,)."""
    finite = np.minimum(ratio, 1e300)
    return finite / (finite + EVEN_RATIO)


def descended(
    documents: Documents, C: Array, order: Order, sweeps: int, n_threads: int, words: Any | None = None
) -> tuple[Array, Array]:
    """Weigh the documents by `sweeps` over the topics C (V, F) in this order; return C after one sweep on them.

    With EXACTLY, both are least squares solved to the end. Columns are not normalised. A topic that no document
    uses keeps its words. Also returned: the sum of squares of each topic's part of the documents (F,).
    """
    parts = row_slices(*C.shape)
    gram = sum(in_threads(lambda rows: C[rows].T @ C[rows], parts, n_threads), start=np.zeros((C.shape[1],) * 2))
    gram = ((gram + gram.T) / 2)[np.ix_(order, order)]

    def weigh(D: Any) -> Array:
        targets = np.take(D @ C, order, axis=1)
        return coordinate_descent(gram, targets, sweeps) if sweeps else nonnegative_least_squares(gram, targets)

    targets_of, inner = word_targets(documents, words, weigh, n_threads)
    fit_words = one_sweep if sweeps else least_squares
    found = np.empty_like(C)

    def fit(rows: slice) -> Array:
        part = fit_words(np.take(C[rows], order, axis=1), targets_of(rows), inner)
        found[rows, order] = part
        return part.sum(axis=0)

    mass = sum(in_threads(fit, parts, n_threads), start=np.zeros(len(order)))
    lost = order[mass <= 0]
    found[:, lost] = C[:, lost]
    size = np.empty(len(order))
    size[order] = np.diag(inner) * np.diag(gram)
    return found, size


def word_targets(
    documents: Documents, words: Any | None, weigh: Callable[[Any], Array], n_threads: int
) -> tuple[Callable[[slice], Array], Array]:
    """Return the rows of DᵀW, by their slice, and WᵀW, for the weights W that `weigh` gives the documents of a block.

    Where the documents are held word by word, each row is computed when it is asked for.
    """
    if words is not None:
        W = np.vstack(list(documents.map_blocks(weigh, n_threads)))
        return lambda rows: row_view(words, rows.start, rows.stop) @ W, gram_matrix(W)
    n_words = documents.shape[1]

    def statistics(D: Any) -> Array:
        W = weigh(D)
        return np.vstack([D.T @ W, W.T @ W])

    sums = documents.add_up(statistics, n_threads)
    inner = sums[n_words:]
    return lambda rows: sums[rows], (inner + inner.T) / 2


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
