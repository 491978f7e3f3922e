import argparse
import errno
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from anchorless import __version__
from anchorless._cli.main import COMMANDS, build_parser, exit_with_signal, main
from anchorless.errors import SolverError
from tests.helpers.command_runs import (
    FILES,
    get_refusal,
    list_tree,
    planted,
    read_csv,
    run,
    run_command,
    start_command,
    write_csv,
    write_planted,
)

__all__ = ["planted", "run"]


def test_version(run):
    assert run("--version") == (0, f"anchorless {__version__}\n", "")


def test_help_has_every_command_and_exit_code(run):
    ran = run("--help")
    assert ran.code == 0
    assert all(name in ran.out for name in COMMANDS)
    assert all(f"\n  {code} " in ran.out for code in (0, 1, 2, 70, 130))


@pytest.mark.parametrize("call", [[], *([name] for name in COMMANDS)], ids=str)
def test_help_is_printed_without_importing_libraries(call):
    code = (
        f"import sys; from anchorless._cli.main import main\ntry: main([*{call}, '--help'])\nexcept SystemExit: pass\n"
    )
    code += "assert not {'numpy', 'pyarrow', 'sklearn'} & set(sys.modules), 'imported'"
    assert subprocess.run([sys.executable, "-c", code], check=False, stdout=subprocess.DEVNULL).returncode == 0


