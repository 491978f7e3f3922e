"""Compiled loops over the tokens of documents: the work that NumPy could do only in large temporary arrays.

Each function goes through the rows of a CSR matrix (indptr, indices, data) one by one, so a document gives the same
bits alone, in a batch or in any block. No operation may be reordered (`fastmath`): compilers choose the order by where
arrays lie in memory, so that threads would change bits. Sums over topics have four parts that do not wait for each
other. Topics phi are (V, F): the numbers of one word lie next to each other.
"""

from __future__ import annotations

from collections.abc import Callable
from math import lgamma
from typing import Any

import numpy as np
from numba import njit

#: A document cannot lose more than this part of a topic's prior by leaving a token out.
MIN_PRIOR_PART = 0.5
#: Smaller parts of a token are left out of the products of words.
MIN_TOKEN_PART = 0.02
#: Up to so many tokens, Γ(n + a) / Γ(a) is a product.
MAX_FACTORS = 12
#: Numbers of up to 1e30 whose product has one logarithm.
LOGARITHMS_AT_A_TIME = 8


def compile_loop(function: Callable[..., Any]) -> Any:
    """Compile a function at its first call and keep it for later processes, where a folder for that can be written."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # no folder can be written
        return njit(**options)(function)


@compile_loop
def add_up(x):
    """Return the sum of an array."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    whole = len(x) // 4 * 4
    for k in range(0, whole, 4):
        a += x[k]
        b += x[k + 1]
        c += x[k + 2]
        d += x[k + 3]
    for k in range(whole, len(x)):
        a += x[k]
    return (a + b) + (c + d)


@compile_loop
def weigh_pair(n_j, n_k, alpha, sizes):
    """Return the weights of two topics with n_j and n_k tokens in a document, and a prior alpha for both together."""
    total, size = n_j + n_k, sizes[0] + sizes[1]
    part = (total + alpha) / (total + size)
    return (n_j + sizes[0]) * part, (n_k + sizes[1]) * part


@compile_loop
def sweep_documents(
    indptr, indices, data, counts, before, added, sizes, topic_sizes, sums, alpha, pairs, pair_sizes, found, words
):
    """Give the tokens to topics, each without its own part in the counts; add them to `found` and `words`.

    With A the document's counts (n, F) plus α, and B the word's probability in each topic, a token belongs to the
    topics by R = AB / Σ AB. Without itself it would have A − R and B − R·(what a token adds to B). Column F of counts
    is the weight of the document in the sums over words (V, F). The prior alpha is (n, F), or (1, F) if it is the same
    for all documents; for pairs of topics (P, 2) it is that of `PairPrior` with sizes (P, 2). The probabilities are
    those of `WordPrior`: computed for each entry, they need no arrays of their own.
    """
    F = alpha.shape[1]
    A, B, R, step = np.empty(F), np.empty(F), np.empty(F), np.empty(F)
    for d in range(len(indptr) - 1):
        weight, new, prior = counts[d, F], found[d], alpha[d if len(alpha) > 1 else 0]
        new[:F] = 0.0
        for k in range(F):
            A[k] = counts[d, k] + prior[k]
        for i in range(len(pairs)):
            j, k = pairs[i]
            A[j], A[k] = weigh_pair(counts[d, j], counts[d, k], prior[j] + prior[k], pair_sizes[i])
        for entry in range(indptr[d], indptr[d + 1]):
            w = indices[entry]
            count, least, size = before[w], added[w], sizes[w]
            for k in range(F):
                step[k] = 1.0 / ((topic_sizes[k] + size) * sums[k])
                B[k] = (count[k] + least) * step[k]
                R[k] = A[k] * B[k]
            total = 1.0 / add_up(R)
            for k in range(F):
                own = R[k] * total
                a, least_a = A[k] - own, MIN_PRIOR_PART * prior[k]
                b, least_b = B[k] - own * step[k], least * step[k]  # what is left without any token of the word
                R[k] = (a if a > least_a else least_a) * (b if b > least_b else least_b)
            for i in range(len(pairs)):
                j, k = pairs[i]
                own_j, own_k = A[j] * B[j] * total, A[k] * B[k] * total
                n_j, n_k = max(counts[d, j] - own_j, 0.0), max(counts[d, k] - own_k, 0.0)
                a_j, a_k = weigh_pair(n_j, n_k, prior[j] + prior[k], pair_sizes[i])
                R[j] = a_j * max(B[j] - own_j * step[j], least * step[j])
                R[k] = a_k * max(B[k] - own_k * step[k], least * step[k])
            rest = data[entry] / add_up(R)
            for k in range(F):
                new[k] += R[k] * rest
                words[w, k] += R[k] * rest * weight


