"""Remove from texts what is not their own words: headers and quotations of mails, markup of web pages.

The regular expressions are those of RE2, whose time is proportional to the text whatever it holds, applied to a whole
batch at once. Lines end in a line feed, with or without a carriage return before it. "a < b", "3 <4" and "->" are not
markup and stay. Broken markup affects no text but its own.
"""

from __future__ import annotations

from html import unescape
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

#: "Name: value", then indented lines that continue it. A colon without a space is in a web address or a time of day.
CONTINUATION = r"(?:[ \t].*(?:\n|\z))*"
FIELD = rf"[A-Za-z][!-9;-~]*:(?:[ \t].*)?\r?(?:\n|\z){CONTINUATION}"
#: Before the first field: the first line of a mailbox file, or the rest of a field that was cut off.
PREAMBLE = r"(?:From \S+ .*\n|(?:[ \t].*\n){1,3})?"
HEADER_END = r"(?:\r?\n|\z)"
#: Every header has at least one of these fields: two lines "Note: …" are not a header.
STANDARD_FIELD = r"(?i:From|Subject|Date|Newsgroups|Message-ID):"

#: At least two fields, from the first character of the text to an empty line.
HEADER = rf"\A{PREAMBLE}(?:{FIELD}){{2,}}{HEADER_END}"
HAS_STANDARD_FIELD = rf"\A{PREAMBLE}(?:{FIELD})*?{STANDARD_FIELD}"
#: The subject stays, without the prefix of a reply.
REPLY_PREFIX = r"[ \t]*(?:(?i:re|aw|fwd?):[ \t]*)*"
SUBJECT = rf"\A{PREAMBLE}(?:{FIELD})*?(?i:Subject):{REPLY_PREFIX}(.*(?:\n|\z){CONTINUATION})(?:{FIELD})*{HEADER_END}"

#: A quoted line: "> …", "| …", ": …", also after the initials of the quoted person, "JB> …".
#: A colon needs a space after it: lines may begin with a smiley.
QUOTED_LINE = r"[ \t]{0,3}(?:[A-Z#+]{0,3}[>|]|:(?:[ \t:>]|\r?$)).*"
#: A line that names the quoted person. "The Bible says:" is text, so "says" needs an address beside it.
ATTRIBUTION = r"(?:In|From) (?:article|message) ?[<\[(].*|.*\b(?:writes|wrote):[ \t\r]*|.*@.*\b(?:says|said):[ \t\r]*"
DROPPED_LINE = rf"(?m)^(?:{QUOTED_LINE}|{ATTRIBUTION})$"

#: From a line of only two or more dashes or underscores to the end of the text, at most ten lines.
SIGNATURE = r"\n(?:--+|__+)[ \t]*\r?\n(?:.*\n){0,10}.*\z"

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
#: One whose number is longer than Python converts; no character has it.
LONG_REFERENCE = r"&#[0-9]{1000}[0-9]*;?"


def strip_mail_parts(texts: Any) -> Any:
    """Return the subjects and the writers' own words; texts that are not mails stay as they are.

    A header is removed only at the very start of a text, and only if two or more lines of the form "Name: value", one
    of them From, Subject, Date, Newsgroups or Message-ID, end at an empty line.
    """
    match, replace = pc.match_substring_regex, pc.replace_substring_regex
    has_header = pc.and_(match(texts, HEADER), match(texts, HAS_STANDARD_FIELD))
    stripped = replace(replace(texts, SUBJECT, r"\1" + "\n"), HEADER, "")
    texts = replace(pc.if_else(has_header, stripped, texts), DROPPED_LINE, "")
    return replace(texts, SIGNATURE, "\n")


def strip_markup(texts: Any) -> Any:
    """Return texts without tags, comments, scripts and styles, and with é in place of &eacute;."""
    for pattern in (*HIDDEN_ELEMENTS, INLINE_TAGS, *TAGS):
        texts = pc.replace_substring_regex(texts, pattern, "" if pattern == INLINE_TAGS else " ")
    # After the tags are removed, since &lt;b&gt; is not a tag.
    has_reference = pc.fill_null(pc.match_substring_regex(texts, pattern=CHARACTER_REFERENCE), False)
    if not pc.any(has_reference).as_py():
        return texts
    texts = pc.replace_substring_regex(texts, LONG_REFERENCE, "\ufffd")
    rewritten = pa.array([unescape(text) for text in texts.filter(has_reference).to_pylist()], type=texts.type)
    return pc.replace_with_mask(texts, has_reference, rewritten)
