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

import numpy as np
import pytest
import scipy.sparse as sp
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image

import anchorless
from experiments import __main__ as command
from experiments import results, synthetic, synthetic_fits, synthetic_report
from experiments.progress import Progress, readable
from experiments.results import COLUMNS, Cell, Results, ResultsError

ROOT = Path(__file__).parent.parent
TINY = [
    *(
        Cell(design, method, 3, None, seed)
        for design in synthetic_fits.EXACT
        for seed in (0, 1)
        for method in ("hard", "default")
    ),
    *(Cell("sampled", method, 3, 300, 0) for method in synthetic_fits.METHODS),
]
N_ROWS = 8 * len(synthetic_fits.EXACT_MEASURES) + 3 * len(synthetic_fits.SAMPLED_MEASURES)


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
    results.run_cells(Results(folder, "synthetic"), TINY, synthetic.measured, synthetic.expected)
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
    assert shown.out.splitlines()[-1].startswith("Limits hold in all 8 fits")
    assert "11/11 done" in shown.err


def test_facts_have_versions_and_machine_but_no_names(folder):
    text = (folder / "facts.json").read_text()
    facts = json.loads(text)
    assert set(facts["versions"]) == {"python", "numpy", "scipy", "scikit-learn", "highspy", "anchorless"}
    assert facts["machine"] == {"cores": os.cpu_count(), "platform": f"{platform.system()} {platform.machine()}"}
    assert "/" not in text


@pytest.mark.usefixtures("no_plot")
def test_finished_run_measures_nothing_again(tmp_path, folder, monkeypatch):
    monkeypatch.setattr(synthetic, "measured", lambda cell: pytest.fail(f"ran {cell} again"))
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
    monkeypatch.setattr(synthetic, "measured", fail)
    with pytest.raises(RuntimeError) as caught:
        run(tmp_path)
    assert caught.value.__notes__ == [f"in synthetic: {extra}"]
    assert (folder / "results.csv").read_text() == finished["results.csv"]


@pytest.mark.usefixtures("no_plot")
def test_interrupt_leaves_whole_fits_and_exit_code_130(tmp_path, monkeypatch, finished, capsys):
    real, calls = synthetic.measured, []

    def interrupted(cell):
        calls.append(cell)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return real(cell)

    monkeypatch.setattr(synthetic, "measured", interrupted)
    assert run(tmp_path) == 130
    assert "goes on from here" in capsys.readouterr().err
    folder = tmp_path / "synthetic"
    assert sorted(path.name for path in folder.iterdir()) == ["facts.json", "results.csv"]
    values = Results(folder, "synthetic").values
    assert list(values) == TINY[:3]
    assert all(tuple(found) == synthetic_fits.EXACT_MEASURES for found in values.values())
    monkeypatch.setattr(synthetic, "measured", real)
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
    assert "1/980 done" in first
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
    _, found = synthetic_fits.watched(synthetic_fits.AnchorFree(3, max_iter=1).fit_cooccurrence, P)
    assert found["warnings"] == 1


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


def test_nothing_to_judge_is_not_a_pass(values):
    sampled = {cell: found for cell, found in values.items() if cell.design == "sampled"}
    assert synthetic.broken_limits(sampled) != []
    assert synthetic.broken_limits({}) != []


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
    assert text.count("\n|-") == 3
    assert (folder / "errors.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "errors.png").stat().st_size < 60_000


def test_render_without_results_writes_nothing(tmp_path):
    assert command.main(["render", "synthetic", "--out", str(tmp_path / "none")]) == 1
    assert list(tmp_path.iterdir()) == []


def test_tables_show_the_papers_numbers_beside_its_design():
    cell = Cell("gaussian", "hard", 5, None, 0)
    found = dict.fromkeys(synthetic_fits.EXACT_MEASURES, 1e-21)
    (row,) = synthetic_report.exact_rows({cell: found}, "gaussian")
    assert row[:6] == ["5", "hard", "1", "1.0e-21", "1.0e-21", "1.0e-21"]
    assert row[-2:] == ["5.8e-20", "1.3e-16"]
    assert len(row) == len(synthetic_report.exact_header("gaussian"))


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
    assert readable(seconds) == text


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
