"""How close `partial_fit` comes to one fit of all documents, on planted corpora: the table of docs/scale.md.

python -m benchmarks.pieces
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment

from anchorless import AnchorFree

N_DOCUMENTS, N_WORDS, N_TOPICS, LENGTH, PIECE = 8000, 2000, 10, 60, 1000


def planted(seed: int) -> tuple[Any, np.ndarray]:
    """Return counts and their topics."""
    rng = np.random.default_rng(seed)
    topics = (rng.gamma(0.1, size=(N_TOPICS, N_WORDS)) + 1e-4) / (np.arange(N_WORDS) + 2.7)
    topics /= topics.sum(axis=1, keepdims=True)
    mixed = rng.dirichlet(np.full(N_TOPICS, 0.2), N_DOCUMENTS) @ topics
    counts = np.vstack([rng.multinomial(LENGTH, row / row.sum()) for row in mixed])
    return sp.csr_matrix(counts.astype(float)), topics


def distance(A: np.ndarray, B: np.ndarray) -> float:
    """Return the mean ℓ1 distance of the best matching."""
    apart = abs(A[:, None] - B[None]).sum(axis=2)
    return float(apart[linear_sum_assignment(apart)].mean())


def main(argv: list[str] | None = None) -> int:
    """Print a row per estimator of P and seed."""
    print(f"{'P':<9} {'seed':>4} {'at once – truth':>16} {'pieces – truth':>15} {'pieces – at once':>17}")
    for kind in ("unbiased", "biased"):
        for seed in range(3):
            X, topics = planted(seed)
            whole, pieces = (AnchorFree(N_TOPICS, cooccurrence=kind) for _ in range(2))
            whole.fit(X)
            for start in range(0, N_DOCUMENTS, PIECE):
                pieces.partial_fit(X[start : start + PIECE])
            pairs = ((whole.components_, topics), (pieces.components_, topics), (pieces.components_, whole.components_))
            first, second, third = (distance(*pair) for pair in pairs)
            print(f"{kind:<9} {seed:>4} {first:16.3f} {second:15.3f} {third:17.3f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
