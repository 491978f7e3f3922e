"""Mean shares of topics by the values of a column, from tables with intervals."""

from __future__ import annotations

from typing import Any

import numpy as np

from anchorless._plots.style import (
    DARK,
    WIDTH,
    add_legend,
    compute_height,
    count_shown,
    get_color,
    label_rows,
    make_axes,
    name_topic,
    tidy,
    to_label,
)

#: With more values than colors, shares are drawn as a matrix, of at most so many columns.
MAX_VALUES, MAX_COLUMNS = 7, 30
#: In a matrix, shares are marked if their interval is wider than this part of the scale of colors.
WIDE_INTERVAL = 0.5


def choose_topics(frame: Any, n_topics: int) -> list[Any]:
    """Return the topics whose shares differ most, in their order in the frame."""
    shares = frame.groupby("topic", sort=False)["share"]
    spread = (shares.max() - shares.min()).sort_values(ascending=False, kind="stable")
    chosen = set(spread.index[:n_topics])
    return [topic for topic in frame["topic"].unique() if topic in chosen]


def select_largest(frame: Any, n_values: int) -> Any:
    """Return the rows of the values in the first column that have most documents."""
    column = frame.columns[0]
    sizes = frame.drop_duplicates(column).set_index(column)["n_documents"]
    return frame[frame[column].isin(sizes.sort_values(ascending=False, kind="stable").index[:n_values])]


def plot_by(frame: Any, n_topics: int, ax: Any = None) -> Any:
    """Draw the shares of the topics that differ most by the values in the first column."""
    column = frame.columns[0]
    n_values, frame = frame[column].nunique(), select_largest(frame, MAX_COLUMNS)
    topics = choose_topics(frame, n_topics)
    left = count_shown(len(topics), frame["topic"].nunique(), "differ")
    frame = frame[frame["topic"].isin(topics)]
    values = list(frame[column].unique())
    names = [name_topic(t, frame.loc[frame["topic"] == t, "label"].iloc[0]) for t in topics]
    if len(values) > MAX_VALUES:
        return plot_share_matrix(frame, names, left, n_values, ax)
    ax = make_axes(ax, compute_height(len(topics) * max(2, len(values)) // 2) + 0.3)
    place = {topic: -i for i, topic in enumerate(topics)}
    for i, value in enumerate(values):
        rows = frame[frame[column] == value]
        offset = 0.6 * ((len(values) - 1) / 2 - i) / len(values)
        y, x = np.array([place[topic] for topic in rows["topic"]]) + offset, 100 * rows["share"].to_numpy()
        reach = np.clip([x - 100 * rows["low"], 100 * rows["high"] - x], 0.0, None)
        label = to_label(value, 30)
        ax.errorbar(x, y, xerr=reach, fmt="o", markersize=4.5, color=get_color(i), label=label, clip_on=False)
    label_rows(ax, names)
    ax.set_xlim(left=0)
    ax.set_xlabel("\n".join(filter(None, ["mean share of documents, %", left])))
    add_legend(ax, len(values), to_label(column))
    return tidy(ax, grid="x")


def plot_share_matrix(frame: Any, names: list[str], title: str, n_values: int, ax: Any) -> Any:
    """Draw shares as a matrix, topics × values of the first column, which are some of `n_values`."""
    column = frame.columns[0]
    topics, values = list(frame["topic"].unique()), list(frame[column].unique())
    table, low, high = (
        100 * frame.pivot(index="topic", columns=column, values=name).loc[topics, values].to_numpy()
        for name in ("share", "low", "high")
    )
    width = max(WIDTH, 4.0 + 0.2 * len(values))
    ax = make_axes(ax, compute_height(len(topics)) + 1.2, width)
    edges = np.arange(len(values) + 1) - 0.5, 0.5 - np.arange(len(topics) + 1)
    image = ax.pcolormesh(*edges, table, cmap="Blues", vmin=0.0)
    largest = float(np.nanmax(table, initial=0.0))
    unknown = np.argwhere(high - low > WIDE_INTERVAL * largest)
    for i, j in unknown:
        color = "white" if table[i, j] > 0.6 * largest else DARK
        ax.text(j, -i, "?", ha="center", va="center", size="small", color=color)
    label_rows(ax, names)
    ax.set_ylim(-len(topics) + 0.5, 0.5)
    ax.set_xticks(range(len(values)), [to_label(value, 22) for value in values], rotation=45, ha="right", size="small")
    ax.tick_params(axis="x", length=0)
    ax.spines[:].set_visible(False)
    left_out = f" ({len(values)} of {n_values} values, those of most documents)" if len(values) < n_values else ""
    marks = "?: the interval is wider than half of the scale" if len(unknown) else ""
    ax.set_xlabel("\n".join(filter(None, [f"{to_label(column)}{left_out}", marks])))
    ax.set_title(title, size="medium", loc="left")
    ax.figure.colorbar(image, ax=ax, label="mean share of documents, %", aspect=30)
    return ax
