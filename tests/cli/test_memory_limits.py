"""Commands in a process whose memory is limited by `ulimit -v`: they work, or name the limit and a way to raise it."""

import os
import re
import resource
import subprocess
import sys

import pytest

from anchorless._cli import memory_limits
from anchorless._cli.memory_limits import describe_limit, fit_into_limit
from tests.helpers.forked_commands import write_texts


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (None, ""),
        (
            (400_000_000, None),
            "this process may use 400 MB of memory (ulimit -v), and anchorless with its libraries needs about 2,000 MB"
            "; raise the limit in this shell: ulimit -v 2000000",
        ),
        (
            (400_000_000, 10**9),
            "this process may use 400 MB of memory (ulimit -v), and anchorless with its libraries needs about 2,000 MB"
            "; this shell cannot raise the limit: open a new one, or ask for more memory where the job is submitted",
        ),
        (
            (3 * 10**9, 9 * 10**9),
            "this process may use 3,000 MB of memory (ulimit -v); raise the limit in this shell: ulimit -v 6000000",
        ),
    ],
)
def test_the_limit_and_a_way_to_raise_it_are_named(monkeypatch, limits, message):
    monkeypatch.setattr(memory_limits, "read_limits", lambda: limits)
    assert describe_limit() == message


def fit_within(n_bytes, folder, jobs=2):
    """Return exit code and message of a fit in a process that may use so much memory; a hang is an error."""
    return subprocess.run(
        [sys.executable, "-m", "anchorless", "fit", "a.csv", "-k", "3", "-o", "out", "-f", "-q", "--jobs", str(jobs)],
        cwd=folder,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes)),
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("megabytes", [120, 200, 280, 400, 600, 1000])
def test_too_little_memory_gives_a_message_that_names_the_limit_and_no_hang(tmp_path, megabytes):
    """OpenBLAS tries for ever to map a buffer, also while it is loaded."""
    write_texts(tmp_path / "a.csv", 1)
    ran = fit_within(megabytes * 10**6, tmp_path)
    assert ran.returncode == 1
    assert re.search(rf"^anchorless: .*this process may use {megabytes:,} MB of memory \(ulimit -v\)", ran.stderr, re.M)
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_the_memory_that_the_message_asks_for_is_enough(tmp_path):
    write_texts(tmp_path / "a.csv", 1)
    ran = fit_within(memory_limits.ENOUGH_BYTES, tmp_path)
    assert ran.returncode == 0, ran.stderr


#: Products in several threads of a process that can map no more memory; a buffer that is not there would be needed.
PRODUCTS = """
import resource, sys, threading
import numpy as np
import scipy.linalg
from anchorless._cli.memory_limits import fit_into_limit, multiply
from anchorless._corpus.memory import measure_available_memory

n_threads, limit = 6, 4 * 10**9
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
assert fit_into_limit(n_threads - 1) == n_threads - 1
A, products = np.ones((800, 800), order="F"), [np.ones((800, 800), order="F") for _ in range(n_threads)]
ready = threading.Barrier(n_threads + 1)

def compute(product):
    ready.wait()
    ready.wait()
    for _ in range(5):
        multiply(A, product)

threads = [threading.Thread(target=compute, args=(product,)) for product in products]
for thread in threads:
    thread.start()
ready.wait()  # the threads have their stacks
used = limit - measure_available_memory()
resource.setrlimit(resource.RLIMIT_AS, (used, limit))
ready.wait()
for thread in threads:
    thread.join()
print("computed")
"""


def test_blas_maps_no_buffer_after_the_check_whatever_the_number_of_threads():
    """A fit that outgrows the limit then ends in a message: OpenBLAS would try for ever, or end the process."""
    settings = os.environ | {"MALLOC_ARENA_MAX": "1"}  # no reserves of the C library, which may hold a buffer
    ran = subprocess.run([sys.executable, "-c", PRODUCTS], capture_output=True, text=True, timeout=60, env=settings)
    assert (ran.returncode, ran.stdout) == (0, "computed\n"), ran.stderr


def test_threads_that_do_not_fit_are_not_used(monkeypatch):
    left = iter([10**9, 9 * 10**8, 9 * 10**8])  # at first, after a product, and again
    monkeypatch.setattr(memory_limits, "read_limits", lambda: (2 * 10**9, None))
    monkeypatch.setattr(memory_limits, "check_left", lambda n_bytes: next(left))
    mapped = []
    monkeypatch.setattr(memory_limits, "map_buffers", lambda A, product, n_threads: mapped.append(n_threads))
    # 500 MB are left for buffers of 100 MB and stacks of 10 MB.
    assert fit_into_limit(64) == 4
    assert mapped == [5]  # the main thread computes, too


def test_memory_that_other_processes_free_meanwhile_is_not_counted_as_a_buffer(monkeypatch):
    left = iter([9 * 10**8, 10**9, 10**9])
    monkeypatch.setattr(memory_limits, "read_limits", lambda: (2 * 10**9, None))
    monkeypatch.setattr(memory_limits, "check_left", lambda n_bytes: next(left))
    mapped = []
    monkeypatch.setattr(memory_limits, "map_buffers", lambda A, product, n_threads: mapped.append(n_threads))
    assert fit_into_limit(3) == 3
    assert mapped == [4]


def test_many_threads_within_a_limit(tmp_path):
    write_texts(tmp_path / "a.csv", 1)
    ran = fit_within(memory_limits.ENOUGH_BYTES, tmp_path, jobs=64)
    assert ran.returncode == 0, ran.stderr
