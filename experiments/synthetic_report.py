"""Tables and plot of the synthetic experiment, from its results."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from experiments.results import Values, column, markdown_table, save_png
from experiments.synthetic_fits import (
    ANCHOR_METHODS,
    EXACT,
    EXACT_METHODS,
    METHODS,
    N_WORDS,
    PAPER_DESIGN,
    PAPER_TOPICS,
    PAPER_TRIALS,
    SAMPLED,
    SAMPLED_TOPICS,
    TOPICS,
)

PAPER = Path(__file__).parent / "paper"

#: Columns of the comparison with anchor words: method -> its name in the table, and in the paper if it is there.
COMPARED: dict[str, tuple[str, str | None]] = {
    "fastanchor": ("FastAnchor", "FastAnchor"),
    "spa": ("SPA", "SPA"),
    "snpa": ("SNPA", "SNPA"),
    "xray": ("XRAY", "XRAY"),
    "hard": ("AnchorFree hard", "AnchorFree"),
    "default": ("AnchorFree default", None),
}
#: Heading of each table of the comparison, what it shows, and the corresponding table of the paper.
COMPARISONS = (
    ("Squared error of C, ours (the paper's)", "error_C", "C"),
    ("Squared error of E, ours (the paper's)", "error_E", "E"),
    ("Squared error of E relative to ‖E‖², ours", "relative_E", None),
)


def paper_errors(matrix: str, algorithm: str | None = "AnchorFree") -> dict[int, float]:
    """Return a method's squared error of "C" or "E" in the paper, the mean of 10 trials, by number of topics."""
    with open(PAPER / f"synthetic_{matrix}.csv", encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["algorithm"] == algorithm]
    return {int(row["F"]): float(row["squared_error"]) for row in rows}


def tables(values: Values) -> Iterator[str]:
    """Yield the tables with their headings."""
    yield "# Synthetic experiment"
    yield from comparison_tables(values)
    for design, title in zip(EXACT, ("the paper's design", "second moments of Dirichlet proportions"), strict=True):
        rows = exact_rows(values, design)
        if rows:
            yield f"## Exact co-occurrences, {design} E: {title}"
            yield f"{N_WORDS:,} words; squared errors after matching; the one of E is relative to ‖E‖²." + (
                " The paper's are means of 10 trials, and its error of E is not relative." if design == EXACT[0] else ""
            )
            yield markdown_table(exact_header(design), rows)
    rows = sampled_rows(values)
    if rows:
        yield "## Sampled documents"
        yield (
            f"{SAMPLED_TOPICS} topics, {N_WORDS:,} words, about 100 words per document; medians over the seeds. "
            "ℓ1: mean over the topics of the ℓ1 error, at most 2. hard, default: relative frequencies, biased P; "
            "unbiased: counts, unbiased P, otherwise the default."
        )
        yield markdown_table(sampled_header(), rows)


def comparison_tables(values: Values) -> Iterator[str]:
    """Yield the paper's two tables, and the one of E relative to its size; nothing without anchor-word methods."""
    trials = paper_trials(values)
    if any(cell.method in ANCHOR_METHODS for cell in trials):
        yield "## Anchor words against AnchorFree: the paper's tables"
        yield (
            f"{N_WORDS:,} words, exact co-occurrences, gaussian E; means over the first {PAPER_TRIALS} seeds, as many "
            "as the paper's trials. A fit that was refused has no error and is counted."
        )
        for heading, measure, matrix in COMPARISONS:
            yield f"### {heading}"
            yield markdown_table(
                ["F", *(name for name, _ in COMPARED.values())], compared_rows(trials, measure, matrix)
            )


def paper_trials(values: Values) -> Values:
    """Return the fits of the models that every method of the paper's tables is given."""
    return {
        cell: found
        for cell, found in values.items()
        if cell.design == PAPER_DESIGN and cell.F in PAPER_TOPICS and cell.seed < PAPER_TRIALS
    }


def compared_rows(trials: Values, measure: str, matrix: str | None) -> list[list[str]]:
    """Return a row for each number of topics, with a method's mean and the paper's in each cell."""
    paper = {method: paper_errors(matrix, name) for method, (_, name) in COMPARED.items()} if matrix else {}
    return [
        [str(F), *(format_compared(trials, measure, method, F, paper.get(method, {}).get(F)) for method in COMPARED)]
        for F in sorted({cell.F for cell in trials})
    ]


def format_compared(trials: Values, measure: str, method: str, F: int, paper: float | None) -> str:
    """Return the mean over the fits that were not refused, the paper's mean, and how many were refused."""
    where = {"method": method, "F": F}
    refused = [flag == 1 for flag in column(trials, "refused", **where)]
    known = [error for error, no in zip(column(trials, measure, **where), refused, strict=True) if not no]
    text = f"{np.mean(known):.2g}" if known else "–"
    text += "" if paper is None else f" ({paper:.2g})"
    return text + (f", {sum(refused)} refused" if any(refused) else "")


def exact_header(design: str) -> list[str]:
    """Return the columns of a table of exact co-occurrences; the paper's numbers only for its own design."""
    header = ["F", "method", "seeds", "C median", "C max", "E max", "sweeps max", "seconds median", "warnings"]
    return header + (["paper, C", "paper, E"] if design == EXACT[0] else [])


