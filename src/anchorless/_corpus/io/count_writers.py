"""Write counts for other programs: SciPy, Matrix Market, UCI, SVMlight, LDA-C."""

from __future__ import annotations

import gzip
import io
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from anchorless._corpus.io.count_readers import choose_format
from anchorless._corpus.io.pairs import format_pair_lines, is_whole
from anchorless._corpus.io.vocabularies import list_companions, refuse_bad_words
from anchorless._corpus.sparse import to_canonical_csr
from anchorless._file_groups import atomic_write_group
from anchorless._files import validate_target
from anchorless.errors import InputError, UsageError

WRITABLE_FORMATS = ("npz", "mtx", "uci", "svmlight", "ldac")
#: Formats that hold only whole counts.
INTEGER_FORMATS = ("uci", "ldac")
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
        sp.save_npz(path, counts)
        return
    if format == "svmlight":
        content = b"".join(format_pair_lines(encode_labels(labels, counts.shape[0]), counts, 1))
    elif format == "ldac":
        content = b"".join(format_pair_lines(map(str, np.diff(counts.indptr).tolist()), counts, 0))
    else:
        stream = io.BytesIO()
        whole = is_whole(counts)
        entries = sp.coo_matrix(counts.astype(np.int64) if whole else counts)
        scipy.io.mmwrite(stream, entries, field="integer" if whole else "real", symmetry="general")
        content = stream.getvalue()
        if format == "uci":
            content = MATRIX_MARKET_HEADER.sub(rb"\1\n\2\n\3\n", content, count=1)
    # Without the time, so that equal content gives equal bytes.
    path.write_bytes(gzip.compress(content, mtime=0) if name.endswith(".gz") else content)


def encode_labels(labels: Sequence[str] | None, n_documents: int) -> list[str]:
    """Return labels as numbers, which SVMlight requires: names get 1, 2, … in alphabetical order, 0 means none."""
    if labels is None:
        return ["0"] * n_documents
    if all(label.removeprefix("-").isdecimal() for label in labels):
        return list(labels)
    number = {label: str(place) for place, label in enumerate(sorted(set(labels)), 1)}
    return [number[label] for label in labels]
