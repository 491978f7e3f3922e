"""Time of a fit on a local Dask cluster beside the same fit in threads, over the same blocks, and what travels.

    python -m benchmarks.dask_overhead --documents 200000 --words 50000 --topics 50 --workers 2

Planted topics over a Zipf vocabulary, about 60 words per document, tf-idf weighted. Runs are taken in turns, so that a
busy moment of the machine hits both alike; the best of each counts. Bytes are those that workers say they sent.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from distributed import Client, LocalCluster

from anchorless import AnchorFree, TfidfWeighting
from anchorless.distributed import scattered
from anchorless.documents import Documents

#: Overhead that is allowed.
LIMIT = 0.5


def planted(n_documents: int, n_words: int, n_topics: int, length: int = 60, seed: int = 0) -> Any:
    """Return counts, documents × words, of documents that mix a few of the planted topics."""
    rng = np.random.default_rng(seed)
    zipf = 1.0 / np.arange(1, n_words + 1)
    topics = np.cumsum([normalised(zipf * rng.gamma(0.1, size=n_words)) for _ in range(n_topics)], axis=1)
    lengths = 1 + rng.poisson(length - 1, n_documents)
    rows = np.repeat(np.arange(n_documents), lengths)
    mine = rng.integers(n_topics, size=(n_documents, 3))
    topic = mine[rows, rng.choice(3, size=len(rows), p=(0.7, 0.2, 0.1))]
    words = np.empty(len(rows), dtype=np.int64)
    for k in range(n_topics):
        here = np.flatnonzero(topic == k)
        words[here] = np.minimum(np.searchsorted(topics[k], rng.random(len(here))), n_words - 1)
    return sp.csr_matrix((np.ones(len(rows)), (rows, words)), shape=(n_documents, n_words))


def normalised(p: Any) -> Any:
    """Return p scaled to sum to one."""
    return p / p.sum()


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Run once and return the seconds and the result."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def bytes_sent(client: Client) -> int:
    """Return the bytes that all workers have sent so far to other workers and to the client."""
    return sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values())


def main(argv: Sequence[str] | None = None) -> float:
    """Print the times and return the overhead, a share of the local time."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--words", type=int, default=50_000)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args(argv)
    X = TfidfWeighting().fit_transform(planted(options.documents, options.words, options.topics))
    here = Documents.from_matrix(X)
    print(f"{X.shape[0]:,} documents, {X.shape[1]:,} words, {X.nnz:,} entries, {here.n_blocks} blocks")
    local, remote = [], []
    settings = {"n_components": options.topics, "n_threads": options.workers}
    with (
        LocalCluster(options.workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        sending, there = timed(lambda: scattered(client, here))
        print(f"blocks sent to {options.workers} workers in {sending:.2f} s")
        for _ in range(options.repeats):
            seconds, reference = timed(lambda: AnchorFree(**settings).fit(here))
            local.append(seconds)
            before = bytes_sent(client)
            seconds, model = timed(lambda: AnchorFree(**settings).fit(there))
            remote.append(seconds)
            sent = bytes_sent(client) - before
            assert np.array_equal(model.components_, reference.components_), "the bits differ"
            for name, fit in (("local", reference), ("dask", model)):
                stages = ", ".join(f"{stage} {spent:.2f}" for stage, spent in fit.fit_report_.seconds.items())
                print(f"  {name:5} {stages}; load {os.getloadavg()[0]:.1f}")
    overhead = min(remote) / min(local) - 1
    n_passes = reference.fit_report_.n_products / 8
    print(
        f"local {min(local):.2f} s in {options.workers} threads, dask {min(remote):.2f} s on {options.workers} workers"
    )
    print(f"overhead {overhead:.0%} (at most {LIMIT:.0%}); the same bits")
    print(f"{reference.fit_report_.n_products} products in {n_passes:.0f} passes; {sent / 1e6:.0f} MB sent by workers")
    return overhead


if __name__ == "__main__":
    main()
