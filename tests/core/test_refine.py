import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls

from anchorless._core import refine
from anchorless._core.nnls import compute_document_weights, compute_gram, coordinate_descent
from anchorless._core.products import DocumentProducts, build_products
from anchorless._core.refine import (
    EQUAL_ROUNDS,
    EVEN_RATIO,
    EXACT_SWEEPS,
    LARGEST_FIRST_ROUNDS,
    MAIN_SQUARES_SHARE,
    Sweeps,
    compute_volume_weight,
    refine_topics,
    run_round,
    select_main_words,
    solve_word_rows,
)
from anchorless._corpus.documents import Documents, compute_word_sums
from anchorless._corpus.threads import ThreadTeam
from anchorless.datasets import planted_topics


@pytest.fixture
def exact():
    """Topics (V, F), weights and documents D = WCᵀ without noise."""
    C = planted_topics(5, 120, random_state=0).components.T
    W = np.random.default_rng(1).dirichlet(np.full(5, 0.3), 200)
    return C, W, W @ C.T


@pytest.fixture
def noisy(exact):
    """Topics and documents with noise."""
    C, _, D = exact
    return C, np.maximum(D + 0.003 * np.random.default_rng(2).standard_normal(D.shape), 0)


def distance(documents, C):
    """Return ‖D − WCᵀ‖ with the best weights."""
    W = compute_document_weights(Documents.from_matrix(documents), np.ascontiguousarray(C), 1)
    return np.linalg.norm(documents - W @ C.T)


def refine_documents(documents, from_volume, ratio, rounds, n_threads, *, stored_twice=False):
    """Refine with documents or a matrix (N, V), stored by row or by row and by column."""
    documents = documents if isinstance(documents, Documents) else Documents.from_matrix(documents)
    products = build_products(documents, n_threads)
    if not stored_twice:
        products = DocumentProducts(documents, products.team)
    return refine_topics(products, from_volume, ratio, rounds, compute_word_sums(documents, n_threads))


def test_words_that_are_known_exactly_keep_their_bits(noisy):
    C, D = noisy
    assert_array_equal(refine_documents(D, C, np.full(len(C), np.inf), LARGEST_FIRST_ROUNDS, 1), C / C.sum(axis=0))


def test_exact_documents_change_nothing_once_all_topics_are_treated_alike(exact):
    C, _, D = exact
    documents = Documents.from_matrix(D)
    R, _ = run_round(alone(documents), C, Sweeps(500))
    assert_allclose(R, C, atol=1e-9)


def test_it_explains_the_documents_better(noisy):
    C, D = noisy
    blurred = 0.8 * C + 0.2 * C.mean(axis=1, keepdims=True)
    R = refine_documents(D, blurred, np.zeros(len(C)), LARGEST_FIRST_ROUNDS, 1)
    assert distance(D, R) < distance(D, blurred)


def test_topics_are_probabilities(noisy):
    C, D = noisy
    volume = C - 0.001  # with negative parts, as the volume leaves them
    R = refine_documents(D, volume, np.full(len(C), EVEN_RATIO), LARGEST_FIRST_ROUNDS, 1)
    assert R.min() >= 0
    assert_allclose(R.sum(axis=0), 1.0)


def test_order_of_the_topics_does_not_matter(noisy):
    C, D = noisy
    documents, ratio = Documents.from_matrix(D), np.full(len(C), EVEN_RATIO)
    order = np.array([3, 1, 4, 0, 2])
    assert_allclose(
        refine_documents(documents, C[:, order], ratio, LARGEST_FIRST_ROUNDS, 1),
        refine_documents(documents, C, ratio, LARGEST_FIRST_ROUNDS, 1)[:, order],
        atol=1e-12,
    )


def alone(documents):
    return DocumentProducts(documents, ThreadTeam(1))


def test_blocks_agree_and_threads_change_no_bit(noisy):
    C, D = noisy
    ratio = np.full(len(C), EVEN_RATIO)
    one = refine_documents(D, C, ratio, LARGEST_FIRST_ROUNDS, 1)
    cut = Documents.from_matrix(D, block_size=31)
    assert_allclose(refine_documents(cut, C, ratio, LARGEST_FIRST_ROUNDS, 1), one, rtol=1e-9, atol=1e-12)
    assert_array_equal(
        refine_documents(cut, C, ratio, LARGEST_FIRST_ROUNDS, 2),
        refine_documents(cut, C, ratio, LARGEST_FIRST_ROUNDS, 1),
    )


@pytest.mark.parametrize("rounds", [LARGEST_FIRST_ROUNDS, EQUAL_ROUNDS])
def test_documents_stored_by_column_agree_and_threads_and_slices_change_nothing(noisy, monkeypatch, rounds):
    C, D = noisy
    ratio = np.full(len(C), EVEN_RATIO)
    cut = Documents.from_matrix(D, block_size=31)
    once = refine_documents(cut, C, ratio, rounds, 1)
    twice = refine_documents(cut, C, ratio, rounds, 1, stored_twice=True)
    assert_array_equal(twice, once)
    monkeypatch.setattr(refine, "ENTRIES_PER_SLICE", 7 * C.shape[1])
    sliced = refine_documents(cut, C, ratio, rounds, 1, stored_twice=True)
    assert_allclose(sliced, once, rtol=1e-9, atol=1e-12)
    assert_array_equal(refine_documents(cut, C, ratio, rounds, 3, stored_twice=True), sliced)


