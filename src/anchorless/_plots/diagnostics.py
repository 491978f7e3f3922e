"""Figures on which a user decides: the number of topics, and how stable the topics are."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Any

import numpy as np
import numpy.typing as npt

from anchorless._plots.style import (
    COLOR,
    COLORS,
    DARK,
    GRAY,
    compute_height,
    label_rows,
    make_axes,
    measure,
    name_topic,
    tidy,
    to_label,
)

Array = npt.NDArray[np.float64]

#: What the vertical axis shows, for each measure.
MEASURES = {
    "completion": "log-likelihood per held-out token",
    "npmi": "NPMI of leading words, held out",
    "exclusivity": "exclusivity of leading words",
    "stability": "leading words found again in resamples",
}
#: Inches of a letter below a figure, the fewest of a line, and the most of a sentence there.
NOTE_LETTER, MIN_NOTE_LINE, MAX_NOTE = 0.058, 40, 400


def plot_search(
    numbers: Sequence[int], values: Sequence[float], measure: str, marks: dict[str, Any], ax: Any = None
) -> Any:
    """Draw a measure by number of topics, with the likely range and the conclusion of `marks`, where known."""
    from matplotlib.ticker import MaxNLocator

    ax = make_axes(ax, 4.0)
    likely, conclusion = marks.get("likely_range"), marks.get("conclusion")
    if likely is not None:
        name = str(likely[0]) if likely[0] == likely[1] else f"{likely[0]} to {likely[1]}"
        label = f"predict held-out documents nearly best: {name}"
        ax.axvspan(likely[0] - 0.3, likely[1] + 0.3, color="#e3ebf3", label=label)
    if conclusion is not None:
        number, answer, reason, explanation = conclusion
        style = {"color": COLORS[3], "linestyle": "--", "linewidth": 1.2, "label": f"conclusion: {answer}"}
        if number is None:
            ax.plot([], [], **style | {"linewidth": 0.0})
        else:
            ax.axvline(number, **style)
        write_below(ax, [reason, explanation])
    ax.plot(numbers, values, marker="o", markersize=4, color=COLOR)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("number of topics")
    ax.set_ylabel(MEASURES[measure], size="small")
    if likely is not None or conclusion is not None:
        place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": 2, "frameon": False, "fontsize": "small"}
        ax.legend(**place)
    return tidy(ax, grid="y")


def write_below(ax: Any, sentences: Sequence[str]) -> None:
    """Write sentences in small letters below the label of the horizontal axis, in lines as wide as the axes."""
    width = max(MIN_NOTE_LINE, int(measure(ax).width / NOTE_LETTER))
    text = "\n".join(fill(to_label(sentence, MAX_NOTE), width) for sentence in sentences if sentence)
    place = {"xy": (0.0, 0.0), "xycoords": "axes fraction", "xytext": (0, -38), "textcoords": "offset points"}
    ax.annotate(text, **place, va="top", size="small", color=DARK)


def plot_stability(word_stability: Array, topic_stability: Array, labels: Sequence[str], ax: Any = None) -> Any:
    """Draw the share of resamples in which leading words stay so: a small dot per word, a large one per topic."""
    order = np.argsort(-np.asarray(topic_stability), kind="stable")
    ax = make_axes(ax, compute_height(len(order)))
    for i, k in enumerate(order):
        words = 100 * np.asarray(word_stability[k])
        ax.plot([words.min(), words.max()], [-i, -i], color="#dddddd", linewidth=1.5, zorder=1)
        name = {"label": "a leading word"} if i == 0 else {}
        ax.scatter(words, np.full(len(words), -i), s=14, color=GRAY, linewidths=0, zorder=2, **name)
    ax.scatter(
        100 * np.asarray(topic_stability)[order], -np.arange(len(order)), s=40, color=COLOR, zorder=3, label="mean"
    )
    label_rows(ax, [name_topic(k, labels[k]) for k in order])
    ax.set_xlim(-2, 102)
    ax.set_xlabel("resamples in which the word stays leading, %")
    place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": 2, "frameon": False, "fontsize": "small"}
    ax.legend(**place)
    return tidy(ax, grid="x")
