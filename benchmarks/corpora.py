"""The corpora that are measured: counts, the same weighted, and a label per document, kept on disk for the processes.

A corpus is made once, in a separate process, so that no measured process includes the memory of making it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from anchorless import NormalizedCutWeighting, TfidfWeighting
from anchorless.datasets import sampled_corpus
from experiments.corpora_data import CORPORA, find_corpora, load
from experiments.results import ResultsError

REAL = tuple(CORPORA)


class Sampled(NamedTuple):
    """The size of a corpus that is drawn from planted topics."""

    n_documents: int
    n_topics: int
    n_words: int


SYNTHETIC = {
    "synthetic": Sampled(10_000, 50, 5_000),
    "synthetic-large": Sampled(100_000, 100, 10_000),
    "synthetic-small": Sampled(1_000, 10, 800),
    "synthetic-tiny": Sampled(300, 5, 200),
}
#: Growth with the words: documents and words of the smallest; each of its words is split to have more.
SPLIT = Sampled(10_000, 20, 4_000)
#: Growth with the documents.
MORE = Sampled(2_500, 20, 4_000)
TITLES = {name: source.title for name, source in CORPORA.items()} | {
    name: f"{size.n_documents:,} sampled documents of {size.n_topics} planted topics, {size.n_words:,} words"
    for name, size in SYNTHETIC.items()
}


def title(name: str) -> str:
    """Return what a corpus is called in the tables."""
    return TITLES.get(name, name)


def choose_corpora(asked: Iterable[str] | None, default: Iterable[str]) -> list[str]:
    """Return the requested corpora; of the default ones those whose files exist."""
    if asked is None:
        return [name for name in default if name not in REAL or is_there(name)]
    asked = list(asked)
    unknown = [name for name in asked if name not in TITLES]
    if unknown:
        raise ResultsError(f"there is no corpus {unknown[0]!r}; choose from {', '.join(TITLES)}")
    find_corpora([name for name in asked if name in REAL])
    return asked


def is_there(name: str) -> bool:
    """Return whether the file of a real corpus exists in the folder ANCHORLESS_DATA."""
    given = os.environ.get("ANCHORLESS_DATA", "")
    return bool(given) and (Path(given) / CORPORA[name].matrix).is_file()


def made(name: str) -> tuple[Any, Any]:
    """Return counts and labels of a corpus; `words-12000` and `documents-5000` are those that growth is measured on."""
    kind, _, size = name.rpartition("-")
    if name in REAL:
        corpus = load(name)
        return corpus.counts, corpus.labels
    if name in SYNTHETIC:
        return drawn(SYNTHETIC[name])
    if kind == "words":
        counts, labels = drawn(SPLIT)
        return split_words(counts, int(size) // SPLIT.n_words), labels
    if kind == "documents":
        return drawn(MORE._replace(n_documents=int(size)))
    raise ResultsError(f"there is no corpus {name!r}; choose from {', '.join(TITLES)}")


def drawn(size: Sampled) -> tuple[Any, Any]:
    """Return counts of sampled documents, each labelled with the topic that most of it is from."""
    corpus = sampled_corpus(size.n_documents, size.n_topics, size.n_words)
    return corpus.counts, corpus.weights.argmax(axis=1)


def split_words(counts: Any, times: int) -> Any:
    """Return counts over `times` as many words with the same non-zeros: each moves to one part of its word."""
    counts = counts.tocsr()
    parts = np.random.default_rng(0).integers(times, size=counts.nnz)
    shape = (counts.shape[0], counts.shape[1] * times)
    return sp.csr_matrix((counts.data, counts.indices * times + parts, counts.indptr), shape=shape)


def store(name: str, folder: Path) -> None:
    """Make a corpus and write it to the folder, as `benchmarks.stored` reads it."""
    counts, labels = made(name)
    weighted = NormalizedCutWeighting(floor=0.0).fit_transform(TfidfWeighting().fit_transform(counts))
    sp.save_npz(folder / f"{name}.counts.npz", counts, compressed=False)
    sp.save_npz(folder / f"{name}.weighted.npz", sp.csr_matrix(weighted), compressed=False)
    np.save(folder / f"{name}.labels.npy", np.unique(labels, return_inverse=True)[1])
