"""What was noticed about the quality of the data: a plain record for the model file and the report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

#: Examples that a note keeps, and characters of each.
MAX_EXAMPLES, EXAMPLE_LENGTH = 3, 200


class DataNote(NamedTuple):
    """Something about many documents that a user should know, such as near-copies or markup."""

    what: str  # a short noun phrase: "HTML markup", "near-copies", "documents in German"
    n_documents: int  # documents that it concerns
    share: float  # the part of all documents, in [0, 1]
    remedy: str = ""  # what helps, with parameters in braces (see `render_message`): "set {html} to remove the tags"
    examples: Sequence[str] = ()  # beginnings of texts, words, or ids


def make_note(what: str, n_documents: int, n_all: int, remedy: str = "", examples: Iterable[str] = ()) -> DataNote:
    """Return a note about `n_documents` of `n_all` documents, with the first few examples."""
    kept = [example[:EXAMPLE_LENGTH] for example, _ in zip(examples, range(MAX_EXAMPLES), strict=False)]
    return DataNote(what, int(n_documents), n_documents / n_all if n_all else 0.0, remedy, kept)


def is_note(given: Any) -> bool:
    """Tell whether a value that was read from JSON is a note."""
    if not isinstance(given, dict) or set(given) != set(DataNote._fields) or not isinstance(given["examples"], list):
        return False
    texts = [given["what"], given["remedy"], *given["examples"]]
    n, share = given["n_documents"], given["share"]
    is_number = type(n) is int and n >= 0 and isinstance(share, int | float) and 0 <= share <= 1
    return is_number and all(isinstance(text, str) for text in texts)
