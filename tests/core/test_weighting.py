import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline

from anchorless._choices import WEIGHTINGS
from anchorless._core.weighting import (
    DEGREE_FLOOR,
    MAX_TOKEN_FACTOR,
    WORD_WEIGHTS,
    WordWeights,
    check_whole_counts,
    compute_idf,
    compute_least_degree,
    compute_relevance,
    limit_words,
    weight_documents,
)
from anchorless._corpus.documents import Documents
from anchorless._corpus.sparse import rechunk_blocks
from anchorless._estimators.weighting import NormalizedCutWeighting, TfidfWeighting
from anchorless.errors import InputError
from tests.helpers.tolerances import ROUNDING


@pytest.fixture
def counts():
    """Return 200 documents × 30 words, one of them empty, with words of very different frequency."""
    rng = np.random.default_rng(0)
    X = rng.poisson(rng.gamma(0.3, 2.0, 30), (200, 30)).astype(np.int32)
    X[17] = 0
    return sp.csr_matrix(X)


def cuts(X, *rows):
    bounds = [0, *rows, X.shape[0]]
    return [X[a:b] for a, b in itertools.pairwise(bounds)]


def weight(blocks, weighting, n_threads=1, nonzeros=10**6):
    return weight_documents(Documents([*rechunk_blocks(blocks, nonzeros)]), weighting, n_threads)


def whole(documents):
    return sp.vstack(documents.blocks).toarray()


TRANSFORMERS = {
    "chi2-ncw": lambda: make_pipeline(TfidfWeighting(idf="chi2"), NormalizedCutWeighting(floor=DEGREE_FLOOR)),
    "tfidf-ncw": lambda: make_pipeline(TfidfWeighting(), NormalizedCutWeighting(floor=DEGREE_FLOOR)),
    "tfidf": TfidfWeighting,
}


@pytest.mark.parametrize("weighting", TRANSFORMERS)
def test_blocks_are_weighted_like_one_matrix(counts, weighting):
    result = weight(cuts(counts, 30, 31, 150), weighting, nonzeros=100)
    assert len(result.documents.blocks) > 5
    expected = TRANSFORMERS[weighting]().fit_transform(counts).toarray()
    np.testing.assert_allclose(whole(result.documents), expected, rtol=ROUNDING)


def test_chi_square_weights_fall_with_the_frequency_and_stay_positive():
    """√(N / (df + √N / 4)) − 3/4: no word of any document is ignored, and none of a single one dominates."""
    df = np.array([0.0, 1.0, 25.0, 400.0])
    weights = compute_idf(df, 400, "chi2")
    np.testing.assert_allclose(weights, [0.0, *(np.sqrt(400 / (df[1:] + 5)) - 0.75)])
    assert np.all(np.diff(weights[1:]) < 0)
    assert weights[-1] > 0.2


def test_counts_stay_as_they_are(counts):
    np.testing.assert_array_equal(whole(weight([counts], "counts").documents), counts.toarray())


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_how_the_reader_cut_changes_no_bit(counts, weighting):
    results = [
        weight(cuts(counts, *rows), weighting, nonzeros=100)
        for rows in ((), (1,), (17, 18), range(1, 200), (50, 50, 100))
    ]
    for result in results:
        for block, first in zip(result.documents.blocks, results[0].documents.blocks, strict=True):
            assert block.shape == first.shape
            assert block.data.tobytes() == first.data.tobytes()
            np.testing.assert_array_equal(block.indices, first.indices)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_threads_change_no_bit(counts, weighting):
    one, three = (weight([counts], weighting, n_threads, nonzeros=40) for n_threads in (1, 3))
    assert one.documents.n_blocks > 16
    assert one.weights.least_degree == three.weights.least_degree
    for block, other in zip(one.documents.blocks, three.documents.blocks, strict=True):
        assert block.data.tobytes() == other.data.tobytes()


def test_the_least_degree_is_a_share_of_the_median_of_positive_degrees():
    assert compute_least_degree(np.array([0.0, 4.0, 2.0, 8.0, -1.0]), 0.5) == 2.0
    assert compute_least_degree(np.zeros(3)) == 0.0


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_a_document_alone_is_weighted_as_in_the_corpus(counts, weighting):
    result = weight([counts], weighting)
    together = whole(result.documents)
    for row in range(0, 200, 7):
        np.testing.assert_array_equal(result.weights.transform(counts[row]).toarray()[0], together[row])


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_no_document_is_no_error(counts, weighting):
    weights = weight([counts], weighting).weights
    assert weights.transform(counts[:0]).shape == (0, 30)


def test_what_the_counts_said_is_kept(counts):
    result = weight(cuts(counts, 60), "tfidf-ncw")
    dense = counts.toarray()
    np.testing.assert_array_equal(result.statistics.document_frequency, (dense > 0).sum(axis=0))
    np.testing.assert_array_equal(result.statistics.word_counts, dense.sum(axis=0))
    np.testing.assert_array_equal(result.lengths, dense.sum(axis=1))


def test_small_integers_do_not_wrap_around():
    X = sp.csr_matrix(np.full((3, 2), 200, dtype=np.uint8))
    result = weight([X], "counts")
    np.testing.assert_array_equal(result.statistics.word_counts, [600, 600])
    np.testing.assert_array_equal(result.lengths, [400, 400, 400])


