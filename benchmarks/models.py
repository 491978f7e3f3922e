"""The models that are compared: ours and its peers, each behind the same four functions.

Whatever a peer needs its documents turned into is `prepared`, off the clock. Every model uses the threads that it
takes by itself; BLAS has one for all.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

#: Passes over the documents of each peer: what its users need for topics that settle, at least.
NMF_ITERATIONS, LDA_ITERATIONS = 200, 20
GENSIM_LDA_PASSES, GENSIM_NMF_PASSES = 10, 5
TOMOTOPY_LDA_ITERATIONS, TOMOTOPY_CTM_ITERATIONS = 200, 100


class Model(Protocol):
    """A topic model: documents in, topics and weights out."""

    package: str  # the module that has to be installed
    data: str  # "weighted" or "counts": what it is a model of
    shares: bool  # whether its weights are of topics that sum to one, not of its components as they are
    settings: str

    def prepare(self, X: Any, K: int) -> Any:
        """Return documents × words in the form that the model wants."""

    def fit(self, documents: Any, K: int) -> Any:
        """Return the fitted model."""

    def transform(self, model: Any, documents: Any) -> Any:
        """Return the weights of the documents the model was fitted on (N, K)."""

    def components(self, model: Any, n_words: int) -> Any:
        """Return the topics (K, n_words), not negative."""


class Estimator(NamedTuple):
    """A scikit-learn estimator."""

    package: str
    data: str
    shares: bool
    settings: str
    make: Callable[[int], Any]

    def prepare(self, X: Any, K: int) -> Any:
        """Return the matrix as it is."""
        return X

    def fit(self, documents: Any, K: int) -> Any:
        """Return the fitted estimator."""
        return self.make(K).fit(documents)

    def transform(self, model: Any, documents: Any) -> Any:
        """Return its transform."""
        return model.transform(documents)

    def components(self, model: Any, n_words: int) -> Any:
        """Return its components."""
        return model.components_


class Pairs(NamedTuple):
    """Documents as gensim has them; without names for the words it would count these on the clock."""

    rows: list[list[tuple[int, float]]]
    words: dict[int, str]


class GensimLda:
    """gensim's LdaModel."""

    package, data, shares = "gensim", "counts", True
    settings = f"gensim LdaModel, {GENSIM_LDA_PASSES} passes, no evaluation on the way"

    def prepare(self, X: Any, K: int) -> Pairs:
        """Return a list of (word, count) per document."""
        return as_pairs(X)

    def fit(self, documents: Any, K: int) -> Any:
        """Return the fitted model."""
        from gensim.models import LdaModel

        return LdaModel(
            documents.rows,
            num_topics=K,
            id2word=documents.words,
            passes=GENSIM_LDA_PASSES,
            eval_every=None,
            random_state=0,
        )

    def transform(self, model: Any, documents: Any) -> Any:
        """Return the shares of the topics."""
        gamma = model.inference(documents.rows)[0]
        return gamma / gamma.sum(axis=1, keepdims=True)

    def components(self, model: Any, n_words: int) -> Any:
        """Return the topics."""
        return model.get_topics()


class GensimNmf:
    """gensim's Nmf."""

    package, data, shares = "gensim", "weighted", False
    settings = f"gensim Nmf, {GENSIM_NMF_PASSES} passes"

    def prepare(self, X: Any, K: int) -> Pairs:
        """Return a list of (word, weight) per document."""
        return as_pairs(X)

    def fit(self, documents: Any, K: int) -> Any:
        """Return the fitted model."""
        from gensim.models.nmf import Nmf

        return Nmf(
            documents.rows,
            num_topics=K,
            id2word=documents.words,
            passes=GENSIM_NMF_PASSES,
            eval_every=None,
            random_state=0,
        )

    def transform(self, model: Any, documents: Any) -> Any:
        """Return the weights, which gensim has by document."""
        W = np.zeros((len(documents.rows), model.num_topics))
        for row, document in enumerate(documents.rows):
            for topic, weight in model.get_document_topics(document, minimum_probability=0, normalize=False):
                W[row, topic] = weight
        return W

    def components(self, model: Any, n_words: int) -> Any:
        """Return the topics as they are."""
        return model.get_topics(normalize=False)


