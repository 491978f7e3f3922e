"""Which topics are often together: as a network and as a matrix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anchorless._plots.style import (
    COLOR,
    DARK,
    DIVERGING,
    WIDTH,
    fit_letters,
    label_rows,
    make_axes,
    name_topic,
    to_label,
)
from anchorless._report.topic_map import MIN_LINK, order_topics, place_topics, select_links

Array = npt.NDArray[np.float64]

#: Area of the circle of the largest topic, and of the smallest that is drawn, in square points.
LARGEST_CIRCLE, SMALLEST_CIRCLE = 900.0, 110.0
#: Width of the line of the strongest association, in points.
WIDEST_LINE = 5.0
POSITIVE, NEGATIVE = COLOR, "#D55E00"
#: Maps of up to so many topics are as wide as a page; larger ones grow with their number, up to a factor.
MAX_PAGE_TOPICS, MAX_GROWTH = 30, 2.0
#: Room between circles, in points, and steps in which they are moved apart.
CIRCLE_GAP, SEPARATION_STEPS = 3.0, 300
#: Size of the labels in points, room around them, and how much wider than measured they may be at another resolution.
LABEL_SIZE, LABEL_MARGIN, WIDER = 8.0, 1.0, 1.08
#: What stands below a map without lines.
NO_LINKS = (
    "no two topics are together more or less often than their sizes explain\n"
    f"(no association of {MIN_LINK} or more, or of −{MIN_LINK} or less), so there are no lines"
)
#: Lines and dots below a label shine through.
LABEL_BOX = {"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 0.8}
#: With more topics, the numbers in a matrix would overlap; rows then get this height in inches.
MAX_NUMBERED, MATRIX_ROW, MIN_MATRIX, MAX_MATRIX = 12, 0.3, 3.2, 16.0
#: Width of a letter of a name beside a matrix, and of the legend of its colors, in inches.
LETTER, BAR_WIDTH = 0.08, 1.3
#: Below this height of a matrix, in inches, the label of its colors takes two lines.
SMALL_MATRIX = 4.5
#: Width of a number in a matrix, in inches; with more columns, the numbers below them are upright.
NUMBER_WIDTH, MAX_LEVEL_COLUMNS = 0.44, 40
#: Width of a number in a matrix, such as −.001, in heights of its letters.
NUMBER_LETTERS = 2.7


def plot_matrix(association: Array, labels: Sequence[str], ax: Any = None) -> Any:
    """Draw the associations as a matrix, with topics that are often together beside each other."""
    from matplotlib.ticker import MaxNLocator

    R, order = np.asarray(association, dtype=np.float64), order_topics(association)
    F = len(R)
    size = float(np.clip((NUMBER_WIDTH if F <= MAX_NUMBERED else MATRIX_ROW) * F, MIN_MATRIX, MAX_MATRIX))
    names = [name_topic(k, labels[k]) for k in order]
    is_new, ax = ax is None, make_axes(ax, size + 0.6, size + LETTER * max(map(len, names)) + BAR_WIDTH)
    if is_new:
        ax.figure.set_layout_engine("compressed")  # with square cells, others may cut names off
    shown = R[np.ix_(order, order)].copy()
    np.fill_diagonal(shown, np.nan)
    largest = max(float(np.nanmax(abs(shown), initial=0.0)), MIN_LINK)  # smaller ones are pale: they are no links
    edges = np.arange(F + 1) - 0.5
    image = ax.pcolormesh(edges, -edges, shown, cmap=DIVERGING, vmin=-largest, vmax=largest)
    if F <= MAX_NUMBERED:
        for i, j in zip(*np.nonzero(np.isfinite(shown)), strict=True):
            color = "white" if abs(shown[i, j]) > 0.6 * largest else DARK
            ax.text(j, -i, format_number(shown[i, j], largest), ha="center", va="center", size="x-small", color=color)
    ax.set_aspect("equal")
    label_rows(ax, names)
    ax.set_ylim(-F + 0.5, 0.5)
    ax.set_xticks(range(F), order)
    ax.tick_params(axis="x", length=0, labelsize="small", rotation=90 if F > MAX_LEVEL_COLUMNS else 0)
    ax.spines[:].set_visible(False)
    # A small matrix is shorter than the label in one line.
    label = f"association: rarely together (−),{' ' if size > SMALL_MATRIX else chr(10)}often together (+)"
    bar = ax.figure.colorbar(image, ax=ax, label=label, shrink=0.8, aspect=30)
    bar.locator = MaxNLocator(5)
    bar.update_ticks()
    ax.figure.draw_without_rendering()  # in given axes, square cells may be much smaller than the axes
    ax.tick_params(axis="y", labelsize=fit_letters(ax, F))
    ax.tick_params(axis="x", labelsize=fit_letters(ax, F, "small"))
    for text in ax.texts:
        text.set_size(fit_letters(ax, NUMBER_LETTERS * F, "x-small"))
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
    ax, area = make_map_axes(ax, len(R)), circle_areas(shares)
    links, radius = select_links(R), np.sqrt(area / np.pi)
    frame_points(ax)
    places = place_topics(R)
    if links:
        add_link_legend(ax)
    else:
        ax.set_xlabel(NO_LINKS, size="small", loc="left")
        places[:, 1] = 1.0 - places[:, 1]  # rows begin at the top
    X = separate_circles(ax, places, radius, links)
    strongest = max((abs(R[f, g]) for f, g in links), default=1.0)
    for f, g in sorted(links, key=lambda pair: abs(R[pair])):
        style = {"color": POSITIVE, "linestyle": "-"} if R[f, g] > 0 else {"color": NEGATIVE, "linestyle": (0, (2, 2))}
        width = 0.4 + WIDEST_LINE * (abs(R[f, g]) / strongest)
        ax.plot(*X[[f, g]].T, linewidth=width, alpha=0.45, zorder=1, solid_capstyle="round", **style)
    ax.scatter(*X.T, s=area, color="#dbe9f4", edgecolor=COLOR, linewidth=1.0, zorder=2)
    for k, (x, y) in enumerate(X):
        ax.text(x, y, str(k), ha="center", va="center", size="small", weight="bold", zorder=3)
    place_labels(ax, X, radius, [to_label(label, 26) for label in labels], np.argsort(-shares))
    return ax


def make_map_axes(ax: Any, n_topics: int) -> Any:
    """Return axes for a map: with many topics larger than a page, so that circles and labels find their places."""
    scale = float(np.clip(np.sqrt(n_topics / MAX_PAGE_TOPICS), 1.0, MAX_GROWTH))
    return make_axes(ax, 5.6 * scale, WIDTH * 1.15 * scale)


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


class Frame(NamedTuple):
    """The corner (2,) of axes in the units of the data, their size (2,) in these units, and in points."""

    corner: Array
    extent: Array
    size: Array

    def to_points(self, X: Array) -> Array:
        """Return places (n, 2) in points from the lower left corner."""
        return (X - self.corner) / self.extent * self.size

    def to_data(self, points: Array) -> Array:
        """Return places (n, 2), given in points, in the units of the data."""
        return np.asarray(points / self.size * self.extent + self.corner)


def measure_frame(ax: Any) -> Frame:
    """Return where the axes are."""
    ax.figure.draw_without_rendering()  # the layout decides on the size of the axes
    box = ax.get_position()
    size = 72 * np.array(ax.figure.get_size_inches()) * [box.width, box.height]
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    return Frame(np.array([left, bottom]), np.array([right - left, top - bottom]), size)


def separate_circles(ax: Any, X: Array, radius: Array, links: Sequence[tuple[int, int]] = ()) -> Array:
    """Move circles at X (n, 2), with radii in points, until none covers another or a line of others, if there is room.

    A line through a circle would read as two lines that end there.
    """
    frame = measure_frame(ax)
    centers = frame.to_points(X) + 1e-3 * np.column_stack([np.arange(len(X)), -np.arange(len(X))])  # no two are equal
    for _ in range(SEPARATION_STEPS):
        offsets = centers[:, None] - centers
        distance = np.hypot(*offsets.T).T
        np.fill_diagonal(distance, np.inf)
        missing = radius[:, None] + radius + CIRCLE_GAP - distance
        aside = leave_lines(centers, radius, links)
        if (missing <= 0).all() and not aside.any():
            break
        centers += ((np.maximum(missing, 0.0) / 2 / distance)[:, :, None] * offsets).sum(axis=1) + aside
        centers = np.clip(centers, radius[:, None], frame.size - radius[:, None])
    return frame.to_data(centers)


def leave_lines(centers: Array, radius: Array, links: Sequence[tuple[int, int]]) -> Array:
    """Return the steps (n, 2) that take circles off the lines between others."""
    steps = np.zeros_like(centers)
    for f, g in links:
        start, along = centers[f], centers[g] - centers[f]
        part = np.clip((centers - start) @ along / max(float(along @ along), 1e-12), 0.0, 1.0)
        offsets = centers - start - part[:, None] * along
        distance = np.hypot(*offsets.T)
        missing = np.maximum(radius + CIRCLE_GAP - distance, 0.0)
        missing[[f, g]] = 0.0
        steps += (missing / np.maximum(distance, 1e-12))[:, None] * offsets
    return steps


def place_labels(
    ax: Any, X: Array, radius: Array, labels: Sequence[str], order: Iterable[int], weight: str = "normal"
) -> None:
    """Write labels beside points with a radius in points, in an order, each where it covers no other; or not at all."""
    frame = measure_frame(ax)
    centers = frame.to_points(X)
    taken = [(x - r, y - r, x + r, y + r) for (x, y), r in zip(centers, radius, strict=True)]
    style = {"size": LABEL_SIZE, "color": DARK, "weight": weight, "zorder": 4, "bbox": LABEL_BOX}
    for k in order:
        text = ax.text(*X[k], labels[k], ha="center", va="center", **style)
        box = text.get_window_extent()
        sides = WIDER * box.width, box.height
        width, height = (72 / ax.figure.dpi * side + 2 * LABEL_MARGIN for side in sides)
        for x, y in list_places(centers[k], float(radius[k]), width, height):
            found = (x, y, x + width, y + height)
            inside = x >= 0 and y >= 0 and found[2] <= frame.size[0] and found[3] <= frame.size[1]
            if inside and not any(overlap(found, other) for other in taken):
                taken.append(found)
                text.set_position(frame.to_data(np.array([x + width / 2, y + height / 2])))
                break
        else:
            text.remove()


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
