import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from functools import partial

import pytest

from anchorless._cli.progress import STAGES, ConsoleProgress, FitProgress, estimate_stage_costs, estimate_stage_passes
from anchorless.progress import report_progress
from tests.helpers.command_runs import planted, read_csv, write_csv

__all__ = ["planted"]


def run_on_terminal(*arguments, cwd, width=80):
    """Return what a command leaves on a terminal: lines that were wiped out or written over are gone."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    environment = {**os.environ, "TERM": "xterm"}
    command = [sys.executable, "-m", "anchorless._cli.main", *map(str, arguments)]
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, cwd=cwd, env=environment)
    os.close(theirs)
    parts = []
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        parts.append(part)
    os.close(ours)
    assert child.wait(60) == 0
    raw = b"".join(parts).decode().replace("\r\n", "\n")
    return raw, [written(line) for line in raw.split("\n")]


def written(line):
    """Return what a line with carriage returns and wipes looks like in the end."""
    cells, place = "", 0
    for part in re.split("(\r|\x1b\\[K)", line):
        if part == "\r":
            place = 0
        elif part == "\x1b[K":
            cells = cells[:place]
        else:
            cells = cells[:place] + part + cells[place + len(part) :]
            place += len(part)
    return cells.rstrip()


def test_bars_and_stages_leave_only_messages(planted, tmp_path):
    rows = read_csv(planted / "a.csv")
    write_csv(tmp_path / "a.csv", [rows[0], *rows[1:] * 40, ["x", "", "", ""]])
    raw, lines = run_on_terminal("fit", "a.csv", "-k", "4", cwd=tmp_path)
    assert "reading a.csv" in raw
    assert "left" in raw
    assert "finding 4 topics …" in raw
    assert "finding 4 topics: refinement" in raw
    assert re.search(r"finding 4 topics: .*% .* gone, about .* left", raw)
    assert "writing documents.csv" in raw
    assert not any(line.startswith(("reading", "counting", "finding", "writing")) for line in lines)
    assert "skipped 1 line without text (line 6402)" in lines
    assert 'read 6,400 documents from a.csv (column "text")' in lines
    assert not any("\x1b" in line for line in lines)


def test_quiet_on_a_terminal(planted, tmp_path):
    raw, _ = run_on_terminal("fit", planted / "a.csv", "-k", "4", "--quiet", "--json", cwd=tmp_path)
    assert raw.startswith("{")
    assert "\r" not in raw
    assert "\x1b" not in raw


class Terminal:
    """A file that says it is a terminal."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text
        return len(text)

    def flush(self):
        pass

    def isatty(self):
        return True

    @property
    def lines(self):
        return [written(line) for line in self.text.split("\n")]


def terminal_of(monkeypatch):
    """Put a terminal in the place of stderr; not a fixture, since pytest puts its own stderr there after those."""
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    return terminal


def test_a_stage_shows_what_is_done_and_clears_it(monkeypatch):
    terminal = terminal_of(monkeypatch)
    progress = ConsoleProgress(quiet=False)
    with progress.stage("a", "finding topics"):
        assert terminal.lines == ["finding topics …"]
    assert terminal.lines == [""]
    assert progress.seconds["a"] >= 0


def test_a_message_in_a_stage_stands_above_it(monkeypatch):
    terminal = terminal_of(monkeypatch)
    progress = ConsoleProgress(quiet=False)
    with progress.stage("a", "finding topics"):
        progress.log("first\nsecond")
        assert terminal.lines == ["first", "second", "finding topics …"]
    progress.log("third")
    assert terminal.lines == ["first", "second", "third", ""]


def test_a_message_beside_a_bar_stands_above_it(monkeypatch):
    terminal = terminal_of(monkeypatch)
    progress = ConsoleProgress(quiet=False)
    with progress.bar(desc="fits", iterable=range(3), unit="fit") as bar:
        for k in bar:
            progress.log(f"number {k}")
    assert terminal.lines == ["number 0", "number 1", "number 2", ""]


def test_the_stage_of_a_failure_is_cleared(monkeypatch):
    terminal = terminal_of(monkeypatch)
    with pytest.raises(ZeroDivisionError), ConsoleProgress(quiet=False).stage("a", "finding topics"):
        raise ZeroDivisionError
    assert terminal.lines == [""]


