import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from anchorless._core import eigen as spectrum
from anchorless._core.cooccurrence import DocumentCooccurrence, MatrixCooccurrence
from anchorless._core.eigen import RESIDUAL_TOLERANCE, find_leading_eigenpairs
from anchorless._corpus.documents import Documents
from anchorless.errors import RankError, SolverError
from anchorless.progress import listen

#: Eigenvalues err by at most the residual; ten times that, relative to the largest, leaves room for rounding.
VALUES = 10 * RESIDUAL_TOLERANCE
#: The first value left out only has to be known to the square root.
NEXT_VALUE = 10 * np.sqrt(RESIDUAL_TOLERANCE)
#: Eigenvectors err by the residual over the gap, which is at least 1e-3 wherever this is used.
VECTORS = 1e3 * VALUES

#: A size that is solved whole and one that needs Krylov spaces, for up to eight eigenpairs.
SMALL, LARGE = 40, 150


class Semidefinite(MatrixCooccurrence):
    """A given matrix whose eigenvalues are ordered as those of documents are."""

    is_semidefinite = True


def with_eigenvalues(values, seed=0):
    """Return a symmetric matrix with these eigenvalues and random eigenvectors."""
    n = len(values)
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))[0]
    P = (Q * values) @ Q.T
    return (P + P.T) / 2


def padded(values, n):
    """Return n eigenvalues: these and zeros."""
    return np.concatenate([values, np.zeros(n - len(values))])


def pairs(P, n_values, seed=0):
    return find_leading_eigenpairs(P, n_values, np.random.default_rng(seed))


def projector(U):
    return U @ U.T


@pytest.fixture(autouse=True)
def _one_blas_thread():
    """Matrices this small are ten times slower when BLAS threads fight over the cores."""
    with threadpool_limits(1):
        yield


@pytest.fixture(params=[SMALL, LARGE], ids=["whole space", "Krylov"])
def n(request):
    return request.param


@pytest.fixture
def decaying(n):
    """Return a positive definite matrix, eigenvalues 1, 0.9, 0.81, …"""
    return with_eigenvalues(0.9 ** np.arange(n))


@pytest.fixture
def indefinite(n):
    """Return a matrix with eigenvalues 1, −0.9, 0.81, …"""
    return with_eigenvalues((-0.9) ** np.arange(n))


def test_the_sizes_use_the_whole_space_and_krylov():
    for n_values in (1, 5, 8):
        limit = 4 * (n_values + 1) + 4 * spectrum.BLOCK_WIDTH
        assert limit < LARGE
    # the whole space, and one product for the residuals
    assert pairs(MatrixCooccurrence(with_eigenvalues(0.9 ** np.arange(SMALL))), 5).n_products == SMALL + 5


@pytest.mark.parametrize("n_words", [1, 2, 7, 41, 42, 90, 300])
@pytest.mark.parametrize("n_values", [1, 5])
def test_random_documents_against_eigh(n_words, n_values):
    rng = np.random.default_rng(n_words)
    n_values = min(n_values, n_words)
    X = rng.exponential(size=(400, n_words)) * (rng.random((400, n_words)) < 0.2)
    found = pairs(DocumentCooccurrence(Documents.from_matrix(X, 90)), n_values)
    values, vectors = np.linalg.eigh(X.T @ X / 400)
    top = values[-1]
    np.testing.assert_allclose(found.values, values[::-1][:n_values], atol=VALUES * top)
    np.testing.assert_allclose(abs(vectors[:, ::-1][:, 0] @ found.vectors[:, 0]), 1.0, atol=VECTORS)
    if n_values < n_words:
        np.testing.assert_allclose(found.next_value, values[::-1][n_values], atol=NEXT_VALUE * top)


