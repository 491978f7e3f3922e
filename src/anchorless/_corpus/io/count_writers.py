"""Write counts for other programs: SciPy, Matrix Market, UCI, SVMlight, LDA-C."""

from __future__ import annotations

import io
import os
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from anchorless._corpus.io.count_readers import choose_format
from anchorless._corpus.io.formats import WRITABLE_FORMATS
from anchorless._corpus.io.pairs import format_pair_lines, is_whole
from anchorless._corpus.io.vocabularies import list_companions, refuse_bad_words
from anchorless._corpus.sparse import to_canonical_csr
from anchorless._file_groups import atomic_write_group
from anchorless._files import validate_target
from anchorless.errors import InputError, UsageError

#: Formats that hold only whole counts.
INTEGER_FORMATS = ("uci", "ldac")
#: Entries that are formatted, and bytes that are compressed, at a time: a tenth of a second.
ENTRIES_PER_PART, BYTES_PER_PIECE = 1 << 18, 1 << 18
#: Comments, then the number of rows, columns and entries.
MATRIX_MARKET_HEADER = re.compile(rb"\A(?:%[^\n]*\n)+(\d+) (\d+) (\d+)\n")


def write_counts(
    path: str | os.PathLike[str],
    counts: Any,
    vocabulary: Sequence[str],
    labels: Sequence[str] | None = None,
    *,
    format: str | None = None,
    force: bool = False,
) -> list[Path]:
    """Write documents × words, the vocabulary, and the labels if there are any; return the files.

    `format` is one of WRITABLE_FORMATS, by default guessed from the name; if that ends in .gz, the file is compressed.
    `read_counts` finds the vocabulary and the labels by their names.
    """
    path, counts = Path(path), to_canonical_csr(counts)
    format = choose_format(path, format, WRITABLE_FORMATS)
    check_writable(path, counts, vocabulary, labels, format)
    words_file, labels_file = list_companions(path, format)
    lines = {words_file: vocabulary} | ({} if labels is None else {labels_file: labels})
    if labels is None:
        validate_target(labels_file, force)  # labels of other documents would be taken for those of these
    with atomic_write_group([path, *lines], force=force) as (matrix, *others):
        write_matrix(matrix, path.name, counts, labels, format)
        for temporary, texts in zip(others, lines.values(), strict=True):
            temporary.write_bytes("".join(f"{text}\n" for text in texts).encode())
        if labels is None:
            labels_file.unlink(missing_ok=True)
    return [path, *lines]


def check_writable(
    path: Path, counts: Any, vocabulary: Sequence[str], labels: Sequence[str] | None, format: str
) -> None:
    """Refuse what the format cannot hold."""
    if format == "npz" and path.suffix != ".npz":
        raise UsageError(f"{path}: the npz format is compressed already; let the name end in .npz")
    n_documents, n_words = counts.shape
    if len(vocabulary) != n_words:
        raise InputError(f"{len(vocabulary):,} words for {n_words:,} columns of counts; give one word per column")
    refuse_bad_words(list(vocabulary), "the vocabulary")
    if labels is not None and len(labels) != n_documents:
        raise InputError(f"{len(labels):,} labels for {n_documents:,} documents; give one label per document")
    if labels is not None and any(not label.strip() or len(label.splitlines()) > 1 for label in labels):
        raise InputError("a label is blank or holds a line break, but labels are written one per line; change it")
    if format in INTEGER_FORMATS and not is_whole(counts):
        raise InputError(f"{path}: {format} holds whole counts, but some entries are fractions; write npz or mtx")


def write_matrix(path: Path, name: str, counts: Any, labels: Sequence[str] | None, format: str) -> None:
    """Write the counts to `path`, a temporary file; `name` is the name that it will get."""
    if format == "npz":
        write_npz(path, counts)
        return
    if format == "svmlight":
        parts = format_pair_lines(encode_labels(labels, counts.shape[0]), counts, 1)
    elif format == "ldac":
        parts = format_pair_lines(map(str, np.diff(counts.indptr).tolist()), counts, 0)
    else:
        parts = format_matrix_market(counts)
        if format == "uci":
            parts = replace_header(parts)
    with open(path, "wb") as file:
        file.writelines(compress_parts(parts) if name.endswith(".gz") else parts)


def write_npz(path: Path, counts: Any) -> None:
    """Write what `scipy.sparse.save_npz` writes, in pieces: Ctrl-C has to wait while one is compressed."""
    arrays = {
        "indices": counts.indices,
        "indptr": counts.indptr,
        "format": np.array(counts.format.encode("ascii")),
        "shape": np.array(counts.shape),
        "data": counts.data,
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                header = np.lib.format.header_data_from_array_1_0(array)
                np.lib.format.write_array_header_1_0(member, header)
                for piece in split_bytes(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data):
                    member.write(piece)


def format_matrix_market(counts: Any) -> Iterator[bytes]:
    """Yield what `scipy.io.mmwrite` writes, some rows at a time: Ctrl-C has to wait while it runs."""
    whole = is_whole(counts)
    starts = np.flatnonzero(np.diff(counts.indptr // ENTRIES_PER_PART, prepend=-1)[:-1])
    header = "%%MatrixMarket matrix coordinate {} general\n%\n{} {} {}\n"
    yield header.format("integer" if whole else "real", *counts.shape, counts.nnz).encode()
    for start, stop in pairwise([*starts.tolist(), counts.shape[0]]):
        rows = counts[start:stop].tocoo()
        values = rows.data.astype(np.int64) if whole else rows.data
        entries = sp.coo_matrix((values, (rows.row + start, rows.col)), counts.shape)
        stream = io.BytesIO()
        scipy.io.mmwrite(stream, entries, field="integer" if whole else "real", symmetry="general")
        yield MATRIX_MARKET_HEADER.sub(b"", stream.getvalue(), count=1)


def replace_header(parts: Iterator[bytes]) -> Iterator[bytes]:
    """Yield a Matrix Market file with the header of UCI."""
    yield MATRIX_MARKET_HEADER.sub(rb"\1\n\2\n\3\n", next(parts), count=1)
    yield from parts


def compress_parts(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield what `gzip.compress` returns without the time, so that equal content gives equal bytes."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    for part in parts:
        yield from map(compressor.compress, split_bytes(memoryview(part)))
    yield compressor.flush()


def split_bytes(content: memoryview) -> Iterator[memoryview]:
    """Yield pieces of content."""
    return (content[start : start + BYTES_PER_PIECE] for start in range(0, len(content), BYTES_PER_PIECE))


def encode_labels(labels: Sequence[str] | None, n_documents: int) -> list[str]:
    """Return labels as numbers, which SVMlight requires: names get 1, 2, … in alphabetical order, 0 means none."""
    if labels is None:
        return ["0"] * n_documents
    if all(label.removeprefix("-").isdecimal() for label in labels):
        return list(labels)
    number = {label: str(place) for place, label in enumerate(sorted(set(labels)), 1)}
    return [number[label] for label in labels]
