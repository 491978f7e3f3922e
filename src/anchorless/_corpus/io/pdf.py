"""The text of PDF files, by pypdf: the only module that imports it."""

from __future__ import annotations

import logging
import re
from typing import IO, Any

from anchorless.errors import InputError, UsageError

#: Characters of text that are read at most.
MAX_TEXT = 1 << 26
#: A word that is divided at the end of a line.
HYPHEN = re.compile(r"(?<=[^\W\d_])-\n(?=[^\W\d_A-Z])")
#: Lines of which a page consists; between pages is an empty one.
PAGE_BREAK = "\n\n"


def import_pypdf() -> Any:
    """Return the library, or say how to install it."""
    try:
        import pypdf
    except ImportError:
        remedy = "install it with `pip install 'anchorless[pdf]'`"
        raise UsageError("PDF files need pypdf, which is not installed", remedy=remedy) from None
    # Its remarks on damaged files are about their structure; what cannot be read is an error here.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    return pypdf


def extract_pdf(file: IO[bytes]) -> str:
    """Return the text of all pages; an InputError says what is wrong with a file that cannot be read."""
    pypdf = import_pypdf()
    pages: list[str] = []
    n_characters = 0
    try:
        reader = pypdf.PdfReader(file, strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise InputError("it is protected by a password; save it without one")
        for page in reader.pages:
            pages.append(page.extract_text())
            n_characters += len(pages[-1])
            if n_characters > MAX_TEXT:
                raise InputError(f"its text has more than {MAX_TEXT:,} characters")
    except InputError:
        raise
    except Exception as error:  # the library has no common error for files that are damaged
        what = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        raise InputError(f"it is not a readable PDF file ({what})") from None
    text = PAGE_BREAK.join(page.strip() for page in pages)
    if pages and not text.strip():
        problem = "its pages have no text, so they are probably scanned pictures; make it searchable by OCR first"
        raise InputError(problem)
    # A lone surrogate is a letter that the fonts of the file do not name.
    return HYPHEN.sub("", text).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
