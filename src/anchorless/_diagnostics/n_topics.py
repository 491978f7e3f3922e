"""How many topics the documents support: two statistics, and a suggestion with its reason.

Replicated directions: leading eigenvectors u of most documents have (h·u)² − Σhu² of mean zero in the counts h of the
others if u is noise. Documents drawn from K topics have exactly K that are not; real text has many. Large eigenvalues:
if documents fall into classes, the spectrum of normalized cuts has one large eigenvalue for each class.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from anchorless._core.cooccurrence import DocumentCooccurrence, compute_pair_weights
from anchorless._corpus.documents import Array, Documents
from anchorless._corpus.sparse import find_fraction, to_canonical_csr

#: A direction is replicated if its strength is at least this many standard errors above zero.
MIN_SIGNAL_SCORE = 4.5
#: A direction is noise if it is at most this many. Between the two, neither is concluded.
MAX_NOISE_SCORE = 3.5
#: The directions after the last must also be noise together: the next few, and all that are scored. A weak topic raises
#: several of them a little.
N_BEYOND, MAX_POOLED_NOISE = 5, 2.5
#: The last direction must exceed the weakest that these documents can show by this many times the mean step, in
#: logarithms, from one direction to the next. An exponentially distributed step is so large in 3 % of cases.
MARGIN_STEPS = 3.5
#: Bounds of that margin, as a ratio of strengths.
MIN_MARGIN, MAX_MARGIN = 2.0, 5.0
#: Documents are in classes if the second eigenvalue of normalized cuts is at least this share of the first.
MIN_CLASS_RATIO = 0.4
#: Eigenvalues are large if the last is this many times the one of twice its rank, or of this rank if it is larger.
MIN_EIGENVALUE_RATIO, FIRST_REFERENCE = 2.0, 20
#: Steps of the block iteration that finds directions, and its columns beyond those wanted.
BLOCK_STEPS, N_OVERSAMPLES = 12, 10
#: Parts of the documents; the directions of all others are tested on each.
N_FOLDS = 4
#: Words are scaled by their frequency to the power of minus this. With 1/2 many rare words would hide the signal, and
#: with 0 few frequent words dominate.
WORD_SCALE_POWER = 0.25
#: What directions of at least this score explain is subtracted from those after them.
STRONG_SCORE = 5.0
#: Smallest eigenvalue, of a matrix with unit diagonal, that is inverted.
MIN_STABLE_EIGENVALUE = 0.2
#: Number of the most frequent words that are used.
MAX_WORDS = 5000
#: Fewest documents that are split into parts.
MIN_DOCUMENTS_TO_SPLIT = 100
#: How the reason begins if no number is suggested.
CANNOT_TELL = "cannot tell: "


class Suggestion(NamedTuple):
    """A suggested number of topics."""

    n_topics: int | None  # None if the documents do not tell
    reason: str  # why this number, or why none
    beyond: int | None = None  # the number that they suggest, if it is outside of those compared
    is_of_classes: bool = False  # whether it is the number of classes of documents, inside of which may be more topics


class DirectionScores(NamedTuple):
    """The leading directions of most documents, tested on the others, pooled over all parts."""

    scores: Array  # strength in the other documents, in standard errors
    strengths: Array  # eigenvalue in the other documents, without the part that is due to chance
    own_eigenvalues: Array  # eigenvalue in its own documents, with that part

    @property
    def n_replicated(self) -> int:
        """Number of replicated directions before the first that is not."""
        return count_replicated(self.scores)

    @property
    def margin(self) -> float:
        """Strength of the last replicated direction over the weakest that could be seen: half of that of noise."""
        n = self.n_replicated
        if n == 0 or n == len(self.own_eigenvalues):
            return 0.0
        return float(self.strengths[n - 1] / max(self.own_eigenvalues[n] / 2, 1e-300))

    @property
    def min_margin(self) -> float:
        """Smallest margin at which there is no further direction; the first direction, the mean, is no step."""
        n = self.n_replicated
        if n < 3:
            return MAX_MARGIN
        step = max(self.strengths[1] / max(self.strengths[n - 1], 1e-300), 1.0) ** (1 / (n - 2))
        return float(np.clip(step**MARGIN_STEPS, MIN_MARGIN, MAX_MARGIN))

    @property
    def is_rest_noise(self) -> bool:
        """Whether the directions after the last replicated one are noise, each and together."""
        rest = self.scores[self.n_replicated :]
        # A score far below zero is no noise either: words together in some documents avoid each other in others.
        if len(rest) < N_BEYOND or np.any(rest > MAX_NOISE_SCORE) or np.any(rest < -2 * MAX_NOISE_SCORE):
            return False
        return all(some.sum() <= MAX_POOLED_NOISE * np.sqrt(len(some)) for some in (rest[:N_BEYOND], rest))

    @property
    def n_clear(self) -> int | None:
        """Number of replicated directions if all others are noise and the last is clearly above it."""
        return self.n_replicated if self.is_rest_noise and self.margin >= self.min_margin else None


def suggest(directions: DirectionScores | None, eigenvalues: Array, least: int, most: int) -> Suggestion:
    """Suggest a number of topics from `least` to `most`, or say why none; `eigenvalues` should go far beyond `most`."""
    found, in_classes = None if directions is None else directions.n_clear, has_classes(eigenvalues)
    if found == 1:
        reason = (
            "one pattern of words, which all documents share, is found again in other documents, and all further ones "
            "are noise: no topics can be told apart"
        )
        return Suggestion(1, reason) if least == 1 else Suggestion(None, reason, beyond=1)
    if directions is not None and found is not None:
        reason = (
            f"{found} patterns of words that occur together are found again in other documents, all further ones are "
            f"noise, and the last is {directions.margin:.1f} times as strong as the weakest that "
            "this number of documents could show"
        )
    elif in_classes:
        found = count_large_eigenvalues(eigenvalues)
        if found is not None and found < least:  # fewer than these say nothing against any of the numbers compared
            return Suggestion(None, CANNOT_TELL + describe_classes(found))
        reason = (
            f"{found} patterns of words that occur together stand out (at least {MIN_EIGENVALUE_RATIO:g} times as "
            "strong as those far beyond them), as if the documents fell into separate classes; topics inside the "
            "classes are not counted"
        )
    if found is None:
        return Suggestion(None, CANNOT_TELL + explain_no_suggestion(directions, in_classes))
    if least <= found <= most:
        return Suggestion(found, reason, is_of_classes=directions is None or directions.n_clear is None)
    outside = f"it would be {found}, outside of the numbers compared ({least} to {most}): {reason}"
    return Suggestion(None, outside, beyond=found)


def describe_classes(n: int) -> str:
    """Say what is known if the documents are in a few separate classes; one class is no division."""
    if n == 1:
        return "one pattern of words, which the documents share, stands out, and topics beneath it are not counted"
    return f"the documents fall into {n} separate classes, and topics inside the classes are not counted"


def explain_no_suggestion(directions: DirectionScores | None, in_classes: bool) -> str:
    """Say why neither the directions nor the classes suggest a number."""
    if in_classes:
        return "the documents fall into separate classes, but how many is not clear"
    if directions is None:
        short = "the documents are too few or too short to be split, or they are not counts"
        return f"{short}, and they do not fall into separate classes"
    n = directions.n_replicated
    if n > len(directions.scores) - N_BEYOND:
        return f"all {n} patterns that were tested are found again in other documents; there may be many more"
    hidden, unclear = "a weaker topic could be hidden in the noise", "the next ones are neither clear nor noise"
    why = hidden if directions.is_rest_noise else unclear
    patterns = "pattern of words that occur together is" if n == 1 else "patterns of words that occur together are"
    replicated = f"about {n} {patterns} found again in other documents"
    return f"{replicated}, but {why}; more documents would tell"


def has_classes(eigenvalues: Array) -> bool:
    """Tell whether the documents are in separate classes."""
    return bool(len(eigenvalues) > 1 and eigenvalues[1] >= MIN_CLASS_RATIO * eigenvalues[0])


def compute_reference_rank(n: int) -> int:
    """Return the rank, from 1, of the eigenvalue with which the n-th is compared."""
    return max(FIRST_REFERENCE, 2 * n)


def count_large_eigenvalues(eigenvalues: Array) -> int | None:
    """Return how many eigenvalues are large, compared with those far beyond; None if further ones may be, too."""
    known = [n for n in range(1, len(eigenvalues)) if compute_reference_rank(n) <= len(eigenvalues)]
    reference = {n: eigenvalues[compute_reference_rank(n) - 1] for n in known}
    found = [n for n in known if eigenvalues[n - 1] >= MIN_EIGENVALUE_RATIO * reference[n]]
    return found[-1] if found and found[-1] < known[-1] else None


def score_directions(counts: Any, n_directions: int, rng: np.random.Generator) -> DirectionScores | None:
    """Test the directions of most documents of counts (N, V) on the others; None if they are few or hold fractions."""
    X = to_canonical_csr(counts)
    X = X[np.asarray(X.sum(axis=1)).ravel() >= 2]
    if X.shape[0] < MIN_DOCUMENTS_TO_SPLIT or find_fraction(X) is not None:
        return None
    frequency = np.asarray(X.sum(axis=0)).ravel()
    # Rare words add more noise than signal.
    frequent = np.sort(np.argsort(-frequency, kind="stable")[: min(MAX_WORDS, np.count_nonzero(frequency))])
    X, frequency = X[:, frequent], frequency[frequent]
    scale = (np.maximum(frequency, 1.0) / frequency.mean()) ** -WORD_SCALE_POWER
    part = rng.permutation(X.shape[0]) % N_FOLDS
    scorers = []
    for k in range(N_FOLDS):
        own, U = find_directions(X[part != k], scale, min(n_directions, X.shape[1] // 2), rng)
        scorers.append(DirectionScorer(X[part == k], scale[:, None] * U, own))
        if k == 0 and count_replicated(scorers[0].score_increments(len(own))[0]) > len(own) - N_BEYOND:
            break  # as with real text: other parts could not show a last direction either
    n = count_replicated(pool_scores(scorers, len(own))[0])
    return DirectionScores(*pool_scores(scorers, n), np.mean([scorer.own_eigenvalues for scorer in scorers], axis=0))


def count_replicated(scores: Array) -> int:
    """Return the number of replicated directions before the first that is not."""
    return int(np.argmin(np.append(scores >= MIN_SIGNAL_SCORE, False)))


def pool_scores(scorers: list[DirectionScorer], n_first: int) -> tuple[Array, Array]:
    """Pool the scores of several parts of the documents, and average the strengths."""
    scores, strengths = zip(*(scorer.score_increments(n_first) for scorer in scorers), strict=True)
    return np.sum(scores, axis=0) / np.sqrt(len(scorers)), np.mean(strengths, axis=0)


class DirectionScorer:
    """Tests of directions U (V, m) on documents X (N, V); `own` (m,) are their eigenvalues in other documents."""

    def __init__(self, X: Any, U: Array, own: Array) -> None:
        self.own_eigenvalues = own
        self._X, self._U = X, U
        self._pairs = compute_pair_weights(X)
        self._XU = np.asarray(X @ U)
        tokens = np.asarray(X.T @ self._pairs)[:, None]
        self._weighted = self._XU * self._pairs[:, None]
        self._moments = (self._weighted.T @ self._XU - U.T @ (tokens * U)) / X.shape[0]
        self._plain_scores = self._score(np.eye(len(own)))[0]

    def score_increments(self, n_first: int) -> tuple[Array, Array]:
        """Return scores and strengths (m,) of what each direction adds to the first `n_first` directions before it.

        Noise contains a little of every topic. What strong directions explain is subtracted, to leave nothing to it.
        """
        m = len(self.own_eigenvalues)
        A, bias = np.eye(m), np.zeros(m)
        for j in range(1, m):
            before = np.flatnonzero(self._plain_scores[: min(j, n_first)] >= STRONG_SCORE)
            inverse = compute_stable_inverse(self._moments[np.ix_(before, before)])
            A[before, j] = -inverse @ self._moments[before, j]
            # The subtraction also removes the mean square of the noise, which is added again here.
            noise = self._weighted[:, before] * (self._XU @ A[:, j])[:, None]
            bias[j] = (noise * (noise @ inverse)).sum() / len(noise) ** 2
        scores, strengths, error = self._score(A)
        return scores + np.divide(bias, error, out=np.zeros(m), where=error > 0), strengths + bias

    def _score(self, A: Array) -> tuple[Array, Array, Array]:
        """Return scores, strengths and standard errors (k,) of the directions UA, with A of shape (m, k)."""
        values = self._pairs[:, None] * ((self._XU @ A) ** 2 - np.asarray(self._X @ (self._U @ A) ** 2))
        mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))
        return np.divide(mean, error, out=np.zeros(len(A)), where=error > 0), mean, error


def compute_stable_inverse(T: Array) -> Array:
    """Return the inverse of a symmetric T (m, m) with a positive diagonal, without its weak directions."""
    size = np.sqrt(np.diag(T))
    values, S = np.linalg.eigh(T / np.outer(size, size))
    stable = values >= MIN_STABLE_EIGENVALUE  # real text has negative ones, which would subtract what is not there
    return np.asarray((S[:, stable] / values[stable]) @ S[:, stable].T / np.outer(size, size))


def find_directions(X: Any, scale: Array, n_directions: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return leading eigenvalues (n,) and eigenvectors (V, n) of the unbiased P of X (N, V), scaled by `scale` (V,)."""
    P = DocumentCooccurrence(Documents.from_matrix(X), unbiased=True)
    scale = scale[:, None]
    Q = np.linalg.qr(rng.standard_normal((P.n_words, min(n_directions + N_OVERSAMPLES, P.n_words))))[0]
    for _ in range(BLOCK_STEPS):  # the directions of topics converge, and those of noise need not
        Q = np.linalg.qr(scale * P.product(scale * Q))[0]
    H = Q.T @ (scale * P.product(scale * Q))
    values, S = np.linalg.eigh((H + H.T) / 2)
    leading = np.argsort(-values, kind="stable")[:n_directions]
    return values[leading], np.asarray(Q @ S[:, leading])
