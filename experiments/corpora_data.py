"""The real corpora, read from the folder that ANCHORLESS_DATA names, and random draws of their classes."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.io
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from anchorless import NormalizedCutWeighting, TfidfWeighting
from experiments.results import ResultsError

FOLDER = "ANCHORLESS_DATA"
CAI = "Deng Cai's page of text data sets"
#: File -> where it comes from.
SOURCES = {
    "TDT2.mat": CAI,
    "Reuters21578.mat": CAI,
    "Reuters21578.words.txt": f"one word per column of Reuters21578.mat, in order; the matrix is from {CAI}",
    "20newsgroups.jsonl.gz": '20 Newsgroups "by date", one {"group": ..., "text": ...} per line',
}


class Corpus(NamedTuple):
    """A labelled corpus."""

    counts: Any  # CSR, documents × words
    labels: Any  # (N,), a class per document
    words: tuple[str, ...]  # a name for each column
    names: tuple[str, ...]  # a name for each class, in the order of np.unique(labels)


class Draw(NamedTuple):
    """The documents of some classes, and the words that occur in them."""

    counts: Any  # CSR, documents × words
    weighted: Any  # tf-idf of the whole corpus, then normalized-cut weighting of the draw
    labels: Any
    columns: Any  # the corpus's column of each word
    classes: tuple[Any, ...]


class Source(NamedTuple):
    """What is drawn from a corpus."""

    title: str
    matrix: str  # the file with the documents
    words: str | None  # the file with the words, if they are in one of their own
    seed: int  # of all its draws
    topics: tuple[int, ...]
    quick_topics: tuple[int, ...]
    min_class_size: int


PAPER_TOPICS = (3, 4, 5, 6, 7, 8, 9, 10, 15, 20, 25)
CORPORA = {
    "tdt2": Source("TDT2", "TDT2.mat", None, 1, PAPER_TOPICS, (3, 5, 10), 1),
    "reuters": Source("Reuters-21578", "Reuters21578.mat", "Reuters21578.words.txt", 2, PAPER_TOPICS, (3, 5, 10), 10),
    "newsgroups": Source("20 Newsgroups", "20newsgroups.jsonl.gz", None, 3, (5, 10, 20), (5, 10), 1),
}


def find_files(names: Iterable[str]) -> dict[str, Path]:
    """Return the path of each file, or raise an error that names the missing ones and their source."""
    names = list(names)
    given = os.environ.get(FOLDER, "")
    missing = [name for name in names if not given or not (Path(given) / name).is_file()]
    if missing:
        where = f"{given!r}, the folder that {FOLDER} names, lacks" if given else f"set {FOLDER} to a folder with"
        listing = "".join(f"\n  {name}: {SOURCES[name]}" for name in missing)
        raise FileNotFoundError(f"{where} these files of the corpora:{listing}")
    return {name: Path(given) / name for name in names}


def find_corpora(names: Iterable[str], *, words: bool = False) -> None:
    """Refuse at once, before anything is run, if a file of these corpora is missing."""
    sources = [CORPORA[name] for name in names]
    find_files([source.matrix for source in sources] + [source.words for source in sources if words and source.words])


def matrix_path(name: str) -> Path:
    """Return the file with the documents of a corpus."""
    return find_files([CORPORA[name].matrix])[CORPORA[name].matrix]


def load(name: str) -> Corpus:
    """Return a corpus; kept in memory for the next draw."""
    return read(matrix_path(name))


def read(path: Path) -> Corpus:
    """Return the corpus of a file."""
    return read_matrix(path) if path.suffix == ".mat" else read_posts(path)


@lru_cache(maxsize=1)
def read_matrix(path: Path) -> Corpus:
    """Read counts `fea` and labels `gnd` from a MATLAB file; words are column numbers from 1, as in MATLAB."""
    try:
        content = scipy.io.loadmat(path, variable_names=["fea", "gnd"])
        counts, labels = sp.csr_matrix(content["fea"], dtype=np.float64), content["gnd"].ravel().astype(int)
    except (KeyError, ValueError, TypeError, NotImplementedError) as error:
        raise ResultsError(f"{path.name} is not a MATLAB file with fea and gnd ({error}); get it from {CAI}") from None
    if counts.shape[0] != len(labels):
        raise ResultsError(f"{path.name} has {counts.shape[0]} documents, but {len(labels)} labels; get it from {CAI}")
    names = tuple(f"class {label}" for label in np.unique(labels))
    return Corpus(counts, labels, tuple(str(k + 1) for k in range(counts.shape[1])), names)


@lru_cache(maxsize=1)
def read_posts(path: Path) -> Corpus:
    """Read and count posts without their headers; the groups are the classes."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            posts = [json.loads(line) for line in file]
        groups, labels = np.unique([post["group"] for post in posts], return_inverse=True)
        texts = [without_header(post["text"]) for post in posts]
    except (KeyError, ValueError, EOFError, gzip.BadGzipFile) as error:
        raise ResultsError(
            f"{path.name} is not gzipped lines of JSON with group and text ({error}): {SOURCES[path.name]}"
        ) from None
    counter = CountVectorizer(min_df=5, max_df=0.5, stop_words="english", dtype=np.float64)
    counts = counter.fit_transform(texts)
    return Corpus(counts.tocsr(), labels, tuple(counter.get_feature_names_out()), tuple(map(str, groups)))


