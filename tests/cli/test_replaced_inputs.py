"""`--force` replaces results, never a file that the command reads."""

import shutil

import pytest

from tests.helpers.command_runs import get_refusal, planted, run

__all__ = ["planted", "run"]


@pytest.fixture
def copies(planted, tmp_path):
    """Copies of the planted texts and of their model in the working folder, and links to them."""
    shutil.copy(planted / "a.csv", tmp_path / "a.csv")
    shutil.copytree(planted / "a-topics", tmp_path / "topics")
    (tmp_path / "link.csv").symlink_to("a.csv")
    shutil.copy(planted / "a.csv", tmp_path / "topics" / "levels.csv")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "read"),
    [
        (["apply", "topics", "a.csv", "-o", "a.csv"], "a.csv"),
        (["apply", "topics", "a.csv", "-o", "link.csv"], "link.csv"),
        (["apply", "topics", "link.csv", "-o", "a.csv"], "a.csv"),
        (["report", "topics", "-o", "topics/model.anchorless"], "topics/model.anchorless"),
        (["codebook", "topics/model.anchorless", "-o", "topics/model.anchorless"], "topics/model.anchorless"),
        (["fit", "topics/levels.csv", "-o", "topics"], "topics/levels.csv"),
        (["search-k", "a.csv", "-k", "2,3", "--plot", "link.csv"], "link.csv"),
        (["export", "topics", "--documents", "a.csv", "-o", "a.csv", "--to", "pyldavis"], "a.csv"),
    ],
)
def test_an_output_that_is_an_input_is_refused(run, copies, arguments, read):
    before = {name: (copies / name).read_bytes() for name in ("a.csv", "topics/model.anchorless")}
    message = get_refusal(run(*arguments, "--force"), code=2)
    assert message == f"{read} is read by this command, and would be replaced; name another output"
    assert {name: (copies / name).read_bytes() for name in before} == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["edit", "topics", "--rename", "0=x", "-o", "topics/model.anchorless", "--force"],  # its purpose
        ["fit", "a.csv", "-k", "3", "-o", "topics", "--force"],
        ["report", "topics", "--force", "-o", "topics/report.html"],
    ],
)
def test_other_files_are_replaced_as_before(run, copies, arguments):
    assert run(*arguments, "-q").code == 0
