import re

import pytest
from hypothesis import example, given, strategies

from anchorless._export.text import LATEX, clean_line, clean_text, escape_latex, escape_markdown
from tests.helpers.properties import run_examples

SPECIAL = "\\{}$&#%_^~<>|\"`'-*[]()+.!:@=/w1 \t\n\r\x00\x1b\u202e\ud800\uffff"
ANYTHING = strategies.text(alphabet=strategies.sampled_from(SPECIAL) | strategies.characters(codec=None), max_size=30)


def decode_latex(text):
    """Return what LaTeX prints; a command that is not an escape is an error."""
    commands = {escape: character for character, escape in LATEX.items()}
    pattern = re.compile("|".join(sorted(map(re.escape, commands), key=len, reverse=True)) + r"|[^\\{}$&#%_^~<>|\"`'-]")
    found, position = [], 0
    while position < len(text):
        match = pattern.match(text, position)
        assert match is not None, text[position:]
        found.append(commands.get(match[0], match[0]))
        position = match.end()
    return "".join(found)


@run_examples(60)
@given(ANYTHING)
@example(SPECIAL)
def test_latex_prints_the_text_and_nothing_of_it_is_a_command(text):
    assert decode_latex(escape_latex(text)) == clean_line(text)


@run_examples(60)
@given(ANYTHING)
@example(SPECIAL)
def test_a_line_can_be_stored_as_xml_and_as_utf8(text):
    line = clean_line(text)
    line.encode("utf-8")
    assert len(line.splitlines()) <= 1
    assert not re.search("[\x00-\x1f\x7f-\x9f\ufffe\uffff\u202e]", line)
    assert clean_line(line) == line


def test_lines_of_a_text_stay():
    assert clean_text("a\r\nb\rc\x00") == "a\nb\nc\ufffd"


@run_examples(60)
@given(ANYTHING)
@example(SPECIAL)
def test_markdown_shows_the_text_and_nothing_of_it_is_markup(text):
    markdown = pytest.importorskip("markdown", reason="Markdown is not installed: pip install 'anchorless[docs]'")
    page = f"| a |\n|---|\n| {escape_markdown(text)} |"
    html = markdown.markdown(page, extensions=["tables"])
    cell = re.search(r"<tbody>\s*<tr>\s*<td>(.*)</td>\s*</tr>\s*</tbody>", html, flags=re.DOTALL)[1]
    assert "<" not in cell
    assert re.sub(r"&#(\d+);", lambda match: chr(int(match[1])), cell) == clean_line(text)
