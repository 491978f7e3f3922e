"""Files: inputs whose bytes are counted and hashed while they are read, and outputs that appear whole or not at all."""

from __future__ import annotations

import ctypes
import errno
import functools
import gzip
import hashlib
import io
import os
import re
import secrets
import stat
import sys
import tomllib
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any

from anchorless._locks import FileState, create_locked, hold_folder, list_leftovers, release_lock
from anchorless.errors import InputError, suggest

PathLike = str | os.PathLike[str]

GZIP_MAGIC = b"\x1f\x8b"
#: Bytes of a file that a person writes: edits, a codebook, words.
MAX_SMALL_BYTES = 50 * 10**6
#: Digits of a number in such a file, or in an option: more are no count of anything, and beyond floating point.
MAX_DIGITS = 100
#: A key of TOML with 100 parts (a.b.c…): the parser's time grows with the square of their number.
LONG_KEY = re.compile(
    r"""(?:^|[{,\[])[ \t]*+(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){100}""", re.MULTILINE
)
#: Bytes read from a file at a time.
BUFFER_SIZE = 1 << 18
#: How the names of temporary files begin.
TEMPORARY_PREFIX = ".anchorless-"
#: The same of files that take their places together, and how the name of the journal of these ends.
GROUP_PREFIX, JOURNAL_SUFFIX = f"{TEMPORARY_PREFIX}group-", ".replacing"
#: Of the system calls that exchange two names: relative to the working folder, and the flag (the same on macOS).
AT_FDCWD, RENAME_EXCHANGE = -100, 2

#: Errors that say that there is no file; others are of a file that cannot be read.
NO_FILE = (FileNotFoundError, NotADirectoryError, IsADirectoryError)
READ_ERRORS = {
    **dict.fromkeys((errno.ENOENT, errno.ENOTDIR), "there is no such file"),
    errno.EISDIR: "it is a folder, but a file is needed",
    **dict.fromkeys((errno.EACCES, errno.EPERM), "you have no permission to read it"),
    errno.ENAMETOOLONG: "its name is too long",
}
#: Names of a folder that are compared with one that does not exist.
MAX_SUGGESTED_FROM = 10_000
WRITE_ERRORS = {
    errno.ENOENT: "its folder does not exist; create it first",
    errno.ENOTDIR: "its folder is a file; choose another place",
    errno.EISDIR: "it is a folder; name a file",
    **dict.fromkeys((errno.EACCES, errno.EPERM), "you have no permission to write there; choose another place"),
    errno.EROFS: "the disk is read-only; choose another place",
    errno.ENOSPC: "the disk is full; free some space or choose another place",
    errno.EDQUOT: "your disk quota is used up; free some space or choose another place",
    errno.EFBIG: "the file would grow beyond the limit of this disk or session; choose another place",
    errno.ENAMETOOLONG: "its name is too long; choose a shorter one",
}


def make_read_error(error: OSError, name: str) -> InputError:
    """Return the error that says why a file cannot be read."""
    hint = suggest_file(name) if error.errno == errno.ENOENT else ""
    return InputError(f"cannot read {name}: {READ_ERRORS.get(error.errno or 0, error.strerror or error)}{hint}")


def suggest_file(name: str) -> str:
    """Return a question for the file or folder with the nearest name in the same folder, or nothing.

    For a broken link, which has the name itself, say where it leads.
    """
    if os.path.islink(name):
        return f"; it is a link to {os.readlink(name)}"
    folder, base = os.path.split(name)
    with suppress(OSError), os.scandir(folder or ".") as entries:
        names = [entry.name for entry in islice(entries, MAX_SUGGESTED_FROM) if not entry.name.startswith(".")]
        return suggest(base, sorted(names))
    return ""


def make_write_error(error: OSError, path: Path) -> InputError:
    """Return the error that says why a file cannot be written, and what to do."""
    return InputError(f"cannot write {path}: {WRITE_ERRORS.get(error.errno or 0, error.strerror or error)}")


