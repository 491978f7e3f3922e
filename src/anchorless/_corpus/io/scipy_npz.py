"""Read a sparse matrix that `scipy.sparse.save_npz` wrote, with all its arrays checked.

A damaged file raises ValueError. NumPy allocates what the header of an array declares, and SciPy does not check that
indices are within the matrix.
"""

from __future__ import annotations

import io
import math
import zipfile
from typing import IO, Any

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


def read_npz(source: IO[bytes]) -> Any:
    """Return the sparse matrix of an .npz file, its values as float64."""
    with zipfile.ZipFile(source) as archive:
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        if not {"format", "shape", "data"} <= members.keys():
            raise ValueError("it holds no sparse matrix of SciPy; write it with scipy.sparse.save_npz")
        format = read_array(archive, members["format"]).item()
        format = format.decode("ascii") if isinstance(format, bytes) else str(format)
        if format not in ARRAYS or not members.keys() >= {*ARRAYS[format]}:
            raise ValueError(f"it holds a sparse matrix of an unknown format, {format[:20]!r}")
        shape = [int(size) for size in read_array(archive, members["shape"]).ravel()[:3]]
        data, *indices = (read_array(archive, members[name]) for name in ARRAYS[format])
    if len(shape) != 2 or data.dtype.kind not in "fiub" or any(part.dtype.kind not in "iu" for part in indices):
        raise ValueError(f"it holds {data.dtype} of {len(shape)} dimensions, but documents × words are real numbers")
    check_declared_shape(shape[0], shape[1], data.size)
    if data.ndim != {"bsr": 3, "dia": 2}.get(format, 1) or any(part.ndim != 1 for part in indices):
        raise ValueError("its arrays have wrong dimensions")
    values, places = data.astype(np.float64), [part.astype(np.int64) for part in indices]
    if format == "coo":
        return refuse_invalid_structure(sp.coo_matrix((values, tuple(places)), shape=shape))
    return refuse_invalid_structure(CONSTRUCTORS[format]((values, *places), shape=shape))


def read_array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Any:
    """Return an array of the archive, after its declared size has been compared with its bytes."""
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or info.flag_bits & 1:
        raise ValueError(f"{info.filename} is packed in a way that NumPy does not use")
    check_declared_bytes(2 * info.file_size, 2 * info.compress_size)
    with archive.open(info) as file:
        content = file.read()
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"{info.filename} has version {version} of NumPy's format")
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, is_fortran, dtype = read_header(stream)
    if dtype.hasobject or dtype.itemsize == 0:
        raise ValueError(f"{info.filename} holds {dtype}, not numbers")
    if any(size < 0 for size in shape) or math.prod(shape) * dtype.itemsize != len(content) - stream.tell():
        raise ValueError(f"{info.filename} has another size than it declares")
    array = np.frombuffer(content, dtype, offset=stream.tell())
    return array.reshape(shape, order="F" if is_fortran else "C")
