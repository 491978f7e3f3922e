"""Interrupt `anchorless fit` at many moments, and report how long it takes to end.

    python -m benchmarks.interrupts FILE [--runs N] [further options of `anchorless fit`]

First one whole run receives a harmless signal every 20 ms, and the longest times are listed in which Python could not
handle one: products and decompositions that Ctrl-C has to wait for, with the function that made them, and the processor
seconds of all threads in them, which other programs on the machine do not change: a thread that computes without
letting Python run delays Ctrl-C as much as the main thread. Then N runs (default: 10) are interrupted by SIGINT at
moments spread evenly over the time of the first one.
"""

from __future__ import annotations

import argparse
import io
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from benchmarks.work import peak_mb

#: Seconds between two signals of the first run.
PERIOD = 0.02
#: Seconds after which an interrupted run has to be gone.
LIMIT = 1.0
#: Gaps that are listed.
N_LISTED = 5


class SignalGaps:
    """The times between the handlers of signals that another process sends: processor seconds, wall clock, place."""

    def __init__(self) -> None:
        self._last = time.process_time(), time.perf_counter()
        self.gaps: list[tuple[float, float, str]] = []

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Record the time since the signal before, and where the program is."""
        now = time.process_time(), time.perf_counter()
        processor, wall = now[0] - self._last[0], now[1] - self._last[1]
        self._last = now
        if wall > 2 * PERIOD:
            self.gaps.append((processor, wall, name_place(frame)))

    def get_longest(self) -> list[tuple[float, float, str]]:
        """Return the gaps with the most processor time."""
        return sorted(self.gaps, reverse=True)[:N_LISTED]


def name_place(frame: FrameType | None) -> str:
    """Return file, line and function of the innermost frame in this package."""
    while frame is not None and "anchorless" not in Path(frame.f_code.co_filename).parts:
        frame = frame.f_back
    return "?" if frame is None else f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno} {frame.f_code.co_name}"


def run_with_signals(arguments: Sequence[str]) -> tuple[float, list[tuple[float, float, str]]]:
    """Run the command in this process under signals; return its seconds and the longest gaps between handlers."""
    from anchorless._cli.main import main as run_command

    process, gaps = os.getpid(), SignalGaps()
    before = signal.signal(signal.SIGUSR1, gaps.handle)
    sender = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"import os, signal, time\nwhile True: time.sleep({PERIOD}); os.kill({process}, signal.SIGUSR1)",
        ]
    )
    start = time.perf_counter()
    try:
        with redirect_stdout(io.StringIO()):
            code = run_command(arguments)
    finally:
        sender.kill()
        sender.wait()
        time.sleep(2 * PERIOD)
        signal.signal(signal.SIGUSR1, before)
    if code:
        raise SystemExit(code)
    return time.perf_counter() - start, gaps.get_longest()


class Interrupted(NamedTuple):
    """How a run ended after SIGINT."""

    seconds: float  # until its end
    processor: float  # of all its threads in these seconds, which other programs on the machine do not change
    code: int


def interrupt(arguments: Sequence[str], after: float) -> Interrupted | None:
    """Start the command, send SIGINT after so many seconds, and return how it ended; None if it had ended before."""
    process = subprocess.Popen(
        [sys.executable, "-m", "anchorless", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background ignores it
    )
    try:
        process.wait(after)
        return None
    except subprocess.TimeoutExpired:
        start, before = time.perf_counter(), read_processor_seconds(process.pid)
    process.send_signal(signal.SIGINT)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - start
    return Interrupted(seconds, usage.ru_utime + usage.ru_stime - before, process.returncode)


def read_processor_seconds(process: int) -> float:
    """Return the processor seconds that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print the delays, and return 0 if none is above the limit and nothing was left behind."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.interrupts", description=__doc__.partition("\n\n")[0])
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--runs", type=int, default=10, metavar="N", help="runs that are interrupted (default: 10)")
    options, further = parser.parse_known_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        command = ["fit", options.file, *further, "--quiet", "-o", f"{folder}/topics"]
        processor = time.process_time()
        seconds, gaps = run_with_signals(command)
        processor = time.process_time() - processor
        print(f"whole run: {seconds:.1f} s, {processor:.1f} of the processor, peak memory {peak_mb():.0f} MB")
        print("longest times without a chance to handle Ctrl-C:")
        for processor, wall, place in gaps:
            print(f"  {wall:.2f} s, {processor:.2f} of the processor  {place}")
        in_time = all(processor <= LIMIT for processor, _, _ in gaps)
        before = sorted(os.listdir(folder))
        for n in range(options.runs):
            after = seconds * (n + 0.5) / options.runs
            found = interrupt([*command, "--force"], after)
            if found is None:
                print(f"  after {after:.1f} s: it had ended")
                continue
            # After the last file, the system ends Python where it no longer listens.
            clean = found.code in (128 + signal.SIGINT, -signal.SIGINT) and sorted(os.listdir(folder)) == before
            print(
                f"  after {after:.1f} s: ended in {found.seconds:.2f} s, {found.processor:.2f} of the processor"
                f"{'' if clean else f', exit code {found.code}, or left files'}"
            )
            in_time &= clean and min(found.seconds, found.processor) <= LIMIT
    return 0 if in_time else 1


if __name__ == "__main__":
    sys.exit(main())
