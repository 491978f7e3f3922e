"""Measures of topics: coherence, distinctness, agreement with known classes, and prediction of held-out words.

`components` are nonnegative topics × words without all-zero rows; rows need not sum to one. The leading words of a
topic are those of largest weight; of equal weights, the first. A word occurs in a document of `X` if its entry is above
zero; freq is the number of documents in which one word, or both of two, occur. Empty documents count. Components, X or
parameters that cannot be used raise `InputError`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from threadpoolctl import threadpool_limits

from anchorless._core.nnls import compute_gram, solve_nnls
from anchorless._corpus.documents import Array, Documents
from anchorless._corpus.sparse import to_canonical_csr
from anchorless._validation import check_positive
from anchorless.errors import InputError

__all__ = [
    "Completion",
    "clustering_accuracy",
    "coherence",
    "document_completion",
    "exclusivity",
    "leading_words",
    "match_topics",
    "npmi",
    "recovery_error",
    "similarity_count",
    "topic_diversity",
    "umass",
]

#: Added to the diagonal of CᵀC, relative to it, so that linearly dependent topics have one solution.
_RIDGE = 1e-10
#: NumPy draws no hypergeometric numbers for this many tokens or more.
_MAX_TOKENS = 1e9


def coherence(components: Any, X: Any, n_words: int = 20, eps: float = 0.01) -> Array:
    """Compute the coherence of each topic as the AnchorFree paper defines it.

    The sum over ordered pairs v₁ ≠ v₂ of leading words of log((freq(v₁, v₂) + eps) / freq(v₂)). Higher is better; the
    best value is 0 as eps → 0. A word v₂ that is in no document counts as if it were alone in one.

    Parameters
    ----------
    components : array-like or sparse matrix of shape (n_topics, n_vocabulary)
        Weights of the words in each topic.
    X : array-like, sparse matrix, Documents or Corpus of shape (n_documents, n_vocabulary)
        Documents in which word pairs are counted.
    n_words : int, default=20
        Number of leading words of each topic.
    eps : float, default=0.01
        Added to the number of documents of each pair.

    Returns
    -------
    ndarray of shape (n_topics,)
        Coherence of each topic.

    Examples
    --------
    >>> from anchorless.metrics import coherence
    >>> X = [[1, 1, 0], [2, 1, 0], [0, 0, 3]]
    >>> coherence([[3, 2, 0], [0, 1, 4]], X, n_words=2).round(3).tolist()
    [0.01, -9.903]
    """
    conditionals = _compute_log_conditionals(components, X, n_words, eps)
    return conditionals[:, ~np.eye(n_words, dtype=bool)].sum(axis=1)


def umass(components: Any, X: Any, n_words: int = 20, eps: float = 1.0) -> Array:
    """Compute the UMass coherence of each topic (Mimno et al. 2011).

    The sum over unordered pairs of leading words of log((freq(v, u) + eps) / freq(u)), where u is the word of higher
    rank. Words in no document count as in `coherence`. gensim's ``u_mass`` is the mean over the pairs with
    ``eps = 1e-12 * n_documents``, but gives 0, the value of a perfect pair, to words in no document.

    Parameters
    ----------
    components, X, n_words
        As in `coherence`.
    eps : float, default=1.0
        Added to the number of documents of each pair.

    Returns
    -------
    ndarray of shape (n_topics,)
        UMass coherence of each topic; higher is better.

    Examples
    --------
    >>> from anchorless.metrics import umass
    >>> umass([[3, 2, 0], [0, 1, 4]], [[1, 1, 0], [2, 1, 0], [0, 0, 3]], n_words=2).round(3).tolist()
    [0.405, 0.0]
    """
    conditionals = _compute_log_conditionals(components, X, n_words, eps)
    v, u = np.tril_indices(n_words, -1)
    return conditionals[:, v, u].sum(axis=1)


def npmi(components: Any, X: Any, n_words: int = 10) -> Array:
    """Compute the mean normalized pointwise mutual information of each topic's pairs of leading words.

    log(p(u, v) / (p(u) p(v))) / −log p(u, v), with p the share of documents. A pair that never occurs together counts
    −1, also if one of its words is in no document; a pair in every document counts 1.

    Parameters
    ----------
    components, X, n_words
        As in `coherence`.

    Returns
    -------
    ndarray of shape (n_topics,)
        NPMI of each topic, from −1 to 1; higher is better.

    Examples
    --------
    >>> from anchorless.metrics import npmi
    >>> npmi([[3, 2, 0], [0, 1, 4]], [[1, 1, 0], [2, 1, 0], [0, 0, 3]], n_words=2).round(3).tolist()
    [1.0, -1.0]
    """
    N, joint = _count_joint_documents(components, X, n_words)
    u, v = np.triu_indices(n_words, 1)
    alone = np.diagonal(joint, axis1=1, axis2=2)
    both, product = joint[:, u, v], alone[:, u] * alone[:, v]
    score = np.where(both == N, 1.0, -1.0)
    regular = (both > 0) & (both < N)
    score[regular] = np.log(both[regular] * N / product[regular]) / -np.log(both[regular] / N)
    return np.clip(score, -1.0, 1.0).mean(axis=1)  # rounding errors may exceed the bounds by 1e-16


def similarity_count(components: Any, n_words: int = 20) -> int:
    """Count the leading words that topics share, summed over unordered pairs of topics (SimCount of the paper).

    Parameters
    ----------
    components, n_words
        As in `coherence`.

    Returns
    -------
    int
        Number of shared words; lower is better.

    Examples
    --------
    >>> from anchorless.metrics import similarity_count
    >>> similarity_count([[3, 2, 0, 0], [0, 1, 4, 0]], n_words=2)
    1
    """
    _, n_topics = np.unique(leading_words(_validate_rows(components), n_words), return_counts=True)
    return int((n_topics * (n_topics - 1) // 2).sum())


def topic_diversity(components: Any, n_words: int = 10) -> float:
    """Compute the share of distinct words among the leading words of all topics.

    Parameters
    ----------
    components, n_words
        As in `coherence`.

    Returns
    -------
    float
        From 1/n_topics to 1; higher is better.

    Examples
    --------
    >>> from anchorless.metrics import topic_diversity
    >>> topic_diversity([[3, 2, 0, 0], [0, 1, 4, 0]], n_words=2)
    0.75
    """
    words = leading_words(_validate_rows(components), n_words)
    return len(np.unique(words)) / words.size


def exclusivity(components: Any, n_words: int = 10) -> Array:
    """Compute how far the leading words of each topic belong to it alone.

    The mean over the leading words of p(word | topic) / Σ p(word | any topic). Rows are scaled to sum one first. A
    word of weight zero in every topic counts 0.

    Parameters
    ----------
    components, n_words
        As in `coherence`.

    Returns
    -------
    ndarray of shape (n_topics,)
        Exclusivity of each topic, from 0 to 1; higher is better.

    Examples
    --------
    >>> from anchorless.metrics import exclusivity
    >>> exclusivity([[1, 1, 0, 0], [0, 1, 1, 0]], n_words=2).tolist()
    [0.75, 0.75]
    """
    topics = _validate_rows(components)
    words, C = leading_words(topics, n_words), _to_probabilities(topics)
    p, total = np.take_along_axis(C, words, axis=1), C.sum(axis=0)[words]
    return np.divide(p, total, out=np.zeros_like(p), where=total > 0).mean(axis=1)


def leading_words(components: Any, n_words: int = 10) -> npt.NDArray[np.intp]:
    """Find the words of largest weight in each topic.

    Parameters
    ----------
    components : array-like of shape (n_topics, n_vocabulary)
        Weights of the words in each topic.
    n_words : int, default=10
        Number of leading words of each topic.

    Returns
    -------
    ndarray of shape (n_topics, n_words)
        Columns of the words, largest weight first; of equal weights, the first column first.

    Examples
    --------
    >>> from anchorless.metrics import leading_words
    >>> leading_words([[1, 3, 2], [5, 0, 5]], n_words=2).tolist()
    [[1, 2], [0, 2]]
    """
    return _find_leading_words(np.asarray(components), n_words)


def match_topics(components: Any, reference: Any) -> tuple[Array, Array]:
    """Match topics one to one so that the sum of their squared distances is smallest (Hungarian method).

    Parameters
    ----------
    components, reference : array-like of shape (n_topics, n_vocabulary)
        Topics to match.

    Returns
    -------
    i, j : ndarray of shape (n_topics,)
        Row ``i[k]`` of components is matched with row ``j[k]`` of reference.

    Examples
    --------
    >>> from anchorless.metrics import match_topics
    >>> i, j = match_topics([[1.0, 0.0], [0.0, 1.0]], [[0.1, 0.9], [0.8, 0.2]])
    >>> i.tolist(), j.tolist()
    ([0, 1], [1, 0])
    """
    A, B = np.asarray(components, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    if A.ndim != 2 or A.shape != B.shape:
        raise InputError(f"topics of shapes {A.shape} and {B.shape} cannot be matched; both must be topics × words")
    distance = np.array([((A - b) ** 2).sum(axis=1) for b in B]).T
    return linear_sum_assignment(distance)


def recovery_error(components: Any, true_components: Any) -> float:
    """Compute the squared distance ‖C − C_true‖² of topics from known ones, after matching them.

    Parameters
    ----------
    components, true_components : array-like of shape (n_topics, n_vocabulary)
        Topics to compare. Both may be words × topics instead, as C in the paper: the shorter side is that of topics.

    Returns
    -------
    float
        Sum of squared differences over words and topics.

    Examples
    --------
    >>> from anchorless.metrics import recovery_error
    >>> recovery_error([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], [[0.0, 0.0, 1.0], [0.5, 0.25, 0.25]])
    0.125
    """
    A, B = np.asarray(components, dtype=np.float64), np.asarray(true_components, dtype=np.float64)
    if A.ndim == 2 and A.shape[0] > A.shape[1] and A.shape == B.shape:
        A, B = A.T, B.T
    i, j = match_topics(A, B)
    return float(((A[i] - B[j]) ** 2).sum())


def clustering_accuracy(labels: Iterable[Hashable], clusters: Iterable[Hashable]) -> float:
    """Compute the share of documents in the right cluster, under the best matching of clusters with labels.

    Each label is matched with at most one cluster and each cluster with at most one label (Hungarian method). If there
    are more of one than of the other, the documents of those left over count as wrong.

    Parameters
    ----------
    labels, clusters : iterable of hashable
        Known class and cluster of each document.

    Returns
    -------
    float
        Accuracy, at most 1.

    Raises
    ------
    InputError
        If there are no documents, the lengths differ, or a value is NaN or not hashable.

    Examples
    --------
    >>> from anchorless.metrics import clustering_accuracy
    >>> clustering_accuracy(["a", "a", "b", "b"], [1, 1, 0, 1])
    0.75
    """
    truth, found = _index_labels("labels", labels), _index_labels("clusters", clusters)
    if len(truth) != len(found) or len(truth) == 0:
        raise InputError(f"{len(truth)} labels for {len(found)} clusters; give one of each per document, at least one")
    table = np.zeros((truth.max() + 1, found.max() + 1))
    np.add.at(table, (truth, found), 1.0)
    return float(table[linear_sum_assignment(table, maximize=True)].sum() / len(truth))


class Completion(NamedTuple):
    """How well the second halves of documents are predicted, in nats per token.

    Attributes
    ----------
    log_likelihood : float
        Log-likelihood per token of the topics, with weights estimated from the first halves.
    unigram : float
        Log-likelihood per token of one word distribution for all documents: the baseline.
    uniform : float
        Log-likelihood per token if all words are equally likely: log(1 / n_vocabulary).
    n_tokens : int
        Number of tokens in the second halves.
    """

    log_likelihood: float
    unigram: float
    uniform: float
    n_tokens: int


def document_completion(
    components: Any, X: Any, *, background: Any = None, smoothing: float = 0.01, random_state: Any = 0
) -> Completion:
    """Compute the log-likelihood per token of the second half of each document, given its first half.

    The n tokens of a document are split at random, without replacement, into ⌈n/2⌉ and ⌊n/2⌋. The first half d gives
    topic shares w by nonnegative least squares, min ‖d − Cw‖, scaled to sum one. With C the topics as probabilities and
    s = `smoothing`, a token of the second half has probability p(v) = (1 − s) Σ_f w_f C_vf + s u(v), or u(v) if all w
    are zero. The unigram distribution u(v) = (1 − s) b(v) + s/V is never zero.

    Parameters
    ----------
    components, X
        As in `coherence`; X must hold whole counts.
    background : array-like of shape (n_vocabulary,), default=None
        Word weights b, such as the word counts of the training documents; by default, those of the first halves.
    smoothing : float, default=0.01
        Weight of the unigram distribution, above 0 and at most 1.
    random_state : int or numpy.random.Generator, default=0
        Seed of the split. The same seed splits the documents in the same way for every model.

    Returns
    -------
    Completion
        Log-likelihood per token of the topics and of the baselines.

    Raises
    ------
    InputError
        If X does not hold whole counts, or if no document has two tokens.

    Examples
    --------
    >>> from anchorless.datasets import sampled_corpus
    >>> from anchorless.metrics import document_completion
    >>> corpus = sampled_corpus(200, n_topics=3, n_words=50)
    >>> found = document_completion(corpus.components, corpus.counts)
    >>> found.log_likelihood > found.unigram > found.uniform
    True
    """
    topics = _validate_rows(components)
    if isinstance(smoothing, bool) or not isinstance(smoothing, Real) or not 0 < smoothing <= 1:
        problem = "it must be above 0, so that no word is impossible, and at most 1"
        raise InputError(problem, parameter="smoothing", value=smoothing)
    C, V, s = _to_probabilities(topics), topics.shape[1], float(smoothing)
    first, second = _split_tokens(_to_whole_counts(_to_documents(X, V)), np.random.default_rng(random_state))
    if second.nnz == 0:
        raise InputError("no document of X has two tokens, so none can be completed; give longer documents")
    background = first.sum(axis=0) if background is None else background
    b = _validate_rows(np.reshape(background, (1, -1)), "background", "row")
    if b.shape[1] != V:
        raise InputError(f"background has {b.shape[1]} words, but components have {V}; give one weight per word")
    unigram = (1 - s) * _to_probabilities(b)[0] + s / V
    n_tokens = int(second.data.sum())
    predicted = second.data @ _compute_log_mixture(_estimate_topic_shares(first, C), C, unigram, s, second)
    baseline = second.data @ np.log(unigram)[second.indices]
    return Completion(float(predicted / n_tokens), float(baseline / n_tokens), -float(np.log(V)), n_tokens)


def _find_leading_words(topics: Array, n_words: int, least: int = 1) -> npt.NDArray[np.intp]:
    """Return the leading words (F, n_words), or raise for a number that is below `least` or too large."""
    n_vocabulary = topics.shape[1]
    if isinstance(n_words, bool) or not isinstance(n_words, Integral) or not least <= n_words <= n_vocabulary:
        problem = f"it must be a whole number from {least} to {n_vocabulary}, the number of words in the topics"
        raise InputError(problem, parameter="n_words", value=n_words, limit=n_vocabulary)
    found = []
    for topic in topics:  # only the words with the largest weights are sorted
        largest = np.flatnonzero(topic >= np.partition(topic, -n_words)[-n_words])
        found.append(largest[np.argsort(-topic[largest], kind="stable")[:n_words]])
    return np.stack(found)


def _compute_log_conditionals(components: Any, X: Any, n_words: int, eps: float) -> Array:
    """Return log((freq(vᵢ, vⱼ) + eps) / max(freq(vⱼ), 1)) for leading words i, j of each topic (F, n, n)."""
    eps = check_positive("eps", eps)
    _, joint = _count_joint_documents(components, X, n_words)
    alone = np.maximum(np.diagonal(joint, axis1=1, axis2=2), 1.0)
    return np.log(joint + eps) - np.log(alone)[:, None, :]


def _count_joint_documents(components: Any, X: Any, n_words: int) -> tuple[int, Array]:
    """Return the number of documents, and in how many leading words i and j of each topic both occur (F, n, n)."""
    topics = _validate_rows(components)
    words = _find_leading_words(topics, n_words, least=2)
    documents = _to_documents(X, topics.shape[1])
    used, position = np.unique(words, return_inverse=True)

    def count(block: Any) -> Array:
        D = block[:, used].tocsc()
        D.data[:] = 1.0
        # Topic by topic: most pairs of all words are of two topics.
        parts = (D[:, columns] for columns in position.reshape(words.shape))
        return np.stack([(part.T @ part).toarray() for part in parts])

    return documents.shape[0], documents.sum_blocks(count, 1)


def _index_labels(name: str, values: Iterable[Hashable]) -> npt.NDArray[np.intp]:
    """Replace each distinct value by a number, in the order of appearance."""
    seen: dict[Hashable, int] = {}
    try:
        numbers = [seen.setdefault(value, len(seen)) for value in values]
        if any(value != value for value in seen):
            raise InputError(f"{name} contain NaN, which equals nothing; drop those documents or name their class")
    except TypeError as error:
        raise InputError(f"{name} must be a sequence of hashable values, one per document ({error})") from None
    return np.array(numbers, dtype=np.intp)


def _to_whole_counts(documents: Documents) -> Any:
    """Return the documents as one CSR matrix of whole counts, or raise."""
    counts = sp.vstack([*documents.map_blocks(lambda block: block, 1)], format="csr")
    fractions = counts.data[counts.data != np.floor(counts.data)]
    if len(fractions):
        raise InputError(f"X holds {fractions[0]:.6g}, but only whole counts can be split into tokens; give counts")
    if (longest := counts.sum(axis=1).max()) >= _MAX_TOKENS:
        raise InputError(f"a document of X has {longest:.3g} tokens, but fewer than 1e9 can be split; rescale X")
    return counts


def _split_tokens(counts: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    """Split each row of n tokens into ⌈n/2⌉ and ⌊n/2⌋ at random, all subsets of tokens equally likely."""
    data, structure = counts.data.astype(np.int64), (counts.indices, counts.indptr)
    left = np.asarray(counts.sum(axis=1), dtype=np.int64).ravel()
    wanted = (left + 1) // 2
    n_words = np.diff(counts.indptr)
    drawn = np.zeros_like(data)
    rows = np.arange(len(n_words))
    for k in range(n_words.max(initial=0)):  # the k-th word of every document that has one
        rows = rows[n_words[rows] > k]
        entries = counts.indptr[rows] + k
        drawn[entries] = rng.hypergeometric(data[entries], left[rows] - data[entries], wanted[rows])
        left[rows] -= data[entries]
        wanted[rows] -= drawn[entries]
    matrices = (sp.csr_matrix((half, *structure), counts.shape) for half in (drawn, data - drawn))
    first, second = map(to_canonical_csr, matrices)
    return first, second


def _estimate_topic_shares(D: Any, C: Array) -> Array:
    """Return the shares of topics C (F, V) in documents D (N, V); each row sums to one, or is all zero."""
    with threadpool_limits(1, user_api="blas"):
        gram = compute_gram(np.ascontiguousarray(C.T))
        gram[np.diag_indices_from(gram)] *= 1.0 + _RIDGE
        W = solve_nnls(gram, D @ C.T)
    total = W.sum(axis=1, keepdims=True)
    return np.divide(W, total, out=np.zeros_like(W), where=total > 0)


def _compute_log_mixture(shares: Array, C: Array, unigram: Array, s: float, D: Any) -> Array:
    """Return log p of each stored entry of D (N, V) under its document's mixture of topics and unigram."""
    rows = np.repeat(np.arange(D.shape[0]), np.diff(D.indptr))
    unigram_weight = np.where(shares.any(axis=1), s, 1.0)  # a document without weights has the unigram alone
    mixed = np.zeros(len(rows))
    for share, topic in zip(shares.T, C, strict=True):  # entries × topics at once would need too much memory
        mixed += share[rows] * topic[D.indices]
    return np.log((1 - s) * mixed + unigram_weight[rows] * unigram[D.indices])


