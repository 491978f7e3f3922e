"""Read and write lines of index:value pairs, the formats SVMlight and LDA-C.

SVMlight: `label 3:1 17:2 # comment`, words counted from 1 (some programs: from 0). LDA-C: `2 2:1 16:2`, where the
first number says how many pairs follow, words counted from 0. scikit-learn's reader does not name the line of an error.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from anchorless._corpus.io.limits import read_line_blocks
from anchorless._files import ByteStream
from anchorless.errors import InputError

#: Bytes of lines that are parsed at a time.
BYTES_PER_READ = 1 << 22


class Pairs(NamedTuple):
    """Documents as they are in the file."""

    first_fields: list[bytes]  # of each line: the label, or the number of pairs
    sizes: Any  # pairs in each line
    indices: Any  # of all pairs, as written
    values: Any


def read_pairs(stream: ByteStream, *, has_sizes: bool) -> Pairs:
    """Return the documents of a file; with `has_sizes`, each line must start with the number of its pairs."""
    blocks, start = list[Pairs](), 1
    buffered: Any = io.BufferedReader(stream)
    for text in read_line_blocks(buffered, BYTES_PER_READ):
        lines = text.split(b"\n")[:-1]
        blocks.append(parse_pairs(lines, start, stream.name))
        start += len(lines)
    firsts = [first for block in blocks for first in block.first_fields]
    if not firsts:
        raise InputError(f"{stream.name} holds no documents; it needs one per line")
    sizes, indices, values = (np.concatenate(parts) for parts in list(zip(*blocks, strict=True))[1:])
    wrong = [n for n, first in enumerate(firsts) if has_sizes and first != b"%d" % sizes[n]]
    if wrong:  # the file may be SVMlight, with labels
        shown, size = firsts[wrong[0]].decode(errors="replace"), sizes[wrong[0]]
        raise InputError(
            f"{stream.name}: document {wrong[0] + 1} starts with {shown!r} but has {size} pairs, so it is not LDA-C",
            remedy="if it is SVMlight, set {format} to svmlight",
        )
    return Pairs(firsts, sizes, indices, values)


def parse_pairs(lines: list[bytes], start: int, name: str) -> Pairs:
    """Return the documents of some lines; the error for a bad line names it."""
    split = [line.partition(b"#")[0].split() for line in lines]
    rows = [row for row in split if row]
    pairs = [pair.partition(b":")[::2] for row in rows for pair in row[1:] if not pair.startswith(b"qid:")]
    sizes = np.array([sum(not pair.startswith(b"qid:") for pair in row[1:]) for row in rows], dtype=np.int64)
    try:
        indices = np.array([int(index) for index, _ in pairs], dtype=np.int64)
        values = np.array([float(value) for _, value in pairs], dtype=np.float64)
        if any(b"_" in value or b"_" in index for index, value in pairs):
            raise ValueError  # Python reads 1_0 as 10
        if indices.min(initial=0) < 0 or indices.max(initial=0) >= np.iinfo(np.int32).max:
            raise ValueError
    except (ValueError, OverflowError):
        if len(lines) > 1:
            for place, line in enumerate(lines):
                parse_pairs([line], start + place, name)
        shown = lines[0][:60].decode(errors="replace").strip()
        raise InputError(
            f"{name}, line {start}: {shown!r} is not a number followed by pairs such as 3:1; correct or remove it"
        ) from None
    return Pairs([row[0] for row in rows], sizes, indices, values)


def pairs_to_csr(pairs: Pairs, first_index: int, n_words: int) -> Any:
    """Return the documents as CSR with `n_words` columns, or more where larger indices occur."""
    indices = pairs.indices - first_index
    indptr = np.concatenate([[0], np.cumsum(pairs.sizes)])
    width = max(int(indices.max(initial=-1)) + 1, n_words)
    return sp.csr_matrix((pairs.values, indices, indptr), shape=(len(pairs.first_fields), width))


def format_pair_lines(firsts: Iterable[str], counts: Any, first_index: int) -> Iterator[bytes]:
    """Yield a line for each row of a CSR matrix."""
    whole = is_whole(counts)
    for row, first in enumerate(firsts):
        start, stop = counts.indptr[row], counts.indptr[row + 1]
        values = counts.data[start:stop]
        texts = map(str, (values.astype(np.int64) if whole else values).tolist())
        columns = (counts.indices[start:stop] + first_index).tolist()
        yield " ".join([first, *map("%d:%s".__mod__, zip(columns, texts, strict=True))]).encode() + b"\n"


def is_whole(counts: Any) -> bool:
    """Tell whether all entries are whole numbers that float64 and int64 hold exactly."""
    return bool(np.all(counts.data == np.rint(counts.data)) and np.abs(counts.data).max(initial=0) <= 2**53)
