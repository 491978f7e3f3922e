"""CPU seconds of passes over the documents of a count store, extrapolated from some of their blocks.

    python -m benchmarks.passes FOLDER [BLOCKS]

FOLDER is one that a killed `anchorless fit` leaves, such as reviews-topics.counts/selected.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from anchorless._core.eigen import BLOCK_WIDTH
from anchorless._core.nnls import compute_gram, coordinate_descent
from anchorless._corpus.disk.block_folder import BlockFolder
from anchorless._corpus.disk.documents import StoredDocuments
from anchorless._corpus.documents import Array
from anchorless._topic_model.mixtures import compute_mixtures

N_TOPICS, COLUMNS = 50, BLOCK_WIDTH


def statistics(D: Any, *, C: Array, gram: Array) -> Array:
    """Return the sums of one round of `refine`, with four sweeps."""
    W = coordinate_descent(gram, D @ C, 4)
    return np.vstack([D.T @ W, W.T @ W])


def main(argv: list[str] | None = None) -> int:
    """Print the CPU seconds of a pass of each kind."""
    given = sys.argv[1:] if argv is None else argv
    folder = BlockFolder(given[0])
    n_words = int(folder.about["words"])
    documents = StoredDocuments(folder, n_words)
    n_blocks, sample = documents.n_blocks, min(documents.n_blocks, int(given[1]) if len(given) > 1 else 12)
    documents.n_blocks = sample
    size = sum(path.stat().st_size for path in folder.path.glob("*.block"))
    print(f"{documents.shape[0]:,} documents, {n_words:,} words, {n_blocks} blocks, {size:,} bytes")
    rng = np.random.default_rng(0)
    Q, C = rng.standard_normal((n_words, COLUMNS)), rng.gamma(0.1, size=(n_words, N_TOPICS))
    C /= C.sum(axis=0)
    gram = compute_gram(C)
    passes: dict[str, Callable[[Any], Any]] = {
        "first reading, with checksums": lambda D: None,
        "reading": lambda D: None,
        f"product with P, {COLUMNS} columns": lambda D: D.T @ (D @ Q),
        f"round of re-estimation, {N_TOPICS} topics": partial(statistics, C=C, gram=gram),
        f"mixtures of documents, {N_TOPICS} topics": partial(compute_mixtures, C=C, gram=gram),
    }
    with threadpool_limits(1, user_api="blas"):
        for name, function in passes.items():
            start = time.process_time()
            deque(documents.map_blocks(function, 2), maxlen=0)
            print(f"{name:<40} {(time.process_time() - start) * n_blocks / sample:7.1f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
