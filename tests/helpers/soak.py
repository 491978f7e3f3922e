"""Commands at random in one process for a long time: the same bytes each time, nothing half-written, memory flat.

python -m tests.helpers.soak 60 --seed 1
"""

import argparse
import contextlib
import gc
import hashlib
import io
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from anchorless import _files
from anchorless._cli.main import main as run_main
from tests.helpers.forked_commands import write_texts

#: Bytes of address space beyond those of the start, and of growth of the resident memory after the warm-up.
EXTRA_MEMORY, MAX_GROWTH = 3 * 10**9, 150 * 10**6
#: Rounds of all commands before memory is compared.
WARM_UP = 3
#: Files whose bytes depend on the clock.
CLOCKED = ("run.json",)
N_INPUTS = 3


def run_command(*arguments: str) -> None:
    """Run a command in this process; it must end well."""
    sink = io.StringIO()
    with contextlib.redirect_stdout(sink), contextlib.redirect_stderr(sink):
        code = run_main([*arguments, "--quiet"])
    assert code == 0, f"{arguments}: exit {code}: {sink.getvalue()}"


def fit(k: int) -> Path:
    run_command("fit", f"{k}.csv", "-k", "3", "-o", f"fit-{k}", "--force", "--jobs", "2")
    return Path(f"fit-{k}")


def fit_on_disk(k: int) -> Path:
    run_command("fit", f"{k}.csv", "-k", "3", "-o", f"disk-{k}", "--force", "--jobs", "2", "--memory", "300KB")
    return Path(f"disk-{k}")


def resume(k: int) -> Path:
    """Kill a fit on disk at a random moment, and run it again: the files are those of `fit_on_disk`."""
    child = os.fork()
    if child == 0:
        try:
            with contextlib.redirect_stderr(io.StringIO()):
                fit_on_disk(k)
        finally:
            os._exit(0)
    time.sleep(random.uniform(0.0, 2.0))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    _files.remove_leftover_files.cache_clear()
    return fit_on_disk(k)


def apply(k: int) -> Path:
    run_command("apply", f"model-{k}", f"{(k + 1) % N_INPUTS}.csv", "-o", f"applied-{k}.csv", "--force")
    return Path(f"applied-{k}.csv")


def report(k: int) -> Path:
    run_command("report", f"model-{k}", "-o", f"page-{k}.html", "--force")
    return Path(f"page-{k}.html")


def edit(k: int) -> Path:
    """Edit a model and undo it: the bytes are those before."""
    run_command("edit", f"model-{k}", "--merge", "0,1", "--rename", "2=x", "-o", f"edited-{k}.anchorless", "--force")
    run_command("edit", f"edited-{k}.anchorless", "--undo", "2")
    return Path(f"edited-{k}.anchorless")


def convert(k: int) -> Path:
    run_command("convert", f"{k}.csv", f"{k}.npz", "--force")
    return Path(f"{k}.npz")


STEPS = (fit, fit_on_disk, resume, apply, report, edit, convert)


def hash_result(path: Path) -> str:
    """Return a hash of a file, or of the files of a folder but those that hold times."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + (b"" if file.name in CLOCKED else file.read_bytes()))
    return digest.hexdigest()


def get_resident() -> int:
    """Return the resident memory of this process in bytes."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def soak(minutes: float, seed: int) -> tuple[Counter[str], list[int]]:
    """Run steps at random; return how often each ran, and the resident memory after each round."""
    rng, seen, done = random.Random(seed), dict[tuple[str, int], str](), Counter[str]()
    for k in range(N_INPUTS):
        write_texts(Path(f"{k}.csv"), k, 80)
        shutil.copytree(fit(k), f"model-{k}")
    limit = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + EXTRA_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    end, resident = time.monotonic() + 60 * minutes, list[int]()
    while time.monotonic() < end or len(resident) <= WARM_UP:
        for step in rng.sample(STEPS, len(STEPS)):
            k = rng.randrange(N_INPUTS)
            name = "fit_on_disk" if step is resume else step.__name__
            found = hash_result(step(k))
            assert seen.setdefault((name, k), found) == found, f"{step.__name__} of {k} gives other bytes than before"
            done[step.__name__] += 1
        leftovers = [path for path in Path().rglob(".*") if time.time() - path.lstat().st_mtime > 60]
        assert not leftovers, f"leftovers: {leftovers}"
        resident.append(get_resident())
    return done, resident


def main() -> int:
    """Soak for as long as the command line says."""
    parser = argparse.ArgumentParser(description="Run commands at random.")
    parser.add_argument("minutes", type=float)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        os.chdir(folder)
        done, resident = soak(options.minutes, options.seed)
    growth = resident[-1] - resident[WARM_UP - 1]
    sys.stdout.write(f"{dict(done)}: the same bytes each time, nothing half-written\n")
    mb = [round(value / 10**6) for value in (resident[WARM_UP - 1], resident[-1])]
    sys.stdout.write(f"resident memory {mb[0]} MB after {WARM_UP} rounds, {mb[1]} MB after {len(resident)}\n")
    return int(growth > MAX_GROWTH)


if __name__ == "__main__":
    sys.exit(main())