@pytest.mark.parametrize("n_values", [1, 4, 8])
def test_definite_against_eigh(decaying, n_values):
    found = pairs(Semidefinite(decaying), n_values)
    np.testing.assert_allclose(found.values, 0.9 ** np.arange(n_values), atol=VALUES)
    np.testing.assert_allclose(found.next_value, 0.9**n_values, atol=NEXT_VALUE)
    truth = np.linalg.eigh(decaying)[1][:, ::-1][:, :n_values]
    np.testing.assert_allclose(projector(found.vectors), projector(truth), atol=VECTORS)


@pytest.mark.parametrize("n_values", [1, 4, 7])
def test_a_given_matrix_is_ordered_by_magnitude(indefinite, n_values):
    found = pairs(MatrixCooccurrence(indefinite), n_values)
    np.testing.assert_allclose(found.values, (-0.9) ** np.arange(n_values), atol=VALUES)
    np.testing.assert_allclose(found.next_value, (-0.9) ** n_values, atol=NEXT_VALUE)


def test_documents_are_ordered_by_value(indefinite):
    found = pairs(Semidefinite(indefinite), 4)
    np.testing.assert_allclose(found.values, 0.81 ** np.arange(4), atol=VALUES)
    np.testing.assert_allclose(found.next_value, 0.81**4, atol=NEXT_VALUE)


def test_many_restarts_still_settle():
    """Eigenvalues 1, 1/2, 1/3, … lie close together where they are cut."""
    P = with_eigenvalues(1.0 / np.arange(1, 401))
    found = pairs(Semidefinite(P), 8)
    assert found.n_products > 2 * (3 * 9 + 3 * spectrum.BLOCK_WIDTH)  # more than two bases full
    np.testing.assert_allclose(found.values, 1.0 / np.arange(1, 9), atol=VALUES)
    np.testing.assert_allclose(P @ found.vectors, found.vectors * found.values, atol=VALUES)


@pytest.mark.parametrize("copies", [2, 3, 4, 8])
def test_repeated_eigenvalues_are_all_found(copies):
    """P is the same block several times over, so that each of its eigenvalues is repeated."""
    block = with_eigenvalues(0.5 ** np.arange(30))
    P = MatrixCooccurrence(sp.block_diag([block] * copies))
    found = pairs(P, copies)
    np.testing.assert_allclose(found.values, np.ones(copies), atol=VALUES)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(copies), atol=VECTORS)
    np.testing.assert_allclose(found.next_value, 0.5, atol=NEXT_VALUE)


@pytest.mark.parametrize(
    "multiplicity",
    [
        2,
        4,
        6,
    ],
)
def test_repeated_eigenvalues_without_rounding_are_all_found(multiplicity):
    """A diagonal P of two values: a Krylov space is complete after two products, and is not all there is."""
    diagonal = np.ones(LARGE)
    diagonal[10 : 10 + multiplicity] = 3.0
    found = pairs(MatrixCooccurrence(sp.diags(diagonal)), multiplicity)
    np.testing.assert_allclose(found.values, np.full(multiplicity, 3.0), rtol=VALUES)
    np.testing.assert_allclose(found.next_value, 1.0, rtol=NEXT_VALUE)


def test_the_identity_has_as_many_eigenvalues_as_words():
    np.testing.assert_allclose(pairs(MatrixCooccurrence(sp.eye(LARGE)), 6).values, np.ones(6), rtol=VALUES)


def test_repeated_eigenvalues_are_all_found_when_the_basis_is_nearly_full():
    """Ten values ten times each: four copies of all ten leave room for one fresh block before the first test."""
    diagonal = np.repeat(np.linspace(2.0, 1.0, 10), 10)
    found = pairs(MatrixCooccurrence(sp.diags(diagonal)), 10)
    np.testing.assert_allclose(found.values, np.full(10, 2.0), rtol=VALUES)


