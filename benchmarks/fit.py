"""Time of `AnchorFree.fit` beside scipy's `svds` and scikit-learn's NMF on the same matrix, in one run.

    python -m benchmarks.fit path/to/TDT2.mat --topics 25 50 100 --repeats 3 --peers

Each is the best of the repeats, taken in turns, so that a busy moment of the machine hits all alike. BLAS has one
thread for svds and NMF, which are faster that way on few cores, and inside a fit. Seconds are wall clock; `cpu` is the
processor time of our fit over that of svds, which says more on a machine that is shared.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy
import scipy.io
import scipy.sparse as sp
import sklearn
from scipy.sparse.linalg import svds
from sklearn.decomposition import NMF
from threadpoolctl import threadpool_limits

from anchorless import AnchorFree, NormalizedCutWeighting, TfidfWeighting

#: What the issue asks for, by number of topics: fit / svds at most, NMF / fit at least.
TARGETS = {25: (2.0, 3.0), 50: (3.0, 8.0), 100: (5.0, 10.0)}


class Seconds(NamedTuple):
    """Time of one run."""

    wall: float
    cpu: float


def timed(function: Callable[[], Any]) -> tuple[Seconds, Any]:
    """Run once and return the time and the result."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = function()
    return Seconds(time.perf_counter() - wall, time.process_time() - cpu), result


def corpus(path: str) -> Any:
    """Return documents × words of a .mat file with counts under `fea`, tf-idf and NCW weighted."""
    counts = sp.csr_matrix(scipy.io.loadmat(path)["fea"], dtype=np.float64)
    return NormalizedCutWeighting().fit_transform(TfidfWeighting().fit_transform(counts))


def run_svds(X: Any, k: int) -> None:
    """Take the truncated singular value decomposition that ours is measured by."""
    with threadpool_limits(1, user_api="blas"):
        svds(X, k, random_state=0)


def run_nmf(X: Any, k: int) -> None:
    """Fit scikit-learn's NMF for 200 iterations or until it stops."""
    with threadpool_limits(1, user_api="blas"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        NMF(k, init="nndsvd", max_iter=200).fit(X)


def best(times: list[Seconds]) -> Seconds:
    """Return the least wall clock and the least processor time."""
    return Seconds(min(t.wall for t in times), min(t.cpu for t in times))


def compare(X: Any, k: int, repeats: int, peers: bool) -> None:
    """Print one line of the table and the stages of the fit."""
    ours, theirs, models = [], [], []
    for _ in range(repeats):
        theirs.append(timed(lambda: run_svds(X, k))[0])
        seconds, model = timed(lambda: AnchorFree(k).fit(X))
        ours.append(seconds)
        models.append(model)
    nmf = timed(lambda: run_nmf(X, k))[0].wall if peers else np.nan
    fit, svd = best(ours), best(theirs)
    report = min((model.fit_report_ for model in models), key=lambda r: sum(r.seconds.values()))
    at_most, at_least = TARGETS.get(k, (np.nan, np.nan))
    print(
        f"{k:>4} {svd.wall:>8.2f} {fit.wall:>8.2f} {fit.wall / svd.wall:>9.2f} {at_most:>5.0f} "
        f"{fit.cpu / svd.cpu:>6.2f} {nmf:>8.2f} {nmf / fit.wall:>8.1f} {at_least:>5.0f}  {models[0].log_volume_:.6f}"
    )
    stages = ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in report.seconds.items())
    print(f"       {stages}; {report.n_products} products, {report.n_programs} programs, {report.n_pivots} pivots")


def import_seconds(module: str, repeats: int) -> float:
    """Return the least processor time of a fresh interpreter that imports a module."""
    code = f"import time; t = time.process_time(); import {module}; print(time.process_time() - t)"
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, check=True) for _ in range(repeats)]
    return min(float(run.stdout) for run in runs)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mat", help="a .mat file with documents × words under `fea`, such as TDT2.mat")
    parser.add_argument("--topics", type=int, nargs="+", default=[25, 50])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peers", action="store_true", help="time scikit-learn's NMF too")
    arguments = parser.parse_args()
    X = corpus(arguments.mat)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else np.nan
    versions = f"numpy {np.__version__}, scipy {scipy.__version__}, scikit-learn {sklearn.__version__}"
    print(
        f"{platform.machine()}, {os.cpu_count()} cores, load {load:.1f}, Python {platform.python_version()}, {versions}"
    )
    print(f"{X.shape[0]} documents, {X.shape[1]} words, {X.nnz} entries")
    print("   K     svds      fit  fit/svds   ≤     cpu      NMF  NMF/fit   ≥  log-volume")
    for k in arguments.topics:
        compare(X, k, arguments.repeats, arguments.peers)
    ours, sklearns = (import_seconds(name, arguments.repeats) for name in ("anchorless", "sklearn.decomposition"))
    print(
        f"import: anchorless {ours:.2f} s, sklearn.decomposition {sklearns:.2f} s, ratio {ours / sklearns:.2f} (≤ 1.2)"
    )


if __name__ == "__main__":
    main()
