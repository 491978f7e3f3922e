"""Which topics are often together: as a network and as a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from anchorless._plots.style import COLOR, DARK, DIVERGING, WIDTH, label_rows, make_axes, name_topic, to_label
from anchorless._report.topic_map import MIN_LINK, compute_layout, order_topics, select_links

Array = npt.NDArray[np.float64]

#: Area of the circle of the largest topic, and of the smallest that is drawn, in square points.
LARGEST_CIRCLE, SMALLEST_CIRCLE = 900.0, 110.0
#: Width of the line of the strongest association, in points.
WIDEST_LINE = 5.0
POSITIVE, NEGATIVE = COLOR, "#D55E00"
#: Size of the labels in points, and the width of a character relative to it.
LABEL_SIZE, CHARACTER_WIDTH, LINE_HEIGHT = 8.0, 0.56, 1.25
#: Lines and dots below a label shine through.
LABEL_BOX = {"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 0.8}
#: With more topics, the numbers in a matrix would overlap; rows then get this height in inches.
MAX_NUMBERED, MATRIX_ROW, MIN_MATRIX, MAX_MATRIX = 12, 0.3, 3.2, 16.0
#: Width of a number in a matrix, in inches.
NUMBER_WIDTH = 0.44


def plot_matrix(association: Array, labels: Sequence[str], ax: Any = None) -> Any:
    """Draw the associations as a matrix, with topics that are often together beside each other."""
    from matplotlib.ticker import MaxNLocator

    R, order = np.asarray(association, dtype=np.float64), order_topics(association)
    F = len(R)
    size = float(np.clip((NUMBER_WIDTH if F <= MAX_NUMBERED else MATRIX_ROW) * F, MIN_MATRIX, MAX_MATRIX))
    ax = make_axes(ax, size + 0.6, size + 3.0)
    shown = R[np.ix_(order, order)].copy()
    np.fill_diagonal(shown, np.nan)
    largest = float(np.nanmax(abs(shown), initial=0.0)) or 1.0
    edges = np.arange(F + 1) - 0.5
    image = ax.pcolormesh(edges, -edges, shown, cmap=DIVERGING, vmin=-largest, vmax=largest)
    if F <= MAX_NUMBERED:
        for i, j in zip(*np.nonzero(np.isfinite(shown)), strict=True):
            color = "white" if abs(shown[i, j]) > 0.6 * largest else DARK
            ax.text(j, -i, format_number(shown[i, j], largest), ha="center", va="center", size="x-small", color=color)
    ax.set_aspect("equal")
    label_rows(ax, [name_topic(k, labels[k]) for k in order])
    ax.set_ylim(-F + 0.5, 0.5)
    ax.set_xticks(range(F), order)
    ax.tick_params(axis="x", length=0, labelsize="small")
    ax.spines[:].set_visible(False)
    label = "association: rarely together (−), often together (+)"
    bar = ax.figure.colorbar(image, ax=ax, label=label, shrink=0.8, aspect=30)
    bar.locator = MaxNLocator(5)
    bar.update_ticks()
    return ax


def format_number(value: float, largest: float) -> str:
    """Write a number with the decimals that the largest needs for two digits, and zero without a sign."""
    decimals = max(2, 1 - int(np.floor(np.log10(largest))))
    text = f"{value:.{decimals}f}"
    return "0" if float(text) == 0 else text.replace("-", "−").replace("0.", ".", 1)


def plot_network(association: Array, shares: Array, labels: Sequence[str], ax: Any = None) -> Any:
    """Draw topics as circles with lines between those that are often or rarely together.

    The area of a circle is the share of its topic. Numbers are in the circles; labels stand where there is room.
    """
    R, shares = np.asarray(association, dtype=np.float64), np.asarray(shares)
    ax = make_axes(ax, 5.6, WIDTH * 1.15)
    X, area = compute_layout(R), circle_areas(shares)
    links = select_links(R)
    strongest = max((abs(R[f, g]) for f, g in links), default=1.0)
    for f, g in sorted(links, key=lambda pair: abs(R[pair])):
        style = {"color": POSITIVE, "linestyle": "-"} if R[f, g] > 0 else {"color": NEGATIVE, "linestyle": (0, (2, 2))}
        width = 0.4 + WIDEST_LINE * (abs(R[f, g]) / strongest)
        ax.plot(*X[[f, g]].T, linewidth=width, alpha=0.45, zorder=1, solid_capstyle="round", **style)
    ax.scatter(*X.T, s=area, color="#dbe9f4", edgecolor=COLOR, linewidth=1.0, zorder=2)
    for k, (x, y) in enumerate(X):
        ax.text(x, y, str(k), ha="center", va="center", size="small", weight="bold", zorder=3)
    frame_points(ax)
    if links:
        add_link_legend(ax)
    else:
        ax.set_xlabel(f"no two topics are associated by {MIN_LINK} or more", size="small", loc="left")
    place_labels(ax, X, np.sqrt(area / np.pi), [to_label(label, 26) for label in labels], np.argsort(-shares))
    return ax


def add_link_legend(ax: Any) -> None:
    """Name the two kinds of lines, below the data."""
    from matplotlib.lines import Line2D

    lines = [
        Line2D([], [], color=POSITIVE, linewidth=3, alpha=0.45, label="often together"),
        Line2D([], [], color=NEGATIVE, linewidth=3, alpha=0.45, linestyle=(0, (2, 2)), label="rarely together"),
    ]
    place = {"loc": "upper left", "bbox_to_anchor": (0.0, 0.0), "ncols": 2, "frameon": False, "fontsize": "small"}
    ax.legend(handles=lines, **place)


def circle_areas(shares: Array) -> Array:
    """Return the areas of circles, in square points."""
    return np.maximum(LARGEST_CIRCLE * shares / max(float(shares.max(initial=0.0)), 1e-300), SMALLEST_CIRCLE)


def frame_points(ax: Any) -> None:
    """Leave room for circles and labels at the border of the unit square, without numbers."""
    ax.set_xlim(-0.14, 1.14)
    ax.set_ylim(-0.1, 1.1)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)


def place_labels(ax: Any, X: Array, radius: Array, labels: Sequence[str], order: Any) -> None:
    """Write labels beside points with a radius in points, in an order, each where it covers no other; or not at all."""
    ax.figure.draw_without_rendering()  # the layout decides on the size of the axes
    box = ax.get_position()
    size = 72 * np.array(ax.figure.get_size_inches()) * [box.width, box.height]  # of the axes, in points
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    centers = (X - [left, bottom]) / [right - left, top - bottom] * size
    taken = [(x - r, y - r, x + r, y + r) for (x, y), r in zip(centers, radius, strict=True)]
    for k in order:
        width, height = CHARACTER_WIDTH * LABEL_SIZE * len(labels[k]), LINE_HEIGHT * LABEL_SIZE
        for x, y in list_places(centers[k], float(radius[k]), width, height):
            found = (x, y, x + width, y + height)
            inside = x >= 0 and y >= 0 and found[2] <= size[0] and found[3] <= size[1]
            if inside and not any(overlap(found, other) for other in taken):
                taken.append(found)
                at = np.array([x + width / 2, y + height / 2]) / size * [right - left, top - bottom] + [left, bottom]
                ax.text(*at, labels[k], ha="center", va="center", size=LABEL_SIZE, color=DARK, zorder=4, bbox=LABEL_BOX)
                break


def list_places(center: Array, radius: float, width: float, height: float) -> list[tuple[float, float]]:
    """Return lower left corners of a label around a circle: below, above, right, left, and between."""
    x, y = float(center[0]), float(center[1])
    gap = radius + 1.0
    middle, low = x - width / 2, y - height / 2
    sides = [(middle, y - gap - height), (middle, y + gap), (x + gap, low), (x - gap - width, low)]
    near = 0.75 * gap
    corners = [(x + s * near - (width if s < 0 else 0), y + t * near - (height if t < 0 else 0)) for s, t in CORNERS]
    return [*sides, *corners]


CORNERS = ((1, -1), (-1, -1), (1, 1), (-1, 1))


def overlap(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    """Say whether two boxes (left, bottom, right, top) have points in common."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
