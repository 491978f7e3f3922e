"""The experiments: results are whole, resumable data; the verdict can fail; tables and plot come from the data."""

from __future__ import annotations

import ast
import csv
import json
import os
import platform
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image

import anchorless
from experiments import __main__ as command
from experiments import results, synthetic, synthetic_fits, synthetic_report
from experiments.progress import Progress, format_seconds
from experiments.results import COLUMNS, Cell, Results, ResultsError

ROOT = Path(__file__).parents[2]
TINY = [
    *(
        Cell(design, method, 3, None, seed)
        for design in synthetic_fits.EXACT
        for seed in (0, 1)
        for method in ("hard", "default")
    ),
    *(Cell("gaussian", method, 5, None, 0) for method in synthetic_fits.exact_methods("gaussian", 5, 0)),
    Cell("gaussian", "spa", 5, None, 2),  # a model where anchor words suffice
    *(Cell("sampled", method, 3, 300, 0) for method in synthetic_fits.METHODS),
]
SPA_FIT, SEPARABLE_FIT = Cell("gaussian", "spa", 5, None, 0), Cell("gaussian", "spa", 5, None, 2)
N_ROWS = sum(len(synthetic_fits.expected(cell)) for cell in TINY)


@pytest.fixture(autouse=True)
def tiny_plan(monkeypatch):
    monkeypatch.setattr(synthetic, "plan", lambda quick: TINY)