@pytest.mark.parametrize("rank", [1, 3, 7])
def test_as_many_pairs_as_the_rank_are_found_exactly(n, rank):
    values = np.linspace(1.0, 0.5, rank)
    found = pairs(MatrixCooccurrence(with_eigenvalues(padded(values, n))), rank)
    np.testing.assert_allclose(found.values, values, atol=VALUES)
    np.testing.assert_allclose(found.next_value, 0.0, atol=NEXT_VALUE)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(rank), atol=VECTORS)


@pytest.mark.parametrize("rank", [1, 3, 7])
@pytest.mark.parametrize("beyond", [1, 2])
def test_more_pairs_than_the_rank_are_refused(n, rank, beyond):
    P = MatrixCooccurrence(with_eigenvalues(padded(np.linspace(1.0, 0.5, rank), n)))
    with pytest.raises(RankError, match=f"n_components={rank + beyond}, but the .* support at most {rank}; lower"):
        pairs(P, rank + beyond)


def test_documents_of_few_topics_have_that_rank(n):
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(200, 4)) @ rng.exponential(size=(4, n))
    P = DocumentCooccurrence(Documents.from_matrix(X, 50))
    assert pairs(P, 4).values.shape == (4,)
    with pytest.raises(RankError, match=r"n_components=5, but the .* support at most 4;"):
        pairs(P, 5)


def test_more_pairs_than_words_are_refused():
    with pytest.raises(RankError, match=r"n_components=4, but the .* support at most 3;"):
        pairs(MatrixCooccurrence(np.eye(3)), 4)


def test_a_matrix_of_zeros_is_refused(n):
    with pytest.raises(RankError, match=r"n_components=2, but the .* support at most 0;"):
        pairs(MatrixCooccurrence(np.zeros((n, n))), 2)


def test_a_zero_between_positive_and_negative_is_no_direction():
    """One document "a b" and an unused word: eigenvalues 1/2, 0, −1/2."""
    P = DocumentCooccurrence(Documents([[[1.0, 1.0, 0.0]]]), unbiased=True)
    with pytest.raises(RankError, match="n_components=2"):
        pairs(P, 2)


def test_residuals_keep_what_is_stated(decaying):
    found = pairs(Semidefinite(decaying), 6)
    assert np.all(found.residuals <= RESIDUAL_TOLERANCE)
    # The vectors have had one power step more, which can raise a residual by at most λ₁/λ.
    actual = np.linalg.norm(decaying @ found.vectors - found.vectors * found.values, axis=0)
    assert np.all(actual <= RESIDUAL_TOLERANCE / found.values + VALUES * 1e-2)


def test_vectors_are_orthonormal(indefinite):
    U = pairs(MatrixCooccurrence(indefinite), 7).vectors
    np.testing.assert_allclose(U.T @ U, np.eye(7), atol=VECTORS)


@pytest.mark.parametrize("smallest", [1e-2, 1e-4, 1e-6])
def test_graded_vectors_are_orthonormal_up_to_their_residuals(n, smallest):
    """The power step divides a residual by its eigenvalue; the vectors are no worse than that."""
    values = np.geomspace(1.0, smallest, 7)
    found = pairs(MatrixCooccurrence(with_eigenvalues(padded(values, n))), 7)
    np.testing.assert_allclose(found.values, values, atol=VALUES)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(7), atol=VALUES / smallest)


def test_the_largest_entry_of_each_vector_is_positive(indefinite):
    U = pairs(MatrixCooccurrence(indefinite), 7).vectors
    assert np.all(U[abs(U).argmax(axis=0), np.arange(7)] > 0)
    assert U.min() < 0  # else the rule would say nothing


def test_a_word_that_never_occurs_gets_a_row_of_zeros(n):
    rng = np.random.default_rng(1)
    X = rng.exponential(size=(100, n)) * (rng.random((100, n)) < 0.5)
    X[:, [3, 17]] = 0.0
    U = pairs(DocumentCooccurrence(Documents.from_matrix(X, 30)), 5).vectors
    np.testing.assert_array_equal(U[[3, 17]], np.zeros((2, 5)))
    assert np.all(np.any(np.delete(U, [3, 17], axis=0) != 0, axis=1))


