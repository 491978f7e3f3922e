"""Compiled loops over the tokens of documents: the work that NumPy could do only in large temporary arrays.

Each function goes through the rows of a CSR matrix (indptr, indices, data) one by one, so a document gives the same
bits alone, in a batch or in any block. Sums over topics may be reordered within a processor's registers; nothing else
depends on the machine. Topics phi are (V, F): the numbers of one word lie next to each other.
"""

from __future__ import annotations

from collections.abc import Callable
from math import lgamma
from typing import Any

import numpy as np
from numba import njit

#: A document cannot lose more than this part of a topic's prior by leaving a token out.
MIN_PRIOR_PART = 0.5
#: Up to so many tokens, Γ(n + a) / Γ(a) is a product.
MAX_FACTORS = 12


def compile_loop(function: Callable[..., Any]) -> Any:
    """Compile a function at its first call and keep it for later processes, where a folder for that can be written."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"reassoc"}}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # no folder can be written
        return njit(**options)(function)


@compile_loop
def sweep_documents(indptr, indices, data, counts, phi, per_token, added, alpha, found, words):
    """Give the tokens to topics, each without its own part in the counts; add them to `found` and `words`.

    With A the document's counts (n, F) plus α, and B the word's probability in each topic, a token belongs to the
    topics by R = AB / Σ AB. Without itself it would have A − R and B − R·(what a token adds to B). The last column of
    counts (n, F + 1) is the weight of the document in the sums over words (V, F).
    """
    F = len(alpha)
    A, R = np.empty(F), np.empty(F)
    for d in range(len(indptr) - 1):
        weight, new = counts[d, F], found[d]
        new[:F] = 0.0
        for k in range(F):
            A[k] = counts[d, k] + alpha[k]
        for entry in range(indptr[d], indptr[d + 1]):
            w = indices[entry]
            B, step, least = phi[w], per_token[w], added[w]
            total = 0.0
            for k in range(F):
                R[k] = A[k] * B[k]
                total += R[k]
            total = 1.0 / total
            rest = 0.0
            for k in range(F):
                own = R[k] * total
                a = max(A[k] - own, MIN_PRIOR_PART * alpha[k])
                b = max(B[k] - own * step[k], least * step[k])  # what is left without any token of the word
                R[k] = a * b
                rest += R[k]
            rest = data[entry] / rest
            for k in range(F):
                new[k] += R[k] * rest
                words[w, k] += R[k] * rest * weight


@compile_loop
def count_topics(indptr, indices, data, phi, alpha, n_steps, found):
    """Set `found` (n, F) to the expected tokens of each topic in each document, by steps of EM from none."""
    F = len(alpha)
    A, total = np.empty(F), np.empty(F)
    for d in range(len(indptr) - 1):
        count = found[d]
        count[:] = 0.0
        for _ in range(n_steps):
            for k in range(F):
                A[k] = count[k] + alpha[k]
                total[k] = 0.0
            for entry in range(indptr[d], indptr[d + 1]):
                B, z = phi[indices[entry]], 0.0
                for k in range(F):
                    z += A[k] * B[k]
                # A word without a token in the corpus has probability zero in every topic and tells nothing.
                ratio = data[entry] / z if z > 0 else 0.0
                for k in range(F):
                    total[k] += ratio * B[k]
            for k in range(F):
                count[k] = A[k] * total[k]


@compile_loop
def mix_topics(indptr, indices, shares, phi, mixed, squares):
    """Set, for each entry, p(word | mixture) and Σ_k r_k², where r are the probabilities of the token's topics."""
    F = phi.shape[1]
    for d in range(len(indptr) - 1):
        for entry in range(indptr[d], indptr[d + 1]):
            B, z, square = phi[indices[entry]], 0.0, 0.0
            for k in range(F):
                part = shares[d, k] * B[k]
                z += part
                square += part * part
            mixed[entry] = z
            squares[entry] = square / (z * z) if z > 0 else 0.0


@compile_loop
def draw_topics(indptr, indices, data, mixtures, phi, rng, counts, words):
    """Draw the topic of every token; set the tokens of each topic in documents (n, F) and add those of words (V, F)."""
    F = phi.shape[1]
    sums = np.empty(F)
    for d in range(len(indptr) - 1):
        counts[d] = 0.0
        for entry in range(indptr[d], indptr[d + 1]):
            w, total = indices[entry], 0.0
            for k in range(F):
                total += mixtures[d, k] * phi[w, k]
                sums[k] = total
            for _ in range(int(data[entry])):
                limit, topic = rng.random() * total, 0
                while sums[topic] <= limit and topic < F - 1:
                    topic += 1
                counts[d, topic] += 1.0
                words[w, topic] += 1.0


@compile_loop
def log_rising(a, n):
    """Return log Γ(n + a) / Γ(a) for a whole number n."""
    if n > MAX_FACTORS:
        return lgamma(a + n) - lgamma(a)
    product = 1.0
    for i in range(int(n)):
        product *= a + i
    return np.log(product)


@compile_loop
def score_logits(n, logits):
    """Return log p(tokens of each topic n (F,) | η), up to a constant, of one document."""
    score, size, n_tokens = 0.0, 0.0, 0.0
    for k in range(len(n)):
        a = np.exp(logits[k])
        size += a
        n_tokens += n[k]
        if n[k] > 0:
            score += log_rising(a, n[k])
    return score - log_rising(size, n_tokens)


@compile_loop
def compare_logits(counts, logits, shift):
    """Return how much more probable counts (n, F) are if `shift` is added to all η (n, F), as a logarithm."""
    gain, moved = 0.0, np.empty(logits.shape[1])
    for d in range(len(logits)):
        for k in range(len(moved)):
            moved[k] = logits[d, k] + shift
        gain += score_logits(counts[d], moved) - score_logits(counts[d], logits[d])
    return gain


@compile_loop
def draw_logits(counts, logits, mean, other, rng):
    """Draw η (n, F), in place, by elliptical slice sampling; `other` (n, F) are draws from the prior around zero.

    On the ellipse through η and the other draw, try angles in a bracket that shrinks towards η.
    """
    F = len(mean)
    new = np.empty(F)
    for d in range(len(logits)):
        limit = score_logits(counts[d], logits[d]) + np.log(1.0 - rng.random())
        angle = 2 * np.pi * rng.random()
        low, high = angle - 2 * np.pi, angle
        while abs(angle) > 1e-9:  # zero is η itself: rounding must not go on for ever
            c, s = np.cos(angle), np.sin(angle)
            for k in range(F):
                new[k] = mean[k] + (logits[d, k] - mean[k]) * c + other[d, k] * s
            if score_logits(counts[d], new) > limit:
                logits[d] = new
                break
            if angle < 0:
                low = angle
            else:
                high = angle
            angle = low + (high - low) * rng.random()


@compile_loop
def score_shape(words, totals, p, shape):
    """Return log p(word counts (V, F) | shape), up to a constant: they are negative binomial; totals (F,) of topics."""
    score = 0.0
    for w in range(len(words)):
        rate = shape / p[w]
        constant = shape * np.log(rate)
        for k in range(len(totals)):
            n = words[w, k]
            score += constant - (shape + n) * np.log(rate + totals[k])
            if n > 0:
                score += log_rising(shape, n)
    return score