def hash_file(path: PathLike) -> str:
    """Return the SHA-256 of a file."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise make_read_error(error, os.fspath(path)) from error


def read_small_text(path: PathLike) -> str:
    """Return the text of a file that a person wrote, such as a list of edits; refuse one that is far too large."""
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_SMALL_BYTES + 1)
        if len(content) > MAX_SMALL_BYTES:
            raise InputError(
                f"cannot read {name}: it has more than {MAX_SMALL_BYTES // 10**6} MB; is it the right file?"
            )
        return content.decode("utf-8-sig")
    except OSError as error:
        raise make_read_error(error, str(name)) from error
    except UnicodeDecodeError:
        raise InputError(f"{name} is not UTF-8", remedy="save it as UTF-8") from None
    except InputError:
        raise
    except ValueError as error:  # a NUL in the name
        raise InputError(f"cannot read {name!r}: {error}") from error


def parse_toml(text: str) -> dict[str, Any]:
    """Return what a text in TOML says; a ValueError tells what is wrong with it."""
    if LONG_KEY.search(text):
        raise ValueError("a key has 100 parts or more")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise ValueError("its lists or tables are nested too deeply") from None
    except ValueError:  # of `int`
        raise ValueError("a number has thousands of digits") from None


def is_number(text: str) -> bool:
    """Tell whether a text is a whole number, not negative, that can be converted."""
    return text.isdecimal() and len(text) <= MAX_DIGITS


def refuse_special_file(path: PathLike) -> None:
    """Raise FileNotFoundError where a file that may lie beside another is a pipe or a device: reading may never end."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))


@contextmanager
def atomic_write(path: PathLike, *, force: bool = False, made_from: FileState | None = None) -> Iterator[Path]:
    """Yield a temporary file in the folder of `path`, and rename it to `path` when the block ends without an error.

    A reader of `path` sees the old file or the whole new one. When this returns, the file is on the disk. If
    `made_from`, a file in the same folder, is no longer the same, nothing is written: another run was faster.
    """
    target = Path(os.path.realpath(path))  # replaces the file that a link points to, not the link
    validate_target(target, force)
    remove_leftover_files(target.parent)
    # With the same extension: numpy and others append theirs to a name without it.
    temporary = target.with_name(f"{TEMPORARY_PREFIX}{secrets.token_hex(6)}{target.suffix}")
    lock = None
    try:
        lock = create_locked(temporary)  # fails before the work, not after it
        yield temporary
        validate_target(target, force)  # again: the block may have taken hours
        sync_file(temporary)
        with nullcontext() if made_from is None else hold_folder(target.parent):
            if made_from is not None:
                made_from.refuse_change()
            put_in_place(temporary, target, force)
        sync_folder(target.parent)
    except OSError as error:
        if error.errno not in WRITE_ERRORS or error.filename not in (None, temporary, str(temporary)):
            raise  # about another file, which the block read
        raise make_write_error(error, target) from error
    finally:
        with suppress(OSError):  # on a read-only disk this is refused also where no file is, and would hide the error
            temporary.unlink()
        release_lock(lock)


def put_in_place(temporary: Path, target: Path, force: bool) -> None:
    """Give a file its name; without `force`, unless another process has just given it to a file of its own."""
    if not force:
        try:
            os.link(temporary, target)
            return
        except FileExistsError:
            validate_target(target, force)
        except OSError:  # a disk without links
            pass
    os.replace(temporary, target)


@functools.lru_cache(maxsize=1000)  # once for each folder: a store writes thousands of files into one
def remove_leftover_files(folder: Path) -> None:
    """Remove temporary files that killed processes left in a folder."""
    is_needed = any(folder.glob(f".*{JOURNAL_SUFFIX}"))  # then a killed process has not yet replaced all of a group
    for path, lock in list_leftovers(folder, f"{TEMPORARY_PREFIX}*"):
        with suppress(OSError):
            if not (is_needed and path.name.startswith(GROUP_PREFIX)):
                path.unlink()
        release_lock(lock)


def exchange_folders(first: Path, second: Path) -> bool:
    """Exchange two folders in one step that a kill or a power cut cannot divide; tell whether the system can."""
    libc: Any = ctypes.CDLL(None) if os.name == "posix" else None
    names = os.fsencode(first), os.fsencode(second)
    if hasattr(libc, "renameat2"):
        return bool(libc.renameat2(AT_FDCWD, names[0], AT_FDCWD, names[1], RENAME_EXCHANGE) == 0)
    if hasattr(libc, "renamex_np"):  # macOS
        return bool(libc.renamex_np(*names, RENAME_EXCHANGE) == 0)
    return False


