"""Excel workbooks, by XlsxWriter: a sheet for each table. Texts are texts, never formulas or links."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anchorless._export.text import clean_text
from anchorless._files import PathLike, atomic_write
from anchorless.errors import InputError

if TYPE_CHECKING:
    from pandas import DataFrame

#: What a sheet of Excel can hold.
MAX_ROWS, MAX_COLUMNS, MAX_CHARACTERS = 1_048_576, 16_384, 32_767
#: Width of a column in characters: as its longest cell among the first rows, within limits.
MIN_WIDTH, MAX_WIDTH, MEASURED_ROWS = 6, 60, 200
#: Columns that are shares, and their display; other fractions get three decimals.
PERCENT = ("share", "low", "high", "explained", "rest", "probability")
#: A workbook states when it was made; the same model must give the same bytes.
CREATED = datetime.datetime(1980, 1, 1)
#: XlsxWriter would turn texts into formulas, links or numbers.
TEXTS_STAY_TEXTS = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}

#: A text that Excel shows the same as a number: not 007, and no more digits than Excel keeps.
WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,14}")
PLAIN_NUMBER = re.compile(rf"{WHOLE_NUMBER.pattern}|-?(?=[0-9.]{{3,16}}$)(?:0|[1-9][0-9]*)\.[0-9]+")

#: What is in each sheet: of some columns ("low, high: …"), and in general.
SHEETS = {
    "topics": "share of all tokens; coherence: mean NPMI of the ten leading words in the training documents, from -1 "
    "to 1; exclusivity: how much these words belong to one topic alone, from 0 to 1; "
    "junk: what the words look like, if not like a subject",
    "words": "probability: share of the topic's tokens; relevance ranks the words; distinctiveness: relevance divided "
    "by its sum over topics",
    "documents": "the share of every topic in every document; explained: the part of what is special about a document "
    "that its topics explain",
    "examples": "documents that stand for each topic, the best first, with the beginnings of their texts",
    "correlations": "correlations of the topics' proportions over documents",
    "pairs": "association: how often two topics are together beyond what their sizes explain, 0 for not at all; low, "
    "high: its interval; p: corrected for the number of pairs",
    "over time": "mean share of each topic in the documents of each period, with 90% intervals where they are known",
    "by label": "mean share of each topic in the documents of each label, with 90% intervals where they are known",
    "stability": "how often topics and words come out again in bootstrap resamples; intervals",
    "effects": "effects of columns on the shares of topics, with intervals; p_adjusted: corrected for several tests",
}


def describe_sheet(name: str, columns: Sequence[str]) -> str:
    """Say what is in a sheet, and explain those of its columns that are not plain; not columns that it lacks."""
    parts = [(part, part.partition(": ")) for part in SHEETS[name].split("; ")]
    return "; ".join(part for part, (names, _, text) in parts if not text or {*names.split(", ")} <= {*columns})


def write_excel(path: PathLike, sheets: Mapping[str, DataFrame], *, force: bool = False) -> None:
    """Write a workbook with a sheet for each table."""
    for name, frame in sheets.items():
        check_size(name, len(frame) + 1, len(frame.columns))
    xlsxwriter = import_xlsxwriter()
    with atomic_write(path, force=force) as temporary, open(temporary, "wb") as file:
        book = xlsxwriter.Workbook(file, TEXTS_STAY_TEXTS | {"in_memory": True})
        book.set_properties({"created": CREATED})
        formats = {kind: book.add_format(how) for kind, how in FORMATS.items()}
        for name, frame in sheets.items():
            write_sheet(book.add_worksheet(name), frame, formats)
        book.close()


FORMATS = {
    "head": {"bold": True, "bottom": 1},
    "percent": {"num_format": "0.0%"},
    "decimal": {"num_format": "0.000"},
    "text": {"text_wrap": False},
}


def import_xlsxwriter() -> Any:
    """Return the module, or say how to install it."""
    try:
        import xlsxwriter
    except ImportError:
        remedy = "install it with `pip install 'anchorless[excel]'`"
        raise InputError("to write Excel files, XlsxWriter is needed", remedy=remedy) from None
    return xlsxwriter


def check_size(name: str, n_rows: int, n_columns: int) -> None:
    """Refuse a table that a sheet cannot hold: Excel would not open the file, or cut it."""
    for number, limit, what in ((n_rows, MAX_ROWS, "rows"), (n_columns, MAX_COLUMNS, "columns")):
        if number > limit:
            problem = f"the sheet {name} would have {number:,} {what}, and Excel can hold {limit:,}"
            raise InputError(problem, remedy="write the table of documents as Parquet, and the others to Excel")


def write_sheet(sheet: Any, frame: DataFrame, formats: Mapping[str, Any]) -> None:
    """Write a table with a header that stays in view, and filters."""
    for column, name in enumerate(frame.columns):
        given = frame[name].astype(object).where(frame[name].notna(), None).tolist()
        values = read_numbers(given)
        kind = "percent" if is_percent(str(name)) else "decimal" if values is given else "text"  # as it was written
        sheet.write_string(0, column, clean_text(str(name)), formats["head"])
        for row, value in enumerate(values, start=1):
            write_cell(sheet, row, column, value, formats, kind)
        sheet.set_column(column, column, measure_width(str(name), values))
    sheet.freeze_panes(1, 0)
    if len(frame):
        sheet.autofilter(0, 0, len(frame), len(frame.columns) - 1)


def read_numbers(values: list[Any]) -> list[Any]:
    """Return the values of a column of texts as numbers if all are, as those of a table that was read as text."""
    texts = [value for value in values if value is not None and value != ""]
    if not texts or not all(isinstance(text, str) and PLAIN_NUMBER.fullmatch(text) for text in texts):
        return values
    convert = int if all(WHOLE_NUMBER.fullmatch(text) for text in texts) else float
    return [convert(value) if value else None for value in values]


def is_percent(name: str) -> bool:
    """Say whether a column holds shares."""
    return name in PERCENT or name.endswith(("_low", "_high")) or name.removeprefix("topic_").isdecimal()


def write_cell(sheet: Any, row: int, column: int, value: Any, formats: Mapping[str, Any], kind: str) -> None:
    """Write a number as a number and anything else as text; what is missing stays empty."""
    if value is None:
        return
    if isinstance(value, bool):
        sheet.write_boolean(row, column, value)
    elif isinstance(value, int):
        sheet.write_number(row, column, value)
    elif isinstance(value, float):
        if math.isfinite(value):
            sheet.write_number(row, column, value, formats[kind])
    else:
        text = clean_text(str(value))
        cut = text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 1]}…"
        sheet.write_string(row, column, cut, formats["text"])


def measure_width(name: str, values: Sequence[Any]) -> int:
    """Return the width of a column in characters."""
    longest = max((len(value) if isinstance(value, str) else 8 for value in values[:MEASURED_ROWS]), default=0)
    return min(max(longest, len(name) + 2, MIN_WIDTH), MAX_WIDTH)
