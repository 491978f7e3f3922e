"""The paper's synthetic experiment: planted topics without anchor words.

Two designs give AnchorFree the exact co-occurrences P = CECᵀ of planted topics: `gaussian`, the paper's, whose
E has entries of both signs, and `nonnegative`, whose E real topic weights could have. There the truth must come
back to rounding, and where the paper compares with anchor-word methods, these must be far off. The third, `sampled`,
draws documents, and shows how the error falls with their number.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from experiments.results import Cell, Results, Values, column, replace_file, run_cells
from experiments.synthetic_fits import ANCHOR_METHODS, EXACT, EXACT_METHODS, expected, measure_cell, plan
from experiments.synthetic_report import draw, tables

EXPERIMENT = "synthetic"

#: What exact co-occurrences must give back: squared error of C in every seed and in the median over the seeds,
#: relative squared error of E in every seed, and how far, relatively, the default's log volume may be below hard's.
EVERY_C = 1e-14
MEDIAN_C = 1e-20
EVERY_E = 1e-8
VOLUME_LOSS = 1e-6

#: How many times AnchorFree's squared error of C, the larger of hard's and default's, an anchor-word method's must be
#: in every seed. Not where the premises of anchor words hold: there these methods, too, stay within `EVERY_C`.
ANCHOR_FACTOR = 1e10


def run(folder: Path, options: Namespace) -> int:
    """Run what is not yet in the results, then render them."""
    run_cells(Results(folder, EXPERIMENT), plan(options.quick), measure_cell, expected)
    return render(folder)


def render(folder: Path) -> int:
    """Write and print the tables, draw the plot, and return 1 if the limits do not hold."""
    values = Results(folder, EXPERIMENT).values
    broken = broken_limits(values)
    text = "\n\n".join([*tables(values), *comparison(values), verdict(values, broken)]) + "\n"
    print(text, end="", flush=True)
    if values:
        replace_file(folder / "tables.md", text)
        draw(values, EVERY_C, folder / "errors.png")
    return 1 if broken else 0


def broken_limits(values: Values) -> list[str]:
    """Return what breaks the limits for exact co-occurrences; a missing or undefined measure does."""
    exact = exact_fits(values)
    if not exact:
        return ["there is no fit of exact co-occurrences to judge"]
    return [*broken_in_a_fit(exact), *broken_in_the_median(exact), *broken_volumes(exact), *broken_comparison(values)]


def exact_fits(values: Values) -> Values:
    """Return AnchorFree's fits of exact co-occurrences."""
    return {cell: found for cell, found in values.items() if cell.design in EXACT and cell.method in EXACT_METHODS}


def broken_in_a_fit(exact: Values) -> Iterator[str]:
    """Yield fits whose C or E is wrong, or that warned."""
    for cell, found in exact.items():
        for measure, limit in (("error_C", EVERY_C), ("relative_E", EVERY_E), ("warnings", 0)):
            value = found.get(measure, np.nan)
            if not value <= limit:
                yield f"{cell}: {measure} is {value:.3g}, the limit {limit:.3g}"


def broken_in_the_median(exact: Values) -> Iterator[str]:
    """Yield groups of seeds whose median error of C is too large."""
    for design, method, F in sorted({cell[:3] for cell in exact}):
        value = np.median(column(exact, "error_C", design=design, method=method, F=F))
        if not value <= MEDIAN_C:
            yield f"{design}, {method}, F={F}: median of error_C is {value:.3g}, the limit {MEDIAN_C:.3g}"


def broken_volumes(exact: Values) -> Iterator[str]:
    """Yield fits of the default whose volume is below that of the paper's hard constraints, or has no partner."""
    for cell, found in exact.items():
        if cell.method == "default":
            volume = found.get("log_volume", np.nan)
            hard = exact.get(cell._replace(method="hard"), {}).get("log_volume", np.nan)
            if not volume >= hard - VOLUME_LOSS * abs(hard):
                yield f"{cell}: log_volume is {volume:.10g}, that of hard {hard:.10g}"


