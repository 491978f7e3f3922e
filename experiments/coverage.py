"""Do 90 % intervals of `TopicModel.stability` contain the planted truth nine times in ten?

Corpora of three populations of `experiments.planted`. For each seed topics are planted once, and several corpora are
drawn from them: so the errors of the estimates are separated into bias, what corpora have in common, and spread, what
differs. Intervals fail if the bias is large or if they are narrower than the spread.

The truth of word probabilities is the planted p(word | topic); of shares the mean planted proportions,
weighted by the lengths of the documents (`shares`), or those of a large sample (`population_shares`); of correlations
and associations those of that sample. Leading words are those that the fit found.
"""

from __future__ import annotations

import warnings
from argparse import Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from anchorless import TopicModel
from experiments.planted import (
    Array,
    Corpus,
    Design,
    Population,
    compute_association,
    draw_corpus,
    draw_population,
)
from experiments.recovery import match
from experiments.results import Cell, Results, ResultsError, Values, column, markdown_table, replace_file, run_cells

EXPERIMENT = "coverage"
DESIGNS = {
    "sparse": Design(10, 2000, 5000, 60),
    "dirichlet": Design(10, 2000, 5000, 80, kind="dirichlet"),
    "dense": Design(10, 2000, 5000, 100, spread=1.5, kind="dense"),
}
QUICK_DOCUMENTS, QUICK_WORDS, QUICK_TOPICS = 800, 300, 5
SEEDS = 3
#: Corpora of each planted population, and of a quick run.
N_CORPORA, QUICK_CORPORA = 2, 2
N_RESAMPLES, QUICK_RESAMPLES, LEVEL = 50, 10, 0.9
#: Draws of proportions for the truth of correlations and associations.
N_DRAWS = 200_000
#: Coverage that counts as right.
LEAST, MOST = 0.80, 0.97
QUANTITIES = ("words", "shares", "population_shares", "correlation", "association")
MEASURES = ("intervals", "covered", "below", "above", "width", "ratio", "error", "bias", "spread", "claimed")
METHOD = "anchorless"


class Estimates(NamedTuple):
    """One quantity of one fit, in the order of the planted topics: intervals, the truth, and an estimate to compare.

    The intervals of words are of those that lead the fitted topics; `fixed` has the same entries for every corpus of a
    population, so that their errors can be separated into bias and spread.
    """

    low: Array
    high: Array
    estimate: Array
    truth: Array
    fixed: Array  # estimate − truth


def run(folder: Path, options: Namespace) -> int:
    """Run what is not yet in the results, then render them."""
    run_cells(Results(folder, EXPERIMENT), [*plan(options)], measure_cell, expected)
    return render(folder)


def plan(options: Namespace) -> Iterator[Cell]:
    """Yield the populations that were asked for."""
    for name in options.cells or DESIGNS:
        if name not in DESIGNS:
            raise ResultsError(f"there is no cell {name!r}; choose from {', '.join(DESIGNS)}")
        design = DESIGNS[name]
        K, N = (QUICK_TOPICS, QUICK_DOCUMENTS) if options.quick else (design.n_topics, design.n_documents)
        for seed in range(options.seeds or (1 if options.quick else SEEDS)):
            yield Cell(name, METHOD, K, N, seed)


def expected(cell: Cell) -> Iterable[str]:
    """Return the measures of a population."""
    return [f"{quantity}_{measure}" for quantity in QUANTITIES for measure in MEASURES]


def measure_cell(cell: Cell) -> dict[str, float]:
    """Plant topics, draw corpora, and measure how often the intervals contain the truth."""
    rng = np.random.default_rng([cell.seed, *cell.design.encode()])
    is_quick = cell.N == QUICK_DOCUMENTS
    design = DESIGNS[cell.design]._replace(n_topics=cell.F, n_documents=cell.N)
    if is_quick:
        design = design._replace(n_words=QUICK_WORDS)
    population = draw_population(design, rng)
    mixtures = population.draw_mixtures(N_DRAWS, rng)
    truth = {"population_shares": mixtures.mean(axis=0)}
    truth |= {"correlation": np.corrcoef(mixtures.T), "association": compute_association(mixtures)}
    fits = []
    for _ in range(QUICK_CORPORA if is_quick else N_CORPORA):
        corpus = draw_corpus(population, design, rng)
        fits.append(estimate(corpus, population, truth, QUICK_RESAMPLES if is_quick else N_RESAMPLES))
    measures: dict[str, float] = {}
    for quantity in QUANTITIES:
        found = summarize([fit[quantity] for fit in fits])
        measures |= {f"{quantity}_{name}": value for name, value in found.items()}
    return measures


