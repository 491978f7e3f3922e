import numpy as np

from anchorless._plots.diagnostics import plot_search, plot_stability


def test_a_search_shows_the_measure_the_range_and_the_suggestion(ax):
    plot_search([2, 3, 4], [0.1, 0.3, 0.2], "npmi", {"likely_range": (3, 4), "suggested": 3}, ax)
    np.testing.assert_allclose(ax.lines[-1].get_xydata(), [[2, 0.1], [3, 0.3], [4, 0.2]])
    assert [text.get_text() for text in ax.get_legend().texts] == [
        "predicts nearly best: 3 to 4",
        "patterns found again: 3 (suggested)",
    ]
    assert ax.get_xlabel() == "number of topics"


def test_a_search_without_a_suggestion_has_no_legend(ax):
    plot_search([2, 3], [0.1, 0.3], "completion", {"likely_range": None, "suggested": None}, ax)
    assert ax.get_legend() is None


def test_the_most_stable_topic_is_first(ax):
    words = np.array([[0.2, 0.4], [1.0, 0.8]])
    plot_stability(words, words.mean(axis=1), ["a", "b"], ax)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["1 b", "0 a"]
    means = ax.collections[-1].get_offsets()
    np.testing.assert_allclose(means, [[90, 0], [30, -1]])
    np.testing.assert_allclose(ax.collections[0].get_offsets()[:, 0], [100, 80])
