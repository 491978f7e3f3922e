import csv
import json
import shlex
import shutil
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pyarrow.parquet as pq
import pytest

from anchorless import TopicModel
from anchorless._cli import refreshing
from tests.helpers.command_runs import get_refusal, planted, read_csv, run, write_planted

__all__ = ["planted", "run"]


@pytest.fixture
def folder(planted, tmp_path):
    """A copy of the folder that `fit` wrote, next to its input."""
    shutil.copytree(planted / "a-topics", tmp_path / "m")
    shutil.copy(planted / "a.csv", tmp_path / "a.csv")
    return tmp_path / "m"


def load(folder):
    return TopicModel.load(folder / "model.anchorless")


def test_all_edits_of_a_command_use_the_numbers_before_it(run, folder):
    before = load(folder)
    ran = run("edit", folder, "--rename", "3=immigration", "--merge", "0,1", "--drop", "2", "--note", "3=ask Bo")
    assert ran.code == 0
    model = load(folder)
    assert model.topic_labels_[1] == "immigration"
    assert model.topic_notes_ == ["", "ask Bo"]
    assert model.topic_shares_[0] == before.topic_shares_[0] + before.topic_shares_[1]
    assert [edit.kind for edit in model.edits] == ["rename", "note", "merge", "drop"]
    assert "immigration: " in ran.out
    assert f"{before.topic_shares_[2]:.1%} of all tokens" in ran.err
    assert "also written again: " in ran.err


@pytest.fixture
def fitted(run, planted, tmp_path):
    """The folder of a fit in the current folder, with its input."""
    shutil.copy(planted / "a.csv", tmp_path / "a.csv")
    assert run("fit", "a.csv", "-k", "4", "--stability", "10", "--levels", "2,4", "--quiet").code == 0
    return tmp_path / "a-topics"


def read_tables(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix == ".csv"}


def test_tables_and_report_follow_the_edits_and_their_undo(run, fitted, tmp_path):
    before, record = read_tables(fitted), (fitted / "run.json").read_bytes()
    ran = run("edit", fitted, "--rename", "3=immigration", "--merge", "0,1")
    assert (ran.code, "show the topics before" in ran.err) == (0, False)
    after = read_tables(fitted)
    assert after.keys() == before.keys()
    assert [name for name in after if after[name] == before[name]] == []
    assert [row[1] for row in read_csv(fitted / "topics.csv")[1:]] == load(fitted).topic_labels_
    run("apply", fitted, "a.csv", "-o", "applied.csv", "--quiet")
    assert after["documents.csv"] == (tmp_path / "applied.csv").read_bytes()
    assert "immigration" in (fitted / "report.html").read_text(encoding="utf-8")
    assert (fitted / "run.json").read_bytes() == record
    assert "report.html has fewer documents" in ran.err
    assert run("edit", fitted, "--undo", "2", "--json").json["old_files"] == []
    assert read_tables(fitted) == before


def test_parquet_parts_and_the_trust_of_a_report_are_written_again(run, planted, tmp_path):
    shutil.copy(planted / "a.csv", tmp_path / "a.csv")
    assert run("fit", "a.csv", "-k", "4", "--split", "20", "--documents-format", "parquet", "-q").code == 0
    folder = tmp_path / "a-topics"
    assert run("report", folder, "--trust", "-q").code == 0
    before = (folder / "whole_documents.csv").read_bytes()
    table = pq.read_table(folder / "documents.parquet")
    found = run("edit", folder, "--rename", "0=immigration", "--json").json
    assert found["old_files"] == []
    assert (folder / "whole_documents.csv").read_bytes() != before
    new = pq.read_table(folder / "documents.parquet")
    assert "immigration" in new["topic_label"].to_pylist()
    assert new.drop_columns(["topic_label"]).equals(table.drop_columns(["topic_label"]))
    assert "Are these the only topics?" in (folder / "report.html").read_text(encoding="utf-8")


def test_tables_of_documents_stay_and_are_named_if_the_input_has_changed(run, fitted, tmp_path):
    text = (tmp_path / "a.csv").read_text(encoding="utf-8")
    before = (fitted / "documents.csv").read_bytes()
    (tmp_path / "a.csv").write_text(text.replace("bread", "beard"), encoding="utf-8")
    ran = run("edit", "a-topics", "--drop", "0")
    assert "still show the topics before (a.csv has changed since the fit): documents.csv\n" in ran.err
    assert (fitted / "documents.csv").read_bytes() == before
    assert len(read_csv(fitted / "topics.csv")) == 4
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    (command,) = [line.partition("anchorless ")[2] for line in ran.err.splitlines() if line.startswith("  ")]
    assert run(*shlex.split(command)).code == 0
    assert read_csv(fitted / "documents.csv")[0][-1] == "rest"


