import re
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from anchorless._core import cooccurrence, products
from anchorless._core.cooccurrence import DocumentCooccurrence, MatrixCooccurrence
from anchorless._corpus.documents import Documents
from anchorless.datasets import sampled_corpus
from anchorless.errors import InputError
from tests.helpers.tolerances import ROUNDING

N_WORDS = 8
#: Standard deviations: none of a few hundred sampled entries should be this far off.
SIGMAS = 5.0


@pytest.fixture
def counts():
    """Return 40 documents × 8 words; some have no token, one or two, and word 5 never occurs."""
    rng = np.random.default_rng(3)
    H = rng.poisson(rng.gamma(0.4, 2.0, (40, N_WORDS))).astype(float)
    H[5], H[6], H[7], H[8] = 0.0, 0.0, 0.0, 0.0
    H[6, 2] = 1.0
    H[7, 3] = 2.0
    H[8, [0, 4]] = 1.0
    H[:, 5] = 0.0
    return H


@pytest.fixture
def weighted(counts):
    """Return the same documents with weights that are no whole numbers."""
    return counts * np.random.default_rng(4).uniform(0.1, 3.0, counts.shape)


@pytest.fixture
def Q():
    return np.random.default_rng(5).standard_normal((N_WORDS, 3))


@pytest.fixture
def symmetric():
    """Return a symmetric indefinite 7 × 7 matrix with zeros, and a diagonal of both signs."""
    rng = np.random.default_rng(6)
    A = rng.standard_normal((7, 7)) * (rng.random((7, 7)) < 0.5)
    np.fill_diagonal(A, [1.0, -0.5, 0.0, 2.0, 0.25, -1.0, 1.5])
    return A + A.T


def pairs_of_tokens(H):
    """Count, token by token, how often two different tokens of a document are the words v and w."""
    P, n_documents = np.zeros((H.shape[1], H.shape[1])), 0
    for h in H:
        tokens = np.repeat(np.arange(len(h)), h.astype(int))
        n = len(tokens)
        if n < 2:
            continue
        n_documents += 1
        for i in range(n):
            for j in range(n):
                if i != j:
                    P[tokens[i], tokens[j]] += 1.0 / (n * (n - 1))
    return P / n_documents, n_documents


def dense(P):
    return P.product(np.eye(P.n_words))


@pytest.mark.parametrize("block_size", [1, 7, 40])
def test_biased_is_the_mean_of_outer_products(weighted, Q, block_size):
    P = DocumentCooccurrence(Documents.from_matrix(weighted, block_size))
    np.testing.assert_allclose(P.product(Q), weighted.T @ weighted @ Q / 40, rtol=ROUNDING, atol=ROUNDING)
    filled = int(weighted.any(axis=1).sum())  # documents without a word tell nothing
    assert (P.n_words, P.n_documents, P.is_semidefinite) == (N_WORDS, filled, True)


def test_an_empty_document_counts_for_the_biased_mean_but_tells_nothing(weighted, Q):
    P = DocumentCooccurrence(Documents.from_matrix(weighted, 9))
    empty = ~weighted.any(axis=1)
    assert 0 < empty.sum() < 40
    assert P.n_documents == 40 - empty.sum()
    without = DocumentCooccurrence(Documents([weighted[~empty]]))
    np.testing.assert_allclose(P.product(Q) * 40, without.product(Q) * P.n_documents, rtol=ROUNDING, atol=ROUNDING)


@pytest.mark.parametrize("block_size", [1, 7, 40])
def test_unbiased_counts_pairs_of_different_tokens(counts, Q, block_size):
    P = DocumentCooccurrence(Documents.from_matrix(counts, block_size), unbiased=True)
    truth, n_documents = pairs_of_tokens(counts)
    assert n_documents < 40  # else nothing was left out
    np.testing.assert_allclose(P.product(Q), truth @ Q, rtol=ROUNDING, atol=ROUNDING)
    assert (P.n_words, P.n_documents) == (N_WORDS, n_documents)


def test_unbiased_entries_are_a_distribution_over_pairs_of_words(counts):
    P = dense(DocumentCooccurrence(Documents([counts]), unbiased=True))
    np.testing.assert_allclose(P.sum(), 1.0, rtol=ROUNDING)
    assert P.min() >= -ROUNDING