def test_an_empty_row_of_a_sparse_matrix_gives_zeros(n):
    P = np.pad(with_eigenvalues(0.9 ** np.arange(n - 2)), ((0, 2), (0, 2)))
    U = pairs(MatrixCooccurrence(sp.csr_matrix(P)), 3).vectors
    np.testing.assert_array_equal(U[-2:], np.zeros((2, 3)))


def test_one_seed_gives_the_same_bits(decaying):
    first, second = pairs(Semidefinite(decaying), 5), pairs(Semidefinite(decaying), 5)
    for one, other in zip(first[:-1], second[:-1], strict=True):  # all but the seconds
        np.testing.assert_array_equal(one, other)


def test_the_start_does_not_matter():
    P = Semidefinite(with_eigenvalues(0.9 ** np.arange(LARGE)))
    first, second = pairs(P, 5, seed=0), pairs(P, 5, seed=1)
    assert not np.array_equal(first.vectors, second.vectors)  # the generator is used
    np.testing.assert_allclose(second.values, first.values, atol=VALUES)
    np.testing.assert_allclose(second.vectors, first.vectors, atol=VECTORS)


def test_permuted_words_permute_the_vectors(decaying):
    order = np.random.default_rng(2).permutation(len(decaying))
    straight = pairs(Semidefinite(decaying), 5)
    permuted = pairs(Semidefinite(decaying[np.ix_(order, order)]), 5)
    np.testing.assert_allclose(permuted.values, straight.values, atol=VALUES)
    np.testing.assert_allclose(permuted.vectors, straight.vectors[order], atol=VECTORS)


@pytest.mark.parametrize("scale", [1e-100, 1e-9, 1e9, 1e100])
def test_units_do_not_matter(decaying, scale):
    straight = pairs(Semidefinite(decaying), 5)
    scaled = pairs(Semidefinite(scale * decaying), 5)
    np.testing.assert_allclose(scaled.values / scale, straight.values, atol=VALUES)
    np.testing.assert_allclose(scaled.vectors, straight.vectors, atol=VECTORS)


def test_the_whole_space_and_krylov_find_the_same_pairs(monkeypatch):
    P = MatrixCooccurrence(with_eigenvalues((-0.9) ** np.arange(LARGE)))
    by_krylov = pairs(P, 6)
    monkeypatch.setattr(spectrum, "BLOCK_WIDTH", LARGE)
    whole = pairs(P, 6)
    assert whole.n_products == LARGE + 6
    assert by_krylov.n_products != whole.n_products
    np.testing.assert_allclose(by_krylov.values, whole.values, atol=VALUES)
    np.testing.assert_allclose(by_krylov.vectors, whole.vectors, atol=VECTORS)
    np.testing.assert_allclose(by_krylov.next_value, whole.next_value, atol=NEXT_VALUE)


@pytest.mark.parametrize("width", [1, 2, 9])
def test_any_width_of_blocks_leads_to_the_same_pairs(monkeypatch, width):
    P = Semidefinite(with_eigenvalues(0.9 ** np.arange(LARGE)))
    by_four = pairs(P, 5)
    monkeypatch.setattr(spectrum, "BLOCK_WIDTH", width)
    np.testing.assert_allclose(pairs(P, 5).values, by_four.values, atol=VALUES)


class Counting(Semidefinite):
    """A given matrix that counts the columns it was multiplied with."""

    columns = 0

    def product(self, Q):
        self.columns += Q.shape[1]
        return super().product(Q)


def test_products_are_counted(decaying):
    P = Counting(decaying)
    assert pairs(P, 4).n_products == P.columns


