"""Phrases: two words next to each other, such as "climate change", that are counted as one word.

A pair of neighboring words is a phrase if

1. it is in at least `min_df` documents;
2. it occurs more often than its words would be neighbors by chance, by the likelihood-ratio test of independence in the
   2 × 2 table of first and second words (Dunning 1993), at the level 0.05 divided by the number of possible pairs of
   words (Bonferroni);
3. its normalized pointwise mutual information, log(p(ab) / (p(a) p(b))) / −log p(ab), is at least MIN_NPMI: in a large
   corpus the test alone would accept pairs that are hardly more frequent than chance;
4. neither word takes the other place in a stronger phrase: a word begins phrases or ends them. Phrases then never
   overlap, and the counts of their words follow from the counts of words and pairs, without a second look at the texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from scipy.special import xlogy
from scipy.stats import chi2

#: The level of the test for all pairs together, and the least strength of a phrase.
LEVEL, MIN_NPMI = 0.05, 0.4

Integers = npt.NDArray[np.int64]


class PhraseChoice(NamedTuple):
    """Terms of which some are pairs of words."""

    is_kept: npt.NDArray[np.bool_]  # words, and pairs that are phrases
    total: Integers  # tokens of each kept term, where a token in a phrase does not count for its words


def choose_phrases(terms: Any, total: Integers, n_tokens: int) -> PhraseChoice:
    """Choose phrases among terms (a pa.Array): words, and pairs of these words with a space between."""
    is_pair = pc.match_substring(terms, " ").to_numpy(zero_copy_only=False)
    pairs = np.flatnonzero(is_pair)
    first, second = find_parts(terms, pairs)
    n_words = int((~is_pair).sum())
    together, a, b = total[pairs], total[first], total[second]
    strength = compute_npmi(together, a, b, n_tokens)
    ratio = compute_likelihood_ratio(together, a, b, n_tokens)
    limit = chi2.isf(LEVEL / max(n_words, 1) ** 2, 1)
    there = (first >= 0) & (second >= 0) & (first != second)
    found = np.flatnonzero(there & (ratio > limit) & (strength >= MIN_NPMI))
    order = found[np.lexsort((pairs[found], -ratio[found]))]
    chosen = drop_overlaps(first, second, order)
    remaining = total.copy()
    np.subtract.at(remaining, first[chosen], together[chosen])
    np.subtract.at(remaining, second[chosen], together[chosen])
    is_kept = ~is_pair
    is_kept[pairs[chosen]] = True
    return PhraseChoice(is_kept, remaining)


def find_parts(terms: Any, pairs: Integers) -> tuple[Integers, Integers]:
    """Return the places of the first and the second word of each pair among the terms; −1 where it is not there."""
    words = pc.split_pattern(terms.take(pa.array(pairs)), " ").values
    places = pc.index_in(words, value_set=terms).fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return places[::2], places[1::2]


def compute_npmi(together: Integers, a: Integers, b: Integers, n: int) -> npt.NDArray[np.float64]:
    """Return the normalized pointwise mutual information of pairs."""
    p = np.maximum(together, 1) / max(n, 1)
    own = np.maximum(a, 1) / max(n, 1) * (np.maximum(b, 1) / max(n, 1))
    return np.asarray(np.log(p / own) / -np.log(np.minimum(p, 1 - 1e-12)))


def compute_likelihood_ratio(together: Integers, a: Integers, b: Integers, n: int) -> npt.NDArray[np.float64]:
    """Return twice the log likelihood ratio of dependence; 0 where a pair is rarer than by chance."""
    observed = np.array([together, a - together, b - together, n - a - b + together], dtype=np.float64)
    observed = np.maximum(observed, 0.0)
    n = max(n, 1)
    expected = np.array([a * b / n, a * (n - b) / n, (n - a) * b / n, (n - a) * (n - b) / n])
    ratio = 2.0 * (xlogy(observed, observed) - xlogy(observed, np.maximum(expected, 1e-300))).sum(axis=0)
    return np.where(together * n > a * b, ratio, 0.0)


def drop_overlaps(first: Integers, second: Integers, order: Integers) -> Integers:
    """Return the pairs, strongest first, of which no word begins one and ends another."""
    begins, ends, kept = set[int](), set[int](), list[int]()
    for pair in order.tolist():
        a, b = int(first[pair]), int(second[pair])
        if a not in ends and b not in begins:
            begins.add(a)
            ends.add(b)
            kept.append(pair)
    return np.array(sorted(kept), dtype=np.int64)


def build_subtraction(vocabulary: Sequence[str]) -> Any:
    """Return the matrix (V, V) by which X takes the tokens of phrases from their words; None without phrases."""
    place = {word: column for column, word in enumerate(vocabulary)}
    entries = [
        (place[term], place[word]) for term in vocabulary if " " in term for word in term.split(" ") if word in place
    ]
    if not entries:
        return None
    rows, columns = zip(*entries, strict=True)
    shape = (len(place), len(place))
    parts = sp.csr_matrix((np.ones(len(entries), dtype=np.int32), (rows, columns)), shape=shape)
    return sp.identity(len(place), dtype=np.int32, format="csr") - parts


def merge_phrases(counts: Any, subtraction: Any) -> Any:
    """Return counts (CSR, int32) in which a token of a phrase does not count for its words."""
    if subtraction is None:
        return counts
    merged = (counts @ subtraction).tocsr().astype(np.int32)
    merged.eliminate_zeros()
    merged.sort_indices()
    return merged
