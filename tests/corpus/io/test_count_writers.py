"""Counts are written in small pieces, so that Ctrl-C need not wait, with the bytes of the libraries."""

import gzip
import io
import re

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from anchorless._corpus.io import count_writers
from anchorless._corpus.io.count_writers import compress_parts, format_matrix_market, replace_header, write_npz

rng = np.random.default_rng(0)
WHOLE = sp.csr_matrix(rng.poisson(0.4, (40, 7)).astype(float))
WIDE = sp.csr_matrix(rng.poisson(3, (3, 500)).astype(float))
EMPTY_ROWS = sp.csr_matrix(([2.0, 1.0, 3.0, 1.0], ([3, 3, 3, 8], [0, 1, 2, 2])), shape=(12, 4))
MATRICES = {
    "whole": WHOLE,
    "fractions": WHOLE / 3,
    "wide": WIDE,
    "empty rows": EMPTY_ROWS,
    "no entry": sp.csr_matrix((3, 4)),
    "no row": sp.csr_matrix((0, 4)),
}


@pytest.fixture(params=MATRICES)
def counts(request, monkeypatch):
    """Counts that are written in many pieces."""
    monkeypatch.setattr(count_writers, "ENTRIES_PER_PART", 3)
    monkeypatch.setattr(count_writers, "BYTES_PER_PIECE", 7)
    return MATRICES[request.param].copy()


def write_at_once(counts):
    whole, stream = np.all(counts.data == np.rint(counts.data)), io.BytesIO()
    entries = sp.coo_matrix(counts.astype(np.int64) if whole else counts)
    scipy.io.mmwrite(stream, entries, field="integer" if whole else "real", symmetry="general")
    content = stream.getvalue()
    return content if counts.nnz else content.replace(b" real ", b" integer ")  # SciPy has no type for no entries


def test_npz_is_that_of_scipy(counts, tmp_path):
    write_npz(tmp_path / "a.npz", counts)
    sp.save_npz(tmp_path / "b.npz", counts)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_matrix_market_is_that_of_scipy(counts):
    parts = list(format_matrix_market(counts))
    assert b"".join(parts) == write_at_once(counts)
    longest = max(np.diff(counts.indptr), default=0)
    assert all(part.count(b"\n") <= 3 + longest for part in parts)


def test_uci_has_its_own_header(counts):
    found = b"".join(replace_header(format_matrix_market(counts)))
    _, sizes, entries = re.split(rb"\A(?:%[^\n]*\n)+(.*\n)", write_at_once(counts), maxsplit=1)
    assert found == sizes.replace(b" ", b"\n") + entries


def test_compressed_files_are_those_of_gzip(counts):
    parts = list(format_matrix_market(counts))
    assert gzip.decompress(b"".join(compress_parts(parts))) == b"".join(parts)
    whole = b"".join(compress_parts([b"".join(parts)]))
    assert whole == b"".join(compress_parts(parts))  # however the content is divided
    assert whole[4:8] == bytes(4)  # without the time
