import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls
from threadpoolctl import threadpool_info, threadpool_limits

from anchorless._corpus.documents import Documents
from anchorless._topic_model import mixtures
from anchorless._topic_model.mixtures import (
    Mixtures,
    TokenInference,
    collect_mixtures,
    iter_mixtures,
    make_compute,
    stack_mixtures,
)
from tests.helpers.tolerances import ROUNDING


def iter_block_mixtures(blocks, topics, n_threads):
    return iter_mixtures(Documents([*blocks]), make_compute(topics, None, None), n_threads)


@pytest.fixture
def topics():
    return np.random.default_rng(0).dirichlet(np.full(40, 0.2), 5)


@pytest.fixture
def documents(topics):
    rng = np.random.default_rng(1)
    D = rng.dirichlet(np.full(5, 0.3), 90) @ topics * rng.uniform(0.1, 9, (90, 1)) + rng.exponential(0.02, (90, 40))
    D[D < 0.05] = 0.0
    D[11] = 0.0
    return sp.csr_matrix(D)


def test_shares_and_explained_part_are_those_of_least_squares(documents, topics):
    result = stack_mixtures(iter_block_mixtures([documents], topics, 1), 5)
    for row, d in enumerate(documents.toarray()):
        w, residual = nnls(topics.T, d)
        if row == 11:
            np.testing.assert_array_equal(result.shares[row], 0.0)
            assert result.explained[row] == 0.0
            continue
        np.testing.assert_allclose(result.shares[row], w / w.sum(), atol=1e-9)
        np.testing.assert_allclose(result.explained[row], 1 - residual**2 / (d @ d), atol=1e-9)


def test_rows_sum_to_one_and_a_document_of_topics_is_all_explained(topics):
    D = sp.csr_matrix(np.random.default_rng(2).dirichlet(np.ones(5), 20) @ topics)
    result = stack_mixtures(iter_block_mixtures([D], topics, 1), 5)
    np.testing.assert_allclose(result.shares.sum(axis=1), 1.0, rtol=ROUNDING)
    np.testing.assert_allclose(result.explained, 1.0, rtol=1e-9)
    assert result.explained.max() <= 1.0


def test_a_document_that_shares_no_word_with_the_topics_has_no_share():
    result = stack_mixtures(iter_block_mixtures([sp.csr_matrix([[0.0, 0.0, 2.0]])], np.array([[0.5, 0.5, 0.0]]), 1), 1)
    np.testing.assert_array_equal(result.shares, [[0.0]])
    np.testing.assert_array_equal(result.explained, [0.0])


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("step", [1, 13, 90])
def test_neither_threads_nor_neighbours_change_a_bit(documents, topics, n_threads, step):
    whole = stack_mixtures(iter_block_mixtures([documents], topics, 1), 5)
    parts = stack_mixtures(
        iter_block_mixtures((documents[i : i + step] for i in range(0, 90, step)), topics, n_threads), 5
    )
    assert parts.shares.tobytes() == whole.shares.tobytes()
    assert parts.explained.tobytes() == whole.explained.tobytes()


