"""Mean shares of topics in groups of documents: by the values of a column, or by period."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.stats import t as student

from anchorless._core.proportions import compute_projection, find_nearest_mixtures
from anchorless._corpus.documents import Array
from anchorless._corpus.sparse import split_range
from anchorless._effects.coefficients import Sample, estimate_by_draw
from anchorless._effects.columns import name_column
from anchorless._effects.regression import Clusters, combine_freedom, pool_variances
from anchorless._effects.topic_draws import project_documents
from anchorless.errors import InputError

if TYPE_CHECKING:
    from pandas import DataFrame

#: More levels are no groups of documents.
MAX_LEVELS = 1000
#: Documents whose shares are in memory at the same time.
DOCUMENTS_AT_A_TIME = 2**14


class Levels(NamedTuple):
    """Groups of documents: their names, and for each document the number of its level, −1 for none."""

    column: str
    names: Sequence[Any]
    codes: Any  # (N,)
    clusters: Any = None  # (N,), the number of each document's cluster; None for clusters of one document


def tabulate_levels(sample: Sample, levels: Levels, labels: Sequence[str], level: float) -> DataFrame:
    """Return one row per level and topic: mean share with its interval, and the number of documents.

    The shares of a level are the nearest mixture to the means, so that they sum to one, and those of merged topics to
    that of the whole.
    """
    import pandas as pd

    numbers = np.bincount(levels.codes[levels.codes >= 0], minlength=len(levels.names))
    check_levels(levels, numbers)
    weights = np.zeros((len(levels.codes), len(levels.names)))
    used = np.flatnonzero(levels.codes >= 0)
    weights[used, levels.codes[used]] = 1.0 / numbers[levels.codes[used]]
    F = sample.shown.shape[1]
    means = estimate_by_draw(sample, weights)
    mean, of_topics = means.summarize(sample.shown)  # (F, L), (F, L, L)
    of_documents, freedom = estimate_within(sample, levels)
    variances = np.array([of_documents, np.einsum("fll->lf", of_topics)])
    by_source = np.empty_like(variances)
    by_source[0], by_source[1] = freedom[:, None], len(sample.draws.drawn) - 1.0
    reach = student.ppf((1 + level) / 2, combine_freedom(variances, by_source)) * np.sqrt(variances.sum(axis=0))
    share, L = find_nearest_mixtures(means.drawn.mean(axis=0), sample.draws.mean) @ sample.shown, len(levels.names)
    return pd.DataFrame(
        {
            name_column(levels.column): [name for name in levels.names for _ in range(F)],
            "topic": list(range(F)) * L,
            "label": list(labels) * L,
            "share": np.clip(share, 0.0, 1.0).ravel(),
            "low": np.clip(np.minimum(mean.T - reach, share), 0.0, 1.0).ravel(),
            "high": np.clip(np.maximum(mean.T + reach, share), 0.0, 1.0).ravel(),
            "n_documents": np.repeat(numbers, F),
        }
    )


def check_levels(levels: Levels, numbers: Any) -> None:
    """Refuse no levels, and as many as there are documents."""
    n = len(levels.names)
    if n == 0 or not numbers.all():
        problem = f"no document with words has a value in the column {levels.column!r}"
        raise InputError(problem, remedy="name another column, or fill in missing values")
    if n > MAX_LEVELS:
        problem = f"the column {levels.column!r} has {n:,} different values, but at most {MAX_LEVELS:,} are compared"
        raise InputError(problem, limit=MAX_LEVELS, remedy="group them, or use effects() with a slope or a curve")


def estimate_within(sample: Sample, levels: Levels) -> tuple[Array, Array]:
    """Return the variances (L, F) of the mean shares of each level over documents, and degrees of freedom (L,).

    A part of each is the variance of all documents.
    """
    solve = compute_projection(sample.draws.mean) @ sample.shown
    shares = project_documents(sample.counts, solve, sample.n_threads)
    variances, freedom = np.zeros((len(levels.names), shares.shape[1])), np.zeros(len(levels.names))
    common, every = np.empty_like(variances), compute_variances(shares, levels.codes >= 0)
    order = np.argsort(levels.codes, kind="stable")
    bounds = np.searchsorted(levels.codes[order], np.arange(len(levels.names) + 1))
    for i, (start, stop) in enumerate(pairwise(bounds)):
        rows = order[start:stop]
        ones = np.ones((len(rows), 1))
        clusters = Clusters(ones, None if levels.clusters is None else levels.clusters[rows])
        common[i] = every / clusters.n_clusters
        if clusters.n_clusters > 1:
            variances[i] = clusters.compute_covariance(shares, rows)[:, 0, 0]
            freedom[i] = clusters.compute_freedom(ones[:1])[0]
    pooled, freedom = pool_variances(variances, freedom[:, None], common)
    return pooled, freedom.ravel()


def compute_variances(shares: Array, known: Any) -> Array:
    """Return the variances (T,) of the shares (N, T) of known documents, some at a time: they may be on disk."""
    parts, n = [*split_range(len(shares), DOCUMENTS_AT_A_TIME)], known.sum()
    mean = sum(shares[rows][known[rows]].sum(axis=0) for rows in parts) / n
    return np.asarray(sum(((shares[rows][known[rows]] - mean) ** 2).sum(axis=0) for rows in parts) / n)
