"""Figures of effects, with matplotlib (extra `plot`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle, islice
from typing import Any

import numpy as np

from anchorless._effects.columns import name_column
from anchorless._figures import STYLE, render_figure, require_matplotlib
from anchorless._plots.style import (
    COLORS,
    GRAY,
    count_shown,
    fit_letters,
    isolate,
    make_axes,
    name_topic,
    tidy,
    to_label,
)

#: Width of a figure, and heights of a row of differences, of what surrounds the rows, and of curves, in inches.
WIDTH, ROW_HEIGHT, MARGIN_HEIGHT, CURVE_HEIGHT = 7.5, 0.24, 0.9, 3.8
#: Labels of periods at most, and inches that a letter of one takes.
MAX_LABELS, LETTER_WIDTH = 10, 0.085
#: Rows of differences at most: those with the strongest evidence.
MAX_ROWS = 60
#: Dashes for readers who cannot tell the colors apart.
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)))
#: Differences with a smaller adjusted p-value are filled.
SIGNIFICANCE = 0.05


def make_figure(heights: Sequence[float]) -> Any:
    """Return a figure with a row of axes for each height, in inches."""
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, sum(heights)), layout="constrained")
    figure.subplots(len(heights), height_ratios=list(heights))
    return figure


def render_panels(draw: Sequence[Callable[[Any], Any]], heights: Sequence[float], format: str) -> bytes:
    """Return a figure with a panel for each function that draws on axes, as a file's bytes."""
    make_figure([1.0])  # refuses a missing matplotlib
    from matplotlib import rc_context

    with rc_context(STYLE):
        figure = make_figure(heights)
        for ax, fill in zip(list(figure.axes), draw, strict=True):
            fill(ax)
        return render_figure(figure, format)


def measure_differences(contrasts: Any) -> float:
    """Return the height of differences, in inches."""
    return MARGIN_HEIGHT + ROW_HEIGHT * min(len(contrasts), MAX_ROWS)


def plot_differences(contrasts: Any, name: str, level: float, ax: Any) -> Any:
    """Draw differences between levels of a category, a row for each topic and level; significant ones are filled."""
    ax = make_axes(ax, measure_differences(contrasts))
    shown = contrasts.sort_values("p", kind="stable").iloc[:MAX_ROWS].sort_index()
    levels = list(dict.fromkeys(contrasts["first"]))
    color = dict(zip(levels, cycle(COLORS), strict=False))
    place = np.arange(len(shown))[::-1]
    ax.axvline(0.0, color=GRAY, linewidth=0.8, zorder=0)
    for row, y in zip(shown.itertuples(), place, strict=True):
        own = color[row.first]
        ax.plot([row.low, row.high], [y, y], color=own, linewidth=1.6, solid_capstyle="butt")
        inside = own if row.p_adjusted < SIGNIFICANCE else "white"
        ax.plot([row.points], [y], marker="o", markersize=5, color=own, markerfacecolor=inside)
    several = len(levels) > 1
    ax.set_yticks(place, [name_row(row, several) for row in shown.itertuples()])
    ax.tick_params(axis="y", labelsize=fit_letters(ax, len(shown)))
    ax.set_ylim(-0.7, len(shown) - 0.3)
    second = to_label(contrasts["second"].iloc[0])
    what = f"each level − {second}" if several else f"{to_label(levels[0])} − {second}"
    left = f"\nthe {MAX_ROWS} of {len(contrasts)} with the strongest evidence" if len(contrasts) > MAX_ROWS else ""
    ax.set_title(f"{to_label(name)}: {what}{left}", loc="right")  # long names of rows leave little room at the right
    ax.set_xlabel(f"percentage points ({level:.0%} intervals)\nfilled: p < {SIGNIFICANCE:g}, corrected for topics")
    tidy(ax, grid="x")
    return ax


def name_row(row: Any, several: bool) -> str:
    """Return the label of a row of differences."""
    return f"{name_topic(row.topic, row.label)}{f' · {isolate(to_label(row.first))}' if several else ''}"


