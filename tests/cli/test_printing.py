import io
import json

import numpy as np
import pytest

from anchorless._cli.printing import (
    is_number,
    print_json,
    print_pairs,
    print_table,
    print_topics,
    sanitize,
    shorten_words,
    to_json,
)
from anchorless._topic_model.summary import Topic


def topics(n, words):
    values = [0.5] * len(words)
    return [Topic(k, "label", 1 / n, words, values, values, 0.5, 0.5, values) for k in range(n)]


def test_numbers_that_json_does_not_have_become_null():
    value = {"a": [float("nan"), 1.5, (float("inf"), "x")], "b": {"c": -float("inf")}, "d": True}
    assert json.loads(to_json(value)) == {"a": [None, 1.5, [None, "x"]], "b": {"c": None}, "d": True}


def test_json_is_ascii_where_the_terminal_is_not_unicode(monkeypatch):
    for encoding, written in (("utf-8", '"né 中"\n'), ("ascii", '"n\\u00e9 \\u4e2d"\n')):
        stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="\n")
        monkeypatch.setattr("sys.stdout", stream)
        print_json("né 中")
        stream.flush()
        assert stream.buffer.getvalue().decode() == written


@pytest.mark.parametrize("n", [3, 101])
def test_lines_of_topics_are_aligned(capsys, monkeypatch, n):
    monkeypatch.setenv("COLUMNS", "60")
    print_topics(topics(n, [f"word{i}" for i in range(30)]))
    head, *lines = capsys.readouterr().out.splitlines()
    start = head.index("leading words")
    assert len(lines) == n
    for line in lines:
        assert line[start - 1] == " "
        assert line[start:].startswith("word0 word1")
        assert line.endswith(" …")
        assert len(line) <= 60


def test_words_do_not_control_the_terminal(capsys):
    print_topics(topics(1, ["\x1b[2J", "a\u202eb"]))
    print_pairs(np.array([[1.0, 0.5], [0.5, 1.0]]), ["\x1b[31m", "b\rc"])
    out = capsys.readouterr().out
    assert all(c == "\n" or c.isprintable() for c in out)


def test_positive_pairs_are_printed_first_and_the_strongest_of_each_sign_first(capsys):
    A = np.array([[0.0, 0.2, -0.9, 0.0], [0.2, 0.0, 0.5, 0.004], [-0.9, 0.5, 0.0, -0.1], [0.0, 0.004, -0.1, 0.0]])
    print_pairs(A, ["A", "B", "C", "D"])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        ["often", "together,", "beyond", "what", "their", "sizes", "explain", "(association):"],
        ["1", "and", "2", "+0.50", "B", "/", "C"],
        ["0", "and", "1", "+0.20", "A", "/", "B"],
        ["rarely", "together,", "beyond", "what", "their", "sizes", "explain", "(association):"],
        ["0", "and", "2", "-0.90", "A", "/", "C"],
        ["2", "and", "3", "-0.10", "C", "/", "D"],
    ]


def test_unrelated_topics_are_said_to_be_unrelated(capsys):
    print_pairs(np.array([[0.0, 0.004], [0.004, 0.0]]), ["A", "B"])
    assert capsys.readouterr().out.startswith("topics are together as often as their sizes explain")
    print_pairs(np.zeros((1, 1)), ["A"])
    assert capsys.readouterr().out == ""


def test_columns_of_a_table_are_aligned(capsys):
    print_table(["name", "n"], [["a", "1,000"], ["long name", "-2.5"]])
    assert capsys.readouterr().out == "name           n\na          1,000\nlong name   -2.5\n"


@pytest.mark.parametrize(
    ("text", "number"), [("1,000", True), ("-2.5", True), ("12.00%", True), ("nan", False), ("a1", False), ("", False)]
)
def test_what_is_a_number(text, number):
    assert is_number(text) == number


def test_texts_are_shortened_at_words_and_never_longer_than_asked():
    text = "one two three four five"
    for width in range(10, 40):
        short = shorten_words(text, width)
        assert len(short) <= width
        assert short == text if len(text) <= width else text.startswith(short.removesuffix(" …") + " ")
    assert shorten_words("x" * 50, 20) == "x" * 19 + "…"


def test_printable_keeps_letters_of_all_languages():
    assert sanitize("né 中文 ῾Ελλάς") == "né 中文 ῾Ελλάς"
    assert sanitize("a\tb\nc\x00\udcff") == "a�b�c��"


@pytest.mark.parametrize("character", ["\x9b", "\u202e", "\x1b", "\u200b", "\U000e0001", "\x7f"])
def test_json_holds_no_character_that_a_terminal_interprets(character):
    value = {"word": f"a{character}b", f"k{character}": [1.5, "é"]}
    text = to_json(value)
    assert character not in text
    assert "é" in text
    assert json.loads(text) == value
