"""The model file: named arrays and a JSON header in one file, with a version and a checksum; nothing is executed.

The container is safetensors. Its metadata have one entry, "anchorless": a JSON object of the format's name, its
version, the SHA-256 of everything else, and the header. Equal contents give equal bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open

from anchorless._files import PathLike, atomic_write, make_read_error
from anchorless._locks import FileState
from anchorless.errors import InputError

Arrays = dict[str, npt.NDArray[Any]]

MODEL_FORMAT = "anchorless topic model"
#: Increased when older code would misread a new file; every older version stays readable. A file without edits
#: and embeddings is one of version 1: older code reads it rightly.
MODEL_VERSION, PLAIN_VERSION = 2, 1
#: The entry of the container's metadata that holds everything but the arrays.
METADATA_KEY = "anchorless"
#: The container starts with the length of its header in this many bytes; safetensors allows no larger one.
LENGTH_BYTES, MAX_HEADER_BYTES = 8, 100_000_000
#: Types of arrays, in the order in which safetensors writes them, and what it calls them.
DTYPES = {
    **{"<u8": "U64", "<i8": "I64", "<f8": "F64", "<f4": "F32", "<u4": "U32", "<i4": "I32"},
    **{"<f2": "F16", "<u2": "U16", "<i2": "I16", "|i1": "I8", "|u1": "U8", "|b1": "BOOL"},
}
#: Spaces after the header make its length a multiple of this.
HEADER_UNIT = 8
#: Bytes of an array that are written or hashed at a time.
PIECE_BYTES = 2**24
NOT_A_MODEL = "is not a model of anchorless; give a file that `fit` or `save` wrote"
DAMAGED = "is damaged: it was cut short or changed after it was written; copy it again or fit again"


def save_model(
    path: PathLike,
    arrays: Arrays,
    header: dict[str, Any],
    *,
    force: bool = False,
    made_from: FileState | None = None,
) -> None:
    """Write arrays and header to `path`, whole or not at all; an existing file only with `force`."""
    content = encode_model(arrays, header)
    with atomic_write(path, force=force, made_from=made_from) as temporary, temporary.open("wb") as file:
        file.writelines(content)


def encode_model(arrays: Arrays, header: dict[str, Any]) -> Iterator[bytes | memoryview]:
    """Yield the content of a model file, part by part: as a whole it would be one more copy of all arrays, or two."""
    arrays = {name: np.ascontiguousarray(values) for name, values in arrays.items()}
    arrays = {name: values.astype(values.dtype.newbyteorder("<"), copy=False) for name, values in arrays.items()}
    checksum = compute_checksum(arrays, header)
    version = MODEL_VERSION if header.get("edits") or header.get("neighbors") else PLAIN_VERSION
    entry = {"format": MODEL_FORMAT, "version": version, "sha256": checksum, "header": header}
    return encode_container(arrays, {METADATA_KEY: to_canonical_json(entry)})


def encode_container(arrays: Arrays, metadata: dict[str, str]) -> Iterator[bytes | memoryview]:
    """Yield the bytes that `safetensors.numpy.save` returns for contiguous little-endian arrays."""
    types = list(DTYPES)
    names = sorted(arrays, key=lambda name: (types.index(arrays[name].dtype.str), name))
    about: dict[str, Any] = {"__metadata__": metadata}
    end = 0
    for name in names:
        start, end = end, end + arrays[name].nbytes
        shape, dtype = list(arrays[name].shape), DTYPES[arrays[name].dtype.str]
        about[name] = {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}
    content = json.dumps(about, ensure_ascii=False, separators=(",", ":")).encode()
    content += b" " * (-len(content) % HEADER_UNIT)
    yield len(content).to_bytes(LENGTH_BYTES, "little")
    yield content
    for name in names:
        yield from list_pieces(arrays[name])


def load_model(path: PathLike) -> tuple[Arrays, dict[str, Any]]:
    """Return the arrays and the header of a file that `save_model` wrote; refuse one in which a bit has changed."""
    is_container = has_container_start(path)
    try:
        with safe_open(path, framework="numpy") as container:
            entry = parse_entry(path, container.metadata() or {})
            arrays = {name: np.ascontiguousarray(container.get_tensor(name)) for name in container.keys()}  # noqa: SIM118
            header = dict(entry["header"])
            intact = compute_checksum(arrays, header) == entry["sha256"]
    except InputError:
        raise
    except (SafetensorError, OSError, KeyError, TypeError, ValueError, RecursionError):
        raise InputError(f"{path} {DAMAGED if is_container else NOT_A_MODEL}") from None
    if not intact:
        raise InputError(f"{path} {DAMAGED}")
    return arrays, header


def has_container_start(path: PathLike) -> bool:
    """Tell whether a file that can be read begins as safetensors do: with the length of a header in JSON."""
    try:
        if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
            raise InputError(f"{path} {NOT_A_MODEL}")  # a device may never end, and a pipe may never begin
        with open(path, "rb") as file:
            start = file.read(LENGTH_BYTES + 1)
    except OSError as error:
        raise make_read_error(error, os.fspath(path)) from None
    except InputError:
        raise
    except ValueError as error:  # a NUL in the name
        raise InputError(f"cannot read {os.fspath(path)!r}: {error}") from None
    if not start:
        raise InputError(f"{path} is empty, not a model; write it again with `fit` or `save`")
    return start.endswith(b"{") and int.from_bytes(start[:LENGTH_BYTES], "little") <= MAX_HEADER_BYTES


def parse_entry(path: PathLike, metadata: dict[str, str]) -> dict[str, Any]:
    """Return our entry of the container's metadata, of a version that can be read."""
    entry = json.loads(metadata.get(METADATA_KEY, "null"))
    if not isinstance(entry, dict) or entry.get("format") != MODEL_FORMAT:
        raise InputError(f"{path} {NOT_A_MODEL}")
    version = entry.get("version")
    if not isinstance(version, int) or version < 1:
        raise InputError(f"{path} {DAMAGED}")
    if version > MODEL_VERSION:
        known = f"this anchorless reads up to version {MODEL_VERSION}; upgrade anchorless"
        raise InputError(f"{path} is a model of format version {version}, but {known}")
    return entry


