"""Archives of texts give what a folder of the same files gives, and hostile ones are refused in bounded memory."""

import gzip
import io
import tarfile
import zipfile

import pytest

from anchorless._corpus.io import archives, zip_files
from anchorless._corpus.io.readers import open_texts
from anchorless.errors import InputError
from tests.helpers.text_files import make_docx, make_mail, make_tar, make_zip

FILES = {
    "b.txt": b"two\nlines",
    "a/x.md": b"# one",
    "c.docx": make_docx(["three"]),
    "d.eml": make_mail("four"),
    "e.png": b"\x89PNG",
    ".hidden.txt": b"hidden",
    "__MACOSX/b.txt": b"resource",
}
MAKERS = {"a.zip": make_zip, "a.tar": make_tar, "a.tar.gz": lambda files: make_tar(files, "w:gz"), "a.tgz": make_tar}


def read(path, **options):
    with open_texts(path, **options) as source:
        found = {
            row["id"]: text
            for batch in source
            for row, text in zip(batch.other_columns.to_pylist(), batch.texts.to_pylist(), strict=True)
        }
        return found, source


@pytest.mark.parametrize("name", MAKERS)
def test_an_archive_is_read_like_the_folder_that_it_holds(tmp_path, name):
    (tmp_path / name).write_bytes(MAKERS[name](FILES))
    folder = tmp_path / "folder"
    for file, content in FILES.items():
        if not file.startswith("__"):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(content)
    found, source = read(tmp_path / name)
    expected, in_folder = read(folder)
    assert found == expected
    assert source.describe_reading() == in_folder.describe_reading()
    assert source.format == "archive"
    assert source.bytes_read == source.bytes_total == (tmp_path / name).stat().st_size
    assert len(source.sha256()) == 64


def test_a_table_in_an_archive_is_to_be_unpacked(tmp_path):
    (tmp_path / "a.zip").write_bytes(MAKERS["a.zip"]({"one.txt": b"a text", "two.csv": b"text\nanother"}))
    _, source = read(tmp_path / "a.zip")
    assert "unpack and name them instead of the archive" in source.describe_reading()[0]


