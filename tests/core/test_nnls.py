import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls

from anchorless._core import nnls as weights
from anchorless._core.nnls import compute_document_weights, compute_gram, coordinate_descent, solve_nnls
from anchorless._corpus.documents import Documents
from anchorless.errors import SolverError


@pytest.fixture
def problem():
    """Topics C (V, F) and documents that mix some of them, with noise."""

    def make(n_topics, seed, n=60, n_words=80):
        rng = np.random.default_rng(seed)
        C = rng.exponential(size=(n_words, n_topics)) * (rng.random((n_words, n_topics)) < 0.4)
        C /= C.sum(axis=0)
        W = rng.exponential(size=(n, n_topics)) * (rng.random((n, n_topics)) < 0.3)
        return C, np.maximum(W @ C.T + 0.02 * rng.standard_normal((n, n_words)), 0.0)

    return make


@pytest.mark.parametrize("n_topics", [1, 2, 5, 20, 60])
def test_rows_are_scipys_nnls(problem, n_topics):
    C, D = problem(n_topics, n_topics)
    W = compute_document_weights(Documents.from_matrix(D), C, 1)
    expected = np.array([nnls(C, d)[0] for d in D])
    assert_allclose(W, expected, atol=1e-9 * expected.max())


@pytest.mark.parametrize("seed", range(3))
def test_optimality_conditions_hold(problem, seed):
    C, D = problem(15, seed)
    W = compute_document_weights(Documents.from_matrix(D), C, 1)
    gradient = W @ compute_gram(C) - D @ C
    size = abs(D @ C).max()
    assert W.min() >= 0
    assert gradient.min() >= -1e-9 * size
    assert abs(gradient[W > 0]).max() <= 1e-9 * size


def test_each_row_has_the_bits_it_has_alone(problem):
    C, D = problem(12, 0, n=300)
    together = compute_document_weights(Documents.from_matrix(D), C, 1)
    alone = np.vstack([compute_document_weights(Documents.from_matrix(d[None]), C, 1) for d in D])
    assert_array_equal(together, alone)


def test_batches_blocks_and_threads_change_no_bit(problem, monkeypatch):
    C, D = problem(7, 1, n=101)
    whole = compute_document_weights(Documents.from_matrix(D), C, 1)
    assert_array_equal(compute_document_weights(Documents.from_matrix(D, block_size=13), C, 2), whole)
    monkeypatch.setattr(weights, "ENTRIES_PER_BATCH", 150)
    monkeypatch.setattr(weights, "ENTRIES_PER_STACK", 50)
    assert_array_equal(compute_document_weights(Documents.from_matrix(D), C, 1), whole)


def test_exact_mixtures_give_their_weights_back(problem):
    C, _ = problem(10, 3)
    W = np.random.default_rng(0).exponential(size=(30, 10))
    assert_allclose(compute_document_weights(Documents.from_matrix(W @ C.T), C, 1), W, rtol=1e-9)


def test_empty_documents_have_no_weights(problem):
    C, D = problem(5, 0)
    D[3] = 0
    W = compute_document_weights(Documents.from_matrix(sp.csr_matrix(D)), C, 1)
    assert_array_equal(W[3], 0)
    assert W[4].sum() > 0


@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_scale_of_the_documents_does_not_matter(problem, scale):
    C, D = problem(6, 2)
    W = compute_document_weights(Documents.from_matrix(D), C, 1)
    assert_allclose(
        compute_document_weights(Documents.from_matrix(D * scale), C, 1), W * scale, rtol=1e-9, atol=1e-12 * scale
    )


def test_nearly_equal_topics_still_end():
    rng = np.random.default_rng(0)
    C = rng.random((40, 6))
    C[:, 5] = C[:, 4] * (1 + 1e-7 * rng.random(40))
    D = rng.random((200, 40))
    W = solve_nnls(compute_gram(C), D @ C)
    loss = ((D - W @ C.T) ** 2).sum(axis=1)
    best = np.array([nnls(C, d)[1] ** 2 for d in D])
    assert_allclose(loss, best, rtol=1e-6)


def test_running_out_of_exchanges_is_an_error(problem, monkeypatch):
    C, D = problem(10, 0)
    monkeypatch.setattr(weights, "MAX_EXCHANGES", 1)
    with pytest.raises(SolverError, match="after 1 exchanges"):
        compute_document_weights(Documents.from_matrix(D), C, 1)


@pytest.mark.parametrize("n_topics", [1, 7, 8, 9, 20])
@pytest.mark.parametrize("sweeps", [1, 3])
@pytest.mark.parametrize("from_zero", [True, False])
@pytest.mark.parametrize("ordered", [True, False])
def test_coordinate_descent_takes_one_weight_after_the_other(problem, n_topics, sweeps, from_zero, ordered):
    C, D = problem(n_topics, n_topics)
    gram, targets = compute_gram(C), D @ C
    start = np.zeros_like(targets) if from_zero else np.random.default_rng(0).exponential(size=targets.shape)
    order = np.random.default_rng(1).permutation(n_topics) if ordered else None
    expected = start.copy()
    for k in [*(order if ordered else range(n_topics))] * sweeps:
        step = (targets[:, k] - expected @ gram[:, k]) / gram[k, k]
        expected[:, k] = np.maximum(expected[:, k] + step, 0.0)
    given = start.copy()
    found = coordinate_descent(gram, targets, sweeps, None if from_zero else given, order)
    assert_allclose(found, expected, atol=1e-12 * expected.max())
    assert_array_equal(given, start)
    assert found.flags.c_contiguous
