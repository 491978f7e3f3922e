"""Every measurement in a separate process, with a time limit."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks import stored
from benchmarks.work import Job
from experiments.results import ResultsError

ROOT = Path(__file__).parent.parent
#: BLAS has one thread in every process: several fight over the cores with a model's own.
BLAS_THREADS = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
#: Limits that the process of the reference has: one for its climb, which ends by itself, and for the fit before.
REFERENCE_LIMITS = 3
#: Tasks that limit the processor time of the fit themselves: on a shared machine the wall clock says little.
LIMIT_THEMSELVES = ("topics",)


class Processes:
    """Starts processes that share a folder with the corpora; use it as a context."""

    def __init__(self, limit: float) -> None:
        self.limit = limit

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="anchorless-benchmarks-")
        self.folder = Path(self._folder.name)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._folder.cleanup()

    def measure_cell(self, task: str, corpus: str, method: str, topics: int) -> dict[str, float]:
        """Return what a process measured; `stopped` with the limit if it took longer, `failed` if it could not."""
        if not stored.is_stored(corpus, self.folder):
            self._stored(corpus)
        limit = None if task in LIMIT_THEMSELVES else self.limit * (REFERENCE_LIMITS if task == "reference" else 1)
        job = Job(task, corpus, method, topics, str(self.folder), self.limit)
        found, said = self._run(job, limit)
        if found is None:
            print(f"\n{task} of {corpus}, {method}, {topics} topics failed: {said}", file=sys.stderr)
            return {"failed": 1.0}
        return found

    def _stored(self, corpus: str) -> None:
        found, said = self._run(Job("store", corpus, "", 0, str(self.folder)), None)
        if found is None:
            raise ResultsError(f"the corpus {corpus} could not be made: {said}")

    def _run(self, job: Job, limit: float | None) -> tuple[dict[str, float] | None, str]:
        """Return what the process of a job wrote and its last line of output; None if it failed."""
        target, log = self.folder / "measured.json", self.folder / "log.txt"
        target.unlink(missing_ok=True)
        command = [sys.executable, "-m", "benchmarks.work", json.dumps(job._asdict()), str(target)]
        with open(log, "wb") as file:
            in_time = finished(command, file, limit)
        if not in_time:
            return {"stopped": limit or job.budget}, ""
        said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return (json.loads(target.read_text()) if target.exists() else None), (said[-1] if said else "no output")


def finished(command: list[str], log: Any, limit: float | None) -> bool:
    """Run a process and return whether it ended in time: it is killed at the limit, and when we are interrupted.

    Without a limit, it is out of time if it has used up the processor time that it has allowed itself.
    """
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment(), start_new_session=True
    )
    try:
        return process.wait(limit) != -signal.SIGXCPU
    except subprocess.TimeoutExpired:
        kill(process)
        return False
    except BaseException:
        kill(process)
        raise


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and those that it has started."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def environment() -> dict[str, str]:
    """Return the environment of a process: one BLAS thread, and the same packages as here."""
    spec = importlib.util.find_spec("anchorless")
    package = str(Path(spec.origin).parents[1]) if spec and spec.origin else ""
    paths = [str(ROOT), package, os.environ.get("PYTHONPATH", "")]
    return {**os.environ, **BLAS_THREADS, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}
