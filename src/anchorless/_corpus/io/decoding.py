"""Bytes to lines of text: byte order marks, encodings, files that are no text, and bytes that fit no encoding."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator

from anchorless._files import BUFFER_SIZE, ByteStream
from anchorless.errors import InputError, UsageError

#: A longer row is refused: memory has an end, and no document is so long.
MAX_ROW_LENGTH = 1 << 26
#: Bytes at the head of a file that tell whether it is text.
HEAD_SIZE = 1 << 16
#: UTF-32 first: its mark begins with that of UTF-16.
BOM_ENCODINGS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
#: First bytes → what the file is.
BINARY_SIGNATURES = {
    b"PAR1": "a Parquet file; pass --format parquet",
    b"PK\x03\x04": "a zip archive or an Office file; unpack it, or save it as CSV",
    b"\xd0\xcf\x11\xe0": "an Office file; save it as CSV or plain text",
    b"%PDF": "a PDF file; extract its text first",
    b"{\\rtf": "an RTF file; save it as plain text",
    b"BZh91AY": "packed by bzip2; unpack it first",
    b"\xfd7zXZ": "packed by xz; unpack it first",
    b"\x28\xb5\x2f\xfd": "packed by zstd; unpack it first",
    b"7z\xbc\xaf": "a 7z archive; unpack it first",
    b"ARROW1": "an Arrow file; save it as Parquet",
    b"SQLite format 3": "a database; export a table as CSV",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"\x7fELF": "a program",
    b"\x93NUMPY": "a NumPy array, not text",
}
#: Every byte but the control characters that no text holds.
TEXT_BYTES = bytes(byte for byte in range(256) if byte >= 32 or byte in b"\t\n\v\f\r\b\x1b")
#: More control characters than this share, and it is no text in any encoding of one byte ...
MAX_CONTROL_SHARE = 0.3
#: ... or than this share, when it is not UTF-8 either.
MAX_CONTROL_SHARE_NOT_UTF8 = 0.02


def mark_undecodable(error: UnicodeError) -> tuple[str, int]:
    """Stand in for each undecodable byte with a character that no text can hold, so that its row can be found."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "".join(chr(0xDC00 + max(byte, 0x80)) for byte in error.object[error.start : error.end]), error.end


codecs.register_error("anchorless.mark", mark_undecodable)


def open_text(stream: ByteStream, encoding: str, *, newline: str | None = None) -> io.TextIOWrapper:
    """Return a reader of the text, decoded by its byte order mark or else by `encoding`; a binary file is refused.

    Bytes that do not decode come out as characters that `describe_undecodable` finds.
    """
    check_encoding(encoding)
    head = stream.peek(HEAD_SIZE)
    marked = next((name for mark, name in BOM_ENCODINGS.items() if head.startswith(mark)), None)
    if marked is None and not is_wide_encoding(encoding) and (kind := detect_binary_kind(head)):
        raise InputError(f"{stream.name} is not text but {kind}")
    buffered = io.BufferedReader(stream, BUFFER_SIZE)
    return io.TextIOWrapper(buffered, marked or encoding, errors="anchorless.mark", newline=newline)


def check_encoding(encoding: str) -> None:
    """Refuse a name that is no encoding of text."""
    try:
        b"a".decode(encoding, errors="replace")
    except (LookupError, ValueError):
        raise UsageError(
            f"encoding={encoding!r}, but there is no such text encoding; try utf-8, latin-1, cp1252 or utf-16"
        ) from None


def is_wide_encoding(encoding: str) -> bool:
    """Say whether ordinary text in this encoding holds NUL bytes."""
    return codecs.lookup(encoding).name.startswith(("utf-16", "utf-32"))


def detect_binary_kind(head: bytes) -> str | None:
    """Say what a file is that begins with these bytes, or None for text."""
    for magic, kind in BINARY_SIGNATURES.items():
        if head.startswith(magic):
            return kind
    n_controls = len(head.translate(None, delete=TEXT_BYTES))
    most = MAX_CONTROL_SHARE if is_utf8_prefix(head) else MAX_CONTROL_SHARE_NOT_UTF8
    if n_controls <= most * len(head):
        return None
    return (
        f"binary ({n_controls:,} of its first {len(head):,} bytes are control characters); "
        "for text in UTF-16 without a mark, pass --encoding utf-16-le"
    )


def is_utf8_prefix(head: bytes) -> bool:
    """Say whether these first bytes of a file are UTF-8; the last character may be cut."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def describe_undecodable(text: str) -> str | None:
    """Describe the first byte of a text that did not decode, or return None."""
    if text.isascii():
        return None
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"byte 0x{ord(text[error.start]) & 0xFF:02x} at character {error.start + 1} does not decode"
    return None


def iter_lines(text: io.TextIOWrapper, longest: int = MAX_ROW_LENGTH) -> Iterator[str | None]:
    """Yield the lines with their ends; None stands for one of more than `longest` characters, which is not kept."""
    while line := text.readline(longest):
        if len(line) < longest or line.endswith(("\n", "\r")):
            yield line
            continue
        while (rest := text.readline(longest)) and not rest.endswith(("\n", "\r")):
            pass
        yield None
