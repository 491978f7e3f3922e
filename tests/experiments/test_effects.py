"""The experiment on effects: planted effects are those of the sample, its measures are right, its limits can fail."""

import csv

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments import __main__ as command
from experiments import effects
from experiments.effects import compare
from experiments.effects_methods import EffectFit, Found, build_design, describe_coefficients
from experiments.planted import Design
from experiments.planted_effects import EffectDesign, draw_effects
from experiments.results import Cell, Results


def test_the_truth_is_what_the_proportions_of_a_sample_show():
    planted = draw_effects(EffectDesign(Design(6, 50, 20000, 5, spread=1.0)), 0)
    design, W = build_design(planted.covariates), planted.corpus.mixtures
    b = np.linalg.lstsq(design.X, W, rcond=None)[0]
    assert_allclose(b[1:3].T, planted.truth["category"], atol=0.01)
    assert_allclose(b[3:4].T, planted.truth["slope"], atol=0.01)
    assert_allclose((design.curve @ b).T, planted.truth["curve"], atol=0.012)
    assert planted.truth["category"][0, 0] > 0.05
    none = draw_effects(EffectDesign(Design(6, 50, 100, 5), n_authors=9, planted=False), 0)
    assert abs(none.truth["category"]).max() < 0.005
    assert none.covariates.groupby("author")["party"].nunique().max() == 1


def test_measures_of_known_effects():
    truth = np.array([[0.1, 0.0], [-0.1, 0.01]])
    estimate = truth + np.array([[0.02, 0.0], [0.02, 0.2]])
    fit = EffectFit(np.zeros((2, 3)), {"category": Found(estimate, estimate - 0.05, estimate + 0.05, estimate)}, 1.0)
    found = dict(zip(effects.MEASURES, compare(fit, "category", truth, np.array([0, 1])), strict=True))
    assert (found["intervals"], found["covered"]) == (4, 3)
    assert_allclose(found["squares"], 2 * 0.02**2 + 0.04)
    assert (found["large"], found["tests"], found["significant"]) == (2, 4, 2)
    assert_allclose([found["large_error"], found["large_truth"]], [0.0, 0.2], atol=1e-12)


def test_coefficients_of_other_methods_have_normal_intervals():
    planted = draw_effects(EffectDesign(Design(5, 50, 300, 5)), 0)
    design = build_design(planted.covariates)
    found = describe_coefficients(np.ones((5, 9)), np.tile(np.eye(9), (5, 1, 1)), design)
    assert_allclose(found["slope"].high, 1 + 1.6449, rtol=1e-4)
    assert found["curve"].p.shape == (5, 1)


def test_a_quick_run_is_complete_and_not_repeated(tmp_path, capsys, monkeypatch):
    arguments = ["effects", "--quick", "--cells", "authors", "--out", str(tmp_path)]
    assert command.main(arguments) in (0, 1)
    with open(tmp_path / "effects" / "results.csv", newline="") as file:
        values = {row["measure"]: float(row["value"]) for row in csv.DictReader(file)}
    assert np.isfinite([*values.values()]).all()
    assert values["category_intervals"] == 2 * values["recovered"]
    assert (tmp_path / "effects" / "tables.md").read_text() == capsys.readouterr().out
    monkeypatch.setattr(effects, "measure_cell", lambda cell: pytest.fail(f"ran {cell} again"))
    assert command.main(arguments) in (0, 1)


@pytest.mark.parametrize(
    ("changed", "code"),
    [({}, 0), ({"slope_covered": 70}, 1), ({"slope_covered": 100}, 1), ({"category_large_error": 1.0}, 1)],
)
def test_limits_can_fail(tmp_path, changed, code):
    cell = Cell("short", "anchorless", effects.K, 3000, 100)
    measures = dict.fromkeys(effects.expected(cell), 0.1)
    for kind in effects.KINDS:
        numbers = {"intervals": 100, "covered": 90, "tests": 100, "significant": 50, "large": 10, "large_error": 0.0}
        measures |= {f"{kind}_{name}": value for name, value in numbers.items()}
    results = Results(tmp_path, effects.EXPERIMENT)
    results.resume()
    results.add(cell, measures | changed)
    assert effects.render(tmp_path) == code


def test_false_positives_can_fail(tmp_path):
    cell = Cell("none", "anchorless", effects.K, 3000, 100)
    measures = dict.fromkeys(effects.expected(cell), 0.0)
    for kind in effects.KINDS:
        measures |= {f"{kind}_intervals": 100, f"{kind}_covered": 90, f"{kind}_tests": 100, f"{kind}_significant": 9}
    results = Results(tmp_path, effects.EXPERIMENT)
    results.resume()
    results.add(cell, measures)
    assert effects.render(tmp_path) == 1


def test_unknown_names_are_refused(tmp_path, capsys):
    assert command.main(["effects", "--cells", "shrt", "--out", str(tmp_path)]) == 2
    assert command.main(["effects", "--methods", "stm", "--out", str(tmp_path)]) == 2
    assert "there is no method 'stm'; choose from anchorless, topica-stm, lda-ols" in capsys.readouterr().err
