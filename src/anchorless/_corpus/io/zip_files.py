"""Zip files of strangers: archives of texts, Word files and spreadsheets, opened in bounded memory."""

from __future__ import annotations

import copy
import lzma
import struct
import zipfile
import zlib
from typing import IO, Any

from anchorless.errors import InputError

#: Bytes of the list of members: half a million of them, for each of which Python needs half a kilobyte.
MAX_LIST = 1 << 25
#: Bytes that a member packed by LZMA may ask for, whatever it unpacks to; 7-Zip asks for 64 MB at most by default.
MAX_DICTIONARY = 1 << 28
#: What a damaged zip file can raise. InputError is a ValueError, too: let it pass first.
ZIP_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(EOFError, NotImplementedError, RuntimeError, OSError, ValueError, IndexError, OverflowError),
)


class BoundedReads:
    """A file of which no more than MAX_LIST bytes are read at a time: the list of members is read at once."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file, self._name = file, name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes."""
        if size > MAX_LIST:
            problem = f"{self._name} has a list of members of {size:,} bytes; at most {MAX_LIST:,} are read"
            raise InputError(problem, remedy="unpack it first")
        return self._file.read(size)


def open_zip(file: IO[bytes], name: str) -> zipfile.ZipFile:
    """Return a zip file whose list of members is not too long to be in memory."""
    bounded: Any = BoundedReads(file, name)
    return zipfile.ZipFile(bounded)


def open_zipped(archive: zipfile.ZipFile, member: zipfile.ZipInfo | str) -> IO[bytes]:
    """Return a member as a file; refuse one whose decompressor would need far more memory than the others."""
    info = archive.getinfo(member) if isinstance(member, str) else member
    if info.compress_type == zipfile.ZIP_LZMA:
        packed = copy.copy(info)  # as it is, for its first bytes: version, length, properties, size of the dictionary
        packed.compress_type, packed.file_size = zipfile.ZIP_STORED, info.compress_size
        del packed.CRC  # of what it unpacks to
        with archive.open(packed) as file:
            size = int.from_bytes(file.read(9)[5:], "little")
        if size > MAX_DICTIONARY:
            raise zipfile.BadZipFile(f"unpacking it needs {size:,} bytes of memory")
    return archive.open(info)
