"""Laws of the block file: it gives back what was written, and a damaged file never reaches compiled code."""

from contextlib import suppress

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from anchorless._corpus.disk.block_file import find_smallest_type, is_valid_csr, read_block, read_facts, write_block
from anchorless._corpus.disk.block_folder import BlockFolder
from anchorless.errors import InputError
from tests.helpers.properties import run_examples

N_WORDS = 7
VALUES = st.integers(0, 300) | st.integers(0, 2**33) | st.floats(allow_nan=False)


@st.composite
def matrices(draw):
    """Return a CSR matrix, documents × N_WORDS."""
    n_rows = draw(st.integers(0, 5))
    drawn = draw(st.lists(VALUES, min_size=n_rows * N_WORDS, max_size=n_rows * N_WORDS))
    return sp.csr_matrix(np.array(drawn, dtype=float).reshape(n_rows, N_WORDS))


WORDS = st.lists(st.text(st.characters(exclude_categories=("Cs",)), max_size=5), max_size=5)


@run_examples(40)
@given(X=matrices(), words=WORDS)
def test_what_is_written_is_read_to_the_bit(tmp_path, X, words):
    facts = {"rows": X.shape[0], "words": words}
    write_block(tmp_path / "a.block", X, words, facts)
    counts, found = read_block(tmp_path / "a.block", N_WORDS, verify=True)
    assert counts.shape == X.shape
    np.testing.assert_array_equal(counts.toarray(), X.toarray())
    assert found.to_pylist() == words
    assert read_facts(tmp_path / "a.block") == facts


@pytest.fixture
def folder(tmp_path):
    X = sp.csr_matrix(np.random.default_rng(0).poisson(0.5, (6, N_WORDS)))
    with BlockFolder.create(tmp_path / "blocks", {}) as folder:
        folder.append(X, ["one", "two"])
    return folder


def damaged_read(folder, content):
    """Read the block of a folder from other bytes: with its checksum, then without it."""
    path = folder.block_path(0)
    path.write_bytes(content)
    with pytest.raises(InputError, match="damaged"):
        folder._verified.clear() or folder.read(0, N_WORDS)
    with suppress(InputError):
        read_facts(path)
    try:
        X, _ = read_block(path, N_WORDS)
    except InputError:
        return None
    assert is_valid_csr(X.data, X.indices, X.indptr, N_WORDS)
    return X @ np.ones(N_WORDS)


@run_examples(100)
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_a_flipped_bit_is_refused(folder, place, bit):
    path = folder.block_path(0)
    content = path.read_bytes()
    changed = bytearray(content)
    changed[int(place * len(content))] ^= 1 << bit
    damaged_read(folder, changed)
    path.write_bytes(content)


@run_examples(60)
@given(share=st.floats(0, 1, exclude_max=True))
def test_a_truncated_file_is_refused_even_without_its_checksum(folder, share):
    path = folder.block_path(0)
    content = path.read_bytes()
    assert damaged_read(folder, content[: int(share * len(content))]) is None
    path.write_bytes(content)


@run_examples(60)
@given(content=st.binary(max_size=200))
def test_other_bytes_are_refused(folder, content):
    assert damaged_read(folder, content) is None


@pytest.mark.parametrize(
    ("data", "indices", "indptr"),
    [
        ([1, 1], [0, 7], [0, 2]),
        ([1, 1], [0, -1], [0, 2]),
        ([1, 1], [0, 1], [0, 3]),
        ([1, 1], [0, 1], [1, 2]),
        ([1, 1], [0, 1], [0, 2, 1, 2]),
        ([1], [0, 1], [0, 2]),
        ([1, 1], [0, 1], []),
    ],
)
def test_arrays_that_do_not_fit_together_are_no_matrix(data, indices, indptr):
    given = np.array(data, np.uint8), np.array(indices, np.int32), np.array(indptr, np.int32)
    assert not is_valid_csr(*given, N_WORDS)
    assert is_valid_csr(np.ones(2), np.array([0, 6], np.int32), np.array([0, 2, 2], np.int64), N_WORDS)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([], np.uint8),
        ([255.0], np.uint8),
        ([256.0], np.uint16),
        ([65_536.0], np.uint32),
        ([2.0**32], np.float64),
        ([0.5], np.float64),
        ([-1.0], np.float64),
        ([np.nan], np.float64),
        ([np.inf], np.float64),
    ],
)
def test_the_smallest_type_holds_the_values(values, kind):
    assert find_smallest_type(np.array(values)) == kind


def test_arrays_are_mapped_and_not_copied(folder):
    counts, _ = folder.read(0, N_WORDS)
    assert not counts.data.flags.writeable
    assert not counts.data.flags.owndata
