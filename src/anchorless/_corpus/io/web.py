"""The text of web pages and of Markdown, with paragraphs and headings as lines."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from anchorless._corpus.text.cleaning import strip_markup

#: Tags at which a paragraph ends, and those of headings. RE2: their time is proportional to the text.
BLOCK_TAGS = r"(?i)</?(?:p|div|br|hr|li|ul|ol|tr|table|section|article|blockquote|pre|title|dd|dt)(?:[\s/][^<>]*)?>"
HEADING_START, HEADING_END = r"(?i)<h[1-6](?:\s[^<>]*)?>", r"(?i)</h[1-6]\s*>"
#: The encoding that a page names at its beginning.
CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{2,40})""", re.IGNORECASE)
#: Bytes in which it is looked for.
CHARSET_BYTES = 2048

#: The header of a Markdown file, from --- to ---, with settings of a program.
FRONT_MATTER = r"\A---[ \t]*\r?\n(?:.*\n)*?(?:---|\.\.\.)[ \t]*(?:\r?\n|\z)"
#: ![picture](address), [text](address), [text][name], <address>, and lines that say what a name stands for.
IMAGES, LINKS = r"!\[([^\[\]\n]*)\]\([^()\n]*\)", r"\[([^\[\]\n]+)\](?:\([^()\n]*\)|\[[^\[\]\n]*\])"
ADDRESSES, DEFINITIONS = r"<(?:https?|mailto):[^<>\s]*>", r"(?m)^[ \t]{0,3}\[[^\[\]\n]+\]:[ \t]+\S+.*$"


def extract_html(page: str) -> str:
    """Return the text of a page: an empty line at the end of each paragraph, headings after #."""
    text = pa.array([page], pa.large_string())
    for pattern, new in ((HEADING_START, "\n\n# "), (HEADING_END, "\n\n"), (BLOCK_TAGS, "\n\n\\0")):
        text = pc.replace_substring_regex(text, pattern, new)
    text = strip_markup(text)
    return join_lines(text[0].as_py())


def extract_markdown(page: str) -> str:
    """Return the text of a Markdown file without its settings, addresses of links, and tags."""
    text = pa.array([page], pa.large_string())
    for pattern, new in ((FRONT_MATTER, ""), (IMAGES, r"\1"), (LINKS, r"\1"), (ADDRESSES, " "), (DEFINITIONS, "")):
        text = pc.replace_substring_regex(text, pattern, new)
    return str(strip_markup(text)[0].as_py()).strip()


def join_lines(text: str) -> str:
    """Return a text without blanks at the ends of its lines, and with at most one empty line between two lines."""
    lines: list[str] = []
    for line in text.splitlines():
        line = " ".join(line.split())
        if line or (lines and lines[-1]):
            lines.append(line)
    return "\n".join(lines).strip()


def find_charset(head: bytes) -> str | None:
    """Return the encoding that a page names; None if it names none."""
    found = CHARSET.search(head[:CHARSET_BYTES])
    return found[1].decode("ascii") if found else None
