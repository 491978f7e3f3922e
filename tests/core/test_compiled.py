"""Laws of every compiled loop: it gives the bits of plain Python, on every processor, and refuses what C cannot see."""

import ctypes
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from anchorless._core import compiled, layout_kernels, neighbor_kernels, token_kernels
from tests.helpers import plain_loops

#: Loops that use the C library's functions, whose last bit may differ.
LIBM = {"score_logits", "compare_logits", "draw_logits", "score_shape"}
#: Arguments that a loop changes.
OUTPUTS = {
    "sweep_documents": {12, 13},
    "count_topics": {6},
    "count_topics_of_others": {6},
    "mix_topics": {4, 5},
    "pair_words": {7, 8},
    "draw_topics": {6, 7},
    "score_logits": set(),
    "compare_logits": set(),
    "draw_logits": {1},
    "score_shape": set(),
    "select_largest": {4, 5},
    "select_largest_pairs": {3, 4, 5},
    "rank_candidates": {4, 5},
    "project_rows": {3},
    "move_documents": {0},
    "spread_documents": {0},
}
#: Arguments of which a part is an argument as well.
ANY_LENGTH = {("select_largest_pairs", 0), ("spread_documents", 0)}


def find_kernel(name):
    module = next(each for each in (token_kernels, neighbor_kernels, layout_kernels) if hasattr(each, name))
    return getattr(module, name)


def make_token_arguments(name, F, own_prior, n):
    rng, V = np.random.default_rng(F), 40
    X = sp.csr_matrix(rng.poisson(0.5, (n, V)).astype(float))
    rows, phi = (X.indptr, X.indices, X.data), rng.dirichlet(np.full(V, 0.3), F).T.copy()
    phi[X.indices[3]] = 0.0
    alpha, counts = rng.uniform(0.05, 0.5, (n if own_prior else 1, F)), rng.gamma(0.5, 4.0, (n, F + 1))
    before, sizes = rng.gamma(0.2, 5.0, (V, F)), rng.uniform(10.0, 90.0, V)
    pairs = np.array([[F - 1, 0]] if F > 1 and own_prior else np.zeros((0, 2)), dtype=np.int64)
    of_words = before, rng.uniform(0.1, 0.2, V), sizes, before.sum(axis=0), rng.uniform(0.9, 1.1, F)
    tokens, logits = rng.poisson(5.0, (n, F)).astype(float), rng.standard_normal((n, F))
    shares, room = rng.dirichlet(np.ones(F), n), (np.full((n, F), np.nan), np.ones((V, F)))
    place = rng.permuted(np.tile(np.arange(-4, V - 4, dtype=np.int32)[:, None], (1, F)), axis=0)
    given = {
        "sweep_documents": (*rows, counts, *of_words, alpha, pairs, np.full((len(pairs), 2), 0.7), counts + 1, room[1]),
        "count_topics": (*rows, phi, alpha, 5, room[0]),
        "count_topics_of_others": (*rows, phi, alpha, 5, room[0]),
        "mix_topics": (*rows[:2], shares, phi, np.empty(X.nnz), np.empty(X.nnz)),
        "pair_words": (*rows, counts, phi, alpha[0], np.maximum(place, -1), np.ones((F, V, V)), np.ones(F)),
        "draw_topics": (*rows, shares, phi, np.random.default_rng(1), *room),
        "score_logits": (tokens[0], logits[0]),
        "compare_logits": (tokens, logits, 0.3),
        "draw_logits": (tokens, logits, logits.mean(axis=0), rng.standard_normal((n, F)), np.random.default_rng(1)),
        "score_shape": (tokens, tokens.sum(axis=0), rng.uniform(0.01, 0.2, n), 0.3),
    }
    return given[name]


