import numpy as np

from anchorless._core import seeds
from anchorless._core.seed_starts import build_seed_starts
from anchorless._core.token_model import make_task
from anchorless._corpus.documents import Documents
from anchorless.datasets import draw_counts, planted_topics


def search(choose_words, n_missing, n_documents=4000):
    """Return the planted topics, and what a search finds from topics that lack some of eight."""
    rng, C = np.random.default_rng(0), planted_topics(8, 300, random_state=0).components
    theta = rng.dirichlet(np.full(8, 0.15), n_documents)
    documents = Documents.from_matrix(draw_counts(C, theta, np.full(n_documents, 40), rng))
    start = C.copy()
    start[: n_missing + 1] = C[: n_missing + 1].mean(axis=0)
    words = [choose_words(C, k) for k in range(8)]
    of_seeds = build_seed_starts(documents, words, 2)
    some = seeds.Search(make_task(documents, 2), words, of_seeds, concentration=1.2, is_sharp=True)
    first = 0.5 * start + 0.5 * C.mean(axis=0)
    return C, some.sweep(first), seeds.search_starts(some, first)


def choose_distinctive(C, k):
    leading = np.argsort(-C[k], kind="stable")[:10]
    return leading[np.argsort(-C[k, leading] / C[:, leading].mean(axis=0), kind="stable")][:2].tolist()


def choose_common(C, k):
    """Return two words that other topics have, too: documents with both tell nothing of the topic."""
    return np.argsort(-C.min(axis=0) + 1e-9 * np.arange(C.shape[1]), kind="stable")[2 * k : 2 * k + 2].tolist()


def measure_affinity(C, topics):
    return (np.sqrt(C) @ np.sqrt(topics.topic_word).T).max(axis=1)


def test_seeds_find_topics_that_the_fit_lacks():
    C, before, after = search(choose_distinctive, 3)
    assert measure_affinity(C, before.topics).min() < 0.85
    assert measure_affinity(C, after.topics).min() > 0.95
    assert after.total > before.total
    assert after.matches.n_supported > before.matches.n_supported
    assert after.restarted


def test_words_that_tell_nothing_change_no_topic():
    _, before, after = search(choose_common, 0)
    assert not after.restarted
    np.testing.assert_array_equal(after.topics.topic_word, before.topics.topic_word)


def test_without_documents_set_aside_more_seeds_must_be_supported():
    C, before, after = search(choose_distinctive, 3, n_documents=150)
    assert before.scores is None
    assert after.matches.n_supported > before.matches.n_supported
    assert measure_affinity(C, after.topics).mean() > measure_affinity(C, before.topics).mean()


def tried(n_supported, scores):
    matches = seeds.Matches([seeds.SeedMatch(0, 1.0, [], {}, is_supported=i < n_supported) for i in range(4)], None)
    return seeds.Tried(None, None, None if scores is None else np.asarray(scores), matches)


def test_a_start_is_better_if_it_supports_more_seeds_and_predicts_as_well_or_as_many_and_clearly_better():
    before, better, clearly = tried(2, [0.0] * 9), [1.0, -1] * 4 + [1.0], [1.0, 0.9] * 4 + [1.0]
    assert seeds.is_better(before, tried(3, better))
    assert not seeds.is_better(before, tried(2, better))
    assert seeds.is_better(before, tried(2, clearly))
    assert not seeds.is_better(before, tried(1, clearly))
    assert not seeds.is_better(before, tried(3, [-value for value in better]))
    assert seeds.is_better(tried(2, None), tried(3, None))
    assert not seeds.is_better(tried(2, None), tried(2, None))