def broken_comparison(values: Values) -> Iterator[str]:
    """Yield anchor-word fits that are not far off, that are off where anchor words suffice, and methods without any."""
    factors, separable = anchor_factors(values), separable_errors(values)
    for cell, factor in factors.items():
        if not factor >= ANCHOR_FACTOR:
            yield f"{cell}: error_C is {factor:.3g} times AnchorFree's, the limit {ANCHOR_FACTOR:.3g}"
    for cell, error in separable.items():
        if not error <= EVERY_C:
            yield f"{cell}: error_C is {error:.3g} though anchor words suffice, the limit {EVERY_C:.3g}"
    for method in sorted(ANCHOR_METHODS.keys() - {cell.method for cell in factors}):
        yield f"there is no fit of {method} to compare AnchorFree with"


def anchor_factors(values: Values) -> dict[Cell, float]:
    """Return how many times AnchorFree's error of C each anchor-word method's is; nan where one is not known.

    Fits that were refused, and models where the premises of anchor words hold, have none.
    """
    return {
        cell: found.get("error_C", np.nan) / anchorfree_error(values, cell)
        for cell, found in values.items()
        if cell.method in ANCHOR_METHODS and found.get("separable") != 1 and found.get("refused") != 1
    }


def anchorfree_error(values: Values, cell: Cell) -> float:
    """Return AnchorFree's error of C on the model of a cell, the larger of its two variants, and never zero."""
    errors = [values.get(cell._replace(method=method), {}).get("error_C", np.nan) for method in EXACT_METHODS]
    return float(np.max([*errors, np.finfo(float).tiny]))


def separable_errors(values: Values) -> dict[Cell, float]:
    """Return the errors of C of the anchor-word methods where their premises hold; nan if refused."""
    return {
        cell: found.get("error_C", np.nan)
        for cell, found in values.items()
        if cell.method in ANCHOR_METHODS and found.get("separable") == 1
    }


def comparison(values: Values) -> Iterator[str]:
    """Yield what AnchorFree and the anchor-word methods make of the same models, in words."""
    factors, separable = anchor_factors(values), separable_errors(values)
    refused = sum(found.get("refused") == 1 for cell, found in values.items() if cell.method in ANCHOR_METHODS)
    if factors:
        yield (
            f"AnchorFree against anchor words: in {n_models(factors)} models, {len(factors)} fits, the squared error "
            f"of C of every anchor-word method is at least {np.min([*factors.values()]):.1e} times that of "
            f"AnchorFree, the larger of hard's and default's; {refused} fits were refused."
        )
    if separable:
        where = ", ".join(dict.fromkeys(f"F={cell.F} seed {cell.seed}" for cell in sorted(separable)))
        yield (
            f"Not among them: {n_models(separable)} models where anchor words suffice, since every topic has one and "
            f"E1 > 0 ({where}). There the anchor-word methods find C too, with a squared error of at most "
            f"{np.max([*separable.values()]):.1e}."
        )


def n_models(cells: Iterable[Cell]) -> int:
    """Return on how many planted models the fits are."""
    return len({cell._replace(method="") for cell in cells})


def verdict(values: Values, broken: list[str]) -> str:
    """Return whether the limits hold, and the first of what breaks them."""
    n_judged, n_compared = len(exact_fits(values)), len(anchor_factors(values))
    limits = (
        f"squared error of C at most {EVERY_C:g} in every seed and {MEDIAN_C:g} in the median, relative squared error "
        f"of E at most {EVERY_E:g}, default's log volume at most {VOLUME_LOSS:g} below hard's relatively, no warnings; "
        f"error of C of every anchor-word method at least {ANCHOR_FACTOR:g} times AnchorFree's in every seed where "
        f"anchor words do not suffice, and at most {EVERY_C:g} where they do"
    )
    if not broken:
        return f"Limits hold in all {n_judged} fits of exact co-occurrences and {n_compared} comparisons: {limits}."
    more = [f"- and {len(broken) - 20} more"] if len(broken) > 20 else []
    listing = "\n".join([*(f"- {line}" for line in broken[:20]), *more])
    judged = f"{len(broken)} broken, {n_judged} fits and {n_compared} comparisons judged"
    return f"{listing}\n\nLimits DO NOT HOLD ({judged}): {limits}."