def make_neighbor_arguments(name, d):
    rng = np.random.default_rng(d)
    vectors, N, n_values = rng.standard_normal((11, d)).astype(np.float32), 11, 6
    if d > 2:
        N, n_values = 30 * d, 30 * d - 5  # more than are compared at once, and for 21 more than stay in the cache
    values = np.round(rng.standard_normal((4, n_values)), 1).astype(np.float32)  # some are equal
    best, found = np.full((N, 3), -np.inf, dtype=np.float32), np.full((N, 3), -1, dtype=np.int32)
    places, rows = np.arange(20, 20 + n_values, dtype=np.int32), np.array([3, 0, 10, 4], dtype=np.int64)
    candidates = np.array([rng.permutation(np.arange(-1, 11))[:5] for _ in range(11)], dtype=np.int32)
    candidates[2], vectors[4] = -1, vectors[5]  # no candidate; equal cosines
    near = np.zeros((11, 3), dtype=np.int32), np.ones((11, 3))
    given = {
        "select_largest": (values, np.float32(1.5), places, rows, best, found),
        "select_largest_pairs": (values, np.float32(1.5), 5, best[:, -1].copy(), best, found),
        "rank_candidates": (vectors, vectors, candidates, 2.5, *near),
        "project_rows": (vectors, vectors.mean(axis=0), vectors[:d].T.copy(), np.empty((11, min(d, 11)), np.float32)),
    }
    return given[name]


def make_layout_arguments(name):
    rng = np.random.default_rng(0)
    rows = np.repeat(np.arange(12), 3)
    columns, weights = (rows + rng.integers(1, 12, 36)) % 12, np.round(rng.uniform(0.1, 1.0, 36), 5)
    if name == "move_documents":
        return rng.standard_normal((12, 2)), rows, columns, weights, 20
    return rng.random((60, 2)) ** 2, 0.08, 30


def make_arguments(name, F=7, own_prior=True, n=9):
    """Return valid arguments of a loop, the same ones each time; those over tokens have n documents."""
    if name in vars(token_kernels):
        return [*make_token_arguments(name, F, own_prior, n)]
    return [*(make_neighbor_arguments(name, F) if name in vars(neighbor_kernels) else make_layout_arguments(name))]


def run(function, arguments):
    """Return the result and all arrays after the call."""
    result = function(*arguments)
    return [result, *(each for each in arguments if isinstance(each, np.ndarray))]


def assert_equal(found, expected, exactly=True):
    for one, other in zip(found, expected, strict=True):
        if one is None:
            assert other is None
        elif exactly:
            np.testing.assert_array_equal(one, other)
        else:
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


SUFFIXES = sorted({"", compiled.SUFFIX})


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("F", [1, 2, 3, 4, 7, 16, 21])
@pytest.mark.parametrize("name", OUTPUTS)
def test_loops_give_the_bits_of_plain_python(name, F, suffix, monkeypatch):
    monkeypatch.setattr(compiled, "SUFFIX", suffix)
    for own_prior in (False, True):
        make = partial(make_arguments, name, F, own_prior)
        expected = run(getattr(plain_loops, name), make())
        assert_equal(run(find_kernel(name), make()), expected, exactly=name not in LIBM)


@pytest.mark.parametrize("name", OUTPUTS)
def test_processors_give_the_same_bits(name, monkeypatch):
    found = []
    for suffix in SUFFIXES:
        monkeypatch.setattr(compiled, "SUFFIX", suffix)
        found.append(run(find_kernel(name), make_arguments(name, 50)))
    assert_equal(found[0], found[-1])


@pytest.mark.parametrize("name", OUTPUTS)
def test_threads_give_the_same_bits(name):
    make = partial(make_arguments, name, 20, n=4000)  # takes so long that threads compute at the same time
    given, expected = [make() for _ in range(8)], run(find_kernel(name), make())
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(partial(run, find_kernel(name)), given):
            assert_equal(found, expected)


def test_inputs_are_not_changed():
    for name, outputs in OUTPUTS.items():
        given, before = make_arguments(name), make_arguments(name)
        find_kernel(name)(*given)
        for i, (one, other) in enumerate(zip(given, before, strict=True)):
            if isinstance(one, np.ndarray) and i not in outputs:
                np.testing.assert_array_equal(one, other, err_msg=f"argument {i} of {name}")


@pytest.mark.parametrize("name", ["sweep_documents", "count_topics", "count_topics_of_others", "draw_topics"])
def test_a_document_gives_the_same_bits_alone_and_in_a_batch(name):
    given = make_arguments(name)
    together = make_arguments(name)
    find_kernel(name)(*together)
    at = 12 if name == "sweep_documents" else 6
    rng = np.random.default_rng(1)
    for d in range(9):
        first, last = given[0][d : d + 2]
        alone = [given[0][d : d + 2] - first, given[1][first:last], given[2][first:last]]
        alone += [x[d : d + 1] if isinstance(x, np.ndarray) and len(x) == 9 else x for x in make_arguments(name)[3:]]
        if name == "draw_topics":
            alone[5] = rng  # goes on where the document before ended
        find_kernel(name)(*alone)
        np.testing.assert_array_equal(alone[at][0], together[at][d])


