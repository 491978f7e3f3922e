"""The first second of the command, in which it imports what it needs."""

import os
import signal
import subprocess
import sys
import time

import pytest

import anchorless
from anchorless._cli import entry
from tests.helpers.command_runs import FILES, list_tree, run_command, start_command, write_planted

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


CLOSED = """
import os, sys
for number in map(int, sys.argv[1].split(",")):
    os.close(number)
os.execv(sys.executable, [sys.executable, "-m", "anchorless", *sys.argv[2:]])
"""


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["0", "1", "2", "1,2", "0,1,2"])
def test_closed_streams_change_neither_the_results_nor_the_exit_code(tmp_path, closed):
    """Programs such as cron jobs start others so; Python has None for such a stream."""
    write_planted(tmp_path / "a.csv")
    start = (sys.executable, "-c", CLOSED, closed)
    ran = run_command("fit", "a.csv", "-k", "3", "-o", "out", "-q", start=start, cwd=tmp_path)
    assert (ran.code, ran.err) == (0, "")
    assert list_tree(tmp_path / "out") == sorted(FILES)
    ran = run_command("show", "out", start=start, cwd=tmp_path)
    assert (ran.code, ran.err, bool(ran.out)) == (0, "", "1" not in closed)
    assert run_command("show", "none", start=start, cwd=tmp_path).code == 1
    assert run_command("nothing", start=start, cwd=tmp_path).code == 2


def test_closed_stdin_is_named(tmp_path):
    start = (sys.executable, "-c", CLOSED, "0")
    ran = run_command("fit", "-", "-o", "out", start=start, cwd=tmp_path)
    assert (ran.code, ran.err) == (1, "anchorless: stdin is closed; give a file with texts\n")


def test_a_working_folder_that_is_gone_is_named(tmp_path):
    write_planted(tmp_path / "a.csv")
    (tmp_path / "gone").mkdir()
    start = ("sh", "-c", 'rmdir "$PWD"; exec "$0" -m anchorless "$@"', sys.executable)
    ran = run_command("fit", tmp_path / "a.csv", "-k", "3", start=start, cwd=tmp_path / "gone")
    message = "anchorless: the folder that this shell is in no longer exists; change to another one: cd\n"
    assert (ran.code, ran.err) == (1, message)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
@pytest.mark.parametrize("options", [(), ("--memory", "300KB"), ("--documents-format", "parquet")])
def test_names_of_files_may_have_bytes_that_are_not_utf_8(tmp_path, options):
    """As archives of other systems have."""
    name = os.fsdecode(b"\xe9t\xe9")
    write_planted(tmp_path / f"{name}.csv")
    ran = run_command("fit", f"{name}.csv", "-k", "3", "-q", *options, cwd=tmp_path)
    assert (ran.code, ran.err) == (0, "")
    write_planted(tmp_path / "a.csv")
    assert run_command("fit", "a.csv", "-k", "3", "-q", *options, cwd=tmp_path).code == 0
    there, usual = tmp_path / f"{name}-topics", tmp_path / "a-topics"
    assert list_tree(there) == list_tree(usual)
    table = next(path.name for path in usual.glob("documents.*"))
    assert (there / table).read_bytes() == (usual / table).read_bytes()
    applied = run_command("apply", f"{name}-topics", f"{name}.csv", "-o", f"{name}-applied.csv", "-q", cwd=tmp_path)
    assert (applied.code, applied.err) == (0, "")
