"""Topics as neighborhoods share them: sweeps in which neighbors are part of the prior of each document's mixture.

They start from groups of embeddings (`anchorless._core.neighbor_groups`), or, where these predict clearly worse, from
topics that were found by words alone. A word that a topic has by chance in a few documents loses it if
their neighbors are about something else, and a word of documents whose neighbors are about a topic joins it. So
documents are put into clearer groups, and documents that were set aside are often predicted better. They are used for
the mixtures of documents that have embeddings, and for nothing else: what describes the population comes from words.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from anchorless._core.neighbor_groups import group_references, start_from_groups
from anchorless._core.neighbor_prior import (
    N_NEIGHBORS,
    UNUSED,
    HalfPrediction,
    NeighborChoice,
    average_mixtures,
    is_clear,
    normalize_rows,
    sharpen_mixtures,
)
from anchorless._core.token_mixtures import count_document_topics
from anchorless._core.token_model import TrialTopics
from anchorless._core.token_sweeps import Sweeps, TopicCounts
from anchorless._core.token_trials import TRIAL_STEPS, compute_alpha
from anchorless._core.word_prior import WordPrior
from anchorless._corpus.documents import Array, Documents
from anchorless._corpus.sparse import split_range

#: Groups of embeddings are the start if they do not predict worse than words by more than so many standard errors.
LEAST_START_ERRORS = -2.0
#: Tokens that neighbors count as in the sweeps: many more than a short document has.
TOPIC_TOKENS = 128.0
#: Sweeps before the documents on which choices are tried join the others, and after it, and how many times as far as a
#: sweep all but the last go: below 2, what a sweep settles at once stays settled. Twelve sweeps as they are grouped
#: documents as well and took longer; three times as far was worse.
GUIDED_SWEEPS, STEP_FACTOR = 7, 1.75
#: Where neighbors tell little, their sharpened mixtures move more and more documents to the largest topics. Shared
#: topics are not used if more than this part of all tokens changes its topic after the documents set aside have joined,
#: or if a topic has gained more than the second part since the start. In 13 fits of real corpora, the first was
#: at most .13.
MOST_MOVED, MOST_GAINED = 0.2, 0.5
#: Documents or words whose counts are moved at the same time.
ROWS_AT_A_TIME = 2**12


class NeighborGraph(NamedTuple):
    """The neighbors of N documents among M references."""

    positions: Any  # (N, k), nearest first; −1 where there are fewer
    vectors: Any  # (M, r), float16: the embeddings of the references
    members: Any  # (M, N), CSR: row r averages over the documents that have the embedding of reference r
    links: Any  # (N, M), CSR, float32: averages over the references that are near a document, or that it is near to

    def attract(self, mixtures: Array) -> Array:
        """Return what neighbors with these mixtures (N, F) add to the prior of each document in the sweeps (N, F)."""
        near = (self.members @ sharpen_mixtures(mixtures)).astype(np.float32)  # half the time, in each sweep
        return np.multiply(self.links @ near, TOPIC_TOKENS, dtype=np.float64)


class NeighborTopics(NamedTuple):
    """How neighbors are used, and the topics (F, V) that they share, if mixtures are found in these."""

    choice: NeighborChoice = UNUSED
    topic_word: Array | None = None


class WordScores(NamedTuple):
    """How topics of words predict one half of each trial document (n,)."""

    choice: NeighborChoice
    scores: Array  # with the neighbors, where they are used
    without: Array  # from the other half alone


def build_graph(positions: Any, near: Any, vectors: Any, members: Any) -> NeighborGraph:
    """Return the graph of neighbors of documents (N, k) and of references (M, k), with what else it has."""
    n_references = members.shape[0]
    there = near >= 0
    row = np.repeat(np.arange(n_references), there.sum(axis=1))
    directed = sp.csr_matrix((np.ones(len(row)), (row, near[there])), shape=(n_references, n_references))
    mutual = sp.csr_matrix(directed + directed.T)
    mutual.data = np.repeat(1.0 / np.maximum(np.diff(mutual.indptr), 1), np.diff(mutual.indptr))
    own = sp.csr_matrix(members.T, copy=True)
    own.data[:] = 1.0
    return NeighborGraph(positions, vectors, members, sp.csr_matrix(own @ mutual, dtype=np.float32))


def guide_topics(
    sweeps: Sweeps, state: TopicCounts, topics: TrialTopics, graph: NeighborGraph, *, refit: bool
) -> NeighborTopics:
    """Return how neighbors are used, and with `refit` topics that are found with their help, where these predict words.

    The counts of the sweeps stay as they are.
    """
    prediction = HalfPrediction(topics)
    mixtures = graph.members @ sharpen_mixtures(normalize_rows(state.documents[:, :-1] + prediction.alpha))
    means = average_mixtures(mixtures, graph.positions[topics.positions], N_NEIGHBORS)
    choice = prediction.choose_clearly(means, prediction.without)
    if not refit:
        return NeighborTopics(choice)
    scores = prediction.score(means, choice.n_tokens) if choice.n_tokens else prediction.without
    by_words = WordScores(choice, scores, prediction.without)
    first, start = choose_start(sweeps, state, topics, graph, by_words)
    if not first.n_tokens:
        return NeighborTopics()
    n_topics, guided, rows = len(prediction.alpha), make_guided_sweeps(sweeps, graph), start.documents
    before = compute_shares(start.words)
    other = run_long_steps(guided, start, smooth=not topics.is_sharp)
    del start
    better = choose_guided(sweeps, topics, graph, other.words)
    if not better.n_tokens:
        return NeighborTopics(choice)
    rows[:, n_topics] = 1.0
    middle = compute_shares(other.words)
    other = run_long_steps(guided, other, smooth=not topics.is_sharp)
    if have_run_away(before, middle, compute_shares(other.words)):
        return NeighborTopics(choice)
    topic_word = np.ascontiguousarray(WordPrior(other.words, sweeps.p, sweeps.shape).compute_phi().T)
    return NeighborTopics(better._replace(gain=first.gain), topic_word)


def choose_start(
    sweeps: Sweeps, state: TopicCounts, topics: TrialTopics, graph: NeighborGraph, by_words: WordScores
) -> tuple[NeighborChoice, TopicCounts]:
    """Return how neighbors are used, and a start of the sweeps: the counts by words, or those of groups of embeddings.

    Groups must not predict clearly worse than words with their neighbors do. Where these are not used, neighbors must
    predict clearly better in groups than words alone do.
    """
    n_topics = state.words.shape[1]
    rows = sweeps.tokens.allocate_rows(2 * n_topics + 1)
    mixtures = normalize_rows(state.documents[:, :-1] + compute_alpha(state.words, sweeps.concentration))
    groups = group_references(graph.vectors, graph.members @ graph.attract(mixtures), sweeps.n_threads)
    start = start_from_groups(sweeps, state, graph.members, groups, rows)
    means = average_mixtures(np.eye(n_topics)[groups], graph.positions[topics.positions], N_NEIGHBORS)
    grouped, choice = HalfPrediction(topics._replace(words=start.words)), by_words.choice
    if is_clear(grouped.search_tokens(means)[1] - by_words.scores, LEAST_START_ERRORS):
        found = choice if choice.n_tokens else grouped.choose_clearly(means, by_words.without)
        if found.n_tokens:
            return found, start
    rows[:, : n_topics + 1] = state.documents
    return choice, TopicCounts(state.words, rows)


def choose_guided(sweeps: Sweeps, topics: TrialTopics, graph: NeighborGraph, words: Array) -> NeighborChoice:
    """Return how neighbors are used in topics that they share, with counts `words` (V, F): not if they predict nothing.

    These topics need not predict as well as topics of words do: in small corpora they did not, and still grouped the
    documents better.
    """
    guided, near = HalfPrediction(topics._replace(words=words)), graph.positions[topics.positions]
    means = average_neighbors(sweeps.tokens, graph.members, near, guided, sweeps.n_threads)
    return guided.choose(means, guided.without)


def make_guided_sweeps(sweeps: Sweeps, graph: NeighborGraph) -> Sweeps:
    """Return sweeps over the same documents with neighbors in the prior."""
    guided = Sweeps(sweeps.tokens, sweeps.p, sweeps.kept, sweeps.n_threads, sweeps.concentration)
    guided.shape = sweeps.shape
    guided.n_done, guided.n_most, guided.attract = sweeps.n_done, sweeps.n_most, graph.attract
    return guided


def run_long_steps(sweeps: Sweeps, state: TopicCounts, *, smooth: bool) -> TopicCounts:
    """Return the counts after some sweeps that go further than sweeps do, and one that does not.

    From neighbor to neighbor, topics spread slowly: many sweeps change counts in the same direction.
    """
    n_topics = state.words.shape[1]
    for _ in range(GUIDED_SWEEPS - 1):
        words, documents = state.words, np.array(state.documents[:, :n_topics])
        state = sweeps.run(state, 1, smooth=smooth)
        extrapolate(words, state.words, sweeps.kept)
        extrapolate(documents, state.documents[:, :n_topics], 0.0)
        del words, documents  # otherwise they would stay while the next ones are copied
    return sweeps.run(state, 1, smooth=smooth)


def compute_shares(words: Array) -> Array:
    """Return the shares (F,) of the topics in counts of words (V, F)."""
    total = words.sum(axis=0)
    return np.asarray(total / total.sum())


def have_run_away(start: Array, middle: Array, end: Array) -> bool:
    """Tell whether topics with these shares (F,) at three times move on and on to a few of them."""
    return bool(abs(end - middle).sum() / 2 > MOST_MOVED or (end - start).max() > MOST_GAINED)


def extrapolate(before: Array, after: Array, least: Array | float) -> None:
    """Move counts after a sweep further from those before, in place, but to no less than `least`."""
    least = np.broadcast_to(least, before.shape)
    for rows in split_range(len(before), ROWS_AT_A_TIME):
        after[rows] = np.maximum(before[rows] + STEP_FACTOR * (after[rows] - before[rows]), least[rows])


def average_neighbors(tokens: Documents, members: Any, near: Any, prediction: HalfPrediction, n_threads: int) -> Array:
    """Return the mean mixtures (n, F) of neighbors (n, k) of documents, each by its words alone."""
    used = np.unique(near[near >= 0])
    place = np.full(members.shape[0] + 1, -1)  # the last entry is for neighbors that there are not
    place[used] = np.arange(len(used))
    chosen = members[used]
    documents, column = np.unique(chosen.indices, return_inverse=True)
    among = sp.csr_matrix((chosen.data, column, chosen.indptr), shape=(len(used), len(documents)))
    X = Documents.from_matrix(tokens.take_rows(documents))
    mixtures = infer_mixtures(X, prediction.phi, prediction.alpha, n_threads)
    return average_mixtures(among @ sharpen_mixtures(mixtures), place[near], N_NEIGHBORS)


def infer_mixtures(documents: Documents, phi: Array, alpha: Array, n_threads: int) -> Array:
    """Return the mixtures of documents (N, F), by their words alone, in few steps."""
    count = partial(count_document_topics, phi=phi, alpha=alpha, n_steps=TRIAL_STEPS)
    parts = [*documents.refine_blocks().map_blocks(count, n_threads)]
    return normalize_rows(np.vstack(parts) + alpha)