def test_quiet_writes_nothing_to_a_terminal(monkeypatch):
    terminal = terminal_of(monkeypatch)
    progress = ConsoleProgress(quiet=True)
    with progress.stage("a", "finding topics"):
        progress.log("hello")
        with progress.bar(desc="fits", total=3) as bar:
            bar.update(3)
    assert terminal.text == ""
    assert "a" in progress.seconds


def test_without_a_terminal_lines_alone(capsys):
    progress = ConsoleProgress(quiet=False)
    with progress.stage("a", "finding topics"):
        progress.log("hello")
        with progress.bar(desc="fits", total=3) as bar:
            bar.update(3)
    assert capsys.readouterr().err == "hello\n"


def test_a_name_does_not_control_the_terminal(monkeypatch):
    terminal = terminal_of(monkeypatch)
    progress = ConsoleProgress(quiet=False)
    with progress.stage("a", "counting evil\x1b[2J.csv"):
        progress.log("read evil\x1b[2J.csv")
    assert "\x1b[2J" not in terminal.text


@pytest.mark.parametrize(("total", "says"), [(3000, "left"), (None, "3.00kB")])
def test_a_bar_fits_into_the_line_whatever_the_name(monkeypatch, total, says):
    terminal = terminal_of(monkeypatch)
    monkeypatch.setattr("anchorless._cli.progress.Bar.monitor_interval", 0)
    progress = ConsoleProgress(quiet=False)
    monkeypatch.setattr(progress, "bar", partial(progress.bar, mininterval=0))
    with progress.stage("a", "counting"):
        with progress.track_reading("/a/very/long/path/to/" + "n" * 60 + ".csv"):
            for n_bytes in (1000, 2000, 3000):
                report_progress("reading", n_bytes, total)
            report_progress("another stage", 9, 9)
        assert terminal.lines == ["counting …"]  # the last batches are still to be counted
    bars = [part for part in terminal.text.split("\r") if part.startswith("reading")]
    assert says in bars[-1]
    assert max(map(len, bars)) <= 80


@pytest.mark.parametrize("n_topics", [2, 20, 500])
def test_every_stage_has_a_cost(n_topics):
    costs = estimate_stage_costs(n_topics)
    assert set(costs) == set(STAGES)
    assert min(costs.values()) > 0


def shown_percentages(terminal):
    return [int(found) for found in re.findall(r"finding \d+ topics: .*?(\d+)% ", terminal.text)]


@pytest.mark.parametrize("n_topics", [3, 100])
def test_a_fit_goes_from_stage_to_stage_and_never_back(monkeypatch, n_topics):
    terminal = terminal_of(monkeypatch)
    progress = ConsoleProgress(quiet=False)
    monkeypatch.setattr(progress, "bar", partial(progress.bar, mininterval=0))
    with progress.stage("topics", "finding"), progress.track_fitting(n_topics):
        for stage in STAGES:
            if stage == "volume":
                for _ in range(3):  # several starts
                    for sweep in range(1, 9):
                        report_progress("volume", sweep, None)
            report_progress("a stage that is new", 1, 2)
            report_progress(stage, 1, 2)
            report_progress(stage, 2, 2)
    percentages = shown_percentages(terminal)
    assert percentages == sorted(percentages)
    assert percentages[0] < 50
    assert percentages[-1] == 100
    assert "about" in terminal.text
    assert all(f"finding {n_topics} topics: {name}" in terminal.text for name in STAGES.values())
    assert terminal.lines == [""]


def pass_over_blocks(course, n_blocks=4):
    """Return how far a fit is after each block of a pass over documents on disk."""
    completed = []
    for block in range(1, n_blocks + 1):
        course.update("pass", block, n_blocks)
        completed.append(course.completed)
    return completed