@pytest.fixture
def no_plot(monkeypatch):
    """For tests of the data: a plot takes longer than they do."""
    monkeypatch.setattr(synthetic, "draw", lambda values, limit, path: None)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The text of a finished tiny run: its results and its facts."""
    folder = tmp_path_factory.mktemp("finished")
    results.run_cells(Results(folder, "synthetic"), TINY, synthetic.measure_cell, synthetic.expected)
    return {name: (folder / name).read_text() for name in ("results.csv", "facts.json")}


@pytest.fixture
def folder(tmp_path, finished):
    """A fresh copy of the tiny run, where `--out tmp_path` looks for it."""
    folder = tmp_path / "synthetic"
    folder.mkdir()
    for name, text in finished.items():
        (folder / name).write_text(text)
    return folder


def timeless(text: str) -> list[str]:
    """Rows without the seconds, which no two runs share."""
    return [line for line in text.splitlines() if ",seconds," not in line]


def run(out: Path) -> int:
    return command.main(["synthetic", "--quick", "--out", str(out)])


# --- the results ---


def test_run_writes_tidy_rows_facts_tables_and_plot(tmp_path, capsys):
    assert run(tmp_path) == 0
    folder = tmp_path / "synthetic"
    assert sorted(path.name for path in folder.iterdir()) == ["errors.png", "facts.json", "results.csv", "tables.md"]
    with open(folder / "results.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == N_ROWS
    assert {row["experiment"] for row in rows} == {"synthetic"}
    assert np.isfinite([float(row["value"]) for row in rows]).all()
    shown = capsys.readouterr()
    assert shown.out == (folder / "tables.md").read_text()
    assert shown.out.splitlines()[-1].startswith("Limits hold in all 10 fits of exact co-occurrences and 4 comparisons")
    assert "18/18 done" in shown.err


def test_facts_have_versions_and_machine_but_no_names(folder):
    text = (folder / "facts.json").read_text()
    facts = json.loads(text)
    assert set(facts["versions"]) == {"python", "numpy", "scipy", "scikit-learn", "highspy", "anchorless"}
    assert facts["machine"] == {"cores": os.cpu_count(), "platform": f"{platform.system()} {platform.machine()}"}
    assert "/" not in text


@pytest.mark.usefixtures("no_plot")
def test_finished_run_measures_nothing_again(tmp_path, folder, monkeypatch):
    monkeypatch.setattr(synthetic, "measure_cell", lambda cell: pytest.fail(f"ran {cell} again"))
    before = (folder / "results.csv").read_text()
    assert run(tmp_path) == 0
    assert (folder / "results.csv").read_text() == before


@pytest.mark.usefixtures("no_plot")
def test_half_of_the_rows_lost_come_back(tmp_path, folder, finished):
    header, *lines = finished["results.csv"].splitlines(keepends=True)
    kept = np.random.default_rng(0).permutation(len(lines))[: len(lines) // 2]
    (folder / "results.csv").write_text(header + "".join(lines[k] for k in sorted(kept)))
    assert run(tmp_path) == 0
    assert timeless((folder / "results.csv").read_text()) == timeless(finished["results.csv"])


@pytest.mark.usefixtures("no_plot")
def test_torn_last_line_is_dropped_and_run_again(tmp_path, folder, finished):
    # cut inside the last fit's "error_C,0.123": what is left of the number would parse
    text = finished["results.csv"]
    last_error = text.rfind("error_C,") + len("error_C,")
    (folder / "results.csv").write_text(text[: last_error + 3])
    torn = TINY[-1]
    assert torn not in Results(folder, "synthetic").values
    assert run(tmp_path) == 0
    assert timeless((folder / "results.csv").read_text()) == timeless(text)


@pytest.mark.parametrize("text", ["", "experiment,desi"])
def test_file_torn_before_its_first_row_is_empty(tmp_path, text):
    (tmp_path / "results.csv").write_text(text)
    assert Results(tmp_path, "synthetic").values == {}


@pytest.mark.parametrize(
    "line",
    ["synthetic,gaussian,hard,3,,0,error_C", "synthetic,gaussian,hard,3,,0,error_C,x", "other,gaussian,hard,3,,0,a,1"],
)
def test_foreign_line_is_refused_by_number(tmp_path, folder, capsys, line):
    path = folder / "results.csv"
    path.write_text(path.read_text() + line + "\n")
    assert run(tmp_path) == 2
    assert f"line {N_ROWS + 2} is not a result of synthetic" in capsys.readouterr().err


def test_file_without_header_is_refused(folder):
    path = folder / "results.csv"
    path.write_text(path.read_text().split("\n", 1)[1])
    with pytest.raises(ResultsError, match="line 1 is not a result"):
        Results(folder, "synthetic")


@pytest.mark.parametrize("facts", [None, "{", '{"versions": {"numpy": "0.1"}}'])
def test_results_of_other_versions_are_not_added_to(tmp_path, folder, capsys, facts):
    path = folder / "facts.json"
    path.unlink() if facts is None else path.write_text(facts)
    before = (folder / "results.csv").read_bytes()
    assert run(tmp_path) == 2
    assert "other versions or on another machine" in capsys.readouterr().err
    assert (folder / "results.csv").read_bytes() == before


def test_a_failing_fit_names_its_cell_and_keeps_the_others(tmp_path, folder, finished, monkeypatch):
    def fail(cell):
        raise RuntimeError("no")

    extra = TINY[0]._replace(seed=7)
    monkeypatch.setattr(synthetic, "plan", lambda quick: [*TINY, extra])
    monkeypatch.setattr(synthetic, "measure_cell", fail)
    with pytest.raises(RuntimeError) as caught:
        run(tmp_path)
    assert caught.value.__notes__ == [f"in synthetic: {extra}"]
    assert (folder / "results.csv").read_text() == finished["results.csv"]


@pytest.mark.usefixtures("no_plot")
def test_interrupt_leaves_whole_fits_and_exit_code_130(tmp_path, monkeypatch, finished, capsys):
    real, calls = synthetic.measure_cell, []

    def interrupted(cell):
        calls.append(cell)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return real(cell)

    monkeypatch.setattr(synthetic, "measure_cell", interrupted)
    assert run(tmp_path) == 130
    assert "run the same command to resume" in capsys.readouterr().err
    folder = tmp_path / "synthetic"
    assert sorted(path.name for path in folder.iterdir()) == ["facts.json", "results.csv"]
    values = Results(folder, "synthetic").values
    assert list(values) == TINY[:3]
    assert all(tuple(found) == synthetic_fits.EXACT_MEASURES for found in values.values())
    monkeypatch.setattr(synthetic, "measure_cell", real)
    assert run(tmp_path) == 0
    assert timeless((folder / "results.csv").read_text()) == timeless(finished["results.csv"])


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent the POSIX way")
def test_ctrl_c_ends_the_program_with_130(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "experiments", "synthetic", "--out", str(tmp_path)],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    first = process.stderr.readline()
    process.send_signal(signal.SIGINT)
    rest = process.communicate(timeout=20)[1]
    assert "1/1220 done" in first
    assert process.returncode == 130
    assert "Traceback" not in rest
    assert (tmp_path / "synthetic" / "results.csv").read_text().endswith("\n")


# --- the fits ---


def test_full_plan_has_the_papers_grid():
    plan = synthetic_fits.plan(quick=False)
    assert len(plan) == len(set(plan))
    seeds = {F: sum(cell[:3] == ("gaussian", "hard", F) for cell in plan) for F in synthetic_fits.TOPICS}
    assert seeds == {3: 100, 5: 100, 10: 100, 15: 20, 20: 20, 25: 20, 30: 20}
    assert {cell.N for cell in plan if cell.design == "sampled"} == {1_000, 3_000, 10_000, 30_000, 100_000}
    assert {cell.method for cell in plan if cell.design == "sampled"} == {"hard", "default", "unbiased"}
    assert set(synthetic_fits.plan(quick=True)) <= set(plan)


def test_frequencies_sum_to_one():
    counts = sp.csr_matrix([[1.0, 3.0, 0.0], [0.0, 0.0, 2.0]])
    np.testing.assert_allclose(synthetic_fits.frequencies(counts).toarray(), [[0.25, 0.75, 0.0], [0.0, 0.0, 1.0]])


def test_warnings_of_a_fit_are_counted():
    P = synthetic_fits.planted("gaussian", 3, 0).cooccurrence
    _, found = synthetic_fits.fit_watching(synthetic_fits.AnchorFree(3, max_iter=1).fit_cooccurrence, P)
    assert found["warnings"] == 1


def test_anchor_words_are_run_on_the_papers_models_with_anchorfree():
    plan, quick = synthetic_fits.plan(quick=False), synthetic_fits.plan(quick=True)
    anchors = {cell for cell in plan if cell.method in synthetic_fits.ANCHOR_METHODS}
    assert {cell.F for cell in anchors} == synthetic_report.paper_errors("C").keys()
    assert {cell.design for cell in anchors} == {"gaussian"}
    assert len(anchors) == 4 * 6 * 10
    for cells in (plan, quick):
        for cell in cells:
            if cell.method in synthetic_fits.ANCHOR_METHODS:
                assert {cell._replace(method=method) for method in ("hard", "default", "spa", "xray")} <= set(cells)
    assert {cell.method for cell in quick} >= synthetic_fits.ANCHOR_METHODS.keys()


@pytest.mark.parametrize(
    ("C", "E", "answer"),
    [
        ([[0.5, 0.0, 0.5], [0.0, 0.4, 0.6]], [[1.0, -0.5], [-0.5, 1.0]], True),
        ([[0.5, 0.0, 0.5], [0.0, 0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]], False),  # no word is the second topic's alone
        ([[0.5, 0.0, 0.5], [0.0, 0.4, 0.6]], [[1.0, -1.5], [-1.5, 4.0]], False),  # the first topic's weight is < 0
    ],
)
def test_anchor_words_suffice_if_every_topic_has_one_and_a_weight(C, E, answer):
    truth = anchorless.datasets.Planted(np.array(C), np.array(E))
    assert synthetic_fits.is_separable(truth) is answer


def test_anchor_words_are_exact_where_they_suffice_and_wrong_elsewhere(values):
    assert values[SEPARABLE_FIT]["separable"] == 1
    assert values[SEPARABLE_FIT]["error_C"] < 1e-20
    assert values[SPA_FIT]["separable"] == 0
    assert values[SPA_FIT]["error_C"] > 1e-3


def test_errors_are_those_of_matched_topics():
    truth = synthetic_fits.planted("gaussian", 3, 0)
    turn, shift = [2, 0, 1], np.diag([0.3, 0.0, 0.4])
    model = SimpleNamespace(
        components_=truth.components[turn], topic_moments_=truth.moments[np.ix_(turn, turn)] + shift
    )
    found = synthetic_fits.errors(model, truth)
    assert found["error_C"] == 0
    np.testing.assert_allclose(found["error_E"], 0.25)
    np.testing.assert_allclose(found["relative_E"], 0.25 / (truth.moments**2).sum())


class Refusing:
    """An estimator that refuses every matrix with an error of its own choice."""

    def __init__(self, error):
        self.error = error

    def fit_cooccurrence(self, P):
        raise self.error


@pytest.mark.usefixtures("no_plot")
@pytest.mark.parametrize("error", [ValueError("too few anchors"), RuntimeError("gap")])
def test_refused_fit_is_noted_kept_and_shown(tmp_path, folder, monkeypatch, capsys, error):
    cell = SPA_FIT._replace(seed=1)
    monkeypatch.setattr(synthetic, "plan", lambda quick: [*TINY, cell])
    monkeypatch.setitem(synthetic_fits.ANCHOR_METHODS, "spa", lambda F: Refusing(error))
    assert run(tmp_path) == 0
    shown = capsys.readouterr()
    assert f"{cell}: refused, {error}" in shown.err
    assert ", 1 refused |" in shown.out
    assert "1 fits were refused" in shown.out
    found = Results(folder, "synthetic").values[cell]
    assert (found["refused"], found["separable"]) == (1, 0)
    assert np.isnan([found["error_C"], found["error_E"], found["relative_E"]]).all()
    monkeypatch.setattr(synthetic, "measure_cell", lambda cell: pytest.fail(f"ran {cell} again"))
    assert run(tmp_path) == 0


def test_error_of_the_program_is_not_a_refusal(monkeypatch):
    monkeypatch.setitem(synthetic_fits.ANCHOR_METHODS, "spa", lambda F: Refusing(TypeError("a bug")))
    with pytest.raises(TypeError, match="a bug"):
        synthetic_fits.measure_cell(SPA_FIT)


# --- the verdict ---


@pytest.fixture
def values(folder):
    return Results(folder, "synthetic").values


def test_limits_hold_on_the_tiny_run(values):
    assert synthetic.broken_limits(values) == []


@pytest.mark.parametrize(
    ("measure", "bad"), [("error_C", 2e-14), ("error_C", np.nan), ("relative_E", 2e-8), ("warnings", 1)]
)
def test_one_bad_seed_breaks_the_limits(values, measure, bad):
    cell = TINY[0]
    values[cell][measure] = bad
    assert any(line.startswith(f"{cell}: {measure}") for line in synthetic.broken_limits(values))


def test_missing_measure_breaks_the_limits(values):
    del values[TINY[0]]["error_C"]
    assert synthetic.broken_limits(values) != []


def test_median_has_a_limit_of_its_own(values):
    for seed in (0, 1):
        values[Cell("gaussian", "default", 3, None, seed)]["error_C"] = 1e-19
    assert synthetic.broken_limits(values) == ["gaussian, default, F=3: median of error_C is 1e-19, the limit 1e-20"]


def test_smaller_volume_of_the_default_breaks_the_limits(values):
    cell = Cell("nonnegative", "default", 3, None, 1)
    hard = values[cell._replace(method="hard")]["log_volume"]
    values[cell]["log_volume"] = hard - 0.5e-6 * abs(hard)
    assert synthetic.broken_limits(values) == []
    values[cell]["log_volume"] = hard - 2e-6 * abs(hard)
    assert [line.split(":")[0] for line in synthetic.broken_limits(values)] == [str(cell)]


def test_default_without_its_hard_fit_breaks_the_limits(values):
    del values[TINY[0]]
    assert len(synthetic.broken_limits(values)) == 1


@pytest.mark.parametrize("method", ["hard", "default"])
def test_anchor_words_must_be_far_off_the_worse_of_both_anchorfrees(values, method):
    values[SPA_FIT]["error_C"] = 1e-5
    values[SPA_FIT._replace(method=method)]["error_C"] = 0.9e-15  # over the median's limit, under that of a seed
    lines = [line for line in synthetic.broken_limits(values) if "median" not in line]
    assert lines == []
    values[SPA_FIT]["error_C"] = 0.8e-5
    lines = [line for line in synthetic.broken_limits(values) if "median" not in line]
    assert lines == [f"{SPA_FIT}: error_C is 8.89e+09 times AnchorFree's, the limit 1e+10"]


def test_anchor_words_as_good_as_an_error_of_zero_break_the_limits(values):
    for cell in (SPA_FIT, *(SPA_FIT._replace(method=method) for method in ("hard", "default"))):
        values[cell]["error_C"] = 0.0
    assert len(synthetic.broken_limits(values)) == 1


@pytest.mark.parametrize("gone", ["error_C", "hard", "default"])
def test_comparison_that_lacks_a_side_breaks_the_limits(values, gone):
    if gone == "error_C":
        del values[SPA_FIT][gone]
    else:
        del values[SPA_FIT._replace(method=gone)]["error_C"]
    assert f"{SPA_FIT}: error_C is nan times AnchorFree's, the limit 1e+10" in synthetic.broken_limits(values)


def test_good_anchor_words_are_excused_only_where_they_suffice(values):
    values[SPA_FIT]["error_C"] = 1e-25
    broken = synthetic.broken_limits(values)
    assert [line.split(":")[0] for line in broken] == [str(SPA_FIT)]
    del values[SPA_FIT]["separable"]
    assert synthetic.broken_limits(values) == broken
    values[SPA_FIT]["separable"] = 1.0
    for method in ("hard", "default", "spa"):  # another model, where it is far off
        values[Cell("gaussian", method, 10, None, 0)] = {**values[SPA_FIT._replace(method=method)], "separable": 0.0}
    values[SPA_FIT._replace(F=10)]["error_C"] = 0.5
    assert synthetic.broken_limits(values) == []


@pytest.mark.parametrize("bad", [2e-14, np.nan])
def test_anchor_words_must_succeed_where_they_suffice(values, bad):
    values[SEPARABLE_FIT]["error_C"] = bad
    assert [line.split(":")[0] for line in synthetic.broken_limits(values)] == [str(SEPARABLE_FIT)]


def test_method_that_refused_everything_is_not_a_pass(values):
    values[SPA_FIT]["refused"] = 1.0
    assert synthetic.broken_limits(values) == ["there is no fit of spa to compare AnchorFree with"]


def test_comparison_names_the_smallest_factor_and_where_anchor_words_suffice(values):
    smallest = min(
        values[SPA_FIT._replace(method=method)]["error_C"] for method in synthetic_fits.ANCHOR_METHODS
    ) / max(values[SPA_FIT._replace(method=method)]["error_C"] for method in ("hard", "default"))
    far, excused = synthetic.comparison(values)
    assert f"in 1 models, 4 fits, the squared error of C of every anchor-word method is at least {smallest:.1e}" in far
    assert "1 models where anchor words suffice, since every topic has one and E1 > 0 (F=5 seed 2)" in excused
    values[SPA_FIT]["error_C"] = np.nan
    assert "at least nan times" in next(synthetic.comparison(values))


def test_nothing_to_judge_is_not_a_pass(values):
    sampled = {cell: found for cell, found in values.items() if cell.design == "sampled"}
    assert synthetic.broken_limits(sampled) != []
    assert synthetic.broken_limits({}) != []


@pytest.mark.usefixtures("no_plot")
def test_anchor_words_that_succeed_give_exit_code_1(tmp_path, folder, capsys):
    path = folder / "results.csv"
    path.write_text(path.read_text() + "synthetic,gaussian,xray,5,,0,error_C,1e-22\n")
    assert command.main(["render", "synthetic", "--out", str(tmp_path)]) == 1
    shown = capsys.readouterr().out
    assert "- gaussian, xray, F=5, seed 0: error_C is " in shown
    assert shown.splitlines()[-1].startswith("Limits DO NOT HOLD (1 broken")


@pytest.mark.usefixtures("no_plot")
def test_planted_bad_row_gives_exit_code_1(tmp_path, folder, capsys):
    path = folder / "results.csv"
    path.write_text(path.read_text() + "synthetic,gaussian,hard,3,,0,error_C,0.5\n")
    assert command.main(["render", "synthetic", "--out", str(tmp_path)]) == 1
    shown = capsys.readouterr().out
    assert "- gaussian, hard, F=3, seed 0: error_C is 0.5, the limit 1e-14" in shown
    assert shown.splitlines()[-1].startswith("Limits DO NOT HOLD")


def test_long_list_of_broken_limits_is_cut(values):
    text = synthetic.verdict(values, [f"line {k}" for k in range(30)])
    assert "- line 19\n- and 10 more\n" in text
    assert "line 20" not in text


# --- the rendering ---


def test_render_writes_tables_and_a_plot_from_the_results(tmp_path, folder):
    assert command.main(["render", "synthetic", "--out", str(tmp_path)]) == 0
    text = (folder / "tables.md").read_text()
    assert text.count("\n|-") == 6
    assert (folder / "errors.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "errors.png").stat().st_size < 60_000


def test_render_without_results_writes_nothing(tmp_path):
    assert command.main(["render", "synthetic", "--out", str(tmp_path / "none")]) == 1
    assert list(tmp_path.iterdir()) == []


def test_tables_show_the_papers_numbers_next_to_its_design():
    cell = Cell("gaussian", "hard", 5, None, 0)
    found = dict.fromkeys(synthetic_fits.EXACT_MEASURES, 1e-21)
    (row,) = synthetic_report.exact_rows({cell: found}, "gaussian")
    assert row[:6] == ["5", "hard", "1", "1.0e-21", "1.0e-21", "1.0e-21"]
    assert row[-2:] == ["5.8e-20", "1.3e-16"]
    assert len(row) == len(synthetic_report.exact_header("gaussian"))


def test_comparison_has_means_of_the_papers_trials_next_to_the_papers_numbers():
    values = {Cell("gaussian", "xray", 5, None, seed): {"error_E": error} for seed, error in ((0, 2.0), (9, 4.0))}
    values |= {Cell("gaussian", "default", 5, None, seed): {"error_E": 1e-26} for seed in (0, 1)}
    others = [("gaussian", 5, 10), ("gaussian", 3, 0), ("nonnegative", 5, 0)]  # a seed, F and design not of the paper
    values |= {Cell(design, "xray", F, None, seed): {"error_E": 100.0} for design, F, seed in others}
    (row,) = synthetic_report.compared_rows(synthetic_report.paper_trials(values), "error_E", "E")
    shown = dict(zip(synthetic_report.COMPARED, row[1:], strict=True))
    assert row[0] == "5"
    assert (shown["xray"], shown["spa"], shown["hard"]) == ("3 (8.8)", "– (2.1e+10)", "– (1.3e-16)")
    assert shown["default"] == "1e-26"
    (row,) = synthetic_report.compared_rows(synthetic_report.paper_trials(values), "error_E", None)
    assert row[1 + list(synthetic_report.COMPARED).index("xray")] == "3"


def test_refused_fits_are_counted_and_not_in_the_mean():
    refused = {"error_C": np.nan, "refused": 1.0}
    values = {SPA_FIT: {"error_C": 0.5, "refused": 0.0}, SPA_FIT._replace(seed=1): refused}
    assert synthetic_report.format_compared(values, "error_C", "spa", 5, 0.0284) == "0.5 (0.028), 1 refused"
    assert synthetic_report.format_compared({SPA_FIT: refused}, "error_C", "spa", 5, None) == "–, 1 refused"


def test_comparison_has_a_column_for_every_method_of_the_paper():
    assert synthetic_report.COMPARED.keys() == {*synthetic_fits.ANCHOR_METHODS, *synthetic_fits.EXACT_METHODS}
    for matrix in ("C", "E"):
        for _, name in synthetic_report.COMPARED.values():
            topics = set() if name is None else set(synthetic_fits.PAPER_TOPICS)
            assert synthetic_report.paper_errors(matrix, name).keys() == topics


def test_no_comparison_without_anchor_words(values):
    rest = {cell: found for cell, found in values.items() if cell.method not in synthetic_fits.ANCHOR_METHODS}
    assert list(synthetic_report.comparison_tables(rest)) == []
    assert list(synthetic.comparison(rest)) == []


def test_exact_rows_take_median_and_maximum():
    found = [dict.fromkeys(synthetic_fits.EXACT_MEASURES, value) for value in (1e-25, 3e-25, 8e-22)]
    values = {Cell("nonnegative", "hard", 5, None, seed): each for seed, each in enumerate(found)}
    (row,) = synthetic_report.exact_rows(values, "nonnegative")
    assert row[:6] == ["5", "hard", "3", "3.0e-25", "8.0e-22", "8.0e-22"]


def test_unfinished_results_can_be_rendered(values, tmp_path):
    partial = {TINY[1]: values[TINY[1]], TINY[-1]: values[TINY[-1]]}
    text = "\n".join(synthetic_report.tables(partial))
    assert "| – |".replace(" ", "") in text.replace(" ", "")
    synthetic_report.draw(partial, 1e-14, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").exists()


def test_few_colours_keep_the_lines_apart(tmp_path):
    figure = Figure(figsize=(4, 3))
    axes = figure.subplots()
    for k in range(4):
        axes.plot([0, 1], [k, k + 0.5], lw=3)
        axes.fill_between([0, 1], k, k + 1, alpha=0.15)
    results.save_png(figure, tmp_path / "plot.png")
    colours = np.unique(np.asarray(Image.open(tmp_path / "plot.png").convert("RGB")).reshape(-1, 3), axis=0) / 255
    for k in range(4):
        assert abs(colours - to_rgb(f"C{k}")).max(axis=1).min() < 0.05


def test_markdown_columns_are_padded():
    assert results.markdown_table(["F", "error"], [["10", "1"]]) == "|  F | error |\n|---:|------:|\n| 10 |     1 |"


def test_minor_ticks_are_labelled_at_2_and_5():
    assert [synthetic_report.sparse_label(value) for value in (0.02, 0.03, 0.5, 9.0)] == ["0.02", "", "0.5", ""]


# --- the faces ---


def test_progress_reckons_with_the_kind_of_each_task():
    progress = Progress(["slow", "fast", "slow", "new"])
    progress.seconds = {"slow": [3.0, 5.0], "fast": [1.0]}
    progress.n_done = 2
    np.testing.assert_allclose(progress.left(), 4.0 + 2.5)


@pytest.mark.parametrize(("seconds", "text"), [(0.2, "0 s"), (59.4, "59 s"), (59.6, "1 min 00 s"), (185, "3 min 05 s")])
def test_readable_time(seconds, text):
    assert format_seconds(seconds) == text


def test_every_experiment_can_be_run_and_rendered():
    for name in command.EXPERIMENTS:
        module = command.experiment(name)
        assert callable(module.run)
        assert callable(module.render)
        assert module.__doc__


@pytest.mark.parametrize("arguments", [["--help"], ["synthetic", "--help"], ["render", "--help"]])
def test_help_shows_an_example(capsys, arguments):
    with pytest.raises(SystemExit) as end:
        command.main(arguments)
    assert end.value.code == 0
    assert "python -m experiments " in capsys.readouterr().out.split("example")[1]


def test_experiments_use_only_the_public_interface():
    public = set(anchorless.__all__)
    for path in (ROOT / "experiments").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                assert not any(alias.name.startswith("anchorless") for alias in node.names), path.name
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("anchorless"):
                assert node.module == "anchorless", path.name
                assert {alias.name for alias in node.names} <= public, path.name
