"""How many topics the documents support: two signals, one of them statistical, and a suggestion with its reason.

*Directions that come back.* The eigenvectors of the co-occurrences of most documents are asked of the others: for a
direction u the quantity ((h·u)² − Σ h u²) / (n(n−1)), with h the counts of a document of n tokens, has a mean of zero
if u is noise, and its standard error is known. What is drawn from K topics has K such directions, and no more. Real
text has many, for classes have subjects, and subjects have stories.

*Eigenvalues above the slope.* Where documents fall into classes, the spectrum of normalised cuts has one large
eigenvalue for each class, and a slope of small ones for what differs inside the classes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from anchorless._core.cooccurrence import compute_pair_weights
from anchorless._corpus.documents import Array
from anchorless._corpus.sparse import to_canonical_csr

#: A direction comes back when it is this many standard errors above zero …
MIN_SIGNAL_SCORE = 4.5
#: … and is noise when it is fewer than this many. Between the two nothing is said.
MAX_NOISE_SCORE = 3.5
#: Directions beyond the last must be noise together, too: the next few, and all that are looked at. A topic that is
#: too weak for a direction of its own lifts several of them a little.
N_BEYOND = 5
MAX_POOLED_NOISE = 2.5
#: What is weaker than these documents can show looks like noise. So the last direction must be stronger than the
#: weakest that they can show by so many steps of the usual size, from one direction to the next: if steps are like
#: waiting times, one that is 3.5 times the usual size is a matter of 3 %.
MARGIN_STEPS = 3.5
#: It must be at least and need not be more than so many times as strong.
MIN_MARGIN, MAX_MARGIN = 2.0, 5.0
#: Documents are in classes when the second eigenvalue of normalised cuts is at least this share of the first.
MIN_CLASS_RATIO = 0.4
#: Eigenvalues stand out when the last of them is this many times the one at twice its place, or at the first place
#: here if that is further.
MIN_EIGENVALUE_RATIO = 2.0
FIRST_REFERENCE = 20
#: Steps of the block that finds directions, and its columns beyond those wanted.
BLOCK_STEPS = 12
N_OVERSAMPLES = 10
#: Parts of the documents: each is asked about the directions of all the others.
N_FOLDS = 4
#: Words are scaled by their frequency to the power of minus this. A half would give all words the same noise, but what
#: a word tells grows with its frequency, and many rare words would hide it; zero leaves all to the few most frequent.
WORD_SCALE_POWER = 0.25
#: What a direction of so many standard errors explains is taken off from those after it.
STRONG_SCORE = 5.0
#: Eigenvalues of those that count, each of size one.
MIN_STABLE_EIGENVALUE = 0.2
#: So many of the most frequent words are looked at.
MAX_WORDS = 5000
#: Fewer documents than this cannot be parted with any use.
MIN_DOCUMENTS_TO_SPLIT = 100


class Suggestion(NamedTuple):
    """A number of topics, or None where the documents do not tell, and why."""

    n_topics: int | None
    reason: str


class DirectionScores(NamedTuple):
    """The leading directions of most documents, asked of the others; all parts in one."""

    scores: Array  # how many standard errors a direction is above zero in the others
    strengths: Array  # what it has there: its eigenvalue, without the share of chance
    own_eigenvalues: Array  # the eigenvalue in its own documents, with that share

    @property
    def n_replicated(self) -> int:
        """How many directions come back for sure, before the first that may not."""
        return count_replicated(self.scores)

    @property
    def margin(self) -> float:
        """How many times the last sure direction is as strong as the weakest that could be seen.

        Half of the largest eigenvalue of chance: a direction below that does not leave the crowd of noise.
        """
        sure = self.n_replicated
        if sure == 0 or sure == len(self.own_eigenvalues):
            return 0.0
        return float(self.strengths[sure - 1] / max(self.own_eigenvalues[sure] / 2, 1e-300))

    @property
    def clear(self) -> float:
        """How large that must be for the last to be the last; the first direction, the mean, is no step."""
        sure = self.n_replicated
        if sure < 3:
            return MAX_MARGIN
        step = max(self.strengths[1] / max(self.strengths[sure - 1], 1e-300), 1.0) ** (1 / (sure - 2))
        return float(np.clip(step**MARGIN_STEPS, MIN_MARGIN, MAX_MARGIN))


def suggest(direction_scores: DirectionScores | None, eigenvalues: Array, least: int, most: int) -> Suggestion:
    """Return a number of topics from `least` to `most`, or say why none is suggested.

    `returns` is what `score_directions` found, None where there are none; `eigenvalues` are those of the weighted
    documents, leading first, beyond `most` where there are more.
    """
    found = find_last_direction(direction_scores) if direction_scores is not None else None
    if direction_scores is not None and found is not None:
        reason = (
            f"{found} directions of the word co-occurrences come back in other documents, all after them are noise, "
            f"and the last is {direction_scores.margin:.1f} times as strong as the weakest that so many documents could show"
        )
        return suggest_if_tried(found, reason, least, most)
    if has_classes(eigenvalues):
        found = count_large_eigenvalues(eigenvalues)
        if found is not None:
            reason = (
                f"{found} eigenvalues stand out from the slope of the others (at least {MIN_EIGENVALUE_RATIO:g} times the value "
                "there), as where documents are in classes of their own; topics inside the classes are not counted"
            )
            return suggest_if_tried(found, reason, least, most)
        return Suggestion(None, "cannot tell: the eigenvalues fall without a step up to the largest number tried")
    return Suggestion(None, "cannot tell: " + explain_no_suggestion(direction_scores))


def suggest_if_tried(found: int, reason: str, least: int, most: int) -> Suggestion:
    """Suggest a number only if it was tried."""
    if least <= found <= most:
        return Suggestion(found, reason)
    return Suggestion(None, f"cannot tell from {least} to {most} topics: {reason}")


def explain_no_suggestion(direction_scores: DirectionScores | None) -> str:
    """Say what the directions looked like that gave no number."""
    if direction_scores is None:
        return "documents are too few or too short to be parted, or are no counts, and they are not in separate classes"
    sure = direction_scores.n_replicated
    if sure > len(direction_scores.scores) - N_BEYOND:
        return f"all {sure} directions looked at come back in other documents; there may be many more"
    surely = f"{sure} directions of the word co-occurrences surely come back in other documents, but "
    if is_rest_noise(direction_scores):
        return surely + "a weaker topic could be hidden in the noise; more documents would tell"
    return surely + "those after them are neither clear nor noise; more documents would tell"


def find_last_direction(direction_scores: DirectionScores) -> int | None:
    """Return how many directions come back, if those after them are all noise and the last is clearly above it."""
    return (
        direction_scores.n_replicated
        if is_rest_noise(direction_scores) and direction_scores.margin >= direction_scores.clear
        else None
    )


def is_rest_noise(direction_scores: DirectionScores) -> bool:
    """Return whether the directions after the last sure one are all noise, each and together.

    Far below zero is no noise either: words then go together in these documents that avoid each other in those.
    """
    rest = direction_scores.scores[direction_scores.n_replicated :]
    if len(rest) < N_BEYOND or np.any(rest > MAX_NOISE_SCORE) or np.any(rest < -2 * MAX_NOISE_SCORE):
        return False
    return all(some.sum() <= MAX_POOLED_NOISE * np.sqrt(len(some)) for some in (rest[:N_BEYOND], rest))


def has_classes(eigenvalues: Array) -> bool:
    """Return whether the documents are in classes of their own."""
    return bool(len(eigenvalues) > 1 and eigenvalues[1] >= MIN_CLASS_RATIO * eigenvalues[0])


def compute_reference_rank(n: int) -> int:
    """Return the place, from 1, of the eigenvalue with which the n-th is compared."""
    return max(FIRST_REFERENCE, 2 * n)


def count_large_eigenvalues(eigenvalues: Array) -> int | None:
    """Return how many eigenvalues are `MIN_EIGENVALUE_RATIO` times the one far beyond them; None if that may be further still."""
    known = [n for n in range(1, len(eigenvalues)) if compute_reference_rank(n) <= len(eigenvalues)]
    found = [
        n for n in known if eigenvalues[n - 1] >= MIN_EIGENVALUE_RATIO * eigenvalues[compute_reference_rank(n) - 1]
    ]
    return found[-1] if found and found[-1] < known[-1] else None


def score_directions(counts: Any, n_directions: int, rng: np.random.Generator) -> DirectionScores | None:
    """Return what the leading directions of most documents are in the others, over several parts of the documents.

    The scores of a place are added to one over the parts, and the rest is averaged; one part is enough where all
    directions come back in it. None where documents are too few.
    """
    X = to_canonical_csr(counts)
    X = X[np.asarray(X.sum(axis=1)).ravel() >= 2]
    if X.shape[0] < MIN_DOCUMENTS_TO_SPLIT or not np.array_equal(X.data, np.floor(X.data)):
        return None
    X = X[:, select_frequent_words(X)]
    frequency = np.asarray(X.sum(axis=0)).ravel()
    scale = (np.maximum(frequency, 1.0) / frequency.mean()) ** -WORD_SCALE_POWER
    part = rng.permutation(X.shape[0]) % N_FOLDS
    asks = []
    for k in range(N_FOLDS):
        own, U = find_directions(X[part != k], scale, min(n_directions, X.shape[1] // 2), rng)
        asks.append(DirectionScorer(X[part == k], scale[:, None] * U, own))
        if k == 0 and count_replicated(asks[0].score_increments(len(own))[0]) > len(own) - N_BEYOND:
            break  # real text: all come back, and no other part could show where they end
    sure = count_replicated(pool_scores([ask.score_increments(len(ask.own_eigenvalues)) for ask in asks])[0])
    scores, strengths = pool_scores([ask.score_increments(sure) for ask in asks])
    return DirectionScores(scores, strengths, np.mean([ask.own_eigenvalues for ask in asks], axis=0))


def select_frequent_words(X: Any) -> Any:
    """Return the most frequent words, in their order: rare ones add more noise than they tell."""
    frequency = np.asarray(X.sum(axis=0)).ravel()
    return np.sort(np.argsort(-frequency, kind="stable")[: min(MAX_WORDS, np.count_nonzero(frequency))])


def count_replicated(scores: Array) -> int:
    """Return how many directions come back for sure, before the first that may not."""
    return int(np.argmin(np.append(scores >= MIN_SIGNAL_SCORE, False)))


def pool_scores(parts: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Return the scores of several parts of the documents as one, and the mean of the strengths."""
    scores, strengths = (np.array(figure) for figure in zip(*parts, strict=True))
    return scores.sum(axis=0) / np.sqrt(len(parts)), strengths.mean(axis=0)


