"""Spreadsheets give the rows that are in them; those that would fill the memory are refused before they are read."""

import io
import sys

import pytest

from anchorless._corpus.io import spreadsheets
from anchorless._corpus.io.readers import open_texts
from anchorless._corpus.io.spreadsheets import check_size
from anchorless.errors import InputError, UsageError
from tests.helpers.text_files import make_ods, make_sheet, make_xlsx, make_zip

ROWS = [["id", "text", "year"], ["a", "one text", 2001], ["b", None, 2002], ["c", "another & <text>", 2003.5]]


@pytest.fixture(autouse=True)
def _needs_library():
    pytest.importorskip("python_calamine", reason="spreadsheets need the extra excel")


def read(path, **options):
    with open_texts(path, **options) as source:
        found = [
            row | {"text": text}
            for batch in source
            for row, text in zip(batch.other_columns.to_pylist(), batch.texts.to_pylist(), strict=True)
        ]
        return found, source


def test_rows_have_the_columns_of_the_first_row_and_blank_texts_are_skipped(tmp_path):
    (tmp_path / "a.xlsx").write_bytes(make_xlsx({"Empty": [], "Data": ROWS, "Other": [["x"], ["y"]]}))
    found, source = read(tmp_path / "a.xlsx")
    assert found == [
        {"id": "a", "year": "2001", "text": "one text"},
        {"id": "c", "year": "2003.5", "text": "another & <text>"},
    ]
    assert source.describe_reading() == [
        "read the sheet 'Data'; not read: 'Empty', 'Other'; {table} names another",
        "skipped 1 row without text (row 3)",
    ]


def test_a_sheet_can_be_named(tmp_path):
    (tmp_path / "a.xlsx").write_bytes(make_xlsx({"Data": ROWS, "Other": [["text"], ["words of the other"]]}))
    assert read(tmp_path / "a.xlsx", table="Other")[0][0]["text"] == "words of the other"
    with pytest.raises(UsageError, match="no such sheet; its sheets are 'Data', 'Other'"):
        read(tmp_path / "a.xlsx", table="nothing")


def test_open_document_sheets_are_read(tmp_path):
    (tmp_path / "a.ods").write_bytes(make_ods([["id", "text"], ["a", "one"], ["b", "two"]]))
    assert read(tmp_path / "a.ods")[0] == [{"id": "a", "text": "one"}, {"id": "b", "text": "two"}]


def test_a_missing_extra_is_said_with_the_command_that_installs_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    (tmp_path / "a.xlsx").write_bytes(make_xlsx({"Data": ROWS}))
    with pytest.raises(UsageError, match=r"pip install 'anchorless\[excel\]'"):
        open_texts(tmp_path / "a.xlsx")


@pytest.mark.parametrize("name", ["a.xlsx", "a.xls", "a.ods"])
@pytest.mark.parametrize("content", [b"id,text\n1,x\n", b"PK\x03\x04 no archive", b"\xd0\xcf\x11\xe0" + b"\0" * 600])
def test_what_is_no_spreadsheet_is_refused(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match="is a damaged spreadsheet"):
        read(tmp_path / name)


FAR = make_sheet([["text"]]).replace('<c r="A1"', '<c r="XFD1048576"')
UNNAMED = f'<worksheet><sheetData><row r="1048576">{"<c/>" * 100}</row></sheetData></worksheet>'


@pytest.mark.parametrize("sheet", [FAR, UNNAMED])
def test_a_sheet_of_billions_of_cells_is_refused_before_it_is_read(sheet):
    with pytest.raises(InputError, match="a sheet reaches over 1,048,576 rows"):
        check_size(io.BytesIO(make_xlsx({"Data": sheet})), "a.xlsx")


def test_a_repetition_of_billions_of_cells_is_refused():
    content = make_ods([["x"]] * 3, 'table:number-columns-repeated="16384"')
    check_size(io.BytesIO(content), "a.ods")
    far = make_ods([["x"]], 'table:number-columns-repeated="99999999"')
    with pytest.raises(InputError, match="99,999,999 columns"):
        check_size(io.BytesIO(far), "a.ods")


def test_what_unpacks_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(spreadsheets, "MAX_UNPACKED", 1 << 16)
    with pytest.raises(InputError, match="unpacks to more than"):
        check_size(io.BytesIO(make_zip({"xl/sharedStrings.xml": "a" * (1 << 18)})), "a.xlsx")