def without_header(text: str) -> str:
    """Return what follows the first blank line; all of a text that has none."""
    lines = text.splitlines()
    blank = next((k for k, line in enumerate(lines) if not line.strip()), -1)
    return "\n".join(lines[blank + 1 :])


def readable_words(name: str) -> tuple[str, ...]:
    """Return the words of a corpus, from their own file if there is one."""
    source, words = CORPORA[name], load(name).words
    if source.words is None:
        return words
    found = tuple(find_files([source.words])[source.words].read_text(encoding="utf-8").splitlines())
    if len(found) != len(words):
        raise ResultsError(f"{source.words} has {len(found)} lines for {len(words)} columns of {source.matrix}")
    return found


def eligible(labels: Any, min_class_size: int) -> Any:
    """Return the classes with at least `least` documents, sorted."""
    classes, sizes = np.unique(labels, return_counts=True)
    return classes[sizes >= min_class_size]


def draw_classes(classes: Any, seed: int, F: int, number: int) -> Any:
    """Return F of the classes, without replacement, the same for the same numbers."""
    return np.random.default_rng([seed, F, number]).choice(classes, F, replace=False)


def draw(name: str, min_class_size: int, F: int, number: int) -> Draw:
    """Return draw `number` of F classes; kept for the next method."""
    classes = eligible(load(name).labels, min_class_size)
    return weighted_draw(matrix_path(name), tuple(draw_classes(classes, CORPORA[name].seed, F, number)))


def whole(name: str) -> Draw:
    """Return all documents of a corpus as one draw; kept for the next method."""
    return weighted_draw(matrix_path(name), tuple(np.unique(load(name).labels)))


@lru_cache(maxsize=1)
def weighted_draw(path: Path, classes: tuple[Any, ...]) -> Draw:
    """Return the documents of these classes without words that none of them holds, and weighted.

    The rarity of a word is that in the whole corpus. Within a draw, the words of its largest class are common, and lose
    the weight that tells the class from the others.
    """
    corpus = read(path)
    rows = np.isin(corpus.labels, classes)
    counts = corpus.counts[rows]
    columns = np.flatnonzero(counts.getnnz(axis=0))
    weighted = NormalizedCutWeighting(floor=0.0).fit_transform(tfidf(path)[rows][:, columns])
    return Draw(counts[:, columns], weighted, corpus.labels[rows], columns, classes)


@lru_cache(maxsize=1)
def tfidf(path: Path) -> Any:
    """Return the tf-idf of a whole corpus, documents of length one."""
    return TfidfWeighting().fit_transform(read(path).counts)
