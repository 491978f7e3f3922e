"""Weighting of counts: word weights and normalized cuts, as scalings of rows and columns that keep sparse data sparse.

The statistics that the weights need (document frequencies, the sum of the documents) add over blocks, so the same
functions serve documents in memory, on disk and on a cluster.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from anchorless._core.document_lengths import compute_row_norms
from anchorless._corpus.documents import Array, Documents, compute_word_sums
from anchorless._corpus.sparse import find_fraction, to_canonical_csr
from anchorless.errors import InputError

#: Word weights of each weighting (a key of `INVERSE_FREQUENCIES`); the counts as they are have none. Names that end in
#: "-ncw" are followed by a normalized cut.
WORD_WEIGHTS = {"chi2-ncw": "chi2", "tfidf-ncw": "plain", "tfidf": "plain"}
#: With the weight √(N / df), as in the chi-square distance, the noise of all words is the same, and the many rare
#: words would fill the leading eigenvectors. So each word counts as if it were in √N times this many more documents.
ADDED_FREQUENCY = 0.25
#: Words of every document tell little: this is subtracted from the weights, all of which would otherwise be at least 1.
#: (How both were chosen: docs/research.md, "Word weights".)
SUBTRACTED_WEIGHT = 0.75
#: Similarities to the other documents below this share of the median count as that much: otherwise single odd posts
#: become topics. Larger values lose what normalized cuts gain on clean text.
DEGREE_FLOOR = 0.25
#: The weights of another start: as in chi-square distances, words of every document included.
OTHER_ADDED_FREQUENCY = 0.5
#: A word is shown as if it were at most so many times as probable as among the tokens of the topic.
MAX_TOKEN_FACTOR = 10.0

#: How a count becomes a term frequency. Below one the logarithm is negative, so a fraction of a token stays as it is.
TERM_FREQUENCIES: dict[str, Callable[[Array], Array]] = {
    "log": lambda counts: np.where(counts >= 1.0, 1.0 + np.log(np.maximum(counts, 1.0)), counts),
    "count": np.copy,
    "binary": np.ones_like,
}
#: Inverse document frequency from the number of documents and the document frequencies (V,).
INVERSE_FREQUENCIES: dict[str, Callable[[int, Array], Array]] = {
    "plain": lambda n, df: np.log(n / np.maximum(df, 1)),
    "smooth": lambda n, df: np.log((1 + n) / (1 + df)) + 1.0,
    "chi2": lambda n, df: np.sqrt(n / (df + ADDED_FREQUENCY * np.sqrt(n))) - SUBTRACTED_WEIGHT,
    "none": lambda n, df: np.ones(len(df)),
}


class WordWeights(NamedTuple):
    """What is needed to weight a new document as the training documents were weighted."""

    weighting: str  # one of WEIGHTINGS
    idf: Array | None  # (V,)
    total: Array | None  # (V,), the sum of the training documents after tf-idf
    least_degree: float  # a smaller similarity to that sum counts as this much

    def transform(self, counts: Any) -> Any:
        """Weight documents × words, each row from its own document only."""
        X = to_canonical_csr(counts)
        if self.idf is not None:
            X = apply_tfidf(X, self.idf)
        if self.total is not None:
            X = apply_normalized_cut(X, self.total, self.least_degree)
        return X

    def remove_idf(self, topics: Array) -> Array:
        """Divide topics (F, V) by the idf of their words: the rows are then proportional to frequencies of tokens."""
        if self.idf is None:
            return topics
        return np.divide(topics, self.idf, out=np.zeros_like(topics), where=self.idf > 0)


def compute_relevance(
    topics: Array,
    weights: WordWeights,
    document_frequency: Array,
    n_documents: int,
    topic_word: Array | None = None,
) -> Array:
    """Return how topics (F, V) of weighted words rank the words that are shown; rows sum to one.

    `topic_word` (F, V) are the same topics in the token model, if there is one: a word that they hardly have is not
    shown. Topics of co-occurrences can all have the words of a class of documents that is unlike the others.
    """
    found = topics if topic_word is None else limit_words(topics, weights, topic_word)
    return scale_words(found, compute_relevance_factors(weights, document_frequency, n_documents))


def limit_words(topics: Array, weights: WordWeights, topic_word: Array) -> Array:
    """Return topics (F, V) of weighted words, in which no word is far more probable than in those of tokens."""
    found = np.array(topics)
    for row, tokens in zip(found, topic_word, strict=True):  # by row: at hundreds of topics the arrays are large
        probability = weights.remove_idf(row)
        limit = MAX_TOKEN_FACTOR * tokens * probability.sum()
        np.multiply(row, np.divide(limit, probability, out=np.ones_like(row), where=probability > limit), out=row)
    return found


def compute_relevance_factors(weights: WordWeights, document_frequency: Array, n_documents: int) -> Array:
    """Return numbers (V,) by which topics of weighted words are multiplied to rank the words that are shown.

    Chi-square weights are best for finding topics, but rare words that they raise are hardly seen in other documents:
    words are ranked by tf-idf.
    """
    if weights.idf is None or WORD_WEIGHTS.get(weights.weighting) != "chi2":
        return np.ones(len(document_frequency))
    idf = np.log((1.0 + n_documents) / np.maximum(document_frequency, 1.0))  # positive for words of every document, too
    return np.divide(idf, weights.idf, out=np.zeros_like(idf), where=weights.idf > 0)


def scale_words(topics: Array, factors: Array) -> Array:
    """Return topics (F, V) multiplied by the words' factors (V,), rows scaled to sum one."""
    found = topics * factors
    total = found.sum(axis=1, keepdims=True)
    return np.divide(found, total, out=np.array(topics), where=total > 0)


