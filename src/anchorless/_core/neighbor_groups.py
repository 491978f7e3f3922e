"""Groups of documents around centers of their embeddings, one for each topic, from which guided sweeps may start.

Documents of three or four words tell little about topics, and sweeps from topics of words alone then end in worse
groups than the embeddings themselves have. The center of a topic is the mean embedding of the documents that words and
neighbors put into it. Then, a few times, each document joins the nearest center, and centers move to the mean of their
documents (k-means by cosine). A group begins with the documents of its topic, and at the end each topic gets the group
with which it has most in common, so that mixtures in these groups are about what the words of the topics say.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from anchorless._core.neighbor_prior import normalize_rows
from anchorless._core.token_sweeps import Sweeps, TopicCounts
from anchorless._corpus.documents import Array
from anchorless._corpus.sparse import split_range
from anchorless._corpus.threads import map_in_threads

Groups = npt.NDArray[np.intp]

#: Times that centers move: after three times, groups were worse where these matter, after thirty as good.
CENTER_ROUNDS = 10
#: References from which the centers are found, at most, and the first of their axes that are used: those in which
#: they differ most. With all of them groups are no better, and it takes three times as long.
MAX_SAMPLED, N_GROUP_AXES = 2**12, 64
#: References whose nearest center is found at the same time.
ROWS_AT_A_TIME = 2**12


def group_references(vectors: Any, weights: Array, n_threads: int) -> Groups:
    """Return the group of each reference (M,) from rounded vectors (M, r) and the weights of topics in them (M, F)."""
    vectors = vectors[:, :N_GROUP_AXES]
    sample = np.unique(np.linspace(0, len(vectors), MAX_SAMPLED, endpoint=False).astype(np.intp))[: len(vectors)]
    centers = find_group_centers(vectors[sample].astype(np.float64), weights[sample])

    def assign(rows: slice) -> Groups:
        return find_nearest(vectors[rows].astype(np.float64), centers)

    parts = map_in_threads(assign, split_range(len(vectors), ROWS_AT_A_TIME), n_threads)
    return match_topics(np.concatenate([np.zeros(0, dtype=np.intp), *parts]), weights)


def match_topics(groups: Groups, weights: Array) -> Groups:
    """Return groups (M,) with the numbers of topics, such that the sum of their weights (M, F) there is the largest."""
    shared = np.eye(weights.shape[1])[groups].T @ weights
    return np.asarray(linear_sum_assignment(shared, maximize=True)[1][groups])


def find_group_centers(vectors: Array, weights: Array) -> Array:
    """Return centers (F, r) of groups of vectors (n, r), from those with weights (n, F).

    In double precision: in single precision, other processors would often give a document to another center.
    """
    centers = np.zeros((weights.shape[1], vectors.shape[1]))
    for _ in range(CENTER_ROUNDS + 1):
        sums = weights.T @ vectors
        length = np.sqrt((sums**2).sum(axis=1, keepdims=True))
        np.divide(sums, length, out=centers, where=length > 0)  # a group without a document stays where it was
        weights = np.eye(len(centers))[find_nearest(vectors, centers)]
    return centers


def find_nearest(vectors: Array, centers: Array) -> Groups:
    """Return the nearest center (F, r) of each vector (n, r), the first one of several."""
    return np.asarray((vectors @ centers.T).argmax(axis=1))


def start_from_groups(sweeps: Sweeps, state: TopicCounts, members: Any, groups: Groups, rows: Array) -> TopicCounts:
    """Return counts in which all tokens of a document are in the topic of its group; `rows` (N, 2F + 1) are theirs.

    Row r of `members` (M, N) has the documents of reference r. Documents without an embedding keep their mixtures.
    """
    n_topics = state.words.shape[1]
    rows[:, : n_topics + 1] = state.documents
    reference = np.repeat(np.arange(members.shape[0]), np.diff(members.indptr))
    length = rows[members.indices, :n_topics].sum(axis=1)
    rows[members.indices, :n_topics] = 0.0
    rows[members.indices, groups[reference]] = length
    words = sweeps.tokens.update_rows(partial(count_words, n_topics=n_topics), rows, sweeps.n_threads)
    return TopicCounts(words + sweeps.kept, rows)


def count_words(X: Any, rows: Array, n_topics: int) -> tuple[Array, Array]:
    """Return the counts of the documents of a block as they are, and those of the words if each has its mixture."""
    weights = normalize_rows(rows[:, :n_topics]) * rows[:, n_topics, None]
    return rows, np.asarray(X.T @ weights)
