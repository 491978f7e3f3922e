import itertools
import math
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls

from anchorless import datasets, metrics
from anchorless._core.nnls import compute_document_weights
from anchorless._corpus.documents import Documents
from anchorless._corpus.sparse import to_canonical_csr
from anchorless.errors import InputError
from anchorless.metrics import (
    clustering_accuracy,
    coherence,
    document_completion,
    exclusivity,
    match_topics,
    npmi,
    recovery_error,
    similarity_count,
    topic_diversity,
    umass,
)
from tests.helpers.tolerances import ROUNDING

OF_WORDS = [similarity_count, topic_diversity, exclusivity]
OF_DOCUMENTS = [coherence, umass, npmi]
EVERY = [*OF_WORDS, *OF_DOCUMENTS]
SEEDS = range(6)


def small(seed, n_documents=12, n_topics=4, n_words=9):
    """Topics with ties and zeros, and counts with rare, everywhere-present and absent words and an empty document."""
    rng = np.random.default_rng(seed)
    topics = rng.integers(0, 4, (n_topics, n_words)) / 2.0
    topics[:, seed % n_words] += 1.0
    X = rng.poisson(rng.choice([0.0, 0.3, 1.0, 3.0], n_words), (n_documents, n_words))
    X[:, 0], X[:, 1] = 1, 0
    if seed % 2:
        X[3] = 0
    return topics, X.astype(float)


def score(metric, topics, X, n_words=4):
    return metric(topics, n_words) if metric in OF_WORDS else metric(topics, X, n_words)


def leading(topic, n):
    return sorted(range(len(topic)), key=lambda v: (-topic[v], v))[:n]


def together(X, *words):
    return sum(all(document[v] > 0 for v in words) for document in X)


# coherence, UMass, NPMI


@pytest.mark.parametrize("seed", SEEDS)
def test_coherence_by_brute_force(seed):
    topics, X = small(seed)
    expected = [
        sum(
            math.log((together(X, v1, v2) + 0.01) / max(together(X, v2), 1))
            for v1 in leading(topic, 5)
            for v2 in leading(topic, 5)
            if v1 != v2
        )
        for topic in topics
    ]
    assert_allclose(coherence(topics, X, n_words=5), expected, rtol=ROUNDING)


@pytest.mark.parametrize("seed", SEEDS)
def test_umass_by_brute_force(seed):
    """The condition is the word of higher rank, the one that comes first in the list."""
    topics, X = small(seed)
    expected = [
        sum(
            math.log((together(X, v, u) + 1) / max(together(X, u), 1))
            for u, v in itertools.combinations(leading(topic, 5), 2)
        )
        for topic in topics
    ]
    assert_allclose(umass(topics, X, n_words=5), expected, rtol=ROUNDING, atol=ROUNDING)


@pytest.mark.parametrize("seed", SEEDS)
def test_npmi_by_brute_force(seed):
    topics, X = small(seed)

    def of_pair(u, v):
        p_u, p_v, p = (together(X, *words) / len(X) for words in [(u,), (v,), (u, v)])
        if p == 0:
            return -1.0
        return 1.0 if p == 1 else math.log(p / (p_u * p_v)) / -math.log(p)

    expected = [np.mean([of_pair(u, v) for u, v in itertools.combinations(leading(topic, 5), 2)]) for topic in topics]
    assert_allclose(npmi(topics, X, n_words=5), expected, rtol=ROUNDING, atol=ROUNDING)


def test_coherence_by_hand():
    """Words 0 and 1: in 3 and 2 of 4 documents, together in 1."""
    X = [[1, 0], [2, 0], [1, 5], [0, 1]]
    assert_allclose(coherence([[2, 1]], X, 2), [math.log(1.01 / 3) + math.log(1.01 / 2)])
    assert_allclose(umass([[2, 1]], X, 2), [math.log(2 / 3)])
    assert_allclose(umass([[1, 2]], X, 2), [math.log(2 / 2)], atol=ROUNDING)
    assert_allclose(npmi([[1, 2]], X, 2), [math.log((1 / 4) / (3 / 4 * 2 / 4)) / math.log(4)])


