"""Methods of the experiment on recovery: each fits counts and returns topics, mixtures and correlations."""

from __future__ import annotations

import importlib.util
import os
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from anchorless import TopicModel
from experiments.planted import Array, Corpus

TOMOTOPY_LDA_ITERATIONS, TOMOTOPY_CTM_ITERATIONS = 1000, 200
NMF_ITERATIONS, LDA_ITERATIONS = 300, 50
#: Resamples of `stability`, and the level of the p-values.
N_RESAMPLES, SIGNIFICANCE = 50, 0.05


class Fit(NamedTuple):
    """What a method found. All arrays are in the order of its topics."""

    topic_word: Array  # (K, V)
    mixtures: Array  # (N, K)
    shares: Array  # (K,), of the tokens
    correlation: Array  # (K, K), of the proportions
    pairs: Any  # (n, 2), all pairs, the most positively correlated first
    seconds: float
    model: Any = None  # for `stability`


class Method(NamedTuple):
    """A method: the package it needs, its settings in words, and the function that fits."""

    package: str
    settings: str
    fit: Callable[[Corpus, int, int], Fit]  # corpus, number of topics, seed

    @property
    def is_installed(self) -> bool:
        """Whether the package can be imported."""
        return importlib.util.find_spec(self.package) is not None


def fit_anchorless(corpus: Corpus, n_topics: int, seed: int, likelihood: bool = True) -> Fit:
    """Fit a TopicModel. It is deterministic: the seed is not used."""
    start = time.perf_counter()
    model = TopicModel(n_topics, likelihood=likelihood)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # doubts about the number of topics
        model.fit_counts(corpus.counts, corpus.words)
    seconds = time.perf_counter() - start
    pairs = model.correlation_edges()[["topic_a", "topic_b"]].to_numpy()
    found = model.topic_word_, model.document_topics_, model.topic_shares_, model.topic_correlation_
    return Fit(*(np.asarray(values) for values in found), pairs, seconds, model)


def fit_moments(corpus: Corpus, n_topics: int, seed: int) -> Fit:
    """Fit a TopicModel without the token model."""
    return fit_anchorless(corpus, n_topics, seed, likelihood=False)


