"""The limit on the memory of this process (`ulimit -v`): how to raise it, and whether a command fits into it.

This module needs no library until those of the command are loaded.
"""

from __future__ import annotations

import os

#: Bytes with which the libraries and a fit of some thousand documents work on two cores.
ENOUGH_BYTES = 2 * 10**9
#: Bytes that must be left after the libraries of a command are loaded, and for each thread besides.
LEFT_BYTES, THREAD_BYTES = 400 * 10**6, 50 * 10**6
#: Rows of a matrix whose product needs a buffer of BLAS, and takes so long that threads compute at the same time.
N_ROWS = 400


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
    """Let the allocator of Arrow reserve nothing where memory is limited: it takes 1 GB of addresses by default."""
    if read_limits() is not None:
        os.environ.setdefault("MIMALLOC_ARENA_RESERVE", "0")


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


def check_limit() -> None:
    """Raise MemoryError if the limit leaves too little for a command whose libraries are loaded.

    OpenBLAS tries for ever to map a buffer that does not fit, and LLVM aborts the process. So this asks for the memory
    that they need at least, and lets OpenBLAS map its buffers, which it keeps.
    """
    if read_limits() is None:
        return
    from concurrent.futures import ThreadPoolExecutor

    from anchorless._corpus.memory import measure_available_memory

    n_threads = os.cpu_count() or 1
    available = measure_available_memory()
    if available is not None and available < LEFT_BYTES + n_threads * THREAD_BYTES:
        raise MemoryError
    with ThreadPoolExecutor(n_threads) as pool:
        for _ in pool.map(multiply, range(n_threads)):
            pass


def multiply(_: int) -> None:
    """Multiply matrices with the BLAS of NumPy and with that of SciPy."""
    import numpy as np
    from scipy.linalg.blas import dgemm

    A = np.ones((N_ROWS, N_ROWS))
    dgemm(1.0, A @ A, A)
