"""Measures of several numbers of topics as small charts above each other: a table in, one SVG out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

WIDTH, HEIGHT, MARGIN = 640, 120, 60
TITLES = {
    "completion": "completion of held-out documents (higher is better)",
    "npmi": "npmi of leading words (higher is better)",
    "exclusivity": "exclusivity of leading words (higher is better)",
    "stability": "share of leading words that survive resampling (higher is better)",
    "anchor": "how far the nearest anchor word of the worst topic is its own (identifiability; higher is better)",
}


def plot_search(rows: Sequence[Mapping[str, Any]], eigenvalues: npt.ArrayLike) -> str:
    """Return an SVG picture: the eigenvalues relative to the first, then each measure by the number of topics."""
    values = np.asarray(eigenvalues, dtype=float)
    scree = [(float(k + 1), float(value / values[0])) for k, value in enumerate(values)]
    charts = [("eigenvalues, as shares of the first: look for a step", scree)]
    charts += [(title, [(row["topics"], row[name]) for row in rows]) for name, title in TITLES.items()]
    height = len(charts) * (HEIGHT + MARGIN)
    parts = [render_chart(title, points, i * (HEIGHT + MARGIN)) for i, (title, points) in enumerate(charts)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
        f'font-size="12" role="img"><title>Measures by the number of topics</title>'
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>{"".join(parts)}</svg>\n'
    )


def render_chart(title: str, points: Sequence[tuple[float, float]], top: float) -> str:
    """Return one chart: a line through the points that are numbers, its ends labelled."""
    known = [(x, y) for x, y in points if math.isfinite(y)]
    head = f'<text x="{MARGIN}" y="{top + 24}">{title}</text>'
    if not known:
        return head
    xs, ys = [x for x, _ in known], [y for _, y in known]
    left, right, low, high = min(xs), max(xs), min(ys), max(ys)

    def place(x: float, y: float) -> tuple[str, str]:
        across = (x - left) / (right - left) if right > left else 0.5
        up = (y - low) / (high - low) if high > low else 0.5
        return f"{MARGIN + across * (WIDTH - 2 * MARGIN):.1f}", f"{top + 36 + (1 - up) * (HEIGHT - 20):.1f}"

    line = " ".join(",".join(place(x, y)) for x, y in known)
    dots = "".join('<circle r="3" cx="{}" cy="{}" fill="#1f4e79"/>'.format(*place(x, y)) for x, y in known)
    ends = "".join(
        f'<text x="{MARGIN - 6}" y="{float(place(left, y)[1]) + 4:.1f}" text-anchor="end">{y:.3g}</text>'
        for y in dict.fromkeys((low, high))
    )
    foot = "".join(
        f'<text x="{place(x, low)[0]}" y="{top + HEIGHT + 34}" text-anchor="middle">{x:g}</text>'
        for x in dict.fromkeys((left, right))
    )
    return f'{head}<polyline points="{line}" fill="none" stroke="#1f4e79" stroke-width="1.5"/>{dots}{ends}{foot}'
