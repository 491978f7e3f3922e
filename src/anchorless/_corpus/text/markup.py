"""Web pages without their markup: the text that a reader sees, near enough to count its words.

Regular expressions of RE2, which takes time in proportion to the text whatever is in it, over a whole batch at once.
What is no markup stays: "a < b", "3 <4", an arrow "->". Broken markup does no harm beyond itself.
"""

from __future__ import annotations

from html import unescape
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

#: What is between these tags is never shown; one that is not closed goes to the end of the text.
HIDDEN_ELEMENTS = [
    r"(?s)<!--.*?(?:-->|\z)",
    *(rf"(?is)<{tag}(?:\s[^>]*)?>.*?(?:</{tag}\s*>|\z)" for tag in ("script", "style", "template")),
]
#: The inside of a tag: quoted values may hold anything.
TAG_ATTRIBUTES = r"""(?:[^<>"']|"[^"]*"|'[^']*')*"""
#: Tags inside words, which they do not part: <b>h</b>ello, H<sub>2</sub>O.
INLINE_TAGS = rf"(?i)</?(?:b|big|del|em|font|i|ins|mark|s|small|strong|sub|sup|tt|u|wbr)(?:[\s/]{TAG_ATTRIBUTES})?>"
#: Any other tag, <!DOCTYPE …> and <?xml …?> too. Then those with a quotation mark too many.
TAGS = [rf"<[/!?]?[A-Za-z]{TAG_ATTRIBUTES}>", r"<[/!?]?[A-Za-z][^<>]*>"]
#: What may be a character written as &name; or as &#number;.
CHARACTER_REFERENCE = r"&(?:#|[A-Za-z])"


def strip_markup(texts: Any) -> Any:
    """Return texts without tags, comments, scripts and styles; &eacute; and the like become the letters they mean."""
    for pattern in HIDDEN_ELEMENTS:
        texts = pc.replace_substring_regex(texts, pattern=pattern, replacement=" ")
    texts = pc.replace_substring_regex(texts, pattern=INLINE_TAGS, replacement="")
    for pattern in TAGS:
        texts = pc.replace_substring_regex(texts, pattern=pattern, replacement=" ")
    return unescape_references(texts)


def unescape_references(texts: Any) -> Any:
    """Return texts with the characters that references stand for; after the tags are gone: &lt;b&gt; is no tag."""
    held = pc.fill_null(pc.match_substring_regex(texts, pattern=CHARACTER_REFERENCE), False)
    if not pc.any(held).as_py():
        return texts
    rewritten = pa.array([unescape(text) for text in texts.filter(held).to_pylist()], type=texts.type)
    return pc.replace_with_mask(texts, held, rewritten)