@compile_loop
def count_topics(indptr, indices, data, phi, alpha, n_steps, found):
    """Set `found` (n, F) to the expected tokens of each topic in each document, by steps of EM from none.

    The prior alpha is (n, F), or (1, F) if it is the same for all documents.
    """
    F = phi.shape[1]
    A, R, total = np.empty(F), np.empty(F), np.empty(F)
    for d in range(len(indptr) - 1):
        count, prior = found[d], alpha[d if len(alpha) > 1 else 0]
        count[:] = 0.0
        for _ in range(n_steps):
            for k in range(F):
                A[k] = count[k] + prior[k]
                total[k] = 0.0
            for entry in range(indptr[d], indptr[d + 1]):
                B = phi[indices[entry]]
                for k in range(F):
                    R[k] = A[k] * B[k]
                z = add_up(R)
                # A word without a token in the corpus has probability zero in every topic and tells nothing.
                ratio = data[entry] / z if z > 0 else 0.0
                for k in range(F):
                    total[k] += ratio * B[k]
            for k in range(F):
                count[k] = A[k] * total[k]


@compile_loop
def count_topics_of_others(indptr, indices, data, phi, alpha, n_steps, found):
    """Set `found` as `count_topics` does, but give each token to topics by the counts of the other tokens only.

    In a document of few tokens, a token that confirms itself makes the mixture too sure.
    """
    F = phi.shape[1]
    longest = 0
    for d in range(len(indptr) - 1):
        longest = max(longest, indptr[d + 1] - indptr[d])
    parts, R, total = np.empty((longest, F)), np.empty(F), np.empty(F)
    for d in range(len(indptr) - 1):
        first, count, prior = indptr[d], found[d], alpha[d if len(alpha) > 1 else 0]
        count[:] = 0.0
        for step in range(n_steps):
            total[:] = 0.0
            for entry in range(first, indptr[d + 1]):
                B, own = phi[indices[entry]], parts[entry - first]
                for k in range(F):
                    rest = count[k] - own[k] if step > 0 else 0.0
                    R[k] = ((rest if rest > 0.0 else 0.0) + prior[k]) * B[k]
                z = add_up(R)
                scale = 1.0 / z if z > 0 else 0.0
                for k in range(F):
                    own[k] = R[k] * scale
                    total[k] += data[entry] * own[k]
            count[:] = total


@compile_loop
def mix_topics(indptr, indices, shares, phi, mixed, squares):
    """Set, for each entry, p(word | mixture) and Σ_k r_k², where r are the probabilities of the token's topics."""
    F = phi.shape[1]
    R = np.empty(F)
    for d in range(len(indptr) - 1):
        for entry in range(indptr[d], indptr[d + 1]):
            B = phi[indices[entry]]
            for k in range(F):
                R[k] = shares[d, k] * B[k]
            z = add_up(R)
            for k in range(F):
                R[k] *= R[k]
            mixed[entry] = z
            squares[entry] = add_up(R) / (z * z) if z > 0 else 0.0


@compile_loop
def pair_words(indptr, indices, data, counts, phi, alpha, place, pairs, noise):
    """Add, for each topic, the products of the numbers of its tokens of two words in a document.

    They are divided by the topic's tokens in the document. `place` (V, F) is the number of a word among those of the
    topic that are paired, or −1. Products of words i > j are added to pairs (F, n, n), the tokens of each word to the
    diagonal, and the variances of products of words that have nothing to do with each other to noise (F,).
    """
    F = len(alpha)
    longest = 0
    for d in range(len(indptr) - 1):
        longest = max(longest, indptr[d + 1] - indptr[d])
    R, size, chosen, values = np.empty(F), np.empty(longest), np.empty(longest, np.int64), np.empty(longest)
    for d in range(len(indptr) - 1):
        if counts[d, F] == 0:
            continue
        first, n_entries = indptr[d], indptr[d + 1] - indptr[d]
        for e in range(n_entries):
            w = indices[first + e]
            for k in range(F):
                R[k] = (counts[d, k] + alpha[k]) * phi[w, k]
            z = add_up(R)
            size[e] = data[first + e] / z if z > 0 else 0.0
        for k in range(F):
            if counts[d, k] <= 1.0:
                continue
            n_chosen, n = 0, 0.0
            for e in range(n_entries):
                w = indices[first + e]
                value = (counts[d, k] + alpha[k]) * phi[w, k] * size[e]
                if place[w, k] >= 0 and value > MIN_TOKEN_PART:
                    chosen[n_chosen], values[n_chosen] = place[w, k], value
                    n_chosen += 1
                    n += value
            if n <= 1.0:
                continue
            noise[k] += (n - 1.0) / n
            for i in range(n_chosen):
                row = chosen[i]
                pairs[k, row, row] += values[i]
                for j in range(i):
                    column, product = chosen[j], values[i] * values[j] / n
                    pairs[k, max(row, column), min(row, column)] += product


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
        rate, product = shape / p[w], 1.0
        for k in range(len(totals)):
            n = words[w, k]
            if n > 0:
                score += log_rising(shape, n) - n * np.log(rate + totals[k])
            product *= 1.0 + totals[k] / rate
            if k % LOGARITHMS_AT_A_TIME == 0:
                score -= shape * np.log(product)
                product = 1.0
        score -= shape * np.log(product)
    return score
