"""The HTML page around a report's data: untrusted texts are inserted here, and only here.

They are inserted in two ways: as JSON in a data block, in which no tag can begin or end, and as escaped text in the
heading and in the list for readers without scripts. The page's script turns them into text nodes, never into markup,
and a Content-Security-Policy allows the browser to run this one script and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Callable, Iterable, Iterator
from importlib.resources import files
from typing import Any

#: Maximum length of a title, in characters.
TITLE_LENGTH = 300
#: Control characters other than white space: browsers reject some, show others as boxes, and obey those of directions.
CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069]")
#: Without these five, no tag, comment or entity can begin, and old script engines see no line terminator in a string.
SCRIPT_SAFE = {character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
#: Entries of a list that are encoded at a time: Ctrl-C has to wait for the encoder.
ENTRIES_PER_PART = 256
#: The parts of the page's script, in order: each uses definitions of the earlier ones.
SCRIPTS = ("state.js", "map.js", "figures.js", "effects.js", "atlas.js", "page.js")
#: What a page may have in the place of a text: no tag can begin inside it.
TEXT_PATTERNS = {
    "title": "[^<]*",
    "subtitle": "[^<]*",
    "data": "(?P<data>[^<]*)",
    "list": "(?:<li value=[0-9]+ dir=auto>[^<]*</li>)*",
}
DATA_BLOCK = re.compile(r'<script type="application/json" id="data">([^<]*)</script>')
HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")
PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


def to_line(text: str, length: int) -> str:
    """Return the text on one line, without control characters and lone surrogates, truncated to `length`."""
    text = text[: 4 * length + 200]  # normalizing all of a 50 MB document would be slow
    return truncate(" ".join(CONTROLS.sub("", text).encode("utf-8", "replace").decode().split()), length)


def to_text(text: str, length: int) -> str:
    """Return the text with its lines, without control characters and lone surrogates, truncated to `length`."""
    lines = CONTROLS.sub("", text[: length + 200]).encode("utf-8", "replace").decode().splitlines()
    return truncate(re.sub("\n{3,}", "\n\n", "\n".join(line.rstrip() for line in lines)).strip(), length)


def truncate(text: str, length: int) -> str:
    """Return at most `length` characters of the text; a truncated one ends at a word if it can, and in an ellipsis."""
    if len(text) <= length or not length:
        return text[:length]
    start = text[: length - 1]
    at = start.rfind(" ")
    whole = start[:at] if text[length - 1] != " " and at > length / 2 else start
    return whole.rstrip(" ,;:") + "…"


def to_script_json(value: Any) -> str:
    """Return JSON that is safe inside a script element, whatever texts it contains."""
    return "".join(encode_parts(value))


def encode_parts(value: Any) -> Iterator[str]:
    """Yield the JSON of `to_script_json` in parts, each of them small."""
    if isinstance(value, dict):
        for n, (name, entry) in enumerate(value.items()):
            yield f"{',' if n else '{'}{encode_part(name)}:"
            yield from encode_parts(entry)
        yield "}" if value else "{}"
    elif isinstance(value, list) and len(value) > ENTRIES_PER_PART:
        for start in range(0, len(value), ENTRIES_PER_PART):
            yield f"{',' if start else '['}{encode_part(value[start : start + ENTRIES_PER_PART])[1:-1]}"
        yield "]"
    else:
        yield encode_part(value)


def encode_part(value: Any) -> str:
    """Return the JSON of a value without the characters that are unsafe inside a script element."""
    return escape_json(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def escape_json(text: str) -> str:
    """Escape the characters of JSON that are unsafe inside a script element."""
    for character, escape in SCRIPT_SAFE.items():  # `translate` is slow for letters that are not ASCII
        text = text.replace(character, escape)
    return text


def render_page(title: str, subtitle: str, items: Iterable[tuple[int, str]], json_data: str) -> str:
    """Return the page with its heading, numbered lines for readers without scripts, and JSON from `to_script_json`.

    All placeholders are replaced in one pass, so a text that looks like a placeholder is left as it is.
    """
    parts = build_fixed_parts() | {
        "title": html.escape(to_line(title, TITLE_LENGTH)) or "Topics",
        "subtitle": html.escape(to_line(subtitle, TITLE_LENGTH)),
        "data": json_data,
        "list": "".join(f"<li value={int(n)} dir=auto>{html.escape(text)}</li>" for n, text in items),
    }
    return PLACEHOLDER.sub(lambda match: parts[match[1]], read_asset("page.html"))


def replace_data(html: str, change: Callable[[Any], Any]) -> str | None:
    """Return a page with changed data; None for a page that has anything else than this version writes."""
    found = match_page(html)
    try:
        data = None if found is None else to_script_json(change(parse_data(found["data"])))
    except (ValueError, TypeError, RecursionError):
        return None
    return None if found is None else f"{html[: found.start('data')]}{data}{html[found.end('data') :]}"


def read_data(html: str) -> Any:
    """Return the data of a page; None for a page that has anything else than this version writes."""
    found = match_page(html)
    try:
        return None if found is None else parse_data(found["data"])
    except (ValueError, RecursionError):
        return None


def read_data_block(html: str) -> Any:
    """Return the data of a page that any version wrote; None if there is not exactly one block of data."""
    blocks = DATA_BLOCK.findall(html)
    try:
        return parse_data(blocks[0]) if len(blocks) == 1 else None
    except (ValueError, RecursionError):
        return None


def parse_data(text: str) -> Any:
    """Return the value of JSON; ValueError also for half of a surrogate pair, which could not be written again."""
    found = json.loads(text)
    if HALF_PAIR.search(text):  # perhaps: both halves of a pair look the same here
        json.dumps(found, ensure_ascii=False).encode()
    return found


def match_page(html: str) -> re.Match[str] | None:
    """Find the parts of a page; None for one that has anything else than this version writes.

    The page may come from a stranger: a script that was added to it must not be passed on.
    """
    fixed = {name: re.escape(part) for name, part in build_fixed_parts().items()}
    pieces = PLACEHOLDER.split(read_asset("page.html"))  # text and name of a placeholder in turn
    named = fixed | TEXT_PATTERNS
    pattern = "".join(named[piece] if i % 2 else re.escape(piece) for i, piece in enumerate(pieces))
    return re.fullmatch(pattern, html)


def build_fixed_parts() -> dict[str, str]:
    """Return the parts that all pages of this version have: style, script, and the policy that allows only these."""
    style, script = read_asset("page.css"), join_scripts()
    policy = (
        f"default-src 'none'; style-src '{hash_inline(style)}'; script-src '{hash_inline(script)}'; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    return {"policy": policy, "style": style, "script": script}


def hash_inline(text: str) -> str:
    """Return the hash of an inline element in the syntax of a Content-Security-Policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def join_scripts() -> str:
    """Join the parts of the script in one function scope: the page has one inline script, and one hash."""
    return "(() => {\n" + '"use strict";\n' + "".join(map(read_asset, SCRIPTS)) + "})();\n"


def read_asset(name: str) -> str:
    """Return one of the page's files, with the line endings that browsers hash."""
    return files("anchorless._report").joinpath("assets", name).read_text(encoding="utf-8").replace("\r\n", "\n")
