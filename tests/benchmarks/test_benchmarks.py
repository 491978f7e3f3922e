"""The benchmark suite: a tiny run end to end, resuming, what is left out or stopped, the guard of counts, faces."""

from __future__ import annotations

import csv
import json
import math
import sys
import time
import warnings
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import __main__ as command
from benchmarks import (
    compare,
    corpora,
    imports,
    models,
    pictures,
    plan,
    processes,
    reference,
    report,
    running,
    stored,
    targets,
    work,
)
from benchmarks.running import BenchmarkResults
from experiments.results import COLUMNS, Cell, ResultsError, csv_text, rows_of

TINY = ("peers", "--corpora", "synthetic-tiny", "--topics", "3", "--methods", "anchorfree,nmf", "--repeats", "1")
#: The guard's tolerance where processor and BLAS may be others than those of the baseline.
ELSEWHERE = 0.25


def run(out: Path, *arguments: str) -> int:
    return command.main([*arguments, "--out", str(out)])


def options(**given) -> Namespace:
    return Namespace(**{"corpora": None, "topics": None, "methods": None, "quick": False, **given})


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The files of a finished run of two methods, each in a process of its own."""
    out = tmp_path_factory.mktemp("finished")
    assert run(out, *TINY) == 0
    return {path.name: path.read_bytes() for path in out.iterdir()}


@pytest.fixture
def folder(tmp_path, finished):
    for name, content in finished.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


@pytest.fixture
def no_process(monkeypatch):
    """Processes that are asked for, not started."""
    asked = []

    def measure_cell(self, task, corpus, method, topics):
        asked.append((task, corpus, method, topics))
        return {
            "fit_wall": 1.0,
            "fit_cpu": 1.0,
            "transform_wall": 1.0,
            "peak_mb": 1.0,
            "start_mb": 1.0,
        } | dict.fromkeys(("npmi", "diversity", "clustacc", "documents"), 0.5)

    monkeypatch.setattr(processes.Processes, "measure_cell", measure_cell)
    monkeypatch.setattr(imports, "measure_cell", lambda module: {"fit_wall": 1.0, "fit_cpu": 1.0})
    monkeypatch.setattr(command, "draw_all", lambda values, folder: None)
    return asked


# --- a run ---


def test_run_keeps_seconds_memory_quality_and_costs(finished):
    rows = list(csv.DictReader(finished["results.csv"].decode().splitlines()))
    found = {(row["method"], row["measure"]): float(row["value"]) for row in rows}
    assert {row["design"] for row in rows} == {"peers/synthetic-tiny"}
    for method in ("anchorfree", "nmf"):
        assert 0 < found[method, "fit_wall"] < 30
        assert 0 < found[method, "transform_wall"] < 30
        assert 20 < found[method, "start_mb"] <= found[method, "peak_mb"] < 1000
        assert -1 <= found[method, "npmi"] <= 1
        assert 0.3 < found[method, "clustacc"] <= 1
        assert 0.5 < found[method, "diversity"] <= 1
    stages = [value for (_, measure), value in found.items() if measure.startswith("seconds_")]
    assert 0.5 * found["anchorfree", "fit_wall"] < sum(stages) <= found["anchorfree", "fit_wall"]
    assert all(found["anchorfree", name] > 0 for name in ("n_products", "n_programs", "n_rows"))


def test_run_writes_facts_tables_and_plots(finished):
    facts = json.loads(finished["facts.json"])
    assert set(facts) == {"versions", "machine", "blas_threads", "code"}
    assert {"python", "numpy", "gensim", "tomotopy"} <= set(facts["versions"])
    text = finished["tables.md"].decode()
    assert "| anchorfree |" in text
    assert "|        nmf |" in text
    assert "spectrum" in text
    assert all(finished[name].startswith(b"\x89PNG") for name in ("peers.png", "stages.png"))


def test_finished_run_measures_nothing_again(folder, finished, no_process):
    assert run(folder, *TINY) == 0
    assert no_process == []
    assert (folder / "results.csv").read_bytes() == finished["results.csv"]


def test_what_was_lost_is_measured_again_and_nothing_else(folder, finished, no_process):
    lines = [line for line in finished["results.csv"].splitlines(keepends=True) if b",nmf," not in line]
    (folder / "results.csv").write_bytes(b"".join(lines) + b"benchmarks,peers/synthetic-tiny,nmf,3,,0,fit_w")  # torn
    assert run(folder, *TINY) == 0
    assert no_process == [("peer", "synthetic-tiny", "nmf", 3)]


def test_interrupted_run_keeps_what_is_done(tmp_path, no_process, monkeypatch, capsys):
    measure_cell = processes.Processes.measure_cell

    def interrupted(self, task, corpus, method, topics):
        if method == "nmf":
            raise KeyboardInterrupt
        return measure_cell(self, task, corpus, method, topics)

    monkeypatch.setattr(processes.Processes, "measure_cell", interrupted)
    assert run(tmp_path, *TINY) == 130
    assert "interrupted" in capsys.readouterr().err
    assert {cell.method for cell in BenchmarkResults(tmp_path).values} == {"anchorfree"}


def test_results_of_other_code_are_not_mixed(folder, no_process, capsys):
    facts = json.loads((folder / "facts.json").read_text())
    (folder / "facts.json").write_text(json.dumps(facts | {"code": "other"}))
    assert run(folder, *TINY) == 2
    assert "code was other" in capsys.readouterr().err
    assert run(folder, *TINY, "--methods", "anchorfree", "--fresh") == 0
    assert no_process == [("peer", "synthetic-tiny", "anchorfree", 3)]
    assert {cell.method for cell in BenchmarkResults(folder).values} == {"anchorfree", "nmf"}


def test_results_of_other_versions_are_forgotten_with_those_of_peers(folder, no_process):
    facts = json.loads((folder / "facts.json").read_text())
    (folder / "facts.json").write_text(json.dumps(facts | {"versions": facts["versions"] | {"numpy": "1"}}))
    assert run(folder, *TINY, "--methods", "lda", "--fresh") == 0
    assert {cell.method for cell in BenchmarkResults(folder).values} == {"lda"}


def test_the_digest_is_of_python_and_c(tmp_path, monkeypatch):
    (tmp_path / "__init__.py").touch()
    digests = set()
    for name in ("__init__.py", "loop_kernels.c", "notes.txt"):
        (tmp_path / name).write_text("1")
        spec = Namespace(origin=str(tmp_path / "__init__.py"))
        monkeypatch.setattr(running.importlib.util, "find_spec", lambda name, spec=spec: spec)
        digests.add(running.code_digest())
    assert len(digests) == 2


def test_a_peer_that_is_installed_later_may_be_added():
    before = {"versions": {"numpy": "1", "gensim": None}, "code": "a"}
    assert running.agree(before, {"versions": {"numpy": "1", "gensim": "4"}, "code": "a"})
    assert not running.agree({"versions": {"numpy": "1", "gensim": "3"}, "code": "a"}, before)
    assert not running.agree({}, before)


def test_fresh_measures_again_what_is_asked_for_and_nothing_else(folder, no_process):
    assert run(folder, "import", "--repeats", "1") == 0
    assert run(folder, *TINY, "--methods", "nmf", "--fresh") == 0
    assert no_process == [("peer", "synthetic-tiny", "nmf", 3)]
    methods = {(cell.design, cell.method) for cell in BenchmarkResults(folder).values}
    assert methods >= {("import/python", "anchorless"), ("peers/synthetic-tiny", "anchorfree")}


# --- what is left out, stopped or failed ---


def test_missing_peer_is_left_out_and_said(monkeypatch, capsys):
    monkeypatch.setattr(plan, "is_installed", lambda method: not method.startswith("tomotopy"))
    methods = {cell.method for cell in plan.peers(options(quick=True))}
    assert methods == {"anchorfree", "nmf", "lda", "gensim-lda", "gensim-nmf"}
    said = capsys.readouterr().err
    assert "tomotopy-ctm is left out: tomotopy is not installed; pip install 'anchorless[benchmarks]'" in said
    text = " ".join(report.facts_text({"versions": {"numpy": "2", "tomotopy": None}}))
    assert "Not installed, so left out: tomotopy." in text


def test_corpora_without_a_file_are_left_out_unless_asked_for(monkeypatch, tmp_path, no_process, capsys):
    monkeypatch.setenv("ANCHORLESS_DATA", str(tmp_path))
    assert {cell.design for cell in plan.peers(options())} == {"peers/synthetic"}
    assert plan.fit(options()) == []
    assert run(tmp_path / "out", "peers", "--corpora", "tdt2") == 2
    assert "TDT2.mat" in capsys.readouterr().err
    assert run(tmp_path / "out", "transform", "--quick", "--methods", "product") == 0
    assert "left out, as ANCHORLESS_DATA has no file of them: tdt2" in capsys.readouterr().err


def test_process_is_killed_at_its_limit(tmp_path):
    start = time.perf_counter()
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])"
    with open(tmp_path / "log", "wb") as log:
        assert not processes.finished([sys.executable, "-c", code], log, 0.3)
        assert processes.finished([sys.executable, "-c", "pass"], log, 60.0)
    assert time.perf_counter() - start < 50


def test_failed_process_is_noted_with_its_reason(tmp_path, monkeypatch, capsys):
    code = "import sys; sys.exit('no such luck')"
    monkeypatch.setattr(
        processes,
        "finished",
        lambda command, log, limit, run=processes.finished: run([sys.executable, "-c", code], log, limit),
    )
    with processes.Processes(60.0) as started:
        monkeypatch.setattr(stored, "is_stored", lambda name, folder: True)
        assert started.measure_cell("fit", "synthetic-tiny", "nmf", 3) == {"failed": 1.0}
    assert "nmf, 3 topics failed: no such luck" in capsys.readouterr().err
    assert not started.folder.exists()


def test_what_was_stopped_is_not_tried_with_more_topics_but_with_more_time(tmp_path):
    results = BenchmarkResults(tmp_path)
    cells = [Cell("peers/synthetic-tiny", method, K, None, 0) for K in (3, 5) for method in ("lda", "nmf")]
    tried = []

    def measure(cell):
        tried.append(cell)
        return {"stopped": 30.0} if cell.method == "lda" else {"fit_wall": 1.0}

    running.run_repeats(results, cells, running.with_load(measure, results), 2)
    assert [(cell.method, cell.F, cell.seed) for cell in tried] == [
        *(("lda", 3, 0), ("nmf", 3, 0), ("nmf", 5, 0)),
        *(("nmf", 3, 1), ("nmf", 5, 1)),
    ]
    assert report.peer_row(results.values, cells[0].design, "lda", 3)[2] == "> 30, stopped"
    assert report.peer_row(results.values, cells[0].design, "lda", 5)[2] == "> 30 with fewer"
    found = results.values[cells[0]]
    assert command.is_worth_more(60.0, found)
    assert not command.is_worth_more(30.0, found)
    assert command.is_worth_more(30.0, {"failed": 1.0})
    more = cells[0]._replace(F=8)
    assert "not_tried" in running.with_load(measure, results, 30.0)(more)
    assert "not_tried" not in running.with_load(measure, results, 60.0)(more)


# --- the guard ---


def results_file(path: Path, **counts: float) -> Path:
    cell = Cell("counts/synthetic-tiny", "anchorfree", 5, None, 0)
    path.write_text(csv_text([COLUMNS]))
    with open(path, "a") as file:
        file.write(csv_text(rows_of("benchmarks", cell, counts | {"fit_wall": 1.0})))
    return path


@pytest.mark.parametrize(
    ("after", "code", "said"),
    [
        ({"n_products": 100, "n_pivots": 50}, 0, "2 counts of 1 fits compared: 0 grown, 0 shrunk"),
        ({"n_products": 109, "n_pivots": 50}, 0, "0 grown"),
        ({"n_products": 100, "n_pivots": 56}, 1, "+12.0%"),
        ({"n_products": 100, "n_pivots": 10}, 0, "1 shrunk"),
        ({"n_products": 111, "n_pivots": 10}, 1, "1 grown, 1 shrunk"),
    ],
)
def test_compare_fails_when_a_count_grew(tmp_path, capsys, after, code, said):
    before = results_file(tmp_path / "before.csv", n_products=100, n_pivots=50)
    assert command.main(["compare", str(before), str(results_file(tmp_path / "after.csv", **after))]) == code
    assert said in capsys.readouterr().out


def test_compare_with_a_tolerance_and_from_zero(tmp_path, capsys):
    before = results_file(tmp_path / "before.csv", n_products=100, n_pivots=0)
    after = results_file(tmp_path / "after.csv", n_products=150, n_pivots=0)
    assert command.main(["compare", str(before), str(after), "--tolerance", "0.5"]) == 0
    results_file(after, n_products=100, n_pivots=1)
    assert command.main(["compare", str(before), str(after), "--tolerance", "0.5"]) == 1
    assert "+inf" in capsys.readouterr().out


def test_compare_says_what_it_cannot_use(tmp_path, capsys):
    before = results_file(tmp_path / "before.csv", n_products=100)
    assert command.main(["compare", str(before), str(tmp_path / "none.csv")]) == 2
    assert "there is no file" in capsys.readouterr().err
    assert command.main(["compare", str(before), str(results_file(tmp_path / "after.csv", n_other=1))]) == 2
    assert "no count of the same fit" in capsys.readouterr().err
    (tmp_path / "broken.csv").write_text("a,b\n1,2\n")
    assert command.main(["compare", str(before), str(tmp_path / "broken.csv")]) == 2
    assert "line 1 is not a result of benchmarks" in capsys.readouterr().err


def test_counts_have_not_grown_since_the_baseline(tmp_path):
    """Faster code lowers counts. Where they rise for a reason: python -m benchmarks baseline."""
    found = {}
    for cell in plan.counts(options()):
        name = running.corpus_of(cell.design)
        if not stored.is_stored(name, tmp_path):
            corpora.store(name, tmp_path)
        found[cell] = work.fit(work.Job("fit", name, cell.method, cell.F, str(tmp_path)))
    before = compare.read_existing(compare.BASELINE)
    assert set(before) == set(found)
    changes = compare.compare_counts(before, found)
    assert len(changes) >= 4 * len(found)
    grown = [change for change in changes if change.growth > ELSEWHERE]
    assert not grown, compare.table(grown)


# --- the reference and the targets ---


@pytest.fixture(scope="module")
def weighted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    corpora.store("synthetic-tiny", folder)
    return stored.load_matrix("synthetic-tiny", "weighted", folder)


@pytest.mark.parametrize("K", [3, 5, 8])
def test_volume_is_not_below_the_references(weighted, K):
    found = reference.reference_volume(weighted, K, 60.0)
    assert found["reference_finished"]
    assert found["log_volume"] >= found["reference_log_volume"] - 1e-6 * abs(found["reference_log_volume"])


def test_reference_without_time_says_nothing(weighted):
    found = reference.reference_volume(weighted, 5, 0.0)
    assert not found["reference_finished"]
    assert math.isnan(found["reference_log_volume"])


def fit_values(**seconds: float):
    """Results of fits on TDT2 at 25 topics, twice, the second slower."""
    return {
        Cell("fit/tdt2", method, 25, None, repeat): {"fit_wall": wall * (1 + repeat), "fit_cpu": wall}
        for method, wall in seconds.items()
        for repeat in (0, 1)
    }


def test_targets_take_the_best_of_the_repeats():
    found = {target.what: target for target in targets.targets(fit_values(svds=1.0, anchorfree=1.6, nmf=6.0))}
    svds, nmf = found["AnchorFree(25).fit / svds(25), TDT2"], found["scikit-learn NMF / fit, K = 25, TDT2"]
    assert svds.value == pytest.approx(1.6)
    assert svds.holds is True
    assert nmf.value == pytest.approx(6 / 1.6)
    assert nmf.holds is True
    assert found["AnchorFree(50).fit / svds(50), TDT2"].holds is None
    worse = {target.what: target for target in targets.targets(fit_values(svds=1.0, anchorfree=2.1, nmf=6.0))}
    assert worse["AnchorFree(25).fit / svds(25), TDT2"].holds is False
    assert worse["scikit-learn NMF / fit, K = 25, TDT2"].holds is False


@pytest.mark.parametrize(("stopped", "holds", "word"), [(30.0, True, "yes"), (5.0, None, "not verified")])
def test_a_peer_that_was_stopped_verifies_what_it_had_reached_by_then(stopped, holds, word):
    values = fit_values(svds=1.0, anchorfree=2.0)
    values[Cell("fit/tdt2", "nmf", 25, None, 0)] = {"stopped": stopped}
    nmf = next(target for target in targets.targets(values) if target.what == "scikit-learn NMF / fit, K = 25, TDT2")
    assert nmf.holds is holds
    assert nmf.note == f"nmf was stopped after {stopped:.0f} s, {stopped / 2:.1f} times the other"
    assert word in report.target_row(nmf)


@pytest.mark.parametrize(
    ("ours", "theirs", "finished", "holds"),
    [(-87.0, -87.0, 1, True), (-87.001, -87.0, 1, False), (-86.0, -87.0, 0, None), (-88.0, -87.0, 0, False)],
)
def test_volume_is_judged_only_by_a_reference_that_ended_or_is_above(ours, theirs, finished, holds):
    found = {"log_volume": ours, "reference_log_volume": theirs, "reference_finished": finished}
    found |= {"reference_sweeps": 3.0, "reference_seconds": 9.0}
    target = targets.volume_target({Cell("fit/tdt2", "reference", 25, None, 0): found}, 25)
    assert target.holds is holds
    assert "9 s" in target.note


def test_exponent_of_planted_growth():
    values = {
        Cell("growth/words", "anchorfree", 20, 1000 * n, repeat): {"fit_wall": 3.0 * n**0.7 + repeat}
        for n in (1, 2, 4, 8)
        for repeat in (0, 1)
    }
    assert targets.slope(values, "growth/words") == pytest.approx(0.7)
    assert math.isnan(targets.slope(values, "growth/documents"))


# --- corpora and models ---


def test_split_words_have_the_same_nonzeros():
    counts, _ = corpora.drawn(corpora.Sampled(200, 4, 50))
    split = corpora.split_words(counts, 8)
    assert split.shape == (200, 400)
    assert split.nnz == counts.nnz
    np.testing.assert_array_equal(split.toarray().reshape(200, 50, 8).sum(axis=2), counts.toarray())
    assert len(np.unique(split.indices)) > 2 * counts.shape[1]


@pytest.mark.parametrize("name", models.MODELS)
def test_every_model_gives_topics_and_weights_of_all_documents(name):
    method = models.MODELS[name]
    pytest.importorskip(method.package, reason=f"{method.package} is not installed: pip install anchorless[benchmarks]")
    X = sp.lil_matrix(work.few_documents())
    X[[3, -1]], X[:, 7] = 0, 0  # documents without a word, the last among them, and a word in no document
    X = sp.csr_matrix(X)
    X.eliminate_zeros()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        documents = method.prepare(X, 3)
        model = method.fit(documents, 3)
    W, C = method.transform(model, documents), method.components(model, X.shape[1])
    assert W.shape == (X.shape[0], 3)
    assert C.shape == (3, X.shape[1])
    assert (W >= 0).all()
    assert (C >= 0).all()
    assert C.sum() > 0
    if method.shares:
        np.testing.assert_allclose(np.delete(W, [3, len(W) - 1], axis=0).sum(axis=1), 1.0, rtol=1e-5)


def test_peak_memory_sees_what_was_held():
    before = work.peak_mb()
    held = np.ones(int(before + 60) * 2**17)  # so many MB, and so above any peak before
    assert work.peak_mb() >= before + 50
    assert held[0] == 1


# --- faces ---


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["peers", "--methods", "anchorfee"], "there is no method 'anchorfee'; choose from anchorfree, nmf"),
        (["--methods", "x"], "there is no method 'x'"),
        (["fit", "--methods", "lda"], "there is no method 'lda'; choose from svds"),
        (["peers", "--corpora", "tdt3"], "there is no corpus 'tdt3'; choose from tdt2"),
        (["peers", "--topics", "1", "--corpora", "synthetic-tiny"], "at least 2"),
    ],
)
def test_what_cannot_be_run_is_refused(tmp_path, capsys, no_process, arguments, said):
    assert run(tmp_path / "out", *arguments) == 2
    assert said in capsys.readouterr().err
    assert no_process == []
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["peers", "--topics", "x"], "is not a whole number"),
        (["--repeats", "0"], "is not a whole number"),
        (["--limit", "-3"], "is not a whole number"),
        (["compare", "a.csv", "b.csv", "--tolerance", "-1"], "is not a number of at least 0"),
        (["compare", "a.csv"], "AFTER.csv"),
        (["nothing"], "invalid choice"),
    ],
)
def test_bad_options_are_refused_by_the_parser(arguments, said, capsys):
    with pytest.raises(SystemExit) as end:
        command.main(arguments)
    assert end.value.code == 2
    assert said in capsys.readouterr().err


def test_all_parts_are_rendered(tmp_path, no_process, monkeypatch, capsys):
    monkeypatch.delenv("ANCHORLESS_DATA", raising=False)
    monkeypatch.setattr(command, "draw_all", pictures.draw_all)
    assert run(tmp_path, "--quick") == 0
    text = (tmp_path / "tables.md").read_text()
    assert capsys.readouterr().out == text
    assert all(f"## {title}" in text for title in ("What must hold", "Peers", "Growth", "Transform", "Import"))
    assert {task for task, *_ in no_process} == {"peer", "fit", "transform", "topics"}
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")


def test_nothing_to_render_is_said(tmp_path, capsys):
    assert run(tmp_path, "render") == 1
    assert "no results yet" in capsys.readouterr().out


def test_unknown_corpus_cannot_be_made():
    with pytest.raises(ResultsError, match="no corpus 'nothing'"):
        corpora.made("nothing")
