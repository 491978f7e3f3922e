import argparse
import os

import numpy as np
import pytest
from anchorless._cli.large import BASE_MEMORY, MEMORY_PER_BYTE, MEMORY_PER_COMPRESSED_BYTE, is_large

from anchorless._cli.options import parse_memory
from anchorless._corpus.io.readers import open_texts
from anchorless._topic_model.model import TopicModel
from anchorless.errors import InputError
from tests.helpers.command_runs import FILES, everything, planted, refused, run, write_planted

__all__ = ["planted", "run"]

ON_DISK = ("--memory", "1MB")


@pytest.mark.parametrize("weighting", ["tfidf-ncw", "tfidf", "counts"])
def test_a_large_input_gives_the_same_topics_from_disk(run, planted, tmp_path, weighting):
    options = ("-k", "4", "--weighting", weighting)
    assert run("fit", planted / "a.csv", *options, "-o", "memory").code == 0
    assert run("fit", planted / "a.csv", *options, "-o", "disk", *ON_DISK).code == 0
    for name in ("topics.csv", "correlation.csv", "documents.csv"):
        assert (tmp_path / "memory" / name).read_bytes() == (tmp_path / "disk" / name).read_bytes()
    models = [TopicModel.load(tmp_path / name / "model.anchorless") for name in ("memory", "disk")]
    np.testing.assert_array_equal(models[0].components_, models[1].components_)
    assert models[0].diagnostics_._replace(mean_explained=0) == models[1].diagnostics_._replace(mean_explained=0)
    shown = [[model.representative_documents(topic, 9) for topic in range(4)] for model in models]
    assert shown[0] == shown[1]
    assert everything(tmp_path / "disk") == sorted(FILES)
    assert not (tmp_path / "disk.counts").exists()


def test_the_counts_of_an_interrupted_fit_are_gone_on_with(run, planted, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("anchorless._estimators.anchorfree.find_topics", interrupted)
        ran = run("fit", planted / "a.csv", "-k", "4", "-o", "t", *ON_DISK)
    assert ran.code == 130
    assert "160 documents are counted in t.counts; the same command goes on from there" in ran.err
    assert everything(tmp_path)[0] == "t.counts"
    ran = run("fit", planted / "a.csv", "-k", "4", "-o", "t", "--min-df", "3", *ON_DISK)
    assert ran.code == 0
    assert "going on after 160 documents" in ran.err
    assert run("fit", planted / "a.csv", "-k", "4", "-o", "u", "--min-df", "3").code == 0
    assert (tmp_path / "t" / "documents.csv").read_bytes() == (tmp_path / "u" / "documents.csv").read_bytes()
    assert not (tmp_path / "t.counts").exists()


@pytest.mark.parametrize("change", ["content", "rule"])
def test_counts_of_another_input_or_rule_are_not_gone_on_with(run, tmp_path, change):
    write_planted(tmp_path / "b.csv")
    assert run("fit", "b.csv", "-k", "40000", "-o", "t", *ON_DISK).code == 1  # more topics than words
    assert (tmp_path / "t.counts").exists()
    if change == "content":
        write_planted(tmp_path / "b.csv", n_documents=170)
    options = ("--ngrams", "1-2") if change == "rule" else ()
    ran = run("fit", "b.csv", "-k", "4", "-o", "t", *ON_DISK, *options)
    assert ran.code == 0
    assert "going on" not in ran.err


def test_one_document_is_refused_on_disk_too(run, tmp_path):
    (tmp_path / "one.txt").write_text("a single text about nothing\n")
    assert "1 document" in refused(run("fit", "one.txt", *ON_DISK))


def test_a_folder_of_something_else_is_not_touched(run, planted, tmp_path):
    (tmp_path / "t.counts").mkdir()
    (tmp_path / "t.counts" / "mine.txt").write_text("keep")
    ran = run("fit", planted / "a.csv", "-k", "4", "-o", "t", *ON_DISK)
    assert "t.counts" in refused(ran)
    assert (tmp_path / "t.counts" / "mine.txt").read_text() == "keep"


@pytest.mark.parametrize(
    ("text", "number"), [("2GB", 2e9), ("500mb", 5e8), ("1.5 G", 1.5e9), ("1000", 1000), ("3kB", 3000), ("1T", 1e12)]
)
def test_sizes_of_memory(text, number):
    assert parse_memory(text) == number


@pytest.mark.parametrize("text", ["", "GB", "2XB", "-1GB", "1e9", "2 G B", "٣GB"])
def test_what_is_no_size_of_memory(text):
    with pytest.raises(argparse.ArgumentTypeError, match="such as 500MB"):
        parse_memory(text)


def test_the_size_of_an_input_decides(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"word " * 1000)
    with open_texts(tmp_path / "a.txt") as source:
        needed = BASE_MEMORY + 5000 * MEMORY_PER_BYTE
        assert not is_large(source, needed)
        assert is_large(source, needed - 1)
    os.rename(tmp_path / "a.txt", tmp_path / "a.txt.gz")  # told by the name
    with open_texts(tmp_path / "a.txt.gz") as source:
        assert is_large(source, BASE_MEMORY + 5000 * MEMORY_PER_COMPRESSED_BYTE - 1)


def test_a_full_disk_leaves_the_counts_and_no_results(run, planted, tmp_path, monkeypatch):
    def full(*_, **__):
        raise InputError("cannot write x: the disk is full")

    monkeypatch.setattr("anchorless._corpus.disk.store.CountStore._write_selected", full)
    ran = run("fit", planted / "a.csv", "-k", "4", "-o", "t", *ON_DISK)
    assert "the disk is full" in refused(ran)
    assert everything(tmp_path)[0] == "t.counts"
    assert not (tmp_path / "t").exists()
