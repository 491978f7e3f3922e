"""How the words of a topic differ between groups of documents.

The tokens of a topic in a document are expected numbers: of word w, y_dw = x_dw · p(topic | w, d). In a group, the
topic's p(word) is Σ y_dw / Σ m_d over its documents, m_d = Σ_w y_dw. It is a ratio, whose variance comes from the
differences y_dw − p m_d between documents (or clusters of them): a word that one document repeats counts once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.stats import t as student

from anchorless._corpus.documents import Array, Documents
from anchorless._effects.levels import Levels

if TYPE_CHECKING:
    from pandas import DataFrame

#: A word is compared if it is in at least so many documents of the topic (half a token or more), in both groups
#: together: the distribution of rarer ones is far from normal.
MIN_DOCUMENTS, LEAST_TOKENS = 20, 0.5
#: Level of the intervals.
LEVEL = 0.9


class GroupWords(NamedTuple):
    """Probabilities (V,) of the words of a topic in a group of documents, and their variances."""

    probability: Array
    variance: Array
    n_tokens: float  # of the topic
    n_clusters: int


def compute_topic_tokens(counts: Documents, topic_word: Array, mixtures: Array, topic: int, n_threads: int) -> Any:
    """Return the expected tokens of a topic (N, V), sparse, for mixtures (N, F) of the documents."""
    phi = np.ascontiguousarray(topic_word.T)
    parts, start = [], 0
    for X in counts.map_blocks(lambda block: block, n_threads):
        theta = mixtures[start : start + X.shape[0]]
        start += X.shape[0]
        document = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        total = np.zeros(X.nnz)
        for f in range(phi.shape[1]):  # topic by topic: memory does not grow with their number
            total += theta[document, f] * phi[X.indices, f]
        own = theta[document, topic] * phi[X.indices, topic]
        part = np.divide(own, total, out=np.zeros_like(own), where=total > 0)
        parts.append(sp.csr_matrix((X.data * part, X.indices, X.indptr), shape=X.shape))
    return sp.vstack(parts, format="csr")


def describe_group(Y: Any, clusters: Any) -> GroupWords:
    """Return the probabilities of the words (V,) from expected tokens (n, V), and their variances over clusters."""
    if clusters is not None:
        _, codes = np.unique(clusters, return_inverse=True)
        Y = sp.csr_matrix((np.ones(len(codes)), (codes, np.arange(len(codes))))) @ Y
    m = np.asarray(Y.sum(axis=1)).ravel()
    total, n = float(m.sum()), Y.shape[0]
    if total <= 0:
        return GroupWords(np.zeros(Y.shape[1]), np.full(Y.shape[1], np.inf), 0.0, n)
    p = np.asarray(Y.sum(axis=0)).ravel() / total
    squares = np.asarray(Y.multiply(Y).sum(axis=0)).ravel()
    rest = squares - 2 * p * (Y.T @ m) + p**2 * float(m @ m)  # Σ (y − p m)²
    return GroupWords(p, np.maximum(rest, 0.0) / total**2 * n / max(1, n - 1), total, n)


def compare_words(Y: Any, levels: Levels, first: int, second: int | None, words: Sequence[str]) -> DataFrame:
    """Compare the words of a topic between two levels, or between a level and all others (`second` None)."""
    import pandas as pd

    in_first = levels.codes == first
    in_second = (levels.codes >= 0) & ~in_first if second is None else levels.codes == second
    groups = [
        describe_group(Y[some], None if levels.clusters is None else levels.clusters[some])
        for some in (in_first, in_second)
    ]
    often = np.asarray((Y[in_first | in_second] >= LEAST_TOKENS).sum(axis=0)).ravel() >= MIN_DOCUMENTS
    chosen = np.flatnonzero(often)
    a, b = groups
    difference = (a.probability - b.probability)[chosen]
    error = np.sqrt(a.variance + b.variance)[chosen]
    size = np.divide(abs(difference), error, out=np.zeros_like(error), where=error > 0)
    freedom = max(1, min(a.n_clusters, b.n_clusters) - 1)
    reach, p = student.ppf((1 + LEVEL) / 2, freedom) * error, 2 * student.sf(size, freedom)
    table = pd.DataFrame(
        {
            "word": [words[v] for v in chosen.tolist()],
            "first": a.probability[chosen],
            "second": b.probability[chosen],
            "difference": difference,
            "low": difference - reach,
            "high": difference + reach,
            "p": p,
            "p_adjusted": adjust_false_discoveries(p),
        }
    )
    return table.sort_values(["p", "word"], kind="stable", ignore_index=True)


def adjust_false_discoveries(p: Array) -> Array:
    """Return p-values (n,) adjusted by Benjamini and Hochberg: the share of false ones below a level is at most it."""
    order = np.argsort(-p, kind="stable")
    n = len(p)
    raised = np.minimum.accumulate(p[order] * n / np.arange(n, 0, -1)) if n else p
    found = np.empty(n)
    found[order] = np.minimum(raised, 1.0)
    return found