def exact_rows(values: Values, design: str) -> list[list[str]]:
    """Return a row for each number of topics and method."""
    paper = [paper_errors("C"), paper_errors("E")] if design == EXACT[0] else []
    rows = []
    for F in sorted({cell.F for cell in values if cell.design == design}):
        for method in EXACT_METHODS:
            where = {"design": design, "method": method, "F": F}
            C, E, sweeps, seconds, warned = (
                column(values, name, **where) for name in ("error_C", "relative_E", "sweeps", "seconds", "warnings")
            )
            if C:
                own = [scientific(np.median(C)), scientific(np.max(C)), scientific(np.max(E)), f"{np.max(sweeps):.0f}"]
                own += [f"{np.median(seconds):.2f}", f"{np.sum(warned):.0f}"]
                rows.append([str(F), method, str(len(C)), *own, *(scientific(errors.get(F)) for errors in paper)])
    return rows


def sampled_header() -> list[str]:
    """Return the columns of the table of sampled documents."""
    return [
        "N",
        "seeds",
        *(f"{what}, {method}" for what in ("ℓ1", "squared", "seconds") for method in METHODS),
        "warnings",
    ]


def sampled_rows(values: Values) -> list[list[str]]:
    """Return a row for each number of documents."""
    rows = []
    for N in sorted({cell.N for cell in values if cell.design == SAMPLED and cell.N is not None}):
        columns = {
            (name, method): column(values, name, design=SAMPLED, method=method, N=N)
            for name in ("l1_C", "error_C", "seconds", "warnings")
            for method in METHODS
        }
        seeds = max(len(found) for found in columns.values())
        row = [f"{N:,}", str(seeds)]
        for name, digits in (("l1_C", ".3f"), ("error_C", ".4f"), ("seconds", ".2f")):
            found = [columns[name, method] for method in METHODS]
            row += [f"{np.median(each):{digits}}" if each else "–" for each in found]
        warned = sum(sum(columns["warnings", method]) for method in METHODS)
        rows.append([*row, f"{warned:.0f}"])
    return rows


def scientific(value: float | None) -> str:
    """Return a number as 1.2e-16, or a dash for none."""
    return "–" if value is None else f"{value:.1e}"


def draw(values: Values, limit: float, path: Path) -> None:
    """Draw the error of C over the number of topics, and over the number of documents.

    `limit` is drawn as the largest error that exact co-occurrences may have.
    """
    from matplotlib.figure import Figure  # only drawing needs it

    figure = Figure(figsize=(11, 3.6), layout="constrained")
    by_topics, by_documents, by_documents_squared = figure.subplots(1, 3, width_ratios=(1.35, 1, 1))
    draw_exact(by_topics, values, limit)
    draw_sampled(by_documents, values, "l1_C", "mean ℓ1 error per topic")
    draw_sampled(by_documents_squared, values, "error_C", "squared error of C")
    save_png(figure, path)


def draw_exact(axes: Any, values: Values, limit: float) -> None:
    """Draw the median of each design and method with a bar up to the largest error, and the paper's errors."""
    groups = [(design, method) for design in EXACT for method in EXACT_METHODS]
    for k, (design, method) in enumerate(groups):
        topics = sorted({cell.F for cell in values if cell[:2] == (design, method)})
        errors = [column(values, "error_C", design=design, method=method, F=F) for F in topics]
        middle = np.array([np.median(each) for each in errors])
        rise = np.array([np.max(each) for each in errors]) - middle
        x = np.array(topics) + 0.6 * (k - 1.5)  # side by side, not on top of each other
        axes.errorbar(x, middle, yerr=[0 * rise, rise], fmt="os^v"[k], ms=4, lw=1, label=f"{design} E, {method}")
    paper = paper_errors("C")
    axes.plot(paper.keys(), paper.values(), "k*--", lw=0.8, label="paper (mean of 10)")
    axes.axhline(limit, color="grey", lw=0.8, ls=":")
    axes.text(31, limit, "limit", va="bottom", ha="right", fontsize=7, color="grey")
    axes.set(yscale="log", xlabel="topics F", ylabel="squared error of C: median to max", xticks=TOPICS)
    axes.set_title("exact co-occurrences", fontsize=10)
    axes.set_ylim(1e-33, 1e3)
    axes.legend(fontsize=7, ncols=2, loc="upper left", frameon=False)


def draw_sampled(axes: Any, values: Values, measure: str, label: str) -> None:
    """Draw the median of each method over the number of documents, in a band from the smallest to the largest."""
    for method in METHODS:
        documents = sorted({cell.N for cell in values if cell[:2] == (SAMPLED, method) and cell.N is not None})
        if not documents:
            continue
        errors = [column(values, measure, design=SAMPLED, method=method, N=N) for N in documents]
        (line,) = axes.plot(documents, [np.median(each) for each in errors], "o-", ms=4, lw=1.2, label=method)
        low, high = [min(each) for each in errors], [max(each) for each in errors]
        axes.fill_between(documents, low, high, color=line.get_color(), alpha=0.15, lw=0)
    axes.set(xscale="log", yscale="log", xlabel="documents N", ylabel=label)
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(sparse_label)
    axes.tick_params(axis="y", which="minor", labelsize=8)
    axes.set_title(f"sampled documents, {SAMPLED_TOPICS} topics", fontsize=10)
    axes.grid(which="both", lw=0.3, alpha=0.5)
    if axes.has_data():
        axes.legend(fontsize=8, frameon=False)


def sparse_label(value: float, position: int | None = None) -> str:
    """Return the label of a minor tick of a logarithmic axis: 2 and 5 times a power of ten only."""
    return f"{value:g}" if f"{value:e}"[0] in "25" else ""