def test_the_model_alone_is_written_if_asked_for_and_all_else_is_named(run, fitted):
    before = read_tables(fitted)
    ran = run("edit", fitted, "--rename", "0=x", "--model-only")
    assert read_tables(fitted) == before
    (line,) = [line for line in ran.err.splitlines() if "still show the topics before" in line]
    assert line.split(": ")[1].split() == sorted([*before, "report.html"])
    shown = [line.partition("anchorless ")[2] for line in ran.err.splitlines() if line.startswith("  ")]
    assert [shlex.split(command)[0] for command in shown] == ["report", "export", "apply"]
    assert [run(*shlex.split(command)).code for command in shown] == [0, 0, 0]


def test_effects_of_the_topics_before_are_named(run, fitted):
    (fitted / "effects.csv").write_text("of the topics before", encoding="utf-8")
    ran = run("edit", fitted, "--merge", "0,1")
    assert "still show the topics before: effects.csv\n" in ran.err


def test_nothing_changes_if_another_run_replaces_the_report_meanwhile(run, fitted, monkeypatch):
    before = read_tables(fitted)

    def replace_report(*given):
        run("report", fitted, "--title", "other", "-q")
        return ""

    monkeypatch.setattr(refreshing, "write_document_tables", replace_report)
    assert "was changed by another run" in get_refusal(run("edit", fitted, "--rename", "0=x"))
    assert read_tables(fitted) == before
    assert load(fitted).edits == []


def test_the_folder_in_which_the_user_is_is_not_replaced(run, fitted, monkeypatch):
    monkeypatch.chdir(fitted)
    ran = run("edit", ".", "--rename", "0=x")
    assert "still show the topics before" in ran.err
    assert (fitted / "documents.csv").samefile("documents.csv")
    assert load(fitted).topic_labels_[0] == "x"


def test_edits_are_listed_and_undone(run, folder):
    content = (folder / "model.anchorless").read_bytes()
    run("edit", folder, "--merge", "0,1", "--by", "Ann")
    run("edit", folder, "--drop", "2", "--by", "Bo", "--quiet")
    listed = run("edit", folder)
    assert [line.split()[2:] for line in listed.out.splitlines()[2:]] == [
        ["Ann", "merge", "0", "+", "1"],
        ["Bo", "drop", "2"],
    ]
    assert run("edit", folder, "--json").json["fingerprint"] == load(folder).fingerprint_
    assert run("edit", folder, "--undo").code == 0
    assert [edit.by for edit in load(folder).edits] == ["Ann"]
    assert "cannot be undone: this model has 1" in get_refusal(run("edit", folder, "--undo", "2"))
    run("edit", folder, "--undo", "1")
    assert (folder / "model.anchorless").read_bytes() == content


def test_the_output_may_be_another_file(run, folder, tmp_path):
    content = (folder / "model.anchorless").read_bytes()
    assert run("edit", folder, "--merge", "0,1", "-o", tmp_path / "new").code == 0
    assert (folder / "model.anchorless").read_bytes() == content
    assert TopicModel.load(tmp_path / "new").n_topics_ == 3
    assert "exists already" in get_refusal(run("edit", folder, "--merge", "0,1", "-o", tmp_path / "new"))
    found = run("edit", folder, "--merge", "0,1", "-o", tmp_path / "new", "-f", "--json").json
    assert found["n_edits"] == 1
    assert found["edits"][0]["values"]["groups"] == [[0, 1]]


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--rename", "17=x"], 2, "there is no topic 17"),
        (["--rename", "x"], 2, "such as 3=immigration"),
        (["--rename", "0=x", "--rename", "0=y"], 2, "topic 0 comes twice in --rename; name each topic once"),
        (["--rename", "0=x\udcff"], 1, "not valid Unicode"),
        (["--merge", "1"], 2, "topic 1 alone cannot be merged"),
        (["--merge", "1,x"], 2, "such as 1,4"),
        (["--drop", "0,1,2,3"], 2, "all topics would be dropped"),
        (["--merge", "0,1", "--drop", "17"], 2, "there is no topic 17"),
        (["--split", "0"], 2, "give them with --documents FILE"),
        (["--split", "0=1"], 2, "a number of parts"),
        (["--order", "0,1"], 2, "each number from 0 to 3 once"),
        (["--edits", "missing.toml"], 1, "cannot read missing.toml: there is no such file"),
        (["--codebook", "missing.csv"], 1, "no such file"),
        (["--carry-names", "missing"], 1, "no such file"),
        (["--label-endpoint", "http://127.0.0.1:9", "--label-topics", "17"], 2, "there is no topic 17"),
        (["--label-endpoint", "nowhere"], 1, "--label-endpoint nowhere, but it is not the address"),
        (["--edits", "e.toml", "--drop", "1"], 2, "one after the other"),
    ],
)
def test_refusals_change_nothing(run, folder, options, code, message):
    content = (folder / "model.anchorless").read_bytes()
    assert message in get_refusal(run("edit", folder, *options), code)
    assert (folder / "model.anchorless").read_bytes() == content


