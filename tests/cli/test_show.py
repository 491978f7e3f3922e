import re
import shutil

import numpy as np
import pytest

from anchorless import TopicModel
from anchorless._report.earlier_reports import read_report
from tests.helpers.command_runs import get_refusal, list_tree, planted, read_csv, run, write_csv
from tests.helpers.planted_texts import THEMES

__all__ = ["planted", "run"]


def test_all_topics(run, planted, tmp_path):
    ran = run("show", planted / "a-topics")
    assert ran.code == 0
    assert ran.err == ""
    assert [line[:2].strip() for line in ran.out.splitlines()[:5]] == ["#", "0", "1", "2", "3"]
    association = TopicModel.load(planted / "a-topics" / "model.anchorless").topic_association_
    for how, listed in (("often", association.max() >= 0.005), ("rarely", association.min() <= -0.005)):
        assert (f"{how} together, beyond what their sizes explain (association):" in ran.out) == listed
    assert "together" in ran.out
    assert list_tree(tmp_path) == []


def test_json_of_all_topics_agrees_with_the_table(run, planted):
    found = run("show", planted / "a-topics", "--json", "--words", "7").json
    rows = read_csv(planted / "a-topics" / "topics.csv")[1:]
    assert [topic["label"] for topic in found["topics"]] == [row[1] for row in rows]
    assert [len(topic["words"]) for topic in found["topics"]] == [7] * 4
    assert [[round(cell, 4) for cell in row] for row in found["correlation"]] == [
        [round(float(cell), 4) for cell in row[1:]] for row in read_csv(planted / "a-topics" / "correlation.csv")[1:]
    ]
    model = TopicModel.load(planted / "a-topics" / "model.anchorless")
    np.testing.assert_array_equal(found["association"], model.topic_association_)
    assert found["diagnostics"]


def test_one_topic_with_its_documents(run, planted):
    ran = run("show", planted / "a-topics", "2", "--words", "6", "--documents", "3")
    assert ran.out.startswith("topic 2: ")
    assert ran.out.split("documents\n")[1].count("%") == 3
    found = run("show", planted / "a-topics", "2", "--words", "6", "--documents", "3", "--json").json
    assert found["topic"] == 2
    assert len(found["documents"]) == 3
    assert {link["topic"] for link in found["correlations"]} == {0, 1, 3}
    theme = next(words for words in THEMES.values() if found["words"][0]["word"] in words)
    assert all(word["word"] in theme for word in found["words"])


def test_one_topic_says_which_number_is_which(run, planted):
    model = TopicModel.load(planted / "a-topics" / "model.anchorless")
    found = run("show", planted / "a-topics", "1", "--json").json
    columns = [model.vocabulary_.index(word["word"]) for word in found["words"]]
    assert [word["probability"] for word in found["words"]] == model.topic_word_[1, columns].tolist()
    assert [word["relevance"] for word in found["words"]] == model.components_[1, columns].tolist()
    relevance = [word["relevance"] for word in found["words"]]
    assert relevance == sorted(relevance, reverse=True)
    line = run("show", planted / "a-topics", "1").out.splitlines()[3]
    assert line.split() == ["word", "relevance", "probability", "distinctiveness"]


def test_topics_that_are_often_together_are_listed_first(run, planted):
    found = run("show", planted / "a-topics", "1", "--json").json["correlations"]
    association = [link["association"] for link in found]
    assert association == sorted(association, reverse=True)
    model = TopicModel.load(planted / "a-topics" / "model.anchorless")
    for link in found:
        assert link["association"] == model.topic_association_[1, link["topic"]]
        assert link["correlation"] == model.topic_correlation_[1, link["topic"]]


def test_lines_keep_to_the_width_of_the_terminal(run, planted, monkeypatch):
    for width in ("60", "80", "200"):
        monkeypatch.setenv("COLUMNS", width)
        lines = run("show", planted / "a-topics", "--words", "20").out.splitlines()
        assert max(map(len, lines[:5])) <= int(width)


def test_more_words_than_there_are(run, planted):
    for more in ([], ["1"]):
        assert run("show", planted / "a-topics", *more, "--words", "1000", "--json").code == 0
        assert run("show", planted / "a-topics", *more, "--words", "1000").code == 0


def test_a_topic_that_is_not_there_is_exit_code_2(run, planted):
    for topic in ("4", "99"):
        assert "0 to 3" in get_refusal(run("show", planted / "a-topics", topic), 2)
    assert run("show", planted / "a-topics", "x").code == 2


@pytest.fixture
def folder(planted, tmp_path):
    shutil.copytree(planted / "a-topics", tmp_path / "a-topics")
    return tmp_path / "a-topics"


def test_report_of_a_model(run, folder, tmp_path):
    before = list_tree(tmp_path)
    ran = run("report", folder, "--title", "<b>Mine</b>")
    assert ran.code == 0
    assert ran.out == ""
    assert "report.html" in ran.err
    page = (folder / "report.html").read_text()
    assert "&lt;b&gt;Mine" in page
    assert "<b>Mine" not in page
    assert list_tree(tmp_path) == before


def test_report_with_trust_is_next_to_the_model_and_has_the_documents_that_fit_showed(run, folder):
    before = read_report(folder / "report.html")
    assert run("report", folder, "--trust").code == 0
    after = read_report(folder / "report.html")
    for part in ("documents", "places", "topics", "title"):
        assert after[part] == before[part]
    assert len(after["documents"]["id"]) == 160
    assert "Are these the only topics?" in dict(after["diagnostics"])
    (folder / "report.html").write_text("mine")
    assert "exists already" in get_refusal(run("report", folder))
    assert (
        "is no report of anchorless; the new one has the documents of the model file" in run("report", folder, "-f").err
    )