def test_documents_without_a_pair_do_not_count_for_unbiased(counts):
    long = counts[counts.sum(axis=1) >= 2]
    assert len(long) < len(counts)
    np.testing.assert_allclose(
        dense(DocumentCooccurrence(Documents([counts]), unbiased=True)),
        dense(DocumentCooccurrence(Documents([long]), unbiased=True)),
        rtol=ROUNDING,
        atol=ROUNDING,
    )


def test_unbiased_meets_the_moments_of_planted_topics():
    """Given the topic weights W, P averages to Cᵀ(WᵀW/N)C, diagonal included, however short the documents."""
    N = 20_000
    corpus = sampled_corpus(N, n_topics=3, n_words=12, length=4)
    topics = corpus.components.T @ (corpus.weights.T @ corpus.weights / N) @ corpus.components
    P = dense(DocumentCooccurrence(Documents([corpus.counts]), unbiased=True))
    # One document's entry lies in [0, 1] and averages to P, so its variance is at most P.
    assert np.all(abs(P - topics) <= SIGMAS * np.sqrt(topics / N))
    plugged_in = corpus.counts.multiply(1.0 / corpus.counts.sum(axis=1))
    biased = dense(DocumentCooccurrence(Documents([plugged_in])))
    assert np.any(abs(biased - topics) > SIGMAS * np.sqrt(topics / N))  # the correction is needed to get there


@pytest.mark.parametrize("unbiased", [False, True])
def test_other_blocks_give_the_same_up_to_rounding(counts, Q, unbiased):
    one, many = (DocumentCooccurrence(Documents.from_matrix(counts, size), unbiased=unbiased) for size in (40, 3))
    np.testing.assert_allclose(many.product(Q), one.product(Q), rtol=ROUNDING, atol=ROUNDING)
    np.testing.assert_allclose(many.energy(), one.energy(), rtol=ROUNDING, atol=ROUNDING)


@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize("n_threads", [2, 3])
def test_threads_do_not_change_a_bit(unbiased, n_threads):
    documents = Documents.from_matrix(sampled_corpus(300, 4, 50).counts, 20)
    Q = np.random.default_rng(0).standard_normal((50, 4))
    alone = DocumentCooccurrence(documents, unbiased=unbiased)
    together = DocumentCooccurrence(documents, unbiased=unbiased, n_threads=n_threads)
    np.testing.assert_array_equal(together.product(Q), alone.product(Q))
    np.testing.assert_array_equal(together.energy(), alone.energy())


def test_threads_are_used(counts, monkeypatch):
    asked = []
    monkeypatch.setattr(products, "MAX_TRANSPOSED_NONZEROS", 0)
    monkeypatch.setattr(Documents, "sum_blocks", lambda self, function, n: asked.append(n) or np.zeros((3, N_WORDS)))
    P = DocumentCooccurrence(Documents([counts]), n_threads=3)
    P.product(np.ones((N_WORDS, N_WORDS)))
    P.energy()
    assert asked == [3, 3]


@pytest.mark.parametrize("unbiased", [False, True])
def test_permuted_words_permute_the_product(counts, Q, unbiased):
    order = np.random.default_rng(7).permutation(N_WORDS)
    P = DocumentCooccurrence(Documents([counts]), unbiased=unbiased)
    permuted = DocumentCooccurrence(Documents([counts[:, order]]), unbiased=unbiased)
    np.testing.assert_allclose(permuted.product(Q[order]), P.product(Q)[order], rtol=ROUNDING, atol=ROUNDING)


@pytest.mark.parametrize("unbiased", [False, True])
def test_the_product_is_symmetric(counts, unbiased):
    P = dense(DocumentCooccurrence(Documents.from_matrix(counts, 9), unbiased=unbiased))
    np.testing.assert_allclose(P, P.T, rtol=ROUNDING, atol=ROUNDING)


def test_energy_is_the_mean_square(weighted):
    P = DocumentCooccurrence(Documents.from_matrix(weighted, 9))
    np.testing.assert_allclose(P.energy(), (weighted**2).mean(axis=0), rtol=ROUNDING)
    np.testing.assert_allclose(P.energy(), np.diag(dense(P)), rtol=ROUNDING)


