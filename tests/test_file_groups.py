import json
import os

import pytest

from anchorless import _file_groups, _files, _locks
from anchorless._file_groups import atomic_write_group, finish_replacement, get_journal
from anchorless._files import atomic_write
from anchorless.errors import InputError

OLD, NEW = ["old a", "old b"], ["new a", "new b"]


@pytest.fixture
def paths(tmp_path):
    found = [tmp_path / "a.npz", tmp_path / "a.vocab.txt"]
    write(found, OLD)
    return found


def write(paths, texts, **options):
    with atomic_write_group(paths, **options) as temporary:
        for path, text in zip(temporary, texts, strict=True):
            path.write_text(text)


def read(paths):
    finish_replacement(paths[0], paths)
    return [path.read_text() for path in paths]


def stop_after(monkeypatch, n):
    """Let the process end as if it were killed after n replacements: no block of cleaning up runs."""
    replace, done = os.replace, []

    def count(source, target):
        if len(done) == n:
            raise KeyboardInterrupt
        done.append(target)
        replace(source, target)

    monkeypatch.setattr(_file_groups.os, "replace", count)


def test_all_are_replaced(paths, tmp_path):
    with pytest.raises(InputError, match="exists already"):
        write(paths, NEW)
    write(paths, NEW, force=True)
    assert read(paths) == NEW
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npz", "a.vocab.txt"]


def test_an_error_in_the_block_changes_nothing(paths, tmp_path):
    with pytest.raises(ValueError, match="zip"):
        write(paths, NEW[:1], force=True)
    assert read(paths) == OLD
    assert len([*tmp_path.iterdir()]) == 2


@pytest.mark.parametrize(("n", "expected"), [(0, OLD), (1, OLD), (2, NEW)])
def test_the_next_reader_finishes(paths, monkeypatch, n, expected):
    """The first call moves the journal into place, the second one the first file."""
    with monkeypatch.context() as patched:
        stop_after(patched, n)
        with pytest.raises(KeyboardInterrupt):
            write(paths, NEW, force=True)
    assert get_journal(paths[0]).exists() == (n == 2)
    monkeypatch.setattr(_locks, "SECONDS_TO_LOCK", -1.0)
    _files.remove_leftover_files.cache_clear()
    with atomic_write(paths[0].with_name("other.txt")) as temporary:  # keeps what the journal needs
        temporary.write_text("x")
    assert read(paths) == expected
    assert not get_journal(paths[0]).exists()


@pytest.mark.parametrize("target", ["mine.txt", "../mine.txt", "sub/../mine.txt"])
def test_a_journal_of_a_stranger_replaces_no_other_file(paths, tmp_path, target):
    (tmp_path / "mine.txt").write_text("mine")
    waiting = f".anchorless-group-{'0a' * 6}-{target}"
    if "/" not in target:
        (tmp_path / waiting).write_text("evil")
    get_journal(paths[0]).write_text(json.dumps({waiting: target, "mine.txt": "a.npz"}))
    assert read(paths) == OLD
    assert (tmp_path / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize("part", ["\0", "\ud800", "x" * 300, "0a" * 6, "/" + "0a" * 6])
def test_a_journal_with_impossible_names_is_removed(paths, part):
    get_journal(paths[0]).write_text(json.dumps({f".anchorless-group-{part}-a.npz": "a.npz"}))
    assert read(paths) == OLD
    assert not get_journal(paths[0]).exists()


@pytest.mark.parametrize("content", ["", "[]", "{", '{"a": 1}', "null", "[" * 100_000])
def test_a_damaged_journal_is_removed(paths, content):
    get_journal(paths[0]).write_text(content)
    assert read(paths) == OLD
    assert not get_journal(paths[0]).exists()