@pytest.mark.parametrize("seed", SEEDS)
def test_ordered_pairs_are_unordered_pairs_both_ways(seed):
    """The paper's Coh is UMass plus UMass of the same words in the reverse order."""
    topics, X = small(seed)
    topics, backwards = np.zeros((1, 9)), np.zeros((1, 9))
    topics[0, [2, 5, 7]], backwards[0, [2, 5, 7]] = [3, 2, 1], [1, 2, 3]
    both_ways = umass(topics, X, 3, eps=0.01) + umass(backwards, X, 3, eps=0.01)
    assert_allclose(coherence(topics, X, 3), both_ways, rtol=ROUNDING)


def test_words_in_no_document_and_in_every_document():
    X = np.zeros((5, 4))
    X[:, 2:] = 1
    never, always = [[2, 1, 0, 0]], [[0, 0, 2, 1]]
    assert_allclose(coherence(never, X, 2), [2 * math.log(0.01)])
    assert_allclose(umass(never, X, 2, eps=0.5), [math.log(0.5)])
    assert_array_equal(npmi(never, X, 2), [-1.0])
    assert_allclose(coherence(always, X, 2), [2 * math.log(5.01 / 5)], rtol=ROUNDING)
    assert_array_equal(npmi(always, X, 2), [1.0])


def test_an_absent_word_is_never_worth_more_than_a_word_seen_apart():
    X = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0]])
    apart, absent = [[2, 1, 0]], [[2, 0, 1]]
    for metric in OF_DOCUMENTS:
        assert score(metric, absent, X, 2) <= score(metric, apart, X, 2)


def test_npmi_of_words_only_together_and_of_independent_words():
    together_only = np.array([[1, 1], [1, 1], [0, 0], [0, 0], [0, 0]])
    assert_allclose(npmi([[2, 1]], together_only, 2), [1.0])
    independent = np.array([[1, 1], [1, 0], [0, 1], [0, 0]])
    assert_allclose(npmi([[2, 1]], independent, 2), [0.0], atol=ROUNDING)


def test_npmi_of_one_pair_never_rounds_out_of_its_bounds():
    """Two words in the same k of N documents: exactly 1 but for rounding."""
    for N in range(2, 60):
        X = (np.arange(N)[:, None] < np.arange(1, N)[None, :]).repeat(2, axis=1)
        topics = np.eye(N - 1).repeat(2, axis=1)
        values = npmi(topics, X, 2)
        assert values.max() <= 1
        assert_allclose(values, 1.0, rtol=ROUNDING)


@pytest.mark.parametrize("metric", OF_DOCUMENTS)
@pytest.mark.parametrize("seed", SEEDS)
def test_order_of_documents_and_size_of_counts_do_not_matter(metric, seed):
    topics, X = small(seed)
    order = np.random.default_rng(seed).permutation(len(X))
    expected = score(metric, topics, X)
    assert_allclose(score(metric, topics, X[order]), expected, rtol=ROUNDING)
    assert_array_equal(score(metric, topics, X * 0.25), expected)


@pytest.mark.parametrize("metric", OF_DOCUMENTS)
def test_every_form_of_X_gives_the_same_bits(metric):
    topics, X = small(1)
    rows, columns = np.indices(X.shape).reshape(2, -1)
    twice = sp.coo_matrix((np.tile(X.ravel() / 2, 2), (np.tile(rows, 2), np.tile(columns, 2))), shape=X.shape)
    explicit = sp.csr_matrix((X.ravel(), (rows, columns)), shape=X.shape)
    assert explicit.nnz == X.size
    assert twice.nnz == 2 * X.size
    expected = score(metric, topics, X)
    others = [
        X.tolist(),
        X.astype(np.uint8),
        X > 0,
        sp.csc_matrix(X),
        sp.csr_array(X),
        explicit,
        twice,
        Documents.from_matrix(X, block_size=5),
        SimpleNamespace(documents=Documents.from_matrix(X)),  # as a corpus has them
    ]
    for other in others:
        assert_array_equal(score(metric, topics, other), expected)
    assert explicit.nnz == X.size, "the input was changed"