def test_linear_algebra_has_one_thread(documents, topics, monkeypatch):
    seen = []
    real = mixtures.solve_nnls

    def watched(*args):
        seen.extend(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")
        return real(*args)

    monkeypatch.setattr(mixtures, "solve_nnls", watched)
    with threadpool_limits(2, user_api="blas"):
        list(iter_block_mixtures([documents], topics, 2))
    assert set(seen) == {1}


def test_size_of_a_document_does_not_matter_to_its_shares(documents, topics):
    once, twice = (stack_mixtures(iter_block_mixtures([documents * c], topics, 1), 5) for c in (1.0, 1024.0))
    np.testing.assert_allclose(once.shares, twice.shares, rtol=ROUNDING)
    np.testing.assert_allclose(once.explained, twice.explained, rtol=ROUNDING)


def test_no_block_and_empty_blocks(documents, topics):
    assert stack_mixtures([], 5).shares.shape == (0, 5)
    result = stack_mixtures(iter_block_mixtures([documents[:0], documents[:2]], topics, 2), 5)
    assert isinstance(result, Mixtures)
    assert result.shares.shape == (2, 5)
    assert result.explained.shape == (2,)


@pytest.mark.parametrize("on_disk", [False, True])
def test_mixtures_are_collected_in_memory_or_on_disk(documents, topics, on_disk):
    seen = []
    parts = iter_block_mixtures([documents[:30], documents[30:]], topics, 1)
    found = collect_mixtures(parts, (90, 5), on_disk=on_disk, add=lambda part: seen.append(len(part.shares)))
    expected = stack_mixtures(iter_block_mixtures([documents], topics, 1), 5)
    np.testing.assert_array_equal(found.shares, expected.shares)
    np.testing.assert_array_equal(found.explained, expected.explained)
    assert seen == [30, 60]


def token_inference(rng, F=3, V=40):
    phi = rng.dirichlet(np.full(V, 0.1), F)
    return TokenInference(np.ascontiguousarray(phi.T), np.array([0.2, 0.3, 0.5]), phi.mean(axis=0))


def test_token_mixtures_are_a_fixed_point_of_the_likelihood():
    rng = np.random.default_rng(0)
    inference = token_inference(rng)
    x = rng.multinomial(200, inference.phi @ [0.6, 0.3, 0.1]).astype(float)
    theta = inference.compute(sp.csr_matrix(x)).shares[0]
    weights = theta * (x.sum() + inference.alpha.sum())
    by_topic = weights * inference.phi
    again = (by_topic / by_topic.sum(axis=1, keepdims=True) * x[:, None]).sum(axis=0) + inference.alpha
    np.testing.assert_allclose(again / again.sum(), theta, atol=2e-3)
    np.testing.assert_allclose(theta, [0.6, 0.3, 0.1], atol=0.1)


def test_token_mixtures_have_the_same_bits_alone_and_in_a_batch():
    rng = np.random.default_rng(1)
    inference = token_inference(rng)
    X = sp.csr_matrix(rng.poisson(0.4, (300, 40)).astype(float))
    together = inference.compute(X)
    for row in (0, 7, 299):
        alone = inference.compute(X[row])
        np.testing.assert_array_equal(alone.shares[0], together.shares[row])
        assert alone.explained[0] == together.explained[row]


def test_a_document_without_a_known_word_has_no_mixture():
    inference = token_inference(np.random.default_rng(2))
    phi = inference.phi.copy()
    phi[5] = 0.0
    X = sp.csr_matrix(([3.0], ([1], [5])), shape=(2, 40))
    found = inference._replace(phi=phi).compute(X)
    np.testing.assert_array_equal(found.shares, np.zeros((2, 3)))
    np.testing.assert_array_equal(found.explained, [0.0, 0.0])


def test_explained_is_zero_for_an_ordinary_document_and_large_for_one_of_a_single_topic():
    rng = np.random.default_rng(3)
    inference = token_inference(rng)
    ordinary, special = rng.multinomial(2000, inference.frequency), rng.multinomial(2000, inference.phi[:, 0])
    explained = inference.compute(sp.csr_matrix(np.array([ordinary, special], dtype=float))).explained
    assert explained[1] > 0.9
    assert explained[0] < 0.5


def test_a_frequency_that_no_counts_have_explains_nothing_and_overflows_nothing():
    """A model file may hold any positive number; warnings are errors here."""
    X, shares, phi = sp.csr_array(np.array([[3.0, 1.0, 2.0]])), np.array([[1.0]]), np.array([[0.5], [0.3], [0.2]])
    explained = [
        mixtures.compute_explained_deviance(X, shares, phi, np.array([0.4, 0.6, tiny]))
        for tiny in (0.0, 5e-324, 1e-309)
    ]
    np.testing.assert_array_equal(explained, explained[:1] * 3)
    assert np.all(np.isfinite(explained))
