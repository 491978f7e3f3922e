"""The volume by the reference solver: Algorithm 2 in its plainest form, every program by HiGHS.

It has the polytope that `AnchorFree` built, and nothing else of it: identity start, both signs of every column in
every sweep, a fresh inverse for every column, the same stop.
"""

from __future__ import annotations

import time
import warnings
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from anchorless import AnchorFree
from anchorless._core import anchorfree
from anchorless._core.lp.polytope import Polytope

#: Both volumes converge to this, relatively: the default of the package stops at the noise of the documents.
TOLERANCE = 1e-7


class ReferenceRun(NamedTuple):
    """Result of the reference solver."""

    log_volume: float  # nan before the end of the first sweep
    n_sweeps: int
    finished: bool
    seconds: float


def reference_volume(X: Any, K: int, budget: float) -> dict[str, float]:
    """Return the log-volume of a fit and that of the reference, which has `budget` seconds."""
    model = AnchorFree(K, tol=TOLERANCE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows, total = build_polytope(model, X)
    run = run_reference(Polytope(rows, total), K, TOLERANCE, budget)
    return {
        "log_volume": model.log_volume_,
        "reference_log_volume": run.log_volume,
        "reference_sweeps": run.n_sweeps,
        "reference_finished": run.finished,
        "reference_seconds": run.seconds,
    }


def build_polytope(model: AnchorFree, X: Any) -> tuple[Any, Any]:
    """Fit, and return the rows and their sum that the fit built its polytope from."""
    built: list[tuple[Any, Any]] = []
    own = anchorfree.SimplexSolver

    def recorded(U: Any, s: Any, *further: Any, **named: Any) -> Any:
        built.append((np.array(U), np.array(s)))
        return own(U, s, *further, **named)

    with patch.object(anchorfree, "SimplexSolver", recorded):
        model.fit(X)
    if not built:
        raise RuntimeError("AnchorFree built no anchorless._core.anchorfree.SimplexSolver: name its successor here")
    return max(built, key=lambda each: len(each[0]))  # a smaller problem may come before the whole one


def run_reference(polytope: Polytope, K: int, tol: float, budget: float) -> ReferenceRun:
    """Sweep over the columns until a sweep gains no more than `tol`, relatively, or the budget is used up."""
    start = time.perf_counter()
    M, history = np.eye(K), [np.nan]
    while not has_converged(history, tol):
        for f in range(K):
            if time.perf_counter() - start > budget:
                return ReferenceRun(history[-1], len(history) - 1, False, time.perf_counter() - start)
            a = np.linalg.inv(M)[f]
            up, down = polytope.maximize(a), polytope.maximize(-a)
            best = up if up.value >= down.value else down
            # The first sweep leaves no column of the start, which may be outside.
            if len(history) == 1 or best.value > 1.0 + 1e-12:
                M[:, f] = best.x
        history.append(float(np.linalg.slogdet(M)[1]))
    return ReferenceRun(history[-1], len(history) - 1, True, time.perf_counter() - start)


def has_converged(history: list[float], tol: float) -> bool:
    """Return whether the last sweep gained less than the tolerance."""
    return len(history) > 2 and history[-1] - history[-2] <= tol * max(1.0, abs(history[-1]))
