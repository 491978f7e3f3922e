"""Faults at the n-th disk call of a command, for every n: kills, errors, short writes, errors of reading.

    python -m tests.helpers.faults --kinds kill --jobs 2

The command runs in a forked process. Afterwards its outputs must all be old or all be new, and a second run without a
fault must give the bytes of a run that nothing disturbed, without leftovers.
"""

import argparse
import builtins
import contextlib
import errno
import hashlib
import io
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from anchorless import _locks
from anchorless._cli.main import main as run_main
from anchorless._corpus.corpus import Corpus
from tests.helpers.planted_texts import planted_texts

#: Functions of `os` that change the disk or ask for it.
CALLS = ("open", "rename", "replace", "link", "fsync", "unlink", "remove", "rmdir", "mkdir", "chmod", "symlink")
KINDS = ("kill", "full", "error", "short")
#: Seconds after which a run hangs.
SECONDS = 60


class Scenario(NamedTuple):
    """A command that writes, and how to look at what it wrote."""

    name: str
    arguments: list[str]
    look: Callable[[Path], Any]  # what a user has: equal before, or equal after


class DiskFault:
    """Let the n-th disk call of this process fail; count the calls."""

    def __init__(self, number: int, kind: str) -> None:
        self.number, self.kind, self.count = number, kind, 0

    def strike(self) -> None:
        """Count a call, and fail if it is the one."""
        self.count += 1
        if self.count != self.number:
            return
        if self.kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.kind == "short":  # what is written from now on ends after a few bytes
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
            return
        number = errno.ENOSPC if self.kind == "full" else errno.EIO
        raise OSError(number, os.strerror(number))

    def install(self) -> None:
        """Count calls of `os` and files that are opened for writing; for errors of reading, also for reading."""
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        for name in CALLS:
            setattr(os, name, self.wrap(getattr(os, name)))
        opened = io.open

        def open_file(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
            if self.kind == "error" or set(mode) & set("wax+"):
                self.strike()
            return opened(file, mode, *args, **kwargs)

        builtins.open = io.open = open_file  # type: ignore[assignment]

    def wrap(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function of `os` that counts its calls."""

        def counted(*args: Any, **kwargs: Any) -> Any:
            self.strike()
            return call(*args, **kwargs)

        return counted


def run_forked(folder: Path, arguments: list[str], number: int, kind: str) -> tuple[int, int]:
    """Run a command in a folder with a fault; return its exit code, 128 + signal for a kill, and the disk calls."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code = 99
        fault = DiskFault(number, kind)
        try:
            os.chdir(folder)
            _locks.SECONDS_TO_LOCK = -1.0  # a killed process of milliseconds ago is one that was killed
            signal.alarm(SECONDS)
            sink = io.StringIO()
            with contextlib.redirect_stdout(sink), contextlib.redirect_stderr(sink):
                fault.install()
                code = run_main(arguments)
            if code == 70:
                sys.stderr.write(sink.getvalue())
        finally:
            os.write(writer, fault.count.to_bytes(4, "little"))
            os._exit(code)
    os.close(writer)
    status = os.waitpid(child, 0)[1]
    count = int.from_bytes(os.read(reader, 4), "little")
    os.close(reader)
    return (128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)), count


def hash_files(folder: Path, *names: str) -> Any:
    """Return the hashes of files of a folder, None where one is missing."""
    return {n: hashlib.sha256((folder / n).read_bytes()).hexdigest() if (folder / n).exists() else None for n in names}


def look_at_counts(folder: Path) -> Any:
    """Return counts as a user reads them, with their vocabulary."""
    if not (folder / "out.npz").exists():
        return None
    with Corpus.read(folder / "out.npz") as corpus:
        labels = None if corpus.metadata.labels is None else corpus.metadata.labels.to_pylist()
        return corpus.to_matrix().toarray().tolist(), list(corpus.vocabulary), labels


def list_names(folder: Path) -> list[str]:
    """Return all names below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def write_texts(path: Path, seed: int, n_documents: int = 60) -> None:
    """Write planted texts as CSV."""
    texts, labels = planted_texts(n_documents, seed, length=12)
    rows = [f'd{i},"{text}",{label}' for i, (text, label) in enumerate(zip(texts, labels, strict=True))]
    path.write_text("\n".join(["id,text,label", *rows]) + "\n")


FIT_FILES = ("out/model.anchorless", "out/documents.csv", "out/topics.csv", "out/correlation.csv", "out/report.html")


def make_scenarios(folder: Path) -> list[Scenario]:
    """Write the inputs, and results of an earlier run, into a folder; return the commands that replace them."""
    write_texts(folder / "old.csv", 1)
    write_texts(folder / "new.csv", 2)
    fit = ["-k", "3", "--quiet", "--title", "T", "--jobs", "1"]
    for arguments in (
        ["fit", "old.csv", "-o", "out", *fit],
        ["convert", "old.csv", "out.npz", "--quiet", "--jobs", "1"],
        ["apply", "out", "old.csv", "-o", "applied.csv", "--quiet", "--jobs", "1"],
        ["codebook", "out", "-o", "codebook.csv", "--quiet"],
        ["report", "out", "-o", "page.html", "--quiet"],
    ):
        code, _ = run_forked(folder, arguments, 0, "kill")
        assert code == 0, arguments
    disk = ["--memory", "300KB"]

    def files(*names: str) -> Callable[[Path], Any]:
        return lambda place: hash_files(place, *names)

    fresh = files(*(f"fresh/deep{name[3:]}" for name in FIT_FILES))
    codebook = ["codebook", "out", "-o", "codebook.csv", "--force", "-q", "-w", "3"]
    report = ["report", "out", "-o", "page.html", "--force", "-q", "--title", "U"]
    return [
        Scenario("convert --force", ["convert", "new.csv", "out.npz", "--force", "-q", "--jobs", "1"], look_at_counts),
        Scenario("apply --force", ["apply", "out", "new.csv", "-o", "applied.csv", "-f", "-q"], files("applied.csv")),
        Scenario("edit", ["edit", "out", "--rename", "0=x", "--by", "a", "-q"], look_at_edits),
        Scenario("codebook --force", codebook, files("codebook.csv")),
        Scenario("report --force", report, files("page.html")),
        Scenario("fit", ["fit", "new.csv", "-o", "fresh/deep", *fit], fresh),
        Scenario("fit --force", ["fit", "new.csv", "-o", "out", "--force", *fit], files(*FIT_FILES)),
        Scenario("fit on disk", ["fit", "new.csv", "-o", "out", "--force", *fit, *disk], files(*FIT_FILES)),
    ]


def look_at_edits(folder: Path) -> Any:
    """Return the edits of a model without their time."""
    from anchorless import TopicModel

    model = TopicModel.load(folder / "out" / "model.anchorless")
    return [(edit.kind, str(edit.values)) for edit in model.edits]


def try_fault(
    base: Path, scenario: Scenario, expected: tuple[Any, Any, list[str]], number: int, kind: str
) -> str | None:
    """Run a scenario with a fault in a copy of a folder, then again without; return what was wrong, or None."""
    before, after, names = expected  # what is seen before and after, and the names of all files after
    with tempfile.TemporaryDirectory(dir=base.parent) as place:
        folder = Path(place) / "work"
        shutil.copytree(base, folder)
        code, _ = run_forked(folder, scenario.arguments, number, kind)
        allowed = (128 + signal.SIGKILL, 0) if kind == "kill" else (0, 1)
        if code not in allowed:
            return f"exit {code}"
        found = scenario.look(folder)
        if found not in (before, after):
            return "files are neither all old nor all new"
        if scenario.name == "edit" and found == after:
            return None  # a second edit would be another one
        code, _ = run_forked(folder, scenario.arguments + retry_options(scenario), 0, "kill")
        if code != 0:
            return f"the run after it ends with {code}"
        if scenario.look(folder) != after:
            return "the run after it gives other files"
        if list_names(folder) != names:
            return f"leftovers: {sorted(set(list_names(folder)) ^ set(names))}"
    return None


def retry_options(scenario: Scenario) -> list[str]:
    """Return what a second run needs: where the first one was killed after its end, its files are there."""
    return [] if scenario.name in ("edit",) or {"--force", "-f"} & set(scenario.arguments) else ["--force"]


def inject(scenario: Scenario, base: Path, kind: str, step: int = 1) -> tuple[int, list[str]]:
    """Try a fault of a kind at every step-th disk call; return how many were tried, and what was wrong."""
    with tempfile.TemporaryDirectory(dir=base.parent) as place:
        folder = Path(place) / "work"
        shutil.copytree(base, folder)
        before = scenario.look(folder)
        code, n_calls = run_forked(folder, scenario.arguments, 0, kind)
        assert code == 0, scenario
        expected = before, scenario.look(folder), list_names(folder)
    assert before != expected[1], f"{scenario.name} changes nothing"
    numbers = range(1, n_calls + 1, step)
    wrong = [(number, try_fault(base, scenario, expected, number, kind)) for number in numbers]
    return len(numbers), [f"{scenario.name}, {kind} at call {n}: {what}" for n, what in wrong if what]


def main() -> int:
    """Try all faults that the command line asks for."""
    parser = argparse.ArgumentParser(description="Let disk calls of commands fail.")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--scenarios", default="", help="parts of names (default: all)")
    parser.add_argument("--step", type=int, default=1, help="try every N-th disk call")
    options = parser.parse_args()
    found: Counter[str] = Counter()
    problems = []
    with tempfile.TemporaryDirectory(prefix="faults-") as place:
        base = Path(place) / "base"
        base.mkdir()
        for scenario in make_scenarios(base):
            if options.scenarios and not any(part in scenario.name for part in options.scenarios.split(",")):
                continue
            for kind in options.kinds.split(","):
                start = time.perf_counter()
                n, wrong = inject(scenario, base, kind, options.step)
                found[kind] += n
                problems += wrong
                seconds = time.perf_counter() - start
                sys.stdout.write(f"{scenario.name}: {kind} at {n} disk calls in {seconds:.0f} s, {len(wrong)} wrong\n")
                sys.stdout.flush()
    sys.stdout.write("\n".join([*problems, f"{dict(found)}: {len(problems)} wrong"]) + "\n")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
