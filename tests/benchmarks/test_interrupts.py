"""How long Ctrl-C has to wait: processor time, of any thread, is told from waiting."""

import sys
import time

import pytest

from anchorless._corpus.threads import map_in_threads
from benchmarks.interrupts import PERIOD, SignalGaps, name_place

#: Processor seconds of a call, several periods.
BUSY = 5 * PERIOD


def compute(_):
    end = time.thread_time() + BUSY
    while time.thread_time() < end:
        pass


@pytest.mark.parametrize(
    "work", [compute, lambda item: list(map_in_threads(compute, [item], 1))], ids=["main", "other"]
)
def test_work_of_a_thread_is_listed_before_waiting(work):
    gaps = SignalGaps()
    time.sleep(2 * BUSY)
    gaps.handle(0, sys._getframe())
    work(0)
    gaps.handle(0, sys._getframe())
    (first, _, _), (second, _, _) = gaps.get_longest()
    assert first >= BUSY > 2 * second
    assert gaps.gaps[1][0] == first


def test_the_place_is_the_innermost_one_of_the_package():
    names = {"get_place": lambda: name_place(sys._getframe())}
    exec(compile("def compute():\n    return get_place()", "lib/anchorless/volume.py", "exec"), names)
    assert names["compute"]() == "volume.py:2 compute"
    assert name_place(None) == "?"
