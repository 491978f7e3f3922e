"""Mails: single ones (.eml) and mailboxes (.mbox), by the standard library, one mail in memory at a time."""

from __future__ import annotations

import email
import email.policy
from collections.abc import Iterator
from email.message import EmailMessage
from email.utils import parsedate_to_datetime
from typing import IO, Any, NamedTuple

from anchorless._corpus.io.web import extract_html
from anchorless.errors import InputError

#: A longer mail is not read: its attachments would fill the memory.
MAX_MAIL_SIZE = 1 << 26
#: Nesting of parts: the parser of the standard library calls itself for each.
MAX_BOUNDARIES = 1000
#: Characters of a field of a header; the time of the parser grows with their square, its memory to a kilobyte for each.
MAX_FIELD_LENGTH = 2000
#: What begins a mail in a mailbox, after an empty line.
FROM_LINE = b"From "
FIELDS = ("subject", "from", "date")


class Mail(NamedTuple):
    """The text of a mail, with what its header says."""

    text: str  # the subject and the body
    fields: dict[str, str | None]  # by the names of FIELDS


class ShortFields(email.policy.EmailPolicy):
    """The rules of Python for mails; of longer fields, only the beginning is parsed."""

    def header_fetch_parse(self, name: str, value: Any) -> Any:
        """Return the parsed value of a field."""
        return super().header_fetch_parse(name, value[:MAX_FIELD_LENGTH] if type(value) is str else value)


def parse_mail(data: bytes) -> Mail:
    """Return a mail of bytes: its plain text, or that of its web page; attachments are left out."""
    if data.lower().count(b"boundary=") > MAX_BOUNDARIES:
        raise InputError(f"it has more than {MAX_BOUNDARIES} parts in each other")
    try:
        message = email.message_from_bytes(data, policy=ShortFields())
        subject, sender, date = (read_field(message, name) for name in FIELDS)
        body = read_body(message)
    except Exception as error:  # the parser fails in many ways on headers that break the rules
        raise InputError(f"it is not a readable mail ({type(error).__name__}: {error})"[:300]) from None
    text = clean_text(f"{subject or ''}\n\n{body}".strip())
    return Mail(text, {"subject": subject, "from": sender, "date": to_iso_date(date)})


def read_field(message: Any, name: str) -> str | None:
    """Return a field of the header on one line; None if it is absent or unreadable."""
    try:
        value = message.get(name)
    except Exception:
        return None
    return None if value is None else clean_text(" ".join(str(value).split()))


def read_body(message: Any) -> str:
    """Return the text of the body."""
    part = message.get_body(preferencelist=("plain", "html")) if isinstance(message, EmailMessage) else None
    if part is None:
        return ""
    try:
        content = part.get_content()
    except (LookupError, UnicodeError, ValueError):  # an encoding that does not exist
        payload = part.get_payload(decode=True)
        content = payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""
    if not isinstance(content, str):
        return ""
    return extract_html(content) if part.get_content_type() == "text/html" else content


def to_iso_date(date: str | None) -> str | None:
    """Return the date of a header as ISO 8601; None if there is none that can be read."""
    if date is None:
        return None
    try:
        return parsedate_to_datetime(date).isoformat()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def clean_text(text: str) -> str:
    """Return a text with � in place of bytes that did not decode."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\udc80", "�")


def iter_mailbox(file: IO[bytes]) -> Iterator[bytes | None]:
    """Yield the mails of a mailbox; None for one that is too large."""
    lines: list[bytes] = []
    size, was_blank, is_first = 0, True, True
    while line := file.readline(MAX_MAIL_SIZE):
        if is_first and not line.strip():
            continue
        if is_first and not line.startswith(FROM_LINE):
            raise InputError('it is not a mailbox: its first line does not begin with "From "')
        if was_blank and line.startswith(FROM_LINE):
            if not is_first:
                yield None if size > MAX_MAIL_SIZE else b"".join(lines)
            lines, size, is_first = [], 0, False
        else:
            size += len(line)
            if size <= MAX_MAIL_SIZE:
                lines.append(line[1:] if line.lstrip(b">").startswith(FROM_LINE) and line[:1] == b">" else line)
        was_blank = not line.strip()
    if not is_first:
        yield None if size > MAX_MAIL_SIZE else b"".join(lines)
