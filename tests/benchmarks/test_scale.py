"""`python -m benchmarks scale`: a tiny run end to end, what is ended, what is kept, and what counts as recovered."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import scale, scale_methods, scale_tables
from benchmarks.planted import plan, spell_words
from benchmarks.running import BenchmarkResults
from experiments.results import Cell

TINY = ("scale", "--documents", "300", "--words", "400", "--topics", "3")
STAGES = scale_tables.STAGES


def run(out, *arguments):
    return command.main([*TINY, *arguments, "--out", str(out)])


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """The folder of a finished run of two methods."""
    folder = tmp_path_factory.mktemp("scale")
    assert run(folder, "--methods", "anchorless,nmf", "--texts", str(folder / "texts")) == 0
    return folder


def values(folder):
    return {cell.method: found for cell, found in BenchmarkResults(folder).values.items()}


def test_run_keeps_seconds_memory_stages_and_recovery(out):
    found = values(out)
    assert set(found) == {"anchorless", "nmf"}
    for each in found.values():
        assert 0 < each["seconds_count"] < each["wall"]
        assert 20 < each["peak_mb"] < 2000
        assert 0 <= each["recovered"] <= 1
        assert 0.5 < each["cosine"] <= 1
    ours = found["anchorless"]
    assert sum(ours[f"seconds_{stage}"] for stage in STAGES) < ours["wall"]
    peaks = [ours[f"peak_{stage}"] for stage in STAGES if not math.isnan(ours[f"peak_{stage}"])]
    assert ours["peak_mb"] >= max(peaks, default=0.0)
    text = (out / "tables.md").read_text()
    assert "|       300 |      3 | MiniBatchNMF |" in text
    assert "## Stages of our fits" in text
    assert [path.name for path in (out / "texts").iterdir()] == ["planted-3-400-300.jsonl"]


def test_results_that_are_there_are_kept_and_only_ours_depend_on_our_code(out, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(
        scale, "run_in_process", lambda arguments, budget: asked.append(arguments[0]) or {"peak_mb": 1.0}
    )
    before = values(out)
    assert run(out, "--methods", "anchorless,nmf") == 0
    assert asked == []
    facts = json.loads((out / "facts.json").read_text())
    (out / "facts.json").write_text(json.dumps(facts | {"code": "other"}))
    assert run(out, "--methods", "nmf") == 2
    assert "code was other" in capsys.readouterr().err
    assert run(out, "--methods", "lda", "--fresh") == 0
    assert asked == ["lda"]
    assert values(out)["nmf"] == before["nmf"]
    assert "anchorless" not in values(out)


def test_what_was_ended_is_tried_again_only_with_more_time(tmp_path, monkeypatch):
    asked = []

    def ended(arguments, budget):
        asked.append((arguments[0], arguments[2], budget))
        return {"wall": 9.0, "cpu": float(budget), "peak_mb": 1.0, "stopped": float(budget)}

    monkeypatch.setattr(scale, "run_in_process", ended)
    many = ("--documents", "300,400", "--topics", "3,4", "--methods", "nmf")
    assert run(tmp_path, *many, "--budget", "5") == 0
    assert asked == [("nmf", "3", 5)]
    text = (tmp_path / "tables.md").read_text()
    assert "ended at 9" in text
    assert text.count("not tried: ended with fewer") == 3
    assert run(tmp_path, *many, "--budget", "5") == 0
    assert len(asked) == 1
    assert run(tmp_path, *many, "--budget", "6") == 0
    assert asked[1:] == [("nmf", "3", 6)]


def test_fewer_documents_do_not_make_up_for_more_topics():
    stopped = {Cell(scale.DESIGN, "lda", 50, 1000, 0): {"stopped": 5.0}}
    assert scale.ended_before(stopped, Cell(scale.DESIGN, "lda", 50, 2000, 0))
    assert scale.ended_before(stopped, Cell(scale.DESIGN, "lda", 100, 1000, 0))
    assert not scale.ended_before(stopped, Cell(scale.DESIGN, "lda", 100, 500, 0))
    assert not scale.ended_before(stopped, Cell(scale.DESIGN, "nmf", 50, 2000, 0))


def test_a_process_is_ended_with_its_budget_and_a_failure_is_noted(capfd):
    found = scale.run_in_process(["no such method", "", "3", ""], 60)
    assert found["failed"] == 1.0
    assert "KeyError" in capfd.readouterr().err
    assert scale.run_in_process(["nmf", "/dev/zero", "3", ""], 1)["stopped"] == 1.0


@pytest.mark.parametrize("weighed", [False, True])
def test_planted_topics_in_any_order_without_some_words_are_all_recovered(tmp_path, weighed):
    truth = plan(4, 300).topics
    kept, words = np.arange(5, 300), spell_words(300).to_pylist()
    idf = np.random.default_rng(0).uniform(1, 5, len(kept)) if weighed else None
    topics = truth[:, kept] * (1.0 if idf is None else idf)
    out = tmp_path / "found.npz"
    scale_methods.write_result(out, topics[::-1] * 3, [words[k] for k in kept], idf, {"seconds_count": 2.0})
    found = scale.recovery(out, truth)
    assert found["cosine"] == pytest.approx(1.0)
    assert found["recovered"] == 1.0
    assert found["seconds_count"] == 2.0
    topics[0] = topics[1]
    scale_methods.write_result(out, topics, [words[k] for k in kept], idf, {})
    assert scale.recovery(out, truth)["recovered"] == 0.75


def test_unknown_methods_are_refused(tmp_path, capsys):
    assert run(tmp_path / "out", "--methods", "word2vec") == 2
    assert "there is no method 'word2vec'; choose from anchorless, nmf, lda, gensim" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
