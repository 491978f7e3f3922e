"""What the parts of a model file must be, compared with each other: a right checksum does not make them consistent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from anchorless._corpus.quality import is_note
from anchorless.errors import InputError

Arrays = dict[str, npt.NDArray[Any]]

#: Shapes of arrays: F topics, V words. The other arrays are checked by themselves.
SHAPES = {
    "components": "FV",
    "topic_word": "FV",
    "moments": "FF",
    "correlation": "FF",
    "association": "FF",
    "shares": "F",
    "coherence": "F",
    "exclusivity": "F",
    "clipped_mass": "F",
    "alpha": "F",
    "document_frequency": "V",
    "word_counts": "V",
    "idf": "V",
    "ncw_sum": "V",
    "word_noise": "V",
    "vocabulary_ends": "V",
}
#: Arrays whose numbers are finite and at least 0.
NONNEGATIVE = ("components", "topic_word", "shares", "alpha", "document_frequency", "word_counts", "idf", "ncw_sum")
#: Rows of probabilities sum to one within this: they are stored as float64.
SUM_TOLERANCE = 1e-6


def check_schema(arrays: Arrays, header: dict[str, Any], name: str) -> None:
    """Refuse a model file whose arrays and header do not fit each other; the message names the part."""
    try:
        n_topics, n_words = arrays["components"].shape
        part = find_bad_array(arrays, {"F": n_topics, "V": n_words}) or find_bad_header(header, n_topics)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise InputError(f"{name} lacks parts that a model of anchorless has ({error}); fit again") from error
    if part is not None:
        raise InputError(f"{name} is not consistent: its part {part} does not fit the others; fit again")


def find_bad_array(arrays: Arrays, sizes: dict[str, int]) -> str | None:
    """Return the name of an array with a wrong type, shape or content; None if there is none."""
    for name, axes in SHAPES.items():
        if name in arrays and not is_valid_array(name, arrays[name], tuple(sizes[axis] for axis in axes)):
            return name
    for name in ("eigenvalues", "document_lengths"):
        if name in arrays and (arrays[name].ndim != 1 or arrays[name].dtype != np.float64):
            return name
    ends, n_bytes = arrays["vocabulary_ends"], arrays["vocabulary"].size
    if arrays["vocabulary"].dtype != np.uint8 or np.any(np.diff(ends, prepend=0) < 0) or ends[-1] != n_bytes:
        return "vocabulary"
    return None


def is_valid_array(name: str, values: npt.NDArray[Any], shape: tuple[int, ...]) -> bool:
    """Tell whether an array has the type, the shape and the range of its name."""
    kind = np.int64 if name == "vocabulary_ends" else np.float64
    if values.dtype != kind or values.shape != shape or not values.size:
        return False
    if name in NONNEGATIVE and not (np.all(np.isfinite(values)) and values.min() >= 0):
        return False
    if name == "topic_word":
        return bool(np.all(np.abs(values.sum(axis=1) - 1.0) < SUM_TOLERANCE))
    return True


def find_bad_header(header: dict[str, Any], n_topics: int) -> str | None:
    """Return the name of a part of the header with wrong content; None if there is none."""
    documents, notes = header["documents"], header.get("data_notes", [])  # older files have no notes
    if not isinstance(notes, list) or not all(map(is_note, notes)):
        return "data_notes"
    checks: dict[str, Callable[[Any], bool]] = {
        "labels": lambda labels: is_list_of(labels, str) and len(labels) == n_topics,
        "documents": lambda found: is_list_of(found, dict) and all(is_document(one, n_topics) for one in found),
        "representatives": lambda rows: (
            is_list_of(rows, list) and len(rows) == n_topics and all(is_positions(row, len(documents)) for row in rows)
        ),
        "diagnostics": is_diagnostics,
        "settings": lambda settings: isinstance(settings, dict),
        "weighting": lambda weighting: isinstance(weighting["name"], str),
    }
    return next((name for name, is_valid in checks.items() if not is_valid(header[name])), None)


def is_list_of(value: Any, kind: type) -> bool:
    """Tell whether a value is a list of one type."""
    return isinstance(value, list) and all(isinstance(item, kind) for item in value)


def is_positions(value: Any, n: int) -> bool:
    """Tell whether a value is a list of positions among 0 … n − 1."""
    return isinstance(value, list) and all(type(item) is int and 0 <= item < n for item in value)


def is_document(document: dict[str, Any], n_topics: int) -> bool:
    """Tell whether a document has a text, and topics with their shares."""
    topics = document["topics"]
    return isinstance(topics, list) and all(
        isinstance(pair, list)
        and len(pair) == 2
        and is_positions(pair[:1], n_topics)
        and isinstance(pair[1], int | float)
        and 0 <= pair[1] <= 1 + SUM_TOLERANCE
        for pair in topics
    )


def is_diagnostics(found: Any) -> bool:
    """Tell whether diagnostics have numbers where they must, and warnings that are texts."""
    numbers = ("n_documents", "n_tokens", "n_without_words", "n_iter", "n_constraints")
    is_counts = all(type(found[name]) is int and found[name] >= 0 for name in numbers)
    return bool(is_counts and found["n_documents"] >= 1 and is_list_of(found["warnings"], str))
