import numpy as np
import pyarrow as pa
import pytest

from anchorless._effects.design import build_design
from anchorless._effects.summary import Finding, name_coefficients, render_effects

N = 200


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    columns = {
        "my party": rng.choice(["A x", "B: c", "C"], N),
        "few": rng.choice([0.0, 1.0, 2.5], N),
        "year": rng.standard_normal(N),
        "when": rng.choice(["2008-01-01", "2009-01-01"], N),
    }
    return pa.table(columns)


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        ("~ `my party` + year", ["my party: B: c − A x", "my party: C − A x", "year"]),
        ("~ C(`my party`)", ["my party: B: c − A x", "my party: C − A x"]),
        ("~ C(few)", ["few: 1 − 0", "few: 2.5 − 0"]),
        ("~ C(when)", ["when: 2009-01-01 − 2008-01-01"]),
        (
            "~ C(when) * year",
            [
                "when: 2009-01-01 − 2008-01-01, if year is 0",
                "year, if when is 2008-01-01",
                "(when: 2009-01-01 − 2008-01-01) × (year)",
            ],
        ),
        ("~ C(`my party`, contr.treatment(base='C')) + year", None),
    ],
)
def test_coefficients_name_both_levels(table, formula, shown):
    design = build_design(formula, table, None, np.ones(N, dtype=bool))
    names = name_coefficients(design)
    assert [names.get(column, column) for column in design.columns[1:]] == (shown or design.columns[1:])


def test_a_name_is_that_of_the_difference_which_the_coefficient_is(table):
    design = build_design("~ C(when) * year + `my party`", table, None, np.ones(N, dtype=bool))
    names = name_coefficients(design)
    by_name = {names.get(column, column): at for at, column in enumerate(design.columns)}
    at = by_name["when: 2009-01-01 − 2008-01-01, if year is 0"]
    late, early = (
        design.average_row({"when": design.convert_value("when", day), "year": 0.0})
        for day in ("2009-01-01", "2008-01-01")
    )
    np.testing.assert_allclose(late - early, np.eye(len(design.columns))[at], atol=1e-12)


def test_the_list_says_how_many_effects_it_leaves_out_and_where_they_are():
    effects = [Finding(topic, "words", "year +1.0 points", p) for topic, p in enumerate([0.001, 0.01, 0.2])]
    heading, *lines = render_effects(effects, None, 0.8, "a.csv")
    assert heading == (
        "2 of 3 effects have p < 0.05, corrected for the number of topics. They are listed with 80% intervals; the "
        "other 1 is in a.csv:"
    )
    assert len(lines) == 2
    heading, line = render_effects(effects[:2], 1, 0.8, "a.csv")
    assert "The first 1 are listed with" in heading
    assert line == "topic 0 (words): year +1.0 points, p 0.001"
    assert render_effects(effects[:2], None, 0.8, "a.csv")[0].endswith("They are listed with 80% intervals:")
    assert render_effects(effects[2:], None, 0.8, "a.csv")[0].endswith("the data cannot tell.")