def test_an_odd_document_has_no_more_weight_than_the_floor_allows():
    rng = np.random.default_rng(0)
    X = np.zeros((101, 23), dtype=int)
    X[:100, :20] = rng.poisson(2.0, (100, 20))
    X[100, 20:] = 1  # shares no word with the others
    lengths = np.linalg.norm(whole(weight([sp.csr_matrix(X)], "tfidf-ncw").documents), axis=1)
    np.testing.assert_allclose(lengths[100] / np.median(lengths[:100]), DEGREE_FLOOR**-0.5, rtol=0.1)
    plain = make_pipeline(TfidfWeighting(), NormalizedCutWeighting(floor=0.0)).fit_transform(X)
    assert np.linalg.norm(plain, axis=1)[100] > 3 * lengths[100]


def test_a_floor_of_zero_is_the_literature(counts):
    T = TfidfWeighting().fit_transform(counts)
    model = NormalizedCutWeighting(floor=0.0).fit(T)
    degrees = T @ np.asarray(T.sum(axis=0)).ravel()
    expected = np.divide(T.toarray(), np.sqrt(degrees)[:, None], where=degrees[:, None] > 0, out=np.zeros(T.shape))
    np.testing.assert_allclose(model.transform(T).toarray(), expected, rtol=ROUNDING)
    assert model.least_degree_ == 0.0


def test_the_floor_is_a_share_of_the_median_degree(counts):
    T = TfidfWeighting().fit_transform(counts)
    model = NormalizedCutWeighting(floor=2.0).fit(T)
    degrees = T @ np.asarray(T.sum(axis=0)).ravel()
    least = 2.0 * np.median(degrees[degrees > 0])
    np.testing.assert_allclose(model.least_degree_, least, rtol=ROUNDING)
    expected = T.toarray() / np.sqrt(np.maximum(degrees, least))[:, None]
    np.testing.assert_allclose(model.transform(T).toarray(), expected, rtol=ROUNDING)


@pytest.mark.parametrize("floor", [-1, np.inf, np.nan, "a", True, None])
def test_a_floor_is_a_number(counts, floor):
    with pytest.raises(InputError, match="floor="):
        NormalizedCutWeighting(floor=floor).fit(counts)


def test_fractions_are_refused_where_counts_are_weighted(counts):
    half = counts * 0.5
    check_whole_counts(Documents([counts, counts * 1.0]), "tfidf-ncw", "X")
    check_whole_counts(Documents([half]), "counts", "X")
    with pytest.raises(InputError, match=r"X holds \S+, but weighting='tfidf' starts from whole counts; give counts"):
        check_whole_counts(Documents([counts, half]), "tfidf", "X")


def test_weights_are_plain_arrays(counts):
    weights = weight([counts], "tfidf-ncw").weights
    again = WordWeights(weights.weighting, weights.idf.copy(), weights.total.copy(), float(weights.least_degree))
    np.testing.assert_array_equal(again.transform(counts).toarray(), weights.transform(counts).toarray())


def test_topics_without_idf_are_proportional_to_frequencies_of_tokens():
    frequencies, idf = np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]]), np.array([0.5, 2.0, 4.0])
    found = WordWeights("tfidf", idf, None, 0.0).remove_idf(frequencies * idf)
    np.testing.assert_allclose(found, frequencies, rtol=ROUNDING)
    assert WordWeights("tfidf", np.array([0.0, 1.0, 1.0]), None, 0.0).remove_idf(frequencies)[0, 0] == 0
    np.testing.assert_array_equal(WordWeights("counts", None, None, 0.0).remove_idf(frequencies), frequencies)


def test_every_weighting_that_is_offered_has_weights_of_words():
    assert (*WORD_WEIGHTS, "counts") == WEIGHTINGS


@pytest.fixture
def weights():
    return weight_documents(Documents.from_matrix(sp.csr_matrix(np.eye(4) + 1.0)), "chi2-ncw", 1).weights


def test_no_word_is_shown_as_far_more_probable_than_among_the_tokens(weights):
    tokens = np.array([[0.6, 0.4, 1e-6, 1e-9], [0.25, 0.25, 0.25, 0.25]])
    topics = np.array([[0.5, 0.2, 0.3, 0.0], [0.1, 0.2, 0.3, 0.4]])
    found = limit_words(topics, weights, tokens)
    before, after = weights.remove_idf(topics), weights.remove_idf(found)
    parts = after / before.sum(axis=1, keepdims=True)
    assert np.all(parts <= MAX_TOKEN_FACTOR * tokens * (1 + ROUNDING))
    np.testing.assert_array_equal(found[:, :2], topics[:, :2])
    np.testing.assert_array_equal(found[1], topics[1])
    assert found[0, 2] < 1e-4


def test_where_tokens_agree_the_ranking_keeps_its_bits(weights):
    topics = np.array([[0.5, 0.2, 0.3, 0.0], [0.1, 0.2, 0.3, 0.4]])
    of_topics = topics, weights, np.array([1.0, 2.0, 3.0, 4.0]), 4
    tokens = weights.remove_idf(topics) / weights.remove_idf(topics).sum(axis=1, keepdims=True)
    np.testing.assert_array_equal(compute_relevance(*of_topics, tokens), compute_relevance(*of_topics))
