"""Corpora whose topics depend on covariates, for tests."""

import numpy as np
import pandas as pd

from anchorless import TopicModel
from anchorless.datasets import draw_counts, planted_topics
from anchorless.metrics import match_topics

N_TOPICS, N_WORDS = 5, 200
#: What party B adds to topic 0 and takes from topic 4.
DIFFERENCE = 0.1


def draw_planted(seed, n_documents=900, length=30, n_authors=0, difference=DIFFERENCE):
    """Return counts, topics and covariates. Topic 0 has more in party B, topic 1 follows the year, topic 2 a curve."""
    rng = np.random.default_rng(seed)
    C = planted_topics(N_TOPICS, N_WORDS, random_state=seed).components
    author = rng.integers(n_authors, size=n_documents) if n_authors else np.arange(n_documents)
    party = rng.integers(2, size=author.max() + 1)[author]
    year, t = rng.uniform(0, 1, n_documents), rng.uniform(0, 1, n_documents)
    mean = np.full((n_documents, N_TOPICS), 0.2)
    mean[:, [0, 4]] += np.outer(difference * (party - 0.5), [1, -1])
    mean[:, [1, 3]] += np.outer(difference * (year - 0.5), [1, -1])
    mean[:, [2, 4]] += np.outer(difference / 2 * np.sin(2 * np.pi * t), [1, -1])
    parameters = 4.0 * mean
    if n_authors:
        parameters *= rng.gamma(2.0, 0.5, (n_authors, N_TOPICS))[author]
    W = np.array([rng.dirichlet(p) for p in parameters])
    counts = draw_counts(C, W, np.maximum(rng.poisson(length, n_documents), 1), rng)
    day = np.datetime64("2008-01-01") + (365 * t).astype(int)
    table = pd.DataFrame({"party": np.array(["A", "B"])[party], "year": year, "t": t, "day": day, "author": author})
    return counts, C, table, mean


def fit_planted(seed, **settings):
    """Return a model, the place of each planted topic, the covariates and the mean shares."""
    counts, C, table, mean = draw_planted(seed, **settings)
    words = [f"w{v:03d}" for v in range(N_WORDS)]
    model = TopicModel(N_TOPICS, n_jobs=1).fit_counts(counts, words, metadata=table)
    return model, np.argsort(match_topics(model.topic_word_, C)[1]), table, mean
