"""Archives of texts, zip and tar: every member that is a document is read in memory, and nothing is unpacked to disk.

Names of members are never used as paths. What an archive unpacks to is bounded, whatever sizes it declares.
"""

from __future__ import annotations

import io
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import IO, Any

from anchorless._corpus.io.batches import Chunk, SkipLog
from anchorless._corpus.io.decoding import check_encoding
from anchorless._corpus.io.files import FileDocument, FileTally, LimitError, read_documents
from anchorless._corpus.io.formats import MAIL_KINDS, get_document_kind
from anchorless._corpus.io.mail import FIELDS
from anchorless._corpus.io.plain import make_document_chunks
from anchorless._corpus.io.zip_files import ZIP_ERRORS, open_zip, open_zipped
from anchorless._files import BUFFER_SIZE, ByteStream, InputFile, hash_file
from anchorless.errors import InputError

ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
#: "ustar" stands here in the first block of a tar archive.
TAR_MAGIC, TAR_MAGIC_AT, TAR_BLOCK = b"ustar", 257, 512
#: An archive may unpack to this many bytes, or to this many times its size; text is rarely packed ten times smaller.
MAX_UNPACKED, MAX_RATIO = 1 << 30, 200
#: Bytes of a header with a long name, and of all headers that hold for the members after them: tarfile reads any size
#: into memory, and goes through the latter for each member.
MAX_TAR_HEADER, MAX_GLOBAL_HEADERS = 1 << 20, 1 << 12
#: Further reads at the end of a file that are none of a mistaken length.
MAX_READS_AT_END = 100
#: What a damaged archive can raise while it is read.
ARCHIVE_ERRORS = (*ZIP_ERRORS, tarfile.TarError)


class Budget:
    """The bytes that an archive may unpack to."""

    def __init__(self, name: str, size: int | None) -> None:
        self.name, self.limit = name, max(MAX_UNPACKED, MAX_RATIO * (size or 0))
        self.n_bytes = 0

    def spend(self, n: int) -> None:
        """Count bytes; an error beyond the limit."""
        self.n_bytes += n
        if self.n_bytes > self.limit:
            problem = f"{self.name} unpacks to more than {self.limit:,} bytes"
            raise LimitError(problem, remedy="if that is right, unpack it and give the folder")


