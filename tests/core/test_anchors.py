"""Every greedy rule against the textbook: the whole of P as a matrix, one explicit residual per word."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls
from scipy.sparse.linalg import aslinearoperator

from anchorless._core import cooccurrence
from anchorless._core.anchors import (
    WordVectors,
    extreme_ray,
    fast_anchor,
    successive_nonnegative_projection,
    successive_projection,
)
from anchorless._core.cooccurrence import DocumentCooccurrence, MatrixCooccurrence
from anchorless._corpus.documents import Documents
from anchorless.errors import RankError
from tests.helpers.tolerances import ROUNDING

# The textbook -------------------------------------------------------------------------------------------------


def normalized(P):
    """Return the rows of P divided by their sums, in columns; words without a sum stay zero."""
    total = P.sum(axis=1)
    return np.divide(P.T, total, out=np.zeros_like(P), where=total != 0)


def longest(R, allowed):
    return int(max(np.flatnonzero(allowed), key=lambda v: np.linalg.norm(R[:, v])))


def textbook_spa(P, n_anchors, allowed):
    """Algorithm 1 of the paper, line by line."""
    X, found = normalized(P), []
    for _ in range(n_anchors):
        found.append(longest(X, allowed))
        theta = np.linalg.lstsq(X[:, found], X, rcond=1e-9)[0]
        X = X - X[:, found] @ theta
    return found


def away_from_span(X, vectors):
    """Return X minus its projection on the span of `vectors`, by Gram–Schmidt."""
    basis = []
    for vector in vectors:
        for q in basis * 2:  # twice is enough
            vector = vector - q * (q @ vector)
        basis.append(vector / np.linalg.norm(vector))
    for q in basis:
        X = X - np.outer(q, q @ X)
    return X


def textbook_fast_anchor(P, n_anchors, allowed):
    """FastAnchorWords of Arora et al. 2013: farthest from the span, K times; then each anchor is chosen again."""
    X, found = normalized(P), []
    for _ in range(n_anchors):
        found.append(longest(away_from_span(X, [X[:, v] for v in found]), allowed))
    for k in range(n_anchors):
        others = found[:k] + found[k + 1 :]
        found[k] = longest(away_from_span(X, [X[:, v] for v in others]), allowed)
    return found


def away_from_hull(X, corners):
    """Return X minus its nearest points in a convex hull, by trying every face of it."""
    best, residual = np.full(X.shape[1], np.inf), np.empty_like(X)
    for size in range(1, corners.shape[1] + 1):
        for face in itertools.combinations(range(corners.shape[1]), size):
            start, edges = corners[:, [face[0]]], corners[:, face[1:]] - corners[:, [face[0]]]
            z = np.linalg.lstsq(edges, X - start, rcond=None)[0]
            R = X - start - edges @ z
            inside = (z >= -1e-12).all(axis=0) & (z.sum(axis=0) <= 1 + 1e-12)
            better = inside & (np.linalg.norm(R, axis=0) < best)
            best[better], residual[:, better] = np.linalg.norm(R, axis=0)[better], R[:, better]
    return residual


def textbook_snpa(P, n_anchors, allowed):
    """Gillis 2014: the residual is to the convex hull of the origin and the anchors."""
    X, found = normalized(P), []
    for _ in range(n_anchors):
        corners = np.column_stack([np.zeros(len(P)), *(X[:, v] for v in found)])
        found.append(longest(away_from_hull(X, corners), allowed))
    return found


def textbook_xray(P, n_anchors, allowed):
    """Kumar et al. 2013, Algorithm 1 with the selection "max": residuals to the cone, columns of P as they are."""
    found, R = [], P.copy()
    for _ in range(n_anchors):
        i = int(np.argmax(np.linalg.norm(R, axis=0)))
        score = {v: R[:, i] @ P[:, v] / P[:, v].sum() for v in np.flatnonzero(allowed) if v not in found}
        found.append(int(max(score, key=score.get)))
        A = P[:, found]
        R = np.column_stack([x - A @ nnls(A, x)[0] for x in P.T])
    return found


TEXTBOOK = {
    successive_projection: textbook_spa,
    successive_nonnegative_projection: textbook_snpa,
    extreme_ray: textbook_xray,
    fast_anchor: textbook_fast_anchor,
}
RULES = list(TEXTBOOK)
EVERY_RULE = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)


@pytest.fixture
def counts():
    """Return sampled word counts: sparse topics, lengths from 2, no two words alike."""

    def make(seed, n_words=None, n_documents=60):
        rng = np.random.default_rng(seed)
        n_words = n_words or int(rng.integers(15, 41))
        C = rng.dirichlet(np.full(n_words, 0.15), 5)
        lengths = rng.integers(2, 60, n_documents)
        W = rng.dirichlet(np.full(5, 0.4), n_documents)
        D = np.array([rng.multinomial(n, w @ C) for n, w in zip(lengths, W, strict=True)], dtype=np.float64)
        D[rng.integers(n_documents, size=n_words), np.arange(n_words)] += 1 + np.arange(n_words) % 3  # no empty word
        return D

    return make


@pytest.fixture
def separable():
    """Return P (V, V) of exactly F corners."""

    def make(n_topics, n_words, seed):
        rng = np.random.default_rng(seed)
        C = rng.uniform(0.1, 1.0, (n_words, n_topics))
        C[:n_topics] = np.diag(rng.uniform(0.2, 1.0, n_topics))
        C = rng.permutation(C)
        W = rng.dirichlet(np.full(n_topics, 0.5), 100)
        return C @ (W.T @ W) @ C.T

    return make


def everyone(P):
    return np.ones(len(P), dtype=bool)


@EVERY_RULE
@pytest.mark.parametrize("n_anchors", [2, 3, 4, 5, 6])
def test_rule_is_the_textbooks(counts, rule, n_anchors):
    for seed in range(8):
        D = counts(100 * n_anchors + seed)
        P = D.T @ D / len(D)
        found = rule(WordVectors(MatrixCooccurrence(P)), n_anchors, everyone(P))
        assert found == TEXTBOOK[rule](P, n_anchors, everyone(P)), seed


@EVERY_RULE
@pytest.mark.parametrize("unbiased", [False, True])
def test_rule_on_documents_is_the_textbooks(counts, rule, unbiased):
    for seed in range(6):
        D = counts(seed)
        P = brute_force_cooccurrence(D, unbiased)
        words = WordVectors(DocumentCooccurrence(Documents.from_matrix(D, 17), unbiased=unbiased))
        assert rule(words, 4, everyone(P)) == TEXTBOOK[rule](P, 4, everyone(P)), seed


@EVERY_RULE
def test_rule_among_candidates_is_the_textbooks(counts, rule):
    for seed in range(8):
        D = counts(seed)
        P = D.T @ D
        free = rule(WordVectors(MatrixCooccurrence(P)), 4, everyone(P))
        allowed = np.random.default_rng(seed).random(len(P)) < 0.8
        allowed[free[seed % 4]] = False
        found = rule(WordVectors(MatrixCooccurrence(P)), 4, allowed)
        assert found == TEXTBOOK[rule](P, 4, allowed), seed
        assert allowed[found].all()


def test_the_rules_are_not_one_rule(counts):
    """The comparisons above tell the rules apart: each pair of them differs on some of the data."""
    chosen = {rule: [] for rule in RULES}
    for seed in range(20):
        D = counts(seed)
        P = D.T @ D
        for rule in RULES:
            chosen[rule].append(rule(WordVectors(MatrixCooccurrence(P)), 5, everyone(P)))
    for one, other in itertools.combinations(RULES, 2):
        assert chosen[one] != chosen[other]


@EVERY_RULE
@pytest.mark.parametrize("scale", [1e-120, 1e120])
def test_scale_of_the_cooccurrences_does_not_matter(counts, rule, scale):
    D = counts(3)
    P = D.T @ D / len(D)
    expected = rule(WordVectors(MatrixCooccurrence(P)), 5, everyone(P))
    assert rule(WordVectors(MatrixCooccurrence(scale * P)), 5, everyone(P)) == expected


@EVERY_RULE
@pytest.mark.parametrize("n_topics", [2, 3, 5])
def test_no_more_anchors_than_corners(separable, rule, n_topics):
    for seed in range(5):
        P = separable(n_topics, 30, seed)
        words = WordVectors(MatrixCooccurrence(P))
        assert len(set(rule(words, n_topics, everyone(P)))) == n_topics
        with pytest.raises(RankError, match=f"n_components={n_topics + 1}, but only {n_topics} anchor words"):
            rule(words, n_topics + 1, everyone(P))


@EVERY_RULE
def test_no_more_anchors_than_candidates(counts, rule):
    P = counts(0).T @ counts(0)
    allowed = np.arange(len(P)) < 2
    with pytest.raises(
        RankError, match=r"n_components=3, but only \d anchor words can be found; lower n_components or"
    ):
        rule(WordVectors(MatrixCooccurrence(P)), 3, allowed)


# Word vectors -------------------------------------------------------------------------------------------------


def test_word_vectors_are_rows_of_sum_one(counts):
    D = counts(1)
    D[:, 4] = 0  # a word in no document
    P = D.T @ D / len(D)
    X = normalized(P)
    words = WordVectors(DocumentCooccurrence(Documents.from_matrix(D)))
    assert_allclose(words.weight, P.sum(axis=1), rtol=ROUNDING)
    assert_allclose(words.squares, (X**2).sum(axis=0), rtol=ROUNDING)
    for v in (0, 4, 9):
        assert_allclose(words.inner(v), X.T @ X[:, v], atol=ROUNDING)
    assert_array_equal(words.inner(4), 0)


def test_unscaled_word_vectors_are_rows_of_the_cooccurrences(counts):
    D = counts(2)
    D[:, 4] = 0
    P = D.T @ D / len(D)
    words = WordVectors(MatrixCooccurrence(P))
    plain = words.to_unscaled()
    assert_allclose(plain.squares, (P**2).sum(axis=0), rtol=ROUNDING)
    assert_allclose(plain.inner(7), P @ P[:, 7], rtol=ROUNDING)
    assert_array_equal(plain.inner(4), 0)
    assert_allclose(words.inner(7), normalized(P).T @ normalized(P)[:, 7], atol=ROUNDING)  # itself left as it was


@EVERY_RULE
def test_empty_words_are_never_anchors(counts, rule):
    D = counts(5)
    n_words = D.shape[1]
    wide = np.hstack([np.zeros((len(D), 3)), D])
    P = MatrixCooccurrence(wide.T @ wide)
    found = rule(WordVectors(P), 5, np.ones(n_words + 3, dtype=bool))
    assert [v - 3 for v in found] == rule(WordVectors(MatrixCooccurrence(D.T @ D)), 5, np.ones(n_words, dtype=bool))


@EVERY_RULE
def test_a_word_and_its_double_are_one_anchor(counts, rule):
    for seed in range(5):
        D = counts(seed)
        n_words = D.shape[1]
        double = np.hstack([D, D])
        found = rule(WordVectors(MatrixCooccurrence(double.T @ double)), 5, np.ones(2 * n_words, dtype=bool))
        expected = rule(WordVectors(MatrixCooccurrence(D.T @ D)), 5, np.ones(n_words, dtype=bool))
        assert [v % n_words for v in found] == expected, seed


# What P tells of each word --------------------------------------------------------------------------------------


def brute_force_cooccurrence(D, unbiased):
    """Return P as the mean over documents, one by one."""
    if not unbiased:
        return sum(np.outer(h, h) for h in D) / len(D)
    long = [h for h in D if h.sum() >= 2]
    return sum((np.outer(h, h) - np.diag(h)) / (h.sum() * (h.sum() - 1)) for h in long) / len(long)


@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize("block_size", [None, 7])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_row_squares_of_documents(counts, monkeypatch, unbiased, block_size, n_threads):
    D = counts(0, n_words=37)
    D[3] = 0  # no token
    D[4] = np.eye(37)[5]  # one token, no pair
    D[:, 8] = 0
    expected = (brute_force_cooccurrence(D, unbiased) ** 2).sum(axis=1)
    for columns_at_a_time in (10, 37, 128):
        monkeypatch.setattr(cooccurrence, "COLUMNS_AT_A_TIME", columns_at_a_time)
        P = DocumentCooccurrence(Documents.from_matrix(D, block_size), unbiased=unbiased, n_threads=n_threads)
        assert_allclose(P.compute_row_squares(), expected, rtol=ROUNDING)
        assert P.compute_row_squares()[8] == 0


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, sp.coo_array, aslinearoperator], ids=lambda f: f.__name__)
def test_row_squares_of_a_matrix(kind):
    rng = np.random.default_rng(0)
    P = rng.standard_normal((300, 300)) * (rng.random((300, 300)) < 0.2)
    P += P.T
    assert_allclose(MatrixCooccurrence(kind(P)).compute_row_squares(), (P**2).sum(axis=1), rtol=ROUNDING)


@pytest.mark.parametrize("unbiased", [False, True])
def test_document_frequency_counts_documents(counts, unbiased):
    D = counts(4)
    D[:, 6] = 0
    expected = [sum(1 for h in D if h[v] > 0) for v in range(D.shape[1])]
    assert max(expected) > 10
    for block_size, n_threads in ((None, 1), (1, 1), (7, 2)):
        P = DocumentCooccurrence(Documents.from_matrix(D, block_size), unbiased=unbiased, n_threads=n_threads)
        assert_array_equal(P.document_frequency(), expected)


def test_document_frequency_knows_no_stored_zeros_and_no_duplicates():
    entries = ([1.0, 2.0, 0.0, 3.0, 1.0], ([0, 0, 0, 1, 1], [0, 0, 1, 1, 2]))
    P = DocumentCooccurrence(Documents([sp.coo_matrix(entries, shape=(2, 4))]))
    assert_array_equal(P.document_frequency(), [1, 1, 1, 0])
