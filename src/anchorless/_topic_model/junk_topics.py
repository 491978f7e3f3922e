"""Topics that are no subject but markup, mail headers or encoded binaries, told by their leading words."""

from __future__ import annotations

import re
from collections.abc import Sequence

#: A topic is junk if this many of its ten leading words are.
JUNK_WORDS, MIN_JUNK_WORDS = 10, 6
# fmt: off
HTML_WORDS = frozenset((
    "nbsp", "href", "http", "https", "www", "div", "span", "class", "style", "html", "td", "tr", "br", "img", "src",
    "width", "height", "font", "px", "align", "border", "color", "amp", "quot", "lt", "gt", "strong", "li", "ul", "css",
    "script", "rel", "alt", "valign", "bgcolor", "cellpadding", "cellspacing", "target", "_blank", "tbody", "margin",
    "padding", "id", "title", "com", "table", "body", "link", "meta", "p", "h1", "h2", "h3", "href_http",
))
MAIL_WORDS = frozenset((
    "subject", "from", "date", "message", "id", "reply", "to", "sender", "received", "mime", "version", "content",
    "type", "charset", "encoding", "transfer", "organization", "lines", "nntp", "posting", "host", "newsgroups",
    "references",
    "distribution", "path", "xref", "mailer", "return", "cc", "bcc", "forwarded", "original", "sent", "wrote", "writes",
    "article", "mailto", "unsubscribe", "edu", "com", "org", "net", "gmt", "keywords", "apparently", "summary",
))
# fmt: on
#: Letters and digits mixed, or consonants alone: what base64 and uuencode leave of a file.
ENCODED_WORD = re.compile(r"(?=.*\d)(?=.*[^\W\d_])\w+|[bcdfghjklmnpqrstvwxz]{3,}|(?:max|ax){1,}")
#: Two consonants may be what is left of a file, or stand for something, as tv does. They count beside so many encoded
#: words, if together they are so many.
PAIR = re.compile(r"[bcdfghjklmnpqrstvwxz]{2}")
MIN_ENCODED, MIN_PIECES = 4, 8
DIGITS = re.compile(r"\d+")
#: Words that differ in their digits only are codes if each kind has so many.
MIN_CODES = 3
REMEDIES = {"HTML markup": "html", "mail headers": "email", "encoded binaries": "drop_boilerplate"}


def name_junk(words: Sequence[str]) -> str | None:
    """Return what the leading words of a topic are, if they are no subject; else None."""
    words = words[:JUNK_WORDS]
    counts = {
        "HTML markup": sum(word in HTML_WORDS for word in words),
        "mail headers": sum(word in MAIL_WORDS for word in words),
        "encoded binaries": count_encoded(words),
    }
    kind = max(counts, key=lambda name: counts[name])
    return kind if counts[kind] >= MIN_JUNK_WORDS else None


def count_encoded(words: Sequence[str]) -> int:
    """Return how many words are what is left of a file; none if they are codes of one kind, such as w12 or item7."""
    encoded = [word for word in words if ENCODED_WORD.fullmatch(word)]
    kinds = {DIGITS.sub("", word) for word in encoded}
    if len(kinds) <= len(encoded) / MIN_CODES:
        return 0
    pieces = len(encoded) + sum(bool(PAIR.fullmatch(word)) for word in words)
    return pieces if len(encoded) >= MIN_ENCODED and pieces >= MIN_PIECES else len(encoded)


def list_junk(words: Sequence[Sequence[str]], labels: Sequence[str], settings: object = None) -> list[str]:
    """Return a warning for each topic that is junk, with what helps beside the settings; parameters are in braces."""
    warnings = []
    for topic, leading in enumerate(words):
        if kind := name_junk(leading):
            name = f"topic {topic} ({labels[topic]})"
            parameter = REMEDIES[kind]
            is_used = getattr(settings, parameter, False)
            way = "give its words as {extra_stop_words}" if is_used else f"fit with {{{parameter}}}"
            warnings.append(f"{name} looks like {kind}, not like a subject; to leave it out, {way}")
    return warnings
