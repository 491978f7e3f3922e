"""Do intervals of `TopicModel.effects` contain planted effects nine times in ten, and how large are the errors?

Corpora of `experiments.planted_effects`, beside topica's STM and LDA with least squares. Fitted topics are matched to
planted ones by cosine; only topics that a method has recovered are judged, and how many is part of the result.
"""

from __future__ import annotations

import importlib.util
from argparse import Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from experiments.effects_methods import LEVEL, METHODS, EffectFit
from experiments.planted import Array, Design
from experiments.planted_effects import EffectDesign, draw_effects
from experiments.recovery import match
from experiments.results import Cell, Results, ResultsError, Values, column, markdown_table, replace_file, run_cells

EXPERIMENT = "effects"
K = 8
DESIGNS = {
    "short": EffectDesign(Design(K, 1500, 3000, 20, spread=1.5)),
    "middle": EffectDesign(Design(K, 2000, 4000, 60, spread=1.5)),
    "long": EffectDesign(Design(K, 2000, 2000, 150, spread=1.5)),
    "many": EffectDesign(Design(K, 2000, 20000, 15, spread=1.5)),
    "dense": EffectDesign(Design(K, 1500, 4000, 60, spread=1.5, kind="dense")),
    "dirichlet": EffectDesign(Design(K, 1500, 3000, 40, spread=1.5, kind="dirichlet")),
    "authors": EffectDesign(Design(K, 1500, 3000, 40, spread=1.5), n_authors=60),
    "none": EffectDesign(Design(K, 1500, 3000, 30, spread=1.5), planted=False),
    "none-authors": EffectDesign(Design(K, 1500, 3000, 40, spread=1.5), n_authors=60, planted=False),
}
QUICK = ("short", "authors", "none")
QUICK_DOCUMENTS = 1000
SEEDS = 5
#: Seeds of the reported corpora begin here; settings were chosen on others.
FIRST_SEED = 100
KINDS = ("category", "slope", "curve")
#: A topic is recovered if the cosine with the planted one is at least this.
RECOVERED = 0.8
#: Effects of at least this size count for the bias, in the direction of the effect.
LARGE = 0.05
SIGNIFICANCE = 0.05
#: What must hold: coverage, share of false positives, and bias of a difference between parties, in points.
LEAST, MOST, MOST_FALSE, MOST_BIAS = 0.83, 0.96, 0.07, 1.5
MEASURES = ("intervals", "covered", "squares", "width", "tests", "significant", "large", "large_error", "large_truth")


def run(folder: Path, options: Namespace) -> int:
    """Run what is not yet in the results, then render them."""
    run_cells(Results(folder, EXPERIMENT), [*plan(options)], measure_cell, expected, options.jobs)
    return render(folder)


def plan(options: Namespace) -> Iterator[Cell]:
    """Yield the corpora and methods that were asked for."""
    for kind, asked, known in (("cell", options.cells, DESIGNS), ("method", options.methods, METHODS)):
        for name in asked or ():
            if name not in known:
                raise ResultsError(f"there is no {kind} {name!r}; choose from {', '.join(known)}")
    methods = options.methods or [name for name in METHODS if importlib.util.find_spec(METHODS[name].package)]
    for name in options.cells or (QUICK if options.quick else DESIGNS):
        N = QUICK_DOCUMENTS if options.quick else DESIGNS[name].topics.n_documents
        for seed in range(FIRST_SEED, FIRST_SEED + (options.seeds or (1 if options.quick else SEEDS))):
            for method in ("anchorless",) if options.quick and not options.methods else methods:
                yield Cell(name, method, K, N, seed)


def expected(cell: Cell) -> Iterable[str]:
    """Return the measures of a fit."""
    return ["recovered", "seconds", *(f"{kind}_{measure}" for kind in KINDS for measure in MEASURES)]


def measure_cell(cell: Cell) -> dict[str, float]:
    """Draw a corpus, fit it, and compare the effects with the planted ones."""
    design = DESIGNS[cell.design]
    design = design._replace(topics=design.topics._replace(n_documents=cell.N))
    planted = draw_effects(design, [cell.seed, *cell.design.encode()])
    fit = METHODS[cell.method].fit(planted, cell.F, cell.seed)
    place, cosine = match(fit.topic_word, planted.corpus.topic_word)
    recovered = cosine >= RECOVERED
    measures = {"recovered": float(recovered.sum()), "seconds": fit.seconds}
    for kind in KINDS:
        found = compare(fit, kind, planted.truth[kind][recovered], place[recovered])
        measures |= {f"{kind}_{name}": value for name, value in zip(MEASURES, found, strict=True)}
    return measures


def compare(fit: EffectFit, kind: str, truth: Array, place: Array) -> tuple[float, ...]:
    """Return the measures of one kind of effects, for the topics at `place` with true effects (n, m)."""
    found = fit.effects[kind]
    estimate, low, high, p = (values[place] for values in found)
    covered = (low <= truth) & (truth <= high)
    # Shares of a curve are no effects.
    large = (abs(truth) >= LARGE) & (kind != "curve")
    error = (estimate - truth) * np.sign(truth)
    numbers = truth.size, covered.sum(), ((estimate - truth) ** 2).sum(), (high - low).sum()
    tests = p.size, (p < SIGNIFICANCE).sum(), large.sum(), error[large].sum(), abs(truth[large]).sum()
    return tuple(float(number) for number in (*numbers, *tests))