def test_energy_of_unbiased_is_the_mean_square_before_the_correction(counts):
    P = DocumentCooccurrence(Documents.from_matrix(counts, 9), unbiased=True)
    squares = [h**2 / (h.sum() * (h.sum() - 1.0)) for h in counts if h.sum() >= 2]
    np.testing.assert_allclose(P.energy(), np.mean(squares, axis=0), rtol=ROUNDING)


FORMS = [np.asarray, np.ndarray.tolist, np.asfortranarray, sp.csr_matrix, sp.csc_matrix, sp.coo_array, aslinearoperator]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_given_matrix_acts_the_same(symmetric, form):
    P = MatrixCooccurrence(form(symmetric), n_documents=11)
    Q = np.random.default_rng(8).standard_normal((7, 2))
    np.testing.assert_allclose(P.product(Q), symmetric @ Q, rtol=ROUNDING, atol=ROUNDING)
    np.testing.assert_allclose(P.energy(), np.diag(symmetric), rtol=ROUNDING, atol=ROUNDING)
    assert (P.n_words, P.n_documents, P.is_semidefinite) == (7, 11, False)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("dtype", [np.uint8, bool, np.float32])
def test_small_types_are_multiplied_in_double_precision(form, dtype):
    P = MatrixCooccurrence(form(np.array([[1, 1], [1, 0]], dtype=dtype)))
    Q = np.array([[400.1], [0.25]])
    np.testing.assert_array_equal(P.product(Q), [[400.1 + 0.25], [400.1]])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csr_array, aslinearoperator])
@pytest.mark.parametrize("width", [1, 3, 7, 50])
def test_any_number_of_columns_at_a_time_gives_the_same(symmetric, monkeypatch, form, width):
    monkeypatch.setattr(cooccurrence, "COLUMNS_AT_A_TIME", width)
    given = width * symmetric  # another one each time: memory that is used again must not pass for the answer
    P = MatrixCooccurrence(form(given))
    np.testing.assert_array_equal(P.energy(), np.diag(given))
    np.testing.assert_allclose(P.compute_row_squares(), np.linalg.norm(given, axis=1) ** 2, rtol=ROUNDING)


@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize("width", [1, 3, 8, 50])
def test_row_squares_are_those_of_the_dense_matrix(counts, monkeypatch, unbiased, width):
    monkeypatch.setattr(cooccurrence, "COLUMNS_AT_A_TIME", width)
    P = DocumentCooccurrence(Documents.from_matrix(width * counts, 9), unbiased=unbiased)
    np.testing.assert_allclose(P.compute_row_squares(), np.linalg.norm(dense(P), axis=1) ** 2, rtol=ROUNDING)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_document_frequency_counts_documents(weighted, n_threads):
    P = DocumentCooccurrence(Documents.from_matrix(weighted, 9), n_threads=n_threads)
    np.testing.assert_array_equal(P.document_frequency(), [sum(column > 0) for column in weighted.T])


def test_document_frequency_of_unbiased_counts_the_documents_of_its_mean(counts):
    P = DocumentCooccurrence(Documents.from_matrix(counts, 9), unbiased=True)
    in_the_mean = counts[counts.sum(axis=1) >= 2]
    np.testing.assert_array_equal(P.document_frequency(), (in_the_mean > 0).sum(axis=0))


def test_a_large_operator_is_not_asked_for_its_diagonal(symmetric, monkeypatch):
    P = MatrixCooccurrence(aslinearoperator(symmetric))
    monkeypatch.setattr(cooccurrence, "OPERATOR_DIAGONAL_LIMIT", 6)
    assert P.energy() is None


def entry_changed(P, value):
    P = P.copy()
    P[1, 2] = value
    return P


@pytest.mark.parametrize(
    ("form", "shape"), [(np.zeros, (3, 4)), (sp.csr_matrix, (4, 3)), (np.zeros, 5), (np.zeros, (2, 2, 2))]
)
def test_a_matrix_that_is_not_square_is_refused(form, shape):
    with pytest.raises(InputError, match=r"P has shape \(.*square: words × words"):
        MatrixCooccurrence(form(shape))


def test_an_operator_that_is_not_square_is_refused():
    with pytest.raises(InputError, match=r"P has shape \(3, 4\).*square"):
        MatrixCooccurrence(aslinearoperator(np.zeros((3, 4))))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, aslinearoperator])