def test_adding_empty_documents():
    """They change no frequency, so no UMass; to NPMI they are documents without the words."""
    topics, X = small(0)
    longer = np.vstack([X, np.zeros((9, 9))])
    assert_array_equal(coherence(topics, longer, 4), coherence(topics, X, 4))
    assert_array_equal(umass(topics, longer, 4), umass(topics, X, 4))
    assert (npmi(topics, longer, 4) != npmi(topics, X, 4)).any()
    assert_array_equal(npmi(topics, np.zeros_like(X), 4), [-1.0] * 4)


def test_gensim_agrees():
    """u_mass is the mean over pairs with 1e-12 added to a probability; c_npmi too, so its pairs must all occur."""
    coherencemodel = pytest.importorskip("gensim.models.coherencemodel")
    dictionaries = pytest.importorskip("gensim.corpora")
    rng = np.random.default_rng(0)
    X = rng.poisson(rng.uniform(0.2, 1.2, 15), (60, 15))
    topics = rng.dirichlet(np.full(15, 0.3), 5)
    n = 6
    texts = [[f"w{v:02}" for v in np.repeat(np.arange(15), document)] for document in X]
    assert min(map(len, texts)) > 0
    dictionary = dictionaries.Dictionary(texts)
    words = [[f"w{v:02}" for v in leading(topic, n)] for topic in topics]

    def gensim(measure, **options):
        model = coherencemodel.CoherenceModel(
            topics=words, coherence=measure, dictionary=dictionary, topn=n, processes=1, **options
        )
        return model.get_coherence_per_topic()

    n_pairs = n * (n - 1) // 2
    expected = gensim("u_mass", corpus=[dictionary.doc2bow(text) for text in texts])
    assert_allclose(umass(topics, X, n, eps=1e-12 * len(X)) / n_pairs, expected, rtol=ROUNDING)

    assert metrics._count_joint_documents(topics, X, n)[1].min() > 0
    expected = gensim("c_npmi", texts=texts, window_size=1000)
    assert_allclose(npmi(topics, X, n), expected, rtol=1e-9)  # gensim's 1e-12 inside the logarithms


# leading words: SimCount, diversity, exclusivity


@pytest.mark.parametrize("seed", SEEDS)
def test_similarity_count_by_brute_force(seed):
    topics, _ = small(seed)
    pairs = itertools.combinations([set(leading(topic, 5)) for topic in topics], 2)
    count = similarity_count(topics, 5)
    assert count == sum(len(a & b) for a, b in pairs)
    assert isinstance(count, int)


@pytest.mark.parametrize("seed", SEEDS)
def test_topic_diversity_by_brute_force(seed):
    topics, _ = small(seed)
    assert topic_diversity(topics, 5) == len({v for topic in topics for v in leading(topic, 5)}) / 20


@pytest.mark.parametrize("seed", SEEDS)
def test_exclusivity_by_brute_force(seed):
    topics, _ = small(seed)
    C = [topic / topic.sum() for topic in topics]
    expected = [
        np.mean([topic[v] / sum(other[v] for other in C) if topic[v] else 0.0 for v in leading(topic, 5)])
        for topic in C
    ]
    assert_allclose(exclusivity(topics, 5), expected, rtol=ROUNDING)


def test_identical_and_disjoint_topics_are_the_extremes():
    F, n = 4, 3
    same = np.tile(np.random.default_rng(0).random(12), (F, 1))
    apart = np.eye(F).repeat(n, axis=1)
    assert similarity_count(same, n) == n * F * (F - 1) // 2
    assert similarity_count(apart, n) == 0
    assert topic_diversity(same, n) == 1 / F
    assert topic_diversity(apart, n) == 1
    assert_allclose(exclusivity(same, n), 1 / F)
    assert_array_equal(exclusivity(apart, n), 1.0)
    assert similarity_count(apart, F * n) == n * F * F * (F - 1) // 2, "lists are filled up with words of weight 0"


