"""The paper's experiment on real corpora: TDT2 and Reuters-21578, and in addition 20 Newsgroups.

Each draw takes the documents of F random classes and gives the same weighted matrix to every method. Odd draws
were used to choose AnchorFree's default, so the tables also report the even ones alone. The folder of the
results is named after the corpus.
"""

from __future__ import annotations

from argparse import Namespace
from functools import partial
from pathlib import Path

from experiments.corpora_data import CORPORA, eligible, find_corpora, load
from experiments.corpora_fits import LDA_DRAWS, MAIN_METHODS, METHODS, design_of, expected, measure_cell
from experiments.corpora_report import tables
from experiments.results import Cell, Results, ResultsError, replace_file, run_cells

DRAWS = 50
QUICK_DRAWS = 2


def run(folder: Path, options: Namespace) -> int:
    """Run what is not yet in the results, then render them."""
    find_corpora([folder.name])
    run_cells(
        Results(folder, folder.name),
        plan(folder.name, options),
        partial(measure_cell, folder.name),
        expected,
        jobs=options.jobs,
    )
    return render(folder)


def render(folder: Path) -> int:
    """Write and print the tables; return 1 if there is nothing to show."""
    values = Results(folder, folder.name).values
    text = "\n\n".join(tables(folder.name, values)) + "\n"
    print(text, end="", flush=True)
    if values:
        replace_file(folder / "tables.md", text)
    return 0 if values else 1


def plan(name: str, options: Namespace) -> list[Cell]:
    """Return the fits, draw by draw, so that a run that was stopped shows every number of topics."""
    source = CORPORA[name]
    size = source.min_class_size if options.min_class_size is None else options.min_class_size
    topics = options.topics or (source.quick_topics if options.quick else source.topics)
    n_draws = options.draws or (QUICK_DRAWS if options.quick else DRAWS)
    n_classes = len(eligible(load(name).labels, size))
    check(options.methods, topics, n_classes, size)
    return [
        Cell(design_of(size), method, F, None, number)
        for number in range(n_draws)
        for F in topics
        for method in options.methods or MAIN_METHODS
        if number == 0 or n_classes > F  # there is one draw of all classes
        if method != "lda" or number < LDA_DRAWS
    ]


def check(methods: tuple[str, ...] | None, topics: tuple[int, ...], n_classes: int, size: int) -> None:
    """Refuse methods that are not there, and more topics than classes."""
    unknown = [method for method in methods or () if method not in METHODS]
    if unknown:
        raise ResultsError(f"there is no method {unknown[0]!r}; choose from {', '.join(METHODS)}")
    if not 2 <= min(topics) <= max(topics) <= n_classes:
        raise ResultsError(
            f"topics {', '.join(map(str, topics))}, but there are {n_classes} classes of at least {size} documents; "
            f"choose numbers from 2 to {n_classes}"
        )