@pytest.mark.parametrize("n_topics", [2, 20, 500])
def test_passes_over_documents_on_disk_advance_the_current_stage(n_topics):
    course, costs, completed = FitProgress(n_topics), estimate_stage_costs(n_topics), [0.0]
    for place, stage in enumerate(STAGES):
        assert course.stage == stage
        n_passes = estimate_stage_passes(n_topics).get(stage, 2)
        first, *others = [pass_over_blocks(course) for _ in range(n_passes + 3)]  # three more than expected
        assert first[-1] - completed[-1] == pytest.approx(costs[stage] * min(1 / n_passes, 0.95))
        assert first == sorted(set(first)) or n_passes == 1
        completed += [*first, *(share for shares in others for share in shares)]
        assert completed[-1] < sum(costs[name] for name in list(STAGES)[: place + 1])  # the stage is not done yet
        course.update(stage, 1, 1)
        completed.append(course.completed)
        assert completed[-1] == pytest.approx(sum(costs[name] for name in list(STAGES)[: place + 1]))
    assert completed == sorted(completed)
    assert course.completed == pytest.approx(course.total)


def interrupted_fit():
    report_progress("spectrum", 1, 1)
    raise KeyboardInterrupt


#: A process whose fork ends while it draws a bar.
FORK = """
import os
from anchorless._cli.progress import Bar, ConsoleProgress

with ConsoleProgress(quiet=True).bar(desc="first"):
    pass
child = os.fork()
if child == 0:
    Bar.get_lock().acquire()
    os._exit(0)
os.waitpid(child, 0)
with ConsoleProgress(quiet=True).bar(desc="second"):
    print("drawn")
"""


def test_a_bar_does_not_wait_for_a_fork_that_was_killed_while_it_drew_one():
    ran = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, timeout=60)
    assert ran.stdout == "drawn\n", ran.stderr


def test_an_interrupted_fit_leaves_no_bar(monkeypatch):
    terminal = terminal_of(monkeypatch)
    progress = ConsoleProgress(quiet=False)
    with pytest.raises(KeyboardInterrupt), progress.stage("topics", "finding"), progress.track_fitting(3):
        interrupted_fit()
    assert "about" in terminal.text
    assert terminal.lines == [""]


def test_rows_are_counted_as_they_are_written(monkeypatch):
    terminal = terminal_of(monkeypatch)
    progress = ConsoleProgress(quiet=False)
    monkeypatch.setattr(progress, "bar", partial(progress.bar, mininterval=0))
    with progress.stage("write", "writing"):
        assert list(progress.track_documents([("aaa", 1), ("b", 2)], 4, "documents.csv")) == [("aaa", 1), ("b", 2)]
    assert "writing documents.csv  75%" in terminal.text
    assert "writing documents.csv 100%" in terminal.text
    assert terminal.lines == [""]


def test_a_bar_of_steps_follows_the_number_of_all_steps(monkeypatch):
    """Resamples of a model with a token model have two stages, which the caller of the bar does not know."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with ConsoleProgress(quiet=False).track_steps("bootstrap resamples", 10) as advance:
        time.sleep(0.15)  # the bar is not drawn more often than every 0.1 s
        advance(10, 20)
    assert " 50% " in terminal.text
    assert "100%" not in terminal.text


def test_the_time_left_of_steps_that_end_in_pairs_is_that_of_all_steps(monkeypatch):
    """Two threads end a step each every eight seconds, almost at once: at half of 20 steps, 40 seconds are left."""
    terminal, clock = Terminal(), [0.0]
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr("tqdm.std.time", lambda: clock[0])
    with ConsoleProgress(quiet=False).track_steps("bootstrap resamples", 20) as advance:
        for pair in range(1, 6):
            for k, seconds in ((1, 8.0 * pair), (0, 8.0 * pair + 0.2)):
                clock[0] = seconds
                advance(2 * pair - k, 20)
    assert re.findall(r" 50% .*? 00:40 gone, about 00:(\d+) left", terminal.text) == ["40"]


def test_the_time_of_a_bar_goes_on_within_a_step(monkeypatch):
    terminal, clock = Terminal(), [0.0]
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr("tqdm.std.time", lambda: clock[0])
    with ConsoleProgress(quiet=False).track_steps("numbers of topics", 4) as advance:
        clock[0] = 5.0
        advance(1, 4)
        clock[0] = 8.0
        report_progress("volume", 3, None)
    assert re.findall(r" 25% .*? 00:(\d+) gone", terminal.text) == ["05", "08"]
