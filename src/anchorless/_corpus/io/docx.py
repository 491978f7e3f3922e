"""The text of Word documents (.docx): a zip archive with one part of XML, read by the standard library.

The XML is parsed as it is unpacked, in bounded memory. A document type, and with it every entity, is refused: Word
writes none, and entities can refer to other files or grow without end.
"""

from __future__ import annotations

from typing import IO, Any
from xml.parsers import expat

from anchorless._corpus.io.zip_files import ZIP_ERRORS, open_zip, open_zipped
from anchorless.errors import InputError

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT_WORD = "http://purl.oclc.org/ooxml/wordprocessingml/main"
#: The part with the text.
DOCUMENT_PART = "word/document.xml"
#: Bytes of XML and characters of text that are read at most.
MAX_XML, MAX_TEXT = 1 << 29, 1 << 26
#: Bytes of a tag, with its attributes. The parser begins it again with each piece: its time grows with their square.
MAX_TAG = 1 << 23
BUFFER = 1 << 20


class WordText:
    """Collect the text of the XML: paragraphs are lines, with an empty line between them; headings begin with #."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.n_bytes = self.n_characters = 0
        self._depth_of_text = 0
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._add_text
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype

    def feed(self, data: bytes, is_last: bool) -> None:
        """Parse a piece of the XML."""
        try:
            self._parser.Parse(data, is_last)
        except (expat.ExpatError, LookupError) as error:  # the latter of an encoding that is none
            raise InputError(f"its XML is damaged ({error})") from None
        self.n_bytes += len(data)
        refuse_long_tag(self._parser, self.n_bytes, "its XML")

    def get_text(self) -> str:
        """Return the text found so far."""
        return "".join(self.parts).strip()

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        space, _, tag = name.rpartition(" ")
        if space not in (WORD, STRICT_WORD):
            return
        if tag == "t":
            self._depth_of_text += 1
        elif tag == "tab":
            self._add(" ")
        elif tag in ("br", "cr"):
            self._add("\n")
        elif tag == "pStyle" and attributes.get(f"{space} val", "").lower().startswith(("heading", "title")):
            self._add("# ")

    def _end(self, name: str) -> None:
        space, _, tag = name.rpartition(" ")
        if space in (WORD, STRICT_WORD):
            if tag == "t":
                self._depth_of_text -= 1
            elif tag == "p":
                self._add("\n\n")

    def _add_text(self, data: str) -> None:
        if self._depth_of_text > 0:
            self._add(data)

    def _add(self, text: str) -> None:
        self.n_characters += len(text)
        if self.n_characters > MAX_TEXT:
            raise InputError(f"its text has more than {MAX_TEXT:,} characters")
        self.parts.append(text)

    def _refuse_doctype(self, *_: Any) -> None:
        raise InputError("its XML has a document type, which no Word document has")


def extract_docx(file: IO[bytes]) -> str:
    """Return the text of a Word document; an InputError says what is wrong with one that cannot be read."""
    found = WordText()
    try:
        with open_zip(file, "it") as archive, open_zipped(archive, DOCUMENT_PART) as part:
            while data := part.read(BUFFER):
                if found.n_bytes + len(data) > MAX_XML:
                    raise InputError(f"it unpacks to more than {MAX_XML:,} bytes")
                found.feed(data, False)
            found.feed(b"", True)
    except KeyError:
        raise InputError(f"it has no part {DOCUMENT_PART}, so it is not a Word document") from None
    except InputError:
        raise
    except ZIP_ERRORS as error:
        raise InputError(f"it is not a readable Word document ({error})") from None
    return found.get_text()


def refuse_long_tag(parser: Any, n_bytes: int, what: str) -> None:
    """Raise InputError if a parser, which was given so many bytes, waits for the end of a tag that is too long."""
    if n_bytes - parser.CurrentByteIndex > MAX_TAG:
        raise InputError(f"{what} has a tag of more than {MAX_TAG:,} bytes")
