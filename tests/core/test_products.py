import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from anchorless import AnchorFree
from anchorless._core import products
from anchorless._core.products import FEW_COLUMNS, DocumentProducts, StoredProducts, build_products, split_rows_evenly
from anchorless._corpus.documents import Documents
from tests.helpers.tolerances import ROUNDING

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
    words = build_products(Documents.from_matrix(X, block_size), n_threads).by_column
    assert_array_equal(sp.hstack(words).toarray(), X.T)
    for part in words:
        fresh = sp.csr_matrix((part.data, part.indices, part.indptr), shape=part.shape)
        assert fresh.has_canonical_format  # not only said so
    assert sum(part.nnz for part in words) == np.count_nonzero(X)


def test_documents_outside_memory_are_stored_once(X):
    documents = Documents.from_matrix(X, 13)
    documents.in_memory = False
    assert type(build_products(documents, 1)) is DocumentProducts


def test_too_many_nonzeros_or_rows_are_stored_once(X, monkeypatch):
    documents = Documents.from_matrix(X, 1)
    monkeypatch.setattr(products, "MAX_TRANSPOSED_NONZEROS", N_DOCUMENTS * N_WORDS)
    assert isinstance(build_products(documents, 1), StoredProducts)
    monkeypatch.setattr(products, "MAX_TRANSPOSED_NONZEROS", N_DOCUMENTS * N_WORDS - 1)
    assert type(build_products(documents, 1)) is DocumentProducts
    documents = Documents.from_matrix(X)
    monkeypatch.setattr(products, "MAX_TRANSPOSED_NONZEROS", np.count_nonzero(X))
    assert isinstance(build_products(documents, 1), StoredProducts)
    monkeypatch.setattr(products, "MAX_TRANSPOSED_NONZEROS", np.count_nonzero(X) - 1)
    assert type(build_products(documents, 1)) is DocumentProducts


@pytest.mark.parametrize("n_columns", [1, FEW_COLUMNS, FEW_COLUMNS + 1, 20])
def test_products_are_those_of_the_matrix_whatever_the_threads(X, n_columns):
    rng = np.random.default_rng(5)
    Q, Z = rng.standard_normal((N_WORDS, n_columns)), rng.standard_normal((N_DOCUMENTS, n_columns))
    documents = Documents.from_matrix(X, 13)
    alone, together = (build_products(documents, n) for n in (1, 3))
    assert_allclose(alone.to_documents(Q), X @ Q, rtol=ROUNDING, atol=ROUNDING)
    assert_allclose(alone.to_words(Z), X.T @ Z, rtol=ROUNDING, atol=ROUNDING)
    assert_array_equal(together.to_documents(Q), alone.to_documents(Q))
    assert_array_equal(together.to_words(Z), alone.to_words(Z))


@pytest.mark.parametrize("n_columns", [1, FEW_COLUMNS, FEW_COLUMNS + 1])
@pytest.mark.parametrize("size", [1, 2, 13])
def test_blocks_are_summed_by_the_tree(X, size, n_columns, monkeypatch):
    monkeypatch.setattr(products, "NONZEROS_PER_SLICE", 40)  # several slices of words
    documents = Documents.from_matrix(X, size)
    blocks = build_products(documents, 3)
    assert len(split_rows_evenly(blocks.by_column, 6)) == 6
    Q = np.random.default_rng(6).standard_normal((N_WORDS, n_columns))
    expected = documents.sum_blocks(lambda D: D.T @ (D @ Q), 1)
    assert_array_equal(blocks.to_words(blocks.to_documents(Q)), expected)


def test_selecting_words_gives_the_documents_with_these_words_alone(X):
    chosen = np.flatnonzero(np.arange(N_WORDS) % 3)
    documents = Documents.from_matrix(X, 13)
    narrow = documents.transform_blocks(lambda D: D[:, chosen], len(chosen))
    narrow_blocks = build_products(documents, 2).select_words(chosen)
    assert narrow_blocks.shape == narrow.shape == (N_DOCUMENTS, len(chosen))
    Q = np.random.default_rng(6).standard_normal((len(chosen), 9))
    whole = build_products(narrow, 1)
    assert_array_equal(narrow_blocks.sum_products(Q, lambda DQ: DQ.T @ DQ), whole.sum_products(Q, lambda DQ: DQ.T @ DQ))
    for found, expected in zip(narrow_blocks.sum_statistics(Q, abs), whole.sum_statistics(Q, abs), strict=True):
        assert_array_equal(found, expected)
    assert_array_equal(narrow_blocks.to_words(X[:, :9]), whole.to_words(X[:, :9]))
    assert_array_equal(narrow_blocks.to_documents(Q), whole.to_documents(Q))
    assert_array_equal(narrow_blocks.multiply_word_gram(Q[:, :2]), whole.multiply_word_gram(Q[:, :2]))
    once = DocumentProducts(documents, whole.team).select_words(chosen)
    assert_array_equal(once.multiply_word_gram(Q), whole.multiply_word_gram(Q))


def test_blocks_change_no_bit_of_a_product(X):
    Q = np.random.default_rng(6).standard_normal((N_WORDS, 4))
    cuts = [Documents.from_matrix(X, size) for size in (7, N_DOCUMENTS)]
    few, one = (build_products(cut, 1).to_documents(Q) for cut in cuts)
    assert_array_equal(few, one)


def test_documents_stored_once_or_twice_have_the_same_sums(X):
    documents = Documents.from_matrix(X, 13)
    twice = build_products(documents, 2)
    once = DocumentProducts(documents, twice.team)
    C = np.random.default_rng(6).random((N_WORDS, 4))
    for found, expected in zip(twice.sum_statistics(C, np.sqrt), once.sum_statistics(C, np.sqrt), strict=True):
        assert_array_equal(found, expected)
    W = np.sqrt(X @ C)
    assert_allclose(once.sum_statistics(C, np.sqrt)[0], X.T @ W, rtol=ROUNDING)
    assert_array_equal(twice.sum_products(C, lambda DC: DC.T @ DC), once.sum_products(C, lambda DC: DC.T @ DC))


@pytest.mark.parametrize("n_columns", [1, 2, FEW_COLUMNS, FEW_COLUMNS + 1])
def test_threads_by_column_and_threads_by_row_give_the_same_bits(X, n_columns):
    documents = Documents.from_matrix(X, 13)
    rng = np.random.default_rng(7)
    Q, Z = rng.standard_normal((N_WORDS, n_columns)), rng.standard_normal((N_DOCUMENTS, n_columns))
    rows = build_products(documents, 8)  # more threads than few columns
    assert_allclose(rows.multiply_word_gram(Q), X.T @ X @ Q, rtol=ROUNDING, atol=ROUNDING)
    assert_allclose(rows.multiply_document_gram(Z), X @ X.T @ Z, rtol=ROUNDING, atol=ROUNDING)
    for n_threads in (1, 2, 3):
        columns = build_products(documents, n_threads)
        assert_array_equal(columns.multiply_word_gram(Q), rows.multiply_word_gram(Q))
        assert_array_equal(columns.multiply_document_gram(Z), rows.multiply_document_gram(Z))
        assert columns.multiply_word_gram(Q).flags.f_contiguous == rows.multiply_word_gram(Q).flags.f_contiguous


def test_a_block_without_documents_changes_nothing():
    X = sp.random(40, 20, density=0.4, random_state=1, format="csr")
    empty = sp.csr_matrix((0, 20))
    alone, beside = (AnchorFree(2).fit(Documents(blocks)) for blocks in ([X], [X, empty]))
    assert_allclose(beside.components_, alone.components_, rtol=1e-9, atol=1e-12)
