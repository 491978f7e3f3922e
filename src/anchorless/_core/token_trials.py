"""Documents that the token model has not seen, on which choices are tried: half of each predicts the other half."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from anchorless._core.token_mixtures import predict_halves
from anchorless._core.word_prior import DENSE_WORD_SHAPE, WORD_SHAPE, WordPrior
from anchorless._corpus.documents import Array, Documents

#: Limits of α0, of which powers of two are compared, and the value where there are too few documents to compare.
CONCENTRATION_LIMITS = (1 / 32, 128.0)
DEFAULT_CONCENTRATION = 1.0
#: Steps in which the mixtures of half documents are found for a comparison.
TRIAL_STEPS = 10
#: Documents on which choices are tried, at most and at least.
MAX_TRIED, MIN_TRIED = 2000, 20
#: and one in this many. With 500 documents of 14 tokens, smooth topics were taken for the better ones by chance.
TRIED_PART = 8
#: Sharp topics must predict better by this part of the standard deviation over documents, and by a standard error.
LEAST_GAIN = 0.1
#: Dense topics must predict better by this part of it. It was 0.43 to 0.6 for planted dense topics of 25 to 150
#: tokens, at most 0.25 for sparse ones, and negative in real texts.
LEAST_DENSE_GAIN = 0.35
#: Parts of the frequencies of the words that are tried in topics that predict.
BACKGROUND_PARTS = (0.1, 0.2, 0.4)
#: No topic's share in the prior is below this, so that a topic without tokens can get some.
MIN_PRIOR_SHARE = 1e-4


class Trial(NamedTuple):
    """Documents on which choices are tried."""

    documents: Any  # (n, V), CSR
    n_threads: int = 1


def choose_trial_documents(counts: Documents, n_threads: int) -> tuple[Trial | None, Any]:
    """Return documents, evenly spaced, on which choices are tried, and their positions; None and none if too few."""
    n = counts.shape[0]
    n_tried = min(n // TRIED_PART, MAX_TRIED)
    if n_tried < MIN_TRIED:
        return None, []
    positions = np.unique(np.linspace(0, n - 1, n_tried).astype(np.intp))
    return Trial(counts.take_rows(positions), n_threads), positions


def predict_best(trial: Trial, words: Array, p: Array, first: float) -> tuple[float, Array]:
    """Return the α0 under which half of each trial document predicts the other half best, and the best scores (n,).

    For the scores, topics may have a part of the frequencies of the words: sharp topics are overconfident about words
    that the trial documents have and others lack, and would lose where they are right. Each part is tried from the best
    α0 of the one before, as long as the prediction gets better. The α0 returned is that of the topics as they are.
    """
    prior = WordPrior(words, p)
    alone, scores = search_concentration(trial, words, prior.compute_phi(), first)
    best = alone
    for part in BACKGROUND_PARTS:
        best, found = search_concentration(trial, words, prior.compute_phi(part), best)
        if found.sum() <= scores.sum():
            break
        scores = found
    return alone, scores


def search_concentration(trial: Trial, words: Array, phi: Array, first: float) -> tuple[float, Array]:
    """Return the α0 that predicts best, by factors of two from `first`, upwards and then downwards, and the scores."""
    best, scores = first, score_documents(trial, words, phi, first)
    for factor in (2.0, 0.5):
        while CONCENTRATION_LIMITS[0] <= best * factor <= CONCENTRATION_LIMITS[1]:
            other = score_documents(trial, words, phi, best * factor)
            if other.sum() <= scores.sum():
                break
            best, scores = best * factor, other
        if best > first:
            break
    return best, scores


def compare_ways(trial: Trial, smooth: Array, sharp: Array, p: Array) -> tuple[bool, float]:
    """Return whether sharp word counts (V, F) are used instead of smooth ones, and α0.

    They must predict trial documents clearly better. Where they do not, the smooth topics are as good a model, and they
    put documents into clearer groups.
    """
    of_sharp, after = predict_best(trial, sharp, p, DEFAULT_CONCENTRATION)
    of_smooth, before = predict_best(trial, smooth, p, of_sharp)
    gain = after - before
    is_sharp = bool(gain.mean() > gain.std() * max(LEAST_GAIN, len(gain) ** -0.5))
    return is_sharp, of_sharp if is_sharp else of_smooth


def choose_shape(trial: Trial, words: Array, p: Array, concentration: float) -> float:
    """Return the shape of the prior of the words for sharp word counts (V, F): the usual one, or of dense topics."""
    usual, dense = (
        score_documents(trial, words, WordPrior(words, p, shape).compute_phi(), concentration)
        for shape in (WORD_SHAPE, DENSE_WORD_SHAPE)
    )
    gain = dense - usual
    return DENSE_WORD_SHAPE if gain.mean() > LEAST_DENSE_GAIN * gain.std() else WORD_SHAPE


def score_documents(trial: Trial, words: Array, phi: Array, concentration: float) -> Array:
    """Return log-probabilities of one half of each document given the other, for topics phi (V, F)."""
    alpha = compute_alpha(words, concentration)
    return predict_halves(trial.documents, phi, alpha, TRIAL_STEPS, n_threads=trial.n_threads)


def compute_alpha(words: Array, concentration: float) -> Array:
    """Return the prior of the mixtures (F,) for word counts (V, F): the concentration times the shares of tokens."""
    total = words.sum(axis=0)
    share = np.maximum(total / total.sum(), MIN_PRIOR_SHARE)
    return concentration * share / share.sum()
