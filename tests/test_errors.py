"""Errors and warnings carry their parts, and each face renders them with its own names."""

import copy
import inspect
import pickle

import pytest

from anchorless import errors
from anchorless._estimators.anchorfree import VolumeConvergenceWarning
from anchorless.errors import AnchorlessError, InputError, RankError, SpectrumWarning, UsageError, suggest

KINDS = [getattr(errors, name) for name in errors.__all__]
EVERY_KIND = pytest.mark.parametrize("kind", [*KINDS, VolumeConvergenceWarning], ids=lambda kind: kind.__name__)
PARTS = {"parameter": "n_topics", "value": 8, "limit": 4, "remedy": "lower {n_topics} or {min_df}"}


def get_parts(error):
    return error.problem, error.parameter, error.value, error.limit, error.remedy


def test_every_error_of_the_module_is_public():
    kinds = {kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, BaseException)}
    assert kinds == set(KINDS)
    assert all(issubclass(kind, AnchorlessError) or issubclass(kind, Warning) for kind in KINDS)


def test_errors_are_those_that_a_caller_expects():
    assert issubclass(InputError, ValueError)
    assert issubclass(UsageError, InputError)
    assert issubclass(RankError, InputError)
    assert issubclass(errors.SolverError, RuntimeError)
    assert issubclass(errors.ClusterError, RuntimeError)
    assert issubclass(SpectrumWarning, UserWarning)


@EVERY_KIND
def test_the_message_has_the_value_the_problem_and_the_remedy(kind):
    error = kind("5 documents support at most 4 of {n_topics}", **PARTS)
    assert str(error) == "n_topics=8, but 5 documents support at most 4 of n_topics; lower n_topics or min_df"
    assert str(kind("a plain sentence")) == "a plain sentence"
    assert str(kind("a problem", remedy="a remedy")) == "a problem; a remedy"
    assert str(kind("it must be a number", parameter="tol", value="a")) == "tol='a', but it must be a number"


@EVERY_KIND
def test_python_writes_what_is_to_be_turned_on_with_its_value(kind):
    assert (
        str(kind("a.csv exists", remedy="pass {force} to replace it")) == "a.csv exists; pass force=True to replace it"
    )
    assert (
        str(kind("it is not", parameter="phrases", value=True, remedy="leave it"))
        == "phrases=True, but it is not; leave it"
    )


@EVERY_KIND
def test_braces_that_name_no_parameter_stay(kind):
    assert str(kind("the line {1} has {A b} and {}")) == "the line {1} has {A b} and {}"


@EVERY_KIND
def test_another_face_writes_its_own_names(kind):
    error = kind("{n_topics} is too large", **PARTS)
    text = error.render(lambda name: f"--{name.replace('_', '-')}", lambda option, value: f"{option} {value}")
    assert text == "--n-topics 8, but --n-topics is too large; lower --n-topics or --min-df"


@EVERY_KIND
def test_renaming_parameters_changes_no_other_word(kind):
    error = kind("n_topics is a word here, {n_topics} a parameter", **PARTS)
    renamed = error.rename_parameters({"n_topics": "n_components", "tol": "nothing"})
    assert type(renamed) is kind
    assert str(renamed) == (
        "n_components=8, but n_topics is a word here, n_components a parameter; lower n_components or min_df"
    )
    assert (renamed.value, renamed.limit) == (8, 4)
    assert str(kind("a sentence").rename_parameters({"n_topics": "n_components"})) == "a sentence"
    assert str(error).startswith("n_topics=8")  # the first one stays as it was


@EVERY_KIND
@pytest.mark.parametrize("copied", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_parts_are_kept_on_the_way_from_another_process(kind, copied):
    error = kind("a problem", **PARTS)
    again = copied(error)
    assert type(again) is kind
    assert get_parts(again) == get_parts(error)
    assert str(again) == str(error)


@pytest.mark.parametrize(("given", "says"), [("Revews.csv", "; did you mean reviews.csv?"), ("data", ""), ("", "")])
def test_the_nearest_known_name_is_suggested(given, says):
    assert suggest(given, ["reviews.csv", "notes.txt"]) == says
    assert suggest(given, []) == ""


def test_a_value_of_a_parameter_is_written_as_it_is_typed():
    error = InputError("long texts", remedy="divide them: {split=paragraph}, or {split=500}")
    assert str(error) == "long texts; divide them: split='paragraph', or split=500"
    option = errors.render_message(error.remedy, lambda name: f"--{name}")
    assert option == "divide them: --split paragraph, or --split 500"
    assert str(error.rename_parameters({"split": "parts"})).endswith("parts='paragraph', or parts=500")
