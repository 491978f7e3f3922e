"""Planted corpora: they have the correlations, the frequencies and the truth that they claim."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from experiments.planted import Design, compute_association, draw_corpus, draw_population

SMALL = Design(5, 300, 2000, 30)
#: Sampling error of a correlation of 50,000 draws, four standard errors.
CORRELATION_ERROR = 0.02


def draw(design, seed=0):
    rng = np.random.default_rng(seed)
    return draw_population(design, rng), rng


@pytest.mark.parametrize("kind", ["sparse", "dirichlet", "dense"])
def test_every_topic_gives_every_word_a_positive_probability(kind):
    population, _ = draw(SMALL._replace(kind=kind))
    assert population.topic_word.shape == (5, 300)
    assert population.topic_word.min() > 0
    assert_allclose(population.topic_word.sum(axis=1), 1.0)


def test_pairs_are_disjoint_and_their_logarithms_correlate_as_planted():
    population, rng = draw(SMALL._replace(n_topics=10))
    pairs = np.concatenate([population.positive, population.negative])
    assert len(population.positive) == len(population.negative) == 2
    assert len(np.unique(pairs)) == pairs.size
    W = population.draw_mixtures(50_000, rng)
    logs = np.log(W) + np.log(np.exp(population.mean).sum())
    # Proportions are known up to a factor, which differences of logarithms do not have.
    (a, b), (c, d) = population.positive[0], population.negative[0]
    spread = SMALL.spread**2
    assert_allclose(np.var(logs[:, a] - logs[:, b]), 2 * spread * (1 - 0.75), rtol=0.05)
    assert_allclose(np.var(logs[:, c] - logs[:, d]), 2 * spread * (1 + 0.75), rtol=0.05)
    assert_allclose(np.var(logs[:, a] - logs[:, c]), 2 * spread, rtol=0.05)


def test_truth_is_that_of_the_words_kept():
    population, rng = draw(SMALL)
    corpus = draw_corpus(population, SMALL, rng)
    assert corpus.counts.shape == (2000, len(corpus.words))
    assert len(corpus.words) < 300
    assert_allclose(corpus.topic_word.sum(axis=1), 1.0)
    frequency = np.asarray(corpus.counts.sum(axis=0)).ravel() / corpus.counts.sum()
    assert abs(frequency - corpus.shares @ corpus.topic_word).sum() < 0.1
    assert_allclose(corpus.shares.sum(), 1.0)


def test_dirichlet_proportions_have_no_association():
    population, rng = draw(SMALL._replace(kind="dirichlet"))
    W = population.draw_mixtures(50_000, rng)
    assert_allclose(compute_association(W), 0.0, atol=CORRELATION_ERROR)
    assert np.corrcoef(W.T)[0, 1] < -0.1


def test_association_has_the_sign_of_the_planted_pairs():
    population, rng = draw(SMALL._replace(n_topics=10))
    found = compute_association(population.draw_mixtures(50_000, rng))
    order = np.argsort(found[np.triu_indices(10, 1)])
    pairs = [set(pair) for pair in np.column_stack(np.triu_indices(10, 1))[order].tolist()]
    assert all(set(pair) in pairs[-2:] for pair in population.positive.tolist())
    assert all(set(pair) in pairs[:2] for pair in population.negative.tolist())


def test_the_same_seed_gives_the_same_corpus():
    first, second = (draw_corpus(*[draw(SMALL)[0], SMALL], np.random.default_rng(1)) for _ in range(2))
    assert_array_equal(first.counts.toarray(), second.counts.toarray())