def test_details_follow_the_message(run, monkeypatch):
    error = SolverError("a step of the fit could not be computed", remedy="lower {n_topics}", details="a dual gap")
    monkeypatch.setattr("anchorless._cli.fit.read_corpus", lambda *args, **kwargs: (_ for _ in ()).throw(error))
    ran = run("fit", "a.csv")
    assert ran.err.splitlines()[-1] == (
        "anchorless: a step of the fit could not be computed; lower --topics (details: a dual gap)"
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_has_its_example(run, name):
    command = COMMANDS[name]
    ran = run(name, "--help")
    assert ran.code == 0
    assert f"example:\n  {command.example}" in ran.out
    assert command.example.startswith(f"anchorless {name} ")


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_names_commands_and_options(run, shell):
    ran = run("--print-completion", shell)
    assert ran.code == 0
    assert all(word in ran.out for word in ("search-k", "--text-column", "--max-features"))


def test_choices_have_positions():
    """Early versions of shtab ask for the first one."""
    parsers = [build_parser()]
    for parser in parsers:
        actions = [action for action in parser._actions if action.choices is not None]
        commands = [action for action in actions if isinstance(action, argparse._SubParsersAction)]
        parsers += [each for action in commands for each in action.choices.values()]
        assert all(action.choices[0] for action in actions if action not in commands)


def test_bash_understands_its_completion(run, tmp_path):
    (tmp_path / "script").write_text(run("--print-completion", "bash").out)
    assert subprocess.run(["bash", "-n", tmp_path / "script"], check=False).returncode == 0


WRONG_CALLS = {
    "no command": [],
    "unknown command": ["fly"],
    "unknown option": ["fit", "a.csv", "--wings"],
    "no input": ["fit"],
    "no number": ["fit", "a.csv", "-k", "many"],
    "no topics": ["fit", "a.csv", "-k", "0"],
    "negative seed": ["fit", "a.csv", "--seed", "-1"],
    "negative seed of evaluate": ["evaluate", "m", "a.csv", "--seed", "-1"],
    "bad frequency": ["fit", "a.csv", "--min-df", "often"],
    "bad n-grams": ["fit", "a.csv", "--ngrams", "1-2-3"],
    "bad list of numbers": ["search-k", "a.csv", "-k", "5-x"],
    "missing file of stop words": ["fit", "a.csv", "--extra-stop-words", "@nope"],
}


@pytest.mark.parametrize("arguments", WRONG_CALLS.values(), ids=WRONG_CALLS)
def test_wrong_call_is_exit_code_2(run, tmp_path, arguments):
    ran = run(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.splitlines()[-1].startswith("anchorless")
    assert list_tree(tmp_path) == []


def run_into(run, monkeypatch, error):
    """Run a command that ends with an error."""

    def fail(path):
        raise error

    monkeypatch.setattr("anchorless._cli.show.TopicModel.load", fail)
    return run("show", "m")


def test_interrupt_is_exit_code_130(run, monkeypatch):
    assert get_refusal(run_into(run, monkeypatch, KeyboardInterrupt()), 130) == "interrupted"


def test_out_of_memory_is_reported(run, monkeypatch):
    assert get_refusal(run_into(run, monkeypatch, MemoryError())).startswith("out of memory")


def test_a_bug_is_exit_code_70_and_asks_for_a_report(run, monkeypatch):
    ran = run_into(run, monkeypatch, ZeroDivisionError("a\nb"))
    assert ran.code == 70
    assert len(ran.err.splitlines()) == 1
    assert "ZeroDivisionError: a b" in ran.err
    assert "ANCHORLESS_DEBUG" in ran.err


def test_a_bug_has_a_traceback_on_request(run, monkeypatch):
    monkeypatch.setenv("ANCHORLESS_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        run_into(run, monkeypatch, ZeroDivisionError())


def test_an_error_of_the_system_is_not_a_bug(run, monkeypatch):
    assert "No space left" in get_refusal(
        run_into(run, monkeypatch, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "f"))
    )


def test_an_error_does_not_control_the_terminal(run):
    assert "\x1b" not in run("show", "evil\x1b[2J").err


def test_runs_in_another_thread(planted, capsys):
    codes = []
    thread = threading.Thread(target=lambda: codes.append(main(["show", str(planted / "a-topics"), "--json"])))
    thread.start()
    thread.join()
    assert codes == [0]


def test_signal_handlers_are_restored(run, planted):
    before = signal.getsignal(signal.SIGTERM)
    assert run("show", planted / "a-topics").code == 0
    assert signal.getsignal(signal.SIGTERM) is before


# in a process of its own


def test_texts_from_stdin_and_table_to_stdout(planted, tmp_path):
    texts = "".join(f"{row[1]}\n" for row in read_csv(planted / "a.csv")[1:]).encode()
    ran = run_command("fit", "-", "-k", "4", "--json", given=texts, cwd=tmp_path)
    assert ran.code == 0, ran.err
    assert len(ran.json["topics"]) == 4
    assert sorted(os.listdir(tmp_path)) == ["stdin-topics"]
    ran = run_command("apply", "stdin-topics", "-", given=texts, cwd=tmp_path)
    assert ran.code == 0, ran.err
    assert ran.out == (tmp_path / "stdin-topics" / "documents.csv").read_text()


def test_nothing_on_stdin_is_refused(tmp_path):
    assert get_refusal(run_command("fit", "-", cwd=tmp_path)) == "stdin is empty; give a file with texts"
    assert list_tree(tmp_path) == []


@pytest.mark.parametrize(
    ("command", "number", "code"),
    [
        (["fit", "-", "-o", "new/folder"], signal.SIGINT, 130),
        (["fit", "-", "-o", "new/folder"], signal.SIGTERM, 143),
        (["apply", "MODEL", "-", "-o", "new.csv"], signal.SIGINT, 130),
    ],
    ids=["fit, Ctrl-C", "fit, terminated", "apply, Ctrl-C"],
)
def test_signal_leaves_nothing_half_written(planted, tmp_path, command, number, code):
    command = [str(planted / "a-topics") if word == "MODEL" else word for word in command]
    with start_command(*command, "--format", "lines", cwd=tmp_path) as child:
        child.stdin.write(b"bread and butter\n" * 200_000)
        child.stdin.flush()
        deadline = time.monotonic() + 60
        while not list_tree(tmp_path) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert list_tree(tmp_path)  # under way
        child.send_signal(number)
        child.stdin.close()
        child.stdin = None
        _, err = child.communicate(timeout=60)
    assert child.returncode == code
    assert (b"interrupted" if number == signal.SIGINT else b"ended by SIGTERM") in err
    assert b"Traceback" not in err
    assert list_tree(tmp_path) == []


def test_a_closed_pipe_is_no_error(planted, tmp_path):
    source = tmp_path / "long.csv"
    write_csv(source, [["text"], *[["bread and butter " * 20]] * 20_000])
    with start_command("apply", planted / "a-topics", source, stderr=subprocess.PIPE) as child:
        child.stdout.readline()
        child.stdout.close()
        child.stdin.close()
        err = child.stderr.read()
        assert child.wait(60) == 0
    assert b"Traceback" not in err
    assert b"Exception ignored" not in err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_stdout_on_a_full_disk(planted):
    with open("/dev/full", "wb") as full:
        ran = run_command("show", planted / "a-topics", stdout=full)
    assert ran.code == 1
    assert len(ran.err.splitlines()) == 1
    assert "space" in ran.err or "full" in ran.err


@pytest.mark.parametrize(
    "command",
    [
        ["fit", "a.csv", "-k", "4", "-o", "out"],
        ["apply", "model", "a.csv", "-o", "out.csv"],
        ["convert", "a.csv", "out.npz"],
    ],
    ids=" ".join,
)
def test_full_disk_leaves_nothing(planted, tmp_path, command):
    os.symlink(planted / "a.csv", tmp_path / "a.csv")
    os.symlink(planted / "a-topics", tmp_path / "model")
    limit = 100 if command[0] == "convert" else 3000

    def nearly_full():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    ran = run_command(*command, cwd=tmp_path, preexec_fn=nearly_full)
    assert "cannot write" in get_refusal(ran)
    assert sorted(os.listdir(tmp_path)) == ["a.csv", "model"]


def test_an_ascii_terminal(planted):
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    ran = run_command("show", planted / "a-topics", "--words", "40", env=environment | {"COLUMNS": "60"})
    assert ran.code == 0, ran.err
    assert "\\u2026" in ran.out


# bad input, the same for every command that reads


def text_file(name, content):
    def make(folder):
        (folder / name).write_bytes(content)
        return name

    return make


def folder_without_text(folder):
    (folder / "texts").mkdir()
    (folder / "texts" / "picture.png").write_bytes(b"\x89PNG")
    return "texts"


BAD_INPUT = {
    "missing file": (lambda folder: "nope.csv", 1, "there is no such file"),
    "folder without text": (folder_without_text, 1, "no .txt file"),
    "binary file": (text_file("b.csv", bytes(range(256)) * 20), 1, "binary"),
    "empty file": (text_file("e.csv", b""), 1, "empty"),
    "header only": (text_file("h.csv", b"id,text\n"), 1, "no rows"),
    "one document": (text_file("o.csv", b"id,text\n1,bread and butter\n"), 1, "at least 2"),
    "all documents empty": (text_file("s.csv", b'id,text\n1,\n2,"  "\n'), 1, "no documents"),
    "only stop words": (text_file("w.csv", b"id,text\n1,the\n2,of the\n"), 1, "no word is left"),
    "no obvious column": (text_file("c.csv", b"a,b\n1,2\n3,4\n"), 2, "--text-column"),
    "broken JSON": (text_file("j.jsonl", b'{"text": "bread"}\n{"text": \n'), 1, "line 2"),
    "broken gzip": (text_file("g.csv.gz", b"\x1f\x8b\x08\x00abc"), 1, "g.csv.gz"),
}


@pytest.mark.parametrize(("make", "code", "says"), BAD_INPUT.values(), ids=BAD_INPUT)
@pytest.mark.parametrize("command", ["fit", "convert", "search-k"])
def test_bad_input_is_refused_in_one_line(run, tmp_path, command, make, code, says):
    name = make(tmp_path)
    before = list_tree(tmp_path)
    strict = ["--strict"] if name.endswith(".jsonl") else []
    ran = run(command, name, *strict, *(["out.npz"] if command == "convert" else []))
    assert says in get_refusal(ran, code)
    assert list_tree(tmp_path) == before


@pytest.mark.parametrize("option", ["--text-column", "--id-column", "--label-column", "--date-column"])
def test_wrong_column_is_exit_code_2_and_lists_the_columns(run, planted, tmp_path, option):
    message = get_refusal(run("fit", planted / "a.csv", option, "nope", "-k", "4"), 2)
    assert f"{option} nope, but" in message
    assert "label" in message
    assert list_tree(tmp_path) == []


def test_apply_and_evaluate_refuse_bad_input_too(run, planted, tmp_path):
    for command in ("apply", "evaluate"):
        assert "no such file" in get_refusal(run(command, planted / "a-topics", "nope.csv"))
        assert "--text-column nope, but" in get_refusal(
            run(command, planted / "a-topics", planted / "a.csv", "--text-column", "nope"), 2
        )
    get_refusal(run("apply", planted / "a-topics", "nope.csv", "-o", "x.csv"))
    assert list_tree(tmp_path) == []


SKIPPED = {
    "latin-1 bytes": (b"x,caf\xe9 bread\n", "do not decode"),
    "ragged row": (b"x,bread,far,too,many\n", "could not be read"),
    "row without text": (b"x,\n", "without text"),
    "duplicate id": (b"d1,bread and butter\n", "an id that an earlier document has"),
}


@pytest.mark.parametrize(("row", "says"), SKIPPED.values(), ids=SKIPPED)
def test_bad_rows_are_counted_and_strict_refuses_them(run, tmp_path, row, says):
    write_planted(tmp_path / "p.csv")
    rows = [row[:2] for row in read_csv(tmp_path / "p.csv")]
    write_csv(tmp_path / "a.csv", rows)
    with open(tmp_path / "a.csv", "ab") as file:
        file.write(row)
    ran = run("fit", "a.csv", "-k", "4", "-o", "out", "--id-column", "id")
    assert ran.code == 0, ran.err
    assert says in ran.err
    assert "162" in ran.err  # the line
    message = get_refusal(run("fit", "a.csv", "-k", "4", "-o", "strict", "--strict", "--id-column", "id"))
    assert says in message
    assert "line 162" in message
    assert "without --strict" in message
    assert not (tmp_path / "strict").exists()


def fit_documents(run, content, *options):
    Path("x.csv").write_bytes(content)
    ran = run("fit", "x.csv", "-k", "4", "-f", *options)
    assert ran.code == 0, ran.err
    return Path("x-topics/documents.csv").read_bytes()


def test_encodings_marks_and_nul_bytes_do_not_change_the_topics(run, planted, tmp_path):
    plain = (planted / "a.csv").read_bytes()
    wanted = fit_documents(run, plain)
    assert fit_documents(run, b"\xef\xbb\xbf" + plain) == wanted
    assert fit_documents(run, plain.decode().encode("latin-1"), "--encoding", "latin-1") == wanted
    assert fit_documents(run, plain.decode().encode("utf-16")) == wanted
    assert fit_documents(run, plain.replace(b" court ", b"\0court\0")) == wanted
    assert fit_documents(run, plain.replace(b"\n", b"\r\n").replace(b" court ", b" court ")) == wanted


def test_quoted_newlines_stay_in_their_document(run, tmp_path):
    write_planted(tmp_path / "p.csv")
    rows = read_csv(tmp_path / "p.csv")
    write_csv(tmp_path / "a.csv", [rows[0], *([r[0], r[1].replace(" ", "\n"), "a\nb", r[3]] for r in rows[1:])])
    assert run("fit", "a.csv", "-k", "4").code == 0
    documents = read_csv(tmp_path / "a-topics" / "documents.csv")
    assert len(documents) == 161
    assert {row[1] for row in documents[1:]} == {"a\nb"}


def test_a_line_of_50_megabytes(tmp_path):
    write_planted(tmp_path / "a.csv")
    with open(tmp_path / "a.csv", "ab") as file:
        file.write(b"huge," + b"bread butter court judge " * 2_000_000 + b",food,2020-01-01\n")
    ran = run_command("fit", "a.csv", "-k", "4", cwd=tmp_path)
    assert ran.code == 0, ran.err
    assert sorted(os.listdir(tmp_path / "a-topics")) == sorted(FILES)


NO_PERMISSION = {
    "fit": ["fit", "A", "-k", "4", "-o", "out"],
    "apply": ["apply", "M", "A", "-o", "out.csv"],
    "convert": ["convert", "A", "out.npz"],
    "report": ["report", "M", "-o", "out.html"],
}


@pytest.mark.parametrize("arguments", NO_PERMISSION.values(), ids=NO_PERMISSION)
@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS])
def test_no_permission_to_write(run, planted, tmp_path, monkeypatch, arguments, number):
    def refuse(path, *_, **__):
        if str(path).startswith(str(tmp_path)):
            raise OSError(number, os.strerror(number), str(path))
        return opened(path, *_, **__)

    opened = os.open
    monkeypatch.setattr("os.open", refuse)
    monkeypatch.setattr("os.mkdir", refuse)
    given = {"A": planted / "a.csv", "M": planted / "a-topics"}
    message = get_refusal(run(*(given.get(word, word) for word in arguments)))
    assert "cannot write" in message
    assert "choose another place" in message
    assert list_tree(tmp_path) == []