@pytest.mark.parametrize("seed", SEEDS)
def test_bounds_of_the_measures_of_words(seed):
    topics, _ = small(seed)
    for n in range(1, 10):
        assert 0 <= similarity_count(topics, n) <= n * 6
        assert 1 / 4 <= topic_diversity(topics, n) <= 1
        assert (exclusivity(topics, n) >= 0).all()
        assert (exclusivity(topics, n) <= 1).all()


def test_a_word_that_no_topic_holds_is_not_exclusive():
    assert_allclose(exclusivity([[1, 3, 0], [0, 2, 0]], 3), [(1 + (3 / 4) / (3 / 4 + 1)) / 3, 1 / (3 / 4 + 1) / 3])


def test_of_equal_words_the_first_leads():
    assert_array_equal(
        metrics.leading_words(np.array([[1, 2, 1, 2, 0, 0], [0, 0, 0, 0, 0, 1.0]]), 5)[0], [1, 3, 0, 2, 4]
    )
    assert_array_equal(metrics.leading_words(np.array([[0, 0, 0, 0, 0, 1.0]]), 3), [[5, 0, 1]])


@pytest.mark.parametrize("metric", EVERY)
@pytest.mark.parametrize("seed", SEEDS)
def test_order_of_topics_and_words_does_not_matter(metric, seed):
    """Without ties; measures per topic move along with the topics."""
    rng = np.random.default_rng(seed)
    _, X = small(seed)
    topics = rng.random((4, 9))
    f, v = rng.permutation(4), rng.permutation(9)
    expected = score(metric, topics, X)
    found = score(metric, topics[f][:, v], X[:, v])
    assert_allclose(found, expected[f] if np.ndim(expected) else expected, rtol=ROUNDING)


@pytest.mark.parametrize("metric", EVERY)
def test_length_of_a_topic_does_not_matter(metric):
    topics, X = small(2)
    expected = score(metric, topics, X)
    for scale in ([1e-300], [5e307], [1e-300, 5e307, 1.0, 3.0]):
        assert_allclose(score(metric, np.reshape(scale, (-1, 1)) * topics, X), expected, rtol=ROUNDING)


def test_sparse_components():
    """Explicit zeros make no word, and duplicates are added, beyond what uint8 can hold."""
    twice = sp.coo_matrix((np.array([200, 200, 250, 0], np.uint8), ([0, 0, 0, 0], [0, 0, 1, 2])), shape=(1, 3))
    assert_allclose(
        exclusivity(sp.vstack([twice, [[1, 1, 1]]]), 1),
        [(400 / 650) / (400 / 650 + 1 / 3), 1 / 3 / (400 / 650 + 1 / 3)],
    )
    assert_array_equal(umass(twice, [[1, 1, 0], [0, 1, 0]], 2), umass([[2, 1, 0]], [[1, 1, 0], [0, 1, 0]], 2))
    with pytest.raises(InputError, match="topic 0 has no word of positive weight"):
        topic_diversity(sp.csr_matrix(([0.0], ([0], [1])), shape=(1, 3)), 1)


# clusters


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("n_labels", "n_clusters"), [(3, 3), (4, 2), (2, 4), (1, 3)])
def test_clustering_accuracy_by_brute_force(seed, n_labels, n_clusters):
    rng = np.random.default_rng(seed)
    labels, clusters = rng.integers(n_labels, size=15), rng.integers(n_clusters, size=15)
    names = list(range(n_labels)) + [None] * n_clusters  # a cluster may go without a label
    best = max(
        np.mean([order[c] == y for c, y in zip(clusters, labels, strict=True)])
        for order in set(itertools.permutations(names, n_clusters))
    )
    assert_allclose(clustering_accuracy(labels, clusters), best)