class WeightedDocuments(NamedTuple):
    """Weighted documents, and the statistics of their counts."""

    documents: Documents
    weights: WordWeights
    statistics: WordStatistics
    lengths: Array  # (N,), tokens of each document


def compute_idf(document_frequency: Array, n_documents: int, idf: str = "plain") -> Array:
    """Compute the weight of each word (V,); a word that is in no document gets weight 0."""
    return np.where(document_frequency > 0, INVERSE_FREQUENCIES[idf](n_documents, document_frequency), 0.0)


def apply_tfidf(X: Any, idf: Array, tf: str = "log", norm: str | None = "l2") -> Any:
    """Weight the counts of a canonical CSR matrix and scale each row to length one."""
    X = X.copy()
    X.data = TERM_FREQUENCIES[tf](X.data) * idf[X.indices]
    X.eliminate_zeros()
    if norm is not None:
        sizes = compute_row_norms(X) if norm == "l2" else np.asarray(abs(X).sum(axis=1)).ravel()
        X.data /= np.repeat(sizes, np.diff(X.indptr))
    return X


def apply_normalized_cut(X: Any, total: Array, least_degree: float) -> Any:
    """Divide each row d of a canonical CSR matrix by √(d·total); a row that shares no word with the total becomes 0."""
    degrees = X @ total
    used = np.sqrt(np.maximum(degrees, least_degree))
    X = X.copy()
    X.data *= np.repeat(np.divide(1.0, used, out=np.zeros_like(degrees), where=degrees > 0), np.diff(X.indptr))
    X.eliminate_zeros()
    return X


def compute_least_degree(degrees: Array, floor: float = DEGREE_FLOOR) -> float:
    """Compute the floor times the median of the positive degrees; 0 without any."""
    positive = degrees[degrees > 0]
    return float(floor * np.median(positive)) if len(positive) else 0.0


class WordStatistics(NamedTuple):
    """Sums over documents for each word (V,); they add up over pieces of a corpus."""

    n_documents: int
    document_frequency: Array
    word_counts: Array
    total: Array  # the sum of the documents after tf-idf

    def pad(self, n_words: int) -> WordStatistics:
        """Return the same statistics with zeros for words that are new."""
        return WordStatistics(self.n_documents, *(np.pad(sums, (0, n_words - len(sums))) for sums in self[1:]))


def compute_other_idf(n_documents: int, document_frequency: Array) -> Array:
    """Compute the weights of the words (V,) for another start than that of the weights "chi2"."""
    return np.sqrt(n_documents / (document_frequency + OTHER_ADDED_FREQUENCY * np.sqrt(n_documents)))


def weight_documents(
    counts: Documents,
    weighting: str,
    n_threads: int,
    earlier: WordStatistics | None = None,
    *,
    compute_weights: Callable[[int, Array], Array] | None = None,
) -> WeightedDocuments:
    """Weight counts, which follow the documents of the `earlier` statistics if given.

    `compute_weights` computes other word weights than those of the weighting, from documents and frequencies (V,).
    """
    words, _, frequency = compute_word_sums(counts, n_threads)
    lengths = np.concatenate([*counts.map_blocks(lambda X: np.asarray(X.sum(axis=1)).ravel(), n_threads)])
    n_documents, total = counts.shape[0], np.zeros(counts.shape[1])
    if earlier is not None:
        n_documents += earlier.n_documents
        frequency, words, total = frequency + earlier.document_frequency, words + earlier.word_counts, earlier.total
    documents, idf, reference, least_degree = counts, None, None, 0.0
    if weighting != "counts":
        compute = compute_weights or INVERSE_FREQUENCIES[WORD_WEIGHTS[weighting]]
        idf = np.where(frequency > 0, compute(n_documents, frequency), 0.0)
        documents = documents.transform_blocks(WordWeights(weighting, idf, None, 0.0).transform).materialize(n_threads)
    if weighting.endswith("-ncw"):
        total = total + documents.sum_blocks(sum_columns, n_threads)
        # Where documents arrive in pieces, those of early and of late pieces must count alike: hence the mean.
        reference = total if earlier is None else total / n_documents
        degrees = [*documents.map_blocks(lambda D: D @ reference, n_threads)]
        least_degree = compute_least_degree(np.concatenate(degrees))
        cut = WordWeights(weighting, None, reference, least_degree).transform
        documents = documents.transform_blocks(cut).materialize(n_threads)
    weights = WordWeights(weighting, idf, reference, least_degree)
    return WeightedDocuments(documents, weights, WordStatistics(n_documents, frequency, words, total), lengths)


def sum_columns(block: Any) -> Array:
    """Sum the documents of a block (V,)."""
    return np.asarray(block.sum(axis=0)).ravel()


def check_whole_counts(documents: Documents, weighting: str, source: str) -> None:
    """Refuse fractions where the weighting is for counts: weighting twice would give wrong topics without an error."""
    if weighting == "counts":
        return
    for fraction in documents.map_blocks(find_fraction, 1):
        if fraction is not None:
            raise InputError(
                f"{source} holds {fraction:.6g}, but weighting={weighting!r} starts from whole counts",
                remedy="give counts, or set {weighting} to 'counts' to use the numbers as they are",
            )
