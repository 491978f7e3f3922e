"""Hostile texts of an input are inert in every output of a run."""

import csv
import json
import xml.dom.minidom

import pyarrow.parquet
import pytest

from anchorless import TopicModel
from anchorless._cli.main import main
from anchorless._cli.printing import to_json
from anchorless._report.page import replace_data
from tests.helpers.command_runs import run
from tests.helpers.hostile_texts import CONTROLS, HOSTILE
from tests.helpers.planted_texts import planted_texts

__all__ = ["run"]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A folder with a.csv, whose cells, header and words are hostile, and its results in a-topics."""
    folder = tmp_path_factory.mktemp("hostile")
    texts, _ = planted_texts(120, 0)
    with open(folder / "a.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text", "=note\x1b[1m", "label", "@n"])
        for i, text in enumerate(texts):
            bad = HOSTILE[i % len(HOSTILE)]
            writer.writerow([f"{bad}{i}", f"{bad} {text}", bad, HOSTILE[4 * (i // 30)], -i])
    arguments = ["fit", folder / "a.csv", "-k", "3", "-o", folder / "a-topics", "--formula", "~ C(label)"]
    assert main([*map(str, arguments), "--title", HOSTILE[5] + HOSTILE[8], "--quiet", "--json"]) == 0
    return folder


def assert_inert_csv(content):
    assert not CONTROLS.search(content)
    for row in csv.reader(content.splitlines()):
        for cell in row:
            assert cell[:1] not in ("\t", "\r")
            seen = cell.lstrip(" \u200b\ufeff")
            assert seen[:1] not in ("=", "@")
            assert seen[:1] not in ("+", "-") or float(seen) is not None


def test_tables_of_a_fit(hostile):
    tables = sorted((hostile / "a-topics").glob("*.csv"))
    assert {"documents.csv", "effects.csv", "topics.csv"} <= {path.name for path in tables}
    for path in tables:
        assert_inert_csv(path.read_text(encoding="utf-8"))
    assert "'=cmd|" in (hostile / "a-topics" / "documents.csv").read_text(encoding="utf-8")


def test_figures_report_and_record_of_a_fit(hostile):
    folder = hostile / "a-topics"
    svg = (folder / "effects.svg").read_text(encoding="utf-8")
    assert not CONTROLS.search(svg)
    assert not xml.dom.minidom.parseString(svg.encode()).getElementsByTagName("script")
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.count("<script") == 2  # data and program
    assert "\x1b" not in page
    assert not CONTROLS.search((folder / "run.json").read_text(encoding="utf-8"))


def test_raw_cells_and_parquet_keep_the_texts(run, hostile):
    ran = run("apply", hostile / "a-topics", hostile / "a.csv", "--quiet")
    assert_inert_csv(ran.out)
    assert run("apply", hostile / "a-topics", hostile / "a.csv", "-o", "b.csv", "--raw-cells", "-q").code == 0
    assert run("apply", hostile / "a-topics", hostile / "a.csv", "-o", "b.parquet", "-q").code == 0
    with open("b.csv", encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header[1] == "=note\x1b[1m"
    given = [text.replace("\x00", " ") for text in HOSTILE]  # as every reader of texts does
    assert [row[1] for row in rows[: len(HOSTILE)]] == given
    assert pyarrow.parquet.read_table("b.parquet")["=note\x1b[1m"].to_pylist()[: len(HOSTILE)] == given


def test_terminal_json_codebook_and_form(run, hostile):
    model = hostile / "a-topics"
    assert (
        run("edit", model, "--rename", f"0={HOSTILE[0]}", "--note", f"1={HOSTILE[5]}", "-o", "m.anchorless").code == 0
    )
    for command in (["show", "m.anchorless"], ["show", "m.anchorless", "1"], ["edit", "m.anchorless"]):
        ran = run(*command)
        assert ran.code == 0
        assert not CONTROLS.search(ran.out.replace("\n", ""))
    shown = [run("show", model, str(topic), "--json").out for topic in range(3)]
    assert not CONTROLS.search("".join(shown).replace("\n", ""))
    assert not CONTROLS.search(to_json(HOSTILE).replace("\n", ""))
    assert json.loads(to_json(HOSTILE)) == HOSTILE  # in JSON they are escaped, not lost
    assert run("codebook", "m.anchorless", "-o", "c.csv", "-q").code == 0
    assert run("intrusion", "m.anchorless", "-o", "f.csv", "-q").code == 0
    for name in ("c.csv", "f.csv"):
        with open(name, encoding="utf-8") as file:
            assert_inert_csv(file.read())
    named = TopicModel.load("m.anchorless")
    assert named.apply_codebook("c.csv").topic_names_[0] == HOSTILE[0]  # the mark is removed


@pytest.mark.parametrize("place", ["</noscript>", "</body>", '<script type="application/json"'])
def test_a_script_in_a_report_is_not_passed_on(hostile, place):
    page = (hostile / "a-topics" / "report.html").read_text(encoding="utf-8")
    assert replace_data(page, lambda data: data) == page
    forged = page.replace(place, f"<script>alert(1)</script>{place}", 1)
    assert forged != page
    assert replace_data(forged, lambda data: data) is None
