"""Hundreds of topics: the quick run end to end, what is asked for, stopped cells, and the measures."""

import csv
from argparse import Namespace

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import models, plan, processes, stored, topics, work
from experiments.results import Cell, ResultsError

INSTALLED = [method for method in topics.METHODS if models.is_installed(method)]


def options(**given) -> Namespace:
    return Namespace(**{"corpora": None, "topics": None, "methods": None, "quick": False, **given})


def test_the_quick_run_measures_every_method_in_a_process_of_its_own(tmp_path, capsys):
    corpus = ["--corpora", "synthetic-tiny", "--topics", "4"]
    assert command.main(["topics", "--quick", *corpus, "--out", str(tmp_path)]) == 0
    rows = list(csv.DictReader((tmp_path / "results.csv").read_text().splitlines()))
    found = {(row["method"], row["measure"]): float(row["value"]) for row in rows}
    for method in INSTALLED:
        assert found[method, "fit_wall"] > 0
        assert found[method, "peak_mb"] > 20
    for method in INSTALLED[1:]:
        assert -1 <= found[method, "npmi"] <= 1
        assert 0 < found[method, "diversity"] <= 1
        assert 0.1 < found[method, "nmi"] <= 1
        assert -np.log(200) < found[method, "heldout"] < 0  # better than equal probabilities
    printed = capsys.readouterr().out
    assert "## Hundreds of topics" in printed
    for method in INSTALLED:
        assert f" {method} |" in printed


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


def test_planted_topics_have_the_best_held_out_likelihood_and_nmi(tmp_path):
    """The measures prefer the truth to a blurred copy of it."""
    from anchorless.datasets import sampled_corpus
    from benchmarks import corpora

    corpora.store("synthetic-tiny", tmp_path)
    size = corpora.SYNTHETIC["synthetic-tiny"]
    planted = sampled_corpus(size.n_documents, size.n_topics, size.n_words)
    job = work.Job("topics", "synthetic-tiny", "topic-model", size.n_topics, str(tmp_path))
    fitted, rest = topics.split_documents(stored.load_matrix("synthetic-tiny", "counts", tmp_path).shape[0])
    assert len(rest) == size.n_documents // 10
    W, C = planted.weights[fitted], np.asarray(planted.components)
    true = topics.measure_quality(job, topics.MODELS["topic-model"], W, C, fitted, rest)
    blurred = C + 2 * C.mean(axis=0)
    worse = topics.measure_quality(job, topics.MODELS["topic-model"], W[::-1], blurred, fitted, rest)
    assert true["nmi"] == pytest.approx(1.0)
    assert worse["nmi"] < 0.5
    assert worse["heldout"] < true["heldout"]


def test_words_of_a_topic_model_are_ranked_as_they_are_shown(tmp_path, monkeypatch):
    """NPMI is that of the words in `components_`; p(word | topic) is only for the held-out documents."""
    from benchmarks import corpora

    corpora.store("synthetic-tiny", tmp_path)
    job = work.Job("topics", "synthetic-tiny", "topic-model", 5, str(tmp_path))
    found = topics.measure(job)
    monkeypatch.delattr(topics.OurTopicModel, "rank_words")
    by_probability = topics.measure(job)
    assert found["npmi"] != by_probability["npmi"]
    assert found["heldout"] == by_probability["heldout"]
