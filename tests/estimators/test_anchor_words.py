"""SPA, SNPA, XRAY and FastAnchor as estimators: planted truth, the common interface, invariance and errors."""

import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.linalg import aslinearoperator
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from anchorless import SNPA, SPA, XRAY, Documents, FastAnchor, datasets, metrics
from anchorless.errors import InputError, RankError

ESTIMATORS = [SPA, SNPA, XRAY, FastAnchor]
EVERY_ESTIMATOR = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)

#: Squared error of topics from exact data: the rounding of P, 1e-16, times the condition of the anchors, squared.
EXACT = 1e-20
#: A probability that is zero but for rounding, times the condition of anchors chosen on sampled documents.
NOT_THERE = 1e-9


@pytest.fixture
def separable():
    """Return topics C (V, F) of one anchor word each, its place by topic (F,), and document weights W (N, F).

    Every other word is a strict mixture of at least two topics.
    """

    def make(n_topics, n_words, seed, n_documents=200):
        rng = np.random.default_rng([n_topics, seed])
        C = rng.uniform(0.1, 1.0, (n_words, n_topics)) * (rng.random((n_words, n_topics)) < 0.5)
        for row in C:
            two = rng.choice(n_topics, 2, replace=False)
            row[two] = rng.uniform(0.1, 1.0, 2)
        anchors = rng.permutation(n_words)[:n_topics]
        C[anchors] = np.diag(rng.uniform(0.1, 1.0, n_topics))
        C /= C.sum(axis=0)
        return C, anchors, rng.dirichlet(rng.uniform(0.2, 1.0, n_topics), n_documents)

    return make


@pytest.fixture
def X():
    """Word counts of sampled documents without anchor words."""
    return datasets.sampled_corpus(500, n_topics=4, n_words=150, length=60, random_state=0).counts


def results(model):
    return model.anchors_, model.components_, model.topic_moments_, model.topic_correlation_, model.topic_shares_


# Planted truth ------------------------------------------------------------------------------------------------


@EVERY_ESTIMATOR
@pytest.mark.parametrize(("n_topics", "n_words"), [(2, 15), (4, 40), (6, 60)])
@pytest.mark.parametrize("source", ["documents", "cooccurrences"])
def test_planted_anchors_and_topics_are_found(separable, estimator, n_topics, n_words, source):
    for seed in range(10):
        C, anchors, W = separable(n_topics, n_words, seed)
        if source == "documents":
            model = estimator(n_topics).fit(W @ C.T)
        else:
            model = estimator(n_topics).fit_cooccurrence(C @ (W.T @ W / len(W)) @ C.T)
        order = np.argsort(-(W.T @ W).sum(axis=1))
        assert_array_equal(model.anchors_, anchors[order], err_msg=f"seed {seed}")
        assert ((model.components_ - C[:, order].T) ** 2).sum() <= EXACT, seed
        assert_allclose(model.topic_moments_, (W.T @ W / len(W))[np.ix_(order, order)], atol=1e-9)
        assert_allclose(model.topic_shares_, W.mean(axis=0)[order], atol=1e-9)
        assert_allclose(model.topic_correlation_, np.corrcoef(W.T)[np.ix_(order, order)], atol=1e-7)


@EVERY_ESTIMATOR
def test_each_anchor_is_that_of_its_row(separable, estimator):
    for seed in range(10):
        C, _, W = separable(5, 60, seed)
        model = estimator(5).fit(W @ C.T)
        at_anchors = model.components_[:, model.anchors_]
        assert np.diag(at_anchors).min() > 0
        assert_allclose(at_anchors - np.diag(np.diag(at_anchors)), 0.0, atol=NOT_THERE)


@EVERY_ESTIMATOR
def test_documents_of_exact_data_get_their_weights(separable, estimator):
    C, anchors, W = separable(4, 50, 3)
    D = 3.0 * W @ C.T
    model = estimator(4).fit(D)
    order = [list(anchors).index(v) for v in model.anchors_]
    assert_allclose(model.transform(D), 3.0 * W[:, order], atol=1e-8)
    assert_allclose(model.set_params(normalize=True).transform(D), W[:, order], atol=1e-8)


@EVERY_ESTIMATOR
def test_unbiased_cooccurrences_of_short_documents_find_the_anchors(separable, estimator):
    """Ten words each: the biased estimator takes a word's token with itself for a pair."""
    C, anchors, W = separable(3, 20, 1, n_documents=20_000)
    counts = np.random.default_rng(0).multinomial(10, W @ C.T)
    model = estimator(3, cooccurrence="unbiased").fit(counts)
    assert set(model.anchors_) == set(anchors)
    error = metrics.recovery_error(model.components_, C.T)
    assert error < 1e-3
    assert error < 0.1 * metrics.recovery_error(estimator(3).fit(counts).components_, C.T)


