"""The weightings as transformers: their formulas, new documents, the interface and errors."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline

from anchorless import NormalizedCutWeighting, TfidfWeighting
from anchorless._core.weighting import DEGREE_FLOOR
from anchorless.errors import InputError
from tests.helpers.tolerances import ROUNDING

WEIGHTINGS = [TfidfWeighting, NormalizedCutWeighting]
SPARSE = [sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.coo_array]


@pytest.fixture
def counts():
    """Return 30 documents × 9 words; word 0 is in every non-empty document, word 8 in none, document 4 is empty."""
    rng = np.random.default_rng(0)
    X = rng.poisson(rng.gamma(0.5, 3.0, (30, 9))).astype(float)
    X[:, 0] = rng.integers(1, 9, 30)
    X[:, 8] = 0.0
    X[4] = 0.0
    return X


@pytest.fixture
def new_counts():
    """Return documents that were not there at training: one with the unseen word, one with nothing else, one empty."""
    X = np.zeros((4, 9))
    X[0, [1, 2, 8]] = [3.0, 1.0, 5.0]
    X[1, 8] = 2.0
    X[3, [0, 5]] = [1.0, 7.0]
    return X


def textbook(X, training, tf, idf, norm):
    """Weight by the formulas, entry by entry."""
    n_documents = len(training)
    weighted = np.zeros(X.shape)
    for d, w in itertools.product(*map(range, X.shape)):
        df = sum(training[i, w] > 0 for i in range(n_documents))
        if X[d, w] == 0 or df == 0:
            continue
        frequency = {"log": 1 + math.log(X[d, w]), "count": X[d, w], "binary": 1.0}[tf]
        rarity = {
            "plain": math.log(n_documents / df),
            "smooth": math.log((1 + n_documents) / (1 + df)) + 1,
            "none": 1.0,
        }[idf]
        weighted[d, w] = frequency * rarity
    for row in weighted:
        length = {"l2": math.sqrt(sum(row**2)), "l1": sum(row), None: 1.0}[norm]
        if length > 0:
            row /= length
    return weighted


def assert_same(result, expected):
    result = result.toarray() if sp.issparse(result) else result
    np.testing.assert_allclose(result, expected, rtol=ROUNDING, atol=ROUNDING)


OPTIONS = list(itertools.product(["log", "count", "binary"], ["plain", "smooth", "none"], ["l2", "l1", None]))


def test_the_default_is_the_weighting_of_the_papers_corpora(counts):
    assert_same(TfidfWeighting().fit_transform(counts), textbook(counts, counts, "log", "plain", "l2"))


@pytest.mark.parametrize(("tf", "idf", "norm"), OPTIONS)
def test_every_option_is_its_formula(counts, new_counts, tf, idf, norm):
    model = TfidfWeighting(tf=tf, idf=idf, norm=norm).fit(counts)
    assert_same(model.transform(counts), textbook(counts, counts, tf, idf, norm))
    assert_same(model.transform(new_counts), textbook(new_counts, counts, tf, idf, norm))


@pytest.mark.parametrize("norm", ["l2", "l1", None])
def test_smooth_counts_are_those_of_scikit_learn(counts, norm):
    ours = TfidfWeighting(tf="count", idf="smooth", norm=norm).fit_transform(counts)
    assert_same(ours, TfidfTransformer(norm=norm).fit_transform(counts).toarray())


def test_smooth_logarithms_are_those_of_scikit_learn(counts):
    ours = TfidfWeighting(idf="smooth").fit_transform(counts)
    assert_same(ours, TfidfTransformer(sublinear_tf=True).fit_transform(counts).toarray())


def test_a_word_in_every_document_leaves_with_plain_idf(counts):
    full = np.delete(counts, 4, axis=0)
    weighted = TfidfWeighting().fit_transform(sp.csr_matrix(full))
    assert np.all(full[:, 0] > 0)
    assert weighted[:, [0]].nnz == 0


@pytest.mark.parametrize("idf", ["plain", "smooth", "none"])
def test_words_that_are_in_no_training_document_have_weight_zero(counts, new_counts, idf):
    model = TfidfWeighting(idf=idf).fit(counts)
    assert model.idf_[8] == 0.0
    assert np.all(model.idf_[:8] > 0)
    weighted = model.transform(new_counts)
    np.testing.assert_array_equal(weighted[:, 8], np.zeros(4))
    np.testing.assert_array_equal(weighted[1], np.zeros(9))


def test_a_fraction_of_a_token_keeps_its_weight(counts):
    counts[3, 2] = 0.25
    weighted = TfidfWeighting(idf="none", norm=None).fit_transform(counts)
    assert weighted[3, 2] == 0.25
    assert weighted.min() == 0.0


@pytest.mark.parametrize("norm", ["l2", "l1"])
def test_documents_have_unit_length(counts, norm):
    weighted = TfidfWeighting(norm=norm).fit_transform(counts)
    lengths = np.linalg.norm(weighted, ord={"l2": 2, "l1": 1}[norm], axis=1)
    np.testing.assert_allclose(lengths, np.arange(30) != 4, rtol=ROUNDING)


def test_normalized_cut_without_a_floor_is_the_papers_formula(counts):
    """D ← D·Diag(DᵀD1)^(−1/2) for D of words × documents."""
    D = np.delete(counts, 4, axis=0).T
    expected = D @ np.diag((D.T @ D @ np.ones(D.shape[1])) ** -0.5)
    assert_same(NormalizedCutWeighting(floor=0.0).fit_transform(D.T), expected.T)


def test_the_default_floor_is_that_of_topic_models(counts):
    model = NormalizedCutWeighting()
    assert model.floor == DEGREE_FLOOR == 0.25
    degrees = counts @ counts.sum(axis=0)
    assert model.fit(counts).least_degree_ == 0.25 * np.median(degrees[degrees > 0])


def test_normalized_cut_compares_new_documents_with_the_training_documents(counts, new_counts):
    model = NormalizedCutWeighting(floor=0.0).fit(counts)
    np.testing.assert_allclose(model.sum_, counts.sum(axis=0), rtol=ROUNDING)
    expected = np.zeros((4, 9))
    for d in (0, 3):  # the others share no word with the training documents
        expected[d] = new_counts[d] / math.sqrt(sum(new_counts[d] @ x for x in counts))
    assert_same(model.transform(new_counts), expected)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_normalized_cut_does_not_depend_on_units(counts, scale):
    """Counts in dozens are weighted like counts: a document and the square root scale alike."""
    assert_same(NormalizedCutWeighting().fit_transform(scale * counts), NormalizedCutWeighting().fit_transform(counts))


@pytest.mark.parametrize("weighting", WEIGHTINGS)
class TestBoth:
    def test_fit_transform_is_fit_then_transform(self, weighting, counts):
        both = weighting().fit_transform(counts)
        np.testing.assert_array_equal(both, weighting().fit(counts).transform(counts))

    def test_a_document_alone_is_weighted_as_in_a_batch(self, weighting, counts, new_counts):
        model = weighting().fit(counts)
        together = model.transform(new_counts)
        for d in range(4):
            np.testing.assert_allclose(model.transform(new_counts[[d]])[0], together[d], rtol=ROUNDING)

    def test_new_documents_do_not_change_the_fitted_weights(self, weighting, counts, new_counts):
        model = weighting().fit(counts)
        before = model.transform(counts)
        model.transform(new_counts)
        np.testing.assert_array_equal(model.transform(counts), before)

    def test_permuted_words_permute_the_weights(self, weighting, counts):
        order = np.random.default_rng(1).permutation(9)
        assert_same(weighting().fit_transform(counts[:, order]), weighting().fit_transform(counts)[:, order])

    def test_permuted_documents_permute_the_weights(self, weighting, counts):
        order = np.random.default_rng(2).permutation(30)
        assert_same(weighting().fit_transform(counts[order]), weighting().fit_transform(counts)[order])

    @pytest.mark.parametrize("container", SPARSE)
    def test_sparse_gives_sparse_and_the_same_numbers(self, weighting, counts, new_counts, container):
        model, dense_model = weighting().fit(container(counts)), weighting().fit(counts)
        weighted = model.transform(container(new_counts))
        assert sp.issparse(weighted)
        assert np.all(weighted.data != 0)
        assert_same(weighted, dense_model.transform(new_counts))

    def test_dense_gives_dense(self, weighting, counts):
        assert type(weighting().fit_transform(counts)) is np.ndarray

    @pytest.mark.parametrize("container", [np.array, np.asfortranarray, *SPARSE])
    def test_what_is_passed_stays_as_it_was(self, weighting, counts, container):
        X = container(counts)
        weighting().fit_transform(X)
        np.testing.assert_array_equal(X.toarray() if sp.issparse(X) else X, counts)

    def test_stored_zeros_and_duplicates_mean_nothing(self, weighting, counts):
        halves = np.hstack([counts / 2, counts / 2])
        starts = 2 * 9 * np.arange(31)
        untidy = sp.csr_matrix((halves.ravel(), np.tile(np.arange(9), 2 * 30), starts), shape=counts.shape)
        assert untidy.nnz == 2 * counts.size
        assert_same(weighting().fit_transform(untidy), weighting().fit_transform(counts))

    @pytest.mark.parametrize("container", SPARSE)
    def test_small_integers_do_not_overflow(self, weighting, container):
        X = np.array([[250, 3, 0], [200, 0, 9], [0, 90, 130], [255, 255, 0]])
        expected = weighting().fit_transform(X.astype(float))
        assert_same(weighting().fit_transform(container(X.astype(np.uint8))), expected)
        assert_same(weighting().fit_transform(X.astype(np.uint8)), expected)

    @pytest.mark.parametrize("container", [np.array, *SPARSE])
    def test_empty_documents_stay_zero(self, weighting, counts, container):
        weighted = weighting().fit_transform(container(counts))
        dense = weighted.toarray() if sp.issparse(weighted) else weighted
        assert np.all(np.isfinite(dense))
        np.testing.assert_array_equal(dense[4], np.zeros(9))
        assert np.all(np.delete(dense, 4, axis=0).any(axis=1))

    def test_nothing_but_empty_documents(self, weighting):
        np.testing.assert_array_equal(weighting().fit_transform(np.zeros((3, 2))), np.zeros((3, 2)))

    @pytest.mark.parametrize("container", [np.array, np.ndarray.tolist, pd.DataFrame, *SPARSE])
    @pytest.mark.parametrize(
        ("value", "message"), [(-2.0, "Negative values"), (np.nan, "contains NaN"), (np.inf, "contains infinity")]
    )
    def test_what_is_no_count_is_refused_when_fitted_and_later(self, weighting, counts, container, value, message):
        model = weighting().fit(counts)
        counts[7, 3] = value
        with pytest.raises(InputError, match=f"{message}.*document 7, word 3 is {value}"):
            weighting().fit(container(counts))
        with pytest.raises(InputError, match=f"{message}.*document 7, word 3 is {value}"):
            model.transform(container(counts))

    def test_another_number_of_words_is_refused(self, weighting, counts):
        with pytest.raises(ValueError, match=r"8 features.*expecting 9"):
            weighting().fit(counts).transform(counts[:, 1:])

    def test_not_fitted_is_an_error(self, weighting, counts):
        with pytest.raises(NotFittedError):
            weighting().transform(counts)

    def test_pandas_output_keeps_names(self, weighting, counts):
        frame = pd.DataFrame(counts, columns=list("abcdefghi"), index=range(100, 130))
        weighted = weighting().set_output(transform="pandas").fit_transform(frame)
        assert list(weighted.columns) == list("abcdefghi")
        assert list(weighted.index) == list(range(100, 130))
        assert_same(weighted.to_numpy(), weighting().fit_transform(counts))

    def test_feature_names(self, weighting, counts):
        frame = pd.DataFrame(counts, columns=list("abcdefghi"))
        assert list(weighting().fit(frame).get_feature_names_out()) == list("abcdefghi")
        assert list(weighting().fit(counts).get_feature_names_out()) == [f"x{i}" for i in range(9)]

    def test_a_clone_is_not_fitted_and_learns_the_same(self, weighting, counts):
        model = weighting().fit(counts)
        copy = clone(model)
        assert copy.get_params() == model.get_params()
        with pytest.raises(NotFittedError):
            copy.transform(counts)
        np.testing.assert_array_equal(copy.fit_transform(counts), model.transform(counts))


def test_a_pipeline_is_one_after_the_other(counts, new_counts):
    pipeline = make_pipeline(TfidfWeighting(), NormalizedCutWeighting()).fit(counts)
    tfidf = TfidfWeighting().fit(counts)
    cut = NormalizedCutWeighting().fit(tfidf.transform(counts))
    np.testing.assert_array_equal(pipeline.transform(new_counts), cut.transform(tfidf.transform(new_counts)))


@pytest.mark.parametrize("tf", ["log", "count", "binary"])
@pytest.mark.parametrize("norm", ["l2", None])
def test_no_option_writes_into_what_is_passed(counts, tf, norm):
    X = sp.csr_matrix(counts)
    TfidfWeighting(tf=tf, norm=norm).fit_transform(X)
    np.testing.assert_array_equal(X.toarray(), counts)


def test_a_clone_keeps_the_options():
    options = {"tf": "binary", "idf": "none", "norm": None}
    assert clone(TfidfWeighting(**options)).get_params() == options


@pytest.mark.parametrize(
    ("option", "value", "choices"),
    [
        ("tf", "sqrt", "'log', 'count', 'binary'"),
        ("tf", None, "'log', 'count', 'binary'"),
        ("idf", "bm25", "'plain', 'smooth', 'chi2', 'none'"),
        ("idf", True, "'plain', 'smooth', 'chi2', 'none'"),
        ("norm", "max", "'l2', 'l1', None"),
    ],
)
def test_unknown_options_are_refused_with_the_known_ones(counts, option, value, choices):
    with pytest.raises(InputError, match=f"{option}={value!r}, but it must be one of {choices}"):
        TfidfWeighting(**{option: value}).fit(counts)
