"""All that is kept of a fit, as one record: what is saved in a model file and comes back from it, bit by bit."""

from __future__ import annotations

import dataclasses
import platform
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np

from anchorless._core.weighting import WordWeights
from anchorless._corpus.documents import Array
from anchorless._corpus.settings import CountSettings
from anchorless._report.html import DocumentRecord, LabelTable, PeriodTable
from anchorless._topic_model.file import Arrays, decode_words, encode_words
from anchorless._topic_model.summary import TopicFacts
from anchorless._validation import OLD_CONSTRAINTS
from anchorless.errors import render_message

#: Documents of each topic that a model file keeps, with their snippets.
SAVED_DOCUMENTS = 20
#: Arrays of a record that are saved as they are, and measures of the topics that are saved as arrays.
ARRAYS = ("components", "moments", "correlation", "eigenvalues", "clipped_mass", "document_frequency", "word_counts")
MEASURES = ("shares", "coherence", "exclusivity")
#: Packages whose versions are noted in a model file.
MODEL_PACKAGES = ("anchorless", "numpy", "scipy", "scikit-learn", "pyarrow")


class Diagnostics(NamedTuple):
    """What to know of a fit before trusting it."""

    n_documents: int
    n_tokens: int  # of words in the vocabulary
    n_without_words: int  # documents that hold no word of the vocabulary
    mean_explained: float  # mean over the other documents
    log_volume: float
    n_iter: int
    converged: bool
    n_constraints: int
    warnings: list[str]
    eigengap: float | None = None  # None in files of versions that did not keep it
    how_many: str = ""  # why this number of topics, where it was not given

    def render(self, name: Callable[[str], str]) -> Diagnostics:
        """Write the names of parameters in the warnings as a face does."""
        return self._replace(warnings=[render_message(warning, name) for warning in self.warnings])


class DocumentSummary(NamedTuple):
    """Documents that stand for the topics, and tables over all documents."""

    documents: list[DocumentRecord]
    representatives: list[list[int]]  # for each topic positions in `documents`, best first
    by_label: LabelTable | None = None
    by_period: PeriodTable | None = None


class ModelRecord(NamedTuple):
    """A fitted model of V words and F topics."""

    components: Array  # (F, V)
    moments: Array  # (F, F)
    correlation: Array  # (F, F)
    eigenvalues: Array  # (F,)
    clipped_mass: Array  # (F,)
    document_frequency: Array  # (V,)
    word_counts: Array  # (V,)
    vocabulary: list[str]
    facts: TopicFacts
    weights: WordWeights
    counting: CountSettings | None  # None: counted by the user's vectoriser, or by the user
    diagnostics: Diagnostics
    kept: DocumentSummary


def get_versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that a result depends on."""
    return {"python": platform.python_version()} | {name: version(name) for name in MODEL_PACKAGES}


def to_file(fitted: ModelRecord, settings: dict[str, Any]) -> tuple[Arrays, dict[str, Any]]:
    """Return the arrays and the header of a model file, for parameters of the model."""
    weights, kept = fitted.weights, select_saved_documents(fitted.kept)
    arrays: Arrays = {name: getattr(fitted, name) for name in ARRAYS}
    arrays |= {name: getattr(fitted.facts, name) for name in MEASURES} | encode_words(fitted.vocabulary)
    arrays |= {name: array for name, array in (("idf", weights.idf), ("ncw_sum", weights.total)) if array is not None}
    header = {
        "settings": {name: to_json_value(value) for name, value in settings.items()},
        "counting": None if fitted.counting is None else dataclasses.asdict(fitted.counting.pin_stop_words()),
        "weighting": {"name": weights.weighting, "least_degree": weights.least_degree},
        "labels": fitted.facts.labels,
        "diagnostics": fitted.diagnostics._asdict(),
        "documents": [document._asdict() for document in kept.documents],
        "representatives": kept.representatives,
        "by_label": None if kept.by_label is None else kept.by_label._asdict(),
        "by_period": None if kept.by_period is None else kept.by_period._asdict(),
        "versions": get_versions(),
    }
    return arrays, header


def from_file(arrays: Arrays, header: dict[str, Any]) -> ModelRecord:
    """Return the fitted model of a file's arrays and header; JSON has no tuples."""
    counting, weighting = header["counting"], header["weighting"]
    label, period = header["by_label"], header["by_period"]
    documents = [DocumentRecord(**d | {"topics": [*map(tuple, d["topics"])]}) for d in header["documents"]]
    return ModelRecord(
        **{name: arrays[name] for name in ARRAYS},
        vocabulary=decode_words(arrays),
        facts=TopicFacts(header["labels"], *(arrays[name] for name in MEASURES)),
        weights=WordWeights(weighting["name"], arrays.get("idf"), arrays.get("ncw_sum"), weighting["least_degree"]),
        counting=None if counting is None else CountSettings(**counting),
        diagnostics=Diagnostics(**header["diagnostics"]),
        kept=DocumentSummary(
            documents,
            header["representatives"],
            None if label is None else LabelTable(**label),
            None if period is None else PeriodTable(**period),
        ),
    )


def select_saved_documents(kept: DocumentSummary) -> DocumentSummary:
    """Return the documents that stand for the topics, `SAVED_DOCUMENTS` for each, and no other."""
    chosen = [positions[:SAVED_DOCUMENTS] for positions in kept.representatives]
    used = sorted({position for positions in chosen for position in positions})
    place = {position: i for i, position in enumerate(used)}
    documents = [kept.documents[position] for position in used]
    return kept._replace(documents=documents, representatives=[[place[p] for p in positions] for positions in chosen])


def to_json_value(value: Any) -> Any:
    """Return a parameter as JSON can hold it; None for what it cannot, such as a generator of random numbers."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, list | tuple | set | frozenset):
        items = sorted(value) if isinstance(value, set | frozenset) else value
        return [to_json_value(item) for item in items]
    return value if isinstance(value, str | int | float | bool | None) else None


def restore_parameters(settings: dict[str, Any]) -> dict[str, Any]:
    """Return saved parameters as they were: JSON has no tuples, and some values have a new name."""
    restored = {name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()}
    constraint = str(restored["constraint"])
    return restored | {"constraint": OLD_CONSTRAINTS.get(constraint, constraint)}
