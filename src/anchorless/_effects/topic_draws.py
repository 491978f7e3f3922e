"""Draws of the topics from their posterior, and the shares that documents have under each.

The fit is biased where documents are short or topics correlated, and a chain of draws leaves that bias
(`token_posterior`), which takes a hundred sweeps and more where topics share most of their words. With short documents,
which tell little of their mixtures, long chains drift along what the documents do not tell. So there are more sweeps
for longer documents, as far as they are not too expensive. The numbers were chosen on planted corpora, with seeds that
no table reports on.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anchorless._core.proportions import compute_projection
from anchorless._core.token_model import TokenTopics
from anchorless._core.token_posterior import TokenPosterior
from anchorless._corpus.documents import Array, Documents, allocate_array
from anchorless.progress import report_progress

#: Sweeps from the fit before the first draw: for each token of a document of mean length, at least, and at most.
SWEEPS_PER_TOKEN, LEAST_FIRST_SWEEPS, MOST_FIRST_SWEEPS = 2.0, 20, 150
#: Sweeps from one draw to the next.
SWEEPS_PER_DRAW = 2
#: Tokens times topics that these sweeps go through at most: about a minute of one core.
MOST_FIRST_WORK = 1e10


class TopicDraws(NamedTuple):
    """The fitted topics (F, V), and draws of them (n, F, V), in single precision."""

    fitted: Array
    drawn: npt.NDArray[np.float32]

    @property
    def mean(self) -> Array:
        """The mean of the draws (F, V)."""
        return np.asarray(self.drawn.mean(axis=0, dtype=np.float64))


def draw_topics(counts: Documents, topics: TokenTopics, n_draws: int, seed: int, n_threads: int) -> TopicDraws:
    """Draw topics that could have generated the documents."""
    chain = TokenPosterior(counts, topics, seed, n_threads)
    shape = (n_draws, *topics.topic_word.shape)
    drawn = allocate_array(shape, on_disk=not counts.in_memory, dtype=np.float32)
    n_first = count_first_sweeps(chain.lengths.mean(), chain.lengths.sum() * len(topics.alpha))
    n_sweeps = n_first + SWEEPS_PER_DRAW * n_draws
    for done in range(1, n_sweeps + 1):
        chain.sweep()
        number, rest = divmod(done - n_first, SWEEPS_PER_DRAW)
        if number > 0 and rest == 0:
            drawn[number - 1] = chain.topic_word
        report_progress("topics", done, n_sweeps)
    return TopicDraws(topics.topic_word, drawn)


def count_first_sweeps(length: float, work: float) -> int:
    """Return the number of sweeps before the first draw, for a mean length of documents, and tokens times topics."""
    number = min(SWEEPS_PER_TOKEN * length, MOST_FIRST_WORK / max(work, 1.0))
    return int(np.clip(number, LEAST_FIRST_SWEEPS, MOST_FIRST_SWEEPS))


def project_documents(counts: Documents, solve: Array, n_threads: int, positions: Any = None) -> Array:
    """Return shares (n, T) of documents by a projection (V, T), on disk if they are; zero for one without words.

    Documents are all, or those at some positions in increasing order.
    """
    positions = np.arange(counts.shape[0]) if positions is None else positions
    result = allocate_array((len(positions), solve.shape[1]), on_disk=not counts.in_memory)
    first = 0
    for shares, _ in project_blocks(counts, solve, n_threads):
        here = slice(*np.searchsorted(positions, [first, first + len(shares)]))
        result[here] = shares[positions[here] - first]
        first += len(shares)
    return result


def project_blocks(counts: Documents, solve: Array, n_threads: int) -> Iterator[tuple[Array, Any]]:
    """Yield the shares (n, T) of the documents of each block by a projection (V, T), and which have words (n,)."""
    return counts.map_blocks(partial(project_block, solve=solve), n_threads)


def project_block(X: Any, solve: Array) -> tuple[Array, Any]:
    """Return the shares (n, T) of the documents of a block, and which have words (n,)."""
    lengths = count_tokens(X)
    return divide_by_length(X @ solve, lengths), lengths > 0


def sum_frequencies(counts: Documents, rows: Array, n_threads: int) -> Array:
    """Return Σ_d rows_d · (word frequencies of d), (P, V), for numbers (N, P) of each document."""

    def add(X: Any, some: Array) -> tuple[Array, Array]:
        return some, np.asarray((X.T @ divide_by_length(some, count_tokens(X))).T)

    return counts.update_rows(add, rows, n_threads)


def count_lengths(counts: Documents, n_threads: int) -> Array:
    """Return the number of tokens of each document (N,)."""
    return np.concatenate([*counts.map_blocks(count_tokens, n_threads)])


def count_tokens(X: Any) -> Array:
    """Return the number of tokens of each document of a block."""
    return np.asarray(X.sum(axis=1), dtype=np.float64).ravel()


def divide_by_length(values: Array, lengths: Array) -> Array:
    """Return rows (n, T) divided by lengths (n,), zero where a length is zero."""
    return np.divide(values, lengths[:, None], out=np.zeros_like(values), where=lengths[:, None] > 0)


def iter_projections(draws: TopicDraws) -> Iterator[Array]:
    """Yield the projection (V, F) of each draw."""
    for topic_word in draws.drawn:
        yield compute_projection(topic_word.astype(np.float64))
