import os
import threading
import time

import pytest

from anchorless import _locks
from anchorless._file_groups import atomic_write_group, read_group
from anchorless._files import atomic_write
from anchorless._folders import atomic_write_folder
from anchorless._locks import (
    FileState,
    create_locked,
    hold_folder,
    release_lock,
    try_lock,
    wait_for_lock,
)
from anchorless.errors import InputError

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs locks of files")


def test_a_second_process_waits_and_then_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(_locks, "LOCK_SECONDS", 0.05)
    with hold_folder(tmp_path):  # a second handle is as good as a second process
        with pytest.raises(InputError, match="another run is writing to"), hold_folder(tmp_path):
            pytest.fail("it is locked")
        monkeypatch.setattr(_locks, "LOCK_SECONDS", 10.0)
        entered = []

        def enter():
            with hold_folder(tmp_path):
                entered.append(time.monotonic())

        thread = threading.Thread(target=enter)
        thread.start()
        time.sleep(0.05)
        assert not entered
    thread.join(10)
    assert entered


@pytest.fixture
def before_locking(monkeypatch):
    """Return a function that lets something happen once, just before a file is locked."""

    def install(happen):
        waiting, lock = [happen], _locks.fcntl.flock

        def flock(*args):
            if waiting:
                waiting.pop()()
            return lock(*args)

        monkeypatch.setattr(_locks.fcntl, "flock", flock)

    return install


def test_the_lock_is_of_the_folder_that_is_at_the_path(tmp_path, before_locking):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()

    def exchange():
        os.rename(tmp_path / "a", tmp_path / "old")
        os.rename(tmp_path / "b", tmp_path / "a")

    before_locking(exchange)
    lock = wait_for_lock(tmp_path / "a", 10.0)
    assert os.path.samestat(os.fstat(lock), os.stat(tmp_path / "a"))
    release_lock(lock)


@pytest.mark.parametrize("is_folder", [False, True])
def test_what_was_taken_for_a_leftover_before_it_was_locked_is_created_again(tmp_path, before_locking, is_folder):
    path = tmp_path / "x"
    before_locking(path.rmdir if is_folder else path.unlink)
    lock = create_locked(path, is_folder=is_folder)
    assert path.exists()
    assert try_lock(path) is None
    release_lock(lock)


def test_a_file_that_another_process_has_just_written_is_not_replaced(tmp_path, monkeypatch):
    def overtaken():
        with atomic_write(tmp_path / "a.txt") as temporary:
            temporary.write_text("ours")
            monkeypatch.setattr("anchorless._files.sync_file", lambda path: (tmp_path / "a.txt").write_text("theirs"))

    with pytest.raises(InputError, match="exists already"):
        overtaken()
    assert (tmp_path / "a.txt").read_text() == "theirs"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_result_of_a_file_that_changed_is_not_written(tmp_path):
    model = tmp_path / "model"
    model.write_text("old")

    def edit(text, change):
        with atomic_write(model, force=True, made_from=FileState.read(model)) as temporary:
            temporary.write_text(text)
            change()

    edit("new", lambda: None)
    with pytest.raises(InputError, match=r"was changed by another run while this one used it.*again"):
        edit("mine", lambda: edit("theirs", lambda: None))
    assert model.read_text() == "theirs"


def test_files_of_a_group_are_read_from_one_run(tmp_path):
    paths = [tmp_path / "a.npz", tmp_path / "a.vocab.txt"]

    def write(text):
        with atomic_write_group(paths, force=True) as temporary:
            for path in temporary:
                path.write_text(text)

    texts = iter(["new", "newer"])

    def read():
        first = paths[0].read_text()
        if text := next(texts, None):
            write(text)
        return first, paths[1].read_text()

    write("old")
    assert read_group(paths, read) == ("newer", "newer")
    texts = iter(map(str, range(100)))
    with pytest.raises(InputError, match="was replaced 5 times while it was read"):
        read_group(paths, read)


def test_files_of_a_run_that_ended_meanwhile_are_known_when_the_folder_is_replaced(tmp_path):
    def write(name, during=lambda: None):
        with atomic_write_folder(tmp_path / "out", force=True, list_replaced=lambda _: ["first", "second"]) as folder:
            (folder / name).write_text(name)
            during()

    write("first", lambda: write("second"))
    assert os.listdir(tmp_path / "out") == ["first"]
