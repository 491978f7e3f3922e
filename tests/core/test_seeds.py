import numpy as np
import scipy.sparse as sp

from anchorless._core import seeds
from anchorless._corpus.documents import Documents
from anchorless.datasets import draw_counts, planted_topics


def test_a_joint_start_has_the_words_of_documents_with_two_words_of_the_seed():
    X = sp.csr_matrix(
        np.array([[2.0, 1, 3, 0, 0, 0], [1.0, 0, 0, 4, 0, 0], [0.0, 0, 0, 0, 2, 2], [0.0, 0, 0, 3, 2, 1]])
    )
    found = seeds.build_joint_starts(Documents([X[:2], X[2:]]), [[0, 1], [4, 5], [0, 5]], 2)
    frequency = np.asarray(X.sum(axis=0)).ravel() / X.sum()
    pairs = np.array([[2 / 30, 0, 0, 0], [0, 0, 4 / 12, 2 / 30]])  # of tokens, by those of the document
    words = pairs @ X.toarray()
    rest = np.maximum(words / words.sum(axis=1, keepdims=True) - 0.5 * frequency, 0.0)
    np.testing.assert_allclose(found[:2], rest / rest.sum(axis=1, keepdims=True))
    np.testing.assert_array_equal(found[2], 0.0)  # no document has both


def start_jointly(seed, choose_words, n_missing):
    """Return the fit from the documents of seeds of all topics, if it is better than one that lacks some of eight."""
    rng, C = np.random.default_rng(seed), planted_topics(8, 300, random_state=seed).components
    documents = Documents.from_matrix(draw_counts(C, rng.dirichlet(np.full(8, 0.15), 4000), np.full(4000, 40), rng))
    start = C.copy()
    start[: n_missing + 1] = C[: n_missing + 1].mean(axis=0)
    words = [choose_words(C, k) for k in range(8)]
    before = seeds.fit_start(documents, 0.5 * start + 0.5 * C.mean(axis=0), words, 2)
    together = seeds.count_together(documents, words, 2)
    return C, before, seeds.fit_joint_start(documents, before, words, np.maximum(together, 5), 2)


def choose_distinctive(C, k):
    leading = np.argsort(-C[k], kind="stable")[:10]
    return leading[np.argsort(-C[k, leading] / C[:, leading].mean(axis=0), kind="stable")][:2].tolist()


def choose_common(C, k):
    """Return two words that other topics have, too: documents with both tell nothing of the topic."""
    return np.argsort(-C.min(axis=0) + 1e-9 * np.arange(C.shape[1]), kind="stable")[2 * k : 2 * k + 2].tolist()


def test_a_joint_start_finds_topics_that_the_fit_lacks_and_is_kept_only_if_it_predicts_better(monkeypatch):
    monkeypatch.setattr("anchorless._core.split_search.SPLIT_ROUNDS", 0)
    C, before, after = start_jointly(0, choose_distinctive, 3)
    affinity = [(np.sqrt(C) @ np.sqrt(fit.topics.topic_word).T).max(axis=1) for fit in (before, after)]
    assert affinity[0].min() < 0.85
    assert affinity[1].min() > 0.95
    assert after.scores.sum() > before.scores.sum()
    assert start_jointly(0, choose_common, 0)[2] is None
