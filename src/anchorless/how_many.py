"""How many topics the documents support: two signals, one of them statistical, and a suggestion with its reason.

*Directions that come back.* The eigenvectors of the co-occurrences of one half of the documents are asked of the
other half: for a direction u the quantity ((h·u)² − Σ h²u²) / (n(n−1)), with h the counts of a document of n tokens,
has a mean of zero if u is noise, and its standard error is known. What is drawn from K topics has K such directions,
and no more. Real text has many, for classes have subjects, and subjects have stories.

*Eigenvalues above the slope.* Where documents fall into classes, the spectrum of normalised cuts has one large
eigenvalue for each class, and a slope of small ones for what differs inside the classes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from anchorless.cooccurrence import pair_weights
from anchorless.documents import Array, canonical_csr

#: A direction comes back when it is this many standard errors above zero …
COMES_BACK = 5.5
#: … and is noise when it is fewer than this many. Between the two nothing is said.
NOISE = 3.5
#: Directions beyond the last that must be noise, also together, before the last is called the last: a topic that is
#: too weak for a direction of its own lifts several of them a little.
LOOKED_BEYOND = 5
NOISE_TOGETHER = 2.0
#: The last direction must be this many times as strong as the weakest that these documents could show: what is below
#: that looks like noise, and the strengths of the last two topics of a corpus rarely differ by more.
CLEAR = 5.0
#: Documents are in classes when the second eigenvalue of normalised cuts is at least this share of the first.
SEPARATED = 0.4
#: An eigenvalue stands out when it is this many times the one at the reference, which is at a place of at least
#: twice the number of those that stand out.
STANDS_OUT = 1.75
REFERENCES = (20, 40, 80, 160)
#: Steps of the block that finds directions, and its columns beyond those wanted.
BLOCK_STEPS = 12
SPARE = 10
#: Fewer documents than this cannot be halved with any use.
FEWEST_DOCUMENTS = 100


class Suggestion(NamedTuple):
    """A number of topics, or None where the documents do not tell, and why."""

    n_topics: int | None
    reason: str


class Returns(NamedTuple):
    """The leading directions of one half of the documents, asked of the other; both halves in one."""

    scores: Array  # how many standard errors a direction is above zero in the other half
    strengths: Array  # what it has there: its eigenvalue, without the share of chance
    own: Array  # the eigenvalue in its own half, with that share

    @property
    def sure(self) -> int:
        """How many directions come back for sure, before the first that may not."""
        return int(np.argmin(np.append(self.scores >= COMES_BACK, False)))

    @property
    def clearness(self) -> float:
        """How many times the last sure direction is as strong as the weakest that could be seen.

        Half of the largest eigenvalue of chance: a direction below that does not leave the crowd of noise.
        """
        sure = self.sure
        if sure == 0 or sure == len(self.own):
            return 0.0
        return float(self.strengths[sure - 1] / max(self.own[sure] / 2, 1e-300))


def suggest(returns: Returns | None, eigenvalues: Array, least: int, most: int) -> Suggestion:
    """Return a number of topics from `least` to `most`, or say why none is suggested.

    `returns` is what `coming_back` found, None where there are none; `eigenvalues` are those of the weighted
    documents, leading first, beyond `most` where there are more.
    """
    found = last_direction(returns) if returns is not None else None
    if found is not None:
        reason = (
            f"{found} directions of the word co-occurrences come back in the other half of the documents, and the "
            f"next {LOOKED_BEYOND} are noise"
        )
        return within(found, reason, least, most)
    if len(eigenvalues) > 1 and eigenvalues[1] >= SEPARATED * eigenvalues[0]:
        found = n_standing_out(eigenvalues)
        if found is not None:
            reason = (
                f"{found} eigenvalues stand out from the slope of the others (at least {STANDS_OUT:g} times the value "
                "there), as where documents are in classes of their own; topics inside the classes are not counted"
            )
            return within(found, reason, least, most)
        return Suggestion(None, "cannot tell: the eigenvalues fall without a step up to the largest number tried")
    return Suggestion(None, "cannot tell: " + why_no_edge(returns))


def within(found: int, reason: str, least: int, most: int) -> Suggestion:
    """Suggest a number only if it was tried."""
    if least <= found <= most:
        return Suggestion(found, reason)
    return Suggestion(None, f"cannot tell from {least} to {most} topics: {reason}")


def why_no_edge(returns: Returns | None) -> str:
    """Say what the directions looked like that gave no number."""
    if returns is None:
        return "documents are too few or too short for halves, or are no counts, and they are not in separate classes"
    sure = returns.sure
    if sure > len(returns.scores) - LOOKED_BEYOND:
        return f"all {sure} directions looked at come back in the other half of the documents; there may be many more"
    surely = f"{sure} directions of the word co-occurrences surely come back in the other half of the documents, but "
    if rest_is_noise(returns):
        return surely + "a weaker topic could be hidden in the noise; more documents would tell"
    return surely + "those after them are neither clear nor noise; more documents would tell"


def last_direction(returns: Returns) -> int | None:
    """Return how many directions come back, if those after them are all noise and the last is far above it."""
    return returns.sure if rest_is_noise(returns) and returns.clearness >= CLEAR else None


def rest_is_noise(returns: Returns) -> bool:
    """Return whether the directions after the last sure one are all noise, each and together."""
    rest = returns.scores[returns.sure :]
    beyond = rest[:LOOKED_BEYOND]
    if len(beyond) < LOOKED_BEYOND or np.any(rest > NOISE):
        return False
    return bool(beyond.sum() <= NOISE_TOGETHER * np.sqrt(LOOKED_BEYOND))


def n_standing_out(eigenvalues: Array) -> int | None:
    """Return how many eigenvalues are `STANDS_OUT` times the one at a place far beyond them; None if none is far."""
    for place in REFERENCES:
        if place > len(eigenvalues):
            return None
        count = int(np.count_nonzero(eigenvalues >= STANDS_OUT * eigenvalues[place - 1]))
        if 2 * count <= place:
            return count
    return None


def coming_back(counts: Any, n_directions: int, rng: np.random.Generator) -> Returns | None:
    """Return what the leading directions of each half of the documents are in the other half.

    Documents are halved at random; the two scores of a place are added to one, and the rest is averaged.
    Words are scaled by their frequency, so that a common word is not a direction of its own. None where documents are
    too few.
    """
    X = canonical_csr(counts)
    X = X[np.asarray(X.sum(axis=1)).ravel() >= 2]
    if X.shape[0] < FEWEST_DOCUMENTS or not np.array_equal(X.data, np.floor(X.data)):
        return None
    frequency = np.asarray(X.sum(axis=0)).ravel()
    scale = np.divide(1.0, np.sqrt(frequency), out=np.zeros_like(frequency), where=frequency > 0)
    order = rng.permutation(X.shape[0])
    halves = [X[np.sort(order[: len(order) // 2])], X[np.sort(order[len(order) // 2 :])]]
    both = []
    for here, there in (halves, halves[::-1]):
        own, U = directions(here, scale, n_directions, rng)
        both.append(Returns(*asked(there, scale[:, None] * U), own))
    one, two = both
    return Returns(
        (one.scores + two.scores) / np.sqrt(2.0), (one.strengths + two.strengths) / 2, (one.own + two.own) / 2
    )


class PairOperator:
    """S P S for the unbiased P of counts, with S the scale of the words."""

    def __init__(self, X: Any, scale: Array) -> None:
        pairs = pair_weights(X)
        self.n_words = X.shape[1]
        self._D = sp.diags(np.sqrt(pairs)) @ X @ sp.diags(scale)
        self._DT = self._D.T.tocsr()
        self._diagonal = np.asarray(X.T @ pairs) * scale**2

    def product(self, Q: Array) -> Array:
        """Return the product with Q (V, p)."""
        return np.asarray(self._DT @ (self._D @ Q) - self._diagonal[:, None] * Q)


def directions(X: Any, scale: Array, n_directions: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the leading eigenvalues (n,) and eigenvectors (V, n) of the scaled co-occurrences, by a few block steps.

    Those of topics are exact; noise, whose eigenvalues are close to each other, would never settle and need not.
    """
    P = PairOperator(X, scale)
    Q = np.linalg.qr(rng.standard_normal((P.n_words, min(n_directions + SPARE, P.n_words))))[0]
    for _ in range(BLOCK_STEPS):
        Q = np.linalg.qr(P.product(Q))[0]
    H = Q.T @ P.product(Q)
    values, S = np.linalg.eigh((H + H.T) / 2)
    leading = np.argsort(-values, kind="stable")[:n_directions]
    return values[leading] / X.shape[0], np.asarray(Q @ S[:, leading])


def asked(X: Any, U: Array) -> tuple[Array, Array]:
    """Return the mean of ((h·u)² − Σ h u²) / (n(n−1)) for each column u of U, first over its standard error."""
    pairs = pair_weights(X)[:, None]
    values = pairs * (np.asarray(X @ U) ** 2 - np.asarray(X @ U**2))
    mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return np.divide(mean, error, out=np.zeros(U.shape[1]), where=error > 0), mean