# What the results are -----------------------------------------------------------------------------------------


@EVERY_ESTIMATOR
@pytest.mark.parametrize("kind", ["biased", "unbiased"])
@pytest.mark.parametrize("n_components", [1, 2, 6])
def test_results_have_the_stated_form(X, estimator, kind, n_components):
    model = estimator(n_components, cooccurrence=kind).fit(X)
    F = n_components
    assert model.anchors_.shape == (F,)
    assert model.anchors_.dtype.kind == "i"
    assert len(set(model.anchors_)) == F
    assert 0 <= model.anchors_.min() <= model.anchors_.max() < 150
    assert model.components_.shape == (F, 150)
    assert model.components_.min() >= 0
    assert_allclose(model.components_.sum(axis=1), 1.0, rtol=1e-12)
    assert model.topic_moments_.shape == (F, F)
    assert_array_equal(model.topic_moments_, model.topic_moments_.T)
    R = model.topic_correlation_
    assert_array_equal(R, R.T)
    assert_array_equal(np.diag(R), 1.0)
    assert abs(R).max() <= 1
    assert np.linalg.eigvalsh(R).min() >= -1e-12
    assert np.all(np.diff(model.topic_shares_) <= 0)
    assert_allclose(model.topic_shares_.sum(), 1.0)
    assert model.n_features_in_ == 150
    # An anchor's own mixture is itself: it belongs to its topic alone.
    at_anchors = model.components_[:, model.anchors_]
    assert np.diag(at_anchors).min() > 0
    assert_allclose(at_anchors - np.diag(np.diag(at_anchors)), 0.0, atol=NOT_THERE)


@EVERY_ESTIMATOR
def test_moments_are_the_last_line_of_the_papers_algorithm(X, estimator):
    model = estimator(4).fit(X)
    C_inverse = np.linalg.pinv(model.components_.T)
    P = (X.T @ X).toarray() / X.shape[0]
    assert_allclose(model.topic_moments_, C_inverse @ P @ C_inverse.T, rtol=1e-8)


@EVERY_ESTIMATOR
def test_the_interface_is_that_of_the_other_estimators(X, estimator):
    name = estimator.__name__.lower()
    frame = pd.DataFrame(X.toarray(), columns=[f"word{i}" for i in range(150)])
    model = estimator(3, min_df=2).set_output(transform="pandas").fit(frame)
    W = model.transform(frame)
    assert list(W.columns) == [f"{name}{f}" for f in range(3)]
    assert W.shape == (500, 3)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert_array_equal(estimator(3, min_df=2).fit_transform(X), W)
    assert model.inverse_transform(W).shape == (500, 150)
    assert 0 < model.score(frame) <= 1
    copy = clone(model)
    assert copy.get_params() == {
        "n_components": 3,
        "min_df": 2,
        "cooccurrence": "biased",
        "normalize": False,
        "block_size": None,
        "n_jobs": None,
        "n_threads": "deprecated",
    }
    with pytest.raises(NotFittedError):
        copy.transform(frame)


@EVERY_ESTIMATOR
def test_empty_words_belong_to_no_topic(X, estimator):
    wide = sp.hstack([sp.csr_matrix((500, 4)), X, sp.csr_matrix((500, 3))]).tocsr()
    model, plain = estimator(4).fit(wide), estimator(4).fit(X)
    assert_array_equal(model.anchors_, plain.anchors_ + 4)
    assert_array_equal(model.components_[:, :4], 0)
    assert_array_equal(model.components_[:, 154:], 0)
    assert_allclose(model.components_[:, 4:154], plain.components_, atol=1e-12)


# Rare words ---------------------------------------------------------------------------------------------------


@EVERY_ESTIMATOR
@pytest.mark.parametrize("kind", ["biased", "unbiased"])
def test_anchors_are_in_enough_documents(X, estimator, kind):
    frequency = np.asarray((X > 0).sum(axis=0)).ravel()
    free = estimator(5, min_df=10, cooccurrence=kind).fit(X)
    rarest = int(frequency[free.anchors_].min())
    assert frequency.min() < 10 <= rarest
    bound = estimator(5, min_df=rarest, cooccurrence=kind).fit(X)  # at least: the limit itself is enough
    assert_array_equal(bound.anchors_, free.anchors_)
    for min_df in (rarest + 1, 60, 200):
        model = estimator(5, min_df=min_df, cooccurrence=kind).fit(X)
        assert frequency[model.anchors_].min() >= min_df
        assert set(model.anchors_) != set(free.anchors_)
        assert (model.components_[:, frequency < min_df] > 0).any()  # the other words stay in the topics


