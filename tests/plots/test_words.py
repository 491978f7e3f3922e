import numpy as np
import pytest
from matplotlib.figure import Figure

from anchorless._plots.words import WordBars, plot_shares, plot_words


def make_topics(n, n_words=4):
    words = [f"word{i}" for i in range(n_words)]
    return [WordBars(k, f"label of {k}", words, np.linspace(0.1, 0.4, n_words).tolist()) for k in range(n)]


def test_every_word_stands_beside_a_bar_and_the_most_probable_is_first(ax):
    plot_words(make_topics(5), ax)
    texts = [text.get_text() for text in ax.texts]
    assert len(ax.patches) == 20
    assert sum(text.startswith("word") for text in texts) == 20
    first = [text for text in texts if text.startswith("word")][:4]
    assert first == ["word3", "word2", "word1", "word0"]
    assert "40.0%" in texts
    widths = [bar.get_width() for bar in ax.patches[:4]]
    np.testing.assert_allclose(np.array(widths) / widths[0], np.array([0.4, 0.3, 0.2, 0.1]) / 0.4)


def test_panels_do_not_overlap_and_are_inside_the_axes(ax):
    plot_words(make_topics(9), ax)
    boxes = [
        (bar.get_x(), bar.get_y(), bar.get_x() + bar.get_width(), bar.get_y() + bar.get_height()) for bar in ax.patches
    ]
    for i, a in enumerate(boxes):
        assert not any(a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3] for b in boxes[:i])
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    assert all(left <= a[0] and a[2] <= right and bottom <= a[1] and a[3] <= top for a in boxes)


@pytest.mark.parametrize(("width", "n_columns"), [(3, 1), (5, 2), (14, 4)])
def test_narrow_axes_have_fewer_panels_beside_each_other(width, n_columns):
    figure = Figure(figsize=(width, 4))
    ax = plot_words(make_topics(5), figure.add_axes((0, 0, 1, 1)))
    assert ax.get_xlim() == (0, n_columns)
    figure.draw_without_rendering()
    titles = [text.get_window_extent() for text in ax.texts if "label of" in text.get_text()]
    assert len(titles) == 5
    texts = [text.get_window_extent() for text in ax.texts]
    assert all(
        max(a.y0, b.y0) - min(a.y1, b.y1) > -3 or a.x0 > b.x1 or b.x0 > a.x1 for a in texts for b in texts if a is not b
    )
    assert not any(a.overlaps(b) for i, a in enumerate(titles) for b in titles[:i])


def test_no_text_is_cut_off_at_the_right(ax):
    words = [[f"a{'long' * 4}word{i}" for i in range(5)]] * 3
    made = plot_shares(np.array([0.2, 0.5, 0.3]), ["a", "b", "c"], words, None, None)
    made.figure.draw_without_rendering()
    right = made.get_window_extent().x1
    assert all(text.get_window_extent().x1 <= right for text in made.texts)


def test_shares_are_sorted_and_in_percent(ax):
    low, high = np.array([0.1, 0.4, 0.2]), np.array([0.35, 0.6, 0.4])
    plot_shares(np.array([0.2, 0.5, 0.3]), ["a", "b", "c"], [["x"], ["y"], ["z"]], (low, high), ax)
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], [50, 30, 20])
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["1 b", "2 c", "0 a"]
    segments = ax.collections[0].get_segments()
    np.testing.assert_allclose([s[:, 0] for s in segments], [[40, 60], [20, 40], [10, 35]])


def test_words_that_do_not_fit_into_given_axes_are_left_out():
    from matplotlib.figure import Figure

    ax = Figure(figsize=(6.4, 4.8), layout="constrained").subplots()
    words = [["algorithm", "system", "security", "public", "available"]] * 2
    plot_shares(np.array([0.5, 0.45]), ["A very long name of a topic that is not short", "b"], words, None, ax)
    ax.figure.draw_without_rendering()
    shown = [text.get_text().split(", ") for text in ax.texts]
    assert all(text.get_window_extent().x1 <= ax.get_window_extent().x1 + 1 for text in ax.texts)
    assert all(part == words[0][: len(part)] and len(part) >= 2 for part in shown)
