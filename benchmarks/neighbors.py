"""Nearest neighbors of embeddings: `python -m benchmarks.neighbors --documents 200000`, or of a file: `--file E.npy`.

Prints the seconds and CPU seconds of the search that a fit makes, its memory, and the part of the exact neighbors that
it finds, on 1,000 documents. Without a file, documents are drawn around 2,000 centers.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from anchorless._core import neighbors
from anchorless._core.embedding_axes import find_axes
from anchorless._core.neighbor_prior import N_NEIGHBORS
from benchmarks.scale_methods import peak_since_last

N_CENTERS, N_CHECKED = 2000, 1000


def main() -> None:
    """Measure, and print a line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.neighbors", description=__doc__)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--dimensions", type=int, default=384)
    parser.add_argument("--file", help=".npy, documents × dimensions")
    parser.add_argument("--exact", type=int, default=neighbors.MAX_EXACT, help="documents up to which it is exact")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    E = draw_vectors(options.documents, options.dimensions) if options.file is None else np.load(options.file)
    neighbors.MAX_EXACT = options.exact
    shape, rounded = E.shape, neighbors.round_vectors(E)
    del E
    with threadpool_limits(1, user_api="blas"):
        search(rounded[:64], 1)  # compiles
        peak_since_last()
        start, cpu = time.perf_counter(), time.process_time()
        found, vectors = search(rounded, options.jobs)
        start, cpu = time.perf_counter() - start, time.process_time() - cpu
        about = f"{start:.1f} s, {cpu:.1f} CPU s, {peak_since_last() / 1000:.1f} GB"
        print(f"{shape[0]:,} × {shape[1]}: {about}; {measure_recall(found, vectors):.1%} found")


def search(rounded: Any, n_threads: int) -> tuple[neighbors.Neighbors, Any]:
    """Return the neighbors of rounded embeddings, as a fit finds them, and the vectors that it compares."""
    vectors = neighbors.normalize_vectors(find_axes(rounded).reduce(rounded, n_threads)[0])
    references = neighbors.build_references(vectors, n_threads)
    return neighbors.find_mutual_neighbors(references, N_NEIGHBORS, n_threads), vectors


def draw_vectors(n: int, n_dimensions: int) -> Any:
    """Draw vectors around centers."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(N_CENTERS, n_dimensions)).astype(np.float32)
    noise = rng.normal(size=(n, n_dimensions)).astype(np.float32)
    return centers[rng.integers(N_CENTERS, size=n)] + noise


def measure_recall(found: Any, vectors: Any) -> float:
    """Return the part of the ten nearest neighbors of some documents that were found."""
    rows = np.unique(np.linspace(0, len(vectors) - 1, N_CHECKED).astype(int))
    exact = neighbors.search_all(vectors[rows], vectors, 10, 1).positions
    pairs = zip(found.positions[rows, :10].tolist(), exact.tolist(), strict=True)
    return float(np.mean([len(set(a) & set(b)) / 10 for a, b in pairs]))


if __name__ == "__main__":
    main()