def fit_nmf(corpus: Corpus, n_topics: int, seed: int) -> Fit:
    """Fit scikit-learn's NMF with the Kullback-Leibler loss."""
    from sklearn.decomposition import NMF

    start = time.perf_counter()
    model = NMF(
        n_topics,
        init="nndsvda",
        solver="mu",
        beta_loss="kullback-leibler",
        max_iter=NMF_ITERATIONS,
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not converged
        W = model.fit_transform(corpus.counts)
    seconds = time.perf_counter() - start
    H = model.components_
    return complete_fit(corpus, H, W * H.sum(axis=1), seconds)


def fit_lda(corpus: Corpus, n_topics: int, seed: int) -> Fit:
    """Fit scikit-learn's LDA in batches of all documents."""
    from sklearn.decomposition import LatentDirichletAllocation

    start = time.perf_counter()
    model = LatentDirichletAllocation(
        n_topics, learning_method="batch", max_iter=LDA_ITERATIONS, random_state=seed, n_jobs=1
    )
    W = model.fit_transform(corpus.counts)
    return complete_fit(corpus, model.components_, W, time.perf_counter() - start)


def fit_tomotopy(corpus: Corpus, n_topics: int, seed: int, name: str = "LDAModel") -> Fit:
    """Fit a model of tomotopy on all cores."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SWIG types without a module; as an error it would hide the extension
        import tomotopy

    iterations = TOMOTOPY_LDA_ITERATIONS if name == "LDAModel" else TOMOTOPY_CTM_ITERATIONS
    start = time.perf_counter()
    model = getattr(tomotopy, name)(k=n_topics, seed=seed + 1)
    for document in list_documents(corpus):
        model.add_doc(document)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.train(iterations, workers=os.cpu_count() or 1, show_progress=False)
    seconds = time.perf_counter() - start
    C, place = np.zeros((n_topics, len(corpus.words))), {word: v for v, word in enumerate(corpus.words)}
    C[:, [place[word] for word in model.used_vocabs]] = [model.get_topic_word_dist(k) for k in range(n_topics)]
    W = np.zeros((len(corpus.mixtures), n_topics))
    W[corpus.lengths > 0] = [document.get_topic_dist() for document in model.docs]
    ranking = np.array([model.get_correlations(k) for k in range(n_topics)]) if name == "CTModel" else None
    return complete_fit(corpus, C, W, seconds, ranking)


def fit_tomotopy_ctm(corpus: Corpus, n_topics: int, seed: int) -> Fit:
    """Fit tomotopy's CTModel; pairs are listed by the correlations of its prior."""
    return fit_tomotopy(corpus, n_topics, seed, "CTModel")


def fit_topica(corpus: Corpus, n_topics: int, seed: int) -> Fit:
    """Fit topica's CTM; pairs are listed by the correlations of its prior."""
    import topica

    start = time.perf_counter()
    documents = topica.Corpus.from_documents(list_documents(corpus), vocabulary=corpus.words)
    model = topica.CTM(n_topics, seed=seed)
    model.fit(documents, keep_eta_cov=False)
    seconds = time.perf_counter() - start
    place = {word: v for v, word in enumerate(corpus.words)}
    C, W = np.zeros((n_topics, len(corpus.words))), np.zeros((len(corpus.mixtures), n_topics))
    C[:, [place[word] for word in model.vocabulary]] = model.topic_word
    W[np.flatnonzero(corpus.lengths > 0)[np.asarray(documents.kept_indices)]] = model.doc_topic
    return complete_fit(corpus, C, W, seconds, np.asarray(model.topic_correlation))


def list_documents(corpus: Corpus) -> list[list[str]]:
    """Return the documents as lists of words, without the empty ones."""
    X, words = corpus.counts.tocsr(), np.array(corpus.words, dtype=object)
    repeats = np.repeat(words[X.indices], X.data.astype(int))
    return [part.tolist() for part in np.split(repeats, np.cumsum(corpus.lengths.astype(int))[:-1]) if len(part)]


def complete_fit(corpus: Corpus, C: Array, W: Array, seconds: float, ranking: Array | None = None) -> Fit:
    """Normalize topics (K, V) and mixtures (N, K); shares, correlations and pairs come from the mixtures.

    With `ranking` (K, K), pairs are listed by it instead of by the correlations of the mixtures.
    """
    W = np.divide(W, W.sum(axis=1, keepdims=True), out=np.zeros_like(W), where=W.sum(axis=1, keepdims=True) > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = np.nan_to_num(np.corrcoef(W.T))
    shares = corpus.lengths @ W / corpus.lengths.sum()
    C = C / np.maximum(C.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return Fit(C, W, shares, correlation, rank_pairs(correlation if ranking is None else ranking), seconds)


def rank_pairs(values: Array) -> Any:
    """Return all pairs (n, 2), the largest value first."""
    a, b = np.triu_indices(len(values), 1)
    order = np.argsort(-values[a, b], kind="stable")
    return np.column_stack([a[order], b[order]])


METHODS = {
    "anchorless": Method("anchorless", "TopicModel as it comes", fit_anchorless),
    "anchorless-moments": Method("anchorless", "TopicModel(likelihood=False)", fit_moments),
    "tomotopy-lda": Method("tomotopy", f"tomotopy LDAModel, {TOMOTOPY_LDA_ITERATIONS} iterations", fit_tomotopy),
    "tomotopy-ctm": Method("tomotopy", f"tomotopy CTModel, {TOMOTOPY_CTM_ITERATIONS} iterations", fit_tomotopy_ctm),
    "nmf-kl": Method(
        "sklearn", f"scikit-learn NMF, Kullback-Leibler loss, nndsvda, at most {NMF_ITERATIONS} iterations", fit_nmf
    ),
    "lda": Method(
        "sklearn", f"scikit-learn LatentDirichletAllocation, batch, at most {LDA_ITERATIONS} iterations", fit_lda
    ),
    "topica-ctm": Method("topica", "topica CTM as it comes", fit_topica),
}
