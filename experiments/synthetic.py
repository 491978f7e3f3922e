"""The paper's synthetic experiment: planted topics without anchor words.

Two designs give AnchorFree the exact co-occurrences P = CECᵀ of planted topics: `gaussian`, the paper's, whose
E has entries of both signs, and `nonnegative`, whose E real topic weights could have. There the truth must come
back to rounding. The third, `sampled`, draws documents, and shows how the error falls with their number.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from experiments.results import Results, Values, column, replace_file, run_cells
from experiments.synthetic_fits import EXACT, expected, measured, plan
from experiments.synthetic_report import draw, tables

EXPERIMENT = "synthetic"

#: What exact co-occurrences must give back: squared error of C in every seed and in the median over the seeds,
#: relative squared error of E in every seed, and how far, relatively, the default's log volume may be below hard's.
EVERY_C = 1e-14
MEDIAN_C = 1e-20
EVERY_E = 1e-8
VOLUME_LOSS = 1e-6


def run(folder: Path, options: Namespace) -> int:
    """Run what is not yet in the results, then render them."""
    run_cells(Results(folder, EXPERIMENT), plan(options.quick), measured, expected)
    return render(folder)


def render(folder: Path) -> int:
    """Write and print the tables, draw the plot, and return 1 if the limits do not hold."""
    values = Results(folder, EXPERIMENT).values
    broken = broken_limits(values)
    text = "\n\n".join([*tables(values), verdict(values, broken)]) + "\n"
    print(text, end="", flush=True)
    if values:
        replace_file(folder / "tables.md", text)
        draw(values, EVERY_C, folder / "errors.png")
    return 1 if broken else 0


def broken_limits(values: Values) -> list[str]:
    """Return what breaks the limits for exact co-occurrences; a missing or undefined measure does."""
    exact = {cell: found for cell, found in values.items() if cell.design in EXACT}
    if not exact:
        return ["there is no fit of exact co-occurrences to judge"]
    return [*broken_in_a_fit(exact), *broken_in_the_median(exact), *broken_volumes(exact)]


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


def verdict(values: Values, broken: list[str]) -> str:
    """Return whether the limits hold, and the first of what breaks them."""
    n_judged = sum(cell.design in EXACT for cell in values)
    limits = (
        f"squared error of C at most {EVERY_C:g} in every seed and {MEDIAN_C:g} in the median, relative squared error "
        f"of E at most {EVERY_E:g}, default's log volume at most {VOLUME_LOSS:g} below hard's relatively, no warnings"
    )
    if not broken:
        return f"Limits hold in all {n_judged} fits of exact co-occurrences: {limits}."
    more = [f"- and {len(broken) - 20} more"] if len(broken) > 20 else []
    listing = "\n".join([*(f"- {line}" for line in broken[:20]), *more])
    return f"{listing}\n\nLimits DO NOT HOLD ({len(broken)} broken, {n_judged} fits judged): {limits}."
