"""The limit on the memory of this process (`ulimit -v`): how to raise it, and whether a command fits into it.

This module needs no library until those of the command are loaded.
"""

from __future__ import annotations

import os
from typing import Any

#: Bytes with which the libraries and a fit of some thousand documents work on two cores.
ENOUGH_BYTES = 2 * 10**9
#: Bytes that must be left after the libraries of a command are loaded, and for the stack of each thread.
LEFT_BYTES, STACK_BYTES = 400 * 10**6, 10 * 10**6
#: Bytes that the libraries of every command take at least: a lower limit than this and what must be left is hopeless.
LIBRARY_BYTES = 300 * 10**6
#: Rows of a matrix whose product needs a buffer of BLAS, and takes so long that threads compute at the same time.
N_ROWS = 1000


def read_limits() -> tuple[int, int | None] | None:
    """Return the bytes that this process may address, and how far it may raise that itself (None: any amount).

    None where nothing is limited.
    """
    try:
        import resource
    except ImportError:  # Windows
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if soft == resource.RLIM_INFINITY:
        return None
    return soft, None if hard == resource.RLIM_INFINITY or os.geteuid() == 0 else hard


def is_limit_low() -> bool:
    """Tell whether the limit is lower than what libraries and a small fit need."""
    limits = read_limits()
    return limits is not None and limits[0] < ENOUGH_BYTES


def save_address_space() -> None:
    """Let libraries reserve little where memory is limited.

    The allocator of Arrow takes 1 GB of addresses by default, and OpenBLAS 30 MB for every core; a fit lets each BLAS
    compute in one thread, anyway.
    """
    if read_limits() is not None:
        os.environ.setdefault("MIMALLOC_ARENA_RESERVE", "0")
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def refuse_hopeless_limit() -> None:
    """Raise MemoryError if the libraries cannot fit into the limit: OpenBLAS would try for ever while it is loaded."""
    limits = read_limits()
    if limits is not None and limits[0] < LEFT_BYTES + LIBRARY_BYTES:
        raise MemoryError


def describe_limit() -> str:
    """Return a sentence about the limit and how to raise it; empty where nothing is limited."""
    limits = read_limits()
    if limits is None:
        return ""
    limit, highest = limits
    wanted = max(ENOUGH_BYTES, 2 * limit)
    text = f"this process may use {limit / 1e6:,.0f} MB of memory (ulimit -v)"
    if is_limit_low():
        text += f", and anchorless with its libraries needs about {ENOUGH_BYTES / 1e6:,.0f} MB"
    if highest is None or highest >= wanted:
        return f"{text}; raise the limit in this shell: ulimit -v {wanted // 1000}"
    return (
        f"{text}; this shell cannot raise the limit: open a new one, or ask for more memory where the job is submitted"
    )


def fit_into_limit(n_jobs: int | None = None) -> int | None:
    """Return `n_jobs`, or a lower number of threads if the limit leaves too little memory for so many.

    OpenBLAS needs a buffer for each thread that computes. If one does not fit, it tries again for ever, or ends the
    process. So this raises MemoryError if there is too little memory, and lets OpenBLAS map a buffer for each thread
    and for the main one. It keeps them: a fit that outgrows the limit ends in a MemoryError.
    """
    if read_limits() is None:
        return n_jobs
    import numpy as np

    from anchorless._validation import resolve_job_count

    left, wanted = check_left(LEFT_BYTES), resolve_job_count(n_jobs)
    A, product = (np.ones((N_ROWS, N_ROWS), order="F") for _ in range(2))
    multiply(A, product)
    # Not below zero: other processes may free memory at the same time.
    for_thread = max(0, left - check_left(LEFT_BYTES)) + STACK_BYTES
    n_threads = min(wanted, (check_left(LEFT_BYTES + for_thread) - LEFT_BYTES) // for_thread)
    map_buffers(A, product, 1 + n_threads)
    return n_jobs if n_threads == wanted else n_threads


def map_buffers(A: Any, product: Any, n_threads: int) -> None:
    """Multiply in several threads at the same time: BLAS maps a buffer for each, and keeps them for other threads."""
    from concurrent.futures import ThreadPoolExecutor
    from threading import Barrier

    start = Barrier(n_threads)

    def compute(_: int) -> None:
        start.wait()
        multiply(A, product)

    with ThreadPoolExecutor(n_threads) as pool:
        for _ in pool.map(compute, range(n_threads)):
            pass


def check_left(n_bytes: int) -> int:
    """Return how much memory is left, or raise MemoryError if it is less than this."""
    from anchorless._corpus.memory import measure_available_memory

    available = measure_available_memory()
    if available is None:
        return n_bytes
    if available < n_bytes:
        raise MemoryError
    return available


def multiply(A: Any, product: Any) -> None:
    """Multiply a square matrix by itself, with the BLAS of NumPy and with that of SciPy."""
    import numpy as np
    from scipy.linalg.blas import dgemm

    np.matmul(A, A, out=product)
    dgemm(1.0, A, A, c=product, overwrite_c=True)
