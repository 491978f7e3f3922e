import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from anchorless import _files, _folders
from anchorless._folders import atomic_write_folder
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


@pytest.mark.parametrize("place", [".", "..", "/", "../here", "link"])
@pytest.mark.parametrize("force", [False, True])
def test_the_working_folder_is_not_replaced(tmp_path, monkeypatch, place, force):
    """A shell in it would be in a folder that no longer exists."""
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "link").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path / "here")
    if force or place in (".", "../here"):  # the others are not empty
        with pytest.raises(InputError, match="it is the folder that you are in, or holds it"):
            write(Path(place), force=force)
    assert list_tree(tmp_path) == ["here", "here/link"]
    write(Path("inside"))
    assert (tmp_path / "here" / "inside" / "a.txt").exists()


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError])
def test_nothing_is_left_of_a_block_that_failed(tmp_path, error):
    def fail():
        with atomic_write_folder(tmp_path / "deep" / "down", force=False) as folder:
            (folder / "a.txt").write_text("new")
            raise error

    with pytest.raises(error):
        fail()
    assert list_tree(tmp_path) == []


OLD = {"a.txt": "old", "c.txt": "old", "mine.txt": "mine", "sub/deep.txt": "mine"}
NEW = {**OLD, **dict.fromkeys(NAMES, "new")}
SYSTEMS = ("exchange", "no exchange")
#: Calls that change the disk; a fault at each of them is tried.
CALLS = ("rename", "replace", "link", "fsync", "unlink", "rmdir", "mkdir", "chmod")


def prepare(target):
    write(target, "old")
    (target / "b.txt").unlink()
    (target / "mine.txt").write_text("mine")
    (target / "sub").mkdir()
    (target / "sub" / "deep.txt").write_text("mine")


def read_tree(folder):
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def fault_at(monkeypatch, system, number, act):
    """Call `act` at the n-th disk call; the calls of the exchange count, too."""
    calls = []

    def guard(function):
        def guarded(*arguments, **settings):
            calls.append(function.__name__)
            if len(calls) == number:
                act()
            return function(*arguments, **settings)

        return guarded

    for name in CALLS:
        monkeypatch.setattr(os, name, guard(getattr(os, name)))
    exchange = _folders.exchange_folders if system == "exchange" else lambda *_: False
    monkeypatch.setattr(_folders, "exchange_folders", guard(exchange))
    return calls


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=["disk", "Ctrl-C"])
def test_files_are_replaced_all_or_none(tmp_path, monkeypatch, system, error):
    def fail():
        raise error

    outcomes = []
    for number in range(1, 60):
        folder = tmp_path / str(number)
        folder.mkdir()
        prepare(folder / "out")
        with monkeypatch.context() as patch:
            calls = fault_at(patch, system, number, fail)
            with suppress(InputError, KeyboardInterrupt):
                write(folder / "out", force=True)
        outcomes.append(read_tree(folder / "out"))
        assert outcomes[-1] in (OLD, NEW), calls
        if len(calls) < number:
            break
    assert OLD in outcomes
    assert outcomes[-1] == NEW
    assert os.listdir(folder) == ["out"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("system", SYSTEMS)
def test_a_kill_at_any_disk_call_leaves_all_old_or_all_new(tmp_path, monkeypatch, system):
    monkeypatch.setattr("anchorless._locks.SECONDS_TO_LOCK", 0.0)
    outcomes, status = [], 1
    for number in range(1, 80):
        folder = tmp_path / str(number)
        folder.mkdir()
        prepare(folder / "out")
        child = os.fork()
        if child == 0:
            try:
                fault_at(monkeypatch, system, number, lambda: os.kill(os.getpid(), signal.SIGKILL))
                write(folder / "out", force=True)
            finally:
                os._exit(0)
        status = os.waitpid(child, 0)[1]
        if system == "exchange" or (folder / "out").exists():  # otherwise there is a moment without results
            outcomes.append(read_tree(folder / "out"))
            assert outcomes[-1] in (OLD, NEW)
        write(folder / "out", force=True)
        assert read_tree(folder / "out") == NEW
        assert os.listdir(folder) == ["out"]
        if status == 0:
            break
    assert status == 0
    assert outcomes[0] == OLD
    assert outcomes[-1] == NEW


def test_the_folder_of_a_living_run_is_no_leftover(tmp_path, monkeypatch):
    monkeypatch.setattr("anchorless._locks.SECONDS_TO_LOCK", 0.0)
    with atomic_write_folder(tmp_path / "out", force=True) as folder:
        (folder / "a.txt").write_text("first")
        write(tmp_path / "out", "second")
        assert (folder / "a.txt").read_text() == "first"
    assert read_tree(tmp_path / "out") == {"a.txt": "first", "b.txt": "second", "c.txt": "second"}


def test_a_temporary_file_that_could_not_be_removed_is_removed_by_the_next_run(tmp_path, monkeypatch):
    """It was in the new folder when that took the place of the old one; files of somebody else stay."""
    monkeypatch.setattr("anchorless._locks.SECONDS_TO_LOCK", -1.0)
    write(tmp_path / "out", "first")
    for name in (".anchorless-0123456789ab.csv", "mine.txt"):
        (tmp_path / "out" / name).write_text("x")
    _files.remove_leftover_files.cache_clear()  # the next run is another process
    write(tmp_path / "out", "second", force=True)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {*NAMES, "mine.txt"}


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
