"""Figures of effects."""

from __future__ import annotations

from typing import Any

import numpy as np

from anchorless._plots.style import (
    COLOR,
    GRAY,
    ROW_HEIGHT,
    add_legend,
    compute_height,
    get_color,
    label_rows,
    make_axes,
    name_topic,
    tidy,
    to_label,
)

#: Height of a figure of curves, in inches.
CURVE_HEIGHT = 4.2


def plot_differences(contrasts: Any, name: str, level: float, ax: Any) -> Any:
    """Draw differences between levels of a category, a row for each topic, and a color for each level."""
    firsts, topics = list(contrasts["first"].unique()), list(contrasts["topic"].unique())
    several = len(firsts) > 1
    ax = make_axes(ax, compute_height(len(topics)) + (ROW_HEIGHT * len(topics) * (len(firsts) - 1) / 2 + 0.3) * several)
    ax.axvline(0.0, color=GRAY, linewidth=1.0, zorder=0)
    for i, first in enumerate(firsts):
        rows = contrasts[contrasts["first"] == first]
        place = -np.arange(len(topics)) + 0.6 * ((len(firsts) - 1) / 2 - i) / len(firsts)
        points = rows["points"].to_numpy()
        reach = np.abs(rows[["low", "high"]].to_numpy().T - points)
        color = get_color(i) if several else COLOR
        ax.errorbar(points, place, xerr=reach, fmt="o", markersize=4.5, color=color, label=to_label(first, 30))
    labels = contrasts.drop_duplicates("topic")
    label_rows(ax, [name_topic(row.topic, row.label) for row in labels.itertuples()])
    first = "level" if several else to_label(firsts[0])
    second = to_label(contrasts["second"].iloc[0])
    ax.set_xlabel(f"{to_label(name)}: {first} − {second}, percentage points ({level:.0%} intervals)")
    if several:
        add_legend(ax, len(firsts), to_label(name))
    return tidy(ax, grid="x")


def plot_curves(curves: Any, name: str, is_date: bool, level: float, ax: Any, n_topics: int) -> Any:
    """Draw shares over the values of a column with bands, for the topics that change most."""
    ax = make_axes(ax, CURVE_HEIGHT)
    change = curves.groupby("topic", sort=False)["share"].agg(lambda share: share.max() - share.min())
    topics = change.sort_values(ascending=False, kind="stable").index[:n_topics]
    for i, topic in enumerate(topics):
        rows, color = curves[curves["topic"] == topic], get_color(i)
        x = rows[name].to_numpy(dtype="datetime64[D]" if is_date else np.float64)
        ax.plot(x, 100 * rows["share"], color=color, label=name_topic(topic, rows["label"].iloc[0]))
        ax.fill_between(x, 100 * rows["low"], 100 * rows["high"], color=color, alpha=0.15, linewidth=0)
    ax.set_xlabel(to_label(name))
    ax.set_ylabel(f"mean share of documents, % ({level:.0%} bands)")
    add_legend(ax, len(topics))
    return tidy(ax, grid="y")