def _to_probabilities(topics: Array) -> Array:
    """Return rows divided by their sums, without overflow or underflow of the sums."""
    scaled = topics / topics.max(axis=1, keepdims=True)
    scaled /= scaled.sum(axis=1, keepdims=True)
    return scaled


def _validate_rows(values: Any, name: str = "components", row_name: str = "topic") -> Array:
    """Return a dense array of finite, nonnegative weights with a positive one in each row, or raise."""
    if type(values) is np.ndarray and values.dtype == np.float64 and values.ndim == 2 and values.size:
        least, most = values.min(axis=1), values.max(axis=1)
        if least.min() >= 0 and most.min() > 0 and most.max() < np.inf:  # not so if one is NaN
            return values  # hundreds of topics are large, and need no copy
    matrix = _to_csr(name, values)
    _check_entries(name, row_name, Documents([matrix]))
    empty = np.flatnonzero(np.diff(matrix.indptr) == 0)
    if len(empty):
        raise InputError(f"{name}: {row_name} {empty[0]} has no word of positive weight; drop all-zero rows")
    return matrix.toarray()


def _to_documents(X: Any, n_words: int) -> Documents:
    """Return a matrix, `Documents` or a `Corpus` as documents of finite, nonnegative entries over `n_words` words."""
    X = getattr(X, "documents", X)
    documents = X if isinstance(X, Documents) else Documents.from_matrix(_to_csr("X", X))
    if documents.shape[1] != n_words:
        raise InputError(f"X has {documents.shape[1]} words, but components have {n_words}; use one vocabulary")
    _check_entries("X", "document", documents)
    return documents


