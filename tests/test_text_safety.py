"""Texts of strangers are inert: one rule, as Python and as Arrow apply it, and what it must never let through."""

import sys
import unicodedata

import hypothesis.strategies as st
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given

from anchorless._text_safety import (
    neutralize_cell,
    neutralize_column,
    neutralize_frame,
    neutralize_table,
    replace_controls,
    restore_cell,
)
from tests.helpers.properties import run_examples

FORMULAS = ["=1+1", "=cmd|' /C calc'!A0", "@SUM(1)", "+1+1", "-1+1", "\t=1", "\r=1", "\uff1d1+1", "-", "\n=1", "\nx"]
#: White space, and characters without a glyph but those that stand before digits and are seen.
UNSEEN = [
    chr(c)
    for c in range(sys.maxunicode)
    if chr(c).isspace() or unicodedata.category(chr(c)) in ("Zs", "Zl", "Zp", "Cf")
]
SEEN = {
    *map(chr, [*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD, *range(0x13430, 0x13440)])
}
NUMBERS = ["-1", "+2.5", "-1e-5", "-.5", "0", "+7.", "  -1"]
CONTROLS = ["\x1b[2J", "\x9b2J", "\u202eabc", "\u2066", "\x00", "\x7f", "\x07"]
texts = st.text(
    st.one_of(st.sampled_from("=+-@' \t\r\n1.e5\x1b\x9b\u202e\u200b"), st.characters(codec="utf-8")), max_size=8
)


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_become_text(text):
    assert neutralize_cell(text) == f"'{text}"


def test_no_character_that_a_program_may_remove_hides_a_formula():
    hidden = [f"{c}{c}{first}1+1" for c in {*UNSEEN} - SEEN for first in "=+-@\uff1d"]
    marked = [neutralize_cell(text) for text in hidden]
    assert [text for text, cell in zip(hidden, marked, strict=True) if cell[0] not in "'\ufffd"] == []
    assert neutralize_column(pa.array(hidden)).to_pylist() == marked
    assert [restore_cell(cell) for cell in marked] == [replace_controls(text) for text in hidden]


@pytest.mark.parametrize(
    "text", [*NUMBERS, "a=b", "", "x-y", "'t is", "e-mail", "na\u200cme", "a\nb", " a=b", "\ufeffname"]
)
def test_numbers_and_texts_stay(text):
    assert neutralize_cell(text) == text


@pytest.mark.parametrize("text", CONTROLS)
def test_controls_are_replaced(text):
    assert "\ufffd" in replace_controls(text)
    assert not any(unicodedata.category(c) == "Cc" for c in neutralize_cell(text))


@run_examples(200)
@given(texts)
def test_what_was_neutralized_can_be_restored_and_is_inert(text):
    cell = neutralize_cell(text)
    assert restore_cell(cell) == replace_controls(text)
    assert cell[:1] not in ("\t", "\r", "\n")
    seen = cell.lstrip().lstrip("\u200b")
    assert seen[:1] not in ("=", "@")
    assert seen[:1] not in ("+", "-") or float(seen) is not None


@run_examples(200)
@given(st.lists(st.none() | texts, max_size=5))
def test_arrow_applies_the_same_rule(column):
    expected = [None if text is None else neutralize_cell(text) for text in column]
    for kind in (pa.string(), pa.large_string()):
        assert neutralize_column(pa.array(column, kind)).to_pylist() == expected
    chunked = neutralize_column(pa.chunked_array([pa.array(column, pa.string()).dictionary_encode()]))
    assert chunked.to_pylist() == expected


def test_names_of_columns_are_neutralized():
    table = neutralize_table(pa.table({"=a": ["=1", "x"], "n": [-1, 2]}))
    assert table.to_pydict() == {"'=a": ["'=1", "x"], "n": [-1, 2]}
    frame = pd.DataFrame({"=a": ["=1", None], "n": [-1.5, 2]}, index=pd.Index(["@i", "j"], name="=i"))
    found = neutralize_frame(frame)
    assert found.to_csv(lineterminator="\n") == "'=i,'=a,n\n'@i,'=1,-1.5\nj,,2.0\n"
    assert frame.columns[0] == "=a"
