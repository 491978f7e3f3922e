"""Whether random errors in the topics would change a verdict: it is computed again for perturbed topics."""

from __future__ import annotations

from time import monotonic
from typing import NamedTuple

import numpy as np

from anchorless._corpus.documents import Array
from anchorless._diagnostics.identifiability.cone import Cone
from anchorless._diagnostics.identifiability.proofs import MAX_ENUMERATED_TOPICS
from anchorless._diagnostics.identifiability.scattering import NOT_REFUTED, PROVED, Scattering, check_scattering

#: Sizes of the errors that are tried, by bisection.
ERROR_LEVELS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
#: Random perturbations of each size for few topics; many topics get one, because each takes long.
N_DRAWS = 3
#: Random starts of the search for each perturbation.
N_STARTS = 5


class Robustness(NamedTuple):
    """The largest errors, of those that were tried, that do not change the verdict."""

    verdict: str  # without errors
    level: float | None  # 0 if the smallest errors change it; None if the time was up or there was no verdict
    unit: str  # of `level`: "standard errors", or "relative" if document frequencies are not known
    n_draws: int  # random perturbations of each size


def measure_robustness(
    C: Array, documents: Array | None, found: Scattering, rng: np.random.Generator, deadline: float
) -> Robustness:
    """Check C (V, F) again with errors of several sizes; zeros stay zero, and other entries may become zero."""
    errors = np.ones_like(C) if documents is None else compute_relative_errors(C, documents)
    n_draws = N_DRAWS if C.shape[1] <= MAX_ENUMERATED_TOPICS else 1
    draws = [errors * rng.standard_normal(C.shape) for _ in range(n_draws)]
    unit = "relative" if documents is None else "standard errors"
    if found.verdict == NOT_REFUTED:
        return Robustness(found.verdict, None, unit, 0)
    low, high = 0, len(ERROR_LEVELS)  # the verdict stays below ERROR_LEVELS[low] and changes at ERROR_LEVELS[high]
    while low < high:
        middle = (low + high) // 2
        if all(is_verdict_unchanged(C, ERROR_LEVELS[middle] * draw, found.verdict, rng, deadline) for draw in draws):
            low = middle + 1
        else:
            high = middle
        if monotonic() > deadline:
            return Robustness(found.verdict, None, unit, n_draws)
    return Robustness(found.verdict, ERROR_LEVELS[low - 1] if low else 0.0, unit, n_draws)


def compute_relative_errors(C: Array, documents: Array) -> Array:
    """Return the relative error of each probability of C (V, F): 1/√n for its share n of the word's documents (V,)."""
    total = C.sum(axis=1, keepdims=True)
    part = np.divide(C, total, out=np.zeros_like(C), where=total > 0)
    return np.asarray(1.0 / np.sqrt(np.maximum(part * documents[:, None], 1.0)))


def is_verdict_unchanged(C: Array, change: Array, verdict: str, rng: np.random.Generator, deadline: float) -> bool:
    """Tell whether topics C (V, F) with relative changes (V, F) have the same verdict."""
    changed = C * np.maximum(1.0 + change, 0.0)
    total = changed.sum(axis=0)
    if not total.all():
        return False
    again = check_scattering(Cone(changed / total), N_STARTS, rng, deadline, prove=verdict == PROVED)
    return again.verdict == verdict
