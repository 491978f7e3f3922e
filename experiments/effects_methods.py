"""Methods of the experiment on effects: each fits topics and says how their shares depend on covariates."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import chi2, norm

from anchorless import TopicModel
from experiments.planted import Array
from experiments.planted_effects import FORMULA, GRID, PlantedEffects
from experiments.recovery_methods import fit_tomotopy, list_documents

LEVEL = 0.9
#: Draws of the mixtures for topica's `estimate_effect`.
TOPICA_DRAWS = 25


class Found(NamedTuple):
    """Effects of one kind on each fitted topic (F, n), with intervals; p (F, m), one for a whole curve."""

    estimate: Array
    low: Array
    high: Array
    p: Array


class EffectFit(NamedTuple):
    """What a method found, in the order of its topics."""

    topic_word: Array  # (F, V)
    effects: dict[str, Found]  # by kind
    seconds: float


class EffectMethod(NamedTuple):
    """A method: the package it needs, its settings in words, and the function that fits."""

    package: str
    settings: str
    fit: Callable[[PlantedEffects, int, int], EffectFit]


def fit_anchorless(planted: PlantedEffects, n_topics: int, seed: int) -> EffectFit:
    """Fit a TopicModel and its effects."""
    start, (corpus, table, _) = time.perf_counter(), planted
    has_authors = table["author"].nunique() < len(table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # doubts about the number of topics
        model = TopicModel(n_topics).fit_counts(corpus.counts, corpus.words, metadata=table)
    found = model.effects(FORMULA, groups="author" if has_authors else None, level=LEVEL)
    frame, tests = found.frame(), found.tests()
    curve = found.predict({"t": list(GRID)})
    effects = {
        "category": take_frame(frame[frame["term"].isin(["party[T.B]", "party[T.C]"])], n_topics),
        "slope": take_frame(frame[frame["term"] == "year"], n_topics),
        "curve": take_frame(curve.rename(columns={"share": "estimate"}), n_topics),
    }
    p = tests[tests["term"] == "s(t)"]["p"].to_numpy()[:, None]
    effects["curve"] = effects["curve"]._replace(p=p)
    return EffectFit(np.asarray(model.topic_word_), effects, time.perf_counter() - start)


def take_frame(frame: pd.DataFrame, n_topics: int) -> Found:
    """Return rows of a table, topic by topic, as arrays."""
    values = [frame[name].to_numpy().reshape(n_topics, -1) for name in ("estimate", "low", "high")]
    return Found(*values, frame["p"].to_numpy().reshape(n_topics, -1) if "p" in frame else np.ones((n_topics, 1)))


class LinearDesign(NamedTuple):
    """Columns of a regression (N, P), and the mean rows at the values of the curve (n, P)."""

    X: Array
    curve: Array


def build_design(table: pd.DataFrame) -> LinearDesign:
    """Return the columns of the same formula: intercept, two parties, year, five columns of a curve."""
    from formulaic import Formula

    matrix = Formula("~ party + year + cs(t, df=5, constraints='center')").get_model_matrix(table)
    rows = [matrix.model_spec.get_model_matrix(table.assign(t=t)).to_numpy(dtype=float).mean(axis=0) for t in GRID]
    return LinearDesign(matrix.to_numpy(dtype=float), np.array(rows))


def describe_coefficients(coefficients: Array, covariance: Array, design: LinearDesign) -> dict[str, Found]:
    """Return the effects of each kind from coefficients (F, P) and covariances (F, P, P), with normal intervals."""
    one = np.eye(design.X.shape[1])
    found = {}
    for kind, contrasts in (("category", one[1:3]), ("slope", one[3:4]), ("curve", design.curve)):
        estimate = coefficients @ contrasts.T
        error = np.sqrt(np.maximum(np.einsum("cp,fpq,cq->fc", contrasts, covariance, contrasts), 1e-300))
        reach = norm.ppf((1 + LEVEL) / 2) * error
        found[kind] = Found(estimate, estimate - reach, estimate + reach, 2 * norm.sf(abs(estimate) / error))
    b, V = coefficients[:, 4:], covariance[:, 4:, 4:]
    statistic = np.array([x @ np.linalg.pinv(v) @ x for x, v in zip(b, V, strict=True)])
    found["curve"] = found["curve"]._replace(p=chi2.sf(statistic, b.shape[1])[:, None])
    return found


def fit_lda_least_squares(planted: PlantedEffects, n_topics: int, seed: int) -> EffectFit:
    """Fit tomotopy's LDA, then ordinary least squares of its mixtures: what most users do."""
    start = time.perf_counter()
    fit, design = fit_tomotopy(planted.corpus, n_topics, seed), build_design(planted.covariates)
    known = planted.corpus.lengths > 0
    X, W = design.X[known], fit.mixtures[known]
    inverse = np.linalg.inv(X.T @ X)
    coefficients = (inverse @ X.T @ W).T
    variance = ((W - X @ coefficients.T) ** 2).sum(axis=0) / (len(X) - X.shape[1])
    effects = describe_coefficients(coefficients, variance[:, None, None] * inverse, design)
    return EffectFit(fit.topic_word, effects, time.perf_counter() - start)


def fit_topica_stm(planted: PlantedEffects, n_topics: int, seed: int) -> EffectFit:
    """Fit topica's STM with the covariates, then `estimate_effect` with draws of the mixtures, by author if any."""
    import topica

    start, (corpus, table, _) = time.perf_counter(), planted
    design, known = build_design(table), np.flatnonzero(corpus.lengths > 0)
    documents = topica.Corpus.from_documents(list_documents(corpus), vocabulary=corpus.words)
    kept = known[np.asarray(documents.kept_indices)]
    author = table["author"].to_numpy()[kept]
    model = topica.STM(n_topics, seed=seed + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(documents, prevalence=design.X[kept, 1:])
        found = topica.estimate_effect(
            model,
            design.X[kept, 1:],
            nsims=TOPICA_DRAWS,
            corpus=documents,
            cluster=author if len(set(author)) < len(author) else None,
        )
    C, place = np.zeros((n_topics, len(corpus.words))), {word: v for v, word in enumerate(corpus.words)}
    C[:, [place[word] for word in model.vocabulary]] = model.topic_word
    coefficients, covariance = np.array([one.coef for one in found]), np.array([one.vcov for one in found])
    return EffectFit(C, describe_coefficients(coefficients, covariance, design), time.perf_counter() - start)


METHODS = {
    "anchorless": EffectMethod("anchorless", "TopicModel.effects as it comes, `groups` with authors", fit_anchorless),
    "topica-stm": EffectMethod(
        "topica",
        f"topica STM with the covariates as prevalence, `estimate_effect` with {TOPICA_DRAWS} draws, `cluster` with"
        " authors",
        fit_topica_stm,
    ),
    "lda-ols": EffectMethod("tomotopy", "tomotopy LDA, ordinary least squares of its mixtures", fit_lda_least_squares),
}
