"""No file of counts makes compiled code read beyond its memory, or takes memory that its content does not justify."""

import gzip
import resource
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from anchorless._corpus.io import count_readers, limits, scipy_npz
from anchorless._corpus.io.count_readers import read_counts
from anchorless._corpus.io.count_writers import write_counts
from anchorless._corpus.io.limits import LONGEST_LINE
from anchorless.errors import InputError
from tests.helpers.fuzz_files import list_file_targets
from tests.helpers.fuzzing import fuzz
from tests.helpers.text_files import make_zip

MATRIX_MARKET = b"%%MatrixMarket matrix coordinate integer general\n"


def test_mutants_are_read_or_refused(tmp_path):
    """`make fuzz` reads many more."""
    outcomes = fuzz(list_file_targets(), 510, 0, tmp_path)
    assert {name for name, n in outcomes.items() if n} == {"used", "refused"}


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.mtx", MATRIX_MARKET + b"3 3 3\n1 1 1\n2 2 1\n3 3 1\0 5\n", "among its numbers"),
        ("a.mtx", MATRIX_MARKET + b"3 3 1\n1 4 1\n", "entry 1 is at 4, but places are 1 to 3"),
        ("a.mtx", MATRIX_MARKET + b"3 3 1\n0 1 1\n", "entry 1 is at 0"),
        ("a.mtx", MATRIX_MARKET + b"2000000000 3 1\n1 1 1\n", "declares 2,000,000,000 documents"),
        ("a.mtx", MATRIX_MARKET + b"3 3 2\n1 1 1\n", "declares 2 entries, but has 1"),
        ("a.mtx", MATRIX_MARKET + b"3 3 1\n1 1 1\n2 2 2\n", "declares 1 entries, but has more"),
        ("docword.a.txt", b"3\n3\n1\n4 1 1\n", "entry 1 is at 4"),
        ("docword.a.txt", b"3\n2000000000\n1\n1 1 1\n", "words, but has 1 entries"),
        ("a.svm", b"1 2000000000:1\n", "words, but has 1 entries"),
        ("a.svm", b"1 3:1_0\n", "line 1"),
        ("a.svm", b"1 1:1\n1 1:nan\n", "document 2, word 1 has the count nan"),
        ("a.ldac", b"1 0:inf\n", "document 1, word 1 has the count inf"),
        ("a.svm", b"1 1:-3\n", "has the count -3"),
        ("a.ldac", b"1 0:1e308\n", r"1e\+308, but counts are below 1e\+75"),
    ],
)
def test_wrong_numbers_are_refused_with_the_reason(tmp_path, name, content, reason):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=reason):
        read_counts(tmp_path / name)


@pytest.mark.parametrize(
    ("part", "place", "value"), [("indices", 0, 3), ("indices", 0, -1), ("indptr", 1, 9), ("indptr", 1, -1)]
)
@pytest.mark.parametrize("format", ["csr", "csc", "bsr"])
def test_npz_with_wrong_indices_is_refused(tmp_path, format, part, place, value):
    X = sp.csr_matrix(np.ones((3, 3))).asformat(format)
    arrays = {name: getattr(X, name).copy() for name in ("data", "indices", "indptr")}
    arrays[part][place] = value
    np.savez(tmp_path / "a.npz", format=format.encode(), shape=(3, 3), **arrays)
    with pytest.raises(InputError, match=r"a\.npz"):
        read_counts(tmp_path / "a.npz")


def test_npz_may_have_any_byte_order(tmp_path):
    X = sp.csr_matrix(np.arange(6.0).reshape(2, 3))
    arrays = {"data": X.data.astype(">f8"), "indices": X.indices.astype(">i4"), "indptr": X.indptr.astype(">i8")}
    np.savez(tmp_path / "a.npz", format=b"csr", shape=(2, 3), **arrays)
    np.testing.assert_array_equal(read_counts(tmp_path / "a.npz").counts.toarray(), X.toarray())


@pytest.mark.parametrize("format", ["csr", "csc", "bsr", "coo", "dia"])
def test_npz_keeps_what_scipy_wrote(tmp_path, format):
    X = sp.csr_matrix(np.arange(12).reshape(3, 4)).asformat(format)
    sp.save_npz(tmp_path / "a.npz", X)
    np.testing.assert_array_equal(read_counts(tmp_path / "a.npz").counts.toarray(), X.toarray())


@pytest.mark.parametrize("part", ["data", "indices", "indptr"])
def test_npz_whose_arrays_do_not_belong_together_is_refused_before_it_is_unpacked(tmp_path, part, monkeypatch):
    """Zeros of gigabytes take megabytes in a file."""
    X = sp.csr_matrix(np.ones((3, 3)))
    arrays = {name: getattr(X, name) for name in ("data", "indices", "indptr")}
    arrays[part] = np.zeros(10**6, arrays[part].dtype)
    np.savez_compressed(tmp_path / "a.npz", format=b"csr", shape=(3, 3), **arrays)
    unpacked, read = [], scipy_npz.read_array
    monkeypatch.setattr(scipy_npz, "read_array", lambda *args: unpacked.append(args[1].size) or read(*args))
    with pytest.raises(InputError, match="lengths that do not belong together"):
        read_counts(tmp_path / "a.npz")
    assert sum(unpacked) <= 3  # format and shape


