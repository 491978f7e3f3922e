"""Compiled loops over the tokens of documents: the work that NumPy could do only in large temporary arrays.

Each function goes through the rows of a CSR matrix (indptr, indices, data) one by one, so a document gives the same
bits alone, in a batch or in any block. Topics phi are (V, F). The loops themselves are in token_kernels.c.
"""

from __future__ import annotations

from ctypes import c_double
from typing import Any

import numpy as np

from anchorless._core.compiled import call, check_range, hold_generator, make_room, read, read_rows, write
from anchorless._corpus.documents import Array

#: A word has fewer tokens than this in a document: a loop over them ends.
MAX_TOKENS = 2**53


def sweep_documents(
    indptr: Any,
    indices: Any,
    data: Array,
    counts: Array,
    before: Array,
    added: Array,
    sizes: Array,
    topic_sizes: Array,
    sums: Array,
    alpha: Array,
    pairs: Any,
    pair_sizes: Array,
    found: Array,
    words: Array,
) -> None:
    """Give the tokens to topics, each without its own part in the counts; add them to `found` and `words`.

    With A the document's counts (n, F) plus α, and B the word's probability in each topic, a token belongs to the
    topics by R = AB / Σ AB. Without itself it would have A − R and B − R·(what a token adds to B). Column F of counts
    is the weight of the document in the sums over words (V, F). The prior alpha is (n, F), or (1, F) if it is the same
    for all documents; for pairs of topics (P, 2) it is that of `PairPrior` with sizes (P, 2). The probabilities are
    those of `WordPrior`: computed for each entry, they need no arrays of their own.
    """
    (n, n_columns), (V, F), n_priors, n_pairs = counts.shape, before.shape, len(alpha), len(pairs)
    check_prior(n_priors, n)
    if n_columns <= F:
        raise TypeError(f"counts have {n_columns} columns, but there are {F} topics and a weight")
    check_range(pairs, F)
    call(
        "sweep_documents",
        *(n, F, n_columns, n_priors, n_pairs),
        *read_rows(indptr, indices, n, V),
        read(data, len(indices)),
        read(counts, n, n_columns),
        read(before, V, F),
        *(read(added, V), read(sizes, V), read(topic_sizes, F), read(sums, F)),
        read(alpha, n_priors, F),
        *(read(pairs, n_pairs, 2, dtype=np.int64), read(pair_sizes, n_pairs, 2)),
        *(write(found, n, n_columns), write(words, V, F), make_room(4, F)),
    )


def count_topics(indptr: Any, indices: Any, data: Array, phi: Array, alpha: Array, n_steps: int, found: Array) -> None:
    """Set `found` (n, F) to the expected tokens of each topic in each document, by steps of EM from none.

    The prior alpha is (n, F), or (1, F) if it is the same for all documents.
    """
    (V, F), n, n_priors = phi.shape, len(found), len(alpha)
    check_prior(n_priors, n)
    rows = read_rows(indptr, indices, n, V)
    given = read(data, len(indices)), read(phi, V, F), read(alpha, n_priors, F), write(found, n, F)
    call("count_topics", n, F, n_priors, n_steps, *rows, *given, make_room(3, F))


def count_topics_of_others(
    indptr: Any, indices: Any, data: Array, phi: Array, alpha: Array, n_steps: int, found: Array
) -> None:
    """Set `found` as `count_topics` does, but give each token to topics by the counts of the other tokens only.

    In a document of few tokens, a token that confirms itself makes the mixture too sure.
    """
    (V, F), n, n_priors = phi.shape, len(found), len(alpha)
    check_prior(n_priors, n)
    rows = read_rows(indptr, indices, n, V)
    given = read(data, len(indices)), read(phi, V, F), read(alpha, n_priors, F), write(found, n, F)
    room = make_room(measure_longest(indptr), F), make_room(2, F)
    call("count_topics_of_others", n, F, n_priors, n_steps, *rows, *given, *room)


def mix_topics(indptr: Any, indices: Any, shares: Array, phi: Array, mixed: Array, squares: Array) -> None:
    """Set, for each entry, p(word | mixture) and Σ_k r_k², where r are the probabilities of the token's topics."""
    (V, F), n, n_entries = phi.shape, len(shares), len(indices)
    given = *read_rows(indptr, indices, n, V), read(shares, n, F), read(phi, V, F)
    call("mix_topics", n, F, *given, write(mixed, n_entries), write(squares, n_entries), make_room(F))