def test_products_are_counted_when_the_rank_is_reached():
    P = Counting(with_eigenvalues(padded([1.0, 0.8, 0.5], LARGE)))
    assert pairs(P, 3).n_products == P.columns


def test_the_gap_is_the_relative_distance_to_the_first_value_left_out():
    assert pairs(Semidefinite(np.diag([5.0, 4.0, 1.0])), 2).gap == pytest.approx(0.75, abs=VALUES)
    assert pairs(MatrixCooccurrence(np.diag([5.0, -4.0, 3.0])), 2).gap == pytest.approx(0.25, abs=VALUES)
    assert pairs(MatrixCooccurrence(np.diag([5.0, -4.0, -3.0])), 2).gap == pytest.approx(0.25, abs=VALUES)


def test_the_gap_is_one_when_nothing_is_left_out():
    assert pairs(Semidefinite(np.diag([5.0, 4.0])), 2).gap == 1.0
    assert pairs(Semidefinite(np.diag([5.0, 4.0, -1.0])), 2).gap == pytest.approx(1.0, abs=VALUES)


def test_the_gap_of_a_given_matrix_is_by_magnitude():
    assert pairs(MatrixCooccurrence(np.diag([5.0, 4.0, -3.0])), 2).gap == pytest.approx(0.25, abs=VALUES)


def test_no_gap_between_equal_values():
    assert pairs(MatrixCooccurrence(np.diag([5.0, 4.0, 4.0, 1.0])), 2).gap == pytest.approx(0.0, abs=VALUES)


def test_a_matrix_that_passes_for_symmetric_is_solved(monkeypatch):
    monkeypatch.setattr(spectrum, "MAX_PRODUCTS", 2_000)
    noise = np.random.default_rng(3).standard_normal((LARGE, LARGE))
    P = with_eigenvalues(0.9 ** np.arange(LARGE))
    found = pairs(MatrixCooccurrence(P + 1e-10 * (noise - noise.T) * abs(P).max()), 5)
    np.testing.assert_allclose(found.values, 0.9 ** np.arange(5), atol=1e-8)


def test_a_spectrum_that_does_not_settle_is_an_error(monkeypatch):
    monkeypatch.setattr(spectrum, "MAX_PRODUCTS", 8)
    with pytest.raises(
        SolverError, match=r"did not come to an end; lower n_components\ndetails: .* in 8 products with the co-occ"
    ):
        pairs(Semidefinite(with_eigenvalues(0.9 ** np.arange(LARGE))), 5)


def test_memory_is_a_few_columns_of_words():
    V, n_values = 20_000, 4
    X = sp.random_array((60, V), density=0.002, format="csr", rng=np.random.default_rng(0))
    P = DocumentCooccurrence(Documents([sp.diags_array(0.8 ** np.arange(60)) @ X]))
    tracemalloc.start()
    try:
        found = pairs(P, n_values)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.vectors.shape == (V, n_values)
    room = 3 * (n_values + 1) + 3 * spectrum.BLOCK_WIDTH
    assert peak < 6 * 8 * V * room  # bytes: the basis, its image and what a rotation of both needs


@pytest.mark.parametrize("seed", range(12))
def test_few_distinct_values_are_all_found(seed):
    """More copies of each value than a block has columns, in directions of no special kind."""
    rng = np.random.default_rng(seed)
    values = np.repeat(np.arange(int(rng.integers(1, 4)), 0, -1.0), int(rng.integers(5, 40)))
    V = max(len(values), 100)
    Q = np.linalg.qr(rng.standard_normal((V, V)))[0][:, : len(values)]
    n_values = int(rng.integers(1, min(12, len(values))))
    found = pairs(MatrixCooccurrence((Q * values) @ Q.T), n_values)
    np.testing.assert_allclose(found.values, values[:n_values], atol=1e-10)


