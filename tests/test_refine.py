import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls

from anchorless.datasets import planted_topics
from anchorless.documents import Documents
from anchorless.refine import EVEN_RATIO, averaged, refined
from anchorless.weights import document_weights


@pytest.fixture
def exact():
    """Topics (V, F), weights and documents D = WCᵀ without noise."""
    C = planted_topics(5, 120, random_state=0).components.T
    W = np.random.default_rng(1).dirichlet(np.full(5, 0.3), 200)
    return C, W, W @ C.T


def test_exact_documents_change_nothing(exact):
    C, _, D = exact
    R = refined(Documents.from_matrix(D), C, 1)
    assert_allclose(R / R.sum(axis=0), C, atol=1e-12)


def test_each_word_is_a_least_squares_of_its_own(exact):
    C, _, D = exact
    D = np.maximum(D + 0.003 * np.random.default_rng(2).standard_normal(D.shape), 0)
    W = document_weights(Documents.from_matrix(D), C, 1)
    expected = np.array([nnls(W, column)[0] for column in D.T])
    assert_allclose(refined(Documents.from_matrix(D), C, 1), expected, atol=1e-9)


def test_it_explains_the_documents_better(exact):
    C, _, D = exact
    rng = np.random.default_rng(3)
    D = np.maximum(D + 0.003 * rng.standard_normal(D.shape), 0)
    blurred = 0.8 * C + 0.2 * C.mean(axis=1, keepdims=True)
    documents = Documents.from_matrix(D)
    W = document_weights(documents, blurred, 1)
    before = np.linalg.norm(D - W @ blurred.T)
    after = np.linalg.norm(D - W @ refined(documents, blurred, 1).T)
    assert after < before


def test_blocks_agree_and_threads_change_no_bit(exact):
    C, _, D = exact
    one = refined(Documents.from_matrix(D), C, 1)
    cut = Documents.from_matrix(D, block_size=31)
    assert_allclose(refined(cut, C, 1), one, rtol=1e-9, atol=1e-12)
    assert_array_equal(refined(cut, C, 2), refined(cut, C, 1))


def test_a_topic_that_no_document_uses_keeps_its_words(exact):
    C, W, _ = exact
    W = W.copy()
    W[:, 2] = 0
    R = refined(Documents.from_matrix(W @ C.T), C, 1)
    assert np.all(np.isfinite(R))
    assert_allclose(R[:, 2] / R[:, 2].sum(), C[:, 2], atol=1e-9)


def test_average_leans_to_the_better_known_estimate():
    volume, documents = np.full((4, 2), 1.0), np.full((4, 2), 3.0)
    ratio = np.array([np.inf, EVEN_RATIO, 0.0, 3 * EVEN_RATIO])
    assert_allclose(averaged(volume, documents, ratio)[:, 0], [1.0, 2.0, 3.0, 1.5])
