"""Are documents put where people put them, are they predicted, and can the words be read?

The benchmark matrices of recent topic models (halves `train` and `test`, read from the folder that ANCHORLESS_DATA
names), and Reuters-21578, every second document of which is the test half. Models are fitted to the training half. On
the test half: purity and NMI of the leading topic of each document with the classes, NPMI of the ten words shown, and
the log-likelihood per token of one half of each document given the other (`metrics.document_completion`, for all
methods the same). Models of tomotopy and topica are fitted for the last of these only.
"""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import normalized_mutual_info_score

from anchorless import TopicModel, metrics
from experiments import planted
from experiments.corpora_data import FOLDER, load
from experiments.recovery_methods import METHODS as PEERS
from experiments.results import Cell, Results, ResultsError, Values, markdown_table, replace_file, run_cells

EXPERIMENT = "documents"
#: Corpus -> its folder below `benchmark`, or None, and the number of topics.
CORPORA: dict[str, tuple[str | None, int]] = {
    "AG News": ("AGNews", 50),
    "SearchSnippets": ("SearchSnippets", 50),
    "GoogleNews": ("GoogleNews", 50),
    "20NG": ("20NG", 50),
    "Reuters": (None, 20),
}
QUICK = ("GoogleNews",)
#: Method -> the weighting of a TopicModel; other methods are those of the experiment on recovery.
WEIGHTINGS = {"anchorless": "chi2-ncw", "anchorless-tfidf": "tfidf-ncw"}
METHODS = (*WEIGHTINGS, "tomotopy-lda", "tomotopy-ctm", "topica-ctm")
MEASURES = {"purity": ".3f", "nmi": ".3f", "npmi": ".3f", "log_likelihood": ".3f"}


class Halves(NamedTuple):
    """Counts of two halves (CSR), the classes of the second, and the words."""

    train: Any
    test: Any
    labels: Any
    words: list[str]


def run(folder: Path, options: Namespace) -> int:
    """Run what is not yet in the results, then render them."""
    run_cells(Results(folder, EXPERIMENT), [*plan(options)], measure_cell, expected)
    return render(folder)


def plan(options: Namespace) -> Iterator[Cell]:
    """Yield the fits that were asked for, of methods that are installed."""
    methods = options.methods or (WEIGHTINGS if options.quick else METHODS)
    for what, names, known in (("cell", options.cells or (), CORPORA), ("method", methods, METHODS)):
        for name in names:
            if name not in known:
                raise ResultsError(f"there is no {what} {name!r}; choose from {', '.join(known)}")
    for corpus in options.cells or (QUICK if options.quick else CORPORA):
        n_documents = read_halves(corpus).train.shape[0]
        for method in methods:
            if method in WEIGHTINGS or PEERS[method].is_installed:
                yield Cell(corpus, method, CORPORA[corpus][1], n_documents, 0)


def expected(cell: Cell) -> Iterable[str]:
    """Return the measures of a fit."""
    return MEASURES if cell.method in WEIGHTINGS else ("log_likelihood",)


@lru_cache(maxsize=1)
def read_halves(corpus: str) -> Halves:
    """Read a corpus, without training documents that have no words."""
    name = CORPORA[corpus][0]
    if name is None:
        whole = load("reuters")
        halves = Halves(whole.counts[::2], whole.counts[1::2], np.asarray(whole.labels)[1::2], [*whole.words])
    else:
        folder = Path(os.environ.get(FOLDER, "")) / "benchmark" / name
        if not os.environ.get(FOLDER) or not folder.is_dir():
            raise FileNotFoundError(f"set {FOLDER} to a folder with benchmark/{name}, the matrices of TopMost or ECRTM")
        train, test = (
            sp.csr_matrix(sp.load_npz(folder / f"{half}_bow.npz"), dtype=float) for half in ("train", "test")
        )
        words = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")[: train.shape[1]]
        halves = Halves(train, test, np.loadtxt(folder / "test_labels.txt", dtype=int), words)
    used = np.asarray(halves.train.sum(axis=1)).ravel() > 0
    return halves._replace(train=sp.csr_matrix(halves.train[used]))


def measure_cell(cell: Cell) -> dict[str, float]:
    """Fit a method to the training half and measure it on the test half."""
    halves = read_halves(cell.design)
    if cell.method not in WEIGHTINGS:
        corpus = planted.Corpus(halves.train, halves.words, np.zeros((0, 0)), np.zeros((halves.train.shape[0], 0)))
        return measure_prediction(PEERS[cell.method].fit(corpus, cell.F, cell.seed).topic_word, halves)
    model = TopicModel(cell.F, weighting=WEIGHTINGS[cell.method]).fit_counts(halves.train, halves.words)
    leading = model.transform_counts(halves.test).argmax(axis=1)
    return {
        "purity": compute_purity(halves.labels, leading),
        "nmi": float(normalized_mutual_info_score(halves.labels, leading)),
        "npmi": float(np.mean(metrics.npmi(model.components_, halves.test, n_words=10))),
    } | measure_prediction(model.topic_word_, halves)


def measure_prediction(topic_word: Any, halves: Halves) -> dict[str, float]:
    """Return how well topics (F, V) complete the test documents."""
    background = np.asarray(halves.train.sum(axis=0)).ravel()
    found = metrics.document_completion(topic_word, halves.test, background=background)
    return {"log_likelihood": found.log_likelihood}


def compute_purity(labels: Any, clusters: Any) -> float:
    """Return the share of documents whose class is the most frequent one of their cluster."""
    return sum(np.unique(labels[clusters == k], return_counts=True)[1].max() for k in np.unique(clusters)) / len(labels)


def render(folder: Path) -> int:
    """Write and print the table; there are no limits."""
    values = Results(folder, EXPERIMENT).values
    header = ["corpus", "topics", "method", "purity", "NMI", "NPMI@10", "log-likelihood per token"]
    text = (
        "# Documents of real corpora\n\n`python -m experiments documents`: fitted to the training half, measured on "
        f"the test half.\n\n{markdown_table(header, [*tabulate(values)])}\n"
    )
    print(text, end="", flush=True)
    if values:
        replace_file(folder / "tables.md", text)
    return 0


def tabulate(values: Values) -> Iterator[list[str]]:
    """Yield one row per corpus and method."""
    for corpus in CORPORA:
        for method in METHODS:
            for cell, found in values.items():
                if (cell.design, cell.method) == (corpus, method):
                    texts = [format(found[name], form) if name in found else "" for name, form in MEASURES.items()]
                    yield [corpus, str(cell.F), method, *texts]
