"""The fits of the synthetic experiment: which are run, and what is measured of each."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from anchorless import AnchorFree, datasets, metrics
from experiments.results import Cell

EXACT = ("gaussian", "nonnegative")
SAMPLED = "sampled"
N_WORDS = 1000
TOPICS = (3, 5, 10, 15, 20, 25, 30)
SAMPLED_TOPICS = 10
DOCUMENTS = (1_000, 3_000, 10_000, 30_000, 100_000)

#: Parameters of each method. "default" has none: it is AnchorFree as users get it.
METHODS: dict[str, dict[str, str]] = {
    "hard": {"constraint": "hard"},
    "default": {},
    "unbiased": {"cooccurrence": "unbiased"},
}
EXACT_METHODS = ("hard", "default")

EXACT_MEASURES = ("error_C", "relative_E", "log_volume", "sweeps", "seconds", "warnings")
SAMPLED_MEASURES = ("error_C", "l1_C", "seconds", "warnings")


def plan(quick: bool) -> list[Cell]:
    """Return the fits of the experiment, seed by seed, so that a run that was stopped shows every design."""
    exact = [
        Cell(design, method, F, None, seed)
        for design in EXACT
        for F in TOPICS
        for seed in range(n_seeds(design, F, quick))
        for method in EXACT_METHODS
    ]
    sampled = [
        Cell(SAMPLED, method, SAMPLED_TOPICS, N, seed)
        for N in (DOCUMENTS[:3] if quick else DOCUMENTS)
        for seed in range(1 if quick else 10)
        for method in METHODS
    ]
    return sorted(exact + sampled, key=lambda cell: cell.seed)


def n_seeds(design: str, F: int, quick: bool) -> int:
    """Return the number of planted models of an exact design."""
    few_topics = F <= 10
    if quick:
        return 3 if few_topics and design == "gaussian" else 1
    if design == "gaussian":
        return 100 if few_topics else 20
    return 5


def expected(cell: Cell) -> tuple[str, ...]:
    """Return the names of the measures of a fit."""
    return SAMPLED_MEASURES if cell.design == SAMPLED else EXACT_MEASURES


def measured(cell: Cell) -> dict[str, float]:
    """Run one fit and measure it; three digits are kept, and nine of the log volume, which is compared."""
    found = measured_sample(cell) if cell.design == SAMPLED else measured_exact(cell)
    return {name: float(f"{found[name]:.{9 if name == 'log_volume' else 3}g}") for name in expected(cell)}


def measured_exact(cell: Cell) -> dict[str, float]:
    """Fit exact co-occurrences and compare C and E with the planted ones."""
    truth = planted(cell.design, cell.F, cell.seed)
    model, found = watched(AnchorFree(cell.F, **METHODS[cell.method]).fit_cooccurrence, truth.cooccurrence)
    i, j = metrics.match_topics(model.components_, truth.components)
    E, E_true = model.topic_moments_[np.ix_(i, i)], truth.moments[np.ix_(j, j)]
    found["error_C"] = metrics.recovery_error(model.components_, truth.components)
    found["relative_E"] = float(((E - E_true) ** 2).sum() / (E_true**2).sum())
    return found


def measured_sample(cell: Cell) -> dict[str, float]:
    """Fit sampled documents, as relative frequencies unless the method wants counts, and compare C."""
    corpus = sample(cell.N, cell.F, cell.seed)
    X = corpus.counts if cell.method == "unbiased" else frequencies(corpus.counts)
    model, found = watched(AnchorFree(cell.F, **METHODS[cell.method]).fit, X)
    i, j = metrics.match_topics(model.components_, corpus.components)
    found["error_C"] = metrics.recovery_error(model.components_, corpus.components)
    found["l1_C"] = float(abs(model.components_[i] - corpus.components[j]).sum(axis=1).mean())
    return found


@lru_cache(maxsize=1)
def planted(design: str, F: int, seed: int) -> Any:
    """Return a planted model; kept for the next method."""
    return datasets.planted_topics(F, N_WORDS, moments=design, random_state=seed)


@lru_cache(maxsize=1)
def sample(N: int | None, F: int, seed: int) -> Any:
    """Return a sampled corpus; kept for the next method. The topics of a seed are the same for every N."""
    return datasets.sampled_corpus(N, F, N_WORDS, random_state=seed)


def frequencies(counts: Any) -> Any:
    """Return counts divided by the length of their document: rows sum to one."""
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    return counts.multiply(1.0 / lengths[:, None]).tocsr()


def watched(fit: Callable[[Any], AnchorFree], data: Any) -> tuple[AnchorFree, dict[str, float]]:
    """Fit and return the model with its log volume, sweeps, seconds and number of warnings."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        start = time.perf_counter()
        model = fit(data)
        seconds = time.perf_counter() - start
    found = {"log_volume": model.log_volume_, "sweeps": model.n_iter_, "seconds": seconds, "warnings": len(given)}
    return model, found
