"""Do topic models find planted topics without anchor words, and which of them are correlated?

Documents from `experiments.planted` (the sparse and the dense population), fitted by anchorless and by other libraries
with the planted number of topics. Topics are matched one to one by the affinity Σ√(pq) of p(word | topic): the cosine
is decided by a few frequent words, which different topics may share. A fit is measured by its topics, its mixtures, its
shares, its correlations, and the pairs that it lists as most positively correlated.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from experiments.planted import Array, Corpus, Design, Population, draw_corpus, draw_population
from experiments.recovery_methods import METHODS, N_RESAMPLES, SIGNIFICANCE, Fit
from experiments.results import Cell, Results, ResultsError, Values, column, markdown_table, replace_file, run_cells

EXPERIMENT = "recovery"
DESIGNS = {
    "K20-L60": Design(20, 5000, 10_000, 60),
    "K20-L60-dense": Design(20, 5000, 10_000, 60, kind="dense"),
    "K20-L14": Design(20, 5000, 10_000, 14, share=0.1),
    "K50-L60": Design(50, 10_000, 15_000, 60, share=0.1),
    "K100-L60": Design(100, 20_000, 20_000, 60, share=0.1),
    "K12-L60": Design(12, 5000, 10_000, 60),
    "K30-L60": Design(30, 5000, 10_000, 60),
    "K100-N100k": Design(100, 20_000, 100_000, 60, share=0.1),
    "K150-N150k": Design(150, 20_000, 150_000, 60, share=0.1),
    "K200-N200k": Design(200, 20_000, 200_000, 60, share=0.1),
    "quick-L60": Design(5, 500, 1000, 60),
    "quick-L14": Design(5, 500, 1500, 14),
}
QUICK = ("quick-L60", "quick-L14")
#: Designs of minutes to hours per fit; they run only if `--cells` names them.
LARGE = ("K100-N100k", "K150-N150k", "K200-N200k")
SEEDS = 3
#: Cosine from which a planted topic counts as recovered.
RECOVERED = 0.8
#: Measure -> heading and format of its column.
MEASURES = {
    "topics": ("l1 topics", ".3f"),
    "recovered": ("recovered", ".0%"),
    "mixtures": ("l1 mixtures", ".3f"),
    "shares": ("l1 shares", ".3f"),
    "correlations": ("r correlations", ".2f"),
    "precision": ("precision of pairs", ".0%"),
    "seconds": ("seconds", ".1f"),
}
#: Further measures where there are p-values.
SIGNIFICANT = {
    "independent_significant": (f"independent pairs, p < {SIGNIFICANCE:g}", ".1%"),
    "independent_positive": ("of these called positive", ".1%"),
    "planted_significant": (f"planted pairs, p < {SIGNIFICANCE:g}", ".0%"),
}
#: Methods whose pairs have p-values, and the cells for which they are computed.
TESTED_METHODS, TESTED_DESIGNS = ("anchorless", "anchorless-moments"), ("K12-L60", "K30-L60", *QUICK)


def run(folder: Path, options: Namespace) -> int:
    """Run what is not yet in the results, then render them."""
    run_cells(Results(folder, EXPERIMENT), [*plan(options)], measure_cell, expected)
    return render(folder)


def plan(options: Namespace) -> Iterator[Cell]:
    """Yield the fits that were asked for, of methods that are installed; name those that are left out."""
    usual = [name for name in DESIGNS if name not in (*QUICK, *LARGE)]
    designs = options.cells or (QUICK if options.quick else usual)
    methods = options.methods or [*METHODS]
    for what, names, known in (("cell", designs, DESIGNS), ("method", methods, METHODS)):
        for name in names:
            if name not in known:
                raise ResultsError(f"there is no {what} {name!r}; choose from {', '.join(known)}")
    for name in methods:
        if not METHODS[name].is_installed:
            print(f"{name} is left out: {METHODS[name].package} is not installed", file=sys.stderr)
    for design in designs:
        K, _, N = DESIGNS[design][:3]
        for seed in range(options.seeds or (1 if options.quick else SEEDS)):
            for name in methods:
                if METHODS[name].is_installed:
                    yield Cell(design, name, K, N, seed)


def expected(cell: Cell) -> Iterable[str]:
    """Return the measures of a fit."""
    return [*MEASURES, *(SIGNIFICANT if is_tested(cell) else ())]


def is_tested(cell: Cell) -> bool:
    """Tell whether the p-values of the pairs are measured."""
    return cell.method in TESTED_METHODS and cell.design in TESTED_DESIGNS


def measure_cell(cell: Cell) -> dict[str, float]:
    """Fit a method to a corpus and compare what it found with the planted truth."""
    population, corpus = draw(cell.design, cell.seed)
    fit = METHODS[cell.method].fit(corpus, cell.F, cell.seed)
    found = compare(fit, population, corpus)
    return found | (measure_significance(fit, population, corpus) if is_tested(cell) else {})


@lru_cache(maxsize=1)
def draw(design: str, seed: int) -> tuple[Population, Corpus]:
    """Draw a population and a corpus; the methods of one seed share them."""
    rng = np.random.default_rng([seed, *design.encode()])
    population = draw_population(DESIGNS[design], rng)
    return population, draw_corpus(population, DESIGNS[design], rng)


def match(topics: Array, planted: Array) -> tuple[Any, Array]:
    """Return the fitted topic of each planted one (K,), matched by their affinity Σ√(pq), and their cosines (K,)."""
    _, place = linear_sum_assignment(-np.sqrt(planted) @ np.sqrt(topics).T)
    A, B = (C / np.maximum(np.linalg.norm(C, axis=1, keepdims=True), 1e-300) for C in (topics[place], planted))
    return place, np.einsum("kv,kv->k", A, B)


def compare(fit: Fit, population: Population, corpus: Corpus) -> dict[str, float]:
    """Return the errors of a fit."""
    place, cosine = match(fit.topic_word, corpus.topic_word)
    known = corpus.lengths > 0
    above = np.triu_indices(len(place), 1)
    truth = np.corrcoef(corpus.mixtures[known].T)[above]
    correlation = fit.correlation[np.ix_(place, place)][above]
    n_positive = len(population.positive)
    listed = to_planted(fit.pairs[:n_positive], place)
    return {
        "topics": float(abs(fit.topic_word[place] - corpus.topic_word).sum(axis=1).mean()),
        "recovered": float((cosine >= RECOVERED).mean()),
        "mixtures": float(abs(fit.mixtures[:, place] - corpus.mixtures)[known].sum(axis=1).mean()),
        "shares": float(abs(fit.shares[place] - corpus.shares).sum()),
        "correlations": float(np.corrcoef(truth, correlation)[0, 1]) if correlation.std() > 0 else 0.0,
        "precision": len(listed & to_set(population.positive)) / n_positive,
        "seconds": fit.seconds,
    }


def to_planted(pairs: Any, place: Any) -> set[frozenset[int]]:
    """Return pairs of fitted topics as pairs of planted ones."""
    return to_set(np.argsort(place)[np.asarray(pairs, dtype=np.intp)])


def to_set(pairs: Any) -> set[frozenset[int]]:
    """Return pairs (n, 2) without their order."""
    return {frozenset(pair) for pair in np.asarray(pairs).tolist()}


def measure_significance(fit: Fit, population: Population, corpus: Corpus) -> dict[str, float]:
    """Return the shares of the independent and of the planted pairs that are called significant."""
    fit.model.stability(N_RESAMPLES)
    edges = fit.model.correlation_edges()
    place, _ = match(fit.topic_word, corpus.topic_word)
    planted = to_set(population.positive) | to_set(population.negative)
    pairs = np.argsort(place)[edges[["topic_a", "topic_b"]].to_numpy()]
    related = np.array([frozenset(pair) in planted for pair in pairs.tolist()])
    called = edges["p"].to_numpy() < SIGNIFICANCE
    positive = called & (edges["association"].to_numpy() > 0)
    return {
        "independent_significant": float(called[~related].mean()),
        "independent_positive": float(positive[~related].mean()),
        "planted_significant": float(called[related].mean()),
    }


def render(folder: Path) -> int:
    """Write and print the tables; there are no limits."""
    values = Results(folder, EXPERIMENT).values
    text = "\n\n".join(["# Recovery of planted topics", introduction(values), *tables(values)]) + "\n"
    print(text, end="", flush=True)
    if values:
        replace_file(folder / "tables.md", text)
    return 0


def introduction(values: Values) -> str:
    """Return what was measured, in words."""
    settings = [f"* {name}: {METHODS[name].settings}" for name in METHODS if any(c.method == name for c in values)]
    missing = [name for name in METHODS if not any(c.method == name for c in values)]
    if missing:
        settings.append(f"* not run: {', '.join(missing)}")
    names = ",".join(name for name in DESIGNS if any(c.design == name for c in values))
    return (
        f"`python -m experiments recovery --cells {names}`: planted topics without anchor words, Zipf's law, "
        "logistic-normal proportions with positive and negative pairs; the planted number of topics is given. l1 "
        "errors are means over topics (p(word | topic), at most 2) and documents (mixtures), and the sum over "
        f"topics (shares of the tokens); recovered: planted topics with a cosine of at least {RECOVERED:g}; r of "
        "the topic correlations with those of the planted mixtures; precision of as many listed positive pairs as "
        "were planted. CTMs list pairs by the correlations of their prior, anchorless by `correlation_edges()`, "
        "the others by those of their mixtures. Means over the seeds.\n\n" + "\n".join(settings)
    )


def describe_topics(design: Design) -> str:
    """Return what a topic prefers, in words."""
    return "dense topics" if design.kind == "dense" else f"q = {design.share:g}"


def tables(values: Values) -> Iterator[str]:
    """Yield a heading and a table for each cell, and a table of the significant pairs."""
    for name, design in DESIGNS.items():
        cells = {cell: found for cell, found in values.items() if cell.design == name}
        if cells:
            yield (
                f"## {name}: {design.n_topics} topics, {design.n_words:,} words, {design.n_documents:,} documents of "
                f"{design.length} tokens, {describe_topics(design)}"
            )
            yield tabulate(cells, MEASURES)
    tested = {cell: found for cell, found in values.items() if "independent_significant" in found}
    if tested:
        yield (
            f"## Pairs called significant, `stability({N_RESAMPLES})`\n\nIndependent pairs have independent "
            "logarithms; since proportions sum to one, their association is not exactly zero."
        )
        yield tabulate(tested, SIGNIFICANT, by_design=True)


def tabulate(values: Values, measures: dict[str, tuple[str, str]], by_design: bool = False) -> str:
    """Return a table with one row per method, means over the seeds."""
    keys = [
        (design, method)
        for design in DESIGNS
        for method in METHODS
        if any((cell.design, cell.method) == (design, method) for cell in values)
    ]
    rows = []
    for design, method in keys:
        means = [np.mean(column(values, name, design=design, method=method)) for name in measures]
        texts = [format(mean, form) for mean, (_, form) in zip(means, measures.values(), strict=True)]
        n_seeds = len(column(values, "seconds", design=design, method=method))
        rows.append([*([design] if by_design else []), method, str(n_seeds), *texts])
    header = [*(["cell"] if by_design else []), "method", "seeds", *(heading for heading, _ in measures.values())]
    return markdown_table(header, rows)