def test_an_empty_name_or_note_is_taken_away(run, folder, tmp_path):
    assert run("edit", folder, "--rename", "1=x", "--rename", "2=y", "--note", "1=see").code == 0
    assert run("edit", folder, "--rename", "1=", "--note", "1=").code == 0
    (tmp_path / "e.toml").write_text('rename = {2 = ""}\n', encoding="utf-8")
    assert run("edit", folder, "--edits", "e.toml").code == 0
    assert load(folder).topic_names_ == [None] * 4
    assert load(folder).topic_notes_ == [""] * 4


def test_a_file_of_edits(run, folder, tmp_path):
    (tmp_path / "e.toml").write_text('merge = [[1, 2]]\nrename = {3 = "x"}\n', encoding="utf-8")
    assert run("edit", folder, "--edits", "e.toml").code == 0
    assert load(folder).topic_labels_[2] == "x"
    (tmp_path / "e.toml").write_text("dropp = [1]\n", encoding="utf-8")
    assert "unknown key 'dropp'; did you mean 'drop'?" in get_refusal(run("edit", folder, "--edits", "e.toml"))


def test_a_split_with_the_documents_of_the_fit(run, folder):
    run("edit", folder, "--merge", "0,1")
    assert run("edit", folder, "--split", "0", "--documents", "a.csv", "--text-column", "text").code == 0
    assert load(folder).n_topics_ == 4


@pytest.mark.parametrize(
    "forged",
    [
        {"inputs": [1, None]},
        {"inputs": ["a.csv"], "encoding": 5},
        {"inputs": ["a.csv"], "text_column": [1]},
        {"inputs": ["a.csv"], "id_column": {"a": 1}},
    ],
)
def test_a_run_record_of_a_stranger_is_checked(run, folder, forged):
    record = json.loads((folder / "run.json").read_bytes())
    (folder / "run.json").write_text(json.dumps(record | {"arguments": record["arguments"] | forged}))
    split = ("edit", folder, "--split", "0", "--documents", "a.csv", "-o", "new.anchorless")
    assert run(*split).code == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f"drop = [{'9' * 5000}]", "a number has thousands of digits"),
        (f"[rename]\n{'9' * 5000} = 'x'", "the edits have rename"),
        (f"drop = {'[' * 100_000}", "nested too deeply"),
        (f"{'a.' * 100_000}a = 1", "a key has 100 parts or more"),
        (f"x = {{ {chr(34)}a b{chr(34)} . {'c .' * 100_000}a = 1 }}", "a key has 100 parts or more"),
    ],
)
def test_edits_that_are_hard_to_parse(run, folder, tmp_path, content, message):
    (tmp_path / "e.toml").write_text(content, encoding="utf-8")
    assert message in get_refusal(run("edit", folder, "--edits", "e.toml"))


def test_a_note_may_have_many_dots(run, folder, tmp_path):
    dots = ". ".join(["word"] * 150)
    (tmp_path / "e.toml").write_text(f'# {dots}\n[note]\n0 = "{dots}"\n', encoding="utf-8")
    assert run("edit", folder, "--edits", "e.toml").code == 0


def test_show_report_and_apply_follow(run, folder, tmp_path):
    run("edit", folder, "--rename", "2=prices", "--merge", "0,1", "--drop", "3")
    assert "prices: " in run("show", folder).out
    assert run("report", folder, "-o", "r.html").code == 0
    assert "prices" in (tmp_path / "r.html").read_text(encoding="utf-8")
    header, *rows = read_csv(run("apply", folder, "a.csv").out)
    assert header[-3:] == ["topic_0", "topic_1", "rest"]
    sums = np.array([[float(cell) for cell in row[-3:]] for row in rows]).sum(axis=1)
    np.testing.assert_allclose(sums, 1.0, atol=2e-6)


def test_names_of_an_earlier_model(run, folder, tmp_path):
    write_planted(tmp_path / "b.csv", seed=4)
    run("fit", "b.csv", "-k", "3", "-o", "new", "--quiet")
    run("edit", folder, *(f"--rename={f}=name{f}" for f in range(4)))
    ran = run("edit", "new", "--carry-names", folder)
    names = TopicModel.load(tmp_path / "new" / "model.anchorless").topic_names_
    assert sum(name is not None for name in names) == 4 - ran.err.count("not carried: ")
    assert "not carried: name" in ran.err
    assert "similarity" in ran.err