def test_perfect_clusters_have_any_names():
    labels = ["a", None, ("x", 1), "a", 2.5, None]
    assert clustering_accuracy(labels, [7, 1, 0, 7, "no", 1]) == 1
    assert clustering_accuracy(iter(labels), np.array([7, 1, 0, 7, 3, 1])) == 1
    assert clustering_accuracy("aab", "bba") == 1


def test_one_cluster_and_one_cluster_each():
    labels = [0, 0, 0, 1, 1, 2]
    assert clustering_accuracy(labels, [5] * 6) == 3 / 6
    assert clustering_accuracy(labels, range(6)) == 3 / 6


@pytest.mark.parametrize("seed", SEEDS)
def test_accuracy_is_symmetric_and_at_least_a_constant_guess(seed):
    rng = np.random.default_rng(seed)
    labels, clusters = rng.integers(5, size=40), rng.integers(3, size=40)
    accuracy = clustering_accuracy(labels, clusters)
    assert accuracy == clustering_accuracy(clusters, labels)
    assert np.bincount(labels).max() / 40 / 3 <= accuracy <= 1
    order = rng.permutation(40)
    assert accuracy == clustering_accuracy(labels[order], -clusters[order])


@pytest.mark.parametrize(
    ("labels", "clusters", "message"),
    [
        ([], [], "0 labels for 0 clusters"),
        ([1, 2], [1, 2, 3], "2 labels for 3 clusters"),
        ([1, 2], [[1], [2]], "clusters must be a sequence of hashable"),
        (np.ones((2, 2)), [1, 2], "labels must be a sequence of hashable"),
        (3, [1], "labels must be a sequence"),
        ([1.0, float("nan")], [1, 2], "labels contain NaN"),
    ],
)
def test_labels_that_cannot_be_used(labels, clusters, message):
    with pytest.raises(InputError, match=message):
        clustering_accuracy(labels, clusters)


# document completion


@pytest.fixture(scope="module")
def corpus():
    return datasets.sampled_corpus(300, n_topics=5, n_words=120, length=60, random_state=3)


