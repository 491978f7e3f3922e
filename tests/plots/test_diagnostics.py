import numpy as np
from matplotlib.figure import Figure

from anchorless._plots.diagnostics import plot_search, plot_stability

WHY = ("the patterns are found again", "3 to 4 topics predict nearly best")
MARKS = {"likely_range": (3, 4), "conclusion": (3, "3 topics", *WHY)}


def test_a_search_shows_the_measure_the_range_and_the_conclusion(ax):
    plot_search([2, 3, 4], [0.1, 0.3, 0.2], "npmi", MARKS, ax)
    np.testing.assert_allclose(ax.lines[-1].get_xydata(), [[2, 0.1], [3, 0.3], [4, 0.2]])
    np.testing.assert_allclose(ax.lines[0].get_xdata(), [3, 3])
    assert [text.get_text() for text in ax.get_legend().texts] == [
        "predict held-out documents nearly best: 3 to 4",
        "conclusion: 3 topics",
    ]
    assert ax.get_xlabel() == "number of topics"
    assert ax.texts[0].get_text() == "the patterns are found again\n3 to 4 topics predict nearly best"


def test_a_search_without_a_number_says_so(ax):
    marks = {"likely_range": None, "conclusion": (None, "none of these", "they predict nothing", "")}
    plot_search([2, 3], [0.1, 0.3], "completion", marks, ax)
    assert [text.get_text() for text in ax.get_legend().texts] == ["conclusion: none of these"]
    np.testing.assert_allclose(ax.lines[-1].get_xydata(), [[2, 0.1], [3, 0.3]])


def test_the_most_stable_topic_is_first(ax):
    words = np.array([[0.2, 0.4], [1.0, 0.8]])
    plot_stability(words, words.mean(axis=1), ["a", "b"], ax)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["1 b", "0 a"]
    means = ax.collections[-1].get_offsets()
    np.testing.assert_allclose(means, [[90, 0], [30, -1]])
    np.testing.assert_allclose(ax.collections[0].get_offsets()[:, 0], [100, 80])


def test_no_line_below_a_search_is_wider_than_the_figure():
    sentence = "two patterns of words that occur together stand out from all others " * 4
    ax = Figure(figsize=(5, 4), layout="constrained").subplots()
    plot_search([2, 3], [0.1, 0.3], "npmi", {"conclusion": (2, "2 topics", sentence, sentence)}, ax)
    ax.figure.draw_without_rendering()
    assert ax.texts[0].get_window_extent().x1 < ax.figure.bbox.width
