"""How long Ctrl-C has to wait: processor time of the main thread is told from waiting."""

import sys
import time

from anchorless._corpus.threads import map_in_threads
from benchmarks.interrupts import PERIOD, SignalGaps, name_place

#: Processor seconds of a call, several periods.
BUSY = 5 * PERIOD


def compute(_):
    end = time.thread_time() + BUSY
    while time.thread_time() < end:
        pass


def test_work_of_the_main_thread_is_listed_before_waiting_for_another():
    gaps = SignalGaps()
    list(map_in_threads(compute, [0], 1))
    gaps.handle(0, sys._getframe())
    compute(0)
    gaps.handle(0, sys._getframe())
    (first, _, _), (second, _, _) = gaps.get_longest()
    assert first >= BUSY > 2 * second
    assert gaps.gaps[1][0] == first


def test_the_place_is_the_innermost_one_of_the_package():
    names = {"get_place": lambda: name_place(sys._getframe())}
    exec(compile("def compute():\n    return get_place()", "lib/anchorless/volume.py", "exec"), names)
    assert names["compute"]() == "volume.py:2 compute"
    assert name_place(None) == "?"
