"""The tree of topics and their broader groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anchorless._plots.style import (
    COLOR,
    DARK,
    GRAY,
    WIDTH,
    compute_height,
    fit_letters,
    isolate,
    make_axes,
    name_topic,
    to_label,
)

#: Width of a level, and of the labels of the broadest groups.
LEVEL_WIDTH, ROOT_WIDTH = 1.0, 0.85
#: Part of a level's width at which the line of a group turns to its parts.
TURN = 0.1
#: Part of the width that the labels of the broadest groups take at most.
MAX_ROOT_PART = 0.75


def plot_tree(roots: list[dict[str, Any]], labels: Sequence[str], ax: Any = None) -> Any:
    """Draw the broadest groups at the left and the topics at the right, a row each, with their shares.

    A root has the keys label, share, topics and children; its children are the same. The topics have the given labels.
    """
    leaves: list[tuple[int, float]] = []
    depth = measure_depth(roots[0])
    n_leaves = sum(map(count_leaves, roots))
    ax = make_axes(ax, compute_height(n_leaves) - 0.4, WIDTH * (0.8 + 0.35 * depth))
    for root in roots:
        draw_branch(ax, root, 0.0, leaves)
    ax.yaxis.tick_right()
    names = [f"{name_topic(number, labels[number])}  {share:.1%}" for number, share in leaves]
    ax.set_yticks([-i for i in range(n_leaves)], names)
    ax.set_xticks([])
    ax.tick_params(length=0, labelsize=fit_letters(ax, n_leaves))
    ax.spines[:].set_visible(False)
    ax.set_xlim(-ROOT_WIDTH if depth else -0.1, depth * LEVEL_WIDTH + 0.02)
    ax.set_ylim(-n_leaves + 0.4, 0.6)
    make_room(ax, depth)
    return ax


def make_room(ax: Any, depth: int) -> None:
    """Widen the limits at the left until the labels of the broadest groups are inside."""
    for text in ax.texts:
        text.set_in_layout(False)  # they would narrow the axes
    ax.figure.draw_without_rendering()  # the layout decides on the size of the axes
    width = ax.get_window_extent().width
    roots = [text for text in ax.texts if text.get_position()[0] < 0]
    widest = max((text.get_window_extent().width for text in roots), default=0.0)
    part = min(1.05 * widest / width, MAX_ROOT_PART)
    right = ax.get_xlim()[1]
    ax.set_xlim(left=min(ax.get_xlim()[0], -(part * right + 0.05) / (1 - part)))


def draw_branch(ax: Any, node: dict[str, Any], x: float, leaves: list[tuple[int, float]]) -> float:
    """Draw a group and its parts to the right of x, add the rows of its topics, and return its height."""
    if not node["children"]:
        leaves.append((node["topics"][0], node["share"]))
        ax.plot([x], [1 - len(leaves)], "o", color=COLOR, markersize=4)
        return float(1 - len(leaves))
    heights = [draw_branch(ax, part, x + LEVEL_WIDTH, leaves) for part in node["children"]]
    y, turn = sum(heights) / len(heights), x + TURN * LEVEL_WIDTH
    for height in heights:
        ax.plot([x, turn, turn, x + LEVEL_WIDTH], [y, y, height, height], color=GRAY, linewidth=1.0, zorder=0)
    ax.plot([x], [y], "o", color=COLOR, markersize=6)
    text = f"{isolate(to_label(node['label'], 24))} {node['share']:.0%}"
    frame = {"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 1.0}
    ax.text(x - 0.05, y, text, ha="right", va="center", size="small", color=DARK, bbox=frame)
    return y


def count_leaves(node: dict[str, Any]) -> int:
    """Return the number of topics in a group."""
    return sum(map(count_leaves, node["children"])) if node["children"] else 1


def measure_depth(node: dict[str, Any]) -> int:
    """Return the number of levels below a group."""
    return 1 + measure_depth(node["children"][0]) if node["children"] else 0