def render(folder: Path) -> int:
    """Write and print the tables; 1 if a limit does not hold for anchorless."""
    values = Results(folder, EXPERIMENT).values
    rows = [
        tabulate(values, design, method)
        for design in DESIGNS
        for method in METHODS
        if column(values, "recovered", design=design, method=method)
    ]
    header = ["corpora", "method", "topics"]
    header += [f"{kind} covered" for kind in KINDS] + [f"{kind} error" for kind in KINDS]
    header += ["large effects", "their bias", "false positives", "seconds"]
    failed = list_failures(values)
    limits = "All limits hold." if not failed else "Limits that do not hold: " + "; ".join(failed) + "."
    text = f"# Planted effects of covariates on topics\n\n{introduction(values)}\n\n{markdown_table(header, rows)}\n\n"
    text += f"{describe_coverage(values)}\n\n{limits}\n"
    print(text, end="", flush=True)
    if values:
        replace_file(folder / "tables.md", text)
    return 0 if rows and not failed else 1


def introduction(values: Values) -> str:
    """Return what was measured, in words."""
    seeds = len({cell.seed for cell in values})
    sizes = "; ".join(describe_design(name) for name in DESIGNS if any(cell.design == name for cell in values))
    settings = [f"* {name}: {METHODS[name].settings}" for name in METHODS if any(c.method == name for c in values)]
    return (
        f"`python -m experiments effects --seeds {seeds}`: {sizes}. {K} planted topics, {seeds} corpora of each kind, "
        "formula `~ party + year + s(t)`. Topics: recovered ones (cosine with the planted topic at least "
        f"{RECOVERED:g}) of all; only these are judged. Covered: {LEVEL:.0%} intervals that contain the truth "
        f"(over all corpora it should be {LEAST:.0%} to {MOST:.0%} of them). Error: root mean square, in percentage "
        "points. Large effects: "
        f"mean size of effects of party and year of {100 * LARGE:g} points or more, and their bias, negative where "
        f"they are underestimated (at most {MOST_BIAS:g}). False positives: p below {SIGNIFICANCE:g} where nothing is "
        f"planted (at most {MOST_FALSE:.0%}).\n\n" + "\n".join(settings)
    )


def describe_design(name: str) -> str:
    """Return the sizes of a kind of corpora."""
    design = DESIGNS[name]
    authors = f" by {design.n_authors} authors" if design.n_authors else ""
    nothing = "" if design.planted else ", nothing planted"
    size = f"{design.topics.n_documents:,} documents of {design.topics.length} words"
    return f"{name}: {size}{authors}, {design.topics.kind} topics{nothing}"


class Totals(NamedTuple):
    """What is computed from sums over fits."""

    coverage: dict[str, float]  # by kind
    errors: dict[str, float]  # root mean square, in points
    large: float  # mean size of large effects, in points; nan if there are none
    bias: float
    false: float  # share of significant effects, where nothing is planted


def summarize(values: Values, designs: Iterable[str], method: str) -> Totals:
    """Return what is known of a method on some kinds of corpora."""

    def total(name: str) -> float:
        return float(sum(np.sum(column(values, name, design=design, method=method)) for design in designs))

    n = {kind: max(total(f"{kind}_intervals"), 1.0) for kind in KINDS}
    n_large, error, size = (sum(total(f"{kind}_{name}") for kind in KINDS) for name in MEASURES[6:])
    tests = max(sum(total(f"{kind}_tests") for kind in KINDS), 1.0)
    return Totals(
        {kind: total(f"{kind}_covered") / n[kind] for kind in KINDS},
        {kind: 100 * (total(f"{kind}_squares") / n[kind]) ** 0.5 for kind in KINDS},
        100 * size / n_large if n_large else np.nan,
        100 * error / n_large if n_large else np.nan,
        sum(total(f"{kind}_significant") for kind in KINDS) / tests,
    )


def tabulate(values: Values, design: str, method: str) -> list[str]:
    """Return a row of the table."""
    found = summarize(values, [design], method)
    recovered = column(values, "recovered", design=design, method=method)
    row = [design, method, f"{sum(recovered):.0f} of {K * len(recovered)}"]
    row += [f"{value:.0%}" for value in found.coverage.values()] + [f"{value:.2f}" for value in found.errors.values()]
    row += ["", ""] if np.isnan(found.large) else [f"{found.large:.1f}", f"{found.bias:+.2f}"]
    row.append("" if DESIGNS[design].planted else f"{found.false:.1%}")
    return [*row, f"{np.mean(column(values, 'seconds', design=design, method=method)):.1f}"]


def describe_coverage(values: Values) -> str:
    """Return the coverage of each method on all corpora, and its false positives, in words."""
    lines = []
    for method in METHODS:
        designs = [name for name in DESIGNS if column(values, "recovered", design=name, method=method)]
        if designs:
            found = summarize(values, designs, method)
            covered = ", ".join(f"{kind} {value:.1%}" for kind, value in found.coverage.items())
            none = [name for name in designs if not DESIGNS[name].planted]
            false = f"; false positives {summarize(values, none, method).false:.1%}" if none else ""
            lines.append(f"* {method}, all corpora: covered {covered}{false}")
    return "\n".join(lines)


def list_failures(values: Values) -> list[str]:
    """Return the limits that do not hold for anchorless: coverage by kind and false positives over all corpora."""
    designs = [name for name in DESIGNS if column(values, "recovered", design=name, method="anchorless")]
    coverage = summarize(values, designs, "anchorless").coverage if designs else {}
    failed = [f"{kind} {c:.1%}" for kind, c in coverage.items() if not LEAST <= c <= MOST]
    none = [name for name in designs if not DESIGNS[name].planted]
    false = summarize(values, none, "anchorless").false
    failed += [f"false positives {false:.1%}"] if false > MOST_FALSE else []
    for name in designs:
        bias = summarize(values, [name], "anchorless").bias
        failed += [f"bias of {name} {bias:+.2f}"] if abs(bias) > MOST_BIAS else []
    return failed