class Tomotopy(NamedTuple):
    """A model of tomotopy, on all cores; its weights are those of the training documents, which it has at once."""

    name: str
    iterations: int
    settings: str
    package: str = "tomotopy"
    data: str = "counts"
    shares: bool = True

    def prepare(self, X: Any, K: int) -> Any:
        """Return an untrained model that holds the documents, and which of them have a word: the others it drops."""
        import tomotopy

        X, model = X.tocsr(), getattr(tomotopy, self.name)(k=K, seed=1)
        lengths, names = X.data.astype(int), np.arange(X.shape[1]).astype(str).astype(object)
        for start, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
            if lengths[start:end].any():
                model.add_doc(np.repeat(names[X.indices[start:end]], lengths[start:end]).tolist())
        return model, np.add.reduceat(np.append(lengths, 0), X.indptr[:-1]) * np.diff(X.indptr) > 0

    def fit(self, documents: Any, K: int) -> Any:
        """Return the trained model."""
        model, _ = documents
        model.train(self.iterations, workers=os.cpu_count() or 1, show_progress=False)
        return model

    def transform(self, model: Any, documents: Any) -> Any:
        """Return the shares of the topics; a document without a word has none."""
        _, held = documents
        W = np.zeros((len(held), model.k))
        W[held] = [document.get_topic_dist() for document in model.docs]
        return W

    def components(self, model: Any, n_words: int) -> Any:
        """Return the topics, its words in the order of the columns."""
        C = np.zeros((model.k, n_words))
        columns = [int(word) for word in model.used_vocabs]
        for topic in range(model.k):
            C[topic, columns] = model.get_topic_word_dist(topic)
        return C


def anchorfree(K: int) -> Any:
    """Return ours, as it comes."""
    from anchorless import AnchorFree

    return AnchorFree(K)


def nmf(K: int) -> Any:
    """Return scikit-learn's NMF."""
    from sklearn.decomposition import NMF

    return NMF(K, init="nndsvd", max_iter=NMF_ITERATIONS)


def lda(K: int) -> Any:
    """Return scikit-learn's LDA."""
    from sklearn.decomposition import LatentDirichletAllocation

    return LatentDirichletAllocation(K, learning_method="batch", max_iter=LDA_ITERATIONS, random_state=0)


MODELS: dict[str, Model] = {
    "anchorfree": Estimator("anchorless", "weighted", False, "AnchorFree, as it comes", anchorfree),
    "nmf": Estimator(
        "sklearn", "weighted", False, f"scikit-learn NMF, nndsvd, at most {NMF_ITERATIONS} iterations", nmf
    ),
    "lda": Estimator(
        "sklearn", "counts", True, f"scikit-learn LatentDirichletAllocation, batch, {LDA_ITERATIONS} iterations", lda
    ),
    "gensim-lda": GensimLda(),
    "gensim-nmf": GensimNmf(),
    "tomotopy-lda": Tomotopy(
        "LDAModel", TOMOTOPY_LDA_ITERATIONS, f"tomotopy LDAModel, {TOMOTOPY_LDA_ITERATIONS} iterations, all cores"
    ),
    "tomotopy-ctm": Tomotopy(
        "CTModel", TOMOTOPY_CTM_ITERATIONS, f"tomotopy CTModel, {TOMOTOPY_CTM_ITERATIONS} iterations, all cores"
    ),
}


#: Packages of methods that only some parts have.
FURTHER_PACKAGES = {"topica-lda": "topica"}


def get_package(method: str) -> str | None:
    """Return the package that a method needs, if any but ours and NumPy's."""
    return MODELS[method].package if method in MODELS else FURTHER_PACKAGES.get(method)


def is_installed(method: str) -> bool:
    """Return whether the package of a model is installed; other methods need none."""
    package = get_package(method)
    return package is None or importlib.util.find_spec(package) is not None


def as_pairs(X: Any) -> Pairs:
    """Return documents as gensim has them."""
    X = X.tocsr()
    columns, data = X.indices.tolist(), X.data.tolist()
    bounds = zip(X.indptr[:-1].tolist(), X.indptr[1:].tolist(), strict=True)
    rows = [list(zip(columns[start:end], data[start:end], strict=True)) for start, end in bounds]
    return Pairs(rows, {column: str(column) for column in range(X.shape[1])})