class DirectionScorer:
    """Directions U (V, m) of other documents, asked of the documents X; `own` are their eigenvalues there."""

    def __init__(self, X: Any, U: Array, own: Array) -> None:
        self.own_eigenvalues = own
        self._X, self._U = X, U
        self._pairs = compute_pair_weights(X)
        self._XU = np.asarray(X @ U)
        tokens = np.asarray(X.T @ self._pairs)[:, None]
        self._weighted = self._XU * self._pairs[:, None]
        self._moments = (self._weighted.T @ self._XU - U.T @ (tokens * U)) / X.shape[0]
        self._plain_scores = self._score(np.eye(len(own)))

    def score_increments(self, n_first: int) -> tuple[Array, Array]:
        """Return what each direction adds to those before it, of which at most `n_first` count.

        A direction that is mostly noise has a little of every topic, and strong topics show even then. So what the
        strong directions before explain is taken off: with K topics in all, K directions leave nothing to any other.
        First the score, how many standard errors the strength is above zero, then the strength.
        """
        m = len(self.own_eigenvalues)
        A, taken = np.eye(m), np.zeros(m)
        for j in range(1, m):
            before = np.flatnonzero(self._plain_scores[0][: min(j, n_first)] >= STRONG_SCORE)
            inverse = compute_stable_inverse(self._moments[np.ix_(before, before)])
            A[before, j] = -inverse @ self._moments[before, j]
            # Noise is taken off with the rest, always, and put back here: the mean of its square.
            noise = self._weighted[:, before] * (self._XU @ A[:, j])[:, None]
            taken[j] = (noise * (noise @ inverse)).sum() / len(noise) ** 2
        scores, strengths, error = self._score(A)
        return scores + np.divide(taken, error, out=np.zeros(m), where=error > 0), strengths + taken

    def _score(self, A: Array) -> tuple[Array, Array, Array]:
        """Return the scores of the directions UA, their strengths, and the standard errors of these."""
        values = self._pairs[:, None] * ((self._XU @ A) ** 2 - np.asarray(self._X @ (self._U @ A) ** 2))
        mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))
        return np.divide(mean, error, out=np.zeros(len(A)), where=error > 0), mean, error


