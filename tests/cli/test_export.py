import csv
import re

import numpy as np
import pytest

from anchorless import TopicModel
from anchorless._cli.command_options import DEFAULT_FILES
from anchorless._topic_model.exporting import FORMATS
from tests.helpers.command_runs import get_refusal, planted, run

__all__ = ["planted", "run"]


def test_every_format_has_a_file_of_its_own():
    assert tuple(DEFAULT_FILES) == FORMATS
    assert len(set(DEFAULT_FILES.values())) == len(FORMATS)


@pytest.mark.parametrize("format", [format for format in FORMATS if format not in ("xlsx", "pyldavis")])
def test_the_command_writes_what_the_function_writes(run, planted, tmp_path, format):
    ran = run("export", planted / "a-topics", "--to", format)
    assert (ran.code, ran.out) == (0, "")
    assert f"wrote {DEFAULT_FILES[format]}" in ran.err
    TopicModel.load(planted / "a-topics" / "model.anchorless").export(tmp_path / "mine", format)
    if format == "mallet":
        assert "give them with --documents FILE" in ran.err
        files = [
            sorted(path.read_bytes() for path in folder.iterdir())
            for folder in (tmp_path / "mallet", tmp_path / "mine")
        ]
        assert files[0] == files[1]
    else:
        assert (tmp_path / DEFAULT_FILES[format]).read_bytes() == (tmp_path / "mine").read_bytes()


def test_documents_of_a_workbook_are_those_of_fit_with_the_columns_of_the_input(run, planted, tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed: pip install 'anchorless[test-all]'")
    ran = run("export", planted / "a-topics", "--documents", planted / "a.csv", "-o", "out.xlsx", "--json", "--quiet")
    assert ran.json["format"] == "xlsx"
    head, *rows = openpyxl.load_workbook(tmp_path / "out.xlsx")["documents"].values
    with open(planted / "a-topics" / "documents.csv", encoding="utf-8", newline="") as file:
        expected = list(csv.DictReader(file))
    assert list(head) == list(expected[0])
    for name in ("id", "label", "date", "topic_label"):
        assert [row[head.index(name)] for row in rows] == [row[name] for row in expected]
    shares = [[row[head.index(f"topic_{k}")] for k in range(4)] for row in rows]
    np.testing.assert_allclose(shares, [[float(row[f"topic_{k}"]) for k in range(4)] for row in expected], atol=1e-6)


def test_the_page_of_pyldavis(run, planted, tmp_path):
    pytest.importorskip("pyLDAvis", reason="pyLDAvis is not installed: pip install 'anchorless[test-all]'")
    assert "--documents" in get_refusal(run("export", planted / "a-topics", "--to", "pyldavis"), 1)
    assert run("export", planted / "a-topics", "--to", "pyldavis", "--documents", planted / "a.csv").code == 0
    assert re.search(r'new LDAvis\("#topics"', (tmp_path / "pyldavis.html").read_text())


def test_refusals_name_the_way_out(run, planted, tmp_path):
    assert "--to: xlsx, latex" in get_refusal(run("export", planted / "a-topics"), 2)
    assert "name it with --to" in get_refusal(run("export", planted / "a-topics", "-o", "x.doc"), 2)
    (tmp_path / "topics.tex").write_text("mine")
    assert "--force" in get_refusal(run("export", planted / "a-topics", "--to", "latex"), 1)
    assert (tmp_path / "topics.tex").read_text() == "mine"
    assert run("export", planted / "a-topics", "--to", "latex", "--force", "-w", "3").code == 0
    assert "mine" not in (tmp_path / "topics.tex").read_text()
