import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from anchorless._corpus.covariates import infer_numbers, read_values, to_table
from anchorless.errors import InputError

COLUMNS = {"party": ["A", "B", None], "year": [1.0, None, 3.0], "day": [datetime.date(1970, 1, 2), None, None]}


def make_polars(columns):
    return pytest.importorskip("polars").DataFrame(columns)


@pytest.mark.parametrize("make", [dict, pa.table, pd.DataFrame, make_polars], ids=["dict", "arrow", "pandas", "polars"])
def test_every_kind_of_table_gives_the_same_values(make):
    table = to_table(make(COLUMNS), 3)
    assert table.column_names == ["party", "year", "day"]
    party, is_date = read_values(table, "party")
    assert party.tolist()[:2] == ["A", "B"]
    assert party.isna().tolist() == [False, False, True]
    assert not is_date
    np.testing.assert_array_equal(read_values(table, "year")[0], [1.0, np.nan, 3.0])
    day, is_date = read_values(table, "day")
    np.testing.assert_array_equal(day, [1.0, np.nan, np.nan])
    assert is_date


def test_categories_keep_their_order_and_truth_values_are_categories():
    levels = pd.Categorical(["low", "high"], categories=["low", "high"])
    table = to_table(pd.DataFrame({"a": levels, "b": [True, False]}), 2)
    assert read_values(table, "a")[0].cat.categories.tolist() == ["low", "high"]
    assert read_values(table, "b")[0].tolist() == ["True", "False"]


def test_categories_of_polars():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": polars.Series(["x", "y", None], dtype=polars.Categorical)})
    assert read_values(to_table(frame, 3), "a")[0].tolist()[:2] == ["x", "y"]


def test_texts_that_are_dates_count_as_dates_and_one_that_is_none_is_refused():
    days, is_date = read_values(pa.table({"day": ["1970-01-02", None, "1970-01-11T12:00:00"]}), "day")
    np.testing.assert_array_equal(days, [1.0, np.nan, 10.5])
    assert is_date
    with pytest.raises(InputError, match=r"row 10 of the column 'day' is '1970-02-31', which is no date"):
        read_values(pa.table({"day": ["1970-01-02"] * 10 + ["1970-02-31"]}), "day")


def test_moments_with_a_time_zone_are_days_in_universal_time():
    moments = pd.Series(pd.to_datetime(["1970-01-02T01:00:00+01:00"]))
    np.testing.assert_array_equal(read_values(to_table({"day": moments}, 1), "day")[0], [1.0])


def test_texts_of_a_file_become_numbers_where_all_are():
    table = infer_numbers(pa.table({"a": ["1", "2.5", ""], "b": ["1", "x", None], "c": ["", "", ""]}))
    assert table["a"].to_pylist() == [1.0, 2.5, None]
    assert table["b"].to_pylist() == ["1", "x", None]
    assert table["c"].null_count == 3


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"a": [1, 2]}, "metadata has 2 rows, but there are 3 documents; give one row per document"),
        (5, "metadata cannot be read as a table: it is a int"),
        ({"a": [1, "x", 2]}, "metadata cannot be read as a table"),
        (pa.table([[1, 2, 3], [1, 2, 3]], names=["a", "a"]), "the column 'a' more than once"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused(data, message):
    with pytest.raises(InputError, match=message):
        to_table(data, 3)


def test_a_column_of_lists_is_refused():
    with pytest.raises(InputError, match="neither numbers, categories nor dates"):
        read_values(pa.table({"a": [[1], [2]]}), "a")
