"""Near-copies among documents: those with nearly the same sequences of words as an earlier one.

Each document is reduced to the smallest hash values of its sequences of five words (bottom-k sketch, Broder 1997). Two
sketches estimate the share of sequences that two documents have in common (Jaccard similarity), with a standard error
of at most 0.06. Documents whose smallest values agree are compared. Nothing is random, and a document is compared with
earlier ones only, so that the result depends on the documents and their order alone.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anchorless._corpus.io.batches import Batch
from anchorless._corpus.text.scripts import HAS_UNSPACED
from anchorless._corpus.threads import call_interruptibly

#: Words of a sequence, values of a sketch, and values by which candidates are found.
N_WORDS, SKETCH_SIZE, N_KEYS = 5, 64, 4
#: Documents with this share of their sequences in common are copies.
MIN_SIMILARITY = 0.8
#: Documents that later ones are compared with: about 700 bytes of memory each.
MAX_COMPARED = 1_000_000
MULTIPLIERS = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F],
    dtype=np.uint64,
)
#: Bits of a hash value that a sketch keeps, beside the number of the document within its batch.
HASH_BITS = np.uint64(40)
NO_VALUE = np.uint64(2**64 - 1)

Hashes = npt.NDArray[np.uint64]


class Copy(NamedTuple):
    """A document that was left out, and the earlier one that it is a copy of."""

    id: str
    kept: str
    similarity: float


def mix(values: Hashes) -> Hashes:
    """Return hash values of 64 bits (splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def sketch_texts(texts: Any) -> list[Hashes]:
    """Return the sketch of each text: its smallest distinct hash values, in order; empty for a text without words."""
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    texts = pc.utf8_lower(texts.cast(pa.large_string()))
    if pc.any(pc.match_substring_regex(texts, HAS_UNSPACED)).as_py():  # without spaces, each letter counts as a word
        texts = pc.replace_substring_regex(texts, f"({HAS_UNSPACED})", r" \1 ")
    lists = pc.utf8_split_whitespace(pc.utf8_trim_whitespace(texts))
    flat = lists.flatten()
    filled = pc.not_equal(flat, "")  # an empty text has one word, which is empty
    owner = np.repeat(np.arange(len(lists)), pc.list_value_length(lists).to_numpy(zero_copy_only=False))
    owner = owner[filled.to_numpy(zero_copy_only=False)]
    coded, lengths = pc.dictionary_encode(flat.filter(filled)), np.bincount(owner, minlength=len(lists))
    by_word = np.array([zlib.crc32(word.encode()) for word in coded.dictionary.to_pylist()], dtype=np.uint64)
    words = mix(by_word + np.uint64(1))[coded.indices.to_numpy()] if len(coded) else np.zeros(0, dtype=np.uint64)
    ends = np.cumsum(lengths)
    starts = ends - lengths
    place = np.arange(len(words))
    total = np.zeros(len(words), dtype=np.uint64)
    for k in range(N_WORDS):
        within = place + k < ends[owner]
        total[within] += words[(place + k)[within]] * MULTIPLIERS[k]
    begins = place <= np.maximum(ends - N_WORDS, starts)[owner]  # a shorter text is one sequence
    small = mix(total[begins]) >> (np.uint64(64) - HASH_BITS)
    joint = np.unique((owner[begins].astype(np.uint64) << HASH_BITS) | small)
    bounds = np.searchsorted(joint, np.arange(len(lengths) + 1, dtype=np.uint64) << HASH_BITS)
    values = joint & np.uint64((1 << int(HASH_BITS)) - 1)
    return [values[low : min(high, low + SKETCH_SIZE)] for low, high in pairwise(bounds)]


def estimate_similarity(first: Hashes, second: Hashes) -> float:
    """Estimate the share of sequences in common: those among the smallest values of both that both have."""
    joint = np.concatenate([first, second])
    joint.sort()
    repeated = joint[1:] == joint[:-1]  # a value of both
    rank = np.cumsum(~np.concatenate([[False], repeated]))  # of each value among the distinct ones
    n = min(int(rank[-1]), SKETCH_SIZE) if len(joint) else 0
    return float((repeated & (rank[1:] <= n)).sum()) / n if n else 0.0


class NearCopies:
    """Find near-copies among documents as they come."""

    def __init__(self) -> None:
        self.copies: list[Copy] = []
        self._ids: list[str] = []
        self._sketches: list[Hashes] = []
        self._first_with: dict[int, int] = {}  # the first document with a key

    def find(self, texts: Any, ids: list[str]) -> npt.NDArray[np.bool_]:
        """Return for each document of a batch whether it is no copy of an earlier one."""
        kept = np.ones(len(ids), dtype=bool)
        for row, sketch in enumerate(call_interruptibly(sketch_texts, texts)):
            keys = sketch[:N_KEYS].tolist()
            match = self._find_match(sketch, keys)
            if match is not None:
                kept[row] = False
                self.copies.append(Copy(ids[row], self._ids[match[0]], match[1]))
            elif len(sketch) and len(self._ids) < MAX_COMPARED:
                for key in keys:
                    self._first_with.setdefault(key, len(self._ids))
                self._ids.append(ids[row])
                self._sketches.append(sketch.copy())
        return kept

    def _find_match(self, sketch: Hashes, keys: list[int]) -> tuple[int, float] | None:
        """Return the first document of which this is a copy, and their similarity; None if there is none."""
        for candidate in sorted({self._first_with[key] for key in keys if key in self._first_with}):
            similarity = estimate_similarity(self._sketches[candidate], sketch)
            if similarity >= MIN_SIMILARITY:
                return candidate, similarity
        return None

    def drop(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Yield the documents of batches that are no copies."""
        for batch in batches:
            kept = self.find(batch.texts, batch.other_columns.column(0).to_pylist())
            if kept.any():
                mask = pa.array(kept)
                yield batch if kept.all() else Batch(batch.texts.filter(mask), batch.other_columns.filter(mask))

    def rename(self, name: Callable[[str], str]) -> None:
        """Give the copies other ids."""
        self.copies = [Copy(name(copy.id), name(copy.kept), copy.similarity) for copy in self.copies]

    def to_table(self) -> pa.Table:
        """Return the copies as a table: id, kept, similarity."""
        columns = zip(*self.copies, strict=True) if self.copies else ([], [], [])
        types = (pa.string(), pa.string(), pa.float64())
        arrays = [pa.array(values, kind) for values, kind in zip(columns, types, strict=True)]
        return pa.table(arrays, names=["id", "kept", "similarity"])

    def describe(self) -> list[str]:
        """Return a sentence about the copies that were left out."""
        n = len(self.copies)
        if not n:
            return ["no near-copies were found among the documents"]
        first = self.copies[0]
        share = f"{MIN_SIMILARITY:.0%} of their sequences of {N_WORDS} words"
        return [
            f"left out {n:,} near-copies of earlier documents (at least {share} in common; the first: {first.id!r} of "
            f"{first.kept!r})"
        ]
