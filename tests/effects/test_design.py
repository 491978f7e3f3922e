import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from anchorless._effects.design import build_design, check_clusters, list_formula_columns, place_knots
from anchorless._effects.regression import Clusters
from anchorless.errors import InputError

N = 60
RNG = np.random.default_rng(0)
TABLE = pa.table(
    {
        "party": np.array(["A", "B", "C"])[np.arange(N) % 3],
        "copy": np.array(["x", "y", "z"])[np.arange(N) % 3],
        "year": RNG.uniform(1990, 2010, N),
        "same": np.ones(N),
        "empty": pa.nulls(N, pa.float64()),
        "some": [None if i < 7 else float(i % 11) for i in range(N)],
        "few": np.arange(N) % 3,
        "author": np.arange(N) // 6,
        "own": np.arange(N),
        "one": ["all"] * N,
        "day": pa.array(np.arange(N), pa.int32()).cast(pa.date32()),
        "rare": ["r"] + ["s"] * (N - 1),
    }
)
KNOWN = np.arange(N) != 59


def build(formula, groups=None, known=KNOWN):
    return build_design(formula, TABLE, groups, known)


def test_rows_with_a_missing_value_or_without_words_are_left_out_and_counted():
    design = build("~ party + some")
    assert design.left_out == {"no word that the model knows": 1, "no value of some": 7}
    np.testing.assert_array_equal(design.rows, np.arange(7, 59))
    assert design.columns == ["Intercept", "party[T.B]", "party[T.C]", "some"]
    assert design.matrix.shape == (52, 4)


def test_a_curve_is_a_natural_spline_and_goes_on_as_a_line():
    design = build("~ s(year)")
    assert design.columns == ["Intercept", *(f"s(year)[{i}]" for i in range(1, 6))]
    assert design.is_curve("s(year)")
    assert not build("~ party").is_curve("party")
    # A straight line is a curve, too.
    line = design.frame["year"].to_numpy()
    fitted = design.matrix @ np.linalg.lstsq(design.matrix, line, rcond=None)[0]
    np.testing.assert_allclose(fitted, line, rtol=1e-8)
    rows = [design.average_row({"year": line.max() + step}) for step in (1.0, 2.0, 3.0)]
    np.testing.assert_allclose(rows[2] - rows[1], rows[1] - rows[0], atol=1e-9)


def test_a_curve_is_straight_in_the_tails_of_a_skewed_column():
    x = np.exp(np.random.default_rng(2).standard_normal(400))
    design = build_design("~ s(x)", pa.table({"x": x}), None, np.ones(400, dtype=bool))
    low, high = np.quantile(x, [0.05, 0.95])
    for start in (high, x.max() / 2):
        rows = [design.average_row({"x": start + step}) for step in (0.0, 1.0, 2.0)]
        np.testing.assert_allclose(rows[2] - rows[1], rows[1] - rows[0], atol=1e-9)
    inside = [design.average_row({"x": (low + high) / 2 + step}) for step in (-1.0, 0.0, 1.0)]
    assert abs(inside[2] - 2 * inside[1] + inside[0]).max() > 1e-3


