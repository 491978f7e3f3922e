import errno
import gzip
import hashlib
import io
import os
import random
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from anchorless import _file_groups
from anchorless import _files as files
from anchorless._file_groups import atomic_write_group
from anchorless._files import TEMPORARY_PREFIX, ByteStream, atomic_write, hash_file, open_input, remove_leftover_files
from anchorless.errors import InputError


def failing(number, filename=None):
    def fail(*args, **kwargs):
        raise OSError(number, os.strerror(number), filename)

    return fail


# --- writing


def test_a_file_appears_whole_and_nothing_stays_beside_it(tmp_path):
    target = tmp_path / "model.bin"
    with atomic_write(target) as temporary:
        temporary.write_bytes(b"half")
        assert not target.exists()
        assert temporary.parent == tmp_path
        assert temporary.suffix == ".bin"
        temporary.write_bytes(b"whole")
    assert target.read_bytes() == b"whole"
    assert os.listdir(tmp_path) == ["model.bin"]


def test_a_new_file_gets_the_usual_permissions(tmp_path):
    (tmp_path / "usual").write_bytes(b"")
    with atomic_write(tmp_path / "ours") as temporary:
        temporary.write_bytes(b"")
    modes = {name: stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("usual", "ours")}
    assert modes["ours"] == modes["usual"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, SystemExit])
def test_an_error_leaves_the_old_file_and_no_temporary_one(tmp_path, error):
    target = tmp_path / "topics.csv"
    target.write_text("old")

    def write():
        with atomic_write(target, force=True) as temporary:
            temporary.write_text("new")
            raise error

    with pytest.raises(error):
        write()
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["topics.csv"]


def test_an_existing_file_is_replaced_only_by_force(tmp_path):
    target = tmp_path / "topics.csv"
    target.write_text("old")
    with pytest.raises(InputError, match=r"topics\.csv exists already.*force"), atomic_write(target):
        pytest.fail("the block must not run")
    with atomic_write(target, force=True) as temporary:
        temporary.write_text("new")
    assert target.read_text() == "new"


