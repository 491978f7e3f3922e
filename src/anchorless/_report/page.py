"""The page around a report's data: where texts that nobody has checked meet HTML.

They reach the page at two doors only: as JSON in a data block, in which no tag can begin or end, and as escaped text
in the heading and in the list for readers without scripts. The page's script makes text of them, never markup, and a
Content-Security-Policy lets the browser run this one script and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

#: Characters that are kept of a title.
TITLE_LENGTH = 300
#: Control characters that are no white space: browsers refuse some and show others as boxes.
CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
#: Without these five, no tag, comment or entity can begin, and no old script engine sees the end of a line.
SCRIPT_SAFE = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"})
#: The parts of the page's script; a later one uses what an earlier one defines.
SCRIPTS = ("state.js", "figures.js", "page.js")
PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


def to_line(text: str, length: int) -> str:
    """Return the text on one line, without control characters and half characters, cut to `length`."""
    text = text[: 4 * length + 200]  # a document of 50 MB is not normalised for the sake of its first words
    return truncate(" ".join(CONTROLS.sub("", text).encode("utf-8", "replace").decode().split()), length)


def truncate(text: str, length: int) -> str:
    """Return the text, or its beginning with a mark that it goes on."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…" if length else ""


def to_script_json(value: Any) -> str:
    """Return JSON that can stand in a script element whatever the texts in it say."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).translate(SCRIPT_SAFE)


def page(title: str, subtitle: str, items: Iterable[tuple[int, str]], block: str) -> str:
    """Return the page: its heading, numbered lines for readers without scripts, and what `to_script_json` made.

    The frame is filled in one pass, so that a text that looks like a place of the frame is left as it is.
    """
    style, script = read_asset("page.css"), join_scripts()
    parts = {
        "policy": build_policy(style, script),
        "title": html.escape(to_line(title, TITLE_LENGTH)) or "Topics",
        "subtitle": html.escape(to_line(subtitle, TITLE_LENGTH)),
        "style": style,
        "script": script,
        "data": block,
        "list": "".join(f"<li value={int(n)} dir=auto>{html.escape(text)}</li>" for n, text in items),
    }
    return PLACEHOLDER.sub(lambda place: parts[place[1]], read_asset("page.html"))


def build_policy(style: str, script: str) -> str:
    """Allow this style sheet and this script, by their hashes, and nothing else."""
    return (
        f"default-src 'none'; style-src '{hash_inline(style)}'; script-src '{hash_inline(script)}'; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def hash_inline(text: str) -> str:
    """Return the hash of an inline element as a Content-Security-Policy writes it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def join_scripts() -> str:
    """Return the script's parts as one, in a scope of its own: the page has one inline script, and one hash."""
    return "(() => {\n" + '"use strict";\n' + "".join(map(read_asset, SCRIPTS)) + "})();\n"


def read_asset(name: str) -> str:
    """Return one of the page's files, with the line ends that browsers hash."""
    return files("anchorless._report").joinpath("assets", name).read_text(encoding="utf-8").replace("\r\n", "\n")
