"""One block of a store as one file: named arrays one after the other, mapped into memory to be read.

A file is there whole or not at all: it is written beside its place, brought to the disk, and renamed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from anchorless._files import make_read_error
from anchorless.errors import InputError

BLOCK_MAGIC = b"anchorless block 1\n"
#: Arrays begin at multiples of this many bytes.
ALIGNMENT = 64
#: Bytes that are hashed at a time.
HASH_CHUNK_SIZE = 1 << 20

Arrays = Mapping[str, Any]


def serialize_arrays(arrays: Arrays) -> list[bytes]:
    """Return the parts of a file: magic, length and text of the header, then the arrays, each at an aligned place."""
    placed, offset = {}, 0
    for name, array in arrays.items():
        placed[name] = [array.dtype.str, len(array), offset]
        offset += align_size(array.nbytes)
    header = json.dumps(placed).encode()
    start = len(BLOCK_MAGIC) + 8 + len(header)
    parts: list[bytes] = [BLOCK_MAGIC, len(header).to_bytes(8, "little"), header, bytes(align_size(start) - start)]
    for array in arrays.values():
        parts += [array.tobytes(), bytes(align_size(array.nbytes) - array.nbytes)]
    return parts


def align_size(size: int) -> int:
    """Return the next multiple of ALIGNMENT."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def write_block(path: Path, arrays: Arrays) -> tuple[int, str]:
    """Write arrays of one dimension to a file, and wait until it is on the disk; return its size and SHA-256."""
    temporary = path.with_name(f".{path.name}.part")
    digest, size = hashlib.sha256(), 0
    try:
        with open(temporary, "wb") as file:
            for part in serialize_arrays(arrays):
                file.write(part)
                digest.update(part)
                size += len(part)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        sync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)
    return size, digest.hexdigest()


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk; Windows knows no such thing."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def read_block(path: Path) -> dict[str, Any]:
    """Return the arrays of a file, mapped into memory: what is not used any more leaves it."""
    try:
        data = np.memmap(path, dtype=np.uint8, mode="r")
    except (OSError, ValueError) as error:  # ValueError: an empty file
        raise make_read_error(error, str(path)) if isinstance(error, OSError) else make_block_error(path) from error
    start = len(BLOCK_MAGIC) + 8
    if bytes(data[: len(BLOCK_MAGIC)]) != BLOCK_MAGIC or len(data) < start:
        raise make_block_error(path)
    length = int.from_bytes(bytes(data[len(BLOCK_MAGIC) : start]), "little")
    try:
        placed = json.loads(bytes(data[start : start + length]))
        first = align_size(start + length)
        return {name: view(data, first + at, dtype, n) for name, (dtype, n, at) in placed.items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise make_block_error(path) from error


def view(data: Any, offset: int, dtype: str, length: int) -> Any:
    """Return an array that lies in mapped bytes."""
    kind = np.dtype(dtype)
    part = np.asarray(data)[offset : offset + length * kind.itemsize]
    return part.view(kind)[:length]


def make_block_error(path: Path) -> InputError:
    """Return the error for a file that is not as it was written."""
    return InputError(f"{path} is damaged: it is not as it was written; delete the store's folder and count again")


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file."""
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while piece := file.read(HASH_CHUNK_SIZE):
                digest.update(piece)
    except OSError as error:
        raise make_read_error(error, str(path)) from error
    return digest.hexdigest()
