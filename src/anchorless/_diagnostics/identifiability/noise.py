"""How far a verdict survives errors in the topics: it is asked again for topics that were moved at random."""

from __future__ import annotations

from time import monotonic
from typing import NamedTuple

import numpy as np

from anchorless._corpus.documents import Array
from anchorless._diagnostics.identifiability.close_pairs import compute_relative_errors
from anchorless._diagnostics.identifiability.cone import Cone
from anchorless._diagnostics.identifiability.proofs import MAX_ENUMERATED_TOPICS
from anchorless._diagnostics.identifiability.scattering import NOT_REFUTED, PROVED, Scattering, scattering

#: Sizes of the errors that are tried, by bisection.
ERROR_LEVELS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
#: Draws at each size for few topics; for many one has to do.
N_DRAWS = 3
#: Random starts of the search in each draw.
N_STARTS = 5


class Robustness(NamedTuple):
    """The largest errors under which the verdict stays as it is, of those that were tried."""

    verdict: str
    level: float | None  # 0 where not even the smallest; None where time was up or there was no verdict
    unit: str  # "standard errors", or "relative" where the documents behind the words are not known
    n_draws: int  # at each size


def survival(
    C: Array, documents: Array | None, found: Scattering, rng: np.random.Generator, deadline: float
) -> Robustness:
    """Ask for the verdict on C (V, F) again with errors of several sizes; zeros stay zero, others may become so."""
    errors = np.ones_like(C) if documents is None else compute_relative_errors(C, documents)
    n_draws = N_DRAWS if C.shape[1] <= MAX_ENUMERATED_TOPICS else 1
    draws = [errors * rng.standard_normal(C.shape) for _ in range(n_draws)]
    unit = "relative" if documents is None else "standard errors"
    if found.verdict == NOT_REFUTED:
        return Robustness(found.verdict, None, unit, 0)
    low, high = 0, len(ERROR_LEVELS)  # it stays below LEVELS[low], and not at LEVELS[high]
    while low < high:
        middle = (low + high) // 2
        if all(is_verdict_unchanged(C, ERROR_LEVELS[middle] * draw, found.verdict, rng, deadline) for draw in draws):
            low = middle + 1
        else:
            high = middle
        if monotonic() > deadline:
            return Robustness(found.verdict, None, unit, n_draws)
    return Robustness(found.verdict, ERROR_LEVELS[low - 1] if low else 0.0, unit, n_draws)


def is_verdict_unchanged(C: Array, change: Array, verdict: str, rng: np.random.Generator, deadline: float) -> bool:
    """Tell whether the verdict is the same for topics with relative changes (V, F)."""
    moved = C * np.maximum(1.0 + change, 0.0)
    total = moved.sum(axis=0)
    if not total.all():
        return False
    again = scattering(Cone(moved / total), N_STARTS, rng, deadline, prove=verdict == PROVED)
    return again.verdict == verdict
