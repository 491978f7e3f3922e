"""Memory: what allocators keep after it was freed, and what is available."""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress
from pathlib import Path

import pyarrow as pa


def release_freed_memory() -> bool:
    """Return freed memory to the operating system; tell whether the C library (glibc) had some.

    Arrays of a stage leave free memory in between those that stay, one heap per thread. At 200 topics of 20 Newsgroups
    that was 150 MB, which the next stage could not use for its larger arrays.
    """
    pa.default_memory_pool().release_unused()  # texts and counts that have become arrays of NumPy
    if sys.platform != "linux":
        return False
    try:
        return bool(ctypes.CDLL(None).malloc_trim(0))
    except (OSError, AttributeError):  # another C library, such as musl
        return False


def measure_free_memory() -> int | None:
    """Return the bytes that the machine has free; None where the system does not say."""
    with suppress(OSError, ValueError, LookupError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    return None


def measure_available_memory() -> int | None:
    """Return the bytes that this process can still allocate, by its limit and by what the machine has free.

    None where the system does not say.
    """
    free = measure_free_memory()
    found = [] if free is None else [free]
    with suppress(ImportError, OSError, ValueError):
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
            found.append(max(0, limit - used))
    return min(found, default=None)