def test_a_topic_that_loses_all_its_words_keeps_the_old_ones(exact, monkeypatch):
    """Only the sum over all slices tells."""
    C, _, D = exact
    monkeypatch.setattr(refine, "ENTRIES_PER_SLICE", 7 * C.shape[1])
    monkeypatch.setattr(refine, "solve_word_rows", lambda C, *others: C * [2.0, 0.0, 2.0, 2.0, 2.0])
    found, _ = run_round(alone(Documents.from_matrix(D)), C, Sweeps(4))
    assert_array_equal(found, C * [2.0, 1.0, 2.0, 2.0, 2.0])


def test_a_topic_that_no_document_uses_keeps_its_words(exact):
    C, W, _ = exact
    W = W.copy()
    W[:, 2] = 0
    D = W @ C.T
    D[:, C[:, 2] > 0] = 0  # not even by chance
    R, size = run_round(alone(Documents.from_matrix(D)), C, Sweeps(4))
    assert np.all(np.isfinite(R))
    assert_allclose(R[:, 2], C[:, 2], atol=1e-12)
    assert size[2] == 0


def test_size_is_the_energy_of_a_topic(exact):
    C, W, D = exact
    _, size = run_round(alone(Documents.from_matrix(D)), C, Sweeps(500))
    assert_allclose(size, (W**2).sum(axis=0) * (C**2).sum(axis=0), rtol=1e-6)


def test_a_large_class_is_not_shared_out_among_small_topics():
    """One class of documents about A, a tenth as many about B, whose topic starts with some words of A."""
    rng = np.random.default_rng(4)
    A, B = np.repeat([1.0, 0.0], [30, 10]) / 30, np.repeat([0.0, 1.0], [30, 10]) / 10
    D = np.vstack([rng.poisson(60 * A, (500, 40)), rng.poisson(60 * B, (50, 40))]).astype(float)
    start = np.column_stack([A, 0.5 * B])
    start[:5, 1] = 0.1
    R = refine_documents(D, start, np.zeros(40), LARGEST_FIRST_ROUNDS, 1)
    assert R[:30, 1].sum() < 0.1  # the small topic has left the words of A


def test_one_sweep_never_explains_worse(noisy):
    C, D = noisy
    rng = np.random.default_rng(5)
    W = rng.dirichlet(np.ones(5), len(D))
    start = rng.dirichlet(np.ones(len(C)), 5).T
    after = solve_word_rows(start, D.T @ W, W.T @ W, Sweeps(1, 1))
    assert np.linalg.norm(D - W @ after.T) < np.linalg.norm(D - W @ start.T)
    assert after.min() >= 0


def test_the_weight_favors_the_more_reliable_estimate():
    ratio = np.array([np.inf, EVEN_RATIO, 0.0, 3 * EVEN_RATIO])
    assert_allclose(compute_volume_weight(ratio), [1.0, 0.5, 0.0, 0.75])


def test_exact_rounds_are_least_squares_word_by_word(noisy):
    C, D = noisy
    documents = Documents.from_matrix(D)
    W = compute_document_weights(documents, C, 1)
    found, _ = run_round(alone(documents), C, EXACT_SWEEPS)
    assert_allclose(found, np.array([nnls(W, column)[0] for column in D.T]), atol=1e-9)


def test_exact_documents_change_nothing_in_exact_rounds(exact):
    C, _, D = exact
    assert_allclose(refine_documents(D, C, np.zeros(len(C)), EQUAL_ROUNDS, 1), C, atol=1e-10)


def test_many_sweeps_come_to_the_exact_solution(noisy):
    C, D = noisy
    W = np.random.default_rng(6).dirichlet(np.ones(5), len(D))
    found = C
    for _ in range(300):
        found = solve_word_rows(found, D.T @ W, W.T @ W, Sweeps(1, 1))
    assert_allclose(found, solve_word_rows(C, D.T @ W, W.T @ W, EXACT_SWEEPS), atol=1e-8)
    assert_array_equal(solve_word_rows(C, D.T @ W, W.T @ W, Sweeps(1, 300)), found)


def test_the_order_is_that_of_the_last_round_of_all_alike(noisy, monkeypatch):
    C, D = noisy
    orders, sizes = [], []

    def spied(products, C, sweeps, order=None):
        found, size = run_round(products, C, sweeps, order)
        # Sizes that no two rounds have in common: an order can only be that of one of them.
        size = np.random.default_rng(len(sizes)).permutation(5.0 + np.arange(5))
        orders.append(order)
        sizes.append(size)
        return found, size

    monkeypatch.setattr(refine, "run_round", spied)
    refine_documents(D, C, np.zeros(len(C)), LARGEST_FIRST_ROUNDS, 1)
    rounds = [*LARGEST_FIRST_ROUNDS.on_main_words, *LARGEST_FIRST_ROUNDS.on_all_words]
    assert len(orders) == len(rounds)
    for number in range(1, len(rounds)):
        last = max(n for n in range(number) if rounds[n].documents != 1)
        assert_array_equal(orders[number], np.argsort(-sizes[last]))


