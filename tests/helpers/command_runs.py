"""Runs of the command line on small planted corpora, in this process or in one of its own."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from anchorless._cli.main import main
from tests.helpers.planted_texts import planted_texts

FILES = (
    *("correlation.csv", "correlation_pairs.csv", "documents.csv", "model.anchorless", "report.html", "run.json"),
    "topics.csv",
)


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Run a command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        capsys.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code
        return Result(code, *capsys.readouterr())

    return call


@pytest.fixture(scope="session")
def planted(tmp_path_factory):
    """A folder with planted documents as a.csv, and a-topics that `fit` wrote for it."""
    folder = tmp_path_factory.mktemp("planted")
    write_planted(folder / "a.csv")
    assert main(["fit", str(folder / "a.csv"), "-k", "4", "-o", str(folder / "a-topics"), "--quiet", "--json"]) == 0
    return folder


def write_planted(path, n_documents=160, seed=0, columns=("id", "text", "label", "date")):
    texts, labels = planted_texts(n_documents, seed)
    dates = [f"20{10 + i % 10}-01-0{1 + i % 9}" for i in range(n_documents)]
    rows = zip((f"d{i}" for i in range(n_documents)), texts, labels, dates, strict=True)
    write_csv(path, [columns, *rows])


def write_csv(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def read_csv(source):
    text = source if isinstance(source, str) else source.read_text(encoding="utf-8")
    return list(csv.reader(io.StringIO(text)))


def without_coverage():
    """Return the environment of a process that is not measured: coverage would write files and import modules there."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COV")}


def restore_signals():
    """Heed signals again: a shell starts jobs in the background with Ctrl-C ignored, nohup ignores that it hangs up."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def start_command(*arguments, start=(sys.executable, "-m", "anchorless._cli.main"), **settings):
    """Start the command in a process of its own."""
    command = [*start, *map(str, arguments)]
    usual = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    usual["env"] = without_coverage()
    if os.name == "posix":
        usual["preexec_fn"] = restore_signals
    return subprocess.Popen(command, **(usual | settings))


def run_command(*arguments, given=b"", **settings):
    """Run the command in a process of its own."""
    with start_command(*arguments, **settings) as child:
        out, err = child.communicate(given, timeout=120)
    return Result(child.returncode, (out or b"").decode(), (err or b"").decode())


def get_refusal(ran, code=1):
    """Return the one line of a refusal, and check that it is one line, without data and without traceback."""
    assert ran.code == code, ran.err
    assert ran.out == ""
    last = ran.err.splitlines()[-1]
    assert last.startswith("anchorless: ")
    assert "Traceback" not in ran.err
    assert "bug in anchorless" not in ran.err
    return last.removeprefix("anchorless: ")


def list_tree(folder):
    """Return the names of all files and folders below a folder, hidden ones too."""
    return sorted(os.path.relpath(path, folder) for path in Path(folder).rglob("*"))
