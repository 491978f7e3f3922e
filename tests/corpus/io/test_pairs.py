import io

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from anchorless._corpus.io import pairs as module
from anchorless._corpus.io.pairs import format_pair_lines, pairs_to_csr, read_pairs
from anchorless._files import ByteStream
from anchorless.errors import InputError


def read(content, has_sizes=False):
    return read_pairs(ByteStream(io.BytesIO(content), "a.svm"), has_sizes=has_sizes)


def some_counts(seed=0, whole=True):
    rng = np.random.default_rng(seed)
    X = sp.random(50, 30, density=0.2, random_state=seed, format="csr")
    X.data = rng.integers(1, 9, X.nnz).astype(float) if whole else rng.standard_exponential(X.nnz)
    return X


@pytest.mark.parametrize("block", [1, 100, 1 << 22])
@pytest.mark.parametrize("whole", [True, False])
def test_reading_agrees_with_scikit_learn(monkeypatch, block, whole):
    monkeypatch.setattr(module, "BYTES_PER_READ", block)
    stream = io.BytesIO()
    dump_svmlight_file(some_counts(whole=whole), np.arange(50), stream, zero_based=False, comment="a comment")
    X, y = load_svmlight_file(io.BytesIO(stream.getvalue()), n_features=30, zero_based=False)
    found = read(stream.getvalue())
    assert (pairs_to_csr(found, 1, 30) != X).nnz == 0
    np.testing.assert_array_equal([float(first) for first in found.first_fields], y)


@pytest.mark.parametrize("whole", [True, False])
def test_writing_agrees_with_scikit_learn(whole):
    X = some_counts(whole=whole)
    lines = b"".join(format_pair_lines(map(str, range(50)), X, 1))
    found, y = load_svmlight_file(io.BytesIO(lines), n_features=30, zero_based=False)
    assert (found != X).nnz == 0
    np.testing.assert_array_equal(y, np.arange(50))


def test_comments_blank_lines_query_ids_and_unsorted_words_are_read():
    found = read(b"# head\n1 qid:7 3:2 1:5 # tail\n\n-1\n")
    assert found.first_fields == [b"1", b"-1"]
    np.testing.assert_array_equal(pairs_to_csr(found, 1, 0).toarray(), [[5, 0, 2], [0, 0, 0]])


@pytest.mark.parametrize(
    "bad", ["2 1", "2 1:", "2 :1", "2 1:2:3", "2 a:1", "2 1.5:1", "2 1:x", "2 -1:2", "2 99999999999:1"]
)
def test_a_bad_line_is_named(bad):
    content = "1 1:1\n" * 4 + bad + "\n" + "1 1:1\n" * 4
    with pytest.raises(InputError, match=r"a\.svm, line 5: .* is not a number followed by pairs such as 3:1"):
        read(content.encode())


def test_a_wrong_number_of_pairs_is_not_ldac():
    read(b"2 0:1 5:2\n0\n1 3:1\n", has_sizes=True)
    with pytest.raises(InputError, match=r"document 2 starts with '2' but has 1 pairs, so the file is not LDA-C"):
        read(b"2 0:1 5:2\n2 3:1\n", has_sizes=True)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"# nothing\n"])
def test_no_documents_are_an_error(content):
    with pytest.raises(InputError, match="holds no documents"):
        read(content)
