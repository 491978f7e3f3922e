import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from anchorless import AnchorFree
from anchorless._core.cooccurrence import DocumentCooccurrence
from anchorless._core.online import (
    SketchCooccurrence,
    make_empty_statistics,
    match_columns,
    refine_topics_online,
    update_statistics,
)
from anchorless._core.products import build_products
from anchorless._core.refine import EVEN_RATIO, LARGEST_FIRST_ROUNDS, refine_topics
from anchorless._corpus.documents import Documents, compute_word_sums
from anchorless.errors import InputError, RankError
from tests.helpers.tolerances import ROUNDING

#: Mean ℓ1 distance, of at most 2, between topics updated in pieces and those fitted at once: 0.018 to 0.10 were seen
#: on six corpora of 8,000 documents (10 topics, 2,000 words), where the topics fitted at once are 0.19 to 0.25 from
#: the truth.
CLOSE = 0.15


def corpus(seed, n_documents=3000, n_words=300, n_topics=4):
    rng = np.random.default_rng(seed)
    topics = (rng.gamma(0.1, size=(n_topics, n_words)) + 1e-4) / (np.arange(n_words) + 2.7)
    topics /= topics.sum(axis=1, keepdims=True)
    mixed = rng.dirichlet(np.full(n_topics, 0.2), n_documents) @ topics
    return sp.csr_matrix(rng.poisson(60 * mixed).astype(float)), topics


def distances(A, B):
    return abs(A[:, None] - B[None]).sum(axis=2)


def in_pieces(model, X, n):
    for start in range(0, X.shape[0], n):
        model.partial_fit(X[start : start + n])
    return model


@pytest.mark.parametrize("kind", ["biased", "unbiased"])
@pytest.mark.parametrize("seed", range(3))
def test_pieces_come_close_to_one_fit(seed, kind):
    X, topics = corpus(seed)
    at_once = AnchorFree(4, cooccurrence=kind).fit(X)
    pieces = in_pieces(AnchorFree(4, cooccurrence=kind), X, 600)
    apart = distances(at_once.components_, pieces.components_)
    assert apart.min(axis=1).mean() < CLOSE
    assert sorted(apart.argmin(axis=1)) == [0, 1, 2, 3]
    np.testing.assert_allclose(pieces.eigenvalues_, at_once.eigenvalues_, rtol=0.02)
    to_truth = [distances(model.components_, topics).min(axis=1).mean() for model in (pieces, at_once)]
    assert to_truth[0] < to_truth[1] + CLOSE


@pytest.mark.parametrize("seed", range(3))
def test_a_topic_keeps_its_number(seed):
    X, _ = corpus(seed)
    model, before = AnchorFree(4), None
    for start in range(0, 3000, 500):
        model.partial_fit(X[start : start + 500])
        if before is not None:
            np.testing.assert_array_equal(distances(model.components_, before).argmin(axis=1), range(4))
            np.testing.assert_array_equal(match_columns(model.components_.T, before.T), range(4))
        before = model.components_


@pytest.mark.parametrize("seed", range(3))
def test_the_first_piece_goes_the_way_of_all_documents(seed):
    """Second implementation: the first batch is refined as all documents are in one fit."""
    X, topics = corpus(seed, n_documents=400)
    documents = Documents.from_matrix(X)
    blurred = 0.7 * topics.T + 0.3 * topics.mean(axis=0)[:, None]
    sums = compute_word_sums(documents, 1)
    # Of topics no sizes are known at first; let their own order be the one that `refine_topics` begins with.
    C = blurred[:, np.argsort(-(sums.total @ blurred) / np.linalg.norm(blurred, axis=0))]
    kept = update_statistics(
        make_empty_statistics(4, unbiased=False), documents, documents, np.random.default_rng(0), 1
    )
    ratio = np.full(len(C), EVEN_RATIO)
    sums = compute_word_sums(documents, 1)
    expected = refine_topics(build_products(documents, 1), C, ratio, LARGEST_FIRST_ROUNDS, sums)
    assert_allclose(refine_topics_online(kept, documents, C, ratio, 1)[0], expected, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("unbiased", [False, True])
def test_a_sketch_with_room_for_all_directions_is_p(unbiased):
    X, _ = corpus(0, n_documents=200, n_words=40)
    kept = make_empty_statistics(4, unbiased=unbiased)  # 62 directions for 40 words
    for start in (0, 50, 120):
        piece = Documents.from_matrix(X[start : {0: 50, 50: 120, 120: 200}[start]])
        kept = update_statistics(kept, piece, piece, np.random.default_rng(0), 2)
    sketch, P = SketchCooccurrence(kept), DocumentCooccurrence(Documents([X]), unbiased=unbiased)
    np.testing.assert_allclose(sketch.product(np.eye(40)), P.product(np.eye(40)), rtol=ROUNDING, atol=1e-12)
    C, R = np.random.default_rng(1).random((40, 3)), np.triu(np.random.default_rng(2).uniform(1, 2, (3, 3)))
    np.testing.assert_allclose(sketch.inner(C, R), P.inner(C, R), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(sketch.energy(), P.energy(), rtol=ROUNDING)
    np.testing.assert_allclose(sketch.compute_row_squares(), P.compute_row_squares(), rtol=1e-9, atol=1e-15)
    np.testing.assert_array_equal(sketch.document_frequency(), P.document_frequency())
    assert sketch.n_documents == P.n_documents


def test_memory_does_not_grow_with_the_documents():
    X, _ = corpus(1)
    model = AnchorFree(4)
    sizes = set()
    for start in range(0, 3000, 1000):
        model.partial_fit(X[start : start + 1000])
        sizes.add(tuple(getattr(value, "shape", None) for value in model.statistics_))
    assert len(sizes) == 1


def test_new_words_stand_behind_the_earlier_ones():
    X, _ = corpus(2)
    model = AnchorFree(4).partial_fit(X[:1000, :200])
    before = model.components_
    model.partial_fit(X[1000:])
    assert model.components_.shape == (4, 300)
    assert model.components_[:, 200:].sum() > 0
    np.testing.assert_array_equal(match_columns(model.components_.T, before.T), range(4))
    with pytest.raises(ValueError, match="250"):
        model.partial_fit(X[:100, :250])


def test_the_bits_do_not_depend_on_threads():
    X, _ = corpus(3)
    results = [in_pieces(AnchorFree(4, n_jobs=n, block_size=100), X, 1000).components_ for n in (1, 3)]
    np.testing.assert_array_equal(*results)


def test_fit_forgets_what_partial_fit_kept():
    X, _ = corpus(0)
    model = AnchorFree(4).partial_fit(X[:1500]).fit(X)
    np.testing.assert_array_equal(model.components_, AnchorFree(4).fit(X).components_)
    assert not hasattr(model, "statistics_")


def test_a_piece_that_cannot_be_used_changes_nothing():
    X, _ = corpus(0)
    model = AnchorFree(4)
    with pytest.raises(RankError):
        model.partial_fit(np.ones((5, 300)))
    assert not hasattr(model, "statistics_")
    model.partial_fit(X)
    kept, topics = model.statistics_, model.components_
    with pytest.raises(InputError, match="NaN"):
        model.partial_fit(Documents([X, sp.csr_matrix(np.full((1, 300), np.nan))]))
    assert model.statistics_ is kept
    assert model.components_ is topics


def test_hard_constraints_keep_the_numbers_too():
    X, _ = corpus(0)
    model = AnchorFree(4, constraint="all").partial_fit(X[:1500])
    before = model.components_
    model.partial_fit(X[1500:])
    np.testing.assert_array_equal(match_columns(model.components_.T, before.T), range(4))
