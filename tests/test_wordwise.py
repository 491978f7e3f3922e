import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from anchorless import wordwise
from anchorless.documents import Documents
from anchorless.wordwise import FEW_COLUMNS, BothSides, DocumentGram, by_word
from tests.tolerances import ROUNDING

N_DOCUMENTS, N_WORDS = 90, 60


@pytest.fixture(params=range(3))
def X(request):
    """Return sparse documents; some are empty, and some words never occur."""
    rng = np.random.default_rng(request.param)
    X = rng.exponential(size=(N_DOCUMENTS, N_WORDS)) * (rng.random((N_DOCUMENTS, N_WORDS)) < 0.1)
    X[rng.integers(N_DOCUMENTS, size=5)] = 0.0
    X[:, rng.integers(N_WORDS, size=5)] = 0.0
    return X


@pytest.mark.parametrize("block_size", [1, 13, N_DOCUMENTS])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_words_are_the_transpose(X, block_size, n_threads):
    words = by_word(Documents.from_matrix(X, block_size), n_threads)
    assert_array_equal(words.toarray(), X.T)
    fresh = sp.csr_matrix((words.data, words.indices, words.indptr), shape=words.shape)
    assert fresh.has_canonical_format  # not only said so
    assert words.nnz == np.count_nonzero(X)


def test_too_many_non_zeros_are_not_held_twice(X, monkeypatch):
    documents = Documents.from_matrix(X, 13)
    monkeypatch.setattr(wordwise, "HELD_TWICE", np.count_nonzero(X))
    assert by_word(documents, 1) is not None
    monkeypatch.setattr(wordwise, "HELD_TWICE", np.count_nonzero(X) - 1)
    assert by_word(documents, 1) is None


@pytest.mark.parametrize("n_columns", [1, FEW_COLUMNS, FEW_COLUMNS + 1, 20])
def test_products_are_those_of_the_matrix_whatever_the_threads(X, n_columns):
    rng = np.random.default_rng(5)
    Q, Z = rng.standard_normal((N_WORDS, n_columns)), rng.standard_normal((N_DOCUMENTS, n_columns))
    documents = Documents.from_matrix(X, 13)
    alone, together = (BothSides(documents, by_word(documents, 1), n) for n in (1, 3))
    assert_allclose(alone.to_documents(Q), X @ Q, rtol=ROUNDING, atol=ROUNDING)
    assert_allclose(alone.to_words(Z), X.T @ Z, rtol=ROUNDING, atol=ROUNDING)
    assert_array_equal(together.to_documents(Q), alone.to_documents(Q))
    assert_array_equal(together.to_words(Z), alone.to_words(Z))


def test_blocks_change_no_bit_of_a_product(X):
    Q = np.random.default_rng(6).standard_normal((N_WORDS, 4))
    cuts = [Documents.from_matrix(X, size) for size in (7, N_DOCUMENTS)]
    few, one = (BothSides(cut, by_word(cut, 1), 1).to_documents(Q) for cut in cuts)
    assert_array_equal(few, one)


def test_the_gram_matrix_of_the_documents_and_their_words(X):
    documents = Documents.from_matrix(X, 13)
    gram = DocumentGram(BothSides(documents, by_word(documents, 2), 2), N_DOCUMENTS, N_DOCUMENTS)
    assert_allclose(gram.product(np.eye(N_DOCUMENTS)), X @ X.T / N_DOCUMENTS, rtol=ROUNDING, atol=ROUNDING)
    assert_allclose(gram.word_product(np.eye(N_WORDS)), X.T @ X / N_DOCUMENTS, rtol=ROUNDING, atol=ROUNDING)
    assert_allclose(gram.to_words(np.eye(N_DOCUMENTS)), X.T, rtol=ROUNDING)
