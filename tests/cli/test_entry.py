"""The first second of the command, in which it imports what it needs."""

import os
import signal
import subprocess
import sys
import time

import pytest

import anchorless
from anchorless._cli import entry
from tests.helpers.command_runs import run_command, start_command

#: A command line that never finishes its imports, and swallows what interrupts them, as some modules do.
SLOW = """
import sys, types
from anchorless._cli import entry

class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "anchorless._cli.MODULE":
            import time
            print("importing", flush=True)
            while True:
                try:
                    time.sleep(0.05)
                except BaseException:
                    pass

sys.meta_path.insert(0, Slow())
sys.argv = ["anchorless", "show", "model"]
sys.exit(entry.main())
"""


#: A command line that waits for a thread, whose task takes a minute and is not interrupted.
BUSY = """
import atexit, os, sys, time
from anchorless._cli import entry, main
from anchorless._corpus.threads import map_in_threads

def task(item):
    os.write(1, b"importing\\n")  # in one piece: two threads write it
    time.sleep(60)

def run():
    try:
        list(map_in_threads(task, range(3), 2))
    except KeyboardInterrupt as error:
        return main.handle_error(error)

atexit.register(print, "cleaned up", file=sys.stderr)
main.main = run
sys.exit(entry.main())
"""


def interrupted(start, number=signal.SIGINT):
    with start_command(start=start) as child:
        try:
            assert child.stdout.readline() == b"importing\n"
            child.send_signal(number)
            _, err = child.communicate(timeout=30)
        finally:
            child.kill()  # what ignores the signal would be waited for without end
    return child.returncode, err.decode()


@pytest.mark.skipif(os.name != "posix", reason="Windows sends no signal to one process")
@pytest.mark.parametrize(
    ("module", "name", "message"),
    [
        ("main", "SIGINT", "interrupted"),
        ("show", "SIGINT", "interrupted"),
        ("main", "SIGTERM", "ended by SIGTERM"),
        ("show", "SIGTERM", "ended by SIGTERM"),
        ("show", "SIGHUP", "ended by SIGHUP"),
    ],
)
def test_signal_while_importing_is_one_line(module, name, message):
    number = getattr(signal, name)
    found = interrupted((sys.executable, "-c", SLOW.replace("MODULE", module)), number)
    assert found == (128 + number, f"anchorless: {message}\n")


@pytest.mark.skipif(os.name != "posix", reason="Windows sends no SIGINT to one process")
def test_interrupt_while_a_thread_computes_ends_the_process_at_once():
    start = time.monotonic()
    assert interrupted((sys.executable, "-c", BUSY)) == (130, "anchorless: interrupted\ncleaned up\n")
    assert time.monotonic() - start < 20  # the import included; the task takes a minute


def test_interrupt_before_the_command_listens_is_one_line(monkeypatch, capsys):
    def interrupted():
        raise KeyboardInterrupt

    left = []
    monkeypatch.setattr("anchorless._cli.main.main", interrupted)
    monkeypatch.setattr(entry, "leave_at_once", left.append)
    assert entry.main() == 130
    assert left == [130]
    assert capsys.readouterr().err == "anchorless: interrupted\n"


def test_nothing_heavy_is_imported_before_the_handler_is_there():
    heavy = {"numpy", "sklearn", "pyarrow", "argparse"}
    code = f"import sys, anchorless._cli.entry; print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_handler_is_put_back_and_the_code_returned(monkeypatch):
    seen = []
    monkeypatch.setattr("anchorless._cli.main.main", lambda: seen.append(signal.getsignal(signal.SIGINT)) or 7)
    before = signal.getsignal(signal.SIGINT)
    assert entry.main() == 7
    assert seen == [before] == [signal.getsignal(signal.SIGINT)]


def test_the_package_runs_as_a_module():
    ran = run_command("--version", start=(sys.executable, "-m", "anchorless"))
    assert ran == (0, f"anchorless {anchorless.__version__}\n", "")


def test_every_public_name_is_there_when_asked_for():
    code = "import anchorless as a; print([n for n in a.__all__ if getattr(a, n).__name__.rpartition('.')[2] != n])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
    assert set(anchorless.__all__) <= set(dir(anchorless))
    with pytest.raises(AttributeError, match="nothing"):
        _ = anchorless.nothing


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ModuleNotFoundError("No module named 'scipy'", name="scipy.sparse"), "the library scipy is missing"),
        (MemoryError(), "too little memory to start"),
        (ImportError("libx.so: failed to map segment from shared object"), "too little memory to start"),
        (ImportError("libx.so: undefined symbol: f"), "cannot be loaded (libx.so: undefined symbol: f)"),
    ],
)
def test_a_library_that_cannot_be_loaded_is_named(monkeypatch, capsys, error, message):
    class Broken:
        def find_spec(self, name, path=None, target=None):
            if name == "anchorless._cli.main":
                raise error

    monkeypatch.delitem(sys.modules, "anchorless._cli.main", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
    before = signal.getsignal(signal.SIGINT)
    try:
        assert entry.main() == 1
    finally:
        signal.signal(signal.SIGINT, before)
    assert message in capsys.readouterr().err
