"""Read a report that exists, so that a new one of the same topics keeps its title, documents and effects.

The file may come from a stranger, or from another version: every part that is kept is checked.
"""

from __future__ import annotations

import base64
import binascii
import os
from typing import Any

from anchorless._files import NO_FILE, make_read_error, refuse_special_file
from anchorless._report.page import read_data, read_data_block

KEPT = ("documents", "places", "by_embeddings")  # data that a new report of the same topics keeps
#: Columns of the documents: the first two have a value for each, the others for each or none. Only the last one may be
#: missing.
COLUMNS = ("topics", "text", "id", "label", "date", "whole")
#: Bytes of a place on the map.
PLACE_BYTES = 4


def read_report(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """Return the data of a report that this version wrote; None if there is no such file."""
    found = read_data(read_page(path))
    return found if is_report(found) else None


def read_other_report(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """Return the data of a report that another version wrote, if they have the form of this one's.

    Effects are None, since their form is not checked; `had_effects` tells whether there were any.
    """
    found = read_data_block(read_page(path))
    return found | {"effects": None, "had_effects": bool(found["effects"])} if is_report(found) else None


def read_page(path: str | os.PathLike[str]) -> str:
    """Return a page; empty if there is none."""
    try:
        refuse_special_file(path)
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (*NO_FILE, UnicodeDecodeError):
        return ""
    except OSError as error:  # a report without the documents of this one would be a loss in silence
        raise make_read_error(error, os.fspath(path)) from error


def is_report(found: Any) -> bool:
    """Tell whether data have the parts that a new report keeps, in the form that its script reads."""
    if not isinstance(found, dict) or not {*KEPT, "topics", "effects", "fingerprint", "title"} <= found.keys():
        return False
    topics, documents, lines = found["topics"], found["documents"], found.get("diagnostics", [])
    if not isinstance(topics, list) or not isinstance(documents, dict) or not is_table(documents, len(topics)):
        return False
    n_documents = len(documents["topics"])
    return (
        all(isinstance(topic, dict) and are_positions(topic.get("documents"), n_documents) for topic in topics)
        and isinstance(lines, list)
        and all(isinstance(line, list) and len(line) == 2 for line in lines)
        and isinstance(found["title"], str)
        and isinstance(found["fingerprint"], str)
        and isinstance(found["by_embeddings"], bool)
        and are_places(found["places"], n_documents)
    )


def is_table(documents: dict[str, Any], n_topics: int) -> bool:
    """Tell whether documents are columns of texts, and one of topics with their thousandths."""
    columns = [documents.get(name, []) for name in COLUMNS]
    if not {*COLUMNS[:-1]} <= documents.keys() <= {*COLUMNS} or not all(isinstance(column, list) for column in columns):
        return False
    (mixtures, *texts), n = columns, len(columns[0])
    return (
        len(texts[0]) == n
        and all(len(column) in (0, n) and all(isinstance(text, str) for text in column) for column in texts)
        and all(
            isinstance(one, list)
            and are_positions(one[::2], n_topics)
            and are_positions([share or 0 for share in one[1::2]], 1001)  # a share may be unknown
            for one in mixtures
        )
    )


def are_positions(values: Any, stop: int) -> bool:
    """Tell whether values are a list of whole numbers from 0 to below `stop`."""
    return isinstance(values, list) and all(type(value) is int and 0 <= value < stop for value in values)


def are_places(text: Any, n_documents: int) -> bool:
    """Tell whether a text holds places of at most so many documents."""
    try:
        n_bytes = len(base64.b64decode(text, validate=True))
    except (TypeError, ValueError, binascii.Error):
        return False
    return n_bytes % PLACE_BYTES == 0 and n_bytes <= PLACE_BYTES * n_documents


def keep_documents(payload: dict[str, Any], earlier: dict[str, Any]) -> dict[str, Any]:
    """Return data with the documents, their map and the effects of an earlier report of the same topics."""
    before = [topic["documents"] for topic in earlier["topics"]]
    if len(before) != len(payload["topics"]):
        return payload
    shown = [topic | {"documents": documents} for topic, documents in zip(payload["topics"], before, strict=True)]
    kept = {name: earlier[name] for name in KEPT}
    return payload | kept | {"topics": shown, "effects": payload["effects"] or earlier["effects"]}
