"""Messages of the library with the names of the options."""

import argparse
import ast
import re
from pathlib import Path

import pytest

import anchorless
from anchorless._cli.main import build_parser
from anchorless._cli.options import PARAMETER_OPTIONS, make_int_parser, name_option, parse_number_or_auto, render_error
from anchorless.errors import InputError, RankError
from tests.helpers.command_runs import main, planted, run, run_command  # noqa: F401

ERRORS = [
    (
        RankError("there are only 12 words", parameter="n_topics", value=30, remedy="lower {n_topics} or {min_df}"),
        "--topics 30, but there are only 12 words; lower --topics or --min-df",
    ),
    (
        InputError("it is no language", parameter="stop_words", value="klingon"),
        "--stop-words klingon, but it is no language",
    ),
    (InputError("a.csv exists already", remedy="pass {force}"), "a.csv exists already; pass --force"),
    (InputError("cannot read min_df.csv: there is no such file"), "cannot read min_df.csv: there is no such file"),
    (InputError("'min_df' is no column; there are \"n_topics\""), "'min_df' is no column; there are \"n_topics\""),
]


@pytest.mark.parametrize(("error", "expected"), ERRORS)
def test_errors_name_options(error, expected):
    assert render_error(error) == expected


@pytest.mark.parametrize("option", sorted(set(PARAMETER_OPTIONS.values())))
def test_every_option_that_is_named_is_one(option, capsys):
    for name in ("fit", "search-k", "effects", "edit"):
        with pytest.raises(SystemExit):
            main([name, "--help"])
    assert option in capsys.readouterr().out


#: Parameters that errors name and no option sets: of estimators, metrics and functions that no command calls.
PYTHON_ONLY = {"client", "column", "cooccurrence", "floor", "max_iter", "n_threads", "n_words", "smoothing", "tol"}


def list_named_parameters(path):
    """Return the parameters that the errors and warnings of a module name."""
    for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(call, ast.Call) or not getattr(call.func, "id", "").endswith(("Error", "Warning")):
            continue
        texts = [node.value for node in ast.walk(call) if is_text(node)]
        yield from re.findall(r"\{([a-z][a-z0-9_]*)\}", " ".join(texts))
        yield from (ast.literal_eval(k.value) for k in call.keywords if k.arg == "parameter" and is_text(k.value))


def is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def test_every_parameter_that_an_error_names_has_an_option():
    (commands,) = (action for action in build_parser()._actions if isinstance(action, argparse._SubParsersAction))
    options = {text for one in commands.choices.values() for action in one._actions for text in action.option_strings}
    modules = Path(anchorless.__file__).parent.rglob("*.py")
    named = {name for path in modules for name in list_named_parameters(path)}
    assert {"n_topics", "min_df", "strict"} <= named
    assert {name for name in named if name_option(name) not in options} <= PYTHON_ONLY


@pytest.mark.parametrize(
    ("limits", "text"), [((), "0"), ((), "-1"), ((), "x"), ((), "1.5"), ((10,), "9"), ((0, 5), "6"), ((), "9" * 35)]
)
def test_numbers_outside_their_limits_are_refused(limits, text):
    with pytest.raises(Exception, match=rf"'{text}', but it must be a whole number"):
        make_int_parser(*limits)(text)
    assert make_int_parser(0, 5)(" 5 ") == 5


@pytest.mark.parametrize(("given", "expected"), [("explained", "reliable"), ("hard", "all"), ("all", "all")])
def test_old_words_for_the_constraint_are_accepted(given, expected):
    assert build_parser().parse_args(["fit", "a.csv", "--constraint", given]).constraint == expected


@pytest.mark.parametrize("command", ["fit", "search-k"])
def test_an_old_constraint_gives_no_warning(planted, tmp_path, command):  # noqa: F811
    ran = run_command(command, planted / "a.csv", "-k", "4", "--constraint", "hard", cwd=tmp_path)
    assert ran.code == 0
    assert "Warning" not in ran.err


def test_a_number_of_topics_beyond_floating_point_is_a_wrong_call(run):  # noqa: F811
    assert run("fit", "a.csv", "-k", "9" * 400).code == 2


@pytest.mark.parametrize("option", ["-j", "--jobs", "--threads"])
def test_the_number_of_threads_has_three_names(option):
    assert build_parser().parse_args(["fit", "a.csv", option, "3"]).jobs == 3


@pytest.mark.parametrize("text", ["", "GB", "2XB", "-1GB", "0", f"{'9' * 400}GB"])
def test_what_is_no_size_of_memory_is_a_wrong_call(run, text):  # noqa: F811
    ran = run("fit", "a.csv", f"--memory={text}")
    assert ran.code == 2
    assert "such as 500MB or 2GB" in ran.err


def test_a_wrong_number_of_topics_names_auto():
    assert parse_number_or_auto(" auto ") == "auto"
    assert parse_number_or_auto("7") == 7
    with pytest.raises(
        argparse.ArgumentTypeError, match="'many', but it must be a whole number of at least 1, or auto"
    ):
        parse_number_or_auto("many")
