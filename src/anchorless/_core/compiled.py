"""The library of compiled loops (kernels.c): loaded and checked once, called with checked arrays.

C sees neither types nor lengths, so every array passes through `read` or `write`, which refuse what a loop does not
expect. No output is converted: the copy would be lost. Calls release the GIL.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import CDLL, c_char_p, c_double, c_float, c_int64, c_void_p, cast
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent
LIBRARY = FOLDER / ("kernels.dll" if sys.platform == "win32" else "kernels.so")
REMEDY = "install anchorless again: pip install --force-reinstall anchorless; in a clone: python hatch_build.py"
#: What a number in Python is in C.
NUMBERS = {int: c_int64, float: c_double, np.float32: c_float}


class Pointer(c_void_p):
    """The address of an array, which it keeps alive, and whether a loop changes it."""

    array: Any
    is_output = False


def hash_source(folder: Path = FOLDER) -> str:
    """Return a hash of the C files of a folder; the library has that of the files it was compiled from."""
    return sha256(b"".join(path.read_bytes() for path in sorted(folder.glob("*.c")))).hexdigest()


def load_library(path: Path = LIBRARY) -> CDLL:
    """Load the compiled loops; raise `ImportError` if they are missing or not those of the C files."""
    if not path.exists():
        raise ImportError(f"the compiled part of anchorless is missing ({path}); {REMEDY}")
    try:
        library = CDLL(str(path))
        library.hash_of_source.restype = c_char_p
        compiled_from = library.hash_of_source().decode()
    except (OSError, AttributeError) as error:  # of another platform, or cut off
        raise ImportError(f"the compiled part of anchorless cannot be loaded ({error}); {REMEDY}") from error
    if any(FOLDER.glob("*.c")) and compiled_from != hash_source():  # programs in one file are made without them
        raise ImportError(f"the compiled part of anchorless is not that of its C files ({path}); {REMEDY}")
    return library


_library = load_library()
#: End of the names of the loops for this processor.
SUFFIX = "_avx2" if _library.has_avx2() else ""


@cache
def find_loop(name: str, result: Any) -> Any:
    """Return a function of the library, and set the type of its result."""
    loop = _library[name]  # a new object at each call, unlike an attribute
    loop.restype = result
    return loop


def call(name: str, *arguments: Any, result: Any = None) -> Any:
    """Call a loop with numbers and with arrays that `read` or `write` have checked."""
    check_overlap([each for each in arguments if isinstance(each, Pointer)])
    given = [NUMBERS[type(each)](each) if type(each) in NUMBERS else each for each in arguments]
    return find_loop(name + SUFFIX, result)(*given)


def read(x: Any, *shape: int, dtype: Any = np.float64) -> Pointer:
    """Return the address of an array of this shape and type that a loop reads.

    Arrays that came over a network may begin at any address; these are copied.
    """
    return locate(x if not isinstance(x, np.ndarray) or x.flags.aligned else x.copy(), *shape, dtype=dtype)


def locate(x: Any, *shape: int, dtype: Any) -> Pointer:
    """Return the address of an array; refuse another shape, type or layout."""
    if not isinstance(x, np.ndarray) or x.dtype != dtype or x.shape != shape:
        found = f"{x.dtype} {x.shape}" if isinstance(x, np.ndarray) else type(x).__name__
        raise TypeError(f"a compiled loop needs an array of {np.dtype(dtype)} {shape}, but got {found}")
    if not x.flags.c_contiguous:
        raise TypeError(f"a compiled loop needs a contiguous array, but got strides {x.strides} for shape {shape}")
    if not x.flags.aligned:
        raise TypeError(f"a compiled loop cannot write at an address that is no multiple of {x.dtype.alignment} bytes")
    pointer = Pointer(x.ctypes.data)
    pointer.array = x
    return pointer


def write(x: Any, *shape: int, dtype: Any = np.float64) -> Pointer:
    """Return the address of an array of this shape and type that a loop changes."""
    if isinstance(x, np.ndarray) and not x.flags.writeable:
        raise TypeError("a compiled loop cannot write into a read-only array")
    pointer = locate(x, *shape, dtype=dtype)
    pointer.is_output = True
    return pointer


def make_room(*shape: int, dtype: Any = np.float64) -> Pointer:
    """Return the address of a new array for intermediate results."""
    return read(np.empty(shape, dtype=dtype), *shape, dtype=dtype)


def read_rows(indptr: Any, indices: Any, n: int, n_words: int) -> tuple[Pointer, Pointer]:
    """Return the addresses of the indices of n rows of a CSR matrix with so many columns; all of them are checked.

    SciPy chooses between 32 and 64 bits, so these arrays are converted where needed.
    """
    if indptr.dtype.kind != "i" or indices.dtype.kind != "i":
        raise TypeError(f"indices must be signed integers, but are {indptr.dtype} and {indices.dtype}")
    rows = read(np.ascontiguousarray(indptr, dtype=np.int64), n + 1, dtype=np.int64)
    check_range(indptr, len(indices) + 1)
    check_range(indices[indptr[0] : indptr[-1]], min(n_words, 2**31))
    if (indptr[1:] < indptr[:-1]).any():
        raise IndexError("rows of a matrix must begin where the one before them ends")
    return rows, read(np.ascontiguousarray(indices, dtype=np.int32), len(indices), dtype=np.int32)


def check_range(positions: Any, n: int, least: int = 0) -> None:
    """Refuse positions outside of an array of length n: a loop would read or write beyond it. −1 may mean nowhere."""
    if positions.size and not (least <= positions.min() and positions.max() < n):
        raise IndexError(f"positions from {positions.min()} to {positions.max()} are out of range: there are {n}")


def check_overlap(pointers: list[Pointer]) -> None:
    """Refuse arrays that share memory with one that a loop changes: compilers rely on it that none do."""
    for one in pointers:
        if one.is_output and any(np.may_share_memory(one.array, each.array) for each in pointers if each is not one):
            raise TypeError("a compiled loop cannot write into an array that is another of its arguments")


@contextmanager
def hold_generator(rng: np.random.Generator) -> Iterator[tuple[c_void_p, c_void_p]]:
    """Give a loop the function that draws from [0, 1), and its state: it draws the numbers of `rng.random()`."""
    with rng.bit_generator.lock:
        interface = rng.bit_generator.ctypes
        yield cast(interface.next_double, c_void_p), c_void_p(interface.state_address)