@EVERY_ESTIMATOR
def test_min_df_beyond_the_documents_names_the_values(X, estimator):
    with pytest.raises(InputError, match=r"min_df=501, but only 0 words .* 3 are needed; lower min_df"):
        estimator(3, min_df=501).fit(X)
    frequency = np.sort(np.asarray((X > 0).sum(axis=0)).ravel())
    min_df = int(frequency[-2])
    left = int((frequency >= min_df).sum())
    with pytest.raises(InputError, match=f"min_df={min_df}, but only {left} words .* {left + 1} are needed"):
        estimator(left + 1, min_df=min_df).fit(X)


@EVERY_ESTIMATOR
def test_min_df_needs_documents(X, estimator):
    P = (X.T @ X).toarray()
    with pytest.raises(InputError, match=r"min_df=2, but fit_cooccurrence does not know .*set min_df to 1"):
        estimator(3, min_df=2).fit_cooccurrence(P)
    assert estimator(3, min_df=1).fit_cooccurrence(P).anchors_.shape == (3,)


# Invariance ---------------------------------------------------------------------------------------------------


@EVERY_ESTIMATOR
@pytest.mark.parametrize("kind", ["biased", "unbiased"])
def test_permuting_words_or_documents_permutes_the_answer(X, estimator, kind):
    rng = np.random.default_rng(0)
    words, documents = rng.permutation(150), rng.permutation(500)
    model = estimator(5, cooccurrence=kind).fit(X)
    permuted = estimator(5, cooccurrence=kind).fit(X[documents][:, words])
    assert_array_equal(words[permuted.anchors_], model.anchors_)
    assert_allclose(permuted.components_, model.components_[:, words], atol=1e-10)
    assert_allclose(permuted.topic_shares_, model.topic_shares_, atol=1e-10)


@EVERY_ESTIMATOR
@pytest.mark.parametrize("kind", ["biased", "unbiased"])
def test_two_fits_and_any_number_of_threads_have_the_same_bits(X, estimator, kind):
    parameters = {"cooccurrence": kind, "block_size": 50, "min_df": 3}
    first = estimator(4, n_jobs=1, **parameters).fit(X)
    for n_jobs in (1, 2):
        again = estimator(4, n_jobs=n_jobs, **parameters).fit(X)
        for one, other in zip(results(first), results(again), strict=True):
            assert_array_equal(one, other)


@EVERY_ESTIMATOR
@pytest.mark.parametrize("kind", ["biased", "unbiased"])
def test_other_blocks_agree(X, estimator, kind):
    whole = estimator(5, cooccurrence=kind).fit(X)
    cuts = [estimator(5, cooccurrence=kind, block_size=size).fit(X) for size in (60, 499)]
    cuts.append(estimator(5, cooccurrence=kind).fit(Documents([X[:7], X[7:300], X[300:]])))
    cuts.append(estimator(5, cooccurrence=kind).fit(X.toarray()))
    for cut in cuts:
        assert_array_equal(cut.anchors_, whole.anchors_)
        assert_allclose(cut.components_, whole.components_, atol=1e-10)
        assert_allclose(cut.topic_moments_, whole.topic_moments_, rtol=1e-7, atol=1e-9 * whole.topic_moments_.max())


@EVERY_ESTIMATOR
def test_documents_and_dense_sparse_or_operator_cooccurrences_agree(X, estimator):
    from_documents = estimator(5).fit(X)
    P = (X.T @ X).toarray() / X.shape[0]
    for same in (P, sp.csr_matrix(P), sp.coo_array(P), aslinearoperator(P), P.tolist()):
        model = estimator(5).fit_cooccurrence(same)
        assert_array_equal(model.anchors_, from_documents.anchors_)
        assert_allclose(model.components_, from_documents.components_, atol=1e-10)
        assert model.n_features_in_ == 150


@EVERY_ESTIMATOR
def test_scaling_the_documents_scales_only_the_moments(X, estimator):
    one, scaled = estimator(4).fit(X), estimator(4).fit(X * 1e3)
    assert_array_equal(scaled.anchors_, one.anchors_)
    assert_allclose(scaled.components_, one.components_, atol=1e-10)
    assert_allclose(scaled.topic_moments_, 1e6 * one.topic_moments_, rtol=1e-7)


@EVERY_ESTIMATOR
def test_input_is_not_changed(X, estimator):
    before, P = X.copy(), (X.T @ X).toarray()
    P_before = P.copy()
    estimator(3, cooccurrence="unbiased", min_df=2).fit(X).transform(X)
    estimator(3).fit_cooccurrence(P)
    assert_array_equal(X.toarray(), before.toarray())
    assert_array_equal(P, P_before)