def validate_target(target: Path, force: bool) -> None:
    """Refuse a target that is not a regular file, that exists while `force` is not given, or has no usable folder."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError as error:
        if not target.parent.is_dir():
            raise make_write_error(error, target) from error
        if not os.access(target.parent, os.W_OK | os.X_OK):
            number = errno.EROFS if is_read_only(target.parent) else errno.EACCES
            raise make_write_error(OSError(number, os.strerror(number)), target) from error
        return
    except OSError as error:
        raise make_write_error(error, target) from error
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a device or pipe"
        raise InputError(f"cannot write {target}: it is {kind}; name a file")
    if not force:
        raise InputError(f"{target} exists already", remedy="pass {force} to replace it, or choose another name")


def is_read_only(folder: Path) -> bool:
    """Tell whether a folder is on a disk that is read-only, where the system says that (Windows does not)."""
    return hasattr(os, "statvfs") and bool(os.statvfs(folder).f_flag & os.ST_RDONLY)


def sync_file(path: Path) -> None:
    """Wait until the content of a file is on the disk: after a power cut its name may be there without its content."""
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, where the system can open folders (Windows cannot)."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a network disk that cannot
            raise
    finally:
        os.close(handle)


class ByteStream(io.RawIOBase):
    """Bytes that are read once, from start to end, and can be peeked at; those of `ahead` come first.

    `digest` is updated with the bytes of the source, which are counted in `count`.
    """

    def __init__(self, source: Any, name: str, ahead: bytes = b"", digest: Any = None) -> None:
        self.source, self.name, self.lookahead, self.digest = source, name, ahead, digest
        self.count, self.at_end = 0, False

    def readable(self) -> bool:
        """Return True, as io.BufferedReader requires."""
        return True

    def read_source(self, size: int) -> bytes:
        """Return up to `size` further bytes of the source; no bytes at its end."""
        try:
            piece: bytes = self.source.read(size) or b""
        except EOFError:
            raise InputError(f"{self.name} is cut off: its gzip data end too early; copy the file again") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise InputError(f"{self.name} is damaged: its gzip data do not unpack ({error}); copy it again") from None
        except OSError as error:
            raise make_read_error(error, self.name) from error
        self.count += len(piece)
        self.at_end = not piece
        if self.digest:
            self.digest.update(piece)
        return piece

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes without consuming them."""
        while len(self.lookahead) < size and (more := self.read_source(size - len(self.lookahead))):
            self.lookahead += more
        return self.lookahead[:size]

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer with the bytes that were peeked at, then with those of the source."""
        piece = self.lookahead[: len(buffer)] or self.read_source(len(buffer))
        self.lookahead = self.lookahead[len(piece) :]
        buffer[: len(piece)] = piece
        return len(piece)


class InputFile(AbstractContextManager["InputFile"]):
    """An open file or stdin. `stream` has its bytes, decompressed if they are gzip, whatever the file is called."""

    def __init__(self, source: IO[bytes], name: str, path: Path | None) -> None:
        self.source, self.name = source, name
        self.raw = ByteStream(source, name, digest=hashlib.sha256())
        self.compressed = self.raw.peek(len(GZIP_MAGIC)) == GZIP_MAGIC
        self.path = path if path is not None and path.is_file() else None  # None: a pipe, cannot be read twice
        self.bytes_total = self.path.stat().st_size if self.path else None
        self.stream: ByteStream = self.raw
        if self.compressed:
            packed = io.BufferedReader(self.raw, BUFFER_SIZE)  # gzip itself reads 8 kB at a time
            self.stream = ByteStream(gzip.GzipFile(fileobj=packed, mode="rb"), name)

    @property
    def bytes_read(self) -> int:
        """Bytes read from the disk or the pipe so far, before decompression."""
        return self.raw.count

    def sha256(self) -> str:
        """Return the hash of the whole file as it is on disk: the end of the stream must have been reached."""
        if not self.raw.at_end:
            raise InputError(f"{self.name} was not read to its end, so its hash is not known; read all of it first")
        return str(self.raw.digest.hexdigest())

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; stdin stays open."""
        if self.source is not getattr(sys.stdin, "buffer", None):
            self.source.close()


def open_input(path: PathLike) -> InputFile:
    """Open a file, or stdin for "-", to be read once from start to end."""
    if os.fspath(path) == "-":
        if sys.stdin is None:
            raise InputError("stdin is closed; give a file with texts")
        return InputFile(sys.stdin.buffer, "stdin", None)
    try:
        source = open(path, "rb", buffering=0)  # noqa: SIM115 closed by InputFile.close
    except OSError as error:
        raise make_read_error(error, os.fspath(path)) from error
    except ValueError as error:  # a NUL in the name
        raise InputError(f"cannot read {os.fspath(path)!r}: {error}") from error
    try:
        return InputFile(source, os.fspath(path), Path(path))
    except BaseException:
        source.close()
        raise
