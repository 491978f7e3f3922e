"""Threads that compute in order, and end at once after Ctrl-C."""

import signal
import threading
import time
from contextvars import ContextVar
from itertools import count

import pytest

from anchorless._corpus.threads import ThreadTeam, call_interruptibly, is_any_abandoned_running, map_in_threads

#: Seconds of a task that nobody must wait for, and those that an interruption may take.
LONG, SHORT = 2.0, 1.0


def wait_for_abandoned():
    deadline = time.monotonic() + 10 * LONG
    while is_any_abandoned_running() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_any_abandoned_running()


@pytest.fixture
def started():
    """An event that the long task sets, so that tests interrupt it while it runs."""
    return threading.Event()


@pytest.fixture
def run_long(started):
    def task(item):
        started.set()
        time.sleep(LONG)
        return item

    return task


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_results_are_in_order(n_threads):
    assert [*map_in_threads(lambda n: n**2, range(20), n_threads)] == [n**2 for n in range(20)]
    assert ThreadTeam(n_threads).map(lambda n: n**2, range(20)) == [n**2 for n in range(20)]


@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_team_does_not_wait_for_running_tasks_after_an_interrupt(started, run_long, n_threads):
    def interrupt():
        started.wait()
        time.sleep(0.1)  # until all tasks are submitted
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    threading.Thread(target=interrupt).start()
    before, start = signal.signal(signal.SIGINT, signal.default_int_handler), time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            ThreadTeam(n_threads).map(run_long, range(10))
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - start < SHORT
    assert is_any_abandoned_running()
    wait_for_abandoned()


def test_an_interrupted_generator_does_not_wait_for_running_tasks(started, run_long):
    def items():
        yield 0
        started.wait()
        raise KeyboardInterrupt

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        list(map_in_threads(run_long, items(), 2))
    assert time.monotonic() - start < SHORT
    assert is_any_abandoned_running()
    wait_for_abandoned()


def test_a_closed_generator_does_not_wait_and_starts_no_further_task(run_long):
    begun = []

    def task(item):
        begun.append(item)
        return item if item == 0 else run_long(item)

    results = map_in_threads(task, count(), 2)
    assert next(results) == 0
    start = time.monotonic()
    results.close()
    assert time.monotonic() - start < SHORT
    n_begun = len(begun)
    wait_for_abandoned()
    assert len(begun) == n_begun


def test_an_error_of_a_task_is_raised_after_the_others_have_ended(started):
    ended = []

    def task(item):
        if item == 0:
            started.wait()
            raise ValueError("no")
        started.set()
        time.sleep(0.05)
        ended.append(item)

    with pytest.raises(ValueError, match="no"):
        list(map_in_threads(task, range(2), 2))
    assert ended == [1]
    assert not is_any_abandoned_running()


@pytest.mark.parametrize("_", range(5))  # a signal just before the wait for the thread is rare
def test_a_long_call_is_left_at_once_after_an_interrupt(started, _):
    def task(seconds):
        started.set()
        time.sleep(seconds)
        return seconds

    assert call_interruptibly(task, 0.0) == 0.0
    started.clear()
    main = threading.main_thread().ident
    threading.Thread(target=lambda: started.wait() and signal.pthread_kill(main, signal.SIGINT)).start()
    before, start = signal.signal(signal.SIGINT, signal.default_int_handler), time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            call_interruptibly(task, LONG)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - start < SHORT
    wait_for_abandoned()


@pytest.mark.parametrize("n_threads", [1, 2])
def test_the_main_thread_computes_nothing_as_it_has_to_handle_signals(n_threads):
    threads = map_in_threads(lambda _: threading.current_thread(), range(3), n_threads)
    assert threading.main_thread() not in [*threads]
    assert threading.main_thread() not in ThreadTeam(n_threads).map(lambda _: threading.current_thread(), range(3))


def test_another_thread_is_one_of_its_team():
    """So it waits for nothing where one thread is enough."""
    (found,) = map_in_threads(lambda team: team.map(lambda _: threading.current_thread(), range(3)), [ThreadTeam(1)], 1)
    (own,) = map_in_threads(lambda _: threading.current_thread(), [0], 1)
    assert found == [own] * 3


def test_other_threads_compute_in_place_and_have_one_result_at_a_time():
    begun, other = [], []

    def run():
        results = map_in_threads(lambda n: begun.append(n) or threading.current_thread(), range(3), 1)
        other.extend([next(results), list(begun), threading.current_thread()])

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert other == [thread, [0], thread]


def test_one_thread_sees_the_context_of_the_caller_and_has_one_result_at_a_time():
    begun, variable = [], ContextVar("variable", default=0)
    token = variable.set(7)
    try:
        results = map_in_threads(lambda n: begun.append(n) or variable.get(), range(3), 1)
        assert (next(results), begun) == (7, [0])
    finally:
        variable.reset(token)
