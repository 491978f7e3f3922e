import numpy as np
import pandas as pd

from anchorless._plots.groups import MAX_COLUMNS, choose_topics, plot_by


def make_frame(column, values, n_topics=4):
    """Return a table in which topic k varies by k points from value to value."""
    rows = [
        {column: value, "topic": k, "label": f"label {k}", "share": 0.2 + 0.01 * k * (i % 2), "n_documents": 10 + i}
        for i, value in enumerate(values)
        for k in range(n_topics)
    ]
    frame = pd.DataFrame(rows)
    return frame.assign(low=frame["share"] - 0.05, high=frame["share"] + 0.05)


def test_the_topics_that_differ_most_are_drawn_in_their_order():
    assert choose_topics(make_frame("party", "AB"), 2) == [2, 3]


def test_few_values_are_dots_with_intervals_and_many_a_matrix():
    few = plot_by(make_frame("party", "ABC"), 3)
    assert [text.get_text() for text in few.get_legend().texts] == ["A", "B", "C"]
    assert few.get_legend().get_title().get_text() == "party"
    dots = few.containers[1][0]
    np.testing.assert_allclose(dots.get_xdata(), [21, 22, 23])
    many = plot_by(make_frame("party", [f"p{i:02d}" for i in range(40)]), 4)
    assert many.collections[0].get_array().shape == (4, MAX_COLUMNS)
    assert "30 of 40 values" in many.get_xlabel()
    assert "p39" in [tick.get_text() for tick in many.get_xticklabels()]
    assert "p00" not in [tick.get_text() for tick in many.get_xticklabels()]


def test_a_figure_says_that_it_shows_some_of_the_topics():
    left = "the 2 of 4 topics that differ most"
    assert left in plot_by(make_frame("party", "AB"), 2).get_xlabel()
    assert plot_by(make_frame("party", "ABCDEFGH"), 2).get_title(loc="left") == left
    assert "most" not in plot_by(make_frame("party", "AB"), 4).get_xlabel()


def test_topics_are_chosen_by_the_values_that_are_drawn():
    frame = make_frame("party", [f"p{i:02d}" for i in range(40)])
    frame.loc[(frame["party"] == "p00") & (frame["topic"] == 0), "share"] = 0.9  # of few documents, and not drawn
    names = [tick.get_text() for tick in plot_by(frame, 2).get_yticklabels()]
    assert names == ["2 label 2", "3 label 3"]


def test_shares_that_nobody_knows_are_marked_in_a_matrix():
    frame = make_frame("party", "ABCDEFGH")
    assert not plot_by(frame, 4).texts
    frame.loc[frame["party"].eq("C") & frame["topic"].eq(1), "high"] = 1.0
    ax = plot_by(frame, 4)
    assert [(text.get_text(), text.get_position()) for text in ax.texts] == [("?", (2, -1))]
    assert "interval is wider" in ax.get_xlabel()
