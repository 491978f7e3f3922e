"""How good topics are: coherent, distinct, matching known classes, predicting held-out words, near a known truth.

Throughout, `components` is any nonnegative topics × words array with no all-zero row; rows need not sum to one.
The leading words of a topic are its `n_words` words of largest weight, of equal weights the one that comes first.
X is documents × words: sparse, dense, `Documents` or a list of sparse blocks. A word is present in a document
where its entry is above zero; freq counts documents in which words are present; empty documents are documents.
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
from anchorless.errors import InputError

#: Added to the diagonal of CᵀC, relative: topics that depend on each other still get one answer.
RIDGE = 1e-10


def coherence(components: Any, X: Any, n_words: int = 20, eps: float = 0.01) -> Array:
    """Return the paper's Coh of each topic: Σ log((freq(v₁, v₂) + eps) / freq(v₂)) over ordered pairs v₁ ≠ v₂.

    The sum has n(n − 1) terms for n leading words; higher is better, and 0 the best as eps → 0. A word v₂ in no
    document counts as if it were alone in one, freq(v₂) = 1, so that its pairs give log(eps).
    """
    conditionals = compute_log_conditionals(components, X, n_words, eps)
    return conditionals[:, ~np.eye(n_words, dtype=bool)].sum(axis=1)


def umass(components: Any, X: Any, n_words: int = 20, eps: float = 1.0) -> Array:
    """Return the UMass coherence of each topic (Mimno et al. 2011): each pair of leading words once.

    The sum over n(n − 1)/2 pairs of log((freq(v, u) + eps) / freq(u)), where the condition u is the word of higher
    rank in the topic. Words in no document count as in `coherence`. gensim's `u_mass` is the mean over the pairs
    with eps = 1e-12 · N for N documents, but gives 0, the value of a perfect pair, to words in no document.
    """
    conditionals = compute_log_conditionals(components, X, n_words, eps)
    v, u = np.tril_indices(n_words, -1)
    return conditionals[:, v, u].sum(axis=1)


def npmi(components: Any, X: Any, n_words: int = 10) -> Array:
    """Return the mean normalised pointwise mutual information of each topic's pairs of leading words, in [−1, 1].

    log(p(u, v) / (p(u) p(v))) / −log p(u, v), with p the share of documents. A pair that never occurs together
    counts −1, also where one of its words is in no document; a pair that is in every document counts 1.
    """
    N, joint = count_joint_documents(components, X, n_words)
    u, v = np.triu_indices(n_words, 1)
    alone = np.diagonal(joint, axis1=1, axis2=2)
    both, apart = joint[:, u, v], alone[:, u] * alone[:, v]
    score = np.where(both == N, 1.0, -1.0)
    usual = (both > 0) & (both < N)
    score[usual] = np.log(both[usual] * N / apart[usual]) / -np.log(both[usual] / N)
    return np.clip(score, -1.0, 1.0).mean(axis=1)  # rounding may leave the range by 1e-16


def similarity_count(components: Any, n_words: int = 20) -> int:
    """Return the paper's SimCount: the number of shared leading words, summed over unordered pairs of topics."""
    words = leading_words(validate_rows("components", "topic", components), n_words)
    _, n_topics = np.unique(words, return_counts=True)
    return int((n_topics * (n_topics - 1) // 2).sum())


def topic_diversity(components: Any, n_words: int = 10) -> float:
    """Return the share of unique words among the leading words of all topics: 1/n_topics … 1, higher is better."""
    words = leading_words(validate_rows("components", "topic", components), n_words)
    return len(np.unique(words)) / words.size


def exclusivity(components: Any, n_words: int = 10) -> Array:
    """Return for each topic the mean, over its leading words, of p(word | topic) / Σ p(word | any topic), in [0, 1].

    Rows are divided by their sums first. A word that no topic holds, which only fills up a list, counts 0.
    """
    topics = validate_rows("components", "topic", components)
    words, C = leading_words(topics, n_words), to_probabilities(topics)
    total = C.sum(axis=0)
    share = np.divide(C, total, out=np.zeros_like(C), where=total > 0)
    return np.take_along_axis(share, words, axis=1).mean(axis=1)


def leading_words(topics: Array, n_words: int, least: int = 1) -> npt.NDArray[np.intp]:
    """Return the columns of each topic's `n_words` largest entries, (F, n_words), of equal ones the first."""
    V = topics.shape[1]
    if isinstance(n_words, bool) or not isinstance(n_words, Integral) or not least <= n_words <= V:
        raise InputError(f"n_words={n_words!r}, but it must be a whole number from {least} to {V}, the topics' words")
    return np.stack([find_largest_entries(topic, n_words) for topic in topics])


def find_largest_entries(values: Array, n: int) -> npt.NDArray[np.intp]:
    """Return the places of the `n` largest entries, largest first, of equal ones the first; only these are sorted."""
    at_least = np.flatnonzero(values >= np.partition(values, -n)[-n])
    return at_least[np.argsort(-values[at_least], kind="stable")[:n]]


def compute_log_conditionals(components: Any, X: Any, n_words: int, eps: float) -> Array:
    """Return log((freq(vᵢ, vⱼ) + eps) / max(freq(vⱼ), 1)) for leading words i, j of each topic, (F, n, n)."""
    if isinstance(eps, bool) or not isinstance(eps, Real) or not 0 < eps < np.inf:
        raise InputError(f"eps={eps!r}, but it must be a finite number above 0, as pairs that never occur need a log")
    _, joint = count_joint_documents(components, X, n_words)
    alone = np.maximum(np.diagonal(joint, axis1=1, axis2=2), 1.0)
    return np.log(joint + float(eps)) - np.log(alone)[:, None, :]


def count_joint_documents(components: Any, X: Any, n_words: int) -> tuple[int, Array]:
    """Return N, and in how many of N documents leading words i and j of each topic occur together, (F, n, n)."""
    topics = validate_rows("components", "topic", components)
    words = leading_words(topics, n_words, least=2)
    documents = validate_documents(X, topics.shape[1])
    used, position = np.unique(words, return_inverse=True)
    topics_used = position.reshape(words.shape)
    joint = documents.sum_blocks(lambda block: count_joint_in_block(block[:, used].tocsc(), topics_used), 1)
    return documents.shape[0], joint


def count_joint_in_block(D: Any, words: npt.NDArray[np.intp]) -> Array:
    """Return in how many documents of a block the words i and j of each row of `words` (F, n) meet, (F, n, n)."""
    D.data[:] = 1.0
    joint = np.empty((*words.shape, words.shape[1]))
    for f, columns in enumerate(words):  # not all pairs at once: most are of two topics
        topic = D[:, columns]
        joint[f] = (topic.T @ topic).toarray()
    return joint


def match_topics(components: Any, reference: Any) -> tuple[Array, Array]:
    """Return index arrays (i, j): row i of `components` goes with row j of `reference`, least squares in total."""
    A, B = np.asarray(components, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    if A.ndim != 2 or A.shape != B.shape:
        raise InputError(f"topics of shapes {A.shape} and {B.shape} cannot be matched; both are topics × words")
    distance = np.array([((A - b) ** 2).sum(axis=1) for b in B]).T
    return linear_sum_assignment(distance)


def recovery_error(components: Any, true_components: Any) -> float:
    """Return ‖C − C_true‖², summed over words and topics, after the best matching of the topics.

    Both are topics × words, as `components_` is, or both words × topics, as C of the paper: there are never
    more topics than words, so the shorter side is that of the topics.
    """
    A, B = np.asarray(components, dtype=np.float64), np.asarray(true_components, dtype=np.float64)
    if A.ndim == 2 and A.shape[0] > A.shape[1] and A.shape == B.shape:
        A, B = A.T, B.T
    i, j = match_topics(A, B)
    return float(((A[i] - B[j]) ** 2).sum())


def clustering_accuracy(labels: Iterable[Hashable], clusters: Iterable[Hashable]) -> float:
    """Return the share of documents in the right cluster, when clusters are matched to labels as well as can be.

    Each label goes with at most one cluster and each cluster with at most one label (Hungarian method); where
    there are more of one than of the other, those left over have no document right.
    """
    truth, found = index_labels("labels", labels), index_labels("clusters", clusters)
    if len(truth) != len(found) or len(truth) == 0:
        raise InputError(f"{len(truth)} labels for {len(found)} clusters; give one of each per document, at least one")
    table = np.zeros((truth.max() + 1, found.max() + 1))
    np.add.at(table, (truth, found), 1.0)
    return float(table[linear_sum_assignment(table, maximize=True)].sum() / len(truth))


def index_labels(name: str, values: Iterable[Hashable]) -> npt.NDArray[np.intp]:
    """Replace each distinct value by a number, in the order of appearance."""
    seen: dict[Hashable, int] = {}
    try:
        numbers = [seen.setdefault(value, len(seen)) for value in values]
        if any(value != value for value in seen):
            raise InputError(f"{name} contain NaN, which equals nothing; drop those documents or name their class")
    except TypeError as error:
        raise InputError(f"{name} must be a sequence of hashable values, one per document ({error})") from None
    return np.array(numbers, dtype=np.intp)


class Completion(NamedTuple):
    """How well the second halves of documents are predicted, in nats per token."""

    log_likelihood: float  # of the topics, weights estimated from the first halves
    unigram: float  # of one word distribution for all documents: the baseline to beat
    uniform: float  # log(1/V)
    n_tokens: int  # tokens scored


def document_completion(
    components: Any, X: Any, *, background: Any = None, smoothing: float = 0.01, random_state: Any = 0
) -> Completion:
    """Return the log-likelihood per token of the second half of each document, given its first half.

    The n tokens of a document (X holds whole counts) are split at random, ⌈n/2⌉ and ⌊n/2⌋ without replacement.
    The first half d gives topic shares w: nonnegative least squares ‖d − Cw‖, divided by the sum. With C the
    topics as probabilities and s = `smoothing`, in (0, 1], a token of the second half has probability
        p(v) = (1 − s) Σ_f w_f C_vf + s u(v),
    or u(v) where all w are zero. The unigram u(v) = (1 − s) b(v) + s/V is never zero; b is `background`, word
    weights (V,) such as the training corpus's word counts, or else the word shares of the first halves. The
    smoothing costs at most −log(1 − s) per token. Seeded by `random_state`: the same split for every model.
    """
    topics = validate_rows("components", "topic", components)
    if isinstance(smoothing, bool) or not isinstance(smoothing, Real) or not 0 < smoothing <= 1:
        raise InputError(f"smoothing={smoothing!r}, but it must be above 0, so that no word is impossible, up to 1")
    halves = split_documents(X, topics.shape[1], random_state)
    return completion(topics, halves, background=background, smoothing=float(smoothing))


class Halves(NamedTuple):
    """The two halves of each document."""

    first: Any  # CSR
    second: Any


def split_documents(X: Any, n_words: int, random_state: Any) -> Halves:
    """Return the halves of documents, for `completion`."""
    halves = split_tokens(validate_counts(validate_documents(X, n_words)), np.random.default_rng(random_state))
    if halves.second.nnz == 0:
        raise InputError("no document of X has two tokens, so none can be completed; give longer documents")
    return halves


def completion(topics: Array, halves: Halves, *, background: Any = None, smoothing: float = 0.01) -> Completion:
    """Return the same for documents that have been split."""
    first, second = halves
    C, V, s = to_probabilities(topics), topics.shape[1], smoothing
    n_tokens = int(second.data.sum())
    b = validate_rows("background", "row", np.reshape(first.sum(axis=0) if background is None else background, (1, -1)))
    if b.shape[1] != V:
        raise InputError(f"background has {b.shape[1]} words, but components have {V}; give one weight per word")
    unigram = (1 - s) * to_probabilities(b)[0] + s / V
    told = second.data @ compute_log_mixture(estimate_topic_shares(first, C), C, unigram, s, second)
    baseline = second.data @ np.log(unigram)[second.indices]
    return Completion(float(told / n_tokens), float(baseline / n_tokens), -float(np.log(V)), n_tokens)


def validate_counts(documents: Documents) -> Any:
    """Return the documents as one CSR matrix of whole counts."""
    counts = sp.vstack([*documents.map_blocks(lambda block: block, 1)], format="csr")
    broken = counts.data[counts.data != np.floor(counts.data)]
    if len(broken):
        raise InputError(f"X holds {broken[0]:.6g}, but tokens are split, so it must hold whole counts, not weights")
    if (longest := counts.sum(axis=1).max()) >= 1e9:  # NumPy draws no hypergeometric numbers beyond
        raise InputError(f"a document of X has {longest:.3g} tokens, but fewer than 1e9 can be split; rescale X")
    return counts


def split_tokens(counts: Any, rng: np.random.Generator) -> Halves:
    """Split each row of n tokens into ⌈n/2⌉ and ⌊n/2⌋ at random, all subsets of tokens equally likely."""
    data, at = counts.data.astype(np.int64), (counts.indices, counts.indptr)
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
    first, second = (sp.csr_matrix((half, *at), counts.shape) for half in (drawn, data - drawn))
    return Halves(to_canonical_csr(first), to_canonical_csr(second))


def estimate_topic_shares(D: Any, C: Array) -> Array:
    """Return the weights of documents D in topics C (F, V), each row summing to one, or zero without any weight."""
    with threadpool_limits(1, user_api="blas"):
        gram = compute_gram(np.ascontiguousarray(C.T))
        gram[np.diag_indices_from(gram)] *= 1.0 + RIDGE
        W = solve_nnls(gram, D @ C.T)
    total = W.sum(axis=1, keepdims=True)
    return np.divide(W, total, out=np.zeros_like(W), where=total > 0)


def compute_log_mixture(shares: Array, C: Array, unigram: Array, s: float, D: Any) -> Array:
    """Return log p of each stored entry of D under its document's mixture of topics and unigram."""
    rows = np.repeat(np.arange(D.shape[0]), np.diff(D.indptr))
    told = np.where(shares.any(axis=1), s, 1.0)  # a document without weights is all unigram
    mixed = np.zeros(len(rows))
    for share, topic in zip(shares.T, C, strict=True):  # entries × topics at once would be too much memory
        mixed += share[rows] * topic[D.indices]
    return np.log((1 - s) * mixed + told[rows] * unigram[D.indices])


def to_probabilities(topics: Array) -> Array:
    """Return rows divided by their sums, which neither overflow nor vanish."""
    scaled = topics / topics.max(axis=1, keepdims=True)
    return scaled / scaled.sum(axis=1, keepdims=True)


def validate_rows(name: str, row_name: str, values: Any) -> Array:
    """Return a dense array of finite, nonnegative weights, each row with a positive one."""
    matrix = to_csr(name, values)
    refuse_bad_entries(name, row_name, [matrix])
    empty = np.flatnonzero(np.diff(matrix.indptr) == 0)
    if len(empty):
        raise InputError(f"{name}: {row_name} {empty[0]} has no word of positive weight; drop all-zero rows")
    return matrix.toarray()


def validate_documents(X: Any, n_words: int) -> Documents:
    """Return X as documents of finite, nonnegative entries over `n_words` words."""
    if isinstance(X, list | tuple) and len(X) and all(sp.issparse(block) for block in X):
        X = Documents(X)
    documents = X if isinstance(X, Documents) else Documents.from_matrix(to_csr("X", X))
    if documents.shape[1] != n_words:
        raise InputError(f"X has {documents.shape[1]} words, but components have {n_words}; use one vocabulary")
    if any(documents.map_blocks(has_bad_entry, 1)):  # only then are blocks fetched from where they are
        refuse_bad_entries("X", "document", documents.map_blocks(lambda block: block, 1))
    return documents


def has_bad_entry(block: Any) -> bool:
    """Tell whether an entry is not a finite number of at least 0."""
    return bool(np.any(~(np.isfinite(block.data) & (block.data >= 0))))


def to_csr(name: str, values: Any) -> Any:
    """Return numbers in two dimensions as canonical CSR of float64."""
    matrix = values if sp.issparse(values) else np.asarray(values)
    if matrix.dtype.kind not in "fiub" or matrix.ndim != 2 or 0 in matrix.shape:
        raise InputError(f"{name} has type {matrix.dtype}, shape {matrix.shape}; give numbers, rows × words, not empty")
    return to_canonical_csr(matrix.astype(np.float64, copy=False))  # first: COO adds duplicates, uint8 would wrap


def refuse_bad_entries(name: str, row_name: str, blocks: Iterable[Any]) -> None:
    """Raise for the first entry that is not a finite number of at least 0."""
    start = 0
    for block in blocks:
        bad = ~(np.isfinite(block.data) & (block.data >= 0))
        if bad.any():
            at = int(np.argmax(bad))
            row = start + int(np.searchsorted(block.indptr, at, side="right")) - 1
            where = f"{row_name} {row}, word {block.indices[at]}"
            raise InputError(f"{name} is {block.data[at]} at {where}; replace what is negative or not finite")
        start += block.shape[0]
