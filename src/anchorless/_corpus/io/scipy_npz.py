"""Read a sparse matrix that `scipy.sparse.save_npz` wrote, with all its arrays checked.

A damaged file raises ValueError. NumPy allocates what the header of an array declares, and SciPy does not check that
indices are within the matrix.
"""

from __future__ import annotations

import math
import zipfile
from typing import IO, Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from anchorless._corpus.io.limits import check_declared_bytes, check_declared_shape, refuse_invalid_structure

#: The arrays of each format, in the order of its constructor.
ARRAYS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "bsr": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"),
    "dia": ("data", "offsets"),
}
CONSTRUCTORS = {"csr": sp.csr_matrix, "csc": sp.csc_matrix, "bsr": sp.bsr_matrix, "dia": sp.dia_matrix}
#: Bytes that are unpacked at a time.
PIECE_BYTES = 1 << 20


class Member(NamedTuple):
    """One array of the archive, not yet unpacked: what its header says, which agrees with the number of its bytes."""

    info: zipfile.ZipInfo
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    order: Literal["C", "F"]

    @property
    def size(self) -> int:
        return math.prod(self.shape)


def read_npz(source: IO[bytes]) -> Any:
    """Return the sparse matrix of an .npz file, its values as float64."""
    with zipfile.ZipFile(source) as archive:
        found = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        if not {"format", "shape", "data"} <= found.keys():
            raise ValueError("it holds no sparse matrix of SciPy; write it with scipy.sparse.save_npz")
        format = read_array(archive, read_header(archive, found["format"])).item()
        format = format.decode("ascii") if isinstance(format, bytes) else str(format)
        if format not in ARRAYS or not found.keys() >= {*ARRAYS[format]}:
            raise ValueError(f"it holds a sparse matrix of an unknown format, {format[:20]!r}")
        sizes = read_array(archive, read_header(archive, found["shape"]))
        shape = [int(size) for size in sizes.ravel()[:3]]
        members = [read_header(archive, found[name]) for name in ARRAYS[format]]
        check_headers(format, shape, members)
        values, *places = (
            read_array(archive, member).astype(kind, copy=False)
            for member, kind in zip(members, [np.float64, np.int64, np.int64], strict=False)
        )
    if format == "coo":
        return refuse_invalid_structure(sp.coo_matrix((values, tuple(places)), shape=shape))
    return refuse_invalid_structure(CONSTRUCTORS[format]((values, *places), shape=shape))


def check_headers(format: str, shape: list[int], members: list[Member]) -> None:
    """Raise ValueError if the arrays of a matrix cannot belong together, or do not fit into memory.

    A file of megabytes may unpack to gigabytes, so this is found out before.
    """
    data, *indices = members
    if len(shape) != 2 or data.dtype.kind not in "fiub" or any(part.dtype.kind not in "iu" for part in indices):
        raise ValueError(f"it holds {data.dtype} of {len(shape)} dimensions, but documents × words are real numbers")
    check_declared_shape(shape[0], shape[1], data.size)
    if len(data.shape) != {"bsr": 3, "dia": 2}.get(format, 1) or any(len(part.shape) != 1 for part in indices):
        raise ValueError("its arrays have wrong dimensions")
    entries, pointers = (indices, []) if format in ("coo", "dia") else (indices[:1], indices[1:])
    if any(part.size != data.shape[0] for part in entries) or any(part.size > max(shape) + 1 for part in pointers):
        raise ValueError("its arrays have lengths that do not belong together")
    check_declared_bytes(sum(member.info.file_size + 8 * member.size for member in members))


def read_header(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Member:
    """Return what an array of the archive declares, after that has been compared with its bytes."""
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or info.flag_bits & 1:
        raise ValueError(f"{info.filename} is packed in a way that NumPy does not use")
    check_declared_bytes(2 * info.file_size, 2 * info.compress_size)
    with archive.open(info) as file:
        shape, is_fortran, dtype = parse_header(file, info.filename)
        if dtype.hasobject or dtype.itemsize == 0:
            raise ValueError(f"{info.filename} holds {dtype}, not numbers")
        if any(size < 0 for size in shape) or math.prod(shape) * dtype.itemsize != info.file_size - file.tell():
            raise ValueError(f"{info.filename} has another size than it declares")
    return Member(info, shape, dtype, "F" if is_fortran else "C")


def parse_header(file: IO[bytes], name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return the shape, whether it is in Fortran's order, and the type of the array that follows."""
    version = np.lib.format.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"{name} has version {version} of NumPy's format")
    parse = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    try:
        return parse(file)
    except MemoryError:  # of Python's parser
        raise ValueError(f"the header of {name} is nested too deeply") from None


def read_array(archive: zipfile.ZipFile, member: Member) -> Any:
    """Return an array of the archive, unpacked piece by piece into its place."""
    array = np.empty(member.size, member.dtype)
    room, filled = array.view(np.uint8), 0
    with archive.open(member.info) as file:
        parse_header(file, member.info.filename)
        while piece := file.read(min(PIECE_BYTES, len(room) - filled)):
            room[filled : filled + len(piece)] = np.frombuffer(piece, np.uint8)
            filled += len(piece)
        if filled < len(room) or file.read(1):  # the end, where the checksum is compared
            raise ValueError(f"{member.info.filename} has another size than it declares")
    return array.reshape(member.shape, order=member.order)
