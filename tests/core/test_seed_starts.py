import numpy as np
import scipy.sparse as sp

from anchorless._core import seed_starts
from anchorless._corpus.documents import Documents
from anchorless.datasets import draw_counts, planted_topics

X = np.array([[2.0, 1, 3, 0, 0, 0], [1.0, 0, 0, 4, 0, 0], [0.0, 0, 0, 0, 2, 2], [0.0, 0, 0, 3, 2, 1]])
SEEDS = [[0, 1], [4, 5], [0, 5]]


def build(function, seeds=SEEDS):
    matrix = sp.csr_matrix(X)
    return function(Documents([matrix[:2], matrix[2:]]), seeds, 2)


def test_a_joint_start_has_the_words_of_documents_with_two_words_of_the_seed():
    found = build(seed_starts.build_joint_starts)
    frequency = X.sum(axis=0) / X.sum()
    pairs = np.array([[2 / 30, 0, 0, 0], [0, 0, 4 / 12, 2 / 30]])  # of tokens, by those of the document
    words = pairs @ X
    rest = np.maximum(words / words.sum(axis=1, keepdims=True) - 0.5 * frequency, 0.0)
    np.testing.assert_allclose(found[:2], rest / rest.sum(axis=1, keepdims=True))
    np.testing.assert_array_equal(found[2], 0.0)  # no document has both


def test_a_tandem_start_has_the_words_that_occur_with_two_words_of_the_seed():
    found, p, V = build(seed_starts.build_tandem_starts, [*SEEDS, [0, 1, 5]]), X.sum(axis=0) / X.sum(), X.shape[1]
    excess = np.zeros((V, V))
    for a in range(V):
        for b in range(V):
            tokens = X[:, a] * (X[:, b] - (a == b))  # pairs of different tokens
            excess[a, b] = (tokens / (X.sum(axis=1) - 1)).sum()
    excess = np.maximum(excess / excess.sum(axis=1, keepdims=True) - 0.8 * p, 0.0)
    for seed, start in zip([*SEEDS, [0, 1, 5]], found, strict=True):
        products = sum(excess[a] * excess[b] / p for a in seed for b in seed if a != b)
        np.testing.assert_allclose(start, products / max(products.sum(), 1e-300), atol=1e-12)


def test_the_start_of_a_seed_is_more_of_its_documents_the_more_there_are():
    joint, tandem, found = (
        build(function)
        for function in (
            seed_starts.build_joint_starts,
            seed_starts.build_tandem_starts,
            seed_starts.build_seed_starts,
        )
    )
    parts = np.array([[1 / 51], [2 / 52], [0.0]])  # documents with both words, of these and fifty
    np.testing.assert_allclose(found, parts * joint + (1 - parts) * tandem)
    np.testing.assert_array_equal(build(seed_starts.build_seed_starts, [[0]]), 0.0)  # two words are needed


def test_in_short_documents_starts_of_seeds_are_nearer_to_the_topics_than_the_documents_with_two_words():
    rng, C = np.random.default_rng(3), planted_topics(10, 400, random_state=3).components
    counts = Documents.from_matrix(draw_counts(C, rng.dirichlet(np.full(10, 0.2), 2000), np.full(2000, 10), rng))
    words = []
    for topic in C:
        leading = np.argsort(-topic, kind="stable")[:30]
        words.append(leading[np.argsort(-topic[leading] / C.mean(axis=0)[leading], kind="stable")][:2].tolist())

    def measure(starts):
        return float((np.sqrt(starts) * np.sqrt(C)).sum(axis=1).mean())

    found, joint = (
        measure(build(counts, words, 1)) for build in (seed_starts.build_seed_starts, seed_starts.build_joint_starts)
    )
    assert found > joint + 0.05, (found, joint)