@pytest.mark.parametrize("name", ["a.zip", "a.tar"])
def test_names_of_members_are_never_paths(tmp_path, name):
    (tmp_path / name).write_bytes(MAKERS[name]({"../../up.txt": b"up", "/etc/abs.txt": b"abs"}))
    found, _ = read(tmp_path / name)
    assert sorted(found.values()) == ["abs", "up"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [name]


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz"])
def test_what_unpacks_without_end_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.setattr(archives, "MAX_UNPACKED", 1 << 20)
    files = {f"{n}.txt": b"word " * 100_000 for n in range(8)}
    (tmp_path / name).write_bytes(MAKERS[name](files))
    monkeypatch.setattr(archives, "MAX_RATIO", 10)
    with pytest.raises(InputError, match="unpacks to more than"):
        read(tmp_path / name)


def test_links_and_devices_in_a_tar_archive_are_skipped(tmp_path):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, kind in (
            ("link.txt", tarfile.SYMTYPE),
            ("device.txt", tarfile.CHRTYPE),
            ("hard.txt", tarfile.LNKTYPE),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
        info = tarfile.TarInfo("a.txt")
        info.size = 4
        archive.addfile(info, io.BytesIO(b"text"))
    (tmp_path / "a.tar").write_bytes(stream.getvalue())
    found, source = read(tmp_path / "a.tar")
    assert found == {"a.txt": "text"}
    assert source.skipped.counts == {"no file": 3}


def test_a_header_of_a_tar_archive_that_is_too_long_is_refused(tmp_path):
    info = tarfile.TarInfo("a.txt")
    info.type, info.size = tarfile.XHDTYPE, 1 << 33
    (tmp_path / "a.tar").write_bytes(info.tobuf() + b"\0" * 2048)
    with pytest.raises(InputError, match=r"header of|holds no documents|damaged"):
        read(tmp_path / "a.tar")


@pytest.mark.parametrize("content", [b"PK\x03\x04" + b"x" * 100, make_zip({"a.txt": "x"})[:-10]])
def test_a_damaged_archive_is_an_error(tmp_path, content):
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(InputError, match="damaged archive"):
        read(tmp_path / "a.zip")


def test_a_member_that_is_damaged_is_skipped(tmp_path):
    content = bytearray(make_zip({"a.txt": "a text of some length " * 20, "b.txt": "another"}))
    content[45] ^= 0xFF
    (tmp_path / "a.zip").write_bytes(bytes(content))
    found, source = read(tmp_path / "a.zip")
    assert found == {"b.txt": "another"}
    assert sum(source.skipped.counts.values()) == 1


@pytest.mark.parametrize("place", [4, 12])  # the properties of the packed data, and the data
def test_a_member_whose_lzma_is_damaged_is_skipped(tmp_path, place):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.txt", "a text of some length " * 20)
    with zipfile.ZipFile(stream, "a") as archive:
        archive.writestr("b.txt", "another")
    content = bytearray(stream.getvalue())
    place += content.index(b"a.txt") + len("a.txt")
    content[place : place + 8] = b"\xff" * 8
    (tmp_path / "a.zip").write_bytes(bytes(content))
    found, source = read(tmp_path / "a.zip")
    assert found == {"b.txt": "another"}
    assert sum(source.skipped.counts.values()) == 1


def test_a_member_is_not_unpacked_if_that_takes_much_memory_whatever_its_size(tmp_path):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.txt", "a text of some length " * 20)
        archive.writestr("b.txt", "another")
    content = bytearray(stream.getvalue())
    place = content.index(b"a.txt") + len("a.txt") + 5
    content[place : place + 4] = b"\xff" * 4  # the size of the dictionary
    (tmp_path / "a.zip").write_bytes(bytes(content))
    found, source = read(tmp_path / "a.zip")
    assert found == {"b.txt": "another"}
    assert "needs 4,294,967,295 bytes of memory" in next(iter(source.skipped.details["unreadable"]))


def test_a_list_of_members_that_is_too_long_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(zip_files, "MAX_LIST", 1000)
    (tmp_path / "a.zip").write_bytes(make_zip({f"{n}.txt": "x" for n in range(100)}))
    with pytest.raises(InputError, match=r"a\.zip has a list of members of 5,190 bytes; at most 1,000 are read"):
        read(tmp_path / "a.zip")


def make_pax(kind, **records):
    """Return a tar archive of one text after a header with records."""
    info = tarfile.TarInfo("a.txt")
    info.size = 4
    header = tarfile.TarInfo._create_pax_generic_header(records, kind, "utf-8")
    return header + info.tobuf() + b"text".ljust(512, b"\0") + b"\0" * 1024


@pytest.mark.parametrize(
    ("name", "value"), [("GNU.sparse.size", "x"), ("GNU.sparse.map", "1,2,x"), ("GNU.sparse.size", "9" * 5000)]
)
def test_numbers_in_headers_that_are_none_are_an_error(tmp_path, name, value):
    (tmp_path / "a.tar").write_bytes(make_pax(tarfile.XHDTYPE, **{name: value}))
    with pytest.raises(InputError, match="damaged archive"):
        read(tmp_path / "a.tar")


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz"])
@pytest.mark.parametrize("size", ["9" * 23, "9" * 12])
def test_a_member_far_beyond_the_end_is_not_looked_for(tmp_path, name, size):
    content = make_pax(tarfile.XHDTYPE, size=size)
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    with pytest.raises(InputError, match=r"damaged archive \(it is cut off, or declares a member"):
        read(tmp_path / name)


def test_long_headers_that_hold_for_all_members_are_refused(tmp_path):
    (tmp_path / "a.tar").write_bytes(make_pax(tarfile.XGLTYPE, comment="x" * 100))
    assert read(tmp_path / "a.tar")[0] == {"a.txt": "text"}
    (tmp_path / "b.tar").write_bytes(make_pax(tarfile.XGLTYPE, **{f"k{n}": "x" for n in range(1000)}))
    with pytest.raises(InputError, match="hold for all members"):
        read(tmp_path / "b.tar")