def test_npz_that_needs_more_memory_than_there_is_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    sp.save_npz(tmp_path / "a.npz", sp.csr_matrix(np.ones((300, 300))))
    monkeypatch.setattr(limits, "measure_available_memory", lambda: 2_000_000)  # each array alone would fit
    with pytest.raises(InputError, match=r"needs 0\.0 GB of memory"):
        read_counts(tmp_path / "a.npz")


@pytest.mark.parametrize(("part", "value"), [("indices", 7), ("indptr", 7)])
def test_mat_with_wrong_indices_is_refused(tmp_path, part, value):
    X = sp.csc_matrix(np.ones((3, 3)))
    getattr(X, part)[1] = value
    X.has_sorted_indices = True  # otherwise SciPy sorts them before it writes
    scipy.io.savemat(tmp_path / "a.mat", {"fea": X})
    with pytest.raises(InputError, match=r"a\.mat cannot be read"):
        read_counts(tmp_path / "a.mat")


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32, np.float64, bool])
@pytest.mark.parametrize("sparse", [False, True])
def test_mat_is_read_as_scipy_reads_it(tmp_path, packed, dtype, sparse):
    X = np.random.default_rng(0).poisson(0.5, (9, 4)).astype(dtype)
    fea = sp.csc_matrix(X) if sparse else X
    content = {"other": [{"a": 1}], "text": "abc", "fea": fea, "gnd": np.arange(9)}
    scipy.io.savemat(tmp_path / "a.mat", content, do_compression=packed)
    found = read_counts(tmp_path / "a.mat")
    expected = sp.csr_matrix(scipy.io.loadmat(tmp_path / "a.mat")["fea"])
    np.testing.assert_array_equal(found.counts.toarray(), expected.toarray())
    assert found.labels == [str(k) for k in range(9)]


@pytest.mark.parametrize("header", ["coordinate real general", "coordinate integer symmetric", "array real general"])
def test_matrix_market_is_read_as_scipy_reads_it(tmp_path, header):
    layout, field, symmetry = header.split()
    X = np.random.default_rng(1).poisson(0.7, (6, 6)).astype(float)
    X = X + X.T if symmetry == "symmetric" else X[:, :4]
    values = X.astype(int) if field == "integer" else X
    written = values if layout == "array" else sp.coo_matrix(values)
    scipy.io.mmwrite(tmp_path / "a.mtx", written, comment="two\nlines", field=field, symmetry=symmetry)
    np.testing.assert_array_equal(read_counts(tmp_path / "a.mtx").counts.toarray(), X)


def test_space_in_matrix_market_may_be_any(tmp_path):
    content = MATRIX_MARKET + b"% comment\n\n 2\t3  2 \r\n1   1\t4\r\n\n  2 3 5  \n\n"
    (tmp_path / "a.mtx").write_bytes(content)
    np.testing.assert_array_equal(read_counts(tmp_path / "a.mtx").counts.toarray(), [[4, 0, 0], [0, 0, 5]])


def test_a_gzip_bomb_is_refused(tmp_path):
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    (tmp_path / "a.npz.gz").write_bytes(gzip.compress(b"PK" + bytes(4 * 10**8), 1))
    resource.setrlimit(resource.RLIMIT_AS, (used + 10**9, before[1]))
    try:
        with pytest.raises(InputError, match="unpacks to more than"):
            read_counts(tmp_path / "a.npz.gz")
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.parametrize(("name", "message"), [("a.npz.gz", "not a zip file"), ("a.mat.gz", "no header of a MATLAB")])
def test_what_a_gzip_bomb_is_not_is_known_from_its_first_bytes(tmp_path, monkeypatch, name, message):
    (tmp_path / name).write_bytes(gzip.compress(bytes(10**7), 1))
    monkeypatch.setattr(count_readers, "measure_available_memory", lambda: 4 * 10**6)  # not all of it fits
    with pytest.raises(InputError, match=message):
        read_counts(tmp_path / name)


@pytest.mark.parametrize("name", ["a.svm", "a.ldac", "a.mtx"])
def test_a_line_without_end_is_refused(tmp_path, name):
    start = MATRIX_MARKET + b"3 3 1\n" if name == "a.mtx" else b""
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(start + b"1" * (LONGEST_LINE + 2**24), 1))
    with pytest.raises(InputError, match="a line of it is longer than"):
        read_counts(tmp_path / f"{name}.gz")


def test_counts_beyond_whole_numbers_of_float64_are_not_written_as_such(tmp_path):
    """They wrapped around to another number."""
    X = sp.csr_matrix([[1e30, 1.0]])
    write_counts(tmp_path / "a.mtx", X, ["a", "b"])
    np.testing.assert_array_equal(read_counts(tmp_path / "a.mtx").counts.toarray(), X.toarray())
    with pytest.raises(InputError, match="whole counts"):
        write_counts(tmp_path / "a.ldac", X, ["a", "b"])


def test_npz_with_a_header_that_is_nested_too_deeply_is_refused(tmp_path):
    header = b"-" * 9000 + b"1"  # Python's parser raises MemoryError
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    (tmp_path / "a.npz").write_bytes(make_zip({f"{name}.npy": content for name in ("format", "shape", "data")}))
    with pytest.raises(InputError, match="nested too deeply"):
        read_counts(tmp_path / "a.npz")
