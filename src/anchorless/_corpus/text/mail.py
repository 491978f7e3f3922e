"""Mail and news posts without what every one of them has: header, quotations, who wrote them, signature.

Regular expressions of RE2, which takes time in proportion to the text whatever is in it, over a whole batch at once.
Lines may end in a line feed, with or without a carriage return before it.
"""

from __future__ import annotations

from typing import Any

import pyarrow.compute as pc

#: "Name: value", then lines that go on with it. A colon without a space after it is a web address, or a time of day.
CONTINUATION = r"(?:[ \t].*(?:\n|\z))*"
FIELD = rf"[A-Za-z][!-9;-~]*:(?:[ \t].*)?\r?(?:\n|\z){CONTINUATION}"
#: Before the first field: the line that a mailbox file has there, or the rest of a field that was cut off.
PREAMBLE = r"(?:From \S+ .*\n|(?:[ \t].*\n){1,3})?"
#: What ends a header.
HEADER_END = r"(?:\r?\n|\z)"
#: Fields of which one at least is in every header: two lines "Note: …" are no header.
STANDARD_FIELD = r"(?i:From|Subject|Date|Newsgroups|Message-ID):"

#: Two fields at least, from the first character of the text up to an empty line.
HEADER = rf"\A{PREAMBLE}(?:{FIELD}){{2,}}{HEADER_END}"
HAS_STANDARD_FIELD = rf"\A{PREAMBLE}(?:{FIELD})*?{STANDARD_FIELD}"
#: What the post is about stays, without the mark of a reply.
REPLY_PREFIX = r"[ \t]*(?:(?i:re|aw|fwd?):[ \t]*)*"
SUBJECT = rf"\A{PREAMBLE}(?:{FIELD})*?(?i:Subject):{REPLY_PREFIX}(.*(?:\n|\z){CONTINUATION})(?:{FIELD})*{HEADER_END}"

#: A line that begins like a quotation: "> …", "| …", ": …", also after the initials of who is quoted, "JB> …".
#: A colon needs a space after it: smileys begin lines too.
QUOTED_LINE = r"[ \t]{0,3}(?:[A-Z#+]{0,3}[>|]|:(?:[ \t:>]|\r?$)).*"
#: A line that says who is quoted. "The Bible says:" is text, so that verb needs an address beside it.
ATTRIBUTION = r"(?:In|From) (?:article|message) ?[<\[(].*|.*\b(?:writes|wrote):[ \t\r]*|.*@.*\b(?:says|said):[ \t\r]*"
DROPPED_LINE = rf"(?m)^(?:{QUOTED_LINE}|{ATTRIBUTION})$"

#: From a line of two or more dashes or underscores alone, with at most ten lines after it, to the end of the text.
SIGNATURE = r"\n(?:--+|__+)[ \t]*\r?\n(?:.*\n){0,10}.*\z"


def strip_mail_parts(texts: Any) -> Any:
    """Return the texts with the subject and what the writer wrote; texts that are no mail stay as they are.

    A header is taken off only at the very start of a text, and only where two lines or more of the form "Name: value",
    one of them From, Subject, Date, Newsgroups or Message-ID, go up to an empty line.
    """
    texts = replace_pattern(strip_headers(texts), DROPPED_LINE, "")
    return replace_pattern(texts, SIGNATURE, "\n")


def strip_headers(texts: Any) -> Any:
    """Return the texts with nothing but the subject left of their headers."""
    has_header = pc.and_(
        pc.match_substring_regex(texts, pattern=HEADER), pc.match_substring_regex(texts, pattern=HAS_STANDARD_FIELD)
    )
    shorter = replace_pattern(replace_pattern(texts, SUBJECT, r"\1" + "\n"), HEADER, "")
    return pc.if_else(has_header, shorter, texts)


def replace_pattern(texts: Any, pattern: str, replacement: str) -> Any:
    """Replace what matches the pattern in every text."""
    return pc.replace_substring_regex(texts, pattern=pattern, replacement=replacement)
