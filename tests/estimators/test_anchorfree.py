"""AnchorFree as an estimator: planted truth, the form of the results, invariance, the interface and errors."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.linalg import aslinearoperator
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from anchorless import AnchorFree, Documents, NormalizedCutWeighting, TfidfWeighting, datasets, metrics
from anchorless._core.anchored import PIVOTS_PER_TOPIC
from anchorless._core.lp import simplex
from anchorless._estimators.anchorfree import SlowSolverWarning
from anchorless.errors import InputError, RankError, SpectrumWarning
from anchorless.progress import listen

CONSTRAINTS = ["reliable", "all"]


@pytest.fixture
def corpus():
    """Sampled documents with planted topics, as rows of word frequencies."""
    return datasets.sampled_corpus(600, n_topics=4, n_words=200, length=60, random_state=0)


@pytest.fixture
def X(corpus):
    return sp.csr_matrix(corpus.counts.multiply(1.0 / corpus.counts.sum(axis=1)))


def results(model):
    return model.components_, model.topic_moments_, model.topic_correlation_, model.eigenvalues_


# Planted truth ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("moments", ["gaussian", "nonnegative"])
@pytest.mark.parametrize(("n_topics", "n_seeds"), [(1, 2), (2, 5), (3, 15), (5, 15), (10, 5), (20, 1)])
def test_exact_cooccurrences_give_the_planted_topics(constraint, moments, n_topics, n_seeds):
    for seed in range(1000, 1000 + n_seeds):
        truth = datasets.planted_topics(n_topics, moments=moments, random_state=seed)
        model = AnchorFree(n_topics, constraint=constraint).fit_cooccurrence(truth.cooccurrence)
        assert metrics.recovery_error(model.components_, truth.components) <= 1e-14, seed
        i, j = metrics.match_topics(model.components_, truth.components)
        E, T = model.topic_moments_[np.ix_(i, i)], truth.moments[np.ix_(j, j)]
        assert ((E - T) ** 2).sum() <= 1e-8 * (T**2).sum(), seed
        assert model.converged_


def test_indefinite_cooccurrences_give_the_planted_topics():
    """The paper: E may be any symmetric matrix."""
    C = datasets.planted_topics(6, random_state=1).components
    A = np.random.default_rng(1).standard_normal((6, 6))
    E = A + A.T
    assert np.linalg.eigvalsh(E).min() < 0 < np.linalg.eigvalsh(E).max()
    model = AnchorFree(6).fit_cooccurrence(C.T @ E @ C)
    assert metrics.recovery_error(model.components_, C) <= 1e-14
    assert (model.eigenvalues_ < 0).any()
    assert np.all(np.diff(abs(model.eigenvalues_)) <= 0)


def test_rare_anchor_words_are_exact_too():
    """One anchor word per topic with a probability of 1e-6: the constraint that a soft penalty would break."""
    rng = np.random.default_rng(0)
    C = rng.exponential(size=(300, 5))
    C[:5] = 1e-6 * np.diag(C[:, 0].sum() * np.ones(5))
    C /= C.sum(axis=0)
    W = rng.dirichlet(np.full(5, 0.4), 2000)
    model = AnchorFree(5).fit_cooccurrence(C @ (W.T @ W) @ C.T)
    assert metrics.recovery_error(model.components_, C.T) <= 1e-12


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_exact_documents_give_topics_and_weights(constraint):
    truth = datasets.planted_topics(5, 400, random_state=7)
    W = np.random.default_rng(7).dirichlet(np.full(5, 0.5), 300)
    model = AnchorFree(5, constraint=constraint).fit(W @ truth.components)
    assert metrics.recovery_error(model.components_, truth.components) <= 1e-14
    i, j = metrics.match_topics(model.components_, truth.components)
    assert_allclose(model.transform(W @ truth.components)[:, i], W[:, j], atol=1e-7)
    assert_allclose(model.topic_moments_[np.ix_(i, i)], (W.T @ W / 300)[np.ix_(j, j)], atol=1e-6)
    assert_allclose(model.topic_shares_[i], W.mean(axis=0)[j], atol=1e-6)
    assert_allclose(model.topic_correlation_[np.ix_(i, i)], np.corrcoef(W.T)[np.ix_(j, j)], atol=1e-5)


@pytest.mark.parametrize("n_topics", [3, 8, 15])
def test_default_volume_is_not_below_the_papers_on_exact_data(n_topics):
    for seed in range(5):
        P = datasets.planted_topics(n_topics, random_state=seed).cooccurrence
        hard = AnchorFree(n_topics, constraint="all").fit_cooccurrence(P)
        default = AnchorFree(n_topics).fit_cooccurrence(P)
        assert default.log_volume_ >= hard.log_volume_ - 1e-7 * abs(hard.log_volume_)


def test_error_falls_with_the_number_of_documents():
    """With the unbiased estimator; the biased one keeps the bias of a word with itself."""
    errors = []
    for n in (300, 3000, 30000):
        corpora = [datasets.sampled_corpus(n, n_topics=4, n_words=150, length=60, random_state=s) for s in range(3)]
        models = [AnchorFree(4, cooccurrence="unbiased").fit(corpus.counts) for corpus in corpora]
        pairs = zip(models, corpora, strict=True)
        errors.append(np.mean([metrics.recovery_error(model.components_, truth.components) for model, truth in pairs]))
    assert errors[0] > 2 * errors[1] > 4 * errors[2]


def test_reliable_words_give_smaller_errors_than_all_words_on_sampled_documents():
    for seed in range(4):
        corpus = datasets.sampled_corpus(2000, n_topics=6, n_words=400, length=80, random_state=seed)
        models = [AnchorFree(6, constraint=c, cooccurrence="unbiased").fit(corpus.counts) for c in CONSTRAINTS]
        default, hard = (metrics.recovery_error(model.components_, corpus.components) for model in models)
        assert default < 0.5 * hard


# What the results are -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_results_have_the_stated_form(X, constraint):
    model = AnchorFree(4, constraint=constraint).fit(X)
    assert model.components_.shape == (4, 200)
    assert model.components_.min() >= 0
    assert_allclose(model.components_.sum(axis=1), 1.0, rtol=1e-12)
    assert_array_equal(model.topic_moments_, model.topic_moments_.T)
    R = model.topic_correlation_
    assert_array_equal(R, R.T)
    assert_array_equal(np.diag(R), 1.0)
    assert abs(R).max() <= 1
    assert np.linalg.eigvalsh(R).min() >= -1e-12
    assert np.all(np.diff(model.topic_shares_) <= 0)
    assert_allclose(model.topic_shares_.sum(), 1.0)
    assert np.all(np.diff(model.eigenvalues_) <= 0)
    assert model.clipped_mass_.min() >= 0
    assert model.n_iter_ >= 2
    assert model.converged_ is True


def test_constraints_on_all_words_leave_nothing_to_clip(X):
    model = AnchorFree(4, constraint="all").fit(X)
    assert model.clipped_mass_.max() < 1e-9
    assert model.n_constraints_ == 200
    C = model.components_.T
    assert_allclose(model.log_volume_, 0.5 * np.linalg.slogdet(C.T @ C)[1], atol=1e-7)


# Determinism and invariance -----------------------------------------------------------------------------------


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_two_fits_and_any_number_of_threads_have_the_same_bits(X, constraint):
    first = AnchorFree(4, constraint=constraint, block_size=50, n_jobs=1).fit(X)
    for n_jobs in (1, 2, 3):
        again = AnchorFree(4, constraint=constraint, block_size=50, n_jobs=n_jobs).fit(X)
        for one, other in zip(results(first), results(again), strict=True):
            assert_array_equal(one, other)
        assert_array_equal(first.transform(X), again.transform(X))


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("cooccurrence", ["biased", "unbiased"])
def test_other_blocks_agree(corpus, constraint, cooccurrence):
    parameters = {"constraint": constraint, "cooccurrence": cooccurrence}
    whole = AnchorFree(4, **parameters).fit(corpus.counts)
    for block_size in (1, 7, 100, 599):
        cut = AnchorFree(4, block_size=block_size, **parameters).fit(corpus.counts)
        assert_allclose(cut.components_, whole.components_, atol=1e-10)


def test_dense_sparse_and_block_input_agree(X):
    reference = AnchorFree(4, block_size=200).fit(X)
    blocks = [X[:200], X[200:400], X[400:]]
    for same in (
        X.toarray(),
        X.tocsc(),
        X.tocoo(),
        sp.csr_array(X),
        Documents(blocks),
        blocks,
        pd.DataFrame(X.toarray()),
    ):
        assert_array_equal(AnchorFree(4, block_size=200).fit(same).components_, reference.components_)


def test_dense_sparse_and_operator_cooccurrences_agree(X):
    P = (X.T @ X).toarray() / X.shape[0]
    reference = AnchorFree(4).fit_cooccurrence(P)
    for same in (sp.csr_matrix(P), sp.coo_array(P), aslinearoperator(P), P.tolist()):
        model = AnchorFree(4).fit_cooccurrence(same)
        assert_allclose(model.components_, reference.components_, atol=1e-10)


def test_cooccurrences_and_documents_give_the_same_topics_with_constraints_on_all_words(X):
    P = (X.T @ X).toarray() / X.shape[0]
    from_matrix = AnchorFree(4, constraint="all").fit_cooccurrence(P)
    from_documents = AnchorFree(4, constraint="all").fit(X)
    assert_allclose(from_matrix.components_, from_documents.components_, atol=1e-10)
    assert_allclose(from_matrix.topic_moments_, from_documents.topic_moments_, rtol=1e-7)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_permuting_words_or_documents_permutes_the_answer(X, constraint):
    rng = np.random.default_rng(0)
    words, documents = rng.permutation(X.shape[1]), rng.permutation(X.shape[0])
    model = AnchorFree(4, constraint=constraint).fit(X)
    permuted = AnchorFree(4, constraint=constraint).fit(X[documents][:, words])
    assert_allclose(permuted.components_, model.components_[:, words], atol=1e-10)
    assert_allclose(permuted.transform(X[documents][:, words]), model.transform(X)[documents], atol=1e-7)


def test_scaling_the_documents_scales_only_the_moments(X):
    one, scaled = AnchorFree(4).fit(X), AnchorFree(4).fit(X * 1e3)
    assert_allclose(scaled.components_, one.components_, atol=1e-10)
    assert_allclose(scaled.topic_moments_, 1e6 * one.topic_moments_, rtol=1e-7)
    assert_allclose(scaled.topic_correlation_, one.topic_correlation_, atol=1e-7)


def test_seeds_agree_on_the_answer(X):
    models = [AnchorFree(4, random_state=seed).fit(X) for seed in (0, 1, np.random.RandomState(3))]
    for other in models[1:]:
        assert_allclose(other.components_, models[0].components_, atol=1e-9)


# Weights ------------------------------------------------------------------------------------------------------


def test_fit_transform_is_fit_then_transform(X):
    assert_array_equal(AnchorFree(4).fit_transform(X), AnchorFree(4).fit(X).transform(X))


def test_each_document_is_transformed_by_itself(X):
    model = AnchorFree(4).fit(X)
    W = model.transform(X)
    assert_array_equal(np.vstack([model.transform(X[i]) for i in range(40)]), W[:40])
    assert_array_equal(model.transform(X.toarray()), W)


def test_normalized_weights_sum_to_one_and_empty_documents_stay_empty(X):
    model = AnchorFree(4, normalize=True).fit(X)
    D = X[:5].tolil()
    D[2] = 0
    W = model.transform(D.tocsr())
    assert_allclose(W.sum(axis=1), [1, 1, 0, 1, 1])
    plain = AnchorFree(4).fit(X).transform(X)
    assert_allclose(model.transform(X), plain / plain.sum(axis=1, keepdims=True))


def test_words_without_a_topic_do_not_count(X):
    """A column that training never saw used."""
    D = sp.hstack([X, sp.csr_matrix((X.shape[0], 1))]).tocsr()
    model = AnchorFree(4).fit(D)
    new = D[:3].tolil()
    new[:, 200] = 5.0
    assert_array_equal(model.components_[:, 200], 0)
    assert_array_equal(model.transform(new.tocsr()), model.transform(D[:3]))


def test_score_is_the_explained_share(X):
    model = AnchorFree(4).fit(X)
    dense = X.toarray()
    residual = dense - model.inverse_transform(model.transform(X))
    assert_allclose(model.score(X), 1 - (residual**2).sum() / (dense**2).sum(), rtol=1e-9)


# The scikit-learn contract beyond check_estimator ---------------------------------------------------------------


def test_pipeline_grid_search_and_clone(corpus):
    pipeline = make_pipeline(TfidfWeighting(), NormalizedCutWeighting(), AnchorFree(2))
    search = GridSearchCV(pipeline, {"anchorfree__n_components": [1, 2, 4]}, cv=3).fit(corpus.counts)
    assert search.best_params_["anchorfree__n_components"] == 4
    assert search.best_estimator_.transform(corpus.counts).shape == (600, 4)
    assert clone(search.best_estimator_[-1]).get_params() == search.best_estimator_[-1].get_params()


def test_set_output_and_feature_names(X):
    frame = pd.DataFrame(X.toarray(), columns=[f"word{i}" for i in range(200)])
    model = AnchorFree(4).set_output(transform="pandas").fit(frame)
    assert list(model.get_feature_names_out()) == [f"anchorfree{f}" for f in range(4)]
    assert list(model.transform(frame).columns) == [f"anchorfree{f}" for f in range(4)]
    assert list(model.feature_names_in_) == list(frame.columns)


# Odd but good input -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int32, np.int64, np.float32])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, sp.coo_matrix])
def test_small_integers_do_not_wrap_around(dtype, kind):
    counts = np.random.default_rng(0).integers(0, 255, (60, 20))
    expected = AnchorFree(3).fit(counts.astype(np.float64)).components_
    assert_allclose(AnchorFree(3).fit(kind(counts.astype(dtype))).components_, expected, rtol=1e-6, atol=1e-9)


def test_duplicate_entries_add_up_without_wrapping_around():
    counts = np.random.default_rng(0).integers(0, 200, (60, 20))
    half = sp.coo_matrix(counts.astype(np.uint8))
    twice = sp.coo_matrix(
        (np.tile(half.data, 2), (np.tile(half.row, 2), np.tile(half.col, 2))), shape=half.shape, dtype=np.uint8
    )
    expected = AnchorFree(3).fit(2.0 * counts)
    assert_array_equal(AnchorFree(3).fit(twice).components_, expected.components_)


def test_stored_zeros_change_nothing(X):
    padding = sp.random(*X.shape, density=0.01, random_state=0, format="csr")
    padding.data[:] = 0.0
    entries = [X.tocoo(), padding.tocoo()]
    with_zeros = sp.csr_matrix(
        (
            np.concatenate([part.data for part in entries]),
            (np.concatenate([part.row for part in entries]), np.concatenate([part.col for part in entries])),
        ),
        shape=X.shape,
    )
    assert with_zeros.nnz > X.nnz
    assert_array_equal(AnchorFree(4).fit(with_zeros).components_, AnchorFree(4).fit(X).components_)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_empty_documents_and_words_are_left_out(X, constraint):
    D = sp.vstack([X, sp.csr_matrix((7, 200))])
    D = sp.hstack([D, sp.csr_matrix((607, 9))]).tocsr()
    model, plain = AnchorFree(4, constraint=constraint).fit(D), AnchorFree(4, constraint=constraint).fit(X)
    assert_array_equal(model.components_[:, 200:], 0)
    assert_allclose(model.components_[:, :200], plain.components_, atol=1e-9)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_one_dominating_word(corpus, constraint):
    D = corpus.counts.toarray()
    D[:, 0] = 1000 + 100 * np.random.default_rng(0).random(len(D))
    model = AnchorFree(4, constraint=constraint).fit(D)
    assert np.all(np.isfinite(model.components_))
    assert_allclose(model.components_.sum(axis=1), 1.0)


def test_identical_documents_have_one_topic(X):
    D = sp.vstack([X[0]] * 10)
    model = AnchorFree(1).fit(D)
    assert_allclose(model.components_[0], X[0].toarray()[0] / X[0].sum(), atol=1e-12)
    with pytest.raises(RankError, match="n_components=2, but the 10 documents support at most 1; lower n_components"):
        AnchorFree(2).fit(D)


def test_full_rank_is_allowed():
    D = np.random.default_rng(0).poisson(2, (30, 6))
    assert AnchorFree(6).fit(D).components_.shape == (6, 6)


def test_input_is_not_changed(X):
    before = X.copy()
    AnchorFree(4).fit(X).transform(X)
    assert_array_equal(X.data, before.data)
    assert_array_equal(X.indices, before.indices)


def test_topics_of_equal_strength_are_a_warning():
    D = np.kron(np.eye(4), np.ones((5, 6)))
    with pytest.warns(
        SpectrumWarning, match=r"topic 3 and the next one.*is arbitrary; try another n_components"
    ) as warned:
        AnchorFree(3).fit(D)
    assert "another n_topics" in str(warned[0].message.rename_parameters({"n_components": "n_topics"}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = AnchorFree(4).fit(D)
    assert_allclose(np.sort(model.components_.max(axis=1)), 1 / 6)


def test_not_converging_is_a_warning(X):
    with pytest.warns(
        ConvergenceWarning, match=r"max_iter=1, but .* still changing .*; raise max_iter or tol"
    ) as warned:
        model = AnchorFree(4, max_iter=1).fit(X)
    assert len(warned) == 1
    assert warned[0].filename == __file__  # the line of the user, not one of ours
    assert model.converged_ is False


# Hundreds of topics, and when the volume is large enough --------------------------------------------------------


@pytest.fixture(scope="module")
def many():
    """A small corpus of 200 planted topics."""
    return datasets.sampled_corpus(1000, n_topics=200, n_words=900, length=80, random_state=1).counts


@pytest.mark.parametrize("cooccurrence", ["biased", "unbiased"])
def test_two_hundred_topics_take_bounded_work_and_have_the_same_bits_for_any_threads(many, cooccurrence):
    one, two = (AnchorFree(200, cooccurrence=cooccurrence, n_jobs=n).fit(many) for n in (1, 2))
    assert one.stopping_rule_ == "pivots"
    assert one.converged_
    assert one.fit_report_.n_pivots <= 200 * PIVOTS_PER_TOPIC
    assert_allclose(one.components_.sum(axis=1), 1.0)
    for ours, theirs in zip(results(one), results(two), strict=True):
        assert_array_equal(ours, theirs)


def test_the_default_stops_at_the_noise_and_a_tolerance_at_the_maximum():
    counts = datasets.sampled_corpus(1500, n_topics=60, n_words=600, length=60, random_state=0).counts
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        default, converged = (AnchorFree(60, tol=tol).fit(counts) for tol in (None, 1e-8))
    assert (default.stopping_rule_, converged.stopping_rule_) == ("noise", "tolerance")
    assert default.converged_
    assert default.n_iter_ < converged.n_iter_
    fit = converged._run_fit(converged._build_cooccurrence(Documents.from_matrix(counts.astype(float))), 0)
    assert fit.volume.gap < 1e-8
    assert fit.volume.infeasibility <= 1e-10


def test_many_exact_topics_are_exact_by_default():
    truth = datasets.planted_topics(60, 1500, random_state=2)
    model = AnchorFree(60).fit_cooccurrence(truth.cooccurrence, n_documents=10_000)
    assert model.stopping_rule_ == "tolerance"
    assert metrics.recovery_error(model.components_, truth.components) <= 1e-14


def test_more_topics_than_documents_support_are_refused_before_the_fit(many, monkeypatch):
    monkeypatch.setattr(AnchorFree, "_find_topics", lambda *_: pytest.fail("the fit began"))
    with pytest.raises(
        RankError, match=r"n_components=900, but the 1000 documents support at most 250; lower"
    ) as error:
        AnchorFree(900).fit(many)
    assert error.value.limit == 250


def test_the_volume_reports_every_column(X):
    reports = []
    with listen(lambda *report: reports.append(report)):
        AnchorFree(20).fit(X)
    parts = [done / total for stage, done, total in reports if stage == "volume" and total]
    assert len(parts) > 2 * 20
    assert parts == sorted(parts)


# Bad input, each with its own error -----------------------------------------------------------------------------


def with_entry(X, value):
    D = X.toarray()
    D[3, 4] = value
    return D


BAD_DOCUMENTS = {
    "nan": (lambda X: with_entry(X, np.nan), "contains NaN: document 3, word 4"),
    "nan, sparse": (lambda X: sp.csr_matrix(with_entry(X, np.nan)), "contains NaN: document 3, word 4"),
    "infinity": (lambda X: with_entry(X, np.inf), "contains infinity: document 3, word 4"),
    "negative": (lambda X: with_entry(X, -2.0), "Negative values .* document 3, word 4 is -2.0"),
    "negative, csc": (lambda X: sp.csc_matrix(with_entry(X, -2.0)), "Negative values .* document 3, word 4 is -2.0"),
    "negative, list": (lambda X: with_entry(X, -2.0).tolist(), "Negative values .* document 3, word 4 is -2.0"),
    "negative, block": (lambda X: [X[:9], -X[9:]], "Negative values .* document 9, word"),
    "complex block": (lambda X: [X[:9], X[9:] * 1j], "real numbers"),
    "empty block": (lambda X: [X[:0]], "n_samples = 0"),
    "all zero": (lambda X: np.zeros((9, 5)), "X is all zero"),
    "no documents": (lambda X: X[:0], "0 sample"),
    "no words": (lambda X: X[:, :0], "0 feature"),
    "one document": (lambda X: X[:1], "at least 2 documents"),
    "text": (lambda X: ["a text", "another"], "X holds text, but AnchorFree needs numbers.*count the words first"),
    "text array": (lambda X: np.array([["a", "b"], ["c", "d"]]), "X holds text"),
    "text objects": (lambda X: np.array([["a", 1], ["c", 2]], dtype=object), "X holds text"),
    "three dimensions": (lambda X: np.ones((3, 4, 5)), "dim 3"),
    "complex": (lambda X: X.toarray() + 1j, "Complex data"),
    "too large": (lambda X: X * 1e200, "largest entry of X is .*e.199.*rescale X"),
    "too small": (lambda X: X * 1e-200, "rescale X"),
    "blocks of other widths": (lambda X: [X[:9], X[9:, :7]], "blocks have .* columns"),
}


@pytest.mark.parametrize("name", BAD_DOCUMENTS)
def test_bad_documents_are_refused(X, name):
    make, message = BAD_DOCUMENTS[name]
    with pytest.raises(ValueError, match=message):
        AnchorFree(2).fit(make(X))


BAD_PARAMETERS = {
    "n_components": [0, -1, 1.5, "3", None, True],
    "constraint": ["soft", None],
    "cooccurrence": ["arora", 1],
    "tol": [0, -1e-3, np.nan, "small"],
    "max_iter": [0, 2.5],
    "block_size": [0, -3, "big"],
    "n_jobs": [0, 1.5, "2", True],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name in BAD_PARAMETERS for value in BAD_PARAMETERS[name]]
)
def test_bad_parameters_are_refused_by_name_and_value(X, name, value):
    with pytest.raises(InputError, match=f"{name}={value!r}, but it must be"):
        AnchorFree(**{"n_components": 2, name: value}).fit(X)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_more_topics_than_rank_or_words(constraint):
    D = np.random.default_rng(0).dirichlet(np.ones(3), 50) @ np.random.default_rng(1).random((3, 40))
    with pytest.raises(RankError, match=r"n_components=4, but the 50 documents support at most 3; lower") as raised:
        AnchorFree(4, constraint=constraint).fit(D)
    assert (raised.value.parameter, raised.value.value, raised.value.limit) == ("n_components", 4, 3)
    with pytest.raises(RankError, match=r"n_components=4, but the co-occurrences support at most 3; lower"):
        AnchorFree(4, constraint=constraint).fit_cooccurrence(D.T @ D)
    with pytest.raises(RankError, match="n_components=41, but there are only 40 words") as raised:
        AnchorFree(41, constraint=constraint).fit(D)
    assert raised.value.limit == 40


BAD_COOCCURRENCES = {
    "not square": (np.ones((3, 4)), "P has shape .3, 4., but a co-occurrence matrix is square"),
    "a vector": (np.ones(3), "is square"),
    "not symmetric": (np.arange(9.0).reshape(3, 3), "P is not symmetric"),
    "not symmetric, sparse": (sp.csr_matrix(np.arange(9.0).reshape(3, 3)), "P is not symmetric"),
    "not symmetric, operator": (aslinearoperator(np.arange(9.0).reshape(3, 3)), "P is not symmetric"),
    "nan": (np.full((3, 3), np.nan), "NaN or infinity"),
    "text": (np.array([["a", "b"], ["b", "a"]]), "real numbers"),
    "zero": (np.zeros((5, 5)), "the co-occurrences support at most 0"),
    "too large": (np.eye(3) * 1e200, "rescale P"),
    "no nonnegative direction": (6 * np.eye(3) - 2, "no probabilities of words fit the co-occurrences"),
    "a float32 operator": (aslinearoperator(np.eye(3, dtype=np.float32)), "make it float64"),
}


@pytest.mark.parametrize("name", BAD_COOCCURRENCES)
def test_bad_cooccurrences_are_refused(name):
    P, message = BAD_COOCCURRENCES[name]
    with pytest.raises(InputError, match=message):
        AnchorFree(2).fit_cooccurrence(P)


def test_a_failed_fit_leaves_no_mixture_of_two(X):
    model = AnchorFree(2)
    with pytest.raises(InputError):
        model.fit(with_entry(X, -1.0))
    with pytest.raises(NotFittedError):
        model.transform(X)
    model.fit(pd.DataFrame(X.toarray(), columns=[f"word{i}" for i in range(200)]))
    model.fit_cooccurrence((X.T @ X).toarray())
    assert not hasattr(model, "feature_names_in_")
    assert model.transform(X.toarray()).shape == (600, 2)
    with pytest.raises(InputError):
        model.fit(np.zeros((4, 7)))
    with pytest.raises(NotFittedError):
        model.transform(X)


def test_small_integer_cooccurrences_do_not_wrap_around():
    P = sp.coo_matrix((np.array([200, 200], np.uint8), ([0, 0], [0, 0])), shape=(2, 2))
    assert_allclose(AnchorFree(1).fit_cooccurrence(P).eigenvalues_, [400.0])


def test_other_bad_calls(X, corpus):
    with pytest.raises(NotFittedError):
        AnchorFree(2).transform(X)
    model = AnchorFree(2).fit(X)
    with pytest.raises(ValueError, match="10 features, but AnchorFree is expecting 200"):
        model.transform(X[:, :10])
    with pytest.raises(InputError, match="X has 10 words, but AnchorFree was fitted on 200"):
        model.transform([X[:, :10]])
    with pytest.raises(InputError, match="all zero"):
        model.score(np.zeros((3, 200)))
    with pytest.raises(InputError, match="'unbiased', but it needs whole counts, and X contains 0"):
        AnchorFree(2, cooccurrence="unbiased").fit(X)
    with pytest.raises(InputError, match="no document has two tokens or more"):
        AnchorFree(2, cooccurrence="unbiased").fit(np.eye(5))
    with pytest.raises(InputError, match="n_documents=0"):
        AnchorFree(2).fit_cooccurrence(np.eye(5), n_documents=0)


def test_the_report_counts_and_times_every_stage():
    X = datasets.sampled_corpus(300, n_topics=4, n_words=200, random_state=0).counts
    first, second = (AnchorFree(4, n_jobs=n).fit(X).fit_report_ for n in (1, 2))
    assert list(first.seconds) == ["spectrum", "constraints", "volume", "refinement", "moments"]
    assert all(seconds >= 0 for seconds in first.seconds.values())
    assert first[1:] == second[1:]  # counts do not depend on the run or on the threads
    assert min(first[1:-1]) > 0
    assert first.n_fallbacks == 0


def test_programs_that_are_left_to_the_slow_solver_are_counted_and_said(monkeypatch):
    X = datasets.sampled_corpus(300, 5, 200).counts
    assert AnchorFree(5).fit(X).fit_report_.n_fallbacks == 0
    monkeypatch.setattr(simplex.SimplexSolver, "_try", lambda self, a, place, afresh=False: None)
    with pytest.warns(SlowSolverWarning, match=r"^\d+ of \d+ steps of the fit .* takes many times as long"):
        report = AnchorFree(5).fit(X).fit_report_
    assert report.n_fallbacks > 0
    assert report.n_programs >= report.n_fallbacks