# Co-occurrences that no documents have ------------------------------------------------------------------------


@EVERY_ESTIMATOR
@pytest.mark.parametrize("n_topics", [3, 5, 10])
def test_negative_cooccurrences_give_finite_topics(estimator, n_topics):
    """The paper's synthetic design: E of both signs, so words may have a negative or hardly any weight."""
    wrong, lowest = {}, np.inf
    for seed in range(10):
        P = datasets.planted_topics(n_topics, 100, random_state=seed).cooccurrence
        lowest = min(lowest, P.min())
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                model = estimator(n_topics).fit_cooccurrence(P)
        except Exception as error:
            wrong[seed] = repr(error)
            continue
        form = np.all(model.components_ >= 0) and np.allclose(model.components_.sum(axis=1), 1.0)
        if not (form and all(np.all(np.isfinite(result)) for result in results(model))):
            wrong[seed] = "not finite, or no probabilities"
    assert lowest < 0
    assert wrong == {}


@EVERY_ESTIMATOR
def test_an_anchor_of_negative_weight_gives_no_nan(estimator):
    """Row sums 3 and −0.5: a word whose co-occurrences sum to less than nothing is its topic's only word."""
    model = estimator(2).fit_cooccurrence([[4.0, -1.0], [-1.0, 0.5]])
    for result in results(model):
        assert np.all(np.isfinite(result))


# Errors -------------------------------------------------------------------------------------------------------


@EVERY_ESTIMATOR
@pytest.mark.parametrize("source", ["documents", "cooccurrences"])
def test_more_anchors_than_extreme_words_is_a_rank_error(separable, estimator, source):
    for seed in range(4):
        C, _, W = separable(3, 30, seed)
        model = estimator(5)
        fit, data = (model.fit, W @ C.T) if source == "documents" else (model.fit_cooccurrence, C @ (W.T @ W) @ C.T)
        with pytest.raises(RankError, match=r"n_components=5, but only 3 anchor words can be found; lower n_comp"):
            fit(data)


@EVERY_ESTIMATOR
def test_identical_documents_have_one_anchor(X, estimator):
    D = sp.vstack([X[0]] * 10)
    topic = estimator(1).fit(D).components_[0]
    assert_allclose(topic, X[0].toarray()[0] / X[0].sum(), atol=1e-12)
    with pytest.raises(RankError, match="n_components=2, but only 1 anchor words"):
        estimator(2).fit(D)


BAD_PARAMETERS = [
    ({"n_components": 0}, "n_components=0, but it must be a whole number of at least 1"),
    ({"n_components": 2.5}, "n_components=2.5"),
    ({"n_components": True}, "n_components=True"),
    ({"n_components": 151}, "n_components=151, but there are only 150 words"),
    ({"min_df": 0}, "min_df=0, but it must be a whole number of at least 1"),
    ({"min_df": 0.5}, "min_df=0.5"),
    ({"min_df": True}, "min_df=True"),
    ({"min_df": "3"}, "min_df='3'"),
    ({"cooccurrence": "both"}, "cooccurrence='both', but it must be one of 'biased', 'unbiased'"),
    ({"block_size": 0}, "block_size=0"),
    ({"n_jobs": 0}, "n_jobs=0, but it must be a whole number other than 0"),
]


@EVERY_ESTIMATOR
@pytest.mark.parametrize(("parameters", "message"), BAD_PARAMETERS, ids=[str(case[0]) for case in BAD_PARAMETERS])
def test_bad_parameters_are_named(X, estimator, parameters, message):
    for fit in (
        lambda: estimator(**parameters).fit(X),
        lambda: estimator(**parameters).fit_cooccurrence((X.T @ X).toarray()),
    ):
        with pytest.raises(InputError, match=message):
            fit()


@EVERY_ESTIMATOR
def test_unbiased_needs_counts(X, estimator):
    with pytest.raises(InputError, match=r"needs whole counts, and X contains 0\.5"):
        estimator(2, cooccurrence="unbiased").fit(X * 0.5)


# Memory -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["biased", "unbiased"])
def test_no_matrix_of_words_by_words_is_made(kind):
    """20,000 words: P would take 3.2 GB."""
    rng = np.random.default_rng(0)
    rows, columns = np.repeat(np.arange(800), 50), (20_000 * rng.random(40_000) ** 2).astype(int)
    D = sp.csr_matrix((np.ones(40_000), (rows, columns)), shape=(800, 20_000))
    tracemalloc.start()
    try:
        model = SPA(4, cooccurrence=kind, n_jobs=1).fit(D)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert model.components_.shape == (4, 20_000)
    assert 1e6 < peak < 100e6  # the lower limit: NumPy does tell what it allocates