def test_a_matrix_that_is_not_symmetric_is_refused(symmetric, form):
    with pytest.raises(InputError, match="P is not symmetric"):
        MatrixCooccurrence(form(entry_changed(symmetric, symmetric[1, 2] + 1e-3)))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_the_message_names_the_asymmetry_the_size_and_a_way_out(form):
    with pytest.raises(InputError, match=r"by 0\.5 where its largest entry is 4; pass \(P \+ P\.T\) / 2"):
        MatrixCooccurrence(form([[4.0, 1.0], [1.5, 2.0]]))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, aslinearoperator])
def test_asymmetry_of_rounding_is_forgiven(symmetric, form):
    almost = entry_changed(symmetric, symmetric[1, 2] + 1e-12)
    assert MatrixCooccurrence(form(almost)).n_words == 7


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_asymmetry_that_is_forgiven_is_gone(symmetric, form):
    given = entry_changed(symmetric, symmetric[1, 2] + 1e-9)
    P = dense(MatrixCooccurrence(form(given)))
    np.testing.assert_array_equal(P, P.T)
    np.testing.assert_allclose(P, given, atol=1e-9)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_entries_that_are_not_finite_are_refused(symmetric, form, value):
    with pytest.raises(InputError, match="P contains NaN or infinity"):
        MatrixCooccurrence(form(entry_changed(symmetric, value)))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_an_operator_that_gives_no_finite_numbers_is_refused(value):
    P = LinearOperator((5, 5), matvec=lambda x: np.full(5, value), dtype=np.float64)
    with pytest.raises(InputError, match=r"gives NaN or infinity; check the operator"):
        MatrixCooccurrence(P)


@pytest.mark.parametrize(
    "P",
    [
        np.array([["a", "b"], ["b", "a"]]),
        np.array([[1, None], [None, 1]], dtype=object),
        np.eye(2) * 1j,
        sp.csr_matrix(np.eye(2) * 1j),
        aslinearoperator(np.eye(2) * 1j),
    ],
    ids=["text", "object", "complex", "complex sparse", "complex operator"],
)
def test_entries_that_are_not_real_numbers_are_refused(P):
    with pytest.raises(InputError, match=r"real numbers"):
        MatrixCooccurrence(P)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_an_operator_of_low_precision_is_refused(symmetric, dtype):
    with pytest.raises(InputError, match=f"operator in {np.dtype(dtype)}, which is too imprecise; make it float64"):
        MatrixCooccurrence(aslinearoperator(symmetric.astype(dtype)))


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.coo_matrix])
def test_duplicates_of_small_integers_do_not_wrap_around(container):
    entries = np.array([200, 100], dtype=np.uint8), (np.array([0, 0]), np.array([0, 0]))
    twice = sp.coo_matrix(entries, shape=(2, 2))
    if container is sp.csr_matrix:
        twice = sp.csr_matrix((entries[0], np.array([0, 0]), np.array([0, 2, 2])), shape=(2, 2))
    np.testing.assert_array_equal(dense(MatrixCooccurrence(twice)), [[300.0, 0.0], [0.0, 0.0]])


@pytest.mark.parametrize("scale", [1e200, 1e-200])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_entries_whose_products_leave_the_range_are_refused(form, scale):
    with pytest.raises(
        InputError, match=re.escape(f"largest entry of P is {scale:.3g}, outside 1e-150 … 1e150; rescale")
    ):
        MatrixCooccurrence(form(np.eye(3) * scale))


def test_unbiased_refuses_weights(counts):
    counts[20, 3] = 2.75
    with pytest.raises(InputError, match=r"it needs whole counts, and X contains 2\.75; use cooccurrence='biased'"):
        DocumentCooccurrence(Documents.from_matrix(counts, 9), unbiased=True)


def test_unbiased_needs_a_document_of_two_tokens():
    with pytest.raises(InputError, match="no document has two tokens or more; use longer documents"):
        DocumentCooccurrence(Documents([np.eye(4), np.zeros((2, 4))]), unbiased=True)


@pytest.fixture
def many_words():
    """Return 100 documents over 20,000 words."""
    counts = sp.random_array((100, 20_000), density=0.0025, format="csr", rng=np.random.default_rng(0))
    return counts.ceil()


