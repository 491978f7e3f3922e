import json
import math

import pytest

from tests.helpers.command_runs import get_refusal, planted, read_csv, run, write_csv, write_planted

__all__ = ["planted", "run"]


def strict_json(text):
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_measures_on_other_documents(run, planted, tmp_path):
    write_planted(tmp_path / "new.csv", seed=5)
    ran = run("evaluate", planted / "a-topics", "new.csv", "--json", "--quiet")
    assert ran.err == ""
    found = strict_json(ran.out)
    assert found["completion"] > found["completion_unigram"] + 0.5
    assert found["perplexity"] == pytest.approx(math.exp(-found["completion"]))
    assert found["clustering_accuracy"] > 0.9
    assert (found["documents"], found["tokens"]) == (160, 4000)
    table = run("evaluate", planted / "a-topics", "new.csv").out.splitlines()
    assert sorted(line.split()[0] for line in table[1:]) == sorted(found)


def test_same_measures_every_time_and_for_counts(run, planted, tmp_path):
    arguments = ["evaluate", planted / "a-topics", planted / "a.csv", "--json", "--quiet"]
    first = run(*arguments, "--threads", "1").json
    assert run(*arguments, "--threads", "2").json == first
    assert run("convert", planted / "a.csv", "a.npz").code == 0
    counts = run("evaluate", planted / "a-topics", "a.npz", "--json").json
    for name in ("npmi", "umass", "completion", "clustering_accuracy", "documents"):
        assert counts[name] == pytest.approx(first[name])


def test_no_option_is_proposed_that_only_a_fit_has(run):
    words = ["은행은", "금리를", "경제가", "로켓이", "궤도에", "달에", "학교에서", "학생이", "수업을"]
    rows = [[" ".join(words[k % 3 * 3 :][:3])] for k in range(60)]
    write_csv("korean.csv", [["text"], *rows])
    assert "--lemmatize korean" in run("fit", "korean.csv", "-k", "3", "-o", "m").err
    assert "--lemmatize" not in run("evaluate", "m", "korean.csv").err


def test_without_labels_no_accuracy(run, planted):
    rows = [row[:2] for row in read_csv(planted / "a.csv")]
    write_csv("plain.csv", rows)
    assert "clustering_accuracy" not in run("evaluate", planted / "a-topics", "plain.csv", "--json").json


def test_few_and_short_documents_are_measured_or_refused(run, planted, tmp_path):
    for texts in (["bread"], ["bread butter"], ["bread", "court"], ["zebra", "bread butter court"]):
        write_csv(tmp_path / "few.csv", [["text"], *([text] for text in texts)])
        ran = run("evaluate", planted / "a-topics", "few.csv", "--json")
        if ran.code == 0:
            assert strict_json(ran.out)["documents"] == len(texts)
        else:
            get_refusal(ran)
        table = run("evaluate", planted / "a-topics", "few.csv")
        assert table.code == ran.code


def test_documents_of_another_vocabulary(run, planted, tmp_path):
    write_csv(tmp_path / "other.csv", [["text"], ["zebra giraffe"], ["lion"]])
    assert "another vocabulary" in get_refusal(run("evaluate", planted / "a-topics", "other.csv"))


def test_wrong_label_column_is_exit_code_2(run, planted):
    assert "nope" in get_refusal(run("evaluate", planted / "a-topics", planted / "a.csv", "--label-column", "nope"), 2)
