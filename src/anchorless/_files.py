"""Files at the border: opened with their bytes counted and hashed, written beside their place and renamed."""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import os
import secrets
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

from anchorless.errors import InputError

GZIP_MAGIC = b"\x1f\x8b"
#: Bytes asked of a file at a time.
BUFFER_SIZE = 1 << 18

READ_ERRORS = {
    errno.ENOENT: "there is no such file",
    errno.ENOTDIR: "there is no such file",
    errno.EISDIR: "it is a folder, where one file is needed",
    errno.EACCES: "you have no permission to read it",
    errno.EPERM: "you have no permission to read it",
    errno.ENAMETOOLONG: "no file can have so long a name",
}
WRITE_ERRORS = {
    errno.ENOENT: "its folder does not exist; create it first",
    errno.ENOTDIR: "what should be its folder is a file; choose another place",
    errno.EISDIR: "it is a folder; name a file",
    errno.EACCES: "you have no permission to write there; choose another place",
    errno.EPERM: "you have no permission to write there; choose another place",
    errno.EROFS: "the disk is read-only; choose another place",
    errno.ENOSPC: "the disk is full; free some space or choose another place",
    errno.EDQUOT: "your disk quota is used up; free some space or choose another place",
    errno.EFBIG: "the file would grow beyond the limit of this disk or session; choose another place",
    errno.ENAMETOOLONG: "no file can have so long a name; choose a shorter one",
}


def make_read_error(error: OSError, name: str) -> InputError:
    """Return the error that says why a file cannot be read."""
    return InputError(f"cannot read {name}: {READ_ERRORS.get(error.errno or 0, error.strerror or error)}")


def make_write_error(error: OSError, path: Path) -> InputError:
    """Return the error that says why a file cannot be written, and the way out."""
    return InputError(f"cannot write {path}: {WRITE_ERRORS.get(error.errno or 0, error.strerror or error)}")


@contextmanager
def atomic_write(path: str | os.PathLike[str], *, force: bool = False) -> Iterator[Path]:
    """Yield a temporary file in the folder of `path`, and rename it to `path` when the block ends well.

    Whoever looks at `path` sees the old file or the whole new one. When the block raises (Ctrl-C too),
    the temporary file is removed and `path` is left as it was.
    """
    target = Path(os.path.realpath(path))  # through a link: what it points to is replaced, not the link
    validate_target(target, force)
    # The ending stays: numpy and others append theirs to a name without it.
    temporary = target.with_name(f".anchorless-{secrets.token_hex(6)}{target.suffix}")
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))  # no permission? then now, not later
        yield temporary
        validate_target(target, force)  # the block may have taken hours
        sync_file(temporary)
        os.replace(temporary, target)
    except OSError as error:
        if error.errno not in WRITE_ERRORS or error.filename not in (None, temporary, str(temporary)):
            raise  # about another file, which the block read
        raise make_write_error(error, target) from error
    finally:
        temporary.unlink(missing_ok=True)


def validate_target(target: Path, force: bool) -> None:
    """Refuse a target that is no plain file, or that exists while `force` is not given."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise make_write_error(error, target) from error
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "no ordinary file"
        raise InputError(f"cannot write {target}: it is {kind}; name a file")
    if not force:
        raise InputError(f"{target} exists already; pass force=True or --force to replace it, or choose another name")


def sync_file(path: Path) -> None:
    """Wait until a file's bytes are on the disk: a rename alone can survive a power cut that its bytes do not."""
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


class Readable(Protocol):
    """What bytes are pulled from: a file, a pipe, gzip."""

    def read(self, size: int, /) -> bytes | None:
        """Return up to `size` further bytes."""


class ByteStream(io.RawIOBase):
    """Bytes read once from front to end, whose first ones can be looked at beforehand.

    `ahead` are bytes that come before those of the source.
    """

    def __init__(self, source: Readable, name: str, ahead: bytes = b"") -> None:
        self.source, self.name, self.lookahead = source, name, ahead

    def readable(self) -> bool:
        """Say yes, for io.BufferedReader."""
        return True

    def read_source(self, size: int) -> bytes:
        """Return up to `size` further bytes of the source, none at its end."""
        try:
            return self.source.read(size) or b""
        except EOFError:
            raise InputError(
                f"{self.name} is cut off: its gzip data end too early; fetch or copy the file again"
            ) from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise InputError(f"{self.name} is damaged: its gzip data do not unpack ({error}); fetch it again") from None
        except OSError as error:
            raise make_read_error(error, self.name) from error

    def peek(self, size: int) -> bytes:
        """Return the first `size` bytes that are still to be read, without taking them."""
        while len(self.lookahead) < size and (more := self.read_source(size - len(self.lookahead))):
            self.lookahead += more
        return self.lookahead[:size]

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer with what was looked at, then with what follows."""
        piece = self.lookahead[: len(buffer)] or self.read_source(len(buffer))
        self.lookahead = self.lookahead[len(piece) :]
        buffer[: len(piece)] = piece
        return len(piece)


class HashingStream(ByteStream):
    """A stream that counts and hashes the bytes it pulls."""

    def __init__(self, source: Readable, name: str) -> None:
        super().__init__(source, name)
        self.count = 0
        self.digest = hashlib.sha256()
        self.at_end = False

    def read_source(self, size: int) -> bytes:
        """Return up to `size` further bytes, counted and hashed."""
        piece = super().read_source(size)
        self.count += len(piece)
        self.digest.update(piece)
        self.at_end = not piece
        return piece


class InputFile:
    """An open file or stdin. `stream` gives its bytes, unpacked if they are gzip, whatever the file is called."""

    def __init__(self, source: IO[bytes], name: str, path: Path | None) -> None:
        self.source, self.name = source, name
        self.raw = HashingStream(source, name)
        self.compressed = self.raw.peek(len(GZIP_MAGIC)) == GZIP_MAGIC
        self.path = path if path is not None and path.is_file() else None  # None: a pipe, cannot be read twice
        self.bytes_total = self.path.stat().st_size if self.path else None
        self.stream: ByteStream = self.raw
        if self.compressed:
            # Looked at in pieces of our size: gzip alone asks for 8 kB at a time.
            packed = io.BufferedReader(self.raw, BUFFER_SIZE)
            self.stream = ByteStream(gzip.GzipFile(fileobj=packed, mode="rb"), name)

    @property
    def bytes_read(self) -> int:
        """Bytes taken from the disk or the pipe so far, before unpacking."""
        return self.raw.count

    def sha256(self) -> str:
        """Return the hash of the whole file as it is on disk: the end of the stream must have been reached."""
        if not self.raw.at_end:
            raise InputError(f"{self.name} was not read to its end, so its hash is not known")
        return self.raw.digest.hexdigest()

    def close(self) -> None:
        """Close the file; stdin stays open, it is not ours."""
        if self.source is not getattr(sys.stdin, "buffer", None):
            self.source.close()


def open_input(path: str | os.PathLike[str]) -> InputFile:
    """Open a file, or stdin for "-", to be read once from front to end."""
    if os.fspath(path) == "-":
        return InputFile(sys.stdin.buffer, "stdin", None)
    try:
        source = open(path, "rb", buffering=0)  # noqa: SIM115 - closed by InputFile.close
    except OSError as error:
        raise make_read_error(error, os.fspath(path)) from error
    except ValueError as error:  # a NUL in the name
        raise InputError(f"cannot read {os.fspath(path)!r}: {error}") from error
    try:
        return InputFile(source, os.fspath(path), Path(path))
    except BaseException:
        source.close()
        raise
