"""Texts of a corpus as other formats can hold them: escaped, on one line, without characters that a format forbids."""

from __future__ import annotations

import re

from anchorless._text_safety import REPLACEMENT, replace_controls

#: What XML 1.0 forbids besides controls (and with it Excel, GEXF and GraphML): lone surrogates, two noncharacters.
FORBIDDEN = re.compile("[\ud800-\udfff\ufffe\uffff]")
LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}",
    "-": r"{-}",  # two would become a dash
}
#: Backslashes keep Markdown readable; the others begin tags, cells, links and formulas in some dialect.
MARKDOWN_MARKS, MARKDOWN_ENTITIES = "\\`*_{}[]()#+-.!", "<>&|~$:@^=\"'"
MARKDOWN = str.maketrans({c: f"\\{c}" for c in MARKDOWN_MARKS} | {c: f"&#{ord(c)};" for c in MARKDOWN_ENTITIES})


def clean_line(text: str) -> str:
    """Return text on one line; a character that formats forbid becomes U+FFFD."""
    return " ".join(FORBIDDEN.sub(REPLACEMENT, replace_controls(text)).split())


def clean_text(text: str) -> str:
    """Return text with its lines; a character that formats forbid becomes U+FFFD."""
    return FORBIDDEN.sub(REPLACEMENT, replace_controls(text).replace("\r\n", "\n").replace("\r", "\n"))


def escape_latex(text: str) -> str:
    """Return text that LaTeX sets as it is."""
    return "".join(LATEX.get(character, character) for character in clean_line(text))


def escape_markdown(text: str) -> str:
    """Return text that Markdown, and HTML in it, show as it is, also in a cell of a table."""
    return clean_line(text).translate(MARKDOWN)