def halves(X, seed=0):
    return metrics._split_tokens(to_canonical_csr(X), np.random.default_rng(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_document_completion_by_brute_force(seed):
    topics, X = small(seed)
    s, (first, second) = 0.05, (half.toarray() for half in halves(X, seed))
    C = topics / topics.sum(axis=1, keepdims=True)
    u = (1 - s) * first.sum(axis=0) / first.sum() + s / 9
    total = baseline = 0.0
    for d, tokens in zip(first, second, strict=True):
        w = nnls(C.T, d)[0]
        p = (1 - s) * (w / w.sum()) @ C + s * u if w.any() else u
        for v in range(9):
            total += tokens[v] * math.log(p[v])
            baseline += tokens[v] * math.log(u[v])
    found = document_completion(topics, X, smoothing=s, random_state=seed)
    assert found.n_tokens == second.sum()
    assert_allclose(found.log_likelihood, total / second.sum(), rtol=1e-8)  # the ridge, 1e-10 of the diagonal
    assert_allclose(found.unigram, baseline / second.sum(), rtol=ROUNDING)
    assert_allclose(found.uniform, -math.log(9), rtol=ROUNDING)


@pytest.mark.parametrize("seed", SEEDS)
def test_halves_are_halves(seed):
    _, X = small(seed)
    X[5] = 0
    X[5, 2], X[6, 4] = 1, 10**8
    first, second = (half.toarray() for half in halves(X, seed))
    assert_array_equal(first + second, X)
    assert min(first.min(), second.min()) >= 0
    assert_array_equal(first.sum(axis=1), np.ceil(X.sum(axis=1) / 2))


def test_every_half_is_equally_likely():
    """Tokens a, a, b, c: the halves aa, ab, ac, bc come in 1, 2, 2 and 1 of 6 cases."""
    n = 6000
    first, _ = halves(np.tile([2, 1, 0, 1], (n, 1)))
    seen = Counter(map(tuple, first.toarray().astype(int)))
    expected = {(2, 0, 0, 0): 1, (1, 1, 0, 0): 2, (1, 0, 0, 1): 2, (0, 1, 0, 1): 1}
    assert seen.keys() == expected.keys()
    for half, cases in expected.items():
        assert abs(seen[half] - cases * n / 6) < 5 * math.sqrt(n * cases / 6)


def test_true_topics_beat_the_unigram_and_random_topics(corpus):
    found = document_completion(corpus.components, corpus.counts)
    random = np.random.default_rng(0).dirichlet(np.full(120, 0.1), 5)
    assert found.log_likelihood > found.unigram + 0.1
    assert found.unigram > found.uniform + 0.1
    assert found.log_likelihood > document_completion(random, corpus.counts).log_likelihood + 0.1
    shuffled = corpus.components[:, np.random.default_rng(1).permutation(120)]
    assert found.log_likelihood > document_completion(shuffled, corpus.counts).log_likelihood + 0.1


def test_no_topics_beat_knowing_the_second_half(corpus):
    """Each document's own word shares are the best that any distribution could do on its second half."""
    _, second = (half.toarray() for half in halves(corpus.counts))
    shares = second / np.maximum(second.sum(axis=1, keepdims=True), 1)
    bound = (second[second > 0] * np.log(shares[second > 0])).sum() / second.sum()
    found = document_completion(corpus.components, corpus.counts)
    assert found.log_likelihood < bound
    assert found.unigram < bound


def test_true_weights_are_the_limit_of_long_documents():
    """With so many tokens the weights are known, and the score is minus the entropy of the true mixtures."""
    model = datasets.sampled_corpus(20, n_topics=4, n_words=60, length=30_000, random_state=1)
    p = model.weights @ model.components
    entropy = -(p[p > 0] * np.log(p[p > 0])).sum() / 20
    found = document_completion(model.components, model.counts, smoothing=1e-6)
    assert_allclose(found.log_likelihood, -entropy, rtol=2e-3)


def test_the_unigram_as_the_only_topic_is_the_unigram(corpus):
    background = np.asarray(corpus.counts.sum(axis=0)).ravel()
    found = document_completion([background], corpus.counts, background=background, smoothing=1e-9)
    assert_allclose(found.log_likelihood, found.unigram, rtol=1e-7)


def test_smoothing_of_one_is_uniform(corpus):
    found = document_completion(corpus.components, corpus.counts, smoothing=1)
    assert_allclose([found.log_likelihood, found.unigram], found.uniform, rtol=ROUNDING)


def test_topics_that_know_nothing_of_the_documents_fall_back_to_the_unigram():
    X = np.zeros((6, 5))
    X[:, :3] = [4, 2, 1]
    found = document_completion([[0, 0, 0, 1, 1]], X)
    assert_allclose(found.log_likelihood, found.unigram, rtol=ROUNDING)


def test_words_that_nobody_expects_have_a_finite_price():
    """Neither topic nor background has word 2: s/V as unigram, s · s/V where the document has topics, else s/V."""
    V, s = 3, 0.01
    X = np.array([[0, 0, 2], [2, 0, 2]])
    first, second = (half.toarray() for half in halves(X))
    assert_array_equal([first[1, 0] > 0, second[1, 2] > 0], True)
    u0, u2 = (1 - s) + s / V, s / V
    tokens = [second[0, 2], second[1, 0], second[1, 2]]
    found = document_completion([[1, 1, 0]], X, background=[1, 0, 0], smoothing=s)
    assert_allclose(found.unigram, np.log([u2, u0, u2]) @ tokens / 3, rtol=ROUNDING)
    assert_allclose(found.log_likelihood, np.log([u2, (1 - s) / 2 + s * u0, s * u2]) @ tokens / 3, rtol=ROUNDING)


def test_weights_are_those_of_the_estimators(corpus):
    W = compute_document_weights(Documents.from_matrix(corpus.counts), np.ascontiguousarray(corpus.components.T), 1)
    assert_allclose(
        metrics._estimate_topic_shares(corpus.counts, corpus.components), W / W.sum(axis=1, keepdims=True), atol=1e-7
    )


def test_redundant_topics_change_nothing(corpus):
    """Copies and mixtures of topics leave the likelihood where it was; so do copies of any length, in any order."""
    C, X = corpus.components, corpus.counts
    expected = document_completion(C, X).log_likelihood
    for more in ([7 * C[1], C[1]], [C[0] + C[1] + C[2]], C[[3, 2, 1, 0, 4]]):
        assert_allclose(document_completion(np.vstack([*more, C]), X).log_likelihood, expected, rtol=1e-6)
    assert_allclose(document_completion(3 * C[[3, 1, 4, 0, 2]], X).log_likelihood, expected, rtol=ROUNDING)


def test_more_topics_than_words():
    topics, X = np.random.default_rng(0).dirichlet(np.ones(9), 40), small(0)[1]
    assert np.isfinite(document_completion(topics, X).log_likelihood)


def test_completion_is_deterministic_and_seeded(corpus):
    C, X = corpus.components, corpus.counts
    found = document_completion(C, X)
    assert found == document_completion(C, X.toarray().astype(np.int16), random_state=np.random.default_rng(0))
    assert found == document_completion(C, Documents.from_matrix(X, block_size=7))
    assert found == document_completion(C, sp.vstack([X, sp.csr_matrix((3, 120))]), random_state=0)
    other = document_completion(C, X, random_state=1)
    assert found.log_likelihood != other.log_likelihood
    assert found.n_tokens == other.n_tokens
    assert_allclose(found.log_likelihood, other.log_likelihood, rtol=0.02)


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        ([[0.5, 1.0]], {}, r"X holds 0\.5, but only whole counts can be split"),
        ([[1, 0], [0, 1], [0, 0]], {}, "no document of X has two tokens"),
        ([[1e9, 1e9]], {}, r"2e\+09 tokens.*fewer than 1e9.*rescale"),
        ([[3, 1]], {"smoothing": 0}, "smoothing=0, but it must be above 0"),
        ([[3, 1]], {"smoothing": 1.5}, r"smoothing=1\.5"),
        ([[3, 1]], {"smoothing": float("nan")}, "smoothing=nan"),
        ([[3, 1]], {"smoothing": "little"}, "smoothing='little'"),
        ([[3, 1]], {"background": [1, 2, 3]}, "background has 3 words, but components have 2"),
        ([[3, 1]], {"background": [0, 0]}, "background: row 0 has no word of positive weight"),
        ([[3, 1]], {"background": [1, -2]}, r"background is -2\.0 at row 0, word 1"),
    ],
)
def test_what_cannot_be_completed(X, options, message):
    with pytest.raises(InputError, match=message):
        document_completion([[1, 2]], X, **options)


