import shlex
import shutil

import pytest

from anchorless import TopicModel
from tests.helpers.command_runs import planted, run

__all__ = ["planted", "run"]


@pytest.fixture
def folder(run, planted, tmp_path):
    shutil.copy(planted / "a.csv", tmp_path / "a.csv")
    assert run("fit", "a.csv", "-k", "4", "-o", "my topics", "--quiet").code == 0
    return tmp_path / "my topics"


def test_names_are_kept_said_before_and_carried_over_by_the_printed_command(run, folder):
    assert run("edit", folder, "--rename", "2=bakery", "--quiet").code == 0
    before = (folder / "model.anchorless").read_bytes()
    ran = run("fit", "a.csv", "-k", "4", "-o", "my topics", "--force")
    assert ran.err.startswith("note: my topics/model.anchorless has 1 edit ")
    assert (folder / "model.edited.anchorless").read_bytes() == before
    assert TopicModel.load(folder / "model.anchorless").edits == []
    last = ran.err.splitlines()[-1]
    assert last.startswith("  names of the edited model ")
    assert run(*shlex.split(last.partition("anchorless ")[2])).code == 0
    assert "bakery" in TopicModel.load(folder / "model.anchorless").topic_labels_
    assert "bakery" in (folder / "topics.csv").read_text()


def test_a_model_without_edits_is_replaced_without_a_word(run, folder):
    ran = run("fit", "a.csv", "-k", "4", "-o", "my topics", "--force")
    assert "edit" not in ran.err
    assert not (folder / "model.edited.anchorless").exists()


def test_a_broken_model_is_replaced(run, folder):
    (folder / "model.anchorless").write_bytes(b"no model")
    assert run("fit", "a.csv", "-k", "4", "-o", "my topics", "--force").code == 0


def test_the_demo_keeps_an_edited_model(run, tmp_path):
    assert run("demo", "-k", "2", "--quiet").code == 0
    assert run("edit", "anchorless-demo", "--rename", "0=code", "--quiet").code == 0
    ran = run("demo", "-k", "2")
    assert ran.err.startswith("note: anchorless-demo/model.anchorless has 1 edit ")
    last = ran.err.splitlines()[-1].partition("anchorless ")[2]
    assert run(*shlex.split(last)).code == 0
    assert TopicModel.load(tmp_path / "anchorless-demo" / "model.anchorless").topic_labels_[0] == "code"
