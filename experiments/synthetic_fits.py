"""The fits of the synthetic experiment: which are run, and what is measured of each."""

from __future__ import annotations

import math
import sys
import time
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from anchorless import SNPA, SPA, XRAY, AnchorFree, FastAnchor, datasets, metrics
from experiments.results import Cell

EXACT = ("gaussian", "nonnegative")
SAMPLED = "sampled"
N_WORDS = 1000
TOPICS = (3, 5, 10, 15, 20, 25, 30)
SAMPLED_TOPICS = 10
DOCUMENTS = (1_000, 3_000, 10_000, 30_000, 100_000)

#: Parameters of each method. "default" has none: it is AnchorFree as users get it.
METHODS: dict[str, dict[str, str]] = {
    "hard": {"constraint": "all"},
    "default": {},
    "unbiased": {"cooccurrence": "unbiased"},
}
EXACT_METHODS = ("hard", "default")

#: The anchor-word methods are run where the paper has them: on its design, its numbers of topics and trials.
ANCHOR_METHODS: dict[str, Callable[[int], Any]] = {"fastanchor": FastAnchor, "spa": SPA, "snpa": SNPA, "xray": XRAY}
PAPER_DESIGN = "gaussian"
PAPER_TOPICS = (5, 10, 15, 20, 25, 30)
PAPER_TRIALS = 10

EXACT_MEASURES = ("error_C", "error_E", "relative_E", "log_volume", "sweeps", "seconds", "warnings")
ANCHOR_MEASURES = ("error_C", "error_E", "relative_E", "separable", "refused", "seconds", "warnings")
SAMPLED_MEASURES = ("error_C", "l1_C", "seconds", "warnings")


def plan(quick: bool) -> list[Cell]:
    """Return the fits of the experiment, seed by seed, so that a run that was stopped shows every design."""
    exact = [
        Cell(design, method, F, None, seed)
        for design in EXACT
        for F in TOPICS
        for seed in range(n_seeds(design, F, quick))
        for method in exact_methods(design, F, seed)
    ]
    sampled = [
        Cell(SAMPLED, method, SAMPLED_TOPICS, N, seed)
        for N in (DOCUMENTS[:3] if quick else DOCUMENTS)
        for seed in range(1 if quick else 10)
        for method in METHODS
    ]
    return sorted(exact + sampled, key=lambda cell: cell.seed)


def exact_methods(design: str, F: int, seed: int) -> tuple[str, ...]:
    """Return the methods that are given the exact co-occurrences of a planted model."""
    in_the_paper = design == PAPER_DESIGN and F in PAPER_TOPICS and seed < PAPER_TRIALS
    return (*EXACT_METHODS, *ANCHOR_METHODS) if in_the_paper else EXACT_METHODS


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
    if cell.method in ANCHOR_METHODS:
        return ANCHOR_MEASURES
    return SAMPLED_MEASURES if cell.design == SAMPLED else EXACT_MEASURES


def measure_cell(cell: Cell) -> dict[str, float]:
    """Run one fit and measure it; three digits are kept, and nine of the log volume, which is compared."""
    if cell.method in ANCHOR_METHODS:
        found = measure_anchors(cell)
    else:
        found = measure_sample(cell) if cell.design == SAMPLED else measure_exact(cell)
    return {name: float(f"{found[name]:.{9 if name == 'log_volume' else 3}g}") for name in expected(cell)}


def measure_exact(cell: Cell) -> dict[str, float]:
    """Fit exact co-occurrences by AnchorFree and compare C and E with the planted ones."""
    truth = planted(cell.design, cell.F, cell.seed)
    model, found = fit_watching(AnchorFree(cell.F, **METHODS[cell.method]).fit_cooccurrence, truth.cooccurrence)
    return {**found, **errors(model, truth), "log_volume": model.log_volume_, "sweeps": model.n_iter_}


def measure_anchors(cell: Cell) -> dict[str, float]:
    """Fit exact co-occurrences by anchor words; a refused fit is noted on stderr and has no errors."""
    truth = planted(cell.design, cell.F, cell.seed)
    premises = {"separable": float(is_separable(truth))}
    try:
        model, found = fit_watching(ANCHOR_METHODS[cell.method](cell.F).fit_cooccurrence, truth.cooccurrence)
    except (ValueError, RuntimeError) as error:
        print(f"\n{cell}: refused, {error}", file=sys.stderr)
        return {**dict.fromkeys(ANCHOR_MEASURES, math.nan), **premises, "refused": 1.0}
    return {**found, **errors(model, truth), **premises, "refused": 0.0}


def errors(model: Any, truth: Any) -> dict[str, float]:
    """Return the squared errors of C and E after matching the topics, the one of E also relative to ‖E‖²."""
    i, j = metrics.match_topics(model.components_, truth.components)
    E, E_true = model.topic_moments_[np.ix_(i, i)], truth.moments[np.ix_(j, j)]
    error_E = float(((E - E_true) ** 2).sum())
    return {
        "error_C": metrics.recovery_error(model.components_, truth.components),
        "error_E": error_E,
        "relative_E": error_E / float((E_true**2).sum()),
    }


def is_separable(truth: Any) -> bool:
    """Return whether the premises of the anchor-word methods hold.

    Every topic has a word that no other has, and E1 > 0, so that rows of P that are scaled to sum one are convex
    combinations of the anchor words' rows.
    """
    C, E = truth.components, truth.moments
    own = C[:, np.count_nonzero(C, axis=0) == 1]
    return bool(own.any(axis=1).all() and (E.sum(axis=1) > 0).all())


def measure_sample(cell: Cell) -> dict[str, float]:
    """Fit sampled documents, as relative frequencies unless the method wants counts, and compare C."""
    corpus = sample(cell.N, cell.F, cell.seed)
    X = corpus.counts if cell.method == "unbiased" else frequencies(corpus.counts)
    model, found = fit_watching(AnchorFree(cell.F, **METHODS[cell.method]).fit, X)
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


def fit_watching(fit: Callable[[Any], Any], data: Any) -> tuple[Any, dict[str, float]]:
    """Fit and return the model with its seconds and number of warnings."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        start = time.perf_counter()
        model = fit(data)
        seconds = time.perf_counter() - start
    return model, {"seconds": seconds, "warnings": len(given)}
