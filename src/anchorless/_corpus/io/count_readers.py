"""Read files of counts, documents × words, with the vocabulary and the labels in the files beside them."""

from __future__ import annotations

import io
import math
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from anchorless._corpus.io.formats import COUNT_FORMATS
from anchorless._corpus.io.limits import check_declared_shape
from anchorless._corpus.io.matlab import read_matlab
from anchorless._corpus.io.matrix_market import read_matrix_market, read_uci
from anchorless._corpus.io.pairs import pairs_to_csr, read_pairs
from anchorless._corpus.io.scipy_npz import read_npz
from anchorless._corpus.io.vocabularies import find_vocabulary, get_stem, list_companions, read_lines, read_vocabulary
from anchorless._corpus.memory import measure_available_memory
from anchorless._corpus.sparse import to_canonical_csr
from anchorless._file_groups import read_group
from anchorless._files import BUFFER_SIZE, InputFile, PathLike, open_input
from anchorless._validation import LARGEST_ENTRY, inspect_block
from anchorless.errors import AnchorlessError, InputError, UsageError

#: Extensions of each format, without .gz.
EXTENSIONS = {"npz": "npz", "mtx": "mtx mm", "svmlight": "svm svmlight libsvm", "ldac": "ldac lda-c", "mat": "mat"}
FORMAT_BY_EXTENSION = {f".{name}": format for format, names in EXTENSIONS.items() for name in names.split()}
#: The first line of an LDA-C file, whose name often ends in .dat.
LDAC_LINE = re.compile(rb"\d+( \d+:\d+)+\s*")
#: Formats whose last column is the last word that occurs: the vocabulary may be longer. So is gensim's .mm.
OPEN_ENDED_FORMATS = ("svmlight", "ldac", "uci")
#: How a zip file begins, as .npz files are.
ZIP_MAGIC = b"PK"


class CountedDocuments(NamedTuple):
    """Documents × words."""

    counts: Any  # CSR of float64
    vocabulary: list[str]  # word_0, word_1, … if no file names them
    labels: list[str] | None  # one per document
    name: str  # of the file
    vocabulary_name: str | None  # of the file of the words; None if there is none


def guess_counts_format(path: PathLike) -> str | None:
    """Return the format of a file of counts by its name; None if it should be read as text."""
    name = Path(path).name.lower().removesuffix(".gz")
    if name.startswith("docword."):
        return "uci"
    if name.endswith(".dat") and Path(path).is_file():
        with open_input(path) as file:
            line = io.BufferedReader(file.stream).readline(1 << 20)
        return "ldac" if LDAC_LINE.fullmatch(line[: line.rfind(b" ")] if len(line) == 1 << 20 else line) else None
    return FORMAT_BY_EXTENSION.get(Path(name).suffix)


def choose_format(path: PathLike, given: str | None, known: Sequence[str]) -> str:
    """Return the format that is given, or that of the name; refuse one that is not known."""
    format = given or guess_counts_format(path)
    if format is None or format not in known:
        problem, parameter = f"{os.fspath(path)} is not in a known format of counts", "format" if format else None
        remedy = f"set {{format}} to one of {', '.join(known)}"
        raise UsageError(problem, parameter=parameter, value=format, remedy=remedy)
    return format


def read_counts(
    path: PathLike, *, vocabulary: PathLike | Sequence[str] | None = None, format: str | None = None
) -> CountedDocuments:
    """Read documents × words and their vocabulary.

    `format` is one of COUNT_FORMATS, by default guessed from the name. `vocabulary` is a file or the words
    themselves; by default a file with a usual name beside `path` is read (reviews.vocab.txt for reviews.npz).
    Labels come from SVMlight, from `gnd` of a .mat file, or from a file such as reviews.labels.txt.
    """
    found = choose_format(path, format, COUNT_FORMATS)
    group = [Path(path), *list_companions(Path(path), found)]
    return read_group(group, lambda: read_files(path, vocabulary, found))


def read_files(path: PathLike, vocabulary: PathLike | Sequence[str] | None, format: str) -> CountedDocuments:
    """Read counts of a known format with the files beside them."""
    given: Any = find_vocabulary(Path(path), format) if vocabulary is None else vocabulary
    vocabulary_name = os.fspath(given) if isinstance(given, str | os.PathLike) else None
    words = read_vocabulary(vocabulary_name) if vocabulary_name is not None else [*([] if given is None else given)]
    with open_input(path) as file:
        matrix, labels = read_matrix(file, format, len(words))
        with wrap_reader_errors(file.name, format):
            counts = to_canonical_csr(matrix)
    refuse_bad_entries(counts, file.name)
    n_documents, n_columns = counts.shape
    if 0 in counts.shape:
        raise InputError(f"{file.name} has {n_documents} documents and {n_columns} words; give a file with counts")
    if given is None:
        words = [f"word_{place}" for place in range(n_columns)]
    open_ended = format in OPEN_ENDED_FORMATS or file.name.lower().removesuffix(".gz").endswith(".mm")
    counts = add_missing_columns(counts, words, open_ended, file.name, vocabulary_name or "the vocabulary")
    beside = Path(path).with_name(f"{get_stem(Path(path))}.labels.txt")
    if os.path.isfile(beside) and len(lines := read_lines(beside)) == n_documents:
        labels = lines
    return CountedDocuments(counts, words, labels, file.name, vocabulary_name)