@pytest.mark.parametrize("extra", [0, 1, 5])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_copies_beyond_a_block_are_found_in_a_long_spectrum(extra, sign):
    """Every other value settles before the space closes: only the crowd at the top says that there may be more."""
    copies = spectrum.BLOCK_WIDTH + extra
    values = np.concatenate([np.full(copies, 2.0), sign * np.linspace(1.0, 0.001, 400)])
    found = pairs(MatrixCooccurrence(with_eigenvalues(values)), copies)
    np.testing.assert_allclose(found.values, np.full(copies, 2.0), rtol=VALUES)
    np.testing.assert_allclose(found.next_value, sign, rtol=NEXT_VALUE)


@pytest.mark.parametrize(("n_documents", "n_values"), [(12, 3), (12, 12), (90, 5), (150, 8)])
def test_the_gram_operator_leads_to_the_same_pairs(n_documents, n_values, monkeypatch):
    rng = np.random.default_rng(n_documents)
    X = rng.exponential(size=(n_documents, 400)) * (rng.random((n_documents, 400)) < 0.2)
    P = DocumentCooccurrence(Documents.from_matrix(X, 7), n_threads=2)
    assert P.build_gram_operator().size == n_documents
    short = pairs(P, n_values)
    monkeypatch.setattr(DocumentCooccurrence, "build_gram_operator", lambda self: None)
    long = pairs(P, n_values)
    top = long.values[0]
    np.testing.assert_allclose(short.values, long.values, atol=VALUES * top)
    np.testing.assert_allclose(short.next_value, long.next_value, atol=NEXT_VALUE * top)
    np.testing.assert_allclose(short.vectors, long.vectors, atol=VECTORS * top / long.values[-1])
    assert np.all(short.residuals <= RESIDUAL_TOLERANCE * top)


def test_fewer_documents_than_values_are_refused():
    P = DocumentCooccurrence(Documents([np.eye(3, 200)]))
    with pytest.raises(RankError, match=r"n_components=5, but the .* support at most 3;"):
        pairs(P, 5)


def test_threads_do_not_change_a_bit_with_the_gram_operator():
    X = sp.random_array((300, 900), density=0.02, format="csr", rng=np.random.default_rng(0))
    # as many threads as a block has columns, and more
    alone, two, five = (pairs(DocumentCooccurrence(Documents.from_matrix(X, 40), n_threads=n), 6) for n in (1, 2, 5))
    np.testing.assert_array_equal(two.vectors, alone.vectors)
    np.testing.assert_array_equal(five.vectors, alone.vectors)


@pytest.mark.parametrize("multiplicity", [1, 2, 3, 6])
def test_repeated_eigenvalues_are_all_found_with_the_gram_operator(multiplicity):
    """Documents of one word each, of two lengths: a Krylov space is complete after two products."""
    lengths = np.ones(LARGE)
    lengths[10 : 10 + multiplicity] = np.sqrt(3.0)
    P = DocumentCooccurrence(Documents.from_matrix(sp.diags_array(lengths, shape=(LARGE, 2 * LARGE))))
    assert P.build_gram_operator() is not None
    found = pairs(P, multiplicity)
    np.testing.assert_allclose(LARGE * found.values, np.full(multiplicity, 3.0), rtol=VALUES)
    np.testing.assert_allclose(LARGE * found.next_value, 1.0, rtol=NEXT_VALUE)


def test_progress_is_reported_during_the_search_and_never_complete():
    """The fit itself reports the end: the search does not know how many products it needs."""
    D = np.random.default_rng(0).poisson(0.3, (400, 300)).astype(float)
    reports = []
    with listen(lambda *report: reports.append(report)):
        find_leading_eigenpairs(
            DocumentCooccurrence(Documents.from_matrix(sp.csr_matrix(D))), 10, np.random.default_rng(0)
        )
    assert len(reports) > 5
    assert all(stage == "spectrum" and done < total for stage, done, total in reports)
    assert [done for _, done, _ in reports] == sorted(done for _, done, _ in reports)
