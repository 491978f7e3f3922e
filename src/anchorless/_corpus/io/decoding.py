"""Decode bytes to lines of text: byte order marks, encodings, files that are not text, and undecodable bytes."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator

from anchorless._files import BUFFER_SIZE, ByteStream
from anchorless.errors import InputError, UsageError

#: A longer row is skipped: it would fill the memory, and no document is so long.
MAX_ROW_LENGTH = 1 << 26
#: Bytes at the start of a file by which it is checked to be text.
HEAD_SIZE = 1 << 16
#: UTF-32 first: its byte order mark begins with that of UTF-16.
BOM_ENCODINGS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
#: First bytes → what the file is.
BINARY_SIGNATURES = {
    b"PAR1": "a Parquet file; set {format} to parquet",
    b"PK\x03\x04": "a zip archive or an Office file; unpack it, or save it as CSV",
    b"\xd0\xcf\x11\xe0": "an Office file; save it as CSV or plain text",
    b"%PDF": "a PDF file; extract its text first",
    b"{\\rtf": "an RTF file; save it as plain text",
    b"BZh91AY": "compressed by bzip2; decompress it first",
    b"\xfd7zXZ": "compressed by xz; decompress it first",
    b"\x28\xb5\x2f\xfd": "compressed by zstd; decompress it first",
    b"7z\xbc\xaf": "a 7z archive; unpack it first",
    b"ARROW1": "an Arrow file; save it as Parquet",
    b"SQLite format 3": "a database; export a table as CSV",
    b"\x89PNG": "an image; give a text file",
    b"\xff\xd8\xff": "an image; give a text file",
    b"\x7fELF": "a program; give a text file",
    b"\x93NUMPY": "a NumPy array; save the texts as CSV",
}
#: Every byte but the control characters that do not occur in text.
TEXT_BYTES = bytes(byte for byte in range(256) if byte >= 32 or byte in b"\t\n\v\f\r\b\x1b")
#: A file with a larger share of control characters is not text; the second holds if it is not valid UTF-8 either.
MAX_CONTROL_SHARE, MAX_CONTROL_SHARE_NOT_UTF8 = 0.3, 0.02

#: The name under which codecs find the function below.
MARK = "anchorless.mark"


def mark_undecodable(error: UnicodeError) -> tuple[str, int]:
    """Replace each undecodable byte by a surrogate, which no decoded text holds, so that its row can be found."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "".join(chr(0xDC00 + max(byte, 0x80)) for byte in error.object[error.start : error.end]), error.end


codecs.register_error(MARK, mark_undecodable)


def open_text(stream: ByteStream, encoding: str, *, newline: str | None = None) -> io.TextIOWrapper:
    """Return a reader of the text, decoded by its byte order mark or else by `encoding`; refuse a binary file.

    Bytes that do not decode become characters that `describe_undecodable` finds.
    """
    check_encoding(encoding)
    head, name = stream.peek(HEAD_SIZE), codecs.lookup(encoding).name
    marked = next((name for mark, name in BOM_ENCODINGS.items() if head.startswith(mark)), None)
    # Text in UTF-16 and UTF-32 holds NUL bytes as a binary file does.
    if marked is None and not name.startswith(("utf-16", "utf-32")) and (kind := detect_binary_kind(head)):
        raise InputError(f"{stream.name} is not text but {kind}")
    if marked is None and name in ("utf-16", "utf-32"):
        raise InputError(
            f"{stream.name} has no byte order mark, so the order of its bytes is not known",
            parameter="encoding",
            value=encoding,
            remedy=f"set {{encoding}} to {name}-le or {name}-be",
        )
    buffered = io.BufferedReader(stream, BUFFER_SIZE)
    return io.TextIOWrapper(buffered, marked or encoding, errors=MARK, newline=newline)


def check_encoding(encoding: str) -> None:
    """Refuse a name that is not a text encoding."""
    try:
        b"a".decode(encoding, errors=MARK)
    except (LookupError, ValueError):
        problem = "there is no such text encoding; try utf-8, latin-1, cp1252 or utf-16"
        raise UsageError(problem, parameter="encoding", value=encoding) from None


def detect_binary_kind(head: bytes) -> str | None:
    """Return what kind of file begins with these bytes, and what to do; None for text."""
    for magic, kind in BINARY_SIGNATURES.items():
        if head.startswith(magic):
            return kind
    n_controls = len(head.translate(None, delete=TEXT_BYTES))
    most = MAX_CONTROL_SHARE
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # the last character may be incomplete
    except UnicodeDecodeError:
        most = MAX_CONTROL_SHARE_NOT_UTF8
    if n_controls <= most * len(head):
        return None
    return (
        f"binary ({n_controls:,} of its first {len(head):,} bytes are control characters); "
        "for text in UTF-16 without a byte order mark, set {encoding} to utf-16-le"
    )


def describe_undecodable(text: str) -> str | None:
    """Describe the first byte of a text that did not decode; return None if there is none."""
    if text.isascii():
        return None
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"byte 0x{ord(text[error.start]) & 0xFF:02x} at character {error.start + 1} does not decode"
    return None


def iter_lines(text: io.TextIOWrapper, longest: int = MAX_ROW_LENGTH) -> Iterator[str | None]:
    """Yield the lines with their line breaks; None for a line of more than `longest` characters, which is dropped."""
    while line := text.readline(longest):
        if len(line) < longest or line.endswith(("\n", "\r")):
            yield line
            continue
        while (rest := text.readline(longest)) and not rest.endswith(("\n", "\r")):
            pass
        yield None
