import json
import os

import numpy as np
import pytest

from anchorless._corpus.corpus import Corpus
from anchorless._corpus.disk.documents import StoredDocuments
from anchorless._corpus.disk.store import CountStore
from anchorless._topic_model.model import TopicModel
from anchorless.errors import InputError
from tests.helpers.command_runs import FILES, get_refusal, list_tree, planted, read_csv, run, run_command, write_planted

__all__ = ["planted", "run"]

ON_DISK = ("--memory", "1MB")


@pytest.fixture
def read(monkeypatch):
    """The documents of every corpus that a command reads."""
    found = []

    def read_and_keep(*arguments, **settings):
        corpus = original(*arguments, **settings)
        found.append(corpus.documents)
        return corpus

    original = Corpus.read
    monkeypatch.setattr(Corpus, "read", read_and_keep)
    return found


def assert_same_table(first, second):
    """Check that cells are equal: numbers to the last decimal that is written, up to rounding."""
    for row, other in zip(read_csv(first), read_csv(second), strict=True):
        for cell, expected in zip(row, other, strict=True):
            assert cell == expected or float(cell) == pytest.approx(float(expected), abs=2e-6)


@pytest.mark.parametrize("weighting", ["tfidf-ncw", "tfidf", "counts"])
def test_a_fit_on_disk_equals_a_fit_in_memory(run, planted, tmp_path, weighting):
    options = ("-k", "4", "--weighting", weighting)
    assert run("fit", planted / "a.csv", *options, "-o", "memory").code == 0
    assert run("fit", planted / "a.csv", *options, "-o", "disk", *ON_DISK).code == 0
    for name in ("topics.csv", "correlation.csv", "documents.csv"):
        assert_same_table(tmp_path / "memory" / name, tmp_path / "disk" / name)
    models = [TopicModel.load(tmp_path / name / "model.anchorless") for name in ("memory", "disk")]
    np.testing.assert_allclose(models[0].components_, models[1].components_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(models[0].topic_correlation_, models[1].topic_correlation_, rtol=0, atol=1e-10)
    shown = [[[doc.id for doc in model.representative_documents(k, 9)] for k in range(4)] for model in models]
    assert shown[0] == shown[1]
    assert list_tree(tmp_path / "disk") == sorted(FILES)
    assert not (tmp_path / "disk.counts").exists()


def test_an_interrupted_fit_continues_with_its_counts(run, planted, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("anchorless._estimators.anchorfree.find_topics", interrupted)
        ran = run("fit", planted / "a.csv", "-k", "4", "-o", "t", *ON_DISK)
    assert ran.code == 130
    assert "the documents counted so far are kept in t.counts; the same command continues from there" in ran.err
    assert list_tree(tmp_path)[0] == "t.counts"
    ran = run("fit", planted / "a.csv", "-k", "4", "-o", "t", "--min-df", "3", *ON_DISK)
    assert ran.code == 0
    assert "continued after 160 documents that were counted before, in t.counts" in ran.err
    assert run("fit", planted / "a.csv", "-k", "4", "-o", "u", "--min-df", "3").code == 0
    assert_same_table(tmp_path / "t" / "documents.csv", tmp_path / "u" / "documents.csv")
    assert not (tmp_path / "t.counts").exists()


@pytest.mark.parametrize("change", ["content", "rule"])
def test_counts_of_another_input_or_rule_are_not_used(run, tmp_path, change):
    write_planted(tmp_path / "b.csv")
    assert run("fit", "b.csv", "-k", "40000", "-o", "t", *ON_DISK).code == 2  # more topics than words
    assert (tmp_path / "t.counts").exists()
    if change == "content":
        write_planted(tmp_path / "b.csv", n_documents=170)
    options = ("--ngrams", "1-2") if change == "rule" else ()
    ran = run("fit", "b.csv", "-k", "4", "-o", "t", *ON_DISK, *options)
    assert ran.code == 0
    assert "continued" not in ran.err


def test_one_document_is_refused_on_disk_too(run, tmp_path):
    (tmp_path / "one.txt").write_text("a single text about nothing\n")
    assert "1 document" in get_refusal(run("fit", "one.txt", *ON_DISK))


def test_a_folder_of_something_else_is_not_touched(run, planted, tmp_path):
    (tmp_path / "t.counts").mkdir()
    (tmp_path / "t.counts" / "mine.txt").write_text("keep")
    ran = run("fit", planted / "a.csv", "-k", "4", "-o", "t", *ON_DISK)
    assert "t.counts" in get_refusal(ran)
    assert (tmp_path / "t.counts" / "mine.txt").read_text() == "keep"


def test_a_full_disk_leaves_the_counts_and_no_results(run, planted, tmp_path, monkeypatch):
    def full(*_, **__):
        raise InputError("cannot write x: the disk is full")

    monkeypatch.setattr("anchorless._corpus.disk.store.store_blocks", full)
    ran = run("fit", planted / "a.csv", "-k", "4", "-o", "t", *ON_DISK)
    assert "the disk is full" in get_refusal(ran)
    assert list_tree(tmp_path)[0] == "t.counts"
    assert not (tmp_path / "t").exists()


COMMANDS = {
    "fit": ("fit", "a.csv", "-k", "4", "-o", "out"),
    "search-k": ("search-k", "a.csv", "-k", "3,4", "--json"),
    "convert": ("convert", "a.csv", "out.mtx"),
    "evaluate": ("evaluate", "model", "a.csv", "--json"),
}


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_every_command_that_counts_keeps_to_its_memory(run, planted, tmp_path, monkeypatch, read, arguments):
    monkeypatch.setattr("anchorless._corpus.storage.BASE_MEMORY", 0)
    (tmp_path / "a.csv").symlink_to(planted / "a.csv")
    (tmp_path / "model").symlink_to(planted / "a-topics")
    ran = [run(*arguments, "--memory", "1GB")]
    written = (tmp_path / "out.mtx").read_bytes() if arguments[0] == "convert" else b""
    ran.append(run(*arguments, "--memory", "1KB", *(["-f"] if arguments[0] in ("fit", "convert") else [])))
    assert [one.code for one in ran] == [0, 0], ran[1].err
    assert [isinstance(documents, StoredDocuments) for documents in read] == [False, True]
    if "--json" in arguments:
        first, second = (flatten_numbers(one.json) for one in ran)
        assert first == pytest.approx(second, abs=1e-8)
    if arguments[0] == "convert":
        assert (tmp_path / "out.mtx").read_bytes() == written
    assert not [name for name in list_tree(tmp_path) if "counts" in name]


def flatten_numbers(value):
    """Return all numbers in nested JSON, but for seconds."""
    if isinstance(value, dict):
        value = [item for name, item in value.items() if name != "seconds"]
    if isinstance(value, list):
        return [number for item in value for number in flatten_numbers(item)]
    return [value] if isinstance(value, int | float) else []


def test_apply_never_holds_a_corpus(run, planted, read):
    assert run("apply", planted / "a-topics", planted / "a.csv").code == 0
    assert read == []  # texts pass through in batches


def test_the_record_of_a_run_on_disk_has_its_stability_as_given(run, planted, tmp_path):
    ran = run("fit", planted / "a.csv", "-k", "4", "-o", "t", "--stability", "20", *ON_DISK)
    assert ran.code == 0
    assert "--stability is ignored" in ran.err
    assert json.loads((tmp_path / "t" / "run.json").read_text())["arguments"]["stability"] == 20
    assert list_tree(tmp_path / "t") == sorted(FILES)


def test_an_input_of_the_same_size_and_time_is_counted_again(run, tmp_path):
    """After a failed run, the old counts were used for the new text, and run.json had the new text's hash."""
    path = tmp_path / "b.csv"
    write_planted(path)
    assert run("fit", "b.csv", "-k", "40000", "-o", "t", *ON_DISK).code == 2  # more topics than words
    before, content = path.stat(), path.read_bytes()
    word = max((word for word in content.decode().split() if word.isalpha()), key=len).encode()
    path.write_bytes(content.replace(word, b"z" * len(word)))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    ran = run("fit", "b.csv", "-k", "4", "-o", "t", *ON_DISK)
    assert ran.code == 0
    assert "continued after" not in ran.err


def test_stdin_never_continues_with_other_counts(run, tmp_path):
    write_planted(tmp_path / "b.csv")
    write_planted(tmp_path / "c.csv", seed=1)
    for name, code in (("b.csv", 2), ("c.csv", 0)):
        with open(tmp_path / name, "rb") as stdin:
            n_topics = "40000" if code else "4"
            arguments = ("fit", "-", "--format", "csv", "--text-column", "text", "-k", n_topics, "-o", "t", *ON_DISK)
            ran = run_command(*arguments, stdin=stdin, cwd=tmp_path)
        assert ran.code == code, ran.err
        assert "continued after" not in ran.err


def test_a_second_run_on_the_same_counts_says_so(run, planted, tmp_path):
    store = CountStore(tmp_path / "t.counts", {})
    ran = run("fit", planted / "a.csv", "-k", "4", "-o", "t", *ON_DISK)
    assert "another run uses the counts in t.counts" in get_refusal(ran)
    store.remove()
    assert run("fit", planted / "a.csv", "-k", "4", "-o", "t", *ON_DISK).code == 0
