import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline

from anchorless._core import weighting as weighed
from anchorless._core.weighting import (
    DEGREE_FLOOR,
    WEIGHTINGS,
    WordWeights,
    check_whole_counts,
    compute_positive_median,
    release_and_recut,
    weight_blocks,
    weight_documents,
)
from anchorless._corpus.documents import Documents
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


def whole(documents):
    return sp.vstack(documents.blocks).toarray()


TRANSFORMERS = {
    "tfidf-ncw": lambda: make_pipeline(TfidfWeighting(), NormalizedCutWeighting(floor=DEGREE_FLOOR)),
    "tfidf": TfidfWeighting,
}


@pytest.mark.parametrize("weighting", TRANSFORMERS)
def test_blocks_are_weighed_as_one_matrix_is(counts, weighting, monkeypatch):
    monkeypatch.setattr(weighed.release_and_recut, "__defaults__", (100,))
    result = weight_blocks(cuts(counts, 30, 31, 150), weighting)
    assert len(result.documents.blocks) > 5
    expected = TRANSFORMERS[weighting]().fit_transform(counts).toarray()
    np.testing.assert_allclose(whole(result.documents), expected, rtol=ROUNDING)


def test_counts_stay_as_they_are(counts):
    np.testing.assert_array_equal(whole(weight_blocks([counts.copy()], "counts").documents), counts.toarray())


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_how_the_reader_cut_changes_no_bit(counts, weighting, monkeypatch):
    monkeypatch.setattr(weighed.release_and_recut, "__defaults__", (100,))
    results = [
        weight_blocks(cuts(counts, *rows), weighting) for rows in ((), (1,), (17, 18), range(1, 200), (50, 50, 100))
    ]
    for result in results:
        for block, first in zip(result.documents.blocks, results[0].documents.blocks, strict=True):
            assert block.shape == first.shape
            assert block.data.tobytes() == first.data.tobytes()
            np.testing.assert_array_equal(block.indices, first.indices)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_weighing_while_walking_gives_the_same_bits(counts, weighting, monkeypatch):
    monkeypatch.setattr(weighed.release_and_recut, "__defaults__", (40,))
    at_once = weight_blocks([counts.copy()], weighting)
    assert at_once.documents.n_blocks > 16
    for n_threads in (1, 3):
        walked = weight_documents(Documents([*release_and_recut([counts.copy()])]), weighting, n_threads)
        np.testing.assert_array_equal(walked.word_counts, at_once.word_counts)
        np.testing.assert_array_equal(walked.document_frequency, at_once.document_frequency)
        assert walked.weights.least_degree == at_once.weights.least_degree
        for block, other in zip(walked.documents.blocks, at_once.documents.blocks, strict=True):
            assert block.data.tobytes() == other.data.tobytes()
            np.testing.assert_array_equal(block.indices, other.indices)


@pytest.mark.parametrize("seed", range(20))
def test_the_median_is_that_of_numpy(seed):
    rng = np.random.default_rng(seed)
    kinds = [
        10.0 ** rng.uniform(-300, 300, rng.integers(1, 60)),
        rng.integers(0, 4, rng.integers(1, 60)).astype(float),
        1.0 + rng.integers(0, 5, rng.integers(2, 9)) * 2.0**-52,
        rng.random(2),
        np.array([5e-324, 1e308]),
    ]
    for values in kinds:
        documents = Documents([sp.csr_matrix(part[:, None]) for part in np.array_split(values, 3) if len(part)])
        found = compute_positive_median(documents, lambda D: D.toarray().ravel(), 1)
        assert found == (np.median(values[values > 0]) if values.any() else 0.0)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_a_document_alone_is_weighed_as_in_the_corpus(counts, weighting):
    result = weight_blocks([counts.copy()], weighting)
    together = whole(result.documents)
    for row in range(0, 200, 7):
        np.testing.assert_array_equal(result.weights.transform(counts[row]).toarray()[0], together[row])


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_no_document_is_no_error(counts, weighting):
    weights = weight_blocks([counts.copy()], weighting).weights
    assert weights.transform(counts[:0]).shape == (0, 30)


def test_what_the_counts_said_is_kept(counts):
    result = weight_blocks(cuts(counts, 60), "tfidf-ncw")
    dense = counts.toarray()
    np.testing.assert_array_equal(result.document_frequency, (dense > 0).sum(axis=0))
    np.testing.assert_array_equal(result.word_counts, dense.sum(axis=0))
    np.testing.assert_array_equal(result.lengths, dense.sum(axis=1))


def test_the_list_is_emptied_so_that_counts_can_be_freed(counts):
    blocks = cuts(counts, 60)
    weight_blocks(blocks, "tfidf")
    assert blocks == []


@pytest.mark.parametrize("nonzeros", [1, 7, 100, 10**6])
def test_cutting_anew_keeps_every_document(counts, nonzeros):
    blocks = list(release_and_recut(cuts(counts, 3, 3, 90), nonzeros))
    np.testing.assert_array_equal(sp.vstack(blocks).toarray(), counts.toarray())
    for block in blocks[:-1]:
        assert block.nnz >= nonzeros
        assert block[:-1].nnz < nonzeros


def test_cutting_anew_keeps_no_block_alive(counts):
    blocks = cuts(counts, 90)
    given = [block.data for block in blocks]
    for block in release_and_recut(blocks, 200):
        assert not any(np.shares_memory(block.data, data) for data in given)


def test_small_integers_do_not_wrap_around():
    X = sp.csr_matrix(np.full((3, 2), 200, dtype=np.uint8))
    result = weight_blocks([X], "counts")
    np.testing.assert_array_equal(result.word_counts, [600, 600])
    np.testing.assert_array_equal(result.lengths, [400, 400, 400])


def test_an_odd_document_weighs_no_more_than_the_floor_allows():
    rng = np.random.default_rng(0)
    X = np.zeros((101, 23), dtype=int)
    X[:100, :20] = rng.poisson(2.0, (100, 20))
    X[100, 20:] = 1  # shares no word with the others
    lengths = np.linalg.norm(whole(weight_blocks([sp.csr_matrix(X)], "tfidf-ncw").documents), axis=1)
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


def test_fractions_are_refused_where_counts_are_weighed(counts):
    half = counts * 0.5
    check_whole_counts([counts, counts * 1.0], "tfidf-ncw", "X")
    check_whole_counts([half], "counts", "X")
    with pytest.raises(InputError, match=r"X holds \S+, but weighting='tfidf' starts from whole counts"):
        check_whole_counts([counts, half], "tfidf", "X")


def test_an_unknown_weighting_is_refused(counts):
    with pytest.raises(InputError, match="weighting='bm25'"):
        weight_blocks([counts], "bm25")


def test_weights_are_plain_arrays(counts):
    weights = weight_blocks([counts.copy()], "tfidf-ncw").weights
    again = WordWeights(weights.weighting, weights.idf.copy(), weights.total.copy(), float(weights.least_degree))
    np.testing.assert_array_equal(again.transform(counts).toarray(), weights.transform(counts).toarray())
