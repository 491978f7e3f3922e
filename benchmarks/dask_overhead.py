"""Time of a fit on a local Dask cluster compared with the same fit in threads over the same blocks, and bytes sent.

    python -m benchmarks.dask_overhead --documents 200000 --words 50000 --topics 50 --workers 2

Texts with planted topics, about 60 words each, in part files; counted and weighted on the workers. The blocks are
fetched once for the local fit. Fits alternate, so that a busy moment of the machine affects both alike; the best of
each counts. Bytes are those that the workers report as sent. `--passes N` alternates N single passes over the documents
instead, a product with P and a round of the refinement: all that a cluster does in a fit, and short enough to
find quiet moments on a machine that is shared.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client, LocalCluster
from threadpoolctl import threadpool_limits

from anchorless import AnchorFree, CountSettings, Documents
from anchorless._core.eigen import BLOCK_WIDTH
from anchorless._core.products import DocumentProducts
from anchorless._core.refine import Sweeps, run_round
from anchorless._core.weighting import weight_documents
from anchorless._corpus.threads import ThreadTeam
from anchorless.distributed import count
from benchmarks.planted import plan, write_texts

#: Overhead that is allowed.
LIMIT = 0.5
#: A cluster agrees with one machine to this share of the largest number.
AGREEMENT = 1e-10


def time_call(function: Callable[..., Any], *given: Any) -> tuple[float, Any]:
    """Run once and return the seconds and the result."""
    start = time.perf_counter()
    result = function(*given)
    return time.perf_counter() - start, result


def cpu_seconds(client: Client) -> float:
    """Return the processor time that this process and all workers have used so far."""
    return time.process_time() + sum(client.run(time.process_time).values())


def bytes_sent(client: Client) -> int:
    """Return the bytes that all workers have sent so far to other workers and to the client."""
    return int(sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values()))


def write_parts(folder: str, options: argparse.Namespace) -> list[str]:
    """Write the texts in part files, four per worker."""
    planned, n_parts = plan(options.topics, options.words), 4 * options.workers
    names = [Path(folder) / f"part-{i:03d}.txt" for i in range(n_parts)]
    for i, name in enumerate(names):
        write_texts(name, planned, -(-options.documents // n_parts), seed=i)
    return [str(name) for name in names]


def product(documents: Documents, Q: Any) -> Any:
    """Return DᵀDQ, the sum of a product with P."""
    return documents.sum_blocks(lambda D: D.T @ (D @ Q), 2)


def refinement(documents: Documents, C: Any) -> Any:
    """Return the topics after one round of the refinement."""
    return run_round(DocumentProducts(documents, ThreadTeam(2)), C, Sweeps(1))[0]


def compare_passes(here: Documents, there: Documents, client: Client, options: argparse.Namespace) -> float:
    """Print the best and the usual time of single passes, and return the overhead of products."""
    random = np.random.default_rng(0)
    overheads = []
    for name, work, width in (("product", product, BLOCK_WIDTH), ("refinement", refinement, options.topics)):
        array = random.random((here.shape[1], width))
        work(there, array)  # once before: workers import what they need
        local, remote, cpu, before = [], [], [0.0, 0.0], bytes_sent(client)
        for _ in range(options.passes):
            marks = [cpu_seconds(client)]
            seconds, reference = time_call(work, here, array)
            local.append(seconds)
            marks.append(cpu_seconds(client))
            seconds, found = time_call(work, there, array)
            remote.append(seconds)
            marks.append(cpu_seconds(client))
            cpu = [cpu[0] + marks[1] - marks[0], cpu[1] + marks[2] - marks[1]]
            np.testing.assert_allclose(found, reference, rtol=AGREEMENT, atol=AGREEMENT * np.abs(reference).max())
        sent = (bytes_sent(client) - before) / options.passes / options.workers / 1e6
        overheads.append(min(remote) / min(local) - 1)
        print(
            f"  {name:10} {array.nbytes / 1e6:.1f} MB to each worker: local {min(local):.3f} s (median "
            f"{np.median(local):.3f}), dask {min(remote):.3f} s (median {np.median(remote):.3f}), "
            f"overhead {overheads[-1]:.0%}; processor time {cpu[0] / options.passes:.3f} s and "
            f"{cpu[1] / options.passes:.3f} s; {sent:.1f} MB sent per worker; load {os.getloadavg()[0]:.1f}",
            flush=True,
        )
    return overheads[0]


def topics_of(documents: Documents, options: argparse.Namespace) -> tuple[Any, str]:
    """Return the topics of the documents, and what they took."""
    model = AnchorFree(options.topics, n_jobs=options.workers).fit(documents)
    report = model.fit_report_
    stages = ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in report.seconds.items())
    return model.components_, f"{report.n_products} products; {stages}"


def parse_options(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--words", type=int, default=50_000)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--passes", type=int, default=0, help="single passes in turns instead of fits")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> float:
    """Print the times and return the overhead, a share of the local time."""
    options = parse_options(argv)
    local, remote = [], []
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(options.workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        parts = write_parts(folder, options)
        seconds, corpus = time_call(lambda: count(client, parts, CountSettings(stop_words=None, min_df=1, max_df=1.0)))
        corpus.close()  # the counts stay on the workers
        print(f"{corpus.n_documents:,} documents, {corpus.n_words:,} words, counted in {seconds:.1f} s")
        there = weight_documents(corpus.documents, "tfidf-ncw", 1).documents
        here = Documents([*there.map_blocks(lambda block: block, 1)])
        entries = sum(block.nnz for block in here.blocks)
        print(f"{entries:,} entries in {here.n_blocks} blocks on {options.workers} workers")
        if options.passes:
            with threadpool_limits(1, user_api="blas"):
                return compare_passes(here, there, client, options)
        for _ in range(options.repeats):
            seconds, (reference, said) = time_call(topics_of, here, options)
            local.append(seconds)
            print(f"  local {seconds:.2f} s: {said}; load {os.getloadavg()[0]:.1f}", flush=True)
            before = bytes_sent(client)
            seconds, (found, said) = time_call(topics_of, there, options)
            remote.append(seconds)
            sent = (bytes_sent(client) - before) / options.workers / 1e6
            print(f"  dask  {seconds:.2f} s: {said}; load {os.getloadavg()[0]:.1f}; {sent:.0f} MB sent per worker")
            print(f"  largest difference of a probability {np.abs(found - reference).max():.0e}", flush=True)
    overhead = min(remote) / min(local) - 1
    print(f"overhead {overhead:.0%} (at most {LIMIT:.0%})")
    return overhead


if __name__ == "__main__":
    main()
