"""Mixed membership: what share each topic has in a document, and how much of the document the topics explain."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sized
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from anchorless._core.nnls import compute_gram, solve_nnls
from anchorless._corpus.documents import Array, Documents
from anchorless._corpus.sparse import to_canonical_csr
from anchorless._corpus.threads import map_in_order

Table = TypeVar("Table", bound=Sized)


class Mixtures(NamedTuple):
    """The topics of some documents, a row each."""

    shares: Array  # (n, F): nonnegative rows of sum one, or zero for a document without a known word
    explained: Array  # (n,), in [0, 1]: the part of the document's sum of squares that its topics explain


class BatchMixtures(NamedTuple):
    """The topics of a batch of texts."""

    mixtures: Mixtures
    n_tokens: int  # tokens counted
    n_unknown: int | None  # tokens of words that the model does not know; None where a vectoriser does not tell


def compute_mixtures(D: Any, C: Array, gram: Array) -> Mixtures:
    """Return the mixtures of documents D under topics C (V, F); no row depends on another.

    Weights w ≥ 0 minimise ‖d − Cw‖; shares are w / Σw. At the minimum w·(Cᵀd − CᵀCw) = 0, so that
    (‖d‖² − ‖d − Cw‖²) / ‖d‖² is w·Cᵀd / ‖d‖².
    """
    D = to_canonical_csr(D)
    B = D @ C
    W = solve_nnls(gram, B)
    squares = D.copy()
    squares.data **= 2
    energy = squares @ np.ones(D.shape[1])
    explained = np.divide((B * W).sum(axis=1), energy, out=np.zeros(len(W)), where=energy > 0)
    total = W.sum(axis=1, keepdims=True)
    return Mixtures(np.divide(W, total, out=np.zeros_like(W), where=total > 0), np.clip(explained, 0.0, 1.0))


def iter_block_mixtures(blocks: Iterable[Any], components: Array, n_threads: int) -> Iterator[Mixtures]:
    """Yield the mixtures of each block of weighed documents, in their order, under topics (F, V)."""
    # One BLAS thread: its rounding depends on their number, and ours share the same cores.
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(n_threads) as pool:
        C = np.ascontiguousarray(components.T)
        gram = compute_gram(C)
        yield from map_in_order(pool, lambda D: compute_mixtures(D, C, gram), blocks, n_threads)  # type: ignore[arg-type]


def iter_document_mixtures(documents: Documents, components: Array, n_threads: int) -> Iterator[Mixtures]:
    """Yield the mixtures of each block of weighed documents, wherever they are, in their order."""
    with threadpool_limits(1, user_api="blas"):
        C = np.ascontiguousarray(components.T)
        yield from documents.map_blocks(partial(compute_mixtures, C=C, gram=compute_gram(C)), n_threads)


def stack_mixtures(parts: Iterable[Mixtures], n_topics: int) -> Mixtures:
    """Return the mixtures of several blocks as one."""
    empty = Mixtures(np.zeros((0, n_topics)), np.zeros(0))
    shares, explained = zip(empty, *parts, strict=True)
    return Mixtures(np.vstack(shares), np.concatenate(explained))


class MixtureFile:
    """Mixtures of documents on disk, in their order, so that memory does not grow with them. Used in a `with`."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="anchorless-")  # noqa: SIM115 closed by __exit__
        self._width = 0  # topics, and the explained part; known with the first mixtures

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the file."""
        self._file.close()

    def add(self, mixtures: Mixtures) -> None:
        """Take down the mixtures of the next documents."""
        rows = np.column_stack(mixtures)
        self._width = rows.shape[1]
        self._file.write(rows.tobytes())

    def zip_tables(self, tables: Iterable[Table]) -> Iterator[tuple[Table, Mixtures]]:
        """Yield tables, which have a row for each document, with the mixtures of their documents, from the first on."""
        self._file.seek(0)
        for table in tables:
            rows = np.frombuffer(self._file.read(8 * len(table) * self._width)).reshape(len(table), self._width)
            yield table, Mixtures(rows[:, :-1], rows[:, -1])