def test_a_folder_that_takes_no_files(run, planted):
    assert "cannot write" in get_refusal(run("fit", planted / "a.csv", "-o", "/proc/nope"))
    assert "cannot write" in get_refusal(run("apply", planted / "a-topics", planted / "a.csv", "-o", "/proc/nope.csv"))


EXISTING = {
    "fit": (["fit", "A", "-k", "4", "-o", "out"], "out/mine.txt"),
    "apply": (["apply", "M", "A", "-o", "out.csv"], "out.csv"),
    "convert": (["convert", "A", "out.npz"], "out.npz"),
    "report": (["report", "M", "-o", "out.html"], "out.html"),
}


@pytest.mark.parametrize(("arguments", "there"), EXISTING.values(), ids=EXISTING)
def test_existing_output_is_kept_without_force(run, planted, tmp_path, arguments, there):
    given = {"A": planted / "a.csv", "M": planted / "a-topics"}
    arguments = [given.get(word, word) for word in arguments]
    (tmp_path / there).parent.mkdir(exist_ok=True)
    (tmp_path / there).write_text("mine")
    message = get_refusal(run(*arguments))
    assert "exists already" in message
    assert "--force" in message
    assert (tmp_path / there).read_text() == "mine"
    ran = run(*arguments, "--force")
    assert ran.code == 0, ran.err
    assert ((tmp_path / there).read_bytes() == b"mine") == (arguments[0] == "fit")


