"""Commands in a process whose memory is limited by `ulimit -v`: they work, or name the limit and a way to raise it."""

import re
import resource
import subprocess
import sys

import pytest

from anchorless._cli import memory_limits
from anchorless._cli.memory_limits import describe_limit
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


def fit_within(n_bytes, folder):
    """Return exit code and message of a fit in a process that may use so much memory; a hang is an error."""
    return subprocess.run(
        [sys.executable, "-m", "anchorless", "fit", "a.csv", "-k", "3", "-o", "out", "-f", "-q", "--jobs", "2"],
        cwd=folder,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes)),
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("megabytes", [400, 600, 1000])
def test_too_little_memory_gives_a_message_that_names_the_limit_and_no_hang(tmp_path, megabytes):
    """OpenBLAS tries for ever to map a buffer; LLVM aborts."""
    write_texts(tmp_path / "a.csv", 1)
    ran = fit_within(megabytes * 10**6, tmp_path)
    assert ran.returncode == 1
    assert re.search(rf"^anchorless: .*this process may use {megabytes:,} MB of memory \(ulimit -v\)", ran.stderr, re.M)
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_the_memory_that_the_message_asks_for_is_enough(tmp_path):
    write_texts(tmp_path / "a.csv", 1)
    ran = fit_within(memory_limits.ENOUGH_BYTES, tmp_path)
    assert ran.returncode == 0, ran.stderr