def list_wrong(name):
    """Yield the number of an array argument and a wrong array in its place."""
    for i, x in enumerate(make_arguments(name)):
        if not isinstance(x, np.ndarray):
            continue
        is_indices = i < 2 and name in vars(token_kernels) and name not in LIBM
        yield i, x.astype(np.float16)
        if (name, i) not in ANY_LENGTH:
            yield i, x[:-1].copy()
        yield i, x.tolist()
        if not is_indices:
            yield i, x.astype(x.dtype.newbyteorder())
            yield i, np.repeat(x, 2, axis=-1)[..., ::2]
            yield i, x.astype(np.float32 if x.dtype != np.float32 else np.float64)
        if i in OUTPUTS[name]:
            x.flags.writeable = False
            yield i, x


def move_by_a_byte(x):
    """Return the same array at an address that no C compiler expects, as arrays from a network may have."""
    moved = np.empty(x.nbytes + 1, dtype=np.uint8)[1:].view(x.dtype).reshape(x.shape)
    moved[...] = x
    assert not moved.flags.aligned
    return moved


@pytest.mark.parametrize("name", OUTPUTS)
def test_inputs_may_begin_at_any_address_and_outputs_may_not(name):
    expected = make_arguments(name)
    result = find_kernel(name)(*expected)
    for i, x in enumerate(make_arguments(name)):
        if not isinstance(x, np.ndarray) or x.dtype.itemsize == 1:
            continue
        given = make_arguments(name)
        given[i] = move_by_a_byte(given[i])
        if i in OUTPUTS[name]:
            with pytest.raises(TypeError, match="cannot write at an address"):
                find_kernel(name)(*given)
            continue
        assert find_kernel(name)(*given) == result
        for output in OUTPUTS[name]:
            np.testing.assert_array_equal(given[output], expected[output])


@pytest.mark.parametrize("name", OUTPUTS)
def test_wrong_arrays_are_refused(name):
    for i, wrong in list_wrong(name):
        given = make_arguments(name)
        given[i] = wrong
        with pytest.raises((TypeError, IndexError, ValueError, AttributeError)):
            find_kernel(name)(*given)


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("count_topics", 0),
        ("count_topics", 1),
        ("sweep_documents", 10),
        ("pair_words", 6),
        ("select_largest", 3),
        ("rank_candidates", 2),
        ("move_documents", 1),
        ("move_documents", 2),
    ],
)
@pytest.mark.parametrize("value", [-2, 1000])
def test_positions_outside_of_an_array_are_refused(name, argument, value):
    given = make_arguments(name)
    given[argument].flat[0] = value
    with pytest.raises(IndexError, match="out of range"):
        find_kernel(name)(*given)


def test_rows_that_overlap_and_indices_that_would_wrap_around_are_refused():
    given = make_arguments("count_topics")
    given[0][[1, 2]] = given[0][[2, 1]]
    with pytest.raises(IndexError, match="begin where"):
        token_kernels.count_topics(*given)
    given = make_arguments("count_topics")
    given[1] = given[1] + np.int64(2**32)
    with pytest.raises(IndexError, match="out of range"):
        token_kernels.count_topics(*given)


def test_pairs_of_rows_beyond_the_last_are_refused():
    given = make_arguments("select_largest_pairs")
    given[2] = 6
    with pytest.raises(IndexError, match="out of range"):
        neighbor_kernels.select_largest_pairs(*given)


@pytest.mark.parametrize("name", OUTPUTS)
def test_arrays_that_share_memory_with_an_output_are_refused(name):
    arrays = {i: x for i, x in enumerate(make_arguments(name)) if isinstance(x, np.ndarray)}
    for i, j in ((i, j) for i in OUTPUTS[name] for j in arrays if i != j):
        if (arrays[i].dtype, arrays[i].shape) == (arrays[j].dtype, arrays[j].shape):
            given = make_arguments(name)
            given[j] = given[i]
            with pytest.raises(TypeError, match="another of its arguments"):
                find_kernel(name)(*given)


