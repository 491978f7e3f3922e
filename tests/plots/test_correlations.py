from itertools import pairwise

import numpy as np
import pytest

from anchorless._plots.correlations import (
    circle_areas,
    format_number,
    frame_points,
    measure_frame,
    plot_matrix,
    plot_network,
    separate_circles,
)
from anchorless._report.topic_map import MIN_LINK, select_links


def make_association(n, seed=0):
    R = np.random.default_rng(seed).normal(0, 0.05, (n, n))
    R = (R + R.T) / 2
    np.fill_diagonal(R, 1.0)
    return R


def test_the_matrix_shows_every_pair_under_its_topics(ax):
    R = make_association(5)
    plot_matrix(R, list("abcde"), ax)
    order = [int(tick.get_text()) for tick in ax.get_xticklabels()]
    assert [tick.get_text().split()[0] for tick in ax.get_yticklabels()] == [str(k) for k in order]
    shown = np.ma.filled(ax.collections[0].get_array(), np.nan).reshape(5, 5)
    off = ~np.eye(5, dtype=bool)
    np.testing.assert_allclose(shown[off], R[np.ix_(order, order)][off])
    assert np.isnan(np.diag(shown)).all()
    low, high = ax.collections[0].get_clim()
    assert low == -high  # white is zero


def test_numbers_in_the_matrix_have_as_many_digits_as_they_need():
    assert format_number(-0.0312, 0.04) == "−.031"
    assert format_number(-0.0001, 0.04) == "0"
    assert format_number(0.25, 0.9) == ".25"


def test_the_network_draws_the_links_of_the_map_and_every_number(ax):
    R, shares = make_association(8), np.linspace(0.2, 0.05, 8)
    plot_network(R, shares, [f"topic {k}" for k in range(8)], ax)
    assert len(ax.lines) == len(select_links(R))
    numbers = [text.get_text() for text in ax.texts if text.get_text().isdigit()]
    assert numbers == [str(k) for k in range(8)]
    assert len(set(ax.get_legend().texts)) == 2


def test_lines_are_wider_for_stronger_associations(ax):
    R = np.eye(3)
    R[0, 1] = R[1, 0] = 0.4
    R[1, 2] = R[2, 1] = 0.1
    plot_network(R, np.ones(3) / 3, list("abc"), ax)
    assert ax.lines[0].get_linewidth() < ax.lines[1].get_linewidth()


def test_without_any_link_the_network_says_so(ax):
    plot_network(np.eye(3), np.ones(3) / 3, list("abc"), ax)
    assert "no two topics are together more or less often than their sizes explain" in ax.get_xlabel()
    assert ax.get_legend() is None
    x, y = ax.collections[0].get_offsets().T
    np.testing.assert_allclose([x[0], y[0]], [x[2], y[1]], atol=1e-3)  # two rows, the first at the top
    assert y[0] > y[2] + 0.5
    assert {"a", "b", "c"} <= {text.get_text() for text in ax.texts}


@pytest.mark.parametrize("n", [5, 20, 60])
@pytest.mark.parametrize("dpi", [80, 150])
def test_no_name_in_a_matrix_is_cut_off_and_no_number_covers_another(n, dpi):
    ax = plot_matrix(make_association(n), [f"superstition sensitivity {k}" for k in range(n)])
    ax.figure.set_dpi(dpi)
    ax.figure.draw_without_rendering()
    assert min(tick.get_window_extent().x0 for tick in ax.get_yticklabels()) >= 0
    boxes = [tick.get_window_extent() for tick in ax.get_xticklabels()]
    assert all(first.x1 <= second.x0 for first, second in pairwise(boxes))


def test_associations_that_are_no_links_are_pale():
    ax = plot_matrix(make_association(5) / 1000 + np.eye(5), list("abcde"))
    assert ax.collections[0].get_clim() == (-MIN_LINK, MIN_LINK)


@pytest.mark.parametrize("n", [3, 60, 100])
def test_circles_do_not_cover_each_other_even_if_topics_are_very_close(n):
    R = np.full((n, n), 0.9)
    np.fill_diagonal(R, 1.0)
    shares = np.linspace(3.0, 0.1, n)
    ax = plot_network(R, shares / shares.sum(), [f"words {k}" for k in range(n)])
    centers = 72 / ax.figure.dpi * ax.transData.transform(np.asarray(ax.collections[0].get_offsets()))
    radius = np.sqrt(circle_areas(shares / shares.sum()) / np.pi)
    distance = np.hypot(*(centers[:, None] - centers).T) + np.diag(np.full(n, np.inf))
    assert (distance >= 0.95 * (radius[:, None] + radius)).all()


@pytest.mark.parametrize("n", [2, 12, 40])
def test_labels_cover_neither_each_other_nor_the_border(n):
    labels = [f"some words of {k}" for k in range(n)]
    ax = plot_network(make_association(n), np.full(n, 1 / n), labels)
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts if not text.get_text().isdigit()]
    assert len(boxes) >= n / 2
    for i, box in enumerate(boxes):
        assert not any(box.shrunk(0.95, 0.8).overlaps(other.shrunk(0.95, 0.8)) for other in boxes[:i])
    frame = ax.figure.bbox
    assert all(box.x0 >= frame.x0 and box.x1 <= frame.x1 for box in boxes)


def test_areas_are_proportional_to_shares():
    areas = circle_areas(np.array([0.6, 0.3, 0.001]))
    assert areas[0] == 2 * areas[1]
    assert areas[2] > 0


@pytest.mark.parametrize("n", [3, 12, 50])
def test_a_matrix_fills_the_height_of_its_figure(n):
    ax = plot_matrix(make_association(n), ["a name of a topic that is long"] * n)
    ax.figure.draw_without_rendering()
    assert ax.get_window_extent().height > 0.85 * ax.figure.bbox.height


def test_no_line_passes_through_the_circle_of_another_topic():
    from matplotlib.figure import Figure

    X, radius = np.array([[0.1, 0.5], [0.5, 0.5], [0.9, 0.52]]), np.full(3, 12.0)
    ax = Figure(figsize=(6.4, 4.8)).subplots()
    frame_points(ax)
    places = measure_frame(ax).to_points(separate_circles(ax, X, radius, [(0, 2)]))
    along = places[2] - places[0]
    offset = places[1] - places[0]
    distance = abs(along[0] * offset[1] - along[1] * offset[0]) / np.hypot(*along)
    assert distance > radius[1]


def test_numbers_in_a_small_matrix_do_not_touch():
    from matplotlib.figure import Figure

    ax = Figure(figsize=(4.0, 3.0), layout="constrained").subplots()
    plot_matrix(-0.003 * np.ones((9, 9)), [f"superstition {k}" for k in range(9)], ax)
    ax.figure.draw_without_rendering()
    rows = {}
    for text in ax.texts:
        rows.setdefault(text.get_position()[1], []).append(text.get_window_extent())
    assert all(first.x1 < second.x0 for row in rows.values() for first, second in pairwise(row))
