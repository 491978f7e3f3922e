import os

import pytest

from anchorless._cli.output_folder import atomic_write_folder
from anchorless.errors import InputError
from tests.helpers.command_runs import list_tree

NAMES = ("a.txt", "b.txt", "c.txt")


def write(target, content="new", force=False):
    with atomic_write_folder(target, force=force) as folder:
        for name in NAMES:
            (folder / name).write_text(content)


def test_folder_is_there_when_it_is_complete(tmp_path):
    target = tmp_path / "deep" / "down"
    with atomic_write_folder(target, force=False) as folder:
        (folder / "a.txt").write_text("new")
        assert not target.exists()
        assert folder.parent == target.parent  # on the same disk
    assert list_tree(tmp_path) == ["deep", "deep/down", "deep/down/a.txt"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError])
def test_nothing_is_left_of_a_block_that_failed(tmp_path, error):
    def fail():
        with atomic_write_folder(tmp_path / "deep" / "down", force=False) as folder:
            (folder / "a.txt").write_text("new")
            raise error

    with pytest.raises(error):
        fail()
    assert list_tree(tmp_path) == []


@pytest.mark.parametrize("failing", range(1, 7))
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=["disk", "Ctrl-C"])
def test_files_are_replaced_all_or_none(tmp_path, monkeypatch, failing, error):
    target = tmp_path / "out"
    write(target, "old")
    (target / "b.txt").unlink()
    (target / "mine.txt").write_text("mine")
    rename, calls = os.rename, []

    def fails_once(source, place):
        calls.append(place)
        if len(calls) == failing:
            raise error
        rename(source, place)

    monkeypatch.setattr("os.rename", fails_once)
    if failing > 5:  # two for each file that was there, one for b.txt
        write(target, force=True)
        assert {path.name: path.read_text() for path in target.iterdir()} == {
            **dict.fromkeys(NAMES, "new"),
            "mine.txt": "mine",
        }
    else:
        with pytest.raises((InputError, KeyboardInterrupt)):
            write(target, force=True)
        assert {path.name: path.read_text() for path in target.iterdir()} == {
            "a.txt": "old",
            "c.txt": "old",
            "mine.txt": "mine",
        }
    assert os.listdir(tmp_path) == ["out"]


def test_folder_that_came_while_the_block_ran_is_not_touched(tmp_path):
    def overtaken():
        with atomic_write_folder(tmp_path / "out", force=False) as folder:
            (folder / "a.txt").write_text("new")
            (tmp_path / "out").mkdir()
            (tmp_path / "out" / "a.txt").write_text("theirs")

    with pytest.raises(InputError, match="exists already"):
        overtaken()
    assert (tmp_path / "out" / "a.txt").read_text() == "theirs"


def test_a_folder_in_the_place_of_a_file_is_kept(tmp_path):
    (tmp_path / "out" / "b.txt").mkdir(parents=True)
    with pytest.raises(InputError, match=r"b\.txt: it is a folder"):
        write(tmp_path / "out", force=True)
    assert list_tree(tmp_path) == ["out", "out/b.txt"]


def test_through_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    os.symlink("real", tmp_path / "link")
    write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert sorted(os.listdir(tmp_path / "real")) == list(NAMES)


def test_an_error_in_the_block_keeps_its_parts(tmp_path):
    error = InputError("it is too large", parameter="n_topics", value=9)
    with pytest.raises(InputError) as caught, atomic_write_folder(tmp_path / "out", force=False):
        raise error
    assert caught.value is error


def test_folders_that_were_there_stay_when_the_block_fails(tmp_path):
    (tmp_path / "mine").mkdir()
    with pytest.raises(ZeroDivisionError), atomic_write_folder(tmp_path / "mine" / "made" / "out", force=False):
        raise ZeroDivisionError
    assert list_tree(tmp_path) == ["mine"]
