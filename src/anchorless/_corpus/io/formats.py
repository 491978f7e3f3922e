"""The formats of texts: their names, their extensions, and the extras that some of them need."""

from __future__ import annotations

from pathlib import PurePath

#: Formats whose files hold rows with columns.
TABLE_FORMATS = ("csv", "tsv", "jsonl", "json", "parquet", "excel")
#: Formats without columns of their own, or with those that a mail has.
TEXT_FORMATS = (*TABLE_FORMATS, "folder", "archive", "mailbox", "document", "lines")
#: Formats of counts, and those that are written, too.
COUNT_FORMATS = ("npz", "mtx", "uci", "svmlight", "ldac", "mat")
WRITABLE_FORMATS = ("npz", "mtx", "uci", "svmlight", "ldac")
#: Formats of which no column is chosen.
FORMATS_WITHOUT_COLUMNS = ("folder", "archive", "mailbox", "document", "lines")

#: Extensions of each format, without .gz.
EXTENSIONS = {
    "csv": "csv",
    "tsv": "tsv tab",
    "jsonl": "jsonl ndjson",
    "json": "json",
    "parquet": "parquet pq",
    "excel": "xlsx xlsm xls ods",
    "lines": "txt",
    "archive": "zip tar tgz",
    "mailbox": "mbox",
    "document": "md markdown html htm xhtml pdf docx eml srt vtt",
}
FORMAT_BY_EXTENSION = {f".{name}": format for format, names in EXTENSIONS.items() for name in names.split()}

#: Extensions of files that are one document each in a folder, an archive or a list of files → how its text is found.
DOCUMENT_KINDS = {
    ".txt": "text",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
    ".docx": "docx",
    ".eml": "mail",
    ".srt": "subtitles",
    ".vtt": "subtitles",
    ".mbox": "mailbox",
}
#: Kinds whose documents have the columns of a mail.
MAIL_KINDS = ("mail", "mailbox")
#: Files that hold compressed text: a byte of them needs more memory than a byte of text.
COMPRESSED = (".gz", ".tgz", ".zip", ".parquet", ".pq", ".xlsx", ".xlsm", ".ods", ".docx")

#: Extensions that are not read → what to do.
UNREAD_REMEDIES = {
    ".doc": "save them as .docx",
    ".rtf": "save them as .docx or .txt",
    ".odt": "save them as .docx",
    ".pptx": "save them as .pdf",
    ".ppt": "save them as .pdf",
    ".xlsb": "save them as .xlsx",
    ".epub": "convert them to .html",
}


def get_extension(name: str) -> str:
    """Return the last extension of a name in lower case, before .gz."""
    return PurePath(name.lower().removesuffix(".gz")).suffix


def guess_format_by_name(name: str) -> str | None:
    """Return the format that the extension of a file tells, None for an unknown one."""
    return FORMAT_BY_EXTENSION.get(get_extension(name))


def get_document_kind(name: str) -> str | None:
    """Return how the text of a file is found that is one document, or a mailbox; None for other files."""
    return DOCUMENT_KINDS.get(get_extension(name))


def describe_unread(extension: str, source: str) -> str:
    """Say why files with an extension are not read among those of a folder or an archive, and what to do."""
    if remedy := UNREAD_REMEDIES.get(extension):
        return remedy
    format = FORMAT_BY_EXTENSION.get(extension)
    name_instead = f"{'unpack and name them' if source == 'archive' else 'name them'} instead of the {source}"
    if format in TABLE_FORMATS:
        return f"tables have a document in each row: {name_instead}"
    if format == "archive":
        return f"archives: {name_instead}"
    return "not a format of texts that is read"