def compute_stable_inverse(T: Array) -> Array:
    """Return the inverse of a symmetric T with a positive diagonal, without directions that are hardly there.

    Of topics T is nearly diagonal. Of real text it need not even be positive, and its inverse would invent what is
    taken off.
    """
    size = np.sqrt(np.diag(T))
    values, S = np.linalg.eigh(T / np.outer(size, size))
    steady = values >= MIN_STABLE_EIGENVALUE
    return np.asarray((S[:, steady] / values[steady]) @ S[:, steady].T / np.outer(size, size))


class PairOperator:
    """S P S for the unbiased P of counts, with S the scale of the words."""

    def __init__(self, X: Any, scale: Array) -> None:
        pairs = compute_pair_weights(X)
        self.n_words = X.shape[1]
        self._D = sp.diags(np.sqrt(pairs)) @ X @ sp.diags(scale)
        self._DT = self._D.T.tocsr()
        self._diagonal = np.asarray(X.T @ pairs) * scale**2

    def product(self, Q: Array) -> Array:
        """Return the product with Q (V, p)."""
        return np.asarray(self._DT @ (self._D @ Q) - self._diagonal[:, None] * Q)


def find_directions(X: Any, scale: Array, n_directions: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the leading eigenvalues (n,) and eigenvectors (V, n) of the scaled co-occurrences, by a few block steps.

    Those of topics are exact; noise, whose eigenvalues are close to each other, would never settle and need not.
    """
    P = PairOperator(X, scale)
    Q = np.linalg.qr(rng.standard_normal((P.n_words, min(n_directions + N_OVERSAMPLES, P.n_words))))[0]
    for _ in range(BLOCK_STEPS):
        Q = np.linalg.qr(P.product(Q))[0]
    H = Q.T @ P.product(Q)
    values, S = np.linalg.eigh((H + H.T) / 2)
    leading = np.argsort(-values, kind="stable")[:n_directions]
    return values[leading] / X.shape[0], np.asarray(Q @ S[:, leading])