def add_missing_columns(counts: Any, words: list[str], open_ended: bool, name: str, where: str) -> Any:
    """Return the counts with a column for each word if the format leaves out the last ones; else refuse them."""
    n_documents, n_columns = counts.shape
    if len(words) == n_columns:
        return counts
    if open_ended and n_columns < len(words) and n_documents != len(words):
        return sp.csr_matrix((counts.data, counts.indices, counts.indptr), shape=(n_documents, len(words)))
    message = f"{name} is {n_documents:,} × {n_columns:,}, documents × words, but {where} has {len(words):,} words"
    if n_documents == len(words):
        raise InputError(f"{message}: it seems to be words × documents; transpose it")
    raise InputError(message, remedy="set {vocabulary} to the file that belongs to it")


def read_matrix(file: InputFile, format: str, n_words: int) -> tuple[Any, list[str] | None]:
    """Return the counts and labels of a file; `n_words` is the size of the vocabulary, 0 if there is none."""
    if not file.stream.peek(1):
        raise InputError(f"{file.name} is empty; give a file with counts")
    with wrap_reader_errors(file.name, format):
        if format in ("svmlight", "ldac"):
            pairs = read_pairs(file.stream, has_sizes=format == "ldac")
            first_index = 0 if format == "ldac" or (len(pairs.indices) and pairs.indices.min() == 0) else 1
            check_declared_shape(0, int(pairs.indices.max(initial=0)) + 1, max(n_words, len(pairs.indices)))
            has_labels = format == "svmlight" and len(set(pairs.first_fields)) > 1
            labels = [first.decode(errors="replace") for first in pairs.first_fields] if has_labels else None
            return pairs_to_csr(pairs, first_index, n_words), labels
        if format == "npz":
            with open_seekable(file) as source:
                return read_npz(source), None
        if format == "mat":
            return read_mat(io.BufferedReader(file.stream), file.name)
        read = read_uci if format == "uci" else read_matrix_market
        return read(io.BufferedReader(file.stream)), None


def refuse_bad_entries(counts: Any, name: str) -> None:
    """Refuse counts that are not finite numbers of at least 0, or whose squares overflow or vanish."""
    _, bad = inspect_block(counts)
    if bad is not None:
        document, word, value = bad
        problem = f"{name}: document {document + 1}, word {word + 1} has the count {value:g}"
        is_count = np.isfinite(value) and value >= 0
        limit = f"below {LARGEST_ENTRY:g}, and not all of them tiny" if is_count else "finite and at least 0"
        raise InputError(f"{problem}, but counts are {limit}; correct or remove it")


@contextmanager
def wrap_reader_errors(name: str, format: str) -> Iterator[None]:
    """Turn any error of a reader into an InputError that names the file."""
    try:
        yield
    except (AnchorlessError, MemoryError):
        raise
    except Exception as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(f"{name} cannot be read as {format}: {why}; is it another format, or damaged?") from error


def open_seekable(file: InputFile) -> IO[bytes]:
    """Return an open zip file that can be read in any order."""
    if file.path is not None and not file.compressed:
        return open(file.path, "rb")  # opened here because NumPy does not close a damaged file
    if not file.stream.peek(len(ZIP_MAGIC)).startswith(ZIP_MAGIC):
        raise ValueError("File is not a zip file")
    available = measure_available_memory()
    most = math.inf if available is None else available // 4  # a few kilobytes may unpack to more than any memory
    content, source = io.BytesIO(), io.BufferedReader(file.stream, BUFFER_SIZE)
    while piece := source.read(BUFFER_SIZE):
        content.write(piece)
        if content.tell() > most:
            raise ValueError(f"it unpacks to more than {most / 1e9:,.1f} GB, a quarter of the available memory")
    content.seek(0)
    return content


def read_mat(source: Any, name: str) -> tuple[Any, list[str] | None]:
    """Return `fea` and `gnd` of a MATLAB file."""
    content = read_matlab(source, ("fea", "gnd"))
    if content.get("fea") is None:
        names = ", ".join(content) or "nothing"
        raise InputError(f"{name} has no variable fea (documents × words); it holds {names}; rename the counts to fea")
    fea, gnd = content["fea"], content.get("gnd")
    counts = fea if sp.issparse(fea) else sp.csr_matrix(fea.astype(np.float64))
    if "gnd" not in content:
        return counts, None
    if gnd is None or sp.issparse(gnd):
        raise InputError(f"{name}: gnd must be a column of numbers, one per document; save it so, or remove it")
    labels = [f"{label:g}" if isinstance(label, float) else str(label) for label in gnd.ravel().tolist()]
    if len(labels) != counts.shape[0]:
        raise InputError(f"{name}: gnd has {len(labels)} labels, but fea has {counts.shape[0]} documents; remove gnd")
    return counts, labels
