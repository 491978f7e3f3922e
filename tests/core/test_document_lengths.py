"""What documents count for: those of few words and those much longer than the others less; nothing else changes."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from anchorless import AnchorFree, datasets, metrics
from anchorless._core.anchorfree import find_topics
from anchorless._core.cooccurrence import DocumentCooccurrence
from anchorless._core.document_lengths import (
    HALF_WEIGHT_RATIO,
    MAX_RELATIVE_LENGTH,
    adjust_lengths,
    compute_row_norms,
)
from anchorless._core.eigen import find_leading_eigenpairs
from anchorless._corpus.documents import Documents
from anchorless._diagnostics.resampling import Resampler
from anchorless._diagnostics.search_k import prepare_search


@pytest.fixture(scope="module")
def planted():
    """Documents of five topics, as frequencies."""
    corpus = datasets.sampled_corpus(800, 5, 200, random_state=3)
    return sp.csr_matrix(corpus.counts / corpus.counts.sum(axis=1)), corpus.components


def with_outlier(X, times):
    """Return X with one more document, of words that hardly anybody else has, so many times as long as the others."""
    rare = np.argsort(np.asarray(X.sum(axis=0)).ravel())[:15]
    row = np.zeros(X.shape[1])
    row[rare] = 1.0
    row *= times * np.median(compute_row_norms(X)) / np.linalg.norm(row)
    return sp.vstack([X, sp.csr_matrix(row)], format="csr")


def test_documents_of_equal_size_stay_as_they_are():
    documents = Documents.from_matrix(np.random.default_rng(0).random((50, 20)) + 0.1)
    assert adjust_lengths(documents, 1) is documents


@pytest.mark.parametrize("times", [0.5, 50])
def test_a_document_counts_by_its_words_and_no_longer_than_the_limit(planted, times):
    X = with_outlier(planted[0], times)
    found = sp.vstack(adjust_lengths(Documents.from_matrix(X, 100), 2).blocks)
    size, words = compute_row_norms(X), np.diff(X.indptr)
    usual_size, usual_words = (np.exp(np.log(each).mean()) for each in (size, words))
    assert (size.max() > MAX_RELATIVE_LENGTH * usual_size) == (times == 50)
    worth = (1 + HALF_WEIGHT_RATIO) * words / (words + HALF_WEIGHT_RATIO * usual_words)
    assert_allclose(compute_row_norms(found) ** 2, np.minimum(size, MAX_RELATIVE_LENGTH * usual_size) ** 2 * worth)
    directions = [sp.diags(1 / compute_row_norms(D)) @ D for D in (found, X)]
    assert_allclose(directions[0].toarray(), directions[1].toarray(), atol=1e-15)


def test_shortened_documents_are_no_longer_than_the_limit_and_the_others_untouched(planted):
    assert adjust_lengths(documents := Documents.from_matrix(planted[0]), 1, by_words=False) is documents
    X = with_outlier(planted[0], 50)
    found = sp.vstack(adjust_lengths(Documents.from_matrix(X, 100), 2, by_words=False).blocks)
    assert_allclose(compute_row_norms(found).max(), MAX_RELATIVE_LENGTH * np.exp(np.log(compute_row_norms(X)).mean()))
    assert (found[:-1] != X[:-1]).nnz == 0


def test_documents_of_few_words_get_no_topic(planted):
    """Beside documents of 150 words a third as many, of the same length but of two words each."""
    X, truth = planted
    rng = np.random.default_rng(0)
    few = sp.csr_matrix(np.stack([rng.multinomial(2, topic) / 2 for topic in truth[rng.integers(0, 5, 270)]]))
    few = sp.diags(np.median(compute_row_norms(X)) / compute_row_norms(few)) @ few
    both = sp.vstack([X, few], format="csr")
    alone = metrics.recovery_error(AnchorFree(5).fit(X).components_, truth)
    assert metrics.recovery_error(AnchorFree(5).fit(both).components_, truth) < 1.2 * alone


@pytest.mark.parametrize("times", [20, 1e4])
def test_one_document_gets_no_topic_of_its_own(planted, times):
    X, truth = planted
    alone = metrics.recovery_error(AnchorFree(5).fit(X).components_, truth)
    assert metrics.recovery_error(AnchorFree(5).fit(with_outlier(X, times)).components_, truth) < 1.5 * alone
    # The paper's version gives it one.
    hard = AnchorFree(5, constraint="all").fit(with_outlier(X, times)).components_
    assert metrics.recovery_error(hard, truth) > 3 * alone


def test_topics_and_moments_of_exact_documents_do_not_depend_on_their_lengths():
    rng = np.random.default_rng(5)
    C = datasets.planted_topics(4, 120, random_state=7).components
    W = rng.dirichlet(np.full(4, 0.3), size=300) * rng.lognormal(0.0, 2.0, size=(300, 1))
    model = AnchorFree(4).fit(W @ C)
    i, j = metrics.match_topics(model.components_, C)
    assert_allclose(model.components_[i], C[j], atol=1e-9)
    assert_allclose(model.topic_moments_[np.ix_(i, i)], (W.T @ W / 300)[np.ix_(j, j)], rtol=1e-6)


def test_units_and_cuts_do_not_matter(planted):
    X = with_outlier(planted[0], 50)
    expected = AnchorFree(5).fit(X).components_
    assert_allclose(AnchorFree(5).fit(7.3 * X).components_, expected, atol=1e-12)
    assert_allclose(AnchorFree(5, block_size=37).fit(X).components_, expected, atol=1e-10)


def test_pieces_are_adjusted_too_and_their_moments_are_not(planted):
    X, truth = planted
    alone = metrics.recovery_error(AnchorFree(5).fit(X).components_, truth)
    model = AnchorFree(5).partial_fit(X).partial_fit(with_outlier(X, 50))
    assert metrics.recovery_error(model.components_, truth) < 1.5 * alone

    rng = np.random.default_rng(5)
    C = datasets.planted_topics(4, 120, random_state=7).components
    W = rng.dirichlet(np.full(4, 0.3), size=600) * rng.lognormal(0.0, 2.0, size=(600, 1))
    even = W[:300] / W[:300].sum(axis=1, keepdims=True)  # the second piece is the first that is adjusted
    model = AnchorFree(4).partial_fit(even @ C).partial_fit(W[300:] @ C)
    i, j = metrics.match_topics(model.components_, C)
    expected = (even.T @ even + W[300:].T @ W[300:]) / 600
    assert_allclose(model.topic_moments_[np.ix_(i, i)], expected[np.ix_(j, j)], rtol=1e-6)


def test_moments_of_a_resample_are_of_documents_as_they_are(planted):
    documents = Documents.from_matrix(with_outlier(planted[0], 50))
    P = DocumentCooccurrence(documents, adjust=True)
    rng = np.random.default_rng(0)
    fit = find_topics(P, find_leading_eigenpairs(P, 5, rng), all_words=False, tol=1e-7, max_sweeps=200, rng=rng)
    sampler = Resampler(P, documents, fit, np.random.default_rng(0))
    found = sampler.estimate_moments(np.ones(documents.shape[0]), fit.topics.C)
    assert_allclose(found, fit.topics.E, rtol=1e-9, atol=1e-12 * abs(fit.topics.E).max())


@pytest.mark.parametrize("hard", [False, True])
def test_numbers_of_topics_are_compared_on_the_documents_that_a_fit_has(planted, hard):
    search = prepare_search(with_outlier(planted[0], 50), [5], "counts", hard, 1, 0)
    longest = max(compute_row_norms(block).max() for block in search.P.documents.blocks)
    assert (longest > 40 * np.median(compute_row_norms(planted[0]))) == hard


def test_documents_of_rounding_error_have_no_say_in_the_usual_length(planted):
    X = with_outlier(planted[0], 50)
    expected = sp.vstack(adjust_lengths(Documents([X]), 1).blocks)
    dust = sp.csr_matrix(np.full((200, X.shape[1]), 1e-60))
    found = sp.vstack(adjust_lengths(Documents([sp.vstack([X, dust], format="csr")]), 1).blocks)
    assert_allclose(found[: X.shape[0]].toarray(), expected.toarray(), rtol=1e-12)


def test_empty_documents_have_no_say_in_the_usual_length(planted):
    X = with_outlier(planted[0], 50)
    empty = sp.csr_matrix((500, X.shape[1]))
    found, more = (
        sp.vstack(adjust_lengths(Documents([D]), 1).blocks) for D in (X, sp.vstack([X, empty], format="csr"))
    )
    assert_allclose(more[: X.shape[0]].toarray(), found.toarray())
