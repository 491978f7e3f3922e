"""Workbooks: texts that are numbers are numbers if their whole column is."""

import pandas as pd
import pytest

from anchorless._export.excel import read_numbers, write_excel


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (["1", "20", None, ""], [1, 20, None, None]),
        (["1.5", "-3", "0.25"], [1.5, -3.0, 0.25]),
        (["007", "12"], ["007", "12"]),
        (["1", "x"], ["1", "x"]),
        (["1234567890123456"], ["1234567890123456"]),
        (["1e5", "2"], ["1e5", "2"]),
        (["0.12345678901234567"], ["0.12345678901234567"]),
        (["-0", "1"], ["-0", "1"]),
        ([1, 2.5], [1, 2.5]),
        ([None, ""], [None, ""]),
    ],
)
def test_a_column_of_plain_numbers_is_one_of_numbers(given, found):
    assert read_numbers(given) == found


def test_numbers_of_a_csv_file_can_be_added_up_in_a_workbook(tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed: pip install anchorless[test-all]")
    pytest.importorskip("xlsxwriter", reason="XlsxWriter is not installed: pip install anchorless[test]")
    frame = pd.DataFrame({"id": ["007", "008"], "year": ["2020", "2021"], "score": ["0.00012", "3"]})
    write_excel(tmp_path / "a.xlsx", {"documents": frame})
    rows = openpyxl.load_workbook(tmp_path / "a.xlsx")["documents"].iter_rows(min_row=2)
    assert [[cell.value for cell in row] for row in rows] == [["007", 2020, 0.00012], ["008", 2021, 3]]