class MemberFile:
    """The bytes of a member, with the errors of its archive as InputError."""

    def __init__(self, file: Any, budget: Budget) -> None:
        self.file, self.budget = file, budget
        self.n_beyond = 0  # reads at the end: tarfile looks for a member of 2^80 bytes as long as it could be there

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes."""
        try:
            piece: bytes = self.file.read(size)
        except InputError:
            raise
        except ARCHIVE_ERRORS as error:
            raise InputError(f"it does not unpack ({error or type(error).__name__})") from None
        self.n_beyond += not piece
        if self.n_beyond > MAX_READS_AT_END:
            raise EOFError("it is cut off, or declares a member that it does not have")
        self.budget.spend(len(piece))
        return piece


class CheckedTarInfo(tarfile.TarInfo):
    """A member whose header is refused if it is too long to be a name."""

    def _proc_member(self, archive: Any) -> Any:
        if self.type in (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, *tarfile.GNU_TYPES[:2]) and (
            self.size > MAX_TAR_HEADER or self.size < 0
        ):
            raise tarfile.ReadError(f"a header of {self.size:,} bytes")
        if self.type == tarfile.XGLTYPE:
            archive.n_global = getattr(archive, "n_global", 0) + self.size
            if archive.n_global > MAX_GLOBAL_HEADERS:
                raise tarfile.ReadError(f"headers of {archive.n_global:,} bytes that hold for all members")
        return super()._proc_member(archive)  # type: ignore[misc]


class ArchiveInput:
    """A zip or tar archive; a zip archive from a pipe is copied to a temporary file, since it is not read in order."""

    def __init__(self, file: InputFile, encoding: str) -> None:
        check_encoding(encoding)
        self.file, self.name, self.encoding = file, file.name, encoding
        self.bytes_total = file.bytes_total
        self.tally = FileTally("archive")
        self.budget = Budget(file.name, file.bytes_total)
        self.is_zip = file.stream.peek(4) in ZIP_MAGIC
        self.share_read = 0.0
        self.seekable_file: IO[bytes] | None = None

    @property
    def bytes_read(self) -> int:
        """Bytes read so far: of a zip archive by the members."""
        return self.file.bytes_read if not self.is_seeking else round((self.bytes_total or 0) * self.share_read)

    @property
    def is_seeking(self) -> bool:
        """Whether the file itself is read in another order than from start to end."""
        return self.is_zip and self.file.path is not None and not self.file.compressed

    def sha256(self) -> str:
        """Return the hash of the file as it is on disk."""
        if self.is_seeking and self.file.path is not None:
            return hash_file(self.file.path)
        return self.file.sha256()

    def close(self) -> None:
        """Close the file and remove the temporary one."""
        self.file.close()
        if self.seekable_file is not None:
            self.seekable_file.close()

    def describe(self) -> list[str]:
        """Return sentences about what was read and what not."""
        return self.tally.describe()

    def chunks(self, skips: SkipLog) -> Iterator[Chunk]:
        """Yield the members as documents; their ids are their names."""
        try:
            if self.is_zip:
                yield from self._read_zip(skips)
            else:
                yield from make_document_chunks(self._read_tar(skips), skips, None)
                while self.file.stream.read(BUFFER_SIZE):  # to the end, for the hash
                    pass
        except InputError:
            raise
        except ARCHIVE_ERRORS as error:
            raise InputError(f"{self.name} is a damaged archive ({error}); copy it again") from None

    def _read_zip(self, skips: SkipLog) -> Iterator[Chunk]:
        """Yield the members of a zip archive in the order of their names."""
        with open_zip(self._open_seekable(), self.name) as archive:
            members = sorted(
                (info for info in archive.infolist() if info.filename and not info.is_dir()),
                key=lambda info: info.filename,
            )
            kinds = {get_document_kind(info.filename) for info in members}

            def documents() -> Iterator[FileDocument]:
                for number, info in enumerate(members, 1):
                    self.share_read = number / len(members)

                    def open_zip_member(info: zipfile.ZipInfo = info) -> IO[bytes]:
                        return open_zipped(archive, info)

                    yield from self._read_member(info.filename, open_zip_member, skips)

            fields = FIELDS if kinds & {*MAIL_KINDS} else ()
            yield from make_document_chunks(documents(), skips, fields)

    def _open_seekable(self) -> IO[bytes]:
        """Return the archive as a file that can be read in any order."""
        if self.is_seeking and self.file.path is not None:
            self.seekable_file = open(self.file.path, "rb")  # noqa: SIM115 closed by close
            return self.seekable_file
        self.seekable_file = tempfile.TemporaryFile()  # noqa: SIM115 closed by close
        shutil.copyfileobj(io.BufferedReader(self.file.stream, BUFFER_SIZE), self.seekable_file, BUFFER_SIZE)
        self.seekable_file.seek(0)
        return self.seekable_file

    def _read_tar(self, skips: SkipLog) -> Iterator[FileDocument]:
        """Yield the members of a tar archive in their order."""
        source: Any = MemberFile(self.file.stream, self.budget)
        with tarfile.open(fileobj=source, mode="r|", tarinfo=CheckedTarInfo, errorlevel=0) as archive:
            for info in archive:
                archive.members = []  # type: ignore[attr-defined]  # or it would keep the headers of all members
                if not info.isreg():
                    if not info.isdir():
                        skips.add("no file", clean_name(info.name))
                    continue

                def open_tar_member(info: tarfile.TarInfo = info) -> IO[bytes]:
                    return archive.extractfile(info) or io.BytesIO()

                yield from self._read_member(info.name, open_tar_member, skips)

    def _read_member(self, name: str, open_member: Callable[[], IO[bytes]], skips: SkipLog) -> Iterator[FileDocument]:
        """Yield the documents of a member."""
        parts = PurePosixPath(name).parts
        if any(part.startswith(".") and part not in (".", "..") for part in parts) or "__MACOSX" in parts:
            return
        place = clean_name(name)
        kind = None if name.lower().endswith(".gz") else get_document_kind(name)  # packed once more
        self.tally.add(name, is_read=kind is not None)
        if kind is None:
            return
        try:
            file = open_member()
        except ARCHIVE_ERRORS as error:
            skips.add("unreadable", place, str(error))
            return
        with file:
            # Of a tar archive the whole stream is counted.
            budget = self.budget if self.is_zip else Budget(name, None)
            stream = ByteStream(MemberFile(file, budget), place)
            yield from read_documents(kind, stream, place, self.encoding, skips)


def clean_name(name: str) -> str:
    """Return the name of a member with � for bytes that do not decode, and without leading ./."""
    return name.encode("utf-8", "replace").decode("utf-8", "replace").removeprefix("./")


def is_archive(head: bytes) -> bool:
    """Say whether a file that begins with these bytes is a zip or tar archive."""
    return head[:4] in ZIP_MAGIC or head[TAR_MAGIC_AT : TAR_MAGIC_AT + len(TAR_MAGIC)] == TAR_MAGIC
