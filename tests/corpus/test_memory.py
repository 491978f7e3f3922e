"""Freed memory goes back to the system."""

import subprocess
import sys

import pytest

#: Free every second of many arrays without pages of their own, and print the resident MB that this returns.
FRAGMENTED = """
import numpy as np
from anchorless._corpus.memory import release_freed_memory

def measure():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1e6

arrays = [np.ones(8000) for _ in range(4000)]
del arrays[::2]
before = measure()
released = release_freed_memory()
print(released, before - measure())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc keeps freed memory")
def test_freed_memory_between_arrays_is_returned():
    ran = subprocess.run([sys.executable, "-c", FRAGMENTED], capture_output=True, text=True, check=True)
    released, megabytes = ran.stdout.split()
    if released == "False":
        pytest.skip("another C library")
    assert float(megabytes) > 60
