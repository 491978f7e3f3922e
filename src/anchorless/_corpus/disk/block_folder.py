"""Blocks of counts on disk: one file for each, in a folder that can be continued whatever ended its process.

A block is an Arrow IPC file with its checksum at the end, mapped into memory to be read without a copy. It appears
whole or not at all. Blocks are numbered from 0 without a gap, and the file `finished`, which holds their number, says
that there will be no more.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from filelock import FileLock, Timeout

from anchorless._corpus.sparse import build_csr, to_canonical_csr
from anchorless._files import TEMPORARY_PREFIX, atomic_write, make_read_error, make_write_error
from anchorless.errors import InputError

MANIFEST, FINISHED, LOCK = "manifest.json", "finished", "lock"
STORE_FORMAT = "anchorless counts 3"
#: Each is a list in the one row of a block: the arrays of the CSR matrix, and the terms that occur for the first time.
COLUMNS = ("data", "indices", "indptr", "words")
DIGEST_SIZE = hashlib.sha256().digest_size


class BlockFolder(AbstractContextManager["BlockFolder"]):
    """Blocks of counts on disk, in their order. `facts` is what was recorded with each, its number of `rows` too."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.about = read_about(self.path)
        if self.about is None:
            raise InputError(f"{path} holds no counts that this version can read; delete it and count again")
        n_blocks = len([*self.path.glob("[0-9]*.block")])
        self.facts = [read_facts(self.block_path(number)) for number in range(n_blocks)]
        finished = self.path / FINISHED
        self.is_finished = finished.exists()
        if self.is_finished and finished.read_bytes() != b"%d" % n_blocks:
            raise make_block_error(finished)
        self._verified: dict[int, bytes] = {}  # of the blocks that were written or verified
        self.store_lock: Any = None  # of the store that the folder belongs to; released with the last reference to it
        self._lock = FileLock(self.path / LOCK, timeout=0, thread_local=False)

    @classmethod
    def create(cls, path: str | os.PathLike[str], about: dict[str, Any]) -> Self:
        """Create a folder without blocks; if `path` exists, it must be an empty folder."""
        folder = Path(path)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise InputError(f"{folder} is not empty; name another folder for the counts, or delete it")
        except OSError as error:
            raise make_write_error(error, folder) from error
        with atomic_write(folder / MANIFEST) as temporary:
            temporary.write_text(json.dumps({"format": STORE_FORMAT, "about": about}), encoding="utf-8")
        return cls(folder)

    @property
    def n_rows(self) -> int:
        """Documents in complete blocks."""
        return sum(facts["rows"] for facts in self.facts)

    def block_path(self, number: int) -> Path:
        """Return the path of a block file."""
        return self.path / f"{number:08d}.block"

    def append(self, counts: Any, words: Sequence[str] = (), **facts: Any) -> None:
        """Add a block, a CSR matrix and its new words; when this returns, only a damaged disk can lose it."""
        self._acquire_lock()
        number, facts = len(self.facts), {"rows": counts.shape[0], **facts}
        try:
            self._verified[number] = write_block(self.block_path(number), counts, words, facts)
        except (OSError, InputError) as error:
            kept = f"the {self.n_rows:,} documents counted so far are kept, and the same call continues from there"
            raise InputError(f"{error}; {kept}") from error
        self.facts.append(facts)

    def finish(self) -> None:
        """Record that there are no further blocks, and let other processes write."""
        self._acquire_lock()
        with atomic_write(self.path / FINISHED, force=True) as temporary:
            temporary.write_bytes(b"%d" % len(self.facts))
        self.is_finished = True
        self.close()

    def read(self, number: int, n_words: int) -> tuple[Any, Any]:
        """Return the counts of a block, mapped into memory, and its words.

        Its checksum is computed the first time; later it must still be that of the same block.
        """
        path = self.block_path(number)
        block = read_block(path, n_words, verify=self._verified.get(number) is None, digest=self._verified.get(number))
        if self._verified.get(number) is None:
            self._verified[number] = read_digest(path)
        return block

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let other processes write."""
        self._lock.release()

    def _acquire_lock(self) -> None:
        """Keep other processes from writing; the system releases the lock with the process, however that ends."""
        if self._lock.is_locked:
            return
        try:
            self._lock.acquire()
            for leftover in self.path.glob(f"{TEMPORARY_PREFIX}*"):  # of a process that was killed
                leftover.unlink()
        except Timeout:
            raise InputError(f"another process is writing to {self.path}; wait until it ends, or stop it") from None
        except OSError as error:
            self.close()
            raise make_write_error(error, self.path) from error


def read_about(path: Path) -> Any:
    """Return what was recorded when a folder was created; None if it holds no counts of this format."""
    try:
        content = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
        return content["about"] if content["format"] == STORE_FORMAT else None
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return None


def write_block(path: Path, counts: Any, words: Sequence[str], facts: dict[str, Any]) -> bytes:
    """Write a CSR matrix, new words and facts that JSON can hold to a file on the disk; return its checksum."""
    counts = to_canonical_csr(counts)
    values = (
        counts.data.astype(find_smallest_type(counts.data)),
        counts.indices.astype(np.int32),
        counts.indptr.astype(np.int64 if counts.nnz > np.iinfo(np.int32).max else np.int32),  # SciPy copies mixed types
        pa.array(words, type=pa.large_string()),
    )
    lists = [pa.LargeListArray.from_arrays(pa.array([0, len(part)], pa.int64()), pa.array(part)) for part in values]
    batch = pa.record_batch(lists, names=COLUMNS, metadata={"facts": json.dumps(facts)})
    content = pa.BufferOutputStream()
    with pa.ipc.new_file(content, batch.schema) as writer:
        writer.write_batch(batch)
    buffer = content.getvalue()
    digest = hashlib.sha256(buffer).digest()
    with atomic_write(path, force=True) as temporary, open(temporary, "wb") as file:
        file.write(buffer)
        file.write(digest)
    return digest


def find_smallest_type(values: Any) -> np.dtype[Any]:
    """Return the smallest unsigned integer type that holds all values (n,); float64 if some are not counts."""
    largest = values.max(initial=0.0)
    is_count = values.min(initial=0.0) >= 0 and largest < 2**32 and np.array_equal(values, np.floor(values))
    return np.min_scalar_type(int(largest)) if is_count else np.dtype(np.float64)


@contextmanager
def open_block(path: Path, *, verify: bool = False, digest: bytes | None = None) -> Iterator[Any]:
    """Yield the Arrow reader of a block file, mapped into memory; any error in it says that the file is damaged.

    `verify` computes its checksum; with `digest`, the checksum in the file must be this one.
    """
    try:
        with pa.memory_map(os.fsencode(path)) as file:
            buffer = file.read_buffer()
        content = buffer.slice(0, max(0, buffer.size - DIGEST_SIZE))
        if verify and hashlib.sha256(content).digest() != bytes(buffer[content.size :]):
            raise ValueError
        if digest is not None and digest != bytes(buffer[content.size :]):
            raise ValueError
        yield pa.ipc.open_file(content)
    except (pa.ArrowException, OSError, AttributeError, TypeError, LookupError, ValueError) as error:
        if isinstance(error, OSError) and error.errno:
            raise make_read_error(error, str(path)) from error
        raise make_block_error(path) from error


def read_digest(path: Path) -> bytes:
    """Return the checksum at the end of a block file."""
    with open(path, "rb") as file:
        file.seek(-DIGEST_SIZE, os.SEEK_END)
        return file.read()


def read_facts(path: Path) -> dict[str, Any]:
    """Return the facts that were written with a block."""
    with open_block(path) as reader:
        return dict(json.loads(reader.schema.metadata[b"facts"]))


def read_block(path: Path, n_words: int, *, verify: bool = False, digest: bytes | None = None) -> tuple[Any, Any]:
    """Return the counts of a block file, CSR documents × words, and its new words; the options are of `open_block`.

    The arrays stay in the file. They are checked: compiled code would read beyond its memory if they did not fit.
    """
    with open_block(path, verify=verify, digest=digest) as reader:
        batch = reader.get_batch(0)
        batch.validate(full=True)
        *numbers, words = (batch.column(name).values for name in COLUMNS)
        data, indices, indptr = (array.to_numpy(zero_copy_only=True) for array in numbers)
        if not is_valid_csr(data, indices, indptr, n_words) or not pa.types.is_large_string(words.type):
            raise ValueError
        return build_csr(data, indices, indptr, n_words, canonical=True), words


def is_valid_csr(data: Any, indices: Any, indptr: Any, n_words: int) -> bool:
    """Tell whether arrays describe a CSR matrix with `n_words` columns."""
    return bool(
        data.dtype.kind in "uf"
        and indices.dtype == np.int32
        and indptr.dtype in (np.int32, np.int64)
        and len(indptr) > 0
        and indptr[0] == 0
        and indptr[-1] == len(data) == len(indices)
        and np.all(indptr[1:] >= indptr[:-1])
        and indices.min(initial=0) >= 0
        and indices.max(initial=-1) < n_words
    )


def make_block_error(path: Path) -> InputError:
    """Return the error for a file that is not as it was written."""
    return InputError(f"{path} is damaged: it changed after it was written; delete {path.parent} and count again")