def _to_csr(name: str, values: Any) -> Any:
    """Return numbers in two dimensions as canonical CSR of float64, or raise."""
    matrix = values if sp.issparse(values) else np.asarray(values)
    if matrix.dtype.kind not in "fiub" or matrix.ndim != 2 or 0 in matrix.shape:
        raise InputError(f"{name} has type {matrix.dtype}, shape {matrix.shape}; give numbers, rows × words, not empty")
    return to_canonical_csr(matrix)


def _check_entries(name: str, row_name: str, documents: Documents) -> None:
    """Raise for the first entry that is not a finite number of at least 0."""
    start = 0
    for n_rows, row, word, value in documents.map_blocks(_find_bad_entry, 1):
        if len(value):
            where = f"{row_name} {start + row[0]}, word {word[0]}"
            raise InputError(f"{name} is {value[0]} at {where}; replace what is negative or not finite")
        start += n_rows


def _find_bad_entry(block: Any) -> tuple[int, Array, Array, Array]:
    """Return the number of rows of a block, and row, column and value of its first bad entry, empty without any."""
    entries = block.tocoo(copy=False)
    first = np.flatnonzero(~(np.isfinite(block.data) & (block.data >= 0)))[:1]
    return block.shape[0], entries.row[first], entries.col[first], entries.data[first]
