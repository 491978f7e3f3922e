import functools
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp

from anchorless._corpus import documents, sparse
from anchorless._corpus.documents import FAN_IN, Documents, TreeSum, tree_sum
from anchorless._corpus.sparse import to_canonical_csr, view_rows
from anchorless._corpus.threads import ThreadTeam
from anchorless.errors import InputError

#: Long enough for another thread to finish first, or to run further ahead than it may.
A_WHILE = 0.01


@pytest.fixture
def X():
    """Return 103 documents × 17 words whose sums depend on the order of the terms."""
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((103, 17)) < 0.3, 10.0 ** rng.uniform(-8, 8, (103, 17)), 0.0)
    return sp.csr_matrix(dense)


@pytest.fixture
def untidy():
    """Return a CSR matrix with unsorted indices, duplicates and stored zeros, and the same matrix dense."""
    data = np.array([3.0, 1.0, 2.0, 0.0, 5.0, -4.0, 4.0, 7.0])
    indices = np.array([4, 0, 4, 2, 1, 3, 3, 0])
    dense = np.array([[1.0, 0, 0, 0, 5], [0, 0, 0, 0, 0], [7.0, 5, 0, 0, 0]])
    return sp.csr_matrix((data, indices, np.array([0, 4, 4, 8])), shape=(3, 5)), dense


def assert_canonical(X):
    assert isinstance(X, sp.csr_matrix)
    assert X.dtype == np.float64
    assert np.all(X.data != 0)
    for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        assert np.all(np.diff(X.indices[start:stop]) > 0)


def with_duplicate(container, value, dtype):
    """Return a 1 × 3 matrix that stores `value` twice for its middle word."""
    data = np.array([value, value], dtype=dtype)
    if container in (sp.coo_matrix, sp.coo_array):
        return container((data, (np.array([0, 0]), np.array([1, 1]))), shape=(1, 3))
    indices, indptr = ([1, 1], [0, 2]) if container in (sp.csr_matrix, sp.csr_array) else ([0, 0], [0, 0, 2, 2])
    return container((data, np.array(indices), np.array(indptr)), shape=(1, 3))


@pytest.mark.parametrize(
    "container",
    [
        sp.csr_matrix,
        sp.csr_array,
        sp.csc_matrix,
        sp.coo_matrix,
        sp.coo_array,
    ],
)
@pytest.mark.parametrize(("dtype", "value"), [(np.uint8, 200), (np.int8, 100), (np.uint16, 60_000)])
def test_duplicates_of_small_integers_do_not_wrap_around(container, dtype, value):
    result = to_canonical_csr(with_duplicate(container, value, dtype))
    np.testing.assert_array_equal(result.toarray(), [[0.0, 2.0 * value, 0.0]])


def test_canonical_sorts_adds_duplicates_and_drops_zeros(untidy):
    matrix, dense = untidy
    result = to_canonical_csr(matrix)
    assert_canonical(result)
    np.testing.assert_array_equal(result.toarray(), dense)