def test_ids_of_which_one_repeats_are_kept_with_a_note(run, tmp_path):
    write_planted(tmp_path / "a.csv")
    with open(tmp_path / "a.csv", "a") as file:
        file.write("d1,bread and butter,food,2020-01-01\n")
    ran = run("fit", "a.csv", "-k", "4")
    assert "with an id that an earlier document has" in ran.err
    header, *rows = read_csv(tmp_path / "a-topics" / "documents.csv")
    assert rows[160][header.index("id")] == "d1"
    assert "d1" in get_refusal(run("fit", "a.csv", "-k", "4", "-o", "strict", "--strict"))


def test_ids_that_nearly_all_repeat_are_replaced_by_numbers_with_a_note(run, tmp_path):
    write_planted(tmp_path / "a.csv")
    header, *rows = read_csv(tmp_path / "a.csv")
    write_csv(tmp_path / "a.csv", [header, *([f"d{k % 9}", *row[1:]] for k, row in enumerate(rows))])
    ran = run("fit", "a.csv", "-k", "4")
    assert "--id-column id" in ran.err
    header, *rows = read_csv(tmp_path / "a-topics" / "documents.csv")
    assert [row[header.index("id")] for row in rows] == [str(k + 1) for k in range(160)]
    assert rows[10][header.index("input_id")] == "d1"


