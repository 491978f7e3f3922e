"""Plot the measures of several numbers of topics, one panel each, with matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

import numpy as np
import numpy.typing as npt

from anchorless._figures import STYLE, render_figure

#: Inches.
PANEL_WIDTH, PANEL_HEIGHT = 7.0, 1.9
#: Characters of a line above the panels.
LINE_WIDTH = 100
TITLES = {
    "completion": "completion: log-likelihood per token of held-out documents (higher is better)",
    "npmi": "npmi: how often the leading words of a topic occur together (higher is better)",
    "exclusivity": "exclusivity: how far the leading words belong to their topic alone (higher is better)",
    "stability": "stability: share of the leading words found again in bootstrap resamples (higher is better)",
    "anchor": "anchor: share of its best word's occurrences that belong to the topic, worst topic (higher is better)",
}


def plot_search(
    rows: Sequence[Mapping[str, Any]],
    eigenvalues: npt.ArrayLike,
    format: str = "svg",
    conclusion: tuple[int | None, str, str, str] = (None, "", "", ""),
) -> bytes:
    """Return a plot as a file's bytes: the eigenvalues relative to the first, then each measure by number of topics.

    A dashed line is at the number of the conclusion, whose words stand above the panels.
    """
    from matplotlib import rc_context  # imported here: only this function needs it, and it is slow to load
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    values = np.asarray(eigenvalues, dtype=np.float64)
    panels = [
        (
            "strength: of each further pattern of words, relative to the first (look for a drop)",
            1 + np.arange(len(values)),
            values / values[0],
        )
    ]
    topics = np.array([row["topics"] for row in rows])
    panels += [(title, topics, np.array([row[name] for row in rows], dtype=float)) for name, title in TITLES.items()]
    with rc_context(STYLE):
        figure = Figure(figsize=(PANEL_WIDTH, len(panels) * PANEL_HEIGHT), layout="constrained")
        for axes, (title, x, y) in zip(figure.subplots(len(panels)), panels, strict=True):
            axes.plot(x, y, marker="o", markersize=4, linewidth=1.5)
            axes.set_title(title, fontsize="medium")
            if conclusion[0] is not None:
                axes.axvline(conclusion[0], color="#D55E00", linestyle="--", linewidth=1.2, zorder=1)
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("number of topics")
        if conclusion[1]:
            sentences = [f"conclusion: {conclusion[1]}; {conclusion[2]}", conclusion[3]]
            text = "\n".join(fill(sentence, LINE_WIDTH) for sentence in sentences if sentence)
            figure.suptitle(text, fontsize="medium", x=0.01, ha="left")
        return render_figure(figure, format)