# what users pass


@pytest.mark.parametrize("metric", [*EVERY, document_completion])
@pytest.mark.parametrize(
    ("topics", "message"),
    [
        ([[1, 2, 3], [1, -1, 3]], r"components is -1\.0 at topic 1, word 1"),
        ([[1, 2, np.nan]], "components is nan at topic 0, word 2"),
        ([[1, np.inf, 0]], "components is inf at topic 0, word 1"),
        ([[1, 2, 3], [0, 0, 0]], "topic 1 has no word of positive weight; drop"),
        ([1, 2, 3], r"components has type int\d+, shape \(3,\); give numbers"),
        (np.ones((0, 3)), r"shape \(0, 3\)"),
        ([["a", "b", "c"]], "components has type <U1"),
        ([[1j, 2, 3]], "components has type complex"),
    ],
)
def test_components_that_cannot_be_used(metric, topics, message):
    with pytest.raises(InputError, match=message):
        metric(topics, n_words=2) if metric in OF_WORDS else metric(topics, np.ones((2, 3)))


@pytest.mark.parametrize("metric", [*OF_DOCUMENTS, document_completion])
@pytest.mark.parametrize("form", [np.array, sp.csr_matrix, sp.csc_matrix, lambda X: Documents.from_matrix(X, 1)])
@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1, 0, 2], [1, -4, 0]], r"X is -4\.0 at document 1, word 1; replace"),
        ([[1, 0, 2], [0, 0, np.nan]], "X is nan at document 1, word 2"),
        ([[np.inf, 0, 2]], "X is inf at document 0, word 0"),
        ([[1, 2]], "X has 2 words, but components have 3; use one vocabulary"),
    ],
)
def test_documents_that_cannot_be_used(metric, form, X, message):
    options = {} if metric is document_completion else {"n_words": 2}
    with pytest.raises(InputError, match=message):
        metric([[3, 2, 1]], form(X), **options)


