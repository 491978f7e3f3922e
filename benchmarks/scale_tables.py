"""The results of `python -m benchmarks scale` as Markdown tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.report import facts_text, load_text
from experiments.results import Cell, Values, markdown_table

MEASURED = (
    "Written by `python -m benchmarks scale`. From a file of texts to topics, each fit in a separate process: ours "
    "with report and tables of topics and documents, the others without. Seconds are wall clock; CPU seconds add up "
    "the threads. MB is the peak of the memory that the process held. Cosine is that of planted topics with the "
    "found topics that they are matched with, in the mean; a topic with at least 0.8 is recovered."
)
STAGES_SAY = "Seconds, and in parentheses the peak MB of the stage; of count and weighting only the larger is known."
#: Stages of a fit of ours, in their order.
STAGES = (
    *("import", "count", "weighting", "spectrum", "constraints", "volume", "refinement"),
    *("moments", "documents", "summary", "write"),
)
ORDER = ("anchorless", "nmf", "lda", "gensim")
TITLES = {"nmf": "MiniBatchNMF", "lda": "LDA online", "gensim": "gensim LdaModel"}


def tables(values: Values, facts: dict[str, Any]) -> Iterator[str]:
    """Yield the parts of the page."""
    yield "# Scale, measured"
    yield MEASURED
    yield " ".join((*facts_text(facts), *load_text(values)))
    cells = sorted(values, key=lambda cell: (cell.F, cell.N, ORDER.index(cell.method)))
    yield "## Text to topics"
    header = ("documents", "topics", "method", "s", "CPU s", "MB", "cosine", "recovered")
    yield markdown_table(header, (row(cell, values[cell]) for cell in cells))
    ours = [cell for cell in cells if any(f"seconds_{stage}" in values[cell] for stage in STAGES[3:])]
    if ours:
        yield "## Stages of our fits"
        yield STAGES_SAY
        yield markdown_table(("documents", "topics", *STAGES), (stage_row(cell, values[cell]) for cell in ours))


def row(cell: Cell, found: dict[str, float]) -> tuple[str, ...]:
    """Return one fit."""
    named = (f"{cell.N:,}", str(cell.F), TITLES.get(cell.method, cell.method))
    if "cosine" in found:
        quality = (f"{found['cosine']:.3f}", f"{found['recovered']:.0%}")
        return (*named, f"{found['wall']:.0f}", f"{found['cpu']:.0f}", f"{found['peak_mb']:.0f}", *quality)
    if "not_tried" in found:
        return (*named, "not tried: ended with fewer", "", "", "", "")
    if "stopped" in found:
        return (*named, f"ended at {found['wall']:.0f}", f"> {found['stopped']:.0f}", f"{found['peak_mb']:.0f}", "", "")
    return (*named, "failed", "", "", "", "")


def stage_row(cell: Cell, found: dict[str, float]) -> tuple[str, ...]:
    """Return the stages of one fit."""
    stages = (f"{found[f'seconds_{name}']:.1f} ({found[f'peak_{name}']:.0f})" for name in STAGES)
    return (f"{cell.N:,}", str(cell.F), *stages)
