"""Seconds of each method on the whole of TDT2 and of Reuters-21578, over the number of topics.

The fit alone counts, without reading and weighting, in one thread; of repeated runs the fastest.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from threadpoolctl import threadpool_limits

from experiments.corpora_data import CORPORA, find_corpora, whole
from experiments.corpora_fits import MAIN_METHODS, METHODS, fit_model
from experiments.results import (
    Cell,
    Results,
    ResultsError,
    Values,
    column,
    markdown_table,
    replace_file,
    run_cells,
    save_png,
)

EXPERIMENT = "runtime"
NAMES = ("tdt2", "reuters")
TOPICS = (5, 10, 15, 20, 25)
QUICK_TOPICS = (5, 10)


def run(folder: Path, options: Namespace) -> int:
    """Run what is not yet in the results, then render them."""
    find_corpora(NAMES)
    run_cells(Results(folder, EXPERIMENT), plan(options), measure_cell, lambda cell: ("seconds",))
    return render(folder)


def render(folder: Path) -> int:
    """Write and print the tables, and draw a figure per corpus; return 1 if there is nothing to show."""
    values = Results(folder, EXPERIMENT).values
    text = "\n\n".join(tables(values)) + "\n"
    print(text, end="", flush=True)
    if values:
        replace_file(folder / "tables.md", text)
    for name in corpora_of(values):
        draw_seconds(values, name, folder / f"{name}.png")
    return 0 if values else 1


def plan(options: Namespace) -> list[Cell]:
    """Return the fits, corpus by corpus; the seed is the number of the repeat."""
    unknown = [method for method in options.methods or () if method not in METHODS]
    if unknown:
        raise ResultsError(f"there is no method {unknown[0]!r}; choose from {', '.join(METHODS)}")
    methods = options.methods or [method for method in MAIN_METHODS if not (options.quick and method == "lda")]
    return [
        Cell(name, method, F, None, repeat)
        for name in NAMES
        for repeat in range(options.repeats or 1)
        for F in options.topics or (QUICK_TOPICS if options.quick else TOPICS)
        for method in methods
    ]


def measure_cell(cell: Cell) -> dict[str, float]:
    """Fit the whole corpus and return the seconds."""
    drawn = whole(cell.design)
    with threadpool_limits(1):
        _, seconds, n_warnings = fit_model(cell.method, cell.F, drawn)
    if n_warnings:
        print(f"\n{cell}: {n_warnings} warnings", file=sys.stderr)
    return {"seconds": float(f"{seconds:.4g}"), "warnings": n_warnings}


def tables(values: Values) -> Iterator[str]:
    """Yield a table for each corpus."""
    yield "# Seconds of each method"
    if not values:
        yield "There are no results yet: python -m experiments runtime --quick"
    for name in corpora_of(values):
        methods = methods_of(values, name)
        topics = sorted({cell.F for cell in values if cell.design == name})
        repeats = 1 + max(cell.seed for cell in values if cell.design == name)
        yield f"## {CORPORA[name].title}, all documents; one thread, best of {repeats}"
        rows = [[str(F), *(shown(best(values, name, method, F)) for method in methods)] for F in topics]
        yield markdown_table(["F", *methods], rows)


def corpora_of(values: Values) -> list[str]:
    """Return the corpora with results."""
    return [name for name in NAMES if any(cell.design == name for cell in values)]


def methods_of(values: Values, name: str) -> list[str]:
    """Return the methods with results on a corpus, in the order of the tables."""
    return [method for method in METHODS if any(cell[:2] == (name, method) for cell in values)]


def best(values: Values, name: str, method: str, F: int) -> float | None:
    """Return the fewest seconds of a fit, or None if it was not run."""
    return min(column(values, "seconds", design=name, method=method, F=F), default=None)


def shown(seconds: float | None) -> str:
    """Return seconds, or a dash for none."""
    return "–" if seconds is None else f"{seconds:.2f}"


def draw_seconds(values: Values, name: str, path: Path) -> None:
    """Draw the seconds of each method over the number of topics."""
    from matplotlib.figure import Figure  # only drawing needs it

    figure = Figure(figsize=(5.2, 3.8), layout="constrained")
    axes = figure.subplots()
    for k, method in enumerate(methods_of(values, name)):
        topics = sorted({cell.F for cell in values if cell[:2] == (name, method)})
        seconds = [best(values, name, method, F) for F in topics]
        axes.plot(topics, seconds, marker="osv^D*PXdh<>"[k % 12], ls="-" if k < 6 else "--", ms=5, lw=1.2, label=method)
    axes.set(yscale="log", xlabel="topics F", ylabel="seconds", xticks=sorted({cell.F for cell in values}))
    axes.set_title(f"{CORPORA[name].title}, all documents, one thread", fontsize=10)
    axes.grid(which="both", lw=0.3, alpha=0.5)
    figure.legend(loc="outside lower center", ncols=4, fontsize=8, frameon=False)
    save_png(figure, path)