def test_knots_are_different_where_most_values_are_the_same():
    x = np.concatenate([np.zeros(95), np.arange(1.0, 6.0)])
    assert place_knots(x, 5) == sorted(set(place_knots(x, 5)))
    assert len(place_knots(x, 5)) > 3
    assert place_knots(np.repeat([1.0, 2.0, 3.0, 4.0], 10), 5) == [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(InputError, match=r"df=1 in s\(\): a curve has at least 2 columns; use the column itself"):
        build("~ s(year, df=1)")
    assert len(build("~ s(year, df=3)").columns) == 4


def test_interactions_categories_and_dates():
    assert len(build("~ party * year").columns) == 6
    assert build("~ C(few)").columns == ["Intercept", "C(few)[T.1.0]", "C(few)[T.2.0]"]
    design = build("~ s(day)")
    assert design.dates == {"day"}
    assert design.convert_value("day", "1970-01-11") == 10.0
    assert len(build("party").columns) == 3


def test_mean_rows_average_over_the_other_columns():
    design = build("~ party * year")
    row = design.average_row({"party": "B"})
    year = design.frame["year"].mean()
    np.testing.assert_allclose(row, [1.0, 1.0, 0.0, year, year, 0.0])


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("~ nothing", "names the column 'nothing', which does not exist; there are: 'party', 'copy', 'year'"),
        ("~ same", "the column 'same' is constant: every document that is used has 1.0"),
        ("~ one", "the column 'one' is constant"),
        ("~ empty", "all values of the column 'empty' are missing"),
        ("~ party + copy", r"the terms 'party\[T.B\]', 'copy\[T.y\]' are collinear|'party\[T.C\]', 'copy\[T.z\]' are"),
        ("~ year + I(2 * year)", r"the terms 'year', 'I\(2 \* year\)' are collinear"),
        ("~ C(own)", "the formula has 59 columns, but there are only 59 documents; use fewer terms"),
        ("~ (party + year)**2147483648", r"its power 2147483648 is above 5.*name the interactions"),
        ("~ (party + year)^(30)", r"its power 30 is above 5"),
        ("~ 0", "it has no term, not even the intercept; name a column"),
        ("~ party +", "it cannot be read: Operator"),
        ("~ (party", "it cannot be read"),
        ("~ s(year) [ log(year)year)year)", "it cannot be read"),
        ("year ~ party", "the left side is always the topics' shares; begin with '~'"),
        ("", "it must be a text such as"),
        ("~ s()", r"formula='~ s\(\)', but it cannot be computed: s\(\) needs a column$"),
        ("~ s(party)", r"s\(\) needs numbers or dates, but its column 'party' holds categories such as '.+'; use"),
        (
            "~ log(party)",
            r"it cannot be computed: log\(party\) needs numbers, but .* holds categories; use the column by itself$",
        ),
        ("~ s(few)", r"s\(\) needs at least 4 different values, but its column has 3; use the column itself"),
        ("~ log(few)", r"the term 'log\(few\)' is not a finite number for every document"),
        ("~ I(1e300 * year)", r"largest value of the term 'I\(1e\+300 \* year\)' is .*e\+30., outside 1e-75 … 1e\+75"),
        ("~ I(1e-300 * year)", r"largest value of the term 'I\(1e-300 \* year\)' is .*e-29., outside"),
        ("~ party + C(year", "it cannot be read"),
        ("~ unknown(year)", "unknown"),
        ("~ party[0]", "it cannot be computed: could not convert string to float"),
    ],
)
def test_a_formula_that_cannot_be_used_says_why(formula, message):
    with pytest.raises(InputError, match=message):
        build(formula)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ("nobody", "groups='nobody' names the column 'nobody'"),
        ("own", "every group of the column 'own' has one document, which is the same as no groups; leave out groups"),
        ("one", "puts all documents into one group"),
        ("empty", "all values of the column 'empty' are missing"),
    ],
)
def test_groups_that_say_nothing_are_refused(groups, message):
    with pytest.raises(InputError, match=message):
        build("~ party", groups)


def test_no_document_left_is_refused():
    with pytest.raises(InputError, match="no document has words and a value in every column"):
        build("~ party", known=np.zeros(N, dtype=bool))


@pytest.mark.parametrize(("groups", "unit"), [(None, "one document alone"), ("author", "one group of 'author' alone")])
def test_a_term_that_depends_on_one_document_or_group_is_refused(groups, unit):
    design = build("~ year + rare", groups)
    with pytest.raises(InputError, match=rf"the term 'rare\[T.s\]' depends on {unit}"):
        check_clusters(design, Clusters(design.matrix, design.codes))


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("party", "D", "the column 'party' has no level 'D'; it has: 'A', 'B', 'C'"),
        ("year", "x", "'x' is no value of the column 'year'; give a number"),
        ("copy", "x", "the formula has no column 'copy'; it has: 'party', 'year'"),
    ],
)
def test_values_that_the_design_does_not_have_are_refused(column, value, message):
    with pytest.raises(InputError, match=message):
        build("~ party + year").convert_value(column, value)


def test_a_number_is_no_date():
    with pytest.raises(InputError, match="give a date such as"):
        build("~ s(day)").convert_value("day", 5)


def test_a_grid_without_rows_is_refused():
    design = build("~ party")
    assert design.read_grid(pd.DataFrame({"party": ["A", "B"]})) == [{"party": "A"}, {"party": "B"}]
    with pytest.raises(InputError, match="the grid has no rows"):
        design.read_grid({"party": []})
    with pytest.raises(InputError, match="the grid cannot be read as a table"):
        design.read_grid(3)


def test_without_formulaic_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "formulaic", None)
    with pytest.raises(InputError, match=r"pip install 'anchorless\[effects\]'"):
        build("~ party")


@pytest.mark.parametrize(
    ("formula", "columns"),
    [
        ("~ party + s(year)", ["party", "year"]),
        ("~ poly(x, 3) + bs(y, df=4) + center(z)", ["x", "y", "z"]),
        ("~ C(a, Treatment('b')):np.log(x)", ["a", "x"]),
        ("~ `party id` * s(`first day`)", ["party id", "first day"]),
        ("~ 1", []),
    ],
)
def test_the_columns_of_a_formula_are_found_in_every_function(formula, columns):
    assert list_formula_columns(formula) == columns


def test_categories_are_no_curves_with_and_without_an_intercept():
    table = pa.table({"a": ["u", "v", "w"] * 20, "x": np.arange(60.0), "y": np.arange(60) % 7})
    known = np.ones(60, dtype=bool)
    found = build_design("~ 0 + a + s(x) + poly(y, 2)", table, None, known)
    assert found.list_curved_columns() == ["x", "y"]
    assert build_design("~ a * x", table, None, known).list_curved_columns() == []
    assert found.list_compared("a") == ["u", "v", "w"]
    assert build_design("~ x", table, None, known).list_compared("x") == [15, 44]
