import itertools
import sys

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from anchorless import TopicModel
from anchorless._effects.plot import MAX_ROWS, plot_differences, plot_periods
from anchorless.errors import InputError
from tests.helpers.planted_effects import fit_planted


@pytest.fixture(scope="module")
def model():
    return fit_planted(3, n_documents=400)[0]


@pytest.fixture(scope="module")
def effects(model):
    return model.effects("~ party + s(day)")


def test_a_category_is_drawn_as_differences_with_intervals(effects):
    ax = effects.plot()
    expected = effects.contrast("party", "B", "A")
    points = [line for line in ax.lines if line.get_marker() == "o"]
    np.testing.assert_allclose([line.get_xdata()[0] for line in points], expected["points"])
    intervals = [line.get_xdata() for line in ax.lines if line.get_marker() == "None"][1:]  # the first is zero
    np.testing.assert_allclose(intervals, expected[["low", "high"]])
    filled = [line.get_markerfacecolor() != "white" for line in points]
    assert filled == (expected["p_adjusted"] < 0.05).tolist()
    assert any(filled)
    assert not all(filled)
    assert get_title(ax) == "party: B − A"
    assert "percentage points (90% intervals" in ax.get_xlabel()
    assert [tick.get_text().split()[0] for tick in ax.get_yticklabels()] == ["0", "1", "2", "3", "4"]


def get_title(ax) -> str:
    return "".join(ax.get_title(loc=where) for where in ("left", "center", "right"))


def test_dates_are_drawn_as_curves_on_the_given_axes(effects):
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    assert effects.plot("day", ax=ax) is ax
    assert len(ax.lines) == 5
    share = effects.predict({"day": ["2008-01-01"]})
    first = {float(line.get_ydata()[0]) for line in ax.lines}
    assert min(abs(value - 100 * share["share"][0]) for value in first) < 1.0


def test_a_column_that_is_not_in_the_formula_is_refused(effects):
    with pytest.raises(InputError, match="no column 'year' to draw; it has: 'party', 'day'"):
        effects.plot("year")


def test_without_matplotlib_the_message_says_what_to_install(effects, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install 'anchorless\[plot\]'"):
        effects.plot()


def test_a_file_holds_every_column_and_is_the_same_each_time(effects, tmp_path):
    effects.save_plot(tmp_path / "a.svg")
    effects.save_plot(tmp_path / "b.svg")
    content = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert content == (tmp_path / "b.svg").read_text(encoding="utf-8")
    assert "party: B − A" in content
    assert "day (other columns as they are)" in content
    with pytest.raises(InputError, match="exists"):
        effects.save_plot(tmp_path / "a.svg")
    with pytest.raises(InputError, match=r"must end in \.svg, \.png or \.pdf"):
        effects.save_plot(tmp_path / "a.gif")


def test_of_many_rows_those_with_the_strongest_evidence_are_drawn(effects):
    contrasts = pd.concat([effects.contrast("party", "B", "A")] * 30, ignore_index=True)
    ax = plot_differences(contrasts, "party", 0.9, None)
    drawn = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    assert len(drawn) == MAX_ROWS
    assert len({round(x, 9) for x in drawn}) == 2
    assert f"the {MAX_ROWS} of 150" in get_title(ax)
    levels = [f"comp.sys.ibm.pc.hardware.{i % 2}" for i in range(len(contrasts))]
    for first in ("several words", levels):
        long = contrasts.assign(label="superstition sensitivity reaction", first=first)
        ax = plot_differences(long, "umbrella group", 0.9, None)
        ax.figure.draw_without_rendering()
        boxes = [title.get_window_extent() for title in (ax.title, ax._left_title, ax._right_title)]
        assert max(box.x1 for box in boxes) <= ax.figure.bbox.x1 + 1  # a fraction of a pixel is rounded
        assert min(box.x0 for box in boxes) >= 0


def test_periods_are_drawn_with_bands_and_numbers_of_documents(model):
    table = model.topics_over_time("day", period="month")
    ax = model.plot.over_time("day", period="month", topics=[1])
    (line,) = ax.lines
    np.testing.assert_allclose(line.get_ydata(), 100 * table[table["topic"] == 1]["share"])
    (beside,) = [other for other in ax.figure.axes if other is not ax]
    assert [bar.get_height() for bar in beside.patches] == table[table["topic"] == 1]["n_documents"].tolist()
    assert len(model.plot.over_time("day", ax=ax).lines) == 6  # all five on the same axes
    ax = plot_periods(table, str(table.columns[0]), 0.9, None, 3, None)
    assert ax.get_title(loc="left") == f"the 3 of {model.n_topics_} topics that change most"
    with pytest.raises(InputError, match="topics"):
        model.plot.over_time("day", topics=[7])


@pytest.mark.parametrize("width", [3, 5, 8])
@pytest.mark.parametrize("name", ["{}", "{}-01", "{}-01-31"])
def test_labels_of_periods_do_not_overlap_in_narrow_axes(width, name):
    periods = [name.format(year) for year in range(2001, 2025)]
    rows = {"period": periods, "topic": 0, "label": "a", "share": 0.5, "low": 0.4, "high": 0.6, "n_documents": 3}
    figure = Figure(figsize=(width, 3))
    ax = plot_periods(pd.DataFrame(rows), "period", 0.9, figure.subplots(), 5, None)
    figure.draw_without_rendering()
    labels = [label.get_window_extent() for label in ax.get_xticklabels()]
    assert len(labels) >= 2
    assert all(a.x1 < b.x0 for a, b in itertools.pairwise(labels))


def test_a_model_draws_its_last_effects(model, effects):
    model.effects("~ party")
    assert "party" in get_title(model.plot.effects())
    with pytest.raises(InputError, match="call effects"):
        TopicModel(2).plot.effects()
