"""Do groups of fine topics agree with broad classes as well as a fit with as many topics?

NMI of the leading group of each document with the classes, and of the leading topic of a fit with as many topics as
there are groups. The broad classes of 20 Newsgroups are the seven first parts of the groups' names (comp, rec, …), and
`newsgroups-5000` is a random sample of its posts. The other corpora, read from the folder that ANCHORLESS_DATA names,
were used to choose the method.
"""

from __future__ import annotations

import gzip
import json
import os
from argparse import Namespace
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import normalized_mutual_info_score

from anchorless import Corpus, CountSettings, TopicModel
from experiments.corpora_data import FOLDER, find_files, load
from experiments.results import Cell, Results, ResultsError, markdown_table, replace_file, run_cells

EXPERIMENT = "levels"
#: Corpus -> number of groups, and numbers of fine topics.
CORPORA: dict[str, tuple[int, tuple[int, ...]]] = {
    "newsgroups": (7, (20, 40, 100)),
    "newsgroups-5000": (7, (20, 40, 100)),
    "AGNews": (4, (20, 40)),
    "SearchSnippets": (8, (20, 40)),
    "NYT": (12, (40, 100)),
    "reuters": (10, (40, 100)),
    "tdt2": (10, (30, 100)),
}
QUICK = ("SearchSnippets",)
MIN_DOCUMENTS, N_SAMPLED = 5, 5000


class Labeled(NamedTuple):
    """Counted documents and their classes."""

    corpus: Corpus
    labels: Any


def run(folder: Path, options: Namespace) -> int:
    """Run what is not yet in the results, then render them."""
    run_cells(Results(folder, EXPERIMENT), [*plan(options)], measure_cell, lambda cell: ("groups", "fit"))
    return render(folder)


def plan(options: Namespace) -> Iterator[Cell]:
    """Yield the fits that were asked for."""
    for name in options.cells or (QUICK if options.quick else CORPORA):
        if name not in CORPORA:
            raise ResultsError(f"there is no cell {name!r}; choose from {', '.join(CORPORA)}")
        for n_topics in CORPORA[name][1]:
            yield Cell(name, "anchorless", n_topics, None, 0)


def measure_cell(cell: Cell) -> dict[str, float]:
    """Fit a corpus, group its topics, and compare with the classes."""
    corpus, labels = read(cell.design)
    model = TopicModel(cell.F).fit(corpus)
    groups = model.hierarchy(CORPORA[cell.design][0]).aggregate(model.document_topics_)
    broad = fit_broad(cell.design)
    return {
        "groups": float(normalized_mutual_info_score(labels, groups.argmax(axis=1))),
        "fit": float(normalized_mutual_info_score(labels, broad.argmax(axis=1))),
    }


@lru_cache(maxsize=1)
def fit_broad(name: str) -> Any:
    """Return the mixtures of a fit with as many topics as there are groups."""
    return TopicModel(CORPORA[name][0]).fit(read(name).corpus).document_topics_


@lru_cache(maxsize=1)
def read(name: str) -> Labeled:
    """Read a corpus."""
    if name.startswith("newsgroups"):
        return read_posts(N_SAMPLED if name.endswith("5000") else None)
    if name in ("reuters", "tdt2"):
        whole = load(name)
        counts, labels = whole.counts, np.asarray(whole.labels)
    else:
        folder = Path(os.environ.get(FOLDER, "")) / "benchmark" / name
        if not os.environ.get(FOLDER) or not folder.is_dir():
            raise FileNotFoundError(f"set {FOLDER} to a folder with benchmark/{name}, the matrices of TopMost or ECRTM")
        counts = sp.csr_matrix(sp.load_npz(folder / "train_bow.npz"), dtype=float)
        labels = np.loadtxt(folder / "train_labels.txt", dtype=int)
    used = np.flatnonzero(np.asarray((counts > 0).sum(axis=0)).ravel() >= MIN_DOCUMENTS)
    return Labeled(Corpus.from_counts(sp.csr_matrix(counts[:, used]), [f"word{v}" for v in used]), labels)


def read_posts(n: int | None) -> Labeled:
    """Read the posts of 20 Newsgroups, all or a random sample in their order, as mails."""
    path = find_files(["20newsgroups.jsonl.gz"])["20newsgroups.jsonl.gz"]
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        posts = [json.loads(line) for line in lines]
    if n is not None:
        posts = [posts[i] for i in np.sort(np.random.default_rng(0).permutation(len(posts))[:n])]
    labels = np.array([post["group"].split(".")[0] for post in posts])
    return Labeled(Corpus.from_texts([post["text"] for post in posts], counting=CountSettings(email=True)), labels)


def render(folder: Path) -> int:
    """Write and print the table; there are no limits."""
    values = Results(folder, EXPERIMENT).values
    rows = [
        [name, str(cell.F), str(n_groups), f"{found['groups']:.3f}", f"{found['fit']:.3f}"]
        for name, (n_groups, _) in CORPORA.items()
        for cell, found in values.items()
        if cell.design == name
    ]
    table = markdown_table(
        ["corpus", "topics", "groups", "NMI of the groups", "NMI of a fit with as many topics"], rows
    )
    text = f"# Groups of topics\n\n`python -m experiments levels`\n\n{table}\n"
    print(text, end="", flush=True)
    if values:
        replace_file(folder / "tables.md", text)
    return 0