def test_topics_that_no_document_uses_are_left_out_of_the_order(noisy):
    C, D = noisy
    W = np.random.default_rng(6).dirichlet(np.ones(5), len(D))
    W[:, 2] = 0.0
    order, rest = np.array([3, 2, 0, 4, 1]), np.array([3, 0, 4, 1])
    found = solve_word_rows(C, D.T @ W, W.T @ W, Sweeps(1, 2), order)
    assert_array_equal(found[:, 2], C[:, 2])
    used = W[:, rest]
    assert_allclose(
        found[:, rest], solve_word_rows(C[:, rest], D.T @ used, used.T @ used, Sweeps(1, 2)), rtol=1e-10, atol=1e-14
    )


def test_a_round_sweeps_over_the_words_as_often_as_it_is_told(noisy):
    C, D = noisy
    documents = alone(Documents.from_matrix(D))
    W = coordinate_descent(compute_gram(C), D @ C, 4)
    for sweeps in (1, 2, 5):
        found, _ = run_round(documents, C, Sweeps(4, words=sweeps))
        assert_allclose(found, solve_word_rows(C, D.T @ W, W.T @ W, Sweeps(1, sweeps)), rtol=1e-10, atol=1e-14)


def test_carrying_words_are_the_fewest_that_carry_the_share_of_the_squares(monkeypatch):
    squares = np.random.default_rng(3).exponential(size=200) ** 2
    C = np.repeat(squares[:, None], 4, axis=1) / squares.sum()
    assert_array_equal(select_main_words(squares, C), np.arange(200))
    monkeypatch.setattr(refine, "MIN_MAIN_WORDS", 10)
    chosen = select_main_words(squares, C)
    assert len(chosen) < 200
    assert np.all(np.diff(chosen) > 0)
    assert squares[chosen].sum() >= MAIN_SQUARES_SHARE * squares.sum()
    assert squares[chosen].sum() - squares[chosen].min() < MAIN_SQUARES_SHARE * squares.sum()
    assert squares[chosen].min() >= np.delete(squares, chosen).max()
    monkeypatch.setattr(refine, "MIN_MAIN_WORDS", 150)
    assert len(select_main_words(squares, C)) == 150


def test_words_that_carry_the_same_are_all_in(monkeypatch):
    monkeypatch.setattr(refine, "MIN_MAIN_WORDS", 1)
    rng = np.random.default_rng(4)
    squares = np.r_[np.full(30, 3.0), np.full(40, 1.0), np.full(30, 0.01)] * (1 + 1e-14 * rng.standard_normal(100))
    C = squares[:, None] / squares.sum()
    assert_array_equal(select_main_words(squares, C), np.arange(70))
    order = rng.permutation(100)
    assert_array_equal(np.sort(order[select_main_words(squares[order], C[order])]), np.arange(70))


def test_no_topic_loses_its_words_to_the_first_rounds(monkeypatch):
    """A small topic on words of its own would have none of the words that carry the documents."""
    monkeypatch.setattr(refine, "MIN_MAIN_WORDS", 1)
    squares = np.r_[np.full(50, 1.0), np.full(50, 1e-3)]
    C = np.zeros((100, 2))
    C[:50, 0] = C[50:, 1] = 1 / 50
    assert_array_equal(select_main_words(squares, C), np.arange(100))


@pytest.mark.parametrize("stored_twice", [False, True])
def test_words_left_out_of_the_first_rounds_come_back(noisy, monkeypatch, stored_twice):
    C, D = noisy
    documents, ratio = Documents.from_matrix(D, block_size=31), np.zeros(len(C))
    everything = refine_documents(documents, C, ratio, LARGEST_FIRST_ROUNDS, 2, stored_twice=stored_twice)
    monkeypatch.setattr(refine, "MIN_MAIN_WORDS", 1)
    monkeypatch.setattr(refine, "MAIN_SQUARES_SHARE", 0.8)
    monkeypatch.setattr(refine, "ENTRIES_PER_ROW", np.count_nonzero(D) / C.size)
    assert_array_equal(
        refine_documents(documents, C, ratio, LARGEST_FIRST_ROUNDS, 2, stored_twice=stored_twice), everything
    )  # no gain, so all words
    monkeypatch.setattr(refine, "ENTRIES_PER_ROW", 1.001 * np.count_nonzero(D) / C.size)
    few = refine_documents(documents, C, ratio, LARGEST_FIRST_ROUNDS, 2, stored_twice=stored_twice)
    assert 0 < abs(few - everything).sum(axis=0).max() < 0.3  # of at most 2; topics are 1 and more apart
    assert_allclose(few.sum(axis=0), 1.0, rtol=1e-12)
    assert_array_equal(few, refine_documents(documents, C, ratio, LARGEST_FIRST_ROUNDS, 1))