def estimate(corpus: Corpus, population: Population, truth: dict[str, Array], n_resamples: int) -> dict[str, Estimates]:
    """Fit a corpus and return the estimates, their intervals and the truth, by planted topic."""
    K = len(population.topic_word)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # doubts about the number of topics
        model = TopicModel(K).fit_counts(corpus.counts, corpus.words)
        found = model.stability(n_resamples, level=LEVEL)
    place, _ = match(model.topic_word_, corpus.topic_word)
    true_words = np.take_along_axis(corpus.topic_word, found.words[place], axis=1)
    frequent = np.argsort(-corpus.topic_word, axis=1)[:, : true_words.shape[1]]
    word_errors = model.topic_word_[place] - corpus.topic_word
    result = {
        "words": pick(found.probabilities, place, true_words)._replace(
            fixed=np.take_along_axis(word_errors, frequent, axis=1).ravel()
        ),
        "shares": pick(found.shares, place, corpus.shares),
        "population_shares": pick(found.shares, place, truth["population_shares"]),
    }
    above = np.triu_indices(K, 1)
    at = place[above[0]], place[above[1]]
    for name in ("correlation", "association"):
        result[name] = pick(getattr(found, name), at, truth[name][above])
    return result


def pick(interval: Any, at: Any, truth: Array) -> Estimates:
    """Return the entries `at` of an interval with their truth."""
    low, high, value = (np.asarray(x)[at].ravel() for x in (interval.low, interval.high, interval.estimate))
    return Estimates(low, high, value, truth.ravel(), value - truth.ravel())


def summarize(fits: list[Estimates]) -> dict[str, float]:
    """Return the measures of one quantity over the corpora of a population.

    `below` and `above` count truths below and above their interval. `ratio` is the mean of |error| / half width.
    `bias` and `spread` are root mean squares over the entries; `claimed` is the spread that the widths imply.
    """
    low, high, value, truth = (np.concatenate([fit[i] for fit in fits]) for i in range(4))
    half = (high - low) / 2
    errors = np.array([fit.fixed for fit in fits])  # (corpora, entries)
    variance = errors.var(axis=0, ddof=1)
    squared_bias = (errors.mean(axis=0) ** 2 - variance / len(errors)).mean()
    return {
        "intervals": float(low.size),
        "covered": float(((low <= truth) & (truth <= high)).sum()),
        "below": float((truth < low).sum()),
        "above": float((truth > high).sum()),
        "width": float(2 * half.mean()),
        "ratio": float((abs(value - truth) / np.maximum(half, 1e-12)).mean()),
        "error": float(np.sqrt(((value - truth) ** 2).mean())),
        "bias": float(np.sqrt(max(squared_bias, 0.0))),
        "spread": float(np.sqrt(variance.mean())),
        "claimed": float(np.sqrt((half**2).mean()) / norm.ppf((1 + LEVEL) / 2)),
    }


def render(folder: Path) -> int:
    """Write and print the table; 1 if a coverage is out of bounds."""
    values = Results(folder, EXPERIMENT).values
    coverages, rows = [], []
    for design in DESIGNS:
        for quantity in QUANTITIES:
            if any(cell.design == design for cell in values):
                coverage, row = tabulate(values, design, quantity)
                coverages.append(coverage)
                rows.append(row)
    within = [LEAST <= coverage <= MOST for coverage in coverages]
    header = ["population", "quantity", "intervals", "coverage", "truth below", "above", "mean width"]
    header += ["error / half width", "rms error", "bias", "spread", "spread claimed"]
    text = (
        f"# Coverage of {LEVEL:.0%} intervals of TopicModel.stability\n\n{introduction(values)}\n\n"
        f"{markdown_table(header, rows)}\n\n"
        f"Within {LEAST:.0%} to {MOST:.0%}: {sum(within)} of {len(within)} rows.\n"
    )
    print(text, end="", flush=True)
    if values:
        replace_file(folder / "tables.md", text)
    return 0 if within and all(within) else 1


def introduction(values: Values) -> str:
    """Return what was measured, in words."""
    sizes = ", ".join(sorted({f"{cell.N:,} documents and {cell.F} topics" for cell in values}))
    seeds = len({cell.seed for cell in values})
    return (
        f"`python -m experiments coverage --seeds {seeds}`: {sizes}; planted populations of each kind: {seeds}, "
        f"with {N_CORPORA} corpora each ({QUICK_CORPORA} in a quick run), {N_RESAMPLES} resamples "
        f"({QUICK_RESAMPLES}). Truth below and above: shares of the misses. Bias is the error that the corpora of "
        "a population have in common, spread what differs between them, spread claimed what the widths imply; of "
        "words, bias and spread are those of the planted leading words. Root mean squares."
    )


def tabulate(values: Values, design: str, quantity: str) -> tuple[float, list[str]]:
    """Return the coverage of a quantity, and its row of the table."""
    found = {name: np.array(column(values, f"{quantity}_{name}", design=design)) for name in MEASURES}
    n, n_covered, n_below, n_above = (found[name].sum() for name in MEASURES[:4])
    n_missed = max(n_below + n_above, 1.0)
    numbers = [found["width"].mean(), found["ratio"].mean()]
    numbers += [np.sqrt((found[name] ** 2).mean()) for name in MEASURES[6:]]
    coverage = n_covered / n
    texts = [f"{n:.0f}", f"{coverage:.1%}", f"{n_below / n_missed:.0%}", f"{n_above / n_missed:.0%}"]
    return float(coverage), [design, quantity.replace("_", " "), *texts, *(f"{number:.4f}" for number in numbers)]
