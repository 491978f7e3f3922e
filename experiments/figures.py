"""The paper's figure of cones, from computed cones: separable, sufficiently scattered, and not scattered rows of C."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

from experiments import cones
from experiments.results import save_png

PANELS = {
    "separable": "separable: identified",
    "scattered": "sufficiently scattered: identified",
    "not scattered": "not sufficiently scattered",
}


def run(folder: Path, options: Namespace) -> int:
    """Compute and draw the figures."""
    return render(folder)


def render(folder: Path) -> int:
    """Draw the cones in three panels."""
    from matplotlib.figure import Figure  # only drawing needs it

    figure = Figure(figsize=(11, 4.3), layout="constrained")
    panels = figure.subplots(1, 3, sharex=True, sharey=True)
    for axes, (kind, title) in zip(panels, PANELS.items(), strict=True):
        draw_cones(axes, cones.example_rows(kind))
        axes.set_title(title, fontsize=11)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=6, frameon=False)
    folder.mkdir(parents=True, exist_ok=True)
    save_png(figure, folder / "cones.png")
    print(f"{folder / 'cones.png'}: rows of C, their cone, its dual, K and K*, sliced at 1ᵀx = 1")
    return 0


def draw_cones(axes: Any, C: Any) -> None:
    """Draw the rows of C, cone(Cᵀ), its dual, the orthant, K and K*."""
    axes.fill(*cones.cone_polygon(C).T, color="C0", alpha=0.25, lw=0, label="cone(Cᵀ)")
    axes.plot(*closed(cones.to_slice(np.eye(3))), "k-", lw=1.2, label="orthant")
    axes.plot(*circle(cones.RADIUS_K), color="C2", lw=1.2, label="K")
    axes.plot(*circle(cones.RADIUS_DUAL_K), color="C3", lw=1.2, label="K*")
    axes.plot(*closed(cones.dual_polygon(C)), color="C1", lw=1.8, ls="--", label="cone(Cᵀ)*")
    axes.plot(*cones.to_slice(C).T, "o", color="C0", ms=4, label="rows of C")
    axes.set_aspect("equal")
    axes.set_axis_off()


def closed(points: Any) -> Any:
    """Return the vertices of a polygon as x and y of a closed line."""
    return np.vstack([points, points[:1]]).T


def circle(radius: float) -> Any:
    """Return x and y of a circle around the center."""
    angles = np.linspace(0, 2 * np.pi, 200)
    return radius * np.array([np.cos(angles), np.sin(angles)])
