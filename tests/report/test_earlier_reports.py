"""A new report keeps what an earlier one shows: checked part by part, since anyone may have written it."""

import copy
import errno
import os
import re
import signal

import pytest

from anchorless._report.earlier_reports import is_report, read_other_report, read_report
from anchorless._report.html import render_report
from anchorless._report.page import read_data
from anchorless.errors import InputError
from tests.helpers.report_records import HOSTILE, large, one_topic, plain, unknown_measures, with_texts

RECORDS = {"plain": plain, "one topic": one_topic, "unknown": unknown_measures, "large": large}


def test_a_report_that_cannot_be_read_is_not_one_that_is_missing(tmp_path, monkeypatch):
    assert read_report(tmp_path / "report.html") is None
    assert read_report(tmp_path) is None

    def fail(*args, **kwargs):
        raise OSError(errno.EIO, "Input/output error", "report.html")

    monkeypatch.setattr("builtins.open", fail)
    with pytest.raises(InputError, match=r"cannot read .*report\.html: Input/output error"):
        read_report(tmp_path / "report.html")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_in_the_place_of_a_report_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "report.html")
    signal.alarm(20)  # ends the tests: opening a pipe that nobody writes to never returns
    try:
        assert read_report(tmp_path / "report.html") is None
    finally:
        signal.alarm(0)


@pytest.mark.parametrize(("title", "kept"), [("\\ud800", False), ("\\uD83D\\uDE00", True), ("\\\\ud800", True)])
def test_a_title_that_cannot_be_written_again_is_not_kept(title, kept, tmp_path):
    page = render_report(plain())
    old = re.search(r'"title":"([^"]*)"', page)
    (tmp_path / "report.html").write_text(page[: old.start(1)] + title + page[old.end(1) :], encoding="utf-8")
    for read in (read_report, read_other_report):
        assert (read(tmp_path / "report.html") is not None) == kept


@pytest.mark.parametrize("name", RECORDS)
def test_reports_of_this_version_are_read(name, tmp_path):
    page = render_report(RECORDS[name]())
    (tmp_path / "report.html").write_text(page, encoding="utf-8")
    assert read_report(tmp_path / "report.html") == read_data(page) is not None


def test_a_report_of_another_version_gives_its_title_and_documents(tmp_path):
    page, path = render_report(plain()), tmp_path / "report.html"
    path.write_text(page.replace("<header", "<p>older</p><header"), encoding="utf-8")
    assert read_report(path) is None
    found, expected = read_other_report(path), read_data(page)
    assert found["had_effects"]
    assert found | {"effects": 0} == expected | {"effects": 0, "had_effects": True}
    assert found["effects"] is None
    path.write_text(page + '<script type="application/json" id="data">{}</script>', encoding="utf-8")
    assert read_other_report(path) is None
    path.write_text("mine", encoding="utf-8")
    assert read_other_report(path) is None
    assert read_other_report(tmp_path / "none.html") is None


WRONG = [
    lambda data: data.pop("places"),
    lambda data: data.update(places="x"),
    lambda data: data.update(places=data["places"] + "AAAAAAAA" * 1000),
    lambda data: data.update(by_embeddings="yes"),
    lambda data: data.update(title=3),
    lambda data: data.update(fingerprint=None),
    lambda data: data.update(diagnostics=[1]),
    lambda data: data.update(topics={}),
    lambda data: data["topics"][0].update(documents=[10**6]),
    lambda data: data["topics"][0].update(documents=[-1]),
    lambda data: data["topics"][0].update(documents=None),
    lambda data: data["documents"].update(topics=[]),
    lambda data: data["documents"]["topics"].__setitem__(0, [99, 1]),
    lambda data: data["documents"]["topics"].__setitem__(0, [0, 10**6]),
    lambda data: data["documents"]["topics"].__setitem__(0, ["0", 1]),
    lambda data: data["documents"]["text"].pop(),
    lambda data: data["documents"]["id"].__setitem__(0, {}),
    lambda data: data["documents"].pop("id"),
    lambda data: data["documents"].pop("date"),
    lambda data: data["documents"].update(label=["a"]),
    lambda data: data["documents"].update(columns=[]),
]


@pytest.mark.parametrize("spoil", WRONG)
def test_data_of_another_form_are_not_kept(spoil):
    data = read_data(render_report(plain()))
    assert is_report(data)
    spoiled = copy.deepcopy(data)
    spoil(spoiled)
    assert not is_report(spoiled)


def test_hostile_texts_of_another_version_stay_texts(tmp_path):
    page, path = render_report(with_texts(HOSTILE)), tmp_path / "report.html"
    path.write_text(page.replace("<header", "<script>alert(1)</script><header"), encoding="utf-8")
    new = render_report(with_texts(HOSTILE), None, read_other_report(path))
    assert "<script>alert(1)" not in new
    assert new.count("<script") == page.count("<script")
