"""Files of documents that are counted already: documents × words, with the vocabulary from beside them."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import scipy.io
import scipy.sparse as sp

from anchorless._corpus.io.pairs import Pairs, pairs_to_csr, read_pairs
from anchorless._corpus.io.vocabularies import find_vocabulary, get_stem, read_lines, read_vocabulary
from anchorless._corpus.sparse import to_canonical_csr
from anchorless._files import ByteStream, InputFile, open_input
from anchorless.errors import AnchorlessError, InputError, UsageError

COUNT_FORMATS = ("npz", "mtx", "uci", "svmlight", "ldac", "mat")
#: End of a name, without .gz → format.
COUNT_FORMAT_BY_EXTENSION = {
    ".npz": "npz",
    ".mtx": "mtx",
    ".mm": "mtx",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".ldac": "ldac",
    ".lda-c": "ldac",
    ".mat": "mat",
}
#: The first line of an LDA-C file, which is often called something.dat.
LDAC_LINE = re.compile(rb"\d+( \d+:\d+)+\s*")
#: Formats that may end at the last word that occurs, so that the vocabulary may be longer; gensim's .mm does too.
OPEN_ENDED_FORMATS = ("svmlight", "ldac", "uci")


class CountedDocuments(NamedTuple):
    """Documents × words."""

    counts: Any  # CSR of float64
    vocabulary: list[str]  # word_0, word_1, … when no file names them
    labels: list[str] | None  # one per document
    name: str  # of the file
    vocabulary_name: str | None  # of the file of the words, None when there is none


class LabeledMatrix(NamedTuple):
    """What a file of counts holds by itself."""

    counts: Any
    labels: list[str] | None


def guess_counts_format(path: str | os.PathLike[str]) -> str | None:
    """Return the format of a file of counts by its name, None if it should be read as text."""
    name = Path(path).name.lower().removesuffix(".gz")
    if name.startswith("docword."):
        return "uci"
    if name.endswith(".dat") and Path(path).is_file():
        return "ldac" if is_ldac(path) else None
    return COUNT_FORMAT_BY_EXTENSION.get(Path(name).suffix)


def is_ldac(path: str | os.PathLike[str]) -> bool:
    """Say whether a file begins with a line of LDA-C."""
    file = open_input(path)
    try:
        line = io.BufferedReader(file.stream).readline(1 << 20)
    finally:
        file.close()
    return LDAC_LINE.fullmatch(line[: line.rfind(b" ")] if len(line) == 1 << 20 else line) is not None


def read_counts(
    path: str | os.PathLike[str],
    *,
    vocabulary: str | os.PathLike[str] | Sequence[str] | None = None,
    format: str | None = None,
) -> CountedDocuments:
    """Read documents × words and their vocabulary.

    `format` is one of COUNT_FORMATS, by default told from the name. `vocabulary` is a file or the words
    themselves; by default the file beside it with a customary name is read (reviews.vocab.txt for reviews.npz).
    Labels come from SVMlight, from `gnd` of a .mat file, or from a file such as reviews.labels.txt.
    """
    format = format or guess_counts_format(path)
    if format not in COUNT_FORMATS:
        raise UsageError(f"{os.fspath(path)}: format={format!r}, but counts come as {', '.join(COUNT_FORMATS)}")
    words, vocabulary_name = load_words(vocabulary, Path(path), format)
    file = open_input(path)
    try:
        matrix = read_matrix(file, format, len(words) if words else None)
    finally:
        file.close()
    counts = to_canonical_csr(matrix.counts)
    if 0 in counts.shape:
        raise InputError(f"{file.name} is {counts.shape[0]} documents × {counts.shape[1]} words: nothing to read")
    if words is None:
        words = [f"word_{place}" for place in range(counts.shape[1])]
    open_ended = format in OPEN_ENDED_FORMATS or file.name.lower().removesuffix(".gz").endswith(".mm")
    counts = add_missing_columns(counts, words, open_ended, file.name, vocabulary_name or "the vocabulary")
    return CountedDocuments(counts, words, load_labels(matrix, Path(path)), file.name, vocabulary_name)


def load_words(
    given: str | os.PathLike[str] | Sequence[str] | None, path: Path, format: str
) -> tuple[list[str] | None, str | None]:
    """Return the words and the name of their file, each None where there is none."""
    if given is None:
        given = find_vocabulary(path, format)
    if given is None:
        return None, None
    if isinstance(given, str | os.PathLike):
        return read_vocabulary(given), os.fspath(given)
    return list(given), None


def add_missing_columns(counts: Any, words: list[str], open_ended: bool, name: str, where: str) -> Any:
    """Return the counts with a column for each word, where the format leaves the last ones open; else refuse."""
    n_documents, n_columns = counts.shape
    if len(words) == n_columns:
        return counts
    if open_ended and n_columns < len(words) and n_documents != len(words):
        return sp.csr_matrix((counts.data, counts.indices, counts.indptr), shape=(n_documents, len(words)))
    message = f"{name} is {n_documents:,} × {n_columns:,}, documents × words, but {where} has {len(words):,} words"
    if n_documents == len(words):
        raise InputError(f"{message}: it seems to be words × documents; transpose it")
    raise InputError(f"{message}; pass the vocabulary that belongs to it")


def load_labels(matrix: LabeledMatrix, path: Path) -> list[str] | None:
    """Return a label for each document, from the file of labels beside it if it has as many lines."""
    beside = path.with_name(f"{get_stem(path)}.labels.txt")
    if beside.is_file():
        labels = read_lines(beside)
        if len(labels) == matrix.counts.shape[0]:
            return labels
    return matrix.labels


def read_matrix(file: InputFile, format: str, n_words: int | None) -> LabeledMatrix:
    """Return what a file holds by itself; n_words is the size of the vocabulary, where one is known."""
    if not file.stream.peek(1):
        raise InputError(f"{file.name} is empty")
    if format in ("svmlight", "ldac"):
        pairs = read_pairs(file.stream, counted=format == "ldac")
        first_index = 0 if format == "ldac" or (len(pairs.indices) and pairs.indices.min() == 0) else 1
        labels = None if format == "ldac" else decode_labels(pairs)
        return LabeledMatrix(pairs_to_csr(pairs, first_index, n_words), labels)
    with wrap_reader_errors(file.name, format):
        if format in ("npz", "mat"):
            with open_seekable(file) as source:
                return LabeledMatrix(sp.load_npz(source), None) if format == "npz" else read_mat(source, file.name)
        stream = uci_to_matrix_market(file) if format == "uci" else file.stream
        return LabeledMatrix(scipy.io.mmread(io.BufferedReader(stream)), None)


@contextmanager
def wrap_reader_errors(name: str, format: str) -> Iterator[None]:
    """Turn whatever a foreign reader raises for a damaged file (any type: they do not say) into an InputError."""
    try:
        yield
    except (AnchorlessError, MemoryError):
        raise
    except NotImplementedError:
        raise InputError(f"{name} is a MATLAB file of version 7.3; save it with -v7") from None
    except Exception as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(f"{name} cannot be read as {format}: {why}") from error


def open_seekable(file: InputFile) -> IO[bytes]:
    """Return an open file to jump about in."""
    if file.path is not None and not file.compressed:
        return open(file.path, "rb")  # ours to close: numpy leaves a damaged one open
    return io.BytesIO(io.BufferedReader(file.stream).read())


def read_mat(source: Any, name: str) -> LabeledMatrix:
    """Return `fea` and `gnd` of a MATLAB file."""
    content = scipy.io.loadmat(source)
    if "fea" not in content:
        names = ", ".join(key for key in content if not key.startswith("__")) or "nothing"
        raise InputError(f"{name} has no variable fea (documents × words); it holds {names}")
    counts = sp.csr_matrix(content["fea"])
    if "gnd" not in content:
        return LabeledMatrix(counts, None)
    labels = [f"{label:g}" if isinstance(label, float) else str(label) for label in content["gnd"].ravel().tolist()]
    if len(labels) != counts.shape[0]:
        raise InputError(f"{name}: gnd has {len(labels)} labels, but fea has {counts.shape[0]} documents")
    return LabeledMatrix(counts, labels)


def uci_to_matrix_market(file: InputFile) -> ByteStream:
    """Return a UCI file as Matrix Market: they differ in the first lines only."""
    buffered = io.BufferedReader(file.stream)
    sizes = [buffered.readline(100).strip() for _ in range(3)]
    if not all(size.isdigit() for size in sizes):
        raise InputError(f"{file.name}: its first three lines must be the numbers of documents, words and entries")
    return ByteStream(
        buffered, file.name, b"%%MatrixMarket matrix coordinate real general\n" + b" ".join(sizes) + b"\n"
    )


def decode_labels(pairs: Pairs) -> list[str] | None:
    """Return the labels of SVMlight lines; a label that all documents share says nothing."""
    if len(set(pairs.first_fields)) == 1:
        return None
    return [first.decode(errors="replace") for first in pairs.first_fields]
