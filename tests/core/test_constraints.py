import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from anchorless import datasets
from anchorless._core import constraints
from anchorless._core.constraints import (
    compute_error_variance,
    compute_explained_share,
    compute_signal_to_noise,
    find_reliable_words,
)
from anchorless._core.cooccurrence import DocumentCooccurrence, MatrixCooccurrence
from anchorless._core.eigen import Spectrum, find_leading_eigenpairs
from anchorless._corpus.documents import Documents
from anchorless.datasets import planted_topics, sampled_corpus


def spectrum_of(P, n):
    return find_leading_eigenpairs(P, n, np.random.default_rng(0))


@pytest.mark.parametrize("n_topics", [3, 10, 20])
@pytest.mark.parametrize("moments", ["gaussian", "nonnegative"])
def test_exact_data_keep_every_word_that_a_topic_uses(n_topics, moments):
    truth = planted_topics(n_topics, 400, moments=moments, random_state=n_topics)
    P = MatrixCooccurrence(truth.cooccurrence)
    used = truth.components.sum(axis=0) > 0
    share = compute_explained_share(spectrum_of(P, n_topics), P.energy())
    assert_allclose(share[used], 1.0, atol=1e-9)
    assert np.all(share[~used] == 0)


def test_share_is_that_of_a_projection():
    """Second implementation: the squared length of the word's column, projected on the leading singular vectors."""
    X = np.random.default_rng(0).poisson(1.0, (60, 30)).astype(float)
    P = DocumentCooccurrence(Documents.from_matrix(X))
    left, _, _ = np.linalg.svd(X, full_matrices=False)
    projected = left[:, :4].T @ X
    expected = (projected**2).sum(axis=0) / (X**2).sum(axis=0)
    assert_allclose(compute_explained_share(spectrum_of(P, 4), P.energy()), expected, rtol=1e-9)


def test_negative_eigenvalues_count_by_their_size():
    rng = np.random.default_rng(1)
    U = np.linalg.qr(rng.standard_normal((30, 3)))[0]
    values = np.array([3.0, -2.0, 1.0])
    energy = 0.1 + abs(U**2 @ values)
    spectrum = Spectrum(values, U, 0.0, True, np.zeros(3), 0)
    size = U**2 @ abs(values)
    assert_allclose(compute_explained_share(spectrum, energy), size / (size + abs(energy - U**2 @ values)), rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_ratio_is_the_noise_of_a_row(seed):
    """Monte Carlo: the spread of a row of U over fresh noise in the documents."""
    rng = np.random.default_rng(seed)
    n, n_words, n_topics = 400, 30, 3
    signal = rng.dirichlet(np.ones(n_topics), n) @ rng.exponential(size=(n_topics, n_words))
    left = np.linalg.svd(signal, full_matrices=False)[0]
    noise = 0.5
    # with V and Σ known, u = Dᵀv / σ has independent errors of size noise / σ
    draws = np.array([(signal + noise * rng.standard_normal(signal.shape)).T @ left[:, :n_topics] for _ in range(200)])
    spread = draws.var(axis=0).sum(axis=1)
    measured = ((signal.T @ left[:, :n_topics]) ** 2).sum(axis=1) / spread
    explained_part = (signal**2).sum(axis=0)
    share = explained_part / (explained_part + n * noise**2)
    assert_allclose(compute_signal_to_noise(share, n_topics, n), measured, rtol=0.3)


def test_reliability_grows_with_the_documents(monkeypatch):
    monkeypatch.setattr(constraints, "WORDS_PER_TOPIC", 1)
    share = np.array([0.9, 0.3, 0.03, 0.003])
    sizes = (1_000, 10_000, 100_000, 1_000_000)
    assert [int(find_reliable_words(compute_signal_to_noise(share, 1, n), 1).sum()) for n in sizes] == [1, 2, 3, 4]
    # at the limit share / (1 − share) · N / F = 1000
    assert find_reliable_words(compute_signal_to_noise(share, 1, 2334), 1)[1]
    assert not find_reliable_words(compute_signal_to_noise(share, 1, 2333), 1)[1]
    assert not find_reliable_words(compute_signal_to_noise(share[1:], 2, 2334), 1)[1]


def test_unknown_number_of_documents_asks_for_a_tenth(monkeypatch):
    monkeypatch.setattr(constraints, "WORDS_PER_TOPIC", 1)
    assert find_reliable_words(compute_signal_to_noise(np.array([0.9, 0.11, 0.09]), 1, None), 1).tolist() == [
        True,
        True,
        False,
    ]


def test_exact_words_have_no_noise():
    assert compute_signal_to_noise(np.array([1.0, 0.5, 0.0]), 2, 10).tolist() == [np.inf, 5.0, 0.0]


def test_document_frequency_bounds_what_is_known():
    share, frequency = np.array([1.0, 1 - 1e-9, 0.5, 0.5, 0.5]), np.array([1, 3, 3, 1e9, 0])
    ratio = compute_signal_to_noise(share, 1, 1000, frequency)
    assert_allclose(ratio, [np.inf, 30.0, 1000 * 30 / 1030, 1000.0, 0.0], rtol=1e-4)


def test_words_of_a_few_odd_documents_are_not_reliable():
    """Three documents of a language of their own draw an eigenvector, and their words look well explained."""
    corpus = datasets.sampled_corpus(3000, n_topics=4, n_words=300, length=80, random_state=0)
    odd = np.zeros((3000, 60))
    odd[:3] = np.random.default_rng(0).poisson(20, (3, 60))
    X = sp.hstack([corpus.counts, sp.csr_matrix(odd)]).tocsr()
    P = DocumentCooccurrence(Documents.from_matrix(X))
    share = compute_explained_share(spectrum_of(P, 5), P.energy())
    without = find_reliable_words(compute_signal_to_noise(share, 5, 3000), 5)
    assert without[300:].sum() >= 50
    assert find_reliable_words(compute_signal_to_noise(share, 5, 3000, P.document_frequency()), 5)[300:].sum() == 0


def test_enough_words_are_kept_however_noisy():
    corpus = sampled_corpus(200, n_topics=4, n_words=500, length=20, random_state=0)
    P = DocumentCooccurrence(Documents.from_matrix(corpus.counts))
    spectrum = spectrum_of(P, 4)
    share = compute_explained_share(spectrum, P.energy())
    reliable = find_reliable_words(compute_signal_to_noise(share, 4, 200), 4)
    assert reliable.sum() >= constraints.WORDS_PER_TOPIC * 4
    assert share[reliable].min() >= share[~reliable].max()


def test_errors_of_rows_have_the_size_that_the_ratio_says_and_none_on_exact_data():
    variance = compute_error_variance(np.array([np.inf, 400.0, 0.0]), 5)
    assert_allclose(variance * 5, [0.0, 1 / 400, 1.0])
