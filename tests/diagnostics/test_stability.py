import numpy as np
import pytest
from scipy.stats import false_discovery_control

from anchorless import AnchorFree
from anchorless._core.cooccurrence import DocumentCooccurrence
from anchorless._core.eigen import find_leading_eigenpairs
from anchorless._core.topics import compute_topic_shares
from anchorless._corpus.documents import Documents
from anchorless._diagnostics.resampling import Resampler, reorthonormalize
from anchorless._diagnostics.stability import adjust_holm, compute_association_p
from anchorless.datasets import draw_counts, planted_topics, sampled_corpus
from anchorless.errors import InputError
from anchorless.metrics import match_topics


def small(seed, n_documents=1500, n_topics=3, n_words=150):
    return sampled_corpus(n_documents, n_topics, n_words, length=60, random_state=seed)


def fitted(corpus, cooccurrence="unbiased", F=3, **settings):
    return AnchorFree(F, cooccurrence=cooccurrence, **settings).fit(corpus.counts)


@pytest.mark.parametrize("cooccurrence", ["biased", "unbiased"])
def test_the_number_of_jobs_changes_no_bit(cooccurrence):
    corpus = small(0)
    model = fitted(corpus, cooccurrence)
    one, two = (model.stability(corpus.counts, 10, n_jobs=jobs) for jobs in (1, 2))
    for name in ("word_stability", "topic_stability", "association_p"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    for name in ("probabilities", "shares", "correlation", "association"):
        np.testing.assert_array_equal(np.array(getattr(one, name)), np.array(getattr(two, name)))


@pytest.mark.parametrize("cooccurrence", ["biased", "unbiased"])
@pytest.mark.parametrize("seed", [0, 1])
def test_intervals_are_ordered_and_in_range(cooccurrence, seed):
    corpus = small(seed)
    found = fitted(corpus, cooccurrence).stability(corpus.counts, 12)
    assert found.corrected == (cooccurrence == "unbiased")
    for low, high in [(0, found.probabilities), (0, found.shares), (-1, found.correlation), (-1, found.association)]:
        assert np.all(high.low >= low)
        assert np.all(high.low <= high.estimate)
        assert np.all(high.estimate <= high.high)
        assert np.all(high.high <= 1)
    assert np.all((found.topic_stability >= 0) & (found.topic_stability <= 1))
    np.testing.assert_allclose(found.association_p, found.association_p.T, rtol=0, atol=0)


def test_uncorrected_estimates_are_those_of_the_fit():
    corpus = small(2)
    model = fitted(corpus, "biased")
    found = model.stability(corpus.counts, 10)
    np.testing.assert_array_equal(found.shares.estimate, model.topic_shares_)
    np.testing.assert_array_equal(found.probabilities.estimate, np.take_along_axis(model.components_, found.words, 1))


def test_intervals_cover_the_planted_truth_most_of_the_time():
    covered, total = 0, 0
    for seed in range(4):
        corpus = sampled_corpus(5000, 3, 200, length=80, random_state=seed)
        E = (w := sampled_corpus(100_000, 3, 200, length=2, random_state=seed).weights).T @ w / 100_000
        model = fitted(corpus)
        found = model.stability(corpus.counts, 30)
        _, j = match_topics(model.components_, corpus.components)
        truth = np.take_along_axis(corpus.components[j], found.words, 1)
        for interval, true in [(found.probabilities, truth), (found.shares, compute_topic_shares(E)[j])]:
            covered += int(((interval.low <= true) & (true <= interval.high)).sum())
            total += true.size
    assert 0.75 <= covered / total <= 0.99


def test_correction_comes_nearer_to_the_truth():
    ratios = []
    for seed in range(4):
        corpus = sampled_corpus(4000, 3, 200, length=80, random_state=seed)
        model = fitted(corpus)
        found = model.stability(corpus.counts, 20)
        _, j = match_topics(model.components_, corpus.components)
        truth = np.take_along_axis(corpus.components[j], found.words, 1)
        raw = np.take_along_axis(model.components_, found.words, 1)
        ratios.append(np.linalg.norm(found.probabilities.estimate - truth) / np.linalg.norm(raw - truth))
    assert np.median(ratios) < 0.8


@pytest.mark.parametrize("unbiased", [False, True])
def test_weight_one_gives_the_spectrum_of_all_documents(unbiased):
    corpus = small(3)
    documents = Documents.from_matrix(corpus.counts)
    P = DocumentCooccurrence(documents, unbiased=unbiased)
    model = fitted(corpus, "unbiased" if unbiased else "biased")
    fit = model._run_fit(P, 1)
    sampler = Resampler(P, documents, fit, np.random.default_rng(0))
    U, inner = sampler.compute_subspace(np.ones(documents.shape[0]))
    overlap = np.linalg.svd(U.T @ fit.spectrum.vectors, compute_uv=False)
    np.testing.assert_allclose(overlap, 1.0, atol=1e-10)
    np.testing.assert_allclose(np.linalg.eigvalsh(inner)[::-1], fit.spectrum.values, rtol=1e-9)


def test_subspace_of_a_resample_is_that_of_repeated_documents():
    corpus = small(4)
    documents = Documents.from_matrix(corpus.counts)
    P = DocumentCooccurrence(documents, unbiased=True)
    sampler = Resampler(P, documents, fitted(corpus)._run_fit(P, 1), np.random.default_rng(0))
    w = sampler.draw_weights(np.random.default_rng(5))
    repeated = corpus.counts[np.repeat(np.arange(len(w)), w.astype(int))]
    other = find_leading_eigenpairs(
        DocumentCooccurrence(Documents.from_matrix(repeated), unbiased=True), 3, np.random.default_rng(0)
    )
    U, inner = sampler.compute_subspace(w)
    assert np.linalg.svd(U.T @ other.vectors, compute_uv=False).min() > 0.999
    np.testing.assert_allclose(np.linalg.eigvalsh(inner)[::-1], other.values, rtol=1e-3)


def test_topics_that_share_a_part_are_called_associated():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        C = planted_topics(5, 150, random_state=seed).components
        g = rng.gamma([0.3, 0.4, 0.5, 0.1, 0.1], size=(3000, 5))
        g[:, 3:] += rng.gamma(0.6, size=(3000, 1))
        counts = draw_counts(C, g / g.sum(axis=1, keepdims=True), np.full(3000, 80), rng)
        model = AnchorFree(5, cooccurrence="unbiased").fit(counts)
        found = model.stability(counts, 20)
        a, b = np.argsort(match_topics(model.components_, C)[1])[3:]
        assert found.association_p[a, b] < 0.01
        assert found.association.low[a, b] > 0


@pytest.mark.parametrize("n_resamples", [10, 20, 50])
def test_one_family_in_ten_has_a_false_difference(n_resamples):
    """Ten pairs at zero, errors of known spread: at level 0.1 one family in ten, hardly more and not far fewer."""
    rng = np.random.default_rng(n_resamples)
    first, second = np.triu_indices(5, 1)
    false = 0
    for _ in range(2000):
        estimate, replicates = np.eye(5), np.tile(np.eye(5), (n_resamples, 1, 1))
        estimate[first, second] = rng.normal(0, 0.02, 10)
        replicates[:, first, second] = estimate[first, second] + rng.normal(0, 0.02, (n_resamples, 10))
        false += bool((compute_association_p(estimate, replicates)[first, second] < 0.1).any())
    assert 0.07 < false / 2000 < 0.12


def test_holm_by_hand_and_stricter_than_fdr():
    np.testing.assert_allclose(adjust_holm(np.array([0.01, 0.04, 0.03])), [0.03, 0.06, 0.06])
    for seed in range(5):
        p = np.random.default_rng(seed).random(20) ** 3
        assert np.all(adjust_holm(p) >= false_discovery_control(p) - 1e-12)


def test_bad_input_raises():
    corpus = small(5)
    model = fitted(corpus)
    with pytest.raises(InputError, match="n_resamples=3"):
        model.stability(corpus.counts, 3)
    with pytest.raises(InputError, match="level=1"):
        model.stability(corpus.counts, 10, level=1.0)
    few = corpus.counts[:15]
    with pytest.raises(InputError, match="too few to resample"):
        AnchorFree(2).fit(few).stability(few)


def test_one_topic():
    corpus = small(6)
    found = AnchorFree(1).fit(corpus.counts).stability(corpus.counts, 10)
    np.testing.assert_allclose(found.shares.low, 1.0)
    np.testing.assert_array_equal(found.association_p, [[1.0]])


@pytest.mark.parametrize("angle", [1.0, 1e-3, 1e-9, 0.0])
def test_a_basis_is_orthonormal_even_if_columns_nearly_coincide(angle):
    rng = np.random.default_rng(3)
    X = np.linalg.qr(rng.standard_normal((60, 4)))[0]
    X[:, 3] = np.sqrt(1.0 - angle**2) * X[:, 2] + angle * X[:, 3]
    Q = reorthonormalize(X)
    np.testing.assert_allclose(Q.T @ Q, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(Q @ (Q.T @ X), X, atol=1e-12)
