"""The methods that are compared on real corpora, and what is measured of each fit."""

from __future__ import annotations

import math
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF, LatentDirichletAllocation
from threadpoolctl import threadpool_limits

from anchorless import SNPA, SPA, XRAY, AnchorFree, FastAnchor, metrics
from experiments.class_means import ClassMeans
from experiments.corpora_data import Draw, draw
from experiments.results import Cell

N_WORDS = 20
#: How draws are prepared, and the least size of their classes.
DESIGN = "corpus tf-idf, classes>="
#: LDA is slow: only the first draws have it.
LDA_DRAWS = 10

#: Name -> the estimator for F topics. One thread each: a fair clock, and draws can run side by side.
METHODS: dict[str, Callable[[int], Any]] = {
    "fastanchor": lambda F: FastAnchor(F, n_jobs=1),
    "spa": lambda F: SPA(F, n_jobs=1),
    "snpa": lambda F: SNPA(F, n_jobs=1),
    "xray": lambda F: XRAY(F, n_jobs=1),
    "anchorfree-hard": lambda F: AnchorFree(F, constraint="all", n_jobs=1),
    "anchorfree": lambda F: AnchorFree(F, n_jobs=1),
    "nmf": lambda F: NMF(F, init="nndsvd", max_iter=200),
    "lda": lambda F: LatentDirichletAllocation(F, learning_method="online", max_iter=5, random_state=0),
    "fastanchor-df100": lambda F: FastAnchor(F, min_df=100, n_jobs=1),
    "spa-df100": lambda F: SPA(F, min_df=100, n_jobs=1),
    "snpa-df100": lambda F: SNPA(F, min_df=100, n_jobs=1),
    "xray-df100": lambda F: XRAY(F, min_df=100, n_jobs=1),
    "classes": lambda F: ClassMeans(),
}
#: The others, anchors only among words in 100 documents, and the reference of the classes, are run when named.
MAIN_METHODS = tuple(name for name in METHODS if not name.endswith("-df100") and name != "classes")

MEASURES = (
    "clustacc",
    "clustacc_argmax",
    "clustacc_l1",
    "coherence",
    "npmi",
    "simcount",
    "seconds",
    "seconds_total",
    "warnings",
)


class Fitted(NamedTuple):
    """Topics and weights of one fit."""

    C: Any  # (F, V), each row a probability mass function
    W: Any  # (N, F), weights of these topics
    seconds: float  # of the fit alone
    warnings: int


def measure_cell(name: str, cell: Cell) -> dict[str, float]:
    """Run one method on one draw and measure it; a refused fit is noted on stderr and has no numbers."""
    start = time.perf_counter()
    with threadpool_limits(1):
        drawn = draw(name, smallest_class(cell.design), cell.F, cell.seed)
        try:
            fitted = fit(cell.method, cell.F, drawn)
        except (ValueError, RuntimeError) as error:
            print(f"\n{name}, {cell}: refused, {error}", file=sys.stderr)
            return dict.fromkeys(MEASURES, math.nan)
        found = {**quality(fitted, drawn), "seconds": fitted.seconds, "warnings": fitted.warnings}
    found["seconds_total"] = time.perf_counter() - start
    return {measure: float(f"{found[measure]:.6g}") for measure in MEASURES}


def expected(cell: Cell) -> tuple[str, ...]:
    """Return the names of the measures of a fit."""
    return MEASURES


def design_of(min_class_size: int) -> str:
    """Return the name of a way to draw: results of other class sizes or another tf-idf are other results."""
    return f"{DESIGN}{min_class_size}"


def smallest_class(design: str) -> int:
    """Return the class size of a design."""
    return int(design.removeprefix(DESIGN))


def fit(method: str, F: int, drawn: Draw) -> Fitted:
    """Fit a draw and return topics that sum to one with the weights of its documents."""
    model, seconds, n_warnings = fit_model(method, F, drawn)
    W = model.transform(input_of(method, drawn))
    C, totals = probabilities(model.components_)
    # LDA's weights are shares of topics that sum to one already; the others' go with the components as they are.
    return Fitted(C, W if method == "lda" else W * totals, seconds, n_warnings)


def fit_model(method: str, F: int, drawn: Draw) -> tuple[Any, float, int]:
    """Return the fitted estimator, its seconds and its number of warnings."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        start = time.perf_counter()
        # Only the reference uses the labels: the methods ignore a second argument.
        model = METHODS[method](F).fit(input_of(method, drawn), drawn.labels)
        return model, time.perf_counter() - start, len(given)


def input_of(method: str, drawn: Draw) -> Any:
    """Return the weighted draw; for LDA, a model of counts, its counts."""
    return drawn.counts if method == "lda" else drawn.weighted


def probabilities(components: Any) -> tuple[Any, Any]:
    """Return rows divided by their sums, and the sums; an empty topic, which NMF may leave, becomes uniform."""
    totals = components.sum(axis=1)
    uniform = np.full(components.shape, 1.0 / components.shape[1])
    return np.divide(components, totals[:, None], out=uniform, where=totals[:, None] > 0), totals


def quality(fitted: Fitted, drawn: Draw) -> dict[str, float]:
    """Return the paper's three measures, NPMI, and two other ways from weights to clusters."""
    C, F = fitted.C, len(fitted.C)
    n_words = min(N_WORDS, C.shape[1])
    W = fitted.W * np.linalg.norm(C, axis=1)  # a weight is now the length of its part of the document
    totals = fitted.W.sum(axis=1, keepdims=True)
    shares = np.divide(fitted.W, totals, out=np.zeros_like(fitted.W), where=totals > 0)
    return {
        "clustacc": metrics.clustering_accuracy(drawn.labels, clusters(W, F)),
        "clustacc_argmax": metrics.clustering_accuracy(drawn.labels, W.argmax(axis=1)),
        "clustacc_l1": metrics.clustering_accuracy(drawn.labels, clusters(shares, F)),
        "coherence": float(metrics.coherence(C, drawn.counts, n_words).mean()),
        "npmi": float(metrics.npmi(C, drawn.counts, min(10, n_words)).mean()),
        "simcount": float(metrics.similarity_count(C, n_words)),
    }


def clusters(W: Any, F: int) -> Any:
    """Return the cluster of each document by k-means, from the mean of the documents that a topic leads."""
    leading = W.argmax(axis=1)
    means = [W[leading == f].mean(axis=0) if np.any(leading == f) else W[W[:, f].argmax()] for f in range(F)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer distinct rows than clusters
        return KMeans(F, init=np.array(means), n_init=1).fit_predict(W)
