"""Seconds that an import takes in a fresh interpreter."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.processes import environment

CODE = """
import time
wall, cpu = time.perf_counter(), time.process_time()
import {module}
print(time.perf_counter() - wall, time.process_time() - cpu)
"""


def measure_cell(module: str) -> dict[str, float]:
    """Return wall clock and processor time of one import."""
    command = [sys.executable, "-c", CODE.format(module=module)]
    run = subprocess.run(command, check=True, capture_output=True, text=True, env=environment())
    wall, cpu = map(float, run.stdout.split())
    return {"fit_wall": wall, "fit_cpu": cpu}
