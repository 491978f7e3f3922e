import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from anchorless._corpus.metadata import (
    MAX_LABELS,
    by_label,
    by_period,
    count_missing_dates,
    parse_dates,
    validate_metadata,
)
from anchorless.errors import InputError
from tests.helpers.tolerances import ROUNDING

FORMS = [list, tuple, iter, np.array, pd.Series, pa.array, lambda v: pa.chunked_array([v[:1], v[1:]])]


def strings(values):
    return pa.array(values, pa.large_string())


@pytest.mark.parametrize("form", FORMS)
def test_ids_may_come_in_any_sequence(form):
    assert validate_metadata(3, form(["a", "b", "ü"]), None, None).ids.to_pylist() == ["a", "b", "ü"]
    assert validate_metadata(3, form([7, 8, 9]), None, None).ids.to_pylist() == ["7", "8", "9"]


def test_documents_without_ids_are_numbered():
    assert validate_metadata(3, None, None, None).ids.to_pylist() == ["0", "1", "2"]


@pytest.mark.parametrize("nothing", [None, float("nan"), np.float64("nan"), np.datetime64("NaT"), pd.NaT, pd.NA])
def test_missing_labels_and_dates_are_missing(nothing):
    metadata = validate_metadata(2, None, ["x", nothing], [nothing, "1999"])
    assert metadata.labels.to_pylist() == ["x", None]
    assert metadata.dates.to_pylist() == [None, "1999"]


def test_missing_ids_are_refused():
    with pytest.raises(InputError, match="1 of 2 ids are missing"):
        validate_metadata(2, ["a", None], None, None)


@pytest.mark.parametrize("name", ["ids", "labels", "dates"])
@pytest.mark.parametrize("given", [["a"], ["a", "b", "c"], []])
def test_one_entry_per_document(name, given):
    values = {"ids": None, "labels": None, "dates": None} | {name: given}
    with pytest.raises(InputError, match=f"{len(given)} {name} for 2 documents"):
        validate_metadata(2, **values)


@pytest.mark.parametrize("given", ["ab", 5])
def test_labels_are_a_sequence(given):
    with pytest.raises(InputError, match="one entry per document"):
        validate_metadata(2, None, given, None)


def test_by_label_is_the_mean_of_each_group():
    rng = np.random.default_rng(0)
    shares, labels = rng.dirichlet(np.ones(3), 40), rng.choice(["x", "y", "z"], 40).tolist()
    shares[3], labels[5] = 0.0, None  # neither counts
    table = by_label(shares, strings(labels))
    frame = pd.DataFrame(shares).assign(label=labels)
    frame = frame[shares.any(axis=1)].groupby("label")
    assert dict(zip(table.names, table.counts, strict=True)) == frame.size().to_dict()
    assert table.counts == sorted(table.counts, reverse=True)
    np.testing.assert_allclose(table.values, frame.mean().loc[table.names], rtol=ROUNDING)


def test_by_label_keeps_the_most_frequent():
    labels = [f"{i:03}" for i in range(MAX_LABELS + 5)] + ["104"]
    table = by_label(np.ones((len(labels), 1)), strings(labels))
    assert len(table.names) == MAX_LABELS
    assert table.names[:3] == ["104", "000", "001"]


def test_no_label_no_table():
    assert by_label(np.ones((2, 1)), strings([None, None])) is None
    assert by_label(np.zeros((2, 1)), strings(["a", "b"])) is None


@pytest.mark.parametrize(
    ("dates", "periods"),
    [
        (["2001-03-04", "2001-03-05", "2001-03-04T23:59:59"], ["2001-03-04", "2001-03-05"]),
        (
            [f"2001-{m:02}-{d:02}" for m in range(1, 13) for d in (1, 9, 17, 20, 25, 28)],
            [f"2001-{m:02}" for m in range(1, 13)],
        ),
        (
            [f"{year}-{month:02}" for year in range(1990, 2000) for month in range(1, 13)],
            [str(y) for y in range(1990, 2000)],
        ),
        (["1993", "1994", "1994"], ["1993-01-01", "1994-01-01"]),
    ],
)
def test_periods_are_days_months_or_years(dates, periods):
    table = by_period(np.ones((len(dates), 1)), strings(dates))
    assert table.periods == periods
    assert sum(table.counts) == len(dates)


def test_by_period_is_the_mean_of_each_group():
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(3), 40)
    days = [f"2020-01-{d:02}" for d in rng.integers(1, 9, 40)]
    shares[3], days[5], days[6] = 0.0, None, "one day"
    table = by_period(shares, strings(days))
    frame = pd.DataFrame(shares).assign(day=days)[shares.any(axis=1) & (np.array(days) != "one day")].groupby("day")
    assert table.periods == sorted(frame.groups)
    assert table.counts == frame.size().tolist()
    np.testing.assert_allclose(np.transpose(table.values), frame.mean(), rtol=ROUNDING)


def test_one_period_says_nothing_about_time():
    assert by_period(np.ones((2, 1)), strings(["2001-01-01", "2001-01-01"])) is None
    assert by_period(np.ones((2, 1)), strings([None, "soon"])) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2001-02-03", "2001-02-03T00:00:00"),
        ("2001-02-03 04:05:06+02:00", "2001-02-03T02:05:06"),
        ("2001-02-03T04:05:06Z", "2001-02-03T04:05:06"),
        ("Tue, 20 Apr 1993 17:36:51 GMT", "1993-04-20T17:36:51"),
        ("03/04/2005", "2005-03-04T00:00:00"),
        ("4 March 2005", "2005-03-04T00:00:00"),
        ("yesterday's news", "NaT"),
        ("", "NaT"),
        (None, "NaT"),
    ],
)
def test_dates_are_read(text, expected):
    for others in ([], ["2001-01-01"], ["May 1, 1999", "x"]):
        assert str(parse_dates(strings([*others, text]))[-1]) == expected


def test_dates_of_python_and_numpy_are_read():
    given = [datetime.date(2001, 2, 3), datetime.datetime(2001, 2, 3, 4, 5), np.datetime64("2001-02"), pd.Timestamp(0)]
    read = parse_dates(validate_metadata(4, None, None, given).dates)
    assert [str(moment)[:16] for moment in read] == [
        "2001-02-03T00:00",
        "2001-02-03T04:05",
        "2001-02-01T00:00",
        "1970-01-01T00:00",
    ]


def test_day_first_dates_are_read_by_one_rule():
    dates = pa.array(["04/01/2023", "19/05/2022", "12.11.2021"])
    assert [str(day)[:10] for day in parse_dates(dates)] == ["2023-01-04", "2022-05-19", "2021-11-12"]


def test_month_comes_first_where_nothing_says_otherwise():
    assert str(parse_dates(pa.array(["04/01/2023", "12/31/2022"]))[0])[:10] == "2023-04-01"


def test_dates_that_cannot_be_read_are_counted():
    assert count_missing_dates(pa.array(["2022-05-19", "unknown", None])) == 2
