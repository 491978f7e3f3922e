"""Make texts of strangers inert: control characters, and cells that a spreadsheet would compute.

A spreadsheet computes a cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a line break, and a formula can
start programs and send data away. Some programs that import CSV remove white space and invisible characters first. A
cell in front of which there is an apostrophe is text to every spreadsheet.
"""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

#: Controls of ASCII and Latin-1 but tab and line breaks, and those that change the direction of the text after them.
CONTROLS = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\u009f\u202a-\u202e\u2066-\u2069]"
#: What stands for a control character.
REPLACEMENT = "\ufffd"
#: White space and invisible characters, which programs may remove from the beginning of a cell.
UNSEEN = (
    r"[\t-\r \u0085\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f"
    r"\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
#: How a formula begins (also in wide forms), after apostrophes of an earlier neutralization, so that it can be undone.
FORMULA = rf"^'*(?:[\t\r\n]|{UNSEEN}*[=+\-@\uff1d\uff0b\uff0d\uff20])"
#: A number is no formula. The sign alone, and -1+1, are none.
NUMBER = r"^ *[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
MARK = "'"

_CONTROLS, _FORMULA, _NUMBER = map(re.compile, (CONTROLS, FORMULA, NUMBER.replace("$", r"\Z")))


def replace_controls(text: str) -> str:
    """Return a text with the replacement character for each control character; tabs and line breaks stay."""
    return _CONTROLS.sub(REPLACEMENT, text)


def neutralize_cell(text: str) -> str:
    """Return the text of a cell such that no spreadsheet computes it and no terminal obeys it.

    Examples
    --------
    >>> neutralize_cell("=HYPERLINK(A1)"), neutralize_cell("-3.5"), neutralize_cell("a = b")
    ("'=HYPERLINK(A1)", '-3.5', 'a = b')
    """
    text = replace_controls(text)
    return MARK + text if _FORMULA.match(text) and not _NUMBER.match(text) else text


def restore_cell(text: str) -> str:
    """Return the text of a cell that `neutralize_cell` may have marked; control characters do not come back."""
    return text[len(MARK) :] if text.startswith(MARK) and _FORMULA.match(text) else text


def neutralize_value(value: Any) -> Any:
    """Return a cell, neutralized if it is a text."""
    return neutralize_cell(value) if isinstance(value, str) else value


def neutralize_column(column: Any) -> Any:
    """Return an Arrow array or chunked array with its texts neutralized, as `neutralize_cell` does one by one."""
    if pa.types.is_dictionary(column.type) and is_text(column.type.value_type):
        column = column.cast(column.type.value_type)
    if not is_text(column.type):
        return column
    texts = pc.replace_substring_regex(column, to_re2(CONTROLS), REPLACEMENT)
    formulas = pc.and_not(pc.match_substring_regex(texts, to_re2(FORMULA)), pc.match_substring_regex(texts, NUMBER))
    mark, nothing = pa.scalar(MARK, texts.type), pa.scalar("", texts.type)
    return pc.if_else(formulas, pc.binary_join_element_wise(mark, texts, nothing), texts)


def is_text(kind: Any) -> bool:
    """Tell whether an Arrow type is one of texts."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def to_re2(pattern: str) -> str:
    r"""Return a pattern as RE2 reads it, which writes \u009f as \x{009f}."""
    return re.sub(r"\\(?:u([0-9a-f]{4})|U([0-9a-f]{8}))", r"\\x{\1\2}", pattern)


def neutralize_table(table: Any) -> Any:
    """Return an Arrow table with all texts and the names of the columns neutralized."""
    columns = [neutralize_column(column) for column in table.columns]
    return pa.table(columns, names=[neutralize_cell(name) for name in table.column_names])


def neutralize_frame(frame: Any) -> Any:
    """Return a pandas data frame with its texts, its index and the names of its columns neutralized."""
    found = frame.copy()
    for place, dtype in enumerate(frame.dtypes):
        if dtype.kind not in "biufcmM":
            found.isetitem(place, frame.iloc[:, place].map(neutralize_value))
    found.columns = frame.columns.map(neutralize_value).rename(neutralize_value(frame.columns.name))
    found.index = frame.index.map(neutralize_value).rename(neutralize_value(frame.index.name))
    return found
