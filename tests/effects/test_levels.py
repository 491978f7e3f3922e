import numpy as np
import pandas as pd
import pytest

from anchorless.errors import InputError
from tests.helpers.planted_effects import DIFFERENCE, fit_planted


@pytest.fixture(scope="module")
def planted():
    return fit_planted(3)


def test_shares_by_party_are_those_of_the_regression(planted):
    model, at, table, _ = planted
    found = model.topics_by("party")
    assert list(found) == ["party", "topic", "label", "share", "low", "high", "n_documents"]
    numbers = table["party"].value_counts()
    assert found.groupby("party")["n_documents"].first().to_dict() == numbers.to_dict()
    wide = found.pivot(index="topic", columns="party", values="share")
    expected = model.effects("~ party").contrast("party", "B", "A")["points"]
    np.testing.assert_allclose(100 * (wide["B"] - wide["A"]), expected, atol=1e-6)
    np.testing.assert_allclose(wide.loc[at[0], "B"] - wide.loc[at[0], "A"], DIFFERENCE, atol=0.03)
    np.testing.assert_allclose(wide.sum(), 1.0, atol=1e-6)
    predicted = model.effects("~ party").predict({"party": ["A", "B"]}).rename(columns={"low": "from"})
    both = found.merge(predicted, on=["party", "topic"])
    np.testing.assert_allclose(both["low"], both["from"], atol=0.003)


def test_columns_whose_names_are_taken_keep_their_values(planted):
    model, _, table, _ = planted
    renamed = table.rename(columns={"party": "label"}).assign(p=np.arange(len(table)) % 7)
    found, expected = model.topics_by("label", renamed), model.topics_by("party")
    assert list(found) == ["input_label", "topic", "label", "share", "low", "high", "n_documents"]
    assert found["input_label"].tolist() == expected["party"].tolist()
    assert found["label"].tolist() == expected["label"].tolist()
    effects = model.effects("~ label + s(p)", renamed)
    predicted = effects.predict({"label": ["A", "B"]})
    assert predicted["input_label"].tolist() == ["A", "B"] * (len(predicted) // 2)
    assert set(predicted["label"]) == set(expected["label"])
    assert effects.curve("p")["input_p"].max() == 6
    assert effects.plot("p").get_xlabel().startswith("p ")
    model.effects("~ party", table)


def test_periods_are_months_in_order_and_follow_the_curve(planted):
    model, at, table, _ = planted
    found = model.topics_over_time("day", period="month")
    assert found["day"].unique().tolist() == [f"2008-{month:02d}" for month in range(1, 13)]
    assert found["n_documents"].sum() == 5 * len(table)
    curve = found[found["topic"] == at[2]]["share"].to_numpy()
    assert curve[1:5].mean() > curve[7:11].mean() + 0.03
    assert found.equals(model.topics_over_time())  # the only column of dates, and the finest of at most 60
    assert model.topics_over_time(period="year")["n_documents"].eq(len(table)).all()


def test_numbers_such_as_years_are_periods_as_they_are(planted):
    years = {"year": np.repeat([1999, 2003, 2001], 300)}
    assert planted[0].topics_over_time(data=years)["year"].unique().tolist() == [1999, 2001, 2003]


def test_documents_of_one_author_make_wider_intervals():
    model, _, _, _ = fit_planted(8, n_documents=600, n_authors=20)
    alone, grouped = (model.topics_by("party", groups=groups) for groups in (None, "author"))
    assert (grouped.eval("high - low") > alone.eval("high - low")).mean() > 0.8


def test_a_level_of_one_document_has_a_wide_interval(planted):
    labels = ["alone", *["rest"] * 899]
    found = planted[0].topics_by("kind", {"kind": labels})
    widths = found.assign(width=found["high"] - found["low"]).groupby("kind")["width"].mean()
    assert widths["alone"] > 10 * widths["rest"]


def test_shares_of_single_documents_are_mixtures_and_merged_ones_add_up():
    model, _, _, _ = fit_planted(9, n_documents=200, length=8)
    numbers = {"number": np.arange(200)}
    before = model.topics_by("number", numbers)
    shares = before.pivot(index="number", columns="topic", values="share").to_numpy()
    assert (shares == 0).any()  # what noise took below zero
    assert shares.min() >= 0
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-12)
    assert (before["low"] <= before["share"]).all()
    assert (before["share"] <= before["high"]).all()
    merged = model.merge_topics([[0, 1]]).topics_by("number", numbers)
    whole = merged.pivot(index="number", columns="topic", values="share").to_numpy()
    np.testing.assert_allclose(whole.max(axis=1) <= 1, True)
    sums = [shares[:, [0, 1]].sum(axis=1), *shares[:, 2:].T]
    np.testing.assert_allclose(np.sort(whole, axis=1), np.sort(np.column_stack(sums), axis=1), atol=1e-12)


@pytest.mark.parametrize(
    ("column", "data", "message"),
    [
        ("nothing", None, "column='nothing' names the column 'nothing', which does not exist; there are: 'party'"),
        ("empty", {"empty": [None] * 900}, "all values of the column 'empty' are missing"),
        ("many", {"many": np.arange(900)}, "the column 'many' has 900 different values, but at most"),
    ],
)
def test_columns_that_cannot_be_used_are_refused(planted, column, data, message, monkeypatch):
    monkeypatch.setattr("anchorless._effects.levels.MAX_LEVELS", 800)
    with pytest.raises(InputError, match=message):
        planted[0].topics_by(column, data)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"column": "party"}, "the column 'party' holds no dates, but values such as 'A'|'B'"),
        ({"data": {"a": ["x"] * 900}}, "no column holds dates; there are: 'a'"),
        ({"period": "week"}, "it must be one of 'day', 'month', 'year'"),
        ({"groups": "own", "data": {"day": ["2008-01-01"] * 900, "own": range(900)}}, "the same as no groups"),
    ],
)
def test_periods_that_cannot_be_used_are_refused(planted, arguments, message):
    with pytest.raises(InputError, match=message):
        planted[0].topics_over_time(**arguments)


def test_a_table_of_another_length_is_refused(planted):
    with pytest.raises(InputError, match="data has 3 rows, but there are 900 documents"):
        planted[0].topics_by("party", pd.DataFrame({"party": ["A", "B", "A"]}))
