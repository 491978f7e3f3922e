"""A map of documents, as dots in the colors of their leading topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from anchorless._plots.correlations import frame_points, make_map_axes, place_labels
from anchorless._plots.style import COLORS, name_topic

Array = npt.NDArray[np.float64]


def choose_colors(X: Array) -> npt.NDArray[np.intp]:
    """Return the number of a color for each of the points X (F, 2): that whose nearest point is farthest away."""
    chosen = np.zeros(len(X), dtype=np.intp)
    distance = np.full((len(X), len(COLORS)), np.inf)  # from each point to the nearest one of each color
    for k in range(len(X)):
        chosen[k] = distance[k].argmax()
        column = distance[:, chosen[k]]
        np.minimum(column, np.hypot(*(X - X[k]).T), out=column)
    return chosen


def plot_documents(places: Array, mixtures: Array, labels: Sequence[str], ax: Any = None) -> Any:
    """Draw documents at places (n, 2) in the unit square, the first row on top, with mixtures (n, F) and labels (F,).

    Documents whose place is NaN, and those without topics, are left out.
    """
    mixtures = np.asarray(mixtures)
    shown = np.flatnonzero(np.isfinite(places).all(axis=1) & mixtures.any(axis=1))
    theta, X = mixtures[shown], np.column_stack([places[shown, 0], 1 - places[shown, 1]])
    leading = theta.argmax(axis=1)
    sizes = np.bincount(leading, minlength=len(labels))
    drawn = [k for k in np.argsort(-sizes, kind="stable").tolist() if sizes[k]]  # largest first
    centers = np.array([np.median(X[leading == k], axis=0) for k in drawn]).reshape(-1, 2)
    color = np.zeros(len(labels), dtype=np.intp)
    color[drawn] = choose_colors(centers)
    ax = make_map_axes(ax, len(drawn))
    order = np.argsort(theta.max(axis=1), kind="stable")  # the clearest documents on top
    dot = float(np.clip(12_000 / max(len(shown), 1), 3.0, 22.0))
    ax.scatter(*X[order].T, s=dot, c=np.array(COLORS)[color[leading[order]]], alpha=0.6, linewidths=0)
    frame_documents(ax, X)
    names = [name_topic(k, labels[k], 26) for k in drawn]
    place_labels(ax, centers, np.zeros(len(drawn)), names, range(len(drawn)), "bold")
    return ax


def frame_documents(ax: Any, X: Array) -> None:
    """Set the limits of the axes around points (n, 2)."""
    frame_points(ax)
    if not len(X):
        return
    low, high = X.min(axis=0), X.max(axis=0)
    margin = 0.06 * np.maximum(high - low, 0.1)
    ax.set_xlim(low[0] - margin[0], high[0] + margin[0])
    ax.set_ylim(low[1] - margin[1], high[1] + margin[1])
