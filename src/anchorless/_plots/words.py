"""Topics by their words and by their shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anchorless._plots.style import (
    COLOR,
    DARK,
    ROW_HEIGHT,
    WIDTH,
    compute_height,
    fit_letters,
    label_rows,
    make_axes,
    measure,
    name_topic,
    tidy,
    to_label,
)

Array = npt.NDArray[np.float64]

#: Panels beside each other at most, and inches that each needs.
N_COLUMNS, PANEL_WIDTH = 4, 1.8
#: The height of a row, in points, below which letters are smaller.
ROW_POINTS = 9.5
#: In a panel of width 1: where words end and bars begin, and the length of the longest bar.
WORDS_END, LONGEST_BAR = 0.46, 0.36
#: Characters of a word, of the title of a panel, and of the words of a row.
WORD_LENGTH, TITLE_LENGTH, ROW_LENGTH = 15, 27, 50


class WordBars(NamedTuple):
    """The leading words of a topic with their probabilities."""

    number: int
    label: str
    words: Sequence[str]
    probabilities: Sequence[float]


def plot_words(topics: Sequence[WordBars], ax: Any = None) -> Any:
    """Draw a panel of bars for each topic: its leading words and their probabilities, the most probable first.

    All panels are in the same axes, a panel one unit wide and a row for each word, so that they need no grid of axes.
    """
    n_columns = min(N_COLUMNS, len(topics), count_columns(ax))
    n_panel_rows = -(-len(topics) // n_columns)
    n_words = max(len(topic.words) for topic in topics)
    panel_height = n_words + 2.2  # title, and the space below
    width = WIDTH * n_columns / N_COLUMNS if n_columns < N_COLUMNS else WIDTH * 1.3
    ax = make_axes(ax, 0.2 + 0.75 * ROW_HEIGHT * panel_height * n_panel_rows, max(width, WIDTH / 2))
    ax.set_axis_off()
    ax.set_xlim(0, n_columns)
    bottom = -panel_height * n_panel_rows
    ax.set_ylim(bottom, 0.6)
    ax.text(0.02, bottom + 0.4, "bars: probability of the word in the topic", size=7.5, va="center", color=DARK)
    scale = min(1.0, measure(ax).height * 72 / (0.6 - bottom) / ROW_POINTS)
    for i, topic in enumerate(topics):
        draw_panel(ax, i % n_columns, -panel_height * (i // n_columns), topic, scale)
    return ax


def count_columns(ax: Any) -> int:
    """Return how many panels fit beside each other into given axes; a new figure is as wide as it needs to be."""
    if ax is None:
        return N_COLUMNS
    return max(1, int(measure(ax).width / PANEL_WIDTH))


def draw_panel(ax: Any, left: float, top: float, topic: WordBars, scale: float = 1.0) -> None:
    """Draw the words of a topic below a height, the longest bar of equal length in all panels; scale the letters."""
    title = name_topic(topic.number, topic.label, TITLE_LENGTH)
    ax.text(left + 0.02, top, title, weight="bold", size=8.5 * scale, va="center")
    rows = top - 1.1 - np.arange(len(topic.words))
    order = np.argsort(-np.asarray(topic.probabilities), kind="stable")
    p, words = np.asarray(topic.probabilities)[order], [topic.words[i] for i in order]
    bars = LONGEST_BAR * p / max(float(p.max(initial=0.0)), 1e-300)
    ax.barh(rows, bars, left=left + WORDS_END, height=0.7, color=COLOR)
    for row, word, bar, value in zip(rows, words, bars, p, strict=True):
        how = {"va": "center", "color": DARK}
        ax.text(left + WORDS_END - 0.02, row, to_label(word, WORD_LENGTH), ha="right", size=8 * scale, **how)
        ax.text(left + WORDS_END + bar + 0.01, row, f"{value:.1%}", size=6.5 * scale, **how)


def plot_shares(
    shares: Array, labels: Sequence[str], words: Sequence[Sequence[str]], interval: tuple[Array, Array] | None, ax: Any
) -> Any:
    """Draw the share of each topic, largest first, with its leading words at the end of the bar, and intervals."""
    order = np.argsort(-np.asarray(shares), kind="stable")
    ax = make_axes(ax, compute_height(len(order)), 1.15 * WIDTH)
    rows, percent = -np.arange(len(order)), 100 * np.asarray(shares)[order]
    ax.barh(rows, percent, height=0.7, color=COLOR)
    ends = percent
    if interval is not None:
        low, high = (100 * np.asarray(values)[order] for values in interval)
        ends = np.maximum(percent, high)
        reach = np.clip([percent - low, high - percent], 0.0, None)
        ax.errorbar(percent, rows, xerr=reach, fmt="none", ecolor=DARK, elinewidth=1.0, capsize=2)
    longest = float(ends.max(initial=0.0)) or 1.0
    label_rows(ax, [name_topic(k, labels[k]) for k in order])
    ax.set_xlim(0, 2.1 * longest)  # room for the words of the longest bar
    ax.set_xticks([tick for tick in ax.get_xticks() if 0 <= tick <= 1.05 * longest])
    ax.spines["bottom"].set_bounds(0, longest)
    ax.set_xlabel("share of all tokens, %", loc="left")
    tidy(ax)
    ax.figure.draw_without_rendering()  # the layout decides on the size of the axes
    size = fit_letters(ax, len(order), "small")
    for row, end, k in zip(rows, ends, order, strict=True):
        write_words(ax, float(end + 0.03 * longest), float(row), words[k], size)
    return ax


def write_words(ax: Any, x: float, y: float, words: Sequence[str], size: float) -> None:
    """Write as many words as fit between a place and the right end of the axes; at least one."""
    label = to_label(", ".join(words), ROW_LENGTH)
    text = ax.text(x, y, label, va="center", size=size, color=DARK)
    text.set_in_layout(False)  # otherwise the axes get narrower, and the words are cut off after all
    while ", " in label and text.get_window_extent().x1 > ax.get_window_extent().x1:
        label = label.rpartition(", ")[0]
        text.set_text(label)
