"""The results as plots."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from benchmarks import topics
from benchmarks.corpora import CORPORA, SYNTHETIC
from benchmarks.models import MODELS
from benchmarks.running import best, corpus_of, designs_of, fastest, list_profiles, methods_of, topics_of
from benchmarks.targets import growth_points, slope
from experiments.results import Values, save_png
from experiments.synthetic_report import sparse_label

MARKERS = "osv^D*P"
#: Rows of the picture of the peers: measure, label, logarithmic.
PEER_ROWS = (("seconds", "fit + transform, seconds", True), ("npmi", "NPMI", False), ("clustacc", "ClustAcc", False))
#: The same for hundreds of topics.
TOPIC_ROWS = (
    ("fit_cpu", "fit, processor seconds", True),
    ("npmi", "NPMI", False),
    ("nmi", "NMI with classes", False),
    ("heldout", "held-out log-likelihood", False),
)
GROWTH_LABELS = {"growth/words": "words, same non-zeros", "growth/documents": "documents"}


def draw_all(values: Values, folder: Path) -> None:
    """Draw what there are results of."""
    if designs_of(values, "peers"):
        draw_peers(values, folder / "peers.png")
    if designs_of(values, "topics"):
        draw_topics(values, folder / "topics.png")
    if list_profiles(values):
        draw_stages(values, folder / "stages.png")
    if designs_of(values, "growth"):
        draw_growth(values, folder / "growth.png")


def draw_peers(values: Values, path: Path) -> None:
    """Draw seconds and quality over the number of topics, a column per corpus."""
    from matplotlib.figure import Figure  # only drawing needs it

    designs = designs_of(values, "peers")
    figure = Figure(figsize=(max(6.5, 1.6 + 2.6 * len(designs)), 8.0), layout="constrained")
    grid = figure.subplots(len(PEER_ROWS), len(designs), squeeze=False, sharex="col")
    for column, design in enumerate(designs):
        for (measure, label, logarithmic), axes in zip(PEER_ROWS, grid[:, column], strict=True):
            draw_lines(axes, values, design, measure)
            set_sizes(axes, topics_of(values, design))
            axes.set_yscale("log" if logarithmic else "linear")
            axes.grid(lw=0.3, alpha=0.5)
            axes.set_ylabel(label if column == 0 else "")
        grid[0, column].set_title(short_title(design), fontsize=10)
        grid[-1, column].set_xlabel("topics K")
    handles = {label: line for axes in grid.flat for line, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    names = [name for name in MODELS if name in handles]
    figure.legend(
        [handles[name] for name in names], names, loc="outside lower center", ncols=4, fontsize=9, frameon=False
    )
    save_png(figure, path)


def draw_topics(values: Values, path: Path) -> None:
    """Draw seconds and quality over hundreds of topics, a column per corpus; what was stopped has no point."""
    from matplotlib.figure import Figure  # only drawing needs it

    designs = designs_of(values, "topics")
    figure = Figure(figsize=(max(6.5, 1.6 + 3.0 * len(designs)), 9.0), layout="constrained")
    grid = figure.subplots(len(TOPIC_ROWS), len(designs), squeeze=False, sharex="col")
    lines = {}
    for column, design in enumerate(designs):
        sizes = topics_of(values, design)
        for (measure, label, logarithmic), axes in zip(TOPIC_ROWS, grid[:, column], strict=True):
            for k, method in enumerate(topics.METHODS):
                found = [fastest(values, design, method, K).get(measure, math.nan) for K in sizes]
                if not all(map(math.isnan, found)):
                    (lines[method],) = axes.plot(
                        sizes, found, marker=MARKERS[k % len(MARKERS)], ms=4, lw=1, color=f"C{k}"
                    )
            axes.set_xscale("log")
            set_sizes(axes, sizes)
            axes.set_yscale("log" if logarithmic else "linear")
            axes.grid(lw=0.3, alpha=0.5)
            axes.set_ylabel(label if column == 0 else "")
        grid[0, column].set_title(short_title(design), fontsize=10)
        grid[-1, column].set_xlabel("topics K")
    figure.legend([*lines.values()], [*lines], loc="outside lower center", ncols=4, fontsize=9, frameon=False)
    save_png(figure, path)


def draw_lines(axes: Any, values: Values, design: str, measure: str) -> None:
    """Draw one measure of every model."""
    for k, method in enumerate(MODELS):
        if method not in methods_of(values, design, MODELS):
            continue
        topics = topics_of(values, design)
        heights = [height(values, design, method, K, measure) for K in topics]
        ours = method == "anchorfree"
        axes.plot(
            topics,
            heights,
            marker=MARKERS[k],
            color=f"C{k}",
            ms=6 if ours else 4,
            lw=2.4 if ours else 1.1,
            label=method,
        )


def height(values: Values, design: str, method: str, K: int, measure: str) -> float:
    """Return the measure of one model, nan where there is none."""
    if measure == "seconds":
        return best(values, design, method, K, "fit_wall", "transform_wall")
    return fastest(values, design, method, K).get(measure, math.nan)


def draw_stages(values: Values, path: Path) -> None:
    """Draw the stages of our fits as shares of its time, a bar per fit."""
    from matplotlib.figure import Figure  # only drawing needs it

    fits = [(f"{design}, K = {K}", found) for design, K, found in list_profiles(values)]
    stages = list(dict.fromkeys(stage for _, found in fits for stage in found if stage.startswith("seconds_")))
    figure = Figure(figsize=(7.5, 1.4 + 0.28 * len(fits)), layout="constrained")
    axes = figure.subplots()
    left = [0.0] * len(fits)
    for stage in stages:
        shares = [found.get(stage, 0.0) / stage_sum(found) for _, found in fits]
        axes.barh(range(len(fits)), shares, left=left, height=0.7, label=stage.removeprefix("seconds_"))
        left = [start + share for start, share in zip(left, shares, strict=True)]
    for row, (_, found) in enumerate(fits):
        axes.text(1.01, row, f"{found['fit_wall']:.2f} s", va="center", fontsize=8)
    axes.set(xlim=(0, 1.12), xlabel="share of the fit's seconds", xticks=[0, 0.25, 0.5, 0.75, 1])
    axes.set_yticks(range(len(fits)), [name for name, _ in fits], fontsize=8)
    axes.invert_yaxis()
    figure.legend(loc="outside upper center", ncols=len(stages), fontsize=8, frameon=False)
    save_png(figure, path)


def stage_sum(found: dict[str, float]) -> float:
    """Return the seconds of all stages."""
    return sum(value for name, value in found.items() if name.startswith("seconds_"))


def draw_growth(values: Values, path: Path) -> None:
    """Draw the seconds over the sizes, both logarithmic, with the exponent."""
    from matplotlib.figure import Figure  # only drawing needs it

    designs = designs_of(values, "growth")
    figure = Figure(figsize=(0.6 + 2.9 * len(designs), 3.2), layout="constrained")
    grid = figure.subplots(1, len(designs), squeeze=False)[0]
    for axes, design in zip(grid, designs, strict=True):
        sizes, seconds = growth_points(values, design)
        exponent = slope(values, design)
        axes.loglog(sizes, seconds, "o-", label="AnchorFree.fit")
        if not math.isnan(exponent):
            middle = math.exp(sum(map(math.log, seconds)) / len(seconds))
            centre = math.exp(sum(map(math.log, sizes)) / len(sizes))
            fitted = [middle * (size / centre) ** exponent for size in sizes]
            axes.loglog(sizes, fitted, "k:", lw=1, label=f"size^{exponent:.2f}")
        set_sizes(axes, sizes)
        axes.set(xlabel=GROWTH_LABELS.get(design, f"topics, {short_title(design)}"))
        axes.set_ylim(min(seconds, default=1.0) / 2, max(seconds, default=1.0) * 2)
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter(sparse_label)
        axes.tick_params(axis="y", which="both", labelsize=8)
        axes.grid(which="both", lw=0.3, alpha=0.5)
        axes.legend(fontsize=8, frameon=False)
    grid[0].set_ylabel("seconds")
    save_png(figure, path)


def set_sizes(axes: Any, sizes: list[int]) -> None:
    """Make the horizontal axis logarithmic, with a tick at every size."""
    axes.set_xscale("log")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes], fontsize=8)
    axes.set_xticks([], minor=True)


def short_title(design: str) -> str:
    """Return a short name of a corpus."""
    name = corpus_of(design)
    if name in SYNTHETIC:
        return f"{SYNTHETIC[name].n_documents:,} sampled documents"
    return CORPORA[name].title if name in CORPORA else name
