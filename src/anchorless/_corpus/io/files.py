"""Files that are one document each, or a mailbox of them: from bytes to texts, by the kind of the file."""

from __future__ import annotations

import codecs
import io
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from typing import IO, NamedTuple

from anchorless._corpus.io.batches import SkipLog
from anchorless._corpus.io.decoding import MARK, MAX_ROW_LENGTH, describe_undecodable, open_text
from anchorless._corpus.io.docx import extract_docx
from anchorless._corpus.io.formats import describe_unread, get_extension
from anchorless._corpus.io.mail import MAX_MAIL_SIZE, iter_mailbox, parse_mail
from anchorless._corpus.io.pdf import extract_pdf
from anchorless._corpus.io.subtitles import extract_subtitles
from anchorless._corpus.io.web import CHARSET_BYTES, extract_html, extract_markdown, find_charset
from anchorless._files import BUFFER_SIZE, ByteStream
from anchorless.errors import InputError, UsageError

#: A larger file of a format that cannot be read from start to end is skipped; a smaller one than the second is
#: copied to memory, others to a temporary file.
MAX_FILE_SIZE, MAX_IN_MEMORY = 1 << 29, 1 << 24
#: Kinds of files that a sentence names; further ones are counted.
MAX_KINDS = 10


class LimitError(InputError):
    """The whole input is refused, not only one of its files."""


class FileDocument(NamedTuple):
    """A document of a file."""

    place: str  # its id, and what messages call it
    text: str | None  # None if it is too long
    fields: dict[str, str | None]  # columns that it brings, such as the subject of a mail


def read_documents(kind: str, stream: ByteStream, place: str, encoding: str, skips: SkipLog) -> Iterator[FileDocument]:
    """Yield the documents of a file; what cannot be read is logged in `skips`, or an error if it is strict."""
    try:
        if kind == "mailbox":
            yield from read_mailbox(stream, place, skips)
        else:
            yield read_document(kind, stream, place, encoding)
    except (UsageError, LimitError):
        raise  # a missing extra is not the fault of this file
    except InputError as error:
        skips.add("binary" if kind in TEXT_EXTRACTORS else "unreadable", place, str(error))


def read_document(kind: str, stream: ByteStream, place: str, encoding: str) -> FileDocument:
    """Return the only document of a file."""
    if kind in BINARY_EXTRACTORS:
        with copy_to_seekable(stream) as file:
            return FileDocument(place, BINARY_EXTRACTORS[kind](file), {})
    if kind == "mail":
        data = io.BufferedReader(stream, BUFFER_SIZE).read(MAX_MAIL_SIZE + 1)
        if len(data) > MAX_MAIL_SIZE:
            return FileDocument(place, None, {})
        text, fields = parse_mail(data)
        return FileDocument(place, text, fields)
    if kind == "html":
        encoding = choose_page_encoding(stream, encoding)
    text = open_text(stream, encoding).read(MAX_ROW_LENGTH + 1)
    if len(text) > MAX_ROW_LENGTH:
        return FileDocument(place, None, {})
    if describe_undecodable(text):
        return FileDocument(place, text, {})  # the caller skips it, and says why
    return FileDocument(place, TEXT_EXTRACTORS[kind](text), {})


def read_mailbox(stream: ByteStream, place: str, skips: SkipLog) -> Iterator[FileDocument]:
    """Yield the mails of a mailbox; their places are numbers after the name of the mailbox."""
    for number, data in enumerate(iter_mailbox(io.BufferedReader(stream, BUFFER_SIZE)), 1):
        own_place = f"{place}:{number}" if place else str(number)
        if data is None:
            yield FileDocument(own_place, None, {})
            continue
        try:
            text, fields = parse_mail(data)
        except InputError as error:
            skips.add("unreadable", own_place, str(error))
            continue
        yield FileDocument(own_place, text, fields)


def keep_text(text: str) -> str:
    """Return a text as it is."""
    return text


TEXT_EXTRACTORS: dict[str, Callable[[str], str]] = {
    "text": keep_text,
    "markdown": extract_markdown,
    "html": extract_html,
    "subtitles": extract_subtitles,
}
BINARY_EXTRACTORS: dict[str, Callable[[IO[bytes]], str]] = {"pdf": extract_pdf, "docx": extract_docx}


def choose_page_encoding(stream: ByteStream, encoding: str) -> str:
    """Return the encoding that a web page names, unless another than UTF-8 was asked for."""
    named = find_charset(stream.peek(CHARSET_BYTES))
    if named is None or codecs.lookup(encoding).name != "utf-8":
        return encoding
    try:
        known = codecs.lookup(named)
        b"a".decode(named, errors=MARK)
    except (LookupError, ValueError):
        return encoding
    # A page that names UTF-16 in ASCII letters is not in UTF-16.
    return encoding if known.name.startswith(("utf-16", "utf-32")) else named


def copy_to_seekable(stream: ByteStream) -> IO[bytes]:
    """Return the bytes of a stream as a file that can be read in any order; an error if they are too many."""
    copy = tempfile.SpooledTemporaryFile(MAX_IN_MEMORY)  # noqa: SIM115 closed by the caller
    try:
        n_bytes = 0
        source = io.BufferedReader(stream, BUFFER_SIZE)
        while piece := source.read(BUFFER_SIZE):
            n_bytes += len(piece)
            if n_bytes > MAX_FILE_SIZE:
                raise InputError(f"it has more than {MAX_FILE_SIZE:,} bytes")
            copy.write(piece)
        copy.seek(0)
    except BaseException:
        copy.close()
        raise
    return copy


class FileTally:
    """How many files of each extension of a "folder" or an "archive" were read, and how many were not."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.read, self.unread = Counter[str](), Counter[str]()
        self.n_hidden = 0
        self.results: list[str] = []  # folders that `anchorless fit` wrote

    def add(self, name: str, *, is_read: bool) -> None:
        """Count a file."""
        (self.read if is_read else self.unread)[get_extension(name)] += 1

    def describe(self) -> list[str]:
        """Return a sentence about what was read and what not, and why; none if there is only one kind of file."""
        if len(self.read) <= 1 and not self.unread and not self.results:
            return []
        sentence = f"read {list_counts(self.read) or 'no file'}"
        by_reason: dict[str, Counter[str]] = {}
        for name, n in sorted(self.unread.items()):
            by_reason.setdefault(describe_unread(name, self.source), Counter())[name] = n
        why = [f"{list_counts(counts)} ({reason})" for reason, counts in by_reason.items()]
        if self.results:
            folders = "the folder" if len(self.results) == 1 else f"{len(self.results):,} folders, such as"
            why.append(f"{folders} {self.results[0]} (results of anchorless)")
        return [sentence + (f"; not read: {', '.join(why)}" if why else "")]


def list_counts(counts: Counter[str]) -> str:
    """Return "150 .md files and 150 .txt files"; of many kinds the most frequent."""
    shown = dict(sorted(counts.most_common(MAX_KINDS)))
    named = [count_files(n, name) for name, n in shown.items()]
    if len(counts) > len(shown):
        named.append(f"{counts.total() - sum(shown.values()):,} files of {len(counts) - len(shown)} other kinds")
    return " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)


def count_files(n: int, extension: str) -> str:
    """Return "1 .md file", "150 .md files"."""
    files = "file" if n == 1 else "files"
    return f"{n:,} {extension} {files}" if extension else f"{n:,} {files} without an extension"
