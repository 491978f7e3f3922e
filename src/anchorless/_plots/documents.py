"""A map of documents: each lies near its leading topic, toward the others that it has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from anchorless._plots.correlations import frame_points, place_labels
from anchorless._plots.style import COLORS, WIDTH, make_axes, to_label
from anchorless._report.topic_map import compute_layout

Array = npt.NDArray[np.float64]

#: Documents that are drawn, spread evenly over all.
MAX_DOCUMENTS = 5000
#: The part of the way that a document goes from its leading topic toward its mixture of topics.
PULL = 0.6
#: Radius of all documents of a topic that has all of them, relative to the map.
DISK = 0.32
GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))


def lay_out_documents(mixtures: Array, association: Array) -> tuple[Array, npt.NDArray[np.intp]]:
    """Return a place (N, 2) and the leading topic (N,) of each document, by mixtures (N, F) without empty rows.

    Topics are placed by their associations. A document lies between its leading topic and the mean of all its topics
    by their shares; documents of one topic are spread over a disk, those with the largest share in its center, so that
    they do not hide each other. Nothing is random.
    """
    X, leading = compute_layout(association), mixtures.argmax(axis=1)
    places = (1 - PULL) * X[leading] + PULL * (mixtures @ X) / mixtures.sum(axis=1, keepdims=True)
    for k in np.unique(leading):
        rows = np.flatnonzero(leading == k)
        rank = np.empty(len(rows))
        rank[np.argsort(-mixtures[rows, k], kind="stable")] = np.arange(len(rows))
        radius = DISK * np.sqrt(len(rows) / len(mixtures)) * np.sqrt((rank + 0.5) / len(rows))
        places[rows] += radius[:, None] * np.column_stack([np.cos(GOLDEN_ANGLE * rank), np.sin(GOLDEN_ANGLE * rank)])
    return places, leading


def choose_colors(X: Array) -> npt.NDArray[np.intp]:
    """Return the number of a color for each of the points X (F, 2): that whose nearest point is farthest away."""
    chosen = np.zeros(len(X), dtype=np.intp)
    distance = np.full((len(X), len(COLORS)), np.inf)  # from each point to the nearest one of each color
    for k in range(len(X)):
        chosen[k] = distance[k].argmax()
        column = distance[:, chosen[k]]
        np.minimum(column, np.hypot(*(X - X[k]).T), out=column)
    return chosen


def plot_documents(mixtures: Array, association: Array, labels: Sequence[str], ax: Any = None) -> Any:
    """Draw documents as dots in the colors of their leading topics, with the labels of the topics."""
    known = np.flatnonzero(np.asarray(mixtures).any(axis=1))
    known = known[np.linspace(0, len(known) - 1, min(len(known), MAX_DOCUMENTS)).astype(np.intp)]
    theta = np.asarray(mixtures)[known]
    ax = make_axes(ax, 5.6, WIDTH * 1.15)
    places, leading = lay_out_documents(theta, association)
    order = np.argsort(theta.max(axis=1), kind="stable")  # the clearest documents on top
    colors = np.array(COLORS)[choose_colors(compute_layout(association))]
    size = float(np.clip(12_000 / len(known), 3.0, 22.0))
    ax.scatter(*places[order].T, s=size, c=colors[leading[order]], alpha=0.6, linewidths=0)
    low, high = places.min(axis=0), places.max(axis=0)
    margin = 0.06 * np.maximum(high - low, 0.1)
    frame_points(ax)
    ax.set_xlim(low[0] - margin[0], high[0] + margin[0])
    ax.set_ylim(low[1] - margin[1], high[1] + margin[1])
    drawn = [k for k in range(len(association)) if (leading == k).any()]
    centers = np.array([np.median(places[leading == k], axis=0) for k in drawn])
    names = [f"{k} {to_label(labels[k], 26)}" for k in drawn]
    sizes = np.argsort(-np.bincount(leading, minlength=len(association))[drawn], kind="stable")
    place_labels(ax, centers, np.zeros(len(drawn)), names, sizes)
    for text in ax.texts:
        text.set_weight("bold")
    return ax