def pair_words(
    indptr: Any,
    indices: Any,
    data: Array,
    counts: Array,
    phi: Array,
    alpha: Array,
    place: Any,
    pairs: Array,
    noise: Array,
) -> None:
    """Add, for each topic, the products of the numbers of its tokens of two words in a document.

    They are divided by the topic's tokens in the document. `place` (V, F) is the number of a word among those of the
    topic that are paired, or −1. Products of words i > j are added to pairs (F, n, n), the tokens of each word to the
    diagonal, and the variances of products of words that have nothing to do with each other to noise (F,).
    """
    (n, n_columns), (V, F), n_paired, longest = counts.shape, phi.shape, pairs.shape[1], measure_longest(indptr)
    if n_columns <= F:
        raise TypeError(f"counts have {n_columns} columns, but there are {F} topics and a weight")
    check_range(place, n_paired, least=-1)
    call(
        "pair_words",
        *(n, F, n_columns, n_paired),
        *read_rows(indptr, indices, n, V),
        *(read(data, len(indices)), read(counts, n, n_columns)),
        *(read(phi, V, F), read(alpha, F), read(place, V, F, dtype=np.int32)),
        *(write(pairs, F, n_paired, n_paired), write(noise, F)),
        *(make_room(F), make_room(longest), make_room(longest), make_room(longest, dtype=np.int64)),
    )


def draw_topics(
    indptr: Any,
    indices: Any,
    data: Array,
    mixtures: Array,
    phi: Array,
    rng: np.random.Generator,
    counts: Array,
    words: Array,
) -> None:
    """Draw the topic of every token; set the tokens of each topic in documents (n, F) and add those of words (V, F)."""
    (V, F), n = phi.shape, len(mixtures)
    given = *read_rows(indptr, indices, n, V), read(data, len(indices)), read(mixtures, n, F), read(phi, V, F)
    if len(data) and not (F and data.min() >= 0 and data.max() < MAX_TOKENS):
        raise ValueError(f"{F} topics cannot be drawn for words with {data.min()} to {data.max()} tokens")
    with hold_generator(rng) as generator:
        call("draw_topics", n, F, *given, *generator, write(counts, n, F), write(words, V, F), make_room(F))


def log_rising(a: float, n: float) -> float:
    """Return log Γ(n + a) / Γ(a) for a whole number n."""
    return float(call("log_rising", float(a), float(n), result=c_double))


def score_logits(n: Array, logits: Array) -> float:
    """Return log p(tokens of each topic n (F,) | η), up to a constant, of one document."""
    F = len(n)
    return float(call("score_logits", F, read(n, F), read(logits, F), result=c_double))


def compare_logits(counts: Array, logits: Array, shift: float) -> float:
    """Return how much more probable counts (n, F) are if `shift` is added to all η (n, F), as a logarithm."""
    n, F = logits.shape
    given = read(counts, n, F), read(logits, n, F), float(shift)
    return float(call("compare_logits", n, F, *given, result=c_double))


def draw_logits(counts: Array, logits: Array, mean: Array, other: Array, rng: np.random.Generator) -> None:
    """Draw η (n, F), in place, by elliptical slice sampling; `other` (n, F) are draws from the prior around zero.

    On the ellipse through η and the other draw, try angles in a bracket that shrinks towards η.
    """
    n, F = logits.shape
    given = read(counts, n, F), write(logits, n, F), read(mean, F), read(other, n, F)
    with hold_generator(rng) as generator:
        call("draw_logits", n, F, *given, *generator, make_room(F))


def score_shape(words: Array, totals: Array, p: Array, shape: float) -> float:
    """Return log p(word counts (V, F) | shape), up to a constant: they are negative binomial; totals (F,) of topics."""
    V, F = words.shape
    given = read(words, V, F), read(totals, F), read(p, V), float(shape)
    return float(call("score_shape", V, F, *given, result=c_double))


def measure_longest(indptr: Any) -> int:
    """Return the entries of the longest row of a CSR matrix."""
    return int(np.diff(indptr).max(initial=0))


def check_prior(n_priors: int, n: int) -> None:
    """Refuse priors that are neither one for all documents nor one for each."""
    if n_priors not in (1, n):
        raise TypeError(f"there are {n_priors} priors for {n} documents; give one, or one for each")
