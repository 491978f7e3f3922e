import numpy as np
import pytest
from numpy.testing import assert_allclose

from anchorless import explained
from anchorless.cooccurrence import DocumentCooccurrence, MatrixCooccurrence
from anchorless.datasets import planted_topics, sampled_corpus
from anchorless.documents import Documents
from anchorless.explained import explained_share, trusted_words
from anchorless.spectrum import Spectrum, leading_eigenpairs


def spectrum_of(P, n):
    return leading_eigenpairs(P, n, np.random.default_rng(0))


@pytest.mark.parametrize("n_topics", [3, 10, 20])
@pytest.mark.parametrize("moments", ["gaussian", "nonnegative"])
def test_exact_data_keep_every_word_that_a_topic_uses(n_topics, moments):
    truth = planted_topics(n_topics, 400, moments=moments, random_state=n_topics)
    P = MatrixCooccurrence(truth.cooccurrence)
    used = truth.components.sum(axis=0) > 0
    share = explained_share(spectrum_of(P, n_topics), P.energy())
    assert_allclose(share[used], 1.0, atol=1e-9)
    assert np.all(share[~used] == 0)


def test_share_is_that_of_a_projection():
    """Second road: the squared length of the word's column, projected on the leading singular vectors."""
    X = np.random.default_rng(0).poisson(1.0, (60, 30)).astype(float)
    P = DocumentCooccurrence(Documents.from_matrix(X))
    left, _, _ = np.linalg.svd(X, full_matrices=False)
    projected = left[:, :4].T @ X
    expected = (projected**2).sum(axis=0) / (X**2).sum(axis=0)
    assert_allclose(explained_share(spectrum_of(P, 4), P.energy()), expected, rtol=1e-9)


def fake_spectrum(share):
    """One eigenvector, energies chosen so that word i has the given share."""
    u = np.full(len(share), 1 / np.sqrt(len(share)))
    return Spectrum(np.array([1.0]), u[:, None], 0.0, np.zeros(1), 1), u**2 / share


def test_more_documents_make_more_words_trusted(monkeypatch):
    monkeypatch.setattr(explained, "WORDS_PER_TOPIC", 1)
    share = np.array([0.9, 0.3, 0.03, 0.003])
    spectrum, energy = fake_spectrum(share)
    counts = [int(trusted_words(spectrum, energy, n).sum()) for n in (100, 1_000, 10_000, 100_000)]
    assert counts == [1, 2, 3, 4]
    # at the limit share / (1 − share) · N / F = 100
    assert trusted_words(spectrum, energy, 234)[1]
    assert not trusted_words(spectrum, energy, 233)[1]


def test_unknown_number_of_documents_asks_for_a_share(monkeypatch):
    monkeypatch.setattr(explained, "WORDS_PER_TOPIC", 1)
    spectrum, energy = fake_spectrum(np.array([0.9, 0.11, 0.09]))
    assert trusted_words(spectrum, energy, None).tolist() == [True, True, False]


def test_enough_words_are_kept_however_noisy():
    corpus = sampled_corpus(200, n_topics=4, n_words=500, length=20, random_state=0)
    P = DocumentCooccurrence(Documents.from_matrix(corpus.counts))
    spectrum = spectrum_of(P, 4)
    trusted = trusted_words(spectrum, P.energy(), 200)
    assert trusted.sum() >= explained.WORDS_PER_TOPIC * 4
    share = explained_share(spectrum, P.energy())
    assert share[trusted].min() >= share[~trusted].max()
