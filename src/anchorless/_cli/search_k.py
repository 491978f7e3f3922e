"""`anchorless search-k`: models with several numbers of topics side by side."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from anchorless._cli.corpora import read_corpus
from anchorless._cli.options import (
    Command,
    add_counting,
    add_fitting,
    add_flags,
    add_input,
    in_options,
    numbers_of_topics,
)
from anchorless._cli.printing import print_json, print_table
from anchorless._cli.progress import Progress
from anchorless._files import written_beside
from anchorless._report.spectrum_plot import search_plot
from anchorless._diagnostics.search_k import Row, SearchK, search_k

COLUMNS = (
    *("topics", "eigenvalue", "gap", "completion", "npmi", "exclusivity", "diversity", "stability"),
    *("anchor", "scattered", "smallest"),
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `search-k`."""
    add_input(parser)
    parser.add_argument(
        "-k",
        "--topics",
        type=numbers_of_topics,
        default=(5, 10, 20, 40),
        metavar="LIST",
        help="numbers of topics: 5,10,20 or 5-50:5 (default: 5,10,20,40)",
    )
    parser.add_argument("--plot", metavar="FILE", help="write the measures and the eigenvalues as a picture (.svg)")
    add_counting(parser)
    add_fitting(parser)
    add_flags(parser, force=True)


def run(options: argparse.Namespace) -> None:
    """Fit each number of topics on nine tenths of the documents, measure it on the others, and suggest one."""
    progress = Progress(quiet=options.quiet)
    with read_corpus(options, progress) as corpus:
        counts = sp.vstack(corpus.blocks, format="csr").astype(np.float64)
        with progress.bar(desc="numbers of topics", unit="fit", total=len(options.topics)) as bar:
            found = search_k(
                counts,
                options.topics,
                weighting=options.weighting,
                constraint=options.constraint,
                n_threads=options.threads,
                random_state=options.seed,
                progress=lambda done, _: bar.update(done - bar.n),
            )
    for K, why in found.left_out:
        progress.say(f"{K} topics could not be fitted: {in_options(why)}", even_quiet=True)  # it was asked for
    if options.plot:
        with written_beside(options.plot, force=options.force) as path:
            Path(path).write_text(
                search_plot([row._asdict() for row in found.rows], found.eigenvalues), encoding="utf-8"
            )
    if options.json:
        print_json(as_json(found))
        return
    print_table(COLUMNS, [[shown(name, getattr(row, name)) for name in COLUMNS] for row in found.rows])
    explain(found, progress)


def as_json(found: SearchK) -> dict[str, Any]:
    """Return all that was found; what is not a number is null."""
    rows = [{name: plain(value) for name, value in row._asdict().items()} for row in found.rows]
    failed = [{"topics": K, "error": in_options(why)} for K, why in found.left_out]
    return {
        "rows": sorted([*rows, *failed], key=lambda row: row["topics"]),
        "suggestion": found.suggestion.n_topics,
        "reason": found.suggestion.reason,
        "completion_unigram": found.unigram,
        "eigenvalues": [float(value) for value in found.eigenvalues],
    }


def plain(value: float | str) -> float | str | None:
    """Return a measure as JSON can hold it."""
    return value if isinstance(value, str) or math.isfinite(value) else None


def shown(name: str, value: float | str) -> str:
    """Return a measure as the table shows it."""
    if isinstance(value, str):
        return value
    digits = {"topics": "d", "smallest": ".2%", "stability": ".0%", "gap": ".0%", "anchor": ".0%"}
    return f"{value:{digits.get(name, '.3f')}}" if math.isfinite(value) else "-"


def explain(found: SearchK, progress: Progress) -> None:
    """Say how to read the table, and what it suggests."""
    best: Row = max(found.rows, key=lambda row: row.completion)
    progress.say(f"\n{found.reading}\ncompletion is best with {best.topics} topics")
    number = found.suggestion.n_topics
    progress.say(f"suggestion: {'none' if number is None else f'{number} topics'}; {found.suggestion.reason}")


SEARCH_K = Command(
    "search-k",
    "compare several numbers of topics",
    "Fit models with several numbers of topics on nine tenths of the documents, measure each on the last tenth, and\n"
    "suggest a number where the documents tell one.",
    "anchorless search-k reviews.csv -k 5,10,20,40",
    add_options,
    run,
)
