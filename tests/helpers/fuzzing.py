"""Run mutants in other processes, under limits of memory and time, so that a crash is a finding and not the end.

    python -m tests.helpers.fuzzing 100000 --seed 1 --jobs 2
    python -m tests.helpers.fuzzing 20000 --targets model

A mutant must be refused with an error of the package, or be used without any other exception, within SECONDS and
EXTRA_MEMORY. Findings are kept in a folder, and --only repeats one.
"""

import argparse
import mmap
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple

from anchorless._cli import main as command_line
from anchorless.errors import AnchorlessError

#: Seconds of computing, seconds of waiting (other programs may use the machine), and bytes that a mutant may take.
SECONDS, WAITING_SECONDS, EXTRA_MEMORY = 10, 100, 2 * 10**9
#: Mutants that one process runs.
PER_PROCESS = 500
STARTED, USED, REFUSED, FAILED = 1, 2, 3, 4
OUTCOMES = {USED: "used", REFUSED: "refused", FAILED: "another error"}


class Target(NamedTuple):
    """What is fuzzed: `mutate` returns the bytes of a mutant, and `use` uses the file that holds them."""

    name: str
    file: str  # name of the file of a mutant
    mutate: Callable[[Random], bytes]
    use: Callable[[Path], None]


class Mutants(NamedTuple):
    """Numbered mutants of targets, in turn; the same for the same seed."""

    targets: list[Target]
    seed: int

    def get_target(self, number: int) -> Target:
        return self.targets[number % len(self.targets)]

    def make(self, number: int) -> bytes:
        target = self.get_target(number)
        return target.mutate(Random(f"{self.seed} {target.name} {number}"))


def limit_memory() -> None:
    """Let this process have EXTRA_MEMORY more than it has."""
    limit = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + EXTRA_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def map_buffers_once() -> None:
    """Let BLAS map its buffers, which the process keeps: each command would do it, and take .3 s of processor time."""
    command_line.fit_into_limit()
    command_line.fit_into_limit = lambda n_jobs=None: n_jobs


def run_mutants(mutants: Mutants, numbers: range, folder: Path, outcomes: mmap.mmap) -> None:
    """Run mutants under the limits, in this process, and record the outcome of each."""
    limit_memory()
    map_buffers_once()
    for number in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(number, signal.SIG_DFL)
    os.fsync = lambda handle: None  # this process leaves nothing that must survive a power cut
    own = folder / f"run-{numbers.start}"
    own.mkdir(exist_ok=True)
    os.chdir(own)
    for number in numbers:
        target = mutants.get_target(number)
        path = own / target.file
        path.write_bytes(mutants.make(number))
        outcomes[number] = STARTED
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.alarm(WAITING_SECONDS)
        try:
            target.use(path)
            outcomes[number] = USED
        except AnchorlessError:
            outcomes[number] = REFUSED
        except BaseException as error:
            outcomes[number] = FAILED
            where = traceback.extract_tb(error.__traceback__)[-1]
            line = f"{type(error).__name__}: {str(error)[:150]!r} at {Path(where.filename).name}:{where.lineno}"
            sys.stderr.write(f"{target.name}, mutant {number}: {line}\n")
            sys.stderr.flush()
            path.rename(folder / f"finding-{mutants.seed}-{number}-{target.file}")
        finally:
            signal.alarm(0)
            signal.setitimer(signal.ITIMER_PROF, 0)


def start_process(mutants: Mutants, numbers: range, folder: Path, outcomes: mmap.mmap) -> int:
    """Fork a process that runs mutants; return its id."""
    child = os.fork()
    if child == 0:
        try:
            run_mutants(mutants, numbers, folder, outcomes)
        finally:
            os._exit(0)
    return child


def fuzz(targets: list[Target], n_mutants: int, seed: int, folder: Path, jobs: int = 1) -> Counter[str]:
    """Run mutants; return how often each outcome occurred, and keep the files of findings in the folder."""
    mutants, found = Mutants(targets, seed), Counter[str]()
    waiting = [range(at, min(at + PER_PROCESS, n_mutants)) for at in range(0, n_mutants, PER_PROCESS)][::-1]
    running: dict[int, range] = {}
    with mmap.mmap(-1, max(n_mutants, 1)) as outcomes:
        while waiting or running:
            while waiting and len(running) < jobs:
                numbers = waiting.pop()
                running[start_process(mutants, numbers, folder, outcomes)] = numbers
            child, status = os.wait()
            numbers = running.pop(child)
            stop = next((number for number in numbers if outcomes[number] < USED), numbers.stop)
            if stop < numbers.stop:
                target = mutants.get_target(stop)
                found[f"{target.name}: signal {os.WTERMSIG(status)}"] += 1
                sys.stderr.write(f"{target.name}, mutant {stop}: signal {os.WTERMSIG(status)}\n")
                (folder / f"finding-{seed}-{stop}-{target.file}").write_bytes(mutants.make(stop))
                if stop + 1 < numbers.stop:
                    waiting.append(range(stop + 1, numbers.stop))
        values = Counter(outcomes[:])
    return found + Counter({name: values[value] for value, name in OUTCOMES.items()})


def main() -> int:
    """Run the mutants that the command line asks for."""
    from tests.helpers.fuzz_files import list_file_targets
    from tests.helpers.fuzz_models import list_model_targets
    from tests.helpers.fuzz_records import list_record_targets
    from tests.helpers.fuzz_side_files import list_side_targets
    from tests.helpers.fuzz_texts import list_document_targets

    parser = argparse.ArgumentParser(description="Run mutated files.")
    parser.add_argument("n_mutants", type=int)
    help = "files, models, documents, side, records, or names of targets (default: files)"
    parser.add_argument("--targets", default="files", help=help)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", type=int, help="run the mutant of this number alone, with a traceback")
    options = parser.parse_args()
    groups = {
        "files": list_file_targets,
        "models": list_model_targets,
        "documents": list_document_targets,
        "side": list_side_targets,
        "records": list_record_targets,
    }
    makers = [groups[options.targets]] if options.targets in groups else list(groups.values())
    targets = [target for make in makers for target in make()]
    if options.targets not in groups:
        targets = [target for target in targets if target.name in options.targets.split(",")]
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    if options.only is not None:
        limit_memory()
        mutants = Mutants(targets, options.seed)
        path = folder / mutants.get_target(options.only).file
        path.write_bytes(mutants.make(options.only))
        mutants.get_target(options.only).use(path)
        return 0
    start = time.perf_counter()
    outcomes = fuzz(targets, options.n_mutants, options.seed, folder, options.jobs)
    findings = {name for name, n in outcomes.items() if n} - {"used", "refused"}
    names, seconds = ", ".join(target.name for target in targets), time.perf_counter() - start
    sys.stdout.write(f"{names}: {options.n_mutants} mutants in {seconds:.0f} s\n")
    sys.stdout.write(f"{dict(outcomes)}: {'findings are in' if findings else 'nothing found in'} {folder}\n")
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())
