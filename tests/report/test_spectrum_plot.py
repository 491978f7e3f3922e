"""The plot of `search-k`: one panel per measure, the same bytes in every run, three formats."""

import sys

import numpy as np
import pytest

from anchorless._figures import find_plot_format
from anchorless._report.spectrum_plot import TITLES, plot_search
from anchorless.errors import InputError, UsageError

ROWS = [{"topics": k} | dict.fromkeys(TITLES, 0.1 * k) for k in (5, 10, 20)]
EIGENVALUES = 1 / np.arange(1.0, 31.0)
pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'anchorless[plot]'")


def test_svg_has_a_panel_per_measure():
    svg = plot_search(ROWS, EIGENVALUES).decode()
    assert svg.count('id="axes_') == 1 + len(TITLES)
    for title in TITLES.values():
        assert title.split(":")[0] in svg


@pytest.mark.parametrize("format", ["svg", "pdf", "png"])
def test_the_bytes_are_the_same_in_every_run(format):
    assert plot_search(ROWS, EIGENVALUES, format) == plot_search(ROWS, EIGENVALUES, format)


def test_svg_has_no_date():
    assert "<dc:date>" not in plot_search(ROWS, EIGENVALUES).decode()


@pytest.mark.parametrize(("name", "start"), [("k.svg", b"<?xml"), ("K.PNG", b"\x89PNG"), ("a.b.pdf", b"%PDF")])
def test_the_ending_decides_the_format(name, start):
    assert plot_search(ROWS, EIGENVALUES, find_plot_format(name)).startswith(start)


@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_a_measure_without_values_leaves_its_panel_empty(value):
    svg = plot_search([row | {"stability": value} for row in ROWS], EIGENVALUES).decode()
    assert svg.count('id="axes_') == 1 + len(TITLES)
    assert svg.count("<use ") < plot_search(ROWS, EIGENVALUES).decode().count("<use ")


@pytest.mark.parametrize("name", ["plot", "plot.gif", "svg"])
def test_other_endings_are_refused(name):
    with pytest.raises(UsageError, match=r"must end in \.svg, \.png or \.pdf"):
        find_plot_format(name)


def test_a_missing_matplotlib_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install 'anchorless\[plot\]'"):
        find_plot_format("k.svg")
