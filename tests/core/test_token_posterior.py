"""Draws of the posterior: each step leaves the right distribution as it is."""

import numpy as np
import pytest

from anchorless._core.token_model import TokenTopics
from anchorless._core.token_posterior import Population, TokenPosterior, draw_population
from anchorless._corpus.disk.documents import store_blocks
from anchorless._corpus.documents import Documents
from anchorless.datasets import sampled_corpus

#: Sampling error allowed in means and covariances of 20,000 draws.
SAMPLING = 0.05


@pytest.fixture(scope="module")
def corpus():
    return sampled_corpus(600, n_topics=4, n_words=80, length=40, random_state=4)


def start_chain(corpus, topic_word, seed=1, n_threads=1):
    counts = Documents.from_matrix(corpus.counts, block_size=100)
    return TokenPosterior(counts, TokenTopics(topic_word, np.full(4, 0.2), np.full(4, 0.25)), seed, n_threads)


def test_the_population_of_many_documents_is_that_of_their_logits():
    rng, covariance = np.random.default_rng(0), np.array([[1.0, 0.6], [0.6, 2.0]])
    logits = rng.multivariate_normal([1.0, -1.0], covariance, 20_000)
    center = logits.mean(axis=0)
    population = Population(len(logits), center, (logits - center).T @ (logits - center))
    mean, found = draw_population(population, covariance, rng)
    np.testing.assert_allclose(mean, [1.0, -1.0], atol=SAMPLING)
    np.testing.assert_allclose(found, covariance, atol=2 * SAMPLING)


def test_threads_change_no_bit_and_the_seed_does(corpus):
    chains = [start_chain(corpus, corpus.components, seed, n) for seed, n in ((1, 1), (1, 3), (2, 1))]
    for chain in chains:
        for _ in range(3):
            chain.sweep()
    np.testing.assert_array_equal(chains[0].topic_word, chains[1].topic_word)
    np.testing.assert_array_equal(chains[0].mixtures, chains[1].mixtures)
    assert abs(chains[0].topic_word - chains[2].topic_word).max() > 1e-6


def test_blocks_on_disk_give_the_bits_of_blocks_in_memory(corpus, tmp_path):
    blocks = Documents.from_matrix(corpus.counts, block_size=100).blocks
    topics = TokenTopics(corpus.components, np.full(4, 0.2), np.full(4, 0.25))
    stored = store_blocks(tmp_path / "blocks", blocks, corpus.counts.shape[1])
    chains = [TokenPosterior(counts, topics, 1, 2) for counts in (Documents(blocks), stored)]
    for chain in chains:
        for _ in range(3):
            chain.sweep()
    np.testing.assert_array_equal(chains[0].topic_word, chains[1].topic_word)
    np.testing.assert_array_equal(chains[0].mixtures, chains[1].mixtures)
    np.testing.assert_array_equal(chains[0].covariance, chains[1].covariance)
    assert isinstance(chains[1].mixtures, np.memmap)


def test_a_chain_leaves_blurred_topics_for_the_planted_ones(corpus):
    blurred = 0.6 * corpus.components + 0.4 * corpus.components.mean(axis=0)
    chain = start_chain(corpus, blurred)
    for _ in range(60):
        chain.sweep()
    before, after = (abs(topics - corpus.components).sum() for topics in (blurred, chain.topic_word))
    assert after < 0.6 * before


def test_words_and_documents_without_a_token_do_no_harm():
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, (40, 12)).astype(float)
    X[:, 5], X[7] = 0.0, 0.0
    topics = rng.dirichlet(np.ones(12), 3)
    chain = TokenPosterior(Documents.from_matrix(X), TokenTopics(topics, np.ones(3), np.ones(3) / 3), 0, 1)
    for _ in range(5):
        chain.sweep()
    np.testing.assert_array_equal(chain.topic_word[:, 5], 0.0)
    np.testing.assert_allclose(chain.topic_word.sum(axis=1), 1.0)
    np.testing.assert_allclose(chain.mixtures.sum(axis=1), 1.0)
    assert chain.lengths[7] == 0


def test_a_single_topic_overflows_nothing():
    X = np.random.default_rng(0).poisson(1.0, (200, 30)).astype(float)
    chain = TokenPosterior(
        Documents.from_matrix(X), TokenTopics(np.full((1, 30), 1 / 30), np.ones(1), np.ones(1)), 0, 1
    )
    for _ in range(200):
        chain.sweep()
    np.testing.assert_allclose(chain.mixtures, 1.0)
