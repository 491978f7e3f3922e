import sys
from importlib.abc import MetaPathFinder
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from anchorless import TopicModel
from anchorless._plots.style import COLORS, LABEL_LENGTH, label_rows, make_axes, name_topic, to_label
from anchorless.errors import InputError
from tests.helpers.planted_texts import planted_texts

#: From linear RGB to the cones' responses and back; what a reader without red or green cones sees (Viénot 1999).
TO_LMS = np.array([[17.8824, 43.5161, 4.11935], [3.45565, 27.1554, 3.86714], [0.0299566, 0.184309, 1.46709]])
WITHOUT_RED = np.array([[0, 2.02344, -2.52581], [0, 1, 0], [0, 0, 1]])
WITHOUT_GREEN = np.array([[1, 0, 0], [0.494207, 0, 1.24827], [0, 0, 1]])
#: Smallest distance of two colors in sRGB, whose edges have length 1.
TELL_APART = 0.12


def simulate(color, loss):
    rgb = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    seen = np.linalg.inv(TO_LMS) @ loss @ TO_LMS @ rgb**2.2
    return np.clip(seen, 0, 1) ** (1 / 2.2)


@pytest.mark.parametrize("loss", [WITHOUT_RED, WITHOUT_GREEN], ids=["without red cones", "without green cones"])
def test_color_blind_readers_can_tell_the_colors_apart(loss):
    seen = [simulate(color, loss) for color in COLORS]
    distances = [np.linalg.norm(a - b) for i, a in enumerate(seen) for b in seen[:i]]
    assert min(distances) > TELL_APART


def test_labels_end_at_a_word_and_are_no_formulas():
    assert to_label("a short label") == "a short label"
    long = to_label("several words that do not fit into the length of a label")
    assert long.endswith("…")
    assert len(long) <= LABEL_LENGTH + 1
    assert "several words that do not fit into the length".startswith(long[:-1])
    assert long[:-1].split()[-1] in ["several", "words", "that", "do", "not", "fit", "into", "the", "length"]
    assert len(to_label("x" * 100)) == LABEL_LENGTH
    assert to_label("$x$ and\n$y") == r"\$x\$ and \$y"


def test_dollars_are_drawn_as_they_are(ax):
    label_rows(ax, [to_label("$\\frac$ costs $5"), "two"])
    ax.figure.savefig("/dev/null", format="png")  # an unfinished formula would be an error


def test_rows_are_numbered_from_the_top(ax):
    label_rows(ax, ["first", "second"])
    low, high = ax.get_ylim()
    assert low < -1
    assert high > 0
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["first", "second"]


def test_given_axes_are_used_and_new_ones_belong_to_pyplot(ax):
    from matplotlib import pyplot

    assert make_axes(ax, 3.0) is ax
    assert make_axes(None, 3.0).figure.number in pyplot.get_fignums()


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install 'anchorless\[plot\]'"):
        make_axes(None, 3.0)


def test_numbers_stay_beside_names_that_run_from_right_to_left(monkeypatch):
    assert name_topic(5, "space orbit") == "5 space orbit"
    monkeypatch.setattr("anchorless._plots.style.metadata.version", lambda package: "3.11.2")
    assert name_topic(5, "صلاحيات user") + "  8.3%" == "5 \u2068صلاحيات user\u2069  8.3%"
    monkeypatch.setattr("anchorless._plots.style.metadata.version", lambda package: "3.10.0")
    assert name_topic(5, "שלום") == "5 שלום"  # the marks would be boxes


class Refusal(MetaPathFinder):
    """An import hook that lets nobody import matplotlib."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "matplotlib":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@pytest.mark.parametrize("name", ["topics", "shares", "correlations", "documents", "hierarchy", "by", "over_time"])
def test_every_figure_without_matplotlib_says_what_to_install(name, monkeypatch):
    model = TopicModel(2, n_jobs=1).fit(planted_texts(40)[0], metadata={"half": [1.0, 2.0] * 20})
    for module in [module for module in sys.modules if module.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(sys, "meta_path", [Refusal(), *sys.meta_path])
    arguments = {"by": ["half"], "over_time": ["half"], "correlations": ["matrix"]}.get(name, [])
    with pytest.raises(InputError, match=r"pip install 'anchorless\[plot\]'"):
        getattr(model.plot, name)(*arguments)


@pytest.mark.parametrize("n", [5, 60])
def test_no_name_of_a_row_covers_the_next_in_given_axes(n):
    from matplotlib.figure import Figure

    from anchorless._effects.plot import plot_differences
    from anchorless._plots.correlations import plot_matrix
    from anchorless._plots.tree import plot_tree
    from anchorless._plots.words import plot_shares

    names, shares = [f"name of {k}" for k in range(n)], np.full(n, 1 / n)
    leaves = [{"label": name, "share": 1 / n, "topics": [k], "children": []} for k, name in enumerate(names)]
    columns = {"topic": range(n), "label": names, "first": "a", "second": "b", "points": 0.0, "low": -1.0, "high": 1.0}
    contrasts = pd.DataFrame(columns | {"p": 0.5, "p_adjusted": 0.5})
    drawn = [
        lambda ax: plot_shares(shares, names, [["word", "other"]] * n, None, ax),
        lambda ax: plot_matrix(np.eye(n), names, ax),
        lambda ax: plot_tree([{"label": "all", "share": 1.0, "topics": [*range(n)], "children": leaves}], names, ax),
        lambda ax: plot_differences(contrasts, "party", 0.9, ax),
    ]
    for draw in drawn:
        ax = draw(Figure(figsize=(6.4, 4.8), layout="constrained").subplots())
        ax.figure.draw_without_rendering()
        boxes = sorted((tick.get_window_extent() for tick in ax.get_yticklabels()), key=lambda box: box.y0)
        assert len(boxes) == n
        assert all(lower.y1 <= upper.y0 + 1 for lower, upper in pairwise(boxes))
