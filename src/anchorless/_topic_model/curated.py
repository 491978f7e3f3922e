"""A fit with its edits: what is shown, computed once for each list of edits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from anchorless._topic_model.edits import STRUCTURAL_KINDS, Edit, Layout, apply_edit, start_layout
from anchorless._topic_model.fitted import ModelRecord
from anchorless._topic_model.splitting import SplitRecord, apply_split
from anchorless._topic_model.view import build_view

#: Characters of a fingerprint.
FINGERPRINT_LENGTH = 16
#: Arrays of a fit that tell it from another one.
TELLING_ARRAYS = ("moments", "correlation", "eigenvalues", "word_counts", "document_frequency")


@dataclass(frozen=True, eq=False)
class Curated:
    """A fit, its edits, and the records that follow from both."""

    record: ModelRecord  # the fit
    edits: tuple[Edit, ...]
    splits: tuple[SplitRecord, ...]  # one for each edit of the kind "split"
    layout: Layout
    leaves: ModelRecord  # the fit after the splits

    @cached_property
    def view(self) -> ModelRecord:
        """The topics that are shown; computed when they are asked for, not after each of several edits."""
        return build_view(self.leaves, self.layout)

    @property
    def changes(self) -> list[list[Any]]:
        """The edits that change which topics there are, or their numbers."""
        return [[edit.kind, edit.values] for edit in self.edits if edit.kind in STRUCTURAL_KINDS]

    @property
    def fingerprint(self) -> str:
        """Identify the fit and the topics that are shown, whatever they are called."""
        own, changes = compute_fingerprint(self.record), self.changes
        return hash_text(own + json.dumps(changes, sort_keys=True)) if changes else own


def curate(
    record: ModelRecord, edits: Sequence[Edit], splits: Sequence[SplitRecord], names: Mapping[int, str]
) -> Curated:
    """Apply edits to a fit; refuse those that do not fit. `names` are those that topics of the fit have from seeds."""
    layout, leaves, rest = start_layout(len(record.components), names), record, list(splits)
    for edit in edits:
        after = apply_edit(layout, edit)
        if edit.kind == "split":
            leaves = apply_split(leaves, layout, edit.values["topic"], rest.pop(0))
        layout = after
    return Curated(record, tuple(edits), tuple(splits), layout, leaves)


def compute_fingerprint(record: ModelRecord) -> str:
    """Return a short name of a fit that no other fit has."""
    digest = hashlib.sha256("\n".join(record.vocabulary).encode("utf-8", "surrogatepass"))
    for name in TELLING_ARRAYS:
        digest.update(getattr(record, name).tobytes())
    return digest.hexdigest()[:FINGERPRINT_LENGTH]


def hash_text(text: str) -> str:
    """Return the start of the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:FINGERPRINT_LENGTH]