def compute_checksum(arrays: Arrays, header: dict[str, Any]) -> str:
    """Return the SHA-256 of the header and of every array's name, type, shape and bytes, in the order of the names."""
    digest = hashlib.sha256(to_canonical_json(header).encode())
    for name in sorted(arrays):
        values = arrays[name]
        digest.update(to_canonical_json([name, values.dtype.str, list(values.shape)]).encode())
        for piece in list_pieces(values):
            digest.update(piece)
    return digest.hexdigest()


def list_pieces(values: npt.NDArray[Any]) -> Iterator[memoryview]:
    """Yield the bytes of a contiguous array in pieces, without a copy, which would be large.

    Ctrl-C has to wait until a piece is written or hashed.
    """
    content = values.reshape(-1).view(np.uint8).data
    for start in range(0, len(content), PIECE_BYTES):
        yield content[start : start + PIECE_BYTES]


def to_canonical_json(value: Any) -> str:
    """Return JSON that is the same for equal values; NaN and infinity are refused, as they are not JSON."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"), sort_keys=True)


def encode_words(words: Sequence[str]) -> Arrays:
    """Return words as UTF-8 bytes, and where each ends: a word may hold any character, also a line break."""
    encoded = [word.encode("utf-8", "surrogatepass") for word in words]
    ends = np.cumsum([len(word) for word in encoded], dtype=np.int64)
    return {"vocabulary": np.frombuffer(b"".join(encoded), dtype=np.uint8), "vocabulary_ends": ends}


def decode_words(arrays: Arrays) -> list[str]:
    """Return the words that `encode_words` encoded."""
    content, ends = arrays["vocabulary"].tobytes(), arrays["vocabulary_ends"].tolist()
    starts = [0, *ends][: len(ends)]
    return [content[a:b].decode("utf-8", "surrogatepass") for a, b in zip(starts, ends, strict=True)]
