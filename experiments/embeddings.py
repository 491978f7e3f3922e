"""Embeddings as side information: agreement of documents with classes, and the words shown, beside other methods.

The benchmark matrices have no texts, so the words of a document, in the order of the vocabulary, are encoded.
Embeddings are read from the folder that ANCHORLESS_EMBEDDINGS names (`AGNews.npy` …, a row per document that is used),
or made by the default encoder of `anchorless embed` and stored there. Settings were chosen on the documents at odd
places of SearchSnippets, AG News and 20 Newsgroups; the table has those at even places of the first two, and corpora
that were not looked at. All methods get the same embeddings.
"""

from __future__ import annotations

import os
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.io
import scipy.sparse as sp
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from sklearn.metrics import homogeneity_score, normalized_mutual_info_score

from anchorless import Corpus, datasets, metrics
from experiments.corpora_data import FOLDER, find_files
from experiments.documents import compute_purity
from experiments.embedding_methods import METHODS, N_SEEDS, PACKAGES, Data, Layout, load_encoder
from experiments.results import Cell, Results, ResultsError, Values, markdown_table, replace_file, run_cells

EXPERIMENT = "embeddings"
EMBEDDINGS = "ANCHORLESS_EMBEDDINGS"
#: Words of a docstring, or of a message of Reuters, that are encoded: short texts are what embeddings are for.
MAX_WORDS = 60
#: A word in fewer documents is left out.
MIN_DOCUMENTS = 3
MEASURES = {"purity": ".3f", "homogeneity": ".3f", "nmi": ".3f", "npmi": ".3f", "size": ".1f"}
#: CPU seconds of a fit: measured in each fit, but not in those of earlier versions of this experiment.
SECONDS = "cpu"


class Design(NamedTuple):
    """A corpus: its folder, the number of documents, evenly spaced, and of these every so many."""

    name: str
    limit: int | None
    step: int
    topics: tuple[int, ...]


DESIGNS = {
    "SearchSnippets": Design("SearchSnippets", None, 2, (8, 20, 50)),
    "AG News": Design("AGNews", 8000, 2, (4, 20)),
    "GoogleNews": Design("GoogleNews", None, 1, (20, 50)),
    "Reuters": Design("Reuters", None, 1, (20,)),
    "docstrings": Design("docstrings", None, 1, (20,)),
}
QUICK = ("docstrings",)


def run(folder: Path, options: Namespace) -> int:
    """Run what is not yet in the results, then render them."""
    run_cells(Results(folder, EXPERIMENT), [*plan(options)], measure_cell, lambda cell: MEASURES)
    return render(folder)


def plan(options: Namespace) -> Iterator[Cell]:
    """Yield the fits that were asked for, of methods that are installed."""
    for what, names, known in (
        ("cell", options.cells or (), DESIGNS),
        ("method", options.methods or (), METHODS),
    ):
        for name in names:
            if name not in known:
                raise ResultsError(f"there is no {what} {name!r}; choose from {', '.join(known)}")
    for corpus in options.cells or (QUICK if options.quick else DESIGNS):
        n_documents = read_data(corpus).counts.shape[0]
        for method in options.methods or METHODS:
            package = PACKAGES.get(method)
            if package is None or find_spec(package) is not None:
                for seed in range(N_SEEDS.get(method, 1)):
                    yield from (Cell(corpus, method, K, n_documents, seed) for K in DESIGNS[corpus].topics)


@lru_cache(maxsize=1)
def read_data(corpus: str) -> Data:
    """Read a corpus with its embeddings; words in few documents, and documents without a word, are left out."""
    design = DESIGNS[corpus]
    X, labels, words, texts = READERS.get(design.name, read_benchmark)(design)
    E = encode(design.name, texts)
    X, labels, E = X[:: design.step], labels[:: design.step], E[:: design.step]
    used = np.asarray((X > 0).sum(axis=0)).ravel() >= MIN_DOCUMENTS
    X = sp.csr_matrix(X[:, used])
    there = np.asarray(X.sum(axis=1)).ravel() > 0
    return Data(X[there], labels[there], E[there], [word for word, keep in zip(words, used, strict=True) if keep])


def read_benchmark(design: Design) -> tuple[Any, Any, list[str], list[str]]:
    """Return counts, classes, words, and the words of each document as a text."""
    folder = Path(os.environ.get(FOLDER, "")) / "benchmark" / design.name
    if not os.environ.get(FOLDER) or not folder.is_dir():
        raise FileNotFoundError(f"set {FOLDER} to a folder with benchmark/{design.name}, of TopMost or ECRTM")
    X = sp.csr_matrix(sp.load_npz(folder / "train_bow.npz"), dtype=float)
    X.sort_indices()
    words = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")[: X.shape[1]]
    labels = np.loadtxt(folder / "train_labels.txt", dtype=int)
    n = min(design.limit or X.shape[0], X.shape[0])
    positions = np.unique((np.arange(n) * (X.shape[0] / n)).astype(int))
    X, labels = X[positions], labels[positions]
    return X, labels, words, [" ".join(words[j] for j in row.indices) for row in X]


