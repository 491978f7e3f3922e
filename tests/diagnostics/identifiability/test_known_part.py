"""Which probabilities and zeros documents give evidence for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from anchorless._diagnostics.identifiability.identifiability import Evidence, assess_identifiability
from anchorless._diagnostics.identifiability.known_part import (
    KNOWN_ZERO_SHARE,
    ZERO_ERRORS,
    compute_errors,
    compute_sampling_errors,
    fill_zeros,
    select_known_part,
)


def topics(n_words=60, n_topics=4, seed=0):
    rng = np.random.default_rng(seed)
    C = rng.exponential(size=(n_words, n_topics)) * (rng.random((n_words, n_topics)) < 0.6)
    C[:n_topics], C[-1] = np.eye(n_topics), 1.0
    C[~C.any(axis=1)] = 1.0
    return C / C.sum(axis=0)


def moments(n_topics=4, seed=0):
    W = np.random.default_rng(seed).dirichlet(np.full(n_topics, 0.3), 3000)
    return W.T @ W / len(W)


def test_errors_are_those_of_a_regression():
    """Documents WCᵀ plus noise, many times: the estimates of C from known W scatter by the errors."""
    rng = np.random.default_rng(0)
    C, N, size = topics(12), 400, 0.05
    W = rng.dirichlet(np.full(4, 0.3), N)
    estimates = [np.linalg.lstsq(W, W @ C.T + size * rng.standard_normal((N, 12)), rcond=None)[0].T for _ in range(400)]
    errors = compute_errors(C, W.T @ W / N, np.full(12, size**2 / N), 0.0)
    assert_allclose(np.std(estimates, axis=0), errors, rtol=0.2)


def test_a_direction_as_weak_as_noise_makes_every_error_unbounded():
    C, E = topics(), moments()
    word_noise = np.full(len(C), 1e-6)
    weak = np.linalg.eigvalsh(np.linalg.qr(C, mode="r") @ E @ np.linalg.qr(C, mode="r").T)
    below, above = (compute_errors(C, E, word_noise, share * weak[0] / weak[-1]) for share in (0.5, 1.01))
    assert np.isfinite(below).all()
    assert (below > compute_errors(C, E, word_noise, 0.0)).all()
    assert np.isinf(above).all()
    assert_array_equal(compute_errors(C, E, np.zeros(len(C)), 2.0), 0.0)  # words without noise are exact


def test_more_documents_make_smaller_errors():
    C = topics()
    few, many = (compute_sampling_errors(C, np.full(len(C), n)) for n in (30.0, 3000.0))
    assert (many < few).all()
    assert_allclose(few[0, 0] / many[0, 0], 10.0)  # that of a probability; that of a zero is one document in n
    assert_allclose(few[0, 1] / many[0, 1], 100.0)


@pytest.mark.parametrize("certain", [0.0, KNOWN_ZERO_SHARE])
def test_zeros_are_filled_up_to_their_errors_and_no_further_than_the_mean(certain):
    C, shares = topics(), np.array([0.4, 0.3, 0.2, 0.1])
    mean = (C @ shares)[:, None]
    for size in (0.01, 0.3, 10.0):
        errors = size * mean * np.ones_like(C)
        filled = fill_zeros(C, errors, shares, certain)
        most = min(ZERO_ERRORS * size, 1.0)
        assert (filled >= C).all()
        assert_allclose(filled[C == 0], (np.where(most > certain, most, 0.0) * mean * np.ones_like(C))[C == 0])
        assert_array_equal(filled[mean < C], C[mean < C])


def test_a_zero_in_few_documents_is_no_constraint():
    """The words that make topics unique are in many documents, or in eight: only then is that not known."""
    C, E = topics(), moments()
    for n, verdict in ((100_000.0, "proved"), (8.0, "refuted")):
        documents = np.full(len(C), n)
        found = assess_identifiability(C.T, E, Evidence(documents), n_starts=3)
        assert found.scattering.verdict == "proved"
        assert found.known.verdict == verdict
        assert found.uniqueness.verdict == ("unique" if verdict == "proved" else "another solution")


def test_the_second_solution_has_all_words_and_the_size_that_is_reported():
    C, E = topics(), moments()
    documents = np.full(len(C), 8.0)
    documents[-3:] = 1.0
    found = assess_identifiability(C.T, E, Evidence(documents), n_starts=3)
    second = found.uniqueness.second
    assert second.components.shape == C.T.shape
    assert_allclose(second.components.sum(axis=1), 1.0)
    assert_allclose(0.5 * abs(second.components - C.T).sum(axis=1), found.leeway, atol=1e-7)
    assert_allclose(second.mixing @ second.moments @ second.mixing.T, E, atol=1e-12)
    part = select_known_part(C, E, documents, None, 0.0)
    mixed = (part.loosest * part.mass) @ second.mixing  # a solution for the words as their errors allow them
    assert mixed.min() >= -1e-12
    assert np.ptp(part.mass) > 0.01


def test_zeros_are_drawn_like_other_probabilities():
    """A proof by one anchor word for each topic does not survive errors in their zeros; exact zeros stay."""
    C = np.vstack([np.eye(3), np.random.default_rng(0).exponential(size=(30, 3))])
    exact = assess_identifiability(C.T, n_starts=2).survival
    assert (exact.verdict, exact.unit, exact.level) == ("proved", "relative", 3.0)
    sampled = assess_identifiability(C.T, evidence=Evidence(np.full(len(C), 1000.0)), n_starts=2).survival
    assert (sampled.verdict, sampled.unit, sampled.level) == ("proved", "standard errors", 0.0)


def test_topics_without_evidence_are_exact():
    assert select_known_part(topics(), moments(), None, None, 0.0) is None


def test_a_topic_of_rare_words_alone_keeps_them():
    C = np.kron(np.eye(3), np.full((30, 1), 1 / 30))
    part = select_known_part(C, None, np.r_[np.full(60, 100.0), np.ones(30)], None, 0.0)
    assert part.words.all()
    assert (part.C[60:] > 0).all()  # but none of their zeros