@pytest.mark.parametrize("X", [np.ones(3), np.ones((0, 3)), [["a", "b", "c"]], np.ones((1, 1, 3))])
def test_X_that_is_no_matrix(X):
    with pytest.raises(InputError, match=r"X has type .*, shape .*; give numbers"):
        npmi([[3, 2, 1]], X, 2)


@pytest.mark.parametrize("metric", EVERY)
@pytest.mark.parametrize("n_words", [10, 0, -1, 2.0, "3", True, None])
def test_n_words_is_from_one_or_two_to_the_number_of_words(metric, n_words):
    least = 1 if metric in OF_WORDS else 2
    topics, X = small(0)
    with pytest.raises(InputError, match=f"n_words={n_words!r}, but it must be a whole number from {least} to 9"):
        score(metric, topics, X, n_words)
    assert np.isfinite(score(metric, topics, X, np.int64(least))).all()


@pytest.mark.parametrize("metric", OF_DOCUMENTS)
def test_one_word_has_no_pair(metric):
    with pytest.raises(InputError, match="n_words=1, but it must be a whole number from 2"):
        score(metric, *small(0), 1)


@pytest.mark.parametrize("metric", [coherence, umass])
@pytest.mark.parametrize("eps", [0, -1.0, np.inf, np.nan, "0.1", True])
def test_eps_must_be_positive(metric, eps):
    with pytest.raises(InputError, match=f"eps={eps!r}, but it must be a finite number above 0"):
        metric(*small(0), 2, eps=eps)


# recovery of a planted truth


def test_recovery_error_by_brute_force():
    rng = np.random.default_rng(0)
    A, B = rng.random((2, 4, 7))
    best = min(((A[list(order)] - B) ** 2).sum() for order in itertools.permutations(range(4)))
    assert_allclose(recovery_error(A, B), best)


def test_permuted_topics_are_recovered():
    A = np.random.default_rng(1).random((6, 20))
    order = np.random.default_rng(2).permutation(6)
    assert recovery_error(A[order], A) == 0
    i, j = match_topics(A[order], A)
    assert_array_equal(A[order][i], A[j])


def test_tiny_errors_are_not_lost_to_rounding():
    """A distance from inner products could not go below 1e-16."""
    A = np.random.default_rng(0).random((3, 50))
    assert_allclose(recovery_error(A + 1e-12, A), 150e-24, rtol=1e-2)


def test_shapes_must_agree():
    with pytest.raises(InputError, match=r"shapes \(3, 5\) and \(2, 5\)"):
        recovery_error(np.ones((3, 5)), np.ones((2, 5)))


def test_recovery_error_takes_the_papers_orientation_too():
    A = np.random.default_rng(0).random((4, 30))
    order = np.random.default_rng(1).permutation(4)
    B = A[order] + 0.01
    assert recovery_error(A.T, B.T) == pytest.approx(recovery_error(A, B))
    assert recovery_error(A.T, A[order].T) == 0


# public names


def test_only_the_listed_names_are_public():
    defined = [name for name, item in vars(metrics).items() if getattr(item, "__module__", "") == metrics.__name__]
    assert sorted(name for name in defined if not name.startswith("_")) == sorted(metrics.__all__)
