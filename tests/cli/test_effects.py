"""`anchorless effects`, and `fit` with covariates and a formula."""

import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from anchorless import Corpus, TopicModel
from anchorless._cli.main import main
from anchorless._effects import plot
from tests.helpers.command_runs import get_refusal, list_tree, read_csv, run, write_csv
from tests.helpers.planted_texts import planted_texts

__all__ = ["run"]

N = 160
WITH_FIGURES = ("test_the_table_is_that_of_python", "test_the_same_command_writes_the_same_bytes")
WRITTEN = ["effects.csv", "effects.png", "effects.svg", "report.html"]


def make_table():
    """Return planted documents with columns of every kind, good and bad."""
    texts, themes = planted_texts(N)
    days = [f"2008-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(N)]
    return pd.DataFrame(
        {
            "text": texts,
            "theme": themes,
            "half": np.repeat(["x", "y"], N // 2),
            "number": np.random.default_rng(0).standard_normal(N).round(3),
            "gaps": ["" if i % 10 == 0 else str(i % 7) for i in range(N)],
            "day": days,
            "author": [f"a{i % 20}" for i in range(N)],
            "constant": "c",
            "double": 2.0 * np.arange(N),
            "single": np.arange(N),
            "empty": "",
            "wrong_day": ["2008-13-45" if i == 7 else day for i, day in enumerate(days)],
        }
    )


@pytest.fixture(autouse=True)
def _blank_figures(request, monkeypatch):
    """Write blank figures, except where their bytes are compared: rendering takes most of the time of a command."""
    if request.node.originalname not in WITH_FIGURES:
        monkeypatch.setattr(plot, "render_figure", lambda figure, format: b"blank")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with planted documents as a.csv and as counts, and a-topics that `fit` wrote for it."""
    folder = tmp_path_factory.mktemp("effects")
    table = make_table()
    table.to_csv(folder / "a.csv", index=False)
    table.drop(columns="text").to_csv(folder / "about.csv", index=False)
    with Corpus.from_texts(table["text"]) as corpus:
        sp.save_npz(folder / "a.npz", corpus.to_matrix())
        (folder / "a.vocab.txt").write_text("\n".join(corpus.vocabulary), encoding="utf-8")
    arguments = ["-k", "4", "--covariates", "theme,half", "--quiet", "--json"]
    for name, extra in (("a.csv", []), ("a.npz", ["--metadata", str(folder / "about.csv")])):
        target = folder / f"{name.replace('.', '-')}-topics"
        assert main(["fit", str(folder / name), "-o", str(target), *arguments, *extra]) == 0
    return folder


def estimate(run, folder, formula, *arguments):
    return run("effects", folder / "a-csv-topics", folder / "a.csv", "--formula", formula, "-o", "out", *arguments)


def test_the_table_is_that_of_python(run, folder, tmp_path):
    ran = estimate(run, folder, "~ theme + s(day)", "--groups", "author", "--level", "0.8", "--draws", "8")
    assert ran.code == 0, ran.err
    assert list_tree(tmp_path) == ["out", *(f"out/{name}" for name in WRITTEN)]
    table = make_table()
    model = TopicModel.load(folder / "a-csv-topics" / "model.anchorless").set_params(n_jobs=1)
    wanted = model.effects(
        "~ theme + s(day)", table, documents=list(table["text"]), groups="author", level=0.8, n_draws=8
    ).frame()
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "out" / "effects.csv"), wanted, rtol=1e-4, atol=1e-5)


def test_the_summary_says_documents_estimand_and_the_strongest_evidence(run, folder):
    ran = estimate(run, folder, "~ theme + gaps")
    assert "160 documents" in ran.err
    lines = ran.out.splitlines()
    assert lines[0] == "Effects on topics, ~ theme + gaps"
    assert lines[1] == "Estimated: mean share of the topic over documents, each counted once."
    assert lines[2] == "144 documents; 16 left out (no value of gaps). Intervals: 90%."
    listed = [line for line in lines[3:] if line.startswith("topic ")]
    rows = 4 * 4  # topics, and coefficients: three of theme, one of gaps
    assert lines[-len(listed) - 1] == (
        f"{len(listed)} of {rows} effects have p < 0.05, corrected for the number of topics. They are listed with 90% "
        f"intervals; the other {rows - len(listed)} are in effects.csv and report.html:"
    )
    assert all("theme: " in line and " − food: " in line for line in listed)
    p_values = [line.split(", p ")[1] for line in listed]
    assert p_values[0] == "< 0.0001"
    numbers = [float(p.removeprefix("< ")) for p in p_values]
    assert numbers == sorted(numbers)
    assert "wrote to out: effects.csv  effects.png  effects.svg  report.html" in ran.err


def test_if_nothing_is_significant_the_data_cannot_tell(run, folder):
    ran = estimate(run, folder, "~ number")
    assert ran.code == 0
    assert ran.out.splitlines()[-1].endswith("the data cannot tell.")


def test_topics_and_topics_together_are_chosen(run, folder, tmp_path):
    assert estimate(run, folder, "~ half", "--topics", "2,0+3").code == 0
    rows = read_csv(tmp_path / "out" / "effects.csv")[1:]
    assert sorted({row[0] for row in rows}) == ["0+3", "2"]


def test_json_holds_the_result(run, folder):
    found = estimate(run, folder, "~ half", "--json", "--quiet").json
    assert found["files"] == WRITTEN
    assert found["formula"] == "~ half"
    assert found["n_documents"] == N


def test_a_section_is_added_to_the_report_that_fit_wrote(run, folder, tmp_path):
    estimate(run, folder, "~ half")
    before = (folder / "a-csv-topics" / "report.html").read_text(encoding="utf-8")
    after = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Topics of a.csv" in after
    assert '"effects":null' in before
    assert '"formula":"~ half"' in after
    model = folder / "a-csv-topics" / "model.anchorless"  # without the folder there is only the model
    run("effects", model, folder / "a.csv", "--formula", "~ half", "--title", "Mine", "-o", "two")
    alone = (tmp_path / "two" / "report.html").read_text(encoding="utf-8")
    assert "<title>Mine</title>" in alone
    assert '"formula":"~ half"' in alone


def test_counts_take_their_metadata_from_a_file_or_from_the_model(run, folder, tmp_path):
    counts = ("effects", folder / "a-npz-topics", folder / "a.npz", "--formula")
    assert run(*counts, "~ theme", "--metadata", folder / "about.csv", "-o", "given").code == 0
    assert run(*counts, "~ theme", "-o", "kept").code == 0
    read = [(tmp_path / name / "effects.csv").read_bytes() for name in ("given", "kept")]
    assert read[0] == read[1]
    ran = run(*counts, "~ number", "-o", "other")
    assert "names the column 'number', which does not exist; there are: 'theme', 'half'" in get_refusal(ran, 2)


def test_fit_goes_through_to_effects(run, folder, tmp_path):
    arguments = ("fit", folder / "a.csv", "-k", "4", "-o", "all", "--formula", "~ theme + s(day)", "--groups", "author")
    ran = run(*arguments, "--covariates", "half")
    assert ran.code == 0, ran.err
    assert {*WRITTEN, "model.anchorless", "documents.csv"} <= {path.name for path in (tmp_path / "all").iterdir()}
    assert "Effects on topics, ~ theme + s(day)" in ran.out
    assert '"formula":"~ theme + s(day)"' in (tmp_path / "all" / "report.html").read_text(encoding="utf-8")
    saved = TopicModel.load(tmp_path / "all" / "model.anchorless")._covariates
    assert saved.column_names == ["half", "theme", "day", "author"]
    two = ("effects", "all", folder / "a.csv", "--formula", "~ theme + s(day)", "--groups", "author")
    assert run(*two, "-o", "again").code == 0
    assert (tmp_path / "again" / "effects.csv").read_bytes() == (tmp_path / "all" / "effects.csv").read_bytes()
    # A fit without effects does not leave those of another model.
    assert run("fit", folder / "a.csv", "-k", "3", "-o", "all", "--force").code == 0
    assert not (tmp_path / "all" / "effects.csv").exists()
    assert not hasattr(TopicModel.load(tmp_path / "all" / "model.anchorless"), "_covariates")


def test_fit_keeps_the_columns_with_the_documents(folder):
    header = read_csv(folder / "a-npz-topics" / "documents.csv")[0]
    assert {"theme", "half", "number"} <= set(header)
    kept = TopicModel.load(folder / "a-npz-topics" / "model.anchorless")._covariates
    assert kept.column_names == ["theme", "half"]


@pytest.mark.parametrize(
    "arguments", [("--covariates", "nobody"), ("--formula", "~ constant"), ("--formula", "~ half +")]
)
def test_fit_refuses_before_it_fits(run, folder, arguments, monkeypatch):
    monkeypatch.setattr(TopicModel, "fit", lambda *_, **__: pytest.fail("fitted"))
    ran = run("fit", folder / "a.csv", "-k", "4", "-o", "all", *arguments)
    get_refusal(ran, 1 if "constant" in arguments[1] else 2)


def test_effects_need_the_token_model(run, folder):
    ran = run("fit", folder / "a.csv", "-o", "all", "--formula", "~ half", "--no-likelihood")
    assert "leave out --no-likelihood" in get_refusal(ran, 2)


REFUSALS = {
    "a column that is not there": (
        "~ nobody",
        2,
        "names the column 'nobody', which does not exist; there are: 'id', 'theme'",
    ),
    "a constant column": ("~ constant", 1, "the column 'constant' is constant: every document that is used has 'c'"),
    "more terms than documents allow": (
        "~ C(single)",
        1,
        "the formula has 160 columns, but there are only 160 documents",
    ),
    "collinear terms": ("~ single + double", 1, "the terms 'single', 'double' are collinear"),
    "all missing": ("~ empty", 1, "all values of the column 'empty' are missing"),
    "a date that is none": ("~ wrong_day", 1, "row 7 of the column 'wrong_day' is '2008-13-45', which is no date"),
    "a syntax error": ("~ half +", 2, "--formula ~ half +, but it cannot be read"),
    "a syntax error in a call": ("~ s(day", 2, "--formula ~ s(day, but it cannot be read"),
    "Python that is none": ("~ I(number **)", 2, "--formula ~ I(number **), but it cannot be read"),
    "no formula": ("", 2, "it must be a text such as '~ party + s(year)'"),
    "a left side": ("theme ~ half", 2, "the left side is always the topics' shares"),
    "a curve of categories": ("~ s(half)", 1, "s() needs numbers or dates"),
    "a number that is none": ("~ log(number)", 1, "is not a finite number for every document"),
}


@pytest.mark.parametrize(("formula", "code", "message"), REFUSALS.values(), ids=REFUSALS.keys())
def test_bad_formulas_are_refused(run, folder, tmp_path, formula, code, message):
    assert message in get_refusal(estimate(run, folder, formula), code)
    assert list_tree(tmp_path) == []


@pytest.mark.parametrize(
    ("groups", "code", "message"),
    [
        ("single", 1, "every group of the column 'single' has one document"),
        ("constant", 1, "puts all documents into one group"),
        ("empty", 1, "all values of the column 'empty' are missing"),
        ("nobody", 2, "--groups names the column 'nobody'"),
    ],
)
def test_bad_groups_are_refused(run, folder, groups, code, message):
    assert message in get_refusal(estimate(run, folder, "~ half", "--groups", groups), code)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--topics", "9", "there is no topic 9; topics have the numbers 0 to 3"),
        ("--topics", "a", "must be numbers of topics"),
        ("--topics", "1+1", "topics taken together must be different"),
        ("--level", "90", "must be above 0 and below 1"),
        ("--level", "high", "must be above 0 and below 1"),
        ("--draws", "2", "a whole number of at least 4"),
    ],
)
def test_bad_options_are_refused(run, folder, option, value, message):
    assert message in get_refusal(estimate(run, folder, "~ half", option, value), 2)


def test_a_table_of_metadata_must_fit(run, folder, tmp_path):
    write_csv(tmp_path / "short.csv", [("half",), ("x",), ("y",)])
    ran = estimate(run, folder, "~ half", "--metadata", "short.csv")
    assert "short.csv has 2 rows, but there are 160 documents" in get_refusal(ran)
    write_csv(tmp_path / "uneven.csv", [("half", "other"), ("x",), ("y", "z")])
    assert "line 2" in get_refusal(estimate(run, folder, "~ half", "--metadata", "uneven.csv"))
    assert "cannot read nothing.csv" in get_refusal(estimate(run, folder, "~ half", "--metadata", "nothing.csv"))
    (tmp_path / "table.txt").write_text("x\ny\n")
    assert "table.txt is no table" in get_refusal(estimate(run, folder, "~ half", "--metadata", "table.txt"), 2)
    (tmp_path / "blank.csv").write_text("")
    assert "blank.csv is empty" in get_refusal(estimate(run, folder, "~ half", "--metadata", "blank.csv"))


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl"])
def test_metadata_in_every_format(run, folder, tmp_path, ending):
    table = make_table()[["half", "number"]]
    path = tmp_path / f"about.{ending}"
    if ending == "parquet":
        table.to_parquet(path)
    elif ending == "jsonl":
        table.to_json(path, orient="records", lines=True)
    else:
        table.to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")
    ran = estimate(run, folder, "~ half + number", "--metadata", path, "--json", "--quiet")
    assert {row["term"] for row in ran.json["effects"]} == {"Intercept", "half[T.y]", "number"}


def test_existing_results_are_replaced_only_by_force(run, folder, tmp_path):
    assert estimate(run, folder, "~ half").code == 0
    assert "pass --force" in get_refusal(estimate(run, folder, "~ number"))
    assert estimate(run, folder, "~ number", "--force").code == 0
    assert "number" in {row[2] for row in read_csv(tmp_path / "out" / "effects.csv")}


def test_the_same_command_writes_the_same_bytes(run, folder, tmp_path):
    for name in ("one", "two"):
        arguments = ("effects", folder / "a-csv-topics", folder / "a.csv", "--formula", "~ theme + s(day)", "-o", name)
        assert run(*arguments, "--jobs", "1" if name == "one" else "2").code == 0
    for name in WRITTEN:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


def test_without_matplotlib_there_are_no_figures_and_it_is_said(run, folder, tmp_path, monkeypatch):
    monkeypatch.setattr("anchorless._cli.effects.has_matplotlib", lambda: False)
    ran = estimate(run, folder, "~ half")
    assert ran.code == 0
    assert "no figures without matplotlib" in ran.err
    assert list_tree(tmp_path / "out") == ["effects.csv", "report.html"]


def test_without_formulaic_the_message_says_what_to_install(run, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "formulaic", None)
    assert "pip install 'anchorless[effects]'" in get_refusal(estimate(run, folder, "~ half"))


def test_a_formula_without_columns_has_no_figure(run, folder, tmp_path):
    assert estimate(run, folder, "~ 1").code == 0
    assert list_tree(tmp_path / "out") == ["effects.csv", "report.html"]
