"""Commands in forked processes, whose disk calls can be counted, and can fail, kill the process or stop it.

A fork of a process that has imported and compiled everything starts in milliseconds.
"""

import builtins
import contextlib
import errno
import io
import os
import resource
import signal
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from anchorless import _locks
from anchorless._cli import embed
from anchorless._cli.main import main as run_main
from tests.helpers.letter_encoder import LetterEncoder
from tests.helpers.planted_texts import planted_texts

#: Functions of `os` that change the disk or ask for it.
CALLS = ("open", "rename", "replace", "link", "fsync", "unlink", "remove", "rmdir", "mkdir", "chmod", "symlink")
#: Kill; ENOSPC; EIO; what is written ends after a few bytes; EIO while a file is read; SIGSTOP.
KINDS = ("kill", "full", "error", "short", "read", "stop")
#: Seconds after which a run hangs.
SECONDS = 60
#: Characters of what a command printed that are kept: a pipe holds 64 kB.
MAX_PRINTED = 5000
#: What `embed` uses instead of a model.
WITHOUT_MODEL: dict[str, Any] = {"Encoder": LetterEncoder, "TEXTS_AT_A_TIME": 16}


def run_here(folder: Path, arguments: list[str]) -> None:
    """Run a command in this process, which thereby has imported and compiled what its forks will need."""
    sink = io.StringIO()
    with (
        patch.multiple(embed, **WITHOUT_MODEL),
        contextlib.chdir(folder),
        contextlib.redirect_stdout(sink),
        contextlib.redirect_stderr(sink),
    ):
        code = run_main(arguments)
    assert code == 0, (arguments, sink.getvalue())


class BrokenFile(io.FileIO):
    """A file on a disk that cannot be read."""

    def readinto(self, buffer: Any) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def read(self, size: int | None = -1) -> bytes:  # type: ignore[override]
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    readall = read  # type: ignore[assignment]


class DiskFault:
    """Let the n-th disk call of this process fail; count the calls."""

    def __init__(self, number: int, kind: str) -> None:
        self.number, self.kind, self.count = number, kind, 0

    def strike(self) -> bool:
        """Count a call, and fail if it is the one; tell whether the file must not be readable."""
        self.count += 1
        if self.count != self.number:
            return False
        if self.kind in ("kill", "stop"):
            os.kill(os.getpid(), signal.SIGKILL if self.kind == "kill" else signal.SIGSTOP)
        elif self.kind == "short":  # what is written from now on ends after a few bytes
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
        elif self.kind != "read":
            number = errno.ENOSPC if self.kind == "full" else errno.EIO
            raise OSError(number, os.strerror(number))
        return self.kind == "read"

    def install(self) -> None:
        """Count calls of `os` and files that are opened; those for reading only where that matters."""
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        if self.kind != "read":
            for name in CALLS:
                setattr(os, name, self.wrap(getattr(os, name)))
        opened = io.open

        def open_file(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
            is_writing = bool(set(mode) & set("wax+"))
            is_counted = self.kind != "read" if is_writing else self.kind in ("read", "error", "stop")
            if is_counted and self.strike():
                broken = io.BufferedReader(BrokenFile(file))
                return broken if "b" in mode else io.TextIOWrapper(broken)
            return opened(file, mode, *args, **kwargs)

        builtins.open = io.open = open_file  # type: ignore[assignment]

    def wrap(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function of `os` that counts its calls."""

        def counted(*args: Any, **kwargs: Any) -> Any:
            self.strike()
            return call(*args, **kwargs)

        return counted


class Running(NamedTuple):
    """A command in a process of its own."""

    process: int
    pipe: int  # what it prints, and how many disk calls it made; not a file, whose length a fault may limit


class Ended(NamedTuple):
    """How a command ended."""

    code: int  # 128 + signal for a kill
    n_calls: int
    printed: str


def start_command(
    folder: Path, arguments: list[str], number: int = 0, kind: str = "kill", delay: float = 0.0
) -> Running:
    """Run a command in a folder, with a fault at a disk call."""
    pipe, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code, fault, log = 99, DiskFault(number, kind), io.StringIO()
        try:
            os.chdir(folder)
            _locks.SECONDS_TO_LOCK, _locks.LOCK_SECONDS = -1.0, 1.0  # killed milliseconds ago is killed, too
            signal.alarm(SECONDS)
            time.sleep(delay)
            patch.multiple(embed, **WITHOUT_MODEL).start()
            with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
                fault.install()
                code = run_main(arguments)
        except BaseException:
            log.write(traceback.format_exc())
        finally:
            os.write(writer, f"{log.getvalue()[-MAX_PRINTED:]}\n{fault.count}".encode(errors="replace"))
            os._exit(code)
    os.close(writer)
    return Running(child, pipe)


def finish_command(running: Running) -> Ended:
    """Wait until a command ends."""
    status = os.waitpid(running.process, 0)[1]
    with open(running.pipe, encoding="utf-8", errors="replace") as file:
        printed, _, count = file.read().rpartition("\n")
    code = 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    return Ended(code, int(count) if count.isdecimal() else 0, printed)


def run_forked(folder: Path, arguments: list[str], number: int = 0, kind: str = "kill") -> Ended:
    """Run a command in a folder, with a fault at a disk call, until it ends."""
    return finish_command(start_command(folder, arguments, number, kind))


def list_names(folder: Path) -> list[str]:
    """Return all names below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def write_texts(path: Path, seed: int, n_documents: int = 60) -> None:
    """Write planted texts as CSV."""
    texts, labels = planted_texts(n_documents, seed, length=12)
    rows = [f'd{i},"{text}",{label},{2000 + i % 5}' for i, (text, label) in enumerate(zip(texts, labels, strict=True))]
    path.write_text("\n".join(["id,text,label,year", *rows]) + "\n")