def peak_memory(function):
    """Return the most bytes that existed at once during a call."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("unbiased", [False, True])
def test_documents_never_form_words_times_words(many_words, unbiased):
    def use():
        P = DocumentCooccurrence(Documents.from_matrix(many_words, 30), unbiased=unbiased)
        P.product(np.ones((P.n_words, 4)))
        P.energy()
        P.document_frequency()

    assert peak_memory(use) < many_words.shape[1] ** 2 / 8  # not even one bit per pair of words


@pytest.mark.parametrize("unbiased", [False, True])
def test_row_squares_hold_a_few_columns_of_words(many_words, monkeypatch, unbiased):
    few = many_words[:, :6_000]  # all pairs are visited, so fewer words
    P = DocumentCooccurrence(Documents.from_matrix(few, 30), unbiased=unbiased)
    all_pairs = 8 * few.shape[1] ** 2
    monkeypatch.setattr(cooccurrence, "COLUMNS_AT_A_TIME", 200)
    assert peak_memory(P.compute_row_squares) < all_pairs / 5


def test_a_sparse_matrix_stays_sparse(many_words):
    given = sp.csr_matrix(many_words.T @ many_words)

    def use():
        P = MatrixCooccurrence(given)
        P.product(np.ones((P.n_words, 4)))
        P.energy()
        P.compute_row_squares()

    assert peak_memory(use) < given.shape[0] ** 2 / 8


def test_the_gram_operator_has_the_products_with_documents_and_words(weighted):
    """More words than documents: DDᵀ / N, Dᵀ and D / N."""
    D = weighted[:6]
    P = DocumentCooccurrence(Documents.from_matrix(D, 2), n_threads=2)
    gram = P.build_gram_operator()
    rng = np.random.default_rng(0)
    Z, Q = rng.standard_normal((6, 3)), rng.standard_normal((N_WORDS, 3))
    assert gram.size == 6
    np.testing.assert_allclose(gram.product(Z), D @ D.T @ Z / 6, rtol=ROUNDING, atol=ROUNDING)
    np.testing.assert_allclose(gram.to_words(Z), D.T @ Z, rtol=ROUNDING, atol=ROUNDING)
    np.testing.assert_allclose(gram.from_words(Q), D @ Q / 6, rtol=ROUNDING, atol=ROUNDING)


@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize("n_columns", [1, products.FEW_COLUMNS, products.FEW_COLUMNS + 1])
def test_documents_stored_once_or_twice_have_the_same_products(counts, monkeypatch, unbiased, n_columns):
    Q = np.random.default_rng(0).standard_normal((N_WORDS, n_columns))
    twice = DocumentCooccurrence(Documents.from_matrix(counts, 7), unbiased=unbiased, n_threads=2)
    assert isinstance(twice.products, products.StoredProducts)
    monkeypatch.setattr(products, "MAX_TRANSPOSED_NONZEROS", 0)
    once = DocumentCooccurrence(Documents.from_matrix(counts, 7), unbiased=unbiased, n_threads=2)
    assert not isinstance(once.products, products.StoredProducts)
    np.testing.assert_allclose(twice.product(Q), once.product(Q), rtol=ROUNDING, atol=ROUNDING)


@pytest.mark.parametrize("unbiased", [False, True])
def test_inner_is_the_product_from_both_sides(counts, Q, unbiased):
    R = np.triu(np.random.default_rng(1).uniform(1, 2, (Q.shape[1],) * 2))
    divided = Q @ np.linalg.inv(R)
    P = DocumentCooccurrence(Documents.from_matrix(counts, 7), unbiased=unbiased, n_threads=2)
    for given in (P, MatrixCooccurrence(dense(P))):
        np.testing.assert_allclose(given.inner(Q, R), divided.T @ dense(P) @ divided, rtol=1e-10, atol=ROUNDING)


def test_the_gram_operator_is_for_fewer_documents_than_words_and_biased(counts):
    assert DocumentCooccurrence(Documents([counts])).build_gram_operator() is None
    assert DocumentCooccurrence(Documents([counts[:7]]), unbiased=True).build_gram_operator() is None
    assert DocumentCooccurrence(Documents([counts[:7]])).build_gram_operator() is not None
    assert MatrixCooccurrence(np.eye(3)).build_gram_operator() is None