def test_the_script_runs():
    script = Path(sys.executable).with_name("anchorless")
    if not script.exists():
        pytest.skip("installed without its script")
    ran = subprocess.run([script, "--version"], capture_output=True, check=True)
    assert ran.stdout.decode() == f"anchorless {__version__}\n"


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no terminals that hang up")
def test_a_signal_that_is_ignored_stays_ignored(run, planted, monkeypatch):
    seen = []
    monkeypatch.setattr(
        "anchorless._cli.main.build_parser", lambda wanted: seen.append(signal.getsignal(signal.SIGHUP)) or 1 / 0
    )
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        run("show", "m")
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        run("show", "m")
    finally:
        signal.signal(signal.SIGHUP, before)
    assert seen == [signal.SIG_IGN, exit_with_signal]


def test_a_pipe_closed_before_the_first_line_is_no_error(planted):
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with start_command("show", planted / "a-topics", env=buffered) as child:
        child.stdout.close()
        child.stdin.close()
        assert child.stderr.read() == b""
        assert child.wait(60) == 0


TYPOS = {
    "option": (["fit", "reviews.csv", "--topcs", "4"], "--topcs 4; did you mean --topics? see anchorless fit --help"),
    "option with =": (["fit", "a.csv", "--topcs=4"], "--topcs=4; did you mean --topics? see anchorless fit --help"),
    "unlike any option": (["fit", "reviews.csv", "--zzz"], "unrecognized arguments: --zzz; see anchorless fit --help"),
    "command": (["fti", "reviews.csv"], "; did you mean fit? see anchorless --help"),
    "choice": (["fit", "reviews.csv", "--format", "cvs"], "; did you mean csv? see anchorless fit --help"),
}


@pytest.mark.parametrize(("arguments", "says"), TYPOS.values(), ids=TYPOS)
def test_a_typo_in_the_call_is_answered_with_the_nearest_word(run, arguments, says):
    assert get_refusal(run(*arguments), 2).endswith(says)


def test_a_missing_file_is_answered_with_the_nearest_name(run, tmp_path):
    (tmp_path / "reviews.csv").write_text("text\na\n")
    assert get_refusal(run("fit", "revews.csv")).endswith("there is no such file; did you mean reviews.csv?")
    assert get_refusal(run("fit", tmp_path / "Reviews.CSV")).endswith("did you mean reviews.csv?")
    assert get_refusal(run("fit", "data.txt")).endswith("there is no such file")
    assert get_refusal(run("fit", "folder/reviews.csv")).endswith("there is no such file")
