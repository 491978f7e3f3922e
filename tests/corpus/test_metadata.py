import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchorless._corpus.metadata import (
    DATE_EXAMPLES,
    ColumnFile,
    MetadataCollector,
    count_missing_dates,
    describe_epoch,
    parse_dates,
    validate_metadata,
)
from anchorless.errors import InputError, UsageError

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


def test_columns_come_back_in_their_batches():
    columns = ColumnFile()
    tables = [pa.table({"id": ["1", "2"], "n": [1, 2]}), pa.table({"id": ["3"], "n": [3]})]
    for table in tables:
        columns.add(table)
    for _ in range(2):
        assert [table.to_pylist() for table in columns.tables()] == [table.to_pylist() for table in tables]
    columns.close()


def test_a_column_that_is_null_in_a_later_batch_keeps_its_type():
    columns = ColumnFile()
    columns.add(pa.table({"id": ["a"], "n": pa.array([1], pa.int64())}))
    columns.add(pa.table({"id": ["b"], "n": pa.nulls(1)}))
    assert [table["n"].to_pylist() for table in columns.tables()] == [[1], [None]]
    columns.close()


def test_a_column_file_without_batches_is_empty():
    columns = ColumnFile()
    assert list(columns.tables()) == []
    columns.close()


def test_closing_a_column_file_is_quiet_on_a_full_disk(monkeypatch):
    class Full:
        def close(self):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", lambda **_: Full())
    ColumnFile().close()


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ({}, {"label": "Category", "date": "Date"}),
        ({"label_column": "other", "date_column": "Year"}, {"label": "other", "date": "Year"}),
    ],
)
def test_named_columns_come_before_customary_names(named, expected):
    collector = MetadataCollector("a.csv", **named)
    table = {"id": ["1"], "Year": ["2020"], "Category": ["a"], "Date": ["2020-01-01"], "other": ["x"]}
    collector.add(pa.table(table))
    assert collector.columns == expected


def test_labels_of_any_type_become_text_and_blank_ones_null():
    collector = MetadataCollector("a.csv")
    collector.add(pa.table({"id": ["1", "2"], "label": [3, None]}))
    collector.add(pa.table({"id": ["3", "4"], "label": ["", "x"]}))
    ids, labels, dates = collector.collect()
    assert ids.to_pylist() == ["1", "2", "3", "4"]
    assert labels.to_pylist() == ["3", None, None, "x"]
    assert dates is None


def test_labels_and_dates_are_found_by_customary_names():
    collector = MetadataCollector("a.csv")
    collector.add(pa.table({"id": ["1", "2"], "Category": ["x", ""], "year": [1999, None]}))
    found = collector.collect()
    assert found.labels.to_pylist() == ["x", None]
    assert found.dates.to_pylist() == ["1999", None]
    assert count_missing_dates(found.dates) == 1


def test_a_named_column_that_is_not_there_is_refused():
    with pytest.raises(UsageError, match=r"date_column='day', but a.csv has no such column beside its text; there are"):
        MetadataCollector("a.csv", date_column="day").add(pa.table({"id": ["1"], "year": [1999]}))


@pytest.mark.parametrize(("id_column", "listed"), [(None, '"year"'), ("key", '"key", "year"')])
def test_a_missing_column_is_refused_with_the_columns_of_the_file(id_column, listed):
    with pytest.raises(UsageError, match=f"there are {listed}$"):
        MetadataCollector("a.csv", date_column="day", id_column=id_column).add(pa.table({"id": ["1"], "year": [1999]}))


def collect_dates(values):
    collector = MetadataCollector("a.csv", date_column="day")
    collector.add(
        pa.table({"id": [str(number) for number in range(len(values))], "day": pa.array(values, pa.string())})
    )
    return collector.collect().dates


def test_a_given_column_without_any_date_is_refused():
    says = (
        r"date_column='day', but none of the 3 values .*a\.csv .* date: 'house', 'garden'; name .* such as 2024-05-31"
    )
    with pytest.raises(UsageError, match=says):
        collect_dates(["house", "garden", "house", None])


@pytest.mark.parametrize("values", [["house", "2024", None], [None, ""], []])
def test_a_given_column_with_some_dates_or_none_at_all_is_used(values):
    assert len(collect_dates(values)) == len(values)


def test_a_customary_column_without_dates_is_no_error():
    collector = MetadataCollector("a.csv")
    collector.add(pa.table({"id": ["1"], "time": ["noon"]}))
    assert collector.collect().dates.to_pylist() == ["noon"]


def test_the_kinds_of_dates_in_the_message_can_be_read():
    *kinds, last = DATE_EXAMPLES.split(", ")
    assert last == "or seconds since 1970"
    for kind in kinds:
        assert count_missing_dates(pa.array([kind])) == 0


def test_the_text_column_is_no_label_or_date():
    collector = MetadataCollector("a.csv", "review", None, None, "review")
    with pytest.raises(UsageError, match=r"label_column='review', but that is the text column of a.csv; .* \"year\"$"):
        collector.add(pa.table({"id": ["1"], "year": [1999]}))


def test_the_nearest_column_is_suggested():
    with pytest.raises(UsageError, match=r"no such column .*; did you mean year\?$"):
        MetadataCollector("a.csv", date_column="Yaer").add(pa.table({"id": ["1"], "year": [1999]}))


@pytest.mark.parametrize("first", ["44197", "44197.5", "1609459200", "1609459200000"])
def test_dates_as_numbers_are_read_by_their_size(first):
    """Of Excel, seconds and milliseconds, all on the first day of 2021; 2021, 20210101 and 10115 are others."""
    dates = pa.array([first] * 10)
    assert set(parse_dates(dates).astype("datetime64[D]").astype(str)) == {"2021-01-01"}
    assert describe_epoch(dates).endswith("2021-01-01 to 2021-01-01")


@pytest.mark.parametrize("value", ["2021", "20210101", "10115", "99999"])
def test_other_numbers_are_no_days_of_excel(value):
    assert describe_epoch(pa.array([value] * 10)) is None


@given(st.integers(315_532_800, 4_102_444_799))
def test_a_moment_is_the_same_in_seconds_milliseconds_and_days(second):
    expected = [np.datetime64(second, "s")]
    assert parse_dates(pa.array([str(second)])) == expected
    assert parse_dates(pa.array([f"{second}000"])) == expected
    day = second - second % 86400
    assert parse_dates(pa.array([str(day // 86400 + 25569)])) == [np.datetime64(day, "s")]
