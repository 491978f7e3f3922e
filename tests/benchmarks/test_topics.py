"""Hundreds of topics: the quick run end to end, what is asked for, stopped cells, and the measures."""

import csv
import sys
from argparse import Namespace

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import corpora, models, plan, processes, stored, topics, work
from experiments.results import Cell, ResultsError

INSTALLED = [method for method in topics.METHODS if method != topics.PLANTED and models.is_installed(method)]


def options(**given) -> Namespace:
    return Namespace(**{"corpora": None, "topics": None, "methods": None, "quick": False, **given})


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A folder with the smallest corpus."""
    folder = tmp_path_factory.mktemp("tiny")
    corpora.store("synthetic-tiny", folder)
    return folder


def test_the_quick_run_measures_methods_in_processes_of_their_own(tmp_path, capsys):
    chosen = ["--corpora", "synthetic-tiny", "--topics", "4", "--methods", "svds,anchorfree"]
    assert command.main(["topics", "--quick", *chosen, "--out", str(tmp_path)]) == 0
    rows = list(csv.DictReader((tmp_path / "results.csv").read_text().splitlines()))
    found = {(row["method"], row["measure"]): float(row["value"]) for row in rows}
    assert {method for method, _ in found} == {"svds", "anchorfree"}
    assert -1 <= found["anchorfree", "npmi"] <= 1
    printed = capsys.readouterr().out
    assert "## Hundreds of topics" in printed
    for method in ("svds", "anchorfree"):
        assert f" {method} |" in printed


@pytest.mark.parametrize("method", INSTALLED)
def test_every_method_is_measured(method, tiny):
    found = topics.measure(work.Job("topics", "synthetic-tiny", method, 4, str(tiny)))
    assert found["fit_wall"] > 0
    assert found["peak_mb"] > 20
    if method != "svds":
        assert -1 <= found["npmi"] <= 1
        assert found["coh"] < 0
        assert 0 < found["diversity"] <= 1
        assert 0.1 < found["nmi"] <= 1
        assert -np.log(200) < found["heldout"] < 0  # better than equal probabilities


def test_planted_topics_are_measured_where_their_number_is_fitted(tiny):
    size = corpora.SYNTHETIC["synthetic-tiny"]
    chosen = options(corpora=["synthetic-tiny"], topics=[4, size.n_topics], methods=["svds", "planted"])
    cells = [(cell.method, cell.F) for cell in plan.many_topics(chosen)]
    assert cells == [("svds", 4), ("svds", size.n_topics), ("planted", size.n_topics)]
    found = topics.measure(work.Job("topics", "synthetic-tiny", "planted", size.n_topics, str(tiny)))
    assert found["heldout"] > found["unigram"]
    assert "nmi" not in found
    values = {Cell("topics/synthetic-tiny", "planted", 5, None, 0): found}
    row = topics.make_row(values, "topics/synthetic-tiny", "planted", 5)
    assert row[:5] == ["5", "planted", "", "", ""]
    assert row[7:9] == [f"{found['diversity']:.3f}", ""]
    assert f"{found['unigram']:.3f}." in topics.say_unigram(values, "topics/synthetic-tiny")


def test_a_fit_that_uses_up_its_processor_time_is_recorded_as_stopped(tmp_path, monkeypatch):
    """Processes that wait are not stopped: only processor time counts, and only that of the fit."""
    code = "from benchmarks.work import limit_processor_time\nwith limit_processor_time(1):\n    while True: pass"
    with open(tmp_path / "log", "wb") as log:
        assert not processes.finished([sys.executable, "-c", code], log, None)
        after = code.replace("while True: pass", "pass") + "\nimport time\nend = time.process_time() + 1.2"
        assert processes.finished([sys.executable, "-c", f"{after}\nwhile time.process_time() < end: pass"], log, None)
    monkeypatch.setattr(processes, "finished", lambda command, log, limit: limit is not None)
    monkeypatch.setattr(stored, "is_stored", lambda name, folder: True)
    with processes.Processes(7.0) as started:
        assert started.measure_cell("topics", "synthetic-tiny", "nmf", 3) == {"stopped": 7.0}


def test_the_grid_goes_from_25_to_1000_topics():
    cells = plan.many_topics(options(corpora=["synthetic-large"], methods=["svds", "anchorfree"]))
    assert [(cell.F, cell.method) for cell in cells[:2]] == [(25, "svds"), (25, "anchorfree")]
    assert sorted({cell.F for cell in cells}) == [25, 50, 100, 200, 500, 1000]
    quick = plan.many_topics(options(quick=True, methods=["nmf"]))
    assert [(cell.design, cell.F) for cell in quick] == [("topics/synthetic-small", 5), ("topics/synthetic-small", 10)]
    with pytest.raises(ResultsError, match="there is no method 'lda'"):
        plan.check_names(["topics"], options(methods=["lda"]))


def test_a_slow_peer_is_recorded_as_more_than_the_limit_and_not_tried_with_more_topics(tmp_path, monkeypatch, capsys):
    asked = []

    def measure_cell(self, task, corpus, method, n_topics):
        asked.append((task, method, n_topics))
        return {"stopped": self.limit} if method == "nmf" else {"fit_wall": 1.0, "fit_cpu": 1.0, "peak_mb": 1.0}

    monkeypatch.setattr(processes.Processes, "measure_cell", measure_cell)
    given = ["--corpora", "synthetic-tiny", "--topics", "3,4", "--methods", "nmf,svds", "--limit", "7"]
    assert command.main(["topics", *given, "--out", str(tmp_path)]) == 0
    assert ("topics", "nmf", 3) in asked
    assert ("topics", "nmf", 4) not in asked
    lines = [line for line in capsys.readouterr().out.splitlines() if " nmf |" in line]
    assert "> 7 |" in lines[0]
    assert "> 7 with fewer |" in lines[1]
    assert (tmp_path / "topics.png").stat().st_size > 1000
    asked.clear()
    assert command.main(["topics", *given, "--out", str(tmp_path)]) == 0
    assert asked == []  # what was stopped at its own limit is not repeated
    given[-1] = "70"
    assert command.main(["topics", *given, "--out", str(tmp_path)]) == 0
    assert ("topics", "nmf", 3) in asked


def test_a_cell_that_was_not_run_has_no_row():
    values = {Cell("topics/synthetic-tiny", "svds", 3, None, 0): {"fit_wall": 1.0, "fit_cpu": 1.0, "peak_mb": 2.0}}
    assert topics.make_row(values, "topics/synthetic-tiny", "nmf", 3) == []
    assert topics.make_row(values, "topics/synthetic-tiny", "svds", 3)[:3] == ["3", "svds", "1.00"]


def test_the_exponent_of_growth_is_of_processor_seconds_from_50_topics_on():
    def make_cell(method, K, cpu):
        return Cell("topics/synthetic-tiny", method, K, None, 0), {"fit_wall": 1.0, "fit_cpu": cpu}

    grown = [make_cell("anchorfree", K, 3e-4 * K**1.7) for K in (50, 100, 500)]
    stopped = Cell("topics/synthetic-tiny", "anchorfree", 1000, None, 0), {"stopped": 60.0}
    values = dict([make_cell("anchorfree", 25, 9.0), make_cell("nmf", 50, 1.0), *grown, stopped])
    assert topics.say_growth(values, "topics/synthetic-tiny").endswith(": anchorfree 1.70 (to 500).")
    assert topics.say_growth({}, "topics/synthetic-tiny") == ""


def test_planted_topics_have_the_best_held_out_likelihood_and_nmi(tiny):
    """The measures prefer the truth to a blurred copy of it."""
    from anchorless.datasets import sampled_corpus
    from benchmarks import corpora

    size = corpora.SYNTHETIC["synthetic-tiny"]
    planted = sampled_corpus(size.n_documents, size.n_topics, size.n_words)
    job = work.Job("topics", "synthetic-tiny", "topic-model", size.n_topics, str(tiny))
    fitted, rest = topics.split_documents(stored.load_matrix("synthetic-tiny", "counts", tiny).shape[0])
    assert len(rest) == size.n_documents // 10
    W, C = planted.weights[fitted], np.asarray(planted.components)
    true = topics.measure_quality(job, topics.MODELS["topic-model"], W, C, fitted, rest)
    blurred = C + 2 * C.mean(axis=0)
    worse = topics.measure_quality(job, topics.MODELS["topic-model"], W[::-1], blurred, fitted, rest)
    assert true["nmi"] == pytest.approx(1.0)
    assert worse["nmi"] < 0.5
    assert worse["heldout"] < true["heldout"]


def test_words_of_a_topic_model_are_ranked_as_they_are_shown(tiny, monkeypatch):
    """NPMI is that of the words in `components_`; p(word | topic) is only for the held-out documents."""
    job = work.Job("topics", "synthetic-tiny", "topic-model", 5, str(tiny))
    found = topics.measure(job)
    monkeypatch.delattr(topics.OurTopicModel, "rank_words")
    by_probability = topics.measure(job)
    assert found["npmi"] != by_probability["npmi"]
    assert found["heldout"] == by_probability["heldout"]
