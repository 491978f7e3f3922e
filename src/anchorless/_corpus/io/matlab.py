"""Read numeric and sparse variables of a MATLAB file of version 5 to 7, every length and index checked.

SciPy's reader crashes on damaged files. The layout: a header of 128 bytes, then elements of a tag (type, number of
bytes) and their data, padded to 8 bytes; an element may be deflated; a matrix is an element that consists of elements.
A damaged file raises ValueError.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from anchorless._corpus.io.limits import check_declared_bytes, check_declared_shape, refuse_invalid_structure

HEADER_BYTES, TAG_BYTES = 128, 8
#: Types of elements: arrays of numbers, a matrix, a deflated element.
DTYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
MATRIX, DEFLATED = 14, 15
#: Classes of matrices: sparse, and dense ones of numbers.
SPARSE_CLASS, NUMERIC_CLASSES = 5, range(6, 16)
COMPLEX_FLAG = 1 << 11
#: The version in the header: HDF5 inside, or the format that is read here.
VERSION_HDF5, VERSION_5 = 0x0200, 0x0100


class Element(NamedTuple):
    """One element, its data not yet interpreted."""

    type: int
    content: memoryview


def read_matlab(source: IO[bytes], wanted: tuple[str, ...]) -> dict[str, Any]:
    """Return the variables of a file by their names: arrays of those that are wanted and hold real numbers, else None.

    Sparse variables are CSC.
    """
    header = source.read(HEADER_BYTES)
    order = {b"IM": "<", b"MI": ">"}.get(header[126:])
    version = struct.unpack(f"{order}H", header[124:126])[0] if order else None
    if version == VERSION_HDF5:
        raise ValueError("it has version 7.3; save it with -v7")
    if order is None or version != VERSION_5:
        raise ValueError("it has no header of a MATLAB file of version 5 to 7; save it with -v7")
    variables = {}
    for element in read_elements(source, order):
        if element.type == MATRIX:
            parts = split_elements(element.content, order)
            name = bytes(get_part(parts, 2).content).decode("latin-1")
            variables[name] = to_matrix(parts, order) if name in wanted else None
    return variables


def read_elements(source: IO[bytes], order: str) -> Iterator[Element]:
    """Yield the elements of a file, deflated ones unpacked."""
    while tag := source.read(TAG_BYTES):
        if len(tag) < TAG_BYTES:
            raise ValueError("it is cut off")
        kind, n_bytes = struct.unpack(f"{order}II", tag)
        check_declared_bytes(2 * n_bytes)
        content = source.read(n_bytes)
        if len(content) < n_bytes:
            raise ValueError("it is cut off")
        yield inflate(content, order) if kind == DEFLATED else Element(kind, memoryview(content))


def inflate(packed: bytes, order: str) -> Element:
    """Return the element in deflated bytes; its tag says how many there are, and no more are unpacked."""
    try:
        tag = zlib.decompressobj().decompress(packed, TAG_BYTES)
        if len(tag) < TAG_BYTES:
            raise ValueError("it is cut off")
        kind, n_bytes = struct.unpack(f"{order}II", tag)
        check_declared_bytes(2 * n_bytes, 2 * len(packed))
        unpacker = zlib.decompressobj()
        content = unpacker.decompress(packed, TAG_BYTES + n_bytes)
        unpacker.decompress(unpacker.unconsumed_tail, 1)  # reaches the checksum at the end
    except zlib.error as error:
        raise ValueError(f"its data do not unpack ({error})") from None
    if len(content) != TAG_BYTES + n_bytes or not unpacker.eof:
        raise ValueError("its data do not unpack to their declared size")
    return Element(kind, memoryview(content)[TAG_BYTES:])


def split_elements(content: memoryview, order: str) -> list[Element]:
    """Return the elements that a matrix consists of."""
    elements, at = list[Element](), 0
    while at + TAG_BYTES <= len(content):
        kind, n_bytes = struct.unpack_from(f"{order}II", content, at)
        start = at + TAG_BYTES
        if kind >> 16:  # four bytes at most, inside of the tag
            kind, n_bytes, start = kind & 0xFFFF, kind >> 16, at + TAG_BYTES // 2
            if n_bytes > TAG_BYTES // 2:
                raise ValueError("an element is longer than it can be")
        if n_bytes > len(content) - start:
            raise ValueError("an element is longer than the matrix that it belongs to")
        elements.append(Element(kind, content[start : start + n_bytes]))
        at = start + n_bytes
        at += -at % TAG_BYTES
    return elements


def get_part(parts: list[Element], number: int) -> Element:
    """Return one of the elements of a matrix."""
    if number >= len(parts):
        raise ValueError("a matrix lacks some of its parts")
    return parts[number]


def to_array(element: Element, order: str) -> Any:
    """Return the numbers of an element."""
    dtype = DTYPES.get(element.type)
    if dtype is None or len(element.content) % int(dtype[1]):
        raise ValueError("an element that must hold numbers does not")
    found = np.frombuffer(element.content, f"{order}{dtype}")
    return found.astype(found.dtype.newbyteorder("="))


def to_matrix(parts: list[Element], order: str) -> Any:
    """Return a matrix of real numbers, dense or CSC; None if it holds something else."""
    flags, shape = to_array(get_part(parts, 0), order), to_array(get_part(parts, 1), order)
    kind = int(flags[0]) & 0xFF if len(flags) else 0
    if kind not in (SPARSE_CLASS, *NUMERIC_CLASSES) or int(flags[0]) & COMPLEX_FLAG:
        return None
    if len(shape) != 2 or shape.dtype.kind not in "iu" or shape.min() < 0:
        raise ValueError("a matrix has no valid shape")
    n_rows, n_columns = map(int, shape)
    if kind == SPARSE_CLASS:
        indices, indptr, data = (to_array(get_part(parts, number), order) for number in (3, 4, 5))
        check_declared_shape(n_rows, n_columns, len(data))
        if indices.dtype.kind not in "iu" or indptr.dtype.kind not in "iu" or not len(indptr):
            raise ValueError("a sparse matrix has no valid indices")
        n = int(indptr[-1])  # MATLAB may leave room after the last entry
        if not 0 <= n <= min(len(indices), len(data)):
            raise ValueError("a sparse matrix has fewer entries than it declares")
        arrays = data[:n].astype(np.float64), indices[:n].astype(np.int64), indptr.astype(np.int64)
        return refuse_invalid_structure(sp.csc_matrix(arrays, shape=(n_rows, n_columns)))
    data = to_array(get_part(parts, 3), order)
    if math.prod((n_rows, n_columns)) != len(data):
        raise ValueError("a matrix has another number of entries than its shape")
    return data.reshape((n_rows, n_columns), order="F")