def test_a_file_that_came_up_meanwhile_is_kept(tmp_path):
    target = tmp_path / "topics.csv"

    def write():
        with atomic_write(target) as temporary:
            temporary.write_text("ours")
            target.write_text("theirs")

    with pytest.raises(InputError, match="exists already"):
        write()
    assert target.read_text() == "theirs"
    assert os.listdir(tmp_path) == ["topics.csv"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "real" / "file.csv")
    with atomic_write(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert (tmp_path / "real" / "file.csv").read_text() == "new"


@pytest.mark.parametrize("name", ["", "there/is/none.csv", "file.csv/inside.csv"])
def test_impossible_targets_are_refused(tmp_path, name):
    (tmp_path / "file.csv").write_text("")
    with pytest.raises(InputError, match=r"cannot write .*folder"), atomic_write(tmp_path / name):
        pytest.fail("the block must not run")


@pytest.mark.parametrize(("flags", "words"), [(0, "no permission"), (os.ST_RDONLY, "read-only")])
def test_a_folder_that_cannot_be_written_to_is_refused_with_the_reason(tmp_path, monkeypatch, flags, words):
    monkeypatch.setattr(files.os, "access", lambda path, mode: False)
    monkeypatch.setattr(files.os, "statvfs", lambda path: SimpleNamespace(f_flag=flags))
    with pytest.raises(InputError, match=words):
        files.validate_target(tmp_path / "a.csv", force=False)


def test_a_device_is_no_target():
    with pytest.raises(InputError, match="a device or pipe"), atomic_write("/dev/null", force=True):
        pytest.fail("the block must not run")


@pytest.mark.parametrize(
    ("function", "number", "words"),
    [
        ("open", errno.EACCES, "no permission"),
        ("open", errno.EROFS, "read-only"),
        ("open", errno.ENAMETOOLONG, "shorter"),
        ("fsync", errno.ENOSPC, "disk is full"),
        ("fsync", errno.EDQUOT, "quota"),
        ("replace", errno.EPERM, "no permission"),
    ],
)
def test_errors_of_the_system_are_reported_with_a_remedy(tmp_path, monkeypatch, function, number, words):
    monkeypatch.setattr(files.os, function, failing(number))
    with pytest.raises(InputError, match=rf"cannot write {tmp_path}/out\.csv: .*{words}"):  # noqa: SIM117
        with atomic_write(tmp_path / "out.csv", force=True) as temporary:
            temporary.write_text("text")
    monkeypatch.undo()
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_full_disk_inside_the_block_is_reported(tmp_path):
    def write():
        with atomic_write(tmp_path / "out.csv"), open("/dev/full", "wb", buffering=0) as full:
            full.write(b"text")

    with pytest.raises(InputError, match=r"out\.csv: the disk is full; free some space"):
        write()
    assert os.listdir(tmp_path) == []


def test_an_error_about_another_file_is_left_alone(tmp_path):
    def write():
        with atomic_write(tmp_path / "out.csv"):
            (tmp_path / "input.csv").read_text()

    with pytest.raises(FileNotFoundError, match=r"input\.csv"):
        write()


# --- reading

CONTENT = random.Random(0).randbytes(700_000)


def read_all(file):
    with io.BufferedReader(file.stream) as buffered:
        return buffered.read()


@pytest.mark.parametrize("name", ["plain.bin", "lies.gz"])
def test_bytes_come_through_counted_and_hashed(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(CONTENT)
    file = open_input(path)
    assert not file.compressed
    assert file.bytes_total == len(CONTENT)
    assert read_all(file) == CONTENT
    assert file.bytes_read == len(CONTENT)
    assert file.sha256() == hashlib.sha256(CONTENT).hexdigest()
    file.close()


@pytest.mark.parametrize("name", ["packed.gz", "packed_without_saying.csv"])
def test_gzip_is_known_by_its_bytes(tmp_path, name):
    """Two members, as `cat a.gz b.gz` makes them; counted and hashed is what is on the disk."""
    raw = gzip.compress(CONTENT[:1000]) + gzip.compress(CONTENT[1000:])
    (tmp_path / name).write_bytes(raw)
    file = open_input(tmp_path / name)
    assert file.compressed
    assert read_all(file) == CONTENT
    assert file.bytes_read == file.bytes_total == len(raw)
    assert file.sha256() == hashlib.sha256(raw).hexdigest()
    file.close()


def test_progress_grows_with_the_reading(tmp_path):
    (tmp_path / "a").write_bytes(CONTENT)
    file = open_input(tmp_path / "a")
    seen = [file.bytes_read]
    while file.stream.read(100_000):
        seen.append(file.bytes_read)
    assert seen == sorted(seen)
    assert seen[0] < 100
    assert seen[-1] == len(CONTENT)
    file.close()


def test_a_hash_of_a_part_is_refused(tmp_path):
    (tmp_path / "a").write_bytes(CONTENT)
    file = open_input(tmp_path / "a")
    file.stream.read(10)
    with pytest.raises(InputError, match="not read to its end"):
        file.sha256()
    file.close()


def test_the_head_is_looked_at_and_not_taken():
    stream = ByteStream(io.BytesIO(b"bcdefgh"), "letters", ahead=b"a")
    assert stream.peek(3) == b"abc"
    assert stream.peek(1) == b"a"
    assert stream.read(2) == b"ab"
    assert stream.peek(100) == b"cdefgh"
    assert stream.readall() == b"cdefgh"
    assert stream.peek(5) == b""


def test_the_head_of_a_slow_pipe_is_waited_for():
    class Drops(io.BytesIO):
        def read(self, size=-1, /):
            return super().read(min(size, 1))

    assert ByteStream(Drops(b"abcdef"), "pipe").peek(4) == b"abcd"


@pytest.mark.parametrize("cut", [11, 5000, -9, -1])
def test_truncated_gzip_is_reported(tmp_path, cut):
    (tmp_path / "a.gz").write_bytes(gzip.compress(CONTENT)[:cut])
    file = open_input(tmp_path / "a.gz")
    with pytest.raises(InputError, match=r"a\.gz is cut off.*again"):
        file.stream.readall()
    file.close()


@pytest.mark.parametrize("place", [2, 14, -6])
def test_damaged_gzip_is_reported(tmp_path, place):
    """In the header, in the data, in the checksum."""
    raw = bytearray(gzip.compress(CONTENT))
    raw[place] ^= 0xFF
    (tmp_path / "a.gz").write_bytes(raw)
    file = open_input(tmp_path / "a.gz")
    with pytest.raises(InputError, match=r"a\.gz is damaged"):
        file.stream.readall()
    file.close()


def test_missing_files_and_folders_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"cannot read .*none\.csv: there is no such file"):
        open_input(tmp_path / "none.csv")
    with pytest.raises(InputError, match="it is a folder, but a file is needed"):
        open_input(tmp_path)
    with pytest.raises(InputError, match="null"):
        open_input("a\0b")


def test_no_permission_to_read_is_reported(monkeypatch):
    monkeypatch.setattr("builtins.open", failing(errno.EACCES))
    with pytest.raises(InputError, match=r"cannot read a\.csv: you have no permission to read it"):
        open_input("a.csv")


def test_an_error_while_reading_is_reported():
    class Broken:
        def read(self, size):
            raise OSError(errno.EIO, "Input/output error")

    with pytest.raises(InputError, match=r"cannot read disk: Input/output error"):
        ByteStream(Broken(), "disk").read(1)


def test_stdin_is_read_and_left_open():
    code = (
        "import sys; from anchorless._files import open_input; f = open_input('-'); b = f.stream.readall(); "
        "f.close();"
        "assert f.bytes_total is None and f.bytes_read == len(b) and not sys.stdin.closed; sys.stdout.buffer.write(b)"
    )
    done = subprocess.run([sys.executable, "-c", code], input=CONTENT, capture_output=True, check=True)
    assert done.stdout == CONTENT


@pytest.mark.skipif(os.name != "posix", reason="needs locks of files")
def test_leftovers_of_killed_processes_are_removed_and_files_in_use_are_not(tmp_path, monkeypatch):
    monkeypatch.setattr("anchorless._locks.SECONDS_TO_LOCK", 0.0)
    (tmp_path / f"{TEMPORARY_PREFIX}0123.npz").write_bytes(b"half")
    with atomic_write(tmp_path / "a.txt") as temporary:
        assert [path.name for path in tmp_path.iterdir()] == [temporary.name]
        remove_leftover_files.cache_clear()
        remove_leftover_files(tmp_path)
        temporary.write_text("whole")
    assert (tmp_path / "a.txt").read_text() == "whole"


def test_a_read_only_disk_is_named_although_it_refuses_to_remove_files_that_are_not_there(tmp_path, monkeypatch):
    def refuse(path, *args, **kwargs):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), os.fspath(path))

    monkeypatch.setattr(files, "create_locked", refuse)
    monkeypatch.setattr(_file_groups, "create_locked", refuse)
    monkeypatch.setattr(os, "unlink", refuse)
    with (
        pytest.raises(InputError, match=r"cannot write .*a\.html: the disk is read-only"),
        atomic_write(tmp_path / "a.html"),
    ):
        pass
    with (
        pytest.raises(InputError, match=r"cannot write .*a\.npz: the disk is read-only"),
        atomic_write_group([tmp_path / "a.npz", tmp_path / "a.vocab.txt"]),
    ):
        pass


def test_the_target_of_a_broken_link_is_named(tmp_path):
    (tmp_path / "a.csv").symlink_to("gone.csv")
    with pytest.raises(InputError, match=r"a\.csv: there is no such file; it is a link to gone\.csv$"):
        hash_file(tmp_path / "a.csv")
