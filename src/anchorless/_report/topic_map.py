"""Where topics stand on a page: correlated ones close together, in a way that no chance decides.

`correlation` is (F, F), symmetric, with entries in [−1, 1]; what is not a number counts as no correlation. All ties
are decided by the order of the topics, so that the same correlations always give the same picture.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

#: Steps of the layout; 50 topics move by less than a thousandth of the picture after these.
N_STEPS = 400
#: Correlations nearer to 0 than these are not drawn as links; lines between topics that avoid each other are long.
MIN_LINK_CORRELATION, MIN_NEGATIVE_CORRELATION = 0.05, 0.1
#: Distances below this would divide by zero: two topics at one place are pushed apart from there.
MIN_DISTANCE = 1e-6


def to_correlation(correlation: Any) -> Array:
    """Return a finite, symmetric copy with entries in [−1, 1] and ones on the diagonal."""
    R = np.clip(np.nan_to_num(np.array(correlation, dtype=float), nan=0.0, posinf=0.0, neginf=0.0), -1.0, 1.0)
    R = (R + R.T) / 2
    np.fill_diagonal(R, 1.0)
    return R


def order_topics(correlation: Any) -> list[int]:
    """Order the topics so that neighbours go together: after each topic the one that correlates with it most."""
    R = to_correlation(correlation)
    order, waiting = [0], list(range(1, len(R)))
    while waiting:
        order.append(max(waiting, key=lambda f: R[order[-1], f]))  # of equal ones, max takes the first
        waiting.remove(order[-1])
    return order


def compute_layout(correlation: Any) -> Array:
    """Place the topics in the unit square, (F, 2), so that distances resemble 1 − correlation.

    Minimise Σ w_fg (‖x_f − x_g‖ − d_fg)² with d = 1 − correlation and w = 1/d²: what belongs together must be close,
    how far apart the rest is matters less. The start is the chain of topics on a circle, not a random one.
    """
    R = to_correlation(correlation)
    F = len(R)
    if F == 1:
        return np.full((1, 2), 0.5)
    distance = np.maximum(1 - R, 0.1)  # topics that are one and the same still get places of their own
    X = place_on_circle(order_topics(R))
    for _ in range(N_STEPS):
        X = majorize_stress(X, distance)
    return scale_to_unit_square(rotate_to_horizontal(X))


def place_on_circle(order: list[int]) -> Array:
    """Return points on a circle, the topics in the given order."""
    angle = np.empty(len(order))
    angle[order] = 2 * np.pi * np.arange(len(order)) / len(order)
    return np.column_stack([np.cos(angle), np.sin(angle)])


def majorize_stress(X: Array, distance: Array) -> Array:
    """Move every point half of the way to where the others want it; the weighted stress does not grow."""
    difference = X[:, None, :] - X[None, :, :]
    length = np.maximum(np.sqrt((difference**2).sum(axis=2)), MIN_DISTANCE)
    w = 1 / distance**2
    np.fill_diagonal(w, 0.0)
    wanted = X[None, :, :] + difference * (distance / length)[:, :, None]
    return (X + (w[:, :, None] * wanted).sum(axis=1) / w.sum(axis=1)[:, None]) / 2


def compute_stress(X: Array, correlation: Any) -> float:
    """Return the weighted stress that `compute_layout` lowers, up to a scale of X that fits best."""
    distance = np.maximum(1 - to_correlation(correlation), 0.1)
    f, g = np.triu_indices(len(X), 1)
    d, length = distance[f, g], np.sqrt(((X[f] - X[g]) ** 2).sum(axis=1))
    scale = (length / d).sum() / max((length**2 / d**2).sum(), MIN_DISTANCE)
    return float(((scale * length / d - 1) ** 2).sum())


def rotate_to_horizontal(X: Array) -> Array:
    """Turn the points so that they spread most from left to right: pages are wide."""
    X = X - X.mean(axis=0)
    xx, yy, xy = (X[:, 0] ** 2).sum(), (X[:, 1] ** 2).sum(), (X[:, 0] * X[:, 1]).sum()
    angle = 0.5 * np.arctan2(2 * xy, xx - yy)
    cos, sin = np.cos(angle), np.sin(angle)
    return np.column_stack([cos * X[:, 0] + sin * X[:, 1], cos * X[:, 1] - sin * X[:, 0]])


def scale_to_unit_square(X: Array) -> Array:
    """Stretch the points to fill the unit square; a direction without extent goes to the middle."""
    low, extent = X.min(axis=0), np.ptp(X, axis=0)
    flat = extent < MIN_DISTANCE
    return np.where(flat, 0.5, (X - low) / np.where(flat, 1.0, extent))


def select_links(correlation: Any, per_topic: int = 2) -> list[tuple[int, int]]:
    """Return the pairs (f, g), f < g, that are worth a line: of each topic its strongest correlations of either sign.

    All correlations at once would be a ball of wool; a topic's `per_topic` strongest positive ones and its strongest
    negative one keep every topic tied to something, where it correlates at all.
    """
    R = to_correlation(correlation)
    pairs: set[tuple[int, int]] = set()
    for f, row in enumerate(R):
        order = [int(g) for g in np.argsort(-row, kind="stable") if g != f]  # of equal ones, the first first
        positive = [g for g in order if row[g] >= MIN_LINK_CORRELATION][:per_topic]
        negative = [g for g in sorted(order, key=row.__getitem__) if row[g] <= -MIN_NEGATIVE_CORRELATION][:1]
        pairs.update((min(f, g), max(f, g)) for g in positive + negative)
    return sorted(pairs)
