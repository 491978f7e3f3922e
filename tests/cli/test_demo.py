import json
import os
import shlex

from tests.helpers.command_runs import FILES, get_refusal, run

__all__ = ["run"]


def test_demo_writes_what_fit_writes_and_again(run, tmp_path):
    ran = run("demo", "-k", "6")
    assert ran.code == 0, ran.err
    assert "docstrings of numpy, scipy, sklearn" in ran.err
    assert "distribution" in ran.out
    hint = ran.err.splitlines()[-1].partition("anchorless ")[2]
    assert hint == "demo -k 12"
    folder = tmp_path / "anchorless-demo"
    assert sorted(os.listdir(folder)) == sorted(FILES)
    assert json.loads((folder / "run.json").read_text())["command"] == "demo"
    first = (folder / "topics.csv").read_bytes()
    ran = run("demo", "-k", "6", "--json", "--quiet")  # an earlier demo is replaced
    assert ran.code == 0
    assert ran.err == ""
    assert len(ran.json["topics"]) == 6
    assert (folder / "topics.csv").read_bytes() == first


def test_demo_does_not_write_into_a_folder_of_yours(run, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "report.html").write_text("mine")
    assert "exists already" in get_refusal(run("demo", "-o", "out"))
    assert (tmp_path / "out" / "report.html").read_text() == "mine"


def test_the_last_hint_can_be_run_as_it_stands(run, tmp_path):
    ran = run("demo", "-k", "2", "-o", "my demo")
    hint = shlex.split(ran.err.splitlines()[-1].partition("anchorless ")[2])
    assert hint == ["demo", "-k", "4", "-o", "my demo"]
    assert run(*hint, "--quiet").code == 0
