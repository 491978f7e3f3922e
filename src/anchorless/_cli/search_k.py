"""`anchorless search-k`: models with several numbers of topics side by side."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

from anchorless._cli import options as shared
from anchorless._cli.corpora import log_corpus, read_corpus
from anchorless._cli.printing import print_json, print_table
from anchorless._cli.progress import ConsoleProgress
from anchorless._diagnostics.search_k import SearchK, search_k
from anchorless._figures import find_plot_format
from anchorless._files import atomic_write, validate_target
from anchorless._report.spectrum_plot import plot_search

#: Measures, with the headings of those that are called otherwise here.
COLUMNS = (
    *("topics", "eigenvalue", "gap", "completion", "npmi", "exclusivity", "diversity", "stability"),
    *("anchor", "scattered", "smallest"),
)
HEADINGS = {"eigenvalue": "strength"}


def run(options: argparse.Namespace) -> None:
    """Fit each number of topics on nine tenths of the documents, measure it on the others, and conclude."""
    progress = ConsoleProgress(quiet=options.quiet)
    plot_format = find_plot_format(options.plot) if options.plot else ""  # before the fits, which take long
    if options.plot:
        validate_target(Path(options.plot), options.force)
    with read_corpus(options, progress) as corpus:
        log_corpus(corpus, progress)
        with progress.track_steps("numbers of topics", len(options.topics)) as callback:
            found = search_k(
                corpus,
                options.topics,
                weighting=options.weighting,
                constraint=options.constraint,
                n_jobs=options.jobs,
                random_state=options.seed,
                progress=callback,
            )
    for K, why in found.failed_numbers:
        progress.log(f"{K} topics could not be fitted: {shared.render_error(why)}", even_quiet=True)
    if options.plot:
        with atomic_write(options.plot, force=options.force) as path:
            rows = [row._asdict() for row in found.rows]
            Path(path).write_bytes(plot_search(rows, found.eigenvalues, plot_format, found.conclusion))
    if options.json:
        print_json(search_to_dict(found))
        return
    headings = [HEADINGS.get(name, name) for name in COLUMNS]
    print_table(headings, [[format_cell(name, getattr(row, name)) for name in COLUMNS] for row in found.rows])
    log_explanation(found, progress)


def search_to_dict(found: SearchK) -> dict[str, Any]:
    """Return all that was found, with the numbers of topics that failed, as JSON shows it."""
    rows = [row._asdict() for row in found.rows]
    failed = [{"topics": K, "error": shared.render_error(why)} for K, why in found.failed_numbers]
    return {
        "rows": sorted([*rows, *failed], key=lambda row: row["topics"]),
        "conclusion": found.conclusion._asdict(),
        "suggestion": found.suggestion.n_topics,
        "reason": found.suggestion.reason,
        "likely_range": found.likely_range,
        "completion_unigram": found.unigram,
        "eigenvalues": [*map(float, found.eigenvalues)],
    }


def format_cell(name: str, value: float | str) -> str:
    """Return a measure as the table shows it."""
    if isinstance(value, str):
        return value
    digits = {"topics": "d", "smallest": ".2%", "stability": ".0%", "gap": ".0%", "anchor": ".0%"}
    return f"{value:{digits.get(name, '.3f')}}" if math.isfinite(value) else "-"


def log_explanation(found: SearchK, progress: ConsoleProgress) -> None:
    """Log how to read the table, and the conclusion."""
    conclusion = found.conclusion
    progress.log(f"\n{found.table_help}\n\nconclusion: {conclusion.answer}; {conclusion.reason}")
    if conclusion.explanation:
        progress.log(conclusion.explanation)
