"""What each part of the suite measures: its cells, and the process that measures one of them."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from benchmarks import corpora, imports, topics
from benchmarks.corpora import MORE, SPLIT, choose_corpora, is_there
from benchmarks.models import MODELS, get_package, is_installed
from benchmarks.processes import Processes
from benchmarks.running import corpus_of, part_of
from experiments.results import Cell, ResultsError

PEER_CORPORA = ("tdt2", "reuters", "newsgroups", "synthetic")
TOPICS = (10, 25, 50, 100)
QUICK_CORPORA, QUICK_TOPICS = ("synthetic-small",), (5, 10)
FIT_METHODS = ("svds", "anchorfree", "nmf", "reference")
FIT_TOPICS, QUICK_FIT_TOPICS = (25, 50, 100), (25,)
CTM_CORPUS, CTM_TOPICS = "newsgroups", 20
TRANSFORM_METHODS = ("product", "anchorfree", "nmf", "lda", "gensim-lda", "gensim-nmf")
TRANSFORM_CORPORA, TRANSFORM_TOPICS, QUICK_TRANSFORM_TOPICS = ("tdt2", "newsgroups", "synthetic"), (25, 100), (10,)
GROWTH_TOPICS = 20
GROWTH_OF_TOPICS, QUICK_GROWTH_OF_TOPICS = (25, 35, 50, 70, 100), (5, 10, 20)
TIMES, QUICK_TIMES = (1, 2, 4, 8), (1, 8)
IMPORTED = ("anchorless", "sklearn.decomposition")
#: Corpora and topics of the guard: small, and made without a file.
COUNTED = (("synthetic-tiny", 3), ("synthetic-tiny", 5), ("synthetic-small", 10), ("synthetic-small", 20))


def peers(options: Namespace) -> list[Cell]:
    """Return our fits and those of other libraries, fewer topics first."""
    methods = choose_methods(options.methods, MODELS)
    names = choose_corpora(options.corpora, QUICK_CORPORA if options.quick else PEER_CORPORA)
    topics = options.topics or (QUICK_TOPICS if options.quick else TOPICS)
    return grid("peers", names, methods, topics)


def fit(options: Namespace) -> list[Cell]:
    """Return what the targets compare on TDT2, and CTM compared with ours on 20 Newsgroups."""
    methods = choose_methods(options.methods, (*FIT_METHODS, "tomotopy-ctm"))
    names = choose_corpora(options.corpora, ("tdt2",))
    topics = options.topics or (QUICK_FIT_TOPICS if options.quick else FIT_TOPICS)
    cells = grid("fit", names, [method for method in methods if method in FIT_METHODS], topics)
    if not options.quick and options.corpora is None and options.topics is None and is_there(CTM_CORPUS):
        beside = [method for method in methods if method in ("anchorfree", "tomotopy-ctm")]
        cells += grid("fit", [CTM_CORPUS], beside, [CTM_TOPICS])
    return cells


def transform(options: Namespace) -> list[Cell]:
    """Return the transforms."""
    methods = choose_methods(options.methods, TRANSFORM_METHODS)
    names = choose_corpora(options.corpora, QUICK_CORPORA if options.quick else TRANSFORM_CORPORA)
    topics = options.topics or (QUICK_TRANSFORM_TOPICS if options.quick else TRANSFORM_TOPICS)
    return grid("transform", names, methods, topics)


def growth(options: Namespace) -> list[Cell]:
    """Return fits of ours on more and more words, documents and topics."""
    times = QUICK_TIMES if options.quick else TIMES
    topics = options.topics or (QUICK_GROWTH_OF_TOPICS if options.quick else GROWTH_OF_TOPICS)
    by_words = [Cell("growth/words", "anchorfree", GROWTH_TOPICS, SPLIT.n_words * n, 0) for n in times]
    by_documents = [Cell("growth/documents", "anchorfree", GROWTH_TOPICS, MORE.n_documents * n, 0) for n in times]
    names = ["synthetic"] if options.quick else choose_corpora(options.corpora, ("synthetic", "tdt2"))
    return by_words + by_documents + grid("growth", names, ["anchorfree"], topics)


def many_topics(options: Namespace) -> list[Cell]:
    """Return fits of hundreds of topics, fewer topics first."""
    methods = choose_methods(options.methods, topics.METHODS)
    names = choose_corpora(options.corpora, topics.QUICK_CORPORA if options.quick else topics.CORPORA)
    cells = grid("topics", names, methods, topics.choose_sizes(options))
    return [
        cell for cell in cells if cell.method != topics.PLANTED or topics.has_planted(corpus_of(cell.design), cell.F)
    ]


def list_imports(options: Namespace) -> list[Cell]:
    """Return the imports."""
    return [Cell("import/python", method, 0, None, 0) for method in IMPORTED]


def counts(options: Namespace) -> list[Cell]:
    """Return the small fits whose counts are guarded."""
    return [Cell(f"counts/{name}", "anchorfree", topics, None, 0) for name, topics in COUNTED]


class Part(NamedTuple):
    """A part of the suite."""

    cells: Callable[[Namespace], list[Cell]]
    task: str  # of the process that measures a cell
    help: str
    options: tuple[str, ...]
    repeats: int  # default, unless quick


PARTS = {
    "peers": Part(
        peers, "peer", "our fits and those of other libraries, with their quality", ("corpora", "topics", "methods"), 2
    ),
    "fit": Part(
        fit, "fit", "the targets, against svds, NMF, CTM and the reference solver", ("corpora", "topics", "methods"), 5
    ),
    "topics": Part(
        many_topics, "topics", "hundreds of topics, with their quality", ("corpora", "topics", "methods"), 1
    ),
    "growth": Part(growth, "fit", "seconds over words, documents and topics", ("corpora", "topics"), 3),
    "transform": Part(transform, "transform", "documents per second", ("corpora", "topics", "methods"), 1),
    "import": Part(list_imports, "import", "seconds of the import", (), 7),
    "counts": Part(counts, "fit", "products, programs and pivots of small fits, for the guard", (), 1),
}


def measure_cell(processes: Processes, cell: Cell) -> dict[str, float]:
    """Measure one cell in a separate process."""
    part, corpus = part_of(cell.design), corpus_of(cell.design)
    if part == "import":
        return imports.measure_cell(cell.method)
    task = "reference" if cell.method == "reference" else PARTS[part].task
    if cell.N is not None:
        corpus = f"{corpus}-{cell.N}"
    return processes.measure_cell(task, corpus, cell.method, cell.F)


def grid(part: str, names: Iterable[str], methods: Sequence[str], topics: Sequence[int]) -> list[Cell]:
    """Return a cell per corpus, number of topics and method, in this order."""
    if min(topics) < 2:
        raise ResultsError(f"topics {', '.join(map(str, topics))}, but models need at least 2; raise the numbers")
    return [Cell(f"{part}/{name}", method, K, None, 0) for name in names for K in sorted(topics) for method in methods]


def choose_methods(asked: Iterable[str] | None, methods: Iterable[str]) -> list[str]:
    """Return the methods that were asked for and are installed; those that are not are named on stderr."""
    methods = list(methods)
    wanted = [method for method in methods if asked is None or method in asked]
    missing = [method for method in wanted if not is_installed(method)]
    for method in missing:
        said = f"{method} is left out: {get_package(method)} is not installed; pip install 'anchorless[benchmarks]'"
        print(said, file=sys.stderr)
    return [method for method in wanted if method not in missing]


def check_names(parts: Iterable[str], options: Namespace) -> None:
    """Refuse methods that no part has."""
    known = {
        "peers": tuple(MODELS),
        "fit": (*FIT_METHODS, "tomotopy-ctm"),
        "transform": TRANSFORM_METHODS,
        "topics": topics.METHODS,
    }
    possible = list(dict.fromkeys(method for part in parts for method in known.get(part, ())))
    for method in options.methods or ():
        if method not in possible:
            raise ResultsError(f"there is no method {method!r}; choose from {', '.join(possible)}")


def list_missing_corpora() -> list[str]:
    """Return the real corpora whose file is not there."""
    return [name for name in corpora.REAL if not is_there(name)]