def test_canonical_drops_stored_zeros_of_an_otherwise_tidy_matrix():
    matrix = sp.csr_matrix((np.array([1.0, 0.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    result = to_canonical_csr(matrix)
    assert_canonical(result)
    assert result.nnz == 1


def test_canonical_leaves_its_input_alone(untidy):
    matrix, _ = untidy
    before = [matrix.data.copy(), matrix.indices.copy(), matrix.indptr.copy()]
    to_canonical_csr(matrix)
    for now, then in zip([matrix.data, matrix.indices, matrix.indptr], before, strict=True):
        np.testing.assert_array_equal(now, then)


@pytest.mark.parametrize(
    "form", [np.asarray, np.ndarray.tolist, sp.csc_matrix, sp.coo_matrix, sp.csr_array, sp.lil_matrix]
)
def test_every_form_of_a_matrix_gives_the_same_csr(untidy, form):
    _, dense = untidy
    result = to_canonical_csr(form(dense))
    assert_canonical(result)
    np.testing.assert_array_equal(result.toarray(), dense)


@pytest.mark.parametrize(("start", "stop"), [(0, 103), (0, 0), (103, 103), (5, 6), (40, 99)])
def test_row_view_is_a_slice(X, start, stop):
    view = view_rows(X, start, stop)
    assert view.shape == (stop - start, 17)
    np.testing.assert_array_equal(view.toarray(), X.toarray()[start:stop])


@pytest.mark.parametrize(
    ("start", "stop"),
    [
        (0, 100),
        (40, 50),
    ],
)
def test_row_view_shares_memory(X, start, stop):
    view = view_rows(X, start, stop)
    assert np.shares_memory(view.data, X.data)
    assert np.shares_memory(view.indices, X.indices)


def test_cutting_into_blocks_copies_no_entry(X):
    for block in Documents.from_matrix(X, 20).blocks:
        assert np.shares_memory(block.data, X.data)


def test_a_view_is_made_canonical_without_touching_the_whole(untidy):
    matrix, dense = untidy
    before = matrix.data.copy()
    result = to_canonical_csr(view_rows(matrix, 1, 3))
    assert_canonical(result)
    np.testing.assert_array_equal(result.toarray(), dense[1:3])
    np.testing.assert_array_equal(matrix.data, before)


@pytest.mark.parametrize("block_size", [1, 7, 103, 1000])
def test_blocks_have_the_size_asked_for_and_rejoin(X, block_size):
    cut = Documents.from_matrix(X, block_size)
    sizes = [block.shape[0] for block in cut.blocks]
    assert all(size == block_size for size in sizes[:-1])
    assert 1 <= sizes[-1] <= block_size
    assert cut.shape == X.shape
    np.testing.assert_array_equal(sp.vstack(cut.blocks).toarray(), X.toarray())


def test_blocks_of_no_given_size_hold_about_the_same_number_of_entries(X, monkeypatch):
    monkeypatch.setattr(sparse, "NONZEROS_PER_BLOCK", 60)
    cut = Documents.from_matrix(X)
    assert len(cut.blocks) > 3
    assert all(30 <= block.nnz <= 120 for block in cut.blocks[:-1])
    np.testing.assert_array_equal(sp.vstack(cut.blocks).toarray(), X.toarray())


def test_a_small_matrix_is_one_block(X):
    assert len(Documents.from_matrix(X).blocks) == 1


def test_neither_entries_nor_documents_gather_in_one_block(monkeypatch):
    monkeypatch.setattr(sparse, "NONZEROS_PER_BLOCK", 500)
    n_short, n_long = 900, 20
    short, long = sp.csr_matrix(np.eye(n_short, 100)), sp.csr_matrix(np.ones((n_long, 100)))
    for X in (sp.vstack([short, long]), sp.vstack([long, short]), sp.csr_matrix(np.tri(60))):
        blocks = Documents.from_matrix(X).blocks
        assert len(blocks) == round(X.nnz / 500)
        assert max(block.nnz for block in blocks) <= 2 * X.nnz / len(blocks) + 100
        assert max(block.shape[0] for block in blocks) <= 2 * X.shape[0] / len(blocks) + 1
        np.testing.assert_array_equal(sp.vstack(blocks).toarray(), X.toarray())


def test_a_document_larger_than_a_block_is_not_cut(monkeypatch):
    monkeypatch.setattr(sparse, "NONZEROS_PER_BLOCK", 500)
    X = sp.vstack([sp.csr_matrix(np.ones((1, 2000))), sp.eye(3, 2000)])
    np.testing.assert_array_equal(sp.vstack(Documents.from_matrix(X).blocks).toarray(), X.toarray())


def test_sums_of_words_are_those_of_dense_documents(X, monkeypatch):
    monkeypatch.setattr(documents, "ENTRIES_AT_A_TIME", 1)
    tall = sp.vstack([X] * 9, format="csr")  # more entries than words: several slices of them
    assert tall.nnz > 2 * tall.shape[1]
    total, squares, frequency = documents.compute_word_sums(Documents.from_matrix(tall, 50), 2)
    dense = tall.toarray()
    np.testing.assert_allclose(total, dense.sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(squares, (dense**2).sum(axis=0), rtol=1e-12)
    np.testing.assert_array_equal(frequency, (dense > 0).sum(axis=0))


def test_blocks_are_made_canonical_and_counted(untidy):
    matrix, dense = untidy
    joined = Documents([matrix, dense[:2]])
    assert joined.shape == (5, 5)
    for block in joined.blocks:
        assert_canonical(block)


@pytest.mark.parametrize("block_size", [0, -1])
def test_a_block_size_below_one_is_refused(X, block_size):
    with pytest.raises(InputError, match=f"block_size={block_size}"):
        Documents.from_matrix(X, block_size)


@pytest.mark.parametrize("X", [[["the", "cat"]], np.array([[1j]]), sp.csr_matrix([[1j]]), np.array([[None]])])
def test_what_is_no_real_number_is_refused(X):
    with pytest.raises(InputError, match=r"X contains .* real numbers; count the words first"):
        Documents([X])


def test_no_blocks_is_an_error():
    with pytest.raises(InputError, match=r"no blocks .* at least one"):
        Documents([])


def test_blocks_of_different_widths_are_an_error():
    with pytest.raises(InputError, match=r"\[3, 4\] columns.*one vocabulary"):
        Documents([np.ones((2, 4)), np.ones((2, 3)), np.ones((1, 4))])


@pytest.fixture
def cut(X):
    return Documents.from_matrix(X, 10)


@pytest.fixture
def earlier_is_slower(cut):
    """Return a function of a block that takes longer the earlier the block, so that later ones overtake it."""
    place = {id(block): i for i, block in enumerate(cut.blocks)}

    def column_sums(block):
        time.sleep(A_WHILE / (1 + place[id(block)]))
        return np.asarray(block.sum(axis=0)).ravel()

    return column_sums


@pytest.mark.parametrize("n_threads", [1, 2, 3, 20])
def test_sums_have_the_same_bits_for_any_number_of_threads(cut, earlier_is_slower, n_threads):
    parts = [np.asarray(block.sum(axis=0)).ravel() for block in cut.blocks]
    in_order, in_reverse = parts[0].copy(), parts[-1].copy()
    for part in parts[1:]:
        in_order += part
    for part in parts[-2::-1]:
        in_reverse += part
    assert not np.array_equal(in_order, in_reverse)  # else no order could be told from another
    np.testing.assert_array_equal(cut.sum_blocks(earlier_is_slower, n_threads), in_order)


def by_recursion(parts):
    """Return the sum by the tree, written as it is defined."""
    while len(parts) > 1:
        groups = [parts[i : i + FAN_IN] for i in range(0, len(parts), FAN_IN)]
        parts = [functools.reduce(np.add, group) for group in groups]
    return parts[0]


@pytest.mark.parametrize("n_parts", [1, 2, 15, 16, 17, 31, 32, 33, 255, 256, 257, 4096, 4097, 5000])
def test_the_sum_is_that_of_the_tree(n_parts):
    parts = [*np.random.default_rng(n_parts).standard_normal((n_parts, 20))]
    total = TreeSum()
    for part in parts:
        total.add(part)
        assert sum(partial is not None for partial in total._sums) <= 1 + np.log2(n_parts) / np.log2(FAN_IN)
    found = total.total()
    np.testing.assert_array_equal(found, by_recursion(parts))
    if n_parts > 17:  # else no tree could be told from a row
        assert not np.array_equal(found, functools.reduce(np.add, parts))


def test_no_parts_have_no_sum():
    with pytest.raises(InputError, match="at least one"):
        TreeSum().total()


def test_mapped_documents_have_the_functions_of_the_blocks(cut):
    doubled = cut.transform_blocks(lambda block: 2 * block)
    assert (doubled.shape, doubled.n_blocks) == (cut.shape, cut.n_blocks)
    for block, double in zip(cut.blocks, doubled.blocks, strict=True):
        np.testing.assert_array_equal(double.toarray(), 2 * block.toarray())


@pytest.mark.parametrize("n_threads", [1, 2, 3, 20])
def test_results_come_in_the_order_of_the_blocks(cut, earlier_is_slower, n_threads):
    results = list(cut.map_blocks(earlier_is_slower, n_threads))
    assert len(results) == len(cut.blocks)
    for result, block in zip(results, cut.blocks, strict=True):
        np.testing.assert_array_equal(result, np.asarray(block.sum(axis=0)).ravel())


@pytest.mark.parametrize(("n_threads", "ahead"), [(1, 0), (2, 2), (3, 3)])
def test_no_more_results_exist_than_the_threads_need(cut, n_threads, ahead):
    lock = threading.Lock()
    started = []

    def note(block):
        with lock:
            started.append(block)
        return len(started)

    excess = []
    for n_taken, _ in enumerate(cut.map_blocks(note, n_threads), start=1):
        time.sleep(A_WHILE)
        excess.append(len(started) - n_taken)
    assert len(started) == len(cut.blocks)
    assert max(excess) <= ahead


def test_two_threads_work_at_the_same_time(cut):
    meeting = threading.Barrier(2, timeout=5)
    pair = Documents(cut.blocks[:2])
    assert len(list(pair.map_blocks(lambda block: meeting.wait(), 2))) == 2


def test_adding_up_leaves_the_parts_alone(cut):
    parts = {id(block): np.full(2, float(i)) for i, block in enumerate(cut.blocks)}
    total = cut.sum_blocks(lambda block: parts[id(block)], 1)
    np.testing.assert_array_equal(total, np.full(2, sum(range(len(cut.blocks)))))
    np.testing.assert_array_equal(list(parts.values()), [[i, i] for i in range(len(cut.blocks))])


def test_sums_of_whole_numbers_become_floating_point(cut):
    total = cut.sum_blocks(lambda block: np.array([200], dtype=np.uint8), 1)
    np.testing.assert_array_equal(total, [200.0 * len(cut.blocks)])


@pytest.mark.parametrize("n_threads", [1, 3])
def test_an_error_in_a_block_reaches_the_caller(cut, n_threads):
    def fail_in_the_first(block):
        if block is cut.blocks[0]:
            raise KeyError("in a block")
        return np.zeros(1)

    with pytest.raises(KeyError, match="in a block"):
        cut.sum_blocks(fail_in_the_first, n_threads)


def call_in_thread(function):
    """Call a function in a thread other than the main one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("n_items", [0, 1, 20])
@pytest.mark.parametrize("is_main", [True, False])
def test_a_team_gives_results_in_order_and_the_main_thread_only_waits(n_threads, n_items, is_main):
    threads, callers = set(), set()

    def work(item):
        threads.add(threading.get_ident())
        time.sleep(A_WHILE * (item % 3 == 0))
        return item * item

    def call():
        callers.add(threading.get_ident())
        return team.map(work, range(n_items))

    team = ThreadTeam(n_threads)
    found = call() if is_main else call_in_thread(call)
    assert found == [item * item for item in range(n_items)]
    assert len(threads) <= n_threads
    if n_items:
        assert bool(threads & callers) != is_main


@pytest.mark.parametrize("by_the_caller", [True, False])
def test_an_error_of_a_team_is_raised_and_ends_the_work(by_the_caller):
    done = []

    def call():
        caller = threading.get_ident()

        def work(item):
            if item > 4 and (threading.get_ident() == caller) == by_the_caller:
                raise ZeroDivisionError
            time.sleep(A_WHILE)
            done.append(item)

        ThreadTeam(3).map(work, range(1000))

    with pytest.raises(ZeroDivisionError):
        call_in_thread(call)
    assert len(done) < 20


@pytest.mark.parametrize("is_main", [True, False])
def test_nobody_of_a_team_works_on_once_an_error_is_raised(is_main):
    """The caller may throw away, or use again, what they were writing to."""
    at_work, done = threading.Event(), []

    def work(item):
        if item == 0:
            at_work.wait()
            raise ZeroDivisionError
        at_work.set()
        time.sleep(5 * A_WHILE)
        done.append(item)

    def call():
        ThreadTeam(3).map(work, range(3))

    with pytest.raises(ZeroDivisionError):
        call() if is_main else call_in_thread(call)
    n_done = len(done)
    time.sleep(10 * A_WHILE)
    assert n_done == len(done) >= 1


@pytest.mark.parametrize("n_parts", [1, FAN_IN, FAN_IN * FAN_IN + 3])
def test_fresh_parts_are_added_to_the_same_bits_and_others_are_left_alone(n_parts):
    parts = [*(10.0 ** np.random.default_rng(0).uniform(-8, 8, (n_parts, 5)))]
    before = [part.copy() for part in parts]
    total = tree_sum(parts)
    np.testing.assert_array_equal(parts, before)
    assert not any(np.shares_memory(total, part) for part in parts)
    np.testing.assert_array_equal(tree_sum((part.copy() for part in parts), fresh=True), total)
