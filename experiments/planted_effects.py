"""Planted corpora whose topic shares depend on covariates: a category, a slope and a curve.

The logarithms of the proportions are normal, with two pairs of correlated topics. `party` (three levels) raises topic 0
and lowers topic 1, `year` raises topic 2, and topic 4 follows one period of a sine over `t`. The truth is what least
squares of the proportions of a large sample on the same columns would give; that of the curve are mean proportions at
given `t`. With authors, half of the variance of the logarithms is theirs, and `party` is that of the author.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.special import softmax

from anchorless import datasets
from experiments.planted import MIN_DOCUMENTS, SIZE_SPREAD, Array, Corpus, Design, draw_topics

#: Effects on the logarithms.
PARTY_B, PARTY_C, YEAR, CURVE = 0.8, -0.6, 0.6, 0.8
PAIR_CORRELATION = 0.6
#: Documents of the large samples, and values of `t` at which the curve is compared.
N_TRUTH, N_TRUTH_CURVE, GRID = 300_000, 100_000, (0.1, 0.3, 0.5, 0.7, 0.9)
FORMULA = "~ party + year + s(t)"
PARTIES = np.array(["A", "B", "C"])


class EffectDesign(NamedTuple):
    """What corpora are drawn."""

    topics: Design
    n_authors: int = 0
    planted: bool = True  # False: nothing depends on anything


class PlantedEffects(NamedTuple):
    """A corpus, its covariates, and for each kind of term the true effects on each topic (K, n)."""

    corpus: Corpus
    covariates: pd.DataFrame
    truth: dict[str, Array]


class EffectPopulation:
    """A population of documents."""

    def __init__(self, design: EffectDesign, rng: np.random.Generator) -> None:
        self.design, K = design, design.topics.n_topics
        self.topic_word = draw_topics(design.topics, rng)
        self.mean = SIZE_SPREAD * rng.standard_normal(K)
        correlation = np.eye(K)
        correlation[0, 1] = correlation[1, 0] = PAIR_CORRELATION
        correlation[2, 3] = correlation[3, 2] = -PAIR_CORRELATION
        self.root = design.topics.spread * np.linalg.cholesky(correlation)

    def draw(self, n: int, n_authors: int, rng: np.random.Generator, t: float | None = None) -> tuple[Any, Array]:
        """Draw covariates and proportions (n, K); without authors, each document has its own."""
        author = rng.integers(n_authors, size=n) if n_authors else np.arange(n)
        party = rng.integers(3, size=author.max() + 1)[author]
        year, time = rng.uniform(-1, 1, n), rng.uniform(0, 1, n) if t is None else np.full(n, t)
        logits = rng.standard_normal((n, len(self.mean))) @ self.root.T
        if self.design.n_authors:
            logits = (logits + (rng.standard_normal((author.max() + 1, len(self.mean))) @ self.root.T)[author]) / 2**0.5
        logits += self.mean
        if self.design.planted:
            logits[:, 0] += PARTY_B * (party == 1)
            logits[:, 1] += PARTY_C * (party == 2)
            logits[:, 2] += YEAR * year
            logits[:, 4] += CURVE * np.sin(2 * np.pi * time)
        table = pd.DataFrame({"party": PARTIES[party], "year": year, "t": time, "author": [f"a{i}" for i in author]})
        return table, np.asarray(softmax(logits, axis=1))

    def compute_truth(self, rng: np.random.Generator) -> dict[str, Array]:
        """Return the effects on each topic, from large samples."""
        table, W = self.draw(N_TRUTH, 0, rng)
        columns = [np.ones(len(W)), table["party"] == "B", table["party"] == "C", table["year"]]
        effects = np.linalg.lstsq(np.column_stack(columns).astype(float), W, rcond=None)[0].T
        curve = np.column_stack([self.draw(N_TRUTH_CURVE, 0, rng, t)[1].mean(axis=0) for t in GRID])
        return {"category": effects[:, 1:3], "slope": effects[:, 3:], "curve": curve}


def draw_effects(design: EffectDesign, seed: Any) -> PlantedEffects:
    """Draw a population and a corpus from it."""
    rng = np.random.default_rng(seed)
    population = EffectPopulation(design, rng)
    table, W = population.draw(design.topics.n_documents, design.n_authors, rng)
    lengths = np.maximum(rng.poisson(design.topics.length, len(W)), 2)
    counts = sp.csr_matrix(datasets.draw_counts(population.topic_word, W, lengths, rng))
    used = np.flatnonzero(np.asarray((counts > 0).sum(axis=0)).ravel() >= MIN_DOCUMENTS)
    C = population.topic_word[:, used]
    corpus = Corpus(counts[:, used], [f"w{v}" for v in used], C / C.sum(axis=1, keepdims=True), W)
    return PlantedEffects(corpus, table, population.compute_truth(rng))