def test_a_codebook_goes_out_and_comes_back(run, folder, tmp_path):
    ran = run("codebook", folder, "-w", "5", "-d", "2", "--border", "0")
    assert "anchorless edit" in ran.err
    rows = read_csv(tmp_path / "codebook.csv")
    assert rows[0][:3] == ["topic", "name", "note"]
    rows[2][1] = "sports"
    with open(tmp_path / "codebook.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    assert run("edit", folder, "--codebook", "codebook.csv").code == 0
    assert load(folder).topic_labels_[1] == "sports"
    assert "exists already" in get_refusal(run("codebook", folder))
    assert run("codebook", folder, "-o", "c.md", "--json").json["topics"] == 4
    assert "## 1 sports" in (tmp_path / "c.md").read_text(encoding="utf-8")


def test_intrusion_forms_are_written_and_scored(run, folder, tmp_path):
    assert run("intrusion", folder, "--seed", "3", "--json").json["tasks"] == 8
    rows, tasks = read_csv(tmp_path / "intrusion.csv"), load(folder).intrusion_tasks(random_state=3)
    at = rows[0].index("answer")
    for row, task in zip(rows[1:], tasks, strict=True):
        row[at] = task.intruder
    with open(tmp_path / "intrusion.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    ran = run("intrusion", folder, "--score", "intrusion.csv")
    assert ran.out.splitlines()[1].split()[:5] == ["words", "all", "4", "4", "100%"]
    assert run("intrusion", folder, "--score", "intrusion.csv", "--json").json[0]["chance"] == 1 / 6
    assert "chance" in ran.out


def test_whole_texts_and_border_documents(run, folder, tmp_path):
    texts = {row[0]: row[1] for row in read_csv(tmp_path / "a.csv")[1:]}
    found = run("show", folder, "1", "--documents", "3", "--full", "a.csv", "--text-column", "text", "--json").json
    assert [texts[document["id"]] for document in found["documents"]] == [d["text"] for d in found["documents"]]
    assert len(found["border"]) == 3
    assert run("show", folder, "1", "--border", "2").out.split("at the border")[1].count("%") == 2
    assert "at the border" not in run("show", folder, "1").out
    write_planted(tmp_path / "other.csv", n_documents=3)
    assert "has no document" in get_refusal(run("show", folder, "1", "--full", "other.csv"), 2)


class Answer(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"choices": [{"message": {"content": "a name"}}]}).encode())

    def log_message(self, *arguments):
        pass


def test_names_from_a_local_server(run, folder):
    server = HTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        endpoint = ["--label-endpoint", f"http://127.0.0.1:{server.server_port}"]
        ran = run("edit", folder, *endpoint, "--label-model", "tiny")
        named = run("edit", folder, *endpoint)
        assert run("edit", folder, "--rename", "2=mine", *endpoint, "--label-topics", "2").code == 0
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert ran.code == 0
    assert "name some again with --label-topics" in get_refusal(named)
    assert load(folder).topic_names_ == ["a name"] * 4
    assert "(by tiny)" in run("edit", folder).out


@pytest.mark.parametrize(
    "forged",
    [
        {"arguments": {}},  # as of an earlier version without these options
        {"arguments": {"embeddings": 5, "text_column": [1], "raw_cells": "yes"}},
        {"arguments": {"inputs": ["a.csv"], "title": {"a": 1}, "memory": [], "strict": 3}},
        {"arguments": {"inputs": ["a.csv"], "encoding": None}},
        {"input": "a.csv"},
        {"input": [1], "arguments": {"input": {}, "inputs": [4]}},
    ],
    ids=str,
)
def test_results_are_written_again_whatever_the_run_record_says(run, folder, forged):
    record = json.loads((folder / "run.json").read_bytes())
    (folder / "run.json").write_text(json.dumps(record | forged))
    assert run("edit", folder, "--rename", "0=renamed").code == 0
    assert "renamed" in (folder / "topics.csv").read_text(encoding="utf-8")
    assert "renamed" in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("files", [5, True, "model.anchorless", [["model.anchorless"]], {"a": 1}], ids=str)
def test_a_run_record_without_a_list_of_files_is_of_no_run(run, folder, files):
    record = json.loads((folder / "run.json").read_bytes())
    (folder / "run.json").write_text(json.dumps(record | {"files": files}))
    assert run("edit", folder, "--rename", "0=renamed").code == 0
    assert TopicModel.load(folder / "model.anchorless").topic_labels_[0] == "renamed"
