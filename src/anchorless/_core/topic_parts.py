"""Split a topic into parts, within its tokens.

The expected tokens of a topic in each document are a small corpus. Its words are paired as in `token_splits`: products
of the numbers of their tokens in a document, beyond what their frequencies explain. The leading eigenvectors give each
word a place; words far from each other are the starts of the parts. Then steps of EM: mixtures of the parts in each
document, and words of the parts. Nothing is random.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anchorless._core.token_mixtures import count_document_topics, predict_halves
from anchorless._core.token_splits import find_directions
from anchorless._corpus.documents import Array
from anchorless._corpus.sparse import to_canonical_csr
from anchorless.errors import InputError

#: Words that are paired: the most frequent ones in the topic, with so many expected tokens at least.
MAX_WORDS, MIN_TOKENS = 600, 10.0
#: Documents with fewer tokens of the topic have no pairs to speak of.
MIN_LENGTH = 2.0
#: The part of a word that goes with the nearest start.
START_SIDE = 0.9
#: Steps of EM, and steps in which the mixture of a document is found in each.
STEPS, MIXTURE_STEPS = 40, 5
#: Sums of the prior of the mixtures that are compared.
CONCENTRATIONS = (0.25, 1.0, 4.0)
#: Tokens that are added to each word, by the sizes of the parts: a rare word stays in all of them.
WORD_PRIOR = 0.5


def split_words(Y: Any, n: int) -> Array:
    """Return p(part | word) (n, V) for n parts of a topic with expected tokens Y (N, V), sparse.

    Several priors of the mixtures are tried, and the one whose parts predict half of each document best is used.
    """
    Y = to_canonical_csr(Y)
    length = np.asarray(Y.sum(axis=1)).ravel()
    Y = Y[np.flatnonzero(length >= MIN_LENGTH)]
    frequency = np.asarray(Y.sum(axis=0)).ravel()
    chosen = choose_words(frequency, n)
    start = place_words(Y, frequency, chosen, n)
    found = [fit_parts(Y, frequency, start, concentration) for concentration in CONCENTRATIONS]
    scores = [score_parts(Y, counts, c) for counts, c in zip(found, CONCENTRATIONS, strict=True)]
    return share_words(found[int(np.argmax(scores))])


def choose_words(frequency: Array, n: int) -> Any:
    """Return the words that are paired."""
    order = np.argsort(-frequency, kind="stable")[:MAX_WORDS]
    chosen = np.sort(order[frequency[order] >= MIN_TOKENS])
    if len(chosen) < 2 * n:
        problem = f"the topic has only {len(chosen)} words with at least {MIN_TOKENS:g} tokens, too few for {n} parts"
        raise InputError(problem, limit=2 * n, remedy="split a larger topic")
    return chosen


def place_words(Y: Any, frequency: Array, chosen: Any, n: int) -> Array:
    """Return the first counts (V, n): the tokens of each word, mostly in the part whose start is nearest."""
    coordinates, weight = compute_coordinates(Y, chosen, n), frequency[chosen]
    starts = find_far_words(coordinates, weight, n)
    distance = ((coordinates[:, None] - coordinates[starts]) ** 2).sum(axis=2)
    side = np.full((len(frequency), n), 1.0 / n)
    side[chosen] = (1.0 - START_SIDE) / max(1, n - 1)
    side[chosen, distance.argmin(axis=1)] = START_SIDE
    return side * frequency[:, None]


def compute_coordinates(Y: Any, chosen: Any, n: int) -> Array:
    """Return the places of the chosen words (W, n − 1) by the leading eigenvectors of their pairs."""
    X = Y[:, chosen]
    length = np.asarray(X.sum(axis=1)).ravel()
    scaled = X.multiply(np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)[:, None])
    pairs, frequency = np.asarray((X.T @ scaled).todense()), np.asarray(X.sum(axis=0)).ravel()
    np.fill_diagonal(pairs, frequency)
    values, vectors = find_directions(pairs, n - 1)
    return np.asarray(vectors / np.sqrt(frequency / frequency.sum())[:, None] * np.sqrt(np.maximum(values, 0.0)))


def find_far_words(coordinates: Array, weight: Array, n: int) -> list[int]:
    """Return words (n) that are far from each other and frequent, each the farthest from those before it."""
    size = np.sqrt(weight)  # rare words are far by chance
    starts = [int(np.argmax(size * np.linalg.norm(coordinates, axis=1)))]
    while len(starts) < n:
        distance = np.linalg.norm(coordinates[:, None] - coordinates[starts], axis=2).min(axis=1)
        starts.append(int(np.argmax(size * distance)))
    return starts


def fit_parts(Y: Any, frequency: Array, counts: Array, concentration: float) -> Array:
    """Return the tokens of each word in each part (V, n) after steps of EM from these counts."""
    word = Y.indices
    document = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    for _ in range(STEPS):
        phi, alpha = estimate_parts(counts, concentration)
        theta = count_document_topics(Y, phi, alpha, MIXTURE_STEPS) + alpha
        joint = theta[document] * phi[word]
        joint *= (Y.data / joint.sum(axis=1))[:, None]
        counts = np.stack([np.bincount(word, part, minlength=len(frequency)) for part in joint.T], axis=1)
    return counts


def estimate_parts(counts: Array, concentration: float) -> tuple[Array, Array]:
    """Return p(word | part) (V, n) and the prior of the mixtures (n,) for counts (V, n)."""
    size = counts.sum(axis=0) / counts.sum()
    raised = share_words(counts).T * counts.sum(axis=1, keepdims=True)
    return np.ascontiguousarray(raised / raised.sum(axis=0)), concentration * size


def share_words(counts: Array) -> Array:
    """Return p(part | word) (n, V) for counts (V, n); words without a token are shared by the sizes of the parts."""
    size = counts.sum(axis=0) / counts.sum()
    raised = counts + WORD_PRIOR * size
    return np.asarray((raised / raised.sum(axis=1, keepdims=True)).T)


def score_parts(Y: Any, counts: Array, concentration: float) -> float:
    """Return how well the first half of each document predicts the second one under the parts."""
    whole = Y.copy()
    whole.data = np.rint(whole.data)
    whole.eliminate_zeros()
    return float(predict_halves(whole, *estimate_parts(counts, concentration)).sum())
