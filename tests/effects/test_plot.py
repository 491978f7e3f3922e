import sys

import numpy as np
import pytest

from anchorless.errors import InputError
from tests.helpers.planted_effects import fit_planted


@pytest.fixture(autouse=True)
def _close_figures():
    from matplotlib import pyplot

    pyplot.switch_backend("Agg")
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def effects():
    return fit_planted(3, n_documents=400)[0].effects("~ party + s(day)")


def test_a_category_is_drawn_as_differences_with_intervals(effects):
    ax = effects.plot()
    expected = effects.contrast("party", "B", "A")
    np.testing.assert_allclose(ax.containers[0][0].get_xdata(), expected["points"])
    assert "party: B − A, percentage points (90% intervals)" in ax.get_xlabel()
    assert [tick.get_text().split()[0] for tick in ax.get_yticklabels()] == ["0", "1", "2", "3", "4"]


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
