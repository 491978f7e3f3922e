"""Figures of effects, with matplotlib (extra `plot`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from anchorless.errors import InputError

#: Width of a figure and height of each row of differences, in inches.
WIDTH, ROW_HEIGHT, LEAST_HEIGHT = 7.0, 0.28, 3.0
#: Characters of a topic's label.
LABEL_LENGTH = 40


def make_axes(ax: Any, height: float) -> Any:
    """Return the given axes or new ones."""
    if ax is not None:
        return ax
    try:
        from matplotlib.figure import Figure
    except ImportError:
        remedy = "install it with `pip install 'anchorless[plot]'`"
        raise InputError("figures need the package matplotlib", remedy=remedy) from None
    return Figure(figsize=(WIDTH, height), layout="constrained").subplots()


def plot_differences(contrasts: Any, name: str, level: float, ax: Any) -> Any:
    """Draw differences between levels of a category, a row for each topic and level."""
    ax = make_axes(ax, max(LEAST_HEIGHT, ROW_HEIGHT * len(contrasts)))
    place = np.arange(len(contrasts))[::-1]
    points = contrasts["points"].to_numpy()
    reach = np.abs(contrasts[["low", "high"]].to_numpy().T - points)
    ax.errorbar(points, place, xerr=reach, fmt="o", capsize=2)
    ax.axvline(0.0, color="gray", linewidth=0.8)
    several = contrasts["first"].nunique() > 1
    labels = [
        f"{row.topic} {row.label[:LABEL_LENGTH]}{f' · {row.first}' if several else ''}"
        for row in contrasts.itertuples()
    ]
    ax.set_yticks(place, labels)
    first = "level" if several else contrasts["first"].iloc[0]
    ax.set_xlabel(f"{name}: {first} − {contrasts['second'].iloc[0]}, percentage points ({level:.0%} intervals)")
    return ax


def plot_curves(curves: Any, name: str, is_date: bool, level: float, ax: Any, n_topics: int) -> Any:
    """Draw shares over the values of a column with bands, for the topics that change most."""
    ax = make_axes(ax, LEAST_HEIGHT + 1.0)
    change = curves.groupby("topic", sort=False)["share"].agg(lambda share: share.max() - share.min())
    for topic in change.sort_values(ascending=False, kind="stable").index[:n_topics]:
        rows = curves[curves["topic"] == topic]
        x = rows[name].to_numpy(dtype="datetime64[D]" if is_date else np.float64)
        (line,) = ax.plot(x, 100 * rows["share"], label=f"{topic} {rows['label'].iloc[0][:LABEL_LENGTH]}")
        ax.fill_between(x, 100 * rows["low"], 100 * rows["high"], color=line.get_color(), alpha=0.2, linewidth=0)
    ax.set_xlabel(name)
    ax.set_ylabel(f"mean share of documents, % ({level:.0%} bands)")
    ax.legend(fontsize="small")
    return ax