def test_report_of_another_version_gives_its_title_and_documents(run, folder):
    path = folder / "report.html"
    assert run("report", folder, "--title", "Mine").code == 0
    before = read_report(path)
    path.write_text(path.read_text().replace("<header", "<p>older</p><header"))
    assert "exists already" in get_refusal(run("report", folder))
    ran = run("report", folder, "-f")
    assert "note" not in ran.err
    assert read_report(path) == before


def test_report_of_edited_topics_says_that_it_has_other_documents(run, folder):
    assert run("edit", folder, "--merge", "0,1", "--model-only").code == 0
    ran = run("report", folder)
    assert ran.code == 0
    assert "shows other topics" in ran.err
    found = read_report(folder / "report.html")
    assert len(found["topics"]) == 3
    assert 0 < len(found["documents"]["id"]) <= 160


def test_whole_texts_are_in_the_report_where_the_file_is_given(run, folder, planted):
    assert run("report", folder, "--full", planted / "a.csv", "-o", "full.html").code == 0
    found = read_report("full.html")
    texts = {row[0]: row[1] for row in read_csv(planted / "a.csv")[1:]}
    assert found["documents"]["whole"] == [texts[id] for id in found["documents"]["id"]]
    assert "whole" not in read_report(folder / "report.html")["documents"]


def test_whole_texts_are_found_by_ids_that_the_report_shortens(run, planted, tmp_path):
    rows = read_csv(planted / "a.csv")[1:]
    names = {0: " a  b ", 1: "x" * 150, 2: "y" * 130 + "1", 3: "y" * 130 + "2"}
    write_csv(tmp_path / "b.csv", [["id", "text"], *([names.get(i, row[0]), row[1]] for i, row in enumerate(rows))])
    assert run("fit", "b.csv", "-k", "4", "-o", "out", "--id-column", "id").code == 0
    ran = run("report", "out", "--full", "b.csv")
    assert ran.code == 0
    assert "1 ids, such as 'yyy" in ran.err
    documents = read_report(tmp_path / "out" / "report.html")["documents"]
    whole = dict(zip(documents["id"], documents["whole"], strict=True))
    assert whole["a b"] == rows[0][1]
    assert whole["x" * 119 + "…"] == rows[1][1]
    assert whole["y" * 119 + "…"] == ""  # of two documents: either text could be that of the other
    (tmp_path / "out" / "report.html").unlink()
    assert run("report", "out", "--full", "b.csv").code == 0  # with the documents of the model, whose ids are whole
    texts = {names.get(i, row[0]): row[1] for i, row in enumerate(rows)}
    known = TopicModel.load(tmp_path / "out" / "model.anchorless")._build_report_data("").documents
    found = read_report(tmp_path / "out" / "report.html")["documents"]["whole"]
    assert found == [texts[document.id] for document in known]


def test_report_in_json_and_quiet(run, planted):
    ran = run("report", planted / "a-topics", "-o", "x.html", "--json", "--quiet")
    assert ran.json == {"report": "x.html"}
    assert ran.err == ""


def test_report_has_the_same_bytes_every_time(run, planted, tmp_path):
    for name in ("x.html", "y.html"):
        assert run("report", planted / "a-topics", "-o", name).code == 0
    assert (tmp_path / "x.html").read_bytes() == (tmp_path / "y.html").read_bytes()


def test_trust_is_shown_in_words_and_as_json(run, planted):
    ran = run("show", planted / "a-topics", "--trust")
    assert ran.code == 0
    assert "Are these the only topics?" in ran.out
    assert re.search(r"^ *#  nearest anchor word +in this topic +documents +change$", ran.out, re.MULTILINE)
    found = run("show", planted / "a-topics", "--trust", "--json").json["trust"]
    assert found["n_topics"] == 4
    assert found["scattering"]["verdict"] in ("proved", "refuted", "not refuted")
    assert len(found["anchors"]) == 4
    assert "trust" not in run("show", planted / "a-topics", "--json").json


def test_trust_is_in_the_report_where_asked(run, planted, tmp_path):
    for name, more in (("with.html", ["--trust"]), ("without.html", [])):
        assert run("report", planted / "a-topics", "-o", tmp_path / name, *more).code == 0
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert ("Are these the only topics?" in text) == bool(more)


def test_documents_are_read_again_as_the_fit_read_them(run, planted, tmp_path):
    rows = read_csv(planted / "a.csv")[1:]
    for name, some in (("one.csv", rows[:80]), ("two.csv", rows[80:])):
        lines = [",".join(["key", "body", "title"]), *(f"n{row[0]},caf\xe9 {row[1]},x" for row in some)]
        (tmp_path / name).write_text("\n".join(lines), encoding="latin-1")
    options = ("--encoding", "latin-1", "--text-column", "body", "--id-column", "key")
    assert run("fit", "one.csv", "two.csv", "-k", "4", "-o", "out", *options).code == 0
    files = ("--full", tmp_path / "one.csv", "--full", tmp_path / "two.csv")
    assert run("report", "out", *files).code == 0
    whole = read_report(tmp_path / "out" / "report.html")["documents"]["whole"]
    assert len(whole) == 160
    assert all(text.startswith("café ") for text in whole)
    assert "café" in run("show", "out", "0", *files).out
    assert run("export", "out", "-o", "t.xlsx", "--documents", "one.csv", "two.csv").code == 0
    shutil.copy(tmp_path / "one.csv", tmp_path / "other.csv")  # of another name: nothing is taken over
    assert "set --encoding" in get_refusal(run("show", "out", "0", "--full", "other.csv"), 1)