def test_a_loop_may_read_an_array_twice():
    given = make_arguments("rank_candidates")
    assert given[0] is given[1]
    neighbor_kernels.rank_candidates(*given)


@pytest.mark.parametrize("tokens", [np.nan, np.inf, -np.inf, -1.0])
def test_tokens_that_cannot_be_drawn_one_by_one_are_refused(tokens):
    given = make_arguments("draw_topics")
    given[2][3] = tokens
    with pytest.raises(ValueError, match="cannot be drawn"):
        token_kernels.draw_topics(*given)


def test_tokens_without_topics_are_refused():
    X, rng, (mixtures, phi, counts, words) = sp.csr_matrix(np.eye(3)), np.random.default_rng(0), np.zeros((4, 3, 0))
    with pytest.raises(ValueError, match="0 topics cannot be drawn"):
        token_kernels.draw_topics(X.indptr, X.indices, X.data, mixtures, phi, rng, counts, words)


@pytest.mark.parametrize("least", [0.0, -0.3, np.nan])
def test_documents_cannot_be_moved_apart_by_no_distance(least):
    with pytest.raises(ValueError, match="above 0"):
        layout_kernels.spread_documents(np.array([[0.0, 0.0], [0.5, 0.0]]), least, 1)


def test_indices_of_64_bits_give_the_same_bits():
    given, wide = make_arguments("count_topics"), make_arguments("count_topics")
    wide[:2] = [each.astype(np.int64) for each in wide[:2]]
    token_kernels.count_topics(*given)
    token_kernels.count_topics(*wide)
    np.testing.assert_array_equal(given[6], wide[6])


def test_a_map_without_bounds_is_refused():
    with pytest.raises(MemoryError, match="too large"):
        layout_kernels.spread_documents(np.array([[0.0, 0.0], [1e9, 1e9]]), 0.01, 3)
    with pytest.raises(MemoryError, match="too large"):
        layout_kernels.spread_documents(np.array([[0.0, 0.0], [np.inf, 0.5]]), 0.01, 3)


def test_a_generator_is_locked_while_a_loop_draws_from_it():
    rng = np.random.default_rng(0)
    with compiled.hold_generator(rng) as (draw, state):
        with ThreadPoolExecutor(1) as other:
            assert not other.submit(rng.bit_generator.lock.acquire, blocking=False).result()
        function = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p)(draw.value)
        found = [function(state) for _ in range(3)]
    np.testing.assert_array_equal(found, np.random.default_rng(0).random(3))


def test_a_missing_library_names_the_remedy(tmp_path):
    with pytest.raises(ImportError, match=r"missing .*pip install --force-reinstall anchorless"):
        compiled.load_library(tmp_path / "kernels.so")


def test_a_file_that_is_no_library_names_the_remedy(tmp_path):
    path = tmp_path / "kernels.so"
    path.write_bytes(b"nothing that a processor executes")
    with pytest.raises(ImportError, match=r"cannot be loaded .*pip install --force-reinstall anchorless"):
        compiled.load_library(path)


def test_a_library_of_other_c_files_is_refused(monkeypatch):
    monkeypatch.setattr(compiled, "hash_source", lambda: "other")
    with pytest.raises(ImportError, match=r"not that of its C files .*python hatch_build\.py"):
        compiled.load_library()


def test_the_hash_depends_on_every_c_file(tmp_path):
    for name in ("a.c", "b.c"):
        (tmp_path / name).write_text(name)
    before = compiled.hash_source(tmp_path)
    (tmp_path / "b.c").write_text("changed")
    assert compiled.hash_source(tmp_path) != before


def test_a_command_without_the_library_says_what_to_do(tmp_path):
    code = (
        "import sys, pathlib; from anchorless._cli.entry import main;"
        "exists = pathlib.Path.exists; pathlib.Path.exists = lambda p: p.name[:8] != 'kernels.' and exists(p);"
        "sys.argv = ['anchorless', 'demo']; sys.exit(main())"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert found.returncode == 1
    assert "the compiled part of anchorless is missing" in found.stderr
    assert found.stderr.count("pip install --force-reinstall anchorless") == 1
    assert len(found.stderr.splitlines()) == 1
