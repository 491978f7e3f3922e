"""The experiment on coverage: its measures are right for known intervals, and its limits can fail."""

import csv

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments import __main__ as command
from experiments import coverage
from experiments.coverage import Estimates, summarize
from experiments.results import Cell, Results

#: Relative sampling error allowed in a simulation of 20,000 numbers.
SAMPLING = 0.05


def simulate(bias, spread, claimed, n_corpora=20, n_entries=1000):
    """Return estimates of zeros with normal errors."""
    rng, half = np.random.default_rng(0), 1.645 * claimed
    fits = []
    for _ in range(n_corpora):
        value = bias + spread * rng.standard_normal(n_entries)
        fits.append(Estimates(value - half, value + half, value, np.zeros(n_entries), value))
    return summarize(fits)


def test_right_intervals_cover_nine_in_ten():
    found = simulate(bias=0.0, spread=1.0, claimed=1.0)
    assert_allclose(found["covered"] / found["intervals"], 0.9, atol=0.01)
    assert_allclose([found["spread"], found["claimed"], found["error"]], 1.0, rtol=SAMPLING)
    assert found["bias"] < 0.1
    assert found["covered"] + found["below"] + found["above"] == found["intervals"]


def test_bias_and_narrow_intervals_are_told_apart():
    biased, narrow = simulate(bias=2.0, spread=1.0, claimed=1.0), simulate(bias=0.0, spread=1.0, claimed=0.4)
    assert_allclose(biased["bias"], 2.0, rtol=SAMPLING)
    assert_allclose(biased["spread"], 1.0, rtol=SAMPLING)
    assert biased["below"] > 0.6 * biased["intervals"]  # estimates are too large, so the truth is below
    assert biased["above"] < 0.01 * biased["intervals"]
    assert narrow["bias"] < 0.1
    assert_allclose(narrow["claimed"], 0.4, rtol=SAMPLING)
    assert narrow["covered"] < 0.6 * narrow["intervals"]


def test_a_quick_run_is_complete_and_not_repeated(tmp_path, capsys, monkeypatch):
    arguments = ["coverage", "--quick", "--cells", "sparse,dirichlet", "--out", str(tmp_path)]
    assert command.main(arguments) in (0, 1)
    with open(tmp_path / "coverage" / "results.csv", newline="") as file:
        values = {(row["design"], row["measure"]): float(row["value"]) for row in csv.DictReader(file)}
    assert np.isfinite([*values.values()]).all()
    K, corpora = coverage.QUICK_TOPICS, coverage.QUICK_CORPORA
    n_pairs = K * (K - 1) // 2
    for design in ("sparse", "dirichlet"):
        counts = [values[design, f"{quantity}_intervals"] for quantity in coverage.QUANTITIES]
        assert counts == [corpora * n for n in (10 * K, K, K, n_pairs, n_pairs)]
        assert values[design, "words_error"] < 0.02
    assert (tmp_path / "coverage" / "tables.md").read_text() == capsys.readouterr().out
    monkeypatch.setattr(coverage, "measure_cell", lambda cell: pytest.fail(f"ran {cell} again"))
    assert command.main(arguments) in (0, 1)


@pytest.mark.parametrize(("covered", "code"), [(90, 0), (70, 1), (100, 1)])
def test_coverage_out_of_bounds_fails(tmp_path, covered, code):
    cell = Cell("sparse", coverage.METHOD, 10, 5000, 0)
    measures = dict.fromkeys(coverage.expected(cell), 0.1)
    for quantity in coverage.QUANTITIES:
        measures |= {f"{quantity}_intervals": 100, f"{quantity}_covered": covered, f"{quantity}_below": 100 - covered}
        measures[f"{quantity}_above"] = 0
    results = Results(tmp_path, coverage.EXPERIMENT)
    results.resume()
    results.add(cell, measures)
    assert coverage.render(tmp_path) == code


def test_an_unknown_population_is_refused(tmp_path, capsys):
    assert command.main(["coverage", "--cells", "spars", "--out", str(tmp_path)]) == 2
    assert "'spars'; choose from sparse, dirichlet, dense" in capsys.readouterr().err
