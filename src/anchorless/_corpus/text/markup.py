"""Remove the markup of web pages: what is left is close enough to the visible text to count its words.

The regular expressions are those of RE2, whose time is proportional to the text whatever it holds, applied to a whole
batch at once. "a < b", "3 <4" and "->" are not markup and stay. Broken markup affects no text but its own.
"""

from __future__ import annotations

from html import unescape
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

#: Elements that a browser does not show; one that is not closed extends to the end of the text.
HIDDEN_ELEMENTS = [
    r"(?s)<!--.*?(?:-->|\z)",
    *(rf"(?is)<{tag}(?:\s[^>]*)?>.*?(?:</{tag}\s*>|\z)" for tag in ("script", "style", "template")),
]
#: Attributes of a tag: quoted values may hold anything.
TAG_ATTRIBUTES = r"""(?:[^<>"']|"[^"]*"|'[^']*')*"""
#: Tags that may be inside a word and do not separate it: <b>h</b>ello, H<sub>2</sub>O.
INLINE_TAGS = rf"(?i)</?(?:b|big|del|em|font|i|ins|mark|s|small|strong|sub|sup|tt|u|wbr)(?:[\s/]{TAG_ATTRIBUTES})?>"
#: Any other tag, also <!DOCTYPE …> and <?xml …?>; then tags with unbalanced quotation marks.
TAGS = [rf"<[/!?]?[A-Za-z]{TAG_ATTRIBUTES}>", r"<[/!?]?[A-Za-z][^<>]*>"]
#: The start of a character reference, &name; or &#number;.
CHARACTER_REFERENCE = r"&(?:#|[A-Za-z])"


def strip_markup(texts: Any) -> Any:
    """Return texts without tags, comments, scripts and styles, and with é in place of &eacute;."""
    for pattern in (*HIDDEN_ELEMENTS, INLINE_TAGS, *TAGS):
        texts = pc.replace_substring_regex(texts, pattern, "" if pattern == INLINE_TAGS else " ")
    # After the tags are removed, since &lt;b&gt; is not a tag.
    has_reference = pc.fill_null(pc.match_substring_regex(texts, pattern=CHARACTER_REFERENCE), False)
    if not pc.any(has_reference).as_py():
        return texts
    rewritten = pa.array([unescape(text) for text in texts.filter(has_reference).to_pylist()], type=texts.type)
    return pc.replace_with_mask(texts, has_reference, rewritten)