def read_docstrings(design: Design) -> tuple[Any, Any, list[str], list[str]]:
    """Return counts, classes, words and texts of docstrings."""
    found = datasets.load_docstrings()
    texts = [" ".join(text.split()[:MAX_WORDS]) for text in found.texts]
    counted = Corpus.from_texts(texts)
    labels = np.unique(found.labels, return_inverse=True)[1]
    return counted.documents.take_rows(range(len(texts))), labels, list(counted.vocabulary), texts


def read_reuters(design: Design) -> tuple[Any, Any, list[str], list[str]]:
    """Return counts, classes and words of every second document of Reuters-21578, and its frequent words as a text."""
    files = find_files(["Reuters21578.mat", "Reuters21578.words.txt"])
    matrix = scipy.io.loadmat(files["Reuters21578.mat"])
    X, labels = sp.csr_matrix(matrix["fea"], dtype=float)[::2], matrix["gnd"].ravel()[::2]
    words = files["Reuters21578.words.txt"].read_text(encoding="utf-8").split("\n")[: X.shape[1]]
    keep = np.array([word not in ENGLISH_STOP_WORDS and len(word) > 2 for word in words])
    X, words = sp.csr_matrix(X[:, keep]), [word for word, kept in zip(words, keep, strict=True) if kept]
    X.sort_indices()
    frequent = (np.sort(row.indices[np.argsort(-row.data, kind="stable")[:MAX_WORDS]]) for row in X)
    return X, labels, words, [" ".join(words[j] for j in columns) for columns in frequent]


READERS = {"docstrings": read_docstrings, "Reuters": read_reuters}


def encode(name: str, texts: list[str]) -> Any:
    """Return the stored embeddings of a corpus; make them if there are none."""
    default = Path(tempfile.gettempdir()) / "anchorless-embeddings"
    path = Path(os.environ.get(EMBEDDINGS, default)) / f"{name}.npy"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, load_encoder().encode(texts, normalize_embeddings=True).astype(np.float16))
    found = np.load(path).astype(np.float32)
    if len(found) != len(texts):
        raise ResultsError(f"{path} has {len(found):,} rows, but {name} has {len(texts):,} documents; remove it")
    return found


def measure_cell(cell: Cell) -> dict[str, float]:
    """Fit a method, and compare the group of each document with its class."""
    data = read_data(cell.design)
    Layout.reused, start = 0.0, time.process_time()
    groups, components = METHODS[cell.method](data, cell.F, cell.seed)
    seconds = time.process_time() - start + Layout.reused
    npmi = float(np.mean(metrics.npmi(components, data.counts, n_words=10)))
    nmi = float(normalized_mutual_info_score(data.labels, groups))
    share = np.unique(groups, return_counts=True)[1] / len(groups)
    return {
        "purity": compute_purity(data.labels, groups),
        "homogeneity": float(homogeneity_score(data.labels, groups)),
        "nmi": nmi,
        "npmi": npmi,
        "size": float(np.exp(-(share * np.log(share)).sum())),
        SECONDS: seconds,
    }


def render(folder: Path) -> int:
    """Write and print the table; there are no limits."""
    values = Results(folder, EXPERIMENT).values
    header = [
        "corpus",
        "documents",
        "topics",
        "method",
        "seeds",
        "purity",
        "homogeneity",
        "NMI",
        "NPMI@10",
        "groups",
        "NMI of seeds",
        "CPU seconds",
    ]
    text = (
        "# Embeddings as side information\n\n`python -m experiments embeddings`: purity and NMI of the leading topic, "
        "or the group, of each document with the classes, and homogeneity, the part of the entropy of the classes that "
        "the groups explain; NPMI of the ten words shown; the number of groups of equal size with the entropy of the "
        "groups: NMI is larger for fewer groups of the same homogeneity. Methods that depend on chance: means over "
        "seeds. CPU seconds are those of a fit to embeddings that exist (median over seeds).\n\n"
        f"{markdown_table(header, [*tabulate(values)])}\n"
    )
    print(text, end="", flush=True)
    if values:
        replace_file(folder / "tables.md", text)
    return 0


def tabulate(values: Values) -> Iterator[list[str]]:
    """Yield one row per corpus, number of topics and method: means over the seeds."""
    order = {name: place for place, name in enumerate([*DESIGNS, *METHODS])}
    seeds: dict[Cell, list[dict[str, float]]] = {}
    for cell, found in sorted(values.items()):
        seeds.setdefault(cell._replace(seed=0), []).append(found)
    for cell in sorted(seeds, key=lambda cell: (order[cell.design], cell.F, order[cell.method])):
        runs = seeds[cell]
        texts = [format(np.mean([run[name] for run in runs]), form) for name, form in MEASURES.items()]
        low, high = (pick(run["nmi"] for run in runs) for pick in (min, max))
        spread = f"{low:.3f}–{high:.3f}" if len(runs) > 1 else ""
        timed = [run[SECONDS] for run in runs if SECONDS in run]
        seconds = f"{np.median(timed):.1f}" if timed else ""
        yield [cell.design, f"{cell.N:,}", str(cell.F), cell.method, str(len(runs)), *texts, spread, seconds]
