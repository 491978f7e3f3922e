import json
import os

from tests.command_runs import FILES, refused, run

__all__ = ["run"]


def test_demo_writes_what_fit_writes_and_again(run, tmp_path):
    ran = run("demo", "-k", "6")
    assert ran.code == 0, ran.err
    assert "docstrings of numpy, scipy, sklearn" in ran.err
    assert "distribution" in ran.out
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
    assert "exists already" in refused(run("demo", "-o", "out"))
    assert (tmp_path / "out" / "report.html").read_text() == "mine"
