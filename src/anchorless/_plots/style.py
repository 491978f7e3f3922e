"""What all figures have in common: axes, colors, labels."""

from __future__ import annotations

import re
from importlib import metadata
from typing import Any

from anchorless._figures import require_matplotlib
from anchorless._text_safety import replace_controls

#: Width of a figure: that of a page of text, in inches.
WIDTH = 7.0
#: Height of a row of text, and of what surrounds the rows, in inches.
ROW_HEIGHT, FRAME_HEIGHT = 0.26, 0.8
#: Colors that color-blind readers can tell apart (Okabe and Ito), without the yellow, which is too light for lines.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#000000")
#: Bars and dots of one kind; lines of comparison; text beside the data.
COLOR, GRAY, DARK = COLORS[0], "#b0b0b0", "#333333"
#: Negative, zero and positive numbers.
DIVERGING = "RdBu_r"
#: Part of the height of a row that its letters take at most, so that no name covers the next one.
LETTER_PART = 0.8
#: Characters of a topic's label.
LABEL_LENGTH = 34
#: A letter of Hebrew, Arabic and their neighbors, which are written from right to left.
RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
#: The first matplotlib that joins and orders such letters; earlier ones draw the marks of directions as boxes.
ORDERING_MATPLOTLIB = (3, 11)


def make_axes(ax: Any, height: float, width: float = WIDTH) -> Any:
    """Return the given axes, or those of a new figure, which a notebook displays."""
    if ax is not None:
        return ax
    require_matplotlib()
    from matplotlib import pyplot

    _, ax = pyplot.subplots(figsize=(width, height), layout="constrained")
    return ax


def measure(ax: Any) -> Any:
    """Return the box of axes in inches."""
    return ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())


def fit_letters(ax: Any, n_rows: float, size: float | str = "medium") -> float:
    """Return a size of letters, in points: the given one, or a smaller one if so many rows have no room for it."""
    from matplotlib.font_manager import FontProperties

    return min(FontProperties(size=size).get_size_in_points(), LETTER_PART * 72 * measure(ax).height / max(n_rows, 1))


def compute_height(n_rows: int) -> float:
    """Return the height of a figure of so many rows of text, in inches."""
    return FRAME_HEIGHT + ROW_HEIGHT * max(n_rows, 4)


def get_color(i: int) -> str:
    """Return the color of the i-th line or group."""
    return COLORS[i % len(COLORS)]


def to_label(text: Any, length: int = LABEL_LENGTH) -> str:
    """Return a text that ends at a word, without controls and dollar signs, which matplotlib takes for formulas."""
    line = replace_controls(" ".join(str(text).split()))
    if len(line) > length:
        kept = line[:length].rsplit(" ", 1)[0] if " " in line[:length] else line[: length - 1]
        line = f"{kept.rstrip()}…"
    return line.replace("$", r"\$")


def name_topic(number: Any, label: str, length: int = LABEL_LENGTH) -> str:
    """Return number and label of a topic."""
    return f"{number} {isolate(to_label(label, length))}"


def isolate(text: str) -> str:
    """Return a text such that numbers and signs around it stay where they are, also if it runs from right to left."""
    if not RIGHT_TO_LEFT.search(text):
        return text
    version = tuple(int(part) for part in re.findall(r"\d+", metadata.version("matplotlib"))[:2])
    return f"\u2068{text}\u2069" if version >= ORDERING_MATPLOTLIB else text


def tidy(ax: Any, *, grid: str | None = None) -> Any:
    """Remove the frame lines that carry no numbers, and draw a light grid along one axis."""
    ax.spines[["top", "right"]].set_visible(False)
    if grid is not None:
        ax.grid(axis=grid, color="#e5e5e5", linewidth=0.7)
        ax.set_axisbelow(True)
    return ax


def label_rows(ax: Any, labels: list[str]) -> None:
    """Name the rows at y = 0, −1, −2, …, from the top."""
    ax.set_yticks([-i for i in range(len(labels))], labels)
    ax.tick_params(axis="y", length=0, labelsize=fit_letters(ax, len(labels)))
    ax.spines["left"].set_visible(False)
    ax.set_ylim(-len(labels) + 0.4, 0.6)


def count_shown(n_shown: int, n_topics: int, which: str) -> str:
    """Say how many of the topics a figure shows, and which; nothing if it shows all."""
    return f"the {n_shown} of {n_topics} topics that {which} most" if n_shown < n_topics else ""


def add_legend(ax: Any, n_entries: int, title: str | None = None) -> None:
    """Put the legend above the data, where it covers none of it."""
    columns = 1 if n_entries == 1 else 2 if n_entries > 4 else min(n_entries, 3)
    ax.legend(
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=columns,
        frameon=False,
        fontsize="small",
        title=title,
        title_fontsize="small",
        alignment="left",
        borderaxespad=0.2,
    )