def plot_curves(curves: Any, name: str, is_date: bool, level: float, ax: Any, n_topics: int) -> Any:
    """Draw shares over the values of a column with bands, for the topics that change most."""
    ax = make_axes(ax, CURVE_HEIGHT)
    chosen = select_changing(curves, n_topics)
    draw_bands(ax, curves, chosen, lambda rows: convert_axis(rows[name_column(name)], is_date))
    left = count_shown(len(chosen), curves["topic"].nunique(), "change")
    ax.set_title(f"{to_label(name)}{left and f', {left}'}")
    ax.set_xlabel(f"{to_label(name)} (other columns as they are)")
    finish_shares(ax, level)
    return ax


def plot_periods(table: Any, name: str, level: float, ax: Any, n_topics: int, topics: Sequence[int] | None) -> Any:
    """Draw shares by period with bands, and the number of documents of each period as bars."""
    ax = make_axes(ax, CURVE_HEIGHT)
    chosen = select_changing(table, n_topics) if topics is None else list(topics)
    periods = list(dict.fromkeys(table[name]))
    numbers = table.groupby(name, sort=False)["n_documents"].first().to_numpy()
    place = {period: i for i, period in enumerate(periods)}
    beside = ax.twinx()
    beside.bar(range(len(periods)), numbers, color="#e3e3e3", width=0.8, zorder=0)
    beside.set_ylim(0, 4 * numbers.max())  # the bars stay below the lines
    beside.set_yticks([0, int(numbers.max())])
    beside.set_ylabel("documents (bars)", loc="bottom")
    beside.spines[["top", "left"]].set_visible(False)
    ax.set_zorder(beside.get_zorder() + 1)
    ax.patch.set_visible(False)
    draw_bands(ax, table, chosen, lambda rows: np.array([place[period] for period in rows[name]]))
    names = [to_label(period) for period in periods]
    every = -(-len(periods) // count_labels(ax, max(map(len, names))))
    ax.set_xticks(range(0, len(periods), every), names[::every])
    ax.set_xlabel(to_label(name))
    if topics is None:
        ax.set_title(count_shown(len(chosen), table["topic"].nunique(), "change"), size="medium", loc="left")
    finish_shares(ax, level)
    return ax


def count_labels(ax: Any, length: int) -> int:
    """Return how many labels of so many letters fit beside each other below axes."""
    inches = ax.get_window_extent().width / ax.figure.dpi
    return max(1, min(MAX_LABELS, int(inches / (LETTER_WIDTH * (length + 1.5)))))


def select_changing(table: Any, n_topics: int) -> list[Any]:
    """Return the topics whose shares change most, in their own order."""
    change = table.groupby("topic", sort=False)["share"].agg(lambda share: share.max() - share.min())
    often = set(islice(change.sort_values(ascending=False, kind="stable").index, n_topics))
    return [topic for topic in change.index if topic in often]


def draw_bands(ax: Any, table: Any, topics: Sequence[Any], compute_x: Callable[[Any], Any]) -> None:
    """Draw the shares of topics as lines in bands; a single value is a point with its interval."""
    for topic, color, dash in zip(topics, cycle(COLORS), cycle(DASHES), strict=False):
        rows = table[table["topic"] == topic]
        x, share, low, high = compute_x(rows), *(100 * rows[column].to_numpy() for column in ("share", "low", "high"))
        label, marker = name_topic(topic, rows["label"].iloc[0]), "o" if len(rows) <= 15 else None
        ax.plot(x, share, color=color, linestyle=dash, marker=marker, markersize=3, linewidth=1.6, label=label)
        ax.fill_between(x, low, high, color=color, alpha=0.15, linewidth=0)
        if len(rows) == 1:
            ax.vlines(x, low, high, color=color)


def convert_axis(values: Any, is_date: bool) -> Any:
    """Return values for an axis."""
    return values.to_numpy(dtype="datetime64[D]" if is_date else np.float64)


def finish_shares(ax: Any, level: float) -> None:
    """Label the axis of shares and the topics."""
    ax.set_ylabel(f"mean share, % ({level:.0%} bands)")
    ax.set_ylim(bottom=0.0)
    ax.margins(x=0.02)
    ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(0.0, -0.16), ncols=2, frameon=False)
    tidy(ax, grid="y")
