"""Spreadsheets give the rows that are in them; those that would fill the memory are refused before they are read."""

import io
import struct
import subprocess
import sys

import pytest

from anchorless._corpus.io import docx, spreadsheets
from anchorless._corpus.io.readers import open_texts
from anchorless._corpus.io.spreadsheets import check_size, start_reader
from anchorless.errors import InputError, UsageError
from tests.helpers.text_files import make_ods, make_sheet, make_xls, make_xlsx, make_zip

ROWS = [["id", "text", "year"], ["a", "one text", 2001], ["b", None, 2002], ["c", "another & <text>", 2003.5]]

FACTS = '{"sheets": ["Data"], "sheet": "Data", "n_rows": 3, "title": null}\n'


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


def test_a_hidden_sheet_is_read_only_if_it_is_named_or_the_only_one(tmp_path):
    xlsxwriter = pytest.importorskip("xlsxwriter")
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as workbook:
        for name in ("Cover", "Choices", "Data"):
            sheet = workbook.add_worksheet(name)
            if name == "Choices":
                sheet.hide()
            if name != "Cover":
                sheet.write_column(0, 0, ["text", f"of {name}"])
    found, source = read(tmp_path / "a.xlsx")
    assert found[0]["text"] == "of Data"
    assert source.describe_reading() == ["read the sheet 'Data'; not read: 'Cover', 'Choices'; {table} names another"]
    assert read(tmp_path / "a.xlsx", table="Choices")[0][0]["text"] == "of Choices"


def test_a_title_above_the_names_of_the_columns_is_no_document(tmp_path):
    titled = [["Survey 2024", None, None], [None, None, None], *ROWS]
    (tmp_path / "a.xlsx").write_bytes(make_xlsx({"Data": titled}))
    found, source = read(tmp_path / "a.xlsx")
    assert [row["id"] for row in found] == ["a", "c"]
    assert source.describe_reading()[0] == "'Survey 2024' was taken for a title; the columns are named in row 3"


@pytest.mark.parametrize(
    "rows",
    [
        [["text", None], ["a text", 3], ["another one", 4]],
        [["text", None], ["a text", "a text"], ["another one", "more"]],
        [["text", None], ["a text", "x" * 61], ["another one", "more"]],
        [["text"], ["a text"], ["another one"]],
    ],
)
def test_a_single_name_above_data_is_no_title(tmp_path, rows):
    (tmp_path / "a.xlsx").write_bytes(make_xlsx({"Data": rows}))
    assert [row["text"] for row in read(tmp_path / "a.xlsx")[0]] == ["a text", "another one"]


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


@pytest.mark.parametrize("name", ["zlib", "rot13", "klingon"])
def test_a_sheet_in_what_is_no_encoding_is_refused(name):
    content = make_zip({"content.xml": f'<?xml version="1.0" encoding="{name}"?><a/>'})
    with pytest.raises(InputError, match=r"a\.ods is a damaged spreadsheet"):
        check_size(io.BytesIO(content), "a.ods")


def test_a_tag_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(docx, "MAX_TAG", 5000)
    check_size(io.BytesIO(make_ods([["word " * 3000]])), "a.ods")
    with pytest.raises(InputError, match=r"a\.ods: its XML has a tag of more than 5,000 bytes"):
        check_size(io.BytesIO(make_zip({"content.xml": f"<a b='{'x' * 20_000}"})), "a.ods")


def test_what_unpacks_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(spreadsheets, "MAX_UNPACKED", 1 << 16)
    with pytest.raises(InputError, match="unpacks to more than"):
        check_size(io.BytesIO(make_zip({"xl/sharedStrings.xml": "a" * (1 << 18)})), "a.xlsx")


def test_binary_sheets_are_read(tmp_path):
    (tmp_path / "a.xls").write_bytes(make_xls([["id", "text"], ["a", "one"], ["b", "two"]]))
    assert read(tmp_path / "a.xls")[0] == [{"id": "a", "text": "one"}, {"id": "b", "text": "two"}]


def list_filling_files():
    """Spreadsheets of a few kilobytes whose cells do not fit into memory, and that look harmless before."""
    far = make_sheet(ROWS).replace("</sheetData>", "<row r='1048576'><c r='XFD1048576'><v>1</v></c></row></sheetData>")
    repeated = make_ods([["text"], ["word " * 1_000_000]], 'table:number-columns-repeated="1000"')
    xls = make_xls([["text"], ["one"]])
    return {
        "references in other quotes.xlsx": make_xlsx({"Data": far}),
        "a long text in a thousand cells.ods": repeated,
        "a stream that follows itself.xls": xls[:-512] + struct.pack("<I", 0) * 128,
    }


@pytest.mark.skipif(sys.platform == "win32", reason="the memory of a process is not limited there")
@pytest.mark.parametrize("name", list_filling_files())
def test_a_sheet_that_fills_the_memory_ends_its_own_process_only(tmp_path, monkeypatch, name):
    monkeypatch.setattr(spreadsheets, "measure_free_memory", lambda: 10**9)
    (tmp_path / name).write_bytes(list_filling_files()[name])
    with pytest.raises(InputError, match="needs more memory than is available"):
        read(tmp_path / name)


@pytest.fixture
def large(tmp_path):
    rows = [["id", "text"], *([str(n), "word " * 100] for n in range(20_000))]
    (tmp_path / "a.xlsx").write_bytes(make_xlsx({"Data": rows}))
    return tmp_path / "a.xlsx"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such timers there")
def test_a_sheet_whose_reading_does_not_end_is_refused(large, monkeypatch):
    monkeypatch.setattr(spreadsheets, "BASE_SECONDS", 0.01)  # the library needs ten times as long
    monkeypatch.setattr(spreadsheets, "BYTES_PER_SECOND", 1 << 60)
    with pytest.raises(InputError, match="reading it does not end"):
        read(large)


def test_the_process_that_reads_ends_with_the_source(large, monkeypatch):
    processes = []

    def start(*arguments):
        processes.append(start_reader(*arguments))
        return processes[-1]

    monkeypatch.setattr(spreadsheets, "start_reader", start)
    with open_texts(large) as source:
        batches = iter(source)
        next(batches)
        assert processes[0].poll() is None
    assert processes[0].poll() is not None


@pytest.mark.parametrize("printed", ["", '{"sheets": ["Da', FACTS, f'{FACTS}[1, ["text"]]\n[2, ["on'])
def test_a_process_that_ends_in_between_is_an_error(tmp_path, monkeypatch, printed):
    def start(*arguments):
        return subprocess.Popen([sys.executable, "-c", f"print({printed!r}, end='')"], stdout=subprocess.PIPE)

    monkeypatch.setattr(spreadsheets, "start_reader", start)
    (tmp_path / "a.xlsx").write_bytes(make_xlsx({"Data": ROWS}))
    with pytest.raises(InputError, match="needs more memory than is available"):
        read(tmp_path / "a.xlsx")
